//! Convolutions that keep channels apart: every output channel looks at one input channel. Neighbouring channels are
//! computed side by side, a tap after the other.

use std::ops::Range;

use smallvec::SmallVec;

use super::geometry::{Digits, Geometry, Row, step};
use super::products::worthy_threads;
use crate::isa::vectorised;
use crate::matmul::lanes::Ring;
use crate::matmul::multiply::Multiply;
use crate::matmul::scratch;
use crate::shared::{Source, Target};
use crate::threads::parallel_for;

/// Bytes of sums worked on together: they stay in the first cache.
const BLOCK: usize = 16 << 10;

/// Is it of this kind?
pub(super) fn applies(geometry: &Geometry) -> bool {
    geometry.inputs == 1 && geometry.groups > 1 && geometry.input.channel == 1
}

/// The outputs cut into pieces of a line along the last axis.
struct Pieces<'a> {
    geometry: &'a Geometry,
    /// Outputs of a piece.
    length: usize,
    /// Pieces of a line.
    across: usize,
}

impl<'a> Pieces<'a> {
    fn new<T: Multiply>(geometry: &'a Geometry) -> Pieces<'a> {
        let channels = geometry.groups * geometry.outputs;
        let outputs = geometry.axes[geometry.axes.len() - 1].outputs;
        let length = (BLOCK / (channels * size_of::<T::Wide>())).clamp(1, 256).min(outputs);
        Pieces { geometry, length, across: outputs.div_ceil(length) }
    }

    fn count(&self) -> usize {
        let last = &self.geometry.axes[self.geometry.axes.len() - 1];
        self.geometry.rows() / last.outputs * self.across
    }

    /// The first row of a piece, and its outputs along the last axis.
    fn piece(&self, index: usize) -> (Row, Range<usize>) {
        let last = self.geometry.axes[self.geometry.axes.len() - 1].outputs;
        let from = index % self.across * self.length;
        (self.geometry.row(index / self.across * last + from), from..last.min(from + self.length))
    }

    /// Call `body` with each tap that meets the input somewhere, where the input lies for output zero, and the
    /// outputs that it meets.
    #[inline(always)]
    fn taps(&self, row: &Row, outputs: &Range<usize>, mut body: impl FnMut(usize, isize, Range<usize>)) {
        let axes = &self.geometry.axes;
        let (last, outer) = axes.split_last().expect("there is a spatial axis");
        let mut digits: Digits = SmallVec::from_elem(0, outer.len());
        let base = self.geometry.input.start + row.batch as isize * self.geometry.input.outer;
        let mut first_tap = 0;
        loop {
            let mut offset = Some(base);
            for ((&t, &o), axis) in digits.iter().zip(&row.place).zip(outer) {
                let at = axis.first + o as isize * axis.stride + t as isize * axis.dilation;
                let inside = at >= 0 && at < axis.input as isize;
                offset = offset.filter(|_| inside).map(|offset| offset + at * axis.input_stride);
            }
            for t in 0..if offset.is_some() { last.taps } else { 0 } {
                let zero = last.first + t as isize * last.dilation;
                // The outputs `o` with `0 <= zero + o * stride < input`.
                let from = (-zero).max(0).unsigned_abs().div_ceil(last.stride.unsigned_abs());
                let to =
                    (last.input as isize - zero).max(0).unsigned_abs().div_ceil(last.stride.unsigned_abs());
                let met = from.max(outputs.start)..to.min(outputs.end);
                if !met.is_empty() {
                    body(first_tap + t, offset.unwrap_or(0) + zero * last.input_stride, met);
                }
            }
            first_tap += last.taps;
            if step(&mut digits, outer.iter().map(|axis| axis.taps)) {
                return;
            }
        }
    }
}

/// Compute the convolution.
pub(super) fn forward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    weight: Source<T>,
    output: Target<T>,
) {
    let channels = geometry.groups * geometry.outputs;
    let last = geometry.axes[geometry.axes.len() - 1];
    let pieces = Pieces::new::<T>(geometry);
    scratch::with(geometry.taps() * channels, |weights: &mut [T::Wide]| {
        for (tap, line) in weights.chunks_exact_mut(channels).enumerate() {
            let place = geometry.weight_of(tap);
            for (i, to) in line.iter_mut().enumerate() {
                // SAFETY: inside the weight.
                *to = unsafe { *weight.at(place + i as isize * geometry.weight.outer) }.widen();
            }
        }
        let weights = &*weights;
        in_parts::<T>(geometry, pieces.count(), |_, range| {
            scratch::with(pieces.length * channels, |sums: &mut [T::Wide]| {
                for index in range {
                    let (row, outputs) = pieces.piece(index);
                    sums.fill(T::Wide::ZERO);
                    vectorised(
                        #[inline(always)]
                        || {
                            pieces.taps(&row, &outputs, |tap, zero, met| {
                                let weights = &weights[tap * channels..][..channels];
                                for o in met {
                                    let at = zero + o as isize * last.stride * last.input_stride;
                                    // SAFETY: the output meets the tap inside the input, which has as many channels.
                                    let values =
                                        unsafe { std::slice::from_raw_parts(input.at(at), geometry.groups) };
                                    let sums = &mut sums[(o - outputs.start) * channels..][..channels];
                                    add(sums, values, weights, geometry.outputs);
                                }
                            });
                        },
                    );
                    let first = geometry.output_of(&row);
                    for (o, sums) in sums.chunks_exact(channels).take(outputs.len()).enumerate() {
                        let at = first + o as isize * last.output_stride;
                        for (i, &sum) in sums.iter().enumerate() {
                            // SAFETY: inside the output, in a piece of this part alone.
                            unsafe { *output.at(at + i as isize * geometry.output.channel) = T::narrow(sum) };
                        }
                    }
                }
            });
        });
    });
}

