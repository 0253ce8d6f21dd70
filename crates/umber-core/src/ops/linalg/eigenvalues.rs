//! Eigenvalues and eigenvectors.

use smallvec::smallvec;
use umber_types::Result;

use super::{Triangle, rounded, square};
use crate::graph::Array;
use crate::primitives::linalg::{Eig, Eigh, adjoint};

fn triangle_of(op: &str, a: &Array, triangle: Triangle) -> Result<Array> {
    let x = square(op, a)?;
    match triangle {
        Triangle::Lower => Ok(x),
        // The lower triangle of aᴴ is the upper one of a.
        Triangle::Upper => adjoint(&x),
    }
}

/// Real eigenvalues and orthonormal eigenvectors of Hermitian matrices.
///
/// Eigenvalues are in ascending order, eigenvectors one per column. Only one triangle is read. The gradient is
/// Hermitian. Equal eigenvalues are treated as staying equal in it, which is correct for functions that do not depend on
/// the choice of vectors among them.
///
/// `[..., n, n]` to `[..., n]` and `[..., n, n]`. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::linalg::{Triangle, eigh};
/// use umber::ops::{self, Closeness};
/// let a = umber::Array::from([[2.0, 1.0], [1.0, 2.0]]); // eigenvalues 1 and 3
/// let (values, vectors) = eigh(&a, Triangle::Lower)?;
/// let scaled = ops::multiply(&vectors, &values)?; // each column by its eigenvalue
/// assert!(ops::allclose(&ops::matmul(&a, &vectors)?, &scaled, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eigh(a: &Array, triangle: Triangle) -> Result<(Array, Array)> {
    let x = triangle_of("eigh", a, triangle)?;
    let outputs = Array::record(Eigh { has_vectors: true }, smallvec![x])?;
    Ok((rounded(&outputs[0], a.dtype())?, rounded(&outputs[1], a.dtype())?))
}

/// Real eigenvalues of Hermitian matrices in ascending order.
///
/// Only one triangle is read. `[..., n, n]` to `[..., n]`. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::linalg::{Triangle, eigvalsh};
/// let values = eigvalsh(&Array::from([[2.0, 99.0], [1.0, 2.0]]), Triangle::Lower)?; // 99 is not read
/// assert!(ops::allclose(&values, &Array::from([1.0, 3.0]), Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eigvalsh(a: &Array, triangle: Triangle) -> Result<Array> {
    let x = triangle_of("eigvalsh", a, triangle)?;
    rounded(&Array::record_one(Eigh { has_vectors: false }, &[&x])?, a.dtype())
}

/// Complex eigenvalues and eigenvectors of square matrices.
///
/// complex128 for float64 and complex128, else complex64. Eigenvectors, one per column, have 2-norm one and a real
/// element of largest magnitude. The gradient needs a basis of eigenvectors; equal eigenvalues are treated as staying
/// equal in it.
///
/// `[..., n, n]` to `[..., n]` and `[..., n, n]`. Fails if the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness, ops::linalg};
/// let a = Array::from([[0.0, -1.0], [1.0, 0.0]]); // a quarter turn: i and -i
/// let (values, vectors) = linalg::eig(&a)?;
/// let scaled = ops::multiply(&vectors, &values)?; // each column by its eigenvalue
/// assert!(ops::allclose(&ops::matmul(&a, &vectors)?, &scaled, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eig(a: &Array) -> Result<(Array, Array)> {
    let outputs = Array::record(Eig { has_vectors: true }, smallvec![square("eig", a)?])?;
    Ok((outputs[0].clone(), outputs[1].clone()))
}

/// Complex eigenvalues of square matrices.
///
/// complex128 for float64 and complex128, else complex64. `[..., n, n]` to `[..., n]`, in no particular order. Fails if
/// the matrices are not square.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::linalg, types::Complex64};
/// let a = Array::from([[0.0, -1.0], [1.0, 0.0]]); // a quarter turn: i and -i
/// let values = linalg::eigvals(&a)?.to_vec::<Complex64>()?;
/// assert!(values.iter().all(|value| (value * value + 1.0).norm() < 1e-12));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn eigvals(a: &Array) -> Result<Array> {
    Array::record_one(Eig { has_vectors: false }, &[&square("eigvals", a)?])
}
