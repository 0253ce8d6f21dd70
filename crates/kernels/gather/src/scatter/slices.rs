//! Scatter of slices, with index tuples along some axes.

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::LINE;
use umber_kernels_base::indices::{BATCH, FirstError, Indices, PREFETCH_BYTES, batches};
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::{View, ViewMut};
use umber_types::{Error, Result, ScatterKind, error};

use super::update::{Update, match_update};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Minimum slice length for which each thread filters the updates of its own destinations.
const MIN_SLICE: usize = 4;
/// Destinations of more elements than this miss the caches, and are split between threads whatever the slice length.
const LARGE: usize = 1 << 19;
/// Maximum bytes of a private copy of the destination, so that it stays in the L2 cache.
const MAX_PRIVATE_BYTES: usize = 1 << 19;
/// Maximum number of private copies.
const MAX_COPIES: usize = 16;

/// For each tuple of `indices` along `axes`, combine the next slice of `updates` into the slice of `dst` that starts there.
///
/// The arrays of indices have one shape I and any integer dtypes; `slice_sizes` has a length for each axis of `dst`;
/// `updates` has shape I + slice_sizes and the dtype of `dst`. Tuples apply in row-major order. All indices are
/// checked before the first write: negative ones count from the end, and one out of bounds is an error that names it.
/// Sums and products of float16 and bfloat16 are rounded once for each element of `dst` if slices have length one
/// along the indexed axes, else after each update.
pub fn scatter(
    kind: ScatterKind,
    dst: ViewMut,
    indices: &[View],
    axes: &[usize],
    slice_sizes: &[usize],
    updates: View,
) -> Result<()> {
    assert_eq!(updates.dtype(), dst.dtype(), "updates have the dtype of the destination");
    assert_eq!(slice_sizes.len(), dst.shape().len(), "one slice size an axis");
    let leading = updates.shape().len() - slice_sizes.len();
    assert_eq!(&updates.shape()[leading..], slice_sizes, "updates have shape indices + slice_sizes");
    let task = Scatter {
        size: dst.size(),
        indices: Indices::new(dst.shape(), dst.strides(), indices, axes, slice_sizes),
        sources: StridedLoops::new(&updates.shape()[..leading], [&updates.strides()[..leading]]),
        slice: StridedLoops::new(slice_sizes, [dst.strides(), &updates.strides()[leading..]]),
        dst: Target::of(&dst),
        updates: Source::of(&updates),
        are_disjoint: axes.iter().all(|&axis| slice_sizes[axis] == 1),
    };
    assert_eq!(task.sources.count(), task.indices.count(), "updates have shape indices + slice_sizes");
    let kernels: &KernelTable = match_update!(kind, dst.dtype(), U => const { &KernelTable::of::<U>() });
    task.run(kernels)
}

struct Scatter<'a> {
    dst: Target<u8>,
    updates: Source<u8>,
    /// Number of elements of the destination.
    size: usize,
    indices: Indices<'a>,
    /// Loops over the starts of the slices in the updates, one per tuple.
    sources: StridedLoops<1>,
    /// Loops within a slice: destination, updates.
    slice: StridedLoops<2>,
    /// True if any two slices either coincide or are disjoint.
    are_disjoint: bool,
}

/// The start of a slice in the destination and in the updates, as offsets.
type Pair = (isize, isize);

/// The typed inner loops as type-erased function pointers: only these are compiled for every kind and dtype, the code that
/// splits the work is shared.
///
/// The functions are unsafe: pairs must be inside the layouts (checked indices are), and no other thread may access the
/// destinations.
struct KernelTable {
    /// Bytes of an element.
    size: usize,
    /// Combine a range of the elements of each slice.
    combine: unsafe fn(task: &Scatter, pairs: &[Pair], range: Range<usize>),
    /// Combine elements `step` apart into those at some offsets.
    combine_line: unsafe fn(elements: *mut u8, offsets: &[isize], updates: *const u8, step: isize),
    /// The kernels of a privatised scatter, where the kind allows it.
    privatized: Option<Privatized>,
    /// Combine slices with the same destination, in order, rounding once: for updates that widen.
    combine_group: Option<unsafe fn(task: &Scatter, group: &[Pair])>,
}

