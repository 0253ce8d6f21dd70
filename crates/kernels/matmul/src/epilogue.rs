//! The epilogue of a block of the result: factor, addend and rounding.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::transpose::Stores;

use super::multiply::Multiply;
use super::product::{Matrix, Product};
use super::split::OnBlock;

/// Side of the square blocks of a parallel product whose sums are kept in the accumulator type before they are rounded.
const SIDE: usize = 1024;

/// The epilogue of a product.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<T: Multiply> {
    /// Factor of the product.
    pub(super) alpha: T::Acc,
    /// The addend and its factor.
    pub(super) c: Option<(Matrix<T>, T::Acc)>,
}

// SAFETY: the addend is that of a view, valid on all threads, and only read.
unsafe impl<T: Multiply> Sync for Epilogue<T> {}

/// Compute one block on this thread, with non-temporal stores if requested and possible.
pub(super) fn compute_block<T: Multiply>(product: &Product<T>, epilogue: Epilogue<T>, stores: Stores) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    if T::DIRECT {
        let direct = Product { m, n, k, a, b, out: out.cast::<T::Acc>(), out_row };
        if k == 0 {
            direct.fill_out(T::Acc::ZERO);
        } else if stores == Stores::Cached || epilogue.changes() || !T::multiply_nontemporal(&direct) {
            T::multiply(&direct);
        }
        if epilogue.changes() {
            // SAFETY: this task exclusively writes the block; accumulators have the element type here.
            unsafe { epilogue.in_place(product) };
        }
        return;
    }
    let (height, width) = T::block(m, n);
    let (height, width) = (height.min(m), width.min(n));
    let stride = stride(width);
    scratch::with(height * stride, |sums: &mut [T::Acc]| {
        for i in (0..m).step_by(height) {
            for j in (0..n).step_by(width) {
                let block = product.rows(i..m.min(i + height)).columns(j..n.min(j + width));
                let Product { m, n, k, a, b, out, out_row } = block;
                let sums = &mut sums[..m * stride];
                let tile = Product { m, n, k, a, b, out: sums.as_mut_ptr(), out_row: stride as isize };
                if k == 0 {
                    sums.fill(T::Acc::ZERO);
                } else {
                    T::multiply(&tile);
                }
                // SAFETY: this task exclusively writes the block of the output.
                unsafe { epilogue.at(i, j).store(sums, stride, n, out, out_row) };
            }
        }
    });
}

/// Compute one product on all threads, and call `on_block` with each of its blocks.
pub(super) fn compute_parallel<T: Multiply>(
    product: &Product<T>,
    epilogue: Epilogue<T>,
    on_block: Option<OnBlock<'_>>,
) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    let notify = |rows: Range<usize>, columns: Range<usize>| {
        if let Some(on_block) = on_block {
            on_block(rows, columns);
        }
    };
    if T::DIRECT {
        let direct = Product { m, n, k, a, b, out: out.cast::<T::Acc>(), out_row };
        T::multiply_shared(&direct, &|rows, columns| {
            if epilogue.changes() {
                let block = product.rows(rows.clone()).columns(columns.clone());
                // SAFETY: this task exclusively writes the block; accumulators have the element type here.
                unsafe { epilogue.at(rows.start, columns.start).in_place(&block) };
            }
            notify(rows, columns);
        });
        return;
    }
    let (height, width) = (m.div_ceil(m.div_ceil(SIDE)), n.div_ceil(n.div_ceil(SIDE)));
    let stride = stride(width);
    scratch::with(height * stride, |sums: &mut [T::Acc]| {
        let sums = Target::over(sums);
        for top in (0..m).step_by(height) {
            for left in (0..n).step_by(width) {
                let square = product.rows(top..m.min(top + height)).columns(left..n.min(left + width));
                let Product { m, n, k, a, b, .. } = square;
                let wide = Product { m, n, k, a, b, out: sums.at(0), out_row: stride as isize };
                T::multiply_shared(&wide, &|rows, columns| {
                    let from = wide.rows(rows.clone()).columns(columns.clone()).out;
                    let Product { m, n, out, .. } = square.rows(rows.clone()).columns(columns.clone());
                    let (rows, columns) =
                        (top + rows.start..top + rows.end, left + columns.start..left + columns.end);
                    let epilogue = epilogue.at(rows.start, columns.start);
                    // SAFETY: this task has exclusive access to the block of the sums and of the output.
                    unsafe { epilogue.rows(m, (from, wide.out_row), n, (out, out_row)) };
                    notify(rows, columns);
                });
            }
        }
    });
}

