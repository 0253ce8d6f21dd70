//! Synchronisation of work on asynchronous devices.
//!
//! A buffer records the work on it. Before work starts on a stream, the stream waits for the work of other streams that fills its
//! inputs; then the work is recorded in its input and output buffers.

use std::time::Duration;

use umber_types::{DType, Result, Stream, error};

use super::{Backend, Task, backend};
use crate::frontend::Interrupts;
use crate::graph::Storage;
use crate::memory::{Buffer, Event};
use crate::op::Op;

/// How long the host waits between checks for interrupts.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The backend of a stream's device.
pub(crate) fn backend_of(stream: Stream) -> Result<&'static dyn Backend> {
    backend(stream.device).ok_or_else(|| error!(Runtime("eval"), "device {} is not available", stream.device))
}

/// Start an operation whose inputs are all in the device's memory.
pub(crate) fn launch(backend: &dyn Backend, op: &Op, task: &mut Task<'_>) -> Result<()> {
    for input in &task.inputs {
        wait_until_written(backend, task.stream, &input.buffer)?;
    }
    // SAFETY: tasks of the executor follow a plan, whose specs come from `infer`.
    let event = unsafe { backend.launch(op, task) }?;
    task.inputs.iter().for_each(|input| input.buffer.record_read(event));
    task.outputs.iter().flatten().for_each(|output| output.buffer.record_write(event));
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
    from.buffer.record_read(event);
    to.buffer.record_write(event);
    Ok(event)
}

fn wait_until_written(backend: &dyn Backend, stream: Stream, buffer: &Buffer) -> Result<()> {
    match buffer.written() {
        Some(event) if event.stream != stream => backend.wait(stream, event),
        _ => Ok(()),
    }
}

/// Wait on the host until the work that fills the memory has finished.
///
/// # Errors
/// That work failed, or the user has interrupted the program.
pub(crate) fn finish(buffer: &Buffer, interrupts: &mut Interrupts) -> Result<()> {
    let Some(event) = buffer.written() else { return Ok(()) };
    finish_event(backend_of(event.stream)?, event, interrupts)
}

/// [`finish`] without checks for interrupts.
pub(crate) fn wait_until_finished(buffer: &Buffer) -> Result<()> {
    let Some(event) = buffer.written() else { return Ok(()) };
    let backend = backend_of(event.stream)?;
    while !backend.finish(event, POLL_INTERVAL)? {}
    Ok(())
}

/// Wait on the host for all work of a stream.
///
/// # Errors
/// The first failure that was not reported yet, or an interrupt by the user.
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
