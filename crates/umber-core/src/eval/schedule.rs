//! Planning: order the pending nodes behind the arrays, claim them, and group them into units of work.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::{SmallVec, smallvec};
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, bail};

use crate::backend::{Support, backend};
use crate::fusion::partition::{Role, Unit, partition, role};
use crate::graph::{Array, ArraySpec, Claim, Node};
use crate::op::Op;
use crate::primitive::Primitive;

/// Work found by [`plan`], claimed for whoever holds it; giving it up frees the claims.
pub(super) struct Plan {
    /// Pending nodes, inputs before users. Taken out as they are finished.
    pub(super) nodes: SmallVec<[Option<Arc<Node>>; 1]>,
    /// What to run, in order.
    pub(super) units: SmallVec<[Unit; 1]>,
    /// Nodes of earlier plans that this one needs.
    pub(super) awaited: Vec<Arc<Node>>,
    /// Number of this plan, which its nodes' marks carry.
    pub(super) epoch: u64,
}

/// The answer of [`plan`].
pub(super) enum Planned {
    /// Every array is there.
    Nothing,
    /// Work to do.
    Run(Plan),
}

/// Plans are made one at a time; the number marks nodes of the newest.
static PLANNER: ForkMutex<u64> = ForkMutex::new(|| 0, 0, Level::Planning, InChild::Keep);

const PLACE_BITS: u32 = 36;

impl Plan {
    /// The place of a node in this plan.
    pub(super) fn index(&self, node: &Arc<Node>) -> Option<usize> {
        place(node, self.epoch)
    }

    /// Take an elementwise node whose inputs are there, if it is one: what there is to plan for a program that looks
    /// at every value.
    fn take_ready(&mut self, node: &Arc<Node>) -> bool {
        let is_ready = role(node.op()) == Role::Step && claim_ready(node);
        if is_ready {
            node.mark.store(self.epoch << PLACE_BITS, Ordering::Relaxed);
            self.nodes.push(Some(Arc::clone(node)));
            self.units.push(single(node));
        }
        is_ready
    }
}

/// Claim a node, if its inputs are there and nobody else has it; asked under the planner's lock.
fn claim_ready(node: &Arc<Node>) -> bool {
    let is_ready = node.claim() == Claim::Free
        && !node.is_evaluated()
        && !node.is_cut_off()
        && node.lock_inputs().iter().all(Array::is_evaluated);
    if is_ready {
        node.set_claim(Claim::Taken);
    }
    is_ready
}

/// [`claim_ready`] for somebody who does not wait until others have made their plans.
pub(super) fn claim_at_once(node: &Arc<Node>) -> bool {
    PLANNER.try_lock().is_some_and(|_planner| claim_ready(node))
}

fn place(node: &Arc<Node>, epoch: u64) -> Option<usize> {
    let mark = node.mark.load(Ordering::Relaxed);
    (mark >> PLACE_BITS == epoch).then_some((mark & ((1 << PLACE_BITS) - 1)) as usize)
}

impl Drop for Plan {
    fn drop(&mut self) {
        for node in self.nodes.iter().flatten() {
            node.set_claim(Claim::Free);
        }
        if !self.nodes.is_empty() {
            super::notify_progress();
        }
    }
}

/// Plan the evaluation of `arrays`.
pub(super) fn plan(arrays: &[Array]) -> Result<Planned> {
    if arrays.iter().all(Array::is_evaluated) {
        return Ok(Planned::Nothing);
    }
    let mut counter = PLANNER.lock();
    // Marks hold 28 bits of the number: a node that was not planned for 2^28 plans may carry an equal one, so
    // claims are what decides, marks only find places.
    *counter = (*counter + 1) & ((1 << (64 - PLACE_BITS)) - 1);
    let epoch = *counter;
    let mut plan = Plan { nodes: SmallVec::new(), units: SmallVec::new(), awaited: Vec::new(), epoch };
    if let [array] = arrays
        && plan.take_ready(array.node())
    {
        return Ok(Planned::Run(plan));
    }
    // How many handles each planned node has inside the plan.
    let mut handles: Vec<u32> = Vec::new();
    collect(arrays, &mut plan, &mut handles).map_err(|error| said_where(error, arrays))?;
    if plan.nodes.is_empty() && plan.awaited.is_empty() {
        return Ok(Planned::Nothing);
    }
    let nodes: Vec<Arc<Node>> = plan.nodes.iter().flatten().cloned().collect();
    // Two handles are the planner's own: in the plan, and in `nodes`.
    // What a derivative may ask for again is computed again, which is not worth it for products.
    let is_kept = |node: &Arc<Node>| role(node.op()) == Role::Product && node.is_followed();
    let is_held = |i: usize| Arc::strong_count(&nodes[i]) > handles[i] as usize + 2 || is_kept(&nodes[i]);
    plan.units = if let [node] = &nodes[..] {
        smallvec![single(node)]
    } else {
        partition(&nodes, is_held, |node| place(node, epoch)).into()
    };
    Ok(Planned::Run(plan))
}

