//! One elementwise operation or reduction of a few elements that are there, computed by the thread that asks, without waiting
//! for anybody: a front end need not let go of its locks for that.

use std::borrow::{Borrow, Cow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use smallvec::SmallVec;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut, fork};
use umber_types::{Layout, Result, Shape};

use super::lone::{Lone, lone};
use super::{notify_progress, pending};
use crate::backend::backend;
use crate::graph::few::MOST_MADE;
use crate::graph::{Array, ArraySpec, Claim, Inputs, Node, Output, Storage};
use crate::op::Op;
use crate::passes::partition::{Role, role};
use crate::plan::region::{self, Beside, Region};
use crate::primitive::CpuTask;
use crate::primitives::fused::Fused;

/// More steps than this, over all elements of a region.
const MOST_STEPS: usize = 4096;
/// And more elements than this to reduce.
pub(super) const MOST_READ: usize = 8192;

/// Is the array there, or can it be computed at once, which is done then? Answers `false` for anything else, and where
/// something fails: evaluating says what.
pub fn at_once(array: &Array) -> bool {
    let node = array.node();
    if node.is_evaluated() {
        return true;
    }
    let role = role(node.op());
    let first = || node.lock_inputs().first().cloned();
    // Asked before the claim, so that most operations are turned away at no cost.
    let is_small = match (role, node.op()) {
        (Role::Step, _) => array.size() <= MOST_MADE,
        (Role::Reduction, _) => first().is_some_and(|input| input.size() <= MOST_READ),
        // Axes of length one go after they were reduced.
        (Role::Reshape, _) => first().is_some_and(|input| is_reduction(&input) && at_once(&input)),
        (_, Op::Fused(Fused(region))) => is_small(region),
        _ => false,
    };
    if !is_small {
        return false;
    }
    let Some(inputs) = pending::claim_at_once(node) else { return false };
    let is_done = {
        let _step = fork::Step::begin();
        let run = || -> Result<()> {
            match (role, node.op()) {
                (Role::Step, _) => {
                    let Some(Lone { program, operands }) = lone(node.op(), &inputs)? else { return Ok(()) };
                    let read: SmallVec<[&Array; 4]> = operands.iter().map(|&i| &inputs[i]).collect();
                    run_work(node, Work::Lone(&program), &read)?;
                }
                (_, Op::Fused(Fused(region))) => run_work(node, Work::Region(region), &inputs)?,
                _ => run_kernel(node, &inputs)?,
            }
            let_go(node, inputs);
            Ok(())
        };
        matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(())))
    };
    node.set_claim(Claim::Free);
    notify_progress();
    is_done && node.is_evaluated()
}

fn is_reduction(array: &Array) -> bool {
    match array.node().op() {
        Op::Fused(Fused(region)) => matches!(region.beside, Beside::Reduction(_)),
        op => role(op) == Role::Reduction,
    }
}

fn is_small(region: &Region) -> bool {
    let size = region.shape.size();
    let steps = size.saturating_mul(region.tape.steps.len());
    match region.beside {
        Beside::Nothing => size <= MOST_MADE && steps <= MOST_STEPS,
        Beside::Reduction(_) => size <= MOST_READ && steps <= MOST_READ,
        Beside::Product => false,
    }
}

/// Compute a node. Its inputs stay locked meanwhile, which takes no longer than to find them again.
fn run_work(node: &Arc<Node>, work: Work<'_>, arrays: &[impl Borrow<Array>]) -> Result<()> {
    let made = |output: &Output| Storage::allocate(&output.spec.shape, output.spec.dtype);
    // Nearly always there is one output, which needs no list.
    if let [output] = &node.outputs[..] {
        let made = made(output)?;
        compute(work, arrays, std::slice::from_ref(&made), |_| &output.spec)?;
        output.storage.set(made);
    } else {
        let made: Vec<Storage> = node.outputs.iter().map(made).collect::<Result<_>>()?;
        compute(work, arrays, &made, |i| &node.outputs[i].spec)?;
        node.outputs.iter().zip(made).for_each(|(output, made)| output.storage.set(made));
    }
    Ok(())
}

/// The inputs of a node that has run, unless a transformation may still walk through it: they may die here, unlocked.
fn let_go(node: &Arc<Node>, mut inputs: MutexGuard<'_, Inputs>) {
    let spent = if node.is_followed() { Inputs::new() } else { std::mem::take(&mut *inputs) };
    drop(inputs);
    drop(spent);
}

/// Compute a node by its own kernel.
fn run_kernel(node: &Arc<Node>, inputs: &[Array]) -> Result<()> {
    let storage = |array: &Array| array.storage().expect("inputs run before their users").clone();
    let specs = node.outputs.iter().map(|output| &output.spec).collect();
    let dtypes = inputs.iter().map(Array::dtype).collect();
    let mut task = CpuTask::new(inputs.iter().map(storage).collect(), dtypes, specs);
    backend(node.stream().device).run(node.op(), &mut task)?;
    for (output, storage) in node.outputs.iter().zip(task.outputs) {
        if let Some(storage) = storage {
            let is_exposed = storage.buffer.is_volatile();
            output.storage.set(if is_exposed { storage.to_dense(output.spec.dtype)? } else { storage });
        }
    }
    Ok(())
}

/// What computes outputs from inputs.
#[derive(Clone, Copy)]
enum Work<'a> {
    /// The program of one operation by itself.
    Lone(&'a Program),
    /// A region.
    Region(&'a Region),
}

impl Work<'_> {
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

/// Compute the outputs into their storages; `spec` tells what each is.
fn compute<'s>(
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
            // SAFETY: the storage is new, or an input's is new, since the node is claimed.
            unsafe { ViewMut::new(storage.buffer.start().as_ptr(), spec(i).dtype, &storage.layout) }
        })
        .collect();
    work.run(&inputs, &mut outputs)
}
