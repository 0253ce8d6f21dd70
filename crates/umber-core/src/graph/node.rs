//! A node: a recorded operation with its inputs and outputs.
//!
//! A node is evaluated when its outputs have storage. It then drops its inputs, unless an active transformation may still
//! walk through it. Dropping is iterative beyond a few nodes: a chain of a million must not recurse.

use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;
use umber_kernels::fork::generation;
use umber_types::{DType, Shape, Stream};

use super::tracing::TraceScope;
use super::{Array, ArraySpec, Specs, Storage};
use crate::device;
use crate::op::Op;
use crate::primitives::leaf::Leaf;
use crate::source_line::current_source_line;

/// The inputs of a node.
pub type Inputs = SmallVec<[Array; 2]>;

/// The inputs of a node that has at most two. A pair, not a list, so that the inputs are moved into the node one by one.
pub(crate) type InputPair = (Option<Array>, Option<Array>);

/// One output: its spec and, once evaluated, its storage.
pub(crate) struct Output {
    pub(crate) spec: ArraySpec,
    pub(crate) storage: StorageCell,
}

/// The storage of an output.
pub(crate) enum StorageCell {
    /// Known when the node was created; reading it needs no synchronisation.
    Ready(Storage),
    /// Set when the node is evaluated.
    Pending(OnceLock<Storage>),
}

impl StorageCell {
    /// The storage, once it is known.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Storage> {
        match self {
            StorageCell::Ready(storage) => Some(storage),
            StorageCell::Pending(storage) => storage.get(),
        }
    }

    /// Set the storage, unless it is known.
    #[inline]
    pub(crate) fn set(&self, storage: Storage) {
        if let StorageCell::Pending(cell) = self {
            let _ = cell.set(storage);
        }
    }

    /// Set the storage of a new node's output.
    #[inline(always)]
    pub(crate) fn put(&mut self, storage: Storage) -> &mut Storage {
        *self = StorageCell::Ready(storage);
        match self {
            StorageCell::Ready(storage) => storage,
            StorageCell::Pending(_) => unreachable!("it was set above"),
        }
    }

    fn into_storage(self) -> Option<Storage> {
        match self {
            StorageCell::Ready(storage) => Some(storage),
            StorageCell::Pending(storage) => storage.into_inner(),
        }
    }
}

/// The outputs of a node.
pub(crate) type Outputs = SmallVec<[Output; 1]>;

impl Output {
    /// One output, evaluated if it has storage.
    #[inline]
    pub(crate) fn one(spec: ArraySpec, storage: Option<Storage>) -> Outputs {
        SmallVec::from_buf([Output {
            spec,
            storage: storage.map_or_else(|| StorageCell::Pending(OnceLock::new()), StorageCell::Ready),
        }])
    }

    /// Outputs still to be computed; nearly always there is one.
    pub(crate) fn pending(mut specs: Specs) -> Outputs {
        match specs.pop() {
            Some(spec) if specs.is_empty() => Output::one(spec, None),
            last => {
                let pending = |spec| Output { spec, storage: StorageCell::Pending(OnceLock::new()) };
                specs.into_iter().chain(last).map(pending).collect()
            }
        }
    }
}

/// Whether some thread is going to evaluate a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No thread.
    Free,
    /// A thread has it in its plan.
    Taken,
}

/// Flag next to the generation in a claim: the node's inputs have been passed to its kernel.
const RUNNING: u8 = 1 << 7;

/// A recorded operation.
pub struct Node {
    pub(crate) op: Op,
    inputs: Mutex<Inputs>,
    pub(crate) outputs: Outputs,
    pub(crate) stream: Stream,
    /// Recorded from a traced array.
    pub(crate) traced: bool,
    trace_scope: Option<TraceScope>,
    /// Fork generation of the process whose thread claimed the node, 0 if unclaimed.
    claim: AtomicU8,
    /// Scratch of the planner, valid for one plan.
    pub(crate) mark: AtomicU64,
    origin: Option<Arc<str>>,
}

/// The trace scope of a node recorded from these inputs.
#[inline]
pub(crate) fn trace_scope_of<'a>(inputs: impl IntoIterator<Item = &'a Array>) -> Option<TraceScope> {
    TraceScope::outermost(inputs.into_iter().filter_map(|input| input.node().trace_scope()))
}

