//! Memory of a device that the host cannot address, and the work on it.
//!
//! A device computes asynchronously: its memory exists before it is filled, and may be released while work still reads it.
//! Each buffer therefore records the work that fills it and the work that reads it, as events that other streams wait for.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use umber_types::{Device, Stream};

/// A point on a stream of a device: after the first `number` launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The stream.
    pub stream: Stream,
    /// Number of preceding launches, counted from the creation of the stream.
    pub number: u64,
}

/// Memory of a device, allocated by its backend.
pub trait DeviceMemory: Any + Send + Sync + fmt::Debug {
    /// The device.
    fn device(&self) -> Device;

    /// Release the memory. Earlier work that reads or writes it has finished after these events.
    fn release(self: Box<Self>, after: &[Event]);
}

/// Memory of a device, and the work on it that may still run.
pub(super) struct Owned {
    /// `None` once it is released.
    memory: Option<Box<dyn DeviceMemory>>,
    work: Mutex<PendingWork>,
}

#[derive(Default)]
struct PendingWork {
    written: Option<Event>,
    /// The newest of each stream.
    uses: SmallVec<[Event; 2]>,
}

impl Owned {
    pub(super) fn new(memory: Box<dyn DeviceMemory>) -> Owned {
        Owned { memory: Some(memory), work: Mutex::default() }
    }

    pub(super) fn memory(&self) -> &dyn DeviceMemory {
        self.memory.as_deref().expect("released only on drop")
    }

    fn work(&self) -> MutexGuard<'_, PendingWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn written(&self) -> Option<Event> {
        self.work().written
    }

    pub(super) fn uses(&self) -> SmallVec<[Event; 2]> {
        self.work().uses.clone()
    }

    /// Record work that reads the memory, or writes it.
    pub(super) fn record(&self, event: Event, is_write: bool) {
        let mut work = self.work();
        if is_write {
            work.written = Some(event);
        }
        match work.uses.iter_mut().find(|own| own.stream == event.stream) {
            Some(own) => own.number = own.number.max(event.number),
            None => work.uses.push(event),
        }
    }

    /// Release the memory.
    pub(super) fn release(&mut self) {
        if let Some(memory) = self.memory.take() {
            let uses = std::mem::take(&mut self.work.get_mut().unwrap_or_else(PoisonError::into_inner).uses);
            memory.release(&uses);
        }
    }
}
