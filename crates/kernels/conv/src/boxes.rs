//! Boxes of outputs, and dense copies of the input that a box reads, padding included.

use smallvec::SmallVec;
use umber_kernels_base::shared::Source;

use super::geometry::{Axis, Geometry, step};

/// A number for the batch and each spatial axis.
pub(super) type SpatialIndex = SmallVec<[usize; 4]>;

/// The outputs of a convolution, split into boxes.
pub(super) struct Boxes<'a> {
    geometry: &'a Geometry,
    lengths: SpatialIndex,
}

/// A box of outputs: its start and its length in the batch and along each spatial axis.
pub(super) struct OutputBox<'a> {
    geometry: &'a Geometry,
    pub(super) starts: SpatialIndex,
    pub(super) lengths: SpatialIndex,
}

/// One output of a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// Position of its first tap in the copy.
    pub(super) position: usize,
    /// Offset in memory, in its first channel.
    pub(super) offset: isize,
}

/// Consecutive positions of the input.
pub(super) struct Run {
    /// Offset of the first position.
    pub(super) offset: isize,
    /// Stride between positions.
    pub(super) stride: isize,
}

impl Axis {
    /// Number of positions from the first tap to the last.
    fn kernel_extent(&self) -> usize {
        (self.taps - 1) * self.dilation.unsigned_abs() + 1
    }

    /// Distance between neighbouring outputs in the copy. Positions that no tap reads are not copied.
    #[inline]
    fn step(&self) -> usize {
        self.stride.unsigned_abs().min(self.kernel_extent())
    }

    /// Number of positions that this many outputs read.
    fn extent(&self, outputs: usize) -> usize {
        (outputs - 1) * self.step() + self.kernel_extent()
    }
}

impl<'a> Boxes<'a> {
    /// Halve boxes until their copies have at most `max_positions` positions, if possible, and until there are `target_count`
    /// boxes, but do not split boxes of fewer than `2 * min_outputs` outputs for the latter.
    pub(super) fn new(
        geometry: &'a Geometry,
        max_positions: usize,
        (target_count, min_outputs): (usize, usize),
    ) -> Boxes<'a> {
        let lengths = std::iter::once(geometry.batch).chain(geometry.axes.iter().map(|axis| axis.outputs));
        let mut boxes = Boxes { geometry, lengths: lengths.collect() };
        while boxes.positions() > max_positions
            || (boxes.count() < target_count && boxes.outputs() >= 2 * min_outputs)
        {
            let Some(length) = boxes.lengths.iter_mut().find(|length| **length > 1) else { break };
            *length = length.div_ceil(2);
        }
        boxes
    }

    /// Number of boxes.
    pub(super) fn count(&self) -> usize {
        self.counts().product()
    }

    /// Maximum number of outputs in a box.
    pub(super) fn outputs(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Maximum number of positions in the copy for a box.
    pub(super) fn positions(&self) -> usize {
        self.lengths[0] * self.extents(&self.lengths).product::<usize>()
    }

    /// Whether most positions of a copy are read by some output.
    pub(super) fn are_dense(&self) -> bool {
        self.positions() <= 4 * self.outputs() * self.geometry.taps()
    }

    /// Box number `index`.
    pub(super) fn output_box(&self, index: usize) -> OutputBox<'a> {
        let (mut remaining, mut starts, mut lengths) = (index, self.lengths.clone(), self.lengths.clone());
        let totals = std::iter::once(self.geometry.batch).chain(self.geometry.axes.iter().map(|a| a.outputs));
        let counts: SpatialIndex = self.counts().collect();
        for (i, total) in totals.enumerate().collect::<SmallVec<[_; 4]>>().into_iter().rev() {
            starts[i] = remaining % counts[i] * self.lengths[i];
            lengths[i] = self.lengths[i].min(total - starts[i]);
            remaining /= counts[i];
        }
        OutputBox { geometry: self.geometry, starts, lengths }
    }

    fn counts(&self) -> impl Iterator<Item = usize> {
        let totals = std::iter::once(self.geometry.batch).chain(self.geometry.axes.iter().map(|a| a.outputs));
        totals.zip(&self.lengths).map(|(total, &length)| total.div_ceil(length))
    }

    fn extents(&self, lengths: &[usize]) -> impl Iterator<Item = usize> {
        self.geometry.axes.iter().zip(&lengths[1..]).map(|(axis, &length)| axis.extent(length))
    }
}

