//! Control: what transforms must not look through, or must look through in their own way.

use smallvec::smallvec;
use umber_types::Result;

use super::rules::{same_spec, zeros_like};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// An operation that matters to transforms, not to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Control {
    /// The value of the input; no gradient passes.
    StopGradient,
}

impl Primitive for Control {
    fn name(&self) -> &'static str {
        match self {
            Control::StopGradient => "stop_gradient",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn vjp(&self, at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(smallvec![Some(zeros_like(&at.inputs[0]))]))
    }

    fn jvp(&self, at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(vec![zeros_like(&at.outputs[0])]))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(*self, &[&inputs[0].array])?)]))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let storage = task.inputs[0].clone();
        task.answer(storage);
        Ok(())
    }
}
