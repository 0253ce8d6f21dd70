//! Creating arrays: constant values, ranges and structured matrices.

use std::iter::{once, repeat_n};

use umber_types::shape::normalize_axis;
use umber_types::{DType, Kind, Result, Scalar, Shape, Side, bail, ensure, promote};

use super::elementwise::{add, astype, mixed_sign_uint64, multiply};
use super::promotion::{broadcast_all, cast_constant};
use crate::graph::Array;
use crate::primitives::create::{Arange, ArangeParameters, Eye, EyeParameters};
use crate::primitives::rules::{self, broadcast, move_axis, reshape};

/// Create an array of zeros.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let x = ops::zeros([2, 3], DType::Float16);
/// assert_eq!((x.shape(), x.dtype()), (&Shape::from([2, 3]), DType::Float16));
/// ```
pub fn zeros(shape: impl Into<Shape>, dtype: DType) -> Array {
    Array::full(shape, 0, dtype)
}

/// Create an array of ones.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// let x = ops::ones(2, DType::Int32);
/// assert_eq!(x.to_vec::<i32>()?, [1, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ones(shape: impl Into<Shape>, dtype: DType) -> Array {
    Array::full(shape, 1, dtype)
}

/// Create an array filled with a value.
///
/// The value broadcasts to the shape and is converted to `dtype`, if given. Fails if it does not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let rows = ops::full((2, 2), &Array::from([1, 2]), Some(DType::Float32))?;
/// assert_eq!(rows.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn full(shape: impl Into<Shape>, value: &Array, dtype: Option<DType>) -> Result<Array> {
    let shape = shape.into();
    let value = cast_constant(value, dtype.unwrap_or(value.dtype()))?;
    ensure!(shape.is_addressable(), Overflow("full"), "shape {shape} is too large to address");
    ensure!(
        value.shape().broadcasts_to(&shape),
        Value("full"),
        "cannot broadcast value of shape {} to {shape}",
        value.shape()
    );
    broadcast(&value, &shape)
}

/// Create an array filled with a value, with the shape of another array and a given dtype.
///
/// The value broadcasts to the shape and is converted to `dtype`. Fails if it does not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let twos = ops::full_like(&Array::from([1.5f32, 3.0]), &Array::scalar(2, DType::Int32), DType::Int32)?;
/// assert_eq!(twos.to_vec::<i32>()?, [2, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn full_like(a: &Array, value: &Array, dtype: DType) -> Result<Array> {
    let value = cast_constant(value, dtype)?;
    match value.constant() {
        Some(scalar) if value.ndim() == 0 => Ok(rules::full_like(a, scalar, dtype)),
        _ => full(a.shape(), &value, Some(dtype)),
    }
}

/// Create evenly spaced values in a half-open interval, with a given step.
///
/// The values are `start + i * step` before `stop`, `ceil((stop - start) / step)` elements; an infinite step towards `stop`
/// yields `start` alone. Fails for a step of zero or NaN, ends that are not finite, bool, and more elements than memory can
/// address.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// assert_eq!(ops::arange(1.0, 2.0, 0.25, DType::Float32)?.to_vec::<f32>()?, [1.0, 1.25, 1.5, 1.75]);
/// assert_eq!(ops::arange(5.0, 0.0, -2.0, DType::Int32)?.to_vec::<i32>()?, [5, 3, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn arange(start: f64, stop: f64, step: f64, dtype: DType) -> Result<Array> {
    ensure!(
        start.is_finite() && stop.is_finite() && !step.is_nan(),
        Value("arange"),
        "start and stop must be finite, and step a number, got {start}, {stop} and {step}"
    );
    ensure!(step != 0.0, Value("arange"), "step must be non-zero");
    ensure!(dtype != DType::Bool, Type("arange"), "dtype bool is not supported, expected a numeric dtype");
    if step.is_infinite() {
        // The first step already leaves the interval.
        let length = u64::from(if step > 0.0 { start < stop } else { start > stop });
        let (start, step) = (Scalar::Float(start), Scalar::Int(1));
        let parameters = ArangeParameters { start, step, length, dtype };
        return Array::record_one(Arange(Box::new(parameters)), &[]);
    }
    let length = ((stop - start) / step).ceil().max(0.0);
    if length > (isize::MAX / 16) as f64 {
        bail!(Overflow("arange"), "{length} elements are too many to address");
    }
    let (start, step) = if dtype.is_integer() {
        // The step is the distance of the first two elements after truncation, as in NumPy and MLX.
        let (first, second) = (start as i64, (start + step) as i64);
        (Scalar::Int(first), Scalar::Int(second.wrapping_sub(first)))
    } else {
        (Scalar::Float(start), Scalar::Float(step))
    };
    let parameters = ArangeParameters { start, step, length: length as u64, dtype };
    Array::record_one(Arange(Box::new(parameters)), &[])
}

