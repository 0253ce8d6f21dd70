//! The host allocator: 64-byte aligned blocks that are cached for reuse, for arrays and kernel scratch.
//!
//! Fresh pages cost more than most kernels (the system zeroes each on first touch), so freed blocks stay in a cache
//! up to a limit. Free small blocks are in one list per size, so that tiny operations neither search nor allocate.
//! Blocks of 2 MiB and more are mapped with huge-page alignment and `MADV_HUGEPAGE`. Smaller ones come from the global
//! allocator: zeroing its memory, which has been touched before, costs less than the page faults of a mapping.
//!
//! Invariant: every byte of a block is initialised. Fresh blocks are zero, and reused ones have old contents. So a slice of
//! plain-data elements over a block is valid before any element is stored.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{MutexGuard, OnceLock};

use umber_types::{Error, Result, bail, error};

use crate::allocation_tracker::Tracker;
pub use crate::allocation_tracker::{MemoryPeak, Owner, set_owner};
use crate::fork::{ForkMutex, InChild, Level};

/// Alignment of every block, in bytes.
pub const ALIGNMENT: usize = 64;
/// Operation name in error messages.
pub const OP: &str = "malloc";

const HUGE_PAGE: usize = 2 << 20;
/// Blocks up to this size have capacities in multiples of [`ALIGNMENT`].
const SMALL: usize = 4096;

/// A block of memory. It has no destructor: [`free`] it.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    capacity: usize,
    /// Bytes counted as in use: the requested size, not the capacity; zero for scratch.
    counted: usize,
}

impl Block {
    /// The address, a multiple of [`ALIGNMENT`].
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

// SAFETY: a block is plain memory that any thread may access and free.
unsafe impl Send for Block {}
// SAFETY: plain memory, which shared references do not modify.
unsafe impl Sync for Block {}

struct State {
    /// Free blocks of up to [`SMALL`] bytes, by multiples of [`ALIGNMENT`].
    small: [Vec<Block>; SMALL / ALIGNMENT + 1],
    /// Larger free blocks by capacity.
    large: BTreeMap<usize, Vec<Block>>,
    cached: usize,
    active: usize,
    peak: usize,
    cache_limit: Option<usize>,
    memory_limit: Option<usize>,
    /// Periods in which owners of memory are recorded.
    trackers: Vec<Tracker>,
}

fn state() -> MutexGuard<'static, State> {
    static STATE: ForkMutex<State> = ForkMutex::new(|| State::NEW, State::NEW, Level::Last, InChild::Keep);
    STATE.lock()
}

/// Bytes of physical memory, or 16 GiB if the system does not report it.
pub fn physical_memory() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: sysconf only reads.
        let (pages, size) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        if pages > 0 && size > 0 { pages as usize * size as usize } else { 16 << 30 }
    })
}

impl State {
    const NEW: State = State {
        small: [const { Vec::new() }; SMALL / ALIGNMENT + 1],
        large: BTreeMap::new(),
        cached: 0,
        active: 0,
        peak: 0,
        cache_limit: None,
        memory_limit: None,
        trackers: Vec::new(),
    };

    fn cache_limit(&self) -> usize {
        self.cache_limit.unwrap_or_else(|| physical_memory() / 4)
    }

    fn memory_limit(&self) -> usize {
        self.memory_limit.unwrap_or_else(physical_memory)
    }

    /// A cached block whose capacity exceeds the request by at most an eighth.
    fn reuse(&mut self, capacity: usize) -> Option<Block> {
        let mut block = if capacity <= SMALL {
            self.small[capacity / ALIGNMENT].pop()?
        } else {
            let max_capacity = capacity.saturating_add(capacity / 8);
            let (&key, blocks) = self.large.range_mut(capacity..=max_capacity).next()?;
            let block = blocks.pop()?;
            if blocks.is_empty() {
                self.large.remove(&key);
            }
            block
        };
        self.cached -= block.capacity;
        block.counted = 0;
        Some(block)
    }

    /// Count a block as in use.
    fn count(&mut self, mut block: Block, bytes: usize) -> Block {
        block.counted = bytes;
        self.active += bytes;
        self.peak = self.peak.max(self.active);
        for tracker in &mut self.trackers {
            tracker.allocated(block.start.addr().get(), bytes, self.active);
        }
        block
    }

    fn cache(&mut self, block: Block) {
        self.cached += block.capacity;
        if block.capacity <= SMALL {
            self.small[block.capacity / ALIGNMENT].push(block);
        } else {
            self.large.entry(block.capacity).or_default().push(block);
        }
    }

    /// Remove the largest block from the cache.
    fn evict_largest(&mut self) -> Option<Block> {
        let block = if let Some(mut largest) = self.large.last_entry() {
            let block = largest.get_mut().pop();
            if largest.get().is_empty() {
                largest.remove();
            }
            block?
        } else {
            self.small.iter_mut().rev().find_map(Vec::pop)?
        };
        self.cached -= block.capacity;
        Some(block)
    }

