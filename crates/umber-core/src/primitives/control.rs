//! Control: what transforms must not look through, or must look through in their own way.

use smallvec::smallvec;
use umber_types::Result;

use super::rules::{tangent_or_zero, zeros_like};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};

/// An operation that matters to transforms, not to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Control {
    /// The value of the input; no gradient passes.
    StopGradient,
    /// The values of the first inputs, once all others are there too.
    Depends {
        /// How many are answered with.
        outputs: u32,
    },
}

/// `inputs`, to be computed after all of `dependencies` and all of one another.
pub(crate) fn depends(inputs: &[Array], dependencies: &[Array]) -> Result<Vec<Array>> {
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let op = Control::Depends { outputs: inputs.len() as u32 };
    Ok(Array::record(op, inputs.iter().chain(dependencies).cloned().collect())?.into_vec())
}

impl Control {
    /// How many of the inputs are answered with.
    fn outputs(self) -> usize {
        match self {
            Control::StopGradient => 1,
            Control::Depends { outputs } => outputs as usize,
        }
    }
}

impl Primitive for Control {
    fn name(&self) -> &'static str {
        match self {
            Control::StopGradient => "stop_gradient",
            Control::Depends { .. } => "depends",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[..self.outputs()].iter().map(|&spec| spec.clone()).collect())
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(match self {
            Control::StopGradient => smallvec![Some(zeros_like(&at.inputs[0]))],
            Control::Depends { .. } => {
                (0..at.inputs.len()).map(|input| cotangents.get(input).cloned()).collect()
            }
        }))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(match self {
            Control::StopGradient => vec![zeros_like(&at.outputs[0])],
            Control::Depends { .. } => {
                let pushed = tangents.iter().zip(at.outputs);
                pushed.map(|(tangent, output)| tangent_or_zero(tangent.as_ref(), output)).collect()
            }
        }))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let arrays = Array::record(*self, inputs.iter().map(|input| input.array.clone()).collect())?;
            Ok(arrays
                .into_iter()
                .zip(inputs)
                .map(|(array, like)| Batched { array, batched: like.batched })
                .collect())
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.outputs = task.inputs.drain(..self.outputs()).map(Some).collect();
        Ok(())
    }
}
