//! Pending: the unevaluated graph behind some arrays as a program, and its plan.
//!
//! Unevaluated nodes are put in order and claimed. They are the steps of a program whose arguments are evaluated arrays and
//! whose outputs are the values of nodes that somebody still holds. Its plan comes from a cache, keyed by the program.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, Scalar, bail};

use crate::graph::program::{Operand, SourceLine, Step};
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, Claim, Inputs, Node, Program};
use crate::op::Op;
use crate::passes::specs_of;
use crate::plan::cache::Plans;
use crate::plan::{Plan, PlanConstants};
use crate::primitive::{FusionRole, Primitive};
use crate::primitives::control_flow::ControlFlow;
use crate::source_line;

/// Work found by [`plan`], claimed for whoever holds it; giving it up frees the claims.
pub(super) struct Pending {
    /// Nodes that are not evaluated, inputs before users.
    pub(super) nodes: SmallVec<[Arc<Node>; 4]>,
    /// The arguments of the program: arrays that are evaluated, or claimed by earlier plans.
    pub(super) sources: SmallVec<[Array; 4]>,
    /// The inputs of all nodes, one after the other, and where those of each begin.
    reads: SmallVec<[Input; 8]>,
    starts: SmallVec<[u32; 4]>,
    /// The slot of each node's first output.
    firsts: SmallVec<[u32; 4]>,
    /// The outputs of the program: a node, and one of its outputs.
    pub(super) outputs: SmallVec<[(u32, u32); 2]>,
    /// Which nodes keep their inputs since a transformation may walk through them; empty if none does.
    keeps: Vec<bool>,
    /// How many nodes of the plan hold each node as an input.
    handles: SmallVec<[u32; 8]>,
    pub(super) plan: Option<Arc<Plan>>,
    /// The constants of the program.
    pub(super) numbers: PlanConstants,
    /// Nodes of earlier plans that this one needs.
    pub(super) awaited: Vec<Arc<Node>>,
}

/// An input of a node.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A slot of the program.
    Slot(u32),
    /// An array of one value: the array, and the value.
    Constant(Array, Scalar),
}

/// The state that planning keeps.
struct Planner {
    /// The number of the newest plan, which the marks of its nodes carry.
    epoch: u64,
    plans: Plans,
}

impl Planner {
    const fn new() -> Planner {
        Planner { epoch: 0, plans: Plans::new() }
    }
}

/// One thread plans at a time.
static PLANNER: ForkMutex<Planner> =
    ForkMutex::new(Planner::new, Planner::new(), Level::Planning, InChild::Keep);

const PLACE_BITS: u32 = 36;
/// Marks a node that is a source: its place is an index of `Draft::source_nodes`.
const IS_SOURCE: u64 = 1 << (PLACE_BITS - 1);

impl Pending {
    /// Does anything outside the plan hold a node?
    fn is_held(&self, node: usize) -> bool {
        // One handle is the plan's own.
        Arc::strong_count(&self.nodes[node]) > self.handles[node] as usize + 1
    }

    /// Does a node keep its inputs when it has run?
    pub(super) fn keeps(&self, node: usize) -> bool {
        self.keeps.get(node).copied().unwrap_or(false)
    }

    /// Is a node held now whose value the plan does not store? Then it was not when the plan was made.
    pub(super) fn is_outdated(&self) -> bool {
        let mut outputs = self.outputs.iter().map(|(node, _)| *node as usize).peekable();
        (0..self.nodes.len()).any(|node| {
            while outputs.next_if(|stored| *stored < node).is_some() {}
            outputs.peek() != Some(&node) && !self.keeps(node) && self.is_held(node)
        })
    }

    /// The array whose value is in a slot that a step writes.
    pub(super) fn maker(&self, slot: u32) -> Array {
        let node = self.firsts.partition_point(|first| *first <= slot) - 1;
        Array::outputs_of(&self.nodes[node]).swap_remove((slot - self.firsts[node]) as usize)
    }

    /// The user's line of a step of the program, where lines are kept.
    pub(super) fn origin(&self, step: usize) -> Option<&Arc<str>> {
        if !source_line::are_known() {
            return None;
        }
        let mut steps = self.nodes.iter().filter(|node| !node.op().forwards());
        steps.nth(step)?.origin()
    }

