//! The output's channels in panels, and where they lie in packed weights and in copies of the input.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_matmul::copy::{copy, pack};
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::Matrix;

use super::boxes::Run;
use super::geometry::Geometry;
use super::registers::Width;

/// Groups of at most this many outputs lie side by side in a vector.
const NARROW: usize = 8;

/// Elements of the weight that are worth a job of their own.
const GRAIN: usize = 1 << 15;

/// Which channels of the input those of a vector meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelMapping {
    /// Every one all of those in a copy.
    All,
    /// Each its own: the copy has the channels of each one's group at its place.
    Own,
}

impl ChannelMapping {
    pub(super) fn of(geometry: &Geometry) -> ChannelMapping {
        if geometry.groups > 1 && geometry.outputs <= NARROW {
            ChannelMapping::Own
        } else {
            ChannelMapping::All
        }
    }
}

/// Output channels that are computed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel {
    /// The first of them, counted through all groups.
    pub(super) first: usize,
    /// How many there are.
    pub(super) channels: usize,
    /// How many vectors they fill, the last perhaps in part.
    pub(super) vectors: usize,
    /// Vectors of the panels before.
    before: usize,
}

/// All panels of a convolution: as many for every part of the channels that has a copy of the input of its own.
pub(super) struct Panels<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) mapping: ChannelMapping,
    pub(super) lanes: usize,
    /// How many panels read one copy.
    pub(super) sharing: usize,
    pub(super) all: Vec<Panel>,
}

