//! How large the first-level data cache is, what a block of work at a time must fit, and what passes by the caches.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::isa::level;

/// Bytes of a line of the caches, as processors have them today.
pub const LINE: usize = 64;

/// Is a vector a whole line? Then memory has to be asked for what comes next; where vectors are shorter, that only delays what the
/// processor asks for by itself.
pub const fn fills_line<V>() -> bool {
    size_of::<V>() == LINE
}

/// What begins at a cache line, so that no vector of it lies across two: where the stack happens to begin would decide how
/// fast a loop is.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Aligned<T>(pub T);

/// Outputs from this size on bypass the caches, where nobody will find them anyway, if the first one has room for the next
/// block or the processor is good at that: elsewhere what waits in a small cache to be written costs more than lines that
/// are read before they are overwritten.
pub const STREAM_FROM: usize = 8 << 20;

/// Where the processor does not say, and what most have.
const DEFAULT_L1: usize = 32 << 10;

/// Bytes of the first-level data cache of a core.
pub fn l1_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| cpuid_l1_bytes().unwrap_or(DEFAULT_L1))
}

/// Do stores past the caches cost less than those through them, even of blocks that wait in a small first cache?
///
/// Measured: on AMD's Zen 4 they save a fifth to a half of simple operations on arrays beyond the caches, on Intel's Cascade
/// Lake, whose first cache is as large, they cost a fifth to a third more.
pub fn nontemporal_stores_pay() -> bool {
    static PAYS: OnceLock<bool> = OnceLock::new();
    *PAYS.get_or_init(is_amd)
}

/// Copy `bytes` bytes past the caches, or as usual where the processor does not know how; what is not a whole line of the
/// caches at either end goes through them.
///
/// Whoever hands the memory on calls [`finish_streaming`] before.
///
/// # Safety
/// The bytes may be read and written, and nobody else touches those that are written.
#[expect(clippy::cast_ptr_alignment, reason = "asked for before the cast")]
pub unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    /// Of fewer bytes, those that are no whole lines cost more than narrow stores do.
    const MIN_BYTES: usize = 8 * LINE;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let is_apart = bytes < MIN_BYTES && !(to.addr() | bytes).is_multiple_of(LINE);
        if (level() == 0 || is_apart) && (to.addr() | bytes).is_multiple_of(16) {
            let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
            for i in 0..bytes / 16 {
                // SAFETY: aligned by the check above; SSE2 is part of x86-64; the caller's promise.
                unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) }
            }
            return;
        }
        if level() > 0 {
            let head = (to.addr().next_multiple_of(LINE) - to.addr()).min(bytes);
            let lines = (bytes - head) / LINE * LINE;
            let tail = head + lines;
            let (first, destination) = (from.wrapping_add(head), to.wrapping_add(head));
            // SAFETY: the level says what the processor has; whole lines from `head` on; the caller's promise.
            unsafe {
                std::ptr::copy_nonoverlapping(from, to, head);
                if level() == 2 {
                    stream_lines(first, destination, lines);
                } else {
                    stream_half_lines(first, destination, lines);
                }
                std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), bytes - tail);
            }
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// [`stream`] to whole cache lines.
///
/// # Safety
/// As of [`stream`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn stream_lines(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for i in (0..bytes).step_by(LINE) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_stream_si512(to.add(i).cast(), _mm512_loadu_si512(from.add(i).cast())) }
    }
}

/// [`stream`] to whole cache lines, by two stores each: normalisations of 16 MB take a sixth less than by four (Zen 3).
///
/// # Safety
/// As of [`stream`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn stream_half_lines(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for i in (0..bytes).step_by(LINE) {
        // SAFETY: the caller's promise.
        unsafe {
            let halves = [0, LINE / 2].map(|half| _mm256_loadu_si256(from.add(i + half).cast()));
            _mm256_stream_si256(to.add(i).cast(), halves[0]);
            _mm256_stream_si256(to.add(i + LINE / 2).cast(), halves[1]);
        }
    }
}

/// Make stores past the caches visible to whoever synchronises with this thread from now on.
pub fn finish_streaming() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
fn is_amd() -> bool {
    let vendor = std::arch::x86_64::__cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_ne_bytes).concat() == b"AuthenticAMD"
}

#[cfg(not(target_arch = "x86_64"))]
fn is_amd() -> bool {
    false
}

/// What `cpuid` says: leaf 4 of Intel, leaf 8000001Dh of AMD, which have one form.
#[cfg(target_arch = "x86_64")]
fn cpuid_l1_bytes() -> Option<usize> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const EXTENDED: u32 = 0x8000_0000;
    const DATA: u32 = 1;
    for leaf in [4, EXTENDED | 0x1d] {
        if __cpuid(leaf & EXTENDED).eax < leaf {
            continue;
        }
        for index in 0..8 {
            let cache = __cpuid_count(leaf, index);
            let (kind, level) = (cache.eax & 0x1f, (cache.eax >> 5) & 7);
            if kind == DATA && level == 1 {
                let ways = (cache.ebx >> 22) as usize + 1;
                let partitions = ((cache.ebx >> 12) & 0x3ff) as usize + 1;
                let line = (cache.ebx & 0xfff) as usize + 1;
                return Some(ways * partitions * line * (cache.ecx as usize + 1));
            }
        }
    }
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid_l1_bytes() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_level_is_of_a_plausible_size() {
        let bytes = super::l1_bytes();
        assert!((8 << 10..=1 << 20).contains(&bytes) && bytes.is_multiple_of(1 << 10), "{bytes}");
        assert_eq!(bytes, super::l1_bytes());
    }
}