    /// The inputs of a node.
    pub(super) fn inputs_of(&self, node: usize) -> &[Input] {
        let end = self.starts.get(node + 1).map_or(self.reads.len(), |end| *end as usize);
        &self.reads[self.starts[node] as usize..end]
    }

    /// The value of an output of the program.
    pub(super) fn output(&self, (node, output): (u32, u32)) -> Input {
        match self.forwarded(node as usize, output as usize) {
            Some(read) => read,
            None => Input::Slot(self.firsts[node as usize] + output),
        }
    }

    /// The input that a node forwards as one of its outputs, if it forwards any.
    fn forwarded(&self, node: usize, output: usize) -> Option<Input> {
        self.nodes[node].op().forwards().then(|| self.inputs_of(node)[output].clone())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for node in &self.nodes {
            node.set_claim(Claim::Free);
        }
        if !self.nodes.is_empty() {
            super::notify_progress();
        }
    }
}

/// The place of a node in the plan that is being made.
fn place(node: &Arc<Node>, epoch: u64) -> Option<usize> {
    let mark = node.mark.load(Ordering::Relaxed);
    let is_placed = mark >> PLACE_BITS == epoch && mark & IS_SOURCE == 0;
    is_placed.then_some((mark & (IS_SOURCE - 1)) as usize)
}

/// Plan the evaluation of `arrays`; `None` if all are evaluated.
pub(super) fn plan(arrays: &[Array]) -> Result<Option<Box<Pending>>> {
    if arrays.iter().all(Array::is_evaluated) {
        return Ok(None);
    }
    let mut planner = PLANNER.lock();
    // Marks hold 28 bits of the number: a node that was not planned for 2^28 plans may carry an equal one, so
    // claims are what decides, marks only find places.
    planner.epoch = (planner.epoch + 1) & ((1 << (64 - PLACE_BITS)) - 1);
    let mut draft = Draft {
        epoch: planner.epoch,
        // On the heap, since it is large and goes from hand to hand.
        pending: Box::new(Pending {
            nodes: SmallVec::new(),
            sources: SmallVec::new(),
            reads: SmallVec::new(),
            starts: SmallVec::new(),
            firsts: SmallVec::new(),
            outputs: SmallVec::new(),
            keeps: Vec::new(),
            handles: SmallVec::new(),
            plan: None,
            numbers: PlanConstants::default(),
            awaited: Vec::new(),
        }),
        source_nodes: SmallVec::new(),
    };
    draft.collect(arrays).map_err(|error| said_where(error, arrays))?;
    if draft.pending.nodes.is_empty() && draft.pending.awaited.is_empty() {
        return Ok(None);
    }
    draft.number();
    draft.choose_outputs();
    draft.look_up(&mut planner.plans)?;
    Ok(Some(draft.pending))
}

/// A node that has been claimed but has no place in the plan yet.
struct Visit {
    node: Arc<Node>,
    /// Its inputs that are still to be computed.
    unplanned: Inputs,
    /// How many of them were looked at.
    seen: usize,
}

/// A plan while it is made.
struct Draft {
    epoch: u64,
    pending: Box<Pending>,
    /// For each node that is a source: the argument that each of its outputs is, if any.
    source_nodes: SmallVec<[SmallVec<[Option<u32>; 1]>; 4]>,
}

impl Draft {
    /// Claim the node of an array, if there is anything to do for it.
    fn enter(&mut self, array: &Array) -> Result<Option<Visit>> {
        let node = array.node();
        // Asked before whether it is evaluated, since whoever frees it may have done that.
        let claim = node.claim();
        if node.is_evaluated() {
            return Ok(None);
        }
        if claim == Claim::Taken {
            let awaited = &mut self.pending.awaited;
            if place(node, self.epoch).is_none() && !awaited.iter().any(|other| Arc::ptr_eq(other, node)) {
                awaited.push(Arc::clone(node));
            }
            return Ok(None);
        }
        if node.is_cut_off() {
            bail!(
                Runtime(node.op().name()),
                "this array was being evaluated by another thread when the process was forked; evaluate it \
                 before the fork"
            );
        }
        if let Op::Leaf(leaf) = node.op()
            && leaf.is_placeholder()
        {
            return Err(if node.is_traced() { leaf.no_value() } else { leaf.escaped() });
        }
        node.set_claim(Claim::Taken);
        // In the plan from now on; the place is fixed when it is finished.
        node.mark.store(self.epoch << PLACE_BITS, Ordering::Relaxed);
        let unplanned = lower(node).inspect_err(|_| node.set_claim(Claim::Free))?;
        Ok(Some(Visit { node: Arc::clone(node), unplanned, seen: 0 }))
    }

