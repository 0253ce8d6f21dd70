//! Least-squares fits of polynomials.

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

/// The QR decomposition of a matrix, computed column by column.
///
/// The Gram-Schmidt process with reorthogonalisation: each column is orthogonalised twice, which is enough (L. Giraud, J. Langou
/// and M. Rozložník, The loss of orthogonality in the Gram-Schmidt orthogonalization process, 2005). A column that depends
/// linearly on those before it becomes zero.
fn orthonormal(matrix: &Array) -> Result<(Array, Array)> {
    let (rows, columns) = (matrix.shape()[0], matrix.shape()[1]);
    let mut basis = Array::full([rows, 0], 0, matrix.dtype());
    for j in 0..columns {
        let column = slice_along(matrix, 1, j, 1)?;
        let mut residual = column.clone();
        for _ in 0..2 {
            let projections = matmul(&super::transpose(&basis, None)?, &residual)?;
            residual = subtract(&residual, &matmul(&basis, &projections)?)?;
        }
        let norm = |x: &Array| sqrt(&sum(&square(x)?, None, KeepAxes::No)?);
        let limit = multiply(&norm(&column)?, &weak((rows as f64 * f64::EPSILON).into(), matrix))?;
        let zero = weak(0.into(), matrix);
        let is_dependent = less_equal(&sum(&square(&residual)?, None, KeepAxes::No)?, &square(&limit)?)?;
        let one = weak(1.into(), matrix);
        let divisor = norm(&select(&is_dependent, &one, &residual)?)?;
        let unit = select(&is_dependent, &zero, &divide(&residual, &divisor)?)?;
        basis = concatenate(&[&basis, &unit], Some(1))?;
    }
    let triangle = matmul(&super::transpose(&basis, None)?, matrix)?;
    Ok((basis, triangle))
}

/// Least-squares fit of a polynomial to points.
///
/// Minimises `sum(w² (y - p(x))²)`, in double precision. `y` may have several columns, each with a polynomial in
/// the same column of the result. Coefficients of powers that the points do not distinguish from lower ones are
/// zero.
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
/// If the degree is not from 0 to 4095, there are no points, or shapes do not fit.
pub fn polyfit(x: &Array, y: &Array, degree: i64, weights: Option<&Array>) -> Result<Array> {
    let system = System::new(x, y, degree, weights)?;
    system.coefficients(&system.solution()?, y)
}

/// Result of [`polyfit_full`].
#[derive(Clone, Debug)]
pub struct FullFit {
    /// The coefficients, the highest power first.
    pub coefficients: Array,
    /// `sum(w² (y - p(x))²)` for each column of `y`; empty unless there are more points than coefficients, at full rank.
    pub residuals: Array,
    /// The number of coefficients that the points determine, int32.
    pub rank: Array,
    /// The singular values of the Vandermonde matrix, its columns scaled to length one.
    pub values: Array,
    /// Singular values up to this fraction of the largest one counted as zero.
    pub tolerance: f64,
}

/// [`polyfit`] by a singular value decomposition, with diagnostics as NumPy's.
///
/// Singular values up to `tolerance` times the largest one count as zero; the default is the number of points times
/// the machine epsilon. Of several best fits the one with the smallest coefficients is chosen.
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
/// The errors of [`polyfit`].
pub fn polyfit_full(
    x: &Array,
    y: &Array,
    degree: i64,
    weights: Option<&Array>,
    tolerance: Option<f64>,
) -> Result<FullFit> {
    let system = System::new(x, y, degree, weights)?.in_unit_columns()?;
    let tolerance = tolerance.unwrap_or(x.size() as f64 * epsilon(x.dtype()));
    let solution = lstsq(&divide(&system.left, &system.scale)?, &system.right, Some(tolerance))?;
    Ok(FullFit {
        coefficients: system.coefficients(&solution.solution, y)?,
        residuals: cast(&solution.residuals, system.dtype)?,
        rank: solution.rank,
        values: cast(&solution.values, system.dtype)?,
        tolerance,
    })
}

/// Scaling of a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CovarianceUnit {
    /// Unscaled: weights are the reciprocals of the standard deviations of `y`.
    Weights,
    /// Scaled by the variance of the residuals; weights are relative.
    Residuals,
}

