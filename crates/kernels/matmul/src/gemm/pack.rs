//! Packing: operands are copied into the order in which the micro-kernel reads them, and widened.

use umber_kernels_base::caches::LINE;
use umber_kernels_base::lanes::{Lanes, Ring, Source, VectorLoop};

use super::interleave::{SLACK, interleave};
use super::kernel::{MIN_ROWS, VECTORS, balanced_ranges, max_rows, with_height};
use crate::copy::{copy, pack};
use crate::multiply::{Multiply, widen};
use crate::product::Matrix;

/// Lines that are widened together before they are transposed.
const LINES: usize = 16;
/// Rows of a panel that are packed together.
const TOGETHER: usize = 4;

/// Scratch elements for packing this depth.
pub(super) fn scratch_len(depth: usize) -> usize {
    LINES * depth
}

/// Elements of a packed block. Panels follow it and begin at cache lines, so that no vector load splits a line.
pub(super) fn block<T>(rows: usize, depth: usize) -> usize {
    (rows * depth + SLACK).next_multiple_of(LINE / size_of::<T>())
}

/// Pack a block of the left matrix tile by tile; within a tile the elements of one depth are contiguous.
pub(super) fn pack_left<S: Multiply<Acc = T>, T: Ring>(
    from: Matrix<S>,
    rows: usize,
    depth: usize,
    to: &mut [T],
    scratch: &mut [T],
) {
    debug_assert!(rows >= MIN_ROWS, "a tile has at least MIN_ROWS rows");
    for tile in balanced_ranges(rows, max_rows()) {
        let (from, to) = (from.from(tile.start, 0), &mut to[tile.start * depth..]);
        with_height!(tile.len(), H => pack_tile::<S, T, H>(from, depth, to, scratch));
    }
}

fn pack_tile<S: Multiply<Acc = T>, T: Ring, const H: usize>(
    from: Matrix<S>,
    depth: usize,
    to: &mut [T],
    scratch: &mut [T],
) {
    if from.columns != 1 {
        for (depth, column) in to.chunks_exact_mut(H).enumerate().take(depth) {
            for (row, to) in column.iter_mut().enumerate() {
                // SAFETY: the element is inside the matrix.
                *to = unsafe { *from.at(row, depth) }.widen();
            }
        }
        return;
    }
    let (mut start, mut line) = (from.start.cast::<T>(), from.rows);
    if !S::DIRECT {
        for (row, scratch) in scratch.chunks_exact_mut(depth).enumerate().take(H) {
            // SAFETY: the row is inside the matrix and contiguous.
            widen(unsafe { std::slice::from_raw_parts(from.at(row, 0), depth) }, scratch);
        }
        (start, line) = (scratch.as_ptr(), depth as isize);
    }
    // SAFETY: the rows are those of the matrix, or their widened copies.
    unsafe { interleave::<T, H>(start, line, depth, to) };
}

/// Packs columns of the right matrix panel by panel. A row of a panel is two vectors, padded with zeros.
pub(super) struct Columns<'a, S, T> {
    pub(super) from: Matrix<S>,
    pub(super) depth: usize,
    pub(super) count: usize,
    pub(super) to: &'a mut [T],
    pub(super) scratch: &'a mut [T],
}

impl<S: Multiply<Acc = T> + Source<T>, T: Ring> VectorLoop<T> for Columns<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<T>, const FUSED: bool>(self) {
        let Columns { from, depth, count, to, scratch } = self;
        let width = VECTORS * V::COUNT;
        let full = if from.columns == 1 { count / width * width } else { 0 };
        let (panels, tail) = to.split_at_mut(full * depth);
        pack_panels::<S, T, V>(from, depth, panels);
        for (panel, to) in tail.chunks_exact_mut(width * depth).enumerate() {
            let first = full + panel * width;
            let columns = width.min(count.saturating_sub(first));
            if columns < width {
                to.chunks_exact_mut(width).for_each(|row| row[columns..].fill(T::ZERO));
            }
            pack_panel(from.from(0, first), depth, columns, to, width, scratch);
        }
    }
}

/// Pack full panels from dense rows.
#[inline(always)]
fn pack_panels<S: Source<T>, T: Ring, V: Lanes<T>>(from: Matrix<S>, depth: usize, panels: &mut [T]) {
    let width = VECTORS * V::COUNT;
    let count = panels.len() / (depth * width);
    let to = panels.as_mut_ptr();
    for top in (0..depth).step_by(TOGETHER) {
        for panel in 0..count {
            for row in top..depth.min(top + TOGETHER) {
                for vector in 0..VECTORS {
                    let lane = vector * V::COUNT;
                    // SAFETY: the vector is inside a row of the matrix, which is contiguous, and inside the panels.
                    unsafe {
                        let values = S::load::<V>(from.at(row, panel * width + lane));
                        values.store(to.add((panel * depth + row) * width + lane));
                    }
                }
            }
        }
    }
}

/// Pack one panel.
fn pack_panel<S: Multiply<Acc = T>, T: Ring>(
    from: Matrix<S>,
    depth: usize,
    columns: usize,
    to: &mut [T],
    width: usize,
    scratch: &mut [T],
) {
    if S::DIRECT {
        let from = Matrix { start: from.start.cast::<T>(), rows: from.rows, columns: from.columns };
        copy(from, depth, columns, to, width);
    } else if from.rows == 1 {
        for left in (0..columns).step_by(LINES) {
            let count = LINES.min(columns - left);
            for (line, scratch) in scratch.chunks_exact_mut(depth).enumerate().take(count) {
                // SAFETY: the column is inside the matrix and contiguous.
                widen(unsafe { std::slice::from_raw_parts(from.at(0, left + line), depth) }, scratch);
            }
            let lines = Matrix { start: scratch.as_ptr(), rows: 1, columns: depth as isize };
            copy(lines, depth, count, &mut to[left..], width);
        }
    } else {
        pack(from, depth, columns, to, width, S::widen);
    }
}