/// [`arange`] for integers beyond double precision, in an integer `dtype`.
///
/// ```
/// use umber_core::ops;
/// use umber_types::DType;
/// let x = ops::arange_whole(1 << 60, (1 << 60) + 3, 2, DType::Int64)?;
/// assert_eq!(x.size(), 2);
/// # Ok::<(), umber_types::Error>(())
/// ```
///
/// # Errors
/// For a step of zero, a dtype that is not an integer type, and more elements than memory can address.
pub fn arange_whole(start: i128, stop: i128, step: i128, dtype: DType) -> Result<Array> {
    ensure!(step != 0, Value("arange"), "step must be non-zero");
    ensure!(dtype.is_integer(), Type("arange"), "dtype must be an integer dtype, not {dtype}");
    let distance = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    let length = distance.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    if length > isize::MAX as u128 / 16 {
        bail!(Overflow("arange"), "{length} elements are too many to address");
    }
    // Elements wrap around in the dtype, so that only the low 64 bits matter.
    let (start, step) = (Scalar::Int(start as i64), Scalar::Int(step as i64));
    let parameters = ArangeParameters { start, step, length: length as u64, dtype };
    Array::record_one(Arange(Box::new(parameters)), &[])
}

/// Create a given number of evenly spaced values between two ends.
///
/// The last value is `stop` if `endpoint`; otherwise `stop` would be the next value. Fails for a negative length.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// assert_eq!(ops::linspace(0.0, 1.0, 3, true, DType::Float32)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// assert_eq!(ops::linspace(0.0, 1.0, 4, false, DType::Float32)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn linspace(start: f64, stop: f64, length: i64, endpoint: bool, dtype: DType) -> Result<Array> {
    check_length("linspace", length)?;
    let count = if endpoint { length - 1 } else { length };
    if length <= 1 || count == 0 {
        return Ok(Array::full(Shape::from([length as usize]), start, dtype));
    }
    let wide = compute_dtype(dtype);
    if dtype.is_integer() {
        let (start, stop) = (Array::scalar(start, wide), Array::scalar(stop, wide));
        let values = stepped(&start, &stop, length, count, dtype)?;
        return with_exact_ends(&values, &start, &stop, length, endpoint);
    }
    weighted(&Array::scalar(start, wide), &Array::scalar(stop, wide), length, count, dtype)
}

/// The dtype in which evenly spaced values of `dtype` are computed.
fn compute_dtype(dtype: DType) -> DType {
    if dtype.is_integer() || dtype.real() == DType::Float64 { DType::Float64 } else { DType::Float32 }
}

/// The indices `0, 1, …` along the first axis, followed by `ndim` axes of length one.
pub(super) fn index_column(length: i64, ndim: usize, dtype: DType) -> Result<Array> {
    let indices = arange(0.0, length as f64, 1.0, dtype)?;
    reshape(&indices, once(length as usize).chain(repeat_n(1, ndim)).collect::<Shape>())
}

/// Values `start + i * step`. An integral step gives exact integers; interpolation might give 28.999…, which truncates to 28.
fn stepped(start: &Array, stop: &Array, length: i64, count: i64, dtype: DType) -> Result<Array> {
    let step = super::divide(&super::subtract(stop, start)?, &Array::scalar(count as f64, start.dtype()))?;
    let index = index_column(length, start.ndim(), step.dtype())?;
    astype(&add(&multiply(&index, &step)?, start)?, dtype)
}

/// Replace the first value along the first axis, and with `endpoint` the last one, by the exact ends: integers that float64
/// cannot represent would be rounded otherwise.
pub(super) fn with_exact_ends(
    values: &Array,
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
) -> Result<Array> {
    let indices = index_column(length, start.ndim().max(stop.ndim()), DType::Int64)?;
    let put = |values: &Array, index: i64, end: &Array| {
        let is_at_index = super::equal(&indices, &Array::scalar(index, DType::Int64))?;
        super::select(&is_at_index, &astype(end, values.dtype())?, values)
    };
    let values = put(values, 0, start)?;
    if endpoint && length > 1 { put(&values, length - 1, stop) } else { Ok(values) }
}

/// The maximum number of steps for which the product of a remainder and an index fits 64 bits.
const MAX_EXACT_STEPS: i64 = 1 << 31;

/// The 64-bit dtype that represents the integers of both arrays, if there is one.
fn wide_integer(start: &Array, stop: &Array) -> Option<DType> {
    if let Some(signed) = mixed_sign_uint64(start.dtype(), stop.dtype()) {
        let signed = if signed == Side::Left { start } else { stop };
        return signed.constant().is_some_and(|value| value.as_i64() >= 0).then_some(DType::UInt64);
    }
    let both = promote(start.dtype(), stop.dtype());
    match both.kind() {
        Kind::Bool | Kind::Signed => Some(DType::Int64),
        Kind::Unsigned => Some(if both == DType::UInt64 { DType::UInt64 } else { DType::Int64 }),
        Kind::Float | Kind::Complex => None,
    }
}