    /// Depth-first over pending nodes with an explicit stack.
    fn collect(&mut self, arrays: &[Array]) -> Result<()> {
        // Those that wait for their inputs, and the one that is looked at.
        let mut stack: SmallVec<[Visit; 4]> = SmallVec::new();
        for array in arrays {
            let mut now = self.enter(array)?;
            while let Some(mut visit) = now {
                let input = visit.unplanned.get(visit.seen);
                visit.seen += 1;
                now = match input.map(|input| self.enter(input)) {
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
                        self.finish(visit);
                        stack.pop()
                    }
                };
            }
        }
        Ok(())
    }

    /// Give a node its place in the plan, behind its inputs.
    fn finish(&mut self, Visit { node, unplanned, .. }: Visit) {
        for input in &unplanned {
            if let Some(i) = place(input.node(), self.epoch) {
                self.pending.handles[i] += 1;
            }
        }
        let place = self.pending.nodes.len() as u64;
        node.mark.store(self.epoch << PLACE_BITS | place, Ordering::Relaxed);
        self.pending.nodes.push(node);
        self.pending.handles.push(0);
    }

    /// The argument that an array is; added if it is new.
    fn source(&mut self, array: &Array) -> u32 {
        let node = array.node();
        let mark = node.mark.load(Ordering::Relaxed);
        let known = (mark >> PLACE_BITS == self.epoch && mark & IS_SOURCE != 0)
            .then_some((mark & (IS_SOURCE - 1)) as usize);
        let place = known.unwrap_or_else(|| {
            self.source_nodes.push(SmallVec::from_elem(None, node.outputs.len()));
            let place = self.source_nodes.len() - 1;
            node.mark.store(self.epoch << PLACE_BITS | IS_SOURCE | place as u64, Ordering::Relaxed);
            place
        });
        let sources = &mut self.pending.sources;
        *self.source_nodes[place][array.output()].get_or_insert_with(|| {
            sources.push(array.clone());
            sources.len() as u32 - 1
        })
    }

    /// Resolve the inputs of each node, and number the slots: arguments first, then the outputs of nodes.
    fn number(&mut self) {
        /// Marks outputs of nodes until the number of arguments is known.
        const MADE: u32 = 1 << 31;
        let mut made = 0;
        for i in 0..self.pending.nodes.len() {
            let node = Arc::clone(&self.pending.nodes[i]);
            self.pending.firsts.push(made);
            self.pending.starts.push(self.pending.reads.len() as u32);
            let inputs = node.lock_inputs();
            for input in inputs_read(&node, &inputs) {
                let read = match (place(input.node(), self.epoch), input.constant()) {
                    (_, Some(value)) => Input::Constant(input.clone(), value),
                    (Some(maker), None) => match self.pending.forwarded(maker, input.output()) {
                        Some(read) => read,
                        None => Input::Slot(MADE | (self.pending.firsts[maker] + input.output() as u32)),
                    },
                    (None, None) => Input::Slot(self.source(input)),
                };
                self.pending.reads.push(read);
            }
            if !node.op().forwards() {
                made += node.outputs.len() as u32;
            }
        }
        let arguments = self.pending.sources.len() as u32;
        for read in &mut self.pending.reads {
            if let Input::Slot(slot) = read
                && *slot & MADE != 0
            {
                *slot = (*slot & !MADE) + arguments;
            }
        }
        self.pending.firsts.iter_mut().for_each(|first| *first += arguments);
    }

    /// Choose the outputs of the program: values of nodes that are held, or that a transformation may reach.
    fn choose_outputs(&mut self) {
        let nodes = &self.pending.nodes;
        let mut stored: SmallVec<[bool; 16]> = (0..nodes.len()).map(|i| self.pending.is_held(i)).collect();
        let mut keeps = Vec::new();
        if nodes.iter().any(|node| node.is_traced()) {
            // A node that keeps its inputs makes them reachable: they are stored unless recomputing is cheap.
            keeps = vec![false; nodes.len()];
            let mut is_reached = vec![false; nodes.len()];
            for (i, node) in nodes.iter().enumerate().rev() {
                stored[i] |= is_reached[i] && is_worth_storing(node.op());
                keeps[i] = node.is_traced() || (is_reached[i] && !stored[i]);
                if keeps[i] {
                    let inputs = node.lock_inputs();
                    let places = inputs.iter().filter_map(|input| place(input.node(), self.epoch));
                    places.for_each(|j| is_reached[j] = true);
                }
            }
        }
        let of = |(i, _): (usize, &bool)| (0..nodes[i].outputs.len() as u32).map(move |k| (i as u32, k));
        self.pending.outputs =
            stored.iter().enumerate().filter(|(_, stored)| **stored).flat_map(of).collect();
        self.pending.keeps = keeps;
    }

    /// Take the plan from the cache, or make it.
    fn look_up(&mut self, plans: &mut Plans) -> Result<()> {
        if self.pending.nodes.is_empty() {
            return Ok(());
        }
        self.collect_numbers();
        let hash = self.hash();
        let numbers = &self.pending.numbers;
        let plan = match plans.find(hash, |program, plan| plan.allows(numbers) && self.is(program)) {
            Some(plan) => plan,
            None => {
                let program = self.program();
                let mut specs = program.arguments.clone();
                for node in self.steps().map(|i| &self.pending.nodes[i]) {
                    specs.extend(node.outputs.iter().map(|output| output.spec.clone()));
                }
                debug_assert!(
                    specs_of(&program).is_ok_and(|own| own == specs),
                    "an operation tells its results"
                );
                let plan = Arc::new(Plan::new(&program, &specs)?);
                plans.keep(hash, program, &plan);
                plan
            }
        };
        self.pending.plan = Some(plan);
        Ok(())
    }

    /// The nodes that are steps of the program.
    fn steps(&self) -> impl Iterator<Item = usize> {
        let nodes = &self.pending.nodes;
        (0..nodes.len()).filter(|&i| !nodes[i].op().forwards())
    }

    /// Find the constants of the program, in its order.
    fn collect_numbers(&mut self) {
        let mut numbers = PlanConstants::default();
        let mut push = |read: &Input| {
            if let Input::Constant(array, value) = read {
                numbers.push(array.dtype(), *value);
            }
        };
        self.steps().flat_map(|i| self.pending.inputs_of(i)).for_each(&mut push);
        self.pending.outputs.iter().for_each(|&output| push(&self.pending.output(output)));
        self.pending.numbers = numbers;
    }

    /// A number that depends on all of the program but what its constants are.
    fn hash(&self) -> u64 {
        let mut hasher = AddressHasher::default();
        for source in &self.pending.sources {
            source.spec().hash(&mut hasher);
        }
        for i in self.steps() {
            let node = &self.pending.nodes[i];
            hash_op(node.op(), &mut hasher);
            node.stream().hash(&mut hasher);
            self.pending.inputs_of(i).iter().for_each(|read| read.hash(&mut hasher));
        }
        for &output in &self.pending.outputs {
            self.pending.output(output).hash(&mut hasher);
        }
        self.pending.numbers.pattern().hash(&mut hasher);
        hasher.finish()
    }

    /// Is `program` the program of this draft, but for what its constants are?
    fn is(&self, program: &Program) -> bool {
        let mut steps = program.steps.iter();
        program.arguments.iter().eq(self.pending.sources.iter().map(Array::spec))
            && self.steps().all(|i| {
                let node = &self.pending.nodes[i];
                steps.next().is_some_and(|step| {
                    step.op == *node.op()
                        && step.stream == node.stream()
                        && all_are(self.pending.inputs_of(i), &step.inputs)
                })
            })
            && steps.next().is_none()
            && program.outputs.len() == self.pending.outputs.len()
            && program
                .outputs
                .iter()
                .zip(&self.pending.outputs)
                .all(|(own, &output)| self.pending.output(output).is(own))
    }

    fn program(&self) -> Program {
        let step = |i: usize| {
            let node = &self.pending.nodes[i];
            Step {
                op: node.op().clone(),
                stream: node.stream(),
                inputs: self.pending.inputs_of(i).iter().map(Input::operand).collect(),
                outputs: node.outputs.len() as u32,
                // A cached plan serves programs from any line.
                origin: SourceLine::default(),
            }
        };
        Program {
            arguments: self.pending.sources.iter().map(|source| source.spec().clone()).collect(),
            steps: self.steps().map(step).collect(),
            outputs: self
                .pending
                .outputs
                .iter()
                .map(|&output| self.pending.output(output).operand())
                .collect(),
        }
    }
}

