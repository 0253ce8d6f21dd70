//! Softmax and the logarithm of a sum of exponentials, over the last axis.

use std::mem::MaybeUninit;
use std::ops::Range;

use num_traits::Float;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::row::{BLOCK, Compute, LANES, Real, Sums, max_of, maximum, store, vectorised_rows};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::{View, ViewMut};
use umber_types::{Element, match_dtype};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 13;
/// Rows this long are shared when there are fewer of them than threads.
const LONG: usize = 1 << 16;
/// Elements whose exponentials are taken at a time, between memory and memory.
const CHUNK: usize = 8 * LANES;
/// Rows no longer than this are still in the caches when exponentials that were stored are taken up again: that costs
/// less than computing them anew, which longer rows do.
const MAX_STORED_ROW: usize = 1 << 17;
/// Bytes of rows that leave space for the next one in L2.
const SHORT: usize = 1 << 17;

/// `exp(x - max x) / sum exp(x - max x)` of each row along the last axis, into `dst` of the same shape and dtype, whose
/// rows are dense.
///
/// float16 and bfloat16 compute in float32 and are rounded once. A row with NaN, with positive infinity, or of nothing
/// but negative infinity is NaN.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn softmax(src: View, dst: ViewMut) {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "softmax keeps shape and dtype");
    match_dtype!(float src.dtype(), T => softmax_typed::<T>(&src, &dst), else => not_a_float(&src));
}

/// `log sum exp x` of each row along the last axis, into `dst` of the same shape without that axis.
///
/// float16 and bfloat16 compute in float32 and are rounded once. A row of nothing is negative infinity.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn logsumexp(src: View, dst: ViewMut) {
    let (_, leading) = src.shape().split_last().expect("a row has an axis");
    assert_eq!(leading, dst.shape(), "shape of the result of logsumexp");
    assert_eq!(src.dtype(), dst.dtype(), "logsumexp keeps the dtype");
    match_dtype!(float src.dtype(), T => logsumexp_typed::<T>(&src, &dst), else => not_a_float(&src));
}

/// The greatest element `m` of each row along the last axis into `maxima`, and `log sum exp(x - m)` into `logs`: both of the
/// shape without that axis, dense, and of the dtype that computes.
///
/// Their sum is [`logsumexp`], but differences from `m` keep the digits that the sum loses beside a large `m`. The logarithm
/// is zero where `m` is no finite number.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn shifted_logsumexp(src: View, maxima: ViewMut, logs: ViewMut) {
    let (_, leading) = src.shape().split_last().expect("a row has an axis");
    assert!(maxima.shape() == leading && logs.shape() == leading, "shapes of the results of logsumexp");
    assert!(maxima.layout().is_contiguous() && logs.layout().is_contiguous(), "the results are dense");
    match_dtype!(float src.dtype(), T => shifted_typed::<T>(&src, &maxima, &logs), else => not_a_float(&src));
}

fn not_a_float(src: &View) -> ! {
    panic!("rows of {} are not of real floats", src.dtype())
}

/// One row to read.
#[derive(Clone, Copy)]
struct Row<T> {
    src: Source<T>,
    stride: isize,
    length: usize,
    /// From this row to the one that is read after it, if it is worth asking for.
    ahead: Option<isize>,
}

/// Loops over the rows of a view and of another one.
fn rows(src: &View, other: &[isize]) -> (StridedLoops<2>, usize, isize) {
    let (&length, leading) = src.shape().split_last().expect("a row has an axis");
    let loops = StridedLoops::new(leading, [&src.strides()[..leading.len()], &other[..leading.len()]]);
    (loops, length, src.strides()[leading.len()])
}

/// The rows at some offsets, most of which follow each other as the innermost loop of the nest says.
fn rows_of<T: Real>(
    src: Source<T>,
    loops: &StridedLoops<2>,
    stride: isize,
    length: usize,
) -> impl Fn(isize) -> Row<T> + Sync {
    let step = loops.inner().strides[0];
    let ahead = (stride == 1 && length * size_of::<T>() <= SHORT).then_some(step);
    move |at| Row { src: src.shifted(at), stride, length, ahead }
}

fn softmax_typed<T: Real>(src: &View, dst: &ViewMut) {
    let (loops, length, stride) = rows(src, dst.strides());
    if length == 0 {
        return;
    }
    assert!(
        length == 1 || dst.strides()[dst.shape().len() - 1] == 1,
        "rows of the result of softmax are dense"
    );
    let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
    let row = rows_of(from, &loops, stride, length);
    if loops.count() < num_threads() && length >= LONG {
        loops.walk(0..loops.count(), |[at, out]| parallel_softmax(row(at), to.shifted(out)));
        return;
    }
    let [step, out_step] = loops.inner().strides;
    parallel_ranges(loops.count(), GRAIN / length, |range| {
        let mut stage = Stage::new();
        loops.inner_runs(range, |[at, out], count| {
            let stage = &mut stage;
            vectorised_rows::<T, _>(
                #[inline(always)]
                || {
                    for i in 0..count as isize {
                        softmax_row(row(at + i * step), to.shifted(out + i * out_step), stage);
                    }
                },
            );
        });
    });
}