/// A privatised scatter: updates accumulate in private copies of the destination, which are then combined with it.
#[derive(Clone, Copy)]
struct Privatized {
    /// Fill `count` elements with the identity of the update.
    clear: unsafe fn(elements: *mut u8, count: usize),
    /// Combine `count` adjacent elements into as many others.
    merge: unsafe fn(elements: *mut u8, updates: *const u8, count: usize),
}

impl KernelTable {
    const fn of<U: Update>() -> KernelTable {
        let privatized = Privatized { clear: clear::<U>, merge: merge::<U> };
        KernelTable {
            size: size_of::<U::Element>(),
            combine: combine::<U>,
            combine_line: combine_line::<U>,
            privatized: if U::IDENTITY.is_some() { Some(privatized) } else { None },
            combine_group: if U::WIDENS { Some(combine_group::<U>) } else { None },
        }
    }
}

impl Scatter<'_> {
    fn run(&self, kernels: &KernelTable) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        if count > 0
            && slice > 0
            && let Some(privatized) = kernels.privatized
            && let Some(copies) = self.copies(kernels.size)
        {
            return self.run_privatized(kernels, privatized, copies);
        }
        self.indices.check()?;
        if count == 0 || slice == 0 {
            return Ok(());
        }
        if let Some(combine_group) = kernels.combine_group
            && self.are_disjoint
            && count > 1
        {
            return self.run_widened(combine_group);
        }
        let threads = num_threads();
        if count * slice < 2 * GRAIN || threads == 1 || !(self.are_disjoint || count == 1) {
            return self.apply_all(kernels, 0..slice);
        }
        let failures = FirstError::default();
        let note = |result: Result<()>| {
            if let Err(error) = result {
                failures.add(0, error);
            }
        };
        if slice >= 4 * GRAIN {
            // Large slices: each thread updates its own range of every slice.
            parallel_ranges(slice, GRAIN, |range| note(self.apply_all(kernels, range)));
        } else if slice >= MIN_SLICE || self.size > LARGE {
            parallel_for(threads, |i| note(self.apply_destinations(kernels, i, threads)));
        } else {
            return self.apply_all(kernels, 0..slice);
        }
        failures.first()
    }

    /// True if updates are single elements with a constant stride.
    fn is_line(&self) -> bool {
        self.slice.loops().is_empty() && self.sources.loops().len() <= 1
    }

    /// The number of private copies for updates of single elements, if privatisation pays. It affects rounding, so it depends on
    /// shapes only.
    fn copies(&self, size: usize) -> Option<usize> {
        let (low, high) = self.indices.extent();
        let is_dense = (high - low) as usize + 1 == self.size;
        let copies = (self.indices.count() / (4 * self.size).max(2 * GRAIN)).min(MAX_COPIES);
        (self.is_line() && is_dense && copies > 1 && self.size * size <= MAX_PRIVATE_BYTES).then_some(copies)
    }

    /// Each task accumulates a range of the updates in a private copy. The copies are combined with the destination in order,
    /// once all indices have been checked.
    fn run_privatized(&self, kernels: &KernelTable, privatized: Privatized, copies: usize) -> Result<()> {
        let size = kernels.size;
        let line = (self.size * size).next_multiple_of(LINE);
        scratch::with(copies * line, |partials: &mut [u8]| {
            let shared = Target::over(partials);
            let elements = |copy: usize| shared.at((copy * line) as isize);
            let (low, _) = self.indices.extent();
            let count = self.indices.count();
            let failures = FirstError::default();
            parallel_for(copies, |copy| {
                // SAFETY: a private copy has as many elements as the destination.
                unsafe { (privatized.clear)(elements(copy), self.size) };
                let first = elements(copy).wrapping_offset(-low * size as isize);
                let range = count * copy / copies..count * (copy + 1) / copies;
                if let Err(error) = self.apply_line(kernels, first, range) {
                    failures.add(copy, error);
                }
            });
            failures.first()?;
            for copy in 0..copies {
                // SAFETY: the destination is dense between the minimum and maximum offset of the indices.
                unsafe { (privatized.merge)(self.dst.at(low * size as isize), elements(copy), self.size) };
            }
            Ok(())
        })
    }

    /// Apply the updates in `range`, single elements with a constant stride, to elements counted from `first`.
    fn apply_line(&self, kernels: &KernelTable, first: *mut u8, range: Range<usize>) -> Result<()> {
        let step = self.sources.inner().strides[0];
        let mut offsets = [0; BATCH];
        for batch in batches(range) {
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let updates = self.updates.at(batch.start as isize * step * kernels.size as isize);
            // SAFETY: the offsets are checked, the updates are inside their layout; no other thread accesses the destinations.
            unsafe { (kernels.combine_line)(first, &offsets[..batch.len()], updates, step) };
        }
        Ok(())
    }

    /// Call `body` with the pairs of all tuples, one batch at a time, in order.
    fn each_batch(&self, mut body: impl FnMut(&mut [Pair])) -> Result<()> {
        let mut offsets = [0; BATCH];
        let mut pairs = [(0, 0); BATCH];
        for batch in batches(0..self.indices.count()) {
            let count = batch.len();
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let mut i = 0;
            self.sources.walk(batch, |[from]| {
                pairs[i] = (offsets[i], from);
                i += 1;
            });
            body(&mut pairs[..count]);
        }
        Ok(())
    }

    /// Apply the elements in `range` of every slice.
    fn apply_all(&self, kernels: &KernelTable, range: Range<usize>) -> Result<()> {
        if self.is_line() {
            return self.apply_line(kernels, self.dst.at(0), 0..self.indices.count());
        }
        // SAFETY: the indices are checked; the ranges of other threads are disjoint.
        self.each_batch(|pairs| unsafe { (kernels.combine)(self, pairs, range.clone()) })
    }

    /// Apply all slices whose destination is in the range of thread `i`.
    fn apply_destinations(&self, kernels: &KernelTable, i: usize, threads: usize) -> Result<()> {
        let (low, high) = self.indices.extent();
        let width = ((high - low) as usize + 1).div_ceil(threads);
        let range = low + (i * width) as isize..low + ((i + 1) * width) as isize;
        let slice = self.slice.count();
        self.each_batch(|pairs| {
            let mut kept = 0;
            for i in 0..pairs.len() {
                // Branch-free: whether a pair is in the range is unpredictable.
                let pair = pairs[i];
                pairs[kept] = pair;
                kept += usize::from(range.contains(&pair.0));
            }
            // SAFETY: the indices are checked; the destinations of other threads are disjoint.
            unsafe { (kernels.combine)(self, &pairs[..kept], 0..slice) };
        })
    }

    /// Sort the updates by destination and combine each group in the wide type.
    fn run_widened(&self, combine_group: unsafe fn(&Scatter, &[Pair])) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        let mut pairs: Vec<Pair> = Vec::new();
        pairs.try_reserve_exact(count).map_err(|_| no_memory(count))?;
        self.each_batch(|batch| pairs.extend_from_slice(batch))?;
        pairs.sort_by_key(|&(to, _)| to);
        let pairs = &pairs;
        let starts_group = |i: usize| i == 0 || pairs[i].0 != pairs[i - 1].0;
        parallel_ranges(count, GRAIN / slice, |range| {
            // A group belongs to the task that has its first pair.
            let mut first = range.start;
            while first < range.end {
                if !starts_group(first) {
                    first += 1;
                    continue;
                }
                let length = 1 + (first + 1..count).take_while(|&i| !starts_group(i)).count();
                // SAFETY: the indices are checked; groups have disjoint destinations, each in one task.
                unsafe { combine_group(self, &pairs[first..first + length]) };
                first += length;
            }
        });
        Ok(())
    }
}

