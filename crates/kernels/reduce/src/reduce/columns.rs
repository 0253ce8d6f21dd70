//! Folds of several neighbouring results, one row of elements at a time.

use std::mem::MaybeUninit;
use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::isa::has_vectors;
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::{parallel_for, parallel_ranges};

use super::kernels::{KernelTable, TotalSlot, Windows};
use super::rows::collect;
use super::{ChunkedFold, GRAIN, Results, Task, Totals, chunk_count, fold_in_chunks};

/// Maximum results folded together.
const TILE: usize = 1024;
/// The same for strided elements, which are first copied.
const STRIDED_TILE: usize = 128;
/// Rows folded together.
const ROWS: usize = 8;

/// Maximum rows of a result for the window kernels.
const MAX_ROWS: usize = 32;

/// The split of the work: for each outer result, tiles of neighbouring results, each in chunks of rows.
struct Tiling {
    outer: usize,
    tiles: usize,
    tile: usize,
    chunks: usize,
    /// Number of narrow rows that are treated as one, to fill vectors.
    merged: usize,
}

/// Source, destination and number of results of a tile.
struct TileView {
    src: *const u8,
    dst: *mut u8,
    width: usize,
}

/// Fold every result of the task, whose loop over neighbouring results was removed.
pub(super) fn fold(task: &Task, results: Loop<2>) {
    let rows = task.reduced.count();
    let tiling = plan_tiling(task, results, rows);
    let items = tiling.outer * tiling.tiles;
    let windows = task.kernels.windows.filter(|_| {
        has_vectors()
            && results.strides == [1, 1]
            && (1..=MAX_ROWS).contains(&rows)
            && (tiling.tiles, tiling.chunks) == (1, 1)
            && (tiling.merged == 1 || results.length >= 16)
    });
    if let Some(windows) = windows {
        fold_windows(task, windows, results.length, rows);
        return;
    }
    if tiling.chunks == 1 {
        let per_item = rows.max(1) * results.length.min(tiling.tile);
        let per_chunk = (GRAIN / per_item.max(1)).max(1);
        parallel_for(items.div_ceil(per_chunk), |chunk| {
            fold_items(task, results, &tiling, chunk * per_chunk..items.min((chunk + 1) * per_chunk));
        });
        return;
    }
    fold_in_chunks(
        task.kernels,
        &ChunkedFold { tiles: items, width: tiling.tile, steps: rows, tasks: tiling.chunks },
        |item| {
            let TileView { dst, width, .. } = locate(task, results, &tiling, item);
            Results { dst, width, stride: results.strides[1] }
        },
        |item, range, totals| {
            let src = locate(task, results, &tiling, item).src;
            fold_tile(task, src, results.strides[0], range, tiling.merged, totals);
        },
    );
}

/// Fold a few rows into each of many rows of results: pooling windows.
fn fold_windows(task: &Task, windows: unsafe fn(Windows), width: usize, rows: usize) {
    let mut offsets = Vec::with_capacity(rows);
    task.reduced.walk(0..rows, |[at]| offsets.push(at));
    let [stride, dst_stride] = task.result_loops.inner().strides;
    parallel_ranges(task.result_loops.count(), GRAIN / (rows * width), |range| {
        task.result_loops.inner_runs(range, |[from, to], count| {
            let (src, dst) = (task.element(from), task.result(to));
            let rows = Windows { src, stride, offsets: &offsets, width, count, dst, dst_stride };
            // SAFETY: the layouts hold the rows and the results; tasks have disjoint results.
            unsafe { windows(rows) };
        });
    });
}

fn plan_tiling(task: &Task, results: Loop<2>, rows: usize) -> Tiling {
    let width = results.length;
    let is_dense = results.strides[0] == 1;
    let step = task.reduced.inner();
    let is_one_block = is_dense && task.reduced.loops().len() == 1 && step.strides[0] == width as isize;
    let merged = if is_one_block && width <= 64 { (512 / width).min(rows / 2).max(1) } else { 1 };
    let tile = width.min(if is_dense { TILE } else { STRIDED_TILE });
    let outer = task.result_loops.count();
    let tiles = width.div_ceil(tile);
    Tiling { outer, tiles, tile, chunks: chunk_count(outer * tiles, rows * tile), merged }
}