    /// Remove blocks from the cache, the largest first, until it holds at most `limit` bytes.
    fn shrink(&mut self, limit: usize) -> Vec<Block> {
        let mut released = Vec::new();
        while self.cached > limit {
            let Some(block) = self.evict_largest() else { break };
            released.push(block);
        }
        released
    }
}

/// Round a request up to the capacity of a block.
fn capacity_of(bytes: usize) -> Result<usize> {
    let unit = match bytes {
        0..=SMALL => ALIGNMENT,
        _ if bytes < HUGE_PAGE => 4096,
        _ => HUGE_PAGE / 16,
    };
    let Some(capacity) = bytes.max(1).checked_next_multiple_of(unit) else {
        bail!(Memory(OP), "out of memory: requested {bytes} bytes, more than memory can address");
    };
    Ok(capacity)
}

/// The layout of a block from the global allocator.
fn layout_of(capacity: usize) -> Option<Layout> {
    Layout::from_size_align(capacity, ALIGNMENT).ok()
}

/// A block of at least `bytes` bytes, zero or with the contents of an earlier use.
///
/// # Errors
/// If the request exceeds the memory limit, or the system refuses it.
pub fn allocate(bytes: usize) -> Result<Block> {
    let capacity = capacity_of(bytes)?;
    let released = {
        let mut state = state();
        let limit = state.memory_limit();
        if state.active.saturating_add(capacity) > limit {
            return Err(beyond_limit(bytes, limit, state.active));
        }
        if let Some(block) = state.reuse(capacity) {
            return Ok(state.count(block, capacity));
        }
        let available = limit.saturating_sub(state.active + capacity);
        state.shrink(available)
    };
    released.into_iter().for_each(release);
    let block = fresh(capacity, bytes)?;
    Ok(state().count(block, capacity))
}

/// Scratch for a running kernel: like [`allocate`], and freed in the same way, but not counted as memory in use, nor subject to
/// the limit.
///
/// # Errors
/// If the system refuses it.
pub fn allocate_scratch(bytes: usize) -> Result<Block> {
    let capacity = capacity_of(bytes)?;
    let cached = state().reuse(capacity);
    cached.map_or_else(|| fresh(capacity, bytes), Ok)
}

/// The error of an allocation that the system refuses.
pub fn refused(bytes: usize) -> Error {
    error!(Memory(OP), "out of memory: the system refused {}", byte_size(bytes))
}

/// The error of a request that would exceed the memory limit.
#[cold]
pub fn beyond_limit(bytes: usize, limit: usize, active: usize) -> Error {
    let [bytes, limit, active] = [bytes, limit, active].map(byte_size);
    error!(Memory(OP), "out of memory: requested {bytes}, limit {limit}, in use {active}")
}

/// A number of bytes in binary units: `512 B`, `1.5 GiB`.
fn byte_size(bytes: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10) as usize;
    format!("{:.1} {}", bytes as f64 / 1024f64.powi(power as i32), UNITS[power - 1])
}

/// A block from the system for a request of `bytes` bytes.
fn fresh(capacity: usize, bytes: usize) -> Result<Block> {
    let start = system_allocate(capacity).or_else(|| {
        // The cached blocks may occupy the memory that is needed.
        clear_cache();
        system_allocate(capacity)
    });
    let Some(start) = start else {
        return Err(refused(bytes));
    };
    Ok(Block { start, capacity, counted: 0 })
}

fn system_allocate(capacity: usize) -> Option<NonNull<u8>> {
    if capacity < HUGE_PAGE {
        // SAFETY: the layout has a size above zero.
        return NonNull::new(unsafe { alloc_zeroed(layout_of(capacity)?) });
    }
    // Map more than needed and unmap what is before and after the aligned range.
    let mapping = map(capacity.checked_add(HUGE_PAGE)?)?.as_ptr();
    let head = mapping.align_offset(HUGE_PAGE);
    // SAFETY: all ranges are inside the new mapping, to which there is no other pointer, and start and end at pages.
    // Advice may fail without harm.
    unsafe {
        let start = mapping.add(head);
        unmap(mapping, head);
        unmap(start.add(capacity), HUGE_PAGE - head);
        libc::madvise(start.cast(), capacity, libc::MADV_HUGEPAGE);
        NonNull::new(start)
    }
}

/// Map private zeroed pages.
fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: a new anonymous mapping touches no memory that is in use.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// Unmap pages.
///
/// # Safety
/// They are part of a mapping made by [`map`], and are no longer accessed.
unsafe fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: an unused mapping by this function's contract. It fails only if the system is out of mappings, which leaks
        // the pages.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

