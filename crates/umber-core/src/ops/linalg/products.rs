//! Products and powers of matrices.

use umber_numerics::linalg::OnSingular;
use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, bail, ensure};

use super::solving::inverse_of;
use super::{rounded, square};
use crate::graph::Array;
use crate::ops;
use crate::primitives::linalg::{Expm, identity_of};
use crate::primitives::rules::{broadcast, cast, move_axis, reshape, zeros_like};
use crate::primitives::slice::slice_along;

/// Matrix exponential `1 + a + a²/2! + …` of square matrices.
///
/// Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness, ops::linalg};
/// let power = linalg::expm(&Array::from([[0.0, 3.0], [0.0, 0.0]]))?; // 1 + a, as a² is zero
/// let expected = Array::from([[1.0, 3.0], [0.0, 1.0]]);
/// assert!(ops::allclose(&power, &expected, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn expm(a: &Array) -> Result<Array> {
    let x = square("expm", a)?;
    // Repeated squaring loses digits, of which float32 has few.
    let double = if x.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    let exponential = Array::record_one(Expm, &[&cast(&x, double)?])?;
    rounded(&cast(&exponential, x.dtype())?, a.dtype())
}

/// Integer power of square matrices.
///
/// Negative powers are powers of the inverse. Integers wrap, and their negative powers are float32. Fails if the
/// matrices are not square; a singular matrix to a negative power is an error at evaluation.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[1, 1], [0, 1]]);
/// assert_eq!(linalg::matrix_power(&a, 5)?.to_vec::<i32>()?, [1, 5, 0, 1]);
/// assert_eq!(linalg::matrix_power(&a, 0)?.to_vec::<i32>()?, [1, 0, 0, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_power(a: &Array, n: i64) -> Result<Array> {
    let x = square("matrix_power", a)?;
    let base = if n < 0 {
        rounded(&inverse_of(&x, OnSingular::Fail, "matrix_power")?, a.dtype())?
    } else {
        a.clone()
    };
    if n == 0 {
        return identity_of(&a.shape()[..a.ndim() - 2], a.shape()[a.ndim() - 1], a.dtype());
    }
    let (mut exponent, mut square, mut power) = (n.unsigned_abs(), base, None);
    loop {
        if exponent & 1 == 1 {
            power = Some(match power {
                Some(power) => ops::matmul(&power, &square)?,
                None => square.clone(),
            });
        }
        exponent >>= 1;
        match power {
            Some(power) if exponent == 0 => return Ok(power),
            _ => square = ops::matmul(&square, &square)?,
        }
    }
}

/// Product of two or more matrices in the order that needs the fewest multiplications.
///
/// The first may be a row and the last a column. T. H. Cormen et al., "Introduction to Algorithms", chapter 15.2.
///
/// Fails for fewer than two arrays, an inner array that is not a matrix, or inner dimensions that differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops::linalg};
/// let (row, a) = (Array::from([1, 2]), Array::from([[0, 1], [1, 0]]));
/// assert_eq!(linalg::multi_dot(&[&row, &a, &a])?.to_vec::<i32>()?, [1, 2]);
/// assert_eq!(linalg::multi_dot(&[&row, &a, &row])?.shape(), &Shape::scalar());
/// assert!(linalg::multi_dot(&[&a]).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn multi_dot(arrays: &[&Array]) -> Result<Array> {
    let [first, .., last] = arrays else {
        bail!(Value("linalg.multi_dot"), "needs at least two arrays, got {}", arrays.len());
    };
    let mut chain: Vec<Array> = arrays.iter().map(|&array| array.clone()).collect();
    if first.ndim() == 1 {
        chain[0] = reshape(first, [1, first.size()])?;
    }
    let end = chain.len() - 1;
    if last.ndim() == 1 {
        chain[end] = reshape(last, [last.size(), 1])?;
    }
    for (i, array) in chain.iter().enumerate() {
        ensure!(
            array.ndim() == 2,
            Value("linalg.multi_dot"),
            "array {i} must be a matrix, got shape {}",
            arrays[i].shape()
        );
    }
    for (i, pair) in chain.windows(2).enumerate() {
        ensure!(
            pair[0].shape()[1] == pair[1].shape()[0],
            Value("linalg.multi_dot"),
            "inner dimensions of arrays {i} and {} differ: {} @ {}",
            i + 1,
            arrays[i].shape(),
            arrays[i + 1].shape()
        );
    }
    let product = multiply_chain(&chain, &best_splits(&chain), 0, end)?;
    let mut shape = product.shape().clone();
    if last.ndim() == 1 {
        shape.remove(1);
    }
    if first.ndim() == 1 {
        shape.remove(0);
    }
    reshape(&product, shape)
}

