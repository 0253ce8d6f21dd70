//! Replicas: copies of a buffer's parts in the memory of other devices, kept so that each is made once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umber_types::Device;

use super::Buffer;

/// Which bytes of a buffer a copy holds: from the first to the one after the last.
pub(crate) type Part = (usize, usize);

/// The copies of one buffer. They live as long as it does.
#[derive(Debug, Default)]
pub(crate) struct Replicas(Mutex<Vec<(Device, Part, Arc<Buffer>)>>);

impl Replicas {
    fn lock(&self) -> MutexGuard<'_, Vec<(Device, Part, Arc<Buffer>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The copy of a part on a device, if it was made.
    pub(crate) fn find(&self, device: Device, part: Part) -> Option<Arc<Buffer>> {
        let found = self.lock();
        let found = found.iter().find(|(own, held, _)| *own == device && *held == part);
        found.map(|(_, _, copy)| Arc::clone(copy))
    }

    /// Keep a copy of a part.
    pub(crate) fn keep(&self, device: Device, part: Part, copy: &Arc<Buffer>) {
        copy.mark_replica();
        self.lock().push((device, part, Arc::clone(copy)));
    }

    /// Drop all copies: the memory is about to change.
    pub(crate) fn clear(&self) {
        let dropped = std::mem::take(&mut *self.lock());
        drop(dropped);
    }
}
