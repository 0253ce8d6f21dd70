//! Ranks and pseudo-inverses where every matrix has a tolerance of its own, as the array API allows.

use umber_types::{KeepAxes, Result, ensure};

use super::factors::{svd, values_of};
use super::solving::COUNT;
use super::{Basis, matrices, rounded};
use crate::graph::Array;
use crate::ops;
use crate::primitives::linalg::adjoint;
use crate::primitives::rules::{cast, constant};
use crate::primitives::slice::slice_along;

/// Where singular values are above their matrix's tolerance times the greatest.
fn counted(op: &str, values: &Array, tolerances: &Array) -> Result<Array> {
    ensure!(
        tolerances.dtype().is_floating() || tolerances.dtype().is_integer(),
        Type,
        "[linalg.{op}] got tolerances of {}, expected real numbers",
        tolerances.dtype()
    );
    let (axis, length) = (values.ndim() - 1, values.shape()[values.ndim() - 1]);
    let greatest = slice_along(values, axis, 0, length.min(1))?;
    let tolerances = ops::expand_dims(&cast(tolerances, values.dtype())?, &[-1])?;
    ops::greater(values, &ops::multiply(&greatest, &tolerances)?)
}

/// [`matrix_rank`](super::matrix_rank) with a relative tolerance for each matrix: `tolerances` broadcasts with the batch.
///
/// `[..., m, n]` and `[...]` to `[...]`, int32. Fails for fewer than two axes and for tolerances that are not real.
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
    let values = values_of(&matrices("matrix_rank", a)?)?;
    let counts = cast(&counted("matrix_rank", &values, tolerances)?, COUNT)?;
    ops::sum(&counts, Some(&[-1]), KeepAxes::No)
}

/// [`pinv`](super::pinv) with a relative tolerance for each matrix: `tolerances` broadcasts with the batch.
///
/// `[..., m, n]` and `[...]` to `[..., n, m]`. Fails for fewer than two axes and for tolerances that are not real.
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
    let factors = svd(&matrices("pinv", a)?, Basis::Reduced)?;
    let counted = counted("pinv", &factors.values, tolerances)?;
    // What does not count is not divided by, so that its gradient is zero, not NaN.
    let one = constant(&factors.values, 1.0);
    let divisors = ops::select(&counted, &factors.values, &one)?;
    let inverse = ops::divide(&cast(&counted, divisors.dtype())?, &divisors)?;
    let scaled = ops::multiply(&adjoint(&factors.vh)?, &ops::expand_dims(&inverse, &[-2])?)?;
    rounded(&ops::matmul(&scaled, &adjoint(&factors.u)?)?, a.dtype())
}
