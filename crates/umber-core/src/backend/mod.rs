//! Backend: the interface of a device.
//!
//! The CPU's backend is built in and computes on the calling thread. Other devices run work asynchronously on streams:
//! `asynchronous` orders it by events, `transfer` moves arrays to the device that uses them.

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

/// How a backend supports an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It has a kernel.
    Native,
    /// It runs the simpler operations of its expansion.
    Decompose,
    /// It does not run the operation, for this reason; the CPU does, and inputs and outputs are transferred.
    Unsupported(&'static str),
}

/// A device: its memory, its kernels, and the order of its work.
///
/// Work on one stream runs in the order in which it was started. Work on different streams runs in any order, unless one stream
/// [waits](Backend::wait) for an [`Event`] of the other. A synchronous backend, such as the CPU's, never has to wait.
///
/// # Safety
/// The storage of outputs and copies must match their specs, with layouts inside their buffers.
pub unsafe trait Backend: Send + Sync {
    /// The device this backend runs on.
    fn device(&self) -> Device;

    /// The device's name for users.
    fn name(&self) -> String;

    /// Its type and index in DLPack's numbering. 12 (`kDLExtDev`) is a device without a number of its own.
    fn dlpack_device(&self) -> (i32, i32) {
        (12, self.device().index as i32)
    }

    /// Its memory allocator.
    fn allocator(&self) -> &dyn Allocator;

    /// How it supports `op` on inputs with these specs; called once per step while planning.
    fn support(&self, op: &Op, inputs: &[&ArraySpec]) -> Support;

    /// Start an operation on the task's stream. All inputs are in memory of the device, and stay in the task. Outputs are new, or
    /// reuse the buffer of an input that [`Task::donor`] returns. Returns the event after it.
    ///
    /// # Errors
    /// If nothing was started, with unchanged inputs. Later failures are reported by [`Backend::finish`].
    ///
    /// # Safety
    /// The specs of the task must be those that `op` infers from its inputs.
    unsafe fn launch(&self, op: &Op, task: &mut Task<'_>) -> Result<Event>;

    /// Start copying elements to storage of the same shape. At most one of them is contiguous host memory: a host destination is
    /// filled when the event has passed, a host source has been read when this returns. The destination must have no other
    /// references. Returns the event after it.
    fn copy(&self, from: &Storage, to: &mut Storage, dtype: DType, stream: Stream) -> Result<Event>;

    /// Make later work on `stream` wait for `event`, of another stream of the device.
    fn wait(&self, stream: Stream, event: Event) -> Result<()>;

    /// Wait on the host for an event, at most for `timeout`. Returns whether its work has finished.
    ///
    /// # Errors
    /// The work before the event, or work whose results it read, failed; the same error each time.
    fn finish(&self, event: Event, timeout: Duration) -> Result<bool>;

    /// Wait on the host for all work on the stream, at most for `timeout`. Returns whether it has finished.
    ///
    /// # Errors
    /// The first failure of work on the stream that neither this nor [`Backend::finish`] has reported.
    fn synchronize(&self, stream: Stream, timeout: Duration) -> Result<bool>;
}

/// Whether a stream's device runs the expansion of `op` instead.
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

/// The caching allocator of a device.
pub trait Allocator: Send + Sync {
    /// Allocate bytes with unspecified content.
    fn allocate(&self, bytes: usize) -> Result<Arc<Buffer>>;

    /// Total bytes of the device.
    fn total(&self) -> usize;

    /// Bytes in use.
    fn active(&self) -> usize;

    /// Maximum number of bytes in use since the start or [`Allocator::reset_peak`].
    fn peak(&self) -> usize;

    /// Reset the peak to the bytes in use now.
    fn reset_peak(&self);

    /// Bytes cached for reuse.
    fn cached(&self) -> usize;

    /// Release the bytes cached for reuse.
    fn clear_cache(&self);

    /// Maximum number of bytes in use.
    fn limit(&self) -> usize;

    /// Set the maximum number of bytes in use; returns the previous limit.
    fn set_limit(&self, bytes: usize) -> usize;

    /// Set the maximum number of bytes cached for reuse; returns the previous limit.
    fn set_cache_limit(&self, bytes: usize) -> usize;
}

/// The execution of one step on a device: the storage of its inputs and outputs.
#[derive(Debug)]
pub struct Task<'a> {
    /// The stream it runs on.
    pub stream: Stream,
    /// Storage of the inputs. A buffer without other references may be reused for an output.
    pub inputs: SmallVec<[Storage; 3]>,
    /// Dtypes of the inputs.
    pub dtypes: SmallVec<[DType; 3]>,
    /// Specs of the outputs.
    pub specs: SmallVec<[&'a ArraySpec; 1]>,
    /// Storage of the outputs, set by the kernel.
    pub outputs: SmallVec<[Option<Storage>; 1]>,
    /// Context of errors that are reported later: source lines of the operation and its callers, the iteration of a loop.
    pub context: Context,
}

impl<'a> Task<'a> {
    /// A task whose outputs are not set.
    pub fn new(
        stream: Stream,
        inputs: SmallVec<[Storage; 3]>,
        dtypes: SmallVec<[DType; 3]>,
        specs: SmallVec<[&'a ArraySpec; 1]>,
    ) -> Task<'a> {
        let outputs = smallvec![None; specs.len()];
        Task { stream, inputs, dtypes, specs, outputs, context: Context::default() }
    }

    /// An input, none of `used`, in whose buffer an elementwise kernel may write an output: it has no other references, and no
    /// other stream uses it.
    pub fn donor(&self, output: usize, used: &[usize]) -> Option<usize> {
        let spec = self.specs[output];
        let size = spec.dtype.size();
        (0..self.inputs.len()).find(|i| {
            let input = &self.inputs[*i];
            !used.contains(i)
                && self.dtypes[*i].size() == size
                && input.is_donatable(&spec.shape, size)
                && input.buffer.is_used_only_on(self.stream)
        })
    }
}
