//! Running a plan: unit by unit, storing outputs, letting go of inputs.

use std::borrow::{Borrow, Cow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut, fork};
use umber_types::{DType, Error, Layout, Result, Shape};

use super::donate::{Taken, into_storages, is_free};
use super::lone::{Lone, lone};
use super::schedule::Plan;
use super::{Interrupts, control_flow, notify_progress};
use crate::backend::backend;
use crate::fusion::partition::{Members, Unit};
use crate::fusion::region::{self, Built, Region};
use crate::graph::{Array, ArraySpec, Claim, Inputs, Node, Storage};
use crate::op::Op;
use crate::primitive::CpuTask;
use crate::primitives::fused::Fused;

/// How the allocator's errors begin, behind the names of operations perhaps.
const MALLOC: &str = "[malloc] ";

/// Run everything in the plan.
pub(super) fn run(mut plan: Plan) -> Result<()> {
    let mut interrupts = Interrupts::new();
    for unit in std::mem::take(&mut plan.units) {
        interrupts.check()?;
        let _step = fork::Step::begin();
        match unit {
            Unit::Node(i) => {
                guard(&plan, i as usize, |plan| {
                    let node = node_at(plan, i as usize);
                    match node.op() {
                        Op::Fused(Fused(region)) => run_fused(node, region),
                        _ => run_node(node, &mut interrupts),
                    }
                })?;
                finish(&mut plan, [i]);
            }
            Unit::Region(members) => {
                guard(&plan, members.root(), |plan| run_region(plan, &members))?;
                finish(&mut plan, members.nodes);
            }
        }
    }
    Ok(())
}

/// Let go of nodes that have run: they may die here.
fn finish(plan: &mut Plan, nodes: impl IntoIterator<Item = u32>) {
    for i in nodes {
        if let Some(node) = plan.nodes[i as usize].take() {
            node.set_claim(Claim::Free);
        }
    }
    notify_progress();
}

/// Turn a panic of a kernel into an error, which it may have been all along, and say where the node comes from.
fn guard(plan: &Plan, i: usize, body: impl FnOnce(&Plan) -> Result<()>) -> Result<()> {
    let result = catch_unwind(AssertUnwindSafe(|| body(plan))).unwrap_or_else(|panic| {
        let panic = match panic.downcast::<Error>() {
            Ok(error) => return Err(*error),
            Err(panic) => panic,
        };
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown panic");
        let name = node_at(plan, i).op().name();
        Err(Error::Runtime(format!("[{name}] the kernel failed: {text}")))
    });
    let result = result.map_err(|error| match error {
        Error::Memory(text) => Error::Memory(match text.split_once(MALLOC) {
            Some((_, fault)) => {
                format!("[{}] no memory for the result: {fault}", node_at(plan, i).op().name())
            }
            None => text,
        }),
        error => error,
    });
    result.map_err(|error| match node_at(plan, i).origin() {
        Some(origin) => error.map_message(|text| format!("{text}\nrecorded at {origin}")),
        None => error,
    })
}

fn node_at(plan: &Plan, i: usize) -> &Arc<Node> {
    plan.nodes[i].as_ref().expect("a node stays in the plan until it has run")
}

/// Run one node by its own kernel.
pub(super) fn run_node(node: &Arc<Node>, interrupts: &mut Interrupts) -> Result<()> {
    let keep = node.is_followed();
    let inputs: Inputs = if keep { node.inputs() } else { node.take_inputs() };
    let dtypes: SmallVec<[DType; 3]> = inputs.iter().map(Array::dtype).collect();
    let specs = node.outputs.iter().map(|output| &output.spec).collect();
    let mut task = CpuTask::new(into_storages(inputs), dtypes, specs);
    let result = match control_flow::nested(node.op()) {
        Ok(None) => backend(node.stream().device).run(node.op(), &mut task),
        Ok(Some(nested)) => nested.run(&mut task, interrupts),
        Err(error) => Err(error),
    };
    if result.is_err() {
        if !keep {
            // The node must stay as it was: the inputs' values are untouched, their handles are made anew.
            *node.lock_inputs() = task
                .inputs
                .into_iter()
                .zip(task.dtypes)
                .map(|(storage, dtype)| Array::from_storage(storage, dtype))
                .collect::<Result<_>>()?;
        }
        return result;
    }
    for (output, storage) in node.outputs.iter().zip(task.outputs) {
        let storage = storage
            .ok_or_else(|| Error::Runtime(format!("[{}] the kernel gave no output", node.op().name())))?;
        // A view of memory that somebody outside can write would change with it: a result keeps its own copy.
        let is_exposed = storage.buffer.is_volatile() && !matches!(node.op(), Op::Leaf(_));
        let storage = if is_exposed { storage.to_dense(output.spec.dtype)? } else { storage };
        output.storage.set(storage);
    }
    Ok(())
}