/// For each segment of the chain, the factor after which to split it; by dynamic programming.
fn best_splits(chain: &[Array]) -> Vec<Vec<usize>> {
    let count = chain.len();
    let size = |i: usize| if i == 0 { chain[0].shape()[0] } else { chain[i - 1].shape()[1] } as f64;
    let (mut costs, mut splits) = (vec![vec![0.0; count]; count], vec![vec![0; count]; count]);
    for length in 1..count {
        for i in 0..count - length {
            let j = i + length;
            costs[i][j] = f64::INFINITY;
            for k in i..j {
                let cost = costs[i][k] + costs[k + 1][j] + size(i) * size(k + 1) * size(j + 1);
                if cost < costs[i][j] {
                    (costs[i][j], splits[i][j]) = (cost, k);
                }
            }
        }
    }
    splits
}

fn multiply_chain(chain: &[Array], splits: &[Vec<usize>], from: usize, to: usize) -> Result<Array> {
    if from == to {
        return Ok(chain[from].clone());
    }
    let split = splits[from][to].max(from);
    ops::matmul(&multiply_chain(chain, splits, from, split)?, &multiply_chain(chain, splits, split + 1, to)?)
}

/// Cross product of vectors of length 3 (or 2, with a third element of 0).
///
/// Vectors lie along an axis; other axes broadcast. The dtype is the promoted one. Fails for vectors of another length,
/// or other axes that do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::cross};
/// let (x, y) = (Array::from([1, 0, 0]), Array::from([0, 1, 0]));
/// assert_eq!(cross(&x, &y, -1)?.to_vec::<i32>()?, [0, 0, 1]);
/// assert_eq!(cross(&Array::from([1, 2]), &Array::from([3, 4]), -1)?.to_vec::<i32>()?, [0, 0, -2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cross(a: &Array, b: &Array, axis: i64) -> Result<Array> {
    cross_along(a, b, CrossAxes { left: axis, right: axis, result: axis })
}

/// The axes of the vectors in a cross product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrossAxes {
    /// The axis of the left operand.
    pub left: i64,
    /// The axis of the right operand.
    pub right: i64,
    /// The axis of the result.
    pub result: i64,
}

/// [`cross`] of vectors along one axis of each operand, into another axis of the result.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops::linalg::{CrossAxes, cross_along}};
/// let (x, y) = (Array::from([[1], [0], [0]]), Array::from([[0, 1, 0]]));
/// let product = cross_along(&x, &y, CrossAxes { left: 0, right: 1, result: 0 })?;
/// assert_eq!(product.shape(), &Shape::from([3, 1]));
/// assert_eq!(product.to_vec::<i32>()?, [0, 0, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cross_along(a: &Array, b: &Array, axes: CrossAxes) -> Result<Array> {
    let dtype = umber_types::promote(a.dtype(), b.dtype());
    let (x, y) = (vectors(&cast(a, dtype)?, axes.left)?, vectors(&cast(b, dtype)?, axes.right)?);
    let Some(shape) = x.shape().broadcast(y.shape()) else {
        bail!(Value("linalg.cross"), "shapes {} and {} cannot be broadcast", a.shape(), b.shape());
    };
    let (x, y) = (broadcast(&x, &shape)?, broadcast(&y, &shape)?);
    let last = shape.ndim() - 1;
    let element = |v: &Array, i: usize| slice_along(v, last, i, 1);
    let component = |i: usize, j: usize| {
        ops::subtract(
            &ops::multiply(&element(&x, i)?, &element(&y, j)?)?,
            &ops::multiply(&element(&x, j)?, &element(&y, i)?)?,
        )
    };
    let product = ops::concatenate(&[&component(1, 2)?, &component(2, 0)?, &component(0, 1)?], Some(-1))?;
    move_axis(&product, last, normalize_axis("linalg.cross", axes.result, shape.ndim())?)
}

/// Vectors along the last axis, padded to three elements.
fn vectors(x: &Array, axis: i64) -> Result<Array> {
    let axis = normalize_axis("linalg.cross", axis, x.ndim())?;
    let last = x.ndim() - 1;
    let moved = move_axis(x, axis, last)?;
    match moved.shape()[last] {
        3 => Ok(moved),
        2 => {
            let zero = zeros_like(&slice_along(&moved, last, 0, 1)?);
            ops::concatenate(&[&moved, &zero], Some(-1))
        }
        other => bail!(
            Value("linalg.cross"),
            "vectors must have 2 or 3 elements, got {other} along axis {axis} of shape {}",
            x.shape()
        ),
    }
}