/// Row stride of sums or copies: long rows are cache-line aligned, and not a power of two apart, which would cause conflict
/// misses.
pub(super) fn stride(width: usize) -> usize {
    if width < 64 {
        return width;
    }
    let padded = width.next_multiple_of(16);
    if padded.is_multiple_of(128) { padded + 16 } else { padded }
}

impl<T: Multiply> Epilogue<T> {
    /// The epilogue of the part of the result that starts at an element.
    pub(super) fn at(self, row: usize, column: usize) -> Epilogue<T> {
        Epilogue { c: self.c.map(|(c, beta)| (c.from(row, column), beta)), ..self }
    }

    /// True if the epilogue changes the product.
    fn changes(&self) -> bool {
        self.c.is_some() || self.alpha != T::Acc::factor(1.0)
    }

    /// Apply the epilogue to sums of the element type in the output.
    ///
    /// # Safety
    /// The caller exclusively writes the output.
    unsafe fn in_place(self, product: &Product<T>) {
        let Product { m, n, out, out_row, .. } = *product;
        // SAFETY: guaranteed by the caller of this function.
        unsafe { self.rows(m, (out.cast(), out_row), n, (out, out_row)) };
    }

    /// Apply the epilogue to rows of `n` sums, `stride` apart.
    ///
    /// # Safety
    /// As many rows of the output are writable.
    pub(super) unsafe fn store(self, sums: &[T::Acc], stride: usize, n: usize, out: *mut T, out_row: isize) {
        let rows = sums.len() / stride;
        // SAFETY: guaranteed by the caller of this function.
        unsafe { self.rows(rows, (sums.as_ptr(), stride as isize), n, (out, out_row)) };
    }

    /// Apply the epilogue to `count` rows of `n` sums, given the addresses and row strides of sums and output.
    ///
    /// # Safety
    /// The sums are readable and the output writable; they may be the same memory.
    unsafe fn rows(
        self,
        count: usize,
        (sums, sums_row): (*const T::Acc, isize),
        n: usize,
        (out, out_row): (*mut T, isize),
    ) {
        for i in 0..count {
            let (from, to) =
                (sums.wrapping_offset(i as isize * sums_row), out.wrapping_offset(i as isize * out_row));
            // SAFETY: guaranteed by the caller of this function.
            unsafe { self.at(i, 0).row(from, n, to) };
        }
    }

    /// Apply the epilogue to the first row: `out = alpha * sums + beta * c`.
    ///
    /// # Safety
    /// `n` sums are readable and `n` elements writable; they may be the same memory.
    unsafe fn row(self, sums: *const T::Acc, n: usize, out: *mut T) {
        let alpha = self.alpha;
        let plain = !self.changes();
        let c = self.c;
        vectorised(
            #[inline(always)]
            move || {
                for j in 0..n {
                    // SAFETY: guaranteed by the caller; `c` has the shape of the output.
                    unsafe {
                        let mut sum = *sums.add(j);
                        if !plain {
                            sum = T::Acc::add_product::<false>(T::Acc::ZERO, alpha, sum);
                        }
                        if let Some((c, beta)) = c {
                            sum = T::Acc::add_product::<false>(sum, beta, (*c.at(0, j)).widen());
                        }
                        *out.add(j) = T::narrow(sum);
                    }
                }
            },
        );
    }
}
