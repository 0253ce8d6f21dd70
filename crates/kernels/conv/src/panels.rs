//! Panels: blocks of output channels, with their layout in packed weights and in copies of the input.

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_matmul::copy::{copy, pack};
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::Matrix;

use super::boxes::Run;
use super::geometry::Geometry;
use super::registers::Width;

/// Groups of at most this many outputs share a vector.
const NARROW: usize = 8;

/// Minimum number of weight elements for which another job pays.
const GRAIN: usize = 1 << 15;

/// Which channels of the copied input a lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelMapping {
    /// Every lane reads all channels of the copy, which belong to one group.
    All,
    /// Each lane reads the channels of its own group, which the copy holds at the position of that lane.
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
    /// Index of the first channel, counted over all groups.
    pub(super) first: usize,
    /// Number of channels.
    pub(super) channels: usize,
    /// Number of vectors; the last may be partly filled.
    pub(super) vectors: usize,
    /// Number of vectors in the panels before.
    vectors_before: usize,
}

/// All panels of a convolution: the same number for every set of channels with its own copy of the input.
pub(super) struct Panels<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) mapping: ChannelMapping,
    pub(super) lanes: usize,
    /// Number of panels that read one copy.
    pub(super) per_copy: usize,
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
                vectors_before: copy * total + from,
            }
        });
        let per_copy = if mapping == ChannelMapping::All { count } else { 1 };
        Panels { geometry, mapping, lanes, per_copy, all: all.collect() }
    }

    /// Number of copies of each box of the input.
    pub(super) fn copies(&self) -> usize {
        self.all.len() / self.per_copy
    }

    /// Number of channels of all panels, each padded to whole vectors.
    pub(super) fn padded_channels(&self) -> usize {
        self.all.last().map_or(0, |panel| panel.vectors_before + panel.vectors) * self.lanes
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

    /// Number of channels of a panel, padded to whole vectors.
    pub(super) fn width_of_outputs(&self, panel: &Panel) -> usize {
        panel.vectors * self.lanes
    }

    /// Maximum number of elements of a position.
    pub(super) fn widest(&self) -> usize {
        self.all.iter().map(|panel| self.width(panel)).max().unwrap_or(0)
    }

    /// Number of padded channels in the panels before.
    pub(super) fn start(&self, panel: &Panel) -> usize {
        panel.vectors_before * self.lanes
    }

    /// The part of `memory` that belongs to a panel, with `depth` elements for each padded channel.
    pub(super) fn slice<'m, W>(&self, panel: &Panel, depth: usize, memory: &'m [W]) -> &'m [W] {
        &memory[self.start(panel) * depth..][..self.width_of_outputs(panel) * depth]
    }

    /// Pack the weight panel by panel: the channels of a term are contiguous and padded with zeros.
    pub(super) fn pack<T: Multiply>(&self, weight: Source<T>, to: &mut [T::Acc]) {
        let Geometry { inputs, weight: weight_strides, .. } = self.geometry;
        let (taps, depth) = (self.geometry.taps(), self.geometry.depth());
        let to = Target::over(to);
        let pack_tap = |job: usize| {
            let (panel, tap) = (&self.all[job / taps], job % taps);
            let stride = self.width_of_outputs(panel);
            let offset = self.start(panel) * depth + tap * inputs * stride;
            // SAFETY: the slice of one panel and tap, which only this job writes.
            let packed = unsafe { std::slice::from_raw_parts_mut(to.at(offset as isize), inputs * stride) };
            if panel.channels < stride {
                packed.fill(T::Acc::ZERO);
            }
            let start = weight.at(self.geometry.weight_of(tap) + panel.first as isize * weight_strides.outer);
            let from = Matrix { start, rows: weight_strides.channel, columns: weight_strides.outer };
            if T::DIRECT {
                let from = Matrix { start: from.start.cast(), rows: from.rows, columns: from.columns };
                copy(from, *inputs, panel.channels, packed, stride);
            } else {
                pack(from, *inputs, panel.channels, packed, stride, T::widen);
            }
        };
        let grain = GRAIN / (inputs * self.lanes).max(1);
        parallel_ranges(self.all.len() * taps, grain, |range| range.for_each(pack_tap));
    }

    /// Copy some positions of the input for a panel.
    #[inline(always)]
    pub(super) fn copy<T: Multiply>(&self, panel: &Panel, input: Source<T>, run: &Run, to: &mut [T::Acc]) {
        let Geometry { inputs, outputs, input: input_strides, .. } = *self.geometry;
        let first = panel.first / outputs * inputs;
        let run = Run { offset: run.offset + first as isize * input_strides.channel, stride: run.stride };
        match self.mapping {
            ChannelMapping::All => self.copy_channels(inputs, inputs, input, &run, to),
            ChannelMapping::Own if inputs == 1 && outputs == 1 => {
                self.copy_channels(panel.channels, self.term(panel), input, &run, to);
            }
            ChannelMapping::Own => self.copy_groups(panel, input, &run, to),
        }
    }

    /// Copy `count` channels of some positions, padded with zeros to `width`.
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
            let (to, padding) = to.split_at_mut(count);
            let at = i as isize * run.stride;
            if channel == 1 {
                // SAFETY: a position of the input, whose channels are dense.
                let from = unsafe { std::slice::from_raw_parts(input.at(at), count) };
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen());
            } else {
                for (c, to) in to.iter_mut().enumerate() {
                    // SAFETY: a channel of a position of the input.
                    *to = unsafe { *input.at(at + c as isize * channel) }.widen();
                }
            }
            padding.fill(T::Acc::ZERO);
        }
    }

    /// Copy the channels of the groups of some positions, and repeat each for all outputs of its group.
    #[inline(always)]
    fn copy_groups<T: Multiply>(&self, panel: &Panel, input: Source<T>, run: &Run, to: &mut [T::Acc]) {
        let Geometry { inputs, outputs, input: input_strides, .. } = *self.geometry;
        let term = self.term(panel);
        let group = inputs as isize * input_strides.channel;
        // Outputs of the first group that belong to the previous panel.
        let skipped = panel.first % outputs;
        let has_whole_groups = skipped == 0 && panel.channels.is_multiple_of(outputs);
        for (i, to) in to.chunks_exact_mut(inputs * term).enumerate() {
            let input = input.shifted(run.offset + i as isize * run.stride);
            for (c, to) in to.chunks_exact_mut(term).enumerate() {
                let input = input.shifted(c as isize * input_strides.channel);
                let (to, padding) = to.split_at_mut(panel.channels);
                padding.fill(T::Acc::ZERO);
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
                            // SAFETY: a channel of a position of the input.
                            *to = unsafe { *input.at(at) }.widen();
                            left -= 1;
                        }
                    }
                }
            }
        }
    }

    /// Store a panel's sums to the weight's layout, term by term.
    pub(super) fn store<T: Multiply>(&self, panel: &Panel, sums: &[T::Acc], target: Target<T>) {
        let Geometry { inputs, weight: weight_strides, .. } = *self.geometry;
        let stride = self.width_of_outputs(panel);
        for (tap, sums) in sums.chunks_exact(inputs * stride).enumerate() {
            let tap_offset = self.geometry.weight_of(tap) + panel.first as isize * weight_strides.outer;
            let from = Matrix { start: sums.as_ptr(), rows: 1, columns: stride as isize };
            for o in 0..panel.channels {
                for i in 0..inputs {
                    let at =
                        tap_offset + o as isize * weight_strides.outer + i as isize * weight_strides.channel;
                    // SAFETY: inside the output, an element that belongs to this panel only.
                    unsafe { *target.at(at) = T::narrow(*from.at(o, i)) };
                }
            }
        }
    }
}

/// Copy elements that are `distance` apart, each `N` times.
#[inline(always)]
fn repeat_channels<T: Multiply, const N: usize>(from: Source<T>, distance: isize, to: &mut [T::Acc]) {
    for (i, to) in to.chunks_exact_mut(N).enumerate() {
        // SAFETY: the caller passes a run inside the input.
        to.fill(unsafe { *from.at(i as isize * distance) }.widen());
    }
}
