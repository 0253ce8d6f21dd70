//! Moves of elements between memory and registers. Only bits move, so everything goes by element size.
//!
//! Safety of every function here: source and destination reach the elements that the arguments speak of, and
//! do not overlap.
#![expect(
    clippy::cast_ptr_alignment,
    reason = "views promise alignment, and registers have that of a cache line"
)]

#[cfg(target_arch = "x86_64")]
use crate::isa::level;
use crate::moving::by_size;

/// `count` elements, `stride` apart in memory, to neighbours.
pub(super) unsafe fn gather(size: usize, from: *const u8, stride: isize, to: *mut u8, count: usize) {
    if stride == 1 {
        // SAFETY: the contract of this module.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, count * size) };
    }
    by_size!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..count {
            // SAFETY: the contract of this module.
            unsafe { to.add(i).write(from.offset(i as isize * stride).read()) }
        }
    });
}

/// Neighbours to `count` elements, `stride` apart in memory.
pub(super) unsafe fn scatter(size: usize, from: *const u8, to: *mut u8, stride: isize, count: usize) {
    if stride == 1 {
        // SAFETY: the contract of this module.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, count * size) };
    }
    by_size!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..count {
            // SAFETY: the contract of this module.
            unsafe { to.offset(i as isize * stride).write(from.add(i).read()) }
        }
    });
}

/// One element to `count` neighbours.
pub(super) unsafe fn splat(size: usize, from: *const u8, to: *mut u8, count: usize) {
    by_size!(size, T => {
        // SAFETY: the contract of this module; `from` may be unaligned (constants are bytes).
        unsafe {
            let value = from.cast::<T>().read_unaligned();
            std::slice::from_raw_parts_mut(to.cast::<T>(), count).fill(value);
        }
    });
}

/// Copy `bytes` bytes past the caches, or as usual where the processor or the alignment does not allow that.
///
/// Whoever hands the memory on calls [`finish_streaming`] before.
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if level() == 2 && (to.addr() | from.addr() | bytes).is_multiple_of(64) {
        // SAFETY: the processor has AVX-512; aligned by the check above; the contract of this module.
        return unsafe { stream_lines(from, to, bytes) };
    }
    #[cfg(target_arch = "x86_64")]
    if (to.addr() | from.addr() | bytes).is_multiple_of(16) {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
        let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
        for i in 0..bytes / 16 {
            // SAFETY: aligned by the check above; SSE2 is part of x86-64; the contract of this module.
            unsafe { _mm_stream_si128(to.add(i), _mm_load_si128(from.add(i))) }
        }
        return;
    }
    // SAFETY: the contract of this module.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// [`stream`] by whole cache lines.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn stream_lines(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm512_load_si512, _mm512_stream_si512};
    for i in (0..bytes).step_by(64) {
        // SAFETY: the caller's contract.
        unsafe { _mm512_stream_si512(to.add(i).cast(), _mm512_load_si512(from.add(i).cast())) }
    }
}

/// Make streamed stores visible to whoever synchronises with this thread from now on.
pub(super) fn finish_streaming() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Which cache is asked to have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    First,
    Second,
}

/// Ask for the cache lines of some bytes; the address need not be valid.
#[inline(always)]
pub(super) fn prefetch(from: *const u8, bytes: usize, cache: Cache) {
    for at in (0..bytes).step_by(64) {
        let line = from.wrapping_add(at);
        match cache {
            Cache::First => crate::isa::prefetch_close(line),
            Cache::Second => crate::isa::prefetch(line),
        }
    }
}
