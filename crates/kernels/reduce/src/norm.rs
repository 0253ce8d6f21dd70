//! Normalisation over the last axis: to mean 0 and variance 1, or to mean square 1.
//!
//! If the mean is large compared with the deviation, deviations are taken from a mean of higher precision than its type; if
//! squares overflow or underflow, the row is recomputed in scaled float64. The sum of squares detects both cases.

use std::ops::Range;

use umber_kernels_base::caches::{Aligned, STREAM_FROM, finish_streaming, nontemporal_stores_pay, stream};
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::row::{BLOCK, Buffer, Compute, LANES, Real, SEGMENT, Sums, sum_of, vectorised_rows};
use umber_kernels_base::scaled::{Scale, are_squares_lost};
use umber_kernels_base::scratch_vec::vector_or_unwind;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::match_dtype;

/// Minimum elements per task.
const GRAIN: usize = 1 << 13;

/// `(x - mean x) / sqrt(var x + eps) * weight + bias` of each row along the last axis, into `dst` of the same shape and
/// dtype, whose rows are dense. `weight` and `bias` have one axis, as long as the rows, and the dtype of `x`.
///
/// float16 and bfloat16 compute in float32 and are rounded once; means are taken in float64.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn layer_norm(x: View, weight: Option<View>, bias: Option<View>, eps: f64, dst: ViewMut) {
    normalize(NormKind::Mean, &x, weight, bias, eps, &dst);
}

/// `x / sqrt(mean x^2 + eps) * weight` of each row along the last axis, into `dst` of the same shape and dtype, whose
/// rows are dense. `weight` has one axis, as long as the rows, and the dtype of `x`.
///
/// float16 and bfloat16 compute in float32 and are rounded once; means are taken in float64.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn rms_norm(x: View, weight: Option<View>, eps: f64, dst: ViewMut) {
    normalize(NormKind::Zero, &x, weight, None, eps, &dst);
}

/// The point that rows are centred on.
#[derive(Clone, Copy, PartialEq)]
enum NormKind {
    Mean,
    Zero,
}

fn normalize(centre: NormKind, x: &View, weight: Option<View>, bias: Option<View>, eps: f64, dst: &ViewMut) {
    assert_eq!((x.shape(), x.dtype()), (dst.shape(), dst.dtype()), "normalisation keeps shape and dtype");
    let (&length, leading) = x.shape().split_last().expect("a row has an axis");
    for parameter in weight.iter().chain(&bias) {
        assert_eq!(
            (parameter.shape(), parameter.dtype()),
            (&[length][..], x.dtype()),
            "weight and bias of rows"
        );
    }
    if x.size() == 0 {
        return;
    }
    assert!(length == 1 || dst.strides()[leading.len()] == 1, "rows of the result are dense");
    let loops = StridedLoops::new(leading, [&x.strides()[..leading.len()], &dst.strides()[..leading.len()]]);
    match_dtype!(float x.dtype(), T => {
        let task = Rows::<T> {
            centre,
            eps,
            length,
            stride: x.strides()[leading.len()],
            step: loops.inner().strides[0],
            weight: weight.map(|weight| parameter::<T>(&weight)),
            bias: bias.map(|bias| parameter::<T>(&bias)),
            streams: x.size() * size_of::<T>() >= STREAM_FROM && nontemporal_stores_pay(),
        };
        let (from, to) = (Source::<T>::of(x), Target::<T>::of(dst));
        parallel_ranges(loops.count(), GRAIN / length, |range| {
            let mut buffers = RowBuffers::new();
            loops.walk(range, |[at, out]| {
                vectorised_rows::<T, _>(
                    #[inline(always)]
                    || task.row(from.shifted(at), to.shifted(out), &mut buffers),
                );
            });
            if task.streams {
                finish_streaming();
            }
        });
    }, else => panic!("rows of {} are not of real floats", x.dtype()));
}

/// Weights or biases in the compute type, padded to whole vectors.
fn parameter<T: Real>(view: &View) -> Vec<T::Compute> {
    let (src, stride) = (Source::<T>::of(view), view.strides()[0]);
    // SAFETY: the layout of the view holds the elements.
    let element = |i: usize| unsafe { *src.at(i as isize * stride) }.widen();
    let padded = view.size().next_multiple_of(LANES);
    let mut values = vector_or_unwind(padded);
    values.extend((0..view.size()).map(element));
    values.resize(padded, T::Compute::default());
    values
}

struct Rows<T: Real> {
    centre: NormKind,
    eps: f64,
    length: usize,
    stride: isize,
    /// Offset from a row to the next one, except at the end of the innermost loop.
    step: isize,
    weight: Option<Vec<T::Compute>>,
    bias: Option<Vec<T::Compute>>,
    /// Whether the result is written with non-temporal stores.
    streams: bool,
}

