//! Blocks: allocations of device memory.
//!
//! Invariant: only the work of streams accesses a block's bytes, after the race detector has accepted its order.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use umber_core::graph::Storage;
use umber_core::memory::{Access, Buffer, DeviceMemory, Event, ExternalWrites, allocator};
use umber_types::{DType, Device, Layout, Result, Scalar};

use crate::work::Failure;
use crate::{Machine, lock};

/// Host memory that backs a block, or that the pool caches for reuse.
pub(crate) struct Bytes {
    /// `None` once freed.
    memory: Option<allocator::Block>,
    capacity: usize,
}

impl Bytes {
    /// Allocate memory that the host's statistics do not count.
    pub(crate) fn new(capacity: usize) -> Result<Arc<Bytes>> {
        Ok(Arc::new(Bytes { memory: Some(allocator::allocate_scratch(capacity)?), capacity }))
    }

    /// Number of bytes.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// A storage over all bytes, for host kernels.
    pub(crate) fn storage(self: &Arc<Bytes>, layout: Layout) -> Storage {
        let start = self.memory.as_ref().expect("freed only on drop").start();
        wrapped(start, self.capacity, layout, Arc::clone(self))
    }

    /// Fill the bytes with a pattern that is NaN in every floating dtype, so that reads of uninitialised memory show.
    pub(crate) fn poison(self: &Arc<Bytes>) {
        let mut all = self.storage(Layout::contiguous([self.capacity].into()));
        if let Some(view) = all.view_mut(DType::UInt8) {
            umber_kernels::create::fill(Scalar::UInt(0xff), view);
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            allocator::free(memory);
        }
    }
}

/// A writable alias of a storage in host memory, for a stream to write; `None` for device memory.
pub(crate) fn host_alias(storage: &Storage) -> Option<Storage> {
    let start = storage.buffer().host_start()?;
    Some(wrapped(start, storage.buffer().bytes(), storage.layout().clone(), Arc::clone(storage.buffer())))
}

/// A storage over `bytes` bytes at `start`, which `owner` keeps alive.
fn wrapped<K: Send + Sync + 'static>(
    start: NonNull<u8>,
    bytes: usize,
    layout: Layout,
    owner: Arc<K>,
) -> Storage {
    // SAFETY: `owner` owns these bytes (see the callers) and is dropped with the buffer. Writes are ordered with reads: by the
    // race detector for device memory, by `Backend::copy`'s contract for host memory.
    let buffer =
        unsafe { Buffer::foreign(start, bytes, Access::Writable, ExternalWrites::Fixed, Box::new(owner)) };
    Storage::new(Arc::new(buffer), layout)
}

/// The content of a block.
struct Content {
    /// `None` once freed.
    bytes: Option<Arc<Bytes>>,
    /// The failure of the work that should have filled it.
    failure: Option<Failure>,
}

/// One allocation. Reused bytes belong to a new block with a new id.
pub(crate) struct Block {
    /// Unique among all blocks of the device.
    pub(crate) id: u64,
    content: Mutex<Content>,
}

impl Block {
    pub(crate) fn new(id: u64, bytes: Arc<Bytes>) -> Block {
        Block { id, content: Mutex::new(Content { bytes: Some(bytes), failure: None }) }
    }

    /// Its bytes; `None` once freed.
    pub(crate) fn bytes(&self) -> Option<Arc<Bytes>> {
        lock(&self.content).bytes.clone()
    }

    /// Free the block and return its bytes.
    pub(crate) fn free(&self) -> Option<Arc<Bytes>> {
        lock(&self.content).bytes.take()
    }

    /// The failure of the work that should have filled it.
    pub(crate) fn failure(&self) -> Option<Failure> {
        lock(&self.content).failure.clone()
    }

    pub(crate) fn set_failure(&self, failure: Option<Failure>) {
        lock(&self.content).failure = failure;
    }
}

/// A block as umber-core's device memory.
pub(crate) struct Memory {
    pub(crate) machine: Arc<Machine>,
    pub(crate) block: Arc<Block>,
}

impl DeviceMemory for Memory {
    fn device(&self) -> Device {
        self.machine.device
    }

    fn release(self: Box<Self>, after: &[Event]) {
        let Memory { machine, block } = *self;
        if !machine.is_own_process() {
            return;
        }
        let mut after: Vec<(u32, u64)> =
            after.iter().map(|event| (event.stream.index, event.number)).collect();
        let uncovered = machine.order().release(block.id, &after);
        for (stream, number, text) in uncovered {
            machine.violations.defer(text);
            after.push((stream, number));
        }
        machine.pool.release(block, after, &machine.streams);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {} of {}", self.block.id, self.machine.device)
    }
}
