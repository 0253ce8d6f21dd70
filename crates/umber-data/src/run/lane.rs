//! Who of a pipeline's threads asks for an interpreter's lock.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::run::task::SIGNAL_INTERVAL;

/// Lets one thread at a time through.
#[derive(Default)]
pub(crate) struct Lane {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The right to ask for the lock, until dropped.
pub(crate) struct Turn<'a>(&'a Lane);

impl Lane {
    /// Wait for a turn. The reader of a pipeline waits for a moment only, then asks without one: whoever has the turn may run a
    /// function for long, and the user may interrupt the program meanwhile.
    pub(crate) fn enter(&self, is_worker: bool) -> Option<Turn<'_>> {
        let mut is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *is_taken {
            let waited = self.freed.wait_timeout(is_taken, SIGNAL_INTERVAL);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && *guard && !is_worker {
                return None;
            }
            is_taken = guard;
        }
        *is_taken = true;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}
