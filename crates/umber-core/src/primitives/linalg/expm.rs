//! Expm: the exponential of square matrices.

use smallvec::smallvec;
use umber_types::Result;

use super::{adjoint, batch_of, columns_from, concatenated, described, first_rows, rows, vmap_stack};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::primitives::rules::{same_spec, zeros_like};
use crate::validation::Site;

/// `exp(a) = 1 + a + a²/2 + …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Expm;

/// The derivative at `a` in a direction: the upper right block of the exponential of `[[a, direction], [0, a]]`.
///
/// R. Mathias, "A chain rule for matrix functions and applications", SIAM J. Matrix Anal. Appl. 17 (1996).
fn derivative(a: &Array, direction: &Array) -> Result<Array> {
    let n = rows(a);
    let top = concatenated(a.clone(), direction.clone(), 1)?;
    let bottom = concatenated(zeros_like(a), a.clone(), 1)?;
    let exponential = Array::record_one(Expm, &[&concatenated(top, bottom, 2)?])?;
    columns_from(&first_rows(&exponential, n)?, n)
}

impl Primitive for Expm {
    fn name(&self) -> &'static str {
        "linalg.expm"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    // The adjoint of the derivative at a is the derivative at aᴴ.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok(smallvec![Some(derivative(&adjoint(&at.inputs[0])?, &cotangents[0])?)]))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let tangent = tangents[0].as_ref().expect("jvp rules run with a tangent");
            Ok(vec![derivative(&at.inputs[0], tangent)?])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::expm(inputs[0], &output);
            described(outcome, "expm", "has no exponential", batch_of(inputs[0].shape()))
        })
    }
}
