//! Type-erased inner loops of reductions.
//!
//! Only these are monomorphised per kind, dtype and instruction set; iteration over axes and work splitting are compiled
//! once.

use std::ops::Div;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::isa::{Cache, has_vectors, prefetch_lines};
use umber_kernels_base::tree_reduce::tree_reduce;

use super::fold::{Fold, Mean, TREE, Vectors};
use super::vectors::{has_windows, is_hot, vectorised_for, vectors_for};

/// Runs shorter than this are folded one element after another.
const MIN_RUN: usize = 16;

/// Runs folded before their totals are written.
const BATCH: usize = 32;

/// Short runs whose totals are joined one after another.
const GROUP: usize = 4;

/// Places that memory is read at in turn: what one core has on its way from there is more than one place of it.
const STREAMS: usize = 4;
/// Bytes of a run that is read so by itself.
const MIN_SPLIT_BYTES: usize = 32 << 10;
/// Bytes of runs that are read so together.
const MIN_JOINT_BYTES: usize = 4 << 10;

/// How far behind what is folded of a pile's rows they are asked for, in bytes.
const PREFETCH_BYTES: usize = 2 << 10;

/// Columns whose lanes are made before totals absorb them.
const STRIP: usize = 64;

/// Columns of a pile folded at once.
const TILE: usize = 128;

/// A total of any reduction, or several in a row: memory with room and alignment for them.
pub(super) type TotalSlot = u128;

/// A fold with its types erased. Totals lie `total_size` bytes apart.
///
/// The functions are unsafe: elements must be readable, results writable by this thread alone, of the types of the fold.
pub(super) struct KernelTable {
    /// Bytes of an element.
    pub(super) in_size: usize,
    /// Bytes of a total.
    pub(super) total_size: usize,
    /// Bytes of a result.
    pub(super) out_size: usize,
    /// Do totals lose nothing, or little since they have more digits than elements, however long a run is?
    pub(super) has_long_runs: bool,
    /// Make so many totals those of nothing.
    pub(super) clear: unsafe fn(totals: *mut u8, count: usize),
    /// Fold a run of neighbours into a total.
    pub(super) run: unsafe fn(run: *const u8, length: usize, total: *mut u8),
    /// Fold runs into results.
    pub(super) runs: unsafe fn(Runs),
    /// Fold the first rows, each as long as there are totals, into the totals element by element.
    pub(super) rows: unsafe fn(rows: &[*const u8; 8], count: usize, totals: *mut u8, width: usize),
    /// Fold piles into results, if there is a loop of its own for it, where the processor has vectors.
    pub(super) windows: Option<unsafe fn(Windows)>,
    /// Join more totals to some.
    pub(super) combine: unsafe fn(totals: *mut u8, more: *const u8, count: usize),
    /// Write totals of so many elements each as results, `stride` results apart.
    pub(super) finish:
        unsafe fn(totals: *const u8, count: usize, dst: *mut u8, stride: isize, elements: usize),
    /// Can nothing change a total any more?
    pub(super) is_absorbing: unsafe fn(total: *const u8) -> bool,
}

/// Runs of neighbours of one length, each of which becomes a result; strides in elements and results.
pub(super) struct Runs {
    pub(super) src: *const u8,
    pub(super) stride: isize,
    pub(super) length: usize,
    pub(super) count: usize,
    pub(super) dst: *mut u8,
    pub(super) dst_stride: isize,
}

/// A few rows of neighbours, of one length, that lie at `offsets` from their pile: each pile becomes a row of neighbouring
/// results; strides from pile to pile in elements and results.
pub(super) struct Windows<'a> {
    pub(super) src: *const u8,
    pub(super) stride: isize,
    pub(super) offsets: &'a [isize],
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) dst: *mut u8,
    pub(super) dst_stride: isize,
}

