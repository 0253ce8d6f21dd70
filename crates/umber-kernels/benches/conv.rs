//! FLOP/s of convolutions and of their weight gradients.
//!
//! `cargo bench -p umber-kernels --bench conv [FILTER]`

mod common;

use common::{Operand, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::conv::{convolve, weight_gradient};
use umber_types::{ConvAxis, ConvParams, Element, bf16};

/// A convolution with equal lengths along all axes, padded by half a kernel.
#[derive(Clone, Copy)]
struct Sizes {
    axes: usize,
    batch: usize,
    length: usize,
    taps: usize,
    stride: usize,
    groups: usize,
    /// Channels of the input, and of the output.
    channels: [usize; 2],
}

impl Sizes {
    /// A 2-D convolution of stride one, without groups.
    fn image(batch: usize, length: usize, taps: usize, channels: [usize; 2]) -> Sizes {
        Sizes { axes: 2, batch, length, taps, stride: 1, groups: 1, channels }
    }
}

fn convolutions<T: Element + FromPrimitive>(label: &str, sizes: Sizes) {
    let Sizes { axes, batch, length, taps, stride, groups, channels: [inputs, outputs] } = sizes;
    let pad = (taps / 2) as isize;
    let axis = ConvAxis { stride, low: pad, high: pad, ..ConvAxis::PLAIN };
    let params = ConvParams { axes: (0..axes).map(|_| axis).collect(), groups };
    let shape = |first: usize, each: usize, last: usize| -> Vec<usize> {
        [first].into_iter().chain(std::iter::repeat_n(each, axes)).chain([last]).collect()
    };
    let input = Operand::<T>::values(&shape(batch, length, inputs));
    let mut weight = Operand::<T>::values(&shape(outputs, taps, inputs / groups));
    let mut output = Operand::<T>::zeros(&shape(batch, axis.outputs(length, taps), outputs));
    let work = Work::Flops(2 * output.data.len() * weight.data.len() / outputs);
    let name = format!("{label}/{}/{batch} of {length}, {inputs} to {outputs}", T::DTYPE);
    case(&name, work, || convolve(&params, input.view(), weight.view(), output.view_mut()));
    case(&format!("{name}/weight gradient"), work, || {
        weight_gradient(&params, input.view(), output.view(), weight.view_mut());
    });
}

fn main() {
    convolutions::<f32>("3x3", Sizes::image(1, 28, 3, [32, 32]));
    convolutions::<f32>("3x3", Sizes::image(8, 56, 3, [64, 64]));
    convolutions::<bf16>("3x3", Sizes::image(8, 56, 3, [64, 64]));
    // 33 MB in, 33 MB out.
    convolutions::<f32>("3x3", Sizes::image(8, 128, 3, [64, 64]));
    convolutions::<f32>("3x3", Sizes::image(8, 7, 3, [512, 512]));
    convolutions::<f32>("3x3 by two", Sizes { stride: 2, ..Sizes::image(8, 28, 3, [128, 128]) });
    convolutions::<f32>("7x7 by two", Sizes { stride: 2, ..Sizes::image(4, 224, 7, [3, 64]) });
    convolutions::<f32>("1x1", Sizes::image(8, 56, 1, [256, 64]));
    convolutions::<f32>("3x3 depthwise", Sizes { groups: 128, ..Sizes::image(8, 56, 3, [128, 128]) });
    convolutions::<f32>("3x3 in 32 groups", Sizes { groups: 32, ..Sizes::image(8, 28, 3, [128, 128]) });
    convolutions::<f32>("64 along a signal", Sizes { axes: 1, ..Sizes::image(1, 100_000, 64, [1, 1]) });
    convolutions::<f32>("3 along lines", Sizes { axes: 1, ..Sizes::image(16, 1024, 3, [256, 256]) });
    convolutions::<f32>("3x3x3", Sizes { axes: 3, ..Sizes::image(2, 24, 3, [32, 32]) });
}
