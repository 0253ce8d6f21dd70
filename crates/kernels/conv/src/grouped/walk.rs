//! Iteration over strips of outputs, which are neighbours on the last axis, with the taps that are valid for each strip.
//!
//! After a strip comes the one in the next row, not the next one in the same row, and the channels are processed in chunks:
//! so the input that both strips read is still in L1.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::Source;
use umber_kernels_matmul::multiply::Multiply;

use super::super::geometry::{Axis, step};
use super::Plan;

/// A tap of the kernel that reads inside the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Offset of its vectors from the strip's first.
    pub(super) input: isize,
    /// Offset of its weights.
    pub(super) weights: usize,
    /// Range of the strip's outputs for which it reads inside the input.
    pub(super) low: usize,
    pub(super) high: usize,
}

/// The outputs of a strip for which valid taps are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TapRange {
    /// All that a full strip has, so that the loop without bounds checks applies at its end, too.
    Strip,
    /// Only those that exist.
    Outputs,
}

/// A strip of neighbouring outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub(super) count: usize,
    /// Where the first output's first tap reads: the position on the last axis, and the offset in memory.
    position: isize,
    pub(super) input: isize,
    /// Offset of the first output in memory.
    pub(super) output: isize,
    /// Range of vectors of channels.
    pub(super) vectors: (usize, usize),
}

/// State of the iteration, with the valid taps of the current strip.
pub(super) struct Walk<'a> {
    plan: &'a Plan<'a>,
    tap_range: TapRange,
    last: Axis,
    outer: &'a [Axis],
    batch: usize,
    strip: usize,
    channel_chunk: usize,
    /// The row: an index on every axis but the last.
    row: SmallVec<[usize; 2]>,
    /// Range of valid taps on each of these axes.
    tap_ranges: SmallVec<[Range<usize>; 2]>,
    /// Offset of each combination of taps on these axes from the first.
    lines: Vec<isize>,
    taps: Vec<Tap>,
    taps_are_current: bool,
}

