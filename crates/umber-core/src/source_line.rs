//! Lines: which line of the user's program recorded an operation, where a front end keeps them.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frontend::frontend;

/// Is any line of a program known? Most programs keep none, and should not ask at every operation.
static ANY_LINES: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The line that operations recorded now stand for, when they were recorded before.
    static LINE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Operations recorded on this thread stand for a line that is known, until this is dropped.
pub(crate) struct SourceLineGuard {
    before: Option<Arc<str>>,
    is_known: bool,
}

/// Keep lines from now on.
pub(crate) fn keep() {
    ANY_LINES.store(true, Ordering::Release);
}

/// Record operations for a line of the user's program, if it is known.
pub(crate) fn with_source_line(line: Option<Arc<str>>) -> SourceLineGuard {
    let is_known = line.is_some();
    if is_known {
        ANY_LINES.store(true, Ordering::Relaxed);
    }
    SourceLineGuard { before: if is_known { LINE.replace(line) } else { None }, is_known }
}

impl Drop for SourceLineGuard {
    fn drop(&mut self) {
        if self.is_known {
            LINE.set(self.before.take());
        }
    }
}

/// May an operation stand for a line of the user's program?
#[inline]
pub(crate) fn are_known() -> bool {
    ANY_LINES.load(Ordering::Relaxed)
}

/// The user's line that is recording, where lines are kept.
#[inline]
pub(crate) fn current_source_line() -> Option<Arc<str>> {
    if !are_known() {
        return None;
    }
    LINE.with_borrow(Clone::clone).or_else(|| frontend().line())
}
