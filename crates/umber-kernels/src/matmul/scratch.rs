//! Memory for packed blocks, kept by each thread for its next call.

use std::cell::Cell;

use umber_types::Element;

use crate::caches::{Aligned, LINE};

thread_local! {
    /// One for each level of nested calls, the outermost last.
    static KEPT: Cell<Vec<Vec<Aligned<[u8; LINE]>>>> = const { Cell::new(Vec::new()) };
}

/// Most bytes kept between calls.
pub(super) const KEEP: usize = 16 << 20;

/// Call `body` with memory for `count` elements, whose values are any.
pub(crate) fn with<T: Element, R>(count: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    let mut kept = KEPT.take();
    let mut lines = kept.pop().unwrap_or_default();
    KEPT.set(kept);
    let wanted = (count * size_of::<T>()).div_ceil(LINE);
    if lines.len() < wanted {
        lines = vec![Aligned([0; LINE]); wanted];
    }
    // SAFETY: the lines are initialised, aligned for any element and hold `count` of them, and every bit pattern is
    // an element.
    let answer = body(unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<T>(), count) });
    if lines.len() * LINE <= KEEP {
        let mut kept = KEPT.take();
        kept.push(lines);
        KEPT.set(kept);
    }
    answer
}
