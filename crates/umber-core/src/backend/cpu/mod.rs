//! The built-in backend: every primitive's own CPU kernel.

mod elementwise;
mod launch;
pub(crate) mod tape_cache;

use umber_types::{Device, Result};

use super::{Backend, Support};
use crate::graph::Array;
use crate::op::Op;
use crate::primitive::{CpuTask, Primitive};
use crate::primitives::fused::Fused;

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
        match op {
            Op::Fused(Fused(region)) => launch::region(region, task),
            Op::Unary(_) | Op::Binary(_) | Op::Select(_) | Op::Cast(_) => elementwise::run(op, task),
            _ => op.eval_cpu(task),
        }
    }
}
