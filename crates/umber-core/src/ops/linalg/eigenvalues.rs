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

/// Eigenvalues in ascending order, real, and orthonormal eigenvectors, one a column, of Hermitian matrices of which one
/// triangle is read.
///
/// The gradient is Hermitian. Equal eigenvalues count as staying equal in it, which is right for what does not depend
/// on the choice of vectors among them.
pub fn eigh(a: &Array, triangle: Triangle) -> Result<(Array, Array)> {
    let x = triangle_of("eigh", a, triangle)?;
    let outputs = Array::record(Eigh { has_vectors: true }, smallvec![x])?;
    Ok((rounded(&outputs[0], a.dtype())?, rounded(&outputs[1], a.dtype())?))
}

/// Eigenvalues in ascending order, real, of Hermitian matrices of which one triangle is read.
pub fn eigvalsh(a: &Array, triangle: Triangle) -> Result<Array> {
    let x = triangle_of("eigvalsh", a, triangle)?;
    rounded(&Array::record_one(Eigh { has_vectors: false }, &[&x])?, a.dtype())
}

/// Complex eigenvalues and eigenvectors, one a column, of square matrices; complex128 for float64, else complex64.
///
/// Vectors have length one and a real greatest element. The gradient needs a basis of eigenvectors; equal eigenvalues
/// count as staying equal in it.
pub fn eig(a: &Array) -> Result<(Array, Array)> {
    let outputs = Array::record(Eig { has_vectors: true }, smallvec![square("eig", a)?])?;
    Ok((outputs[0].clone(), outputs[1].clone()))
}

/// Complex eigenvalues of square matrices; complex128 for float64, else complex64.
pub fn eigvals(a: &Array) -> Result<Array> {
    Array::record_one(Eig { has_vectors: false }, &[&square("eigvals", a)?])
}
