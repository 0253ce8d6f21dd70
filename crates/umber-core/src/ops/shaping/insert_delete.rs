//! Inserting, deleting and appending elements.

use umber_types::shape::{from_start, normalize_axis};
use umber_types::{Result, ScatterKind, Shape, bail, ensure, error};

use super::{concatenate, flatten, moveaxis, tile};
use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::ops::ShapeArgument;
use crate::ops::data_dependent;
use crate::ops::indexing::{Index, get, take, update};
use crate::ops::promotion::cast_constant;
use crate::primitives::rules;
use crate::primitives::slice::slice_along;

/// The array and its normalised axis, or the flattened array and axis 0 if there is no axis.
fn array_and_axis(op: &str, a: &Array, axis: Option<i64>) -> Result<(Array, usize)> {
    match axis {
        Some(axis) => Ok((a.clone(), normalize_axis(op, axis, a.ndim())?)),
        None => Ok((rules::reshape(a, [a.size()])?, 0)),
    }
}

/// The indices that an integer, a slice, or an array of integers or bool selects along an axis, each less than `limit`. An array
/// is evaluated.
fn resolve_indices(op: &str, index: &Index, length: usize, limit: usize) -> Result<Vec<usize>> {
    let indices = match index {
        Index::Int(i) => vec![*i],
        Index::Slice { .. } => {
            let all = crate::primitives::gather::iota(&Shape::from([length]), 0)?;
            get(&all, std::slice::from_ref(index))?.to_vec::<i64>()?
        }
        Index::Array(array) => {
            ensure!(
                array.ndim() <= 1,
                Value(op),
                "indices must have at most one axis, got shape {}",
                array.shape()
            );
            data_dependent::integers_of(op, array)?
        }
        Index::Mask(mask) => {
            ensure!(
                mask.shape()[..] == [length],
                Value(op),
                "mask of shape {} does not match axis of length {length}",
                mask.shape()
            );
            data_dependent::integers_of(op, &data_dependent::places_of(op, mask)?)?
        }
        Index::Ellipsis | Index::NewAxis => {
            bail!(Index(op), "indices must be integers, a slice or a mask, not an ellipsis or a new axis")
        }
    };
    indices
        .into_iter()
        .map(|i| {
            let resolved = from_start(i, length);
            ensure!(
                (0..limit as i64).contains(&resolved),
                Index(op),
                "index {i} is out of bounds for axis of length {length}"
            );
            Ok(resolved as usize)
        })
        .collect()
}

fn index_array(indices: impl IntoIterator<Item = usize>) -> Result<Array> {
    let indices: Vec<i64> = indices.into_iter().map(|index| index as i64).collect();
    Array::from_slice(&indices, [indices.len()])
}

/// Delete elements at given indices along an axis.
///
/// `None` means the flattened array.
///
/// # Errors
/// If an index is out of bounds, or a mask has another length than the axis; inside `vmap` and `compile`, where an index
/// array has no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Index};
/// let a = Array::from([[1, 2], [3, 4], [5, 6]]);
/// assert_eq!(ops::delete(&a, &Index::from(-1), Some(0))?.to_vec::<i32>()?, [1, 2, 3, 4]);
/// assert_eq!(ops::delete(&a, &Index::from(1..5), None)?.to_vec::<i32>()?, [1, 6]);
/// assert!(ops::delete(&a, &Index::from(3), Some(0)).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn delete(a: &Array, index: &Index, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = array_and_axis("delete", a, axis)?;
    note_length_read(&a, axis);
    let length = a.shape()[axis];
    let mut is_kept = Vec::new();
    is_kept.try_reserve_exact(length).map_err(|_| {
        error!(Memory("delete"), "out of memory for the indices along an axis of {length} elements")
    })?;
    is_kept.resize(length, true);
    for i in resolve_indices("delete", index, length, length)? {
        is_kept[i] = false;
    }
    take(&a, &index_array((0..length).filter(|&i| is_kept[i]))?, Some(axis as i64))
}

