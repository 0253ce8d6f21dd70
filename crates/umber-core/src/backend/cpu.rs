//! The built-in backend: every primitive's own CPU kernel.

use umber_types::{Device, Result};

use super::{Backend, Support};
use crate::graph::Array;
use crate::op::Op;
use crate::primitive::{CpuTask, Primitive};

/// The host processor.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

impl Backend for Cpu {
    fn device(&self) -> Device {
        Device::CPU
    }

    fn support(&self, _op: &Op, _inputs: &[Array]) -> Support {
        Support::Native
    }

    fn run(&self, op: &Op, task: &mut CpuTask<'_>) -> Result<()> {
        op.eval_cpu(task)
    }
}
