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
        compile_error!("return the shape and dtype of the outputs of @name@; same_spec(inputs) if they equal those of the input")
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        compile_error!("check the inputs that a file may contain for @name@, so that rules and kernels can rely on them")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        compile_error!("return @name@ for other axis lengths; or replace this function by any_lengths!()")
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            compile_error!("compute the cotangents of the inputs of @name@ from those of its outputs")
        })
    }

    // Add `jvp` only if @name@ is linear or elementwise; by default it is derived from `vjp`.

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            compile_error!("apply @name@ to batched inputs, whose batch axis comes first")
        })
    }

    // The other methods of `Primitive`, from `is_index` on, have defaults; see its documentation.

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        compile_error!("choose memory layouts and call the kernel of @name@ in a crate below crates/kernels")
    }
}
