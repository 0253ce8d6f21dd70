//! Memory of a device that the host cannot address, and the work on it.
//!
//! A device works beside the host: memory exists before it is filled, and is given back while it may still be read. So each
//! buffer knows which work fills it and which reads it, as events; whoever goes on with it on another stream waits for those.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use umber_types::{Device, Stream};

/// A point on a stream of a device: after the first `number` pieces of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The stream.
    pub stream: Stream,
    /// How many pieces of work come before, counted from the stream's beginning.
    pub number: u64,
}

/// Memory of a device, as its backend gives it out.
pub trait DeviceMemory: Any + Send + Sync + fmt::Debug {
    /// The device.
    fn device(&self) -> Device;

    /// Take the memory back. Work that was started before still reads or writes it, and is over after these events.
    fn release(self: Box<Self>, after: &[Event]);
}

/// Memory of a device, and the work on it that may not be over.
pub(super) struct Owned {
    /// `None` once it is given back.
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
        self.memory.as_deref().expect("given back by nobody but who drops it")
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

    /// Work was started that reads the memory, or writes it.
    pub(super) fn note(&self, event: Event, is_write: bool) {
        let mut work = self.work();
        if is_write {
            work.written = Some(event);
        }
        match work.uses.iter_mut().find(|own| own.stream == event.stream) {
            Some(own) => own.number = own.number.max(event.number),
            None => work.uses.push(event),
        }
    }

    /// Give the memory back.
    pub(super) fn release(&mut self) {
        if let Some(memory) = self.memory.take() {
            let uses = std::mem::take(&mut self.work.get_mut().unwrap_or_else(PoisonError::into_inner).uses);
            memory.release(&uses);
        }
    }
}
