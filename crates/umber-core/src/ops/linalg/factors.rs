//! Matrix factorisations.

use smallvec::smallvec;
use umber_types::{Result, SortOrder};

use super::eigenvalues::{eigh, eigvalsh};
use super::{Triangle, matrices, rounded, square};
use crate::graph::Array;
use crate::ops;
pub use crate::primitives::linalg::Basis;
use crate::primitives::linalg::{self, Cholesky, Lu, Qr, Svd, Vectors, adjoint};
use crate::primitives::rules::constant;

/// Cholesky factor of Hermitian positive definite matrices.
///
/// `[..., n, n]` to the lower triangular `L` with `a = L Lᴴ`, or the upper triangular `U` with `a = Uᴴ U`. Only that
/// triangle of `a` is read. A matrix that is not positive definite is an error at evaluation. The gradient is
/// Hermitian: that of a function of Hermitian matrices.
///
/// ```
/// use umber_core::ops::linalg::{Triangle, cholesky};
/// let a = umber_core::Array::from_slice(&[4.0f32, 2.0, 2.0, 5.0], [2, 2])?;
/// let l = cholesky(&a, Triangle::Lower)?;
/// assert_eq!(l.to_vec::<f32>()?, [2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn cholesky(a: &Array, triangle: Triangle) -> Result<Array> {
    let x = square("cholesky", a)?;
    let factor = match triangle {
        Triangle::Lower => Array::record_one(Cholesky, &[&x])?,
        // The lower triangle of aᴴ is the upper one of a.
        Triangle::Upper => adjoint(&Array::record_one(Cholesky, &[&adjoint(&x)?])?)?,
    };
    rounded(&factor, a.dtype())
}

/// QR factorisation `a = q r`: orthonormal columns and an upper triangular matrix.
///
/// `[..., m, n]`; `r` has a real diagonal. The gradient needs the first `min(m, n)` columns to be linearly independent.
///
/// Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops, ops::Closeness};
/// use umber::ops::linalg::{Basis, qr};
/// let a = Array::from([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]]);
/// let (q, r) = qr(&a, Basis::Reduced)?;
/// assert!(ops::allclose(&ops::matmul(&q, &r)?, &a, Closeness::default())?.item()?.as_bool());
/// let (q, r) = qr(&a, Basis::Complete)?;
/// assert_eq!((q.shape(), r.shape()), (&Shape::from([3, 3]), &Shape::from([3, 2])));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn qr(a: &Array, basis: Basis) -> Result<(Array, Array)> {
    let x = matrices("qr", a)?;
    let factors = Array::record(Qr { basis }, smallvec![x])?;
    Ok((rounded(&factors[0], a.dtype())?, rounded(&factors[1], a.dtype())?))
}

/// A factorisation `a = (l u)[rows]` of matrices `[..., m, n]`.
#[derive(Clone, Debug)]
pub struct LuFactors {
    /// The row of `l u` that equals each row of `a`, uint32.
    pub rows: Array,
    /// Unit lower triangular, `[..., m, min(m, n)]`.
    pub lower: Array,
    /// Upper triangular, `[..., min(m, n), n]`.
    pub upper: Array,
}

/// LU factorisation with partial pivoting: `a = (l u)[rows]`.
///
/// Fails for fewer than two axes; a singular matrix has factors, too.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let factors = linalg::lu(&Array::from([[0.0f32, 1.0], [2.0, 4.0]]))?;
/// assert_eq!(factors.rows.to_vec::<u32>()?, [1, 0]);
/// assert_eq!(factors.lower.to_vec::<f32>()?, [1.0, 0.0, 0.0, 1.0]);
/// assert_eq!(factors.upper.to_vec::<f32>()?, [2.0, 4.0, 0.0, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn lu(a: &Array) -> Result<LuFactors> {
    let x = matrices("lu", a)?;
    let outputs = Array::record(Lu, smallvec![x])?;
    Ok(LuFactors {
        rows: outputs[2].clone(),
        lower: rounded(&linalg::unpack_lower(&outputs[0])?, a.dtype())?,
        upper: rounded(&linalg::unpack_upper(&outputs[0])?, a.dtype())?,
    })
}

/// LU factorisation with partial pivoting, both factors in one matrix.
///
/// `[..., m, n]` to `[..., m, n]` and the pivots `[..., min(m, n)]`, uint32: row `i` was exchanged with row
/// `pivots[i]`, for `i` in ascending order. The unit diagonal of the lower factor is not stored. Fails for fewer than
/// two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let (factors, pivots) = linalg::lu_factor(&Array::from([[2.0f32, 1.0], [4.0, 4.0]]))?;
/// assert_eq!(factors.to_vec::<f32>()?, [4.0, 4.0, 0.5, -1.0]);
/// assert_eq!(pivots.to_vec::<u32>()?, [1, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn lu_factor(a: &Array) -> Result<(Array, Array)> {
    let x = matrices("lu_factor", a)?;
    let outputs = Array::record(Lu, smallvec![x])?;
    Ok((rounded(&outputs[0], a.dtype())?, outputs[1].clone()))
}