impl KernelTable {
    /// The leaves of a fold.
    pub(super) const fn of<F: Fold>() -> KernelTable {
        assert!(
            size_of::<F::Total>() <= size_of::<TotalSlot>()
                && align_of::<F::Total>() <= align_of::<TotalSlot>()
        );
        KernelTable {
            in_size: size_of::<F::In>(),
            total_size: size_of::<F::Total>(),
            out_size: size_of::<F::Out>(),
            has_long_runs: F::EXACT || size_of::<F::Total>() > size_of::<F::In>(),
            clear: clear::<F>,
            run: run::<F>,
            runs: runs::<F>,
            rows: rows::<F>,
            windows: if has_windows::<F>() { Some(windows::<F>) } else { None },
            combine: combine::<F>,
            finish: finish::<F>,
            is_absorbing: is_absorbing::<F>,
        }
    }
}

impl KernelTable {
    /// The leaves of means, which share with those of sums what does not write results.
    pub(super) const fn of_mean<F: Fold>() -> KernelTable
    where
        F::Total: Div<f64, Output = F::Total>,
    {
        let windows: Option<unsafe fn(Windows)> =
            if has_windows::<F>() { Some(windows::<Mean<F>>) } else { None };
        KernelTable { runs: runs::<Mean<F>>, windows, finish: finish::<Mean<F>>, ..KernelTable::of::<F>() }
    }
}

unsafe fn clear<F: Fold>(totals: *mut u8, count: usize) {
    let totals = totals.cast::<F::Total>();
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { totals.add(i).write(F::IDENTITY) };
    }
}

unsafe fn run<F: Fold>(run: *const u8, length: usize, total: *mut u8) {
    let total = total.cast::<F::Total>();
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut more = [F::IDENTITY];
        fold_runs::<F>(run.cast(), 0, length, &mut more, RunOrder::AtPlaces);
        *total = F::combine(*total, more[0]);
    }
}

unsafe fn runs<F: Fold>(runs: Runs) {
    let (src, dst) = (runs.src.cast::<F::In>(), runs.dst.cast::<F::Out>());
    let bytes = runs.length * size_of::<F::In>();
    // Narrow elements take the processor longer than memory takes to bring them.
    let is_apart =
        const { is_hot::<F>() && size_of::<F::In>() >= 4 } && bytes >= MIN_JOINT_BYTES && has_vectors();
    let part = if is_apart { runs.count / STREAMS } else { 0 };
    for i in 0..part as isize {
        let place = |k: usize| i + (k * part) as isize;
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let starts = array_of(|k| src.wrapping_offset(place(k) * runs.stride));
            for (k, total) in fold_interleaved::<F>(starts, runs.length).into_iter().enumerate() {
                dst.offset(place(k) * runs.dst_stride).write(finished::<F>(total, runs.length));
            }
        }
    }
    let mut totals = [F::IDENTITY; BATCH];
    for first in (part * STREAMS..runs.count).step_by(BATCH) {
        let totals = &mut totals[..BATCH.min(runs.count - first)];
        let src = src.wrapping_offset(first as isize * runs.stride);
        // SAFETY: guaranteed by the caller of this function.
        unsafe { fold_runs::<F>(src, runs.stride, runs.length, totals, RunOrder::InOrder) };
        for (i, &total) in (first as isize..).zip(&*totals) {
            // SAFETY: as above.
            unsafe { dst.offset(i * runs.dst_stride).write(finished::<F>(total, runs.length)) };
        }
    }
}

