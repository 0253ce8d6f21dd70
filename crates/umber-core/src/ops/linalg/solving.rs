//! Linear equations, inverses and pseudo-inverses.

use umber_numerics::linalg::{Form, OnSingular};
use umber_types::{DType, KeepAxes, Result, Shape, bail, ensure, promote};

use super::factors::values_of;
use super::{Triangle, computing, epsilon, matrices, rounded, square};
use crate::graph::Array;
use crate::ops;
use crate::ops::data_dependent;
use crate::primitives::linalg::{
    Inverse, Pinv, Solve, adjoint_times, as_column, batch_shape, identity, solve_shared, times_adjoint,
};
use crate::primitives::rules::{broadcast, cast, reshape, sub};

/// Solve the linear equations `a x = b` with square matrices `a`.
///
/// `a` is `[..., n, n]`, `b` a vector `[n]` or matrices `[..., n, k]`, whose batch axes broadcast with those of `a`. A
/// singular matrix is an error at evaluation.
///
/// ```
/// use umber_core::{Array, ops::linalg::solve};
/// let a = Array::from_slice(&[2.0f32, 0.0, 1.0, 4.0], [2, 2])?;
/// let x = solve(&a, &Array::from_slice(&[2.0f32, 9.0], [2])?)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn solve(a: &Array, b: &Array) -> Result<Array> {
    solve_as(Solve { form: Form::General, name: "solve" }, a, b)
}

/// Solve the linear equations `a x = b` with triangular matrices `a`.
///
/// Only one triangle is read. A zero on the diagonal is an error at evaluation.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::{Triangle, solve_triangular}};
/// let a = Array::from([[2.0f32, 99.0], [1.0, 4.0]]); // 99 is not read
/// let x = solve_triangular(&a, &Array::from([2.0f32, 9.0]), Triangle::Lower)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn solve_triangular(a: &Array, b: &Array, triangle: Triangle) -> Result<Array> {
    solve_as(Solve { form: form_of(triangle), name: "solve_triangular" }, a, b)
}

fn form_of(triangle: Triangle) -> Form {
    match triangle {
        Triangle::Lower => Form::Lower,
        Triangle::Upper => Form::Upper,
    }
}

fn solve_as(op: Solve, a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype()).inexact();
    square(op.name, a)?;
    let n = a.shape()[a.ndim() - 1];
    let length = if b.ndim() == 1 { b.shape().first() } else { b.shape().iter().rev().nth(1) };
    ensure!(
        length == Some(&n),
        Value(format_args!("linalg.{}", op.name)),
        "right-hand side of shape {} does not match matrices of shape {}, expected ({n},) or (..., {n}, k)",
        b.shape(),
        a.shape()
    );
    let (x, y) = (cast(a, computing(dtype))?, cast(b, computing(dtype))?);
    let is_vector = y.ndim() == 1;
    let y = if is_vector { as_column(&y)? } else { y };
    let solution = if x.ndim() == 2 && y.ndim() > 2 {
        solve_shared(op, &x, &y)?
    } else {
        let (x, y) = broadcast_batches(op.name, &x, &y)?;
        Array::record_one(op, &[&x, &y])?
    };
    let solution = if is_vector {
        let shape: Shape = solution.shape()[..solution.ndim() - 1].into();
        reshape(&solution, shape)?
    } else {
        solution
    };
    rounded(&solution, dtype)
}

/// Broadcast two stacks of matrices to common batch axes.
fn broadcast_batches(op: &str, a: &Array, b: &Array) -> Result<(Array, Array)> {
    let Some(batch) = batch_shape(a).broadcast(&batch_shape(b)) else {
        bail!(
            Value(format_args!("linalg.{op}")),
            "batch axes of {} and {} cannot be broadcast",
            a.shape(),
            b.shape()
        );
    };
    let broadcast_to_common = |x: &Array| {
        let shape: Shape = batch.iter().chain(&x.shape()[x.ndim() - 2..]).copied().collect();
        broadcast(x, &shape)
    };
    Ok((broadcast_to_common(a)?, broadcast_to_common(b)?))
}

