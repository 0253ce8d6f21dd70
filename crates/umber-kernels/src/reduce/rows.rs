//! Folds elements that lie side by side into one result.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::fold::Fold;
use super::{GRAIN, Task, parts, vectorised_for};
use crate::nest::Nest;
use crate::threads::{parallel_for, parallel_ranges};

/// Longest run folded into one total before it joins the rest: bounds the growth of rounding errors.
const SEGMENT: usize = 1 << 14;
/// Elements that are first brought together when they lie apart.
const STAGE: usize = 512;
/// Runs shorter than this are folded one element after another.
const SHORT: usize = 16;
/// Runs at least this long are folded where they lie.
const LONG: usize = 128;

/// Fold every result of the task.
pub(super) fn fold<F: Fold>(task: &Task<F>) {
    let (results, work) = (task.kept.count(), task.reduced.count());
    let parts = parts(results, work);
    if parts == 1 {
        parallel_ranges(results, GRAIN / work.max(1), |range| fold_results(task, range));
        return;
    }
    let mut totals = vec![F::NOTHING; results * parts];
    let shared = SharedTotals(totals.as_mut_ptr());
    parallel_for(results * parts, |i| {
        let (result, part) = (i / parts, i % parts);
        let range = work * part / parts..work * (part + 1) / parts;
        let mut at = 0;
        task.kept.walk(result..result + 1, |offsets| at = offsets[0]);
        let total = fold_range::<F>(task.src.wrapping_offset(at), &task.reduced, range);
        // SAFETY: every task writes its own total of the vector, which outlives the call.
        unsafe { *shared.at(i) = total };
    });
    let mut chunks = totals.chunks_exact(parts);
    task.kept.walk(0..results, |offsets| {
        let total = chunks.next().into_iter().flatten().fold(F::NOTHING, |a, &b| F::join(a, b));
        // SAFETY: the offset comes from the layout of the destination.
        unsafe { task.dst.offset(offsets[1]).write(F::finish(total)) };
    });
}

/// Totals that tasks write apart from each other.
pub(super) struct SharedTotals<T>(pub(super) *mut T);

// SAFETY: users write disjoint totals.
unsafe impl<T: Send> Sync for SharedTotals<T> {}

impl<T> SharedTotals<T> {
    pub(super) fn at(&self, place: usize) -> *mut T {
        self.0.wrapping_add(place)
    }
}

fn fold_results<F: Fold>(task: &Task<F>, range: Range<usize>) {
    let work = task.reduced.count();
    let inner = task.reduced.inner();
    let is_one_run = task.reduced.loops().len() == 1 && inner.strides[0] == 1 && work <= SEGMENT;
    task.kept.walk(range, |offsets| {
        let src = task.src.wrapping_offset(offsets[0]);
        let total = if is_one_run {
            // SAFETY: the layout of the source holds this run.
            fold_run::<F>(unsafe { std::slice::from_raw_parts(src, work) })
        } else {
            fold_range::<F>(src, &task.reduced, 0..work)
        };
        // SAFETY: the offset comes from the layout of the destination; tasks have disjoint results.
        unsafe { task.dst.offset(offsets[1]).write(F::finish(total)) };
    });
}

/// The total of the elements at the turns in `range` of `reduced`.
fn fold_range<F: Fold>(src: *const F::In, reduced: &Nest<1>, range: Range<usize>) -> F::Total {
    let inner = reduced.inner();
    let stride = inner.strides[0];
    let mut total = F::NOTHING;
    if stride == 1 && inner.length >= LONG {
        reduced.runs(range, |offsets, length| {
            let run = src.wrapping_offset(offsets[0]);
            // SAFETY: the layout of the source holds this run.
            let run = unsafe { std::slice::from_raw_parts(run, length) };
            for segment in run.chunks(SEGMENT) {
                if F::is_settled(total) {
                    return;
                }
                total = F::join(total, fold_run::<F>(segment));
            }
        });
        return total;
    }
    let mut stage = [MaybeUninit::<F::In>::uninit(); STAGE];
    let mut filled = 0;
    reduced.runs(range, |offsets, length| {
        let mut next = src.wrapping_offset(offsets[0]);
        let mut left = length;
        while left > 0 {
            let count = left.min(STAGE - filled);
            for place in &mut stage[filled..filled + count] {
                // SAFETY: the layout of the source holds this element.
                place.write(unsafe { *next });
                next = next.wrapping_offset(stride);
            }
            filled += count;
            left -= count;
            if filled == STAGE {
                // SAFETY: the whole stage is written.
                let staged = unsafe { std::slice::from_raw_parts(stage.as_ptr().cast(), filled) };
                total = F::join(total, fold_run::<F>(staged));
                filled = 0;
            }
        }
    });
    // SAFETY: that much of the stage is written.
    let staged = unsafe { std::slice::from_raw_parts(stage.as_ptr().cast(), filled) };
    F::join(total, fold_run::<F>(staged))
}

#[inline(always)]
fn fold_run<F: Fold>(run: &[F::In]) -> F::Total {
    if run.len() < SHORT {
        return run.iter().fold(F::NOTHING, |total, &value| F::absorb(total, F::load(value)));
    }
    fold_long_run::<F>(run)
}

/// Kept out of line: it is large, and the loops around it need not be compiled for each set of instructions.
#[inline(never)]
fn fold_long_run<F: Fold>(run: &[F::In]) -> F::Total {
    vectorised_for::<F, _>(
        #[inline(always)]
        || match const { size_of::<F::In>() } {
            1 => fold_lanes::<F, 64>(run),
            2 => fold_lanes::<F, 32>(run),
            4 => fold_lanes::<F, 16>(run),
            _ => fold_lanes::<F, 8>(run),
        },
    )
}

/// The total of a run: `N` totals side by side, each absorbing trees of eight.
#[inline(always)]
fn fold_lanes<F: Fold, const N: usize>(run: &[F::In]) -> F::Total {
    let mut totals = [F::NOTHING; N];
    let mut blocks = run.chunks_exact(8 * N);
    for block in &mut blocks {
        for (j, total) in totals.iter_mut().enumerate() {
            *total = F::absorb(*total, tree::<F>(|k| block[k * N + j]));
        }
    }
    let mut vectors = blocks.remainder().chunks_exact(N);
    for vector in &mut vectors {
        for (total, &value) in totals.iter_mut().zip(vector) {
            *total = F::absorb(*total, F::load(value));
        }
    }
    for (total, &value) in totals.iter_mut().zip(vectors.remainder()) {
        *total = F::absorb(*total, F::load(value));
    }
    let mut width = N;
    while width > 1 {
        width /= 2;
        for j in 0..width {
            totals[j] = F::join(totals[j], totals[j + width]);
        }
    }
    totals[0]
}

/// Eight elements merged by a tree.
#[inline(always)]
fn tree<F: Fold>(element: impl Fn(usize) -> F::In) -> F::Lane {
    let lane = |k| F::load(element(k));
    let pair = |k| F::merge(lane(k), lane(k + 1));
    F::merge(F::merge(pair(0), pair(2)), F::merge(pair(4), pair(6)))
}
