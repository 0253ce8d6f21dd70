//! Order: sorting, parts of sorting, and searching in what is sorted.

use umber_types::shape::normalize_axis;
use umber_types::{BinaryKind, DType, Result, ensure, promote};

use super::shaping::flip;
use crate::graph::Array;
use crate::primitives::gather::Places;
use crate::primitives::rules::{add, binary, cast, constant, reshape, zeros_like};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// The array and axis to work along: of the flattened array if there is no axis.
fn along(op: &str, a: &Array, axis: Option<i64>) -> Result<(Array, usize)> {
    match axis {
        Some(axis) => Ok((a.clone(), normalize_axis(op, axis, a.ndim())?)),
        None => Ok((reshape(a, [a.size()])?, 0)),
    }
}

fn sorted(op: &str, a: &Array, axis: usize, what: Sorted) -> Result<Array> {
    let length = a.shape()[axis];
    ensure!(
        what == Sorted::Values || u32::try_from(length.saturating_sub(1)).is_ok(),
        Value,
        "[{op}] an axis of {length} elements is too long for indices of dtype uint32"
    );
    Array::record_one(Sort { axis, what }, &[a])
}

/// The elements in ascending order along an axis, NaN last.
pub fn sort(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("sort", a, axis)?;
    sorted("sort", &a, axis, Sorted::Values)
}

/// The indices that sort along an axis; equal elements keep their order.
pub fn argsort(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("argsort", a, axis)?;
    sorted("argsort", &a, axis, Sorted::Indices)
}

/// The elements in descending order along an axis, NaN first.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 3, 2], [3])?;
/// assert_eq!(ops::sort_descending(&x, Some(0))?.to_vec::<i32>()?, [3, 2, 1]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn sort_descending(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("sort", a, axis)?;
    flip(&sorted("sort", &a, axis, Sorted::Values)?, Some(&[axis as i64]))
}

/// The indices that sort in descending order along an axis; equal elements keep their order.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 3, 1], [3])?;
/// assert_eq!(ops::argsort_descending(&x, Some(0))?.to_vec::<u32>()?, [1, 0, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn argsort_descending(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("argsort", a, axis)?;
    let places = [axis as i64];
    // Turned round before and after, so that equal elements are turned round twice.
    let order = flip(&sorted("argsort", &flip(&a, Some(&places))?, axis, Sorted::Indices)?, Some(&places))?;
    binary(BinaryKind::Subtract, &constant(&order, a.shape()[axis].saturating_sub(1) as i64), &order)
}

/// `kth` counted from the end if negative.
fn check_kth(op: &str, a: &Array, kth: i64, axis: usize) -> Result<()> {
    let length = a.shape()[axis] as i64;
    ensure!(length > 0, Value, "[{op}] axis {axis} of an array of shape {} has no elements", a.shape());
    ensure!(
        (-length..length).contains(&kth),
        Value,
        "[{op}] got kth {kth} for axis {axis} of an array of shape {}, expected {} to {}",
        a.shape(),
        -length,
        length - 1
    );
    Ok(())
}

/// An order in which the element at `kth` is where sorting would put it, no greater one before and no lesser one
/// after it. (Sorting is such an order.)
pub fn partition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("partition", a, axis)?;
    check_kth("partition", &a, kth, axis)?;
    sorted("partition", &a, axis, Sorted::Values)
}

/// The indices of a [`partition`].
pub fn argpartition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("argpartition", a, axis)?;
    check_kth("argpartition", &a, kth, axis)?;
    sorted("argpartition", &a, axis, Sorted::Indices)
}

/// The `k` greatest elements along an axis, in ascending order.
pub fn topk(a: &Array, k: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("topk", a, axis)?;
    let length = a.shape()[axis];
    ensure!(
        (0..=length as i64).contains(&k),
        Value,
        "[topk] got k = {k} for axis {axis} of an array of shape {}, expected 0 to {length}",
        a.shape()
    );
    slice_along(&sorted("topk", &a, axis, Sorted::Values)?, axis, length - k as usize, k as usize)
}

/// On which side of equal elements a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before them.
    Left,
    /// After them.
    Right,
}

/// Where each value would go into a sorted array of one axis, as uint32. NaN counts as the greatest value.
pub fn searchsorted(sorted: &Array, values: &Array, side: Side) -> Result<Array> {
    ensure!(
        sorted.ndim() == 1,
        Value,
        "[searchsorted] got a sorted array of shape {}, expected one axis",
        sorted.shape()
    );
    let length = sorted.shape()[0];
    ensure!(u32::try_from(length).is_ok(), Value, "[searchsorted] {length} elements are too many for uint32");
    let dtype = promote(sorted.dtype(), values.dtype());
    let (sorted, values) = (cast(sorted, dtype)?, cast(values, dtype)?);
    let start = Array::full(values.shape().clone(), 0, DType::Int64);
    if length == 0 {
        return cast(&start, DType::UInt32);
    }
    // All values search at once, halving their intervals [low, high) until all are empty.
    let (mut low, mut high) = (start.clone(), constant(&start, length as i64));
    let (one, last) = (constant(&start, 1), constant(&start, length as i64 - 1));
    for _ in 0..usize::BITS - length.leading_zeros() {
        let middle = binary(BinaryKind::RightShift, &add(&low, &high)?, &one)?;
        let indices = smallvec::smallvec![binary(BinaryKind::Minimum, &middle, &last)?];
        let found = Places::Grid { axes: [0].into(), indices }.read(&sorted)?;
        let goes_after = match side {
            Side::Left => precedes(&found, &values)?,
            Side::Right => not(&precedes(&values, &found)?)?,
        };
        let is_open = binary(BinaryKind::Less, &low, &high)?;
        let upper = binary(BinaryKind::LogicalAnd, &is_open, &goes_after)?;
        low = Array::record_one(Select, &[&upper, &add(&middle, &one)?, &low])?;
        high = Array::record_one(Select, &[&upper, &high, &middle])?;
    }
    cast(&low, DType::UInt32)
}

fn not(x: &Array) -> Result<Array> {
    binary(BinaryKind::Equal, x, &zeros_like(x))
}

/// Does `a` come before `b` where NaN is greater than every number?
fn precedes(a: &Array, b: &Array) -> Result<Array> {
    let less = binary(BinaryKind::Less, a, b)?;
    if !a.dtype().is_inexact() {
        return Ok(less);
    }
    let (a_is_number, b_is_nan) = (binary(BinaryKind::Equal, a, a)?, binary(BinaryKind::NotEqual, b, b)?);
    let before_nan = binary(BinaryKind::LogicalAnd, &a_is_number, &b_is_nan)?;
    binary(BinaryKind::LogicalOr, &less, &before_nan)
}
