//! Source lines: the line of the user's program that recorded each operation, if a front end records lines.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frontend::frontend;

/// Whether any source line is known. Most programs record none, and should not query the front end at every operation.
static ANY_LINES: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// While a replay records operations again: the source line of the original operation.
    static LINE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Gives operations recorded on this thread a known source line, until dropped.
pub(crate) struct SourceLineGuard {
    previous: Option<Arc<str>>,
    is_known: bool,
}

/// Record source lines from now on.
pub(crate) fn keep() {
    ANY_LINES.store(true, Ordering::Release);
}

/// Record operations with a source line, if it is known.
pub(crate) fn with_source_line(line: Option<Arc<str>>) -> SourceLineGuard {
    let is_known = line.is_some();
    if is_known {
        ANY_LINES.store(true, Ordering::Relaxed);
    }
    SourceLineGuard { previous: if is_known { LINE.replace(line) } else { None }, is_known }
}

impl Drop for SourceLineGuard {
    fn drop(&mut self) {
        if self.is_known {
            LINE.set(self.previous.take());
        }
    }
}

/// Whether operations may have a source line.
#[inline]
pub(crate) fn are_known() -> bool {
    ANY_LINES.load(Ordering::Relaxed)
}

/// The user's source line that is recording, if lines are recorded.
#[inline]
pub(crate) fn current_source_line() -> Option<Arc<str>> {
    if !are_known() {
        return None;
    }
    LINE.with_borrow(Clone::clone).or_else(|| frontend().line())
}