/// Stream, trace scope and source line of a new node.
pub(crate) struct RecordContext {
    pub(crate) stream: Stream,
    pub(crate) trace_scope: Option<TraceScope>,
    pub(crate) origin: Option<Arc<str>>,
}

impl RecordContext {
    /// On this thread's default stream, outside of any trace.
    #[inline(always)]
    pub(crate) fn untraced() -> RecordContext {
        RecordContext { stream: device::current_stream(), trace_scope: None, origin: None }
    }
}

impl Node {
    pub(crate) fn new(op: Op, inputs: Inputs, specs: Specs, stream: Stream) -> Arc<Node> {
        let trace_scope = trace_scope_of(&inputs);
        Node::build(
            op,
            inputs,
            Output::pending(specs),
            RecordContext { stream, trace_scope, origin: current_source_line() },
        )
    }

    pub(crate) fn build(
        op: impl Into<Op>,
        inputs: Inputs,
        outputs: Outputs,
        context: RecordContext,
    ) -> Arc<Node> {
        let mut node = Node::blank(op, context);
        // SAFETY: the node was just created, so `node` is the only reference.
        let own = unsafe { Node::fresh(&mut node) };
        *own.inputs.get_mut().unwrap_or_else(PoisonError::into_inner) = inputs;
        own.outputs = outputs;
        node
    }

    /// A node with one output of this dtype. `fill` receives the operation, the inputs and the output, a pending scalar.
    ///
    /// All fields are written in their final location: copying the struct with wide loads right after narrow stores would cause
    /// store-to-load forwarding stalls.
    #[inline(always)]
    pub(crate) fn single(
        op: impl Into<Op>,
        inputs: InputPair,
        dtype: DType,
        context: RecordContext,
        fill: impl FnOnce(&mut Op, &[Array], &mut Output),
    ) -> Arc<Node> {
        let mut node = Node::blank(op, context);
        // SAFETY: the node was just created, so `node` is the only reference. The empty lists have inline capacity for two inputs
        // and one output, which are written before the lengths are set.
        unsafe {
            let Node { op, inputs: own_inputs, outputs, .. } = Node::fresh(&mut node);
            let own_inputs = own_inputs.get_mut().unwrap_or_else(PoisonError::into_inner);
            if let Some(input) = inputs.0 {
                own_inputs.as_mut_ptr().write(input);
                own_inputs.set_len(1);
            }
            if let Some(input) = inputs.1 {
                own_inputs.as_mut_ptr().add(own_inputs.len()).write(input);
                own_inputs.set_len(own_inputs.len() + 1);
            }
            let output = outputs.as_mut_ptr();
            (&raw mut (*output).spec.shape).write(Shape::scalar());
            (&raw mut (*output).spec.dtype).write(dtype);
            (&raw mut (*output).storage).write(StorageCell::Pending(OnceLock::new()));
            outputs.set_len(1);
            // `set_len` borrows the list, which invalidates the earlier pointer into it.
            let output = &mut *outputs.as_mut_ptr();
            // Fails to compile when a field is added to an output: it has to be written above.
            let Output { spec: ArraySpec { shape: _, dtype: _ }, storage: _ } = output;
            fill(op, own_inputs, output);
        }
        node
    }

    /// A node without inputs and outputs.
    #[inline(always)]
    fn blank(op: impl Into<Op>, RecordContext { stream, trace_scope, origin }: RecordContext) -> Arc<Node> {
        // Allocate first: a node built on the stack would be copied to the heap.
        let memory = Arc::into_raw(Arc::new(MaybeUninit::<Node>::uninit())).cast_mut().cast::<Node>();
        // SAFETY: uninitialised memory for one node, from an `Arc` that no other thread has; it becomes an `Arc` again once
        // written.
        unsafe {
            memory.write(Node {
                op: op.into(),
                inputs: Mutex::new(Inputs::new()),
                outputs: Outputs::new(),
                stream,
                traced: trace_scope.is_some(),
                trace_scope,
                claim: AtomicU8::new(0),
                mark: AtomicU64::new(0),
                origin,
            });
            Arc::from_raw(memory)
        }
    }

