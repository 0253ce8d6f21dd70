//! Reductions and scans that ignore NaN.
//!
//! Integers and booleans have no NaN, so that these are the ordinary functions for them.

use umber_types::{ArgReduceKind, Axes, DType, KeepAxes, ReduceKind, Result, Scalar, ensure};

use super::elementwise::{greater, isnan, logical_and, logical_not, select};
use super::error_context::with_op;
use super::masked_reductions::{
    Elements, Selection, mean_selected, reduce_selected, std_selected, var_selected,
};
use super::promotion::{cast_constant, weak};
use super::reductions::{all, argmax, argmin, axes_of, check_not_empty, count_true, widened};
use super::scans::{ScanOrder, cumprod, cumsum};
use crate::graph::Array;
use crate::primitives::composite::Measure;
use crate::primitives::control::Control;
use crate::primitives::rules::cast;

/// `a` with NaN replaced by `value`.
fn filled(a: &Array, value: f64) -> Result<Array> {
    if !a.dtype().is_inexact() {
        return Ok(a.clone());
    }
    select(&isnan(a)?, &weak(Scalar::Float(value), a), a)
}

/// The number of elements over axes that are not NaN, as `dtype`.
pub(super) fn count_numbers(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, dtype: DType) -> Result<Array> {
    let is_number = logical_not(&isnan(a)?)?;
    cast(&count_true(&is_number, &axes_of("count", a, axes)?, keep)?, dtype)
}

/// `a` in the requested dtype, with masked elements replaced by NaN.
fn with_masked_nan(op: &str, a: &Array, selection: Selection<'_>) -> Result<Array> {
    let a = in_dtype(op, a, selection.dtype)?;
    let Some(mask) = selection.mask(op, &a)? else { return Ok(a) };
    let x = if a.dtype().is_inexact() { a } else { widened(&a)? };
    select(&mask, &x, &weak(Scalar::Float(f64::NAN), &x))
}

/// `a` in the requested dtype, which must be inexact to represent NaN.
fn in_dtype(op: &str, a: &Array, dtype: Option<DType>) -> Result<Array> {
    let Some(dtype) = dtype else { return Ok(a.clone()) };
    ensure!(
        dtype.is_inexact(),
        Type(op),
        "dtype must be floating-point or complex for an array of {}, not {dtype}",
        a.dtype()
    );
    cast_constant(a, dtype)
}

/// Sum of the elements over axes, ignoring NaN.
///
/// NaN and elements that are not selected count as 0.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nansum(&x, None, KeepAxes::No, Selection::default())?.to_vec::<f32>()?, [3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`reduce_selected`].
pub fn nansum(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, selection: Selection<'_>) -> Result<Array> {
    with_op("nansum", reduce_selected(ReduceKind::Sum, &filled(a, 0.0)?, axes, keep, selection))
}

/// Product of the elements over axes, ignoring NaN.
///
/// NaN and elements that are not selected count as 1.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[3.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nanprod(&x, None, KeepAxes::No, Selection::default())?.to_vec::<f32>()?, [6.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`reduce_selected`].
pub fn nanprod(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, selection: Selection<'_>) -> Result<Array> {
    with_op("nanprod", reduce_selected(ReduceKind::Prod, &filled(a, 1.0)?, axes, keep, selection))
}

/// Cumulative sum along an axis, ignoring NaN.
///
/// NaN counts as 0.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nancumsum(&x, ops::ScanOrder::default(), None)?.to_vec::<f32>()?, [1.0, 1.0, 3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn nancumsum(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    with_op("nancumsum", cumsum(&filled(a, 0.0)?, order, dtype))
}

/// Cumulative product along an axis, ignoring NaN.
///
/// NaN counts as 1.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[3.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nancumprod(&x, ops::ScanOrder::default(), None)?.to_vec::<f32>()?, [3.0, 3.0, 6.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn nancumprod(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    with_op("nancumprod", cumprod(&filled(a, 1.0)?, order, dtype))
}

/// Arithmetic mean of the elements over axes, ignoring NaN.
///
/// NaN where no selected element is a number; float32 for integers.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nanmean(&x, None, KeepAxes::No, Selection::default())?.to_vec::<f32>()?, [1.5]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the requested dtype is an integer dtype although that of `a` is inexact, or the condition does not broadcast to the
/// array's shape.
pub fn nanmean(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, selection: Selection<'_>) -> Result<Array> {
    let reduced_axes = axes_of("nanmean", a, axes)?;
    if selection.dtype.is_some() && !a.dtype().is_inexact() {
        return with_op("nanmean", mean_selected(a, axes, keep, selection));
    }
    let dtype = selection.dtype.unwrap_or(a.dtype()).inexact();
    Elements::without_nan("nanmean", &with_masked_nan("nanmean", a, selection)?, dtype, Selection::default())?
        .mean(&reduced_axes, keep)
}

/// A measure of dispersion about the mean; NaN if there are at most `ddof` elements.
fn dispersion(
    (op, measure): (&str, Measure),
    a: &Array,
    axes: &Axes,
    keep: KeepAxes,
    ddof: f64,
    selection: Selection<'_>,
) -> Result<Array> {
    let dtype = selection.dtype.unwrap_or(a.dtype()).inexact();
    let x = with_masked_nan(op, a, selection)?;
    let elements = Elements::without_nan(op, &x, dtype, selection)?;
    let measured = elements.dispersion(axes, keep, ddof, measure)?;
    let count = count_true(&logical_not(&isnan(&x)?)?, axes, keep)?;
    let is_defined = greater(&cast(&count, DType::Float64)?, &Array::scalar(ddof, DType::Float64))?;
    select(&is_defined, &measured, &weak(Scalar::Float(f64::NAN), &measured))
}

