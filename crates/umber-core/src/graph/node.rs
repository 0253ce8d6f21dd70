//! A node: a recorded operation with its inputs and outputs.
//!
//! A node is evaluated when its outputs have storage. It then lets go of its inputs, unless a transformation that
//! is being traced may still walk through it. Dropping is iterative: a chain of a million nodes must not recurse.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;
use umber_kernels::fork::generation;
use umber_types::layout::Strides;
use umber_types::{DType, Layout, Result, Shape, Stream};

use super::tracing::Follower;
use super::{Array, ArraySpec, Specs, Storage};
use crate::memory::Buffer;
use crate::op::Op;
use crate::primitives::leaf::Leaf;

/// The inputs of a node.
pub type Inputs = SmallVec<[Array; 2]>;

/// One output: what it is, and where once it is evaluated.
pub(crate) struct Output {
    pub(crate) spec: ArraySpec,
    pub(crate) storage: Place,
}

/// Where the elements of an output are.
pub(crate) enum Place {
    /// Known when the node was made, which takes no turns at a lock.
    There(Storage),
    /// Told when the node is evaluated.
    Later(OnceLock<Storage>),
}

impl Place {
    /// Where, once it is known.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Storage> {
        match self {
            Place::There(storage) => Some(storage),
            Place::Later(storage) => storage.get(),
        }
    }

    /// Tell where, unless it is known.
    #[inline]
    pub(crate) fn set(&self, found: Storage) {
        if let Place::Later(storage) = self {
            let _ = storage.set(found);
        }
    }

    fn into_storage(self) -> Option<Storage> {
        match self {
            Place::There(storage) => Some(storage),
            Place::Later(storage) => storage.into_inner(),
        }
    }
}

/// The outputs of a node.
pub(crate) type Outputs = SmallVec<[Output; 1]>;

impl Output {
    /// One output, where it is there already.
    // Inlined, as `Node::build`, so that a node is written where it stays rather than copied there.
    #[inline(always)]
    pub(crate) fn one(spec: ArraySpec, storage: Option<Storage>) -> Outputs {
        SmallVec::from_buf([Output {
            spec,
            storage: storage.map_or_else(|| Place::Later(OnceLock::new()), Place::There),
        }])
    }

