//! Convolutions: sums over a kernel that slides along the spatial axes of its input.
//!
//! [`geometry`] says where things lie and takes gaps in the input apart, so that no zero between elements is multiplied. Groups of a
//! few channels are computed where they lie ([`grouped`]), kernels of three taps with fewer multiplications ([`winograd`]); other
//! floats, and kernels that keep channels apart, in registers from copies ([`direct`]). For both, [`boxes`] cuts the outputs into
//! boxes and copies what a box meets, zeros around the input included, [`panels`] cuts the channels into panels of a few vectors and
//! says how they lie in the copy and in the packed weight, and [`registers`] holds the innermost loops. Other sums are products of
//! matrices: [`im2col`] writes blocks of the input as a matrix, which [`im2col_gemm`] and [`weight_gradient_gemm`] multiply. Long kernels over
//! single numbers are slid as they are ([`sliding_1d`]), and kernels of one tap are products of the input itself.

mod boxes;
mod direct;
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

use geometry::Geometry;

/// `output[n, o.., g, c] = sum over taps t.. and i of input[n, o * stride + t * dilation - low.., g, i] * weight[g, c, t.., i]`
/// with zeros outside the input and between its elements; `g, c` and `g, i` are one axis.
///
/// Strides of the inputs are any; `output` is dense. Integers wrap, bools are *or* of *and*; 16-bit floats are summed in
/// float32 and rounded once.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn convolve(params: &ConvParams, input: View, weight: View, output: ViewMut) {
    match_multiply!(input, weight, output; T => forward::<T>(params, input, weight, output));
}

/// `output[g, c, t.., i] = sum over n and o.. of input[n, o * stride + t * dilation - low.., g, i] * cotangent[n, o.., g, c]`: the
/// derivative of [`convolve`] by its weight, which has the shape of `output`.
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
    let kernel = Source::<T>::of(&weight);
    let written: usize = phases.iter().map(|phase| phase.rows() * phase.groups * phase.outputs).sum();
    if written != output.size() || weight.size() == 0 {
        fill_zero::<T>(output);
    }
    phases.retain(|phase| phase.rows() * phase.depth() > 0);
    each(&phases, |phase| {
        // Integers and complex numbers, whose vectors are no registers, have the one way that all shapes have.
        if const { T::Acc::IN_REGISTERS } {
            if sliding_1d::is_applicable(phase) {
                return sliding_1d::forward(phase, source, kernel, target);
            }
            if const { is_float32::<T>() } && grouped::is_applicable::<T>(phase) {
                return grouped::forward(phase, source, kernel, target);
            }
            // Answers whether all of it is finite, and done.
            if winograd::is_applicable::<T>(phase) && winograd::forward(phase, source, kernel, target) {
                return;
            }
            if direct::is_applicable::<T>(phase) {
                return direct::forward(phase, source, kernel, target);
            }
        }
        im2col_gemm::forward(phase, source, kernel, target);
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
    let by = Source::<T>::of(&cotangent);
    phases.retain(|phase| phase.rows() > 0);
    let written: usize = phases.iter().map(|phase| phase.depth() * phase.groups * phase.outputs).sum();
    if written != output.size() {
        fill_zero::<T>(output);
    }
    each(&phases, |phase| {
        // As in `forward`.
        if const { T::Acc::IN_REGISTERS } {
            if const { is_float32::<T>() } && grouped::is_applicable::<T>(phase) {
                return grouped::backward(phase, source, by, target);
            }
            if winograd::is_applicable::<T>(phase) && winograd::backward(phase, source, by, target) {
                return;
            }
            if direct::is_applicable::<T>(phase) {
                return direct::backward(phase, source, by, target);
            }
        }
        weight_gradient_gemm::backward(phase, source, by, target);
    });
}

/// Are sums taken in float32? Networks are trained in that; in float64 [`direct`] does what [`grouped`] would.
const fn is_float32<T: Multiply>() -> bool {
    size_of::<T::Acc>() == size_of::<f32>()
}

/// Run on every phase: many of them side by side, few one after the other with all threads on each.
fn each(phases: &[Geometry], run: impl Fn(&Geometry) + Sync) {
    if phases.len() >= 2 * num_threads() {
        parallel_for(phases.len(), |i| run(&phases[i]));
    } else {
        phases.iter().for_each(run);
    }
}

/// The shapes fit each other.
fn check(params: &ConvParams, input: &View, weight: &View, output: &[usize]) {
    let (x, w) = (input.shape(), weight.shape());
    let last = params.axes.len() + 1;
    assert!(x.len() == last + 1 && w.len() == x.len() && output.len() == x.len(), "as many axes");
    assert!(
        params.groups > 0 && x[last] == w[last] * params.groups,
        "the weight has the channels of the input"
    );
    assert!(output[0] == x[0] && output[last] == w[0], "the output has the batch and the channels");
    assert!(w[0].is_multiple_of(params.groups), "every group has as many outputs");
    for (i, axis) in params.axes.iter().enumerate() {
        assert!(
            output[i + 1] == axis.outputs(x[i + 1], w[i + 1]),
            "the output is as long as the parameters say"
        );
    }
}

fn fill_zero<T: Multiply>(mut output: ViewMut) -> Option<()> {
    output.as_mut_slice::<T>()?.fill(T::narrow(T::Acc::ZERO));
    Some(())
}

/// One tap that visits each element once: the input, a row a position, times the weight.
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
    // SAFETY: the same elements of the same views under other shapes; the output is held exclusively by the caller.
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
