//! Parameters of a convolution.

use smallvec::SmallVec;

/// One spatial axis: output `o` multiplies tap `t` with position `o * stride + t * kernel_dilation - low` of the dilated input,
/// which has `input_dilation - 1` zeros between its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ConvAxis {
    /// Positions between adjacent outputs.
    pub stride: usize,
    /// Zeros added before the first position; a negative number removes positions.
    pub low: isize,
    /// Zeros added after the last position; a negative number removes positions.
    pub high: isize,
    /// Positions between adjacent taps of the kernel.
    pub kernel_dilation: usize,
    /// Positions between adjacent inputs.
    pub input_dilation: usize,
}

/// The parameters of all axes, and the number of groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ConvParams {
    /// The spatial axes.
    pub axes: SmallVec<[ConvAxis; 3]>,
    /// Number of groups into which the channels are split; a group of outputs depends on one group of inputs only.
    pub groups: usize,
}

impl ConvAxis {
    /// Stride 1 without padding and dilation.
    pub const PLAIN: ConvAxis =
        ConvAxis { stride: 1, low: 0, high: 0, kernel_dilation: 1, input_dilation: 1 };

    /// Positions of an input of this length, including padding.
    pub fn positions(&self, input: usize) -> i128 {
        dilated_length(input, self.input_dilation) + self.low as i128 + self.high as i128
    }

    /// Positions covered by a kernel of this many taps.
    pub fn kernel_extent(&self, taps: usize) -> i128 {
        if taps == 0 { 0 } else { dilated_length(taps, self.kernel_dilation) }
    }

    /// Length of the output: zero if the kernel does not fit.
    pub fn outputs(&self, input: usize, taps: usize) -> usize {
        let last_start = self.positions(input) - self.kernel_extent(taps);
        if last_start < 0 {
            0
        } else {
            usize::try_from(last_start / self.stride as i128 + 1).unwrap_or(usize::MAX)
        }
    }

    /// The axis of the convolution that computes the input's cotangent from the output's, with the flipped kernel.
    #[must_use]
    pub fn transposed(&self, input: usize, taps: usize, outputs: usize) -> ConvAxis {
        let (extent, dilated_outputs) =
            (self.kernel_extent(taps) as isize, dilated_length(outputs, self.stride) as isize);
        let low = extent - 1 - self.low;
        let high = (input as isize - 1) * self.input_dilation as isize + extent - dilated_outputs - low;
        ConvAxis {
            stride: self.input_dilation,
            low,
            high,
            kernel_dilation: self.kernel_dilation,
            input_dilation: self.stride,
        }
    }
}

/// Length of a dilated axis, which has gaps between its elements. It is not positive for length 0, which
/// [`ConvAxis::transposed`] relies on.
fn dilated_length(length: usize, dilation: usize) -> i128 {
    (length as i128 - 1) * dilation as i128 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transposed_axis_has_the_length_of_the_input() {
        for (stride, kernel_dilation, input_dilation) in
            [(1, 1, 1), (2, 1, 1), (3, 2, 1), (2, 3, 2), (1, 2, 3)]
        {
            for (low, high) in [(0, 0), (2, 1), (-1, 3)] {
                let axis = ConvAxis { stride, low, high, kernel_dilation, input_dilation };
                for input in 4..9 {
                    let outputs = axis.outputs(input, 2);
                    if outputs > 0 {
                        assert_eq!(axis.transposed(input, 2, outputs).outputs(outputs, 2), input);
                    }
                }
            }
        }
    }

    #[test]
    fn a_kernel_that_does_not_fit_has_no_output() {
        assert_eq!(ConvAxis::PLAIN.outputs(2, 3), 0);
        assert_eq!(ConvAxis { low: 1, ..ConvAxis::PLAIN }.outputs(2, 3), 1);
    }

    #[test]
    fn an_empty_axis_is_one_dilation_shorter_than_one_with_one_element() {
        let axis = ConvAxis { low: 6, high: 6, input_dilation: 3, ..ConvAxis::PLAIN };
        assert_eq!([0, 1, 2].map(|input| axis.outputs(input, 7)), [4, 7, 10]);
        assert_eq!(axis.transposed(0, 7, 4).outputs(4, 7), 0);
    }
}
