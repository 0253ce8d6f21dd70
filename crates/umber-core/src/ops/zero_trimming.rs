//! Trimming zeros at the ends of arrays.

use umber_types::{DType, KeepAxes, Result};

use super::data_dependent;
use super::reductions::{any, axes_of};
use crate::graph::Array;
use crate::primitives::rules::cast;
use crate::primitives::slice::slice_along;

/// The ends to trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSides {
    /// The first elements.
    Front,
    /// The last elements.
    Back,
    /// Both.
    Both,
}

/// Remove zeros at the ends of an array.
///
/// The result is the smallest block along the given axes, or all, that contains every nonzero element.
///
/// # Errors
/// Inside `vmap` and `compile`, where `a` has no value; the values determine the shape.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::TrimSides};
/// let a = Array::from([0, 0, 1, 0, 2, 0]);
/// assert_eq!(ops::trim_zeros(&a, TrimSides::Both, None)?.to_vec::<i32>()?, [1, 0, 2]);
/// assert_eq!(ops::trim_zeros(&a, TrimSides::Front, None)?.to_vec::<i32>()?, [1, 0, 2, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn trim_zeros(a: &Array, ends: TrimSides, axes: Option<&[i64]>) -> Result<Array> {
    let axes = axes_of("trim_zeros", a, axes)?;
    let is_nonzero = super::not_equal(a, &Array::scalar(0, a.dtype()))?;
    let mut trimmed = a.clone();
    for &axis in axes.iter() {
        let others: Vec<i64> = (0..a.ndim() as i64).filter(|&other| other != axis as i64).collect();
        let nonzero = any(&is_nonzero, Some(&others), KeepAxes::No)?;
        let nonzero = data_dependent::integers_of("trim_zeros", &cast(&nonzero, DType::UInt8)?)?;
        let first = nonzero.iter().position(|&value| value != 0).unwrap_or(nonzero.len());
        let end = nonzero.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
        let (first, end) = match ends {
            TrimSides::Front => (first, nonzero.len()),
            TrimSides::Back => (0, end),
            TrimSides::Both => (first.min(end), end),
        };
        trimmed = slice_along(&trimmed, axis, first, end - first)?;
    }
    Ok(trimmed)
}
