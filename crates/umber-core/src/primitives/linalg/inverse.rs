//! Inverse: the inverse of square matrices.

use smallvec::smallvec;
use umber_numerics::linalg::OnSingular;
use umber_types::Result;

use super::{adjoint, batch_of, described, product, vmap_stack};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::rules::{neg, same_spec};
use crate::validation::Site;

/// The inverse of square matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Inverse {
    /// The treatment of singular matrices.
    pub on_singular: OnSingular,
    /// The public function named in error messages; files do not store it.
    #[serde(skip, default = "name")]
    pub name: &'static str,
}

/// The function named in error messages of a loaded program.
fn name() -> &'static str {
    "inv"
}

impl Primitive for Inverse {
    fn name(&self) -> &'static str {
        "linalg.inv"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.square(0)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let x = adjoint(&at.outputs[0])?;
            Ok(smallvec![Some(neg(&product(&x, &cotangents[0], &x)?)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::inverse(self.on_singular, inputs[0], &output);
            described(outcome, self.name, "is singular", batch_of(inputs[0].shape()))
        })
    }
}
