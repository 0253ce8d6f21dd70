//! Folds of contiguous elements into one result.

use std::mem::MaybeUninit;
use std::ops::Range;

use umber_kernels_base::by_width::dispatch_by_width;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::threads::parallel_ranges;

use super::kernels::{KernelTable, Runs, TotalSlot};
use super::{ChunkedFold, GRAIN, Results, Task, chunk_count, fold_in_chunks};

/// Maximum run folded into one total before it is combined with the rest, to bound the rounding errors.
const SEGMENT: usize = 1 << 14;

/// The same for folds with accurate totals: longer runs have less startup overhead.
const fn longest_run(kernels: &KernelTable) -> usize {
    if kernels.has_long_runs { SEGMENT << 2 } else { SEGMENT }
}

/// Strided elements copied to scratch at a time.
const STAGE: usize = 512;
/// Contiguous runs of at least this length are folded in place.
const LONG: usize = 128;

/// Fold every result of the task.
pub(super) fn fold(task: &Task) {
    let (results, work) = (task.result_loops.count(), task.reduced.count());
    let chunks = chunk_count(results, work);
    if chunks == 1 {
        parallel_ranges(results, GRAIN / work.max(1), |range| fold_results(task, range));
        return;
    }
    let offsets_of = |result: usize| {
        let mut at = [0; 2];
        task.result_loops.walk(result..result + 1, |offsets| at = offsets);
        at
    };
    fold_in_chunks(
        task.kernels,
        &ChunkedFold { tiles: results, width: 1, steps: work, tasks: chunks },
        |result| Results { dst: task.result(offsets_of(result)[1]), width: 1, stride: 1 },
        |result, range, totals| {
            fold_range(task.kernels, task.element(offsets_of(result)[0]), &task.reduced, range, totals.start);
        },
    );
}

fn fold_results(task: &Task, range: Range<usize>) {
    let work = task.reduced.count();
    let inner = task.reduced.inner();
    // An empty reduction has no loop to step through.
    if task.reduced.loops().len() == 1 && inner.strides[0] == 1 && (1..=SEGMENT).contains(&work) {
        let [stride, dst_stride] = task.result_loops.inner().strides;
        task.result_loops.inner_runs(range, |[from, to], count| {
            let (src, dst) = (task.element(from), task.result(to));
            // SAFETY: the layouts hold the runs and the results; tasks have disjoint results.
            unsafe { (task.kernels.runs)(Runs { src, stride, length: work, count, dst, dst_stride }) };
        });
        return;
    }
    let mut slots: TotalSlot = 0;
    let total = std::ptr::from_mut(&mut slots).cast::<u8>();
    task.result_loops.walk(range, |[from, to]| {
        // SAFETY: the slot has space for a total; offsets come from the layouts; tasks have disjoint results.
        unsafe { (task.kernels.clear)(total, 1) };
        fold_range(task.kernels, task.element(from), &task.reduced, 0..work, total);
        // SAFETY: as for `clear`.
        unsafe { (task.kernels.finish)(total, 1, task.result(to), 1, work) };
    });
}

/// Fold the elements in `range` of the loops `reduced`, relative to `src`, into a total.
fn fold_range(
    kernels: &KernelTable,
    src: *const u8,
    reduced: &StridedLoops<1>,
    range: Range<usize>,
    total: *mut u8,
) {
    let inner = reduced.inner();
    let stride = inner.strides[0];
    let size = kernels.in_size;
    if stride == 1 && inner.length >= LONG {
        let longest = longest_run(kernels);
        reduced.inner_runs(range, |[at], length| {
            for start in (0..length).step_by(longest) {
                // SAFETY: the total was initialised by `clear`.
                if unsafe { (kernels.is_absorbing)(total) } {
                    return;
                }
                let run = src.wrapping_offset((at + start as isize) * size as isize);
                // SAFETY: the layout of the source holds this run.
                unsafe { (kernels.run)(run, longest.min(length - start), total) };
            }
        });
        return;
    }
    let mut stage = Aligned([MaybeUninit::<TotalSlot>::uninit(); STAGE]);
    let staged = stage.0.as_mut_ptr().cast::<u8>();
    let mut filled = 0;
    reduced.inner_runs(range, |[at], length| {
        let mut done = 0;
        while done < length {
            let count = (length - done).min(STAGE - filled);
            let first = src.wrapping_offset((at + done as isize * stride) * size as isize);
            collect(size, first, stride, count, staged.wrapping_add(filled * size));
            filled += count;
            done += count;
            if filled == STAGE {
                // SAFETY: all of the stage is written.
                unsafe { (kernels.run)(staged, filled, total) };
                filled = 0;
            }
        }
    });
    // SAFETY: the first `filled` elements of the stage are written.
    unsafe { (kernels.run)(staged, filled, total) };
}

/// Copy elements that are `stride` apart to dense memory.
pub(super) fn collect(size: usize, src: *const u8, stride: isize, count: usize, dst: *mut u8) {
    dispatch_by_width!(size, T => collect_typed::<T>(src.cast(), stride, count, dst.cast()));
}

fn collect_typed<T: Copy>(src: *const T, stride: isize, count: usize, dst: *mut T) {
    for i in 0..count {
        // SAFETY: callers pass elements that the layout of the source holds, and a stage with space for them.
        unsafe { dst.add(i).write(*src.offset(i as isize * stride)) };
    }
}
