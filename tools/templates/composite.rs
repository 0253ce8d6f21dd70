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
        compile_error!("say what a file may give @name@; site.rows() if rows of real numbers and nothing else")
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        compile_error!("say what @name@ is at other lengths; any_lengths!(along 0) in place of the function if the same")
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = &inputs[0];
        compile_error!("write @name@ in algebra, with the functions of primitives/rules.rs")
    }

    // Add `vmap` if more rows are more of the same: `batch_rows(*self, inputs)`. The decomposition is batched otherwise.

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            compile_error!("call the kernel of @name@ in a crate of crates/kernels")
        })
    }
}
