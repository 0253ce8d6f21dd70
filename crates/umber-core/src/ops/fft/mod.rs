//! Fourier transforms along one or several axes and of Hermitian input, and short-time Fourier transforms.
//!
//! Arrays are truncated or zero-padded to the length of a transform. Results are complex64, or complex128 from
//! float64 and complex128; transforms to real arrays give float32 or float64.

mod dct;
mod frequencies;
mod hermitian;
mod multi_axis;
mod stft;

pub use self::dct::{CosineOptions, CosineType, dct, dst, idct, idst};
pub use self::frequencies::{fftfreq, fftshift, ifftshift, rfftfreq};
pub use self::hermitian::{hfft, ihfft};
pub use self::multi_axis::{AxesOf, fftn, ifftn, irfftn, rfftn};
pub use self::stft::{Frames, istft, stft};

use umber_numerics::fft::Scaling;
pub use umber_numerics::fft::Transform;
use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, Shape, bail, ensure};

use crate::graph::Array;
use crate::primitives::concatenate::concatenate;
use crate::primitives::fft::{Fft, natural_length};
use crate::primitives::rules::cast;
use crate::primitives::slice::slice_along;

/// The direction of the transform that divides by the length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// The inverse transform.
    #[default]
    Backward,
    /// Both directions divide by the square root of the length.
    Ortho,
    /// The forward transform.
    Forward,
}

impl Norm {
    /// The norm of this name; `op` names the function in the error.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::fft::Norm;
    /// assert_eq!(Norm::named("fft", "ortho")?, Norm::Ortho);
    /// assert!(Norm::named("fft", "Ortho").is_err());
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn named(op: &str, name: &str) -> Result<Norm> {
        Ok(match name {
            "backward" => Norm::Backward,
            "ortho" => Norm::Ortho,
            "forward" => Norm::Forward,
            _ => bail!(Value(op), "got norm '{name}', expected 'backward', 'ortho' or 'forward'"),
        })
    }

    /// The norm under which the opposite direction has the same scaling.
    fn inverse(self) -> Norm {
        match self {
            Norm::Backward => Norm::Forward,
            Norm::Ortho => Norm::Ortho,
            Norm::Forward => Norm::Backward,
        }
    }

    fn scaling(self, transform: Transform) -> Scaling {
        let is_forward = matches!(transform, Transform::Forward | Transform::RealForward);
        match (self, is_forward) {
            (Norm::Ortho, _) => Scaling::Root,
            (Norm::Forward, true) | (Norm::Backward, false) => Scaling::Length,
            (Norm::Forward, false) | (Norm::Backward, true) => Scaling::One,
        }
    }
}

/// `x` in the input dtype of a transform: real or complex, in double precision if the array has it.
fn readable(x: &Array, transform: Transform) -> Result<Array> {
    let is_wide = matches!(x.dtype(), DType::Float64 | DType::Complex128);
    let dtype = match (transform, is_wide) {
        (Transform::RealForward, false) => DType::Float32,
        (Transform::RealForward, true) => DType::Float64,
        (Transform::Forward | Transform::Inverse | Transform::RealInverse, false) => DType::Complex64,
        (Transform::Forward | Transform::Inverse | Transform::RealInverse, true) => DType::Complex128,
    };
    cast(x, dtype)
}

/// `x` truncated or zero-padded to `length` along an axis.
fn fit(x: &Array, axis: usize, length: usize) -> Result<Array> {
    let current = x.shape()[axis];
    if length <= current {
        return if length == current { Ok(x.clone()) } else { slice_along(x, axis, 0, length) };
    }
    let zeros = Array::full(x.shape().with(axis, length - current), 0.0, x.dtype());
    concatenate(smallvec::smallvec![x.clone(), zeros], axis)
}

/// A transform of length `length` along `axis`.
fn along(op: &str, transform: Transform, a: &Array, length: i64, axis: usize, norm: Norm) -> Result<Array> {
    ensure!(
        length > 0,
        Value(op),
        "needs at least one element along axis {axis}, got {length} (shape {})",
        a.shape()
    );
    let mut lengths: Vec<i64> = a.shape().iter().map(|&length| length as i64).collect();
    lengths[axis] = length;
    let length = Shape::checked(op, &lengths)?[axis];
    let x = fit(&readable(a, transform)?, axis, transform.lengths(length)[0])?;
    Fft { transform, scaling: norm.scaling(transform), axis, length }.apply(&x)
}

/// A transform along an axis, of length `n` or the default length; `op` names the function in errors.
fn one(op: &str, transform: Transform, a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    let axis = normalize_axis(op, axis, a.ndim())?;
    let length = n.unwrap_or_else(|| natural_length(transform, a.shape()[axis]));
    along(op, transform, a, length, axis, norm)
}

/// Discrete Fourier transform along one axis: `y[k] = Σ x[m] exp(-2πi mk / n)`.
///
/// ```
/// use umber_core::Array;
/// use umber_core::ops::fft::{Norm, fft};
///
/// let x = Array::from_slice(&[1.0f32, 0.0, 0.0, 0.0], [4])?;
/// let y = fft(&x, None, -1, Norm::Backward)?.to_vec::<umber_types::Complex32>()?;
/// assert!(y.iter().all(|y| y.re == 1.0 && y.im == 0.0));
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn fft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("fft", Transform::Forward, a, n, axis, norm)
}

/// Inverse Fourier transform along one axis: `x[m] = 1/n Σ y[k] exp(2πi mk / n)`.
///
/// Fails if the axis is out of bounds or `n` is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{Norm, fft, ifft};
/// let x = Array::from([1.0, 2.0, 4.0]);
/// let again = ifft(&fft(&x, None, -1, Norm::Backward)?, None, -1, Norm::Backward)?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ifft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("ifft", Transform::Inverse, a, n, axis, norm)
}

/// Fourier transform of real input along one axis: the `n / 2 + 1` non-negative frequencies.
///
/// The other frequencies are the conjugates of these. The imaginary part of complex input is ignored.
///
/// Fails if the axis is out of bounds or `n` is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape};
/// use umber::ops::fft::{Norm, rfft};
/// let x = Array::from([[1.0f32, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0]]);
/// let y = rfft(&x, None, -1, Norm::Backward)?;
/// assert_eq!(y.shape(), &Shape::from([2, 3]));
/// let real: Vec<f32> = y.to_vec::<umber::types::Complex32>()?.iter().map(|y| y.re).collect();
/// assert_eq!(real, [4.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("rfft", Transform::RealForward, a, n, axis, norm)
}

/// Inverse of [`rfft`]: a real array of length `n` along one axis, by default `2 (length - 1)`.
///
/// ```
/// use umber_core::Array;
/// use umber_core::ops::fft::{Norm, irfft, rfft};
///
/// let x = Array::from_slice(&[1.0f64, 2.0, 4.0], [3])?;
/// let y = irfft(&rfft(&x, None, -1, Norm::Ortho)?, Some(3), -1, Norm::Ortho)?.to_vec::<f64>()?;
/// assert!(y.iter().zip([1.0, 2.0, 4.0]).all(|(y, x)| (y - x).abs() < 1e-14));
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn irfft(a: &Array, n: Option<i64>, axis: i64, norm: Norm) -> Result<Array> {
    one("irfft", Transform::RealInverse, a, n, axis, norm)
}