/// Inverse of square matrices.
///
/// `[..., n, n]` to the same shape. A singular matrix is an error at evaluation. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 4.0]]);
/// assert_eq!(ops::linalg::inv(&a)?.to_vec::<f32>()?, [0.5, 0.0, 0.0, 0.25]);
/// assert!(ops::linalg::inv(&Array::from([[1.0, 2.0], [2.0, 4.0]]))?.eval().is_err()); // singular
/// # Ok::<(), umber::Error>(())
/// ```
pub fn inv(a: &Array) -> Result<Array> {
    let x = square("inv", a)?;
    rounded(&inverse_of(&x, OnSingular::Fail, "inv")?, a.dtype())
}

/// The inverse of matrices that are already checked and promoted.
pub(super) fn inverse_of(x: &Array, on_singular: OnSingular, name: &'static str) -> Result<Array> {
    Array::record_one(Inverse { on_singular, name }, &[x])
}

/// Inverse of triangular matrices.
///
/// Only one triangle is read. A zero on the diagonal is an error at evaluation.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::{Triangle, tri_inv}};
/// let a = Array::from([[2.0f32, 99.0], [1.0, 4.0]]); // 99 is not read
/// assert_eq!(tri_inv(&a, Triangle::Lower)?.to_vec::<f32>()?, [0.5, 0.0, -0.125, 0.25]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tri_inv(a: &Array, triangle: Triangle) -> Result<Array> {
    let x = square("tri_inv", a)?;
    rounded(&triangular_inverse(&x, triangle, "tri_inv")?, a.dtype())
}

fn triangular_inverse(x: &Array, triangle: Triangle, name: &'static str) -> Result<Array> {
    let unit = identity(x, x.shape()[x.ndim() - 1])?;
    Array::record_one(Solve { form: form_of(triangle), name }, &[x, &unit])
}

/// Inverse of the matrices whose Cholesky factor is given.
///
/// These are `L Lᴴ`, or `Uᴴ U`, for a factor from [`cholesky`](super::cholesky). A zero on the diagonal is an error at
/// evaluation.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::{Triangle, cholesky_inv}};
/// let l = Array::from([[2.0f32, 0.0], [1.0, 2.0]]); // the factor of [[4, 2], [2, 5]]
/// let inverse = cholesky_inv(&l, Triangle::Lower)?;
/// assert_eq!(inverse.to_vec::<f32>()?, [0.3125, -0.125, -0.125, 0.25]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cholesky_inv(a: &Array, triangle: Triangle) -> Result<Array> {
    let x = square("cholesky_inv", a)?;
    let inverse = triangular_inverse(&x, triangle, "cholesky_inv")?;
    let product = match triangle {
        Triangle::Lower => adjoint_times(&inverse, &inverse)?,
        Triangle::Upper => times_adjoint(&inverse, &inverse)?,
    };
    rounded(&product, a.dtype())
}

/// The default tolerance of [`pinv`], [`matrix_rank`](super::matrix_rank) and [`lstsq`]: `max(m, n)` times the machine epsilon.
pub(super) fn default_tolerance(a: &Array) -> f64 {
    a.shape()[a.ndim() - 2..].iter().copied().max().unwrap_or(1) as f64 * epsilon(a.dtype())
}

/// Moore-Penrose pseudo-inverse of matrices.
///
/// `[..., m, n]` to `[..., n, m]`. Singular values up to `tolerance` times the largest count as zero; by default, up to
/// `max(m, n)` times the machine epsilon. The gradient is correct where the rank does not change.
///
/// Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops, ops::Closeness, ops::linalg::pinv};
/// let inverse = pinv(&Array::from([[3.0], [4.0]]), None)?;
/// assert_eq!(inverse.shape(), &Shape::from([1, 2]));
/// assert!(ops::allclose(&inverse, &Array::from([[0.12, 0.16]]), Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pinv(a: &Array, tolerance: Option<f64>) -> Result<Array> {
    let x = matrices("pinv", a)?;
    let tolerance = tolerance.unwrap_or_else(|| default_tolerance(a));
    rounded(&Array::record_one(Pinv::new(tolerance), &[&x])?, a.dtype())
}

