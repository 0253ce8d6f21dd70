//! Running tickets: the threads of a pipeline and what waits for them.

mod gate;
mod lane;
mod pool;
mod task;

pub(crate) use gate::{Gate, Passed};
pub use pool::{Pool, close_all};
pub use task::Task;

use crate::operation::Interpreter;

use std::sync::Arc;

/// Who runs: the threads to hand work to, if there are any.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    pool: Option<&'a Arc<Pool>>,
    is_worker: bool,
}

impl<'a> Context<'a> {
    /// A caller without threads.
    pub fn alone() -> Context<'static> {
        Context { pool: None, is_worker: false }
    }

    /// A caller that waits for the threads of `pool`.
    pub(crate) fn reader(pool: &'a Arc<Pool>) -> Context<'a> {
        Context { pool: Some(pool), is_worker: false }
    }

    /// A thread of `pool`.
    pub(crate) fn worker(pool: &'a Arc<Pool>) -> Context<'a> {
        Context { pool: Some(pool), is_worker: true }
    }

    /// The threads.
    pub(crate) fn pool(&self) -> Option<&'a Arc<Pool>> {
        self.pool
    }

    /// Whether the calling thread should look whether the user interrupted the program.
    pub(crate) fn is_reader(&self) -> bool {
        !self.is_worker
    }

    /// Run `body` with an interpreter's lock. One thread of a pipeline at a time asks for it, so that its threads do not contend.
    pub fn hold(&self, interpreter: &dyn Interpreter, body: &mut dyn FnMut()) {
        let _lane = self.pool.and_then(|pool| pool.lane().enter(self.is_worker));
        interpreter.hold(body);
    }
}
