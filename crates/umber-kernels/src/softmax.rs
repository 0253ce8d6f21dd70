//! Softmax and the logarithm of a sum of exponentials, over the last axis.

use std::ops::Range;

use num_traits::Float;
use umber_types::match_dtype;

use crate::isa::vectorised;
use crate::nest::Nest;
use crate::row::{BLOCK, Buffer, Real, Work, greatest, larger, store, sum_of};
use crate::shared::{Source, Target};
use crate::threads::{num_threads, parallel_for, parallel_ranges};
use crate::{View, ViewMut};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 13;
/// Rows this long are shared when there are fewer of them than threads.
const LONG: usize = 1 << 16;

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

fn not_a_float(src: &View) -> ! {
    panic!("rows of {} are not of real floats", src.dtype())
}

/// One row to read.
#[derive(Clone, Copy)]
struct Row<T> {
    src: Source<T>,
    stride: isize,
    length: usize,
}

/// Loops over the rows of a view and of another one.
fn rows(src: &View, other: &[isize]) -> (Nest<2>, usize, isize) {
    let (&length, leading) = src.shape().split_last().expect("a row has an axis");
    let nest = Nest::new(leading, [&src.strides()[..leading.len()], &other[..leading.len()]]);
    (nest, length, src.strides()[leading.len()])
}

fn softmax_typed<T: Real>(src: &View, dst: &ViewMut) {
    let (nest, length, stride) = rows(src, dst.strides());
    if length == 0 {
        return;
    }
    assert!(
        length == 1 || dst.strides()[dst.shape().len() - 1] == 1,
        "rows of the result of softmax are dense"
    );
    let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
    if nest.count() < num_threads() && length >= LONG {
        nest.walk(0..nest.count(), |[at, out]| {
            share_softmax(Row { src: from.shifted(at), stride, length }, to.shifted(out));
        });
        return;
    }
    parallel_ranges(nest.count(), GRAIN / length, |range| {
        let mut buffer = Buffer::new();
        nest.walk(range, |[at, out]| {
            vectorised(
                #[inline(always)]
                || softmax_row(Row { src: from.shifted(at), stride, length }, to.shifted(out), &mut buffer),
            );
        });
    });
}

#[inline(always)]
fn softmax_row<T: Real>(row: Row<T>, dst: Target<T>, buffer: &mut Buffer<T::Work>) {
    if row.length <= BLOCK {
        let values = load(row, 0..row.length, buffer);
        let peak = greatest(values);
        exponentials(values, peak);
        let total = sum_of(values, |value| value);
        scale(values, total);
        // SAFETY: the layout of the destination holds the row, and rows of other tasks are apart.
        unsafe { store(values, dst.at(0), row.length) };
        return;
    }
    let peak = row_peak(row, 0..row.length, buffer);
    let total = row_total(row, 0..row.length, peak, buffer);
    write_row(row, 0..row.length, peak, total, dst, buffer);
}

/// One long row, shared among threads.
fn share_softmax<T: Real>(row: Row<T>, dst: Target<T>) {
    let (peak, total) = share_totals(row);
    parallel_ranges(row.length.div_ceil(BLOCK), 1, |blocks| {
        let range = blocks.start * BLOCK..row.length.min(blocks.end * BLOCK);
        vectorised(
            #[inline(always)]
            || write_row(row, range, peak, total, dst, &mut Buffer::new()),
        );
    });
}

/// Peak and total of one long row, shared among threads.
fn share_totals<T: Real>(row: Row<T>) -> (T::Work, f64) {
    let parts = row.length / (LONG / 2);
    let part = |i: usize| row.length * i / parts..row.length * (i + 1) / parts;
    let mut peaks = vec![T::Work::default(); parts];
    let shared = Target::over(&mut peaks);
    parallel_for(parts, |i| {
        let peak = vectorised(
            #[inline(always)]
            || row_peak(row, part(i), &mut Buffer::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = peak };
    });
    let peak = peaks.iter().fold(T::Work::neg_infinity(), |a, &b| larger(a, b));
    let mut totals = vec![0.0; parts];
    let shared = Target::over(&mut totals);
    parallel_for(parts, |i| {
        let total = vectorised(
            #[inline(always)]
            || row_total(row, part(i), peak, &mut Buffer::new()),
        );
        // SAFETY: each task writes its own element.
        unsafe { *shared.at(i as isize) = total };
    });
    (peak, totals.iter().sum())
}

#[inline(always)]
fn load<T: Real>(row: Row<T>, range: Range<usize>, buffer: &mut Buffer<T::Work>) -> &mut [T::Work] {
    let src = row.src.at(range.start as isize * row.stride);
    // SAFETY: the layout of the source holds the row.
    unsafe { buffer.load(src, row.stride, range.len(), T::Work::neg_infinity()) }
}

/// Cut a range into blocks.
#[inline(always)]
fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BLOCK).map(move |start| start..range.end.min(start + BLOCK))
}

