//! A ticket that a thread may run before anybody waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use umber_core::frontend::check_interrupted;

use crate::error::Result;
use crate::fault;
use crate::run::Context;
use crate::sample::Sample;
use crate::ticket::Ticket;

/// How often a thread that waits looks whether the user interrupted the program.
pub(crate) const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

enum State {
    Waiting(Ticket),
    Running,
    Done(Result<Option<Sample>>),
    Taken,
}

/// A ticket that runs once, on the thread that comes first: one of a pool, or the one that needs the result.
pub struct Task {
    state: Mutex<State>,
    done: Condvar,
}

impl Task {
    /// A task that has not begun.
    pub fn new(ticket: Ticket) -> Task {
        Task { state: Mutex::new(State::Waiting(ticket)), done: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no thread has begun it.
    pub fn is_waiting(&self) -> bool {
        matches!(*self.lock(), State::Waiting(_))
    }

    /// Whether the result is there.
    pub fn is_done(&self) -> bool {
        matches!(*self.lock(), State::Done(_))
    }

    /// Run it, unless another thread has begun.
    pub fn run(&self, context: &Context<'_>) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Running) {
            State::Waiting(ticket) => {
                drop(state);
                let made = catch_unwind(AssertUnwindSafe(|| ticket.run(context)));
                let result = made.unwrap_or_else(|panic| {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                    Err(fault!(Runtime, "an operation panicked: {text}"))
                });
                *self.lock() = State::Done(result);
                self.done.notify_all();
            }
            other => *state = other,
        }
    }

    /// Return when the result is there; runs the task if no thread has begun.
    ///
    /// # Errors
    /// If the user interrupts the program. The task goes on.
    pub fn wait(&self, context: &Context<'_>) -> Result<()> {
        self.run(context);
        let mut state = self.lock();
        while matches!(*state, State::Running) {
            let waited = self.done.wait_timeout(state, SIGNAL_INTERVAL);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() && context.is_reader() {
                drop(state);
                check_interrupted()?;
                state = self.lock();
            }
        }
        Ok(())
    }

    /// Take the result, which must be there.
    pub fn take(&self) -> Result<Option<Sample>> {
        match std::mem::replace(&mut *self.lock(), State::Taken) {
            State::Done(result) => result,
            State::Waiting(_) | State::Running | State::Taken => {
                Err(fault!(Runtime, "the result of a task was taken twice"))
            }
        }
    }
}
