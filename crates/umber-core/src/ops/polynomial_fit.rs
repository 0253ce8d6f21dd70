//! Polynomials that lie closest to points.

use umber_types::{DType, KeepAxes, Result, Shape, ensure, promote};

use super::contraction::matmul;
use super::elementwise::{divide, equal, less_equal, multiply, select, sqrt, square, subtract};
use super::linalg::{epsilon, inv, lstsq};
use super::polynomials::{MAX_COEFFICIENTS, Powers, vander};
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
    let system = System::new(x, y, degree, weights)?;
    system.coefficients(&system.solution()?, y)
}

/// What [`polyfit_full`] answers.
#[derive(Clone, Debug)]
pub struct FullFit {
    /// The coefficients, the highest power first.
    pub coefficients: Array,
    /// `sum(w² (y - p(x))²)` for each column of `y`; none unless there are more points than coefficients, all told apart.
    pub residuals: Array,
    /// How many coefficients the points tell apart, int32.
    pub rank: Array,
    /// The singular values of the powers of `x`, each of length one.
    pub values: Array,
    /// Up to which part of the greatest one singular values counted as zero.
    pub tolerance: f64,
}

/// [`polyfit`] by singular values, as NumPy's: those up to `tolerance` times the greatest count as zero, by default as
/// many rounding errors as there are points. Of several polynomials as close it is the one of least coefficients.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[0.0f64, 1.0, 2.0], [3])?;
/// let y = Array::from_slice(&[1.0f64, 3.0, 5.0], [3])?;
/// let fit = ops::polyfit_full(&x, &y, 1, None, None)?;
/// assert_eq!(fit.rank.to_vec::<i32>()?, [2]);
/// assert!(fit.residuals.to_vec::<f64>()?[0] < 1e-20);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// As of [`polyfit`].
pub fn polyfit_full(
    x: &Array,
    y: &Array,
    degree: i64,
    weights: Option<&Array>,
    tolerance: Option<f64>,
) -> Result<FullFit> {
    let system = System::new(x, y, degree, weights)?.in_unit_columns()?;
    let tolerance = tolerance.unwrap_or(x.size() as f64 * epsilon(x.dtype()));
    let found = lstsq(&divide(&system.left, &system.scale)?, &system.right, Some(tolerance))?;
    Ok(FullFit {
        coefficients: system.coefficients(&found.solution, y)?,
        residuals: cast(&found.residuals, system.dtype)?,
        rank: found.rank,
        values: cast(&found.values, system.dtype)?,
        tolerance,
    })
}

/// What a covariance is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CovarianceUnit {
    /// As the weights say, which are one over the standard deviations of `y`.
    Weights,
    /// The variance of `y` about the polynomial, of which weights say the parts.
    Residuals,
}

/// The covariances of the coefficients that [`polyfit`] finds, with a last axis for the columns of `y` where it has them:
/// of length one in the unit of weights, which they share. The powers must be told apart by the points, or evaluation
/// fails.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[-1.0f64, 0.0, 1.0], [3])?;
/// let y = Array::from_slice(&[0.0f64, 3.0, 0.0], [3])?;
/// let covariance = ops::polyfit_covariance(&x, &y, 1, None, ops::CovarianceUnit::Residuals)?.to_vec::<f64>()?;
/// assert!((covariance[0] - 3.0).abs() < 1e-12 && (covariance[3] - 2.0).abs() < 1e-12);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// As of [`polyfit`], and in the unit of residuals where there are no more points than coefficients.
pub fn polyfit_covariance(
    x: &Array,
    y: &Array,
    degree: i64,
    weights: Option<&Array>,
    unit: CovarianceUnit,
) -> Result<Array> {
    let system = System::new(x, y, degree, weights)?.in_unit_columns()?;
    let count = system.scale.size();
    let columns = divide(&system.left, &system.scale)?;
    let inverse = inv(&matmul(&super::transpose(&columns, None)?, &columns)?)?;
    let sizes = multiply(&system.scale, &reshape(&system.scale, [count, 1])?)?;
    let base = flip(&divide(&inverse, &sizes)?, Some(&[0, 1]))?;
    if unit == CovarianceUnit::Weights {
        // As NumPy's: columns share one covariance, along an axis for them.
        let shape: Shape = [count, count].into_iter().chain(y.shape()[1..].iter().map(|_| 1)).collect();
        return cast(&reshape(&base, shape)?, system.dtype);
    }
    ensure!(
        x.size() > count,
        Value("polyfit"),
        "cov needs more points than coefficients, got {} points for {count} coefficients",
        x.size()
    );
    let distance = subtract(&system.right, &matmul(&columns, &system.solution()?)?)?;
    let squares = sum(&square(&distance)?, Some(&[0]), KeepAxes::No)?;
    let freedom = weak(((x.size() - count) as f64).into(), &squares);
    let covariance = multiply(&reshape(&base, [count, count, 1])?, &divide(&squares, &freedom)?)?;
    let shape: Shape = [count, count].into_iter().chain(y.shape()[1..].iter().copied()).collect();
    cast(&reshape(&covariance, shape)?, system.dtype)
}

