//! Scatters slices to tuples of indices along some axes.

use std::ops::Range;

use umber_types::{Error, Result, ScatterKind};

use super::update::{Update, match_update};
use crate::indices::{BATCH, Indices, batches};
use crate::nest::{Loop, Nest};
use crate::shared::{Source, Target};
use crate::threads::{num_threads, parallel_for, parallel_ranges};
use crate::{View, ViewMut};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Slices at least this long are worth looking for among those of other threads.
const WORTHWHILE: usize = 4;
/// Destinations of more elements than this miss the caches, and are shared whatever the slices.
const LARGE: usize = 1 << 19;

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
        places: Nest::new(&updates.shape()[..leading], [&updates.strides()[..leading]]),
        slice: Nest::new(slice_sizes, [dst.strides(), &updates.strides()[leading..]]),
        apart: axes.iter().all(|&axis| slice_sizes[axis] == 1),
    };
    assert_eq!(task.places.count(), task.indices.count(), "shape of the updates of a scatter");
    task.indices.check()?;
    match_update!(kind, dst.dtype(), U => {
        task.run::<U>(Target::of(&dst), Source::of(&updates))
    })
}

struct Scatter<'a> {
    /// Number of elements of the destination.
    size: usize,
    indices: Indices<'a>,
    /// Where each tuple's updates begin.
    places: Nest<1>,
    /// Within a slice: destination, updates.
    slice: Nest<2>,
    /// Do slices either coincide or not overlap at all?
    apart: bool,
}

