//! Treatment of indices out of bounds.

use umber_types::shape::out_of_bounds;
use umber_types::{DType, KeepAxes, Result};

use super::check_integers;
use crate::graph::Array;
use crate::ops::{clip, max, min, remainder};
use crate::primitives::rules::{cast, constant};

/// The treatment of an index that is out of bounds of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfBounds {
    /// It is an error.
    Raise,
    /// It is taken modulo the length.
    Wrap,
    /// It becomes the nearest valid index; negative indices do not count from the end.
    Clip,
}

/// `indices` as int64, with those outside of `0..length` wrapped or clipped; for [`OutOfBounds::Raise`] the caller checks them.
pub(crate) fn resolve_indices(op: &str, indices: &Array, length: usize, mode: OutOfBounds) -> Result<Array> {
    check_integers(op, indices)?;
    let length = length as i64;
    // Large uint64 indices are treated before the cast, which would make them negative.
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

/// Fail for indices out of bounds of an axis, if their values are known. Updates check indices before they are recorded, because
/// a failure at evaluation would lose the array that is updated in place.
pub(crate) fn check_known(op: &str, indices: &Array, axis: usize, length: usize) -> Result<()> {
    const MAX_COMPARED: usize = 1 << 10;
    if !indices.is_evaluated() || indices.is_externally_mutable() {
        return Ok(());
    }
    let bound = length as i128;
    // For many indices, only compare the minimum and maximum, which kernels compute faster.
    let extremes = if indices.size() <= MAX_COMPARED {
        vec![indices.clone()]
    } else {
        vec![min(indices, None, KeepAxes::No)?, max(indices, None, KeepAxes::No)?]
    };
    for index in extremes.iter().map(to_i128).collect::<Result<Vec<_>>>()?.concat() {
        if !(-bound..bound).contains(&index) {
            return Err(out_of_bounds(index, axis, length).with_op(op));
        }
    }
    Ok(())
}

/// Integers of any dtype as a vector.
fn to_i128(indices: &Array) -> Result<Vec<i128>> {
    if indices.dtype() == DType::UInt64 {
        return Ok(indices.to_vec::<u64>()?.into_iter().map(i128::from).collect());
    }
    Ok(cast(indices, DType::Int64)?.to_vec::<i64>()?.into_iter().map(i128::from).collect())
}