unsafe fn rows<F: Fold>(rows: &[*const u8; 8], count: usize, totals: *mut u8, width: usize) {
    // SAFETY: the caller's promise; rows past `count` are not looked at.
    let totals = unsafe { std::slice::from_raw_parts_mut(totals.cast::<F::Total>(), width) };
    // SAFETY: as above.
    let row = |k: usize| unsafe { std::slice::from_raw_parts(rows[k].cast::<F::In>(), width) };
    if count == 8 {
        let rows = array_of(row);
        // By a tree where something is rounded, also without vectors.
        if const { !F::EXACT } {
            vectorised_for::<F, _>(
                #[inline(always)]
                move || accumulate_eight::<F>(rows, totals),
            );
        } else if has_vectors() {
            vectors_for::<F, _>(
                #[inline(always)]
                move || accumulate_eight::<F>(rows, totals),
            );
        } else {
            for row in rows {
                accumulate_one::<F>(row, totals);
            }
        }
        return;
    }
    for k in 0..count {
        let row = row(k);
        let totals = &mut *totals;
        vectorised_for::<F, _>(
            #[inline(always)]
            move || accumulate_one::<F>(row, totals),
        );
    }
}

unsafe fn windows<F: Fold>(windows: Windows) {
    vectors_for::<F, _>(
        #[inline(always)]
        // SAFETY: guaranteed by the caller of this function.
        move || unsafe { fold_windows::<F>(&windows) },
    );
}

unsafe fn combine<F: Fold>(totals: *mut u8, more: *const u8, count: usize) {
    let (totals, more) = (totals.cast::<F::Total>(), more.cast::<F::Total>());
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { *totals.add(i) = F::combine(*totals.add(i), *more.add(i)) };
    }
}

/// The result of a total of so many elements.
#[inline(always)]
fn finished<F: Fold>(total: F::Total, elements: usize) -> F::Out {
    F::finish(F::complete(total, elements))
}

unsafe fn finish<F: Fold>(totals: *const u8, count: usize, dst: *mut u8, stride: isize, elements: usize) {
    let (totals, dst) = (totals.cast::<F::Total>(), dst.cast::<F::Out>());
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { dst.offset(i as isize * stride).write(finished::<F>(*totals.add(i), elements)) };
    }
}

unsafe fn is_absorbing<F: Fold>(total: *const u8) -> bool {
    // SAFETY: guaranteed by the caller of this function.
    F::is_absorbing(unsafe { *total.cast::<F::Total>() })
}

#[inline(always)]
fn accumulate_eight<F: Fold>(rows: [&[F::In]; 8], totals: &mut [F::Total]) {
    let width = totals.len();
    // Equal lengths that the compiler sees are checked once, not at every element.
    let rows: [&[F::In]; TREE] = array_of(|k| &rows[k][..width]);
    let strips = if const { F::SEQUENTIAL && size_of::<F::Total>() > size_of::<F::Lane>() } {
        accumulate_strips::<F>(rows, totals)
    } else {
        0
    };
    for (j, total) in totals.iter_mut().enumerate().skip(strips) {
        *total = F::accumulate(*total, F::tree(|k| rows[k][j]));
    }
}

/// [`accumulate_eight`] for whole strips of columns; returns how many columns these are.
#[inline(always)]
fn accumulate_strips<F: Fold>(rows: [&[F::In]; TREE], totals: &mut [F::Total]) -> usize {
    for (i, totals) in totals.chunks_exact_mut(STRIP).enumerate() {
        let strip = array_of(|k| rows[k][i * STRIP..].first_chunk().expect("as many elements as totals"));
        for (total, lane) in totals.iter_mut().zip(lanes_of_eight::<F>(strip)) {
            *total = F::accumulate(*total, lane);
        }
    }
    totals.len() / STRIP * STRIP
}

/// The lanes of a strip of eight rows, one row after the other, in an array by itself: the compiler makes vectors of as many
/// lanes as fit, not of as many as totals fit.
#[inline(always)]
fn lanes_of_eight<F: Fold>(rows: [&[F::In; STRIP]; TREE]) -> [F::Lane; STRIP] {
    let mut lanes: [F::Lane; STRIP] = array_of(|j| F::load(rows[0][j]));
    for row in &rows[1..] {
        for (lane, &value) in lanes.iter_mut().zip(*row) {
            *lane = F::merge(*lane, F::load(value));
        }
    }
    lanes
}

