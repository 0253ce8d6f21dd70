//! Control: what transforms must not look through, or must look through in their own way.

use smallvec::smallvec;
use umber_kernels::View;
use umber_types::{ArgReduceKind, DType, ReduceKind, Result, Shape, ensure};

use super::rules::{tangent_or_zero, zeros_like};
use crate::graph::{Array, ArraySpec, Specs, Storage};
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
    /// The first input, places of extremes among numbers; evaluation fails where the second, bool, says of any that there
    /// are none.
    Found(ArgReduceKind),
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
            Control::StopGradient | Control::Found(_) => 1,
            Control::Depends { outputs } => outputs as usize,
        }
    }
}

/// Is any element of a mask true?
fn holds_anywhere(mask: View<'_>) -> Result<bool> {
    let one: Shape = mask.shape().iter().map(|_| 1).collect();
    let mut found = Storage::allocate(&one, DType::Bool)?;
    let axes: Vec<usize> = (0..one.ndim()).collect();
    let view = found.view_mut(DType::Bool).expect("fresh storage is unique");
    umber_kernels::reduce::reduce(ReduceKind::Any, mask, &axes, view);
    Ok(found.dense_bytes(DType::Bool).is_some_and(|bytes| bytes != [0]))
}

impl Primitive for Control {
    fn name(&self) -> &'static str {
        match self {
            Control::StopGradient => "stop_gradient",
            Control::Depends { .. } => "depends",
            Control::Found(ArgReduceKind::ArgMin) => "nanargmin",
            Control::Found(ArgReduceKind::ArgMax) => "nanargmax",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(inputs[..self.outputs()].iter().map(|&spec| spec.clone()).collect())
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        Some(Ok(match self {
            Control::StopGradient => smallvec![Some(zeros_like(&at.inputs[0]))],
            Control::Depends { .. } | Control::Found(_) => {
                (0..at.inputs.len()).map(|input| cotangents.get(input).cloned()).collect()
            }
        }))
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        Some(Ok(match self {
            Control::StopGradient => vec![zeros_like(&at.outputs[0])],
            Control::Depends { .. } | Control::Found(_) => {
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
        if let Control::Found(_) = self {
            ensure!(
                !holds_anywhere(task.view(1))?,
                Value,
                "[{}] got a slice of nothing but NaN, expected at least one number",
                self.name()
            );
        }
        task.outputs = task.inputs.drain(..self.outputs()).map(Some).collect();
        Ok(())
    }
}
