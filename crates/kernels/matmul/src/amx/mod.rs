//! Products of bfloat16 matrices with AMX tiles or AVX-512 BF16 vectors, which multiply pairs of terms; sums are float32.
//!
//! [`pack`] packs blocks of both operands into panels of tiles, whatever their strides, [`kernel`] (or [`vectors`])
//! multiplies panels, and [`unit`] detects which of them the processor has ([`amx`](umber_kernels_base::amx) configures
//! tiles). A block of the sums stays in L2 for the whole depth; packing takes a few per cent of the time for blocks of some
//! hundred rows and columns.

mod kernel;
mod pack;
mod unit;
mod vectors;

use umber_kernels_base::amx::SIDE;
use umber_kernels_base::scratch;
use umber_types::bf16;

use super::multiply::MAX_GEMV_ROWS;
use super::product::{Matrix, Product};
use kernel::{STEP, Sums, TWO_TILES};
use pack::Side;
use unit::{Kind, Unit, available};

/// Rows and columns of a block of sums: one megabyte, half of L2 on processors with AMX.
const BLOCK: usize = 512;
/// Depth of packed blocks: two panels and their sums fit L1.
const DEPTH: usize = 256;

/// Minimum number of multiplications for which configuring the tiles pays.
const MIN_MULTIPLICATIONS: usize = 1 << 12;

/// Approximate multiplications per nanosecond of one thread, if such a unit is available.
pub(super) fn speed() -> Option<f64> {
    available().map(|kind| match kind {
        Kind::Tiles => 500.0,
        Kind::Vectors => 128.0,
    })
}

/// True if a unit is available and the product is large enough for it.
pub(super) fn is_suitable(product: &Product<bf16, f32>) -> bool {
    let Product { m, n, k, .. } = *product;
    m > MAX_GEMV_ROWS
        && n > MAX_GEMV_ROWS
        && m.saturating_mul(n).saturating_mul(k) >= MIN_MULTIPLICATIONS
        && available().is_some()
}

/// Rows and columns of the blocks of an `m` by `n` result, of roughly equal size.
pub(super) fn block(m: usize, n: usize) -> (usize, usize) {
    let side = |length: usize| length.div_ceil(length.div_ceil(BLOCK).max(1)).next_multiple_of(TWO_TILES);
    (side(m), side(n))
}

/// Compute `a @ b`; [`is_suitable`] must hold.
pub(super) fn product(product: &Product<bf16, f32>) {
    let Some(unit) = available().map(Unit::new) else {
        unreachable!("without a unit no product is suitable")
    };
    let Product { m, n, k, .. } = *product;
    let (height, width) = block(m, n);
    let depth = k.min(DEPTH);
    let (left_len, right_len) = (pack::size(height, depth), pack::size(width, depth));
    scratch::with(left_len + right_len, |packed: &mut [u16]| {
        let (left, right) = packed.split_at_mut(left_len);
        for j in (0..n).step_by(width) {
            for i in (0..m).step_by(height) {
                let block = product.rows(i..m.min(i + height)).columns(j..n.min(j + width));
                for u in (0..k).step_by(depth) {
                    let slice = block.depths(u..k.min(u + depth));
                    // SAFETY: processors with such a unit have AVX-512 (F and BW); the matrices are those of the product.
                    unsafe {
                        pack::pack(Side::Right, bits(slice.b).transposed(), slice.n, slice.k, right);
                        pack::pack(Side::Left, bits(slice.a), slice.m, slice.k, left);
                        multiply(&unit, &slice, left, right, u > 0);
                    }
                }
            }
        }
    });
}

fn bits(matrix: Matrix<bf16>) -> Matrix<u16> {
    Matrix { start: matrix.start.cast(), rows: matrix.rows, columns: matrix.columns }
}

/// Multiply packed operands.
///
/// # Safety
/// `left` and `right` are the packed operands of the product.
unsafe fn multiply(unit: &Unit, product: &Product<bf16, f32>, left: &[u16], right: &[u16], accumulate: bool) {
    let Product { m, n, k, out, out_row, .. } = *product;
    let steps = k.div_ceil(STEP);
    for j in (0..n).step_by(TWO_TILES) {
        let b = right[pack::panel(j, k)..].as_ptr();
        let columns = (n - j).min(TWO_TILES);
        for i in (0..m).step_by(TWO_TILES) {
            let a = left[pack::panel(i, k)..].as_ptr();
            let rows = (m - i).min(TWO_TILES);
            // SAFETY: the unit is available, and the panels are those of these rows and columns.
            let add = |sums: Sums| unsafe {
                match (unit, rows > SIDE, columns > SIDE) {
                    (Unit::Tiles(tiles), true, true) => kernel::two_by_two(tiles, a, b, steps, sums),
                    (Unit::Tiles(tiles), true, false) => kernel::two_by_one(tiles, a, b, steps, sums),
                    (Unit::Tiles(tiles), false, true) => kernel::one_by_two(tiles, a, b, steps, sums),
                    (Unit::Tiles(tiles), false, false) => kernel::one_by_one(tiles, a, b, steps, sums),
                    (Unit::Vectors, true, true) => vectors::add_products::<2, 2>(rows, a, b, steps, sums),
                    (Unit::Vectors, true, false) => vectors::add_products::<2, 1>(rows, a, b, steps, sums),
                    (Unit::Vectors, false, true) => vectors::add_products::<1, 2>(rows, a, b, steps, sums),
                    (Unit::Vectors, false, false) => vectors::add_products::<1, 1>(rows, a, b, steps, sums),
                }
            };
            let start = out.wrapping_offset(i as isize * out_row).wrapping_add(j);
            let is_full = rows.is_multiple_of(SIDE) && columns.is_multiple_of(SIDE);
            if is_full && out_row > 0 {
                // Full tiles inside the output.
                add(Sums { start, row: out_row as usize, accumulate });
                continue;
            }
            let mut scratch = [0f32; TWO_TILES * TWO_TILES];
            // SAFETY: the rows and columns are inside the output, which this thread writes exclusively.
            let line = |row: usize| unsafe {
                std::slice::from_raw_parts_mut(start.wrapping_offset(row as isize * out_row), columns)
            };
            if accumulate {
                for (row, scratch) in scratch.chunks_exact_mut(TWO_TILES).enumerate().take(rows) {
                    scratch[..columns].copy_from_slice(line(row));
                }
            }
            // The scratch holds two by two tiles.
            add(Sums { start: scratch.as_mut_ptr(), row: TWO_TILES, accumulate });
            for (row, scratch) in scratch.chunks_exact(TWO_TILES).enumerate().take(rows) {
                line(row).copy_from_slice(&scratch[..columns]);
            }
        }
    }
}