/// Run a compiled region, over inputs that nobody needs any more where it can.
fn run_fused(node: &Arc<Node>, region: &Region) -> Result<()> {
    let (work, inputs) = (Work::Region(region), node.inputs());
    work.prepare()?;
    let mut taken = Taken::new(std::slice::from_ref(&node));
    let specs: SmallVec<[&ArraySpec; 2]> = node.outputs.iter().map(|output| &output.spec).collect();
    let storages = allocate(work, &inputs, &specs, &taken).and_then(|storages| {
        compute(work, &inputs, &storages, |i| specs[i])?;
        Ok(storages)
    });
    let storages = storages.inspect_err(|_| taken.restore())?;
    for (output, storage) in node.outputs.iter().zip(storages) {
        output.storage.set(storage);
    }
    Ok(())
}

/// Run a region by its tape.
fn run_region(plan: &Plan, members: &Members) -> Result<()> {
    let nodes: &[Option<Arc<Node>>] = &plan.nodes;
    let listed: SmallVec<[&Arc<Node>; 8]> =
        members.nodes.iter().map(|&i| node_at(plan, i as usize)).collect();
    let alone = match &listed[..] {
        [node] => Found::alone(node)?,
        _ => None,
    };
    // `build` looks members up by place; others are never asked for.
    let found = alone.unwrap_or_else(|| Found::Region(Box::new(build(nodes, members, plan))));
    let (work, inputs) = found.parts();
    // What can fail does before inputs are taken.
    work.prepare()?;
    let mut taken = Taken::new(&listed);
    let outputs: SmallVec<[&Arc<Node>; 2]> =
        members.outputs.iter().map(|&i| node_at(plan, i as usize)).collect();
    let is_output = |node: &Arc<Node>| outputs.iter().any(|output| Arc::ptr_eq(output, node));
    // A member that is not stored stays pending.
    if listed.len() > 1 {
        let place = |node: &Arc<Node>| {
            let i = members.position(plan.index(node)? as u32)?;
            Arc::ptr_eq(listed[i], node).then_some(i)
        };
        taken.restore_reachable(place, is_output);
    }
    let specs: SmallVec<[&ArraySpec; 2]> = outputs.iter().map(|output| &output.outputs[0].spec).collect();
    let storages = match allocate(work, inputs, &specs, &taken) {
        Ok(storages) => storages,
        Err(error) => {
            taken.restore();
            return Err(error);
        }
    };
    let computed = compute(work, inputs, &storages, |i| specs[i]);
    if computed.is_err() {
        taken.restore();
        return computed;
    }
    for (output, storage) in outputs.iter().zip(storages) {
        output.outputs[0].storage.set(storage);
    }
    Ok(())
}

fn build(nodes: &[Option<Arc<Node>>], members: &Members, plan: &Plan) -> Built {
    // Views into the plan for the members only: a slice of handles would count as holding them.
    region::build(
        |i| nodes[i as usize].as_ref().expect("members are pending"),
        members,
        |node| plan.index(node),
    )
}

/// A region of a plan as it runs.
enum Found {
    /// One operation by itself, and what it reads.
    Lone(Rc<Program>, SmallVec<[Array; 4]>),
    /// Any.
    Region(Box<Built>),
}

impl Found {
    /// A node that can run by the program of its operation.
    fn alone(node: &Node) -> Result<Option<Found>> {
        let inputs = node.lock_inputs();
        let found = lone(node.op(), &inputs)?;
        Ok(found.map(|Lone { program, operands }| {
            Found::Lone(program, operands.iter().map(|&i| inputs[i].clone()).collect())
        }))
    }

