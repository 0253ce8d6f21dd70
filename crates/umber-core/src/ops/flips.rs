//! Flipping and rotating arrays.

use umber_types::shape::normalize_axis;
use umber_types::{Result, ensure};

use super::shaping::{flip, moveaxis, swapaxes};
use crate::graph::Array;

fn check_axes(op: &str, a: &Array, min_ndim: usize) -> Result<()> {
    ensure!(
        a.ndim() >= min_ndim,
        Value(op),
        "array must have at least {min_ndim} dimensions, got {}",
        a.ndim()
    );
    Ok(())
}

/// Reverse the order of the columns: `a[:, ::-1]`.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::fliplr(&x)?.to_vec::<i32>()?, [2, 1, 4, 3]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For arrays with fewer than two axes.
pub fn fliplr(a: &Array) -> Result<Array> {
    check_axes("fliplr", a, 2)?;
    flip(a, Some(&[1]))
}

/// Reverse the order of the rows: `a[::-1]`.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::flipud(&x)?.to_vec::<i32>()?, [3, 4, 1, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For arrays without axes.
pub fn flipud(a: &Array) -> Result<Array> {
    check_axes("flipud", a, 1)?;
    flip(a, Some(&[0]))
}

/// Rotate an array by multiples of 90 degrees in the plane of two axes.
///
/// The rotation goes from the first axis towards the second; a negative number of times rotates in the opposite direction.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::rot90(&x, 1, [0, 1])?.to_vec::<i32>()?, [2, 4, 1, 3]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the axes are the same, or out of bounds.
pub fn rot90(a: &Array, times: i64, axes: [i64; 2]) -> Result<Array> {
    let [from, to] = axes;
    let is_same = normalize_axis("rot90", from, a.ndim())? == normalize_axis("rot90", to, a.ndim())?;
    ensure!(!is_same, Value("rot90"), "axes must differ, got {from} twice");
    match times.rem_euclid(4) {
        0 => Ok(a.clone()),
        1 => swapaxes(&flip(a, Some(&[to]))?, from, to),
        2 => flip(a, Some(&[from, to])),
        _ => flip(&swapaxes(a, from, to)?, Some(&[to])),
    }
}

/// Move one axis to the position before another.
///
/// ```
/// use umber_core::{Array, DType, Shape, ops};
/// let x = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::rollaxis(&x, 2, 0)?.shape()[..], [4, 2, 3]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the axis is out of bounds, or `start` is not between `-ndim` and `ndim`.
pub fn rollaxis(a: &Array, axis: i64, start: i64) -> Result<Array> {
    let from = normalize_axis("rollaxis", axis, a.ndim())? as i64;
    let before =
        if start == a.ndim() as i64 { start } else { normalize_axis("rollaxis", start, a.ndim())? as i64 };
    moveaxis(a, from, if from < before { before - 1 } else { before })
}
