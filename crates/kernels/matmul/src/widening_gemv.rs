//! Products of a few rows by a matrix with narrower elements than the accumulators: each of its vectors is widened once for all
//! rows, whose sums stay in registers for some of the depth.

use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};

use super::product::Product;

/// Bytes of sums per strip: they stay in L2 for the whole depth.
const ACC_BYTES: usize = 64 << 10;
/// Rows of the right matrix per pass.
const DEPTH: usize = 16;

/// Add `a @ b` to `out`, except for the last columns; returns the number of columns done. Rows of `b` are contiguous.
pub(super) fn product<S: Source<T>, T: Ring>(product: &Product<S, T, T>) -> usize {
    debug_assert!(product.n <= 1 || product.b.columns == 1);
    with_widest(Loop(*product))
}

struct Loop<S, T>(Product<S, T, T>);

impl<S: Source<T>, T: Ring> VectorLoop<T> for Loop<S, T> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) -> usize {
        let Product { m, n, k, .. } = self.0;
        let pair = 2 * V::COUNT;
        let full = n / pair * pair;
        let strip = (ACC_BYTES / size_of::<T>() / m.max(1) / pair).max(1) * pair;
        for from in (0..full).step_by(strip) {
            let strip_product = self.0.columns(from..full.min(from + strip));
            for depth in (0..k).step_by(DEPTH) {
                let slab = strip_product.depths(depth..k.min(depth + DEPTH));
                let mut i = 0;
                // SAFETY: all blocks are inside the product's shape.
                unsafe {
                    // Blocks of fewer rows use fewer registers.
                    while V::COUNT * size_of::<T>() >= 64 && i + 8 <= m {
                        rows::<S, T, V, FUSED, 8>(&slab, i);
                        i += 8;
                    }
                    while i + 4 <= m {
                        rows::<S, T, V, FUSED, 4>(&slab, i);
                        i += 4;
                    }
                    while i + 2 <= m {
                        rows::<S, T, V, FUSED, 2>(&slab, i);
                        i += 2;
                    }
                    if i < m {
                        rows::<S, T, V, FUSED, 1>(&slab, i);
                    }
                }
            }
        }
        full
    }
}

/// Add rows `i..i + R` of the product, whose columns are full pairs of vectors.
///
/// # Safety
/// The product has these rows.
#[inline(always)]
unsafe fn rows<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const R: usize>(
    product: &Product<S, T, T>,
    i: usize,
) {
    let Product { n, k, a, b, out, out_row, .. } = *product;
    for j in (0..n).step_by(2 * V::COUNT) {
        let target = |r: usize| out.wrapping_offset((i + r) as isize * out_row).wrapping_add(j);
        let mut sums = [[V::splat(T::ZERO); 2]; R];
        // SAFETY: the vectors are inside the product's shape; rows of `b` and `out` are contiguous.
        unsafe {
            for (r, [first, second]) in sums.iter_mut().enumerate() {
                *first = V::load(target(r));
                *second = V::load(target(r).add(V::COUNT));
            }
            for u in 0..k {
                let right = [S::load::<V>(b.at(u, j)), S::load::<V>(b.at(u, j + V::COUNT))];
                for (r, [first, second]) in sums.iter_mut().enumerate() {
                    let left = V::splat(*a.at(i + r, u));
                    *first = first.add_product::<FUSED>(left, right[0]);
                    *second = second.add_product::<FUSED>(left, right[1]);
                }
            }
            for (r, [first, second]) in sums.into_iter().enumerate() {
                first.store(target(r));
                second.store(target(r).add(V::COUNT));
            }
        }
    }
}
