//! Random orders.

use umber_types::shape::normalize_axis;
use umber_types::{Result, Shape, SortOrder};

use super::{bits, key_or_next};
use crate::graph::Array;
use crate::ops::sorting;
use crate::primitives::gather::Places;
use crate::primitives::rules::move_axis;

/// The numbers below `count` in random order, as uint32.
pub fn permutation(count: i64, key: Option<&Array>) -> Result<Array> {
    let shape = Shape::checked("permutation", &[count])?;
    sorting::argsort(&bits("permutation", &key_or_next(key)?, shape)?, Some(0), SortOrder::Ascending)
}

/// `a` with its parts along an axis in random order.
pub fn permuted(a: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    let axis = normalize_axis("permutation", axis, a.ndim())?;
    let order = permutation(a.shape()[axis] as i64, key)?;
    let places = Places::grid("permutation", &[axis], smallvec::smallvec![order]);
    move_axis(&places.read(a)?, 0, axis)
}

/// A copy of `a` with its parts along an axis in random order: [`permuted`] under the name others give it.
pub fn shuffle(a: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    permuted(a, axis, key)
        .map_err(|error| error.map_message(|text| text.replacen("permutation", "shuffle", 1)))
}