/// `sums[i] += values[i / factor] * weights[i]`.
#[inline(always)]
fn add<T: Multiply>(sums: &mut [T::Wide], values: &[T], weights: &[T::Wide], factor: usize) {
    if factor == 1 {
        for ((sum, &value), &weight) in sums.iter_mut().zip(values).zip(weights) {
            *sum = T::Wide::add_product::<false>(*sum, value.widen(), weight);
        }
    } else {
        let lines = sums.chunks_exact_mut(factor).zip(weights.chunks_exact(factor));
        for ((sums, weights), &value) in lines.zip(values) {
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum = T::Wide::add_product::<false>(*sum, value.widen(), weight);
            }
        }
    }
}

/// Compute the derivative by the weight; the channels of the cotangent are next to each other.
pub(super) fn backward<T: Multiply>(
    geometry: &Geometry,
    input: Source<T>,
    cotangent: Source<T>,
    target: Target<T>,
) {
    let channels = geometry.groups * geometry.outputs;
    let last = geometry.axes[geometry.axes.len() - 1];
    let (pieces, size) = (Pieces::new::<T>(geometry), geometry.taps() * channels);
    let parts = part_count::<T>(geometry, pieces.count());
    scratch::with(parts * size, |all: &mut [T::Wide]| {
        all.fill(T::Wide::ZERO);
        let sums = Target::over(all);
        in_parts::<T>(geometry, pieces.count(), |part, range| {
            // SAFETY: each part has sums of its own.
            let sums = unsafe { std::slice::from_raw_parts_mut(sums.at((part * size) as isize), size) };
            for index in range {
                let (row, outputs) = pieces.piece(index);
                let first = geometry.output_of(&row) - outputs.start as isize * last.output_stride;
                vectorised(
                    #[inline(always)]
                    || {
                        pieces.taps(&row, &outputs, |tap, zero, met| {
                            let sums = &mut sums[tap * channels..][..channels];
                            for o in met {
                                let at = zero + o as isize * last.stride * last.input_stride;
                                let from = first + o as isize * last.output_stride;
                                // SAFETY: inside the input and the cotangent, whose channels are dense.
                                let (values, factors) = unsafe {
                                    (
                                        std::slice::from_raw_parts(input.at(at), geometry.groups),
                                        std::slice::from_raw_parts(cotangent.at(from), channels),
                                    )
                                };
                                add_by(sums, values, factors, geometry.outputs);
                            }
                        });
                    },
                );
            }
        });
        // Sums lie tap by tap; the weight is asked for channel by channel.
        for tap in 0..geometry.taps() {
            let place = geometry.weight_of(tap);
            for i in 0..channels {
                let parts = all.chunks_exact(size).map(|part| part[tap * channels + i]);
                let sum = parts.reduce(T::Wide::plus).unwrap_or(T::Wide::ZERO);
                // SAFETY: inside the output, which no other thread writes now.
                unsafe { *target.at(place + i as isize * geometry.weight.outer) = T::narrow(sum) };
            }
        }
    });
}

/// `sums[i] += values[i / factor] * factors[i]`.
#[inline(always)]
fn add_by<T: Multiply>(sums: &mut [T::Wide], values: &[T], factors: &[T], factor: usize) {
    if factor == 1 {
        for ((sum, &value), &by) in sums.iter_mut().zip(values).zip(factors) {
            *sum = T::Wide::add_product::<false>(*sum, value.widen(), by.widen());
        }
    } else {
        for (i, (sum, &by)) in sums.iter_mut().zip(factors).enumerate() {
            *sum = T::Wide::add_product::<false>(*sum, values[i / factor].widen(), by.widen());
        }
    }
}

/// How many parts the pieces are cut into.
fn part_count<T: Multiply>(geometry: &Geometry, pieces: usize) -> usize {
    let work = geometry.rows() as f64 * (geometry.taps() * geometry.groups * geometry.outputs) as f64;
    // These loops wait for the caches: they are slower than products by a factor.
    worthy_threads::<T>(work * 8.0).min(pieces)
}

/// Call `body` with each part's number and its pieces, on many threads.
fn in_parts<T: Multiply>(geometry: &Geometry, pieces: usize, body: impl Fn(usize, Range<usize>) + Sync) {
    let parts = part_count::<T>(geometry, pieces);
    parallel_for(parts, |part| body(part, pieces * part / parts..pieces * (part + 1) / parts));
}