    /// Outputs still to be computed; nearly always there is one.
    pub(crate) fn pending(mut specs: Specs) -> Outputs {
        match specs.pop() {
            Some(spec) if specs.is_empty() => Output::one(spec, None),
            last => {
                let pending = |spec| Output { spec, storage: Place::Later(OnceLock::new()) };
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
    follower: Option<Follower>,
    /// The generation of the process whose thread has it, 0 for nobody.
    claim: AtomicU8,
    /// Scratch of the planner, valid for one plan.
    pub(crate) mark: AtomicU64,
    origin: Option<Arc<str>>,
}

/// Runs a node that must not wait; set by `eval`.
static DUE_HOOK: OnceLock<fn(&Array) -> Result<()>> = OnceLock::new();
/// Says which line of the user's program is recording; set by a front end that can tell.
static ORIGIN_HOOK: OnceLock<fn() -> Option<Arc<str>>> = OnceLock::new();
/// Is any line of a program known? Most programs keep none, and should not ask at every node.
static LINES_ARE_KNOWN: AtomicBool = AtomicBool::new(false);

pub(crate) fn set_due_hook(hook: fn(&Array) -> Result<()>) {
    let _ = DUE_HOOK.set(hook);
}

pub(crate) fn set_origin_hook(hook: fn() -> Option<Arc<str>>) {
    if ORIGIN_HOOK.set(hook).is_ok() {
        LINES_ARE_KNOWN.store(true, Ordering::Release);
    }
}

thread_local! {
    /// The line that nodes recorded now stand for, when they were recorded before.
    static LINE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Nodes recorded on this thread stand for a line that is known, until dropped.
pub(crate) struct OnLine {
    before: Option<Arc<str>>,
    is_known: bool,
}

/// Record nodes for a line of the user's program, if it is known.
pub(crate) fn on_line(line: Option<Arc<str>>) -> OnLine {
    let is_known = line.is_some();
    if is_known {
        LINES_ARE_KNOWN.store(true, Ordering::Relaxed);
    }
    OnLine { before: if is_known { LINE.replace(line) } else { None }, is_known }
}

impl Drop for OnLine {
    fn drop(&mut self) {
        if self.is_known {
            LINE.set(self.before.take());
        }
    }
}

/// May a node stand for a line of the user's program?
#[inline]
pub(super) fn lines_are_known() -> bool {
    LINES_ARE_KNOWN.load(Ordering::Relaxed)
}

/// The user's line that is recording, where origins are kept.
#[inline]
pub(crate) fn users_line() -> Option<Arc<str>> {
    if !lines_are_known() {
        return None;
    }
    LINE.with_borrow(Clone::clone).or_else(|| ORIGIN_HOOK.get().and_then(|hook| hook()))
}

/// Who follows what is recorded from these inputs.
#[inline]
pub(crate) fn follower_of(inputs: &[Array]) -> Option<Follower> {
    Follower::outermost(inputs.iter().filter_map(|input| input.node().follower()))
}

impl Node {
    pub(crate) fn new(op: Op, inputs: Inputs, specs: Specs, stream: Stream) -> Arc<Node> {
        let follower = follower_of(&inputs);
        Node::build(op, inputs, Output::pending(specs), stream, follower, users_line())
    }

    #[inline(always)]
    pub(crate) fn build(
        op: impl Into<Op>,
        inputs: Inputs,
        outputs: Outputs,
        stream: Stream,
        follower: Option<Follower>,
        origin: Option<Arc<str>>,
    ) -> Arc<Node> {
        // Memory first: a node that is there before it would be copied into it.
        let memory = Arc::into_raw(Arc::<Node>::new_uninit()).cast_mut().cast::<Node>();
        // SAFETY: memory for a node that nobody else has, from an `Arc` that it goes back to once it is written.
        unsafe {
            memory.write(Node {
                op: op.into(),
                inputs: Mutex::new(Inputs::new()),
                outputs,
                stream,
                traced: follower.is_some(),
                follower,
                claim: AtomicU8::new(0),
                mark: AtomicU64::new(0),
                origin,
            });
            // By themselves: as a part of the lock they would be copied together with what pads it, in odd pieces.
            *(*memory).inputs.get_mut().unwrap_or_else(PoisonError::into_inner) = inputs;
            Arc::from_raw(memory)
        }
    }

    /// A node whose one output is there, in this memory. Shape and layout are those of a scalar until `place` writes them where they
    /// stay: lengths that are written one by one and then copied as a whole would be waited for.
    #[inline(always)]
    pub(crate) fn there(
        buffer: Arc<Buffer>,
        dtype: DType,
        stream: Stream,
        place: impl FnOnce(&mut Shape, &mut Layout),
    ) -> Arc<Node> {
        let layout = Layout { shape: Shape::scalar(), strides: Strides::new(), offset: 0 };
        let spec = ArraySpec { shape: Shape::scalar(), dtype };
        let outputs = Output::one(spec, Some(Storage { buffer, layout }));
        let node = Node::build(Leaf::Data, Inputs::new(), outputs, stream, None, None);
        // SAFETY: nobody else has the node yet.
        let outputs = unsafe { &mut (*Arc::as_ptr(&node).cast_mut()).outputs };
        if let [Output { spec, storage: Place::There(storage) }] = &mut outputs[..] {
            place(&mut spec.shape, &mut storage.layout);
        }
        node
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
    pub(crate) fn follower(&self) -> Option<&Follower> {
        self.follower.as_ref()
    }

    /// Is it followed by a transformation that goes on? Then it keeps its inputs.
    pub(crate) fn is_followed(&self) -> bool {
        self.follower.as_ref().is_some_and(Follower::goes_on)
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
        std::mem::replace(place, Place::Later(OnceLock::new())).into_storage()
    }
}

/// If any input's memory can be written from outside, the new node must run now.
pub(crate) fn run_if_due(array: &Array, inputs_are_volatile: bool) -> Result<()> {
    if inputs_are_volatile && let Some(hook) = DUE_HOOK.get() {
        return hook(array);
    }
    Ok(())
}

/// Do others hold these inputs too? An input that is there twice is held twice by whoever has these.
#[inline]
fn are_held_elsewhere(inputs: &[Array]) -> bool {
    let most_own = match inputs {
        [a, b] if !Arc::ptr_eq(a.node(), b.node()) => 1,
        _ => inputs.len(),
    };
    inputs.iter().all(|input| Arc::strong_count(input.node()) > most_own)
}

/// Does letting go of these inputs end with them, or with what they read? Who else holds something must not be among those
/// that go: of a chain in which each reads the last two, nothing would stay.
#[inline]
fn goes_no_deeper(inputs: &mut [Array]) -> bool {
    if are_held_elsewhere(inputs) {
        return true;
    }
    match inputs {
        [a] => reads_what_stays(a, &mut []),
        // An input that is there twice is held by nobody else.
        [a, b] if !Arc::ptr_eq(a.node(), b.node()) => reads_what_stays(a, std::slice::from_mut(b)),
        _ => false,
    }
}

/// As [`goes_no_deeper`], of one input, or of two that differ.
#[inline]
fn reads_what_stays(a: &mut Array, b: &mut [Array]) -> bool {
    let hold = |array: &Array| (Arc::as_ptr(array.node()), Arc::strong_count(array.node()));
    let inputs = [Some(hold(a)), b.first().map(hold)];
    let read = [last_inputs(a), b.first_mut().and_then(last_inputs)];
    let all_read = || read.iter().flatten().copied().flatten().map(hold);
    let stays = |(node, holders)| {
        let own = inputs.iter().flatten().filter(|input| input.0 == node).count();
        holders > own + all_read().filter(|input| input.0 == node).count()
    };
    let mut both = inputs.into_iter().zip(&read);
    both.all(|(input, read)| read.is_some() || input.is_none_or(stays)) && all_read().all(stays)
}

/// What an input reads that nobody else holds.
#[inline]
fn last_inputs(input: &mut Array) -> Option<&[Array]> {
    let node = Arc::get_mut(input.node_mut())?;
    Some(node.inputs.get_mut().unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Node {
    fn drop(&mut self) {
        let inputs = self.inputs.get_mut().unwrap_or_else(PoisonError::into_inner);
        if goes_no_deeper(inputs) {
            // If the others let go just now, an input comes here itself.
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
