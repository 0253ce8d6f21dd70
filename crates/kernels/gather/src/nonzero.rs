//! Indices of true elements.

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
/// Elements per capacity check.
const SEGMENT: usize = 256;

/// Write the indices of the true elements of each row of `src` to the rows of `dst`, in ascending order.
///
/// `src` is bool, `dst` int64 or uint32; they have one shape except for the length of the last axis. A row of `dst` that is
/// longer than the number of indices is padded with the length of the row of `src`; if it is shorter, the last indices are
/// dropped.
///
/// # Panics
/// If shapes or dtypes do not match.
pub fn nonzero(src: View, dst: ViewMut) {
    let last = src.shape().len().checked_sub(1).expect("rows have an axis");
    assert_eq!(src.dtype(), DType::Bool, "the mask is bool");
    assert_eq!(src.shape()[..last], dst.shape()[..last], "equal leading axes");
    let mut rows = StridedLoops::new(&[], [&[], &[]]);
    for axis in 0..last {
        let strides = [src.strides()[axis], dst.strides()[axis]];
        rows.push(Loop { length: src.shape()[axis], strides });
    }
    match dst.dtype() {
        DType::Int64 => Search::<i64>::new(&src, &dst).run(&rows),
        DType::UInt32 => Search::<u32>::new(&src, &dst).run(&rows),
        other => panic!("indices of dtype {other}"),
    }
}

/// An integer type for indices.
trait IndexInt: Copy + Send + Sync {
    fn of(index: usize) -> Self;
}

impl IndexInt for i64 {
    #[inline(always)]
    fn of(index: usize) -> i64 {
        index as i64
    }
}

impl IndexInt for u32 {
    #[inline(always)]
    fn of(index: usize) -> u32 {
        index as u32
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
                    let end = self.write(starts, 0..self.length, 0..self.capacity);
                    self.pad(starts, end);
                });
            });
            return;
        }
        rows.walk(0..count, |starts| self.search_row_in_parallel(starts));
    }

    /// One row, by all threads: they count first, so that each knows the output slot of its first index.
    fn search_row_in_parallel(&self, starts: [isize; 2]) {
        let chunks = (self.length / GRAIN).clamp(1, 8 * num_threads());
        let chunk = |i: usize| self.length * i / chunks..self.length * (i + 1) / chunks;
        let mut counts: SmallVec<[usize; 64]> = SmallVec::from_elem(0, chunks);
        let shared_counts = Target::over(&mut counts);
        parallel_for(chunks, |i| {
            // SAFETY: each task has its own count, in a vector that outlives the call.
            unsafe { *shared_counts.at(i as isize) = self.count(starts[0], chunk(i)) };
        });
        let mut total = 0;
        let bounds: SmallVec<[usize; 64]> = std::iter::once(0)
            .chain(counts.iter().map(|&count| {
                total += count;
                total.min(self.capacity)
            }))
            .collect();
        parallel_for(chunks, |i| {
            self.write(starts, chunk(i), bounds[i]..bounds[i + 1]);
        });
        self.pad(starts, total.min(self.capacity));
    }

    /// The number of true elements in a chunk of a row.
    fn count(&self, from: isize, chunk: Range<usize>) -> usize {
        let [stride, _] = self.strides;
        let first = self.from.at(from + chunk.start as isize * stride);
        if stride == 1 && !chunk.is_empty() {
            // SAFETY: the row is inside the layout of the source.
            let run = unsafe { std::slice::from_raw_parts(first, chunk.len()) };
            // Chunks whose count fits uint32, so that more counters fit a vector.
            return run.chunks(1 << 16).map(count_true).sum();
        }
        // SAFETY: as above.
        let is_true = |i: isize| unsafe { *first.wrapping_offset(i * stride) }.get();
        (0..chunk.len() as isize).filter(|&i| is_true(i)).count()
    }

    /// Write the indices of a chunk of a row to `slots` of the output row; returns the slot after the last one written.
    fn write(&self, [from, to]: [isize; 2], chunk: Range<usize>, slots: Range<usize>) -> usize {
        let mut slot = slots.start;
        for start in chunk.clone().step_by(SEGMENT) {
            let count = SEGMENT.min(chunk.end - start);
            if self.strides == [1, 1] && slots.end - slot >= count {
                let (from, to) = (self.from.at(from + start as isize), self.to.at(to + slot as isize));
                // SAFETY: the rows are inside the layouts; tasks have disjoint slots, and at least `count` are left.
                slot += unsafe { write_segment(from, to, start, count) };
                continue;
            }
            for i in start..start + count {
                if slot == slots.end {
                    return slot;
                }
                // Branch-free: written even if the element is false, then overwritten or padded.
                // SAFETY: the rows are inside the layouts, and tasks have disjoint slots.
                unsafe {
                    *self.to.at(to + slot as isize * self.strides[1]) = P::of(i);
                    slot += usize::from((*self.from.at(from + i as isize * self.strides[0])).get());
                }
            }
        }
        slot
    }

    fn pad(&self, [_, to]: [isize; 2], end: usize) {
        for slot in end..self.capacity {
            // SAFETY: the row is inside the layout of the destination.
            unsafe { *self.to.at(to + slot as isize * self.strides[1]) = P::of(self.length) };
        }
    }
}

/// Write the indices of the true ones of `count` adjacent elements; returns how many.
///
/// # Safety
/// `count` elements are readable, and as many indices writable.
#[inline(always)]
unsafe fn write_segment<P: IndexInt>(from: *const Bool, to: *mut P, start: usize, count: usize) -> usize {
    let mut written = 0;
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function; `written <= i`.
        unsafe {
            *to.add(written) = P::of(start + i);
            written += usize::from((*from.add(i)).get());
        }
    }
    written
}

fn count_true(run: &[Bool]) -> usize {
    vectorised(
        #[inline(always)]
        || run.iter().map(|element| u32::from(element.get())).sum::<u32>() as usize,
    )
}
