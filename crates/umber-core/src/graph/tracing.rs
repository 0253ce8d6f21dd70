//! Tracing state of each thread. Nodes recorded from the arguments of a traced function keep their inputs, on every thread.

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

/// Number of transformations being traced on this thread.
pub fn depth() -> usize {
    DEPTH.get()
}

/// The trace that records what is computed from certain arrays, as those arrays refer to it.
#[derive(Clone, Debug)]
pub struct TraceScope(Arc<State>);

#[derive(Debug)]
struct State {
    /// Creation order. Traces are nested, so an earlier one ends later.
    order: u64,
    is_active: AtomicBool,
}

impl TraceScope {
    /// Whether the trace has not ended yet.
    pub(crate) fn is_active(&self) -> bool {
        self.0.is_active.load(Ordering::Acquire)
    }

    /// The active scope that ends last.
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
    /// The property that was read.
    pub reading: Reading,
}

/// The property of a length that a function read.
#[derive(Clone, Debug)]
pub enum Reading {
    /// The length itself.
    Length,
    /// Whether it is 1.
    IsOne,
    /// Whether it equals the length of an axis of another array; it did.
    Equals(Array, usize),
}

/// Whether a trace is valid only for the lengths of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Only for these lengths: values derived from lengths may be recorded as constants.
    Fixed,
    /// For other lengths too: values derived from lengths are recorded as operations.
    Free,
}

/// The reads of one trace so far.
#[derive(Debug)]
struct Reader {
    lengths: Lengths,
    reads: Vec<LengthRead>,
    /// Lengths already in the list, so that reads in a loop do not grow it.
    known: HashSet<((usize, u32), usize)>,
}

/// Records the lengths read on this thread until dropped.
#[derive(Debug)]
pub struct ReadingLengths {
    /// Makes the guard `!Send`.
    not_send: PhantomData<*const ()>,
}

/// Start recording reads of lengths.
#[must_use = "reads are recorded until the guard is dropped"]
pub fn read_lengths(lengths: Lengths) -> ReadingLengths {
    READERS.with_borrow_mut(|readers| {
        let outer = readers.last().map_or(Lengths::Fixed, |reader| reader.lengths);
        let lengths = if outer == Lengths::Free { outer } else { lengths };
        readers.push(Reader { lengths, reads: Vec::new(), known: HashSet::new() });
    });
    ReadingLengths { not_send: PhantomData }
}

impl ReadingLengths {
    /// Take the reads recorded so far.
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
        // Dropped outside the borrow: dropping arrays may run arbitrary destructors.
        let ended = READERS.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}

/// Whether a trace records reads of lengths.
pub(crate) fn is_reading() -> bool {
    READERS.with_borrow(|readers| !readers.is_empty())
}

/// Whether the innermost trace is for other lengths too.
pub fn are_lengths_free() -> bool {
    READERS.with_borrow(|readers| readers.last().is_some_and(|reader| reader.lengths == Lengths::Free))
}

/// Record that a length of a traced array was read: later operations of the function may depend on it without an edge in
/// its graph.
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

/// Record that the length of an axis was read.
pub fn note_length_read(array: &Array, axis: usize) {
    if array.is_traced() {
        note(LengthRead { array: array.clone(), axis, reading: Reading::Length });
    }
}

/// Record that the lengths of all axes were read.
pub fn note_shape_read(array: &Array) {
    (0..array.ndim()).for_each(|axis| note_length_read(array, axis));
}

/// Record that each axis was compared with length 1.
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
    /// Makes the guard `!Send`.
    not_send: PhantomData<*const ()>,
}

impl Tracing {
    /// The scope to attach to traced arrays.
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

/// Whether loops recorded from traced arrays save residuals for their backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residuals {
    /// Saved: a reverse-mode derivative is about to be taken.
    Kept,
    /// Not saved: a reverse-mode derivative runs the loop again.
    Recomputed,
}

/// A setting of [`Residuals`] on this thread, until dropped on the same thread.
#[derive(Debug)]
pub struct WithResiduals {
    previous: Residuals,
    /// Makes the guard `!Send`.
    not_send: PhantomData<*const ()>,
}

/// Set whether loops save residuals.
#[must_use = "the choice ends when the guard is dropped"]
pub fn with_residuals(residuals: Residuals) -> WithResiduals {
    WithResiduals { previous: RESIDUALS.replace(residuals), not_send: PhantomData }
}

/// Whether loops recorded now save residuals.
pub fn residuals() -> Residuals {
    RESIDUALS.get()
}

impl Drop for WithResiduals {
    fn drop(&mut self) {
        RESIDUALS.set(self.previous);
    }
}

/// The context of a function that is traced once and runs many times: a batch element under vmap, or an iteration of a loop.
#[derive(Clone, Debug)]
pub struct BatchIndex {
    /// Index of the batch element or iteration: a placeholder with a different value in each.
    pub index: Array,
    /// The batch size; `None` for iterations, whose number is not known beforehand.
    pub count: Option<usize>,
}

/// Marks this thread as tracing a function of a batch element, until dropped on the same thread.
#[derive(Debug)]
pub struct BatchIndexGuard {
    /// Makes the guard `!Send`.
    not_send: PhantomData<*const ()>,
}

/// Begin to trace a function of a batch element.
#[must_use = "the lane ends when the guard is dropped"]
pub fn push_batch_index(batch_index: BatchIndex) -> BatchIndexGuard {
    BATCH_INDICES.with_borrow_mut(|batch_indices| batch_indices.push(batch_index));
    BatchIndexGuard { not_send: PhantomData }
}

/// The batch indices of this thread, the outermost first.
pub fn batch_indices() -> Vec<BatchIndex> {
    BATCH_INDICES.with_borrow(Clone::clone)
}

impl Drop for BatchIndexGuard {
    fn drop(&mut self) {
        // Dropped outside the borrow: dropping arrays may run arbitrary destructors.
        let ended = BATCH_INDICES.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}
