//! What multiplies pairs of bfloat16: the processor's unit for tiles of matrices (AMX), whether it may be used and its
//! configuration on a thread, or else its vectors.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::isa;

/// Rows of a tile; and columns, of 32 bits.
pub(super) const SIDE: usize = 16;

/// What a processor multiplies pairs of bfloat16 with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Vectors (AVX-512 BF16).
    Vectors = 1,
    /// Tiles (AMX), if the system lets this process use them.
    Tiles = 2,
}

/// What this processor multiplies pairs of bfloat16 with, if with anything.
///
/// Asks the system for tiles, once a process: children inherit the permission, and so do all threads.
pub(super) fn available() -> Option<Kind> {
    const UNKNOWN: u8 = u8::MAX;
    // No lock, which a fork could leave held; asking twice does no harm.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    let mut known = ANSWER.load(Ordering::Relaxed);
    if known == UNKNOWN {
        known = detect().map_or(0, |kind| kind as u8);
        ANSWER.store(known, Ordering::Relaxed);
    }
    [Kind::Vectors, Kind::Tiles].into_iter().find(|&kind| kind as u8 == known)
}

fn detect() -> Option<Kind> {
    if isa::level() < 2 {
        return None;
    }
    if isa::is_unlimited() && is_present() && is_permitted() {
        return Some(Kind::Tiles);
    }
    std::arch::is_x86_feature_detected!("avx512bf16").then_some(Kind::Vectors)
}

/// A unit ready to be used on this thread.
pub(super) enum Unit {
    Vectors,
    Tiles(Tiles),
}

impl Unit {
    /// The unit must be available.
    pub(super) fn ready(kind: Kind) -> Unit {
        match kind {
            Kind::Vectors => Unit::Vectors,
            Kind::Tiles => Unit::Tiles(Tiles::configure()),
        }
    }
}

/// Do processor and system know tiles of bfloat16?
fn is_present() -> bool {
    /// Bits of the processor's features: products of bfloat16, tiles. Of the system's: configuration and data of tiles.
    const FEATURES: u32 = 1 << 22 | 1 << 24;
    const STATES: u64 = 1 << 17 | 1 << 18;
    if !std::arch::is_x86_feature_detected!("xsave") || __cpuid(0).eax < 7 {
        return false;
    }
    // SAFETY: the system has enabled the instruction, or the feature would not be reported.
    let states = unsafe { enabled_states() };
    __cpuid_count(7, 0).edx & FEATURES == FEATURES && states & STATES == STATES
}

#[target_feature(enable = "xsave")]
unsafe fn enabled_states() -> u64 {
    // SAFETY: the caller's.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Linux saves the large state of tiles only for processes that asked for it.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const REQUEST: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the call takes two numbers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// Eight tiles of 16 rows of 64 bytes, on this thread, until dropped.
///
/// Released at once when done: the system would save and restore the tiles whenever the thread is interrupted.
pub(super) struct Tiles {
    /// Bound to its thread.
    thread: std::marker::PhantomData<*const ()>,
}

#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl Tiles {
    /// The unit must be available.
    fn configure() -> Tiles {
        debug_assert_eq!(available(), Some(Kind::Tiles));
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        row_bytes[..8].fill(64);
        rows[..8].fill(SIDE as u8);
        let configuration = Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows };
        // SAFETY: reads 64 bytes; compiled code keeps nothing in tiles.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly)) };
        Tiles { thread: std::marker::PhantomData }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: compiled code keeps nothing in tiles.
        unsafe { asm!("tilerelease", options(nomem, nostack)) };
    }
}
