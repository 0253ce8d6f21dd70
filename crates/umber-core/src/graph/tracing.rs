//! Is this thread inside a transformation? Nodes recorded from a traced array then keep their inputs.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use super::Array;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SIZES_READ: Cell<u64> = const { Cell::new(0) };
    static LANES: RefCell<Vec<Lane>> = const { RefCell::new(Vec::new()) };
}

/// How many transformations are being traced on this thread.
pub fn depth() -> usize {
    DEPTH.get()
}

/// Somebody outside asked for the length of an axis of an array that is being traced: what the function does next may
/// depend on it in ways that its graph does not show.
pub fn note_sizes_read() {
    SIZES_READ.set(SIZES_READ.get() + 1);
}

/// How often [`note_sizes_read`] was called on this thread.
pub fn sizes_read() -> u64 {
    SIZES_READ.get()
}

/// One level of tracing, until dropped on the same thread.
#[derive(Debug)]
pub struct Tracing {
    /// Keeps the guard on its thread.
    not_send: PhantomData<*const ()>,
}

/// Enter a transformation.
#[must_use = "tracing ends when the guard is dropped"]
pub fn enter() -> Tracing {
    DEPTH.set(DEPTH.get() + 1);
    Tracing { not_send: PhantomData }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Where a function under `vmap` is being followed: on one lane of several.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Which lane: a placeholder that differs from lane to lane.
    pub index: Array,
    /// How many lanes there are.
    pub count: usize,
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
