//! Run: execute a plan and store its outputs in their nodes.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::fork;
use umber_types::{Context, DType, Result};

use super::notify_progress;
use super::pending::{Input, Pending};
use crate::frontend::Interrupts;
use crate::graph::{Array, Claim, Inputs, Node, Storage};
use crate::observer::Observer;
use crate::op::Op;
use crate::plan::{Plan, Run, Slots};

/// Run a plan. Returns false, without running anything, if it is outdated.
pub(super) fn run(mut pending: Box<Pending>) -> Result<bool> {
    let Some(plan) = pending.plan.take() else { return Ok(true) };
    if pending.is_outdated() {
        return Ok(false);
    }
    let dtypes: Dtypes = pending.sources.iter().map(Array::dtype).collect();
    let mut slots = plan.slots()?;
    let _running = pending.begin();
    take_inputs(&mut pending, &mut slots);
    let result = run_steps(&pending, &plan, &mut slots);
    if result.is_err() {
        restore(&pending, &dtypes, &plan, slots)?;
    }
    result.map(|()| true)
}

/// The dtypes of the arguments.
type Dtypes = SmallVec<[DType; 4]>;

/// Move the inputs of nodes into slots, so that buffers without other references can be reused.
fn take_inputs(pending: &mut Pending, slots: &mut Slots) {
    for (i, node) in pending.nodes.iter().enumerate() {
        if !pending.keeps(i) {
            drop(node.take_inputs());
        }
    }
    for (slot, array) in std::mem::take(&mut pending.sources).into_iter().enumerate() {
        slots.set(slot, into_storage(array));
    }
}

/// The storage of an evaluated array; moved out of its node if this is the last handle.
fn into_storage(array: Array) -> Storage {
    let is_unique = array.node().outputs.len() == 1 && Arc::strong_count(array.node()) == 1;
    if is_unique {
        return array.into_unique_storage().expect("the last handle to an evaluated node");
    }
    array.storage().expect("arguments of a plan are evaluated").clone()
}

fn run_steps(pending: &Pending, plan: &Plan, slots: &mut Slots) -> Result<()> {
    let mut run = Run {
        constants: &pending.constants,
        interrupts: &mut Interrupts::new(),
        observer: Observer::current(),
        origin: &|step| pending.origin(step).cloned(),
        context: &Context::default,
    };
    for step in 0..plan.len() {
        run.interrupts.check()?;
        let _step = fork::NoForkGuard::begin();
        let mut delivered = Ok(());
        let mut deliver = |index: usize, storage| {
            if let Err(error) = store_output(pending, index, storage) {
                delivered = Err(error);
            }
        };
        plan.run_step(step, &mut run, slots, &mut deliver)?;
        delivered.map_err(|error| error.recorded_at(pending.origin(plan.root(step))))?;
        notify_progress();
    }
    let mut delivered = Ok(());
    plan.forward(&pending.constants, slots, &mut |index, storage| {
        if let Err(error) = store_output(pending, index, storage) {
            delivered = Err(error);
        }
    })?;
    delivered
}

/// Store an output of the program in its node.
fn store_output(pending: &Pending, index: usize, storage: Storage) -> Result<()> {
    let (node, output) = pending.outputs[index];
    let node = &pending.nodes[node as usize];
    store(node, output as usize, storage)?;
    if node.is_evaluated() {
        node.set_claim(Claim::Free);
    }
    Ok(())
}

/// Store the value of one of a node's outputs.
pub(super) fn store(node: &Node, output: usize, storage: Storage) -> Result<()> {
    let output = &node.outputs[output];
    // A view of memory that foreign code can write would change with it, so it is copied.
    let is_exposed = storage.buffer.is_externally_mutable() && !matches!(node.op(), Op::Leaf(_));
    let storage = if is_exposed { storage.on_host().to_dense(output.spec.dtype)? } else { storage };
    output.storage.set(storage);
    Ok(())
}

/// Restore the inputs of nodes that did not run: values in slots as new arrays, others as the original nodes.
fn restore(pending: &Pending, dtypes: &Dtypes, plan: &Plan, slots: Slots) -> Result<()> {
    let mut live: Vec<Option<Storage>> = Vec::new();
    for (slot, storage) in plan.live(slots) {
        live.resize(live.len().max(slot + 1), None);
        live[slot] = Some(storage);
    }
    let array = |read: &Input| -> Result<Option<Array>> {
        let slot = match read {
            Input::Constant(array, _) => return Ok(Some(array.clone())),
            Input::Slot(slot) => *slot as usize,
        };
        let original = slot.checked_sub(dtypes.len()).map(|_| pending.array_in(slot as u32));
        let dtype = original.as_ref().map_or_else(|| dtypes[slot], Array::dtype);
        match live.get(slot).and_then(Clone::clone) {
            Some(storage) => Array::from_storage(storage, dtype).map(Some),
            None => Ok(original),
        }
    };
    for (i, node) in pending.nodes.iter().enumerate() {
        if pending.keeps(i) || node.is_evaluated() {
            continue;
        }
        let inputs = pending.inputs_of(i).iter().map(array).collect::<Result<SmallVec<[_; 2]>>>()?;
        // A node whose inputs are gone has run: its value is in a slot, or was consumed by its last reader.
        if let Some(inputs) = inputs.into_iter().collect::<Option<Inputs>>() {
            *node.lock_inputs() = inputs;
        }
    }
    Ok(())
}
