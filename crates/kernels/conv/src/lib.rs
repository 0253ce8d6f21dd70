//! Convolutions: sums over a kernel that slides along the spatial axes of its input.
//!
//! `geometry` describes the layout and splits dilated inputs into phases, so that no zero between elements is multiplied.
//! `dispatch` chooses a kernel for each phase: `sliding_1d` for long kernels over one channel, `grouped` for groups of a
//! few channels, `winograd` for kernels of three taps, `direct` for other floats, else a matrix product of `im2col` blocks
//! (`im2col_gemm`, `weight_gradient_gemm`). A kernel of one tap is a matrix product of the input itself.
//!
//! `direct` and `winograd` share `boxes`, which splits the outputs into blocks and copies the input of a block with its
//! padding, `panels`, which splits the channels into panels of a few vectors and packs the weights, and `registers`, the
//! inner loops.

mod boxes;
mod direct;
mod dispatch;
mod geometry;
mod grouped;
mod im2col;
mod im2col_gemm;
mod panels;
mod registers;
mod sliding_1d;
mod weight_gradient_gemm;
mod winograd;

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_base::{View, ViewMut};
use umber_kernels_matmul::match_multiply;
use umber_kernels_matmul::multiply::Multiply;
use umber_types::{ConvParams, Layout, Shape};

use dispatch::{AllowWinograd, Kernel, Pass, is_float32, kernel_for};
use geometry::Geometry;

/// `output[n, o.., g, c] = sum over taps t.. and i of input[n, o * stride + t * dilation - low.., g, i] * weight[g, c, t.., i]`
/// with zeros outside the input and between its elements; `g, c` and `g, i` are one axis.
///
/// The inputs may have any strides; `output` is dense. Integer sums wrap, bools are combined by *or* of *and*; float16 and
/// bfloat16 are summed in float32 and rounded once.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn convolve(params: &ConvParams, input: View, weight: View, output: ViewMut) {
    match_multiply!(input, weight, output; T => forward::<T>(params, input, weight, output));
}

/// `output[g, c, t.., i] = sum over n and o.. of input[n, o * stride + t * dilation - low.., g, i] * cotangent[n, o.., g, c]`:
/// the derivative of [`convolve`] by its weight, which has the shape of `output`.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn weight_gradient(params: &ConvParams, input: View, cotangent: View, output: ViewMut) {
    match_multiply!(input, cotangent, output; T => backward::<T>(params, input, cotangent, output));
}

fn forward<T: Multiply>(params: &ConvParams, input: View, weight: View, output: ViewMut) {
    check(params, &input, &weight, output.shape());
    assert!(output.layout().is_contiguous(), "the output is dense");
    if output.size() == 0 || is_pointwise::<T>(params, &input, &weight, &output) {
        return;
    }
    let mut phases = Geometry::phases(
        params,
        (input.shape(), input.strides()),
        (weight.shape(), weight.strides()),
        (output.shape(), output.strides()),
    );
    let (source, target) = (Source::<T>::of(&input), Target::<T>::of(&output));
    let weights = Source::<T>::of(&weight);
    let written: usize = phases.iter().map(|phase| phase.rows() * phase.groups * phase.outputs).sum();
    if written != output.size() || weight.size() == 0 {
        fill_zero::<T>(output);
    }
    phases.retain(|phase| phase.rows() * phase.depth() > 0);
    each(&phases, |phase| {
        let mut kernel = kernel_for::<T>(Pass::Forward, phase, AllowWinograd::Yes);
        // `const` conditions, so that these kernels are not instantiated for dtypes that never reach them.
        if const { T::Acc::IN_REGISTERS } {
            if kernel == Kernel::Winograd {
                if winograd::forward(phase, source, weights, target) {
                    return;
                }
                kernel = kernel_for::<T>(Pass::Forward, phase, AllowWinograd::No);
            }
            match kernel {
                Kernel::Sliding1d => return sliding_1d::forward(phase, source, weights, target),
                Kernel::Grouped if const { is_float32::<T>() } => {
                    return grouped::forward(phase, source, weights, target);
                }
                Kernel::Direct => return direct::forward(phase, source, weights, target),
                Kernel::Grouped | Kernel::Winograd | Kernel::Im2colGemm => {}
            }
        }
        im2col_gemm::forward(phase, source, weights, target);
    });
}

