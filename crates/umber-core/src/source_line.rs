//! Source lines: the line of the user's program that recorded each operation, if a front end records lines.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::frontend::frontend;

/// How many of the front end and the observers record source lines. Most programs record none, and should not query the front end
/// at every operation.
static RECORDERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// While a replay records operations again: the source line of the original operation.
    static LINE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Gives operations recorded on this thread a known source line, until dropped.
pub(crate) struct SourceLineGuard {
    previous: Option<Arc<str>>,
    is_known: bool,
}

/// Record source lines from now on, until [`release`] is called as often.
pub(crate) fn keep() {
    RECORDERS.fetch_add(1, Ordering::Release);
}

/// End a request by [`keep`].
pub(crate) fn release() {
    RECORDERS.fetch_sub(1, Ordering::Release);
}

/// Record operations with a source line, if it is known and lines are recorded.
pub(crate) fn with_source_line(line: Option<Arc<str>>) -> SourceLineGuard {
    let is_known = line.is_some() && are_known();
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
    RECORDERS.load(Ordering::Relaxed) > 0
}

/// The user's source line that is recording, if lines are recorded.
#[inline]
pub(crate) fn current_source_line() -> Option<Arc<str>> {
    if !are_known() {
        return None;
    }
    LINE.with_borrow(Clone::clone).or_else(|| frontend().line())
}
