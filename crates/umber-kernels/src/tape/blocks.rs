//! Moves of elements between memory and registers. Only bits move, so everything goes by element size.
//!
//! Safety of every function here: source and destination reach the elements that the arguments speak of, and
//! do not overlap.
#![expect(
    clippy::cast_ptr_alignment,
    reason = "views promise alignment, and registers have that of a cache line"
)]

use crate::caches::LINE;
#[cfg(target_arch = "x86_64")]
use crate::isa::level;
use crate::isa::{Cache, prefetch_lines, vectorised};
use crate::moving::by_size;

/// `count` elements, `stride` apart in memory, to neighbours.
pub(super) unsafe fn gather(size: usize, from: *const u8, stride: isize, to: *mut u8, count: usize) {
    /// Fewer elements are not worth the way to vectors.
    const FEW: usize = 32;
    match stride {
        // SAFETY: the contract of this module.
        0 => return unsafe { splat(size, from, to, count) },
        // SAFETY: as above.
        1 => return unsafe { std::ptr::copy_nonoverlapping(from, to, count * size) },
        _ => {}
    }
    by_size!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        // SAFETY: as above.
        unsafe {
            match stride {
                -1 if count >= FEW => vectorised(#[inline(always)] || every::<T, -1>(from, to, count)),
                2 if count >= FEW => vectorised(#[inline(always)] || every::<T, 2>(from, to, count)),
                3 if count >= FEW => vectorised(#[inline(always)] || every::<T, 3>(from, to, count)),
                4 if count >= FEW => vectorised(#[inline(always)] || every::<T, 4>(from, to, count)),
                _ => {
                    for i in 0..count {
                        to.add(i).write(from.offset(i as isize * stride).read());
                    }
                }
            }
        }
    });
}

/// [`gather`] with a distance that the compiler knows, for which it shuffles vectors.
#[inline(always)]
unsafe fn every<T: Copy, const STRIDE: isize>(from: *const T, to: *mut T, count: usize) {
    for i in 0..count {
        // SAFETY: the contract of this module.
        unsafe { to.add(i).write(from.offset(i as isize * STRIDE).read()) }
    }
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

/// Copy `bytes` bytes past the caches, or as usual where the processor does not know how; what is not a whole line of the
/// caches at either end goes through them.
///
/// Whoever hands the memory on calls [`finish_streaming`](crate::caches::finish_streaming) before.
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    /// Of fewer bytes, those that are no whole lines cost more than narrow stores do.
    const SHORT: usize = 8 * LINE;
    #[cfg(target_arch = "x86_64")]
    let is_apart = bytes < SHORT && !(to.addr() | bytes).is_multiple_of(LINE);
    #[cfg(target_arch = "x86_64")]
    if (level() < 2 || is_apart) && (to.addr() | bytes).is_multiple_of(16) {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
        for i in 0..bytes / 16 {
            // SAFETY: aligned by the check above; SSE2 is part of x86-64; the contract of this module.
            unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) }
        }
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if level() == 2 {
        let head = (to.addr().next_multiple_of(LINE) - to.addr()).min(bytes);
        let lines = (bytes - head) / LINE * LINE;
        let tail = head + lines;
        // SAFETY: the processor has AVX-512; whole lines from `head` on; the contract of this module.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, head);
            stream_lines(from.add(head), to.add(head), lines);
            std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), bytes - tail);
        }
        return;
    }
    // SAFETY: the contract of this module.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// [`stream`] to whole cache lines.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn stream_lines(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for i in (0..bytes).step_by(LINE) {
        // SAFETY: the caller's contract.
        unsafe { _mm512_stream_si512(to.add(i).cast(), _mm512_loadu_si512(from.add(i).cast())) }
    }
}

/// Ask for the cache lines of `count` elements that are `stride` apart; the addresses need not be valid.
#[inline(always)]
pub(super) fn prefetch_apart(size: usize, from: *const u8, stride: isize, count: usize, cache: Cache) {
    let step = stride.unsigned_abs() * size;
    let first = if stride < 0 { from.wrapping_sub(count.saturating_sub(1) * step) } else { from };
    if step <= LINE {
        return prefetch_lines(first, count * step, cache);
    }
    for i in 0..count {
        prefetch_lines(first.wrapping_add(i * step), 1, cache);
    }
}
