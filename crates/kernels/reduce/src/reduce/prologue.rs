//! Folds elements that a program computes: they exist a block at a time, between two steps of one thread.
//!
//! As with elements in memory, either those of one result come one after another, or rows of neighbouring results do.
//! The order in which the program's operands lie closest together decides, so the one with most elements.

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
use super::{GRAIN, Parts, Results, Totals, fold_in_parts, parts};

/// Totals of a tile, or of rows laid end to end.
const MAX_TOTALS: usize = 512;

/// Totals of a long result.
const LONG_TOTALS: usize = 64;

/// Blocks of a result from which on they are added up side by side.
const LONG_ROW: usize = 8;

/// What to fold into what.
struct Task<'p> {
    kernels: &'static KernelTable,
    elements: Elements<'p>,
    rows: Rows,
    dst: Target<u8>,
    /// Loops over results, or over tiles of neighbouring ones, by their distances in the destination.
    outer: StridedLoops<1>,
    /// Elements of a result.
    work: usize,
}

/// The shape of a computation with axes sorted into those that stay and those that go.
struct Axes {
    kept: SmallVec<[usize; 6]>,
    reduced: SmallVec<[usize; 6]>,
    /// The axis of neighbouring results, if rows of them come one after another.
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
        let place = if keeps_axes { axis } else { axis - axes.iter().filter(|&&other| other < axis).count() };
        assert_eq!(dst.shape()[place], shape[axis], "shape of the result of a reduction");
        dst.strides()[place]
    };
    let sorted = sort(inputs, shape, axes);
    let mut outer = StridedLoops::new(&[], [&[]]);
    for &axis in &sorted.kept {
        outer.push(Loop { length: shape[axis], strides: [result_stride(axis)] });
    }
    let work: usize = sorted.reduced.iter().map(|&axis| shape[axis]).product();
    let results = sorted.neighbours.map(|axis| Loop { length: shape[axis], strides: [result_stride(axis)] });
    let order: SmallVec<[usize; 6]> =
        sorted.kept.iter().chain(&sorted.reduced).chain(&sorted.neighbours).copied().collect();
    let width = results.map_or(1, |results| results.length);
    let dst = Target::of(&dst);
    if work == 0 || outer.count() == 0 || width == 0 {
        finish_empty(kernels, &outer, results.unwrap_or(Loop::ONCE), dst);
        return;
    }
    let together = if results.is_some() { width } else { work };
    let rows = if 2 * together <= program.block_length() { Rows::One } else { Rows::Innermost };
    let elements = Elements::new(program, inputs, shape, &order, rows);
    let task = Task { kernels, elements, rows, dst, outer, work };
    match results {
        Some(results) => task.fold_columns(results),
        None => task.fold_rows(),
    }
}

/// Sort axes by how the operand with most elements lies in memory.
fn sort(inputs: &[View], shape: &[usize], axes: &[usize]) -> Axes {
    let extent = |view: &&View| -> usize {
        view.strides()
            .iter()
            .zip(shape)
            .map(|(&stride, &length)| if stride == 0 { 1 } else { length })
            .product()
    };
    // The first of the largest.
    let leader = inputs.iter().rev().max_by_key(extent);
    let stride = |axis: usize| leader.map_or(0, |view| view.strides()[axis].unsigned_abs());
    let (mut reduced, mut kept): (SmallVec<[usize; 6]>, SmallVec<[usize; 6]>) =
        (0..shape.len()).partition(|axis| axes.contains(axis));
    // Repeated elements go outermost, as with elements in memory.
    reduced.sort_by_key(|&axis| std::cmp::Reverse(if stride(axis) == 0 { usize::MAX } else { stride(axis) }));
    let closest = |axes: &[usize]| {
        let moving = axes.iter().copied().filter(|&axis| shape[axis] != 1 && stride(axis) != 0);
        moving.min_by_key(|&axis| stride(axis))
    };
    let neighbours = match (closest(&kept), closest(&reduced)) {
        (Some(axis), Some(other)) if stride(axis) < stride(other) => Some(axis),
        (Some(axis), None) => Some(axis),
        _ => None,
    };
    kept.retain(|&mut axis| Some(axis) != neighbours);
    Axes { kept, reduced, neighbours }
}

