//! Is a function being followed? Nodes recorded from its arguments then keep their inputs, on whatever thread.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Array;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static READERS: RefCell<Vec<Reader>> = const { RefCell::new(Vec::new()) };
    static BATCH_INDICES: RefCell<Vec<BatchIndex>> = const { RefCell::new(Vec::new()) };
    static RESIDUALS: Cell<Residuals> = const { Cell::new(Residuals::Recomputed) };
}

/// How many transformations are being traced on this thread.
pub fn depth() -> usize {
    DEPTH.get()
}

/// Who follows what is computed from certain arrays, as those arrays know it.
#[derive(Clone, Debug)]
pub struct TraceScope(Arc<State>);

#[derive(Debug)]
struct State {
    /// Earlier ones end later: functions return in the opposite order of their calls.
    order: u64,
    is_active: AtomicBool,
}

impl TraceScope {
    /// Has the trace not ended yet?
    pub(crate) fn is_active(&self) -> bool {
        self.0.is_active.load(Ordering::Acquire)
    }

    /// Of those that go on, the one that will do so longest.
    pub(crate) fn outermost<'a>(scopes: impl Iterator<Item = &'a TraceScope>) -> Option<TraceScope> {
        scopes
            .filter(|trace_scope| trace_scope.is_active())
            .min_by_key(|trace_scope| trace_scope.0.order)
            .cloned()
    }
}

/// The length of an axis that was read while a function was traced.
#[derive(Clone, Debug)]
pub struct LengthRead {
    /// The array.
    pub array: Array,
    /// The axis.
    pub axis: usize,
    /// What was asked.
    pub reading: Reading,
}

/// What a function asked of a length.
#[derive(Clone, Debug)]
pub enum Reading {
    /// The length itself.
    Length,
    /// Whether it is one.
    IsOne,
    /// Whether it is that of an axis of another array; it was.
    Equals(Array, usize),
}

/// Is a trace meant for the lengths of its arguments alone, or for others too?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// For these: what follows from lengths may be recorded as numbers.
    Fixed,
    /// For others too: numbers that follow from lengths are recorded as operations.
    Free,
}

/// The reads of one trace so far.
#[derive(Debug)]
struct Reader {
    lengths: Lengths,
    reads: Vec<LengthRead>,
    /// Lengths already in the list, so that a loop that reads one does not grow it.
    known: HashSet<((usize, u32), usize)>,
}

