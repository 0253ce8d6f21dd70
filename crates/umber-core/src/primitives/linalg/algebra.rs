//! Matrix helpers for the derivatives of factorisations.

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, Shape, UnaryKind};

use crate::graph::Array;
use crate::primitives::create::{Eye, EyeParameters};
use crate::primitives::matmul;
use crate::primitives::reduce;
use crate::primitives::rules::{
    add, binary, broadcast, cast, conj, constant, mul, reshape, sub, swap_last, unary, zeros_like,
};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// Number of rows.
pub(crate) fn rows(x: &Array) -> usize {
    x.shape()[x.ndim() - 2]
}

/// Number of columns.
pub(crate) fn columns(x: &Array) -> usize {
    x.shape()[x.ndim() - 1]
}

/// The batch axes: all but the last two.
pub(crate) fn batch_shape(x: &Array) -> Shape {
    x.shape()[..x.ndim() - 2].into()
}

/// The conjugate transpose.
pub(crate) fn adjoint(x: &Array) -> Result<Array> {
    swap_last(&conj(x)?)
}

/// The product of three stacks of matrices.
pub(crate) fn product(a: &Array, b: &Array, c: &Array) -> Result<Array> {
    matmul::matmul(&matmul::matmul(a, b)?, c)
}

/// `aᴴ b`.
pub(crate) fn adjoint_times(a: &Array, b: &Array) -> Result<Array> {
    matmul::matmul(&adjoint(a)?, b)
}

/// `a bᴴ`.
pub(crate) fn times_adjoint(a: &Array, b: &Array) -> Result<Array> {
    matmul::matmul(a, &adjoint(b)?)
}

/// `(x + xᴴ) / 2`.
pub(crate) fn hermitian_part(x: &Array) -> Result<Array> {
    let sum = add(x, &adjoint(x)?)?;
    mul(&sum, &constant(&sum, 0.5))
}

/// `x - xᴴ`.
pub(crate) fn minus_adjoint(x: &Array) -> Result<Array> {
    sub(x, &adjoint(x)?)
}

/// A mask of the elements on or below the `k`-th diagonal.
fn mask(x: &Array, k: i64) -> Result<Array> {
    let parameters = EyeParameters {
        rows: rows(x),
        columns: columns(x),
        diagonal: k,
        fill_below: true,
        dtype: DType::Bool,
    };
    broadcast(&Array::record_one(Eye(Box::new(parameters)), &[])?, x.shape())
}

/// `x` with zeros above the `k`-th diagonal.
pub(crate) fn lower(x: &Array, k: i64) -> Result<Array> {
    Array::record_one(Select, &[&mask(x, k)?, x, &zeros_like(x)])
}

/// `x` with zeros below the `k`-th diagonal.
pub(crate) fn upper(x: &Array, k: i64) -> Result<Array> {
    Array::record_one(Select, &[&mask(x, k - 1)?, &zeros_like(x), x])
}

/// A stack of `n` by `n` identity matrices with the batch axes and dtype of `reference`.
pub(crate) fn identity(reference: &Array, n: usize) -> Result<Array> {
    identity_of(&reference.shape()[..reference.ndim() - 2], n, reference.dtype())
}

/// A stack of identity matrices.
pub(crate) fn identity_of(batch: &[usize], n: usize, dtype: DType) -> Result<Array> {
    let parameters = EyeParameters { rows: n, columns: n, diagonal: 0, fill_below: false, dtype };
    let shape: Shape = batch.iter().copied().chain([n, n]).collect();
    broadcast(&Array::record_one(Eye(Box::new(parameters)), &[])?, &shape)
}

/// The diagonals of square matrices.
pub(crate) fn diagonal_of(x: &Array) -> Result<Array> {
    crate::ops::diagonal(x, 0, -2, -1)
}

/// Diagonal matrices with the diagonals `d`.
pub(crate) fn diagonal_matrix(d: &Array) -> Result<Array> {
    let n = d.shape()[d.ndim() - 1];
    scale_columns(&identity_of(&d.shape()[..d.ndim() - 1], n, d.dtype())?, d)
}

/// Each column of `x` times an element of `d`.
pub(crate) fn scale_columns(x: &Array, d: &Array) -> Result<Array> {
    mul(x, &broadcast(&as_row(&cast(d, x.dtype())?)?, x.shape())?)
}

/// Each row of `x` times an element of `d`.
pub(crate) fn scale_rows(x: &Array, d: &Array) -> Result<Array> {
    mul(x, &broadcast(&as_column(&cast(d, x.dtype())?)?, x.shape())?)
}

