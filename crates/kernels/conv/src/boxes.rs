//! Boxes of outputs, and dense copies of the input that they meet, zeros outside included.

use smallvec::SmallVec;
use umber_kernels_base::shared::Source;

use super::geometry::{Axis, Geometry, step};

/// A number for the batch and each spatial axis.
pub(super) type SpatialIndex = SmallVec<[usize; 4]>;

/// The outputs cut into boxes.
pub(super) struct Boxes<'a> {
    geometry: &'a Geometry,
    lengths: SpatialIndex,
}

/// A box of outputs: where it starts in the batch and along each spatial axis, and how long it is there.
pub(super) struct OutputBox<'a> {
    geometry: &'a Geometry,
    pub(super) starts: SpatialIndex,
    pub(super) lengths: SpatialIndex,
}

/// One output of a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// Where its first tap lies in the copy, in positions.
    pub(super) position: usize,
    /// Where it lies in memory, in its first channel.
    pub(super) offset: isize,
}

/// Consecutive positions of the input.
pub(super) struct Run {
    /// Where the first lies in memory.
    pub(super) offset: isize,
    /// The distance between neighbours.
    pub(super) stride: isize,
}

impl Axis {
    /// Positions from the first tap to the last.
    fn kernel_extent(&self) -> usize {
        (self.taps - 1) * self.dilation.unsigned_abs() + 1
    }

    /// Positions of the copy between neighbouring outputs: those that no tap meets are left out.
    #[inline]
    fn step(&self) -> usize {
        self.stride.unsigned_abs().min(self.kernel_extent())
    }

    /// Positions of the copy for this many outputs.
    fn extent(&self, outputs: usize) -> usize {
        (outputs - 1) * self.step() + self.kernel_extent()
    }
}

impl<'a> Boxes<'a> {
    /// Boxes whose copies have at most `fitting` positions if that can be, and `wanted` of them unless they have `few` outputs
    /// then.
    pub(super) fn new(geometry: &'a Geometry, fitting: usize, (wanted, few): (usize, usize)) -> Boxes<'a> {
        let lengths = std::iter::once(geometry.batch).chain(geometry.axes.iter().map(|axis| axis.outputs));
        let mut boxes = Boxes { geometry, lengths: lengths.collect() };
        while boxes.positions() > fitting || (boxes.count() < wanted && boxes.outputs() >= 2 * few) {
            let Some(length) = boxes.lengths.iter_mut().find(|length| **length > 1) else { break };
            *length = length.div_ceil(2);
        }
        boxes
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.counts().product()
    }

    /// Outputs of a box, at most.
    pub(super) fn outputs(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Positions of the copy for a box, at most.
    pub(super) fn positions(&self) -> usize {
        self.lengths[0] * self.extents(&self.lengths).product::<usize>()
    }

    /// Does a copy hold little that no output meets?
    pub(super) fn are_dense(&self) -> bool {
        self.positions() <= 4 * self.outputs() * self.geometry.taps()
    }

    /// Box number `index`.
    pub(super) fn output_box(&self, index: usize) -> OutputBox<'a> {
        let (mut rest, mut starts, mut lengths) = (index, self.lengths.clone(), self.lengths.clone());
        let totals = std::iter::once(self.geometry.batch).chain(self.geometry.axes.iter().map(|a| a.outputs));
        let counts: SpatialIndex = self.counts().collect();
        for (i, total) in totals.enumerate().collect::<SmallVec<[_; 4]>>().into_iter().rev() {
            starts[i] = rest % counts[i] * self.lengths[i];
            lengths[i] = self.lengths[i].min(total - starts[i]);
            rest /= counts[i];
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
    /// Positions of the copy along each spatial axis.
    fn extents(&self) -> SpatialIndex {
        self.geometry.axes.iter().zip(&self.lengths[1..]).map(|(axis, &length)| axis.extent(length)).collect()
    }

    /// Every output of the box, and the last as often again as makes a multiple of `multiple`.
    pub(super) fn outputs(&self, multiple: usize) -> Vec<Output> {
        let count = self.count();
        let mut found = Vec::with_capacity(count.next_multiple_of(multiple));
        let last = &self.geometry.axes[self.geometry.axes.len() - 1];
        // Line by line, since there are many outputs and few lines.
        let (along, lines) = self.lengths.split_last().expect("there is a spatial axis");
        let mut place: SpatialIndex = SmallVec::from_elem(0, lines.len());
        let extents = self.extents();
        for _ in 0..lines.iter().product() {
            let mut position = place[0];
            let mut offset = self.geometry.output.start
                + (self.starts[0] + place[0]) as isize * self.geometry.output.outer
                + self.starts[lines.len()] as isize * last.output_stride;
            for (i, axis) in self.geometry.axes[..lines.len() - 1].iter().enumerate() {
                position = position * extents[i] + place[i + 1] * axis.step();
                offset += (self.starts[i + 1] + place[i + 1]) as isize * axis.output_stride;
            }
            position *= extents[lines.len() - 1];
            for _ in 0..*along {
                found.push(Output { position, offset });
                position += last.step();
                offset += last.output_stride;
            }
            step(&mut place, lines.iter().copied());
        }
        let last = found[count - 1];
        found.resize(count.next_multiple_of(multiple), last);
        found
    }

    /// How many outputs the box has.
    pub(super) fn count(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Positions of the copy along the last axis.
    pub(super) fn line(&self) -> usize {
        self.extents()[self.geometry.axes.len() - 1]
    }

    /// How far in the copy each tap lies from the first, in positions.
    pub(super) fn taps(&self) -> Vec<usize> {
        let (axes, extents) = (&self.geometry.axes, self.extents());
        let mut place: SpatialIndex = SmallVec::from_elem(0, axes.len());
        (0..self.geometry.taps())
            .map(|_| {
                let along = place.iter().zip(axes).zip(&extents);
                let position =
                    along.fold(0, |at, ((&t, axis), extent)| at * extent + t * axis.dilation.unsigned_abs());
                step(&mut place, axes.iter().map(|axis| axis.taps));
                position
            })
            .collect()
    }

    /// Write the copy, `width` elements a position: zeros where there is no input, and the rest by `copy`.
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
        let mut place: SpatialIndex = SmallVec::from_elem(0, outer.len());
        let mut batch = self.starts[0];
        let source = |axis: &Axis, start: usize, position: usize| {
            let (output, rest) = (start + position / axis.step(), position % axis.step());
            axis.first + output as isize * axis.stride + rest as isize
        };
        let (extent, start) = (extents[outer.len()], self.starts[outer.len() + 1]);
        // Without gaps between the outputs' positions the line is one run.
        let piece = if last.step() == last.stride.unsigned_abs() { extent } else { last.step() };
        for line in to
            .chunks_exact_mut(extent * width)
            .take(self.lengths[0] * outer_extents.iter().product::<usize>())
        {
            let mut offset = Some(geometry.input.start + batch as isize * geometry.input.outer);
            for (i, axis) in outer.iter().enumerate() {
                let at = source(axis, self.starts[i + 1], place[i]);
                let inside = at >= 0 && at < axis.input as isize;
                offset = offset.filter(|_| inside).map(|offset| offset + at * axis.input_stride);
            }
            match offset {
                None => line.fill(zero),
                Some(offset) => {
                    for (i, to) in line.chunks_mut(piece * width).enumerate() {
                        let first = source(last, start, i * piece);
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
            if step(&mut place, outer_extents.iter().copied()) {
                batch += 1;
            }
        }
    }
}