/// Lengths read on this thread are kept for a trace until this is ended or dropped.
#[derive(Debug)]
pub struct ReadingLengths {
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

/// Keep the lengths that are read from now on.
#[must_use = "reads are kept until the guard is dropped"]
pub fn read_lengths(lengths: Lengths) -> ReadingLengths {
    READERS.with_borrow_mut(|readers| {
        let outer = readers.last().map_or(Lengths::Fixed, |reader| reader.lengths);
        let lengths = if outer == Lengths::Free { outer } else { lengths };
        readers.push(Reader { lengths, reads: Vec::new(), known: HashSet::new() });
    });
    ReadingLengths { not_send: PhantomData }
}

impl ReadingLengths {
    /// The lengths read so far, which are no longer kept.
    #[must_use]
    pub fn take(&self) -> Vec<LengthRead> {
        READERS.with_borrow_mut(|readers| {
            let Some(reader) = readers.last_mut() else { return Vec::new() };
            reader.known.clear();
            std::mem::take(&mut reader.reads)
        })
    }
}

impl Drop for ReadingLengths {
    fn drop(&mut self) {
        // Dropped outside the borrow: an array may have much to drop.
        let ended = READERS.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}

/// Does a trace keep the lengths that are read?
pub(crate) fn is_reading() -> bool {
    READERS.with_borrow(|readers| !readers.is_empty())
}

/// Is the innermost trace meant for other lengths too?
pub fn are_lengths_free() -> bool {
    READERS.with_borrow(|readers| readers.last().is_some_and(|reader| reader.lengths == Lengths::Free))
}

/// A length of a traced array was read: what the function does next may depend on it in ways that its graph does not show.
pub fn note(read: LengthRead) {
    if !read.array.is_traced() {
        return;
    }
    READERS.with_borrow_mut(|readers| {
        let Some(reader) = readers.last_mut() else { return };
        let is_length = matches!(read.reading, Reading::Length);
        if !is_length || reader.known.insert((read.array.id(), read.axis)) {
            reader.reads.push(read);
        }
    });
}

/// [`note`] that the length of an axis was read.
pub fn note_length_read(array: &Array, axis: usize) {
    if array.is_traced() {
        note(LengthRead { array: array.clone(), axis, reading: Reading::Length });
    }
}

/// [`note_length_read`] of all axes.
pub fn note_shape_read(array: &Array) {
    (0..array.ndim()).for_each(|axis| note_length_read(array, axis));
}

/// [`note`] that it was asked which axes have the length one.
pub(crate) fn note_ones_read(array: &Array) {
    if array.is_traced() {
        let is_one = |axis| LengthRead { array: array.clone(), axis, reading: Reading::IsOne };
        (0..array.ndim()).map(is_one).for_each(note);
    }
}

/// One level of tracing, until dropped on the same thread.
#[derive(Debug)]
pub struct Tracing {
    trace_scope: TraceScope,
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

impl Tracing {
    /// What arrays to be followed are given.
    pub(crate) fn trace_scope(&self) -> &TraceScope {
        &self.trace_scope
    }
}

/// Enter a transformation.
#[must_use = "tracing ends when the guard is dropped"]
pub fn enter() -> Tracing {
    static ORDER: AtomicU64 = AtomicU64::new(0);
    DEPTH.set(DEPTH.get() + 1);
    let state = State { order: ORDER.fetch_add(1, Ordering::Relaxed), is_active: AtomicBool::new(true) };
    Tracing { trace_scope: TraceScope(Arc::new(state)), not_send: PhantomData }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        self.trace_scope.0.is_active.store(false, Ordering::Release);
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Do loops recorded from traced arrays store what their backward pass will read?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residuals {
    /// Yes: a derivative is about to be taken backwards.
    Kept,
    /// No: should one be, the loop runs once more.
    Recomputed,
}

/// What is done about residuals on this thread, until dropped on the same thread.
#[derive(Debug)]
pub struct WithResiduals {
    before: Residuals,
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

/// Choose what loops do about residuals.
#[must_use = "the choice ends when the guard is dropped"]
pub fn with_residuals(residuals: Residuals) -> WithResiduals {
    WithResiduals { before: RESIDUALS.replace(residuals), not_send: PhantomData }
}

/// What loops recorded now do about residuals.
pub fn residuals() -> Residuals {
    RESIDUALS.get()
}

impl Drop for WithResiduals {
    fn drop(&mut self) {
        RESIDUALS.set(self.before);
    }
}

/// Where a function is being followed that runs many times: on one lane of a batch, or in one iteration of a loop.
#[derive(Clone, Debug)]
pub struct BatchIndex {
    /// Which lane or iteration: a placeholder that differs from one to the next.
    pub index: Array,
    /// How many lanes there are; iterations are not counted beforehand.
    pub count: Option<usize>,
}

/// This thread follows a function on a lane, until dropped on the same thread.
#[derive(Debug)]
pub struct BatchIndexGuard {
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

/// Begin to follow a function on a lane.
#[must_use = "the lane ends when the guard is dropped"]
pub fn push_batch_index(batch_index: BatchIndex) -> BatchIndexGuard {
    BATCH_INDICES.with_borrow_mut(|batch_indices| batch_indices.push(batch_index));
    BatchIndexGuard { not_send: PhantomData }
}

/// The lanes this thread is on, the outermost first.
pub fn batch_indices() -> Vec<BatchIndex> {
    BATCH_INDICES.with_borrow(Clone::clone)
}

impl Drop for BatchIndexGuard {
    fn drop(&mut self) {
        // Dropped outside the borrow: an array may have much to let go of.
        let ended = BATCH_INDICES.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}
