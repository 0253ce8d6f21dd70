//! Gathers: copies of indexed elements and slices.

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::by_width::dispatch_by_width;
use umber_kernels_base::caches::{LINE, STREAM_FROM, finish_streaming, stream};
use umber_kernels_base::indices::{AxisIndices, BATCH, FirstError, Indices, PREFETCH_BYTES, batches};
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::Result;

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Slices of fewer bytes are stored with regular stores.
const LONG: usize = 8 * LINE;

/// For each tuple of `indices` along `axes`, copy the slice of `slice_sizes` that starts there.
///
/// The arrays of indices have one shape I and any integer dtypes; `slice_sizes` has a length for each axis of `src`.
/// `dst` has shape I + slice_sizes. Negative indices count from the end. An index out of bounds is an error that names it, and
/// leaves `dst` unspecified.
pub fn gather(
    src: View,
    indices: &[View],
    axes: &[usize],
    slice_sizes: &[usize],
    dst: ViewMut,
) -> Result<()> {
    assert_eq!(src.dtype(), dst.dtype(), "a gather keeps the dtype");
    assert_eq!(slice_sizes.len(), src.shape().len(), "one slice size an axis");
    let leading = dst.shape().len() - slice_sizes.len();
    assert_eq!(
        &dst.shape()[leading..],
        slice_sizes,
        "the result of a gather has shape indices + slice_sizes"
    );
    let indices = Indices::new(src.shape(), src.strides(), indices, axes, slice_sizes);
    let task = Gather {
        destinations: StridedLoops::new(&dst.shape()[..leading], [&dst.strides()[..leading]]),
        slice: StridedLoops::new(slice_sizes, [src.strides(), &dst.strides()[leading..]]),
        indices,
    };
    assert_eq!(
        task.destinations.count(),
        task.indices.count(),
        "the result of a gather has shape indices + slice_sizes"
    );
    dispatch_by_width!(src.dtype().size(), T => task.run(Source::<T>::of(&src), Target::<T>::of(&dst)))
}

struct Gather<'a> {
    indices: Indices<'a>,
    /// Loops over the starts of the slices in the destination, one per tuple.
    destinations: StridedLoops<1>,
    /// Loops within a slice: source, destination.
    slice: StridedLoops<2>,
}

