//! What becomes of indices that lie outside.

use umber_types::shape::out_of_bounds;
use umber_types::{DType, KeepAxes, Result};

use super::check_integers;
use crate::graph::Array;
use crate::ops::{clip, max, min, remainder};
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
pub(crate) fn resolve_indices(op: &str, indices: &Array, length: usize, mode: OutOfBounds) -> Result<Array> {
    check_integers(op, indices)?;
    let length = length as i64;
    // The greatest of uint64 are settled before they are cast, which would make them negative.
    let indices =
        if indices.dtype() == DType::UInt64 { indices.clone() } else { cast(indices, DType::Int64)? };
    let resolved = match mode {
        OutOfBounds::Raise => indices,
        OutOfBounds::Wrap => remainder(&indices, &constant(&indices, length))?,
        OutOfBounds::Clip => {
            let last = constant(&indices, (length - 1).max(0));
            clip(&indices, Some(&constant(&indices, 0)), Some(&last))?
        }
    };
    cast(&resolved, DType::Int64)
}

/// Refuse indices outside of an axis where they have their values: later would be too late for whoever writes, since
/// the array that is written to would be lost.
pub(crate) fn check_known(op: &str, indices: &Array, axis: usize, length: usize) -> Result<()> {
    const FEW: usize = 1 << 10;
    if !indices.is_evaluated() || indices.is_externally_mutable() {
        return Ok(());
    }
    let known = length as i128;
    // Of many the extremes say enough, and kernels find them faster.
    let telling = if indices.size() <= FEW {
        vec![indices.clone()]
    } else {
        vec![min(indices, None, KeepAxes::No)?, max(indices, None, KeepAxes::No)?]
    };
    for index in telling.iter().map(wide).collect::<Result<Vec<_>>>()?.concat() {
        if !(-known..known).contains(&index) {
            return Err(out_of_bounds(index, axis, length).with_op(op));
        }
    }
    Ok(())
}

/// Integers of any dtype.
fn wide(indices: &Array) -> Result<Vec<i128>> {
    if indices.dtype() == DType::UInt64 {
        return Ok(indices.to_vec::<u64>()?.into_iter().map(i128::from).collect());
    }
    Ok(cast(indices, DType::Int64)?.to_vec::<i64>()?.into_iter().map(i128::from).collect())
}
