//! Sorting, partitioning and selecting the largest elements.

use umber_types::shape::{from_start, normalize_axis};
use umber_types::{Result, SortOrder, bail, ensure};

use crate::graph::Array;
use crate::primitives::gather::Places;
use crate::primitives::rules::reshape;
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// The array and its normalised axis, or the flattened array and axis 0 if there is no axis.
fn array_and_axis(op: &str, a: &Array, axis: Option<i64>) -> Result<(Array, usize)> {
    match axis {
        Some(axis) => Ok((a.clone(), normalize_axis(op, axis, a.ndim())?)),
        None => Ok((reshape(a, [a.size()])?, 0)),
    }
}

fn sorted(op: &str, a: &Array, axis: usize, what: Sorted) -> Result<Array> {
    let length = a.shape()[axis];
    ensure!(
        matches!(what, Sorted::Values | Sorted::ValuesAround(_))
            || u32::try_from(length.saturating_sub(1)).is_ok(),
        Value(op),
        "axis of {length} elements is too long for uint32 indices"
    );
    Array::record_one(Sort { axis, what }, &[a])
}

/// Sort the elements along an axis.
///
/// `None` means the flattened array. NaN comes last in either order.
///
/// # Errors
/// If the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::SortOrder};
/// let a = Array::from([[3.0f32, f32::NAN, 1.0], [0.0, 2.0, 1.0]]);
/// let sorted = ops::sort(&a, Some(-1), SortOrder::Ascending)?.to_vec::<f32>()?;
/// assert_eq!((sorted[0], sorted[1], &sorted[3..]), (1.0, 3.0, &[0.0, 1.0, 2.0][..]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn sort(a: &Array, axis: Option<i64>, order: SortOrder) -> Result<Array> {
    let (a, axis) = array_and_axis("sort", a, axis)?;
    match order {
        SortOrder::Ascending => sorted("sort", &a, axis, Sorted::Values),
        SortOrder::Descending => {
            let indices = sorted("sort", &a, axis, Sorted::Indices(order))?;
            Places::along("sort", axis, indices).read(&a)
        }
    }
}

/// Compute the indices that sort the elements along an axis.
///
/// `None` means the flattened array. The indices are uint32. Equal elements keep their order, NaN comes last.
///
/// # Errors
/// If the axis is out of bounds, or has more than 2^32 elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::SortOrder};
/// let a = Array::from([30, 10, 20, 10]);
/// assert_eq!(ops::argsort(&a, None, SortOrder::Ascending)?.to_vec::<u32>()?, [1, 3, 2, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argsort(a: &Array, axis: Option<i64>, order: SortOrder) -> Result<Array> {
    let (a, axis) = array_and_axis("argsort", a, axis)?;
    sorted("argsort", &a, axis, Sorted::Indices(order))
}

/// Compute the indices that sort by several keys; the last key has the highest priority.
///
/// The keys have one shape and are sorted along an axis. Where elements of the last key are equal, the key before it decides,
/// and so on.
///
/// # Errors
/// If there are no keys, or their shapes differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (first_names, surnames) = (Array::from([2, 1, 1]), Array::from([7, 9, 7]));
/// let order = ops::lexsort(&[&first_names, &surnames], -1)?;
/// assert_eq!(order.to_vec::<u32>()?, [2, 0, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn lexsort(keys: &[&Array], axis: i64) -> Result<Array> {
    let Some((first, others)) = keys.split_first() else {
        bail!(Value("lexsort"), "needs at least one key");
    };
    if let Some(other) = others.iter().find(|key| key.shape() != first.shape()) {
        bail!(Value("lexsort"), "keys must have the same shape, got {} and {}", first.shape(), other.shape());
    }
    let axis = normalize_axis("lexsort", axis, first.ndim())?;
    let mut order = sorted("lexsort", first, axis, Sorted::Indices(SortOrder::Ascending))?;
    for key in others {
        let reordered = Places::along("lexsort", axis, order.clone()).read(key)?;
        let next = sorted("lexsort", &reordered, axis, Sorted::Indices(SortOrder::Ascending))?;
        order = Places::along("lexsort", axis, next).read(&order)?;
    }
    Ok(order)
}

