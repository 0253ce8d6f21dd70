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

/// Runs shorter than this are folded sequentially.
const MIN_RUN: usize = 16;

/// Runs folded before their totals are written.
const BATCH: usize = 32;

/// Number of short runs whose lanes are reduced together.
const GROUP: usize = 4;

/// Number of interleaved read streams: a single stream does not saturate the memory bandwidth of a core.
const STREAMS: usize = 4;
/// Minimum bytes of a run that is split into several streams.
const MIN_SPLIT_BYTES: usize = 32 << 10;
/// Minimum bytes of runs that are interleaved.
const MIN_JOINT_BYTES: usize = 4 << 10;

/// Prefetch distance in bytes.
const PREFETCH_BYTES: usize = 2 << 10;

/// Columns whose lanes are computed before totals accumulate them.
const STRIP: usize = 64;

/// Columns of a window folded together.
const TILE: usize = 128;

/// Memory with sufficient size and alignment for a total of any reduction, or for several small ones.
pub(super) type TotalSlot = u128;

/// A fold with erased types. Totals are `total_size` bytes apart.
///
/// The functions are unsafe: elements must be readable and of the types of the fold, and results must be writable by this
/// thread only.
pub(super) struct KernelTable {
    /// Bytes of an element.
    pub(super) in_size: usize,
    /// Bytes of a total.
    pub(super) total_size: usize,
    /// Bytes of a result.
    pub(super) out_size: usize,
    /// Whether long runs are accurate: totals are exact or wider than elements.
    pub(super) has_long_runs: bool,
    /// Set `count` totals to the identity.
    pub(super) clear: unsafe fn(totals: *mut u8, count: usize),
    /// Fold a contiguous run into a total.
    pub(super) run: unsafe fn(run: *const u8, length: usize, total: *mut u8),
    /// Fold runs into one result each.
    pub(super) runs: unsafe fn(Runs),
    /// Fold the first `count` rows, each as long as the totals, into the totals element by element.
    pub(super) rows: unsafe fn(rows: &[*const u8; 8], count: usize, totals: *mut u8, width: usize),
    /// Fold windows into results, if there is a separate loop for it and the processor has vectors.
    pub(super) windows: Option<unsafe fn(Windows)>,
    /// Combine other totals into `totals`.
    pub(super) combine: unsafe fn(totals: *mut u8, more: *const u8, count: usize),
    /// Write totals of `elements` elements each as results, `stride` results apart.
    pub(super) finish:
        unsafe fn(totals: *const u8, count: usize, dst: *mut u8, stride: isize, elements: usize),
    /// Whether no further element can change a total.
    pub(super) is_absorbing: unsafe fn(total: *const u8) -> bool,
}

/// Contiguous runs of one length with one result each; strides in elements and results.
pub(super) struct Runs {
    pub(super) src: *const u8,
    pub(super) stride: isize,
    pub(super) length: usize,
    pub(super) count: usize,
    pub(super) dst: *mut u8,
    pub(super) dst_stride: isize,
}

/// Windows: each consists of a few contiguous rows of one length at `offsets` from its start, which are reduced to a row of
/// neighbouring results. The strides from window to window are in elements and results, not in bytes.
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
    /// The kernels of a fold.
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
    /// The kernels of a mean, which are those of the sum except for writing results.
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
        fold_runs::<F>(run.cast(), 0, length, &mut more, RunOrder::Interleaved);
        *total = F::combine(*total, more[0]);
    }
}

unsafe fn runs<F: Fold>(runs: Runs) {
    let (src, dst) = (runs.src.cast::<F::In>(), runs.dst.cast::<F::Out>());
    let bytes = runs.length * size_of::<F::In>();
    // Only for elements of at least four bytes: for narrow ones arithmetic is the bottleneck, not memory.
    let interleaves =
        const { is_hot::<F>() && size_of::<F::In>() >= 4 } && bytes >= MIN_JOINT_BYTES && has_vectors();
    let runs_per_stream = if interleaves { runs.count / STREAMS } else { 0 };
    for i in 0..runs_per_stream as isize {
        let index = |k: usize| i + (k * runs_per_stream) as isize;
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let starts = array_of(|k| src.wrapping_offset(index(k) * runs.stride));
            for (k, total) in fold_interleaved::<F>(starts, runs.length).into_iter().enumerate() {
                dst.offset(index(k) * runs.dst_stride).write(finished::<F>(total, runs.length));
            }
        }
    }
    let mut totals = [F::IDENTITY; BATCH];
    for first in (runs_per_stream * STREAMS..runs.count).step_by(BATCH) {
        let totals = &mut totals[..BATCH.min(runs.count - first)];
        let src = src.wrapping_offset(first as isize * runs.stride);
        // SAFETY: guaranteed by the caller of this function.
        unsafe { fold_runs::<F>(src, runs.stride, runs.length, totals, RunOrder::InOrder) };
        for (i, &total) in (first as isize..).zip(&*totals) {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { dst.offset(i * runs.dst_stride).write(finished::<F>(total, runs.length)) };
        }
    }
}

