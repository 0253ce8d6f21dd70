//! Qr: a matrix as the product of a matrix with orthonormal columns and an upper triangular matrix.

use smallvec::smallvec;
use umber_numerics::linalg::Form;
use umber_types::{Result, Shape};

use super::{
    adjoint, adjoint_times, batch_of, columns, columns_from, concatenated, described, diagonal_matrix,
    diagonal_of, first_columns, first_rows, product, real, rows, solve, times_adjoint, upper, vmap_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, cast, sub};
use crate::validation::Site;

/// How many columns the orthonormal factor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Basis {
    /// The smaller of the matrix's numbers of rows and columns.
    Reduced,
    /// The matrix's number of rows.
    Complete,
}

/// The factors `q` and `r`; the diagonal of `r` is real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Qr {
    /// How many columns `q` has.
    pub basis: Basis,
}

/// The cotangent of a matrix with at least as many rows as columns, from the cotangents of its reduced factors.
///
/// With `C = Qᴴ dA R⁻¹` and U taking the upper part of `C + Cᴴ` and half its diagonal (the diagonal of `R` stays
/// real): `dR = U(C) R`, `dQ = dA R⁻¹ - Q U(C)`.
fn pull_tall(q: &Array, r: &Array, ct_q: &Array, ct_r: &Array) -> Result<Array> {
    let w = sub(&times_adjoint(ct_r, r)?, &adjoint_times(q, ct_q)?)?;
    let strict = upper(&w, 1)?;
    let diagonal = cast(&real(&diagonal_of(&w)?)?, w.dtype())?;
    let symmetric = add(&add(&strict, &adjoint(&strict)?)?, &diagonal_matrix(&diagonal)?)?;
    over_adjoint(r, &add(ct_q, &matmul(q, &symmetric)?)?)
}

/// `b r⁻ᴴ`.
fn over_adjoint(r: &Array, b: &Array) -> Result<Array> {
    adjoint(&solve("qr", Form::Upper, r, &adjoint(b)?)?)
}

impl Primitive for Qr {
    fn name(&self) -> &'static str {
        "linalg.qr"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let ArraySpec { shape, dtype } = inputs[0];
        let (m, n) = (shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
        let width = match self.basis {
            Basis::Reduced => m.min(n),
            Basis::Complete => m,
        };
        let matrices = |rows: usize, columns: usize| ArraySpec {
            shape: batch_of(shape).iter().copied().chain([rows, columns]).collect::<Shape>(),
            dtype: *dtype,
        };
        Ok(smallvec![matrices(m, width), matrices(width, n)])
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.matrices(0)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (a, q, r) = (&at.inputs[0], &at.outputs[0], &at.outputs[1]);
            let (ct_q, ct_r) = (&cotangents[0], &cotangents[1]);
            let size = rows(a).min(columns(a));
            if rows(a) >= columns(a) {
                let (q1, r1) = (first_columns(q, size)?, first_rows(r, size)?);
                let (ct_q1, ct_r1) = (first_columns(ct_q, size)?, first_rows(ct_r, size)?);
                let pulled = pull_tall(&q1, &r1, &ct_q1, &ct_r1)?;
                if columns(q) == size {
                    return Ok(smallvec![Some(pulled)]);
                }
                // The complement of the basis is unique up to a rotation, which stays fixed: dQ2 = -Q1 dQ1ᴴ Q2.
                let (q2, ct_q2) = (columns_from(q, size)?, columns_from(ct_q, size)?);
                let correction = over_adjoint(&r1, &product(&q2, &adjoint(&ct_q2)?, &q1)?)?;
                return Ok(smallvec![Some(sub(&pulled, &correction)?)]);
            }
            // The further columns of R are Qᴴ times the further columns of the matrix.
            let (r1, tail_columns, ct_tail) =
                (first_columns(r, size)?, columns_from(a, size)?, columns_from(ct_r, size)?);
            let ct_q = add(ct_q, &times_adjoint(&tail_columns, &ct_tail)?)?;
            let square = pull_tall(q, &r1, &ct_q, &first_columns(ct_r, size)?)?;
            Ok(smallvec![Some(concatenated(square, matmul(q, &ct_tail)?, 1)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run(|inputs, outputs| {
            let [q, r] = outputs else { unreachable!("qr has two outputs") };
            let outcome = umber_numerics::linalg::qr(inputs[0], q, r);
            described(outcome, "qr", "has no factors", batch_of(inputs[0].shape()))
        })
    }
}
