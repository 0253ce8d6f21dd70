//! Pending: the unevaluated graph of some arrays as a program, and its plan.
//!
//! Unevaluated nodes are sorted topologically and claimed. They are the steps of a program whose arguments are evaluated
//! arrays and whose outputs are the values of nodes that are referenced from outside. The plan comes from a cache, keyed by the
//! program.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, Scalar, bail, ensure};

use crate::graph::program::{Operand, SourceLine, Step};
use crate::graph::walk::AddressHasher;
use crate::graph::{Array, Claim, Inputs, Node, Program};
use crate::op::Op;
use crate::passes::specs_of;
use crate::plan::cache::Plans;
use crate::plan::{Plan, PlanConstants};
use crate::primitive::{FusionRole, Primitive};
use crate::primitives::control_flow::ControlFlow;
use crate::{observer, source_line};

/// The result of [`plan`]: claimed nodes and their plan. Dropping it releases the claims.
pub(super) struct Pending {
    /// Nodes that are not evaluated, inputs before users.
    pub(super) nodes: SmallVec<[Arc<Node>; 4]>,
    /// The arguments of the program: arrays that are evaluated, or claimed by earlier plans.
    pub(super) sources: SmallVec<[Array; 4]>,
    /// The inputs of all nodes, concatenated, and the start of each node's inputs.
    reads: SmallVec<[Input; 8]>,
    starts: SmallVec<[u32; 4]>,
    /// The slot of each node's first output.
    firsts: SmallVec<[u32; 4]>,
    /// The outputs of the program: index of the node, and of its output.
    pub(super) outputs: SmallVec<[(u32, u32); 2]>,
    /// Which nodes keep their inputs because a transformation may walk through them; empty if none does.
    keeps: Vec<bool>,
    /// How many inputs of nodes in the plan refer to each node.
    handles: SmallVec<[u32; 8]>,
    pub(super) plan: Option<Arc<Plan>>,
    /// The constants of the program.
    pub(super) constants: PlanConstants,
    /// Nodes claimed by earlier plans that this one needs.
    pub(super) awaited: Vec<Arc<Node>>,
    /// Number of the plan.
    epoch: u64,
}

thread_local! {
    /// Numbers of the plans that this thread runs: several, if a callback evaluates arrays.
    static RUNNING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A plan that this thread runs, until dropped.
pub(super) struct Running(());

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(Vec::pop);
    }
}

/// An input of a node.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A slot of the program.
    Slot(u32),
    /// An array filled with a constant, and the constant.
    Constant(Array, Scalar),
}

/// State shared by all planning.
struct Planner {
    /// Number of the newest plan, stored in the marks of its nodes.
    epoch: u64,
    plans: Plans,
}

impl Planner {
    const fn new() -> Planner {
        Planner { epoch: 0, plans: Plans::new() }
    }
}

/// Held while planning: one thread plans at a time.
static PLANNER: ForkMutex<Planner> =
    ForkMutex::new(Planner::new, Planner::new(), Level::Planning, InChild::Keep);

const INDEX_BITS: u32 = 36;
/// Whether a program has the source lines of its nodes. A cached plan has not, since it serves programs recorded on any line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Kept,
    Omitted,
}

/// Marks a node as a source; the index is that in `Draft::source_nodes`.
const IS_SOURCE: u64 = 1 << (INDEX_BITS - 1);

impl Pending {
    /// Note that this thread runs the plan, until the result is dropped.
    pub(super) fn begin(&self) -> Running {
        RUNNING.with_borrow_mut(|running| running.push(self.epoch));
        Running(())
    }

    /// Whether anything outside the plan refers to a node.
    fn is_held(&self, node: usize) -> bool {
        // One reference is the plan's own.
        Arc::strong_count(&self.nodes[node]) > self.handles[node] as usize + 1
    }

    /// Whether a node keeps its inputs when it has run.
    pub(super) fn keeps(&self, node: usize) -> bool {
        self.keeps.get(node).copied().unwrap_or(false)
    }

    /// Whether a node is referenced whose value the plan does not store; its handle was created after planning.
    pub(super) fn is_outdated(&self) -> bool {
        let mut outputs = self.outputs.iter().map(|(node, _)| *node as usize).peekable();
        (0..self.nodes.len()).any(|node| {
            while outputs.next_if(|output| *output < node).is_some() {}
            outputs.peek() != Some(&node) && !self.keeps(node) && self.is_held(node)
        })
    }

