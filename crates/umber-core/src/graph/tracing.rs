//! Is this thread inside a transformation? Nodes recorded from a traced array then keep their inputs.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// How many transformations are being traced on this thread.
pub fn depth() -> usize {
    DEPTH.get()
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
