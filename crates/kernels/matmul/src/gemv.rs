//! Products with few rows: the right matrix streams through once, in the order it lies in memory.

use umber_kernels_base::caches::{LINE, fills_line};
use umber_kernels_base::isa::prefetch;
use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop, with_widest};

use super::product::{Beta, Product};

/// Bytes of output columns worked on at a time: a few rows of them and of the right matrix stay in L1.
const STRIP: usize = 2048;
/// The same for one row, which meets every row of the right matrix once.
const ALONE: usize = 16 << 10;
/// Rows of the right matrix added at a time: this many vectors of it are held in registers.
const DEPTH: usize = 8;

/// Compute `a @ b`. The columns of `b` are next to each other.
///
/// Efficient for up to some sixteen rows; more are right, but wait for L1.
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
        let whole = self.0;
        // Long rows are read as they lie; of one row so much fits L1.
        let strip = if whole.m == 1 { ALONE } else { STRIP * 4 / whole.m.min(4) };
        let strip = (strip / size_of::<T>()).max(V::COUNT);
        let mut from = 0;
        while from < whole.n {
            let part = whole.columns(from..whole.n.min(from + strip));
            let mut depth = 0;
            while depth + DEPTH <= part.k {
                // SAFETY: the depths are inside the product.
                unsafe { slab::<S, T, V, FUSED, DEPTH>(&part, depth) };
                depth += DEPTH;
            }
            while depth < part.k {
                // SAFETY: as above.
                unsafe { slab::<S, T, V, FUSED, 1>(&part, depth) };
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
    // SAFETY: the caller's; each function stops before the last column.
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

/// [`slab`] for columns from `j` on, as long as whole vectors fit; returns where it stopped.
#[inline(always)]
unsafe fn columns<S: Source<T>, T: Ring, V: Lanes<T>, const FUSED: bool, const D: usize>(
    product: &Product<S, T, T>,
    depth: usize,
    mut j: usize,
) -> usize {
    let Product { m, n, a, b, out, out_row, .. } = *product;
    if m == 1 {
        // Constant conditions, so that one of the three is compiled.
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
            // SAFETY: inside the product's shape; columns of `b` are next to each other.
            *right = unsafe { S::load(b.at(depth + u, j)) };
        }
        for i in 0..m {
            let target = out.wrapping_offset(i as isize * out_row).wrapping_add(j);
            // SAFETY: inside the product's shape; columns of `out` are next to each other.
            let mut sum = unsafe { V::load(target) };
            for (u, right) in right.iter().enumerate() {
                // SAFETY: inside the product's shape.
                sum = sum.add_product::<FUSED>(V::splat(unsafe { *a.at(i, depth + u) }), *right);
            }
            // SAFETY: as for the load.
            unsafe { sum.store(target) };
        }
        j += V::COUNT;
    }
    j
}

/// [`columns`] of a single row, as long as `R` vectors fit, which are a line of the caches: rows may all meet in one set of the
/// first cache, where a line does not stay until the next vector is read from it.
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
            // SAFETY: inside the product's shape; columns of `out` are next to each other.
            *sum = unsafe { V::load(target.add(r * V::COUNT)) };
        }
        for u in 0..D {
            let right = b.at(depth + u, j);
            // The rows after these; of more rows the sums take longer than memory.
            if fills_line::<V>() {
                prefetch(b.at(depth + D + u, j));
            }
            // SAFETY: inside the product's shape.
            let left = V::splat(unsafe { *a.at(0, depth + u) });
            for (r, sum) in sums.iter_mut().enumerate() {
                // SAFETY: as above; columns of `b` are next to each other.
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
