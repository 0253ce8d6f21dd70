//! Cholesky: a Hermitian positive definite matrix as `L Lᴴ`.

use smallvec::smallvec;
use umber_numerics::linalg::Form;
use umber_types::Result;

use super::{adjoint, adjoint_times, batch_of, described, hermitian_part, lower, solve, vmap_stack};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::rules::{add, constant, mul, same_spec};
use crate::validation::Site;

/// The lower triangular factor. Only the lower triangle of the input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Cholesky;

impl Primitive for Cholesky {
    fn name(&self) -> &'static str {
        "linalg.cholesky"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // dL = L Φ(L⁻¹ dA L⁻ᴴ), where Φ takes the lower triangle and half the diagonal. The input counts as Hermitian, so that
    // its cotangent is Hermitian too.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let l = &at.outputs[0];
            let inner = adjoint_times(l, &cotangents[0])?;
            let twice = add(&lower(&inner, 0)?, &lower(&inner, -1)?)?;
            let half = mul(&twice, &constant(&twice, 0.5))?;
            let upper = adjoint(l)?;
            let left = solve("cholesky", Form::Upper, &upper, &hermitian_part(&half)?)?;
            Ok(smallvec![Some(hermitian_part(&solve("cholesky", Form::Upper, &upper, &adjoint(&left)?)?)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::cholesky(inputs[0], &output);
            described(outcome, "cholesky", "is not positive definite", batch_of(inputs[0].shape()))
        })
    }
}