/// Is a value stored that a transformation may reach? Elementwise values are recomputed.
fn is_worth_storing(op: &Op) -> bool {
    match op.fusion_role() {
        FusionRole::Step(_) | FusionRole::Broadcast | FusionRole::Alias | FusionRole::Constant => false,
        FusionRole::Reduction | FusionRole::Product | FusionRole::Reshape | FusionRole::Alone => true,
    }
}

/// Hash an operation; bodies of loops and branches by address, since hashing them takes long.
fn hash_op(op: &Op, hasher: &mut AddressHasher) {
    match op.control_flow() {
        Some(ControlFlow::Loop(repeated)) => Arc::as_ptr(&repeated.0).hash(hasher),
        Some(ControlFlow::Branch(branch)) => Arc::as_ptr(&branch.0).hash(hasher),
        Some(ControlFlow::While(repeated)) => Arc::as_ptr(&repeated.0).hash(hasher),
        None => op.hash(hasher),
    }
}

fn all_are(reads: &[Input], operands: &[Operand]) -> bool {
    reads.len() == operands.len() && reads.iter().zip(operands).all(|(read, operand)| read.is(operand))
}

impl Input {
    /// Is it this operand? Constants are compared as [`PlanConstants`].
    fn is(&self, operand: &Operand) -> bool {
        match (self, operand) {
            (Input::Slot(a), Operand::Slot(b)) => a == b,
            (Input::Constant(array, _), Operand::Constant(constant)) => *array.spec() == constant.0,
            _ => false,
        }
    }

