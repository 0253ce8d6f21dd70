//! One elementwise operation or reduction of a few elements that are there, computed by the thread that asks, without waiting
//! for anybody: a front end need not let go of its locks for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use smallvec::SmallVec;
use umber_kernels::fork;
use umber_types::Result;

use super::lone::{Lone, lone};
use super::run::store;
use super::{notify_progress, pending};
use crate::backend::backend;
use crate::graph::few::MOST_MADE;
use crate::graph::{Array, ArraySpec, Claim, Inputs, Node};
use crate::op::Op;
use crate::passes::partition::{Role, role};
use crate::plan::launch;
use crate::plan::region::{Beside, Region};
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
            let specs = node.outputs.iter().map(|output| &output.spec).collect();
            let mut task = match (role, node.op()) {
                (Role::Step, op) => {
                    let Some(Lone { program, operands }) = lone(op, &inputs)? else { return Ok(()) };
                    let mut task = task(operands.iter().map(|&i| &inputs[i]), specs);
                    launch::program(&program, &mut task)?;
                    task
                }
                (_, Op::Fused(Fused(region))) => {
                    let mut task = task(inputs.iter(), specs);
                    launch::region(region, &mut task)?;
                    task
                }
                (_, op) => {
                    let mut task = task(inputs.iter(), specs);
                    backend(node.stream().device).run(op, &mut task)?;
                    task
                }
            };
            let outputs = task.outputs.iter_mut().map(Option::take).enumerate();
            for (i, storage) in outputs.filter_map(|(i, storage)| Some((i, storage?))) {
                store(node, i, storage)?;
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

/// The task of a node with these inputs.
fn task<'i, 's>(inputs: impl Iterator<Item = &'i Array>, specs: SmallVec<[&'s ArraySpec; 1]>) -> CpuTask<'s> {
    let (storages, dtypes) = inputs
        .map(|input| {
            (input.storage().expect("inputs of a claimed node are evaluated").clone(), input.dtype())
        })
        .unzip();
    CpuTask::new(storages, dtypes, specs)
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

/// The inputs of a node that has run, unless a transformation may still walk through it: they may die here, unlocked.
fn let_go(node: &Arc<Node>, mut inputs: MutexGuard<'_, Inputs>) {
    let spent = if node.is_followed() { Inputs::new() } else { std::mem::take(&mut *inputs) };
    drop(inputs);
    drop(spent);
}
