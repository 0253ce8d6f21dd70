//! Values spaced evenly on a logarithmic scale.

use umber_types::shape::normalize_axis;
use umber_types::{DType, KeepAxes, Result, Scalar, ensure};

use super::creation::{
    check_complex, check_length, index_column, linspace, linspace_between, with_exact_ends,
};
use super::data_dependent;
use super::elementwise::{
    abs, add, astype, divide, equal, greater, isfinite, isinf, less, log10, logical_and, logical_or,
    multiply, not_equal, power, select, sign, subtract,
};
use super::promotion::{broadcast_all, cast_constant, common_shape, weak};
use super::reductions::all;
use crate::graph::Array;
use crate::primitives::rules::{broadcast, move_axis};

/// Create values evenly spaced on a logarithmic scale; the ends are given as exponents.
///
/// The values are `base` to the power of evenly spaced exponents, computed in double precision.
///
/// ```
/// use umber_core::{DType, ops};
/// let decades = ops::logspace(0.0, 3.0, 4, true, 10.0, DType::Float32)?;
/// assert_eq!(decades.to_vec::<f32>()?, [1.0, 10.0, 100.0, 1000.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn logspace(
    start: f64,
    stop: f64,
    length: i64,
    endpoint: bool,
    base: f64,
    dtype: DType,
) -> Result<Array> {
    check_length("logspace", length)?;
    let exponents = linspace(start, stop, length, endpoint, DType::Float64)?;
    astype(&power(&weak(base.into(), &exponents), &exponents)?, dtype)
}

/// [`logspace`] between the elements of two arrays, which broadcast with the bases; it is differentiable.
///
/// The values lie along `axis` of the result.
///
/// ```
/// use umber_core::{Array, DType, ops};
/// let (start, stop, base) = (Array::from(0.0f32), Array::from(2.0f32), Array::from([10.0f32, 2.0]));
/// let powers = ops::logspace_between(&start, &stop, 3, true, &base, -1, DType::Float32)?;
/// assert_eq!(powers.to_vec::<f32>()?, [1.0, 10.0, 100.0, 1.0, 2.0, 4.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For a negative length, an axis out of bounds, and a real dtype between complex numbers.
pub fn logspace_between(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    base: &Array,
    axis: i64,
    dtype: DType,
) -> Result<Array> {
    const OP: &str = "logspace";
    check_length(OP, length)?;
    let wide = wide(OP, &[start, stop, base], dtype)?;
    let shape = common_shape(OP, &[start, stop, base])?;
    let axis = normalize_axis(OP, axis, shape.ndim() + 1)?;
    let exponents = linspace_between(&broadcast(start, &shape)?, stop, length, endpoint, 0, wide)?;
    let values = power(&cast_constant(base, wide)?, &exponents)?;
    move_axis(&astype(&values, dtype)?, 0, axis)
}

/// The double-precision dtype in which values of `dtype` are computed.
fn wide(op: &str, ends: &[&Array], dtype: DType) -> Result<DType> {
    Ok(if check_complex(op, ends, dtype)? { DType::Complex128 } else { DType::Float64 })
}

/// Create values in geometric progression between two ends.
///
/// The ends are exact.
///
/// ```
/// use umber_core::{DType, ops};
/// let doubled = ops::geomspace(1.0, 8.0, 4, true, DType::Int32)?;
/// assert_eq!(doubled.to_vec::<i32>()?, [1, 2, 4, 8]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If an end is zero or not finite, or the ends differ in sign.
pub fn geomspace(start: f64, stop: f64, length: i64, endpoint: bool, dtype: DType) -> Result<Array> {
    check_length("geomspace", length)?;
    ensure!(
        start.is_finite() && stop.is_finite() && start != 0.0 && stop != 0.0 && (start > 0.0) == (stop > 0.0),
        Value("geomspace"),
        "start and stop must be finite, non-zero and of the same sign, got {start} and {stop}"
    );
    if !(stop / start).is_normal() {
        // The ratio overflows or underflows; its square root does not, and is multiplied twice.
        let half = (stop.abs().log10() - start.abs().log10()) / 2.0;
        let roots = logspace(0.0, half, length, endpoint, 10.0, DType::Float64)?;
        let ends = (&multiply(&roots, &weak(start.into(), &roots))?, &weak(stop.into(), &roots));
        return scaled(&roots, ends, length, endpoint, dtype);
    }
    let factors = logspace(0.0, (stop / start).log10(), length, endpoint, 10.0, DType::Float64)?;
    let ends = (&weak(start.into(), &factors), &weak(stop.into(), &factors));
    scaled(&factors, ends, length, endpoint, dtype)
}

