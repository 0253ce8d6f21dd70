//! One block of a result: the product, then its factor, its addend and its rounding.

use super::lanes::Ring;
use super::multiply::Multiply;
use super::product::{Matrix, Product};
use super::scratch;
use crate::isa::vectorised;
use crate::turn::Stores;

/// What becomes of the product of one job.
#[derive(Clone, Copy)]
pub(super) struct Finish<T: Multiply> {
    /// Factor of the product.
    pub(super) alpha: T::Wide,
    /// The addend and its factor.
    pub(super) c: Option<(Matrix<T>, T::Wide)>,
}

/// Compute one block on this thread, past the caches if that is asked for and can be done.
pub(super) fn run_block<T: Multiply>(product: &Product<T>, finish: Finish<T>, stores: Stores) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    if T::DIRECT {
        let direct = Product { m, n, k, a, b, out: out.cast::<T::Wide>(), out_row };
        if k == 0 {
            direct.fill_out(T::Wide::ZERO);
        } else if stores == Stores::Cached || finish.changes() || !T::multiply_past(&direct) {
            T::multiply(&direct);
        }
        if finish.changes() {
            for i in 0..m {
                let row = out.wrapping_offset(i as isize * out_row);
                // SAFETY: a row of the block is dense and ours to write; sums are elements here.
                unsafe { finish.at(i, 0).row(row.cast::<T::Wide>(), n, row) };
            }
        }
        return;
    }
    let (height, width) = T::block(m, n);
    let (height, width) = (height.min(m), width.min(n));
    let stride = stride(width);
    scratch::with(height * stride, |sums: &mut [T::Wide]| {
        for i in (0..m).step_by(height) {
            for j in (0..n).step_by(width) {
                let part = product.rows(i..m.min(i + height)).columns(j..n.min(j + width));
                let Product { m, n, k, a, b, out, out_row } = part;
                let sums = &mut sums[..m * stride];
                let tile = Product { m, n, k, a, b, out: sums.as_mut_ptr(), out_row: stride as isize };
                if k == 0 {
                    sums.fill(T::Wide::ZERO);
                } else {
                    T::multiply(&tile);
                }
                // SAFETY: the part of the output is ours to write.
                unsafe { finish.at(i, j).store(sums, stride, n, out, out_row) };
            }
        }
    });
}

/// Distance between rows of sums: long rows begin at cache lines, and not a power of two apart, or they would compete for
/// the same few places in the cache.
fn stride(width: usize) -> usize {
    if width < 64 {
        return width;
    }
    let whole = width.next_multiple_of(16);
    if whole.is_multiple_of(128) { whole + 16 } else { whole }
}

impl<T: Multiply> Finish<T> {
    /// The same for the part of the result from an element on.
    pub(super) fn at(self, row: usize, column: usize) -> Finish<T> {
        Finish { c: self.c.map(|(c, beta)| (c.from(row, column), beta)), ..self }
    }

    /// Is the result anything but the product?
    fn changes(&self) -> bool {
        self.c.is_some() || self.alpha != T::Wide::factor(1.0)
    }

    /// Finish rows of `n` sums, `stride` apart.
    ///
    /// # Safety
    /// As many rows of the output are writable.
    pub(super) unsafe fn store(self, sums: &[T::Wide], stride: usize, n: usize, out: *mut T, out_row: isize) {
        for (i, sums) in sums.chunks_exact(stride).enumerate() {
            // SAFETY: the caller's.
            unsafe { self.at(i, 0).row(sums.as_ptr(), n, out.wrapping_offset(i as isize * out_row)) };
        }
    }

    /// Finish the first row: `out = alpha * sums + beta * c`.
    ///
    /// # Safety
    /// `n` sums are readable and `n` elements writable; they may be the same memory.
    unsafe fn row(self, sums: *const T::Wide, n: usize, out: *mut T) {
        let alpha = self.alpha;
        let plain = !self.changes();
        let c = self.c;
        vectorised(
            #[inline(always)]
            move || {
                for j in 0..n {
                    // SAFETY: the caller's; `c` has the shape of the output.
                    unsafe {
                        let mut sum = *sums.add(j);
                        if !plain {
                            sum = T::Wide::add_product::<false>(T::Wide::ZERO, alpha, sum);
                        }
                        if let Some((c, beta)) = c {
                            sum = T::Wide::add_product::<false>(sum, beta, (*c.at(0, j)).widen());
                        }
                        *out.add(j) = T::narrow(sum);
                    }
                }
            },
        );
    }
}
