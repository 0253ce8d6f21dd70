//! Discrete Fourier transforms of the lines along an axis: by `rustfft` for complex lines, and `realfft` for real ones.
//!
//! Lines whose length is a power of two are transformed several at a time instead, one per SIMD lane, and long ones as
//! matrices (`power_of_two`).
//!
//! A block of lines is copied into dense buffers, transformed there, scaled and written back. Dense lines are transformed in
//! the output itself. Threads split the lines; a single line is only split if it is transformed as a matrix.

mod batch;
mod batched;
mod four_step;
mod load_store;
mod passes;
mod plans;
mod power_of_two;
mod real_packing;

use rustfft::FftDirection;
use umber_types::{DType, Element, Result};

use self::batch::{LineBatch, Worker};
use self::plans::Real;
use num_complex::Complex;
use umber_kernels_base::{View, ViewMut};

/// The kind of a transform. None of them is normalised: see [`Scaling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Transform {
    /// `y[k] = Σ x[j] exp(-2πi jk / n)`, complex to complex.
    Forward,
    /// `y[k] = Σ x[j] exp(2πi jk / n)`, complex to complex.
    Inverse,
    /// The first `n / 2 + 1` results of `Forward` for real lines.
    RealForward,
    /// The real result of `Inverse` for the Hermitian line that begins with the given `n / 2 + 1` elements.
    RealInverse,
}

/// The factor of the results, for lines of `n` real or complex elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Scaling {
    /// No scaling.
    One,
    /// `1 / √n`.
    Root,
    /// `1 / n`.
    Length,
}

impl Transform {
    /// Number of elements of the source and of the destination for a transform of length `length`.
    pub fn lengths(self, length: usize) -> [usize; 2] {
        match self {
            Transform::Forward | Transform::Inverse => [length, length],
            Transform::RealForward => [length, length / 2 + 1],
            Transform::RealInverse => [length / 2 + 1, length],
        }
    }
}

impl Scaling {
    fn factor(self, length: usize) -> f64 {
        match self {
            Scaling::One => 1.0,
            Scaling::Root => 1.0 / (length as f64).sqrt(),
            Scaling::Length => 1.0 / length as f64,
        }
    }
}

/// Transform every line of `src` along `axis` into the corresponding line of `dst`.
///
/// `length` is the length of the transform; see [`Transform::lengths`] for the number of elements on each side.
///
/// # Errors
/// If there is no memory for the plan or the buffers.
///
/// # Panics
/// If `length` is zero, or dtypes or shapes do not fit the transform.
pub fn fft(
    transform: Transform,
    scaling: Scaling,
    length: usize,
    axis: usize,
    src: View,
    dst: ViewMut,
) -> Result<()> {
    assert!(length > 0, "a line has at least one number");
    assert_eq!([src.shape()[axis], dst.shape()[axis]], transform.lengths(length), "lines fit the transform");
    let are_complex = match transform {
        Transform::Forward | Transform::Inverse => [true, true],
        Transform::RealForward => [false, true],
        Transform::RealInverse => [true, false],
    };
    assert_eq!([src.dtype(), dst.dtype()].map(DType::is_complex), are_complex, "dtypes fit the transform");
    if dst.size() == 0 {
        return Ok(());
    }
    match (src.dtype().real(), dst.dtype().real()) {
        (DType::Float32, DType::Float32) => transform_as::<f32>(transform, scaling, length, axis, &src, &dst),
        (DType::Float64, DType::Float64) => transform_as::<f64>(transform, scaling, length, axis, &src, &dst),
        (from, to) => unreachable!("transforms are computed in one dtype, not from {from} to {to}"),
    }
}

fn transform_as<T: Real>(
    transform: Transform,
    scaling: Scaling,
    length: usize,
    axis: usize,
    src: &View,
    dst: &ViewMut,
) -> Result<()>
where
    Complex<T>: Element,
{
    let factor = T::from_f64(scaling.factor(length)).expect("every real type holds the factor");
    let mut lines = LineBatch::new(src, axis, dst);
    lines.skip(power_of_two::transform(transform, factor, length, &lines)?);
    if lines.count() == 0 {
        return Ok(());
    }
    match transform {
        Transform::Forward | Transform::Inverse => {
            let forward = transform == Transform::Forward;
            let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
            let plan = T::plan_complex(length, direction)?;
            let scratch = plan.get_inplace_scratch_len();
            let work = |lines: &mut [Complex<T>], scratch: &mut [Complex<T>]| {
                plan.process_with_scratch(lines, scratch);
                scale(lines, factor);
            };
            if lines.are_dense() { lines.in_place(scratch, work) } else { lines.in_buffer(scratch, work) }
        }
        Transform::RealForward => {
            let plan = T::plan_real_forward(length)?;
            lines.run(plan.get_scratch_len(), |worker: &mut Worker<T, Complex<T>, Complex<T>>| {
                let pairs = worker.input.chunks_mut(length).zip(worker.output.chunks_mut(length / 2 + 1));
                for (input, output) in pairs {
                    plan.process_with_scratch(input, output, &mut worker.scratch).expect("lengths fit");
                }
                scale(&mut worker.output, factor);
            })
        }
        Transform::RealInverse => {
            let plan = T::plan_real_inverse(length)?;
            let half = length / 2 + 1;
            lines.run(plan.get_scratch_len(), |worker: &mut Worker<Complex<T>, T, Complex<T>>| {
                for (input, output) in worker.input.chunks_mut(half).zip(worker.output.chunks_mut(length)) {
                    // Imaginary parts that a Hermitian line cannot have are ignored.
                    input[0].im = T::zero();
                    if length.is_multiple_of(2) {
                        input[half - 1].im = T::zero();
                    }
                    plan.process_with_scratch(input, output, &mut worker.scratch).expect("lengths fit");
                }
                for value in worker.output.iter_mut() {
                    *value = *value * factor;
                }
            })
        }
    }
}

fn scale<T: Real>(values: &mut [Complex<T>], factor: T) {
    if factor != T::one() {
        for value in values {
            *value = value.scale(factor);
        }
    }
}