impl Gather<'_> {
    fn run<T: Copy + Send + Sync>(&self, src: Source<T>, dst: Target<T>) -> Result<()> {
        let (count, slice) = (self.indices.count(), self.slice.count());
        let failures = FirstError::default();
        if let Some((rows, run)) = self.rows() {
            return self.gather_rows(src, dst, &rows, run);
        }
        if slice / GRAIN > count {
            // Few large slices: parallelise within each slice.
            let mut offsets = [0; BATCH];
            for batch in batches(0..count) {
                self.indices.offsets(batch.clone(), &mut offsets)?;
                let mut next = offsets.iter();
                self.destinations.walk(batch, |[to]| {
                    let from = next.next().copied().unwrap_or_default();
                    parallel_ranges(slice, GRAIN, |range| self.copy(src.at(from), dst.at(to), range));
                });
            }
            return Ok(());
        }
        parallel_ranges(count, GRAIN / slice.max(1), |range| {
            let mut offsets = [0; BATCH];
            for batch in batches(range) {
                if let Err(error) = self.indices.offsets(batch.clone(), &mut offsets) {
                    failures.add(batch.start, error);
                    return;
                }
                self.copy_batch(src, dst, batch, &offsets);
            }
            finish_streaming();
        });
        failures.first()
    }

    /// The loops over a slice that lie outside of those over its destinations, and the length of the contiguous run within them,
    /// if there are such loops.
    fn rows(&self) -> Option<(StridedLoops<2>, usize)> {
        let mut rows = self.slice.clone();
        let mut run = 1;
        if rows.inner().strides == [1, 1] {
            run = rows.remove(rows.loops().len() - 1).length;
        }
        let extent =
            self.destinations.loops().first().map_or(0, |outer| outer.strides[0] * outer.length as isize);
        let lies_outside = |row: &Loop<2>| extent > 0 && row.strides[1] >= extent;
        (!rows.loops().is_empty() && rows.loops().iter().all(lies_outside)).then_some((rows, run))
    }

    /// For each of `rows`, copy runs of `run` elements for all tuples, in the order of the destination.
    fn gather_rows<T: Copy + Send + Sync>(
        &self,
        src: Source<T>,
        dst: Target<T>,
        rows: &StridedLoops<2>,
        run: usize,
    ) -> Result<()> {
        /// Indices per chunk: their offsets are computed once for all rows.
        const MAX_BATCH: usize = 16 * BATCH;
        let [step] = self.destinations.inner().strides;
        let mut offsets = vec![0; self.indices.count().min(MAX_BATCH)];
        for start in (0..self.indices.count()).step_by(MAX_BATCH) {
            let chunk = start..self.indices.count().min(start + MAX_BATCH);
            for batch in batches(chunk.clone()) {
                let mut chunk_offsets = [0; BATCH];
                self.indices.offsets(batch.clone(), &mut chunk_offsets)?;
                offsets[batch.start - start..][..batch.len()].copy_from_slice(&chunk_offsets[..batch.len()]);
            }
            parallel_ranges(rows.count(), GRAIN / (chunk.len() * run).max(1), |range| {
                let is_line = run == 1 && self.destinations.loops().len() == 1;
                rows.walk(range, |[from, row]| {
                    if is_line {
                        let to = dst.at(row + chunk.start as isize * step);
                        // SAFETY: the indices are in bounds, so all elements are inside the layouts.
                        unsafe { gather_run(src.at(from), 0, &offsets[..chunk.len()], to, step) };
                        return;
                    }
                    let mut next = &offsets[..chunk.len()];
                    self.destinations.inner_runs(chunk.clone(), |[start], length| {
                        let (offsets, rest) = next.split_at(length);
                        next = rest;
                        let (from, to) = (src.at(from), dst.at(row + start));
                        if run == 1 {
                            // SAFETY: the indices are in bounds, so all elements are inside the layouts.
                            unsafe { gather_run(from, 0, offsets, to, step) };
                            return;
                        }
                        for (i, &offset) in (0isize..).zip(offsets) {
                            let to = to.wrapping_offset(i * step);
                            copy_run(
                                from.wrapping_offset(offset),
                                to,
                                Loop { length: run, strides: [1, 1] },
                                run,
                            );
                        }
                    });
                });
            });
        }
        Ok(())
    }

    fn copy_batch<T: Copy + Send + Sync>(
        &self,
        src: Source<T>,
        dst: Target<T>,
        batch: Range<usize>,
        offsets: &[isize; BATCH],
    ) {
        let mut done = 0;
        let [step] = self.destinations.inner().strides;
        let slice = self.slice.count();
        let bytes = slice * size_of::<T>();
        let is_line = self.slice.loops().len() == 1 && self.slice.inner().strides == [1, 1];
        let streams = is_line && bytes >= LONG && bytes * self.indices.count() >= STREAM_FROM;
        self.destinations.inner_runs(batch, |[to], length| {
            let offsets = &offsets[done..done + length];
            done += length;
            let mut to = dst.at(to);
            for (i, &from) in offsets.iter().enumerate() {
                let from = src.at(from);
                if slice == 1 {
                    // SAFETY: the index is in bounds, so both elements are inside the layouts.
                    unsafe { *to = *from };
                } else if streams {
                    let next = src.at(*offsets.get(i + 1).unwrap_or(&offsets[i]));
                    prefetch_lines(next, bytes.min(PREFETCH_BYTES), Cache::L1);
                    // SAFETY: as above, for the `bytes` of a contiguous slice.
                    unsafe { stream(from.cast(), to.cast(), bytes) };
                } else {
                    self.copy(from, to, 0..slice);
                }
                to = to.wrapping_offset(step);
            }
        });
    }

    /// Copy the elements in `range` of one slice.
    fn copy<T: Copy + Send + Sync>(&self, src: *const T, dst: *mut T, range: Range<usize>) {
        let inner = self.slice.inner();
        if self.slice.loops().len() == 1 {
            let [from, to] = array_of::<_, 2>(|i| range.start as isize * inner.strides[i]);
            copy_run(src.wrapping_offset(from), dst.wrapping_offset(to), inner, range.len());
            return;
        }
        self.slice.inner_runs(range, |[from, to], length| {
            copy_run(src.wrapping_offset(from), dst.wrapping_offset(to), inner, length);
        });
    }
}

/// Copy `length` elements with constant strides.
#[inline(always)]
fn copy_run<T: Copy + Send + Sync>(src: *const T, dst: *mut T, line: Loop<2>, length: usize) {
    if line.strides == [1, 1] {
        // SAFETY: the caller's views have layouts that hold both runs; no other thread accesses the destination.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, length) };
        return;
    }
    for i in 0..length as isize {
        // SAFETY: as above.
        unsafe { *dst.wrapping_offset(i * line.strides[1]) = *src.wrapping_offset(i * line.strides[0]) };
    }
}

/// `take_along_axis`: for each element of `indices`, copy the element of `src` with that index along `axis` and otherwise equal
/// indices.
///
/// `dst` has the shape of `indices`, and `src` the same except along `axis`. Negative indices count from the end. An index out of
/// bounds is an error that names it, and leaves `dst` unspecified.
pub fn gather_axis(src: View, indices: View, axis: usize, dst: ViewMut) -> Result<()> {
    assert_eq!(src.dtype(), dst.dtype(), "a gather keeps the dtype");
    assert_eq!(indices.shape(), dst.shape(), "the result has the shape of the indices");
    for other in (0..src.shape().len()).filter(|&other| other != axis) {
        assert_eq!(src.shape()[other], dst.shape()[other], "equal lengths of all other axes");
    }
    dispatch_by_width!(src.dtype().size(), T => {
        gather_axis_typed(Source::<T>::of(&src), src, indices, axis, Target::of(&dst), &dst)
    })
}

