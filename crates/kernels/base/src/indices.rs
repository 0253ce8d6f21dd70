//! Index arrays: read from any integer dtype, checked, and converted to offsets.

use std::ops::Range;
use std::sync::Mutex;

use smallvec::SmallVec;
use umber_types::shape::out_of_bounds;
use umber_types::{Element, Error, Result, error, match_dtype};

use crate::View;
use crate::caches::LINE;
use crate::isa::vectorised;
use crate::strided_loops::StridedLoops;
use crate::threads::parallel_ranges;

/// Index tuples per batch.
pub const BATCH: usize = 256;
/// Bytes of the next indexed slice that are prefetched, since its address is unpredictable. The hardware prefetcher follows
/// the rest of a long slice.
pub const PREFETCH_BYTES: usize = 64 * LINE;

/// Tuples of indices into some axes of an operand: one index array per axis, all of one shape.
pub struct Indices<'a> {
    columns: SmallVec<[Column<'a>; 4]>,
    count: usize,
}

/// The indices along one axis.
struct Column<'a> {
    view: View<'a>,
    loops: StridedLoops<1>,
    axis: usize,
    /// Length of the axis.
    length: usize,
    /// Number of valid start indices: those at which a slice fits.
    starts: usize,
    /// Stride of the operand along the axis.
    stride: isize,
}

/// An integer as an index.
trait Index: Element {
    fn widen(self) -> i64;
    /// The exact value, for error messages.
    fn exact(self) -> i128 {
        i128::from(self.widen())
    }
}

macro_rules! indices {
    ($($ty:ty)*) => { $(
        impl Index for $ty {
            #[inline(always)]
            fn widen(self) -> i64 {
                self as i64
            }
        }
    )* };
}
indices!(u8 u16 u32 i8 i16 i32 i64);

impl Index for u64 {
    #[inline(always)]
    fn widen(self) -> i64 {
        // No axis is longer than i64::MAX, so larger values remain out of bounds.
        self.min(i64::MAX as u64) as i64
    }
    fn exact(self) -> i128 {
        i128::from(self)
    }
}

impl<'a> Indices<'a> {
    /// Indices along `axes` of an operand of this shape and strides, each the start of a slice of `slice_sizes`.
    pub fn new(
        shape: &[usize],
        strides: &[isize],
        indices: &[View<'a>],
        axes: &[usize],
        slice_sizes: &[usize],
    ) -> Indices<'a> {
        assert_eq!(indices.len(), axes.len(), "one array of indices an axis");
        let count = indices.first().map_or(1, View::size);
        let columns = indices.iter().zip(axes).map(|(view, &axis)| {
            assert_eq!(view.size(), count, "arrays of indices have one shape");
            Column {
                view: *view,
                loops: StridedLoops::new(view.shape(), [view.strides()]),
                axis,
                length: shape[axis],
                starts: (shape[axis] + 1).saturating_sub(slice_sizes[axis]),
                stride: strides[axis],
            }
        });
        Indices { columns: columns.collect(), count }
    }

    /// Number of tuples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Write the operand offsets of the tuples in `range`, at most a batch, to the first elements of `offsets`.
    pub fn offsets(&self, range: Range<usize>, offsets: &mut [isize; BATCH]) -> Result<()> {
        let offsets = &mut offsets[..range.len()];
        let Some((first, others)) = self.columns.split_first() else {
            offsets.fill(0);
            return Ok(());
        };
        first.offsets(range.clone(), offsets, OffsetMode::Replace)?;
        others.iter().try_for_each(|column| column.offsets(range.clone(), offsets, OffsetMode::Add))
    }

    /// Check that all indices are in bounds. The error names the first one that is not.
    pub fn check(&self) -> Result<()> {
        let failures = FirstError::default();
        parallel_ranges(self.count, 1 << 14, |range| {
            let mut offsets = [0; BATCH];
            for batch in batches(range) {
                if let Err(error) = self.offsets(batch.clone(), &mut offsets) {
                    failures.add(batch.start, error);
                    return;
                }
            }
        });
        failures.first()
    }

    /// Minimum and maximum offset of indices in bounds.
    pub fn extent(&self) -> (isize, isize) {
        let mut extent = (0, 0);
        for column in &self.columns {
            let span = (column.starts as isize - 1).max(0) * column.stride;
            if span < 0 { extent.0 += span } else { extent.1 += span }
        }
        extent
    }
}

/// What happens to existing offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OffsetMode {
    /// They are replaced.
    Replace,
    /// The new ones are added to them.
    Add,
}