/// [`geomspace`] between the elements of two arrays, which broadcast; it is differentiable with respect to both.
///
/// The values lie along `axis` of the result. Complex values take the shorter way around zero. Values of traced arrays are
/// not checked: invalid ends yield NaN.
///
/// ```
/// use umber_core::{Array, DType, ops};
/// let (start, stop) = (Array::from([1.0f32, 3.0]), Array::from([4.0f32, 12.0]));
/// let doubled = ops::geomspace_between(&start, &stop, 3, true, -1, DType::Int32)?;
/// assert_eq!(doubled.to_vec::<i32>()?, [1, 2, 4, 3, 6, 12]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For a negative length, an axis out of bounds, a real dtype between complex numbers, and where [`geomspace`] fails.
pub fn geomspace_between(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    axis: i64,
    dtype: DType,
) -> Result<Array> {
    const OP: &str = "geomspace";
    check_length(OP, length)?;
    let wide = wide(OP, &[start, stop], dtype)?;
    let ends = broadcast_all(OP, &[start, stop])?;
    let axis = normalize_axis(OP, axis, ends[0].ndim() + 1)?;
    let (start, stop) = (astype(&ends[0], wide)?, astype(&ends[1], wide)?);
    check_ends(&start, &stop)?;
    let ratio = abs(&divide(&stop, &start)?)?;
    let smallest_normal = Array::scalar(f64::MIN_POSITIVE, DType::Float64);
    let is_extreme = logical_or(&isinf(&ratio)?, &less(&ratio, &smallest_normal)?)?;
    let one = Array::scalar(1.0, wide);
    let finite = |end: &Array| select(&is_extreme, &one, end);
    let log_ratio = log10(&divide(&finite(&stop)?, &finite(&start)?)?)?;
    // The ratio may overflow or underflow; its square root does not, and is multiplied twice.
    let exponent = select(&is_extreme, &half_distance(&start, &stop)?, &log_ratio)?;
    let (zero, ten) = (Array::scalar(0.0, DType::Float64), Array::scalar(10.0, DType::Float64));
    let factors = logspace_between(&zero, &exponent, length, endpoint, &ten, 0, wide)?;
    let scaled_start = select(&is_extreme, &multiply(&factors, &start)?, &start)?;
    let mut values = scaled(&factors, (&scaled_start, &stop), length, endpoint, dtype)?;
    if dtype.is_integer() && length > 0 {
        values = with_exact_ends(&values, &ends[0], &ends[1], length, endpoint)?;
    }
    move_axis(&values, 0, axis)
}

/// Half of the logarithm of `stop / start`; the quotient itself may overflow.
fn half_distance(start: &Array, stop: &Array) -> Result<Array> {
    let log_magnitude = |end: &Array| log10(&abs(end)?);
    let sign_phase = log10(&divide(&sign(stop)?, &sign(start)?)?)?;
    let distance = add(&subtract(&log_magnitude(stop)?, &log_magnitude(start)?)?, &sign_phase)?;
    multiply(&distance, &weak(0.5.into(), &distance))
}

/// Fail for ends without a common ratio, if their values are known.
fn check_ends(start: &Array, stop: &Array) -> Result<()> {
    if start.is_traced() || stop.is_traced() {
        return Ok(());
    }
    let is_end = |end: &Array| {
        let zero = weak(Scalar::Int(0), end);
        logical_and(&isfinite(end)?, &not_equal(end, &zero)?)
    };
    let mut is_valid = logical_and(&is_end(start)?, &is_end(stop)?)?;
    if !start.dtype().is_complex() {
        let is_positive = |end: &Array| greater(end, &weak(Scalar::Int(0), end));
        is_valid = logical_and(&is_valid, &equal(&is_positive(start)?, &is_positive(stop)?)?)?;
    }
    let is_valid = data_dependent::known(&all(&is_valid, None, KeepAxes::No)?)?;
    ensure!(
        is_valid.is_none_or(Scalar::as_bool),
        Value("geomspace"),
        "start and stop must be finite, non-zero and of the same sign"
    );
    Ok(())
}

/// `factors` times the start, with the exact `stop` as the last value.
fn scaled(
    factors: &Array,
    (start, stop): (&Array, &Array),
    length: i64,
    endpoint: bool,
    dtype: DType,
) -> Result<Array> {
    let mut values = multiply(factors, start)?;
    if endpoint && length > 1 {
        let indices = index_column(length, stop.ndim(), DType::Int64)?;
        let is_last = equal(&indices, &weak(Scalar::Int(length - 1), &indices))?;
        values = select(&is_last, stop, &values)?;
    }
    if dtype.is_integer() {
        // A rounding error of the factor must not truncate an integer to its predecessor.
        let nearest = super::round(&values, 0)?;
        let distance = super::abs(&super::subtract(&values, &nearest)?)?;
        let bound = multiply(&super::abs(&nearest)?, &weak(1e-12.into(), &nearest))?;
        values = select(&super::less_equal(&distance, &bound)?, &nearest, &values)?;
    }
    astype(&values, dtype)
}