    /// A new node for writing, without the check that it is unshared.
    ///
    /// # Safety
    /// `node` must be the only reference.
    #[inline(always)]
    unsafe fn fresh(node: &mut Arc<Node>) -> &mut Node {
        // SAFETY: the caller has the only reference.
        unsafe { &mut *Arc::as_ptr(node).cast_mut() }
    }

    /// The operation.
    pub fn op(&self) -> &Op {
        &self.op
    }

    /// The stream it was recorded for.
    pub fn stream(&self) -> Stream {
        self.stream
    }

    /// The trace scope of the inputs it was recorded from.
    pub(crate) fn trace_scope(&self) -> Option<&TraceScope> {
        self.trace_scope.as_ref()
    }

    /// Whether an active transformation traces it. Then it keeps its inputs.
    pub(crate) fn is_traced(&self) -> bool {
        self.trace_scope.as_ref().is_some_and(TraceScope::is_active)
    }

    /// The user's source line that recorded it, if source lines are recorded.
    pub fn origin(&self) -> Option<&Arc<str>> {
        self.origin.as_ref()
    }

    /// Whether all outputs have storage.
    pub fn is_evaluated(&self) -> bool {
        self.outputs.iter().all(|output| output.storage.get().is_some())
    }

    /// The inputs; none once the node has dropped them.
    pub fn inputs(&self) -> Inputs {
        self.lock_inputs().clone()
    }

    pub(crate) fn lock_inputs(&self) -> MutexGuard<'_, Inputs> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_inputs(&self) -> Inputs {
        self.claim.fetch_or(RUNNING, Ordering::Relaxed);
        std::mem::take(&mut *self.lock_inputs())
    }

    pub(crate) fn claim(&self) -> Claim {
        // A claim of a thread that did not survive a fork is void.
        if self.claim.load(Ordering::Acquire) & !RUNNING == generation() { Claim::Taken } else { Claim::Free }
    }

    /// Whether the inputs were taken by a thread that did not survive a fork.
    pub(crate) fn is_cut_off(&self) -> bool {
        let claim = self.claim.load(Ordering::Acquire);
        claim & RUNNING != 0 && claim & !RUNNING != generation()
    }

    pub(crate) fn set_claim(&self, claim: Claim) {
        let value = match claim {
            Claim::Free => 0,
            Claim::Taken => generation(),
        };
        self.claim.store(value, Ordering::Release);
    }

    /// Take the storage of output `i` out of a node without other references.
    pub(crate) fn into_storage(mut self, i: usize) -> Option<Storage> {
        let cell = &mut self.outputs[i].storage;
        std::mem::replace(cell, StorageCell::Pending(OnceLock::new())).into_storage()
    }
}

/// Whether dropping these inputs frees no further nodes: others hold them, or they have no inputs themselves. An input that
/// occurs twice has two references from here.
#[inline]
fn end_here(inputs: &[Array]) -> bool {
    let own_references = match inputs {
        [a, b] if !Arc::ptr_eq(a.node(), b.node()) => 1,
        _ => inputs.len(),
    };
    let is_shallow_drop = |node: &Arc<Node>| {
        Arc::strong_count(node) > own_references || matches!(node.op, Op::Full(_) | Op::Leaf(Leaf::Data))
    };
    inputs.iter().all(|input| is_shallow_drop(input.node()))
}

thread_local! {
    /// Nesting depth of node drops on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Drops nest up to this depth; deeper ones are iterative.
const MAX_DROP_DEPTH: usize = 16;

impl Drop for Node {
    fn drop(&mut self) {
        let inputs = self.inputs.get_mut().unwrap_or_else(PoisonError::into_inner);
        if end_here(inputs) {
            // If other threads drop their references meanwhile, the input's own drop handles its inputs.
            return;
        }
        let depth = DEPTH.get();
        if depth < MAX_DROP_DEPTH {
            DEPTH.set(depth + 1);
            inputs.clear();
            DEPTH.set(depth);
            return;
        }
        let inputs = std::mem::take(inputs);
        let mut to_drop: SmallVec<[Array; 8]> = inputs.into_iter().collect();
        while let Some(array) = to_drop.pop() {
            if let Some(mut node) = array.into_last_node() {
                let inputs = std::mem::take(node.inputs.get_mut().unwrap_or_else(PoisonError::into_inner));
                to_drop.extend(inputs);
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?}, {} outputs)", self.op, self.outputs.len())
    }
}