/// [`stepped`] in integer arithmetic: `start ± floor(distance · i / count)`, moved by one towards zero where the quotient was
/// rounded away from zero.
fn stepped_integers(start: &Array, stop: &Array, length: i64, count: i64, dtype: DType) -> Result<Array> {
    let wide = start.dtype();
    let number = |value: i64| Array::scalar(value, DType::UInt64);
    let rises = super::greater_equal(stop, start)?;
    let (up, down) = (super::subtract(stop, start)?, super::subtract(start, stop)?);
    // Up to 2⁶⁴ - 1: the wrapped difference of signed integers has the same bits in two's complement.
    let distance = astype(&super::select(&rises, &up, &down)?, DType::UInt64)?;
    let index = index_column(length, start.ndim(), DType::UInt64)?;
    let full_steps = multiply(&super::floor_divide(&distance, &number(count))?, &index)?;
    let remainders = multiply(&super::remainder(&distance, &number(count))?, &index)?;
    let steps = astype(&add(&full_steps, &super::floor_divide(&remainders, &number(count))?)?, wide)?;
    let is_rounded = super::not_equal(&super::remainder(&remainders, &number(count))?, &number(0))?;
    let value = super::select(&rises, &add(start, &steps)?, &super::subtract(start, &steps)?)?;
    let (zero, one) = (Array::scalar(0, wide), Array::scalar(1, wide));
    // An ascending negative value was rounded down, a descending positive one up: both away from zero.
    let is_away_from_zero =
        super::select(&rises, &super::less(&value, &zero)?, &super::greater(&value, &zero)?)?;
    let is_away_from_zero = super::logical_and(&is_away_from_zero, &is_rounded)?;
    let corrected = super::select(&rises, &add(&value, &one)?, &super::subtract(&value, &one)?)?;
    astype(&super::select(&is_away_from_zero, &corrected, &value)?, dtype)
}

/// Weighted means of both ends, so that the last value is exactly `stop`.
fn weighted(start: &Array, stop: &Array, length: i64, count: i64, dtype: DType) -> Result<Array> {
    let real = start.dtype().real();
    let index = index_column(length, start.ndim(), real)?;
    let t = multiply(&index, &Array::scalar(1.0 / count as f64, real))?;
    let complement = super::subtract(&Array::scalar(1.0, real), &t)?;
    let value = add(&multiply(&complement, start)?, &multiply(&t, stop)?)?;
    let is_last = super::equal(&index, &Array::scalar(count as f64, real))?;
    astype(&super::select(&is_last, stop, &value)?, dtype)
}

/// [`linspace`] between the elements of two arrays, which broadcast; it is differentiable with respect to both.
///
/// The values lie along `axis` of the result. Values between integers are exact if the dtype is an integer type, truncated
/// towards zero. Fails for a negative length, an axis out of bounds, and a real dtype between complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let (start, stop) = (Array::from([0.0f32, 1.0]), Array::from(2.0f32));
/// let lines = ops::linspace_between(&start, &stop, 3, true, -1, DType::Float32)?;
/// assert_eq!(lines.to_vec::<f32>()?, [0.0, 1.0, 2.0, 1.0, 1.5, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn linspace_between(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    axis: i64,
    dtype: DType,
) -> Result<Array> {
    const OP: &str = "linspace";
    check_length(OP, length)?;
    let is_complex = check_complex(OP, &[start, stop], dtype)?;
    let wide = if is_complex { compute_dtype(dtype).complex() } else { compute_dtype(dtype) };
    let ends = broadcast_all(OP, &[start, stop])?;
    let axis = normalize_axis(OP, axis, ends[0].ndim() + 1)?;
    let count = if endpoint { length - 1 } else { length };
    let integers = wide_integer(start, stop).filter(|_| dtype.is_integer() && count <= MAX_EXACT_STEPS);
    let wide = integers.unwrap_or(wide);
    let (start, stop) = (astype(&ends[0], wide)?, astype(&ends[1], wide)?);
    let values = if length <= 1 || count == 0 {
        let shape: Shape = once(length as usize).chain(start.shape().iter().copied()).collect();
        astype(&broadcast(&start, &shape)?, dtype)?
    } else if integers.is_some() {
        stepped_integers(&start, &stop, length, count, dtype)?
    } else if dtype.is_integer() {
        let values = stepped(&start, &stop, length, count, dtype)?;
        with_exact_ends(&values, &ends[0], &ends[1], length, endpoint)?
    } else {
        weighted(&start, &stop, length, count, dtype)?
    };
    move_axis(&values, 0, axis)
}

