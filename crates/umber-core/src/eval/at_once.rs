//! One elementwise operation or reduction of a few elements that are there, computed by the thread that asks, without waiting
//! for anybody: a front end need not let go of its locks for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use umber_kernels::fork;
use umber_types::Result;

use super::lone::lone;
use super::run::{Work, compute, run_node};
use super::{Interrupts, notify_progress, schedule};
use crate::fusion::partition::{Role, role};
use crate::graph::{Array, Claim, Inputs, Node, Output, Storage};

/// More elements than this take longer to compute than letting go of a lock.
const MOST_MADE: usize = 512;
/// And more than this to reduce.
const MOST_READ: usize = 8192;

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
    let is_small = match role {
        Role::Step => array.size() <= MOST_MADE,
        Role::Reduction => first().is_some_and(|input| input.size() <= MOST_READ),
        // Axes of length one go after they were reduced.
        Role::Reshape => first().is_some_and(|input| is_reduction(&input) && at_once(&input)),
        _ => false,
    };
    if !is_small {
        return false;
    }
    let Some(inputs) = schedule::claim_at_once(node) else { return false };
    let is_done = {
        let _step = fork::Step::begin();
        let run = || {
            if role == Role::Step {
                return run_step(node, inputs);
            }
            drop(inputs);
            run_node(node, &mut Interrupts::new())
        };
        matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(())))
    };
    node.set_claim(Claim::Free);
    notify_progress();
    is_done && node.is_evaluated()
}

fn is_reduction(array: &Array) -> bool {
    role(array.node().op()) == Role::Reduction
}

fn run_step(node: &Arc<Node>, inputs: MutexGuard<'_, Inputs>) -> Result<()> {
    let Some(lone) = lone(node.op(), &inputs)? else { return Ok(()) };
    drop(inputs);
    let Output { spec, storage } = &node.outputs[0];
    let made = Storage::allocate(&spec.shape, spec.dtype)?;
    compute(&Work::Lone(lone), &[node], std::slice::from_ref(&made))?;
    let _ = storage.set(made);
    if !node.is_followed() {
        drop(node.take_inputs());
    }
    Ok(())
}