    /// What computes it, and of what.
    fn parts(&self) -> (Work<'_>, &[Array]) {
        match self {
            Found::Lone(program, inputs) => (Work::Lone(program), inputs),
            Found::Region(built) => (Work::Region(&built.region), &built.inputs),
        }
    }
}

/// What computes outputs from inputs.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    /// The program of one operation by itself.
    Lone(&'a Program),
    /// A region.
    Region(&'a Region),
}

impl Work<'_> {
    fn prepare(self) -> Result<()> {
        match self {
            Work::Lone(_) => Ok(()),
            Work::Region(region) => region.prepare().map(drop),
        }
    }

    fn may_overwrite(self) -> bool {
        match self {
            Work::Lone(_) => true,
            Work::Region(region) => region.may_overwrite(),
        }
    }

    /// The layout of an input as it is read for outputs of `shape`.
    fn spread<'l>(self, input: usize, layout: &'l Layout, shape: &Shape) -> Cow<'l, Layout> {
        match self {
            Work::Lone(_) => region::spread(layout, shape),
            Work::Region(region) => region.spread(input, layout),
        }
    }

    fn run(self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<()> {
        match self {
            Work::Lone(program) => {
                program.run(inputs, outputs);
                Ok(())
            }
            Work::Region(region) => region.run(inputs, outputs),
        }
    }
}

/// Storage for the outputs: of inputs that nobody needs any more, else new.
fn allocate(
    work: Work<'_>,
    inputs: &[Array],
    outputs: &[&ArraySpec],
    taken: &Taken<'_>,
) -> Result<SmallVec<[Storage; 2]>> {
    let mut used: SmallVec<[usize; 4]> = SmallVec::new();
    let mut storages = SmallVec::new();
    for spec in outputs {
        let free = inputs.iter().enumerate().find(|(i, input)| {
            work.may_overwrite()
                && !used.contains(i)
                && is_free(input, || 1 + taken.handles(input.node()), &spec.shape, spec.dtype.size())
        });
        storages.push(match free {
            Some((i, input)) => {
                used.push(i);
                input.storage().expect("inputs run before their users").clone()
            }
            None => Storage::allocate(&spec.shape, spec.dtype)?,
        });
    }
    Ok(storages)
}

/// Compute the outputs into their storages; `spec` tells what each is.
pub(super) fn compute<'s>(
    work: Work<'_>,
    arrays: &[impl Borrow<Array>],
    storages: &[Storage],
    spec: impl Fn(usize) -> &'s ArraySpec,
) -> Result<()> {
    let shape = &spec(0).shape;
    // Few inputs are read under another layout than their own: only these are listed.
    let mut others: SmallVec<[(usize, Layout); 1]> = SmallVec::new();
    for (i, array) in arrays.iter().enumerate() {
        let layout = &array.borrow().storage().expect("inputs run before their users").layout;
        if let Cow::Owned(layout) = work.spread(i, layout, shape) {
            others.push((i, layout));
        }
    }
    let view = |(i, array)| -> View<'_> {
        let array: &Array = Borrow::borrow(array);
        let storage = array.storage().expect("inputs run before their users");
        let other = others.iter().find(|(place, _)| *place == i);
        let layout = other.map_or(&storage.layout, |(_, layout)| layout);
        // SAFETY: a broadcast layout reaches the same elements as the storage's own, which its buffer holds; the
        // buffer is written during the run only where it is also an output, block by block after being read.
        unsafe { View::new(storage.buffer.start().as_ptr(), array.dtype(), layout) }
    };
    let inputs: SmallVec<[View<'_>; 4]> = arrays.iter().enumerate().map(view).collect();
    let mut outputs: SmallVec<[ViewMut<'_>; 2]> = storages
        .iter()
        .enumerate()
        .map(|(i, storage)| {
            // SAFETY: the storage is new, or an input's that nobody else can reach any more (`is_free`).
            unsafe { ViewMut::new(storage.buffer.start().as_ptr(), spec(i).dtype, &storage.layout) }
        })
        .collect();
    work.run(&inputs, &mut outputs)
}
