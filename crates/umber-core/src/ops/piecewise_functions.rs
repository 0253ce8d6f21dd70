//! Functions that are put together of pieces, each for the elements for which a condition holds.

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

/// `x` with an element for which the condition holds in place of those for which it does not (the first element, if it
/// holds for none), so that a function that is defined where it holds can be applied to all.
///
/// # Errors
/// Where the condition is not bool, or does not broadcast to the shape of `x`.
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
    let stand_in = super::stop_gradient(&take(&flat, &first, Some(0))?)?;
    select(&condition, x, &reshape(&stand_in, Shape::scalar())?)
}

/// Where none of the conditions holds, in the shape of `x`.
///
/// # Errors
/// As of [`confined`].
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

/// `a` with `values`, which broadcast and take its dtype, where the condition holds.
///
/// # Errors
/// As of [`confined`], and where the values do not broadcast.
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
