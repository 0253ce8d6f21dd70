//! A node: a recorded operation with its inputs and outputs.
//!
//! A node is evaluated when its outputs have storage. It then lets go of its inputs, unless a transformation that
//! is being traced may still walk through it. Dropping is iterative beyond a few nodes: a chain of a million must not recurse.

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

/// The inputs of a node that has no more. Each by itself, since lists of them are memory on their way into memory.
pub(crate) type InputPair = (Option<Array>, Option<Array>);

/// One output: what it is, and where once it is evaluated.
pub(crate) struct Output {
    pub(crate) spec: ArraySpec,
    pub(crate) storage: StorageCell,
}

/// Where the elements of an output are.
pub(crate) enum StorageCell {
    /// Known when the node was made, which takes no turns at a lock.
    Ready(Storage),
    /// Told when the node is evaluated.
    Pending(OnceLock<Storage>),
}

impl StorageCell {
    /// Where, once it is known.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Storage> {
        match self {
            StorageCell::Ready(storage) => Some(storage),
            StorageCell::Pending(storage) => storage.get(),
        }
    }

    /// Tell where, unless it is known.
    #[inline]
    pub(crate) fn set(&self, found: Storage) {
        if let StorageCell::Pending(storage) = self {
            let _ = storage.set(found);
        }
    }

    /// Put the elements there, as those of a new node.
    #[inline(always)]
    pub(crate) fn put(&mut self, storage: Storage) -> &mut Storage {
        *self = StorageCell::Ready(storage);
        match self {
            StorageCell::Ready(storage) => storage,
            StorageCell::Pending(_) => unreachable!("it was put there"),
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
    /// One output, where it is there already.
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

/// Who evaluates a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nobody.
    Free,
    /// Some thread has it in its plan.
    Taken,
}

/// Beside the generation of a claim: the node's inputs are on their way through its kernel.
const RUNNING: u8 = 1 << 7;

/// A recorded operation.
pub struct Node {
    pub(crate) op: Op,
    inputs: Mutex<Inputs>,
    pub(crate) outputs: Outputs,
    pub(crate) stream: Stream,
    /// Recorded from an array that was followed.
    pub(crate) traced: bool,
    trace_scope: Option<TraceScope>,
    /// The generation of the process whose thread has it, 0 for nobody.
    claim: AtomicU8,
    /// Scratch of the planner, valid for one plan.
    pub(crate) mark: AtomicU64,
    origin: Option<Arc<str>>,
}

/// Who follows what is recorded from these inputs.
#[inline]
pub(crate) fn trace_scope_of<'a>(inputs: impl IntoIterator<Item = &'a Array>) -> Option<TraceScope> {
    TraceScope::outermost(inputs.into_iter().filter_map(|input| input.node().trace_scope()))
}

/// Where, for whom and on which line a node was recorded.
pub(crate) struct RecordContext {
    pub(crate) stream: Stream,
    pub(crate) trace_scope: Option<TraceScope>,
    pub(crate) origin: Option<Arc<str>>,
}

