//! The processor's unit for tiles of matrices (AMX): whether it may be used, and its configuration on a thread.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::isa;

/// Rows of a tile; and columns, of 32 bits.
pub const SIDE: usize = 16;
/// Bytes of a row of the largest tile.
pub const ROW: usize = 64;

/// What the elements of tiles are that are multiplied: the bit by which a processor says that it does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileType {
    /// Pairs of bfloat16, whose sums are float32.
    Bf16 = 1 << 22,
    /// Fours of bytes, whose sums are 32-bit integers.
    Int8 = 1 << 25,
}

/// The bit by which a processor says that it has tiles.
pub const AMX_TILE: u32 = 1 << 24;

/// Does this processor multiply tiles of such elements, and may this process use them?
///
/// Asks the system for tiles, once a process: children inherit the permission, and so do all threads.
pub fn is_supported(terms: TileType) -> bool {
    const UNKNOWN: u32 = u32::MAX;
    // No lock, which a fork could leave held; asking twice does no harm.
    static SUPPORTED: AtomicU32 = AtomicU32::new(UNKNOWN);
    let mut known = SUPPORTED.load(Ordering::Relaxed);
    if known == UNKNOWN {
        known = detect();
        SUPPORTED.store(known, Ordering::Relaxed);
    }
    known & terms as u32 != 0
}

/// The bits of all [`TileType`] that there are.
fn detect() -> u32 {
    /// The bits of the system's configuration and data of tiles.
    const STATES: u64 = 1 << 17 | 1 << 18;
    let has_features = isa::level() == 2 && isa::is_unlimited() && __cpuid(0).eax >= 7;
    if !has_features || !std::arch::is_x86_feature_detected!("xsave") {
        return 0;
    }
    let features = __cpuid_count(7, 0).edx;
    // SAFETY: the system has enabled the instruction, or the feature would not be reported.
    let states = unsafe { enabled_states() };
    let is_there = features & AMX_TILE != 0 && states & STATES == STATES && is_permitted();
    if is_there { features & (TileType::Bf16 as u32 | TileType::Int8 as u32) } else { 0 }
}

#[target_feature(enable = "xsave")]
unsafe fn enabled_states() -> u64 {
    // SAFETY: the caller's.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Linux saves the large state of tiles only for processes that asked for it.
#[cfg(target_os = "linux")]
pub fn is_permitted() -> bool {
    const REQUEST: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the call takes two numbers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
pub fn is_permitted() -> bool {
    false
}

/// Eight tiles on this thread, until dropped: four for sums, then two for left operands and two for right ones.
///
/// Released at once when done: the system would save and restore the tiles whenever the thread is interrupted.
pub struct Tiles {
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
    /// Tiles of 16 sums by 16, whose operands have `depth` bytes of each row and column, a multiple of four.
    ///
    /// The unit must be there.
    pub fn configure(depth: usize) -> Tiles {
        assert!(depth <= ROW && depth.is_multiple_of(4) && depth > 0, "a row of a tile holds them");
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        row_bytes[..8].fill(ROW as u16);
        rows[..8].fill(SIDE as u8);
        row_bytes[4..6].fill(depth as u16);
        rows[6..8].fill((depth / 4) as u8);
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