/// # Safety
/// Pairs and `range` are inside the layouts, and no other thread accesses these elements of the destination.
unsafe fn combine<U: Update>(task: &Scatter, pairs: &[Pair], range: Range<usize>) {
    let (dst, updates) = (task.dst.cast::<U::Element>(), task.updates.cast::<U::Element>());
    let inner = task.slice.inner();
    if task.slice.loops().is_empty() {
        for &(to, from) in pairs {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { combine_one::<U>(dst.at(to), updates.at(from)) };
        }
        return;
    }
    if task.slice.loops().len() == 1 {
        let [first_to, first_from] = array_of::<_, 2>(|i| range.start as isize * inner.strides[i]);
        let bytes = (range.len() * size_of::<U::Element>()).min(PREFETCH_BYTES);
        let prefetches = bytes >= LINE && inner.strides[0] == 1;
        for (i, &(to, from)) in pairs.iter().enumerate() {
            if prefetches && let Some(&(next, _)) = pairs.get(i + 1) {
                prefetch_lines(dst.at(next + first_to).cast_const(), bytes, Cache::L1);
            }
            // SAFETY: guaranteed by the caller of this function.
            unsafe {
                combine_run::<U>(dst.at(to + first_to), updates.at(from + first_from), inner, range.len());
            };
        }
        return;
    }
    for &(to, from) in pairs {
        task.slice.inner_runs(range.clone(), |[at, update], length| {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { combine_run::<U>(dst.at(to + at), updates.at(from + update), inner, length) };
        });
    }
}

