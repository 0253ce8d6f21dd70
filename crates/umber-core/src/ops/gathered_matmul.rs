//! Matrix products selected by indices or segments.

use umber_types::{BinaryKind, DType, Result, Shape, bail, ensure, promote};

use super::contraction::{as_matrices, matmul, without_vector_axes};
use super::error_context::with_op;
use super::promotion::cast_constant;
use crate::graph::Array;
use crate::primitives::indexed_matmul::{each, indexed_matmul, listed};
use crate::primitives::rules::{binary, cast, constant, reshape};
use crate::primitives::segmented_matmul::SegmentedMatMul;

/// Matrix product of matrices selected by index: `a[lhs[i]] @ b[rhs[i]]` for each `i`.
///
/// Indices are flat indices into the batch axes. The index arrays broadcast; without one, every matrix of its operand
/// is taken in order. Negative indices count from the end. The selected matrices are not copied.
///
/// ```
/// # use umber_core::{Array, ops};
/// let a = Array::from_slice(&[1.0f32, 2.0], [2, 1, 1])?;
/// let b = Array::from_slice(&[10.0f32, 20.0, 30.0], [3, 1, 1])?;
/// let rhs = Array::from_slice(&[2i32, 0], [2])?;
/// assert_eq!(ops::gather_mm(&a, &b, None, Some(&rhs))?.to_vec::<f32>()?, [30.0, 20.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If shapes do not fit or indices are not integers; when evaluated, if an index is out of bounds.
pub fn gather_mm(a: &Array, b: &Array, lhs: Option<&Array>, rhs: Option<&Array>) -> Result<Array> {
    gather_mm_as("gather_mm", a, b, lhs, rhs)
}

/// [`gather_mm`]; `op` names the function in errors.
pub(super) fn gather_mm_as(
    op: &'static str,
    a: &Array,
    b: &Array,
    lhs: Option<&Array>,
    rhs: Option<&Array>,
) -> Result<Array> {
    for index in [lhs, rhs].into_iter().flatten() {
        ensure!(index.dtype().is_integer(), Type(op), "indices must be integers, not {}", index.dtype());
    }
    let (x, y) = as_matrices(op, a, b)?;
    if lhs.is_none() && rhs.is_none() {
        return with_op(op, matmul(a, b));
    }
    let batch = |array: &Array| -> Shape { array.shape()[..array.ndim() - 2].into() };
    let indices_or_all = |index: Option<&Array>, batch: &Shape| match index {
        Some(index) => Ok(index.clone()),
        None => reshape(&each(batch.size())?, batch.clone()),
    };
    let (left, right) = (indices_or_all(lhs, &batch(&x))?, indices_or_all(rhs, &batch(&y))?);
    let Some(shape) = left.shape().broadcast(right.shape()) else {
        bail!(Value(op), "indices of shapes {} and {} cannot be broadcast", left.shape(), right.shape());
    };
    let (left, right) = (listed(&left, &shape)?, listed(&right, &shape)?);
    let stack = |array: &Array| {
        let matrix = &array.shape()[array.ndim() - 2..];
        reshape(array, [batch(array).size(), matrix[0], matrix[1]])
    };
    let count = shape.size();
    let out = indexed_matmul(op, count, [&stack(&x)?, &stack(&y)?], [&left, &right, &each(count)?])?;
    let full: Shape = shape.iter().chain(&out.shape()[1..]).copied().collect();
    without_vector_axes(&reshape(&out, full)?, a, b)
}

/// Matrix products over segments of the inner axis: `a[:, start..end] @ b[start..end]`.
///
/// `segments` has shape `[..., 2]`. A segment that ends before it starts is empty, and its product is zero.
///
/// ```
/// # use umber_core::{Array, ops};
/// let a = Array::from_slice(&[1.0f32, 2.0, 3.0], [1, 3])?;
/// let b = Array::from_slice(&[1.0f32, 1.0, 1.0], [3, 1])?;
/// let segments = Array::from_slice(&[0i32, 2, 2, 3], [2, 2])?;
/// assert_eq!(ops::segmented_mm(&a, &b, &segments)?.to_vec::<f32>()?, [3.0, 3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If shapes do not fit or segments are not integers; when evaluated, if a segment lies outside the axis.
pub fn segmented_mm(a: &Array, b: &Array, segments: &Array) -> Result<Array> {
    ensure!(
        a.ndim() == 2 && b.ndim() == 2 && a.shape()[1] == b.shape()[0],
        Value("segmented_mm"),
        "operands must be matrices with equal inner dimensions, got {} @ {}",
        a.shape(),
        b.shape()
    );
    ensure!(
        segments.dtype().is_integer(),
        Type("segmented_mm"),
        "segments must be integers, not {}",
        segments.dtype()
    );
    ensure!(
        segments.shape().last() == Some(&2),
        Value("segmented_mm"),
        "last axis of segments must have length 2, got shape {}",
        segments.shape()
    );
    let dtype = promote(a.dtype(), b.dtype());
    let (a, b) = (cast_constant(a, dtype)?, cast_constant(b, dtype)?);
    let mut ends = segments.clone();
    if ends.dtype() == DType::UInt64 {
        // Clamp to int64: such values are out of bounds of any axis, and the cast would make them negative.
        ends = binary(BinaryKind::Minimum, &ends, &constant(&ends, i64::MAX))?;
    }
    let ends = reshape(&cast(&ends, DType::Int64)?, [segments.size() / 2, 2])?;
    let out = SegmentedMatMul::Sums.record(&a, &b, &ends)?;
    let shape: Shape =
        segments.shape()[..segments.ndim() - 1].iter().chain(&out.shape()[1..]).copied().collect();
    reshape(&out, shape)
}
