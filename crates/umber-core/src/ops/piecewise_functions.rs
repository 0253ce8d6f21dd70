//! Piecewise functions: one expression for each condition.

use umber_types::{DType, KeepAxes, Result, Shape, ensure};

use super::elementwise::{astype, logical_not, logical_or, select};
use super::indexing::take;
use super::reductions::argmax;
use crate::graph::Array;
use crate::primitives::rules::{broadcast, reshape};

/// A condition in the shape of `x`.
fn broadcast_condition(x: &Array, condition: &Array) -> Result<Array> {
    ensure!(
        condition.dtype() == DType::Bool && condition.shape().broadcasts_to(x.shape()),
        Value("piecewise"),
        "condition must be bool and broadcast to {2}, got shape {0} and dtype {1}",
        condition.shape(),
        condition.dtype(),
        x.shape()
    );
    broadcast(condition, x.shape())
}

/// Replace the elements for which the condition is false by one for which it holds.
///
/// A function that is defined only where the condition holds can then be applied to all elements. If the condition
/// holds nowhere, the first element is used.
///
/// # Errors
/// If the condition is not bool, or does not broadcast to the shape of `x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1.0f32, 4.0, 9.0]);
/// let is_positive = ops::greater(&x, &Array::from(0.0f32))?;
/// assert_eq!(ops::confined(&x, &is_positive)?.to_vec::<f32>()?, [4.0, 4.0, 9.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn confined(x: &Array, condition: &Array) -> Result<Array> {
    let condition = broadcast_condition(x, condition)?;
    if x.size() == 0 {
        return Ok(x.clone());
    }
    let flat = reshape(x, [x.size()])?;
    let first = argmax(&astype(&reshape(&condition, [x.size()])?, DType::UInt8)?, None, KeepAxes::No)?;
    let replacement = super::stop_gradient(&take(&flat, &first, Some(0))?)?;
    select(&condition, x, &reshape(&replacement, Shape::scalar())?)
}

/// Where none of the conditions holds, in the shape of `x`.
///
/// # Errors
/// The errors of [`confined`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([1, 2, 3]);
/// let (low, high) = (ops::less(&x, &Array::from(2))?, ops::greater(&x, &Array::from(2))?);
/// assert_eq!(ops::none_holds(&[&low, &high], &x)?.to_vec::<bool>()?, [false, true, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn none_holds(conditions: &[&Array], x: &Array) -> Result<Array> {
    let mut any = Array::full(x.shape().clone(), false, DType::Bool);
    for condition in conditions {
        any = logical_or(&any, &broadcast_condition(x, condition)?)?;
    }
    logical_not(&any)
}

/// Replace the elements of `a` where the condition holds by `values`, which broadcast and take its dtype.
///
/// # Errors
/// The errors of [`confined`]; also if the values do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, mask) = (Array::from([1, 2]), Array::from([true, false]));
/// assert_eq!(ops::replaced(&a, &mask, &Array::from(9))?.to_vec::<i32>()?, [9, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn replaced(a: &Array, condition: &Array, values: &Array) -> Result<Array> {
    ensure!(
        values.shape().broadcasts_to(a.shape()),
        Value("piecewise"),
        "cannot broadcast values of shape {} to {}",
        values.shape(),
        a.shape()
    );
    select(&broadcast_condition(a, condition)?, &astype(values, a.dtype())?, a)
}
