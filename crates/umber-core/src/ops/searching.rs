//! Searching: nonzero elements, selection by conditions, and positions in sorted arrays.
//!
//! The number of nonzero elements determines a shape, so that the input is evaluated eagerly, as by `.item()`; selected elements
//! are differentiable. Indices are uint32, as those of [`super::argsort`], unless an axis is too long for that.

use umber_types::shape::{normalize_axis, out_of_bounds};
use umber_types::{BinaryKind, DType, KeepAxes, Result, Side, bail, ensure};

use super::data_dependent;
use super::elementwise::{compared, greater, less, mixed_sign_uint64};
use super::index_grids::{index_dtype, unravelled};
use super::indexing::take_as;
use super::shaping::{flip, stack};
use crate::graph::Array;
use crate::primitives::rules::{binary, broadcast, cast, constant, reshape, sub};
use crate::primitives::search::search;
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// Find the indices of the nonzero elements of the flattened array.
///
/// # Errors
/// Inside `vmap` and `compile`, where `a` has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[0, 3], [4, 0]]);
/// assert_eq!(ops::flatnonzero(&a)?.to_vec::<u32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn flatnonzero(a: &Array) -> Result<Array> {
    cast(&data_dependent::places_of("flatnonzero", &cast(a, DType::Bool)?)?, index_dtype(a.size()))
}

/// Find the indices of the nonzero elements.
///
/// The result is one uint32 array for each axis, in row-major order.
///
/// # Errors
/// If `a` has no axes; inside `vmap` and `compile`, where `a` has no value.
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let a = Array::from_slice(&[0, 3, 4, 0], [2, 2]).unwrap();
/// let indices = ops::nonzero(&a).unwrap();
/// assert_eq!(indices[0].to_vec::<u32>().unwrap(), [0, 1]);
/// assert_eq!(indices[1].to_vec::<u32>().unwrap(), [1, 0]);
/// ```
pub fn nonzero(a: &Array) -> Result<Vec<Array>> {
    ensure!(a.ndim() > 0, Value("nonzero"), "array must have at least one axis");
    coordinates("nonzero", a)
}

fn coordinates(op: &str, a: &Array) -> Result<Vec<Array>> {
    let indices = data_dependent::places_of(op, &cast(a, DType::Bool)?)?;
    let coordinates = unravelled(&indices, a.shape())?;
    coordinates
        .iter()
        .zip(a.shape().iter())
        .map(|(coordinate, &length)| cast(coordinate, index_dtype(length)))
        .collect()
}

/// Find the coordinates of the nonzero elements, one row for each.
///
/// # Errors
/// Inside `vmap` and `compile`, where `a` has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let a = Array::from([[0, 3], [4, 0]]);
/// assert_eq!(ops::argwhere(&a)?.to_vec::<u32>()?, [0, 1, 1, 0]);
/// assert_eq!(ops::argwhere(&Array::from([[0, 0]]))?.shape(), &Shape::from([0, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argwhere(a: &Array) -> Result<Array> {
    if a.ndim() == 0 {
        let count = data_dependent::count_of("argwhere", &cast(a, DType::Bool)?)?;
        return Ok(Array::full([count, 0], 0, DType::UInt32));
    }
    let coordinates = coordinates("argwhere", a)?;
    stack(&coordinates.iter().collect::<Vec<_>>(), 1)
}

/// Select the elements of the flattened array where a condition is true.
///
/// The condition is flattened, too.
///
/// # Errors
/// If the condition is true beyond the end of the array; inside `vmap` and `compile`, where it has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// let is_even = Array::from([[false, true], [false, true]]);
/// assert_eq!(ops::extract(&is_even, &a)?.to_vec::<i32>()?, [2, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn extract(condition: &Array, a: &Array) -> Result<Array> {
    compress_as("extract", &reshape(condition, [condition.size()])?, a, None)
}

/// Select slices of an array along an axis by a 1-d condition.
///
/// `None` means the flattened array. Elements beyond the end of the condition are not selected.
///
/// # Errors
/// If the condition is not 1-d, or is true beyond the end of the axis; inside `vmap` and `compile`, where it has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4], [5, 6]]);
/// let condition = Array::from([false, true]);
/// assert_eq!(ops::compress(&condition, &a, Some(0))?.to_vec::<i32>()?, [3, 4]);
/// assert_eq!(ops::compress(&condition, &a, Some(1))?.to_vec::<i32>()?, [2, 4, 6]);
/// assert_eq!(ops::compress(&condition, &a, None)?.to_vec::<i32>()?, [2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn compress(condition: &Array, a: &Array, axis: Option<i64>) -> Result<Array> {
    ensure!(
        condition.ndim() == 1,
        Value("compress"),
        "condition must be one-dimensional, got shape {}",
        condition.shape()
    );
    compress_as("compress", condition, a, axis)
}

fn compress_as(op: &'static str, condition: &Array, a: &Array, axis: Option<i64>) -> Result<Array> {
    let Some(axis) = axis else { return compress_as(op, condition, &reshape(a, [a.size()])?, Some(0)) };
    let axis = normalize_axis(op, axis, a.ndim())?;
    let length = a.shape()[axis];
    let indices = data_dependent::places_of(op, &cast(condition, DType::Bool)?)?;
    if condition.size() > length && indices.size() > 0 {
        let last = data_dependent::value_of(op, &slice_along(&indices, 0, indices.size() - 1, 1)?)?.as_i64();
        if last >= length as i64 {
            return Err(out_of_bounds(last, axis, length).with_op(op));
        }
    }
    take_as(op, a, &indices, Some(axis as i64))
}

