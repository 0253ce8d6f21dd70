//! Scatters slices to tuples of indices along some axes.

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
/// Slices at least this long are worth looking for among those of other threads.
const MIN_SLICE: usize = 4;
/// Destinations of more elements than this miss the caches, and are shared whatever the slices.
const LARGE: usize = 1 << 19;
/// Destinations of more bytes than this leave the nearest caches when every part has its own.
const MAX_PRIVATE_BYTES: usize = 1 << 19;
/// Most arrays that updates come together in.
const MAX_PARTS: usize = 16;

/// For each tuple of `indices` along `axes`, combine the next slice of `updates` into the slice of `dst` there.
///
/// The arrays of indices have one shape I and any integer dtypes; `slice_sizes` has a length for each axis of `dst`;
/// `updates` has shape I + slice_sizes and the dtype of `dst`. Tuples apply in row-major order. All indices are
/// checked before anything is written: negative ones count from the end, one outside is an error that names it.
/// Sums and products of float16 and bfloat16 are rounded once for each element of `dst`, if slices have length one
/// along the indexed axes, and after each update if not.
pub fn scatter(
    kind: ScatterKind,
    dst: ViewMut,
    indices: &[View],
    axes: &[usize],
    slice_sizes: &[usize],
    updates: View,
) -> Result<()> {
    assert_eq!(updates.dtype(), dst.dtype(), "updates have the dtype of what they update");
    assert_eq!(slice_sizes.len(), dst.shape().len(), "one slice size an axis");
    let leading = updates.shape().len() - slice_sizes.len();
    assert_eq!(&updates.shape()[leading..], slice_sizes, "shape of the updates of a scatter");
    let task = Scatter {
        size: dst.size(),
        indices: Indices::new(dst.shape(), dst.strides(), indices, axes, slice_sizes),
        places: StridedLoops::new(&updates.shape()[..leading], [&updates.strides()[..leading]]),
        slice: StridedLoops::new(slice_sizes, [dst.strides(), &updates.strides()[leading..]]),
        dst: Target::of(&dst),
        updates: Source::of(&updates),
        apart: axes.iter().all(|&axis| slice_sizes[axis] == 1),
    };
    assert_eq!(task.places.count(), task.indices.count(), "shape of the updates of a scatter");
    let kernels: &KernelTable = match_update!(kind, dst.dtype(), U => const { &KernelTable::of::<U>() });
    task.run(kernels)
}

struct Scatter<'a> {
    dst: Target<u8>,
    updates: Source<u8>,
    /// Number of elements of the destination.
    size: usize,
    indices: Indices<'a>,
    /// Where each tuple's updates begin.
    places: StridedLoops<1>,
    /// Within a slice: destination, updates.
    slice: StridedLoops<2>,
    /// Do slices either coincide or not overlap at all?
    apart: bool,
}

/// Where a slice goes and where its updates come from, as offsets.
type Pair = (isize, isize);

/// The loops that know the types of an update, behind pointers to functions that do not: compiled for every kind and
/// dtype, unlike what shares the work.
///
/// The functions are unsafe: checked indices keep pairs inside the layouts, and threads have destinations of their own.
struct KernelTable {
    /// Bytes of an element.
    size: usize,
    /// Combine a part of each slice.
    combine: unsafe fn(task: &Scatter, pairs: &[Pair], part: Range<usize>),
    /// Combine elements that lie a step apart into those at some offsets.
    combine_line: unsafe fn(elements: *mut u8, offsets: &[isize], updates: *const u8, step: isize),
    /// How to sum updates up before they meet the destination, where that is allowed.
    apart: Option<Privatized>,
    /// Combine slices that have one destination, in order, rounding once: for updates that widen.
    combine_group: Option<unsafe fn(task: &Scatter, group: &[Pair])>,
}

/// A privatised scatter: updates are accumulated in a separate copy of the destination first.
#[derive(Clone, Copy)]
struct Privatized {
    /// Fill so many elements with updates that change nothing.
    clear: unsafe fn(elements: *mut u8, count: usize),
    /// Combine neighbours into as many others.
    join: unsafe fn(elements: *mut u8, updates: *const u8, count: usize),
}

impl KernelTable {
    const fn of<U: Update>() -> KernelTable {
        let apart = Privatized { clear: clear::<U>, join: join::<U> };
        KernelTable {
            size: size_of::<U::Element>(),
            combine: combine::<U>,
            combine_line: combine_line::<U>,
            apart: if U::NOTHING.is_some() { Some(apart) } else { None },
            combine_group: if U::WIDENS { Some(combine_group::<U>) } else { None },
        }
    }
}

