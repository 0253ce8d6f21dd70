//! Random orders.

use umber_types::shape::normalize_axis;
use umber_types::{Result, Shape, SortOrder};

use super::{bits, key_or_next};
use crate::graph::Array;
use crate::ops::sorting;
use crate::primitives::gather::Places;
use crate::primitives::rules::move_axis;

/// Return the integers below `count` in random order.
///
/// uint32. Fails for a negative count.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// let mut order = ops::random::permutation(5, Some(&ops::random::key(0)?))?.to_vec::<u32>()?;
/// order.sort_unstable();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn permutation(count: i64, key: Option<&Array>) -> Result<Array> {
    let shape = Shape::checked("permutation", &[count])?;
    sorting::argsort(&bits("permutation", &key_or_next(key)?, shape)?, Some(0), SortOrder::Ascending)
}

/// Return the slices of an array along an axis in random order.
///
/// Shape and dtype are kept. Fails if the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// let rows = Array::from([[1, 1], [2, 2], [3, 3]]);
/// let mixed = ops::random::permuted(&rows, 0, None)?;
/// assert!(mixed.get(s![.., 0])?.equals(&mixed.get(s![.., 1])?)?); // rows stay together
/// # Ok::<(), umber::Error>(())
/// ```
pub fn permuted(a: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    let axis = normalize_axis("permutation", axis, a.ndim())?;
    let order = permutation(a.shape()[axis] as i64, key)?;
    let slices = Places::grid("permutation", &[axis], smallvec::smallvec![order]);
    move_axis(&slices.read(a)?, 0, axis)
}

/// Alias of [`permuted`].
///
/// Shape and dtype are kept. Fails if the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let mut cards = ops::random::shuffle(&Array::from([7, 8, 9]), 0, None)?.to_vec::<i32>()?;
/// cards.sort_unstable();
/// assert_eq!(cards, [7, 8, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn shuffle(a: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    permuted(a, axis, key).map_err(|error| error.with_op("shuffle"))
}