/// Variance of the elements over axes, ignoring NaN.
///
/// `sum(|a - mean|²) / (n - ddof)` over the `n` selected elements that are not NaN; NaN where `n <= ddof`.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1.0f32, f32::NAN, 3.0], [3])?;
/// assert_eq!(ops::nanvar(&x, None, KeepAxes::No, 0.0, Selection::default())?.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`nanmean`].
pub fn nanvar(
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of("nanvar", a, axes)?;
    if selection.dtype.is_some() && !a.dtype().is_inexact() {
        return with_op("nanvar", var_selected(a, axes, keep, ddof, selection));
    }
    dispersion(("nanvar", Measure::Variance), a, &reduced_axes, keep, ddof, selection)
}

/// Standard deviation of the elements over axes, ignoring NaN: the square root of [`nanvar`].
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1.0f32, f32::NAN, 5.0], [3])?;
/// assert_eq!(ops::nanstd(&x, None, KeepAxes::No, 0.0, Selection::default())?.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`nanmean`].
pub fn nanstd(
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of("nanstd", a, axes)?;
    if selection.dtype.is_some() && !a.dtype().is_inexact() {
        return with_op("nanstd", std_selected(a, axes, keep, ddof, selection));
    }
    dispersion(("nanstd", Measure::Deviation), a, &reduced_axes, keep, ddof, selection)
}

fn extremum(
    op: &str,
    kind: ReduceKind,
    identity: f64,
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of(op, a, axes)?;
    if selection.initial.is_none() {
        check_not_empty(op, a, &reduced_axes)?;
    }
    if !a.dtype().is_inexact() {
        return with_op(op, reduce_selected(kind, a, axes, keep, selection));
    }
    ensure!(
        selection.condition.is_none() || selection.initial.is_some(),
        Value(op),
        "an initial value is required with a condition (where)"
    );
    let x = with_masked_nan(op, a, selection)?;
    let initial = selection.initial.map(|initial| filled(initial, identity)).transpose()?;
    let start = Selection { initial: initial.as_ref(), ..Selection::default() };
    let result = with_op(op, reduce_selected(kind, &filled(&x, identity)?, axes, keep, start))?;
    let mut is_all_nan = all(&isnan(&x)?, axes, keep)?;
    if let Some(initial) = selection.initial {
        is_all_nan = logical_and(&is_all_nan, &isnan(initial)?)?;
    }
    select(&is_all_nan, &weak(Scalar::Float(f64::NAN), &result), &result)
}

/// Minimum of the elements over axes, ignoring NaN.
///
/// NaN where no selected element is a number.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[3.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nanmin(&x, None, KeepAxes::No, Selection::default())?.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`reduce_selected`].
pub fn nanmin(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, selection: Selection<'_>) -> Result<Array> {
    extremum("nanmin", ReduceKind::Min, f64::INFINITY, a, axes, keep, selection)
}

/// Maximum of the elements over axes, ignoring NaN.
///
/// NaN where no selected element is a number.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[3.0f32, f32::NAN, 2.0], [3])?;
/// assert_eq!(ops::nanmax(&x, None, KeepAxes::No, Selection::default())?.to_vec::<f32>()?, [3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`reduce_selected`].
pub fn nanmax(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, selection: Selection<'_>) -> Result<Array> {
    extremum("nanmax", ReduceKind::Max, f64::NEG_INFINITY, a, axes, keep, selection)
}

/// Index of the minimum along an axis, ignoring NaN.
///
/// The index into the flattened array without an axis. Evaluation fails where all elements are NaN.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[f32::NAN, 3.0, 2.0], [3])?;
/// assert_eq!(ops::nanargmin(&x, None, KeepAxes::No)?.to_vec::<u32>()?, [2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn nanargmin(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    let result = with_op("nanargmin", argmin(&filled(a, f64::INFINITY)?, axis, keep))?;
    checked_index(ArgReduceKind::ArgMin, result, a, axis, keep)
}

/// Index of the maximum along an axis, ignoring NaN.
///
/// The index into the flattened array without an axis. Evaluation fails where all elements are NaN.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[f32::NAN, 3.0, 2.0], [3])?;
/// assert_eq!(ops::nanargmax(&x, None, KeepAxes::No)?.to_vec::<u32>()?, [1]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn nanargmax(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    let result = with_op("nanargmax", argmax(&filled(a, f64::NEG_INFINITY)?, axis, keep))?;
    checked_index(ArgReduceKind::ArgMax, result, a, axis, keep)
}

/// `index`, whose evaluation fails if all elements are NaN.
fn checked_index(
    kind: ArgReduceKind,
    index: Array,
    a: &Array,
    axis: Option<i64>,
    keep: KeepAxes,
) -> Result<Array> {
    if !a.dtype().is_inexact() {
        return Ok(index);
    }
    let is_all_nan = all(&isnan(a)?, axis.as_ref().map(std::slice::from_ref), keep)?;
    Array::record_one(Control::Found(kind), &[&index, &is_all_nan])
}
