//! Products with few rows: the right matrix is read once, in memory order.

use umber_kernels_base::caches::{LINE, fills_line};
use umber_kernels_base::isa::prefetch;
use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};

use super::product::{Beta, Product};

/// Bytes of output columns per strip: a few rows of them and of the right matrix stay in L1.
const STRIP: usize = 2048;
/// The same for a single row, which uses every row of the right matrix once.
const SINGLE_ROW_STRIP: usize = 16 << 10;
/// Rows of the right matrix per pass: this many of its vectors are held in registers.
const DEPTH: usize = 8;

/// Compute `a @ b`, where rows of `b` are contiguous.
///
/// Efficient for up to about sixteen rows; with more, the output exceeds L1.
pub fn product<S: Source<T>, T: Ring>(product: &Product<S, T, T>, beta: Beta) {
    debug_assert!(product.n <= 1 || product.b.columns == 1);
    if beta == Beta::Zero {
        product.fill_out(T::ZERO);
    }
    with_widest(Stream(*product));
}

struct Stream<S, T>(Product<S, T, T>);

impl<S: Source<T>, T: Ring> VectorLoop<T> for Stream<S, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let product = self.0;
        // Long strips are read sequentially; a single row allows more columns in L1.
        let strip = if product.m == 1 { SINGLE_ROW_STRIP } else { STRIP * 4 / product.m.min(4) };
        let strip = (strip / size_of::<T>()).max(V::COUNT);
        let mut from = 0;
        while from < product.n {
            let strip_product = product.columns(from..product.n.min(from + strip));
            let mut depth = 0;
            while depth + DEPTH <= strip_product.k {
                // SAFETY: the depths are inside the product.
                unsafe { slab::<S, T, V, FUSED, DEPTH>(&strip_product, depth) };
                depth += DEPTH;
            }
            while depth < strip_product.k {
                // SAFETY: the depth is inside the product.
                unsafe { slab::<S, T, V, FUSED, 1>(&strip_product, depth) };
                depth += 1;
            }
            from += strip;
        }
    }
}

/// Add the products with `D` rows of `b`, from row `depth` on.
///
/// # Safety
/// `depth + D <= product.k`.
#[inline(always)]
unsafe fn slab<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const D: usize>(
    product: &Product<S, T, T>,
    depth: usize,
) {
    // SAFETY: guaranteed by the caller; each function stops before the last column.
    unsafe {
        let mut j = columns::<S, T, V, FUSED, D>(product, depth, 0);
        if const { V::COUNT > T::Lanes32::COUNT } {
            j = columns::<S, T, T::Lanes32, FUSED, D>(product, depth, j);
        }
        if const { V::COUNT > T::Lanes16::COUNT } {
            j = columns::<S, T, T::Lanes16, FUSED, D>(product, depth, j);
        }
        columns::<S, T, [T; 1], FUSED, D>(product, depth, j);
    }
}

/// [`slab`] for columns from `j` on, while full vectors fit; returns the next column.
#[inline(always)]
unsafe fn columns<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const D: usize>(
    product: &Product<S, T, T>,
    depth: usize,
    mut j: usize,
) -> usize {
    let Product { m, n, a, b, out, out_row, .. } = *product;
    if m == 1 {
        // Constant conditions: only one of the three calls is compiled.
        // SAFETY: guaranteed by the caller of this function.
        j = unsafe {
            if const { LINE / (V::COUNT * size_of::<S>()) >= 4 } {
                lines::<S, T, V, FUSED, D, 4>(product, depth, j)
            } else if const { LINE / (V::COUNT * size_of::<S>()) >= 2 } {
                lines::<S, T, V, FUSED, D, 2>(product, depth, j)
            } else {
                lines::<S, T, V, FUSED, D, 1>(product, depth, j)
            }
        };
    }
    while j + V::COUNT <= n {
        let mut right = [V::splat(T::ZERO); D];
        for (u, right) in right.iter_mut().enumerate() {
            // SAFETY: the vector is inside the product's shape, and rows of `b` are contiguous.
            *right = unsafe { S::load(b.at(depth + u, j)) };
        }
        for i in 0..m {
            let target = out.wrapping_offset(i as isize * out_row).wrapping_add(j);
            // SAFETY: the vector is inside the product's shape, and rows of `out` are contiguous.
            let mut sum = unsafe { V::load(target) };
            for (u, right) in right.iter().enumerate() {
                // SAFETY: the element is inside the product's shape.
                sum = sum.add_product::<FUSED>(V::splat(unsafe { *a.at(i, depth + u) }), *right);
            }
            // SAFETY: as for the load.
            unsafe { sum.store(target) };
        }
        j += V::COUNT;
    }
    j
}

/// [`columns`] for a single row, while `R` vectors fit, which fill a cache line. Rows may all map to the same set of L1, where a
/// line would be evicted before the next vector is read from it.
#[inline(always)]
unsafe fn lines<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const D: usize, const R: usize>(
    product: &Product<S, T, T>,
    depth: usize,
    mut j: usize,
) -> usize {
    let Product { n, a, b, out, .. } = *product;
    while j + R * V::COUNT <= n {
        let target = out.wrapping_add(j);
        let mut sums = [V::splat(T::ZERO); R];
        for (r, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the vectors are inside the product's shape, and rows of `out` are contiguous.
            *sum = unsafe { V::load(target.add(r * V::COUNT)) };
        }
        for u in 0..D {
            let right = b.at(depth + u, j);
            // Prefetch the next rows; with more output rows, computation takes longer than memory.
            if fills_line::<V>() {
                prefetch(b.at(depth + D + u, j));
            }
            // SAFETY: the element is inside the product's shape.
            let left = V::splat(unsafe { *a.at(0, depth + u) });
            for (r, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the vectors are inside the product's shape, and rows of `b` are contiguous.
                *sum = sum.add_product::<FUSED>(left, unsafe { S::load(right.add(r * V::COUNT)) });
            }
        }
        for (r, sum) in sums.into_iter().enumerate() {
            // SAFETY: as for the load.
            unsafe { sum.store(target.add(r * V::COUNT)) };
        }
        j += R * V::COUNT;
    }
    j
}