impl Column<'_> {
    fn offsets(&self, range: Range<usize>, offsets: &mut [isize], mode: OffsetMode) -> Result<()> {
        match_dtype!(integer self.view.dtype(), T => self.offsets_of::<T>(range, offsets, mode),
            else => Err(not_integers(&self.view)))
    }

    fn offsets_of<T: Index>(
        &self,
        range: Range<usize>,
        offsets: &mut [isize],
        mode: OffsetMode,
    ) -> Result<()> {
        let src = self.view.start_as::<T>();
        let [stride] = self.loops.inner().strides;
        let mut done = 0;
        let mut all_inside = true;
        self.loops.inner_runs(range, |[at], length| {
            let run = src.wrapping_offset(at);
            let offsets = &mut offsets[done..done + length];
            done += length;
            all_inside &= offsets_of_run(run, stride, self, offsets, mode);
        });
        if all_inside { Ok(()) } else { Err(self.error::<T>()) }
    }

    /// The error for the first index out of bounds.
    #[cold]
    fn error<T: Index>(&self) -> Error {
        let src = self.view.start_as::<T>();
        let mut first = None;
        self.loops.walk(0..self.loops.count(), |[at]| {
            // SAFETY: the offset is inside the layout of the indices.
            let index = unsafe { *src.wrapping_offset(at) };
            if first.is_none() && !self.is_inside(index.widen()) {
                first = Some(index.exact());
            }
        });
        out_of_bounds(first.unwrap_or_default(), self.axis, self.length)
    }

    #[inline(always)]
    fn is_inside(&self, index: i64) -> bool {
        (wrapped(index, self.length) as u64) < self.starts as u64
    }
}

/// Convert a run of indices to offsets; returns whether all are in bounds.
fn offsets_of_run<T: Index>(
    run: *const T,
    step: isize,
    column: &Column,
    offsets: &mut [isize],
    mode: OffsetMode,
) -> bool {
    let (length, starts, stride) = (column.length, column.starts as u64, column.stride);
    // A mask instead of a branch, which would prevent vectorisation.
    let mask = if mode == OffsetMode::Add { -1 } else { 0 };
    vectorised(
        #[inline(always)]
        move || {
            let mut outside = false;
            if step == 1 {
                // SAFETY: the run is inside the layout of the indices.
                let run = unsafe { std::slice::from_raw_parts(run, offsets.len()) };
                for (offset, &index) in offsets.iter_mut().zip(run) {
                    let index = wrapped(index.widen(), length);
                    outside |= index as u64 >= starts;
                    *offset = (*offset & mask).wrapping_add((index as isize).wrapping_mul(stride));
                }
                return !outside;
            }
            for (i, offset) in offsets.iter_mut().enumerate() {
                // SAFETY: the run is inside the layout of the indices.
                let index = unsafe { *run.wrapping_offset(i as isize * step) };
                let index = wrapped(index.widen(), length);
                outside |= index as u64 >= starts;
                *offset = (*offset & mask).wrapping_add((index as isize).wrapping_mul(stride));
            }
            !outside
        },
    )
}

/// Resolve a negative index, which counts from the end.
#[inline(always)]
fn wrapped(index: i64, length: usize) -> i64 {
    index + if index < 0 { length as i64 } else { 0 }
}

/// The range split into batches.
pub fn batches(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BATCH).map(move |start| start..range.end.min(start + BATCH))
}

fn not_integers(view: &View) -> Error {
    error!(Type, "indices must be integers, not {}", view.dtype())
}

/// Errors of concurrent tasks: the first in index order is reported, regardless of timing.
#[derive(Default)]
pub struct FirstError(Mutex<Option<(usize, Error)>>);

impl FirstError {
    /// Record an error at an index.
    pub fn add(&self, index: usize, error: Error) {
        let mut first = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| index < *other) {
            *first = Some((index, error));
        }
    }

    /// The error at the lowest index, if any.
    pub fn first(self) -> Result<()> {
        let first = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Indices along one axis whose array has the shape of the result; converted to offsets one run at a time.
pub struct AxisIndices<'a> {
    column: Column<'a>,
}

impl<'a> AxisIndices<'a> {
    /// Indices along `axis` of an operand of this shape and strides.
    pub fn new(shape: &[usize], strides: &[isize], indices: View<'a>, axis: usize) -> AxisIndices<'a> {
        let loops = StridedLoops::new(indices.shape(), [indices.strides()]);
        let (length, stride) = (shape[axis], strides[axis]);
        AxisIndices { column: Column { view: indices, loops, axis, length, starts: length, stride } }
    }

    /// Check that all indices are in bounds.
    pub fn check(&self) -> Result<()> {
        let count = self.column.loops.count();
        let failures = FirstError::default();
        parallel_ranges(count, 1 << 14, |range| {
            for batch in batches(range) {
                let mut offsets = [0; BATCH];
                if let Err(error) =
                    self.column.offsets(batch.clone(), &mut offsets[..batch.len()], OffsetMode::Replace)
                {
                    failures.add(batch.start, error);
                    return;
                }
            }
        });
        failures.first()
    }

    /// Write the offsets along the axis of a run of indices, which starts `at` elements from the first index with stride `step`.
    pub fn run(&self, at: isize, step: isize, offsets: &mut [isize]) -> Result<()> {
        match_dtype!(integer self.column.view.dtype(), T => {
            let run = self.column.view.start_as::<T>().wrapping_offset(at);
            let inside = offsets_of_run(run, step, &self.column, offsets, OffsetMode::Replace);
            if inside { Ok(()) } else { Err(self.column.error::<T>()) }
        }, else => Err(not_integers(&self.column.view)))
    }
}
