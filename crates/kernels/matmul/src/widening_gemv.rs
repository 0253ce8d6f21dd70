//! Products of several rows, but few, by a matrix that is narrower in memory than its sums: every vector of it is widened
//! once for all rows, whose sums stay in registers for a while.

use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};

use super::product::Product;

/// Bytes of sums worked on at a time: they stay in near caches while the depth passes by in long strips.
const ACC_BYTES: usize = 64 << 10;
/// Rows of the right matrix added at a time.
const DEPTH: usize = 16;

/// Add `a @ b` to `out`, but for the last columns; returns for how many. The columns of `b` are next to each other.
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
        let whole = n / pair * pair;
        let strip = (ACC_BYTES / size_of::<T>() / m.max(1) / pair).max(1) * pair;
        for from in (0..whole).step_by(strip) {
            let part = self.0.columns(from..whole.min(from + strip));
            for depth in (0..k).step_by(DEPTH) {
                let slab = part.depths(depth..k.min(depth + DEPTH));
                let mut i = 0;
                // SAFETY: all blocks are inside the product's shape.
                unsafe {
                    // Fewer registers hold the sums of fewer rows.
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
        whole
    }
}

/// Rows `i..i + R` of the product, whose columns are whole pairs of vectors.
///
/// # Safety
/// There are as many rows.
#[inline(always)]
unsafe fn rows<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const R: usize>(
    product: &Product<S, T, T>,
    i: usize,
) {
    let Product { n, k, a, b, out, out_row, .. } = *product;
    for j in (0..n).step_by(2 * V::COUNT) {
        let target = |r: usize| out.wrapping_offset((i + r) as isize * out_row).wrapping_add(j);
        let mut sums = [[V::splat(T::ZERO); 2]; R];
        // SAFETY: inside the product's shape; columns of `b` and `out` are next to each other.
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
