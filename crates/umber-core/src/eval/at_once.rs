//! One elementwise operation or reduction of a few elements that are there, computed by the thread that asks, without waiting
//! for anybody: a front end need not let go of its locks for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::{View, ViewMut, fork};
use umber_types::{Layout, Result, Shape};

use super::lone::{Lone, lone};
use super::run::run_node;
use super::{Interrupts, notify_progress, schedule};
use crate::fusion::partition::{Role, role};
use crate::graph::{Array, Claim, Node, Storage};

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
    if !is_small || !schedule::claim_at_once(node) {
        return false;
    }
    let is_done = {
        let _step = fork::Step::begin();
        let run = || if role == Role::Step { run_step(node) } else { run_node(node, &mut Interrupts::new()) };
        matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(())))
    };
    node.set_claim(Claim::Free);
    notify_progress();
    is_done && node.is_evaluated()
}

fn is_reduction(array: &Array) -> bool {
    role(array.node().op()) == Role::Reduction
}

fn run_step(node: &Arc<Node>) -> Result<()> {
    if let Some(storage) = computed(node)? {
        let _ = node.outputs[0].storage.set(storage);
        if !node.is_followed() {
            drop(node.take_inputs());
        }
    }
    Ok(())
}

fn computed(node: &Arc<Node>) -> Result<Option<Storage>> {
    let Some(Lone { program, inputs }) = lone(node)? else { return Ok(None) };
    let spec = &node.outputs[0].spec;
    let storage = Storage::allocate(&spec.shape, spec.dtype)?;
    let sources: SmallVec<[&Storage; 3]> = inputs.iter().filter_map(Array::storage).collect();
    let spread: SmallVec<[Option<Layout>; 3]> =
        sources.iter().map(|source| spread(&source.layout, &spec.shape)).collect();
    let views: SmallVec<[View<'_>; 3]> = inputs
        .iter()
        .zip(&sources)
        .zip(&spread)
        .map(|((input, source), spread)| {
            let layout = spread.as_ref().unwrap_or(&source.layout);
            // SAFETY: a broadcast layout reaches the same elements as the storage's own, which its buffer holds.
            unsafe { View::new(source.buffer.start().as_ptr(), input.dtype(), layout) }
        })
        .collect();
    // SAFETY: the storage is new.
    let out = unsafe { ViewMut::new(storage.buffer.start().as_ptr(), spec.dtype, &storage.layout) };
    program.run(&views, &mut [out]);
    Ok(Some(storage))
}

/// The layout under another shape, if it has another.
fn spread(layout: &Layout, shape: &Shape) -> Option<Layout> {
    (layout.shape != *shape).then(|| layout.broadcast_to(shape))
}
