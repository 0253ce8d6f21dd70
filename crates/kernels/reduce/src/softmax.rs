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

/// Minimum elements per task.
const GRAIN: usize = 1 << 13;
/// Rows of at least this length are split among threads if there are fewer rows than threads.
const LONG: usize = 1 << 16;
/// Elements whose exponentials are computed per chunk, in a buffer.
const CHUNK: usize = 8 * LANES;
/// Up to this row length stored exponentials are still in the caches for the final scaling, which is then cheaper than
/// computing them again.
const MAX_STORED_ROW: usize = 1 << 17;
/// Maximum bytes of a row for which the next one still fits L2.
const SHORT: usize = 1 << 17;

/// `exp(x - max x) / sum exp(x - max x)` of each row along the last axis, into `dst` of the same shape and dtype, whose rows
/// are dense.
///
/// float16 and bfloat16 compute in float32 and are rounded once. A row that contains NaN or positive infinity, or only
/// negative infinity, is NaN.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn softmax(src: View, dst: ViewMut) {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "softmax keeps shape and dtype");
    match_dtype!(float src.dtype(), T => softmax_typed::<T>(&src, &dst), else => not_a_float(&src));
}

/// `log sum exp x` of each row along the last axis, into `dst` of the same shape without that axis.
///
/// float16 and bfloat16 compute in float32 and are rounded once. An empty row gives negative infinity.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn logsumexp(src: View, dst: ViewMut) {
    let (_, leading) = src.shape().split_last().expect("a row has an axis");
    assert_eq!(leading, dst.shape(), "shape of the result of logsumexp");
    assert_eq!(src.dtype(), dst.dtype(), "logsumexp keeps the dtype");
    match_dtype!(float src.dtype(), T => logsumexp_typed::<T>(&src, &dst), else => not_a_float(&src));
}

/// The maximum `m` of each row along the last axis into `maxima`, and `log sum exp(x - m)` into `logs`. Both have the shape
/// without that axis, are dense and have the compute type.
///
/// Their sum is [`logsumexp`], but differences from `m` keep the accuracy that the sum loses if `m` is large. The logarithm
/// is zero where `m` is not finite.
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
    /// Offset from this row to the next one, if it should be prefetched.
    ahead: Option<isize>,
}

/// Loops over the rows of a view and of another one with the given strides.
fn rows(src: &View, other: &[isize]) -> (StridedLoops<2>, usize, isize) {
    let (&length, leading) = src.shape().split_last().expect("a row has an axis");
    let loops = StridedLoops::new(leading, [&src.strides()[..leading.len()], &other[..leading.len()]]);
    (loops, length, src.strides()[leading.len()])
}

/// The rows at given offsets; most consecutive rows are one step of the innermost loop apart.
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
    let full_range = 0..row.length;
    let mut buffer = Aligned([T::Compute::default(); CHUNK]);
    if row.length <= CHUNK {
        let elements = row.dense(full_range, stage);
        let mut sums = Sums::default();
        let values = exponentials(elements, max_of(elements), &mut buffer.0, &mut sums);
        scale(values, sums.total());
        // SAFETY: the layout of the destination holds the row, and tasks write disjoint rows.
        unsafe { store(values, dst.at(0), row.length) };
        return;
    }
    let max = row_max(row, full_range.clone(), stage);
    if !T::IS_COMPUTE || row.length > MAX_STORED_ROW {
        let total = row_total(row, full_range.clone(), max, stage);
        write_row(row, full_range, max, total, dst, stage);
        return;
    }
    let mut sums = Sums::default();
    for block in blocks(full_range) {
        let mut offset = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            row.prefetch_ahead(offset, chunk.len());
            let values = exponentials(chunk, max, &mut buffer.0, &mut sums);
            // SAFETY: the layout of the destination holds the row, and tasks write disjoint rows.
            unsafe { store(values, dst.at(offset as isize), chunk.len()) };
            offset += chunk.len();
        }
    }
    // SAFETY: the row lies in the destination, and all its elements have been written.
    let written = unsafe { std::slice::from_raw_parts_mut(dst.at(0), row.length) };
    let factor = T::Compute::nearest(1.0 / sums.total());
    for element in written {
        *element = T::narrow(element.widen() * factor);
    }
}

/// Compute one long row on several threads.
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