/// The distance of neighbouring values of [`linspace_between`]; NaN if there are none.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let step = ops::linspace_step(&Array::from(0.0f32), &Array::from(2.0f32), 5, true, DType::Float32)?;
/// assert_eq!(step.to_vec::<f32>()?, [0.5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn linspace_step(
    start: &Array,
    stop: &Array,
    length: i64,
    endpoint: bool,
    dtype: DType,
) -> Result<Array> {
    let is_complex = check_complex("linspace", &[start, stop], dtype)?;
    let wide = if is_complex { DType::Complex128 } else { DType::Float64 };
    let ends = broadcast_all("linspace", &[start, stop])?;
    let count = if endpoint { length - 1 } else { length };
    if count <= 0 {
        return Ok(Array::full(ends[0].shape().clone(), f64::NAN, dtype.inexact()));
    }
    let divided = |end: &Array| super::divide(&astype(end, wide)?, &Array::scalar(count as f64, wide));
    let (start, stop) = (astype(&ends[0], wide)?, astype(&ends[1], wide)?);
    let distance = super::subtract(&stop, &start)?;
    let is_too_wide = super::isinf(&distance)?;
    let step = super::select(
        &is_too_wide,
        &super::subtract(&divided(&stop)?, &divided(&start)?)?,
        &divided(&distance)?,
    )?;
    astype(&step, dtype.inexact())
}

pub(super) fn check_length(op: &str, length: i64) -> Result<()> {
    ensure!(length >= 0, Value(op), "number of samples must not be negative, got {length}");
    ensure!(length <= (isize::MAX / 16) as i64, Overflow(op), "{length} elements are too many to address");
    Ok(())
}

/// Whether `dtype` is complex; fails if an end is complex and `dtype` is not.
pub(super) fn check_complex(op: &str, ends: &[&Array], dtype: DType) -> Result<bool> {
    let is_complex = ends.iter().any(|end| end.dtype().is_complex());
    ensure!(!is_complex || dtype.is_complex(), Type(op), "dtype {dtype} cannot hold complex numbers");
    Ok(dtype.is_complex())
}

/// [`linspace`] between complex numbers; real and imaginary parts are evenly spaced.
///
/// Fails for a negative length, and for a dtype that is not complex.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// let line = ops::linspace_complex((0.0, 0.0), (1.0, 2.0), 3, true, DType::Complex64)?;
/// assert_eq!(ops::imag(&line)?.to_vec::<f32>()?, [0.0, 1.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn linspace_complex(
    start: (f64, f64),
    stop: (f64, f64),
    length: i64,
    endpoint: bool,
    dtype: DType,
) -> Result<Array> {
    ensure!(dtype.is_complex(), Type("linspace"), "dtype {dtype} cannot hold complex numbers");
    let real = linspace(start.0, stop.0, length, endpoint, dtype.real())?;
    let imaginary = linspace(start.1, stop.1, length, endpoint, dtype.real())?;
    let imaginary_unit = Array::scalar(umber_types::Scalar::Complex(0.0, 1.0), dtype);
    add(&astype(&real, dtype)?, &multiply(&astype(&imaginary, dtype)?, &imaginary_unit)?)
}

/// Create a matrix with ones on a diagonal and zeros elsewhere.
///
/// Diagonal 0 is the main diagonal, positive ones lie above it, negative ones below. Fails for negative lengths.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// assert_eq!(ops::eye(2, 2, 0, DType::Int32)?.to_vec::<i32>()?, [1, 0, 0, 1]);
/// assert_eq!(ops::eye(2, 3, 1, DType::Int32)?.to_vec::<i32>()?, [0, 1, 0, 0, 0, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eye(rows: i64, columns: i64, diagonal: i64, dtype: DType) -> Result<Array> {
    matrix("eye", rows, columns, diagonal, dtype, false)
}

/// Create a matrix with ones on and below a diagonal and zeros elsewhere.
///
/// Diagonal 0 is the main diagonal, positive ones lie above it, negative ones below. Fails for negative lengths.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// assert_eq!(ops::tri(2, 3, 0, DType::Int32)?.to_vec::<i32>()?, [1, 0, 0, 1, 1, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tri(rows: i64, columns: i64, diagonal: i64, dtype: DType) -> Result<Array> {
    matrix("tri", rows, columns, diagonal, dtype, true)
}

fn matrix(op: &str, rows: i64, columns: i64, diagonal: i64, dtype: DType, fill_below: bool) -> Result<Array> {
    let shape = Shape::checked(op, &[rows, columns])?;
    let parameters = EyeParameters { rows: shape[0], columns: shape[1], diagonal, fill_below, dtype };
    Array::record_one(Eye(Box::new(parameters)), &[])
}
