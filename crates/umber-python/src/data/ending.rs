//! The end of the program: threads that are in a pipeline then must not come back to the interpreter.
//!
//! Python ends a thread that asks for its lock while it finalises, by an exit that must not pass through Rust. The threads of pools
//! are closed and awaited; daemon threads of the user's that read a pipeline finish their sample and then sleep.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The thread that ends the program.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Calls under way that come back to the interpreter.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// The process that counts its calls; a child of it has none of its threads.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Whether the program ends, by another thread than this one.
fn is_ending() -> bool {
    ENDING.get().is_some_and(|&thread| thread != std::thread::current().id())
}

/// A call that is counted until dropped.
pub(super) struct Call(());

impl Call {
    /// `None` once the program ends.
    pub(super) fn begin() -> Option<Call> {
        PROCESS.get_or_init(std::process::id);
        CALLS.fetch_add(1, Ordering::SeqCst);
        let call = Call(());
        (!is_ending()).then_some(call)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Run `body` without the interpreter's lock. At the end of the program other threads do not return.
pub(super) fn detached<T: Send>(py: Python<'_>, body: impl Send + FnOnce() -> T) -> T {
    py.detach(|| {
        let call = Call::begin();
        let result = body();
        drop(call);
        while is_ending() {
            std::thread::sleep(Duration::from_hours(1));
        }
        result
    })
}

/// Stop the threads of all pipelines and wait for those in them, for at most `limit`.
pub(super) fn end(py: Python<'_>, limit: Duration) {
    py.detach(|| {
        let until = Instant::now() + limit;
        let _ = ENDING.set(std::thread::current().id());
        umber_data::run::close_all(limit);
        let counts = PROCESS.get_or_init(std::process::id) == &std::process::id();
        while counts && CALLS.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
