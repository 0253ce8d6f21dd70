//! Operations on a few elements that are there, computed without a node.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smallvec::smallvec;
use umber_types::Result;

use super::at_once::MOST_READ;
use super::lone::{Lone, lone_on};
use crate::backend::backend;
use crate::device;
use crate::graph::{Array, ArraySpec, Storage};
use crate::op::Op;
use crate::passes::partition::{Role, role};
use crate::plan::launch;
use crate::primitive::CpuTask;

/// The result of an operation whose inputs are there or constants; `None` where it is not worth it, and where something fails:
/// evaluating says what.
pub(super) fn compute(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Option<Storage> {
    catch_unwind(AssertUnwindSafe(|| match role(op) {
        Role::Step => step(op, inputs, spec),
        Role::Reduction | Role::Product => kernel(op, inputs, spec),
        Role::Broadcast => Ok(view(inputs, spec)),
        Role::Alias | Role::Constant | Role::Reshape | Role::Alone => Ok(None),
    }))
    .ok()?
    .ok()?
}

/// An elementwise operation, by its program. Not of 16-bit floats, which keep their digits from step to step in a plan.
fn step(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Result<Option<Storage>> {
    if spec.dtype.is_half() || inputs.iter().any(|input| input.dtype().is_half()) {
        return Ok(None);
    }
    let Some(Lone { program, operands }) = lone_on(op, inputs)? else { return Ok(None) };
    let storages = operands.iter().map(|&i| storage_of(inputs[i])).collect::<Result<_>>()?;
    let dtypes = operands.iter().map(|&i| inputs[i].dtype()).collect();
    let mut task = CpuTask::new(storages, dtypes, smallvec![spec]);
    launch::program(&program, &mut task)?;
    Ok(task.outputs.swap_remove(0))
}

/// Where the elements of an array are that is there or a constant.
fn storage_of(array: &Array) -> Result<Storage> {
    match array.constant() {
        Some(value) => Storage::splat(value, array.shape(), array.dtype()),
        None => Ok(array.storage().expect("an operand is there or a constant").clone()),
    }
}

/// An operation of which not much is read, by its own kernel.
fn kernel(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Result<Option<Storage>> {
    let work = match op {
        Op::MatMul(_) => inputs[0].shape().last().map_or(0, |depth| depth.saturating_mul(spec.shape.size())),
        _ => inputs[0].size(),
    };
    if work > MOST_READ {
        return Ok(None);
    }
    let storages = inputs.iter().map(|input| storage_of(input)).collect::<Result<_>>()?;
    let dtypes = inputs.iter().map(|input| input.dtype()).collect();
    let mut task = CpuTask::new(storages, dtypes, smallvec![spec]);
    backend(device::current_stream().device).run(op, &mut task)?;
    Ok(task.outputs.swap_remove(0))
}

/// One input under a larger shape.
fn view(inputs: &[&Array], spec: &ArraySpec) -> Option<Storage> {
    let storage = inputs[0].storage()?;
    Some(storage.with_layout(storage.layout.broadcast_to(&spec.shape)))
}
