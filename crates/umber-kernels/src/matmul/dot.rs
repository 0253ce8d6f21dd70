//! Products with few rows by a transposed matrix: every element is a sum along memory.

use super::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};
use super::product::{Into, Product};
use crate::isa::prefetch;

/// Compute `a @ b`. Rows of `a` and columns of `b` are dense in memory.
pub(crate) fn product<S: Source<T>, T: Ring>(product: &Product<S, T, T>, into: Into) {
    debug_assert!(product.k <= 1 || (product.a.columns == 1 && product.b.rows == 1));
    if into == Into::Fresh {
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
        let mut j = 0;
        // SAFETY: all blocks are inside the product's shape.
        unsafe {
            while j + 4 <= product.n {
                rows::<S, T, V, FUSED, 4>(&product, j);
                j += 4;
            }
            while j < product.n {
                rows::<S, T, V, FUSED, 1>(&product, j);
                j += 1;
            }
        }
    }
}

/// Columns `j..j + C` of the product.
#[inline(always)]
unsafe fn rows<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const C: usize>(
    product: &Product<S, T, T>,
    j: usize,
) {
    /// Bytes of vectors of which there are 32, room for 16 sums and more.
    const MANY: usize = 64;
    let has_many = size_of::<V>() == MANY;
    let mut i = 0;
    // SAFETY: the caller's; rows are bounded here.
    unsafe {
        // Where vectors have to be widened, that is done for more rows at once.
        while C == 4 && has_many && size_of::<S>() < size_of::<T>() && i + 8 <= product.m {
            block::<S, T, V, FUSED, 8, 2>(product, i, j);
            block::<S, T, V, FUSED, 8, 2>(product, i, j + 2);
            i += 8;
        }
        while C == 4 && !has_many && i + 4 <= product.m {
            block::<S, T, V, FUSED, 4, 2>(product, i, j);
            block::<S, T, V, FUSED, 4, 2>(product, i, j + 2);
            i += 4;
        }
        while i + 4 <= product.m {
            block::<S, T, V, FUSED, 4, C>(product, i, j);
            i += 4;
        }
        while i + 2 <= product.m {
            block::<S, T, V, FUSED, 2, C>(product, i, j);
            i += 2;
        }
        while i < product.m {
            block::<S, T, V, FUSED, 1, C>(product, i, j);
            i += 1;
        }
    }
}

/// Rows `i..i + R` and columns `j..j + C` of the product.
#[inline(always)]
unsafe fn block<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const R: usize, const C: usize>(
    product: &Product<S, T, T>,
    i: usize,
    j: usize,
) {
    let Product { k, a, b, out, out_row, .. } = *product;
    let mut sums = [[V::splat(T::ZERO); C]; R];
    let mut depth = 0;
    // SAFETY: all indices are inside the product's shape; both operands are dense along the depth.
    unsafe {
        while depth + V::COUNT <= k {
            let mut right = [V::splat(T::ZERO); C];
            for (c, right) in right.iter_mut().enumerate() {
                *right = S::load::<V>(b.at(depth, j + c));
                if R == 1 {
                    // The columns after these; of more rows the sums take longer than memory. Whatever the size: small
                    // matrices of a batch, or blocks of keys, come from beyond the second cache too.
                    prefetch(b.at(depth, j + c + C));
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
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                let mut total = sum.total();
                for u in depth..k {
                    total = T::add_product::<FUSED>(total, *a.at(i + r, u), (*b.at(u, j + c)).term());
                }
                let target = out.offset((i + r) as isize * out_row + (j + c) as isize);
                *target = T::plus(*target, total);
            }
        }
    }
}
