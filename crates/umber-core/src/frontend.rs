//! Front end: what a program in another language tells the core, and what the core asks of it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use umber_types::{Error, Result};

/// The Python package, for one. Every question has an answer for programs in Rust.
pub trait Frontend: Send + Sync {
    /// Has the user interrupted the program? Asked between the steps of an evaluation.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Run work that may take long and wait for other threads, without locks of the front end's that those may need.
    fn run_unlocked(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    /// Are operations to keep the line of the user's program that recorded them?
    fn keeps_lines(&self) -> bool {
        false
    }

    /// The line of the user's program that is running, as `file:line`.
    fn line(&self) -> Option<Arc<str>> {
        None
    }
}

/// A program in Rust.
struct Plain;

impl Frontend for Plain {}

static FRONTEND: OnceLock<&'static dyn Frontend> = OnceLock::new();

/// Connect a front end; the first one stays.
pub fn connect(frontend: &'static dyn Frontend) {
    if FRONTEND.set(frontend).is_ok() && frontend.keeps_lines() {
        crate::source_line::keep();
    }
}

/// The front end that is connected.
pub(crate) fn frontend() -> &'static dyn Frontend {
    FRONTEND.get().copied().unwrap_or(&Plain)
}

/// An error of kind [`ErrorKind::Interrupted`](umber_types::ErrorKind) if the user has interrupted the program. Long work
/// outside of evaluation asks this.
pub fn check_interrupted() -> Result<()> {
    if frontend().is_interrupted() { Err(Error::interrupted()) } else { Ok(()) }
}

/// Asks for interrupts, at most every 20 ms; the first check, before anything has run, is none.
pub(crate) struct Interrupts {
    has_begun: bool,
    asked: Option<Instant>,
}

impl Interrupts {
    /// Before anything has run.
    pub(crate) fn new() -> Interrupts {
        Interrupts { has_begun: false, asked: None }
    }

    /// [`check_interrupted`], if it was not asked just now.
    pub(crate) fn check(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let now = Instant::now();
        let asked = *self.asked.get_or_insert(now);
        if now.duration_since(asked) > Duration::from_millis(20) {
            self.asked = Some(now);
            check_interrupted()?;
        }
        Ok(())
    }
}
