//! Quantiles of weighted elements.

use umber_types::{DType, KeepAxes, Result, Shape, ensure};

use super::data_dependent;
use super::elementwise::{astype, divide, equal, isnan, less, logical_or, select};
use super::quantiles::{check_parts, probabilities};
use super::reductions::{axes_of, check_not_empty, sum};
use super::scans::{ScanOrder, cumsum};
use crate::graph::Array;
use crate::primitives::gather::Places;
use crate::primitives::merged_axes::MergedAxes;
use crate::primitives::rules::{broadcast, cast, move_axis, reshape};
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// Treatment of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanPolicy {
    /// NaN makes the result NaN.
    Spreads,
    /// NaN is ignored.
    IsSkipped,
}

/// Weights of the shape of `a`, or of the lengths of some of its axes, broadcast to the shape of `a`.
fn broadcast_weights(op: &str, weights: &Array, a: &Array, axes: &[usize]) -> Result<Array> {
    let weights = cast(weights, DType::Float64)?;
    if weights.shape() == a.shape() {
        return Ok(weights);
    }
    let lengths: Vec<usize> = axes.iter().map(|&axis| a.shape()[axis]).collect();
    ensure!(
        weights.shape()[..] == lengths[..],
        Value(op),
        "weights must have shape {1} or {2}, got {0}",
        weights.shape(),
        a.shape(),
        Shape::from(lengths)
    );
    let aligned: Shape =
        (0..a.ndim()).map(|axis| if axes.contains(&axis) { a.shape()[axis] } else { 1 }).collect();
    broadcast(&reshape(&weights, aligned)?, a.shape())
}

/// Quantiles of weighted elements over axes: the smallest element whose cumulative weight is at least `q` of the
/// total.
///
/// The result has the shape of `q` followed by that of the reduction, and the dtype of `a`.
///
/// `weights` has the shape of `a`, or the lengths of the axes, and is not negative.
///
/// # Errors
/// If `q` has values outside of [0, 1], weights have another shape, are negative or add up to zero, or an axis has no
/// elements and NaN is not ignored.
///
/// ```
/// use umber_core::ops::{self, NanPolicy};
/// use umber_core::{Array, DType, KeepAxes};
/// let (x, weights) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1, 1, 4]));
/// let half = Array::scalar(0.5, DType::Float64);
/// let result = ops::weighted_quantile(&x, &half, &weights, None, KeepAxes::No, NanPolicy::Spreads)?;
/// assert_eq!(result.to_vec::<f32>()?, [3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn weighted_quantile(
    a: &Array,
    q: &Array,
    weights: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    nan: NanPolicy,
) -> Result<Array> {
    weighted("quantile", a, q, weights, axes, keep, nan)
}

/// Percentiles of weighted elements over axes: the [`weighted_quantile`] with `q` in [0, 100].
///
/// ```
/// use umber_core::ops::{self, NanPolicy};
/// use umber_core::{Array, DType, KeepAxes};
/// let (x, weights) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1, 1, 4]));
/// let quarter = Array::scalar(25, DType::Int32);
/// let result = ops::weighted_percentile(&x, &quarter, &weights, None, KeepAxes::No, NanPolicy::Spreads)?;
/// assert_eq!(result.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`weighted_quantile`].
pub fn weighted_percentile(
    a: &Array,
    q: &Array,
    weights: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    nan: NanPolicy,
) -> Result<Array> {
    weighted("percentile", a, &probabilities("percentile", q)?, weights, axes, keep, nan)
}

