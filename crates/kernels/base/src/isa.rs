//! Instruction sets: detection, and loops compiled for each of them.
//!
//! Loops are plain Rust marked `#[inline(always)]`. [`vectorised`] inlines them into functions with more target
//! features, where the compiler vectorises them for these; tables of block functions have one instance per
//! [`level`]. Only fused multiply-add differs in the source; [`Isa`] abstracts over it.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0 as HINT_T0, _MM_HINT_T1 as HINT_T1};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::caches::LINE;

/// Run `body` compiled for AVX-512, AVX2 or the baseline, the best instruction set of this processor.
///
/// `body` and all that it calls in its loops must be `#[inline(always)]`, or they stay compiled for the baseline.
#[inline(always)]
pub fn vectorised<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        match level() {
            // SAFETY: the level guarantees AVX-512.
            2 => return unsafe { with_avx512(body) },
            // SAFETY: the level guarantees AVX2, FMA and F16C.
            1 => return unsafe { with_avx2(body) },
            _ => {}
        }
    }
    body()
}

/// As [`vectorised`], for AVX2 or the baseline: for loops where AVX-512 is not worth its code size.
#[inline(always)]
pub fn vectorised_by_avx2<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if level() > 0 {
            // SAFETY: the level guarantees AVX2.
            return unsafe { with_avx2(body) };
        }
    }
    body()
}

/// Does this processor have vector instructions that need separate instances of loops? Without them a plain loop is used,
/// since such x86-64 processors are rare. Other architectures have their vectors in the baseline.
#[inline]
pub fn has_vectors() -> bool {
    !cfg!(target_arch = "x86_64") || level() > 0
}

/// As [`vectorised`], without an instance for the baseline: the processor [`has_vectors`].
#[inline(always)]
pub fn vectors<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: the level guarantees AVX-512.
        2 => unsafe { with_avx512(body) },
        // SAFETY: the level guarantees AVX2, FMA and F16C.
        1 => unsafe { with_avx2(body) },
        _ => unreachable!("vectors on a processor without them"),
    }
    #[cfg(not(target_arch = "x86_64"))]
    body()
}

/// As [`vectors`], without AVX-512.
#[inline(always)]
pub fn vectors_of_avx2<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        assert!(has_vectors(), "vectors on a processor without them");
        // SAFETY: with vectors, the level guarantees AVX2.
        unsafe { with_avx2(body) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn with_avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Prefetch an address into L2; it need not be valid. For access patterns that the hardware prefetcher misses, such as rows
/// too short to train it.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    prefetch_line::<HINT_T1, T>(address);
}

/// As [`prefetch`], into L1: for data that is read next and fits beside the current working set.
#[inline(always)]
pub fn prefetch_l1<T>(address: *const T) {
    prefetch_line::<HINT_T0, T>(address);
}

/// The target cache level of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// First level.
    L1,
    /// Second level.
    L2,
}

/// Prefetch the cache lines of a byte range; the address need not be valid.
#[inline(always)]
pub fn prefetch_lines<T>(from: *const T, bytes: usize, cache: Cache) {
    for at in (0..bytes).step_by(LINE) {
        let line = from.wrapping_byte_add(at);
        match cache {
            Cache::L1 => prefetch_l1(line),
            Cache::L2 => prefetch(line),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
const HINT_T0: i32 = 1;
#[cfg(not(target_arch = "x86_64"))]
const HINT_T1: i32 = 2;

#[inline(always)]
fn prefetch_line<const CACHE: i32, T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch has no architectural effect.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<CACHE>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The instruction set that a kernel is compiled for. Only fused multiply-add differs in the source.
pub trait Isa {
    /// `a * b + c` with one rounding (or with a double rounding, if the processor has no such instruction).
    fn fma32(a: f32, b: f32, c: f32) -> f32;
    /// `a * b + c` with one rounding.
    #[inline(always)]
    fn fma64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// The baseline of the target.
pub struct Portable;
/// AVX2 with FMA and F16C.
pub struct Avx2;
/// AVX-512 F, BW, DQ, VL and all of [`Avx2`].
pub struct Avx512;

impl Isa for Portable {
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
            a.mul_add(b, c)
        } else {
            // The product is exact in f64, so this differs from fma only by a double rounding, and it vectorises.
            (f64::from(a) * f64::from(b) + f64::from(c)) as f32
        }
    }
}

impl Isa for Avx2 {
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Isa for Avx512 {
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// The best instance for this processor: 0 portable; 1 AVX2 with FMA and F16C; 2 the same with AVX-512 F, BW, DQ and VL.
///
/// `UMBER_MAX_CPU_ISA=scalar`, `avx2`, `avx512` or `amx` limits it, for tests and comparisons.
#[inline]
pub fn level() -> usize {
    const UNKNOWN: u8 = u8::MAX;
    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);
    let known = LEVEL.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known as usize;
    }
    let detected = detect();
    LEVEL.store(detected, Ordering::Relaxed);
    detected as usize
}

fn detect() -> u8 {
    supported().min(limit())
}

/// May extensions beyond the vectors of the highest level (AMX) be used?
#[cfg(target_arch = "x86_64")]
pub fn is_unlimited() -> bool {
    limit() > 2
}

fn limit() -> u8 {
    // UMBER_CPU is the former name, read until 0.2.
    let value = std::env::var("UMBER_MAX_CPU_ISA").or_else(|_| std::env::var("UMBER_CPU"));
    match value.as_deref() {
        Ok("scalar") => 0,
        Ok("avx2") => 1,
        Ok("avx512") => 2,
        _ => 3,
    }
}

#[cfg(target_arch = "x86_64")]
fn supported() -> u8 {
    if !(is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c"))
    {
        return 0;
    }
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    if wide { 2 } else { 1 }
}

#[cfg(not(target_arch = "x86_64"))]
fn supported() -> u8 {
    0
}