impl OutputBox<'_> {
    /// Number of positions of the copy along each spatial axis.
    fn extents(&self) -> SpatialIndex {
        self.geometry.axes.iter().zip(&self.lengths[1..]).map(|(axis, &length)| axis.extent(length)).collect()
    }

    /// Every output of the box; the last is repeated up to a multiple of `multiple`.
    pub(super) fn outputs(&self, multiple: usize) -> Vec<Output> {
        let count = self.count();
        let mut outputs = Vec::with_capacity(count.next_multiple_of(multiple));
        let last = &self.geometry.axes[self.geometry.axes.len() - 1];
        // The inner loop runs along the last axis, with the index arithmetic of the other axes hoisted out of it.
        let (along, lines) = self.lengths.split_last().expect("there is a spatial axis");
        let mut index: SpatialIndex = SmallVec::from_elem(0, lines.len());
        let extents = self.extents();
        for _ in 0..lines.iter().product() {
            let mut position = index[0];
            let mut offset = self.geometry.output.start
                + (self.starts[0] + index[0]) as isize * self.geometry.output.outer
                + self.starts[lines.len()] as isize * last.output_stride;
            for (i, axis) in self.geometry.axes[..lines.len() - 1].iter().enumerate() {
                position = position * extents[i] + index[i + 1] * axis.step();
                offset += (self.starts[i + 1] + index[i + 1]) as isize * axis.output_stride;
            }
            position *= extents[lines.len() - 1];
            for _ in 0..*along {
                outputs.push(Output { position, offset });
                position += last.step();
                offset += last.output_stride;
            }
            step(&mut index, lines.iter().copied());
        }
        let last = outputs[count - 1];
        outputs.resize(count.next_multiple_of(multiple), last);
        outputs
    }

    /// Number of outputs in the box.
    pub(super) fn count(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Number of positions of the copy along the last axis.
    pub(super) fn line(&self) -> usize {
        self.extents()[self.geometry.axes.len() - 1]
    }

    /// Offset of each tap from the first in the copy, in positions.
    pub(super) fn taps(&self) -> Vec<usize> {
        let (axes, extents) = (&self.geometry.axes, self.extents());
        let mut index: SpatialIndex = SmallVec::from_elem(0, axes.len());
        (0..self.geometry.taps())
            .map(|_| {
                let along = index.iter().zip(axes).zip(&extents);
                let position =
                    along.fold(0, |at, ((&t, axis), extent)| at * extent + t * axis.dilation.unsigned_abs());
                step(&mut index, axes.iter().map(|axis| axis.taps));
                position
            })
            .collect()
    }

    /// Write the copy, `width` elements a position: zeros in the padding, elsewhere by calling `copy` on runs of positions.
    #[inline(always)]
    pub(super) fn fill<T: Copy, W: Copy>(
        &self,
        input: Source<T>,
        width: usize,
        (zero, to): (W, &mut [W]),
        copy: impl Fn(Source<T>, &Run, &mut [W]),
    ) {
        let (geometry, extents) = (self.geometry, self.extents());
        let (last, outer) = geometry.axes.split_last().expect("there is a spatial axis");
        let outer_extents = &extents[..outer.len()];
        let mut index: SpatialIndex = SmallVec::from_elem(0, outer.len());
        let mut batch = self.starts[0];
        let source = |axis: &Axis, start: usize, position: usize| {
            let (output, remainder) = (start + position / axis.step(), position % axis.step());
            axis.first + output as isize * axis.stride + remainder as isize
        };
        let (extent, start) = (extents[outer.len()], self.starts[outer.len() + 1]);
        // If no positions are skipped between outputs, a line of the copy is one run.
        let run_length = if last.step() == last.stride.unsigned_abs() { extent } else { last.step() };
        for line in to
            .chunks_exact_mut(extent * width)
            .take(self.lengths[0] * outer_extents.iter().product::<usize>())
        {
            let mut offset = Some(geometry.input.start + batch as isize * geometry.input.outer);
            for (i, axis) in outer.iter().enumerate() {
                let at = source(axis, self.starts[i + 1], index[i]);
                let inside = at >= 0 && at < axis.input as isize;
                offset = offset.filter(|_| inside).map(|offset| offset + at * axis.input_stride);
            }
            match offset {
                None => line.fill(zero),
                Some(offset) => {
                    for (i, to) in line.chunks_mut(run_length * width).enumerate() {
                        let first = source(last, start, i * run_length);
                        let count = (to.len() / width) as isize;
                        let low = (-first).clamp(0, count);
                        let high = (last.input as isize - first).clamp(low, count);
                        to[..low as usize * width].fill(zero);
                        to[high as usize * width..].fill(zero);
                        if low < high {
                            let run = Run {
                                offset: offset + (first + low) * last.input_stride,
                                stride: last.input_stride,
                            };
                            copy(input, &run, &mut to[low as usize * width..high as usize * width]);
                        }
                    }
                }
            }
            if step(&mut index, outer_extents.iter().copied()) {
                batch += 1;
            }
        }
    }
}
