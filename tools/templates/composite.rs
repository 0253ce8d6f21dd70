//! @Variant@: @doc@

use umber_types::Result;

use super::Decompose;
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::CpuTask;
use crate::primitives::rules::same_spec;
use crate::validation::Site;

/// @doc@
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct @Variant@;

impl Decompose for @Variant@ {
    fn name(&self) -> &'static str {
        "@name@"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        compile_error!("check the inputs that a file may contain for @name@; site.rows() if it takes rows of real numbers only")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        compile_error!("return @name@ for other axis lengths; or replace this function by any_lengths!(along 0)")
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = &inputs[0];
        compile_error!("express @name@ by simpler operations, with the functions of primitives/rules.rs")
    }

    // Add `vmap` if the op treats rows independently: `batch_rows(*self, inputs)`. By default the decomposition is batched.

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            compile_error!("call the kernel of @name@ in a crate of crates/kernels")
        })
    }
}
