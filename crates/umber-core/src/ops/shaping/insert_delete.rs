//! Inserting, deleting and appending elements.

use umber_types::shape::{from_start, normalize_axis};
use umber_types::{Result, ScatterKind, Shape, bail, ensure, error};

use super::{concatenate, flatten, moveaxis, tile};
use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::ops::data_dependent;
use crate::ops::indexing::{Index, get, take, update};
use crate::ops::promotion::cast_constant;
use crate::primitives::rules;
use crate::primitives::slice::slice_along;

/// The axis along which `op` works: that of the flattened array if none is given.
fn along(op: &str, a: &Array, axis: Option<i64>) -> Result<(Array, usize)> {
    match axis {
        Some(axis) => Ok((a.clone(), normalize_axis(op, axis, a.ndim())?)),
        None => Ok((rules::reshape(a, [a.size()])?, 0)),
    }
}

/// The indices that an integer, a slice, or an array of integers or bool selects along an axis of `limit` elements. An
/// array is evaluated.
fn picked(op: &str, index: &Index, length: usize, limit: usize) -> Result<Vec<usize>> {
    let given = match index {
        Index::Int(place) => vec![*place],
        Index::Slice { .. } => {
            let every = crate::primitives::gather::iota(&Shape::from([length]), 0)?;
            get(&every, std::slice::from_ref(index))?.to_vec::<i64>()?
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
    given
        .into_iter()
        .map(|place| {
            let shifted = from_start(place, length);
            ensure!(
                (0..limit as i64).contains(&shifted),
                Index(op),
                "index {place} is out of bounds for axis of length {length}"
            );
            Ok(shifted as usize)
        })
        .collect()
}

fn places(places: impl IntoIterator<Item = usize>) -> Result<Array> {
    let places: Vec<i64> = places.into_iter().map(|place| place as i64).collect();
    Array::from_slice(&places, [places.len()])
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
    let (a, axis) = along("delete", a, axis)?;
    note_length_read(&a, axis);
    let length = a.shape()[axis];
    let mut stays = Vec::new();
    stays.try_reserve_exact(length).map_err(|_| {
        error!(Memory("delete"), "out of memory for the indices along an axis of {length} elements")
    })?;
    stays.resize(length, true);
    for place in picked("delete", index, length, length)? {
        stays[place] = false;
    }
    take(&a, &places((0..length).filter(|&place| stays[place]))?, Some(axis as i64))
}

/// Insert values before given indices along an axis.
///
/// `None` means the flattened array. The length of the axis means its end. Values have the dtype of `a` and broadcast to as many
/// elements as there are indices; at a single index any number of values is inserted.
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
    let (a, axis) = along("insert", a, axis)?;
    note_length_read(&a, axis);
    let length = a.shape()[axis];
    let before = picked("insert", index, length, length + 1)?;
    let mut values = cast_constant(values, a.dtype())?;
    if values.ndim() < a.ndim() {
        let missing = std::iter::repeat_n(1, a.ndim() - values.ndim());
        values = rules::reshape(&values, missing.chain(values.shape().iter().copied()).collect::<Shape>())?;
    }
    if let [place] = before[..] {
        let is_one =
            matches!(index, Index::Int(_)) || matches!(index, Index::Array(array) if array.ndim() == 0);
        if is_one {
            values = moveaxis(&values, 0, axis as i64)?;
        }
        let shape = a.shape().with(axis, values.shape().get(axis).copied().unwrap_or(1));
        let values = fit(&values, &shape)?;
        let parts =
            [&slice_along(&a, axis, 0, place)?, &values, &slice_along(&a, axis, place, length - place)?];
        return concatenate(&parts, Some(axis as i64));
    }
    let values = fit(&values, &a.shape().with(axis, before.len()))?;
    // The source of each element of the result: an index into `a` followed by `values`.
    let mut order: Vec<(usize, usize)> = before.iter().enumerate().map(|(i, &place)| (place, i)).collect();
    order.sort_unstable();
    let mut sources = Vec::with_capacity(length + before.len());
    let mut next = order.into_iter().peekable();
    for place in 0..=length {
        while let Some((_, value)) = next.next_if(|&(before, _)| before == place) {
            sources.push(length + value);
        }
        if place < length {
            sources.push(place);
        }
    }
    take(&concatenate(&[&a, &values], Some(axis as i64))?, &places(sources)?, Some(axis as i64))
}

fn fit(values: &Array, shape: &Shape) -> Result<Array> {
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
pub fn resize(a: &Array, shape: &[i64]) -> Result<Array> {
    let shape = Shape::checked("resize", shape)?;
    if a.size() == 0 {
        return Ok(Array::full(shape, 0, a.dtype()));
    }
    let flat = flatten(a, 0, -1)?;
    let repeated = tile(&flat, &[shape.size().div_ceil(a.size()) as i64])?;
    rules::reshape(&slice_along(&repeated, 0, 0, shape.size())?, shape)
}

/// `a` with the elements at indices `places` of the flattened array set to `values`, which are repeated as often as necessary.
///
/// # Errors
/// If there are indices but no values.
pub(crate) fn set_cyclic(op: &str, a: &Array, places: &Array, values: &Array) -> Result<Array> {
    let count = places.size();
    ensure!(values.size() > 0 || count == 0, Value(op), "needs at least one value for {count} indices");
    let values = resize(values, &[count as i64])?;
    let flat = rules::reshape(a, [a.size()])?;
    let places = rules::reshape(places, [count])?;
    rules::reshape(&update(ScatterKind::Set, &flat, &[Index::Array(places)], &values)?, a.shape().clone())
}
