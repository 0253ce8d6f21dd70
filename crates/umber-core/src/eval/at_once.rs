//! One elementwise operation or reduction of a few elements that are there, computed by the thread that asks, without waiting
//! for anybody: a front end need not let go of its locks for that.

use std::borrow::Borrow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use smallvec::SmallVec;
use umber_kernels::fork;
use umber_types::Result;

use super::lone::{Lone, lone};
use super::run::{Work, compute, run_node};
use super::{Interrupts, notify_progress, schedule};
use crate::fusion::partition::{Role, role};
use crate::fusion::region::{Beside, Region};
use crate::graph::few::MOST_MADE;
use crate::graph::{Array, Claim, Inputs, Node, Output, Storage};
use crate::op::Op;
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
    let Some(inputs) = schedule::claim_at_once(node) else { return false };
    let is_done = {
        let _step = fork::Step::begin();
        let run = || match (role, node.op()) {
            (Role::Step, _) => match lone(node.op(), &inputs)? {
                Some(Lone { program, operands }) => {
                    let read = || operands.iter().map(|&i| &inputs[i]).collect::<SmallVec<[&Array; 4]>>();
                    run_work(node, Work::Lone(&program), &read())?;
                    let_go(node, inputs);
                    Ok(())
                }
                None => Ok(()),
            },
            (_, Op::Fused(Fused(region))) => {
                run_work(node, Work::Region(region), &inputs)?;
                let_go(node, inputs);
                Ok(())
            }
            _ => {
                drop(inputs);
                run_node(node, &mut Interrupts::new())
            }
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
