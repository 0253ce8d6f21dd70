//! Products with a dozen to a hundred rows and a right matrix with dense columns. A GEMM that packs the right matrix spends as
//! long on packing as on multiplying, so it is read in place.
//!
//! A tile holds the sums of some lines by one or two vectors in registers. Lines are columns of the right matrix; the left
//! matrix is transposed once, so that its rows become SIMD lanes, and the result is transposed back.

use std::ops::{Range, RangeInclusive};

use umber_kernels_base::isa::level;
use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;

use super::copy::copy;
use super::micro_kernel::{LINES, Tile, height};
use super::product::{Beta, Matrix, Product};

/// Row counts for which this kernel applies: with fewer, dot products along the depth are faster; with more, packing pays.
pub const ROWS: RangeInclusive<usize> = 17..=96;
/// Depth of a block of lines: it stays in L1.
pub const DEPTH: usize = 512;
/// The maximum number of lanes of a vector.
const LANES: usize = 16;

/// Is the packed GEMM faster? It is when lanes would be padded with zeros, or when enough rows amortise packing the right
/// matrix.
pub(super) fn is_behind_gemm(m: usize) -> bool {
    !m.is_multiple_of(LANES) || m > 2 * LANES
}

/// The minimum number of rows for a matrix in memory. Dot products along the depth end with a horizontal sum, which takes
/// longer with more lanes.
fn min_rows() -> usize {
    if level() == 2 { 13 } else { *ROWS.start() }
}

/// Does this kernel apply to the product? It requires a right matrix with dense columns.
pub(super) fn is_suitable<T: Ring>(product: &Product<T>) -> bool {
    let Product { m, n, k, b, .. } = *product;
    T::IN_REGISTERS && (min_rows()..=*ROWS.end()).contains(&m) && b.rows == 1 && n >= 32 && k >= 32
}

/// Compute `a @ b`, for which [`is_suitable`] must hold.
pub(super) fn product<T: Ring>(product: &Product<T>, beta: Beta) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    let lines = |columns: Range<usize>, depths: Range<usize>, _: &mut [T]| {
        b.transposed().from(columns.start, depths.start)
    };
    multiply_produced(&ProducedRight { m, n, k, a, out, out_row }, beta, &lines);
}

/// A product whose right matrix is produced block by block by a callback.
pub struct ProducedRight<T> {
    /// Rows of `a` and `out`.
    pub m: usize,
    /// Columns of `out`.
    pub n: usize,
    /// Columns of `a`.
    pub k: usize,
    /// The left operand.
    pub a: Matrix<T>,
    /// The element of the result at row and column zero.
    pub out: *mut T,
    /// Distance between rows of the result.
    pub out_row: isize,
}

/// Produces a block of the right matrix: given columns (at most [`LINES`]), depths (at most [`DEPTH`]) and scratch for as
/// many elements, returns a matrix whose rows are these columns, dense along the depth.
type Producer<'a, T> = dyn Fn(Range<usize>, Range<usize>, &mut [T]) -> Matrix<T> + 'a;

/// Compute a product whose right matrix is produced by `lines`.
pub fn multiply_produced<T: Ring>(product: &ProducedRight<T>, beta: Beta, lines: &Producer<T>) {
    let ProducedRight { m, k, a, .. } = *product;
    let width = m.next_multiple_of(LANES);
    scratch::with((k + LINES) * width + LINES * DEPTH, |memory: &mut [T]| {
        let (left, memory) = memory.split_at_mut(k * width);
        let (sums, scratch) = memory.split_at_mut(LINES * width);
        if m < width {
            left.chunks_exact_mut(width).for_each(|row| row[m..].fill(T::ZERO));
        }
        copy(a.transposed(), k, m, left, width);
        with_widest(Skinny { product, beta, lines, width, left, sums, scratch });
    });
}

struct Skinny<'a, T> {
    product: &'a ProducedRight<T>,
    beta: Beta,
    lines: &'a Producer<'a, T>,
    /// Rows of the left matrix, padded to full vectors.
    width: usize,
    /// The transposed left matrix.
    left: &'a [T],
    /// Scratch for the sums of some columns.
    sums: &'a mut [T],
    /// Scratch for the lines.
    scratch: &'a mut [T],
}

impl<T: Ring> VectorLoop<T> for Skinny<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let Skinny {
            product: &ProducedRight { m, n, k, out, out_row, .. },
            beta,
            lines,
            width,
            left,
            sums,
            scratch,
        } = self;
        for j in (0..n).step_by(LINES) {
            let columns = j..n.min(j + LINES);
            for depth in (0..k).step_by(DEPTH) {
                let depths = depth..k.min(depth + DEPTH);
                let lines = lines(columns.clone(), depths.clone(), scratch);
                let mut i = 0;
                while i < columns.len() {
                    let height = height::<T, V>(columns.len() - i);
                    let mut lane = 0;
                    while lane < width {
                        let tile = Tile {
                            depth: depths.len(),
                            lines: lines.from(i, 0),
                            lanes: left[depth * width + lane..].as_ptr(),
                            lanes_row: width as isize,
                            sums: sums[i * width + lane..].as_mut_ptr(),
                            sums_row: width as isize,
                            overwrite: depth == 0,
                        };
                        let vectors = if lane + 2 * V::COUNT <= width { 2 } else { 1 };
                        // SAFETY: the operands are inside the product's shape, and there are sums for every line and lane.
                        unsafe { tile.of::<V, FUSED>(height, vectors) };
                        lane += vectors * V::COUNT;
                    }
                    i += height;
                }
            }
            for i in 0..m {
                let row = out.wrapping_offset(i as isize * out_row).wrapping_add(j);
                for line in 0..columns.len() {
                    let sum = sums[line * width + i];
                    // SAFETY: the element is inside the output.
                    unsafe {
                        let to = row.add(line);
                        *to = if beta == Beta::Zero { sum } else { T::plus(*to, sum) };
                    }
                }
            }
        }
    }
}