impl<T: Real> Rows<T> {
    #[inline(always)]
    fn row(&self, src: Source<T>, dst: Target<T>, buffers: &mut RowBuffers<T>) {
        let RowBuffers { buffer, stage } = buffers;
        let count = self.length as f64;
        let zero = T::Compute::default();
        if self.length <= BLOCK {
            let mean = |values: &[T::Compute]| match self.centre {
                NormKind::Mean => T::Compute::nearest(sum_of(values, |value| value) / count),
                NormKind::Zero => zero,
            };
            let in_place = T::IS_COMPUTE && self.stride == 1 && self.length.is_multiple_of(LANES);
            let (values, mean) = if in_place && self.length > 0 {
                // SAFETY: the layout of the source holds the row, whose elements have the compute type.
                let values: &[T::Compute] =
                    unsafe { std::slice::from_raw_parts(src.at(0).cast(), self.length) };
                (values, mean(values))
            } else {
                let values = self.load(src, 0..self.length, zero, buffer);
                let mean = mean(values);
                values[self.length..].fill(mean);
                (&*values, mean)
            };
            let mut squares = Sums::default();
            squares.add_segments(
                values,
                |value| (value - mean) * (value - mean),
                |at| {
                    if self.stride == 1 {
                        let next = src.at(self.step + at as isize);
                        let count = SEGMENT.min(self.length - at);
                        prefetch_lines(next, count * size_of::<T>(), Cache::L2);
                    }
                },
            );
            let mut stats = RowStatistics { mean, mean_low: zero, squares: squares.total() };
            if self.is_rounded(&stats) {
                stats = stats.compensated(sum_of(values, |value| value - mean), count);
            }
            if self.is_out_of_range(&stats) && self.row_scaled(src, dst) {
                return;
            }
            // SAFETY: the layout of the destination holds the row, and tasks write disjoint rows.
            let dst = unsafe { std::slice::from_raw_parts_mut(dst.at(0), self.length) };
            if self.streams {
                let stage = &mut stage.0[..self.length];
                self.finish(values, 0, &stats, stage);
                // SAFETY: both slices have the same length.
                unsafe { stream(stage.as_ptr().cast(), dst.as_mut_ptr().cast(), size_of_val(stage)) };
            } else {
                self.finish(values, 0, &stats, dst);
            }
            return;
        }
        let mut total = 0.0;
        if self.centre == NormKind::Mean {
            for block in blocks(self.length) {
                total += sum_of(self.load(src, block, zero, buffer), |value| value);
            }
        }
        let mean = T::Compute::nearest(total / count);
        let mut squares = 0.0;
        for block in blocks(self.length) {
            squares += sum_of(self.load(src, block, mean, buffer), |value| (value - mean) * (value - mean));
        }
        let mut stats = RowStatistics { mean, mean_low: zero, squares };
        if self.is_rounded(&stats) {
            let mut distances = 0.0;
            for block in blocks(self.length) {
                distances += sum_of(self.load(src, block, mean, buffer), |value| value - mean);
            }
            stats = stats.compensated(distances, count);
        }
        if self.is_out_of_range(&stats) && self.row_scaled(src, dst) {
            return;
        }
        for block in blocks(self.length) {
            let (start, count) = (block.start, block.len());
            let values = self.load(src, block, zero, buffer);
            // SAFETY: the layout of the destination holds the row, and tasks write disjoint rows.
            let dst = unsafe { std::slice::from_raw_parts_mut(dst.at(start as isize), count) };
            self.finish(values, start, &stats, dst);
        }
    }

    /// Whether the rounding error of the mean matters, because the mean is large compared with the deviation.
    #[inline(always)]
    fn is_rounded(&self, stats: &RowStatistics<T::Compute>) -> bool {
        const FAR: f64 = 4.0;
        let mean = stats.mean.wide();
        mean * mean * self.length as f64 > FAR * stats.squares
    }

    /// Whether squares overflowed or underflowed, and `eps` does not dominate them.
    #[inline(always)]
    fn is_out_of_range(&self, stats: &RowStatistics<T::Compute>) -> bool {
        let count = self.length as f64;
        are_squares_lost::<T::Compute>(stats.squares + count * self.eps, count)
    }