#[inline(always)]
fn accumulate_one<F: Fold>(row: &[F::In], totals: &mut [F::Total]) {
    for (total, &value) in totals.iter_mut().zip(row) {
        *total = F::accumulate(*total, F::load(value));
    }
}

/// The lane of the elements at one place of four rows.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn lane_of_four<F: Fold>([a, b, c, d]: [*const F::In; 4], place: usize) -> F::Lane {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        F::merge(
            F::merge(F::load(*a.add(place)), F::load(*b.add(place))),
            F::merge(F::load(*c.add(place)), F::load(*d.add(place))),
        )
    }
}

/// # Safety
/// The rows are readable, and the results writable by this thread alone.
#[inline(always)]
unsafe fn fold_windows<F: Fold>(windows: &Windows) {
    let (src, dst) = (windows.src.cast::<F::In>(), windows.dst.cast::<F::Out>());
    let mut totals = [F::IDENTITY; TILE];
    for pile in 0..windows.count as isize {
        for first in (0..windows.width).step_by(TILE) {
            let totals = &mut totals[..TILE.min(windows.width - first)];
            let row = |offset: isize| src.wrapping_offset(pile * windows.stride + offset).wrapping_add(first);
            let to = dst.wrapping_offset(pile * windows.dst_stride).wrapping_add(first);
            let mut offsets = windows.offsets;
            // SAFETY: guaranteed by the caller of this function.
            unsafe {
                if let &[a, b, c, d] = offsets {
                    let [a, b, c, d] = [row(a), row(b), row(c), row(d)];
                    for row in [a, b, c, d] {
                        prefetch_lines(
                            row.wrapping_byte_add(PREFETCH_BYTES),
                            totals.len() * size_of::<F::In>(),
                            Cache::L2,
                        );
                    }
                    for j in 0..totals.len() {
                        let lane = lane_of_four::<F>([a, b, c, d], j);
                        to.add(j)
                            .write(finished::<F>(F::accumulate(F::IDENTITY, lane), windows.offsets.len()));
                    }
                    continue;
                }
                totals.fill(F::IDENTITY);
                while let &[a, b, c, d, ref rest @ ..] = offsets {
                    let [a, b, c, d] = [row(a), row(b), row(c), row(d)];
                    for (j, total) in totals.iter_mut().enumerate() {
                        *total = F::accumulate(*total, lane_of_four::<F>([a, b, c, d], j));
                    }
                    offsets = rest;
                }
                for &offset in offsets {
                    let row = row(offset);
                    for (j, total) in totals.iter_mut().enumerate() {
                        *total = F::accumulate(*total, F::load(*row.add(j)));
                    }
                }
            }
            for (j, &total) in totals.iter().enumerate() {
                // SAFETY: as above.
                unsafe { to.add(j).write(finished::<F>(total, windows.offsets.len())) };
            }
        }
    }
}

/// The totals of long runs of one length, read side by side.
///
/// # Safety
/// The runs are readable.
#[inline(always)]
unsafe fn fold_interleaved<F: Fold>(starts: [*const F::In; STREAMS], length: usize) -> [F::Total; STREAMS] {
    // SAFETY: guaranteed by the caller of this function.
    let runs = array_of(|k| unsafe { std::slice::from_raw_parts(starts[k], length) });
    fold_side_by_side::<F, 16>(runs)
}

/// [`fold_lanes`] of runs of one length, each in order, on a processor with vectors.
#[inline(never)]
fn fold_side_by_side<F: Fold, const N: usize>(runs: [&[F::In]; STREAMS]) -> [F::Total; STREAMS] {
    vectors_for::<F, _>(
        #[inline(always)]
        || {
            let mut totals = Aligned([[F::IDENTITY; N]; STREAMS]);
            let whole = runs[0].len() / (TREE * N) * (TREE * N);
            for at in (0..whole).step_by(TREE * N) {
                for (run, totals) in runs.iter().zip(&mut totals.0) {
                    F::accumulate_block(&run[at..][..TREE * N], totals);
                }
            }
            for (run, totals) in runs.iter().zip(&mut totals.0) {
                F::accumulate_tail(&run[whole..], totals);
            }
            array_of(|k| tree_reduce(&totals.0[k], F::combine))
        },
    )
}