/// Free a block: to the cache, or to the system if the cache is full.
pub fn free(block: Block) {
    let released = {
        let mut state = state();
        state.active = state.active.saturating_sub(block.counted);
        for tracker in &mut state.trackers {
            tracker.freed(block.start.addr().get(), block.counted);
        }
        state.cache(block);
        let limit = state.cache_limit();
        state.shrink(limit)
    };
    released.into_iter().for_each(release);
}

fn release(block: Block) {
    let start = block.start.as_ptr();
    if block.capacity >= HUGE_PAGE {
        // SAFETY: mapped by `system_allocate`; this function owns the block.
        unsafe { unmap(start, block.capacity) };
    } else if let Some(layout) = layout_of(block.capacity) {
        // SAFETY: allocated by `system_allocate` with the same layout; this function owns the block.
        unsafe { dealloc(start, layout) };
    }
}

/// A period in which the owners of memory are recorded; ends with [`untrack`].
#[derive(Debug)]
pub struct Tracking(u64);

/// Number of periods that have not ended.
static TRACKED: AtomicUsize = AtomicUsize::new(0);

/// Record the owners of all blocks that are allocated from now on.
pub fn track() -> Tracking {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut state = state();
    let active = state.active;
    state.trackers.push(Tracker::new(number, active));
    TRACKED.fetch_add(1, Ordering::Relaxed);
    Tracking(number)
}

/// End a period; returns its peak.
pub fn untrack(tracking: Tracking) -> MemoryPeak {
    let mut state = state();
    let index = state.trackers.iter().position(|tracker| tracker.number == tracking.0);
    let tracker = state.trackers.swap_remove(index.expect("a period ends once"));
    TRACKED.fetch_sub(1, Ordering::Relaxed);
    tracker.into_peak()
}

/// Whether owners are recorded.
pub fn is_tracked() -> bool {
    TRACKED.load(Ordering::Relaxed) > 0
}

/// Bytes in use by arrays.
pub fn get_active_memory() -> usize {
    state().active
}

/// Peak of the bytes in use since the start or [`reset_peak_memory`].
pub fn get_peak_memory() -> usize {
    state().peak
}

/// Reset the peak to the bytes in use now.
pub fn reset_peak_memory() {
    let mut state = state();
    state.peak = state.active;
}

/// Bytes in the cache.
pub fn get_cache_memory() -> usize {
    state().cached
}

/// The maximum of bytes in use by arrays; an allocation beyond it is an error.
pub fn get_memory_limit() -> usize {
    state().memory_limit()
}

/// Set the memory limit in bytes; returns the previous one.
pub fn set_memory_limit(limit: usize) -> usize {
    let mut state = state();
    let before = state.memory_limit();
    state.memory_limit = Some(limit);
    before
}

/// Set the maximum of bytes in the cache; returns the previous one.
pub fn set_cache_limit(limit: usize) -> usize {
    let (before, released) = {
        let mut state = state();
        let before = state.cache_limit();
        state.cache_limit = Some(limit);
        (before, state.shrink(limit))
    };
    released.into_iter().for_each(release);
    before
}

/// Release all cached blocks to the system.
pub fn clear_cache() {
    let released = state().shrink(0);
    released.into_iter().for_each(release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_large_enough() {
        for bytes in [0, 1, 64, 65, 5000, 128 << 10, HUGE_PAGE - 1, HUGE_PAGE, 3 << 20] {
            let block = allocate(bytes).expect("small");
            let address = block.start.as_ptr() as usize;
            assert!(block.capacity >= bytes && address.is_multiple_of(ALIGNMENT));
            assert!(block.capacity < HUGE_PAGE || address.is_multiple_of(HUGE_PAGE));
            free(block);
        }
    }

    #[test]
    fn fresh_blocks_are_zero() {
        for bytes in [64, 5000, 128 << 10, HUGE_PAGE - 1, HUGE_PAGE, 3 << 20] {
            let capacity = capacity_of(bytes).expect("small");
            // The system often returns the memory that was freed last.
            let dirty = fresh(capacity, bytes).expect("there is memory");
            // SAFETY: the block belongs to this test and has `capacity` bytes.
            unsafe { std::ptr::write_bytes(dirty.start.as_ptr(), 0xff, capacity) };
            release(dirty);
            let block = fresh(capacity, bytes).expect("there is memory");
            // SAFETY: the block belongs to this test and has `capacity` bytes.
            let all = unsafe { std::slice::from_raw_parts(block.start.as_ptr(), capacity) };
            assert!(all.iter().all(|&byte| byte == 0));
            release(block);
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        for bytes in [usize::MAX, usize::MAX / 2, 1 << 60] {
            assert!(matches!(allocate(bytes), Err(error) if error.kind() == umber_types::ErrorKind::Memory));
        }
    }
}
