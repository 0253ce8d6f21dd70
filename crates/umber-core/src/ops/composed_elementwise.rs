//! Elementwise functions composed of other elementwise functions.

use std::borrow::Cow;
use std::f64::consts::PI;

use umber_types::{BinaryKind, DType, Result, ensure, promote};

use super::elementwise::{
    abs, astype, binary, divide, equal, floor_divide, greater, less, multiply, power, remainder, select, sin,
    square, subtract,
};
use super::promotion::{cast_constant, meet, meet_as};
use super::rounding::round;
use crate::graph::Array;
use crate::primitives::rules::polynomial;

/// Absolute value of each element in floating point.
///
/// The shape is that of `x`; integers and booleans become float32. Not defined for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-3, 0, 2]);
/// assert_eq!(ops::fabs(&x)?.to_vec::<f32>()?, [3.0, 0.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fabs(x: &Array) -> Result<Array> {
    ensure!(
        !x.dtype().is_complex(),
        Type("fabs"),
        "dtype {} is not supported, expected real numbers",
        x.dtype()
    );
    abs(&cast_constant(x, x.dtype().inexact())?)
}

/// Heaviside step function: 0 where `x` is negative, 1 where it is positive, `at_zero` where it is zero.
///
/// NaN is kept. The shapes broadcast; the result has the promoted dtype, in floating point. Fails for complex
/// numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1.5f32, 0.0, f32::INFINITY]);
/// assert_eq!(ops::heaviside(&x, &Array::from(0.5f32))?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn heaviside(x: &Array, at_zero: &Array) -> Result<Array> {
    let dtype = promote(x.dtype(), at_zero.dtype()).inexact();
    ensure!(dtype.is_floating(), Type("heaviside"), "dtype {dtype} is not supported, expected real numbers");
    let (x, at_zero) = meet_as("heaviside", x, at_zero, dtype)?;
    let number = |value: f64| Array::scalar(value, dtype);
    let zero = number(0.0);
    let value = select(&equal(&x, &zero)?, &at_zero, &x)?;
    let positive = select(&greater(&x, &zero)?, &number(1.0), &value)?;
    select(&less(&x, &zero)?, &zero, &positive)
}

/// Elements of `a` raised to the powers `b` in double precision.
///
/// The result is float64, or complex128 if either is complex. The shapes broadcast; fails if they cannot.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let halves = ops::float_power(&Array::from(2), &Array::from([3, 0, -1]))?;
/// assert_eq!(halves.to_vec::<f64>()?, [8.0, 1.0, 0.5]); // integers would have no negative powers
/// # Ok::<(), umber::Error>(())
/// ```
pub fn float_power(a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(promote(a.dtype(), b.dtype()), DType::Float64);
    power(&cast_constant(a, dtype)?, &cast_constant(b, dtype)?)
}

/// Normalised sinc of each element: `sin(pi * x) / (pi * x)`, and 1 at zero.
///
/// Exactly zero at nonzero integers. The shape is that of `x`; integers and booleans become float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let y = ops::sinc(&Array::from([0.0, 0.5, -3.0]))?.to_vec::<f64>()?;
/// assert_eq!((y[0], y[2]), (1.0, 0.0));
/// assert!((y[1] - std::f64::consts::FRAC_2_PI).abs() < 1e-15);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn sinc(x: &Array) -> Result<Array> {
    let dtype = x.dtype().inexact();
    let x = cast_constant(x, if dtype.is_half() { DType::Float32 } else { dtype })?;
    let number = |value: f64| Array::scalar(value, x.dtype());
    // Near zero, use the Taylor series: derivatives of the quotient suffer from cancellation there.
    let is_small = less(&abs(&x)?, &Array::scalar(0.5, x.dtype().real()))?;
    let mut coefficients = [1.0; 15];
    for k in 1..coefficients.len() {
        coefficients[k] = -coefficients[k - 1] * PI * PI / (2 * k * (2 * k + 1)) as f64;
    }
    let series = polynomial(&square(&select(&is_small, &x, &number(0.0))?)?, &coefficients)?;
    let x = select(&is_small, &number(1.0), &x)?;
    let angle = multiply(&x, &number(PI))?;
    let sine = if dtype.is_complex() {
        sin(&angle)?
    } else {
        // sin πx = ± sin π(x - n): the subtraction is exact, however large x is.
        let nearest = round(&x, 0)?;
        let sine = sin(&multiply(&subtract(&x, &nearest)?, &number(PI))?)?;
        let is_odd = equal(&remainder(&nearest, &number(2.0))?, &number(1.0))?;
        multiply(&sine, &select(&is_odd, &number(-1.0), &number(1.0))?)?
    };
    astype(&select(&is_small, &series, &divide(&sine, &angle)?)?, dtype)
}

