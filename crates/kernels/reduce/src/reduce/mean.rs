//! Means whose sums overflow on the way.
//!
//! A few elements of float32 or bfloat16 are summed in float32, and all sums in float64, so means of elements near the
//! maximum may become infinite. Such results are detected by a scan of the results and recomputed from scaled elements in
//! float64.

use num_complex::Complex;
use umber_kernels_base::shared::Target;
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::{View, ViewMut};
use umber_kernels_elementwise::tape::Program;
use umber_types::tape::{Step, Tape};
use umber_types::{
    BinaryKind, Complex32, Complex64, DType, Element, Layout, ReduceKind, Scalar, Shape, bf16, f16,
    match_dtype,
};

use super::{kernels_of, prologue};

/// The element types of means.
trait Field: Element {
    /// The type of their sums.
    type Wide: Element + Default;
    fn is_finite(self) -> bool;
    /// Divide a sum and round the result.
    fn quotient(sum: Self::Wide, count: f64) -> Self;
}

macro_rules! fields {
    ($($ty:ident, $wide:ident, $is_finite:expr, $narrow:expr;)*) => { $(
        impl Field for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn is_finite(self) -> bool {
                $is_finite(self)
            }
            fn quotient(sum: $wide, count: f64) -> $ty {
                $narrow(sum / count)
            }
        }
    )* };
}

fields! {
    f16, f64, f16::is_finite, f16::from_f64;
    bf16, f64, bf16::is_finite, bf16::from_f64;
    f32, f64, f32::is_finite, |mean| mean as f32;
    f64, f64, f64::is_finite, std::convert::identity;
    Complex32, Complex64, Complex::is_finite, |mean: Complex64| Complex::new(mean.re as f32, mean.im as f32);
    Complex64, Complex64, Complex::is_finite, std::convert::identity;
}

/// Recompute non-finite elements of `dst`, the means over `axes` of the only output of `tape` at every index of `shape`.
pub(super) fn recompute_overflowed(
    tape: &Tape,
    inputs: &[View],
    shape: &[usize],
    axes: &[usize],
    dst: ViewMut,
) {
    match_dtype!(inexact dst.dtype(), T => restore_typed::<T>(tape, inputs, shape, axes, &dst), else => ());
}

fn restore_typed<T: Field>(tape: &Tape, inputs: &[View], shape: &[usize], axes: &[usize], dst: &ViewMut) {
    let count: usize = axes.iter().map(|&axis| shape[axis]).product();
    let result_loops = StridedLoops::new(dst.shape(), [dst.strides()]);
    let target = Target::<T>::of(dst);
    let mut are_finite = true;
    let stride = result_loops.inner().strides[0];
    result_loops.inner_runs(0..result_loops.count(), |[at], length| {
        // SAFETY: the offset comes from the layout of the destination.
        let is_finite = |i: isize| unsafe { *target.at(at + i * stride) }.is_finite();
        are_finite &= (0..length as isize).fold(true, |all, i| all & is_finite(i));
    });
    if are_finite || count == 0 {
        return;
    }
    // A power of two, so that scaling is exact.
    let scale = 1.0 / count.next_power_of_two() as f64;
    let Ok(program) = Program::new(&scaled(tape, T::Wide::DTYPE, scale)) else { return };
    let layout = Layout::contiguous(Shape::from(dst.shape()));
    let mut sums = vec![T::Wide::default(); layout.size()];
    let kernels = kernels_of(ReduceKind::Sum, T::Wide::DTYPE, T::Wide::DTYPE);
    prologue::fold(kernels, &program, inputs, shape, axes, ViewMut::of(&mut sums, &layout));
    let mut sums = sums.iter();
    result_loops.walk(0..result_loops.count(), |[at]| {
        let &sum = sums.next().expect("a sum for each mean");
        // SAFETY: the offset comes from the layout of the destination, which no other thread writes.
        let mean = unsafe { &mut *target.at(at) };
        if !mean.is_finite() {
            *mean = T::quotient(sum, count as f64 * scale);
        }
    });
}

/// The tape with its output multiplied by `scale` in a wider dtype.
fn scaled(tape: &Tape, wide: DType, scale: f64) -> Tape {
    let mut tape = tape.clone();
    let mut value = tape.outputs[0];
    let first = tape.inputs.len();
    let mut push = |step| {
        tape.steps.push(step);
        (first + tape.steps.len() - 1) as u32
    };
    value = push(Step::Cast { x: value, to: wide });
    let scale = push(Step::Constant { value: Scalar::Float(scale), dtype: wide });
    value = push(Step::Binary { kind: BinaryKind::Multiply, a: value, b: scale });
    tape.outputs = vec![value];
    tape
}
