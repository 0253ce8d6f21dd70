//! Is a function being followed? Nodes recorded from its arguments then keep their inputs, on whatever thread.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Array;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SIZES_READ: Cell<u64> = const { Cell::new(0) };
    static LANES: RefCell<Vec<Lane>> = const { RefCell::new(Vec::new()) };
    static RESIDUALS: Cell<Residuals> = const { Cell::new(Residuals::Recomputed) };
}

/// How many transformations are being traced on this thread.
pub fn depth() -> usize {
    DEPTH.get()
}

/// Who follows what is computed from certain arrays, as those arrays know it.
#[derive(Clone, Debug)]
pub struct Follower(Arc<State>);

#[derive(Debug)]
struct State {
    /// Earlier ones end later: functions return in the opposite order of their calls.
    order: u64,
    goes_on: AtomicBool,
}

impl Follower {
    /// Has the trace not ended yet?
    pub(crate) fn goes_on(&self) -> bool {
        self.0.goes_on.load(Ordering::Acquire)
    }

    /// Of those that go on, the one that will do so longest.
    pub(crate) fn outermost<'a>(followers: impl Iterator<Item = &'a Follower>) -> Option<Follower> {
        followers.filter(|follower| follower.goes_on()).min_by_key(|follower| follower.0.order).cloned()
    }
}

/// Somebody outside asked for the length of an axis of an array that is being traced: what the function does next may
/// depend on it in ways that its graph does not show.
pub fn note_sizes_read() {
    SIZES_READ.set(SIZES_READ.get() + 1);
}

/// As [`note_sizes_read`], of an operation whose lengths met a bound: at other lengths it may be another one.
pub(crate) fn note_bound_met(array: &Array) {
    if array.is_traced() {
        note_sizes_read();
    }
}

/// How often [`note_sizes_read`] was called on this thread.
pub fn sizes_read() -> u64 {
    SIZES_READ.get()
}

/// One level of tracing, until dropped on the same thread.
#[derive(Debug)]
pub struct Tracing {
    follower: Follower,
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

impl Tracing {
    /// What arrays to be followed are given.
    pub(crate) fn follower(&self) -> &Follower {
        &self.follower
    }
}

/// Enter a transformation.
#[must_use = "tracing ends when the guard is dropped"]
pub fn enter() -> Tracing {
    static ORDER: AtomicU64 = AtomicU64::new(0);
    DEPTH.set(DEPTH.get() + 1);
    let state = State { order: ORDER.fetch_add(1, Ordering::Relaxed), goes_on: AtomicBool::new(true) };
    Tracing { follower: Follower(Arc::new(state)), not_send: PhantomData }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        self.follower.0.goes_on.store(false, Ordering::Release);
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
pub struct Lane {
    /// Which lane or iteration: a placeholder that differs from one to the next.
    pub index: Array,
    /// How many lanes there are; iterations are not counted beforehand.
    pub count: Option<usize>,
}

/// This thread follows a function on a lane, until dropped on the same thread.
#[derive(Debug)]
pub struct OnLane {
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

/// Begin to follow a function on a lane.
#[must_use = "the lane ends when the guard is dropped"]
pub fn enter_lane(lane: Lane) -> OnLane {
    LANES.with_borrow_mut(|lanes| lanes.push(lane));
    OnLane { not_send: PhantomData }
}

/// The lanes this thread is on, the outermost first.
pub fn lanes() -> Vec<Lane> {
    LANES.with_borrow(Clone::clone)
}

impl Drop for OnLane {
    fn drop(&mut self) {
        // Dropped outside the borrow: an array may have much to let go of.
        let ended = LANES.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}