fn locate(task: &Task, results: Loop<2>, tiling: &Tiling, item: usize) -> TileView {
    let (outer, tile) = (item / tiling.tiles, item % tiling.tiles);
    let first = tile * tiling.tile;
    let mut at = [0; 2];
    task.result_loops.walk(outer..outer + 1, |offsets| at = offsets);
    let [from, to] = array_of::<_, 2>(|i| at[i] + first as isize * results.strides[i]);
    TileView { src: task.element(from), dst: task.result(to), width: tiling.tile.min(results.length - first) }
}

fn fold_items(task: &Task, results: Loop<2>, tiling: &Tiling, items: Range<usize>) {
    let rows = task.reduced.count();
    let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); TILE]);
    for item in items {
        let TileView { src, dst, width } = locate(task, results, tiling, item);
        let totals = Totals { start: slots.0.as_mut_ptr().cast(), width };
        // SAFETY: there is space for a tile of totals.
        unsafe { (task.kernels.clear)(totals.start, width) };
        fold_tile(task, src, results.strides[0], 0..rows, tiling.merged, totals);
        // SAFETY: the offset comes from the layout of the destination; tasks have disjoint results.
        unsafe { (task.kernels.finish)(totals.start, width, dst, results.strides[1], rows) };
    }
}

/// Accumulate the rows in `range`, whose elements are `stride` apart, into `totals`.
fn fold_tile(task: &Task, src: *const u8, stride: isize, range: Range<usize>, merged: usize, totals: Totals) {
    let size = task.kernels.in_size;
    let row = |at: isize| src.wrapping_offset(at * size as isize);
    if merged > 1 {
        fold_merged(task, src, range, merged, totals);
    } else if stride == 1 {
        fold_rows(task.kernels, &task.reduced, range, totals, |at, _| row(at));
    } else {
        let mut stage = Aligned([[MaybeUninit::<TotalSlot>::uninit(); STRIDED_TILE]; ROWS]);
        fold_rows(task.kernels, &task.reduced, range, totals, |at, row_index| {
            let staged = stage.0[row_index].as_mut_ptr().cast::<u8>();
            collect(size, row(at), stride, totals.width, staged);
            staged
        });
    }
}

/// Accumulate rows into `totals`, eight at a time. `row` returns the row at an offset as dense memory, which stays valid for
/// eight calls.
fn fold_rows(
    kernels: &KernelTable,
    reduced: &StridedLoops<1>,
    range: Range<usize>,
    totals: Totals,
    mut row: impl FnMut(isize, usize) -> *const u8,
) {
    let mut rows = [std::ptr::null(); ROWS];
    let mut row_index = 0;
    reduced.walk(range, |[at]| {
        rows[row_index] = row(at, row_index);
        row_index += 1;
        if row_index == ROWS {
            row_index = 0;
            // SAFETY: rows are as long as the totals; they lie in the layout of the source or in the stage.
            unsafe { (kernels.rows)(&rows, ROWS, totals.start, totals.width) };
        }
    });
    // SAFETY: the first `row_index` rows were set as above.
    unsafe { (kernels.rows)(&rows, row_index, totals.start, totals.width) };
}

/// Fold narrow dense rows as if `merged` of them were one.
fn fold_merged(task: &Task, src: *const u8, range: Range<usize>, merged: usize, totals: Totals) {
    let kernels = task.kernels;
    let width = totals.width;
    let rows = range.len() / merged;
    let row = |at: usize| src.wrapping_add(at * kernels.in_size);
    let first = range.start * width;
    let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); TILE]);
    let wide = Totals { start: slots.0.as_mut_ptr().cast(), width: width * merged };
    // SAFETY: there is space for a tile of totals, and merged rows are at most half as long.
    unsafe { (kernels.clear)(wide.start, wide.width) };
    let mut steps = StridedLoops::new(&[], [&[]]);
    steps.push(Loop { length: rows, strides: [wide.width as isize] });
    fold_rows(kernels, &steps, 0..rows, wide, |at, _| row(first + at as usize));
    for group in 0..merged {
        // SAFETY: all totals were initialised above.
        unsafe { (kernels.combine)(totals.start, wide.start.add(group * width * kernels.total_size), width) };
    }
    let done = rows * merged;
    steps = StridedLoops::new(&[], [&[]]);
    steps.push(Loop { length: range.len() - done, strides: [width as isize] });
    fold_rows(kernels, &steps, 0..range.len() - done, totals, |at, _| {
        row(first + done * width + at as usize)
    });
}
