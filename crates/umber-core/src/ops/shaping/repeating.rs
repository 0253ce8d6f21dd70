//! Repeating elements, all the same number of times or each with its own count.

use smallvec::SmallVec;
use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, Shape, Side, bail, ensure};

use super::checked_length;
use crate::graph::Array;
use crate::ops::data_dependent;
use crate::ops::indexing::take;
use crate::ops::scans::{ScanOrder, cumsum};
use crate::primitives::gather::iota;
use crate::primitives::rules;
use crate::primitives::search::search;

/// Repeat each element of an array.
///
/// `None` means the flattened array. The axis becomes `repeats` times as long. Fails if `repeats` is negative or the axis is
/// out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::repeat(&a, 2, Some(0))?.to_vec::<i32>()?, [1, 2, 1, 2, 3, 4, 3, 4]);
/// assert_eq!(ops::repeat(&a, 2, None)?.to_vec::<i32>()?, [1, 1, 2, 2, 3, 3, 4, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn repeat(a: &Array, repeats: i64, axis: Option<i64>) -> Result<Array> {
    ensure!(repeats >= 0, Value("repeat"), "repeats must not be negative, got {repeats}");
    let Some(axis) = axis else {
        return repeat(&rules::reshape(a, [a.size()])?, repeats, Some(0));
    };
    let axis = normalize_axis("repeat", axis, a.ndim())?;
    let lengths: SmallVec<[i64; 6]> = a.shape().iter().map(|&length| length as i64).collect();
    let mut repeated = lengths.clone();
    repeated[axis] = checked_length("repeat", lengths[axis].checked_mul(repeats), || {
        format!("{repeats} repeats of {} elements", lengths[axis])
    })?;
    let shape = Shape::checked("repeat", &repeated)?;
    let mut split = a.shape().clone();
    split.insert(axis + 1, 1);
    let expanded = split.with(axis + 1, repeats as usize);
    rules::reshape(&rules::broadcast(&rules::reshape(a, split)?, &expanded)?, shape)
}

/// Repeat each element along an axis, or of the flattened array, by its own count.
///
/// A single count applies to all elements. The counts are evaluated; their sum is the length of the result.
///
/// # Errors
/// If the counts are not integers, one is negative, or there are neither one count nor one for each element; inside `vmap`
/// and `compile`, where they have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// let repeated = ops::repeat_each(&a, &Array::from([2, 0]), Some(1))?;
/// assert_eq!(repeated.to_vec::<i32>()?, [1, 1, 3, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn repeat_each(a: &Array, counts: &Array, axis: Option<i64>) -> Result<Array> {
    let Some(axis) = axis else {
        return repeat_each(&rules::reshape(a, [a.size()])?, counts, Some(0));
    };
    let axis = normalize_axis("repeat", axis, a.ndim())?;
    let repeats = data_dependent::integers_of("repeat", counts)?;
    let length = a.shape()[axis];
    ensure!(
        counts.ndim() <= 1 && (repeats.len() == 1 || repeats.len() == length),
        Value("repeat"),
        "counts of shape {} do not match axis {axis} of length {length}",
        counts.shape()
    );
    if let Some(count) = repeats.iter().find(|&&count| count < 0) {
        bail!(Value("repeat"), "repeats must not be negative, got {count}");
    }
    if let [count] = repeats[..] {
        return repeat(a, count, Some(axis as i64));
    }
    let total = repeats.iter().try_fold(0i64, |sum, &count| sum.checked_add(count)).unwrap_or(i64::MAX);
    let lengths: SmallVec<[i64; 6]> =
        a.shape().iter().enumerate().map(|(i, &n)| if i == axis { total } else { n as i64 }).collect();
    let total = Shape::checked("repeat", &lengths)?[axis];
    let ends = cumsum(&rules::cast(counts, DType::Int64)?, ScanOrder::along(0), None)?;
    let sources = search(Side::Right, &ends, &iota(&Shape::from([total]), 0)?)?;
    take(a, &sources, Some(axis as i64))
}
