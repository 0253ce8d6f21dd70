//! The memory pool: allocated blocks, released blocks with pending work, and cached bytes.
//!
//! A block that is released while work on it is pending no longer counts as active, but its bytes are neither reused nor freed
//! before that work has finished.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use umber_core::backend::Allocator;
use umber_core::memory::Buffer;
use umber_types::{Result, bail};

use crate::block::{Block, Bytes, Memory};
use crate::stream::Streams;
use crate::{Simulated, lock};

const ALIGNMENT: usize = 64;

/// A released block, and the last work on it.
struct Released {
    block: Arc<Block>,
    capacity: usize,
    after: Vec<(u32, u64)>,
}

struct State {
    /// Number of blocks allocated so far: the id of the newest.
    blocks: u64,
    active: usize,
    peak: usize,
    limit: usize,
    cache_limit: usize,
    released: Vec<Released>,
    /// Bytes of `released`.
    waiting: usize,
    /// Cached bytes by capacity.
    cache: BTreeMap<usize, Vec<Arc<Bytes>>>,
    /// Bytes of `cache`.
    cached: usize,
}

/// The memory of a device.
pub(crate) struct Pool {
    total: usize,
    state: Mutex<State>,
}

impl State {
    /// Move released blocks without pending work to the cache.
    fn collect(&mut self, streams: &Streams) {
        let released = std::mem::take(&mut self.released);
        for one in released {
            if !one.after.iter().all(|&(stream, number)| streams.is_finished(stream, number)) {
                self.released.push(one);
                continue;
            }
            self.waiting -= one.capacity;
            if let Some(bytes) = one.block.free() {
                self.cached += one.capacity;
                self.cache.entry(one.capacity).or_default().push(bytes);
            }
        }
        self.shrink(self.cache_limit);
    }

    /// Free cached memory, the largest first, until at most `limit` bytes are cached.
    fn shrink(&mut self, limit: usize) {
        while self.cached > limit {
            let Some(mut largest) = self.cache.last_entry() else { return };
            self.cached -= largest.get_mut().pop().map_or(0, |bytes| bytes.capacity());
            if largest.get().is_empty() {
                largest.remove();
            }
        }
    }

    fn reuse(&mut self, capacity: usize) -> Option<Arc<Bytes>> {
        let bytes = self.cache.get_mut(&capacity)?.pop()?;
        self.cached -= capacity;
        Some(bytes)
    }
}

impl Pool {
    pub(crate) fn new(total: usize) -> Pool {
        let state = State {
            blocks: 0,
            active: 0,
            peak: 0,
            limit: total,
            cache_limit: total,
            released: Vec::new(),
            waiting: 0,
            cache: BTreeMap::new(),
            cached: 0,
        };
        Pool { total, state: Mutex::new(state) }
    }

    /// Allocate a block of at least `bytes` bytes. Waits for pending work on released blocks if the memory is needed.
    fn allocate(&self, bytes: usize, streams: &Streams) -> Result<Block> {
        let Some(capacity) = bytes.max(1).checked_next_multiple_of(ALIGNMENT) else {
            bail!(
                Memory(umber_core::memory::allocator::OP),
                "out of memory: requested {bytes} bytes, more than memory can address"
            );
        };
        loop {
            let mut state = lock(&self.state);
            state.collect(streams);
            let limit = state.limit.min(self.total);
            if state.active.saturating_add(capacity) > limit {
                return Err(umber_core::memory::allocator::beyond_limit(bytes, limit, state.active));
            }
            if state.active + state.waiting + capacity > limit {
                let oldest = state.released[0].after.clone();
                drop(state);
                for (stream, number) in oldest {
                    streams.wait_until(stream, number);
                }
                continue;
            }
            let cached = state.reuse(capacity);
            if cached.is_none() {
                let available = self.total - (state.active + state.waiting + capacity);
                state.shrink(available);
            }
            let bytes = cached.map_or_else(|| Bytes::new(capacity), Ok)?;
            bytes.poison();
            state.active += capacity;
            state.peak = state.peak.max(state.active);
            state.blocks += 1;
            return Ok(Block::new(state.blocks, bytes));
        }
    }

    /// Release a block, which is free once the work `after` has finished.
    pub(crate) fn release(&self, block: Arc<Block>, after: Vec<(u32, u64)>, streams: &Streams) {
        let mut state = lock(&self.state);
        let capacity = block.bytes().map_or(0, |bytes| bytes.capacity());
        state.active -= capacity;
        state.waiting += capacity;
        state.released.push(Released { block, capacity, after });
        state.collect(streams);
    }
}

impl Simulated {
    /// The result of `f` on the pool's state; `default` in a forked process, which must not lock it.
    fn with_state<T>(&self, default: T, f: impl FnOnce(&mut State) -> T) -> T {
        if self.machine.is_own_process() { f(&mut lock(&self.machine.pool.state)) } else { default }
    }
}

impl Allocator for Simulated {
    fn allocate(&self, bytes: usize) -> Result<Arc<Buffer>> {
        let machine = &self.machine;
        machine.check_process()?;
        let block = Arc::new(machine.pool.allocate(bytes, &machine.streams)?);
        let memory = Memory { machine: Arc::clone(machine), block };
        Ok(Arc::new(Buffer::on_device(Box::new(memory), bytes)))
    }

    fn total(&self) -> usize {
        self.machine.pool.total
    }

    fn active(&self) -> usize {
        self.with_state(0, |state| state.active)
    }

    fn peak(&self) -> usize {
        self.with_state(0, |state| state.peak)
    }

    fn reset_peak(&self) {
        self.with_state((), |state| state.peak = state.active);
    }

    fn cached(&self) -> usize {
        self.with_state(0, |state| state.cached + state.waiting)
    }

    fn clear_cache(&self) {
        let streams = &self.machine.streams;
        let last: Vec<_> = self.with_state(Vec::new(), |state| {
            state.released.iter().flat_map(|released| released.after.clone()).collect()
        });
        for (stream, number) in last {
            streams.wait_until(stream, number);
        }
        self.with_state((), |state| {
            state.collect(streams);
            state.shrink(0);
        });
    }

    fn limit(&self) -> usize {
        self.with_state(0, |state| state.limit)
    }

    fn set_limit(&self, bytes: usize) -> usize {
        self.with_state(0, |state| std::mem::replace(&mut state.limit, bytes))
    }

    fn set_cache_limit(&self, bytes: usize) -> usize {
        let streams = &self.machine.streams;
        self.with_state(0, |state| {
            let before = std::mem::replace(&mut state.cache_limit, bytes);
            state.collect(streams);
            before
        })
    }
}
