//! Unwrapping of phases.

use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, Scalar, ensure, promote};

use super::comparisons::diff;
use super::elementwise::{abs, add, equal, greater, less, logical_and, remainder, select, subtract};
use super::promotion::{cast_constant, weak};
use super::scans::{ScanOrder, cumsum};
use super::shaping::concatenate;
use crate::graph::Array;
use crate::primitives::rules::cast;
use crate::primitives::slice::slice_along;

/// Remove jumps of more than half a period by adding multiples of the period.
///
/// Adjacent elements of the result differ by at most half a period, unless their difference is below `jump`, by
/// default half the period. Integers with an integer period keep their dtype; otherwise they become float32. The
/// derivative is one.
///
/// # Errors
/// For complex numbers, and a period that is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Scalar, ops};
/// let hours = ops::unwrap(&Array::from([22, 23, 0, 1]), None, -1, Scalar::Int(24))?;
/// assert_eq!(hours.to_vec::<i32>()?, [22, 23, 24, 25]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn unwrap(p: &Array, jump: Option<f64>, axis: i64, period: Scalar) -> Result<Array> {
    let axis = normalize_axis("unwrap", axis, p.ndim())?;
    let dtype = promote(p.dtype(), period.weak_dtype(p.dtype()));
    ensure!(
        !dtype.is_complex() && dtype != DType::Bool,
        Type("unwrap"),
        "dtype {dtype} is not supported, expected real numbers"
    );
    let length = period.as_f64();
    ensure!(length > 0.0, Value("unwrap"), "period must be positive, got {length}");
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let p = cast_constant(p, wide)?;
    if p.shape()[axis] < 2 {
        return cast(&p, dtype);
    }
    let number = |value: Scalar| Array::scalar(value, wide);
    let (full, half, has_exact_half) = if dtype.is_integer() {
        let period = period.as_i64();
        (Scalar::Int(period), Scalar::Int(period / 2), period % 2 == 0)
    } else {
        (Scalar::Float(length), Scalar::Float(length / 2.0), true)
    };
    let (full, half) = (number(full), number(half));
    let step = diff(&p, 1, axis as i64)?;
    let low = subtract(&number(0.into()), &half)?;
    let mut wrapped = add(&remainder(&subtract(&step, &low)?, &full)?, &low)?;
    if has_exact_half {
        // Keep the sign of a step of exactly half a period.
        let is_upwards = logical_and(&equal(&wrapped, &low)?, &greater(&step, &number(0.into()))?)?;
        wrapped = select(&is_upwards, &half, &wrapped)?;
    }
    let limit = weak(Scalar::Float(jump.unwrap_or(length / 2.0)), &abs(&step)?);
    let is_small = less(&abs(&step)?, &limit)?;
    let correction = select(&is_small, &number(0.into()), &subtract(&wrapped, &step)?)?;
    let correction = super::stop_gradient(&cumsum(&correction, ScanOrder::along(axis as i64), None)?)?;
    let count = p.shape()[axis] - 1;
    let corrected = add(&slice_along(&p, axis, 1, count)?, &correction)?;
    cast(&concatenate(&[&slice_along(&p, axis, 0, 1)?, &corrected], Some(axis as i64))?, dtype)
}