    /// The array whose value a step writes to a slot.
    pub(super) fn array_in(&self, slot: u32) -> Array {
        let node = self.firsts.partition_point(|first| *first <= slot) - 1;
        Array::outputs_of(&self.nodes[node]).swap_remove((slot - self.firsts[node]) as usize)
    }

    /// The source line of a step of the program, if lines are recorded.
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

/// The index of a node in the plan under construction.
fn index_in_plan(node: &Arc<Node>, epoch: u64) -> Option<usize> {
    let mark = node.mark.load(Ordering::Relaxed);
    let is_planned = mark >> INDEX_BITS == epoch && mark & IS_SOURCE == 0;
    is_planned.then_some((mark & (IS_SOURCE - 1)) as usize)
}

/// Fail if a claimed node is in a plan that this thread is running: to wait for it would be a deadlock.
fn check_awaited(node: &Arc<Node>) -> Result<()> {
    let epoch = node.mark.load(Ordering::Relaxed) >> INDEX_BITS;
    ensure!(
        !RUNNING.with_borrow(|running| running.contains(&epoch)),
        Runtime("eval"),
        "a callback reads an array that is computed by the evaluation that called it; pass the array to \
         pure_callback as an argument"
    );
    Ok(())
}

/// Plan the evaluation of `arrays`; `None` if all are evaluated.
pub(super) fn plan(arrays: &[Array]) -> Result<Option<Box<Pending>>> {
    if arrays.iter().all(Array::is_evaluated) {
        return Ok(None);
    }
    let mut planner = PLANNER.lock();
    // Marks store 28 bits of the epoch, so the mark of a node last planned 2^28 plans ago may match by accident. Correctness
    // depends on claims only; marks are used to find the indices of claimed nodes.
    planner.epoch = (planner.epoch + 1) & ((1 << (64 - INDEX_BITS)) - 1);
    let mut draft = Draft {
        epoch: planner.epoch,
        // Boxed, since it is large and moved several times.
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
            constants: PlanConstants::default(),
            awaited: Vec::new(),
            epoch: planner.epoch,
        }),
        source_nodes: SmallVec::new(),
    };
    draft.collect(arrays).map_err(|error| add_source_line(error, arrays))?;
    if draft.pending.nodes.is_empty() && draft.pending.awaited.is_empty() {
        return Ok(None);
    }
    draft.assign_slots();
    draft.choose_outputs();
    draft.look_up(&mut planner.plans)?;
    Ok(Some(draft.pending))
}

/// A claimed node that is not yet in the plan.
struct Visit {
    node: Arc<Node>,
    /// Its unevaluated inputs.
    unplanned: Inputs,
    /// How many of them have been visited.
    visited: usize,
}

/// A plan under construction.
struct Draft {
    epoch: u64,
    pending: Box<Pending>,
    /// For each source node: the argument indices of its outputs, `None` for outputs that are no arguments.
    source_nodes: SmallVec<[SmallVec<[Option<u32>; 1]>; 4]>,
}