#[inline(always)]
fn softmax_row<T: Real>(row: Row<T>, dst: Target<T>, stage: &mut Stage<T>) {
    let whole = 0..row.length;
    let mut buffer = Aligned([T::Compute::default(); CHUNK]);
    if row.length <= CHUNK {
        let elements = row.dense(whole, stage);
        let mut sums = Sums::default();
        let values = exponentials(elements, max_of(elements), &mut buffer.0, &mut sums);
        scale(values, sums.total());
        // SAFETY: the layout of the destination holds the row, and rows of other tasks are apart.
        unsafe { store(values, dst.at(0), row.length) };
        return;
    }
    let max = row_max(row, whole.clone(), stage);
    if !T::IS_COMPUTE || row.length > MAX_STORED_ROW {
        let total = row_total(row, whole.clone(), max, stage);
        write_row(row, whole, max, total, dst, stage);
        return;
    }
    let mut sums = Sums::default();
    for block in blocks(whole) {
        let mut place = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            row.prefetch_ahead(place, chunk.len());
            let values = exponentials(chunk, max, &mut buffer.0, &mut sums);
            // SAFETY: as above.
            unsafe { store(values, dst.at(place as isize), chunk.len()) };
            place += chunk.len();
        }
    }
    // SAFETY: as above; all elements were just written.
    let written = unsafe { std::slice::from_raw_parts_mut(dst.at(0), row.length) };
    let factor = T::Compute::nearest(1.0 / sums.total());
    for element in written {
        *element = T::narrow(element.widen() * factor);
    }
}

/// One long row, shared among threads.
fn parallel_softmax<T: Real>(row: Row<T>, dst: Target<T>) {
    let (max, total) = parallel_max_and_sum(row);
    parallel_ranges(row.length.div_ceil(BLOCK), 1, |blocks| {
        let range = blocks.start * BLOCK..row.length.min(blocks.end * BLOCK);
        vectorised_rows::<T, _>(
            #[inline(always)]
            || write_row(row, range, max, total, dst, &mut Stage::new()),
        );
    });
}

/// Peak and total of one long row, shared among threads.
fn parallel_max_and_sum<T: Real>(row: Row<T>) -> (T::Compute, f64) {
    let parts = row.length / (LONG / 2);
    let part = |i: usize| row.length * i / parts..row.length * (i + 1) / parts;
    let mut maxima = vec![T::Compute::default(); parts];
    let shared = Target::over(&mut maxima);
    parallel_for(parts, |i| {
        let max = vectorised_rows::<T, _>(
            #[inline(always)]
            || row_max(row, part(i), &mut Stage::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = max };
    });
    let max = maxima.iter().fold(T::Compute::neg_infinity(), |a, &b| maximum(a, b));
    let mut totals = vec![0.0; parts];
    let shared = Target::over(&mut totals);
    parallel_for(parts, |i| {
        let total = vectorised_rows::<T, _>(
            #[inline(always)]
            || row_total(row, part(i), max, &mut Stage::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = total };
    });
    (max, totals.iter().sum())
}

/// A block of a row whose elements lie apart, brought together.
struct Stage<T> {
    buffer: Aligned<[MaybeUninit<T>; BLOCK]>,
}

impl<T: Real> Stage<T> {
    fn new() -> Stage<T> {
        Stage { buffer: Aligned([MaybeUninit::uninit(); BLOCK]) }
    }
}

impl<T: Real> Row<T> {
    /// Ask for some elements of the row that is read next, while others of this one are worked on.
    #[inline(always)]
    fn prefetch_ahead(self, from: usize, count: usize) {
        if let Some(step) = self.ahead {
            let next = self.src.at(from as isize + step);
            prefetch_lines(next, count * size_of::<T>(), Cache::L2);
        }
    }

    /// A range of the row, no longer than a block, side by side: in memory where it is so there.
    #[inline(always)]
    fn dense(self, range: Range<usize>, stage: &mut Stage<T>) -> &[T] {
        if range.is_empty() {
            // A row without elements may have no address.
            return &[];
        }
        let first = self.src.at(range.start as isize * self.stride);
        if self.stride == 1 {
            // SAFETY: the layout of the source holds the row, and nobody writes it while a kernel reads it.
            return unsafe { std::slice::from_raw_parts(first, range.len()) };
        }
        let buffer = &mut stage.buffer.0[..range.len()];
        for (i, element) in buffer.iter_mut().enumerate() {
            // SAFETY: as above.
            element.write(unsafe { *first.wrapping_offset(i as isize * self.stride) });
        }
        // SAFETY: just written.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len()) }
    }
}

/// Cut a range into blocks.
#[inline(always)]
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BLOCK).map(move |start| start..range.end.min(start + BLOCK))
}

