//! @Variant@: @doc@

use smallvec::smallvec;
use umber_types::Result;

use super::rules::same_spec;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::validation::Site;

/// @doc@
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct @Variant@ {}

impl Primitive for @Variant@ {
    fn name(&self) -> &'static str {
        "@name@"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        compile_error!("say the shape and dtype of the outputs of @name@; same_spec(inputs) if they are the input's")
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        compile_error!("say what a file may give @name@, so that no rule nor kernel meets what it does not expect")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        compile_error!("say what @name@ is at other lengths; any_lengths!() in place of the function if the same")
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            compile_error!("pull the cotangents of @name@ back to its inputs")
        })
    }

    // Add `jvp` only if @name@ is linear or elementwise: it is derived from `vjp` otherwise.

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            compile_error!("do the same with the batch axis in front of the inputs that have one")
        })
    }

    // Read what `Primitive` says of the other methods, which have defaults, from `is_index` on.

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        compile_error!("choose layouts and call the kernel of @name@ in a crate of crates/kernels")
    }
}