impl RecordContext {
    /// On this thread's default stream, for nobody who would hear of it.
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
        recorded: RecordContext,
    ) -> Arc<Node> {
        let mut node = Node::blank(op, recorded);
        // SAFETY: nobody else has the node yet.
        let own = unsafe { Node::fresh(&mut node) };
        *own.inputs.get_mut().unwrap_or_else(PoisonError::into_inner) = inputs;
        own.outputs = outputs;
        node
    }

    /// A node with one output of this dtype; `fill` is given the operation, the inputs and the output, which is
    /// a scalar to be computed so far. All is written where it stays: what is written in small pieces and then copied as a whole
    /// would be waited for.
    #[inline(always)]
    pub(crate) fn single(
        op: impl Into<Op>,
        inputs: InputPair,
        dtype: DType,
        recorded: RecordContext,
        fill: impl FnOnce(&mut Op, &[Array], &mut Output),
    ) -> Arc<Node> {
        let mut node = Node::blank(op, recorded);
        // SAFETY: nobody else has the node yet. Lists without elements have room for as many in themselves, which are written
        // before they are counted.
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
            // The room is the list's own, so that its address is asked for anew once the list was changed.
            let output = &mut *outputs.as_mut_ptr();
            // Whoever gives an output another part has to write it above.
            let Output { spec: ArraySpec { shape: _, dtype: _ }, storage: _ } = output;
            fill(op, own_inputs, output);
        }
        node
    }

    /// A node that has neither inputs nor outputs yet.
    #[inline(always)]
    fn blank(op: impl Into<Op>, RecordContext { stream, trace_scope, origin }: RecordContext) -> Arc<Node> {
        // Memory first: a node that is there before it would be copied into it.
        let memory = Arc::into_raw(Arc::new(MaybeUninit::<Node>::uninit())).cast_mut().cast::<Node>();
        // SAFETY: memory for a node that nobody else has, from an `Arc` that it goes back to once it is written.
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

    /// A node for writing, without making sure that nobody else has it.
    ///
    /// # Safety
    /// Nobody else has it.
    #[inline(always)]
    unsafe fn fresh(node: &mut Arc<Node>) -> &mut Node {
        // SAFETY: the caller's promise.
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

    /// Who followed what it was recorded from.
    pub(crate) fn trace_scope(&self) -> Option<&TraceScope> {
        self.trace_scope.as_ref()
    }

    /// Is it followed by a transformation that goes on? Then it keeps its inputs.
    pub(crate) fn is_traced(&self) -> bool {
        self.trace_scope.as_ref().is_some_and(TraceScope::is_active)
    }

    /// The user's line that recorded it, where origins are kept.
    pub fn origin(&self) -> Option<&Arc<str>> {
        self.origin.as_ref()
    }

    /// Do the outputs have storage?
    pub fn is_evaluated(&self) -> bool {
        self.outputs.iter().all(|output| output.storage.get().is_some())
    }

    /// The inputs, none once the node has let go of them.
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
        // What a thread claimed that a fork left behind is free.
        if self.claim.load(Ordering::Acquire) & !RUNNING == generation() { Claim::Taken } else { Claim::Free }
    }

    /// Did a thread that a fork left behind take the inputs along?
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

    /// Take the storage of output `i` out of a node that nobody else holds.
    pub(crate) fn into_storage(mut self, i: usize) -> Option<Storage> {
        let place = &mut self.outputs[i].storage;
        std::mem::replace(place, StorageCell::Pending(OnceLock::new())).into_storage()
    }
}

/// Does letting go of these inputs end with them: do others hold them, or have they no inputs? An input that is there twice is
/// held twice by whoever has these.
#[inline]
fn end_here(inputs: &[Array]) -> bool {
    let most_own = match inputs {
        [a, b] if !Arc::ptr_eq(a.node(), b.node()) => 1,
        _ => inputs.len(),
    };
    let ends = |node: &Arc<Node>| {
        Arc::strong_count(node) > most_own || matches!(node.op, Op::Full(_) | Op::Leaf(Leaf::Data))
    };
    inputs.iter().all(|input| ends(input.node()))
}

thread_local! {
    /// How many nodes are being let go of on this thread, one for the sake of the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// So many nodes let go of each other by themselves.
const MAX_DROP_DEPTH: usize = 16;

impl Drop for Node {
    fn drop(&mut self) {
        let inputs = self.inputs.get_mut().unwrap_or_else(PoisonError::into_inner);
        if end_here(inputs) {
            // If the others let go just now, an input comes here itself.
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
        let mut dying: SmallVec<[Array; 8]> = inputs.into_iter().collect();
        while let Some(array) = dying.pop() {
            if let Some(mut node) = array.into_last_node() {
                let inputs = std::mem::take(node.inputs.get_mut().unwrap_or_else(PoisonError::into_inner));
                dying.extend(inputs);
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?}, {} outputs)", self.op, self.outputs.len())
    }
}