/// Results of no elements.
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
    /// How much work a task should be, in elements.
    fn grain(&self) -> usize {
        GRAIN / self.elements.cost().min(GRAIN)
    }

    fn result(&self, offset: isize) -> *mut u8 {
        self.dst.at(offset * self.kernels.out_size as isize)
    }

    /// Where in the destination the result or the tile of this number begins.
    fn place(&self, outer: usize) -> isize {
        let mut place = 0;
        self.outer.walk(outer..outer + 1, |[at]| place = at);
        place
    }

    /// Results whose elements come one after another.
    fn fold_rows(&self) {
        let (results, work) = (self.outer.count(), self.work);
        let parts = parts(results, work * self.elements.cost());
        if parts > 1 {
            fold_in_parts(
                self.kernels,
                &Parts { tiles: results, width: 1, steps: work, tasks: parts },
                |result| Results { dst: self.result(self.place(result)), width: 1, stride: 1 },
                |result, range, totals| {
                    self.elements.enter(|producer| self.fold_row(producer, result, range, totals.start));
                },
            );
            return;
        }
        parallel_ranges(results, self.grain() / work, |range| {
            self.elements.enter(|producer| match self.rows {
                Rows::One => self.fold_short_rows(producer, range),
                Rows::Innermost => self.fold_whole_rows(producer, range),
            });
        });
    }

    fn fold_whole_rows(&self, producer: &mut Producer, range: Range<usize>) {
        let mut slots: TotalSlot = 0;
        let total = std::ptr::from_mut(&mut slots).cast::<u8>();
        let mut result = range.start;
        self.outer.walk(range, |[at]| {
            // SAFETY: the room is a total's; offsets come from the layout; tasks have disjoint results.
            unsafe { (self.kernels.clear)(total, 1) };
            self.fold_row(producer, result, 0..self.work, total);
            // SAFETY: as above.
            unsafe { (self.kernels.finish)(total, 1, self.result(at), 1, self.work) };
            result += 1;
        });
    }

    fn fold_row(&self, producer: &mut Producer, result: usize, range: Range<usize>, total: *mut u8) {
        let (kernels, block) = (self.kernels, self.elements.block());
        let start = result * self.work + range.start;
        let run = |run: *const u8, length: usize| {
            // SAFETY: the run has elements of the fold, the total was made by the leaves.
            unsafe { (kernels.run)(run, length, total) };
        };
        if range.len() < LONG_ROW * block {
            producer.produce(start, range.len(), |piece, _, length| run(piece, length));
            return;
        }
        // Blocks add up side by side, eight rows at once, so that totals come together once and not once a block.
        let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); LONG_TOTALS]);
        let wide = slots.0.as_mut_ptr().cast::<u8>();
        let total_at = |i: usize| wide.wrapping_add(i * kernels.total_size);
        // SAFETY: there is space for these totals.
        unsafe { (kernels.clear)(wide, LONG_TOTALS) };
        producer.produce(start, range.len(), |piece, _, length| {
            let whole = length / (8 * LONG_TOTALS) * (8 * LONG_TOTALS);
            for first in (0..whole).step_by(8 * LONG_TOTALS) {
                let row = |k| piece.wrapping_add((first + k * LONG_TOTALS) * kernels.in_size);
                // SAFETY: the piece has eight such rows, each as long as there are totals.
                unsafe { (kernels.rows)(&array_of(row), 8, wide, LONG_TOTALS) };
            }
            if whole < length {
                run(piece.wrapping_add(whole * kernels.in_size), length - whole);
            }
        });
        let mut left = LONG_TOTALS;
        while left > 1 {
            left /= 2;
            // SAFETY: these totals were made above.
            unsafe { (kernels.combine)(wide, total_at(left), left) };
        }
        // SAFETY: as above.
        unsafe { (kernels.combine)(total, wide, 1) };
    }

    /// As many results at once as have their elements in a block.
    fn fold_short_rows(&self, producer: &mut Producer, range: Range<usize>) {
        let at_once = self.elements.block() / self.work;
        let [dst_stride] = self.outer.inner().strides;
        let mut result = range.start;
        self.outer.inner_runs(range, |[at], length| {
            for first in (0..length).step_by(at_once) {
                let count = at_once.min(length - first);
                let dst = self.result(at + first as isize * dst_stride);
                producer.produce(result * self.work, count * self.work, |src, _, _| {
                    let runs =
                        Runs { src, stride: self.work as isize, length: self.work, count, dst, dst_stride };
                    // SAFETY: the piece holds the runs, the layout the results; tasks have disjoint results.
                    unsafe { (self.kernels.runs)(runs) };
                });
                result += count;
            }
        });
    }

    /// Rows of neighbouring results.
    fn fold_columns(&self, results: Loop<1>) {
        let width = results.length;
        let tile = width.min(MAX_TOTALS);
        let tiles = width.div_ceil(tile);
        // Narrow rows are laid end to end so that they fill blocks.
        let merged = match (self.rows, (self.elements.block() / width).min(self.work)) {
            (Rows::Innermost, _) => 1,
            (Rows::One, rows @ ..8) => rows.min(MAX_TOTALS / width).max(1),
            (Rows::One, rows) => rows / 8 * 8,
        };
        let columns = Columns { task: self, results, tile, tiles, merged };
        let items = self.outer.count() * tiles;
        let parts = parts(items, self.work * tile * self.elements.cost());
        if parts > 1 {
            fold_in_parts(
                self.kernels,
                &Parts { tiles: items, width: tile, steps: self.work, tasks: parts },
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
                    // SAFETY: there is space for a tile of totals; results lie in the layout of the destination, and
                    // tasks have disjoint ones.
                    unsafe { (self.kernels.clear)(totals.start, width) };
                    columns.fold(producer, item, 0..self.work, totals);
                    // SAFETY: as above.
                    unsafe { (self.kernels.finish)(totals.start, width, dst, stride, self.work) };
                }
            });
        });
    }
}

