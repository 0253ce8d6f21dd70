//! Packs operands into panels of tiles for [`kernel`](super::kernel).

use std::arch::x86_64::*;

use umber_kernels_base::amx::SIDE;
use umber_kernels_base::transpose::avx512::words;

use super::kernel::{STEP, TILE, TWO_TILES};
use crate::product::Matrix;

/// The layout of the terms of a row (of the left operand) or of a column (of the right one) in a tile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// A row of the tile holds the terms of one row.
    Left,
    /// A row of the tile holds two terms of each column.
    Right,
}

/// Elements of the panels for this number of rows and depth.
pub(super) fn size(rows: usize, depth: usize) -> usize {
    rows.next_multiple_of(SIDE) * depth.next_multiple_of(STEP)
}

/// The offset of the panel that starts with this row.
pub(super) fn panel(row: usize, depth: usize) -> usize {
    debug_assert!(row.is_multiple_of(TWO_TILES));
    row * depth.next_multiple_of(STEP)
}

/// Pack `rows` rows of `depth` terms (of the right operand, columns count as rows). Missing elements of the last tiles are
/// zero.
///
/// # Safety
/// The processor has AVX-512 (F and BW), and the matrix is readable.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn pack(side: Side, from: Matrix<u16>, rows: usize, depth: usize, to: &mut [u16]) {
    assert!(to.len() >= size(rows, depth));
    // SAFETY: the tiles are inside `to`, as asserted; the matrix and the instructions are guaranteed by the caller.
    let pack_one = |row: usize, step: usize| unsafe {
        let tiles = if row + SIDE < rows { 2 } else { 1 };
        let target = to.as_ptr().cast_mut().add(panel(row, depth) + step / STEP * tiles * TILE);
        let source = TileSource {
            from: from.from(row, step),
            rows: (rows - row).min(TWO_TILES),
            depth: (depth - step).min(STEP),
        };
        source.pack(side, target);
    };
    if from.rows == 1 && from.columns != 1 {
        // Column-major: walk along memory.
        for step in (0..depth).step_by(STEP) {
            for row in (0..rows).step_by(TWO_TILES) {
                pack_one(row, step);
            }
        }
    } else {
        for row in (0..rows).step_by(TWO_TILES) {
            for step in (0..depth).step_by(STEP) {
                pack_one(row, step);
            }
        }
    }
}

/// The elements of one or two tiles.
struct TileSource {
    from: Matrix<u16>,
    rows: usize,
    depth: usize,
}

impl TileSource {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn pack(&self, side: Side, to: *mut u16) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if self.from.columns == 1 {
                self.by_rows(side, to);
            } else if self.from.rows == 1 {
                self.by_depth(side, to);
            } else {
                let mut dense = [0u16; TWO_TILES * STEP];
                for row in 0..self.rows {
                    for term in 0..self.depth {
                        dense[row * STEP + term] = *self.from.at(row, term);
                    }
                }
                let from = Matrix { start: dense.as_ptr(), rows: STEP as isize, columns: 1 };
                TileSource { from, ..*self }.by_rows(side, to);
            }
        }
    }

    /// Pack rows whose terms are contiguous.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn by_rows(&self, side: Side, to: *mut u16) {
        let mask = first(self.depth);
        for tile in 0..self.rows.div_ceil(SIDE) {
            let to = to.wrapping_add(tile * TILE);
            // SAFETY: the matrix is readable by the caller's contract; elements outside it are masked.
            let line = |row: usize| unsafe {
                let row = tile * SIDE + row;
                if row < self.rows {
                    _mm512_maskz_loadu_epi16(mask, self.from.at(row, 0).cast())
                } else {
                    _mm512_setzero_si512()
                }
            };
            // SAFETY: a tile has 16 rows of 64 bytes.
            unsafe {
                match side {
                    Side::Left => {
                        for row in 0..SIDE {
                            _mm512_storeu_si512(to.add(row * STEP).cast(), line(row));
                        }
                    }
                    Side::Right => {
                        let mut rows = [_mm512_setzero_si512(); SIDE];
                        for (row, vector) in rows.iter_mut().enumerate() {
                            *vector = line(row);
                        }
                        transpose_block(&rows, to);
                    }
                }
            }
        }
    }

    /// Pack columns of terms that are contiguous along the rows.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn by_depth(&self, side: Side, to: *mut u16) {
        let mask = first(self.rows);
        // SAFETY: the matrix is readable by the caller's contract; elements outside it are masked.
        let line = |term: usize| unsafe {
            if term < self.depth {
                _mm512_maskz_loadu_epi16(mask, self.from.at(0, term).cast())
            } else {
                _mm512_setzero_si512()
            }
        };
        let mut pairs = [[_mm512_setzero_si512(); SIDE]; 2];
        let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        let [lefts, rights] = &mut pairs;
        for (pair, (left, right)) in lefts.iter_mut().zip(rights).enumerate() {
            let (x, y) = (line(2 * pair), line(2 * pair + 1));
            // `unpack` interleaves within 128-bit lanes; the permutations below restore the order of the groups of four columns.
            let (x, y) = (_mm512_unpacklo_epi16(x, y), _mm512_unpackhi_epi16(x, y));
            *left = _mm512_permutex2var_epi64(x, low, y);
            *right = _mm512_permutex2var_epi64(x, high, y);
        }
        for (tile, pairs) in pairs.iter().enumerate().take(self.rows.div_ceil(SIDE)) {
            let to = to.wrapping_add(tile * TILE);
            // SAFETY: a tile has 16 rows of 64 bytes.
            unsafe {
                match side {
                    Side::Right => {
                        for (row, pair) in pairs.iter().enumerate() {
                            _mm512_storeu_si512(to.add(row * STEP).cast(), *pair);
                        }
                    }
                    Side::Left => transpose_block(pairs, to),
                }
            }
        }
    }
}

/// The mask of the first `count` elements of a vector.
fn first(count: usize) -> __mmask32 {
    debug_assert!((1..=32).contains(&count));
    u32::MAX >> (32 - count)
}

/// Store the transpose of a block of 32-bit elements.
///
/// # Safety
/// Sixteen vectors are writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn transpose_block(rows: &[__m512i; SIDE], to: *mut u16) {
    for (column, vector) in words(*rows).into_iter().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm512_storeu_si512(to.add(column * STEP).cast(), vector) };
    }
}
