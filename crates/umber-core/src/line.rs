//! Lines: which line of the user's program recorded an operation, where a front end keeps them.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frontend::frontend;

/// Is any line of a program known? Most programs keep none, and should not ask at every operation.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The line that operations recorded now stand for, when they were recorded before.
    static LINE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Operations recorded on this thread stand for a line that is known, until this is dropped.
pub(crate) struct OnLine {
    before: Option<Arc<str>>,
    is_known: bool,
}

/// Keep lines from now on.
pub(crate) fn keep() {
    ARE_KNOWN.store(true, Ordering::Release);
}

/// Record operations for a line of the user's program, if it is known.
pub(crate) fn on_line(line: Option<Arc<str>>) -> OnLine {
    let is_known = line.is_some();
    if is_known {
        ARE_KNOWN.store(true, Ordering::Relaxed);
    }
    OnLine { before: if is_known { LINE.replace(line) } else { None }, is_known }
}

impl Drop for OnLine {
    fn drop(&mut self) {
        if self.is_known {
            LINE.set(self.before.take());
        }
    }
}

/// May an operation stand for a line of the user's program?
#[inline]
pub(crate) fn are_known() -> bool {
    ARE_KNOWN.load(Ordering::Relaxed)
}

/// The user's line that is recording, where lines are kept.
#[inline]
pub(crate) fn users_line() -> Option<Arc<str>> {
    if !are_known() {
        return None;
    }
    LINE.with_borrow(Clone::clone).or_else(|| frontend().line())
}