    /// Normalise a row in scaled float64; returns false, and writes nothing, if an element is not finite.
    #[cold]
    fn row_scaled(&self, src: Source<T>, dst: Target<T>) -> bool {
        // SAFETY: the layout of the source holds the row.
        let value = |i: usize| unsafe { *src.at(i as isize * self.stride) }.widen().wide();
        let values = || (0..self.length).map(value);
        let max_abs =
            values().fold(0f64, |max_abs, value| if value.abs() <= max_abs { max_abs } else { value.abs() });
        if !max_abs.is_finite() {
            return false;
        }
        let (scale, count) = (Scale::of(max_abs.max(self.eps.sqrt())), self.length as f64);
        let first = match self.centre {
            NormKind::Mean => scale.apply(value(0)),
            NormKind::Zero => 0.0,
        };
        let mean = match self.centre {
            NormKind::Mean => values().map(|value| scale.apply(value) - first).sum::<f64>() / count,
            NormKind::Zero => 0.0,
        };
        let distance = |value: f64| (scale.apply(value) - first) - mean;
        let squares: f64 = values().map(|value| distance(value).powi(2)).sum();
        let factor = 1.0 / (squares / count + scale.apply(scale.apply(self.eps))).sqrt();
        for (i, value) in values().enumerate() {
            let mut normal = distance(value) * factor;
            normal *= self.weight.as_ref().map_or(1.0, |weight| weight[i].wide());
            normal += self.bias.as_ref().map_or(0.0, |bias| bias[i].wide());
            // SAFETY: the layout of the destination holds the row, and tasks write disjoint rows.
            unsafe { *dst.at(i as isize) = T::narrow(T::Compute::nearest(normal)) };
        }
        true
    }

    #[inline(always)]
    fn load<'b>(
        &self,
        src: Source<T>,
        block: Range<usize>,
        padding: T::Compute,
        buffer: &'b mut Buffer<T::Compute>,
    ) -> &'b mut [T::Compute] {
        let first = src.at(block.start as isize * self.stride);
        // SAFETY: the layout of the source holds the row.
        unsafe { buffer.load(first, self.stride, block.len(), padding) }
    }

    /// Write the normalised values of a row, beginning at `start`.
    #[inline(always)]
    fn finish(&self, values: &[T::Compute], start: usize, stats: &RowStatistics<T::Compute>, dst: &mut [T]) {
        let RowStatistics { mean, mean_low, squares } = *stats;
        let factor = T::Compute::nearest(1.0 / (squares / self.length as f64 + self.eps).sqrt());
        if mean_low == T::Compute::default() {
            self.write(values, start, dst, |value| (value - mean) * factor);
        } else {
            self.write(values, start, dst, |value| ((value - mean) - mean_low) * factor);
        }
    }

    /// Write the values of a row, beginning at `start`: each normalised by `normal`, then scaled and shifted.
    #[inline(always)]
    fn write(
        &self,
        values: &[T::Compute],
        start: usize,
        dst: &mut [T],
        normal: impl Fn(T::Compute) -> T::Compute,
    ) {
        let elements = dst.iter_mut().zip(values);
        match (&self.weight, &self.bias) {
            (None, None) => elements.for_each(|(element, &value)| *element = T::narrow(normal(value))),
            (Some(weight), None) => {
                for ((element, &value), &weight) in elements.zip(&weight[start..]) {
                    *element = T::narrow(normal(value) * weight);
                }
            }
            (None, Some(bias)) => {
                for ((element, &value), &bias) in elements.zip(&bias[start..]) {
                    *element = T::narrow(normal(value) + bias);
                }
            }
            (Some(weight), Some(bias)) => {
                for (((element, &value), &weight), &bias) in
                    elements.zip(&weight[start..]).zip(&bias[start..])
                {
                    *element = T::narrow(normal(value) * weight + bias);
                }
            }
        }
    }
}

/// Statistics of a row.
#[derive(Clone, Copy)]
struct RowStatistics<W> {
    /// The mean, rounded to the compute type, or zero.
    mean: W,
    /// The rounding error of the mean, or zero if it does not matter.
    mean_low: W,
    /// The sum of squared deviations from the mean.
    squares: f64,
}

impl<W: Compute> RowStatistics<W> {
    /// Add the rounding error of the mean, computed from the sum of deviations from the rounded mean.
    #[inline(always)]
    fn compensated(self, distances: f64, count: f64) -> RowStatistics<W> {
        let correction = distances / count;
        let squares = self.squares - distances * correction;
        // The difference of rounded squares may be slightly negative; NaN is kept.
        let squares = if squares < 0.0 { 0.0 } else { squares };
        if correction.is_finite() {
            RowStatistics { mean_low: W::nearest(correction), squares, ..self }
        } else {
            self
        }
    }
}

/// Scratch for a row.
struct RowBuffers<T: Real> {
    /// The row in the compute type.
    buffer: Buffer<T::Compute>,
    /// The result before it is written with non-temporal stores.
    stage: Aligned<[T; BLOCK]>,
}

impl<T: Real> RowBuffers<T> {
    fn new() -> RowBuffers<T> {
        RowBuffers { buffer: Buffer::default(), stage: Aligned([T::narrow(T::Compute::default()); BLOCK]) }
    }
}

/// Split a row of some length into blocks.
fn blocks(length: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(BLOCK).map(move |start| start..length.min(start + BLOCK))
}