/// Say where an array without a value was recorded, where that is kept.
fn said_where(error: Error, arrays: &[Array]) -> Error {
    let mut pending = arrays.iter().filter(|array| !array.is_evaluated());
    match pending.find_map(|array| array.node().origin()) {
        Some(origin) => error.map_message(|text| format!("{text}\nrecorded at {origin}")),
        None => error,
    }
}

fn single(node: &Arc<Node>) -> Unit {
    use crate::fusion::partition::Members;
    match role(node.op()) {
        Role::Step => Unit::Region(Members { nodes: smallvec![0], outputs: smallvec![0] }),
        _ => Unit::Node(0),
    }
}

/// Depth-first over pending nodes with an explicit stack.
fn collect(arrays: &[Array], plan: &mut Plan, handles: &mut Vec<u32>) -> Result<()> {
    let mut stack: Vec<(Arc<Node>, usize)> = Vec::new();
    // Visits counted before a node has its place.
    let enter = |array: &Array, plan: &mut Plan, stack: &mut Vec<(Arc<Node>, usize)>| -> Result<()> {
        let node = array.node();
        // Asked before whether it is evaluated, since whoever frees it may have done that.
        let claim = node.claim();
        if node.is_evaluated() {
            return Ok(());
        }
        if claim == Claim::Taken {
            if place(node, plan.epoch).is_none() && !plan.awaited.iter().any(|other| Arc::ptr_eq(other, node))
            {
                plan.awaited.push(Arc::clone(node));
            }
            return Ok(());
        }
        if node.is_cut_off() {
            bail!(
                Runtime,
                "[{}] got a value that another thread was computing when this process was forked, expected arrays \
                 that were evaluated before or are made in this process",
                node.op().name()
            );
        }
        if let Op::Leaf(leaf) = node.op()
            && leaf.is_placeholder()
        {
            return Err(if node.is_followed() { leaf.no_value() } else { leaf.escaped() });
        }
        node.set_claim(Claim::Taken);
        // In the plan from now on, so that an error frees the claim; the place is fixed when it is finished.
        node.mark.store(plan.epoch << PLACE_BITS, Ordering::Relaxed);
        lower(node)?;
        stack.push((Arc::clone(node), 0));
        Ok(())
    };
    let result = (|| {
        for array in arrays {
            enter(array, plan, &mut stack)?;
            while let Some((node, next)) = stack.last_mut() {
                let input = node.lock_inputs().get(*next).cloned();
                *next += 1;
                if let Some(input) = input {
                    enter(&input, plan, &mut stack)?;
                } else if let Some((node, _)) = stack.pop() {
                    for input in node.lock_inputs().iter() {
                        if let Some(i) = place(input.node(), plan.epoch) {
                            handles[i] += 1;
                        }
                    }
                    node.mark.store(plan.epoch << PLACE_BITS | plan.nodes.len() as u64, Ordering::Relaxed);
                    plan.nodes.push(Some(node));
                    handles.push(0);
                }
            }
        }
        Ok(())
    })();
    if result.is_err() {
        for (node, _) in stack {
            node.set_claim(Claim::Free);
        }
    }
    result
}

/// Replace what the backend has no kernel for by what it expands to, and what only matters to transforms by its value.
fn lower(node: &Arc<Node>) -> Result<()> {
    let op = node.op();
    let support = {
        let inputs = node.lock_inputs();
        let specs: SmallVec<[&ArraySpec; 4]> = inputs.iter().map(Array::spec).collect();
        backend(node.stream().device).support(op, &specs)
    };
    let is_over = matches!(op, Op::Custom(_) | Op::Checkpoint(_)) && !node.is_followed();
    if (support == Support::Decompose || is_over)
        && let Some(expanded) = op.expand(&node.inputs())
    {
        *node.lock_inputs() = expanded?.into();
    }
    Ok(())
}