impl Scatter<'_> {
    fn run<U: Update>(&self, dst: Target<U::Element>, updates: Source<U::Element>) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        if count == 0 || slice == 0 {
            return Ok(());
        }
        if U::WIDENS && self.apart && count > 1 {
            return self.run_widened::<U>(dst, updates);
        }
        let threads = num_threads();
        if count * slice < 2 * GRAIN || threads == 1 || !(self.apart || count == 1) {
            return self.apply_all::<U>(dst, updates, 0..slice);
        }
        let failures = crate::indices::Failures::default();
        let note = |result: Result<()>| {
            if let Err(error) = result {
                failures.add(0, error);
            }
        };
        if slice >= 4 * GRAIN {
            // Large slices: each thread has its part of all of them.
            parallel_ranges(slice, GRAIN, |part| note(self.apply_all::<U>(dst, updates, part)));
        } else if slice >= WORTHWHILE || self.size > LARGE {
            parallel_for(threads, |i| note(self.apply_share::<U>(dst, updates, i, threads)));
        } else {
            return self.apply_all::<U>(dst, updates, 0..slice);
        }
        failures.first()
    }

    /// Apply the elements in `part` of every slice.
    fn apply_all<U: Update>(
        &self,
        dst: Target<U::Element>,
        updates: Source<U::Element>,
        part: Range<usize>,
    ) -> Result<()> {
        let mut offsets = [0; BATCH];
        for batch in batches(0..self.indices.count()) {
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let mut next = offsets.iter();
            self.places.walk(batch, |[from]| {
                let to = next.next().copied().unwrap_or_default();
                self.apply::<U>(dst.at(to), updates.at(from), part.clone());
            });
        }
        Ok(())
    }

    /// Apply all slices whose destination is in the share of thread `i`.
    fn apply_share<U: Update>(
        &self,
        dst: Target<U::Element>,
        updates: Source<U::Element>,
        i: usize,
        threads: usize,
    ) -> Result<()> {
        let (low, high) = self.indices.extent();
        let width = ((high - low) as usize + 1).div_ceil(threads);
        let share = low + (i * width) as isize..low + ((i + 1) * width) as isize;
        let slice = self.slice.count();
        let mut offsets = [0; BATCH];
        let mut mine = [(0, 0); BATCH];
        for batch in batches(0..self.indices.count()) {
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let mut next = offsets.iter();
            let mut found = 0;
            self.places.walk(batch, |[from]| {
                let to = next.next().copied().unwrap_or_default();
                // Without a branch: whose an update is cannot be predicted.
                mine[found] = (to, from);
                found += usize::from(share.contains(&to));
            });
            for &(to, from) in &mine[..found] {
                self.apply::<U>(dst.at(to), updates.at(from), 0..slice);
            }
        }
        Ok(())
    }

    /// Combine the elements in `part` of one slice.
    #[inline(always)]
    fn apply<U: Update>(&self, dst: *mut U::Element, updates: *const U::Element, part: Range<usize>) {
        let inner = self.slice.inner();
        if self.slice.loops().len() <= 1 {
            let [to, from] = inner.strides.map(|stride| part.start as isize * stride);
            combine_run::<U>(dst.wrapping_offset(to), updates.wrapping_offset(from), inner, part.len());
            return;
        }
        self.slice.runs(part, |[to, from], length| {
            combine_run::<U>(dst.wrapping_offset(to), updates.wrapping_offset(from), inner, length);
        });
    }

    /// Updates of one destination, brought together by sorting, combine in the wide type.
    fn run_widened<U: Update>(&self, dst: Target<U::Element>, updates: Source<U::Element>) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        let mut pairs: Vec<(isize, isize)> = Vec::new();
        pairs.try_reserve_exact(count).map_err(|_| no_memory(count))?;
        let mut offsets = [0; BATCH];
        for batch in batches(0..count) {
            self.indices.offsets(batch.clone(), &mut offsets)?;
            let mut next = offsets.iter();
            self.places.walk(batch, |[from]| pairs.push((next.next().copied().unwrap_or_default(), from)));
        }
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
                self.apply_group::<U>(dst, updates, &pairs[first..first + length]);
                first += length;
            }
        });
        Ok(())
    }

    /// Combine slices that have one destination, in order, rounding at the end.
    fn apply_group<U: Update>(
        &self,
        dst: Target<U::Element>,
        updates: Source<U::Element>,
        group: &[(isize, isize)],
    ) {
        let [(to, _), ..] = group else { return };
        let slice = self.slice.count();
        let inner = self.slice.inner();
        for part in batches(0..slice) {
            self.slice.runs(part, |[at, from], length| {
                let target = dst.at(to + at);
                for i in 0..length as isize {
                    let place = target.wrapping_offset(i * inner.strides[0]);
                    // SAFETY: the index is checked, so the layout of the destination holds this element.
                    let mut value = U::widen(unsafe { *place });
                    for &(_, first) in group {
                        let update = updates.at(first + from + i * inner.strides[1]);
                        // SAFETY: the layout of the updates holds this element.
                        value = U::combine(value, U::widen(unsafe { *update }));
                    }
                    // SAFETY: as above; groups have different destinations, and each is in one task.
                    unsafe { *place = U::narrow(value) };
                }
            });
        }
    }
}

#[inline(always)]
fn combine_run<U: Update>(dst: *mut U::Element, updates: *const U::Element, line: Loop<2>, length: usize) {
    if line.strides == [1, 1] {
        // SAFETY: callers pass runs that their layouts hold; updates never overlap the destination.
        let (dst, updates) = unsafe {
            (std::slice::from_raw_parts_mut(dst, length), std::slice::from_raw_parts(updates, length))
        };
        for (old, &update) in dst.iter_mut().zip(updates) {
            *old = U::narrow(U::combine(U::widen(*old), U::widen(update)));
        }
        return;
    }
    for i in 0..length as isize {
        let place = dst.wrapping_offset(i * line.strides[0]);
        // SAFETY: as above.
        unsafe {
            let update = *updates.wrapping_offset(i * line.strides[1]);
            *place = U::narrow(U::combine(U::widen(*place), U::widen(update)));
        }
    }
}

pub(super) fn no_memory(count: usize) -> Error {
    Error::Memory(format!("no memory to sort {count} updates"))
}