impl<'a> Walk<'a> {
    /// Start at strip number `index`.
    pub(super) fn new(plan: &'a Plan<'a>, tap_range: TapRange, index: usize) -> Walk<'a> {
        let (last, outer) = plan.geometry.axes.split_last().expect("there is a spatial axis");
        let mut row = SmallVec::from_elem(0, outer.len());
        let mut remaining = index;
        let mut digit = |length: usize| {
            let digit = remaining % length;
            remaining /= length;
            digit
        };
        if let Some((inner, axis)) = row.last_mut().zip(outer.last()) {
            *inner = digit(axis.outputs);
        }
        let channel_chunk = digit(plan.channel_chunks);
        let strip = digit(plan.strips);
        for (index, axis) in row.iter_mut().zip(outer).rev().skip(1) {
            *index = digit(axis.outputs);
        }
        Walk {
            plan,
            tap_range,
            last: *last,
            outer,
            batch: remaining,
            strip,
            channel_chunk,
            row,
            tap_ranges: SmallVec::from_elem(0..0, outer.len()),
            lines: Vec::new(),
            taps: Vec::new(),
            taps_are_current: false,
        }
    }

    /// The valid taps of the current strip.
    #[inline(always)]
    pub(super) fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// The current strip.
    pub(super) fn strip(&mut self) -> Strip {
        let (geometry, last) = (self.plan.geometry, &self.last);
        let mut input = geometry.input.start + self.batch as isize * geometry.input.outer;
        let mut output = geometry.output.start + self.batch as isize * geometry.output.outer;
        for ((axis, &o), range) in self.outer.iter().zip(&*self.row).zip(&mut *self.tap_ranges) {
            let at = axis.first + o as isize * axis.stride;
            input += at * axis.input_stride;
            output += o as isize * axis.output_stride;
            let valid = axis.valid_taps(at);
            if *range != valid {
                *range = valid;
                self.taps_are_current = false;
            }
        }
        let share = |total: usize, chunk: usize, chunks: usize| {
            (total * chunk / chunks, total * (chunk + 1) / chunks)
        };
        let from = self.strip * self.plan.outputs_per_strip;
        let count = self.plan.outputs_per_strip.min(last.outputs - from);
        let position = last.first + from as isize * last.stride;
        if !self.taps_are_current {
            let tap_range =
                if self.tap_range == TapRange::Strip { self.plan.outputs_per_strip } else { count };
            self.find(position, tap_range);
            self.taps_are_current = true;
        }
        Strip {
            count,
            position,
            input: input + position * self.last.input_stride,
            output: output + from as isize * self.last.output_stride,
            vectors: share(self.plan.vectors, self.channel_chunk, self.plan.channel_chunks),
        }
    }

    /// Advance to the next strip.
    pub(super) fn advance(&mut self) {
        if let Some((inner, axis)) = self.row.last_mut().zip(self.outer.last()) {
            *inner += 1;
            if *inner < axis.outputs {
                return;
            }
            *inner = 0;
        }
        self.channel_chunk += 1;
        if self.channel_chunk < self.plan.channel_chunks {
            return;
        }
        self.channel_chunk = 0;
        self.strip += 1;
        self.taps_are_current = false;
        if self.strip < self.plan.strips {
            return;
        }
        self.strip = 0;
        let Some((_, outer)) = self.outer.split_last() else {
            self.batch += 1;
            return;
        };
        if step(&mut self.row[..outer.len()], outer.iter().map(|axis| axis.outputs)) {
            self.batch += 1;
        }
    }

    /// Determine the valid taps for a strip of `count` outputs, whose first is at `position` on the last axis.
    fn find(&mut self, position: isize, count: usize) {
        let Plan { geometry, lanes, window, width, copies_input, .. } = *self.plan;
        let last = &self.last;
        self.lines.clear();
        self.taps.clear();
        let mut tap: SmallVec<[usize; 2]> = self.tap_ranges.iter().map(|range| range.start).collect();
        for _ in 0..self.tap_ranges.iter().map(ExactSizeIterator::len).product() {
            let (mut offset, mut number) = (0, 0);
            for (axis, &t) in self.outer.iter().zip(&tap) {
                offset += t as isize * axis.dilation * axis.input_stride;
                number = number * axis.taps + t;
            }
            for t in 0..last.taps {
                let along = t as isize * last.dilation;
                let input = if copies_input {
                    ((self.lines.len() * window) as isize + along) * width as isize
                } else {
                    offset + along * last.input_stride
                };
                let at = position + along;
                let (low, high) = match self.taps.get(t) {
                    Some(tap) => (tap.low, tap.high),
                    None => last.inside(at, count),
                };
                let weights = (number * last.taps + t) * geometry.inputs * lanes;
                self.taps.push(Tap { input, weights, low, high });
            }
            self.lines.push(offset);
            for (t, range) in tap.iter_mut().zip(&self.tap_ranges).rev() {
                *t += 1;
                if *t < range.end {
                    break;
                }
                *t = range.start;
            }
        }
    }

    /// Copy the input of the strip. Padding is neither written nor read.
    #[inline(always)]
    pub(super) fn stage<T: Multiply>(&self, strip: Strip, input: Source<T>, to: &mut [T::Acc]) {
        let (plan, last, first) = (self.plan, &self.last, strip.position);
        let window = plan.window as isize;
        let low = (-first).clamp(0, window);
        let high = (last.input as isize - first).clamp(low, window);
        for (&line, to) in self.lines.iter().zip(to.chunks_exact_mut(plan.window * plan.width)) {
            for (i, to) in to.chunks_exact_mut(plan.width).enumerate().take(high as usize).skip(low as usize)
            {
                let from = strip.input + line + i as isize * last.input_stride;
                copy(plan, input.shifted(from), plan.geometry.input.channel, to);
            }
        }
    }
}

impl Axis {
    /// The taps that read inside the input, if the first reads position `at`.
    fn valid_taps(&self, at: isize) -> Range<usize> {
        let taps = self.taps as isize;
        if at >= 0 && at + (taps - 1) * self.dilation < self.input as isize {
            return 0..self.taps;
        }
        let until = |distance: isize| (distance.max(0) + self.dilation - 1) / self.dilation;
        let high = until(self.input as isize - at).min(taps);
        until(-at).min(high) as usize..high as usize
    }

    /// Range of the outputs, out of `count`, that read inside the input, if the first reads position `at`.
    fn inside(&self, at: isize, count: usize) -> (usize, usize) {
        let until = |distance: isize| ((distance.max(0) + self.stride - 1) / self.stride) as usize;
        let high = until(self.input as isize - at).min(count);
        (until(-at).min(high), high)
    }
}

/// Copy the channels of a position, padded with zeros to the width of a vector.
#[inline(always)]
pub(super) fn copy<T: Multiply>(plan: &Plan, from: Source<T>, distance: isize, to: &mut [T::Acc]) {
    let (to, padding) = to.split_at_mut(plan.channels());
    if distance == 1 {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the caller passes a position with all channels.
            *to = unsafe { *from.at(i as isize) }.widen();
        }
    } else {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: a channel of the caller's position.
            *to = unsafe { *from.at(i as isize * distance) }.widen();
        }
    }
    padding.fill(T::Acc::ZERO);
}
