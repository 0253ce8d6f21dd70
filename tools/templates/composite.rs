//! @Variant@: @doc@

use umber_types::Result;

use super::Decompose;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::CpuTask;
use crate::primitives::rules::same_spec;

/// @doc@
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct @Variant@;

impl Decompose for @Variant@ {
    fn name(&self) -> &'static str {
        "@name@"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let x = &inputs[0];
        compile_error!("write @name@ in algebra, with the functions of primitives/rules.rs")
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            compile_error!("call the kernel of @name@ in a crate of crates/kernels")
        })
    }
}