fn backward<T: Multiply>(params: &ConvParams, input: View, cotangent: View, output: ViewMut) {
    check(params, &input, &output.as_view(), cotangent.shape());
    if output.size() == 0 {
        return;
    }
    let mut phases = Geometry::phases(
        params,
        (input.shape(), input.strides()),
        (output.shape(), output.strides()),
        (cotangent.shape(), cotangent.strides()),
    );
    let (source, target) = (Source::<T>::of(&input), Target::<T>::of(&output));
    let cotangents = Source::<T>::of(&cotangent);
    phases.retain(|phase| phase.rows() > 0);
    let written: usize = phases.iter().map(|phase| phase.depth() * phase.groups * phase.outputs).sum();
    if written != output.size() {
        fill_zero::<T>(output);
    }
    each(&phases, |phase| {
        let mut kernel = kernel_for::<T>(Pass::WeightGradient, phase, AllowWinograd::Yes);
        // `const` for the same reason as in `forward`.
        if const { T::Acc::IN_REGISTERS } {
            if kernel == Kernel::Winograd {
                if winograd::backward(phase, source, cotangents, target) {
                    return;
                }
                kernel = kernel_for::<T>(Pass::WeightGradient, phase, AllowWinograd::No);
            }
            match kernel {
                Kernel::Grouped if const { is_float32::<T>() } => {
                    return grouped::backward(phase, source, cotangents, target);
                }
                Kernel::Direct => return direct::backward(phase, source, cotangents, target),
                Kernel::Sliding1d | Kernel::Grouped | Kernel::Winograd | Kernel::Im2colGemm => {}
            }
        }
        weight_gradient_gemm::backward(phase, source, cotangents, target);
    });
}

/// Run every phase: with many phases, one task per phase in parallel; with few, one phase at a time with all threads on each.
fn each(phases: &[Geometry], run: impl Fn(&Geometry) + Sync) {
    if phases.len() >= 2 * num_threads() {
        parallel_for(phases.len(), |i| run(&phases[i]));
    } else {
        phases.iter().for_each(run);
    }
}

/// Assert that the shapes match.
fn check(params: &ConvParams, input: &View, weight: &View, output: &[usize]) {
    let (x, w) = (input.shape(), weight.shape());
    let last = params.axes.len() + 1;
    assert!(
        x.len() == last + 1 && w.len() == x.len() && output.len() == x.len(),
        "input, weight and output have the same rank"
    );
    assert!(
        params.groups > 0 && x[last] == w[last] * params.groups,
        "the weight has the channels of the input"
    );
    assert!(
        output[0] == x[0] && output[last] == w[0],
        "the output has the batch size of the input and the channels of the weight"
    );
    assert!(w[0].is_multiple_of(params.groups), "the groups divide the outputs");
    for (i, axis) in params.axes.iter().enumerate() {
        assert!(
            output[i + 1] == axis.outputs(x[i + 1], w[i + 1]),
            "the output has the length that the parameters give"
        );
    }
}

fn fill_zero<T: Multiply>(mut output: ViewMut) -> Option<()> {
    output.as_mut_slice::<T>()?.fill(T::narrow(T::Acc::ZERO));
    Some(())
}

/// Handle a kernel of one tap and stride 1 as a matrix product: input positions as rows, times the weight. Returns false for
/// others.
fn is_pointwise<T: Multiply>(params: &ConvParams, input: &View, weight: &View, output: &ViewMut) -> bool {
    let (x, y) = (input.shape(), output.shape());
    let last = x.len() - 1;
    let plain = params.axes.iter().all(|axis| (axis.stride, axis.low, axis.input_dilation) == (1, 0, 1));
    if !plain
        || params.groups != 1
        || x[1..last] != y[1..last]
        || weight.shape()[1..last].iter().any(|&taps| taps != 1)
    {
        return false;
    }
    let rows: usize = y[..last].iter().product();
    let Some(left) = input.layout().reshape(&Shape::from([rows, x[last]])) else { return false };
    let strides = [weight.strides()[last], weight.strides()[0]];
    let right = Layout {
        shape: Shape::from([x[last], y[last]]),
        strides: strides.into_iter().collect(),
        offset: weight.layout().offset,
    };
    let out = Layout { offset: output.layout().offset, ..Layout::contiguous(Shape::from([rows, y[last]])) };
    // SAFETY: the same elements of the same views under other shapes; the caller has exclusive access to the output.
    unsafe {
        let base = |view: &View| view.start().wrapping_sub(view.layout().offset * view.dtype().size());
        let start = output.start().wrapping_sub(output.layout().offset * output.dtype().size());
        umber_kernels_matmul::matmul(
            View::new(base(input), T::DTYPE, &left),
            View::new(base(weight), T::DTYPE, &right),
            ViewMut::new(start, T::DTYPE, &out),
        );
    }
    true
}