/// Vectors as matrices of one row.
pub(crate) fn as_row(d: &Array) -> Result<Array> {
    let mut shape = d.shape().clone();
    shape.insert(d.ndim() - 1, 1);
    reshape(d, shape)
}

/// Vectors as matrices of one column.
pub(crate) fn as_column(d: &Array) -> Result<Array> {
    let mut shape = d.shape().clone();
    shape.push(1);
    reshape(d, shape)
}

/// Scalars as matrices of one element.
pub(crate) fn as_matrix(d: &Array) -> Result<Array> {
    as_column(&as_column(d)?)
}

/// `d[j] - d[i]` at row `i` and column `j`.
pub(crate) fn differences(d: &Array) -> Result<Array> {
    let n = d.shape()[d.ndim() - 1];
    let shape: Shape = d.shape().iter().copied().chain([n]).collect();
    sub(&broadcast(&as_row(d)?, &shape)?, &broadcast(&as_column(d)?, &shape)?)
}

/// `1 / x`; zero where `x` is zero.
pub(crate) fn reciprocal_or_zero(x: &Array) -> Result<Array> {
    let (zero, one) = (zeros_like(x), constant(x, 1.0));
    let is_zero = binary(BinaryKind::Equal, x, &zero)?;
    let safe = Array::record_one(Select, &[&is_zero, &one, x])?;
    Array::record_one(Select, &[&is_zero, &zero, &unary(UnaryKind::Reciprocal, &safe)?])
}

/// Where `differences` of the values `d` are within the rounding error of the largest magnitude among `d`.
pub(crate) fn is_rounding(differences: &Array, d: &Array) -> Result<Array> {
    let axis = d.ndim() - 1;
    let n = d.shape()[axis];
    if n == 0 {
        return binary(BinaryKind::Equal, differences, &zeros_like(differences));
    }
    let kind = umber_types::ReduceKind::Max;
    let magnitudes = unary(UnaryKind::Abs, d)?;
    let largest =
        Array::record_one(reduce::Reduce { kind, axes: umber_types::Axes::one(axis) }, &[&magnitudes])?;
    let relative_bound = 2.0 * n as f64 * crate::ops::linalg::epsilon(d.dtype());
    let bound = mul(&largest, &constant(&largest, relative_bound))?;
    let bound = if differences.ndim() > d.ndim() { as_column(&bound)? } else { bound };
    let bound = broadcast(&bound, differences.shape())?;
    binary(BinaryKind::LessEqual, &unary(UnaryKind::Abs, differences)?, &bound)
}

/// `1 / x`; zero where the mask `is_zero` holds.
pub(crate) fn reciprocal_unless(is_zero: &Array, x: &Array) -> Result<Array> {
    let safe = Array::record_one(Select, &[is_zero, &constant(x, 1.0), x])?;
    Array::record_one(Select, &[is_zero, &zeros_like(x), &unary(UnaryKind::Reciprocal, &safe)?])
}

/// The real part of a complex array; a real array unchanged.
pub(crate) fn real(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { unary(UnaryKind::Real, x) } else { Ok(x.clone()) }
}

/// `i im(x)`, zero for real `x`.
pub(crate) fn imaginary(x: &Array) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(zeros_like(x));
    }
    sub(x, &cast(&unary(UnaryKind::Real, x)?, x.dtype())?)
}

/// The first `count` columns.
pub(crate) fn first_columns(x: &Array, count: usize) -> Result<Array> {
    slice_along(x, x.ndim() - 1, 0, count)
}

/// The columns from `start` on.
pub(crate) fn columns_from(x: &Array, start: usize) -> Result<Array> {
    slice_along(x, x.ndim() - 1, start, columns(x) - start)
}

/// The first `count` rows.
pub(crate) fn first_rows(x: &Array, count: usize) -> Result<Array> {
    slice_along(x, x.ndim() - 2, 0, count)
}

/// The rows from `start` on.
pub(crate) fn rows_from(x: &Array, start: usize) -> Result<Array> {
    slice_along(x, x.ndim() - 2, start, rows(x) - start)
}

/// Two stacks concatenated along an axis counted from the end.
pub(crate) fn concatenated(a: Array, b: Array, axis_from_end: usize) -> Result<Array> {
    let axis = a.ndim() - axis_from_end;
    crate::primitives::concatenate::concatenate(smallvec::smallvec![a, b], axis)
}

/// The sum over the last axis, which is removed.
pub(crate) fn sum_last(x: &Array) -> Result<Array> {
    let axis = x.ndim() - 1;
    let sum = reduce::sum(x, &umber_types::Axes::one(axis))?;
    let leading: SmallVec<[usize; 6]> = x.shape()[..axis].iter().copied().collect();
    reshape(&sum, leading.iter().copied().collect::<Shape>())
}