unsafe fn rows<F: Fold>(rows: &[*const u8; 8], count: usize, totals: *mut u8, width: usize) {
    // SAFETY: guaranteed by the caller of this function; rows from `count` on are not accessed.
    let totals = unsafe { std::slice::from_raw_parts_mut(totals.cast::<F::Total>(), width) };
    // SAFETY: guaranteed by the caller of this function.
    let row = |k: usize| unsafe { std::slice::from_raw_parts(rows[k].cast::<F::In>(), width) };
    if count == 8 {
        let rows = array_of(row);
        // A tree if the fold rounds, even without vectors, so that results are the same on all processors.
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

/// The result of a total of `elements` elements.
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
    // Slices of equal length that the compiler can see, so that bounds are checked once.
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

/// [`accumulate_eight`] for full strips of columns; returns the number of columns processed.
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

/// The merged lanes of a strip of eight rows, row by row. A separate array lets the compiler use vectors of lanes, not of the
/// wider totals.
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

/// Merge the elements at index `i` of four rows.
///
/// # Safety
/// The rows are readable at this index.
#[inline(always)]
unsafe fn lane_of_four<F: Fold>([a, b, c, d]: [*const F::In; 4], i: usize) -> F::Lane {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        F::merge(
            F::merge(F::load(*a.add(i)), F::load(*b.add(i))),
            F::merge(F::load(*c.add(i)), F::load(*d.add(i))),
        )
    }
}

/// # Safety
/// The rows are readable, and the results are writable by this thread only.
#[inline(always)]
unsafe fn fold_windows<F: Fold>(windows: &Windows) {
    let (src, dst) = (windows.src.cast::<F::In>(), windows.dst.cast::<F::Out>());
    let mut totals = [F::IDENTITY; TILE];
    for window in 0..windows.count as isize {
        for first in (0..windows.width).step_by(TILE) {
            let totals = &mut totals[..TILE.min(windows.width - first)];
            let row =
                |offset: isize| src.wrapping_offset(window * windows.stride + offset).wrapping_add(first);
            let to = dst.wrapping_offset(window * windows.dst_stride).wrapping_add(first);
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
                while let &[a, b, c, d, ref tail @ ..] = offsets {
                    let [a, b, c, d] = [row(a), row(b), row(c), row(d)];
                    for (j, total) in totals.iter_mut().enumerate() {
                        *total = F::accumulate(*total, lane_of_four::<F>([a, b, c, d], j));
                    }
                    offsets = tail;
                }
                for &offset in offsets {
                    let row = row(offset);
                    for (j, total) in totals.iter_mut().enumerate() {
                        *total = F::accumulate(*total, F::load(*row.add(j)));
                    }
                }
            }
            for (j, &total) in totals.iter().enumerate() {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { to.add(j).write(finished::<F>(total, windows.offsets.len())) };
            }
        }
    }
}

/// The totals of long runs of one length, read as interleaved streams.
///
/// # Safety
/// The runs are readable.
#[inline(always)]
unsafe fn fold_interleaved<F: Fold>(starts: [*const F::In; STREAMS], length: usize) -> [F::Total; STREAMS] {
    // SAFETY: guaranteed by the caller of this function.
    let runs = array_of(|k| unsafe { std::slice::from_raw_parts(starts[k], length) });
    fold_streams::<F, 16>(runs)
}