/// The results of [`lstsq`].
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// The solution of minimum norm, `[..., n]` or `[..., n, k]`.
    pub solution: Array,
    /// The squared residuals `|b - a x|²`, one for each right-hand side. As in NumPy, they are empty for a single matrix that is
    /// rank-deficient or has no more rows than columns.
    pub residuals: Array,
    /// The rank of each matrix, int32.
    pub rank: Array,
    /// The singular values of each matrix.
    pub values: Array,
}

/// Least-squares solution of linear equations: the `x` that minimises `|b - a x|`.
///
/// `a` is `[..., m, n]`, `b` a vector `[m]` or matrices `[..., m, k]`; of several solutions, that of minimum norm.
/// Singular values count as in [`pinv`]. A matrix with more rows than columns is evaluated, as its rank decides the
/// number of residuals; inside `vmap` and `compile`, full rank is assumed. Fails if `b` has another number of rows than
/// `a`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness, ops::linalg::lstsq};
/// let a = Array::from([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]); // of a line at 0, 1 and 2
/// let result = lstsq(&a, &Array::from([1.0, 3.0, 5.0]), None)?;
/// let expected = Array::from([1.0, 2.0]);
/// assert!(ops::allclose(&result.solution, &expected, Closeness::default())?.item()?.as_bool());
/// assert_eq!(result.rank.to_vec::<i32>()?, [2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn lstsq(a: &Array, b: &Array, tolerance: Option<f64>) -> Result<LeastSquares> {
    let dtype = promote(a.dtype(), b.dtype()).inexact();
    matrices("lstsq", a)?;
    let rows = a.shape()[a.ndim() - 2];
    let length = if b.ndim() == 1 { b.shape().first() } else { b.shape().iter().rev().nth(1) };
    ensure!(
        length == Some(&rows),
        Value("linalg.lstsq"),
        "right-hand side of shape {} does not match matrices of shape {}, expected ({rows},) or (..., \
         {rows}, k)",
        b.shape(),
        a.shape()
    );
    let (x, y) = (cast(a, computing(dtype))?, cast(b, computing(dtype))?);
    let tolerance = tolerance.unwrap_or_else(|| default_tolerance(&x));
    let solution = ops::matmul(&Array::record_one(Pinv::new(tolerance), &[&x])?, &y)?;
    let values = values_of(&x)?;
    let rank = super::determinants::rank_of(&values, tolerance)?;
    let residuals = if x.ndim() == 2 && y.ndim() <= 2 && !has_residuals(&x, &rank)? {
        Array::full([0], 0, dtype.real())
    } else {
        rounded(&residuals_of(&x, &solution, &y)?, dtype)?
    };
    Ok(LeastSquares {
        solution: rounded(&solution, dtype)?,
        residuals,
        rank,
        values: rounded(&values, dtype)?,
    })
}

/// Whether NumPy returns residuals for this matrix.
fn has_residuals(a: &Array, rank: &Array) -> Result<bool> {
    let (rows, columns) = (a.shape()[0], a.shape()[1]);
    if rows <= columns {
        return Ok(false);
    }
    Ok(data_dependent::known(rank)?.is_none_or(|rank| rank.as_i64() == columns as i64))
}

/// `|b - a x|²` for each right-hand side, also for a vector.
fn residuals_of(a: &Array, solution: &Array, b: &Array) -> Result<Array> {
    let is_vector = b.ndim() == 1;
    let (x, y) = if is_vector {
        (ops::expand_dims(solution, &[-1])?, as_column(b)?)
    } else {
        (solution.clone(), b.clone())
    };
    let product = ops::matmul(a, &x)?;
    let distance = sub(&broadcast(&y, product.shape())?, &product)?;
    ops::sum(&ops::square(&ops::abs(&distance)?)?, Some(&[-2]), KeepAxes::No)
}

/// The dtype of ranks.
pub(super) const COUNT: DType = DType::Int32;
