//! Shapes and strides of a convolution. Offsets and strides count elements from the starts of the views.

use smallvec::SmallVec;
use umber_types::ConvParams;

/// One spatial axis: output `o` and tap `t` read element `first + o * stride + t * dilation` of the input, which is zero
/// outside its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) input: usize,
    pub(super) taps: usize,
    pub(super) outputs: usize,
    pub(super) first: isize,
    pub(super) stride: isize,
    pub(super) dilation: isize,
    /// Strides in memory of the input, the weight and the output along this axis.
    pub(super) input_stride: isize,
    pub(super) weight_stride: isize,
    pub(super) output_stride: isize,
}

/// Offset of the first element of an operand, and strides of its first and last axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandStrides {
    pub(super) start: isize,
    pub(super) outer: isize,
    pub(super) channel: isize,
}

/// A convolution whose input is not dilated.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// Channels of one group in the input.
    pub(super) inputs: usize,
    /// Channels of one group in the output.
    pub(super) outputs: usize,
    pub(super) axes: SmallVec<[Axis; 3]>,
    pub(super) input: OperandStrides,
    pub(super) weight: OperandStrides,
    pub(super) output: OperandStrides,
}

/// Coordinates along the spatial axes.
pub(super) type SpatialCoords = SmallVec<[usize; 3]>;

/// One row of the im2col matrix: the position of an output, without its channel.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) batch: usize,
    pub(super) position: SpatialCoords,
}

/// Shape and strides of a view.
pub(super) type ShapeStrides<'a> = (&'a [usize], &'a [isize]);

impl Geometry {
    /// Split a convolution into phases: convolutions without input dilation, whose outputs are disjoint.
    ///
    /// With a dilated input, outputs one period apart use the same taps; all other taps read zeros between the elements.
    pub(super) fn phases(
        params: &ConvParams,
        input: ShapeStrides,
        weight: ShapeStrides,
        output: ShapeStrides,
    ) -> Vec<Geometry> {
        let operand = |(_, strides): ShapeStrides| OperandStrides {
            start: 0,
            outer: strides[0],
            channel: strides[strides.len() - 1],
        };
        let channels = |(shape, _): ShapeStrides| shape[shape.len() - 1];
        let base = Geometry {
            batch: input.0[0],
            groups: params.groups,
            inputs: channels(weight),
            outputs: channels(output) / params.groups,
            axes: SmallVec::new(),
            input: operand(input),
            weight: operand(weight),
            output: operand(output),
        };
        let mut phases = vec![base];
        for (i, axis) in params.axes.iter().enumerate() {
            let gap = axis.input_dilation;
            let (stride, dilation) = (axis.stride, axis.kernel_dilation);
            let (taps, outputs) = (weight.0[i + 1], output.0[i + 1]);
            let (output_period, tap_period) = (gap / divisor(stride, gap), gap / divisor(dilation, gap));
            let position = |o: usize, t: usize| (o * stride) as isize + (t * dilation) as isize - axis.low;
            let mut starts: SmallVec<[(usize, usize); 4]> = SmallVec::new();
            for o in 0..output_period.min(outputs) {
                let meets = |&t: &usize| position(o, t).rem_euclid(gap as isize) == 0;
                starts.extend((0..tap_period.min(taps)).find(meets).map(|t| (o, t)));
            }
            let splits = phases.iter().flat_map(|parent| starts.iter().map(move |&(o, t)| (parent, o, t)));
            let splits = splits.map(|(parent, o, t)| {
                let mut phase = parent.clone();
                phase.axes.push(Axis {
                    input: input.0[i + 1],
                    taps: (taps - t).div_ceil(tap_period),
                    outputs: (outputs - o).div_ceil(output_period),
                    first: position(o, t) / gap as isize,
                    stride: (output_period * stride / gap) as isize,
                    dilation: (tap_period * dilation / gap) as isize,
                    input_stride: input.1[i + 1],
                    weight_stride: weight.1[i + 1] * tap_period as isize,
                    output_stride: output.1[i + 1] * output_period as isize,
                });
                phase.weight.start += t as isize * weight.1[i + 1];
                phase.output.start += o as isize * output.1[i + 1];
                phase
            });
            phases = splits.collect();
        }
        phases
    }

    /// Number of rows of the im2col matrix.
    pub(super) fn rows(&self) -> usize {
        self.batch * self.axes.iter().map(|axis| axis.outputs).product::<usize>()
    }

    /// Number of taps of the kernel.
    pub(super) fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps).product()
    }

    /// Number of terms in each sum: columns of the im2col matrix.
    pub(super) fn depth(&self) -> usize {
        self.taps() * self.inputs
    }

    /// Number of scalar multiplications.
    pub(super) fn multiplications(&self) -> f64 {
        self.rows() as f64 * (self.groups * self.outputs) as f64 * self.depth() as f64
    }

    /// Row `index` of the im2col matrix.
    pub(super) fn row(&self, index: usize) -> Row {
        let mut remaining = index;
        let mut position: SpatialCoords = SmallVec::from_elem(0, self.axes.len());
        for (digit, axis) in position.iter_mut().zip(&self.axes).rev() {
            *digit = remaining % axis.outputs;
            remaining /= axis.outputs;
        }
        Row { batch: remaining, position }
    }

    /// Advance to the next row.
    pub(super) fn advance(&self, row: &mut Row) {
        if step(&mut row.position, self.axes.iter().map(|axis| axis.outputs)) {
            row.batch += 1;
        }
    }

    /// Offset of a row's output, in its first channel.
    pub(super) fn output_of(&self, row: &Row) -> isize {
        let along = row.position.iter().zip(&self.axes).map(|(&o, axis)| o as isize * axis.output_stride);
        self.output.start + row.batch as isize * self.output.outer + along.sum::<isize>()
    }

    /// Stride between the outputs of consecutive rows, if it is constant.
    pub(super) fn output_row(&self) -> Option<isize> {
        let mut distance = None;
        let mut reach = 0;
        let lengths = self.axes.iter().map(|axis| (axis.outputs, axis.output_stride)).rev();
        for (length, stride) in lengths.chain([(self.batch, self.output.outer)]) {
            if length == 1 {
                continue;
            }
            if distance.is_some() && stride != reach {
                return None;
            }
            distance = distance.or(Some(stride));
            reach = stride * length as isize;
        }
        Some(distance.unwrap_or(self.output.outer))
    }

    /// Offset of tap `index` in the weight, in its first channels.
    pub(super) fn weight_of(&self, index: usize) -> isize {
        let mut remaining = index;
        let mut offset = self.weight.start;
        for axis in self.axes.iter().rev() {
            offset += (remaining % axis.taps) as isize * axis.weight_stride;
            remaining /= axis.taps;
        }
        offset
    }
}

/// Increment a mixed-radix counter; returns true if it wraps around to zero.
pub(super) fn step(
    digits: &mut [usize],
    lengths: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
) -> bool {
    for (digit, length) in digits.iter_mut().zip(lengths).rev() {
        *digit += 1;
        if *digit < length {
            return false;
        }
        *digit = 0;
    }
    true
}

/// The greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}
