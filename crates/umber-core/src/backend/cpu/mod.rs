//! The built-in backend: runs the CPU kernel of each primitive on the calling thread.

mod elementwise;
mod launch;
pub(crate) mod tape_cache;

use std::sync::Arc;
use std::time::Duration;

use umber_kernels::allocator;
use umber_types::{DType, Device, Result, Stream, bail};

use super::{Allocator, Backend, Support, Task};
use crate::graph::{ArraySpec, Storage};
use crate::memory::{Buffer, Event};
use crate::op::Op;
use crate::primitive::{CpuTask, Primitive};
pub(crate) use elementwise::elementwise;
pub(crate) use launch::region;

/// The host processor.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

// SAFETY: kernels allocate outputs by their specs, or overwrite an input of the same size.
unsafe impl Backend for Cpu {
    fn device(&self) -> Device {
        Device::CPU
    }

    fn name(&self) -> String {
        std::env::consts::ARCH.into()
    }

    fn dlpack_device(&self) -> (i32, i32) {
        (1, 0)
    }

    fn allocator(&self) -> &dyn Allocator {
        self
    }

    fn support(&self, _op: &Op, _inputs: &[&ArraySpec]) -> Support {
        Support::Native
    }

    #[inline]
    unsafe fn launch(&self, op: &Op, task: &mut Task<'_>) -> Result<Event> {
        op.eval_cpu(CpuTask::of(task))?;
        Ok(Event { stream: task.stream, number: 0 })
    }

    fn copy(&self, from: &Storage, to: &mut Storage, dtype: DType, stream: Stream) -> Result<Event> {
        let (Some(from), Some(to)) = (from.host(), to.view_mut(dtype)) else {
            bail!(Runtime("copy"), "the CPU cannot access this memory");
        };
        umber_kernels::tape::copy(from.view(dtype), to);
        Ok(Event { stream, number: 0 })
    }

    fn wait(&self, _stream: Stream, _event: Event) -> Result<()> {
        Ok(())
    }

    fn finish(&self, _event: Event, _timeout: Duration) -> Result<bool> {
        Ok(true)
    }

    fn synchronize(&self, _stream: Stream, _timeout: Duration) -> Result<bool> {
        Ok(true)
    }
}

impl Allocator for Cpu {
    fn allocate(&self, bytes: usize) -> Result<Arc<Buffer>> {
        Buffer::allocate(bytes)
    }

    fn total(&self) -> usize {
        allocator::physical_memory()
    }

    fn active(&self) -> usize {
        allocator::get_active_memory()
    }

    fn peak(&self) -> usize {
        allocator::get_peak_memory()
    }

    fn reset_peak(&self) {
        allocator::reset_peak_memory();
    }

    fn cached(&self) -> usize {
        allocator::get_cache_memory()
    }

    fn clear_cache(&self) {
        allocator::clear_cache();
    }

    fn limit(&self) -> usize {
        allocator::get_memory_limit()
    }

    fn set_limit(&self, bytes: usize) -> usize {
        allocator::set_memory_limit(bytes)
    }

    fn set_cache_limit(&self, bytes: usize) -> usize {
        allocator::set_cache_limit(bytes)
    }
}