/// Find the indices at which values would be inserted into a sorted array.
///
/// The number of elements that are less than each value, with [`Side::Right`] also of those equal to it; uint32 of the shape
/// of `values`. NaN counts as larger than every number and as equal to itself. If the array is not sorted, the result is
/// unspecified, but never larger than its length. `sorter` holds indices that sort it.
///
/// # Errors
/// If `sorted` is not 1-d, or `sorter` differs in shape.
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let sorted = Array::from_slice(&[1.0f32, 2.0, 2.0], [3]).unwrap();
/// let values = Array::from_slice(&[2.0f32, 0.0], [2]).unwrap();
/// let indices = ops::searchsorted(&sorted, &values, ops::Side::Left, None).unwrap();
/// assert_eq!(indices.to_vec::<u32>().unwrap(), [1, 0]);
/// ```
pub fn searchsorted(sorted: &Array, values: &Array, side: Side, sorter: Option<&Array>) -> Result<Array> {
    search_as("searchsorted", sorted, values, side, sorter)
}

pub(super) fn search_as(
    op: &'static str,
    sorted: &Array,
    values: &Array,
    side: Side,
    sorter: Option<&Array>,
) -> Result<Array> {
    ensure!(
        sorted.ndim() == 1,
        Value(op),
        "sorted array must be one-dimensional, got shape {}",
        sorted.shape()
    );
    let length = sorted.shape()[0];
    ensure!(
        u32::try_from(length).is_ok(),
        Value(op),
        "array of {length} elements is too long for uint32 indices"
    );
    let sorted = match sorter {
        None => sorted.clone(),
        Some(sorter) => {
            ensure!(
                sorter.shape() == sorted.shape(),
                Value(op),
                "sorter must have shape {1}, got {0}",
                sorter.shape(),
                sorted.shape()
            );
            take_as(op, sorted, sorter, Some(0))?
        }
    };
    if let Some(signed) = mixed_sign_uint64(sorted.dtype(), values.dtype()) {
        return search_mixed_sign_uint64(side, &sorted, values, signed);
    }
    let dtype = compared(sorted.dtype(), values.dtype());
    search(side, &cast(&sorted, dtype)?, &cast(values, dtype)?)
}

/// Exact [`search`] where `sorted` or `values`, on the side `signed`, are signed integers and the others uint64: values
/// beyond the dtype of `sorted` come before or after all of its elements.
fn search_mixed_sign_uint64(side: Side, sorted: &Array, values: &Array, signed: Side) -> Result<Array> {
    let (is_beyond, end, dtype) = match signed {
        Side::Left => {
            let max_int64 = Array::scalar(i64::MAX, DType::UInt64);
            (greater(values, &max_int64)?, sorted.shape()[0] as i64, DType::Int64)
        }
        Side::Right => (less(values, &Array::scalar(0, values.dtype()))?, 0, DType::UInt64),
    };
    let index = search(side, &cast(sorted, dtype)?, &cast(values, dtype)?)?;
    Array::record_one(Select, &[&is_beyond, &constant(&index, end), &index])
}

/// Find the index of the bin that each element belongs to.
///
/// `bins` holds the edges in ascending or descending order. The index is `i` where `bins[i - 1] <= x < bins[i]`, or
/// `bins[i - 1] < x <= bins[i]` with [`Side::Right`] as the closed side; uint32.
///
/// # Errors
/// If `bins` is not 1-d; if it is not monotonic, which is not checked inside `vmap` and `compile`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Side};
/// let (x, bins) = (Array::from([0.5f32, 1.0, 7.0]), Array::from([0.0f32, 1.0, 2.0]));
/// assert_eq!(ops::digitize(&x, &bins, Side::Left)?.to_vec::<u32>()?, [1, 2, 3]);
/// assert_eq!(ops::digitize(&x, &bins, Side::Right)?.to_vec::<u32>()?, [1, 1, 3]);
/// assert!(ops::digitize(&x, &Array::from([0.0f32, 2.0, 1.0]), Side::Left).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn digitize(x: &Array, bins: &Array, closed: Side) -> Result<Array> {
    ensure!(
        bins.ndim() == 1 && !bins.dtype().is_complex() && !x.dtype().is_complex(),
        Value("digitize"),
        "bins must be one-dimensional and real, and x real, got bins of shape {} and dtype {} and x of dtype \
         {}",
        bins.shape(),
        bins.dtype(),
        x.dtype()
    );
    let side = match closed {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
    };
    let length = bins.shape()[0];
    let up = search_as("digitize", bins, x, side, None)?;
    if length < 2 {
        return Ok(up);
    }
    let (low, high) = (slice_along(bins, 0, 0, length - 1)?, slice_along(bins, 0, 1, length - 1)?);
    let holds = |kind| super::reductions::all(&binary(kind, &low, &high)?, None, KeepAxes::No);
    let (rises, falls) = (holds(BinaryKind::LessEqual)?, holds(BinaryKind::GreaterEqual)?);
    let down = search_as("digitize", &flip(bins, None)?, x, side, None)?;
    let down = sub(&constant(&down, length as i64), &down)?;
    match (data_dependent::known(&rises)?, data_dependent::known(&falls)?) {
        (Some(rises), Some(falls)) => match (rises.as_bool(), falls.as_bool()) {
            (true, _) => Ok(up),
            (false, true) => Ok(down),
            (false, false) => {
                bail!(Value("digitize"), "bins must increase or decrease monotonically")
            }
        },
        _ => Array::record_one(Select, &[&broadcast(&rises, x.shape())?, &up, &down]),
    }
}