/// Covariance matrix of the coefficients of [`polyfit`].
///
/// If `y` has columns, there is a last axis for them: of length one in the unit of weights, which they share.
/// Evaluation fails if the points do not distinguish the powers.
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
/// The errors of [`polyfit`]; also, in the unit of residuals, if there are no more points than coefficients.
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
    let scales = multiply(&system.scale, &reshape(&system.scale, [count, 1])?)?;
    let base = flip(&divide(&inverse, &scales)?, Some(&[0, 1]))?;
    if unit == CovarianceUnit::Weights {
        // As in NumPy, all columns share one covariance, with an axis of length one for them.
        let shape: Shape = [count, count].into_iter().chain(y.shape()[1..].iter().map(|_| 1)).collect();
        return cast(&reshape(&base, shape)?, system.dtype);
    }
    ensure!(
        x.size() > count,
        Value("polyfit"),
        "cov needs more points than coefficients, got {} points for {count} coefficients",
        x.size()
    );
    let residuals = subtract(&system.right, &matmul(&columns, &system.solution()?)?)?;
    let squares = sum(&square(&residuals)?, Some(&[0]), KeepAxes::No)?;
    let freedom = weak(((x.size() - count) as f64).into(), &squares);
    let covariance = multiply(&reshape(&base, [count, count, 1])?, &divide(&squares, &freedom)?)?;
    let shape: Shape = [count, count].into_iter().chain(y.shape()[1..].iter().copied()).collect();
    cast(&reshape(&covariance, shape)?, system.dtype)
}

/// The equations of a fit in double precision, a row for each point.
struct System {
    /// The powers of `x` times the weights, in ascending order.
    left: Array,
    /// The columns of `y` times the weights.
    right: Array,
    /// The divisors of the columns of `left`, as a row.
    scale: Array,
    /// The dtype of the result.
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
        // Scale each column by its largest element. The scale is a constant to gradients.
        let scale = divisors(&max(&super::abs(&left)?, Some(&[0]), KeepAxes::Yes)?)?;
        Ok(System { left, right, scale, dtype })
    }

    /// Scale columns to length one, as in NumPy.
    fn in_unit_columns(mut self) -> Result<System> {
        let columns = divide(&self.left, &self.scale)?;
        let lengths = divisors(&sqrt(&sum(&square(&columns)?, Some(&[0]), KeepAxes::Yes)?)?)?;
        self.scale = multiply(&self.scale, &lengths)?;
        Ok(self)
    }

    /// The least-squares solution.
    fn solution(&self) -> Result<Array> {
        let (basis, triangle) = orthonormal(&divide(&self.left, &self.scale)?)?;
        back_substitute(&triangle, &matmul(&super::transpose(&basis, None)?, &self.right)?)
    }

    /// Undo the scaling of a solution, and give it the shape that `y` implies.
    fn coefficients(&self, solution: &Array, y: &Array) -> Result<Array> {
        let count = self.scale.size();
        let fitted = flip(&divide(solution, &reshape(&self.scale, [count, 1])?)?, Some(&[0]))?;
        cast(&reshape(&fitted, y.shape().with(0, count))?, self.dtype)
    }
}

/// `scales` as divisors: zeros become one, and gradients do not pass.
fn divisors(scales: &Array) -> Result<Array> {
    let scales = super::stop_gradient(scales)?;
    let zero = weak(0.into(), &scales);
    select(&equal(&scales, &zero)?, &weak(1.into(), &scales), &scales)
}

/// `triangle⁻¹ rhs` by back substitution; rows with a zero on the diagonal give zero.
fn back_substitute(triangle: &Array, rhs: &Array) -> Result<Array> {
    let (count, columns) = (rhs.shape()[0], rhs.shape()[1]);
    let mut solved = Array::full([0, columns], 0, rhs.dtype());
    for row in (0..count).rev() {
        let coefficients = slice_along(&slice_along(triangle, 0, row, 1)?, 1, row + 1, count - row - 1)?;
        let residual = subtract(&slice_along(rhs, 0, row, 1)?, &matmul(&coefficients, &solved)?)?;
        let pivot = slice_along(&slice_along(triangle, 0, row, 1)?, 1, row, 1)?;
        let is_zero = equal(&pivot, &weak(0.into(), &pivot))?;
        let divisor = select(&is_zero, &weak(1.into(), &pivot), &pivot)?;
        let value = select(&is_zero, &weak(0.into(), &residual), &divide(&residual, &divisor)?)?;
        solved = concatenate(&[&value, &solved], Some(0))?;
    }
    Ok(solved)
}
