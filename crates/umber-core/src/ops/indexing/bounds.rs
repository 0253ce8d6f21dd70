//! What becomes of indices that lie outside.

use umber_types::{DType, Result};

use super::check_integers;
use crate::graph::Array;
use crate::ops::{clip, remainder};
use crate::primitives::rules::{cast, constant};

/// What becomes of an index that lies outside of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfBounds {
    /// It is an error.
    Raise,
    /// It counts on from the other end.
    Wrap,
    /// It becomes the nearest index; negative ones do not count from the end.
    Clip,
}

/// `indices` as int64 with those outside of `0..length` treated; what is to raise is left to whoever uses them.
pub(crate) fn settle(op: &str, indices: &Array, length: usize, mode: OutOfBounds) -> Result<Array> {
    check_integers(op, indices)?;
    let indices = cast(indices, DType::Int64)?;
    let length = length as i64;
    match mode {
        OutOfBounds::Raise => Ok(indices),
        OutOfBounds::Wrap => remainder(&indices, &constant(&indices, length)),
        OutOfBounds::Clip => {
            let last = constant(&indices, (length - 1).max(0));
            clip(&indices, Some(&constant(&indices, 0)), Some(&last))
        }
    }
}
