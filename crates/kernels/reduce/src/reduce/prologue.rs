//! Reductions of elements that a program computes (a fused prologue). The elements exist one block at a time, in a buffer of
//! the thread.
//!
//! As for elements in memory, either the elements of one result are produced consecutively, or rows of neighbouring results.
//! The strides of the largest operand decide, as it dominates the memory traffic.

use std::mem::MaybeUninit;
use std::ops::Range;
use umber_kernels_base::arrays::array_of;

use smallvec::SmallVec;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::shared::Target;
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_kernels_elementwise::tape::{Elements, Producer, Program, Rows};

use super::kernels::{KernelTable, Runs, TotalSlot};
use super::{ChunkedFold, GRAIN, Results, Totals, chunk_count, fold_in_chunks};

/// Maximum number of totals of a tile, or of merged rows.
const MAX_TOTALS: usize = 512;

/// Number of parallel totals of a long result.
const LONG_TOTALS: usize = 64;

/// Results of at least this many blocks use several parallel totals.
const LONG_ROW: usize = 8;

/// A reduction of a program's output.
struct Task<'p> {
    kernels: &'static KernelTable,
    elements: Elements<'p>,
    rows: Rows,
    dst: Target<u8>,
    /// Loops over the results, or over tiles of neighbouring ones, with strides in the destination.
    outer: StridedLoops<1>,
    /// Elements per result.
    work: usize,
}

/// The axes of a computation: those of the result and those that are reduced.
struct SortedAxes {
    result_axes: SmallVec<[usize; 6]>,
    reduced: SmallVec<[usize; 6]>,
    /// The axis of neighbouring results, if rows of them are produced.
    neighbours: Option<usize>,
}

/// Fold `axes` of the output of a program over `shape`.
pub(super) fn fold(
    kernels: &'static KernelTable,
    program: &Program,
    inputs: &[View],
    shape: &[usize],
    axes: &[usize],
    dst: ViewMut,
) {
    assert_eq!(kernels.out_size, dst.dtype().size(), "dtype of the result of a reduction");
    assert!(inputs.iter().all(|input| input.shape() == shape), "operands have one shape");
    let keeps_axes = dst.shape().len() == shape.len();
    let result_stride = |axis: usize| {
        let result_axis =
            if keeps_axes { axis } else { axis - axes.iter().filter(|&&other| other < axis).count() };
        assert_eq!(dst.shape()[result_axis], shape[axis], "shape of the result of a reduction");
        dst.strides()[result_axis]
    };
    let sorted = sort(inputs, shape, axes);
    let mut outer = StridedLoops::new(&[], [&[]]);
    for &axis in &sorted.result_axes {
        outer.push(Loop { length: shape[axis], strides: [result_stride(axis)] });
    }
    let work: usize = sorted.reduced.iter().map(|&axis| shape[axis]).product();
    let results = sorted.neighbours.map(|axis| Loop { length: shape[axis], strides: [result_stride(axis)] });
    let order: SmallVec<[usize; 6]> =
        sorted.result_axes.iter().chain(&sorted.reduced).chain(&sorted.neighbours).copied().collect();
    let width = results.map_or(1, |results| results.length);
    let dst = Target::of(&dst);
    if work == 0 || outer.count() == 0 || width == 0 {
        finish_empty(kernels, &outer, results.unwrap_or(Loop::ONCE), dst);
        return;
    }
    let run_length = if results.is_some() { width } else { work };
    let rows = if 2 * run_length <= program.block_length() { Rows::One } else { Rows::Innermost };
    let elements = Elements::new(program, inputs, shape, &order, rows);
    let task = Task { kernels, elements, rows, dst, outer, work };
    match results {
        Some(results) => task.fold_columns(results),
        None => task.fold_rows(),
    }
}

