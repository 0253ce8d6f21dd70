//! Order: sorting, parts of sorting, and searching in what is sorted.

use umber_types::shape::normalize_axis;
use umber_types::{BinaryKind, DType, Result, ensure, promote};

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
///
/// Shape and dtype stay; without an axis the array is flattened. Fails if the axis is not there.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[3.0f32, f32::NAN, 1.0], [0.0, 2.0, 1.0]]);
/// let sorted = ops::sort(&a, Some(-1))?.to_vec::<f32>()?;
/// assert_eq!((sorted[0], sorted[1], &sorted[3..]), (1.0, 3.0, &[0.0, 1.0, 2.0][..]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn sort(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("sort", a, axis)?;
    sorted("sort", &a, axis, Sorted::Values)
}

/// The indices that sort along an axis; equal elements keep their order.
///
/// Uint32, of the same shape; without an axis the array is flattened. Fails if the axis is not there.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([30, 10, 20, 10]);
/// assert_eq!(ops::argsort(&a, None)?.to_vec::<u32>()?, [1, 3, 2, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argsort(a: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("argsort", a, axis)?;
    sorted("argsort", &a, axis, Sorted::Indices)
}

/// `kth` counted from the end if negative.
fn check_kth(op: &str, a: &Array, kth: i64, axis: usize) -> Result<()> {
    let length = a.shape()[axis] as i64;
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
///
/// Shape and dtype stay; without an axis the array is flattened. Fails if `kth` lies outside the axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([5, 1, 4, 2, 3]);
/// assert_eq!(ops::partition(&a, 2, Some(0))?.to_vec::<i32>()?[2], 3);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn partition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("partition", a, axis)?;
    check_kth("partition", &a, kth, axis)?;
    sorted("partition", &a, axis, Sorted::Values)
}

/// The indices of a [`partition`].
///
/// Uint32. Fails where [`partition`] does.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([50, 10, 40]);
/// assert_eq!(ops::argpartition(&a, 0, Some(0))?.to_vec::<u32>()?[0], 1);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argpartition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = along("argpartition", a, axis)?;
    check_kth("argpartition", &a, kth, axis)?;
    sorted("argpartition", &a, axis, Sorted::Indices)
}

/// The `k` greatest elements along an axis, in ascending order.
///
/// The axis becomes `k` long; the dtype stays. Fails if the axis has fewer elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[5, 1, 4], [7, 9, 8]]);
/// assert_eq!(ops::topk(&a, 2, Some(1))?.to_vec::<i32>()?, [4, 5, 8, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
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
///
/// The shape is that of `values`. Fails if `sorted` has not one axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::Side;
/// let sorted = Array::from([1.0f32, 3.0, 3.0, 5.0]);
/// let values = Array::from([3.0f32, 9.0]);
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Left)?.to_vec::<u32>()?, [1, 4]);
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Right)?.to_vec::<u32>()?, [3, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
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
