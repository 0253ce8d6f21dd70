//! What a device must say, above core.

mod cpu;

use umber_types::{Device, Result};

use crate::graph::Array;
use crate::op::Op;
use crate::primitive::CpuTask;
pub use cpu::Cpu;
pub(crate) use cpu::tape_cache;

/// How a backend runs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// By a kernel of its own.
    Native,
    /// By the simpler nodes that the operation expands to.
    Decompose,
}

/// A device's kernels.
pub trait Backend: Send + Sync {
    /// The device this backend runs on.
    fn device(&self) -> Device;

    /// How it runs `op` on such inputs; asked once a node, while planning.
    fn support(&self, op: &Op, inputs: &[Array]) -> Support;

    /// Compute one node.
    fn run(&self, op: &Op, task: &mut CpuTask<'_>) -> Result<()>;
}

/// The backend of a device: the CPU's, the only one built.
pub fn backend(_device: Device) -> &'static dyn Backend {
    &Cpu
}
