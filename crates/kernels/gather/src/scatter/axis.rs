//! Scatter of single elements along one axis.

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::indices::{AxisIndices, BATCH, FirstError, batches};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Layout, Result, ScatterKind};

use super::slices::{combine_one, no_memory, scatter};
use super::update::{Update, match_update};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;

/// `put_along_axis`: combine each element of `updates` into the element of `dst` with the index in `indices` along `axis` and
/// otherwise equal indices.
///
/// `updates` has the shape of `indices` and the dtype of `dst`; `dst` has that shape too, except along `axis`. Updates
/// apply in row-major order. All indices are checked before the first write: negative ones count from the end, and one out
/// of bounds is an error that names it. Sums and products of float16 and bfloat16 are rounded once for each element of `dst`.
pub fn scatter_axis(
    kind: ScatterKind,
    dst: ViewMut,
    indices: View,
    axis: usize,
    updates: View,
) -> Result<()> {
    assert_eq!(updates.dtype(), dst.dtype(), "updates have the dtype of the destination");
    assert_eq!(indices.shape(), updates.shape(), "updates have the shape of the indices");
    for other in (0..dst.shape().len()).filter(|&other| other != axis) {
        assert_eq!(dst.shape()[other], indices.shape()[other], "equal lengths of all other axes");
    }
    if dst.shape().len() == 1 {
        // A single line: the general scatter can parallelise it.
        let mut shape = updates.layout().shape.clone();
        let mut strides = updates.layout().strides.clone();
        shape.push(1);
        strides.push(0);
        let layout = Layout { shape, strides, offset: 0 };
        // SAFETY: the layout covers the elements of `updates`, with an extra axis of length one.
        let updates = unsafe { View::new(updates.start(), updates.dtype(), &layout) };
        return scatter(kind, dst, &[indices], &[0], &[1], updates);
    }
    let axis_indices = AxisIndices::new(dst.shape(), dst.strides(), indices, axis);
    axis_indices.check()?;
    if updates.size() == 0 {
        return Ok(());
    }
    let task = AxisScatter {
        to: Target::of(&dst),
        from: Source::of(&updates),
        axis,
        axis_indices,
        indices,
        dst: &dst,
        updates,
    };
    match_update!(kind, dst.dtype(), U => {
        // Only float16 and bfloat16 widen; all other types share all but the innermost loop.
        if const { U::WIDENS } {
            task.run(|shared, range| task.run_lines::<U>(shared, range))
        } else {
            task.run(|shared, range| task.run_in_order(shared, range, combine_batch::<U>))
        }
    })
}

/// A batch of updates with constant strides: addresses of the first destination (at index 0) and of the first update, their
/// strides, and the offsets of the indices.
struct Batch<'a> {
    to: *mut u8,
    from: *const u8,
    steps: [isize; 2],
    offsets: &'a [isize],
}

/// # Safety
/// The destinations and updates are inside their layouts, and no other thread accesses the destinations.
unsafe fn combine_batch<U: Update>(batch: Batch) {
    let (to, from) = (batch.to.cast::<U::Element>(), batch.from.cast::<U::Element>());
    for (i, &offset) in batch.offsets.iter().enumerate() {
        let i = i as isize;
        let target = to.wrapping_offset(i * batch.steps[0] + offset);
        // SAFETY: guaranteed by the caller of this function.
        unsafe { combine_one::<U>(target, from.wrapping_offset(i * batch.steps[1])) };
    }
}

struct AxisScatter<'a> {
    to: Target<u8>,
    from: Source<u8>,
    axis: usize,
    axis_indices: AxisIndices<'a>,
    indices: View<'a>,
    dst: &'a ViewMut<'a>,
    updates: View<'a>,
}

