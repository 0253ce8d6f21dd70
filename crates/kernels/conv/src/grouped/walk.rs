//! A walk over strips of outputs, neighbours on the last axis. It finds the taps that a strip meets.
//!
//! The strip below comes before the one beside, and channels are taken in parts, so that what both strips meet of the input is
//! still in L1.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::Source;
use umber_kernels_matmul::multiply::Multiply;

use super::super::geometry::{Axis, step};
use super::Plan;

/// A tap of the kernel that meets the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Where its vectors begin, from that of the strip on.
    pub(super) input: isize,
    /// Where its weights begin.
    pub(super) weights: usize,
    /// The outputs of the strip that it meets inside the input.
    pub(super) low: usize,
    pub(super) high: usize,
}

/// For which places of a strip taps are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TapRange {
    /// For all that a strip has space for.
    Strip,
    /// For those where there are outputs.
    Outputs,
}

/// Neighbouring outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub(super) count: usize,
    /// Where the first meets the first tap: the position on the last axis, and the place in memory.
    position: isize,
    pub(super) input: isize,
    /// Where the first lies in memory.
    pub(super) output: isize,
    /// Which vectors of channels.
    pub(super) vectors: (usize, usize),
}

/// Where a walk is, and what it knows of the strip there.
pub(super) struct Walk<'a> {
    plan: &'a Plan<'a>,
    tap_range: TapRange,
    last: Axis,
    outer: &'a [Axis],
    batch: usize,
    strip: usize,
    part: usize,
    /// The row, along all axes but the last.
    row: SmallVec<[usize; 2]>,
    /// The taps on each of them that meet the input.
    tap_ranges: SmallVec<[Range<usize>; 2]>,
    /// Where the taps on these axes together lie, from the first on.
    lines: Vec<isize>,
    taps: Vec<Tap>,
    is_known: bool,
}

impl<'a> Walk<'a> {
    /// Begin at a strip.
    pub(super) fn new(plan: &'a Plan<'a>, tap_range: TapRange, index: usize) -> Walk<'a> {
        let (last, outer) = plan.geometry.axes.split_last().expect("there is a spatial axis");
        let mut row = SmallVec::from_elem(0, outer.len());
        let mut rest = index;
        let mut digit = |length: usize| {
            let digit = rest % length;
            rest /= length;
            digit
        };
        if let Some((inner, axis)) = row.last_mut().zip(outer.last()) {
            *inner = digit(axis.outputs);
        }
        let part = digit(plan.parts);
        let strip = digit(plan.strips);
        for (place, axis) in row.iter_mut().zip(outer).rev().skip(1) {
            *place = digit(axis.outputs);
        }
        Walk {
            plan,
            tap_range,
            last: *last,
            outer,
            batch: rest,
            strip,
            part,
            row,
            tap_ranges: SmallVec::from_elem(0..0, outer.len()),
            lines: Vec::new(),
            taps: Vec::new(),
            is_known: false,
        }
    }

    /// The taps that meet the input in the strip where the walk is.
    #[inline(always)]
    pub(super) fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// The strip where the walk is.
    pub(super) fn strip(&mut self) -> Strip {
        let (geometry, last) = (self.plan.geometry, &self.last);
        let mut input = geometry.input.start + self.batch as isize * geometry.input.outer;
        let mut output = geometry.output.start + self.batch as isize * geometry.output.outer;
        for ((axis, &o), met) in self.outer.iter().zip(&*self.row).zip(&mut *self.tap_ranges) {
            let at = axis.first + o as isize * axis.stride;
            input += at * axis.input_stride;
            output += o as isize * axis.output_stride;
            let now = axis.valid_taps(at);
            if *met != now {
                *met = now;
                self.is_known = false;
            }
        }
        let share =
            |total: usize, part: usize, parts: usize| (total * part / parts, total * (part + 1) / parts);
        let from = self.strip * self.plan.outputs_per_strip;
        let count = self.plan.outputs_per_strip.min(last.outputs - from);
        let position = last.first + from as isize * last.stride;
        if !self.is_known {
            let tap_range =
                if self.tap_range == TapRange::Strip { self.plan.outputs_per_strip } else { count };
            self.find(position, tap_range);
            self.is_known = true;
        }
        Strip {
            count,
            position,
            input: input + position * self.last.input_stride,
            output: output + from as isize * self.last.output_stride,
            vectors: share(self.plan.vectors, self.part, self.plan.parts),
        }
    }

    /// Go to the next strip.
    pub(super) fn advance(&mut self) {
        if let Some((inner, axis)) = self.row.last_mut().zip(self.outer.last()) {
            *inner += 1;
            if *inner < axis.outputs {
                return;
            }
            *inner = 0;
        }
        self.part += 1;
        if self.part < self.plan.parts {
            return;
        }
        self.part = 0;
        self.strip += 1;
        self.is_known = false;
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

    /// Find the taps that meet the input in a strip of `count` outputs, the first at a position of the last axis.
    fn find(&mut self, position: isize, count: usize) {
        let Plan { geometry, lanes, window, width, copies_input, .. } = *self.plan;
        let last = &self.last;
        self.lines.clear();
        self.taps.clear();
        let mut tap: SmallVec<[usize; 2]> = self.tap_ranges.iter().map(|met| met.start).collect();
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
            for (t, met) in tap.iter_mut().zip(&self.tap_ranges).rev() {
                *t += 1;
                if *t < met.end {
                    break;
                }
                *t = met.start;
            }
        }
    }

    /// Copy what the strip meets; what lies outside the input is not written, nor used.
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
    /// The taps that meet the input if the first is at a position of it.
    fn valid_taps(&self, at: isize) -> Range<usize> {
        let taps = self.taps as isize;
        if at >= 0 && at + (taps - 1) * self.dilation < self.input as isize {
            return 0..self.taps;
        }
        let until = |distance: isize| (distance.max(0) + self.dilation - 1) / self.dilation;
        let high = until(self.input as isize - at).min(taps);
        until(-at).min(high) as usize..high as usize
    }

    /// The first of `count` outputs that lies inside the input, if the first of all is at a position of it, and the first
    /// behind.
    fn inside(&self, at: isize, count: usize) -> (usize, usize) {
        let until = |distance: isize| ((distance.max(0) + self.stride - 1) / self.stride) as usize;
        let high = until(self.input as isize - at).min(count);
        (until(-at).min(high), high)
    }
}

/// Copy the channels of a position, with zeros up to the width of a vector.
#[inline(always)]
pub(super) fn copy<T: Multiply>(plan: &Plan, from: Source<T>, distance: isize, to: &mut [T::Acc]) {
    let (to, rest) = to.split_at_mut(plan.channels());
    if distance == 1 {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the caller's position has all channels.
            *to = unsafe { *from.at(i as isize) }.widen();
        }
    } else {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: as above.
            *to = unsafe { *from.at(i as isize * distance) }.widen();
        }
    }
    rest.fill(T::Acc::ZERO);
}