fn gather_axis_typed<T: Copy + Send + Sync>(
    from: Source<T>,
    src: View,
    indices: View,
    axis: usize,
    to: Target<T>,
    dst: &ViewMut,
) -> Result<()> {
    let loops = axis_loops(src.strides(), &indices, axis, dst.strides());
    let checked = AxisIndices::new(src.shape(), src.strides(), indices, axis);
    let steps = loops.inner().strides;
    let failures = FirstError::default();
    let prefetch = RowPrefetch::new::<T>(&src, axis, &loops);
    parallel_ranges(loops.count(), GRAIN, |range| {
        let mut offsets = [0; BATCH];
        let mut at = range.start;
        let mut failed = false;
        let mut before = None;
        loops.inner_runs(range, |starts, length| {
            let row = from.at(starts[0]);
            let step = row.addr().wrapping_sub(before.replace(row).unwrap_or(row).addr()) as isize;
            for batch in batches(0..length) {
                if failed {
                    return;
                }
                if let Some(prefetch) = &prefetch {
                    prefetch.prefetch_share(row.wrapping_byte_offset(2 * step), batch.clone(), length);
                }
                let first = batch.start as isize;
                let [source, index, target] = array_of::<_, 3>(|i| starts[i] + first * steps[i]);
                let offsets = &mut offsets[..batch.len()];
                if let Err(error) = checked.run(index, steps[1], offsets) {
                    failures.add(at + batch.start, error);
                    failed = true;
                    return;
                }
                let [source_step, _, step] = steps;
                // SAFETY: the indices are in bounds, so all elements are inside the layouts.
                unsafe { gather_run(from.at(source), source_step, offsets, to.at(target), step) };
            }
            at += length;
        });
    });
    failures.first()
}

/// Number of cache lines in a row of the source, where all indices of an inner loop point into one row.
///
/// The elements of a row are read in index order, which the hardware prefetcher cannot predict, so later rows are prefetched.
struct RowPrefetch(usize);

impl RowPrefetch {
    /// Larger rows would evict others from L2.
    const MAX_BYTES: usize = 64 << 10;

    /// `Some` if the rows are dense and most of their lines are read.
    fn new<T>(src: &View, axis: usize, loops: &StridedLoops<3>) -> Option<RowPrefetch> {
        let Loop { length, strides } = loops.inner();
        let bytes = src.shape()[axis] * size_of::<T>();
        let is_row = strides[0] == 0 && src.strides()[axis] == 1 && loops.loops().len() > 1;
        let lines = bytes / LINE;
        (is_row && bytes <= RowPrefetch::MAX_BYTES && length >= lines / 2).then_some(RowPrefetch(lines))
    }

    /// Prefetch this batch's share of a row's lines; the row has `length` indices.
    fn prefetch_share<T>(&self, row: *const T, batch: Range<usize>, length: usize) {
        let lines = self.0 * batch.start / length..self.0 * batch.end / length;
        prefetch_lines(row.wrapping_byte_add(lines.start * LINE), lines.len() * LINE, Cache::L2);
    }
}

/// Gather the elements at `offsets`, each from a start `source_step` further on, into elements `step` apart.
///
/// # Safety
/// The elements are readable and writable, and no other thread accesses those that are written.
#[inline(always)]
unsafe fn gather_run<T: Copy>(
    src: *const T,
    source_step: isize,
    offsets: &[isize],
    dst: *mut T,
    step: isize,
) {
    if (source_step, step) == (0, 1) {
        // A minimal loop body, so that many loads are in flight.
        for (i, &offset) in offsets.iter().enumerate() {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { *dst.add(i) = *src.wrapping_offset(offset) };
        }
        return;
    }
    for (i, &offset) in (0isize..).zip(offsets) {
        // SAFETY: as above.
        unsafe { *dst.wrapping_offset(i * step) = *src.wrapping_offset(i * source_step + offset) };
    }
}

/// Loops over the indices: the operand without `axis`, the indices, and another operand of the shape of the indices.
pub(crate) fn axis_loops(operand: &[isize], indices: &View, axis: usize, other: &[isize]) -> StridedLoops<3> {
    let mut loops = StridedLoops::new(&[], [&[], &[], &[]]);
    for (i, &length) in indices.shape().iter().enumerate() {
        let along = if i == axis { 0 } else { operand[i] };
        loops.push(Loop { length, strides: [along, indices.strides()[i], other[i]] });
    }
    loops
}
