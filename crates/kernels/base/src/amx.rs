//! AMX, the matrix unit of Intel processors: detection, and the tile configuration of a thread.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::isa;

/// Rows of a tile, and its 32-bit columns.
pub const SIDE: usize = 16;
/// Bytes per row of the largest tile.
pub const ROW: usize = 64;

/// Element type of tile products; the value is the CPUID feature bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileType {
    /// Pairs of bfloat16, accumulated in float32.
    Bf16 = 1 << 22,
    /// Groups of four bytes, accumulated in int32.
    Int8 = 1 << 25,
}

/// The CPUID feature bit of AMX tiles.
pub const AMX_TILE: u32 = 1 << 24;

/// True if this processor multiplies tiles of this element type and this process may use them.
///
/// Requests permission from the kernel once per process; threads and forked children inherit it.
pub fn is_supported(terms: TileType) -> bool {
    const UNKNOWN: u32 = u32::MAX;
    // An atomic instead of a lock, which a fork could leave locked; detecting twice is harmless.
    static SUPPORTED: AtomicU32 = AtomicU32::new(UNKNOWN);
    let mut known = SUPPORTED.load(Ordering::Relaxed);
    if known == UNKNOWN {
        known = detect();
        SUPPORTED.store(known, Ordering::Relaxed);
    }
    known & terms as u32 != 0
}

/// Feature bits of all supported [`TileType`]s.
fn detect() -> u32 {
    /// XCR0 bits of the tile configuration and tile data states.
    const STATES: u64 = 1 << 17 | 1 << 18;
    let has_features = isa::level() == 2 && isa::is_unlimited() && __cpuid(0).eax >= 7;
    if !has_features || !std::arch::is_x86_feature_detected!("xsave") {
        return 0;
    }
    let features = __cpuid_count(7, 0).edx;
    // SAFETY: `xsave` is reported only if the operating system has enabled `xgetbv`.
    let states = unsafe { enabled_states() };
    let is_available = features & AMX_TILE != 0 && states & STATES == STATES && is_permitted();
    if is_available { features & (TileType::Bf16 as u32 | TileType::Int8 as u32) } else { 0 }
}

#[target_feature(enable = "xsave")]
unsafe fn enabled_states() -> u64 {
    // SAFETY: the caller checked that the processor has `xgetbv`.
    unsafe { std::arch::x86_64::_xgetbv(0) }
}

/// Linux enables the tile data state only for processes that request it.
#[cfg(target_os = "linux")]
pub fn is_permitted() -> bool {
    const REQUEST: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the system call takes two integers and accesses no memory of the process.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
pub fn is_permitted() -> bool {
    false
}

/// Configures eight tiles on this thread until dropped: four accumulators, two left operands and two right operands.
///
/// Released as soon as possible: while tiles are configured, every context switch saves 8 KiB of tile state.
pub struct Tiles {
    /// Makes the type `!Send`: the configuration belongs to the thread.
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
    /// Configure accumulators of 16 by 16 and operands with `depth` bytes per row or column, a multiple of four.
    ///
    /// The processor must support AMX.
    pub fn configure(depth: usize) -> Tiles {
        assert!(
            depth <= ROW && depth.is_multiple_of(4) && depth > 0,
            "a tile row has at most 64 bytes, a multiple of four"
        );
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        row_bytes[..8].fill(ROW as u16);
        rows[..8].fill(SIDE as u8);
        row_bytes[4..6].fill(depth as u16);
        rows[6..8].fill((depth / 4) as u8);
        let configuration = Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows };
        // SAFETY: reads 64 bytes; compiled code does not use tile registers.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly)) };
        Tiles { thread: std::marker::PhantomData }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: compiled code does not use tile registers.
        unsafe { asm!("tilerelease", options(nomem, nostack)) };
    }
}
