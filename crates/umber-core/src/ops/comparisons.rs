//! Comparisons of whole arrays, and differences of adjacent elements.

use umber_types::shape::normalize_axis;
use umber_types::{BinaryKind, DType, KeepAxes, Result, ensure};

use super::elementwise::{Closeness, equal, isclose, isnan, logical_and, logical_or};
use super::error_context::with_op;
use super::reductions::all;
use super::shaping::concatenate;
use crate::graph::Array;
use crate::primitives::rules::{binary, broadcast};
use crate::primitives::slice::slice_along;

/// Test whether two arrays have the same shape and equal elements.
///
/// The result is a 0-d bool, false if the shapes differ. Dtypes are promoted.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::NanIsEqual;
/// let x = Array::from([1.0f32, f32::NAN]);
/// assert!(!ops::array_equal(&x, &x, NanIsEqual::No)?.item()?.as_bool());
/// assert!(ops::array_equal(&x, &x, NanIsEqual::Yes)?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn array_equal(a: &Array, b: &Array, nan_is_equal: NanIsEqual) -> Result<Array> {
    if a.shape() != b.shape() {
        return Ok(Array::scalar(false, DType::Bool));
    }
    let mut same = equal(a, b)?;
    if nan_is_equal == NanIsEqual::Yes {
        same = logical_or(&same, &logical_and(&isnan(a)?, &isnan(b)?)?)?;
    }
    all(&same, None, KeepAxes::No)
}

/// Whether NaN is equal to NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanIsEqual {
    /// NaN equals NaN.
    Yes,
    /// NaN differs from everything.
    No,
}

/// Test whether all elements of `a` are close to those of `b`.
///
/// They are compared by [`isclose`] after broadcasting; the result is a 0-d bool. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::Closeness;
/// let (a, b) = (Array::from([1.0f32, 2.0]), Array::from([1.0f32, 2.000001]));
/// assert!(ops::allclose(&a, &b, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn allclose(a: &Array, b: &Array, tolerance: Closeness) -> Result<Array> {
    all(&isclose(a, b, tolerance)?, None, KeepAxes::No)
}

/// Differences of adjacent elements along an axis: `a[i + 1] - a[i]`.
///
/// They are taken `order` times: the axis gets shorter by `order`, down to zero; the dtype is that of `a`. The
/// difference of booleans is their logical XOR. Fails for a negative order or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([1, 4, 9, 16]);
/// assert_eq!(ops::diff(&x, 1, -1)?.to_vec::<i32>()?, [3, 5, 7]);
/// assert_eq!(ops::diff(&x, 2, -1)?.to_vec::<i32>()?, [2, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diff(a: &Array, order: i64, axis: i64) -> Result<Array> {
    ensure!(order >= 0, Value("diff"), "order must not be negative, got {order}");
    let axis = normalize_axis("diff", axis, a.ndim())?;
    let kind = if a.dtype() == DType::Bool { BinaryKind::NotEqual } else { BinaryKind::Subtract };
    let mut differences = a.clone();
    for _ in 0..order {
        let Some(length) = differences.shape()[axis].checked_sub(1) else { break };
        let later = slice_along(&differences, axis, 1, length)?;
        differences = binary(kind, &later, &slice_along(&differences, axis, 0, length)?)?;
    }
    Ok(differences)
}

/// The [`diff`] of `a` with values inserted before it and appended to it: arrays, or numbers that are repeated
/// along the other axes.
///
/// # Errors
/// The errors of [`diff`]; also if the ends do not fit the array.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (x, zero) = (Array::from([1, 4, 9]), Array::from(0));
/// assert_eq!(ops::diff_between(&x, Some(&zero), None, 1, -1)?.to_vec::<i32>()?, [1, 3, 5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diff_between(
    a: &Array,
    before: Option<&Array>,
    behind: Option<&Array>,
    order: i64,
    axis: i64,
) -> Result<Array> {
    let axis_index = normalize_axis("diff", axis, a.ndim())?;
    let end = |value: Option<&Array>| {
        let Some(value) = value else { return Ok(None) };
        if value.ndim() == 0 { broadcast(value, &a.shape().with(axis_index, 1)) } else { Ok(value.clone()) }
            .map(Some)
    };
    let (before, behind) = (end(before)?, end(behind)?);
    let parts: Vec<&Array> = before.iter().chain([a]).chain(behind.iter()).collect();
    diff(&with_op("diff", concatenate(&parts, Some(axis)))?, order, axis)
}

/// Test whether two arrays are equal after broadcasting.
///
/// The result is a 0-d bool, false if the shapes do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let row = Array::from([1, 2]);
/// assert!(ops::array_equiv(&row, &Array::from([[1, 2], [1, 2]]))?.item()?.as_bool());
/// assert!(!ops::array_equiv(&row, &Array::from([1, 2, 3]))?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn array_equiv(a: &Array, b: &Array) -> Result<Array> {
    if a.shape().broadcast(b.shape()).is_none() {
        return Ok(Array::scalar(false, DType::Bool));
    }
    all(&equal(a, b)?, None, KeepAxes::No)
}