/// [`fold_lanes`] of interleaved runs of one length, each in order, on a processor with vectors.
#[inline(never)]
fn fold_streams<F: Fold, const N: usize>(runs: [&[F::In]; STREAMS]) -> [F::Total; STREAMS] {
    vectors_for::<F, _>(
        #[inline(always)]
        || {
            let mut totals = Aligned([[F::IDENTITY; N]; STREAMS]);
            let blocked = runs[0].len() / (TREE * N) * (TREE * N);
            for at in (0..blocked).step_by(TREE * N) {
                for (run, totals) in runs.iter().zip(&mut totals.0) {
                    F::accumulate_block(&run[at..][..TREE * N], totals);
                }
            }
            for (run, totals) in runs.iter().zip(&mut totals.0) {
                F::accumulate_tail(&run[blocked..], totals);
            }
            array_of(|k| tree_reduce(&totals.0[k], F::combine))
        },
    )
}

/// The order in which a run is read. The total depends on it if the fold rounds.
#[derive(Clone, Copy, PartialEq)]
enum RunOrder {
    /// From beginning to end, even if several runs are interleaved.
    InOrder,
    /// Long runs are split into several interleaved streams.
    Interleaved,
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
    // Separate functions, so that the compiler optimises each independently.
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        match const { size_of::<F::In>() } {
            1 => fold_long_or_short_runs::<F, 64>(src, stride, length, totals, order),
            2 => fold_long_or_short_runs::<F, 32>(src, stride, length, totals, order),
            4 => fold_long_or_short_runs::<F, 16>(src, stride, length, totals, order),
            // With eight lanes the compiler would unroll the tree into scalar code and not vectorise it again.
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
/// As for [`fold_runs`].
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

/// As [`fold_runs`], for runs of at least a tree, or any run if lanes are not kept separate.
///
/// # Safety
/// As for [`fold_runs`].
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

/// As [`fold_runs`], for runs too short for trees, with `N` totals per run. These are reduced after several runs, because
/// loading a vector right after partial stores to it would cause a store-forwarding stall.
///
/// # Safety
/// As for [`fold_runs`].
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

/// The total of a run: `N` parallel totals that accumulate trees of eight.
#[inline(always)]
fn fold_lanes<F: Fold, const N: usize>(run: &[F::In], order: RunOrder) -> F::Total {
    let mut totals = Aligned([F::IDENTITY; N]);
    let totals = &mut totals.0;
    let mut tail = run;
    if order == RunOrder::Interleaved && size_of_val(run) >= MIN_SPLIT_BYTES {
        let stream_length = run.len() / STREAMS / (TREE * N) * (TREE * N);
        for at in (0..stream_length).step_by(TREE * N) {
            for start in (at..STREAMS * stream_length).step_by(stream_length) {
                let block = &run[start..][..TREE * N];
                prefetch_ahead(block, PREFETCH_BYTES as isize);
                F::accumulate_block(block, totals);
            }
        }
        tail = &run[STREAMS * stream_length..];
    }
    let mut blocks = tail.chunks_exact(TREE * N);
    for block in &mut blocks {
        F::accumulate_block(block, totals);
    }
    F::accumulate_tail(blocks.remainder(), totals);
    tree_reduce(totals, F::combine)
}

/// Prefetch elements at a distance from a block if they are narrow. Their sums take so many instructions that out-of-order
/// execution does not reach the next loads by itself.
#[inline(always)]
fn prefetch_ahead<T>(block: &[T], distance: isize) {
    if const { size_of::<T>() <= 2 } {
        prefetch_lines(block.as_ptr().wrapping_offset(distance), size_of_val(block), Cache::L2);
    }
}

/// [`fold_lanes`] of two interleaved runs of one length, each in order. The next two runs, `stride` elements apart, are
/// prefetched at the same offsets.
#[inline(always)]
fn fold_two_runs<F: Fold, const N: usize>(first: &[F::In], second: &[F::In], stride: isize) -> [F::Total; 2] {
    let mut totals = Aligned([[F::IDENTITY; N]; 2]);
    let [first_totals, second_totals] = &mut totals.0;
    let (mut firsts, mut seconds) = (first.chunks_exact(TREE * N), second.chunks_exact(TREE * N));
    for (first, second) in (&mut firsts).zip(&mut seconds) {
        for block in [first, second] {
            prefetch_ahead(block, 2 * stride);
        }
        F::accumulate_block(first, first_totals);
        F::accumulate_block(second, second_totals);
    }
    F::accumulate_tail(firsts.remainder(), first_totals);
    F::accumulate_tail(seconds.remainder(), second_totals);
    [tree_reduce(first_totals, F::combine), tree_reduce(second_totals, F::combine)]
}
