//! Window functions: weights that decrease towards both ends of an interval.

use std::f64::consts::PI;

use umber_types::{DType, Result, Shape};

use super::creation::{arange, ones};
use super::elementwise::{abs, add, astype, cos, divide, exp, i0e, multiply, sqrt, subtract};
use super::promotion::weak;
use crate::graph::Array;

/// Evaluate `weights` at `length` evenly spaced points from -1 to 1.
///
/// Computed in float64 and rounded once; exactly symmetric.
fn window(op: &str, length: i64, weights: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    if length <= 1 {
        return Ok(ones(&Shape::checked(op, &[length.max(0)])?, DType::Float32));
    }
    Shape::checked(op, &[length])?;
    let last = (length - 1) as f64;
    let points = arange(-last, last + 1.0, 2.0, DType::Float64)?;
    astype(&weights(&multiply(&points, &weak((1.0 / last).into(), &points))?)?, DType::Float32)
}

/// `constant + Σ terms[k] cos(π (k + 1) x)`.
fn cosines(op: &str, length: i64, constant: f64, terms: &[f64]) -> Result<Array> {
    window(op, length, |x| {
        let mut sum = weak(constant.into(), x);
        for (k, &factor) in terms.iter().enumerate() {
            let wave = cos(&multiply(x, &weak((PI * (k + 1) as f64).into(), x))?)?;
            sum = add(&sum, &multiply(&wave, &weak(factor.into(), x))?)?;
        }
        Ok(sum)
    })
}

/// Bartlett window: a triangle with zeros at both ends.
///
/// `w[n] = 1 - |2n / (length - 1) - 1|`, float32 of shape `(length,)`; empty for a length below 1.
///
/// ```
/// assert_eq!(umber_core::ops::bartlett(5)?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 0.5, 0.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn bartlett(length: i64) -> Result<Array> {
    window("bartlett", length, |x| subtract(&weak(1.0.into(), x), &abs(x)?))
}

/// Blackman window: a sum of three cosine terms with small side lobes.
///
/// `w[n] = 0.42 - 0.5 cos(t) + 0.08 cos(2t)` with `t = 2πn / (length - 1)`, float32 of shape `(length,)`.
///
/// ```
/// assert_eq!(umber_core::ops::blackman(3)?.to_vec::<f32>()?[1], 1.0);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn blackman(length: i64) -> Result<Array> {
    cosines("blackman", length, 0.42, &[0.5, 0.08])
}

/// Hamming window: a raised cosine that does not reach zero at its ends.
///
/// `w[n] = 0.54 - 0.46 cos(2πn / (length - 1))`, float32 of shape `(length,)`.
///
/// ```
/// assert_eq!(umber_core::ops::hamming(3)?.to_vec::<f32>()?, [0.08, 1.0, 0.08]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn hamming(length: i64) -> Result<Array> {
    cosines("hamming", length, 0.54, &[0.46])
}

/// Hann window: a raised cosine with zeros at both ends.
///
/// `w[n] = 0.5 - 0.5 cos(2πn / (length - 1))`, float32 of shape `(length,)`.
///
/// ```
/// assert_eq!(umber_core::ops::hanning(3)?.to_vec::<f32>()?, [0.0, 1.0, 0.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn hanning(length: i64) -> Result<Array> {
    cosines("hanning", length, 0.5, &[0.5])
}

/// Kaiser window: a family of windows with an adjustable trade-off of width and side lobes.
///
/// `w[n] = I(β sqrt(1 - t²)) / I(β)` with `t = 2n / (length - 1) - 1` and the modified Bessel function `I` of order zero,
/// float32 of shape `(length,)`.
///
/// ```
/// let window = umber_core::ops::kaiser(3, 14.0)?.to_vec::<f32>()?;
/// assert_eq!(window[1], 1.0);
/// assert!(window[0] < 1e-5);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn kaiser(length: i64, beta: f64) -> Result<Array> {
    let beta = beta.abs();
    window("kaiser", length, |x| {
        let number = |value: f64| weak(value.into(), x);
        let arc = sqrt(&subtract(&number(1.0), &multiply(x, x)?)?)?;
        // Exponentially scaled Bessel functions do not overflow.
        let ratio = divide(&i0e(&multiply(&arc, &number(beta))?)?, &i0e(&number(beta))?)?;
        multiply(&ratio, &exp(&multiply(&subtract(&arc, &number(1.0))?, &number(beta))?)?)
    })
}
