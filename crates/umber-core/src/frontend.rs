//! Front end: the interface between the core and a program in another language.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use umber_types::{Error, Result};

/// Implemented by the Python package, for example. The default methods are for Rust programs.
pub trait Frontend: Send + Sync {
    /// Whether the user has interrupted the program. Called between the steps of an evaluation.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Run long or blocking work without holding locks of the front end that other threads may need, such as the GIL.
    fn run_unlocked(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    /// Whether operations record the line of the user's program.
    fn keeps_lines(&self) -> bool {
        false
    }

    /// The current line of the user's program, as `file:line`.
    fn line(&self) -> Option<Arc<str>> {
        None
    }

    /// Show a warning to the user. Returns whether it was shown; if not, it is to be an error.
    fn warn(&self, _text: &str) -> bool {
        false
    }
}

/// The front end of a Rust program.
struct Plain;

impl Frontend for Plain {}

static FRONTEND: OnceLock<&'static dyn Frontend> = OnceLock::new();

/// Connect a front end; the first one stays.
pub fn connect(frontend: &'static dyn Frontend) {
    if FRONTEND.set(frontend).is_ok() && frontend.keeps_lines() {
        crate::source_line::keep();
    }
}

/// The connected front end.
pub(crate) fn frontend() -> &'static dyn Frontend {
    FRONTEND.get().copied().unwrap_or(&Plain)
}

/// Return an error of kind [`ErrorKind::Interrupted`](umber_types::ErrorKind) if the user has interrupted the program. To be
/// called by long work outside of evaluation.
pub fn check_interrupted() -> Result<()> {
    if frontend().is_interrupted() { Err(Error::interrupted()) } else { Ok(()) }
}

/// Checks for interrupts at most every 20 ms; the first call, before any work, does not check.
pub(crate) struct Interrupts {
    has_begun: bool,
    last_check: Option<Instant>,
}

impl Interrupts {
    /// A checker for an evaluation that has not started.
    pub(crate) fn new() -> Interrupts {
        Interrupts { has_begun: false, last_check: None }
    }

    /// [`check_interrupted`], unless the last check was less than 20 ms ago.
    pub(crate) fn check(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let now = Instant::now();
        let last_check = *self.last_check.get_or_insert(now);
        if now.duration_since(last_check) > Duration::from_millis(20) {
            self.last_check = Some(now);
            check_interrupted()?;
        }
        Ok(())
    }
}