/// A factorisation `a = u diag(values) vh`.
#[derive(Clone, Debug)]
pub struct SvdFactors {
    /// Left singular vectors, as columns.
    pub u: Array,
    /// Singular values in descending order, real.
    pub values: Array,
    /// Right singular vectors, conjugated, as rows.
    pub vh: Array,
}

/// Singular value decomposition `a = u diag(values) vh`.
///
/// `[..., m, n]`, with complete bases or with `min(m, n)` vectors of each. Equal singular values are treated as staying
/// equal in the gradient, which is correct for functions that do not depend on the choice of vectors among them.
///
/// Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops, ops::Closeness};
/// use umber::ops::linalg::{Basis, svd};
/// let a = Array::from([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]]);
/// let factors = svd(&a, Basis::Reduced)?;
/// let again = ops::matmul(&ops::multiply(&factors.u, &factors.values)?, &factors.vh)?;
/// assert!(ops::allclose(&again, &a, Closeness::default())?.item()?.as_bool());
/// assert_eq!(svd(&a, Basis::Complete)?.u.shape(), &Shape::from([3, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn svd(a: &Array, basis: Basis) -> Result<SvdFactors> {
    let x = matrices("svd", a)?;
    let vectors = match basis {
        Basis::Reduced => Vectors::Thin,
        Basis::Complete => Vectors::Full,
    };
    let outputs = Array::record(Svd { vectors }, smallvec![x])?;
    Ok(SvdFactors {
        u: rounded(&outputs[0], a.dtype())?,
        values: rounded(&outputs[1], a.dtype())?,
        vh: rounded(&outputs[2], a.dtype())?,
    })
}

/// Singular values of matrices in descending order.
///
/// Real. `[..., m, n]` to `[..., min(m, n)]`. Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness, ops::linalg};
/// let values = linalg::svdvals(&Array::from([[3.0, 0.0], [0.0, -4.0]]))?;
/// assert!(ops::allclose(&values, &Array::from([4.0, 3.0]), Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn svdvals(a: &Array) -> Result<Array> {
    let x = matrices("svdvals", a)?;
    rounded(&values_of(&x)?, a.dtype())
}

/// [`svd`] of Hermitian matrices, of which only the lower triangle is read.
///
/// Left singular vectors are eigenvectors; right ones differ from them only in the signs of the eigenvalues. The
/// gradient is Hermitian.
///
/// Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness, ops::linalg::svd_hermitian};
/// let a = Array::from([[0.0, 0.0], [3.0, 0.0]]); // of which the upper triangle is not read
/// let factors = svd_hermitian(&a)?;
/// let again = ops::matmul(&ops::multiply(&factors.u, &factors.values)?, &factors.vh)?;
/// let expected = Array::from([[0.0, 3.0], [3.0, 0.0]]);
/// assert!(ops::allclose(&again, &expected, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn svd_hermitian(a: &Array) -> Result<SvdFactors> {
    let (values, vectors) = eigh(&square("svd", a)?, Triangle::Lower)?;
    let magnitudes = ops::abs(&values)?;
    let order = ops::argsort(&magnitudes, Some(-1), SortOrder::Descending)?;
    let ordered = |x: &Array| ops::take_along_axis(x, &order, Some(-1));
    let u = ops::take_along_axis(&vectors, &ops::expand_dims(&order, &[-2])?, Some(-1))?;
    let zero = constant(&values, 0.0);
    let sign = ops::select(&ops::less(&values, &zero)?, &constant(&values, -1.0), &constant(&values, 1.0))?;
    let v = ops::multiply(&u, &ops::expand_dims(&ordered(&sign)?, &[-2])?)?;
    Ok(SvdFactors {
        u: rounded(&u, a.dtype())?,
        values: rounded(&ordered(&magnitudes)?, a.dtype())?,
        vh: rounded(&adjoint(&v)?, a.dtype())?,
    })
}

/// Singular values of Hermitian matrices in descending order.
///
/// Only the lower triangle is read. `[..., n, n]` to `[..., n]`. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg};
/// let values = linalg::svdvals_hermitian(&Array::from([[2.0f32, 0.0], [0.0, -4.0]]))?;
/// assert_eq!(values.to_vec::<f32>()?, [4.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn svdvals_hermitian(a: &Array) -> Result<Array> {
    rounded(&eigenvalue_magnitudes(&square("svd", a)?)?, a.dtype())
}

/// Absolute values of the eigenvalues in descending order, of matrices that are already checked and promoted.
pub(super) fn eigenvalue_magnitudes(x: &Array) -> Result<Array> {
    ops::sort(&ops::abs(&eigvalsh(x, Triangle::Lower)?)?, Some(-1), SortOrder::Descending)
}

/// Singular values of matrices that are already checked and promoted.
pub(super) fn values_of(x: &Array) -> Result<Array> {
    Array::record_one(Svd { vectors: Vectors::None }, &[x])
}