/// Sort the axes by the strides of the operand with the most elements.
fn sort(inputs: &[View], shape: &[usize], axes: &[usize]) -> SortedAxes {
    let extent = |view: &&View| -> usize {
        view.strides()
            .iter()
            .zip(shape)
            .map(|(&stride, &length)| if stride == 0 { 1 } else { length })
            .product()
    };
    // The first one if several have the same size.
    let leader = inputs.iter().rev().max_by_key(extent);
    let stride = |axis: usize| leader.map_or(0, |view| view.strides()[axis].unsigned_abs());
    let (mut reduced, mut result_axes): (SmallVec<[usize; 6]>, SmallVec<[usize; 6]>) =
        (0..shape.len()).partition(|axis| axes.contains(axis));
    // Broadcast axes go outermost, as for elements in memory.
    reduced.sort_by_key(|&axis| std::cmp::Reverse(if stride(axis) == 0 { usize::MAX } else { stride(axis) }));
    let closest = |axes: &[usize]| {
        let moving = axes.iter().copied().filter(|&axis| shape[axis] != 1 && stride(axis) != 0);
        moving.min_by_key(|&axis| stride(axis))
    };
    let neighbours = match (closest(&result_axes), closest(&reduced)) {
        (Some(axis), Some(other)) if stride(axis) < stride(other) => Some(axis),
        (Some(axis), None) => Some(axis),
        _ => None,
    };
    result_axes.retain(|&mut axis| Some(axis) != neighbours);
    SortedAxes { result_axes, reduced, neighbours }
}

/// Write the results of reductions over no elements.
fn finish_empty(kernels: &KernelTable, outer: &StridedLoops<1>, results: Loop<1>, dst: Target<u8>) {
    let mut slots: TotalSlot = 0;
    let total = std::ptr::from_mut(&mut slots).cast::<u8>();
    // SAFETY: there is space for a total.
    unsafe { (kernels.clear)(total, 1) };
    outer.walk(0..outer.count(), |[at]| {
        for i in 0..results.length as isize {
            let result = dst.at((at + i * results.strides[0]) * kernels.out_size as isize);
            // SAFETY: the offset comes from the layout of the destination.
            unsafe { (kernels.finish)(total, 1, result, 1, 0) };
        }
    });
}

