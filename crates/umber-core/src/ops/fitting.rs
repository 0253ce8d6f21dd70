//! Polynomials that lie closest to points.

use umber_types::{DType, KeepAxes, Result, ensure, promote};

use super::contraction::matmul;
use super::elementwise::{divide, equal, less_equal, multiply, select, sqrt, square, subtract};
use super::polynomials::{MOST, Powers, vander};
use super::promotion::{cast_constant, weak};
use super::reductions::{max, sum};
use super::shaping::{concatenate, flip};
use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::slice::slice_along;

/// An orthonormal basis `q` of the columns of a matrix, and the triangle `r` with `q r` equal to it, both column by
/// column.
///
/// By Gram and Schmidt's process, each column made orthogonal twice, which is enough (L. Giraud, J. Langou and M.
/// Rozložník, The loss of orthogonality in the Gram-Schmidt orthogonalization process, 2005). A column that depends on
/// those before it becomes zero.
fn orthonormal(matrix: &Array) -> Result<(Array, Array)> {
    let (rows, columns) = (matrix.shape()[0], matrix.shape()[1]);
    let mut basis = Array::full([rows, 0].into(), 0, matrix.dtype());
    for j in 0..columns {
        let column = slice_along(matrix, 1, j, 1)?;
        let mut rest = column.clone();
        for _ in 0..2 {
            let parts = matmul(&super::transpose(&basis, None)?, &rest)?;
            rest = subtract(&rest, &matmul(&basis, &parts)?)?;
        }
        let length = |x: &Array| sqrt(&sum(&square(x)?, None, KeepAxes::No)?);
        let limit = multiply(&length(&column)?, &weak((rows as f64 * f64::EPSILON).into(), matrix))?;
        let zero = weak(0.into(), matrix);
        let is_dependent = less_equal(&sum(&square(&rest)?, None, KeepAxes::No)?, &square(&limit)?)?;
        let one = weak(1.into(), matrix);
        let divisor = length(&select(&is_dependent, &one, &rest)?)?;
        let unit = select(&is_dependent, &zero, &divide(&rest, &divisor)?)?;
        basis = concatenate(&[&basis, &unit], Some(1))?;
    }
    let triangle = matmul(&super::transpose(&basis, None)?, matrix)?;
    Ok((basis, triangle))
}

/// The polynomial of a degree that lies closest to points `(x, y)`: `sum(w² (y - p(x))²)` is least. `y` may have
/// several columns, each with a polynomial in the same column of the result.
///
/// Computed in double precision. Powers that the points do not tell apart from lower ones get the coefficient zero.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[0.0f32, 1.0, 2.0], [3])?;
/// let y = Array::from_slice(&[1.0f32, 3.0, 5.0], [3])?;
/// let line = ops::polyfit(&x, &y, 1, None)?.to_vec::<f32>()?;
/// assert!((line[0] - 2.0).abs() < 1e-6 && (line[1] - 1.0).abs() < 1e-6);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// Where the degree is not from 0 to 4095, there are no points, or shapes do not fit.
pub fn polyfit(x: &Array, y: &Array, degree: i64, weights: Option<&Array>) -> Result<Array> {
    ensure!(
        (0..MOST as i64).contains(&degree),
        Value,
        "[polyfit] got degree {degree}, expected 0 to {}",
        MOST - 1
    );
    ensure!(
        x.ndim() == 1 && x.size() > 0,
        Value,
        "[polyfit] got x of shape {}, expected one axis of at least one point",
        x.shape()
    );
    ensure!(
        (1..=2).contains(&y.ndim()) && y.shape()[0] == x.size(),
        Value,
        "[polyfit] got y of shape {} for {} points, expected as many rows and one or two axes",
        y.shape(),
        x.size()
    );
    let dtype = promote(x.dtype(), y.dtype()).inexact();
    ensure!(
        !dtype.is_complex(),
        Type,
        "[polyfit] is not defined for what it got: arrays of {dtype}, expected \
     another dtype"
    );
    let double = |a: &Array| cast_constant(a, DType::Float64);
    let count = degree as usize + 1;
    let mut left = vander(&double(x)?, Some(count as i64), Powers::Rising)?;
    let mut right = reshape(&double(y)?, [x.size(), y.size() / x.size()])?;
    if let Some(weights) = weights {
        ensure!(
            weights.shape() == x.shape(),
            Value,
            "[polyfit] got weights of shape {}, expected {}",
            weights.shape(),
            x.shape()
        );
        let weights = reshape(&double(weights)?, [x.size(), 1])?;
        (left, right) = (multiply(&left, &weights)?, multiply(&right, &weights)?);
    }
    // Columns of one size each: their largest elements, through which no gradient needs to pass.
    let scale = super::stop_gradient(&max(&super::abs(&left)?, Some(&[0]), KeepAxes::Yes)?)?;
    let zero = weak(0.into(), &scale);
    let scale = select(&equal(&scale, &zero)?, &weak(1.into(), &scale), &scale)?;
    let (basis, triangle) = orthonormal(&divide(&left, &scale)?)?;
    let wanted = matmul(&super::transpose(&basis, None)?, &right)?;
    let solved = back_substitute(&triangle, &wanted)?;
    let fitted = flip(&divide(&solved, &reshape(&scale, [count, 1])?)?, Some(&[0]))?;
    let shape = y.shape().with(0, count);
    cast(&reshape(&fitted, shape)?, dtype)
}

/// `triangle⁻¹ wanted`, from the last row up; rows with a zero on the diagonal answer zero.
fn back_substitute(triangle: &Array, wanted: &Array) -> Result<Array> {
    let (count, columns) = (wanted.shape()[0], wanted.shape()[1]);
    let mut solved = Array::full([0, columns].into(), 0, wanted.dtype());
    for row in (0..count).rev() {
        let known = slice_along(&slice_along(triangle, 0, row, 1)?, 1, row + 1, count - row - 1)?;
        let rest = subtract(&slice_along(wanted, 0, row, 1)?, &matmul(&known, &solved)?)?;
        let pivot = slice_along(&slice_along(triangle, 0, row, 1)?, 1, row, 1)?;
        let is_zero = equal(&pivot, &weak(0.into(), &pivot))?;
        let divisor = select(&is_zero, &weak(1.into(), &pivot), &pivot)?;
        let value = select(&is_zero, &weak(0.into(), &rest), &divide(&rest, &divisor)?)?;
        solved = concatenate(&[&value, &solved], Some(0))?;
    }
    Ok(solved)
}
