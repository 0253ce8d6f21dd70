//! Determinants, ranks and condition numbers.

use smallvec::smallvec;
use umber_numerics::linalg::OnSingular;
use umber_types::{KeepAxes, Result, ensure};

use super::factors::values_of;
use super::norms::{MatrixNorm, matrix_norm_of};
use super::solving::{COUNT, default_tolerance, inverse_of};
use super::{matrices, rounded, square};
use crate::graph::Array;
use crate::ops;
use crate::primitives::linalg::{Determinant, SignedLog};
use crate::primitives::rules::{cast, constant};
use crate::primitives::slice::slice_along;

/// Determinant of square matrices.
///
/// `[..., n, n]` to `[...]`; zero for singular matrices. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[[2.0f32, 1.0], [0.0, 3.0]], [[1.0, 2.0], [2.0, 4.0]]]);
/// assert_eq!(linalg::det(&a)?.to_vec::<f32>()?, [6.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn det(a: &Array) -> Result<Array> {
    rounded(&Array::record_one(Determinant, &[&square("det", a)?])?, a.dtype())
}

/// Sign and logarithm of the absolute value of the determinant of square matrices.
///
/// The sign of a complex determinant is a complex number of absolute value one. Singular matrices give `(0, -inf)` and
/// have no gradient. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[[0.0f32, 1.0], [1.0, 0.0]], [[1.0, 2.0], [2.0, 4.0]]]);
/// let (sign, logarithm) = linalg::slogdet(&a)?;
/// assert_eq!(sign.to_vec::<f32>()?, [-1.0, 0.0]);
/// assert_eq!(logarithm.to_vec::<f32>()?, [0.0, f32::NEG_INFINITY]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn slogdet(a: &Array) -> Result<(Array, Array)> {
    let outputs = Array::record(SignedLog, smallvec![square("slogdet", a)?])?;
    Ok((rounded(&outputs[0], a.dtype())?, rounded(&outputs[1], a.dtype())?))
}

/// Rank of matrices: the number of singular values above `tolerance` times the largest.
///
/// int32; the default tolerance is `max(m, n)` times the machine epsilon. `[..., m, n]` to `[...]`. Fails for fewer
/// than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[[1.0f32, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1e-3]]]);
/// assert_eq!(linalg::matrix_rank(&a, None)?.to_vec::<i32>()?, [1, 2]);
/// assert_eq!(linalg::matrix_rank(&a, Some(0.01))?.to_vec::<i32>()?, [1, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_rank(a: &Array, tolerance: Option<f64>) -> Result<Array> {
    let x = matrices("matrix_rank", a)?;
    rank_of(&values_of(&x)?, tolerance.unwrap_or_else(|| default_tolerance(a)))
}

pub(super) fn rank_of(values: &Array, tolerance: f64) -> Result<Array> {
    let (axis, length) = (values.ndim() - 1, values.shape()[values.ndim() - 1]);
    let max_value = slice_along(values, axis, 0, length.min(1))?;
    let min_value = ops::multiply(&max_value, &constant(&max_value, tolerance))?;
    let counts = cast(&ops::greater(values, &min_value)?, COUNT)?;
    ops::sum(&counts, Some(&[-1]), KeepAxes::No)
}

/// Condition number of matrices: `norm(a, p) * norm(inv(a), p)`.
///
/// By default the ratio of the largest and the smallest singular value, for which matrices need not be square. Infinite
/// for singular matrices, unless rounding hides that their smallest singular value is zero.
///
/// Fails for empty matrices, and for matrices that are not square in a norm that is not defined by singular values.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::{MatrixNorm, cond}};
/// let a = Array::from([[[1.0f32, 0.0], [0.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]]);
/// let condition = cond(&a, Some(MatrixNorm::MaxColumnSum))?.to_vec::<f32>()?;
/// assert_eq!(condition, [4.0, f32::INFINITY]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cond(a: &Array, norm: Option<MatrixNorm>) -> Result<Array> {
    let norm = norm.unwrap_or(MatrixNorm::MaxSingularValue);
    if matches!(norm, MatrixNorm::MaxSingularValue | MatrixNorm::MinSingularValue) {
        let values = values_of(&matrices("cond", a)?)?;
        let (axis, length) = (values.ndim() - 1, values.shape()[values.ndim() - 1]);
        ensure!(length > 0, Value("linalg.cond"), "matrices must not be empty, got shape {}", a.shape());
        let (max_value, min_value) =
            (slice_along(&values, axis, 0, 1)?, slice_along(&values, axis, length - 1, 1)?);
        let (numerator, denominator) = if norm == MatrixNorm::MaxSingularValue {
            (max_value, min_value)
        } else {
            (min_value, max_value)
        };
        let ratio = without_nan(&ops::divide(&numerator, &denominator)?, &values)?;
        return rounded(&ops::squeeze(&ratio, Some(&[-1]))?, a.dtype());
    }
    let x = square("cond", a)?;
    let inverse = inverse_of(&x, OnSingular::Infinity, "cond")?;
    let axes = [x.ndim() - 2, x.ndim() - 1];
    let product = ops::multiply(
        &matrix_norm_of("cond", &x, norm, axes)?,
        &matrix_norm_of("cond", &inverse, norm, axes)?,
    )?;
    let product = without_nan(&product, &x)?;
    rounded(&ops::squeeze(&product, Some(&[-2, -1]))?, a.dtype())
}

/// Replace NaN in a ratio by infinity, unless the input has NaN.
fn without_nan(ratio: &Array, input: &Array) -> Result<Array> {
    let axes: Vec<i64> = (0..ratio.ndim())
        .filter(|&axis| ratio.shape()[axis] != input.shape()[axis])
        .map(|axis| axis as i64)
        .collect();
    let input_has_nan = ops::any(&ops::isnan(input)?, Some(&axes), KeepAxes::Yes)?;
    let is_undefined = ops::logical_and(&ops::isnan(ratio)?, &ops::logical_not(&input_has_nan)?)?;
    ops::select(&is_undefined, &constant(ratio, f64::INFINITY), ratio)
}
