//! Order of work on a device that computes beside the host.
//!
//! A buffer knows the work on it. Before work starts on a stream, the stream waits for the work of other streams that fills what it
//! reads; afterwards the work is noted in the buffers that it reads and writes.

use std::time::Duration;

use umber_types::{DType, Result, Stream, error};

use super::{Backend, Task, backend};
use crate::frontend::Interrupts;
use crate::graph::Storage;
use crate::memory::{Buffer, Event};
use crate::op::Op;

/// How long the host waits before it asks whether the user has interrupted the program.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The backend of a stream's device.
pub(crate) fn backend_of(stream: Stream) -> Result<&'static dyn Backend> {
    backend(stream.device).ok_or_else(|| error!(Runtime("eval"), "device {} is not available", stream.device))
}

/// Start an operation, all of whose inputs are in the device's memory.
pub(crate) fn launch(backend: &dyn Backend, op: &Op, task: &mut Task<'_>) -> Result<()> {
    for input in &task.inputs {
        wait_until_written(backend, task.stream, &input.buffer)?;
    }
    // SAFETY: the executor's tasks follow a plan, whose specs `infer` gave.
    let event = unsafe { backend.launch(op, task) }?;
    task.inputs.iter().for_each(|input| input.buffer.note_read(event));
    task.outputs.iter().flatten().for_each(|output| output.buffer.note_write(event));
    Ok(())
}

/// Start copying elements between storages of one device, or of a device and the host.
pub(crate) fn copy(
    backend: &dyn Backend,
    from: &Storage,
    to: &mut Storage,
    dtype: DType,
    stream: Stream,
) -> Result<Event> {
    wait_until_written(backend, stream, &from.buffer)?;
    let event = backend.copy(from, to, dtype, stream)?;
    from.buffer.note_read(event);
    to.buffer.note_write(event);
    Ok(event)
}

fn wait_until_written(backend: &dyn Backend, stream: Stream, buffer: &Buffer) -> Result<()> {
    match buffer.written() {
        Some(event) if event.stream != stream => backend.wait(stream, event),
        _ => Ok(()),
    }
}

/// Wait on the host until the memory holds what the work on it was to compute.
///
/// # Errors
/// That work failed, or the user has interrupted the program.
pub(crate) fn finish(buffer: &Buffer, interrupts: &mut Interrupts) -> Result<()> {
    let Some(event) = buffer.written() else { return Ok(()) };
    finish_event(backend_of(event.stream)?, event, interrupts)
}

/// Wait on the host for all work of a stream.
///
/// # Errors
/// The first that failed, of what nobody was told, or the user has interrupted the program.
pub(crate) fn synchronize(stream: Stream) -> Result<()> {
    let backend = backend_of(stream)?;
    let mut interrupts = Interrupts::new();
    while !backend.synchronize(stream, POLL_INTERVAL)? {
        interrupts.check()?;
    }
    Ok(())
}

/// Wait on the host for an event.
///
/// # Errors
/// The work before it failed, or the user has interrupted the program.
pub(crate) fn finish_event(backend: &dyn Backend, event: Event, interrupts: &mut Interrupts) -> Result<()> {
    while !backend.finish(event, POLL_INTERVAL)? {
        interrupts.check()?;
    }
    Ok(())
}
