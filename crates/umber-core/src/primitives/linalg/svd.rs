//! Svd: a matrix as `U diag(s) Vᴴ` with orthonormal columns in `U` and `V`.

use smallvec::smallvec;
use umber_types::{Result, Shape};

use super::{
    adjoint, adjoint_times, as_column, as_row, batch_of, columns, columns_from, described, diagonal_matrix,
    diagonal_of, differences, first_columns, first_rows, imaginary, is_rounding, minus_adjoint, product,
    reciprocal_unless, rows, rows_from, scale_columns, scale_rows, vmap_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, broadcast, cast, mul, sub};
use crate::validation::Site;

/// Which singular vectors are outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Vectors {
    /// None: singular values only.
    None,
    /// One left and one right vector per singular value.
    Thin,
    /// A full basis on either side.
    Full,
}

/// Singular values in descending order; with vectors, `U`, values and `Vᴴ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Svd {
    /// Which singular vectors are outputs.
    pub vectors: Vectors,
}

/// The projection of `x` onto the orthogonal complement of the orthonormal columns of `basis`.
fn project_out(basis: &Array, x: &Array) -> Result<Array> {
    sub(x, &matmul(basis, &adjoint_times(basis, x)?)?)
}

/// `1 / (s[j]² - s[i]²)`, zero where singular values are equal up to rounding.
fn inverse_gaps(s: &Array) -> Result<Array> {
    let differences = differences(s)?;
    let sums = {
        let shape = differences.shape();
        let row = broadcast(&as_row(s)?, shape)?;
        add(&row, &broadcast(&as_column(s)?, shape)?)?
    };
    let is_equal = is_rounding(&differences, s)?;
    mul(&reciprocal_unless(&is_equal, &differences)?, &reciprocal_unless(&is_equal, &sums)?)
}

/// `1 / s`, zero where `s` is zero up to rounding.
fn inverse_of(s: &Array) -> Result<Array> {
    reciprocal_unless(&is_rounding(s, s)?, s)
}

/// The contribution of the thin singular vectors' cotangents to the cotangent of the matrix.
///
/// With `dP = Uᴴ dA V`: `Uᴴ dU = F ∘ (dP S + S dPᴴ)` and `Vᴴ dV = F ∘ (S dP + dPᴴ S)`, where `F = 1 / (s[j]² - s[i]²)`;
/// the common phase of a pair of vectors is fixed, and the components of `dU`, `dV` orthogonal to the columns of `U`, `V` come
/// from `dA V S⁻¹` and `dAᴴ U S⁻¹`.
fn pull_vectors(u: &Array, s: &Array, v: &Array, ct_u: &Array, ct_v: &Array) -> Result<Array> {
    let gaps = cast(&inverse_gaps(s)?, u.dtype())?;
    let inverse = cast(&inverse_of(s)?, u.dtype())?;
    let (in_u, in_v) = (adjoint_times(u, ct_u)?, adjoint_times(v, ct_v)?);
    let mut middle = add(
        &scale_columns(&mul(&gaps, &minus_adjoint(&in_u)?)?, s)?,
        &scale_rows(&mul(&gaps, &minus_adjoint(&in_v)?)?, s)?,
    )?;
    if u.dtype().is_complex() {
        let phases = mul(&imaginary(&diagonal_of(&in_u)?)?, &inverse)?;
        middle = add(&middle, &diagonal_matrix(&phases)?)?;
    }
    let within = product(u, &middle, &adjoint(v)?)?;
    let complement_u = matmul(&scale_columns(&project_out(u, ct_u)?, &inverse)?, &adjoint(v)?)?;
    let complement_v = matmul(&scale_columns(u, &inverse)?, &adjoint(&project_out(v, ct_v)?)?)?;
    add(&within, &add(&complement_u, &complement_v)?)
}

/// The negated contribution of the cotangents of the vectors `U₂` that complete the basis: `U₂ ctᴴ U₁ S⁻¹ V₁ᴴ`. They are
/// unique up to a rotation, which stays fixed.
fn pull_complement(complement: &Array, ct: &Array, u: &Array, s: &Array, v: &Array) -> Result<Array> {
    let inner = scale_columns(&product(complement, &adjoint(ct)?, u)?, &inverse_of(s)?)?;
    matmul(&inner, &adjoint(v)?)
}

impl Primitive for Svd {
    fn name(&self) -> &'static str {
        "linalg.svd"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let ArraySpec { shape, dtype } = inputs[0];
        let (m, n) = (shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
        let size = m.min(n);
        let with = |tail: &[usize]| -> Shape { batch_of(shape).iter().chain(tail).copied().collect() };
        let values = ArraySpec { shape: with(&[size]), dtype: dtype.real() };
        let (left, right) = match self.vectors {
            Vectors::None => return Ok(values.into()),
            Vectors::Thin => (size, size),
            Vectors::Full => (m, n),
        };
        Ok(smallvec![
            ArraySpec { shape: with(&[m, left]), dtype: *dtype },
            values,
            ArraySpec { shape: with(&[right, n]), dtype: *dtype },
        ])
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.matrices(0)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let a = &at.inputs[0];
            if self.vectors == Vectors::None {
                let thin = Array::record(Svd { vectors: Vectors::Thin }, smallvec![a.clone()])?;
                return Ok(smallvec![Some(matmul(&scale_columns(&thin[0], &cotangents[0])?, &thin[2])?)]);
            }
            let (s, ct_s) = (&at.outputs[1], &cotangents[1]);
            let size = s.shape()[s.ndim() - 1];
            let (u, ct_u) = (first_columns(&at.outputs[0], size)?, first_columns(&cotangents[0], size)?);
            let (vh, ct_vh) = (first_rows(&at.outputs[2], size)?, first_rows(&cotangents[2], size)?);
            let (v, ct_v) = (adjoint(&vh)?, adjoint(&ct_vh)?);
            let of_values = matmul(&scale_columns(&u, ct_s)?, &vh)?;
            let mut pulled = add(&of_values, &pull_vectors(&u, s, &v, &ct_u, &ct_v)?)?;
            if columns(&at.outputs[0]) > size {
                let (complement, ct) =
                    (columns_from(&at.outputs[0], size)?, columns_from(&cotangents[0], size)?);
                pulled = sub(&pulled, &pull_complement(&complement, &ct, &u, s, &v)?)?;
            }
            if rows(&at.outputs[2]) > size {
                let complement = adjoint(&rows_from(&at.outputs[2], size)?)?;
                let ct = adjoint(&rows_from(&cotangents[2], size)?)?;
                pulled = sub(&pulled, &adjoint(&pull_complement(&complement, &ct, &v, s, &u)?)?)?;
            }
            Ok(smallvec![Some(pulled)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let outcome = match outputs {
                [values] => umber_numerics::linalg::svd(inputs[0], values, None),
                [u, values, v] => umber_numerics::linalg::svd(inputs[0], values, Some([u, v])),
                _ => unreachable!("svd has one output or three"),
            };
            described(outcome, "svd", "has singular values that do not converge", batch_of(inputs[0].shape()))
        })
    }
}
