//! Backend: what a device must say, above core.
//!
//! The CPU's is built in and computes on the calling thread. Another device is given work in streams and returns before it is
//! done: `asynchronous` keeps its work in order by events, `transfer` brings arrays to where they are used.

pub(crate) mod asynchronous;
mod cpu;
mod registry;
pub(crate) mod transfer;

use std::sync::Arc;
use std::time::Duration;

use smallvec::{SmallVec, smallvec};
use umber_types::{Context, DType, Device, Result, Stream};

use crate::graph::{ArraySpec, Storage};
use crate::memory::{Buffer, Event};
use crate::op::Op;
pub use cpu::Cpu;
pub(crate) use cpu::{elementwise, region, tape_cache};
pub use registry::{backend, register};

/// How a backend runs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// By a kernel of its own.
    Native,
    /// By the simpler operations that it expands to.
    Decompose,
    /// Not at all, for this reason: the CPU runs it, and the inputs and outputs are transferred.
    Unsupported(&'static str),
}

/// A device: its memory, its kernels, and the order of its work.
///
/// Work on one stream runs in the order in which it was started. Work on different streams runs in any order, unless one stream
/// [waits](Backend::wait) for an [`Event`] of the other. A backend that computes at once, as the CPU's, has nothing to wait for.
///
/// # Safety
/// Storage that a backend gives for outputs, or answers a copy with, holds what the specs say: the layout stays inside of
/// the buffer.
pub unsafe trait Backend: Send + Sync {
    /// The device this backend runs on.
    fn device(&self) -> Device;

    /// What users call the device.
    fn name(&self) -> String;

    /// Its type and index as DLPack numbers devices; 12 stands for a device that DLPack does not know.
    fn dlpack_device(&self) -> (i32, i32) {
        (12, self.device().index as i32)
    }

    /// Its memory.
    fn allocator(&self) -> &dyn Allocator;

    /// How it runs `op` on inputs with these specs; asked once a step, while planning.
    fn support(&self, op: &Op, inputs: &[&ArraySpec]) -> Support;

    /// Start an operation on the task's stream. All inputs are in memory of the device, and stay in the task; outputs are new, or
    /// lie in the buffer of an input that [`Task::donor`] names. Returns the event after it.
    ///
    /// # Errors
    /// Nothing was started then, and the inputs are as they were. What goes wrong later is told by [`Backend::finish`].
    ///
    /// # Safety
    /// The task is one that `op` infers: its specs are what the inputs give.
    unsafe fn launch(&self, op: &Op, task: &mut Task<'_>) -> Result<Event>;

    /// Start copying elements to storage of the same shape. One of both may be dense memory of the host: what it is to hold is there
    /// when the copy is over, what is copied from it was read when this returns. Nobody else holds what is
    /// written. Returns the event after it.
    fn copy(&self, from: &Storage, to: &mut Storage, dtype: DType, stream: Stream) -> Result<Event>;

    /// Let later work on `stream` begin after `event`, of another stream of the device.
    fn wait(&self, stream: Stream, event: Event) -> Result<()>;

    /// Wait on the host for an event, but no longer than `patience`: is its work over?
    ///
    /// # Errors
    /// The work before the event, or work whose results it read, failed; the same error each time.
    fn finish(&self, event: Event, patience: Duration) -> Result<bool>;

    /// Wait on the host for all work that was started on the stream, but no longer than `patience`: is it over?
    ///
    /// # Errors
    /// The first work on the stream that failed, of what neither this nor [`Backend::finish`] has told.
    fn synchronize(&self, stream: Stream, patience: Duration) -> Result<bool>;
}

/// Does a stream's device run `op` by the operations that it expands to?
pub(crate) fn decomposes<'a>(
    op: &Op,
    stream: Stream,
    inputs: impl Iterator<Item = &'a ArraySpec>,
) -> Result<bool> {
    if stream.device == Device::CPU {
        return Ok(false);
    }
    let inputs: SmallVec<[&ArraySpec; 4]> = inputs.collect();
    Ok(asynchronous::backend_of(stream)?.support(op, &inputs) == Support::Decompose)
}

/// The memory of a device, which is kept for reuse.
pub trait Allocator: Send + Sync {
    /// Memory of so many bytes, whose contents are any.
    fn allocate(&self, bytes: usize) -> Result<Arc<Buffer>>;

    /// Bytes that the device has.
    fn total(&self) -> usize;

    /// Bytes in use.
    fn active(&self) -> usize;

    /// The most bytes in use at once since the start or [`Allocator::reset_peak`].
    fn peak(&self) -> usize;

    /// Measure the peak anew from what is in use now.
    fn reset_peak(&self);

    /// Bytes kept for reuse.
    fn cached(&self) -> usize;

    /// Give back what is kept for reuse.
    fn clear_cache(&self);

    /// The most bytes that may be in use.
    fn limit(&self) -> usize;

    /// Set the most bytes that may be in use; returns the limit before.
    fn set_limit(&self, bytes: usize) -> usize;

    /// Set how many bytes may be kept for reuse; returns the limit before.
    fn set_cache_limit(&self, bytes: usize) -> usize;
}

/// One step's work on a device: the storage of its inputs, and a place for that of its outputs.
#[derive(Debug)]
pub struct Task<'a> {
    /// Where it runs.
    pub stream: Stream,
    /// Storage of the inputs. A buffer that nobody else holds may be given away as an output.
    pub inputs: SmallVec<[Storage; 3]>,
    /// Dtypes of the inputs.
    pub dtypes: SmallVec<[DType; 3]>,
    /// What the outputs must be.
    pub specs: SmallVec<[&'a ArraySpec; 1]>,
    /// To be filled, one an output.
    pub outputs: SmallVec<[Option<Storage>; 1]>,
    /// What errors that are found later say: the lines of the operation and of what holds it, the iteration of a loop.
    pub context: Context,
}

impl<'a> Task<'a> {
    /// A task without outputs.
    pub fn new(
        stream: Stream,
        inputs: SmallVec<[Storage; 3]>,
        dtypes: SmallVec<[DType; 3]>,
        specs: SmallVec<[&'a ArraySpec; 1]>,
    ) -> Task<'a> {
        let outputs = smallvec![None; specs.len()];
        Task { stream, inputs, dtypes, specs, outputs, context: Context::default() }
    }

    /// An input, none of `taken`, in whose buffer an elementwise kernel may write an output: nothing else holds it, and no other
    /// stream works on it.
    pub fn donor(&self, output: usize, taken: &[usize]) -> Option<usize> {
        let spec = self.specs[output];
        let size = spec.dtype.size();
        (0..self.inputs.len()).find(|i| {
            let input = &self.inputs[*i];
            !taken.contains(i)
                && self.dtypes[*i].size() == size
                && input.is_donatable(&spec.shape, size)
                && input.buffer.is_used_only_on(self.stream)
        })
    }
}
