//! Quantiles and percentiles.

use umber_types::{Axes, DType, KeepAxes, Result, Shape, ensure};

use super::elementwise::{add, astype, divide, equal, isinf, isnan, less, multiply, select, subtract};
use super::error_context::with_op;
use super::median::{median, median_of_numbers};
use super::nan_reductions::count_numbers;
use super::quantile_methods::{QuantileMethod, QuantilePosition, number, quantile_positions};
use super::reductions::{axes_of, check_not_empty, widened};
use crate::graph::Array;
use crate::primitives::gather::Places;
use crate::primitives::merged_axes::MergedAxes;
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::rules::{broadcast, cast, full_like, move_axis, reshape};
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// Treatment of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nan {
    /// NaN makes the result NaN.
    Spreads,
    /// NaN is ignored.
    IsSkipped,
}

/// Linear interpolation from `low` to `high` by a fraction, exact at both ends, between equal elements, and next to infinities.
fn between(low: &Array, high: &Array, fraction: &Array) -> Result<Array> {
    let zero = number(0.0, low);
    let step = select(&equal(low, high)?, &zero, &subtract(high, low)?)?;
    let from_low = add(low, &multiply(&step, fraction)?)?;
    let complement = subtract(&number(1.0, fraction), fraction)?;
    let from_high = subtract(high, &multiply(&step, &complement)?)?;
    let value = select(&less(fraction, &number(0.5, fraction))?, &from_low, &from_high)?;
    // An infinite step times zero is NaN; the sum of both ends is the infinite end.
    let at_low = equal(fraction, &number(0.0, fraction))?;
    let at_high = equal(fraction, &number(1.0, fraction))?;
    let end = select(&at_low, low, &select(&at_high, high, &add(low, high)?)?)?;
    select(&isinf(&step)?, &end, &value)
}

/// Fail if a known value of `q` is outside of 0 to `max_value`.
pub(super) fn check_parts(op: &str, q: &Array, max_value: f64) -> Result<()> {
    if q.constant().is_none() && (!q.is_evaluated() || q.is_traced()) {
        return Ok(());
    }
    for value in astype(q, DType::Float64)?.to_vec::<f64>()? {
        ensure!(
            (0.0..=max_value).contains(&value),
            Value(op),
            "q must be between 0 and {max_value}, got {value}"
        );
    }
    Ok(())
}

fn quantile_of(
    op: &str,
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
    nan: Nan,
) -> Result<Array> {
    ensure!(!a.dtype().is_complex(), Type(op), "dtype {} is not supported, expected real numbers", a.dtype());
    ensure!(q.dtype().is_floating(), Type(op), "q must be floating-point, not {}", q.dtype());
    check_parts(op, q, 1.0)?;
    let axes = axes_of(op, a, axes)?;
    let reduced = a.shape().reduced(&axes, keep);
    let lengths: Shape = q.shape().iter().chain(reduced.iter()).copied().collect();
    if nan == Nan::IsSkipped && axes.iter().any(|&axis| a.shape()[axis] == 0) {
        return Ok(Array::full(lengths, f64::NAN, a.dtype().inexact()));
    }
    check_not_empty(op, a, &axes)?;
    let merged = MergedAxes::new(a, &axes)?.array;
    let axis = merged.ndim() - 1;
    let length = merged.shape()[axis];
    let sorted = Array::record_one(Sort { axis, what: Sorted::Values }, &[&merged])?;
    // Positions are computed in float32 for a `q` of at most 32 bits, unless float32 cannot represent them.
    let is_narrow = q.dtype() != DType::Float64 && length < 1 << 22;
    let count_dtype = if is_narrow { DType::Float32 } else { DType::Float64 };
    let n = match nan {
        Nan::Spreads => {
            NumberOfElements { axes: Axes::sorted([axis]), dtype: count_dtype }.record(&sorted)?
        }
        Nan::IsSkipped => count_numbers(&merged, Some(&[-1]), KeepAxes::Yes, count_dtype)?,
    };
    let probabilities = cast(&reshape(q, [q.size()])?, count_dtype)?;
    let shape = merged.shape().with(axis, q.size());
    // Broadcast positions to one per row, computed from the array to hold for any number of rows of a shape-generic trace.
    let zeros = full_like(&slice_along(&sorted, axis, 0, 1)?, 0, DType::Int64);
    let gather = |position: &Array| {
        let indices = add(&zeros, &cast(position, DType::Int64)?)?;
        Places::along("quantile", axis, indices).read(&sorted)
    };
    let mut value = match quantile_positions(&probabilities, &n, method)? {
        QuantilePosition::At(position) => gather(&position)?,
        QuantilePosition::Between { low, high, fraction } => {
            let (low, high) = (widened(&gather(&low)?)?, widened(&gather(&high)?)?);
            cast(&between(&low, &high, &cast(&fraction, low.dtype())?)?, a.dtype().inexact())?
        }
    };
    if nan == Nan::Spreads && a.dtype().is_inexact() {
        // NaN sorts last: the last element is NaN if and only if any element is.
        let last = broadcast(&slice_along(&sorted, axis, length - 1, 1)?, &shape)?;
        value = select(&isnan(&last)?, &last, &value)?;
    }
    reshape(&move_axis(&value, axis, 0)?, lengths)
}