/// `exp(x - max)` of no more than a chunk of elements, with zeros after them up to whole vectors; all are added to `sums`.
#[inline(always)]
fn exponentials<'r, T: Real>(
    elements: &[T],
    max: T::Compute,
    buffer: &'r mut [T::Compute; CHUNK],
    sums: &mut Sums,
) -> &'r mut [T::Compute] {
    let padded = elements.len().next_multiple_of(LANES);
    let values = &mut buffer[..padded];
    let to = values.as_mut_ptr();
    let from = if T::IS_COMPUTE && elements.len() == padded {
        elements.as_ptr().cast()
    } else {
        for (value, &element) in values.iter_mut().zip(elements) {
            *value = element.widen();
        }
        values[elements.len()..].fill(T::Compute::neg_infinity());
        to.cast_const()
    };
    // SAFETY: elements that are what they compute in, and apart from the room, or those that are there.
    unsafe { T::Compute::exponentials(from, to, padded, max, sums) };
    values
}

#[inline(always)]
fn scale<W: Compute>(values: &mut [W], total: f64) {
    let factor = W::nearest(1.0 / total);
    for value in values {
        *value = *value * factor;
    }
}

/// The greatest element in a range of a row.
#[inline(always)]
fn row_max<T: Real>(row: Row<T>, range: Range<usize>, stage: &mut Stage<T>) -> T::Compute {
    let mut max = T::Compute::neg_infinity();
    for block in blocks(range) {
        max = maximum(max, max_of(row.dense(block, stage)));
    }
    max
}

/// The sum of the exponentials in a range of a row.
#[inline(always)]
fn row_total<T: Real>(row: Row<T>, range: Range<usize>, max: T::Compute, stage: &mut Stage<T>) -> f64 {
    let mut buffer = Aligned([T::Compute::default(); CHUNK]);
    let mut sums = Sums::default();
    for block in blocks(range) {
        let mut place = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            row.prefetch_ahead(place, chunk.len());
            exponentials(chunk, max, &mut buffer.0, &mut sums);
            place += chunk.len();
        }
    }
    sums.total()
}

/// Write a range of a row, whose exponentials are computed again.
#[inline(always)]
fn write_row<T: Real>(
    row: Row<T>,
    range: Range<usize>,
    max: T::Compute,
    total: f64,
    dst: Target<T>,
    stage: &mut Stage<T>,
) {
    let mut buffer = Aligned([T::Compute::default(); CHUNK]);
    let mut known = Sums::default();
    for block in blocks(range) {
        let mut place = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            let values = exponentials(chunk, max, &mut buffer.0, &mut known);
            scale(values, total);
            // SAFETY: the layout of the destination holds the row, and ranges of other tasks are apart.
            unsafe { store(values, dst.at(place as isize), chunk.len()) };
            place += chunk.len();
        }
    }
}

fn logsumexp_typed<T: Real>(src: &View, dst: &ViewMut) {
    let to = Target::<T>::of(dst);
    totals_of_rows::<T>(src, dst.strides(), |out, max, total| {
        // An infinite or NaN peak is the answer; the total is then NaN.
        let sum = if max.is_finite() { T::Compute::nearest(max.wide() + total.ln()) } else { max };
        // SAFETY: the offset comes from the layout of the destination.
        unsafe { *to.at(out) = T::narrow(sum) };
    });
}

fn shifted_typed<T: Real>(src: &View, maxima: &ViewMut, logs: &ViewMut) {
    assert!(
        [maxima, logs].iter().all(|out| out.dtype() == T::Compute::DTYPE),
        "results in the dtype that computes"
    );
    let (to_peaks, to_logs) = (Target::<T::Compute>::of(maxima), Target::<T::Compute>::of(logs));
    totals_of_rows::<T>(src, maxima.strides(), |out, max, total| {
        let log = if max.is_finite() { total.ln() } else { 0.0 };
        // SAFETY: the offset comes from the layout that both destinations have.
        unsafe {
            *to_peaks.at(out) = max;
            *to_logs.at(out) = T::Compute::nearest(log);
        }
    });
}

/// Hand the greatest element of each row, and the sum of exponentials below it, to `write` with the offset that `strides` give
/// the row.
fn totals_of_rows<T: Real>(src: &View, strides: &[isize], write: impl Fn(isize, T::Compute, f64) + Sync) {
    let (loops, length, stride) = rows(src, strides);
    let row = rows_of(Source::<T>::of(src), &loops, stride, length);
    if loops.count() < num_threads() && length >= LONG {
        loops.walk(0..loops.count(), |[at, out]| {
            let (max, total) = parallel_max_and_sum(row(at));
            write(out, max, total);
        });
        return;
    }
    parallel_ranges(loops.count(), GRAIN / length.max(1), |range| {
        let mut stage = Stage::new();
        loops.walk(range, |[at, out]| {
            let stage = &mut stage;
            // Inside the walk, which calls this through a pointer: only what is inlined is compiled anew.
            let (max, total) = vectorised_rows::<T, _>(
                #[inline(always)]
                || {
                    let max = row_max(row(at), 0..length, stage);
                    (max, row_total(row(at), 0..length, max, stage))
                },
            );
            write(out, max, total);
        });
    });
}