impl Task<'_> {
    /// Minimum elements per task, given the cost of each.
    fn grain(&self) -> usize {
        GRAIN / self.elements.cost().min(GRAIN)
    }

    fn result(&self, offset: isize) -> *mut u8 {
        self.dst.at(offset * self.kernels.out_size as isize)
    }

    /// Offset in the destination of a result or tile.
    fn offset(&self, outer: usize) -> isize {
        let mut offset = 0;
        self.outer.walk(outer..outer + 1, |[at]| offset = at);
        offset
    }

    /// Fold results whose elements are produced consecutively.
    fn fold_rows(&self) {
        let (results, work) = (self.outer.count(), self.work);
        let chunks = chunk_count(results, work * self.elements.cost());
        if chunks > 1 {
            fold_in_chunks(
                self.kernels,
                &ChunkedFold { tiles: results, width: 1, steps: work, tasks: chunks },
                |result| Results { dst: self.result(self.offset(result)), width: 1, stride: 1 },
                |result, range, totals| {
                    self.elements.enter(|producer| self.fold_row(producer, result, range, totals.start));
                },
            );
            return;
        }
        parallel_ranges(results, self.grain() / work, |range| {
            self.elements.enter(|producer| match self.rows {
                Rows::One => self.fold_short_rows(producer, range),
                Rows::Innermost => self.fold_long_rows(producer, range),
            });
        });
    }

    fn fold_long_rows(&self, producer: &mut Producer, range: Range<usize>) {
        let mut slots: TotalSlot = 0;
        let total = std::ptr::from_mut(&mut slots).cast::<u8>();
        let mut result = range.start;
        self.outer.walk(range, |[at]| {
            // SAFETY: the slot has space for a total; offsets come from the layout; tasks have disjoint results.
            unsafe { (self.kernels.clear)(total, 1) };
            self.fold_row(producer, result, 0..self.work, total);
            // SAFETY: as for `clear`.
            unsafe { (self.kernels.finish)(total, 1, self.result(at), 1, self.work) };
            result += 1;
        });
    }

    fn fold_row(&self, producer: &mut Producer, result: usize, range: Range<usize>, total: *mut u8) {
        let (kernels, block) = (self.kernels, self.elements.block());
        let start = result * self.work + range.start;
        let run = |run: *const u8, length: usize| {
            // SAFETY: the run has elements of the fold, and the total was initialised by `clear`.
            unsafe { (kernels.run)(run, length, total) };
        };
        if range.len() < LONG_ROW * block {
            producer.produce(start, range.len(), |produced, _, length| run(produced, length));
            return;
        }
        // Blocks are accumulated into parallel totals, eight rows at a time, so that totals are combined once and not once
        // per block.
        let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); LONG_TOTALS]);
        let wide = slots.0.as_mut_ptr().cast::<u8>();
        let total_at = |i: usize| wide.wrapping_add(i * kernels.total_size);
        // SAFETY: there is space for these totals.
        unsafe { (kernels.clear)(wide, LONG_TOTALS) };
        producer.produce(start, range.len(), |produced, _, length| {
            let blocked = length / (8 * LONG_TOTALS) * (8 * LONG_TOTALS);
            for first in (0..blocked).step_by(8 * LONG_TOTALS) {
                let row = |k| produced.wrapping_add((first + k * LONG_TOTALS) * kernels.in_size);
                // SAFETY: there are eight such rows, each as long as the totals.
                unsafe { (kernels.rows)(&array_of(row), 8, wide, LONG_TOTALS) };
            }
            if blocked < length {
                run(produced.wrapping_add(blocked * kernels.in_size), length - blocked);
            }
        });
        let mut count = LONG_TOTALS;
        while count > 1 {
            count /= 2;
            // SAFETY: all totals were initialised above.
            unsafe { (kernels.combine)(wide, total_at(count), count) };
        }
        // SAFETY: all totals were initialised above.
        unsafe { (kernels.combine)(total, wide, 1) };
    }

    /// Fold as many results at a time as have their elements in one block.
    fn fold_short_rows(&self, producer: &mut Producer, range: Range<usize>) {
        let results_per_block = self.elements.block() / self.work;
        let [dst_stride] = self.outer.inner().strides;
        let mut result = range.start;
        self.outer.inner_runs(range, |[at], length| {
            for first in (0..length).step_by(results_per_block) {
                let count = results_per_block.min(length - first);
                let dst = self.result(at + first as isize * dst_stride);
                producer.produce(result * self.work, count * self.work, |src, _, _| {
                    let runs =
                        Runs { src, stride: self.work as isize, length: self.work, count, dst, dst_stride };
                    // SAFETY: the block holds the runs, the layout the results; tasks have disjoint results.
                    unsafe { (self.kernels.runs)(runs) };
                });
                result += count;
            }
        });
    }

    /// Fold rows of neighbouring results.
    fn fold_columns(&self, results: Loop<1>) {
        let width = results.length;
        let tile = width.min(MAX_TOTALS);
        let tiles = width.div_ceil(tile);
        // Narrow rows are merged to fill blocks.
        let merged = match (self.rows, (self.elements.block() / width).min(self.work)) {
            (Rows::Innermost, _) => 1,
            (Rows::One, rows @ ..8) => rows.min(MAX_TOTALS / width).max(1),
            (Rows::One, rows) => rows / 8 * 8,
        };
        let columns = Columns { task: self, results, tile, tiles, merged };
        let items = self.outer.count() * tiles;
        let chunks = chunk_count(items, self.work * tile * self.elements.cost());
        if chunks > 1 {
            fold_in_chunks(
                self.kernels,
                &ChunkedFold { tiles: items, width: tile, steps: self.work, tasks: chunks },
                |item| columns.results_of(item),
                |item, range, totals| {
                    self.elements.enter(|producer| columns.fold(producer, item, range, totals));
                },
            );
            return;
        }
        parallel_ranges(items, self.grain() / (self.work * tile), |range| {
            self.elements.enter(|producer| {
                let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); MAX_TOTALS]);
                for item in range {
                    let Results { dst, width, stride } = columns.results_of(item);
                    let totals = Totals { start: slots.0.as_mut_ptr().cast(), width };
                    // SAFETY: there is space for a tile of totals; results lie in the layout of the destination, and tasks
                    // have disjoint ones.
                    unsafe { (self.kernels.clear)(totals.start, width) };
                    columns.fold(producer, item, 0..self.work, totals);
                    // SAFETY: as for `clear`.
                    unsafe { (self.kernels.finish)(totals.start, width, dst, stride, self.work) };
                }
            });
        });
    }
}