/// Quantiles of the elements over axes.
///
/// The result has the shape of `q` followed by that of the reduction; `q` holds probabilities in [0, 1]. Methods
/// that select an element keep the dtype; otherwise integers give float32. NaN if any element is NaN.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, 3.0, 2.0], [4])?;
/// let q = Array::scalar(0.25, DType::Float64);
/// let result = ops::quantile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(result.to_vec::<f32>()?, [1.75]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If `q` has values outside of [0, 1] (values that are not evaluated yet are limited to it instead), or an axis has no
/// elements.
pub fn quantile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("quantile", a, q, axes, keep, method, Nan::Spreads)
}

/// Quantiles of the elements over axes, ignoring NaN.
///
/// As [`quantile`]; NaN where all elements are NaN, or there are none.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// let q = Array::scalar(0.5, DType::Float64);
/// let result = ops::nanquantile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(result.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`quantile`], except for axes without elements.
pub fn nanquantile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("nanquantile", a, q, axes, keep, method, Nan::IsSkipped)
}

/// Percentages as probabilities; fail for known values outside of 0 to 100.
pub(super) fn probabilities(op: &str, q: &Array) -> Result<Array> {
    ensure!(!q.dtype().is_complex(), Type(op), "q must be real, not {}", q.dtype());
    check_parts(op, q, 100.0)?;
    let is_known = q.constant().is_some() || (q.is_evaluated() && !q.is_traced());
    let q = if q.dtype().is_floating() { q.clone() } else { cast(q, DType::Float64)? };
    let quotient = divide(&q, &number(100.0, &q))?;
    if is_known {
        // Known values are checked again as probabilities, so that the quotient must be evaluated too.
        quotient.eval()?;
    }
    Ok(quotient)
}

/// Percentiles of the elements over axes: the [`quantile`] with `q` in [0, 100].
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4i32, 1, 3, 2], [4])?;
/// let q = Array::scalar(75, DType::Int32);
/// let result = ops::percentile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(result.to_vec::<f32>()?, [3.25]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`quantile`].
pub fn percentile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("percentile", a, &probabilities("percentile", q)?, axes, keep, method, Nan::Spreads)
}

/// Percentiles of the elements over axes, ignoring NaN: the [`nanquantile`] with `q` in [0, 100].
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// let q = Array::scalar(100, DType::Int32);
/// let result = ops::nanpercentile(&x, &q, None, KeepAxes::No, ops::QuantileMethod::Linear)?;
/// assert_eq!(result.to_vec::<f32>()?, [4.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`nanquantile`].
pub fn nanpercentile(
    a: &Array,
    q: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    method: QuantileMethod,
) -> Result<Array> {
    quantile_of("nanpercentile", a, &probabilities("nanpercentile", q)?, axes, keep, method, Nan::IsSkipped)
}

/// Median of the elements over axes, ignoring NaN.
///
/// NaN where all elements are NaN, or there are none.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[4.0f32, 1.0, f32::NAN, 2.0], [4])?;
/// assert_eq!(ops::nanmedian(&x, None, KeepAxes::No)?.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn nanmedian(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let reduced_axes = axes_of("nanmedian", a, axes)?;
    let is_empty = reduced_axes.iter().any(|&axis| a.shape()[axis] == 0);
    if !a.dtype().is_inexact() || is_empty {
        return with_op("nanmedian", median(a, axes, keep));
    }
    if a.dtype().is_complex() {
        return median_of_numbers(a, &reduced_axes, keep);
    }
    quantile_of(
        "nanmedian",
        a,
        &Array::scalar(0.5, DType::Float64),
        axes,
        keep,
        QuantileMethod::Linear,
        Nan::IsSkipped,
    )
}