impl Scatter<'_> {
    fn run(&self, kernels: &KernelTable) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        if count > 0
            && slice > 0
            && let Some(apart) = kernels.apart
            && let Some(parts) = self.parts(kernels.size)
        {
            return self.run_privatized(kernels, apart, parts);
        }
        self.indices.check()?;
        if count == 0 || slice == 0 {
            return Ok(());
        }
        if let Some(combine_group) = kernels.combine_group
            && self.apart
            && count > 1
        {
            return self.run_widened(combine_group);
        }
        let threads = num_threads();
        if count * slice < 2 * GRAIN || threads == 1 || !(self.apart || count == 1) {
            return self.apply_all(kernels, 0..slice);
        }
        let failures = FirstError::default();
        let note = |result: Result<()>| {
            if let Err(error) = result {
                failures.add(0, error);
            }
        };
        if slice >= 4 * GRAIN {
            // Large slices: each thread has its part of all of them.
            parallel_ranges(slice, GRAIN, |part| note(self.apply_all(kernels, part)));
        } else if slice >= MIN_SLICE || self.size > LARGE {
            parallel_for(threads, |i| note(self.apply_share(kernels, i, threads)));
        } else {
            return self.apply_all(kernels, 0..slice);
        }
        failures.first()
    }

    /// Are updates single elements, evenly apart?
    fn is_line(&self) -> bool {
        self.slice.loops().is_empty() && self.places.loops().len() <= 1
    }

    /// Into how many parts to cut single updates that each part adds up by itself, if that is worth the room. This depends
    /// on shapes only, as rounding depends on it.
    fn parts(&self, size: usize) -> Option<usize> {
        let (low, high) = self.indices.extent();
        let is_dense = (high - low) as usize + 1 == self.size;
        let parts = (self.indices.count() / (4 * self.size).max(2 * GRAIN)).min(MAX_PARTS);
        (self.is_line() && is_dense && parts > 1 && self.size * size <= MAX_PRIVATE_BYTES).then_some(parts)
    }

    /// Updates come together in an array a part, and these join the destination in order, once all indices have been found
    /// inside.
    fn run_privatized(&self, kernels: &KernelTable, apart: Privatized, parts: usize) -> Result<()> {
        let size = kernels.size;
        let line = (self.size * size).next_multiple_of(LINE);
        scratch::with(parts * line, |partials: &mut [u8]| {
            let shared = Target::over(partials);
            let elements = |part: usize| shared.at((part * line) as isize);
            let (low, _) = self.indices.extent();
            let count = self.indices.count();
            let failures = FirstError::default();
            parallel_for(parts, |part| {
                // SAFETY: there is space for as many elements as the destination has.
                unsafe { (apart.clear)(elements(part), self.size) };
                let first = elements(part).wrapping_offset(-low * size as isize);
                let range = count * part / parts..count * (part + 1) / parts;
                if let Err(error) = self.apply_line(kernels, first, range) {
                    failures.add(part, error);
                }
            });
            failures.first()?;
            for part in 0..parts {
                // SAFETY: the destination is dense between the offsets that indices can have.
                unsafe { (apart.join)(self.dst.at(low * size as isize), elements(part), self.size) };
            }
            Ok(())
        })
    }

    /// Apply the updates in `range`, which are a line, to elements counted from `first`.
    fn apply_line(&self, kernels: &KernelTable, first: *mut u8, range: Range<usize>) -> Result<()> {
        let step = self.places.inner().strides[0];
        let mut offsets = [0; BATCH];
        for batch in batches(range) {
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let updates = self.updates.at(batch.start as isize * step * kernels.size as isize);
            // SAFETY: these offsets are checked, the layout of the updates holds the line; nobody else writes there.
            unsafe { (kernels.combine_line)(first, &offsets[..batch.len()], updates, step) };
        }
        Ok(())
    }

    /// Call `body` with the pairs of all tuples, a batch at a time, in order.
    fn each_batch(&self, mut body: impl FnMut(&mut [Pair])) -> Result<()> {
        let mut offsets = [0; BATCH];
        let mut pairs = [(0, 0); BATCH];
        for batch in batches(0..self.indices.count()) {
            let count = batch.len();
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let mut place = 0;
            self.places.walk(batch, |[from]| {
                pairs[place] = (offsets[place], from);
                place += 1;
            });
            body(&mut pairs[..count]);
        }
        Ok(())
    }

    /// Apply the elements in `part` of every slice.
    fn apply_all(&self, kernels: &KernelTable, part: Range<usize>) -> Result<()> {
        if self.is_line() {
            return self.apply_line(kernels, self.dst.at(0), 0..self.indices.count());
        }
        // SAFETY: the indices were checked; parts of other threads are apart.
        self.each_batch(|pairs| unsafe { (kernels.combine)(self, pairs, part.clone()) })
    }

    /// Apply all slices whose destination is in the share of thread `i`.
    fn apply_share(&self, kernels: &KernelTable, i: usize, threads: usize) -> Result<()> {
        let (low, high) = self.indices.extent();
        let width = ((high - low) as usize + 1).div_ceil(threads);
        let share = low + (i * width) as isize..low + ((i + 1) * width) as isize;
        let slice = self.slice.count();
        self.each_batch(|pairs| {
            let mut found = 0;
            for i in 0..pairs.len() {
                // Without a branch: whose an update is cannot be predicted.
                let pair = pairs[i];
                pairs[found] = pair;
                found += usize::from(share.contains(&pair.0));
            }
            // SAFETY: the indices were checked; shares of other threads are apart.
            unsafe { (kernels.combine)(self, &pairs[..found], 0..slice) };
        })
    }

    /// Updates of one destination, brought together by sorting, combine in the wide type.
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
                // SAFETY: the indices were checked; groups have destinations of their own, each in one task.
                unsafe { combine_group(self, &pairs[first..first + length]) };
                first += length;
            }
        });
        Ok(())
    }
}

