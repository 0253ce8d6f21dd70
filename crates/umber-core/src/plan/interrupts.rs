//! Interrupts: the user may end a program between two steps.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use umber_types::{Error, Result};

/// Asked between nodes: has the user interrupted the program?
static INTERRUPT_HOOK: OnceLock<fn() -> bool> = OnceLock::new();

/// Say how to ask; the first time wins.
pub(crate) fn set_hook(interrupted: fn() -> bool) {
    let _ = INTERRUPT_HOOK.set(interrupted);
}

/// [`Error::Interrupted`] if the user has interrupted the program: for long work outside of evaluation to ask.
pub fn check_interrupted() -> Result<()> {
    if INTERRUPT_HOOK.get().is_some_and(|interrupted| interrupted()) {
        Err(Error::Interrupted)
    } else {
        Ok(())
    }
}

/// Asks the interrupt hook, at most every 20 ms; the first check, before anything has run, is none.
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