/// Rows of neighbouring results, split into tiles.
struct Columns<'t> {
    task: &'t Task<'t>,
    results: Loop<1>,
    tile: usize,
    tiles: usize,
    /// Number of rows folded as one.
    merged: usize,
}

impl Columns<'_> {
    fn results_of(&self, item: usize) -> Results {
        let first = item % self.tiles * self.tile;
        let [stride] = self.results.strides;
        let dst = self.task.result(self.task.offset(item / self.tiles) + first as isize * stride);
        Results { dst, width: self.tile.min(self.results.length - first), stride }
    }

    /// Fold the rows in `range` of a tile into its totals.
    fn fold(&self, producer: &mut Producer, item: usize, range: Range<usize>, totals: Totals) {
        let (kernels, width) = (self.task.kernels, self.results.length);
        let start = |row: usize| (item / self.tiles * self.task.work + row) * width;
        let accumulate = |row: *const u8, to: *mut u8, count: usize| {
            let rows = [row, row, row, row, row, row, row, row];
            // SAFETY: the row has `count` elements, and there are as many totals.
            unsafe { (kernels.rows)(&rows, 1, to, count) };
        };
        if self.merged <= 1 {
            let first = item % self.tiles * self.tile;
            for row in range {
                producer.produce(start(row) + first, totals.width, |produced, offset, count| {
                    accumulate(produced, totals.start.wrapping_add(offset * kernels.total_size), count);
                });
            }
            return;
        }
        // Eight rows, or eight groups of rows, are reduced by a tree before they are added to the totals.
        let in_eights = self.merged.is_multiple_of(8);
        let wide_rows = if in_eights { self.merged / 8 } else { self.merged };
        let wide_width = wide_rows * width;
        let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); MAX_TOTALS]);
        let wide = slots.0.as_mut_ptr().cast::<u8>();
        // SAFETY: there is space: in groups of eight a block has at most eight times as many elements as totals, otherwise at
        // most as many.
        unsafe { (kernels.clear)(wide, wide_width) };
        for row in range.clone().step_by(self.merged) {
            let rows = self.merged.min(range.end - row);
            producer.produce(start(row), rows * width, |produced, _, count| {
                if in_eights && rows == self.merged {
                    let row_group = |k| produced.wrapping_add(k * wide_width * kernels.in_size);
                    // SAFETY: the block has eight such groups, each as long as the totals.
                    unsafe { (kernels.rows)(&array_of(row_group), 8, wide, wide_width) };
                    return;
                }
                for first in (0..count).step_by(wide_width) {
                    accumulate(
                        produced.wrapping_add(first * kernels.in_size),
                        wide,
                        wide_width.min(count - first),
                    );
                }
            });
        }
        for group in 0..wide_rows {
            let group = wide.wrapping_add(group * width * kernels.total_size);
            // SAFETY: all totals were initialised above.
            unsafe { (kernels.combine)(totals.start, group, width) };
        }
    }
}