    fn operand(&self) -> Operand {
        match self {
            Input::Slot(slot) => Operand::Slot(*slot),
            Input::Constant(array, value) => Operand::Constant(Box::new((array.spec().clone(), *value))),
        }
    }

    fn hash(&self, hasher: &mut AddressHasher) {
        match self {
            Input::Slot(slot) => slot.hash(hasher),
            Input::Constant(array, _) => array.spec().hash(hasher),
        }
    }
}

/// Say where an array without a value was recorded, where that is kept.
fn said_where(error: Error, arrays: &[Array]) -> Error {
    let mut pending = arrays.iter().filter(|array| !array.is_evaluated());
    error.recorded_at(pending.find_map(|array| array.node().origin()))
}

/// Replace what only matters to transforms by its value. Returns the inputs that are still to be planned.
fn lower(node: &Arc<Node>) -> Result<Inputs> {
    let op = node.op();
    let mut inputs = node.lock_inputs();
    if op.forwards() && !node.is_traced() {
        let given = inputs.clone();
        drop(inputs);
        if let Some(expanded) = op.expand(&given) {
            *node.lock_inputs() = expanded?.into();
        }
        inputs = node.lock_inputs();
    }
    let is_unplanned = |input: &&Array| !input.is_evaluated() && input.constant().is_none();
    Ok(inputs_read(node, &inputs).iter().filter(is_unplanned).cloned().collect())
}

/// What a node reads of its inputs: the last, if that is what it passes on.
fn inputs_read<'a>(node: &Node, inputs: &'a [Array]) -> &'a [Array] {
    let skipped = if node.op().forwards() { inputs.len() - node.outputs.len() } else { 0 };
    &inputs[skipped..]
}
