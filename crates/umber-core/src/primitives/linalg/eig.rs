//! Eig: the eigenvalues and eigenvectors of square matrices.

use smallvec::smallvec;
use umber_numerics::linalg::Form;
use umber_types::{Result, Shape};

use super::{
    Solve, adjoint, adjoint_times, batch_of, described, diagonal_matrix, diagonal_of, differences, real,
    reciprocal_or_zero, scale_columns, vmap_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, conj, mul, sub};
use crate::validation::Site;

/// Complex eigenvalues and, with `has_vectors`, a matrix whose columns are the eigenvectors, of unit norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Eig {
    /// Are eigenvectors an output too?
    pub has_vectors: bool,
}

/// `V⁻ᴴ middle Vᴴ`.
fn from_eigenbasis(v: &Array, middle: &Array) -> Result<Array> {
    let solve = Solve { form: Form::General, name: "eig" };
    let right = matmul(middle, &adjoint(v)?)?;
    Array::record_one(solve, &[&adjoint(v)?, &right])
}

impl Primitive for Eig {
    fn name(&self) -> &'static str {
        if self.has_vectors { "linalg.eig" } else { "linalg.eigvals" }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let ArraySpec { shape, dtype } = inputs[0];
        let dtype = dtype.complex();
        let values = ArraySpec { shape: shape[..shape.ndim() - 1].into(), dtype };
        Ok(if self.has_vectors {
            smallvec![values, ArraySpec { shape: shape.clone(), dtype }]
        } else {
            values.into()
        })
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // With dP = V⁻¹ dA V: dλ = diag(dP), dV = V M - V diag(re diag(Vᴴ V M)) with M = dP / (λ[j] - λ[i]) off the
    // diagonal; the second term keeps the norms of the columns at one. Defective matrices have no derivative.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let a = &at.inputs[0];
            if !self.has_vectors {
                let pair = Array::record(Eig { has_vectors: true }, smallvec![a.clone()])?;
                return Ok(smallvec![Some(from_eigenbasis(&pair[1], &diagonal_matrix(&cotangents[0])?)?)]);
            }
            let (values, v) = (&at.outputs[0], &at.outputs[1]);
            let projected = adjoint_times(v, &cotangents[1])?;
            let norm_term = scale_columns(&adjoint_times(v, v)?, &real(&diagonal_of(&projected)?)?)?;
            let gaps = reciprocal_or_zero(&conj(&differences(values)?)?)?;
            let off_diagonal = mul(&sub(&projected, &norm_term)?, &gaps)?;
            let middle = add(&diagonal_matrix(&cotangents[0])?, &off_diagonal)?;
            Ok(smallvec![Some(from_eigenbasis(v, &middle)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let name = if self.has_vectors { "eig" } else { "eigvals" };
        task.run(|inputs, outputs| {
            let (values, vectors) = outputs.split_first().expect("eigenvalues are the first output");
            let outcome = umber_numerics::linalg::eig(inputs[0], values, vectors.first());
            let batch: Shape = batch_of(inputs[0].shape()).into();
            described(outcome, name, "has eigenvalues that do not converge", &batch)
        })
    }
}
