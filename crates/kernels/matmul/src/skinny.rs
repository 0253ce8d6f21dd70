//! Products of some rows, a dozen or two to a hundred, with a right matrix whose rows are next to each other: a library that packs
//! it first takes as long for that as for multiplying, so it is read where it lies.
//!
//! A tile is the sums of some lines by one or two vectors of lanes, kept in registers. Lines are columns of the right matrix; the
//! left one is turned once, so that its rows are lanes, and the result is turned back.

use std::ops::{Range, RangeInclusive};

use umber_kernels_base::isa::level;
use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;

use super::copy::copy;
use super::micro_kernel::{LINES, Tile, height};
use super::product::{Beta, Matrix, Product};

/// Rows that are worth turning: of fewer, sums along the depth are faster, and with more packing pays.
pub const ROWS: RangeInclusive<usize> = 17..=96;
/// Depth of a block of lines: it stays in the first cache.
pub const DEPTH: usize = 512;
/// The most lanes of a vector.
const LANES: usize = 16;

/// Are laid-out panels faster, where they suit? They are where lanes would be filled up with zeros, or where so many rows meet the right
/// matrix that laying it out costs little.
pub(super) fn is_behind_gemm(m: usize) -> bool {
    !m.is_multiple_of(LANES) || m > 2 * LANES
}

/// The fewest rows that are worth turning for a matrix that lies in memory: sums along the depth end inside of vectors, which takes the
/// longer the more lanes they have.
fn min_rows() -> usize {
    if level() == 2 { 13 } else { *ROWS.start() }
}

/// Is this a way to compute the product? It is for a right matrix with dense columns.
pub(super) fn is_suitable<T: Ring>(product: &Product<T>) -> bool {
    let Product { m, n, k, b, .. } = *product;
    T::IN_REGISTERS && (min_rows()..=*ROWS.end()).contains(&m) && b.rows == 1 && n >= 32 && k >= 32
}

/// Compute `a @ b`, which must [`is_suitable`](self::suits).
pub(super) fn product<T: Ring>(product: &Product<T>, beta: Beta) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    let lines = |columns: Range<usize>, depths: Range<usize>, _: &mut [T]| {
        b.transposed().from(columns.start, depths.start)
    };
    multiply_produced(&ProducedRight { m, n, k, a, out, out_row }, beta, &lines);
}

/// A product with a right matrix whose columns somebody else hands out.
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

/// Hands out a right matrix: given columns (at most [`LINES`]), depths (at most [`DEPTH`]) and room for as many elements, a
/// matrix whose rows are these columns, dense along the depth.
type Producer<'a, T> = dyn Fn(Range<usize>, Range<usize>, &mut [T]) -> Matrix<T> + 'a;

/// Compute a product whose right matrix `lines` hands out.
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
    /// Rows of the left matrix, and those it is filled up with.
    width: usize,
    /// The left matrix, turned.
    left: &'a [T],
    /// Room for the sums of some columns.
    sums: &'a mut [T],
    /// Room for the lines.
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
                        // SAFETY: inside the product's shape, and sums for every line and lane.
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
                    // SAFETY: inside the output.
                    unsafe {
                        let to = row.add(line);
                        *to = if beta == Beta::Zero { sum } else { T::plus(*to, sum) };
                    }
                }
            }
        }
    }
}
