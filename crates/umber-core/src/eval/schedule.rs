//! Planning: order the pending nodes behind the arrays, claim them, and group them into units of work.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use smallvec::{SmallVec, smallvec};
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, bail};

use crate::backend::{Support, backend};
use crate::fusion::partition::{Role, Unit, Units, partition, role};
use crate::graph::{Array, Claim, Inputs, Node};
use crate::op::Op;
use crate::primitive::Primitive;

/// Work found by [`plan`], claimed for whoever holds it; giving it up frees the claims.
pub(super) struct Plan {
    /// Pending nodes, inputs before users. Taken out as they are finished.
    pub(super) nodes: SmallVec<[Option<Arc<Node>>; 4]>,
    /// What to run, in order.
    pub(super) units: Units,
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
        let is_ready = role(node.op()) == Role::Step && claim_ready(node).is_some();
        if is_ready {
            node.mark.store(self.epoch << PLACE_BITS, Ordering::Relaxed);
            self.nodes.push(Some(Arc::clone(node)));
            self.units.push(single(node));
        }
        is_ready
    }
}

/// Claim a node, if its inputs are there and nobody else has it; asked under the planner's lock. Answers the inputs.
fn claim_ready(node: &Arc<Node>) -> Option<MutexGuard<'_, Inputs>> {
    if node.claim() != Claim::Free || node.is_evaluated() || node.is_cut_off() {
        return None;
    }
    let inputs = node.lock_inputs();
    let is_ready = inputs.iter().all(Array::is_evaluated);
    is_ready.then(|| {
        node.set_claim(Claim::Taken);
        inputs
    })
}

/// [`claim_ready`] for somebody who does not wait until others have made their plans.
pub(super) fn claim_at_once(node: &Arc<Node>) -> Option<MutexGuard<'_, Inputs>> {
    let _planner = PLANNER.try_lock()?;
    claim_ready(node)
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
    let mut plan = Plan { nodes: SmallVec::new(), units: Units::new(), awaited: Vec::new(), epoch };
    if let [array] = arrays
        && plan.take_ready(array.node())
    {
        return Ok(Planned::Run(plan));
    }
    let mut handles = Handles::new();
    collect(arrays, &mut plan, &mut handles).map_err(|error| said_where(error, arrays))?;
    if plan.nodes.is_empty() && plan.awaited.is_empty() {
        return Ok(Planned::Nothing);
    }
    plan.units = grouped(&plan, &handles);
    Ok(Planned::Run(plan))
}

/// The units of a plan whose nodes are collected.
fn grouped(plan: &Plan, handles: &[u32]) -> Units {
    let nodes: SmallVec<[&Arc<Node>; 8]> = plan.nodes.iter().flatten().collect();
    if let [node] = &nodes[..] {
        return smallvec![single(node)];
    }
    // One handle is the plan's own.
    // What a derivative may ask for again is computed again, which is not worth it for products.
    let is_kept = |node: &Arc<Node>| role(node.op()) == Role::Product && node.is_followed();
    let is_held = |i: usize| Arc::strong_count(nodes[i]) > handles[i] as usize + 1 || is_kept(nodes[i]);
    partition(&nodes, is_held, |node| plan.index(node))
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

/// How many handles each planned node has inside the plan.
type Handles = SmallVec<[u32; 8]>;

/// A node that has been claimed but has no place in the plan yet.
struct Visit {
    node: Arc<Node>,
    /// Its inputs that are still to be computed.
    pending: Inputs,
    /// How many of them were looked at.
    seen: usize,
}

/// Claim the node of an array for the plan, if there is anything to do for it.
fn enter(array: &Array, plan: &mut Plan) -> Result<Option<Visit>> {
    let node = array.node();
    // Asked before whether it is evaluated, since whoever frees it may have done that.
    let claim = node.claim();
    if node.is_evaluated() {
        return Ok(None);
    }
    if claim == Claim::Taken {
        if place(node, plan.epoch).is_none() && !plan.awaited.iter().any(|other| Arc::ptr_eq(other, node)) {
            plan.awaited.push(Arc::clone(node));
        }
        return Ok(None);
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
    // In the plan from now on; the place is fixed when it is finished.
    node.mark.store(plan.epoch << PLACE_BITS, Ordering::Relaxed);
    let pending = lower(node).inspect_err(|_| node.set_claim(Claim::Free))?;
    Ok(Some(Visit { node: Arc::clone(node), pending, seen: 0 }))
}

/// Depth-first over pending nodes with an explicit stack.
fn collect(arrays: &[Array], plan: &mut Plan, handles: &mut Handles) -> Result<()> {
    // Those that wait for their inputs, and the one that is looked at.
    let mut stack: SmallVec<[Visit; 4]> = SmallVec::new();
    for array in arrays {
        let mut now = enter(array, plan)?;
        while let Some(mut visit) = now {
            let input = visit.pending.get(visit.seen);
            visit.seen += 1;
            now = match input.map(|input| enter(input, plan)) {
                Some(Ok(Some(next))) => {
                    stack.push(visit);
                    Some(next)
                }
                Some(Ok(None)) => Some(visit),
                Some(Err(error)) => {
                    // An error frees the claims.
                    stack.iter().chain([&visit]).for_each(|visit| visit.node.set_claim(Claim::Free));
                    return Err(error);
                }
                None => {
                    finish(visit, plan, handles);
                    stack.pop()
                }
            };
        }
    }
    Ok(())
}

/// Give a node its place in the plan, behind its inputs.
fn finish(Visit { node, pending, .. }: Visit, plan: &mut Plan, handles: &mut Handles) {
    for input in &pending {
        if let Some(i) = place(input.node(), plan.epoch) {
            handles[i] += 1;
        }
    }
    node.mark.store(plan.epoch << PLACE_BITS | plan.nodes.len() as u64, Ordering::Relaxed);
    plan.nodes.push(Some(node));
    handles.push(0);
}

/// Replace what the backend has no kernel for by what it expands to, and what only matters to transforms by its value.
/// Answers the inputs that are still to be computed.
fn lower(node: &Arc<Node>) -> Result<Inputs> {
    let op = node.op();
    let mut inputs = node.lock_inputs();
    let is_over = matches!(op, Op::Custom(_) | Op::Checkpoint(_)) && !node.is_followed();
    if is_over || backend(node.stream().device).support(op, &inputs) == Support::Decompose {
        let given = inputs.clone();
        drop(inputs);
        if let Some(expanded) = op.expand(&given) {
            *node.lock_inputs() = expanded?.into();
        }
        inputs = node.lock_inputs();
    }
    Ok(inputs.iter().filter(|input| !input.is_evaluated()).cloned().collect())
}
