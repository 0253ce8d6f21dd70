//! What becomes of indices that lie outside.

use umber_types::{DType, Result, bail};

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

/// Refuse indices outside of an axis where they are few and have their values: later would be too late for whoever
/// writes, since the array that is written to would be lost.
pub(super) fn check_known(op: &str, indices: &Array, axis: usize, length: usize) -> Result<()> {
    const FEW: usize = 1 << 10;
    let is_known = indices.is_evaluated() && !indices.is_volatile() && indices.size() <= FEW;
    if !is_known || indices.dtype() == DType::UInt64 {
        return Ok(());
    }
    let length = length as i64;
    let is_outside = |index: &i64| !(-length..length).contains(index);
    match cast(indices, DType::Int64)?.to_vec::<i64>()?.iter().find(|index| is_outside(index)) {
        Some(index) => {
            bail!(
                Index,
                "[{op}] index {index} is out of bounds for axis {axis} with size {length}: got {index}, \
             expected -{length} <= index < {length}"
            )
        }
        None => Ok(()),
    }
}
