//! @Variant@: @doc@

use smallvec::smallvec;
use umber_types::Result;

use super::rules::same_spec;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, rule};

/// @doc@
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct @Variant@ {}

impl Primitive for @Variant@ {
    fn name(&self) -> &'static str {
        "@name@"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        compile_error!("say the shape and dtype of the outputs of @name@; same_spec(inputs) if they are the input's")
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

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        compile_error!("choose layouts and call the kernel of @name@ in a crate of crates/kernels")
    }
}
