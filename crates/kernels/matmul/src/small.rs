//! Products of small matrices, for which the setup of the `gemm` crate takes about as long as the product.
//!
//! A tile is the sums of some rows of the left matrix by one or two vectors of contiguous columns of the right one: in the
//! matrix itself if it fits L1, else in a copy of a strip of its columns.

use std::ops::Range;

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;

use super::copy::copy;
use super::micro_kernel::{LINES, Tile, height};
use super::multiply::MAX_GEMV_ROWS;
use super::product::{Beta, Matrix, Product};

/// For more multiplications the `gemm` crate, which blocks for larger caches, is as fast.
const MAX_MULTIPLICATIONS: usize = 48 * 48 * 48;
/// Depth of a strip, which stays in L1 together with the rows that it is multiplied with.
const DEPTH: usize = 192;
/// Columns of a strip: two of the widest vectors.
const STRIP: usize = 32;
/// Maximum bytes of a right matrix that is read in place.
const MAX_IN_PLACE_BYTES: usize = 16 << 10;

/// Does this kernel apply to the product? It requires a right matrix with dense rows.
pub(super) fn is_suitable<T: Ring>(product: &Product<T>) -> bool {
    let Product { m, n, k, b, .. } = *product;
    let is_small = m.saturating_mul(n).saturating_mul(k) <= MAX_MULTIPLICATIONS;
    T::IN_REGISTERS && b.columns == 1 && m > MAX_GEMV_ROWS && n >= STRIP / 2 && is_small
}

/// Compute `a @ b`, for which [`is_suitable`] must hold.
pub(super) fn product<T: Ring>(product: &Product<T>, beta: Beta) {
    let Product { m, k, a, .. } = *product;
    if is_in_place(product) {
        return with_widest(Strips { product, beta, strip: &mut [], sums: &mut [] });
    }
    let transposed = if a.columns == 1 { 0 } else { m * k };
    scratch::with(transposed + (DEPTH + LINES) * STRIP, |memory: &mut [T]| {
        let (left, memory) = memory.split_at_mut(transposed);
        let (sums, strip) = memory.split_at_mut(LINES * STRIP);
        let mut product = *product;
        if transposed > 0 {
            copy(a, m, k, left, k);
            product.a = Matrix { start: left.as_ptr(), rows: k as isize, columns: 1 };
        }
        with_widest(Strips { product: &product, beta, strip, sums });
    });
}

/// Compute the products of one shape with indices in `range`; returns `false`, without computing anything, if this kernel does
/// not apply. For products of 16 by 16 the overhead per call is as large as the product.
pub(super) fn each<T: Ring>(range: Range<usize>, product: &impl Fn(usize) -> Product<T>) -> bool {
    let first = product(range.start);
    if !is_suitable(&first) || !is_in_place(&first) {
        return false;
    }
    with_widest(Each { range, product });
    true
}

/// True if both matrices are read in place, with full vectors.
fn is_in_place<T>(product: &Product<T>) -> bool {
    product.a.columns == 1 && is_in_cache(product) && product.n.is_multiple_of(STRIP / 2)
}

struct Each<'a, F> {
    range: Range<usize>,
    product: &'a F,
}

impl<T: Ring, F: Fn(usize) -> Product<T>> VectorLoop<T> for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        for index in self.range {
            let product = (self.product)(index);
            Strips { product: &product, beta: Beta::Zero, strip: &mut [], sums: &mut [] }.run::<V, FUSED>();
        }
    }
}

/// True if the right matrix is read in place.
#[inline(always)]
fn is_in_cache<T>(product: &Product<T>) -> bool {
    product.k * product.n * size_of::<T>() <= MAX_IN_PLACE_BYTES
}

struct Strips<'a, T> {
    product: &'a Product<T>,
    beta: Beta,
    /// Scratch for columns of the right matrix.
    strip: &'a mut [T],
    /// Scratch for the sums of a tile that extends beyond the result.
    sums: &'a mut [T],
}

impl<T: Ring> VectorLoop<T> for Strips<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let Strips { product, beta, strip, sums } = self;
        let Product { m, n, k, a, b, out, out_row } = *product;
        let width = 2 * V::COUNT;
        let is_in_cache = is_in_cache(product);
        for depth in (0..k).step_by(DEPTH) {
            let (strip_depth, overwrite) = (DEPTH.min(k - depth), depth == 0 && beta == Beta::Zero);
            for j in (0..n).step_by(width) {
                let columns = width.min(n - j);
                let vectors = columns.div_ceil(V::COUNT);
                let is_full = columns == vectors * V::COUNT;
                let mut right = b.from(depth, j);
                if !(is_in_cache && is_full) {
                    if !is_full {
                        strip[..strip_depth * width]
                            .chunks_exact_mut(width)
                            .for_each(|row| row[columns..].fill(T::ZERO));
                    }
                    copy(right, strip_depth, columns, strip, width);
                    right = Matrix { start: strip.as_ptr(), rows: width as isize, columns: 1 };
                }
                let mut i = 0;
                while i < m {
                    let height = height::<T, V>(m - i);
                    let to = out.wrapping_offset(i as isize * out_row).wrapping_add(j);
                    let (lines, lanes, lanes_row) = (a.from(i, depth), right.start, right.rows);
                    let (target, sums_row) =
                        if is_full { (to, out_row) } else { (sums.as_mut_ptr(), width as isize) };
                    let overwrite_tile = overwrite || !is_full;
                    let tile = Tile {
                        depth: strip_depth,
                        lines,
                        lanes,
                        lanes_row,
                        sums: target,
                        sums_row,
                        overwrite: overwrite_tile,
                    };
                    // SAFETY: the tile is inside the product's shape, or in scratch with space for every line and lane.
                    unsafe { tile.of::<V, FUSED>(height, vectors) };
                    if !is_full {
                        for (line, sums) in sums.chunks_exact(width).enumerate().take(height) {
                            let to = to.wrapping_offset(line as isize * out_row);
                            for (column, &sum) in sums[..columns].iter().enumerate() {
                                // SAFETY: the element is inside the output.
                                unsafe {
                                    let to = to.add(column);
                                    *to = if overwrite { sum } else { T::plus(*to, sum) };
                                }
                            }
                        }
                    }
                    i += height;
                }
            }
        }
    }
}
