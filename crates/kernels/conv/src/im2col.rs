//! The im2col matrix: one row for each output, with the input element for each tap and channel of the kernel.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::Source;
use umber_kernels_matmul::multiply::Multiply;

use super::geometry::{Geometry, Row, SpatialCoords, step};

/// The im2col matrix of one group.
pub(super) struct Im2col<'a, T> {
    geometry: &'a Geometry,
    input: Source<T>,
    /// Consecutive columns that are contiguous in memory: the channels of one tap, or of all taps of the last axis.
    run: usize,
    /// Whether a run covers all taps of the last axis.
    is_merged: bool,
}

impl<'a, T: Multiply> Im2col<'a, T> {
    /// The matrix of group number `group`.
    pub(super) fn new(geometry: &'a Geometry, input: Source<T>, group: usize) -> Im2col<'a, T> {
        let offset = (group * geometry.inputs) as isize * geometry.input.channel;
        let dense = geometry.inputs == 1 || geometry.input.channel == 1;
        let last = geometry
            .axes
            .last()
            .filter(|last| dense && last.dilation == 1 && last.input_stride == geometry.inputs as isize);
        Im2col {
            geometry,
            input: input.shifted(geometry.input.start + offset),
            run: geometry.inputs * last.map_or(1, |last| last.taps),
            is_merged: last.is_some(),
        }
    }

    /// Write some columns of some rows as a dense block.
    pub(super) fn fill(&self, rows: Range<usize>, columns: Range<usize>, to: &mut [T::Acc]) {
        let mut row = self.geometry.row(rows.start);
        vectorised(
            #[inline(always)]
            || {
                for line in to.chunks_exact_mut(columns.len()).take(rows.len()) {
                    self.fill_row(&row, columns.clone(), line);
                    self.geometry.advance(&mut row);
                }
            },
        );
    }

    #[inline(always)]
    fn fill_row(&self, row: &Row, columns: Range<usize>, line: &mut [T::Acc]) {
        let axes = &self.geometry.axes;
        let starts: SmallVec<[isize; 3]> =
            row.position.iter().zip(axes).map(|(&o, axis)| axis.first + o as isize * axis.stride).collect();
        let outer = axes.len() - usize::from(self.is_merged);
        let input = self.input.shifted(row.batch as isize * self.geometry.input.outer);
        let mut tap: SpatialCoords = SmallVec::from_elem(0, outer);
        let mut remaining = columns.start / self.run;
        for (digit, axis) in tap.iter_mut().zip(&axes[..outer]).rev() {
            *digit = remaining % axis.taps;
            remaining /= axis.taps;
        }
        let mut from = columns.start % self.run;
        let mut line = line;
        while !line.is_empty() {
            let (segment, tail) = line.split_at_mut(line.len().min(self.run - from));
            let mut offset = Some(0);
            for ((&t, &start), axis) in tap.iter().zip(&starts).zip(&axes[..outer]) {
                let at = start + t as isize * axis.dilation;
                let inside = at >= 0 && at < axis.input as isize;
                offset = offset.filter(|_| inside).map(|offset| offset + at * axis.input_stride);
            }
            match offset {
                None => segment.fill(T::Acc::ZERO),
                Some(offset) if self.is_merged => {
                    self.copy_taps(input.shifted(offset), starts[outer], from, segment);
                }
                Some(offset) => self.copy_channels(input.shifted(offset), from, segment),
            }
            line = tail;
            from = 0;
            step(&mut tap, axes[..outer].iter().map(|axis| axis.taps));
        }
    }

    /// Copy columns `from..` of the run that begins at position `start` of the last axis.
    #[inline(always)]
    fn copy_taps(&self, input: Source<T>, start: isize, from: usize, to: &mut [T::Acc]) {
        let inputs = self.geometry.inputs as isize;
        let length = self.geometry.axes[self.geometry.axes.len() - 1].input as isize;
        let first = start * inputs + from as isize;
        let end = to.len() as isize;
        let low = (-first).clamp(0, end) as usize;
        let high = (length * inputs - first).clamp(low as isize, end) as usize;
        to[..low].fill(T::Acc::ZERO);
        for (i, to) in to.iter_mut().enumerate().take(high).skip(low) {
            // SAFETY: positions between `low` and `high` are inside the input.
            *to = unsafe { *input.at(first + i as isize) }.widen();
        }
        to[high..].fill(T::Acc::ZERO);
    }

    /// Copy channels `from..` of one position.
    #[inline(always)]
    fn copy_channels(&self, input: Source<T>, from: usize, to: &mut [T::Acc]) {
        let channel = self.geometry.input.channel;
        let input = input.shifted(from as isize * channel);
        if channel == 1 {
            for (i, to) in to.iter_mut().enumerate() {
                // SAFETY: the caller passes a position inside the input, and all its channels are.
                *to = unsafe { *input.at(i as isize) }.widen();
            }
        } else {
            for (i, to) in to.iter_mut().enumerate() {
                // SAFETY: as for dense channels: a channel of a position inside the input.
                *to = unsafe { *input.at(i as isize * channel) }.widen();
            }
        }
    }
}
