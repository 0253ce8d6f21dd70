//! The host allocator: 64-byte aligned blocks that are kept for reuse, for arrays and for what kernels need while they run.
//!
//! Fresh pages cost more than most kernels (the system zeroes each on first touch), so freed blocks stay in a cache
//! up to a limit. Small ones wait in a list for each size, so that tiny operations neither search nor allocate for
//! them. Blocks of 2 MiB and more are mapped, aligned to huge pages, and ask for them. Smaller ones come from the global
//! allocator: writing zeros over its memory, which has been touched before, costs less than the page faults of a mapping.
//!
//! Invariant: every byte of a block is initialised. Fresh blocks are zero, and reused ones hold old contents. So a slice of
//! plain-data elements over a block is valid before anything is stored in it.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{MutexGuard, OnceLock};

use umber_types::{Error, Result, bail, error};

use crate::fork::{ForkMutex, InChild, Level};

/// Alignment of every block, in bytes.
pub const ALIGNMENT: usize = 64;
/// Operation name in error messages.
pub const OP: &str = "malloc";

const HUGE_PAGE: usize = 2 << 20;
/// Blocks up to this size come in multiples of [`ALIGNMENT`].
const SMALL: usize = 4096;

/// A block of memory: where and how large. Freed by [`free`], never by itself.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    capacity: usize,
    /// Bytes counted as in use: the requested size, not the capacity; zero for scratch.
    counted: usize,
}

impl Block {
    /// Where it begins: at a multiple of [`ALIGNMENT`].
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

// SAFETY: a block is plain memory that any thread may use and free.
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
}

fn state() -> MutexGuard<'static, State> {
    static STATE: ForkMutex<State> = ForkMutex::new(|| State::NEW, State::NEW, Level::Last, InChild::Keep);
    STATE.lock()
}

/// Bytes of physical memory, or 16 GiB where the system does not say.
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
            let most = capacity.saturating_add(capacity / 8);
            let (&found, blocks) = self.large.range_mut(capacity..=most).next()?;
            let block = blocks.pop()?;
            if blocks.is_empty() {
                self.large.remove(&found);
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

    /// The largest cached block.
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

    /// Take blocks out of the cache until at most `limit` bytes are kept; the largest go first.
    fn shrink(&mut self, limit: usize) -> Vec<Block> {
        let mut released = Vec::new();
        while self.cached > limit {
            let Some(block) = self.evict_largest() else { break };
            released.push(block);
        }
        released
    }
}

/// Round a request to the sizes that blocks come in.
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

/// The layout of a block that the global allocator gives.
fn layout_of(capacity: usize) -> Option<Layout> {
    Layout::from_size_align(capacity, ALIGNMENT).ok()
}

/// A block of at least `bytes` bytes, zero or with the contents of an earlier use.
///
/// # Errors
/// If that is beyond the memory limit, or more than the system gives.
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
        let room = limit.saturating_sub(state.active + capacity);
        state.shrink(room)
    };
    released.into_iter().for_each(release);
    let block = fresh(capacity, bytes)?;
    Ok(state().count(block, capacity))
}

/// A block as [`allocate`] gives it, to be freed in the same way, for what a kernel needs while it runs: no memory in use by
/// arrays, which the limit is for.
///
/// # Errors
/// If it is more than the system gives.
pub fn allocate_scratch(bytes: usize) -> Result<Block> {
    let capacity = capacity_of(bytes)?;
    let cached = state().reuse(capacity);
    cached.map_or_else(|| fresh(capacity, bytes), Ok)
}

/// The error of so many bytes that the system does not give.
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

/// A block from the system, for so many bytes.
fn fresh(capacity: usize, bytes: usize) -> Result<Block> {
    let start = system_allocate(capacity).or_else(|| {
        // The cached blocks may be holding the memory that is needed.
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
    // Map more than is needed and unmap what lies before and behind the aligned part.
    let all = map(capacity.checked_add(HUGE_PAGE)?)?.as_ptr();
    let before = all.align_offset(HUGE_PAGE);
    // SAFETY: all parts lie inside of the mapping, of which nobody has a pointer yet, and begin and end at pages.
    // Advice may fail without harm.
    unsafe {
        let start = all.add(before);
        unmap(all, before);
        unmap(start.add(capacity), HUGE_PAGE - before);
        libc::madvise(start.cast(), capacity, libc::MADV_HUGEPAGE);
        NonNull::new(start)
    }
}

/// Map zeroed pages of the process's own.
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
/// They are part of a mapping made by [`map`], and nobody uses them any more.
unsafe fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: an unused mapping by this function's contract. It fails only if the system is out of mappings, which leaks
        // the pages.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

/// Give a block back: to the cache, or to the system when the cache is full.
pub fn free(block: Block) {
    let released = {
        let mut state = state();
        state.active = state.active.saturating_sub(block.counted);
        state.cache(block);
        let limit = state.cache_limit();
        state.shrink(limit)
    };
    released.into_iter().for_each(release);
}

fn release(block: Block) {
    let start = block.start.as_ptr();
    if block.capacity >= HUGE_PAGE {
        // SAFETY: mapped by `system_allocate`, and owned by nobody else.
        unsafe { unmap(start, block.capacity) };
    } else if let Some(layout) = layout_of(block.capacity) {
        // SAFETY: allocated by `system_allocate` with the same layout, and owned by nobody else.
        unsafe { dealloc(start, layout) };
    }
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

/// Bytes kept for reuse.
pub fn get_cache_memory() -> usize {
    state().cached
}

/// The most bytes that arrays may use; an allocation beyond it is an error.
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

/// Set how many bytes may be kept for reuse; returns the previous limit.
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
            // What the system gives is often what it was given back last.
            let dirty = fresh(capacity, bytes).expect("there is memory");
            // SAFETY: the block is this test's, and as long.
            unsafe { std::ptr::write_bytes(dirty.start.as_ptr(), 0xff, capacity) };
            release(dirty);
            let block = fresh(capacity, bytes).expect("there is memory");
            // SAFETY: the block is this test's, and as long.
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