/// Maximum and sum of exponentials of one long row, on several threads.
fn parallel_max_and_sum<T: Real>(row: Row<T>) -> (T::Compute, f64) {
    let chunks = row.length / (LONG / 2);
    let chunk = |i: usize| row.length * i / chunks..row.length * (i + 1) / chunks;
    let mut maxima = vec![T::Compute::default(); chunks];
    let shared = Target::over(&mut maxima);
    parallel_for(chunks, |i| {
        let max = vectorised_rows::<T, _>(
            #[inline(always)]
            || row_max(row, chunk(i), &mut Stage::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = max };
    });
    let max = maxima.iter().fold(T::Compute::neg_infinity(), |a, &b| maximum(a, b));
    let mut totals = vec![0.0; chunks];
    let shared = Target::over(&mut totals);
    parallel_for(chunks, |i| {
        let total = vectorised_rows::<T, _>(
            #[inline(always)]
            || row_total(row, chunk(i), max, &mut Stage::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = total };
    });
    (max, totals.iter().sum())
}

/// Scratch to which a block of a strided row is copied.
struct Stage<T> {
    buffer: Aligned<[MaybeUninit<T>; BLOCK]>,
}

impl<T: Real> Stage<T> {
    fn new() -> Stage<T> {
        Stage { buffer: Aligned([MaybeUninit::uninit(); BLOCK]) }
    }
}

impl<T: Real> Row<T> {
    /// Prefetch some elements of the next row while this one is processed.
    #[inline(always)]
    fn prefetch_ahead(self, from: usize, count: usize) {
        if let Some(step) = self.ahead {
            let next = self.src.at(from as isize + step);
            prefetch_lines(next, count * size_of::<T>(), Cache::L2);
        }
    }

    /// A range of the row, at most a block, as a dense slice: borrowed if the row is contiguous, else copied.
    #[inline(always)]
    fn dense(self, range: Range<usize>, stage: &mut Stage<T>) -> &[T] {
        if range.is_empty() {
            // A row without elements may have a dangling address.
            return &[];
        }
        let first = self.src.at(range.start as isize * self.stride);
        if self.stride == 1 {
            // SAFETY: the layout of the source holds the row, and no other thread writes it while a kernel reads it.
            return unsafe { std::slice::from_raw_parts(first, range.len()) };
        }
        let buffer = &mut stage.buffer.0[..range.len()];
        for (i, element) in buffer.iter_mut().enumerate() {
            // SAFETY: the layout of the source holds the row.
            element.write(unsafe { *first.wrapping_offset(i as isize * self.stride) });
        }
        // SAFETY: all elements of the slice were just written.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len()) }
    }
}

/// Split a range into blocks.
#[inline(always)]
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BLOCK).map(move |start| start..range.end.min(start + BLOCK))
}

/// `exp(x - max)` of at most a chunk of elements, padded with zeros to whole vectors; all are added to `sums`.
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
    // SAFETY: `from` has `padded` values, either in the buffer or in place if `T` is the compute type; `to` has space for
    // them.
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

/// Maximum of a range of a row.
#[inline(always)]
fn row_max<T: Real>(row: Row<T>, range: Range<usize>, stage: &mut Stage<T>) -> T::Compute {
    let mut max = T::Compute::neg_infinity();
    for block in blocks(range) {
        max = maximum(max, max_of(row.dense(block, stage)));
    }
    max
}

/// Sum of the exponentials of a range of a row.
#[inline(always)]
fn row_total<T: Real>(row: Row<T>, range: Range<usize>, max: T::Compute, stage: &mut Stage<T>) -> f64 {
    let mut buffer = Aligned([T::Compute::default(); CHUNK]);
    let mut sums = Sums::default();
    for block in blocks(range) {
        let mut offset = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            row.prefetch_ahead(offset, chunk.len());
            exponentials(chunk, max, &mut buffer.0, &mut sums);
            offset += chunk.len();
        }
    }
    sums.total()
}

/// Write a range of a row, computing its exponentials again.
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
    let mut unused_sums = Sums::default();
    for block in blocks(range) {
        let mut offset = block.start;
        for chunk in row.dense(block, stage).chunks(CHUNK) {
            let values = exponentials(chunk, max, &mut buffer.0, &mut unused_sums);
            scale(values, total);
            // SAFETY: the layout of the destination holds the row, and tasks write disjoint ranges.
            unsafe { store(values, dst.at(offset as isize), chunk.len()) };
            offset += chunk.len();
        }
    }
}

fn logsumexp_typed<T: Real>(src: &View, dst: &ViewMut) {
    let to = Target::<T>::of(dst);
    totals_of_rows::<T>(src, dst.strides(), |out, max, total| {
        // An infinite or NaN maximum is the result; the total is then NaN.
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
    let (to_maxima, to_logs) = (Target::<T::Compute>::of(maxima), Target::<T::Compute>::of(logs));
    totals_of_rows::<T>(src, maxima.strides(), |out, max, total| {
        let log = if max.is_finite() { total.ln() } else { 0.0 };
        // SAFETY: the offset comes from the layout that both destinations have.
        unsafe {
            *to_maxima.at(out) = max;
            *to_logs.at(out) = T::Compute::nearest(log);
        }
    });
}

/// Pass the maximum of each row and the sum of its shifted exponentials to `write`, with the offset that `strides` gives the
/// row.
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
            // Inside the closure, because `walk` calls it through a pointer, and only inlined code is compiled for the target
            // features.
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
