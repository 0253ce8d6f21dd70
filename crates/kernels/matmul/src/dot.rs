//! Products with few rows by a transposed matrix: every element is a dot product along contiguous memory.

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::fills_line;
use umber_kernels_base::isa::prefetch;
use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};

use super::product::{Beta, Product};

/// Columns per pass.
const TOGETHER: usize = 4;

/// Compute `a @ b`, where rows of `a` and columns of `b` are contiguous.
pub fn product<S: Source<T>, T: Ring>(product: &Product<S, T, T>, beta: Beta) {
    debug_assert!(product.k <= 1 || (product.a.columns == 1 && product.b.rows == 1));
    if beta == Beta::Zero {
        product.fill_out(T::ZERO);
    }
    with_widest(Dot(*product));
}

struct Dot<S, T>(Product<S, T, T>);

impl<S: Source<T>, T: Ring> VectorLoop<T> for Dot<S, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let product = self.0;
        let groups = product.n / TOGETHER;
        // SAFETY: all columns are inside the product's shape.
        unsafe {
            for j in 0..groups {
                // Several distant streams give more memory-level parallelism than one: the hardware prefetcher tracks each of
                // them.
                let (start, step) = if fills_line::<V>() { (j * TOGETHER, 1) } else { (j, groups) };
                let columns = array_of(|c| start + c * step);
                rows::<S, T, V, FUSED, TOGETHER>(&product, columns);
            }
            for j in groups * TOGETHER..product.n {
                rows::<S, T, V, FUSED, 1>(&product, [j]);
            }
        }
    }
}

/// Compute some columns of the product.
#[inline(always)]
unsafe fn rows<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const C: usize>(
    product: &Product<S, T, T>,
    columns: [usize; C],
) {
    /// Size of vectors of which there are 32 registers, enough for 16 accumulators and operands.
    const WIDE: usize = 64;
    let pair = |first: usize| [columns[first], columns[first + 1]];
    let mut i = 0;
    // SAFETY: valid by this function's contract; rows are bounded here.
    unsafe {
        // Compile-time conditions avoid unused instances.
        if const { C == TOGETHER && size_of::<V>() != WIDE } {
            while i + 4 <= product.m {
                block::<S, T, V, FUSED, 4, 2>(product, i, pair(0));
                block::<S, T, V, FUSED, 4, 2>(product, i, pair(2));
                i += 4;
            }
        } else {
            // Widening is amortised over more rows.
            if const { C == TOGETHER && size_of::<S>() < size_of::<T>() } {
                while i + 8 <= product.m {
                    block::<S, T, V, FUSED, 8, 2>(product, i, pair(0));
                    block::<S, T, V, FUSED, 8, 2>(product, i, pair(2));
                    i += 8;
                }
            }
            while i + 4 <= product.m {
                block::<S, T, V, FUSED, 4, C>(product, i, columns);
                i += 4;
            }
        }
        while i + 2 <= product.m {
            block::<S, T, V, FUSED, 2, C>(product, i, columns);
            i += 2;
        }
        while i < product.m {
            block::<S, T, V, FUSED, 1, C>(product, i, columns);
            i += 1;
        }
    }
}

/// Compute rows `i..i + R` of some columns of the product.
#[inline(always)]
unsafe fn block<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const R: usize, const C: usize>(
    product: &Product<S, T, T>,
    i: usize,
    columns: [usize; C],
) {
    let Product { k, a, b, out, out_row, .. } = *product;
    let mut sums = [[V::splat(T::ZERO); C]; R];
    let mut depth = 0;
    // SAFETY: all indices are inside the product's shape; both operands are dense along the depth.
    unsafe {
        while depth + V::COUNT <= k {
            let mut right = [V::splat(T::ZERO); C];
            for (right, j) in right.iter_mut().zip(columns) {
                *right = S::load::<V>(b.at(depth, j));
                if R == 1 && fills_line::<V>() {
                    // Prefetch the next columns. With more rows, computation takes longer than memory. Small matrices need it
                    // too: those of a batch, or blocks of keys, may also come from beyond L2.
                    prefetch(b.at(depth, j + C));
                }
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let left = V::load(a.at(i + r, depth));
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = sum.add_product::<FUSED>(left, right);
                }
            }
            depth += V::COUNT;
        }
        // A loop too long to be unrolled would spill the accumulators and store each after every product.
        let mut totals = [[T::ZERO; C]; R];
        for (totals, sums) in totals.iter_mut().zip(sums) {
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = sum.reduce_sum();
            }
        }
        for (r, totals) in totals.iter().enumerate() {
            for (&total, j) in totals.iter().zip(columns) {
                let mut total = total;
                for u in depth..k {
                    total = T::add_product::<FUSED>(total, *a.at(i + r, u), (*b.at(u, j)).term());
                }
                let target = out.offset((i + r) as isize * out_row + j as isize);
                *target = T::plus(*target, total);
            }
        }
    }
}
