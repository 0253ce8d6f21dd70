//! Ranks and pseudo-inverses with one tolerance per matrix, as in the array API standard.

use umber_types::{DType, KeepAxes, Result, ensure};

use super::factors::{SvdFactors, eigenvalue_magnitudes, svd, svd_hermitian, values_of};
use super::solving::{COUNT, default_tolerance};
use super::{Basis, matrices, rounded, square};
use crate::graph::Array;
use crate::ops;
use crate::primitives::linalg::adjoint;
use crate::primitives::rules::{cast, constant};
use crate::primitives::slice::slice_along;

/// One tolerance for each matrix, with an axis appended to broadcast against the singular values.
fn align_tolerances(op: &str, values: &Array, tolerances: &Array) -> Result<Array> {
    ensure!(
        tolerances.dtype().is_floating() || tolerances.dtype().is_integer(),
        Type(format_args!("linalg.{op}")),
        "tolerances must be real, not {}",
        tolerances.dtype()
    );
    ops::expand_dims(&cast(tolerances, values.dtype())?, &[-1])
}

/// Whether singular values are above their matrix's tolerance times the largest singular value.
fn above_tolerance(op: &str, values: &Array, tolerances: &Array) -> Result<Array> {
    let (axis, length) = (values.ndim() - 1, values.shape()[values.ndim() - 1]);
    let max_value = slice_along(values, axis, 0, length.min(1))?;
    ops::greater(values, &ops::multiply(&max_value, &align_tolerances(op, values, tolerances)?)?)
}

/// The threshold up to which singular values count as zero: an array with one element for each matrix, or one for all.
#[derive(Clone, Copy, Debug)]
pub enum Threshold<'a> {
    /// `max(m, n)` times the machine epsilon, relative to the largest singular value.
    Rounding,
    /// Relative to the largest singular value.
    Relative(&'a Array),
    /// An absolute value.
    Absolute(&'a Array),
}

/// The symmetry of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// No symmetry is known.
    General,
    /// Equal to their conjugate transpose: only the lower triangle is read, and singular values are absolute eigenvalues.
    Hermitian,
}

/// Rank of matrices: the number of singular values above a threshold.
///
/// int32. `[..., m, n]` to `[...]`. Fails for fewer than two axes, for Hermitian matrices that are not square, and for
/// thresholds that are not real.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg::{Symmetry, Threshold, matrix_rank_above}};
/// let a = Array::from([[-4.0f32, 0.0], [0.0, 0.5]]);
/// let one = Array::from([1.0f32]);
/// let rank = matrix_rank_above(&a, Threshold::Absolute(&one), Symmetry::Hermitian)?;
/// assert_eq!(rank.to_vec::<i32>()?, [1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_rank_above(a: &Array, threshold: Threshold<'_>, symmetry: Symmetry) -> Result<Array> {
    const OP: &str = "matrix_rank";
    let values = match symmetry {
        Symmetry::General => values_of(&matrices(OP, a)?)?,
        Symmetry::Hermitian => eigenvalue_magnitudes(&square(OP, a)?)?,
    };
    let is_counted = match threshold {
        Threshold::Rounding => {
            above_tolerance(OP, &values, &Array::scalar(default_tolerance(a), DType::Float64))?
        }
        Threshold::Relative(tolerances) => above_tolerance(OP, &values, tolerances)?,
        Threshold::Absolute(bounds) => ops::greater(&values, &align_tolerances(OP, &values, bounds)?)?,
    };
    ops::sum(&cast(&is_counted, COUNT)?, Some(&[-1]), KeepAxes::No)
}

/// [`matrix_rank`](super::matrix_rank) with a relative tolerance for each matrix.
///
/// `tolerances` broadcasts with the batch. `[..., m, n]` and `[...]` to `[...]`, int32. Fails for fewer than two axes
/// and for tolerances that are not real.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[1.0f32, 0.0], [0.0, 1e-3]]);
/// let ranks = linalg::matrix_rank_within(&a, &Array::from([0.01f32, 1e-4]))?;
/// assert_eq!(ranks.to_vec::<i32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_rank_within(a: &Array, tolerances: &Array) -> Result<Array> {
    matrix_rank_above(a, Threshold::Relative(tolerances), Symmetry::General)
}

/// [`pinv`](super::pinv) with a relative tolerance for each matrix.
///
/// `tolerances` broadcasts with the batch. `[..., m, n]` and `[...]` to `[..., n, m]`. Fails for fewer than two axes
/// and for tolerances that are not real.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let a = Array::from([[2.0f32, 0.0], [0.0, 0.5]]);
/// let inverse = linalg::pinv_within(&a, &Array::from([0.5f32]))?;
/// assert_eq!(inverse.to_vec::<f32>()?, [0.5, 0.0, 0.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pinv_within(a: &Array, tolerances: &Array) -> Result<Array> {
    inverted(&svd(&matrices("pinv", a)?, Basis::Reduced)?, tolerances, a.dtype())
}

/// [`pinv`](super::pinv) of Hermitian matrices, of which only the lower triangle is read.
///
/// A relative tolerance may be given for each matrix. The gradient is Hermitian. `[..., n, n]` and `[...]` to
/// `[..., n, n]`. Fails for matrices that are not square and tolerances that are not real.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let inverse = linalg::pinv_hermitian(&Array::from([[-2.0f32, 0.0], [0.0, 0.0]]), None)?;
/// assert_eq!(inverse.to_vec::<f32>()?, [-0.5, 0.0, 0.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pinv_hermitian(a: &Array, tolerances: Option<&Array>) -> Result<Array> {
    let factors = svd_hermitian(&square("pinv", a)?)?;
    let rounding = Array::scalar(default_tolerance(a), DType::Float64);
    inverted(&factors, tolerances.unwrap_or(&rounding), a.dtype())
}

fn inverted(factors: &SvdFactors, tolerances: &Array, dtype: DType) -> Result<Array> {
    let is_counted = above_tolerance("pinv", &factors.values, tolerances)?;
    // Divide by one instead of the singular values that do not count, so that their gradient is zero, not NaN.
    let one = constant(&factors.values, 1.0);
    let divisors = ops::select(&is_counted, &factors.values, &one)?;
    let inverse = ops::divide(&cast(&is_counted, divisors.dtype())?, &divisors)?;
    let scaled = ops::multiply(&adjoint(&factors.vh)?, &ops::expand_dims(&inverse, &[-2])?)?;
    rounded(&ops::matmul(&scaled, &adjoint(&factors.u)?)?, dtype)
}
