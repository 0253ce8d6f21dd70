//! Transfer: a copy of an array in the memory of another device.
//!
//! The evaluator transfers inputs that are in another device's memory by itself. This is the explicit transfer of a program: its
//! result is in the memory of the device of the operation's stream.

use umber_types::{Device, Result, Stream};

use crate::device;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::primitives::rules::{batch_elementwise, linear_jvp, same_spec};
use crate::validation::Site;

/// The input in the memory of the device that the operation runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Transfer;

impl Primitive for Transfer {
    fn name(&self) -> &'static str {
        "to_device"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(same_spec(inputs))
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| Ok([Some(to_device(&cotangents[0], at.inputs[0].device())?)].into_iter().collect()))
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(*self, tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| batch_elementwise(*self, inputs))
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let storage = task.inputs[0].clone();
        task.answer(storage);
        Ok(())
    }
}

/// The array in the memory of a device; the array itself if it is in that memory.
pub(crate) fn to_device(array: &Array, to: Device) -> Result<Array> {
    if array.device() == to {
        return Ok(array.clone());
    }
    to_stream(array, device::default_stream(to)?)
}

/// The array in the memory of a stream's device; the array itself if it is in that memory.
pub(crate) fn to_stream(array: &Array, stream: Stream) -> Result<Array> {
    if array.device() == stream.device {
        return Ok(array.clone());
    }
    let inputs = std::iter::once(array.clone()).collect();
    Ok(Array::record_on(Transfer, inputs, stream)?.swap_remove(0))
}