/// Rows of neighbouring results, cut into tiles.
struct Columns<'t> {
    task: &'t Task<'t>,
    results: Loop<1>,
    tile: usize,
    tiles: usize,
    /// Rows folded as if they were one.
    merged: usize,
}

impl Columns<'_> {
    fn results_of(&self, item: usize) -> Results {
        let first = item % self.tiles * self.tile;
        let [stride] = self.results.strides;
        let dst = self.task.result(self.task.place(item / self.tiles) + first as isize * stride);
        Results { dst, width: self.tile.min(self.results.length - first), stride }
    }

    /// Fold the rows in `range` of a tile into its totals.
    fn fold(&self, producer: &mut Producer, item: usize, range: Range<usize>, totals: Totals) {
        let (kernels, width) = (self.task.kernels, self.results.length);
        let start = |row: usize| (item / self.tiles * self.task.work + row) * width;
        let accumulate = |row: *const u8, to: *mut u8, count: usize| {
            let rows = [row, row, row, row, row, row, row, row];
            // SAFETY: the piece is as long as said, and there are as many totals.
            unsafe { (kernels.rows)(&rows, 1, to, count) };
        };
        if self.merged <= 1 {
            let first = item % self.tiles * self.tile;
            for row in range {
                producer.produce(start(row) + first, totals.width, |piece, offset, count| {
                    accumulate(piece, totals.start.wrapping_add(offset * kernels.total_size), count);
                });
            }
            return;
        }
        // Eight rows, or as many stretches of rows, meet before they join the totals.
        let in_eights = self.merged.is_multiple_of(8);
        let wide_rows = if in_eights { self.merged / 8 } else { self.merged };
        let wide_width = wide_rows * width;
        let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); MAX_TOTALS]);
        let wide = slots.0.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room: a block has no more than eight times as many elements, and no more where none meet.
        unsafe { (kernels.clear)(wide, wide_width) };
        for row in range.clone().step_by(self.merged) {
            let rows = self.merged.min(range.end - row);
            producer.produce(start(row), rows * width, |piece, _, count| {
                if in_eights && rows == self.merged {
                    let stretch = |k| piece.wrapping_add(k * wide_width * kernels.in_size);
                    // SAFETY: the piece is eight such stretches long, each as long as there are totals.
                    unsafe { (kernels.rows)(&array_of(stretch), 8, wide, wide_width) };
                    return;
                }
                for first in (0..count).step_by(wide_width) {
                    accumulate(
                        piece.wrapping_add(first * kernels.in_size),
                        wide,
                        wide_width.min(count - first),
                    );
                }
            });
        }
        for group in 0..wide_rows {
            let group = wide.wrapping_add(group * width * kernels.total_size);
            // SAFETY: these totals were made above.
            unsafe { (kernels.combine)(totals.start, group, width) };
        }
    }
}