/// How a run is read, on which its total depends where it is rounded.
#[derive(Clone, Copy, PartialEq)]
enum RunOrder {
    /// From its beginning to its end, whichever others are read beside it.
    InOrder,
    /// Long ones at several places in turn.
    AtPlaces,
}

/// The totals of some runs of one length, `stride` elements apart.
///
/// # Safety
/// The runs are readable.
#[inline(always)]
unsafe fn fold_runs<F: Fold>(
    src: *const F::In,
    stride: isize,
    length: usize,
    totals: &mut [F::Total],
    order: RunOrder,
) {
    // SAFETY: guaranteed by the caller of this function.
    let run =
        |i: usize| unsafe { std::slice::from_raw_parts(src.wrapping_offset(i as isize * stride), length) };
    if length < MIN_RUN {
        for (i, total) in totals.iter_mut().enumerate() {
            *total = run(i).iter().fold(F::IDENTITY, |total, &value| F::accumulate(total, F::load(value)));
        }
        return;
    }
    // Loops of their own, so that what the compiler makes of one is not at the cost of another.
    // SAFETY: as above.
    unsafe {
        match const { size_of::<F::In>() } {
            1 => fold_long_or_short_runs::<F, 64>(src, stride, length, totals, order),
            2 => fold_long_or_short_runs::<F, 32>(src, stride, length, totals, order),
            4 => fold_long_or_short_runs::<F, 16>(src, stride, length, totals, order),
            // A tree of eight vectors of eight would be written out step by step, and not found to be vectors again.
            _ if const { !matches!(F::VECTORS, Vectors::None) && !F::SEPARATE_TOTALS } => {
                fold_long_runs::<F, 16>(src, stride, length, totals, order);
            }
            _ if F::VECTORS != Vectors::None && length >= TREE * 16 => {
                fold_long_runs::<F, 16>(src, stride, length, totals, order);
            }
            _ => fold_long_or_short_runs::<F, 8>(src, stride, length, totals, order),
        }
    }
}

/// # Safety
/// As of [`fold_runs`].
#[inline(always)]
unsafe fn fold_long_or_short_runs<F: Fold, const N: usize>(
    src: *const F::In,
    stride: isize,
    length: usize,
    totals: &mut [F::Total],
    order: RunOrder,
) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        if F::SEPARATE_TOTALS && length < TREE * N {
            fold_short_runs::<F, N>(src, stride, length, totals);
        } else {
            fold_long_runs::<F, N>(src, stride, length, totals, order);
        }
    }
}

/// As [`fold_runs`]: the vectors of one run need not wait for the total of the one before.
///
/// # Safety
/// As of [`fold_runs`].
#[inline(never)]
unsafe fn fold_long_runs<F: Fold, const N: usize>(
    src: *const F::In,
    stride: isize,
    length: usize,
    totals: &mut [F::Total],
    order: RunOrder,
) {
    // SAFETY: guaranteed by the caller of this function.
    let run =
        |i: usize| unsafe { std::slice::from_raw_parts(src.wrapping_offset(i as isize * stride), length) };
    if !(has_vectors() && const { !matches!(F::VECTORS, Vectors::None) }) {
        for (i, total) in totals.iter_mut().enumerate() {
            *total = fold_lanes::<F, N>(run(i), RunOrder::InOrder);
        }
        return;
    }
    vectors_for::<F, _>(
        #[inline(always)]
        || {
            let mut done = 0;
            if const { is_hot::<F>() } && length * size_of::<F::In>() >= MIN_JOINT_BYTES {
                for totals in totals.chunks_exact_mut(2) {
                    totals.copy_from_slice(&fold_two_runs::<F, N>(run(done), run(done + 1), stride));
                    done += 2;
                }
            }
            for (i, total) in totals.iter_mut().enumerate().skip(done) {
                *total = fold_lanes::<F, N>(run(i), order);
            }
        },
    );
}

