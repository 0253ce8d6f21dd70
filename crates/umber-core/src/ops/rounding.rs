//! Rounding to a number of decimal places.

use umber_types::{DType, Result, Scalar, UnaryKind};

use super::elementwise::{abs, astype, divide, isfinite, less, multiply, select};
use super::promotion::{cast_constant, weak};
use crate::graph::Array;
use crate::primitives::rules;

/// Round to `decimals` places, halves to even; a negative number of places rounds before the point.
///
/// Half types are rounded in float32, whole numbers in float64.
pub fn round(x: &Array, decimals: i32) -> Result<Array> {
    let dtype = x.dtype();
    if decimals >= 0 && !dtype.is_inexact() {
        return Ok(x.clone());
    }
    if decimals == 0 {
        return rules::unary(UnaryKind::Round, x);
    }
    let computed = match dtype {
        dtype if dtype.is_half() => DType::Float32,
        dtype if dtype.is_inexact() => dtype,
        _ => DType::Float64,
    };
    let wide = cast_constant(x, computed)?;
    // A power of ten that the dtype cannot hold would give not-a-number instead of a rounded value.
    let largest = if computed.real() == DType::Float64 { 308 } else { 38 };
    let scale = weak(Scalar::Float(10f64.powi(decimals.saturating_abs().min(largest))), &wide);
    let rounded = if decimals > largest {
        return Ok(x.clone());
    } else if decimals > 0 {
        let scaled = multiply(&wide, &scale)?;
        let rounded = divide(&rules::unary(UnaryKind::Round, &scaled)?, &scale)?;
        select(&has_digits(&scaled)?, &rounded, &wide)?
    } else if decimals < -largest {
        select(&isfinite(&wide)?, &rules::zeros_like(&wide), &wide)?
    } else {
        multiply(&rules::unary(UnaryKind::Round, &divide(&wide, &scale)?)?, &scale)?
    };
    astype(&rounded, dtype)
}

/// Where a scaled value may have digits behind the point; elsewhere scaling and back would only lose some in front.
fn has_digits(scaled: &Array) -> Result<Array> {
    if scaled.dtype().is_complex() {
        return isfinite(scaled);
    }
    let mantissa = if scaled.dtype() == DType::Float64 { 53 } else { 24 };
    let whole_from = weak(Scalar::Float(2f64.powi(mantissa)), scaled);
    less(&abs(scaled)?, &whole_from)
}
