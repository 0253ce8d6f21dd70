//! Where the elements of a convolution lie, in elements from the starts of its views.

use smallvec::SmallVec;
use umber_types::ConvParams;

/// One spatial axis: output `o` and tap `t` meet at element `first + o * stride + t * dilation` of the input, which is
/// zero outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) input: usize,
    pub(super) taps: usize,
    pub(super) outputs: usize,
    pub(super) first: isize,
    pub(super) stride: isize,
    pub(super) dilation: isize,
    /// Distances in memory between neighbours in the input, the weight and the output.
    pub(super) input_stride: isize,
    pub(super) weight_stride: isize,
    pub(super) output_stride: isize,
}

/// Where the first element of an operand lies, and distances along its first and its last axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandStrides {
    pub(super) start: isize,
    pub(super) outer: isize,
    pub(super) channel: isize,
}

/// A convolution without gaps in its input.
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

/// A place along several axes.
pub(super) type SpatialCoords = SmallVec<[usize; 3]>;

/// One row of the patches: a place in the output, without its channel.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) batch: usize,
    pub(super) place: SpatialCoords,
}

/// Shape and strides of a view.
pub(super) type ShapeStrides<'a> = (&'a [usize], &'a [isize]);

impl Geometry {
    /// The convolutions without gaps that together make this one; each writes its own elements.
    ///
    /// Where the input has gaps, outputs a period apart meet the same taps, and the others meet none of these.
    pub(super) fn phases(
        params: &ConvParams,
        input: ShapeStrides,
        weight: ShapeStrides,
        output: ShapeStrides,
    ) -> Vec<Geometry> {
        let ends = |(_, strides): ShapeStrides| OperandStrides {
            start: 0,
            outer: strides[0],
            channel: strides[strides.len() - 1],
        };
        let channels = |(shape, _): ShapeStrides| shape[shape.len() - 1];
        let whole = Geometry {
            batch: input.0[0],
            groups: params.groups,
            inputs: channels(weight),
            outputs: channels(output) / params.groups,
            axes: SmallVec::new(),
            input: ends(input),
            weight: ends(weight),
            output: ends(output),
        };
        let mut found = vec![whole];
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
            let parts = found.iter().flat_map(|whole| starts.iter().map(move |&(o, t)| (whole, o, t)));
            let parts = parts.map(|(whole, o, t)| {
                let mut part = whole.clone();
                part.axes.push(Axis {
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
                part.weight.start += t as isize * weight.1[i + 1];
                part.output.start += o as isize * output.1[i + 1];
                part
            });
            found = parts.collect();
        }
        found
    }

    /// How many rows the patches have.
    pub(super) fn rows(&self) -> usize {
        self.batch * self.axes.iter().map(|axis| axis.outputs).product::<usize>()
    }

    /// How many taps the kernel has.
    pub(super) fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps).product()
    }

    /// How many terms each sum has: columns of the patches.
    pub(super) fn depth(&self) -> usize {
        self.taps() * self.inputs
    }

    /// How many products of two numbers all sums are made of.
    pub(super) fn multiplications(&self) -> f64 {
        self.rows() as f64 * (self.groups * self.outputs) as f64 * self.depth() as f64
    }

    /// Row number `index` of the patches.
    pub(super) fn row(&self, index: usize) -> Row {
        let mut rest = index;
        let mut place: SpatialCoords = SmallVec::from_elem(0, self.axes.len());
        for (digit, axis) in place.iter_mut().zip(&self.axes).rev() {
            *digit = rest % axis.outputs;
            rest /= axis.outputs;
        }
        Row { batch: rest, place }
    }

    /// Go to the next row.
    pub(super) fn advance(&self, row: &mut Row) {
        if step(&mut row.place, self.axes.iter().map(|axis| axis.outputs)) {
            row.batch += 1;
        }
    }

    /// The output of a row, in its first channel.
    pub(super) fn output_of(&self, row: &Row) -> isize {
        let along = row.place.iter().zip(&self.axes).map(|(&o, axis)| o as isize * axis.output_stride);
        self.output.start + row.batch as isize * self.output.outer + along.sum::<isize>()
    }

    /// The distance between the outputs of neighbouring rows, if it is always the same.
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

    /// The place in the weight of tap number `index`, in its first channels.
    pub(super) fn weight_of(&self, index: usize) -> isize {
        let mut rest = index;
        let mut offset = self.weight.start;
        for axis in self.axes.iter().rev() {
            offset += (rest % axis.taps) as isize * axis.weight_stride;
            rest /= axis.taps;
        }
        offset
    }
}

/// Count one further; true if the count starts again at zero.
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