/// Insert values before given indices along an axis.
///
/// `None` means the flattened array. The length of the axis means its end. Values have the dtype of `a` and broadcast to the
/// number of indices; at a single index any number of values is inserted.
///
/// # Errors
/// If an index is out of bounds, or the values do not broadcast; inside `vmap` and `compile`, where an index array has no
/// value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Index};
/// let a = Array::from([1, 2, 3]);
/// let insert = |index: Index, values| ops::insert(&a, &index, &values, Some(0))?.to_vec::<i32>();
/// assert_eq!(insert(Index::from(1), Array::from([8, 9]))?, [1, 8, 9, 2, 3]);
/// assert_eq!(insert(Index::from([0, 3]), Array::from(7))?, [7, 1, 2, 3, 7]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn insert(a: &Array, index: &Index, values: &Array, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = array_and_axis("insert", a, axis)?;
    note_length_read(&a, axis);
    let length = a.shape()[axis];
    let positions = resolve_indices("insert", index, length, length + 1)?;
    let mut values = cast_constant(values, a.dtype())?;
    if values.ndim() < a.ndim() {
        let leading_ones = std::iter::repeat_n(1, a.ndim() - values.ndim());
        values =
            rules::reshape(&values, leading_ones.chain(values.shape().iter().copied()).collect::<Shape>())?;
    }
    if let [position] = positions[..] {
        let is_scalar_index =
            matches!(index, Index::Int(_)) || matches!(index, Index::Array(array) if array.ndim() == 0);
        if is_scalar_index {
            values = moveaxis(&values, 0, axis as i64)?;
        }
        let shape = a.shape().with(axis, values.shape().get(axis).copied().unwrap_or(1));
        let values = broadcast_values(&values, &shape)?;
        let parts = [
            &slice_along(&a, axis, 0, position)?,
            &values,
            &slice_along(&a, axis, position, length - position)?,
        ];
        return concatenate(&parts, Some(axis as i64));
    }
    let values = broadcast_values(&values, &a.shape().with(axis, positions.len()))?;
    // The source of each element of the result: an index into `a` followed by `values`.
    let mut order: Vec<(usize, usize)> =
        positions.iter().enumerate().map(|(i, &position)| (position, i)).collect();
    order.sort_unstable();
    let mut sources = Vec::with_capacity(length + positions.len());
    let mut pending = order.into_iter().peekable();
    for position in 0..=length {
        while let Some((_, value)) = pending.next_if(|&(positions, _)| positions == position) {
            sources.push(length + value);
        }
        if position < length {
            sources.push(position);
        }
    }
    take(&concatenate(&[&a, &values], Some(axis as i64))?, &index_array(sources)?, Some(axis as i64))
}

fn broadcast_values(values: &Array, shape: &Shape) -> Result<Array> {
    ensure!(
        values.shape().broadcasts_to(shape),
        Value("insert"),
        "cannot broadcast values of shape {} to {shape}",
        values.shape()
    );
    rules::broadcast(values, shape)
}

/// Append values to an array along an axis.
///
/// Both are flattened for `None`.
///
/// # Errors
/// If the shapes differ along another axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, row) = (Array::from([[1, 2], [3, 4]]), Array::from([[5, 6]]));
/// assert_eq!(ops::append(&a, &row, Some(0))?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
/// assert!(ops::append(&a, &row, Some(1)).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn append(a: &Array, values: &Array, axis: Option<i64>) -> Result<Array> {
    concatenate(&[a, values], axis)
}

/// Repeat or truncate the elements of an array to fill a new shape.
///
/// Elements are in row-major order, repeated from the start as often as necessary; zeros if `a` is empty.
///
/// # Errors
/// If a length is negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([1, 2, 3]);
/// assert_eq!(ops::resize(&a, &[2, 2])?.to_vec::<i32>()?, [1, 2, 3, 1]);
/// assert_eq!(ops::resize(&a, &[2])?.to_vec::<i32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn resize(a: &Array, shape: impl ShapeArgument) -> Result<Array> {
    let shape = Shape::checked("resize", shape.lengths().as_ref())?;
    if a.size() == 0 {
        return Ok(Array::full(shape, 0, a.dtype()));
    }
    let flat = flatten(a, 0, -1)?;
    let repeated = tile(&flat, &[shape.size().div_ceil(a.size()) as i64])?;
    rules::reshape(&slice_along(&repeated, 0, 0, shape.size())?, shape)
}

/// `a` with the elements at `indices` of the flattened array set to `values`, which are repeated as often as necessary.
///
/// # Errors
/// If there are indices but no values.
pub(crate) fn set_cyclic(op: &str, a: &Array, indices: &Array, values: &Array) -> Result<Array> {
    let count = indices.size();
    ensure!(values.size() > 0 || count == 0, Value(op), "needs at least one value for {count} indices");
    let values = resize(values, [count as i64])?;
    let flat = rules::reshape(a, [a.size()])?;
    let indices = rules::reshape(indices, [count])?;
    rules::reshape(&update(ScatterKind::Set, &flat, &[Index::Array(indices)], &values)?, a.shape().clone())
}