/// The only index among `kths`, from the start of the axis; `None` for several, about which a full sort partitions.
fn pivot(op: &str, a: &Array, kths: &[i64], axis: usize) -> Result<Option<usize>> {
    let length = a.shape()[axis];
    ensure!(length > 0, Value(op), "axis {axis} must not be empty, got shape {}", a.shape());
    ensure!(!kths.is_empty(), Value(op), "kth must have at least one index");
    let bounds = -(length as i64)..length as i64;
    if let Some(kth) = kths.iter().find(|kth| !bounds.contains(kth)) {
        bail!(Value(op), "kth {kth} is out of bounds for axis {axis} of length {length}");
    }
    let first = from_start(kths[0], length);
    Ok(kths.iter().all(|&kth| from_start(kth, length) == first).then_some(first as usize))
}

/// Partially sort the elements along an axis, such that one of them is in its sorted position.
///
/// No element before `kth` is larger, none after it is smaller. NaN counts as larger than every number.
///
/// # Errors
/// If the axis or `kth` is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([5, 1, 4, 2, 3]);
/// assert_eq!(ops::partition(&a, 2, Some(0))?.to_vec::<i32>()?[2], 3);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn partition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    partition_about(a, &[kth], axis)
}

/// Partially sort the elements along an axis, such that several of them are in their sorted positions.
///
/// # Errors
/// If `kths` is empty, or the axis or one of `kths` is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([5, 1, 4, 2, 3]);
/// let parts = ops::partition_about(&a, &[1, -2], Some(0))?.to_vec::<i32>()?;
/// assert_eq!((parts[1], parts[3]), (2, 4));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn partition_about(a: &Array, kths: &[i64], axis: Option<i64>) -> Result<Array> {
    let (a, axis) = array_and_axis("partition", a, axis)?;
    let pivot = pivot("partition", &a, kths, axis)?;
    sorted("partition", &a, axis, pivot.map_or(Sorted::Values, Sorted::ValuesAround))
}

/// Compute the indices that partition the elements along an axis.
///
/// The indices, uint32, of a [`partition`].
///
/// # Errors
/// If the axis or `kth` is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([50, 10, 40]);
/// assert_eq!(ops::argpartition(&a, 0, Some(0))?.to_vec::<u32>()?[0], 1);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argpartition(a: &Array, kth: i64, axis: Option<i64>) -> Result<Array> {
    argpartition_about(a, &[kth], axis)
}

/// Compute the indices that partition the elements along an axis about several of them.
///
/// The indices, uint32, of a [`partition_about`].
///
/// # Errors
/// If `kths` is empty, or the axis or one of `kths` is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([50, 10, 40]);
/// assert_eq!(ops::argpartition_about(&a, &[0, 2], Some(0))?.to_vec::<u32>()?, [1, 2, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argpartition_about(a: &Array, kths: &[i64], axis: Option<i64>) -> Result<Array> {
    let (a, axis) = array_and_axis("argpartition", a, axis)?;
    let pivot = pivot("argpartition", &a, kths, axis)?;
    sorted("argpartition", &a, axis, pivot.map_or(Sorted::Indices(SortOrder::Ascending), Sorted::Around))
}

/// Select the k largest elements along an axis, in ascending order.
///
/// `None` means the flattened array. The axis has length `k`; the dtype is that of `a`. Fails if the axis has fewer elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[5, 1, 4], [7, 9, 8]]);
/// assert_eq!(ops::topk(&a, 2, Some(1))?.to_vec::<i32>()?, [4, 5, 8, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn topk(a: &Array, k: i64, axis: Option<i64>) -> Result<Array> {
    let (a, axis) = array_and_axis("topk", a, axis)?;
    let length = a.shape()[axis];
    ensure!(
        (0..=length as i64).contains(&k),
        Value("topk"),
        "k must be between 0 and {length}, the length of axis {axis}, got {k}"
    );
    let first = length - k as usize;
    if k == 0 || first == 0 {
        return slice_along(&sorted("topk", &a, axis, Sorted::Values)?, axis, first, k as usize);
    }
    let partitioned = sorted("topk", &a, axis, Sorted::ValuesAround(first))?;
    sorted("topk", &slice_along(&partitioned, axis, first, k as usize)?, axis, Sorted::Values)
}
