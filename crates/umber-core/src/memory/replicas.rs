//! Replicas: copies of ranges of a buffer in the memory of other devices, cached so that each is transferred once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umber_types::Device;

use super::Buffer;

/// The byte range of a buffer that a copy holds: start and end.
pub(crate) type ByteRange = (usize, usize);

/// The copies of one buffer, with the same lifetime.
#[derive(Debug, Default)]
pub(crate) struct Replicas(Mutex<Vec<(Device, ByteRange, Arc<Buffer>)>>);

impl Replicas {
    fn lock(&self) -> MutexGuard<'_, Vec<(Device, ByteRange, Arc<Buffer>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The copy of a range on a device, if it exists.
    pub(crate) fn find(&self, device: Device, range: ByteRange) -> Option<Arc<Buffer>> {
        let replicas = self.lock();
        let replicas = replicas
            .iter()
            .find(|(copy_device, copy_range, _)| *copy_device == device && *copy_range == range);
        replicas.map(|(_, _, copy)| Arc::clone(copy))
    }

    /// Add a copy of a range.
    pub(crate) fn insert(&self, device: Device, range: ByteRange, copy: &Arc<Buffer>) {
        copy.mark_replica();
        self.lock().push((device, range, Arc::clone(copy)));
    }

    /// Drop all copies, because the memory is about to change.
    pub(crate) fn clear(&self) {
        let dropped = std::mem::take(&mut *self.lock());
        drop(dropped);
    }
}
