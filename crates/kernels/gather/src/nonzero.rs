//! Where the elements of rows are true.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::{View, ViewMut};
use umber_types::{Bool, DType};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 15;
/// Elements that are looked at before it is asked again whether there is room.
const SEGMENT: usize = 256;

/// Write the places of the true elements of each row of `src` to the rows of `dst`, in ascending order.
///
/// `src` is bool, `dst` int64 or uint32; they have one shape but for the length of the last axis. Where a row of `dst` has more
/// room than there are places, the rest becomes the length of the row of `src`; where it has less, the last places are
/// left out.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn nonzero(src: View, dst: ViewMut) {
    let last = src.shape().len().checked_sub(1).expect("rows have an axis");
    assert_eq!(src.dtype(), DType::Bool, "dtype of truth");
    assert_eq!(src.shape()[..last], dst.shape()[..last], "shape of the places of true elements");
    let mut rows = StridedLoops::new(&[], [&[], &[]]);
    for axis in 0..last {
        let strides = [src.strides()[axis], dst.strides()[axis]];
        rows.push(Loop { length: src.shape()[axis], strides });
    }
    match dst.dtype() {
        DType::Int64 => Search::<i64>::new(&src, &dst).run(&rows),
        DType::UInt32 => Search::<u32>::new(&src, &dst).run(&rows),
        other => panic!("places of {other}"),
    }
}

/// An integer that holds places.
trait IndexInt: Copy + Send + Sync {
    fn of(place: usize) -> Self;
}

impl IndexInt for i64 {
    #[inline(always)]
    fn of(place: usize) -> i64 {
        place as i64
    }
}

impl IndexInt for u32 {
    #[inline(always)]
    fn of(place: usize) -> u32 {
        place as u32
    }
}

struct Search<P> {
    from: Source<Bool>,
    to: Target<P>,
    length: usize,
    capacity: usize,
    strides: [isize; 2],
}

impl<P: IndexInt> Search<P> {
    fn new(src: &View, dst: &ViewMut) -> Search<P> {
        let last = src.shape().len() - 1;
        Search {
            from: Source::of(src),
            to: Target::of(dst),
            length: src.shape()[last],
            capacity: dst.shape()[last],
            strides: [src.strides()[last], dst.strides()[last]],
        }
    }

    fn run(&self, rows: &StridedLoops<2>) {
        let count = rows.count();
        if self.capacity == 0 || count == 0 {
            return;
        }
        if count >= num_threads() || self.length < 2 * GRAIN {
            parallel_ranges(count, GRAIN / self.length.max(1), |range| {
                rows.walk(range, |starts| {
                    let found = self.write(starts, 0..self.length, 0..self.capacity);
                    self.pad(starts, found);
                });
            });
            return;
        }
        rows.walk(0..count, |starts| self.share_row(starts));
    }

    /// One row, by all threads: they count first, so that each knows where its places go.
    fn share_row(&self, starts: [isize; 2]) {
        let parts = (self.length / GRAIN).clamp(1, 8 * num_threads());
        let part = |i: usize| self.length * i / parts..self.length * (i + 1) / parts;
        let mut counts: SmallVec<[usize; 64]> = SmallVec::from_elem(0, parts);
        let places = Target::over(&mut counts);
        parallel_for(parts, |i| {
            // SAFETY: tasks have a count of their own, in a vector that outlives the call.
            unsafe { *places.at(i as isize) = self.count(starts[0], part(i)) };
        });
        let mut total = 0;
        let bounds: SmallVec<[usize; 64]> = std::iter::once(0)
            .chain(counts.iter().map(|&count| {
                total += count;
                total.min(self.capacity)
            }))
            .collect();
        parallel_for(parts, |i| {
            self.write(starts, part(i), bounds[i]..bounds[i + 1]);
        });
        self.pad(starts, total.min(self.capacity));
    }

    /// How many elements of a part of a row are true.
    fn count(&self, from: isize, part: Range<usize>) -> usize {
        let [stride, _] = self.strides;
        let first = self.from.at(from + part.start as isize * stride);
        if stride == 1 && !part.is_empty() {
            // SAFETY: the layout of the source holds the row.
            let run = unsafe { std::slice::from_raw_parts(first, part.len()) };
            // Chunks that a narrow count holds, so that many elements fit a vector.
            return run.chunks(1 << 16).map(count_true).sum();
        }
        // SAFETY: as above.
        let held = |i: isize| unsafe { *first.wrapping_offset(i * stride) }.get();
        (0..part.len() as isize).filter(|&i| held(i)).count()
    }

    /// Write the places of a part of a row to some slots of the other row; returns the slot after the last one written.
    fn write(&self, [from, to]: [isize; 2], part: Range<usize>, slots: Range<usize>) -> usize {
        let mut slot = slots.start;
        for start in part.clone().step_by(SEGMENT) {
            let count = SEGMENT.min(part.end - start);
            if self.strides == [1, 1] && slots.end - slot >= count {
                let (from, to) = (self.from.at(from + start as isize), self.to.at(to + slot as isize));
                // SAFETY: the layouts hold the rows; tasks have slots of their own, and there are enough of them.
                slot += unsafe { write_segment(from, to, start, count) };
                continue;
            }
            for i in start..start + count {
                if slot == slots.end {
                    return slot;
                }
                // Written whether it holds or not: a place that does not is written over, or padded.
                // SAFETY: as above.
                unsafe {
                    *self.to.at(to + slot as isize * self.strides[1]) = P::of(i);
                    slot += usize::from((*self.from.at(from + i as isize * self.strides[0])).get());
                }
            }
        }
        slot
    }

    fn pad(&self, [_, to]: [isize; 2], found: usize) {
        for slot in found..self.capacity {
            // SAFETY: the layout of the destination holds the row.
            unsafe { *self.to.at(to + slot as isize * self.strides[1]) = P::of(self.length) };
        }
    }
}

/// Write the places of the true ones of some neighbours; returns how many.
///
/// # Safety
/// `count` elements may be read, and as many places written.
#[inline(always)]
unsafe fn write_segment<P: IndexInt>(from: *const Bool, to: *mut P, start: usize, count: usize) -> usize {
    let mut found = 0;
    for i in 0..count {
        // SAFETY: the caller's promise; no more are found than were looked at before.
        unsafe {
            *to.add(found) = P::of(start + i);
            found += usize::from((*from.add(i)).get());
        }
    }
    found
}

fn count_true(run: &[Bool]) -> usize {
    vectorised(
        #[inline(always)]
        || run.iter().map(|held| u32::from(held.get())).sum::<u32>() as usize,
    )
}
