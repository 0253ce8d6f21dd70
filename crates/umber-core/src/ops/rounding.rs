//! Rounding to decimal places, and replacement of NaN and infinities.

use umber_types::{DType, Kind, Result, Scalar, UnaryKind};

use super::elementwise::{
    abs, add, astype, bitwise_and, divide, equal, floor_divide, greater, imag, isfinite, isnan, isneginf,
    isposinf, less, logical_and, logical_or, multiply, real, remainder, select, subtract, unary,
};
use super::promotion::{cast_constant, weak};
use crate::graph::Array;
use crate::primitives::composite::lowest_of;
use crate::primitives::rules::zeros_like;

/// Round each element to a number of decimals; halves are rounded to even.
///
/// Negative `decimals` round to tens, hundreds and so on. Integers are rounded exactly, in integer arithmetic;
/// numbers that have no digits to round are kept. 16-bit floats are computed in float32.
///
/// ```
/// use umber_core::{Array, ops};
/// # fn main() -> umber_types::Result<()> {
/// let x = Array::from_slice(&[1.25f32, 1e30], [2])?;
/// assert_eq!(ops::round(&x, 1)?.to_vec::<f32>()?, [1.2, 1e30]);
/// # Ok(())
/// # }
/// ```
pub fn round(x: &Array, decimals: i32) -> Result<Array> {
    match x.dtype().kind() {
        Kind::Bool => return Ok(x.clone()),
        Kind::Unsigned | Kind::Signed if decimals >= 0 => return Ok(x.clone()),
        Kind::Unsigned | Kind::Signed => return round_integer(x, decimals.unsigned_abs()),
        Kind::Float | Kind::Complex if decimals == 0 => return unary(UnaryKind::Round, x),
        Kind::Float | Kind::Complex => {}
    }
    let wide = if x.dtype().is_half() { cast_constant(x, DType::Float32)? } else { x.clone() };
    let max_exponent = if wide.dtype().real() == DType::Float64 { 308 } else { 38 };
    if decimals > max_exponent {
        return Ok(x.clone());
    }
    let rounded = if decimals < -max_exponent {
        multiply(&wide, &weak(Scalar::Float(0.0), &wide))?
    } else {
        let scale = weak(Scalar::Float(10f64.powi(decimals.abs())), &wide);
        if decimals > 0 {
            let scaled = multiply(&wide, &scale)?;
            let rounded = divide(&unary(UnaryKind::Round, &scaled)?, &scale)?;
            if x.dtype().is_complex() {
                rounded
            } else {
                // From here on every float is an integer: scaling it back would only add a rounding error.
                let first_integral = if max_exponent == 308 { 2f64.powi(52) } else { 2f64.powi(23) };
                select(
                    &less(&abs(&scaled)?, &weak(Scalar::Float(first_integral), &scaled))?,
                    &rounded,
                    &wide,
                )?
            }
        } else {
            multiply(&unary(UnaryKind::Round, &divide(&wide, &scale)?)?, &scale)?
        }
    };
    // Keep infinities, NaN, and numbers that overflow when scaled.
    let result = select(&isfinite(&rounded)?, &rounded, &wide)?;
    astype(&result, x.dtype())
}

/// Round each element to the nearest integer in floating point; halves are rounded to even.
///
/// Integers and booleans become float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// assert_eq!(ops::rint(&Array::from([0.5f32, 1.5, -2.6]))?.to_vec::<f32>()?, [0.0, 2.0, -3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rint(x: &Array) -> Result<Array> {
    round(&cast_constant(x, x.dtype().inexact())?, 0)
}

/// Round an integer to a multiple of `10^digits`; halves are rounded to an even multiple.
fn round_integer(x: &Array, digits: u32) -> Result<Array> {
    let dtype = if x.dtype().kind() == Kind::Unsigned { DType::UInt64 } else { DType::Int64 };
    let step = match (dtype, 10u64.checked_pow(digits)) {
        (DType::UInt64, Some(step)) => step,
        (_, Some(step)) if i64::try_from(step).is_ok() => step,
        _ => return Ok(zeros_like(x)),
    };
    let wide = cast_constant(x, dtype)?;
    let number = |value: u64| Array::scalar(Scalar::UInt(value), dtype);
    let step = number(step);
    let above_lower = remainder(&wide, &step)?;
    let lower = subtract(&wide, &above_lower)?;
    // The distance to the next multiple. The multiple itself may overflow.
    let to_upper = subtract(&step, &above_lower)?;
    let is_odd = equal(&bitwise_and(&floor_divide(&lower, &step)?, &number(1))?, &number(1))?;
    let is_tie = logical_and(&equal(&above_lower, &to_upper)?, &is_odd)?;
    let rounds_up = logical_or(&greater(&above_lower, &to_upper)?, &is_tie)?;
    astype(&add(&lower, &select(&rounds_up, &step, &number(0))?)?, x.dtype())
}

/// Replace NaN and infinities by finite numbers.
///
/// Infinities become the extreme finite numbers unless others are given. Both parts of a complex number are
/// replaced. Shape and dtype are those of `x`; integers and booleans are returned unchanged.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5]);
/// let finite = ops::nan_to_num(&x, 0.0, Some(9.0), None)?;
/// assert_eq!(finite.to_vec::<f32>()?, [0.0, 9.0, f32::MIN, 1.5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn nan_to_num(x: &Array, nan: f64, positive: Option<f64>, negative: Option<f64>) -> Result<Array> {
    if !x.dtype().is_inexact() {
        return Ok(x.clone());
    }
    if x.dtype().is_complex() {
        let re = nan_to_num(&real(x)?, nan, positive, negative)?;
        let im = cast_constant(&nan_to_num(&imag(x)?, nan, positive, negative)?, x.dtype())?;
        return add(&re, &multiply(&im, &Array::scalar(Scalar::Complex(0.0, 1.0), x.dtype()))?);
    }
    let largest = -lowest_of(x.dtype().compute_dtype());
    let value = |v: f64| weak(Scalar::Float(v), x);
    let finite = select(&isnan(x)?, &value(nan), x)?;
    let finite = select(&isposinf(x)?, &value(positive.unwrap_or(largest)), &finite)?;
    select(&isneginf(x)?, &value(negative.unwrap_or(-largest)), &finite)
}
