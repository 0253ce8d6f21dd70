//! Replicas: copies of ranges of a buffer in the memory of other devices, cached so that each is transferred once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umber_types::Device;

use super::Buffer;

/// The byte range of a buffer that a copy holds: start and end.
pub(crate) type Part = (usize, usize);

/// The copies of one buffer, with the same lifetime.
#[derive(Debug, Default)]
pub(crate) struct Replicas(Mutex<Vec<(Device, Part, Arc<Buffer>)>>);

impl Replicas {
    fn lock(&self) -> MutexGuard<'_, Vec<(Device, Part, Arc<Buffer>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The copy of a range on a device, if it exists.
    pub(crate) fn find(&self, device: Device, part: Part) -> Option<Arc<Buffer>> {
        let replicas = self.lock();
        let replicas =
            replicas.iter().find(|(copy_device, range, _)| *copy_device == device && *range == part);
        replicas.map(|(_, _, copy)| Arc::clone(copy))
    }

    /// Add a copy of a range.
    pub(crate) fn insert(&self, device: Device, part: Part, copy: &Arc<Buffer>) {
        copy.mark_replica();
        self.lock().push((device, part, Arc::clone(copy)));
    }

    /// Drop all copies, because the memory is about to change.
    pub(crate) fn clear(&self) {
        let dropped = std::mem::take(&mut *self.lock());
        drop(dropped);
    }
}