/// As [`fold_runs`], of runs too short for trees, in `N` totals a run. They are joined once a few runs are through: what is
/// read as soon as a part of it was written has the processor wait.
///
/// # Safety
/// As of [`fold_runs`].
#[inline(never)]
unsafe fn fold_short_runs<F: Fold, const N: usize>(
    src: *const F::In,
    stride: isize,
    length: usize,
    totals: &mut [F::Total],
) {
    vectorised_for::<F, _>(
        #[inline(always)]
        || {
            for (group, totals) in totals.chunks_mut(GROUP).enumerate() {
                let mut lanes = Aligned([[F::IDENTITY; N]; GROUP]);
                let first = (group * GROUP) as isize;
                for (i, lanes) in (first..).zip(&mut lanes.0[..totals.len()]) {
                    // SAFETY: guaranteed by the caller of this function.
                    let run = unsafe { std::slice::from_raw_parts(src.wrapping_offset(i * stride), length) };
                    F::accumulate_tail(run, lanes);
                }
                for (total, lanes) in totals.iter_mut().zip(&lanes.0) {
                    *total = tree_reduce(lanes, F::combine);
                }
            }
        },
    );
}

/// The total of a run: `N` totals side by side, each absorbing trees of eight.
#[inline(always)]
fn fold_lanes<F: Fold, const N: usize>(run: &[F::In], order: RunOrder) -> F::Total {
    let mut totals = Aligned([F::IDENTITY; N]);
    let totals = &mut totals.0;
    let mut rest = run;
    if order == RunOrder::AtPlaces && size_of_val(run) >= MIN_SPLIT_BYTES {
        let stream = run.len() / STREAMS / (TREE * N) * (TREE * N);
        for at in (0..stream).step_by(TREE * N) {
            for start in (at..STREAMS * stream).step_by(stream) {
                let block = &run[start..][..TREE * N];
                prefetch_ahead(block, PREFETCH_BYTES as isize);
                F::accumulate_block(block, totals);
            }
        }
        rest = &run[STREAMS * stream..];
    }
    let mut blocks = rest.chunks_exact(TREE * N);
    for block in &mut blocks {
        F::accumulate_block(block, totals);
    }
    F::accumulate_tail(blocks.remainder(), totals);
    tree_reduce(totals, F::combine)
}

/// Ask for the elements so far behind those of a block, if they are narrow: their sums take the processor so long that it does
/// not reach what follows by itself.
#[inline(always)]
fn prefetch_ahead<T>(block: &[T], distance: isize) {
    if const { size_of::<T>() <= 2 } {
        prefetch_lines(block.as_ptr().wrapping_offset(distance), size_of_val(block), Cache::L2);
    }
}

/// [`fold_lanes`] of two runs of one length, `stride` elements apart, each in order, read side by side; of the next two what lies
/// at the same places is asked for.
#[inline(always)]
fn fold_two_runs<F: Fold, const N: usize>(first: &[F::In], second: &[F::In], stride: isize) -> [F::Total; 2] {
    let mut totals = Aligned([[F::IDENTITY; N]; 2]);
    let [one, other] = &mut totals.0;
    let (mut firsts, mut seconds) = (first.chunks_exact(TREE * N), second.chunks_exact(TREE * N));
    for (first, second) in (&mut firsts).zip(&mut seconds) {
        for block in [first, second] {
            prefetch_ahead(block, 2 * stride);
        }
        F::accumulate_block(first, one);
        F::accumulate_block(second, other);
    }
    F::accumulate_tail(firsts.remainder(), one);
    F::accumulate_tail(seconds.remainder(), other);
    [tree_reduce(one, F::combine), tree_reduce(other, F::combine)]
}