#[inline(always)]
fn exponentials<W: Work>(values: &mut [W], peak: W) {
    for value in values {
        *value = (*value - peak).exp_of_nonpositive();
    }
}

#[inline(always)]
fn scale<W: Work>(values: &mut [W], total: f64) {
    let factor = W::nearest(1.0 / total);
    for value in values {
        *value = *value * factor;
    }
}

/// The greatest element in a range of a row.
#[inline(always)]
fn row_peak<T: Real>(row: Row<T>, range: Range<usize>, buffer: &mut Buffer<T::Work>) -> T::Work {
    let peaks = blocks(range).map(|block| greatest(load(row, block, buffer)));
    peaks.fold(T::Work::neg_infinity(), larger)
}

/// The sum of the exponentials in a range of a row.
#[inline(always)]
fn row_total<T: Real>(row: Row<T>, range: Range<usize>, peak: T::Work, buffer: &mut Buffer<T::Work>) -> f64 {
    let totals = blocks(range).map(|block| {
        let values = load(row, block, buffer);
        exponentials(values, peak);
        sum_of(values, |value| value)
    });
    totals.sum()
}

/// Write a range of a row. Computing exponentials again costs less than storing and reading them unrounded.
#[inline(always)]
fn write_row<T: Real>(
    row: Row<T>,
    range: Range<usize>,
    peak: T::Work,
    total: f64,
    dst: Target<T>,
    buffer: &mut Buffer<T::Work>,
) {
    for block in blocks(range) {
        let (start, count) = (block.start, block.len());
        let values = load(row, block, buffer);
        exponentials(values, peak);
        scale(values, total);
        // SAFETY: the layout of the destination holds the row, and ranges of other tasks are apart.
        unsafe { store(values, dst.at(start as isize), count) };
    }
}

fn logsumexp_typed<T: Real>(src: &View, dst: &ViewMut) {
    let (nest, length, stride) = rows(src, dst.strides());
    let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
    let finish = |peak: T::Work, total: f64| {
        // An infinite or NaN peak is the answer; the total is then NaN.
        let sum = if peak.is_finite() { T::Work::nearest(peak.wide() + total.ln()) } else { peak };
        T::narrow(sum)
    };
    if nest.count() < num_threads() && length >= LONG {
        nest.walk(0..nest.count(), |[at, out]| {
            let (peak, total) = share_totals(Row { src: from.shifted(at), stride, length });
            // SAFETY: the offset comes from the layout of the destination.
            unsafe { *to.at(out) = finish(peak, total) };
        });
        return;
    }
    parallel_ranges(nest.count(), GRAIN / length.max(1), |range| {
        vectorised(
            #[inline(always)]
            || {
                let mut buffer = Buffer::new();
                nest.walk(range, |[at, out]| {
                    let (peak, total) =
                        row_totals(Row { src: from.shifted(at), stride, length }, &mut buffer);
                    // SAFETY: the offset comes from the layout of the destination.
                    unsafe { *to.at(out) = finish(peak, total) };
                });
            },
        );
    });
}

/// Peak and total of a row.
#[inline(always)]
fn row_totals<T: Real>(row: Row<T>, buffer: &mut Buffer<T::Work>) -> (T::Work, f64) {
    if row.length <= BLOCK {
        let values = load(row, 0..row.length, buffer);
        let peak = greatest(values);
        exponentials(values, peak);
        return (peak, sum_of(values, |value| value));
    }
    let peak = row_peak(row, 0..row.length, buffer);
    (peak, row_total(row, 0..row.length, peak, buffer))
}
