//! Blocks: memory of the device.
//!
//! Invariant: a block's bytes are touched by the work of streams only, which the race detector has ordered, and by nobody else.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use umber_core::graph::Storage;
use umber_core::memory::{Access, Buffer, DeviceMemory, Event, ExternalWrites, allocator};
use umber_types::{DType, Device, Layout, Result, Scalar};

use crate::work::Failure;
use crate::{Machine, lock};

/// Bytes that are kept for reuse or belong to a block.
pub(crate) struct Bytes {
    /// `None` once it is freed.
    memory: Option<allocator::Block>,
    capacity: usize,
}

impl Bytes {
    /// Memory that does not count as the host's.
    pub(crate) fn new(capacity: usize) -> Result<Arc<Bytes>> {
        Ok(Arc::new(Bytes { memory: Some(allocator::allocate_scratch(capacity)?), capacity }))
    }

    /// How many there are.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// All of them as the kernels of the host see them.
    pub(crate) fn storage(self: &Arc<Bytes>, layout: Layout) -> Storage {
        let start = self.memory.as_ref().expect("freed by nobody but who drops it").start();
        wrapped(start, self.capacity, layout, Arc::clone(self))
    }

    /// Fill them with a pattern that is NaN in every float dtype, so that it shows when they are read before they are written.
    pub(crate) fn spoil(self: &Arc<Bytes>) {
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

/// Memory of the host for the work of a stream to write, beside who holds it.
pub(crate) fn beside(storage: &Storage) -> Option<Storage> {
    let start = storage.buffer().host_start()?;
    Some(wrapped(start, storage.buffer().bytes(), storage.layout().clone(), Arc::clone(storage.buffer())))
}

fn wrapped<K: Send + Sync + 'static>(
    start: NonNull<u8>,
    bytes: usize,
    layout: Layout,
    keep: Arc<K>,
) -> Storage {
    // SAFETY: what `keep` holds owns these bytes (see the callers) and is dropped with the buffer. Who writes them has been ordered
    // with who reads them: by the race detector on the device, by `Backend::copy`'s contract on the host.
    let buffer =
        unsafe { Buffer::foreign(start, bytes, Access::Writable, ExternalWrites::Fixed, Box::new(keep)) };
    Storage::new(Arc::new(buffer), layout)
}

/// What a block holds.
struct Content {
    /// `None` once it is freed.
    bytes: Option<Arc<Bytes>>,
    /// Why it does not hold what it should.
    failure: Option<Failure>,
}

/// Memory that was given out once: when its bytes are reused, they are another block.
pub(crate) struct Block {
    /// Its number among all blocks of the device.
    pub(crate) id: u64,
    content: Mutex<Content>,
}

impl Block {
    pub(crate) fn new(id: u64, bytes: Arc<Bytes>) -> Block {
        Block { id, content: Mutex::new(Content { bytes: Some(bytes), failure: None }) }
    }

    /// Its bytes, unless it was freed.
    pub(crate) fn bytes(&self) -> Option<Arc<Bytes>> {
        lock(&self.content).bytes.clone()
    }

    /// Take its bytes: it is freed.
    pub(crate) fn free(&self) -> Option<Arc<Bytes>> {
        lock(&self.content).bytes.take()
    }

    /// The error of the work that was to fill it.
    pub(crate) fn failure(&self) -> Option<Failure> {
        lock(&self.content).failure.clone()
    }

    pub(crate) fn set_failure(&self, failure: Option<Failure>) {
        lock(&self.content).failure = failure;
    }
}

/// A block as core holds it.
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
            machine.violations.owe(text);
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