/// The equations of a fit in double precision, a row for each point.
struct System {
    /// The powers of `x` times the weights, rising.
    left: Array,
    /// The columns of `y` times the weights.
    right: Array,
    /// What each column of `left` is divided by before it is solved, a row.
    scale: Array,
    /// The dtype to answer in.
    dtype: DType,
}

impl System {
    fn new(x: &Array, y: &Array, degree: i64, weights: Option<&Array>) -> Result<System> {
        ensure!(
            (0..MAX_COEFFICIENTS as i64).contains(&degree),
            Value("polyfit"),
            "degree must be between 0 and {}, got {degree}",
            MAX_COEFFICIENTS - 1
        );
        ensure!(
            x.ndim() == 1 && x.size() > 0,
            Value("polyfit"),
            "x must be one-dimensional and non-empty, got shape {}",
            x.shape()
        );
        ensure!(
            (1..=2).contains(&y.ndim()) && y.shape()[0] == x.size(),
            Value("polyfit"),
            "y must have shape ({1},) or ({1}, k), got shape {0}",
            y.shape(),
            x.size()
        );
        let dtype = promote(x.dtype(), y.dtype()).inexact();
        ensure!(
            !dtype.is_complex(),
            Type("polyfit"),
            "dtype {dtype} is not supported, expected real numbers"
        );
        let double = |a: &Array| cast_constant(a, DType::Float64);
        let mut left = vander(&double(x)?, Some(degree + 1), Powers::Rising)?;
        let mut right = reshape(&double(y)?, [x.size(), y.size() / x.size()])?;
        if let Some(weights) = weights {
            ensure!(
                weights.shape() == x.shape(),
                Value("polyfit"),
                "weights must have shape {1}, got {0}",
                weights.shape(),
                x.shape()
            );
            let weights = reshape(&double(weights)?, [x.size(), 1])?;
            (left, right) = (multiply(&left, &weights)?, multiply(&right, &weights)?);
        }
        // Columns of one size each: their largest elements, through which no gradient needs to pass.
        let scale = divisors(&max(&super::abs(&left)?, Some(&[0]), KeepAxes::Yes)?)?;
        Ok(System { left, right, scale, dtype })
    }

    /// With columns divided by their lengths, as NumPy's singular values are counted.
    fn in_unit_columns(mut self) -> Result<System> {
        let columns = divide(&self.left, &self.scale)?;
        let lengths = divisors(&sqrt(&sum(&square(&columns)?, Some(&[0]), KeepAxes::Yes)?)?)?;
        self.scale = multiply(&self.scale, &lengths)?;
        Ok(self)
    }

    /// The factors of the columns that come closest to `right`.
    fn solution(&self) -> Result<Array> {
        let (basis, triangle) = orthonormal(&divide(&self.left, &self.scale)?)?;
        back_substitute(&triangle, &matmul(&super::transpose(&basis, None)?, &self.right)?)
    }

    /// The factors of columns as coefficients in the shape that `y` asks for.
    fn coefficients(&self, solution: &Array, y: &Array) -> Result<Array> {
        let count = self.scale.size();
        let fitted = flip(&divide(solution, &reshape(&self.scale, [count, 1])?)?, Some(&[0]))?;
        cast(&reshape(&fitted, y.shape().with(0, count))?, self.dtype)
    }
}

/// Sizes as what to divide by: zeros become one, and no gradient passes.
fn divisors(sizes: &Array) -> Result<Array> {
    let sizes = super::stop_gradient(sizes)?;
    let zero = weak(0.into(), &sizes);
    select(&equal(&sizes, &zero)?, &weak(1.into(), &sizes), &sizes)
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