unsafe fn combine<U: Update>(task: &Scatter, pairs: &[Pair], part: Range<usize>) {
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
        let [first_to, first_from] = array_of::<_, 2>(|i| part.start as isize * inner.strides[i]);
        let bytes = (part.len() * size_of::<U::Element>()).min(PREFETCH_BYTES);
        let asks = bytes >= LINE && inner.strides[0] == 1;
        for (i, &(to, from)) in pairs.iter().enumerate() {
            if asks && let Some(&(next, _)) = pairs.get(i + 1) {
                prefetch_lines(dst.at(next + first_to).cast_const(), bytes, Cache::L1);
            }
            // SAFETY: guaranteed by the caller of this function.
            unsafe {
                combine_run::<U>(dst.at(to + first_to), updates.at(from + first_from), inner, part.len());
            };
        }
        return;
    }
    for &(to, from) in pairs {
        task.slice.inner_runs(part.clone(), |[at, update], length| {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { combine_run::<U>(dst.at(to + at), updates.at(from + update), inner, length) };
        });
    }
}

unsafe fn clear<U: Update>(elements: *mut u8, count: usize) {
    let Some(nothing) = U::NOTHING else { return };
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { elements.cast::<U::Element>().add(i).write(nothing) };
    }
}

unsafe fn combine_line<U: Update>(elements: *mut u8, offsets: &[isize], updates: *const u8, step: isize) {
    let (elements, updates) = (elements.cast::<U::Element>(), updates.cast::<U::Element>());
    for (i, &offset) in offsets.iter().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            combine_one::<U>(elements.wrapping_offset(offset), updates.wrapping_offset(i as isize * step));
        }
    }
}

unsafe fn join<U: Update>(elements: *mut u8, updates: *const u8, count: usize) {
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            combine_one::<U>(elements.cast::<U::Element>().add(i), updates.cast::<U::Element>().add(i));
        }
    }
}

unsafe fn combine_group<U: Update>(task: &Scatter, group: &[Pair]) {
    let [(to, _), ..] = group else { return };
    let (dst, updates) = (task.dst.cast::<U::Element>(), task.updates.cast::<U::Element>());
    let inner = task.slice.inner();
    task.slice.inner_runs(0..task.slice.count(), |[at, from], length| {
        let target = dst.at(to + at);
        for i in 0..length as isize {
            let place = target.wrapping_offset(i * inner.strides[0]);
            // SAFETY: guaranteed by the caller of this function.
            let mut value = U::widen(unsafe { *place });
            for &(_, first) in group {
                let update = updates.at(first + from + i * inner.strides[1]);
                // SAFETY: as above.
                value = U::combine(value, U::widen(unsafe { *update }));
            }
            // SAFETY: as above.
            unsafe { *place = U::narrow(value) };
        }
    });
}

/// # Safety
/// The caller may read the update and write the place.
#[inline(always)]
pub(super) unsafe fn combine_one<U: Update>(place: *mut U::Element, update: *const U::Element) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { *place = U::narrow(U::combine(U::widen(*place), U::widen(*update))) };
}

/// # Safety
/// As for [`combine_one`], for elements in a line.
#[inline(always)]
unsafe fn combine_run<U: Update>(
    dst: *mut U::Element,
    updates: *const U::Element,
    line: Loop<2>,
    length: usize,
) {
    if line.strides == [1, 1] {
        // SAFETY: the caller's promise; updates never overlap the destination.
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
        // SAFETY: as above.
        unsafe { combine_one::<U>(dst.wrapping_offset(i * line.strides[0]), update) };
    }
}

pub(super) fn no_memory(count: usize) -> Error {
    error!(Memory, "out of memory sorting {count} updates")
}
