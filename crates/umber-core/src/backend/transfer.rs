//! Transfer: copy elements to the memory of another device.
//!
//! An operation reads inputs in the memory of its own device. Other inputs are copied once: the copy is cached with the
//! original for as long as that cannot change.

use umber_types::{DType, Device, Layout, Result, Stream};

use super::asynchronous::{self, backend_of};
use crate::frontend::Interrupts;
use crate::graph::Storage;
use crate::memory::replicas::ByteRange;

/// A layout that spans more than this multiple of its size is made contiguous before the transfer.
const SPARSE: usize = 4;

/// The elements in the memory of a stream's device: the storage itself, or a copy that can be read on the stream.
pub(crate) fn to_stream(
    storage: &Storage,
    dtype: DType,
    stream: Stream,
    interrupts: &mut Interrupts,
) -> Result<Storage> {
    let from = storage.buffer.device();
    if from == stream.device {
        return Ok(storage.clone());
    }
    if storage.layout.size() == 0 {
        let buffer = backend_of(stream)?.allocator().allocate(0)?;
        return Ok(Storage { buffer, layout: storage.layout.clone() });
    }
    let Some(range) = byte_range(&storage.layout, dtype) else {
        let dense = copied(storage, dtype)?;
        return to_stream(&dense, dtype, stream, interrupts);
    };
    let layout = rebased(&storage.layout, range.0 / dtype.size());
    let replicas = storage.buffer.replicas();
    if let Some(copy) = replicas.and_then(|replicas| replicas.find(stream.device, range)) {
        return Ok(Storage { buffer: copy, layout });
    }
    let copy = copy_of(storage, range, stream, interrupts)?;
    if let Some(replicas) = replicas {
        replicas.insert(stream.device, range, &copy.buffer);
    }
    Ok(Storage { buffer: copy.buffer, layout })
}

/// [`to_stream`] with host memory as its destination.
pub(crate) fn to_host(storage: &Storage, dtype: DType, interrupts: &mut Interrupts) -> Result<Storage> {
    to_stream(storage, dtype, Stream::CPU, interrupts)
}

/// The byte range of a buffer that a layout spans; `None` if it is much larger than the elements.
fn byte_range(layout: &Layout, dtype: DType) -> Option<ByteRange> {
    let (low, high) = layout.extent()?;
    let (low, high) = (low as usize, high as usize);
    (high - low <= layout.size().saturating_mul(SPARSE)).then(|| (low * dtype.size(), high * dtype.size()))
}

/// The layout in a buffer that starts `first` elements later.
fn rebased(layout: &Layout, first: usize) -> Layout {
    Layout { offset: layout.offset - first, ..layout.clone() }
}

/// A contiguous copy on the same device.
pub(crate) fn copied(storage: &Storage, dtype: DType) -> Result<Storage> {
    if let Some(host) = storage.host() {
        return host.to_dense(dtype);
    }
    let stream = work_stream(storage);
    let backend = backend_of(stream)?;
    let layout = Layout::contiguous(storage.layout.shape.clone());
    let mut copy = Storage { buffer: backend.allocator().allocate(layout.size() * dtype.size())?, layout };
    asynchronous::copy(backend, storage, &mut copy, dtype, stream)?;
    Ok(copy)
}

/// A stream of the storage's device: the one that fills it.
fn work_stream(storage: &Storage) -> Stream {
    let first = Stream { index: 0, device: storage.buffer.device() };
    storage.buffer.written().map_or(first, |event| event.stream)
}

/// A copy of a byte range of the buffer in memory of the stream's device.
fn copy_of(
    storage: &Storage,
    range: ByteRange,
    stream: Stream,
    interrupts: &mut Interrupts,
) -> Result<Storage> {
    let bytes = range.1 - range.0;
    let mut layout = Layout::contiguous([bytes].into());
    let allocate = |device: Device| -> Result<Storage> {
        let backend = backend_of(Stream { index: 0, device })?;
        let layout = Layout::contiguous([bytes].into());
        Ok(Storage { buffer: backend.allocator().allocate(bytes)?, layout })
    };
    layout.offset = range.0;
    let source = storage.with_layout(layout);
    let source = if storage.buffer.is_on_host() {
        source
    } else {
        let source_stream = work_stream(storage);
        let mut host = allocate(Device::CPU)?;
        asynchronous::finish(&storage.buffer, interrupts)?;
        let backend = backend_of(source_stream)?;
        let event = asynchronous::copy(backend, &source, &mut host, DType::UInt8, source_stream)?;
        asynchronous::finish_event(backend, event, interrupts)?;
        host
    };
    if stream.device == Device::CPU {
        return Ok(source);
    }
    let mut copy = allocate(stream.device)?;
    asynchronous::copy(backend_of(stream)?, &source, &mut copy, DType::UInt8, stream)?;
    Ok(copy)
}
