//! Eig: the eigenvalues of square matrices, and their eigenvectors.

use smallvec::smallvec;
use umber_numerics::linalg::Form;
use umber_types::{Result, Shape};

use super::{
    Solve, adjoint, adjoint_times, batch_of, diagonal_matrix, diagonal_of, differences, explained, real,
    reciprocal_or_zero, scale_columns, taller_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, conj, mul, sub};
use crate::validation::Site;

/// Complex eigenvalues, and with vectors a matrix with one a column, of length one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Eig {
    /// Are vectors answered too?
    pub has_vectors: bool,
}

/// `V⁻ᴴ middle Vᴴ`.
fn back(v: &Array, middle: &Array) -> Result<Array> {
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
    // diagonal; the second term keeps the lengths. Matrices without a basis of eigenvectors have no derivative.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let a = &at.inputs[0];
            if !self.has_vectors {
                let both = Array::record(Eig { has_vectors: true }, smallvec![a.clone()])?;
                return Ok(smallvec![Some(back(&both[1], &diagonal_matrix(&cotangents[0])?)?)]);
            }
            let (values, v) = (&at.outputs[0], &at.outputs[1]);
            let projected = adjoint_times(v, &cotangents[1])?;
            let growth = scale_columns(&adjoint_times(v, v)?, &real(&diagonal_of(&projected)?)?)?;
            let gaps = reciprocal_or_zero(&conj(&differences(values)?)?)?;
            let off_diagonal = mul(&sub(&projected, &growth)?, &gaps)?;
            let middle = add(&diagonal_matrix(&cotangents[0])?, &off_diagonal)?;
            Ok(smallvec![Some(back(v, &middle)?)])
        })
    }

    taller_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let name = if self.has_vectors { "eig" } else { "eigvals" };
        task.run(|inputs, outputs| {
            let (values, vectors) = outputs.split_first().expect("eigenvalues are always answered");
            let outcome = umber_numerics::linalg::eig(inputs[0], values, vectors.first());
            let batch: Shape = batch_of(inputs[0].shape()).into();
            explained(outcome, name, "has eigenvalues that do not converge", &batch)
        })
    }
}
