//! Eigh: the real eigenvalues and orthonormal eigenvectors of Hermitian matrices.

use smallvec::smallvec;
use umber_types::{Result, Shape};

use super::{
    adjoint, adjoint_times, batch_of, described, diagonal_matrix, differences, hermitian_part, is_rounding,
    product, reciprocal_unless, vmap_stack,
};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::rules::{add, cast, mul};
use crate::validation::Site;

/// Eigenvalues in ascending order and, with `has_vectors`, a matrix whose columns are the eigenvectors. Only the lower triangle
/// of the input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Eigh {
    /// Are eigenvectors an output too?
    pub has_vectors: bool,
}

impl Primitive for Eigh {
    fn name(&self) -> &'static str {
        if self.has_vectors { "linalg.eigh" } else { "linalg.eigvalsh" }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let ArraySpec { shape, dtype } = inputs[0];
        let values = ArraySpec { shape: shape[..shape.ndim() - 1].into(), dtype: dtype.real() };
        Ok(if self.has_vectors { smallvec![values, inputs[0].clone()] } else { values.into() })
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // dλ = diag(Vᴴ dA V), Vᴴ dV = F ∘ (Vᴴ dA V) with F = 1 / (λ[j] - λ[i]), zero where eigenvalues are equal up to
    // rounding. The input counts as Hermitian, so that its cotangent is Hermitian too.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let a = &at.inputs[0];
            if !self.has_vectors {
                let pair = Array::record(Eigh { has_vectors: true }, smallvec![a.clone()])?;
                let middle = diagonal_matrix(&cast(&cotangents[0], a.dtype())?)?;
                return Ok(smallvec![Some(product(&pair[1], &middle, &adjoint(&pair[1])?)?)]);
            }
            let (values, v) = (&at.outputs[0], &at.outputs[1]);
            let gaps = differences(values)?;
            let gaps = cast(&reciprocal_unless(&is_rounding(&gaps, values)?, &gaps)?, a.dtype())?;
            let projected = mul(&gaps, &adjoint_times(v, &cotangents[1])?)?;
            let middle = add(&diagonal_matrix(&cast(&cotangents[0], a.dtype())?)?, &projected)?;
            Ok(smallvec![Some(product(v, &hermitian_part(&middle)?, &adjoint(v)?)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let name = if self.has_vectors { "eigh" } else { "eigvalsh" };
        task.run(|inputs, outputs| {
            let (values, vectors) = outputs.split_first().expect("eigenvalues are the first output");
            let outcome = umber_numerics::linalg::eigh(inputs[0], values, vectors.first());
            let batch: Shape = batch_of(inputs[0].shape()).into();
            described(outcome, name, "has eigenvalues that do not converge", &batch)
        })
    }
}
