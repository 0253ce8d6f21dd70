//! Size of the L1 data cache, cache-line alignment, and copies with non-temporal stores.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
use crate::isa::level;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Does a vector fill a cache line? Software prefetch pays off then; with narrower vectors the hardware prefetcher keeps up.
pub const fn fills_line<V>() -> bool {
    size_of::<V>() == LINE
}

/// Aligns a value to a cache line, so that no vector load splits a line and loop speed does not depend on the stack's
/// alignment.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Aligned<T>(pub T);

/// Size in bytes from which outputs are written with non-temporal stores: they would be evicted before they are read again.
/// This applies if L1 also holds the next block or [`nontemporal_stores_pay`]; otherwise pending write-combining costs more
/// than reading each line for ownership.
pub const STREAM_FROM: usize = 8 << 20;

/// The most common size, used if the processor does not report one.
const DEFAULT_L1: usize = 32 << 10;

/// Bytes of the first-level data cache of a core.
pub fn l1_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| cpuid_l1_bytes().unwrap_or(DEFAULT_L1))
}

/// Whether non-temporal stores are faster than cached ones even with a small L1.
///
/// They are on AMD's Zen 4, for simple operations on arrays larger than the caches. On Intel's Cascade Lake, whose L1 has the
/// same size, they are slower.
pub fn nontemporal_stores_pay() -> bool {
    static PAYS: OnceLock<bool> = OnceLock::new();
    *PAYS.get_or_init(is_amd)
}

/// Copy `bytes` bytes with non-temporal stores where the processor has them, else with cached ones. Partial cache lines at
/// either end use cached stores.
///
/// Call [`finish_streaming`] before another thread reads the memory.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes` bytes; the ranges are disjoint and no other thread accesses `to`.
#[expect(clippy::cast_ptr_alignment, reason = "alignment is checked before the cast")]
pub unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    /// For shorter copies the partial lines cost more than non-temporal stores save.
    const MIN_BYTES: usize = 8 * LINE;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let is_short = bytes < MIN_BYTES && !(to.addr() | bytes).is_multiple_of(LINE);
        if (level() == 0 || is_short) && (to.addr() | bytes).is_multiple_of(16) {
            let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
            for i in 0..bytes / 16 {
                // SAFETY: aligned by the check above; SSE2 is part of x86-64; both ranges are valid by this function's
                // contract.
                unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) }
            }
            return;
        }
        if level() > 0 {
            let head = (to.addr().next_multiple_of(LINE) - to.addr()).min(bytes);
            let lines = (bytes - head) / LINE * LINE;
            let tail = head + lines;
            let (first, destination) = (from.wrapping_add(head), to.wrapping_add(head));
            // SAFETY: the level guarantees the instructions; only whole lines inside both ranges are copied.
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
    // SAFETY: both ranges are valid and disjoint by this function's contract.
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
        // SAFETY: the range is valid by this function's contract.
        unsafe { _mm512_stream_si512(to.add(i).cast(), _mm512_loadu_si512(from.add(i).cast())) }
    }
}

/// [`stream`] to whole cache lines, with two stores each: a sixth faster than four 16-byte stores for normalisations of 16 MB
/// (Zen 3).
///
/// # Safety
/// As of [`stream`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn stream_half_lines(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for i in (0..bytes).step_by(LINE) {
        // SAFETY: the range is valid by this function's contract.
        unsafe {
            let halves = [0, LINE / 2].map(|half| _mm256_loadu_si256(from.add(i + half).cast()));
            _mm256_stream_si256(to.add(i).cast(), halves[0]);
            _mm256_stream_si256(to.add(i + LINE / 2).cast(), halves[1]);
        }
    }
}

/// Store fence: orders non-temporal stores before later synchronisation with other threads.
pub fn finish_streaming() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
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

/// Cache parameters from `cpuid`: leaf 4 on Intel, leaf 8000001Dh on AMD, in the same format.
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
    fn l1_has_a_plausible_size() {
        let bytes = super::l1_bytes();
        assert!((8 << 10..=1 << 20).contains(&bytes) && bytes.is_multiple_of(1 << 10), "{bytes}");
        assert_eq!(bytes, super::l1_bytes());
    }
}