impl<'a> Panels<'a> {
    pub(super) fn new<T: Multiply>(geometry: &'a Geometry) -> Panels<'a> {
        let (mapping, Width { lanes, vectors }) = (ChannelMapping::of(geometry), Width::of::<T::Acc>());
        let (copies, channels) = match mapping {
            ChannelMapping::All => (geometry.groups, geometry.outputs),
            ChannelMapping::Own => (1, geometry.groups * geometry.outputs),
        };
        let total = channels.div_ceil(lanes);
        let count = total.div_ceil(vectors);
        let all = (0..copies * count).map(|i| {
            let (copy, panel) = (i / count, i % count);
            let (from, to) = (total * panel / count, total * (panel + 1) / count);
            Panel {
                first: copy * channels + from * lanes,
                channels: channels.min(to * lanes) - from * lanes,
                vectors: to - from,
                before: copy * total + from,
            }
        });
        let sharing = if mapping == ChannelMapping::All { count } else { 1 };
        Panels { geometry, mapping, lanes, sharing, all: all.collect() }
    }

    /// How many copies of each box of the input there are.
    pub(super) fn copies(&self) -> usize {
        self.all.len() / self.sharing
    }

    /// Places of the channels of all panels.
    pub(super) fn lanes(&self) -> usize {
        self.all.last().map_or(0, |panel| panel.before + panel.vectors) * self.lanes
    }

    /// Elements between the terms of a position in a panel's copy.
    pub(super) fn term(&self, panel: &Panel) -> usize {
        match self.mapping {
            ChannelMapping::All => 1,
            ChannelMapping::Own => self.width_of_outputs(panel),
        }
    }

    /// Elements of a position in a panel's copy.
    pub(super) fn width(&self, panel: &Panel) -> usize {
        self.geometry.inputs * self.term(panel)
    }

    /// Places of a panel's channels.
    pub(super) fn width_of_outputs(&self, panel: &Panel) -> usize {
        panel.vectors * self.lanes
    }

    /// Elements of a position at most.
    pub(super) fn widest(&self) -> usize {
        self.all.iter().map(|panel| self.width(panel)).max().unwrap_or(0)
    }

    /// Places of the channels of the panels before.
    pub(super) fn start(&self, panel: &Panel) -> usize {
        panel.before * self.lanes
    }

    /// The part of a panel in memory that has `depth` elements for each place of a channel.
    pub(super) fn part<'m, W>(&self, panel: &Panel, depth: usize, memory: &'m [W]) -> &'m [W] {
        &memory[self.start(panel) * depth..][..self.width_of_outputs(panel) * depth]
    }

    /// Write the weight, panel after panel: for each term of the kernel the channels side by side, zeros after the last.
    pub(super) fn pack<T: Multiply>(&self, weight: Source<T>, to: &mut [T::Acc]) {
        let Geometry { inputs, weight: ends, .. } = self.geometry;
        let (taps, depth) = (self.geometry.taps(), self.geometry.depth());
        let to = Target::over(to);
        let part = |job: usize| {
            let (panel, tap) = (&self.all[job / taps], job % taps);
            let stride = self.width_of_outputs(panel);
            let offset = self.start(panel) * depth + tap * inputs * stride;
            // SAFETY: the part of a panel and a tap, which this job alone writes.
            let part = unsafe { std::slice::from_raw_parts_mut(to.at(offset as isize), inputs * stride) };
            if panel.channels < stride {
                part.fill(T::Acc::ZERO);
            }
            let start = weight.at(self.geometry.weight_of(tap) + panel.first as isize * ends.outer);
            let from = Matrix { start, rows: ends.channel, columns: ends.outer };
            if T::DIRECT {
                let from = Matrix { start: from.start.cast(), rows: from.rows, columns: from.columns };
                copy(from, *inputs, panel.channels, part, stride);
            } else {
                pack(from, *inputs, panel.channels, part, stride, T::widen);
            }
        };
        let grain = GRAIN / (inputs * self.lanes).max(1);
        parallel_ranges(self.all.len() * taps, grain, |range| range.for_each(part));
    }

    /// Copy some positions of the input for a panel.
    #[inline(always)]
    pub(super) fn copy<T: Multiply>(&self, panel: &Panel, input: Source<T>, run: &Run, to: &mut [T::Acc]) {
        let Geometry { inputs, outputs, input: ends, .. } = *self.geometry;
        let first = panel.first / outputs * inputs;
        let run = Run { offset: run.offset + first as isize * ends.channel, stride: run.stride };
        match self.mapping {
            ChannelMapping::All => self.copy_channels(inputs, inputs, input, &run, to),
            ChannelMapping::Own if inputs == 1 && outputs == 1 => {
                self.copy_channels(panel.channels, self.term(panel), input, &run, to);
            }
            ChannelMapping::Own => self.copy_groups(panel, input, &run, to),
        }
    }

    /// Copy `count` channels of some positions as they are, with zeros up to `width`.
    #[inline(always)]
    pub(super) fn copy_channels<T: Multiply>(
        &self,
        count: usize,
        width: usize,
        input: Source<T>,
        run: &Run,
        to: &mut [T::Acc],
    ) {
        let channel = self.geometry.input.channel;
        let input = input.shifted(run.offset);
        if channel == 1 && run.stride == width as isize && count == width {
            // SAFETY: the run lies inside the input.
            let from = unsafe { std::slice::from_raw_parts(input.at(0), to.len()) };
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen());
            return;
        }
        for (i, to) in to.chunks_exact_mut(width).enumerate() {
            let (to, rest) = to.split_at_mut(count);
            let at = i as isize * run.stride;
            if channel == 1 {
                // SAFETY: a position of the input, whose channels are dense.
                let from = unsafe { std::slice::from_raw_parts(input.at(at), count) };
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen());
            } else {
                for (c, to) in to.iter_mut().enumerate() {
                    // SAFETY: as above.
                    *to = unsafe { *input.at(at + c as isize * channel) }.widen();
                }
            }
            rest.fill(T::Acc::ZERO);
        }
    }

    /// Copy the channels of the groups of some positions, each to all outputs of its group.
    #[inline(always)]
    fn copy_groups<T: Multiply>(&self, panel: &Panel, input: Source<T>, run: &Run, to: &mut [T::Acc]) {
        let Geometry { inputs, outputs, input: ends, .. } = *self.geometry;
        let term = self.term(panel);
        let group = inputs as isize * ends.channel;
        // Outputs of the first group before the panel.
        let skipped = panel.first % outputs;
        let has_whole_groups = skipped == 0 && panel.channels.is_multiple_of(outputs);
        for (i, to) in to.chunks_exact_mut(inputs * term).enumerate() {
            let input = input.shifted(run.offset + i as isize * run.stride);
            for (c, to) in to.chunks_exact_mut(term).enumerate() {
                let input = input.shifted(c as isize * ends.channel);
                let (to, rest) = to.split_at_mut(panel.channels);
                rest.fill(T::Acc::ZERO);
                match (has_whole_groups, outputs) {
                    (true, 1) => repeat_channels::<T, 1>(input, group, to),
                    (true, 2) => repeat_channels::<T, 2>(input, group, to),
                    (true, 4) => repeat_channels::<T, 4>(input, group, to),
                    (true, 8) => repeat_channels::<T, 8>(input, group, to),
                    _ => {
                        let (mut left, mut at) = (outputs - skipped, 0);
                        for to in to {
                            if left == 0 {
                                (left, at) = (outputs, at + group);
                            }
                            // SAFETY: inside the input.
                            *to = unsafe { *input.at(at) }.widen();
                            left -= 1;
                        }
                    }
                }
            }
        }
    }

    /// Write a panel's sums, term by term, where the weight has them.
    pub(super) fn store<T: Multiply>(&self, panel: &Panel, sums: &[T::Acc], target: Target<T>) {
        let Geometry { inputs, weight: ends, .. } = *self.geometry;
        let stride = self.width_of_outputs(panel);
        for (tap, sums) in sums.chunks_exact(inputs * stride).enumerate() {
            let place = self.geometry.weight_of(tap) + panel.first as isize * ends.outer;
            let from = Matrix { start: sums.as_ptr(), rows: 1, columns: stride as isize };
            for o in 0..panel.channels {
                for i in 0..inputs {
                    let at = place + o as isize * ends.outer + i as isize * ends.channel;
                    // SAFETY: inside the output, an element of this panel alone.
                    unsafe { *target.at(at) = T::narrow(*from.at(o, i)) };
                }
            }
        }
    }
}

/// Copy numbers that are `distance` apart, each `N` times.
#[inline(always)]
fn repeat_channels<T: Multiply, const N: usize>(from: Source<T>, distance: isize, to: &mut [T::Acc]) {
    for (i, to) in to.chunks_exact_mut(N).enumerate() {
        // SAFETY: the caller copies from inside the input.
        to.fill(unsafe { *from.at(i as isize * distance) }.widen());
    }
}
