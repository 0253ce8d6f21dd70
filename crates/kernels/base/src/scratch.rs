//! Per-thread scratch buffers for packed blocks, cached between calls.

use std::cell::Cell;

use umber_types::Element;

use crate::caches::{Aligned, LINE};
use crate::scratch_vec::ScratchVec;

type CacheLines = ScratchVec<Aligned<[u8; LINE]>>;

thread_local! {
    /// One buffer per level of nested calls, the outermost last.
    static CACHED: Cell<Vec<CacheLines>> = const { Cell::new(Vec::new()) };
}

/// Maximum bytes of a cached buffer.
pub const MAX_CACHED_BYTES: usize = 16 << 20;

/// Call `body` with scratch memory for `count` elements of arbitrary values.
///
/// A failed allocation unwinds with the error.
pub fn with<T: Element, R>(count: usize, body: impl FnOnce(&mut [T]) -> R) -> R {
    let mut cache = CACHED.take();
    let lines = cache.pop();
    CACHED.set(cache);
    let needed = count.saturating_mul(size_of::<T>()).div_ceil(LINE);
    let mut lines = lines
        .filter(|lines| lines.len() >= needed)
        .unwrap_or_else(|| ScratchVec::filled_or_unwind(Aligned([0; LINE]), needed));
    // SAFETY: the lines are initialised, aligned for any element and hold `count` of them; every bit pattern is a valid
    // element.
    let result = body(unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<T>(), count) });
    if lines.len() * LINE <= MAX_CACHED_BYTES {
        let mut cache = CACHED.take();
        cache.push(lines);
        CACHED.set(cache);
    }
    result
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;
    use crate::scratch_vec::is_memory_error;
    use crate::threads::parallel_for;

    #[test]
    fn calls_may_be_nested() {
        for _ in 0..2 {
            with(100, |outer: &mut [f32]| {
                outer.fill(1.0);
                with(3000, |inner: &mut [f64]| inner.fill(2.0));
                assert!(outer.iter().all(|&value| value == 1.0));
                assert_eq!(outer.len(), 100);
            });
        }
        with(0, |none: &mut [u8]| assert!(none.is_empty()));
    }

    #[test]
    fn failed_allocations_are_errors() {
        for count in [1 << 58, usize::MAX] {
            let panic = catch_unwind(|| with(count, |_: &mut [f64]| ())).expect_err("too much");
            assert!(is_memory_error(panic));
            let on_threads = || parallel_for(8, |_| with(count, |_: &mut [f64]| ()));
            assert!(is_memory_error(catch_unwind(on_threads).expect_err("too much")));
        }
        with(10, |few: &mut [f64]| assert_eq!(few.len(), 10));
    }
}