fn weighted(
    op: &'static str,
    a: &Array,
    q: &Array,
    weights: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    nan: NanPolicy,
) -> Result<Array> {
    for (name, x) in [("an array", a), ("weights", weights), ("parts", q)] {
        ensure!(
            !x.dtype().is_complex(),
            Type(op),
            "{name} of dtype {} is not supported, expected real numbers",
            x.dtype()
        );
    }
    check_parts(op, q, 1.0)?;
    let axes = axes_of(op, a, axes)?;
    let reduced = a.shape().reduced(&axes, keep);
    let lengths: Shape = q.shape().iter().chain(reduced.iter()).copied().collect();
    if nan == NanPolicy::IsSkipped && axes.iter().any(|&axis| a.shape()[axis] == 0) {
        return Ok(Array::full(lengths, f64::NAN, a.dtype().inexact()));
    }
    check_not_empty(op, a, &axes)?;
    let mut weights = broadcast_weights(op, weights, a, &axes)?;
    let zero = Array::scalar(0.0, DType::Float64);
    if nan == NanPolicy::IsSkipped && a.dtype().is_inexact() {
        weights = select(&isnan(a)?, &zero, &weights)?;
    }
    let merged = MergedAxes::new(a, &axes)?.array;
    let weights = MergedAxes::new(&weights, &axes)?.array;
    let axis = merged.ndim() - 1;
    let order = Sort { axis, what: Sorted::Indices(umber_types::SortOrder::Ascending) };
    let order = Places::along(op, axis, Array::record_one(order, &[&merged])?);
    let (sorted, weights) = (order.read(&merged)?, order.read(&weights)?);
    check_weights(op, &weights, nan)?;
    let length = merged.shape()[axis];
    let cumulative = cumsum(&weights, ScanOrder::along(axis as i64), None)?;
    let cumulative = divide(&cumulative, &slice_along(&cumulative, axis, length - 1, 1)?)?;
    // For each probability, count the elements whose cumulative weight is below it; leading zero weights never count.
    let probabilities = reshape(&cast(q, DType::Float64)?, [q.size(), 1])?;
    let merged_shape = merged.shape().clone();
    let mut expanded: Vec<usize> = merged_shape.to_vec();
    expanded.insert(axis, 1);
    let cumulative = reshape(&cumulative, Shape::from(expanded))?;
    let is_before = logical_or(&less(&cumulative, &probabilities)?, &equal(&cumulative, &zero)?)?;
    let index = sum(&cast(&is_before, DType::Int64)?, Some(&[-1]), KeepAxes::No)?;
    let last = Array::scalar(length as i64 - 1, DType::Int64);
    let index = super::minimum(&index, &last)?;
    let mut value = Places::along(op, axis, index).read(&sorted)?;
    if a.dtype().is_inexact() {
        let shape = value.shape().clone();
        let has_no_weight = isnan(&slice_along(&cumulative, axis + 1, length - 1, 1)?)?;
        let has_no_weight = reshape(&has_no_weight, merged_shape.with(axis, 1))?;
        let last = slice_along(&sorted, axis, length - 1, 1)?;
        let is_nan = match nan {
            NanPolicy::Spreads => isnan(&last)?,
            NanPolicy::IsSkipped => has_no_weight,
        };
        let fill = Array::scalar(f64::NAN, a.dtype());
        value = select(&broadcast(&is_nan, &shape)?, &fill, &value)?;
    }
    reshape(&move_axis(&value, axis, 0)?, lengths)
}

/// Fail if known weights are negative or not finite, or add up to zero along the last axis.
fn check_weights(op: &str, weights: &Array, nan: NanPolicy) -> Result<()> {
    let axis = weights.ndim() as i64 - 1;
    let total = sum(weights, Some(&[axis]), KeepAxes::No)?;
    if weights.size() == 0 || !data_dependent::has_value(&total)? {
        return Ok(());
    }
    for &weight in &astype(weights, DType::Float64)?.to_vec::<f64>()? {
        ensure!(
            weight >= 0.0 && weight.is_finite(),
            Value(op),
            "weights must be finite and non-negative, got {weight}"
        );
    }
    for total in total.to_vec::<f64>()? {
        ensure!(total > 0.0 || nan == NanPolicy::IsSkipped, Value(op), "weights must not all be zero");
    }
    Ok(())
}