/// # Safety
/// `count` elements are writable.
unsafe fn clear<U: Update>(elements: *mut u8, count: usize) {
    let Some(identity) = U::IDENTITY else { return };
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { elements.cast::<U::Element>().add(i).write(identity) };
    }
}

/// # Safety
/// Offsets and updates are inside the layouts, and no other thread accesses the destinations.
unsafe fn combine_line<U: Update>(elements: *mut u8, offsets: &[isize], updates: *const u8, step: isize) {
    let (elements, updates) = (elements.cast::<U::Element>(), updates.cast::<U::Element>());
    for (i, &offset) in offsets.iter().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            combine_one::<U>(elements.wrapping_offset(offset), updates.wrapping_offset(i as isize * step));
        }
    }
}

/// # Safety
/// `count` elements are readable and writable in `elements`, readable in `updates`.
unsafe fn merge<U: Update>(elements: *mut u8, updates: *const u8, count: usize) {
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            combine_one::<U>(elements.cast::<U::Element>().add(i), updates.cast::<U::Element>().add(i));
        }
    }
}

/// # Safety
/// The pairs are inside the layouts, and no other thread accesses their destination.
unsafe fn combine_group<U: Update>(task: &Scatter, group: &[Pair]) {
    let [(to, _), ..] = group else { return };
    let (dst, updates) = (task.dst.cast::<U::Element>(), task.updates.cast::<U::Element>());
    let inner = task.slice.inner();
    task.slice.inner_runs(0..task.slice.count(), |[at, from], length| {
        let start = dst.at(to + at);
        for i in 0..length as isize {
            let target = start.wrapping_offset(i * inner.strides[0]);
            // SAFETY: guaranteed by the caller of this function.
            let mut value = U::widen(unsafe { *target });
            for &(_, first) in group {
                let update = updates.at(first + from + i * inner.strides[1]);
                // SAFETY: the update is inside the layout, by the caller's contract.
                value = U::combine(value, U::widen(unsafe { *update }));
            }
            // SAFETY: as for the read of `target`.
            unsafe { *target = U::narrow(value) };
        }
    });
}

/// # Safety
/// `update` is readable, `target` readable and writable.
#[inline(always)]
pub(super) unsafe fn combine_one<U: Update>(target: *mut U::Element, update: *const U::Element) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { *target = U::narrow(U::combine(U::widen(*target), U::widen(*update))) };
}

/// # Safety
/// As for [`combine_one`], for `length` elements with the strides of `line`.
#[inline(always)]
unsafe fn combine_run<U: Update>(
    dst: *mut U::Element,
    updates: *const U::Element,
    line: Loop<2>,
    length: usize,
) {
    if line.strides == [1, 1] {
        // SAFETY: guaranteed by the caller of this function; updates never overlap the destination.
        let (dst, updates) = unsafe {
            (std::slice::from_raw_parts_mut(dst, length), std::slice::from_raw_parts(updates, length))
        };
        for (old, &update) in dst.iter_mut().zip(updates) {
            *old = U::narrow(U::combine(U::widen(*old), U::widen(update)));
        }
        return;
    }
    for i in 0..length as isize {
        let update = updates.wrapping_offset(i * line.strides[1]);
        // SAFETY: guaranteed by the caller of this function.
        unsafe { combine_one::<U>(dst.wrapping_offset(i * line.strides[0]), update) };
    }
}

pub(super) fn no_memory(count: usize) -> Error {
    error!(Memory, "out of memory sorting {count} updates")
}