impl Draft {
    /// Claim the node of an array, if it has to be computed.
    fn enter(&mut self, array: &Array) -> Result<Option<Visit>> {
        let node = array.node();
        // The claim must be read before `is_evaluated`: a thread that releases a claim may have evaluated the node.
        let claim = node.claim();
        if node.is_evaluated() {
            return Ok(None);
        }
        if claim == Claim::Taken {
            let awaited = &mut self.pending.awaited;
            if index_in_plan(node, self.epoch).is_none()
                && !awaited.iter().any(|other| Arc::ptr_eq(other, node))
            {
                check_awaited(node)?;
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
        // Marked as part of this plan; the index follows in `finish`.
        node.mark.store(self.epoch << INDEX_BITS, Ordering::Relaxed);
        let unplanned = lower(node).inspect_err(|_| node.set_claim(Claim::Free))?;
        Ok(Some(Visit { node: Arc::clone(node), unplanned, visited: 0 }))
    }

    /// Depth-first traversal of pending nodes, with an explicit stack.
    fn collect(&mut self, arrays: &[Array]) -> Result<()> {
        // Ancestors of the current visit.
        let mut stack: SmallVec<[Visit; 4]> = SmallVec::new();
        for array in arrays {
            let mut current = self.enter(array)?;
            while let Some(mut visit) = current {
                let input = visit.unplanned.get(visit.visited);
                visit.visited += 1;
                current = match input.map(|input| self.enter(input)) {
                    Some(Ok(Some(next))) => {
                        stack.push(visit);
                        Some(next)
                    }
                    Some(Ok(None)) => Some(visit),
                    Some(Err(error)) => {
                        // Claims are released on errors.
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

    /// Append a node to the plan, after its inputs.
    fn finish(&mut self, Visit { node, unplanned, .. }: Visit) {
        for input in &unplanned {
            if let Some(i) = index_in_plan(input.node(), self.epoch) {
                self.pending.handles[i] += 1;
            }
        }
        let index = self.pending.nodes.len() as u64;
        node.mark.store(self.epoch << INDEX_BITS | index, Ordering::Relaxed);
        self.pending.nodes.push(node);
        self.pending.handles.push(0);
    }

    /// The argument index of an array, which is added if it is new.
    fn source(&mut self, array: &Array) -> u32 {
        let node = array.node();
        let mark = node.mark.load(Ordering::Relaxed);
        let known = (mark >> INDEX_BITS == self.epoch && mark & IS_SOURCE != 0)
            .then_some((mark & (IS_SOURCE - 1)) as usize);
        let index = known.unwrap_or_else(|| {
            self.source_nodes.push(SmallVec::from_elem(None, node.outputs.len()));
            let index = self.source_nodes.len() - 1;
            node.mark.store(self.epoch << INDEX_BITS | IS_SOURCE | index as u64, Ordering::Relaxed);
            index
        });
        let sources = &mut self.pending.sources;
        *self.source_nodes[index][array.output()].get_or_insert_with(|| {
            sources.push(array.clone());
            sources.len() as u32 - 1
        })
    }

    /// Resolve the inputs of each node, and number the slots: arguments first, then the outputs of nodes.
    fn assign_slots(&mut self) {
        /// Marks slots of node outputs until the number of arguments is known.
        const IS_OUTPUT: u32 = 1 << 31;
        let mut next_slot = 0;
        for i in 0..self.pending.nodes.len() {
            let node = Arc::clone(&self.pending.nodes[i]);
            self.pending.firsts.push(next_slot);
            self.pending.starts.push(self.pending.reads.len() as u32);
            let inputs = node.lock_inputs();
            for input in inputs_read(&node, &inputs) {
                let read = match (index_in_plan(input.node(), self.epoch), input.constant()) {
                    (_, Some(value)) => Input::Constant(input.clone(), value),
                    (Some(producer), None) => match self.pending.forwarded(producer, input.output()) {
                        Some(read) => read,
                        None => {
                            Input::Slot(IS_OUTPUT | (self.pending.firsts[producer] + input.output() as u32))
                        }
                    },
                    (None, None) => Input::Slot(self.source(input)),
                };
                self.pending.reads.push(read);
            }
            if !node.op().forwards() {
                next_slot += node.outputs.len() as u32;
            }
        }
        let arguments = self.pending.sources.len() as u32;
        for read in &mut self.pending.reads {
            if let Input::Slot(slot) = read
                && *slot & IS_OUTPUT != 0
            {
                *slot = (*slot & !IS_OUTPUT) + arguments;
            }
        }
        self.pending.firsts.iter_mut().for_each(|first| *first += arguments);
    }

    /// Choose the outputs of the program: values of nodes that are referenced from outside, or that a transformation may read.
    fn choose_outputs(&mut self) {
        let nodes = &self.pending.nodes;
        let mut stored: SmallVec<[bool; 16]> = (0..nodes.len()).map(|i| self.pending.is_held(i)).collect();
        let mut keeps = Vec::new();
        if nodes.iter().any(|node| node.is_traced()) {
            // A node that keeps its inputs makes them reachable. Reachable values are stored unless they are cheap to recompute.
            keeps = vec![false; nodes.len()];
            let mut is_reached = vec![false; nodes.len()];
            for (i, node) in nodes.iter().enumerate().rev() {
                stored[i] |= is_reached[i] && is_worth_storing(node.op());
                keeps[i] = node.is_traced() || (is_reached[i] && !stored[i]);
                if keeps[i] {
                    let inputs = node.lock_inputs();
                    let indices = inputs.iter().filter_map(|input| index_in_plan(input.node(), self.epoch));
                    indices.for_each(|j| is_reached[j] = true);
                }
            }
        }
        let outputs_of =
            |(i, _): (usize, &bool)| (0..nodes[i].outputs.len() as u32).map(move |k| (i as u32, k));
        self.pending.outputs =
            stored.iter().enumerate().filter(|(_, stored)| **stored).flat_map(outputs_of).collect();
        self.pending.keeps = keeps;
    }

    /// Take the plan from the cache, or create it.
    fn look_up(&mut self, plans: &mut Plans) -> Result<()> {
        if self.pending.nodes.is_empty() {
            return Ok(());
        }
        self.collect_constants();
        if observer::needs_lines() && source_line::are_known() {
            self.pending.plan = Some(self.plan(&self.program(Lines::Kept))?);
            return Ok(());
        }
        let hash = self.hash();
        let constants = &self.pending.constants;
        let plan = match plans.find(hash, |program, plan| plan.allows(constants) && self.is(program)) {
            Some(plan) => plan,
            None => {
                let program = self.program(Lines::Omitted);
                let plan = self.plan(&program)?;
                plans.keep(hash, program, &plan);
                plan
            }
        };
        self.pending.plan = Some(plan);
        Ok(())
    }

    /// A new plan of the program of this draft.
    fn plan(&self, program: &Program) -> Result<Arc<Plan>> {
        let mut specs = program.arguments.clone();
        for node in self.steps().map(|i| &self.pending.nodes[i]) {
            specs.extend(node.outputs.iter().map(|output| output.spec.clone()));
        }
        debug_assert!(
            specs_of(program).is_ok_and(|inferred| inferred == specs),
            "recorded specs equal the inferred ones"
        );
        Plan::new(program, &specs).map(Arc::new)
    }

    /// The nodes that are steps of the program.
    fn steps(&self) -> impl Iterator<Item = usize> {
        let nodes = &self.pending.nodes;
        (0..nodes.len()).filter(|&i| !nodes[i].op().forwards())
    }

    /// Collect the constants of the program, in its order.
    fn collect_constants(&mut self) {
        let mut constants = PlanConstants::default();
        let mut push = |read: &Input| {
            if let Input::Constant(array, value) = read {
                constants.push(array.dtype(), *value);
            }
        };
        self.steps().flat_map(|i| self.pending.inputs_of(i)).for_each(&mut push);
        self.pending.outputs.iter().for_each(|&output| push(&self.pending.output(output)));
        self.pending.constants = constants;
    }

    /// Hash of the program without the values of its constants.
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
        self.pending.constants.pattern().hash(&mut hasher);
        hasher.finish()
    }

    /// Whether `program` equals the program of this draft, except for the values of constants.
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

    fn program(&self, lines: Lines) -> Program {
        let step = |i: usize| {
            let node = &self.pending.nodes[i];
            Step {
                op: node.op().clone(),
                stream: node.stream(),
                inputs: self.pending.inputs_of(i).iter().map(Input::operand).collect(),
                outputs: node.outputs.len() as u32,
                origin: match lines {
                    Lines::Kept => SourceLine(node.origin().cloned()),
                    Lines::Omitted => SourceLine::default(),
                },
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

/// Whether a value that a transformation may read is stored. Elementwise values are recomputed.
fn is_worth_storing(op: &Op) -> bool {
    match op.fusion_role() {
        FusionRole::Step(_) | FusionRole::Broadcast | FusionRole::Alias | FusionRole::Constant => false,
        FusionRole::Reduction | FusionRole::Product | FusionRole::Reshape | FusionRole::Alone => true,
    }
}

/// Hash an operation; bodies of loops and branches by address, since they may be long.
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
    /// Whether the input equals an operand of a step. Constants are compared by shape and dtype here, and by value as
    /// [`PlanConstants`].
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

/// Add the source line of an array without a value, if lines are recorded.
fn add_source_line(error: Error, arrays: &[Array]) -> Error {
    let mut pending = arrays.iter().filter(|array| !array.is_evaluated());
    error.recorded_at(pending.find_map(|array| array.node().origin()))
}

/// Replace an operation that only matters to transforms by its expansion. Returns the inputs that are still to be planned.
fn lower(node: &Arc<Node>) -> Result<Inputs> {
    let op = node.op();
    let mut inputs = node.lock_inputs();
    if op.forwards() && !node.is_traced() {
        let operands = inputs.clone();
        drop(inputs);
        if let Some(expanded) = op.expand(&operands) {
            *node.lock_inputs() = expanded?.into();
        }
        inputs = node.lock_inputs();
    }
    let is_unplanned = |input: &&Array| !input.is_evaluated() && input.constant().is_none();
    Ok(inputs_read(node, &inputs).iter().filter(is_unplanned).cloned().collect())
}

/// The inputs that the evaluation of a node reads: only the forwarded ones, if it forwards.
fn inputs_read<'a>(node: &Node, inputs: &'a [Array]) -> &'a [Array] {
    let skipped = if node.op().forwards() { inputs.len() - node.outputs.len() } else { 0 };
    &inputs[skipped..]
}