fn integers<'a>(op: &str, a: &'a Array, b: &'a Array) -> Result<(Cow<'a, Array>, Cow<'a, Array>)> {
    let dtype = promote(a.dtype(), b.dtype());
    ensure!(
        dtype.is_integer(),
        Type(op),
        "dtypes {} and {} are not supported, expected integers with a common integer dtype",
        a.dtype(),
        b.dtype()
    );
    meet(op, a, b)
}

/// Greatest common divisor of integers, element by element; `gcd(0, b) = |b|`.
///
/// The shapes broadcast; the dtype is the promoted one, which must be an integer one.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([12, -8, 0]), Array::from([18, 12, -5]));
/// assert_eq!(ops::gcd(&a, &b)?.to_vec::<i32>()?, [6, 4, 5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn gcd(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = integers("gcd", a, b)?;
    binary(BinaryKind::Gcd, &a, &b)
}

/// Least common multiple of integers, element by element.
///
/// Zero if either is zero; integers wrap around on overflow.
///
/// ```
/// use umber_core::{Array, ops};
/// # fn main() -> umber_types::Result<()> {
/// let (a, b) = (Array::from_slice(&[4i32, -6, 0], [3])?, Array::from_slice(&[6i32, 4, 5], [3])?);
/// assert_eq!(ops::lcm(&a, &b)?.to_vec::<i32>()?, [12, 12, 0]);
/// # Ok(())
/// # }
/// ```
pub fn lcm(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = integers("lcm", a, b)?;
    let divisor = binary(BinaryKind::Gcd, &a, &b)?;
    multiply(&floor_divide(&abs(&a)?, &divisor)?, &abs(&b)?)
}

/// Maximum of two arrays, element by element; where one is NaN, the other one.
///
/// The shapes broadcast; the dtype is the promoted one. Fails if they do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([1.0f32, f32::NAN]), Array::from([2.0f32, 3.0]));
/// assert_eq!(ops::fmax(&a, &b)?.to_vec::<f32>()?, [2.0, 3.0]); // `maximum` returns NaN for the second
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fmax(a: &Array, b: &Array) -> Result<Array> {
    ignoring_nan("fmax", BinaryKind::Maximum, a, b)
}

/// Minimum of two arrays, element by element; where one is NaN, the other one.
///
/// The shapes broadcast; the dtype is the promoted one. Fails if they do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([1.0f32, f32::NAN]), Array::from([2.0f32, 3.0]));
/// assert_eq!(ops::fmin(&a, &b)?.to_vec::<f32>()?, [1.0, 3.0]);
/// assert!(ops::fmin(&a, &Array::from(f32::NAN))?.to_vec::<f32>()?[1].is_nan()); // neither is a number
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fmin(a: &Array, b: &Array) -> Result<Array> {
    ignoring_nan("fmin", BinaryKind::Minimum, a, b)
}

fn ignoring_nan(op: &str, kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet(op, a, b)?;
    if !a.dtype().is_inexact() {
        return binary(kind, &a, &b);
    }
    let (a_is_nan, b_is_nan) = (super::isnan(&a)?, super::isnan(&b)?);
    let result = binary(kind, &a, &b)?;
    select(&a_is_nan, &b, &select(&b_is_nan, &a, &result)?)
}
