//! Memory for packed blocks, kept by each thread for its next call.

use std::cell::Cell;

use umber_types::Element;

thread_local! {
    /// One for each level of nested calls, the outermost last.
    static KEPT: Cell<Vec<Vec<Line>>> = const { Cell::new(Vec::new()) };
}

/// A cache line: the alignment of scratch memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "memory to be read as elements")]
struct Line([u8; 64]);

/// Most bytes kept between calls.
const KEEP: usize = 16 << 20;

/// Call `body` with memory for `count` elements, whose values are any.
pub(crate) fn with<T: Element, R>(count: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    let mut kept = KEPT.take();
    let mut lines = kept.pop().unwrap_or_default();
    KEPT.set(kept);
    let wanted = (count * size_of::<T>()).div_ceil(64);
    if lines.len() < wanted {
        lines = vec![Line([0; 64]); wanted];
    }
    // SAFETY: the lines are initialised, aligned for any element and hold `count` of them, and every bit pattern is
    // an element.
    let answer = body(unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<T>(), count) });
    if lines.len() * 64 <= KEEP {
        let mut kept = KEPT.take();
        kept.push(lines);
        KEPT.set(kept);
    }
    answer
}