impl AxisScatter<'_> {
    /// Lines along the axis are disjoint: the longest other axis is split between threads.
    fn run(&self, run_range: impl Fn(usize, Range<usize>) -> Result<()> + Sync) -> Result<()> {
        let shape = self.indices.shape();
        let others = (0..shape.len()).filter(|&other| other != self.axis);
        let Some(shared) = others.max_by_key(|&other| shape[other]) else { return Ok(()) };
        let per_index = self.updates.size() / shape[shared];
        let failures = FirstError::default();
        parallel_ranges(shape[shared], GRAIN / per_index.max(1), |range| {
            if let Err(error) = run_range(shared, range.clone()) {
                failures.add(range.start, error);
            }
        });
        failures.first()
    }

    /// In row-major order over the indices, restricted to `range` of the axis `shared`.
    fn run_in_order(&self, shared: usize, range: Range<usize>, combine: unsafe fn(Batch)) -> Result<()> {
        let size = self.updates.dtype().size() as isize;
        let mut loops = StridedLoops::new(&[], [&[], &[], &[]]);
        for (axis, &length) in self.indices.shape().iter().enumerate() {
            let mut strides = self.strides(axis);
            if axis == self.axis {
                strides[0] = 0;
            }
            loops.push(Loop { length: if axis == shared { range.len() } else { length }, strides });
        }
        let begin = self.strides(shared).map(|stride| stride * range.start as isize);
        let steps = loops.inner().strides;
        let mut offsets = [0; BATCH];
        let mut result = Ok(());
        loops.inner_runs(0..loops.count(), |starts, length| {
            if result.is_err() {
                return;
            }
            for batch in batches(0..length) {
                let first = batch.start as isize;
                let [to, index, from] = array_of::<_, 3>(|i| begin[i] + starts[i] + first * steps[i]);
                let offsets = &mut offsets[..batch.len()];
                result = self.axis_indices.run(index, steps[1], offsets);
                if result.is_err() {
                    return;
                }
                let batch = Batch {
                    to: self.to.at(to * size),
                    from: self.from.at(from * size),
                    steps: [steps[0], steps[2]],
                    offsets,
                };
                // SAFETY: the indices are in bounds, so the elements are inside the layouts; other tasks have other lines.
                unsafe { combine(batch) };
            }
        });
        result
    }

    /// Line by line: each is widened, updated and rounded once.
    fn run_lines<U: Update>(&self, shared: usize, range: Range<usize>) -> Result<()> {
        let (dst, updates) = (self.to.cast::<U::Element>(), self.from.cast::<U::Element>());
        let mut lines = StridedLoops::new(&[], [&[], &[], &[]]);
        for (axis, &length) in self.indices.shape().iter().enumerate() {
            if axis != self.axis {
                let length = if axis == shared { range.len() } else { length };
                lines.push(Loop { length, strides: self.strides(axis) });
            }
        }
        let begin = self.strides(shared).map(|stride| stride * range.start as isize);
        let along = self.strides(self.axis);
        let (length, count) = (self.dst.shape()[self.axis], self.indices.shape()[self.axis]);
        // Offsets in the widened line, which is contiguous.
        let mut line_strides = self.dst.layout().strides.clone();
        line_strides[self.axis] = 1;
        let line_indices = AxisIndices::new(self.dst.shape(), &line_strides, self.indices, self.axis);
        let mut wide: Vec<U::Wide> = Vec::new();
        wide.try_reserve_exact(length).map_err(|_| no_memory(length))?;
        let mut offsets = [0; BATCH];
        let mut result = Ok(());
        lines.walk(0..lines.count(), |starts| {
            let [to, index, from] = array_of::<_, 3>(|i| begin[i] + starts[i]);
            let element = |i: usize| dst.at(to + i as isize * along[0]);
            wide.clear();
            // SAFETY: the line is inside the layout of the destination.
            wide.extend((0..length).map(|i| U::widen(unsafe { *element(i) })));
            for batch in batches(0..count) {
                let offsets = &mut offsets[..batch.len()];
                let first = batch.start as isize;
                let checked = line_indices.run(index + first * along[1], along[1], offsets);
                if checked.is_err() {
                    result = checked;
                    return;
                }
                for (i, &offset) in (first..).zip(offsets.iter()) {
                    // SAFETY: the element is inside the layout of the updates.
                    let update = U::widen(unsafe { *updates.at(from + i * along[2]) });
                    let old = &mut wide[offset as usize];
                    *old = U::combine(*old, update);
                }
            }
            for (i, &value) in wide.iter().enumerate() {
                // SAFETY: the line is inside the layout of the destination; the lines of other tasks are disjoint.
                unsafe { *element(i) = U::narrow(value) };
            }
        });
        result
    }

    /// Strides along an axis: destination, indices, updates.
    fn strides(&self, axis: usize) -> [isize; 3] {
        [self.dst.strides()[axis], self.indices.strides()[axis], self.updates.strides()[axis]]
    }
}
