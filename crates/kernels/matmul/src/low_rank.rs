//! Products of small depth whose results exceed the caches, written with non-temporal stores.
//!
//! Bound by writing the result. Regular stores read each line for ownership first and double the traffic, so full lines are
//! written from registers. A strip of columns of the right matrix is packed; rows of the left matrix are multiplied with it,
//! a few at a time.

use umber_kernels_base::caches::{LINE, finish_streaming};
use umber_kernels_base::isa::level;
use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};
use umber_kernels_base::scratch;

use super::copy::copy;
use super::multiply::MAX_GEMV_ROWS;
use super::product::{Matrix, Product};

/// The maximum depth: a strip fits L1 beside the rows of the left matrix.
pub(super) const DEPTH: usize = 192;
/// The maximum depth if the right matrix has dense rows; beyond it the `gemm` crate is as fast.
const DEPTH_OF_ROWS: usize = 96;
/// Rows multiplied with a strip before the next one is packed: they stay in L2.
const ROWS: usize = 256;
/// Vectors per row of a strip.
const WIDE: usize = 2;
/// Rows of accumulators, as many as the registers hold.
const LINES: usize = 8;

/// Compute `a @ b` with non-temporal stores; returns `false`, without computing anything, if this kernel does not apply.
pub(super) fn product<T: Ring>(product: &Product<T>) -> bool {
    let Product { m, n, k, b, out, out_row, .. } = *product;
    let max_depth = if b.columns == 1 { DEPTH_OF_ROWS } else { DEPTH };
    let line = LINE / size_of::<T>();
    let are_full_lines = out.addr().is_multiple_of(LINE)
        && n.is_multiple_of(line)
        && out_row.unsigned_abs().is_multiple_of(line);
    // One vector is one cache line.
    if !T::IN_REGISTERS || level() < 2 || m <= MAX_GEMV_ROWS || k > max_depth || !are_full_lines {
        return false;
    }
    let left = if product.a.columns == 1 { 0 } else { ROWS * k };
    scratch::with(left + DEPTH * WIDE * line, |memory: &mut [T]| {
        let (left, strip) = memory.split_at_mut(left);
        with_widest(Strips { product, left, strip });
    });
    finish_streaming();
    true
}

struct Strips<'a, T> {
    product: &'a Product<T>,
    /// Scratch for some rows of a column-major left matrix.
    left: &'a mut [T],
    /// Scratch for columns of the right matrix.
    strip: &'a mut [T],
}

impl<T: Ring> VectorLoop<T> for Strips<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let Strips { product, left, strip } = self;
        let Product { m, n, k, .. } = *product;
        for top in (0..m).step_by(ROWS) {
            let mut block = product.rows(top..m.min(top + ROWS));
            if block.a.columns != 1 {
                copy(block.a, block.m, k, left, k);
                block.a = Matrix { start: left.as_ptr(), rows: k as isize, columns: 1 };
            }
            for first in (0..n).step_by(WIDE * V::COUNT) {
                let chunk = block.columns(first..n.min(first + WIDE * V::COUNT));
                copy(chunk.b, k, chunk.n, strip, chunk.n);
                let chunk = Product {
                    b: Matrix { start: strip.as_ptr(), rows: chunk.n as isize, columns: 1 },
                    ..chunk
                };
                if chunk.n > V::COUNT {
                    rows::<T, V, FUSED, WIDE>(&chunk);
                } else {
                    rows::<T, V, FUSED, 1>(&chunk);
                }
            }
        }
    }
}

/// Compute all rows of a strip of `R` vectors.
#[inline(always)]
fn rows<T: Ring, V: Lanes<T>, const FUSED: bool, const R: usize>(chunk: &Product<T>) {
    let full = chunk.m / LINES * LINES;
    for i in (0..full).step_by(LINES) {
        tile::<T, V, FUSED, LINES, R>(&chunk.rows(i..i + LINES));
    }
    for i in full..chunk.m {
        tile::<T, V, FUSED, 1, R>(&chunk.rows(i..i + 1));
    }
}

/// Compute `L` rows by `R` vectors; the right matrix is a strip, and the left one has dense rows.
#[inline(always)]
fn tile<T: Ring, V: Lanes<T>, const FUSED: bool, const L: usize, const R: usize>(chunk: &Product<T>) {
    let Product { k, a, b, out, out_row, .. } = *chunk;
    let mut sums = [[V::splat(T::ZERO); R]; L];
    let mut lines = [a.start; L];
    for (line, start) in lines.iter_mut().enumerate() {
        *start = a.at(line, 0);
    }
    let mut lanes = b.start;
    // SAFETY: the invariant of `Product`; lines of the result are aligned, as `product` has checked.
    unsafe {
        for depth in 0..k {
            let mut right = [V::splat(T::ZERO); R];
            for (r, right) in right.iter_mut().enumerate() {
                *right = V::load(lanes.add(r * V::COUNT));
            }
            lanes = lanes.wrapping_offset(b.rows);
            for (line, sums) in lines.iter().zip(&mut sums) {
                let left = V::splat(*line.add(depth));
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = sum.add_product::<FUSED>(left, right);
                }
            }
        }
        for (line, sums) in sums.into_iter().enumerate() {
            for (r, sum) in sums.into_iter().enumerate() {
                sum.store_nontemporal(out.wrapping_offset(line as isize * out_row).add(r * V::COUNT));
            }
        }
    }
}
