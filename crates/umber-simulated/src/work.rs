//! Work: an operation or a copy that a stream's thread runs.
//!
//! Work refers to blocks and layouts, not to buffers of the device: a reference to a buffer would prevent the donation of inputs.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;
use umber_core::ArraySpec;
use umber_core::backend::{Backend, Cpu, Task};
use umber_core::graph::Storage;
use umber_core::op::Op;
use umber_kernels::fork;
use umber_types::{Context, DType, Error, Layout, Result, Stream, error};

use crate::Violations;
use crate::block::Block;

/// An operand in the device's memory.
#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) block: Arc<Block>,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// The source or target of a copy.
pub(crate) enum Endpoint {
    Device(Operand),
    Host(Storage),
}

/// An error of work, which propagates to the work that reads its outputs.
#[derive(Clone)]
pub(crate) struct Failure {
    error: Error,
    was_reported: Arc<AtomicBool>,
}

impl Failure {
    fn new(error: Error) -> Failure {
        Failure { error, was_reported: Arc::default() }
    }

    /// Mark the error as reported to the host; returns it, and whether it was reported before.
    pub(crate) fn report(&self) -> (Error, bool) {
        (self.error.clone(), self.was_reported.swap(true, Ordering::AcqRel))
    }
}

/// The kind of work.
pub(crate) enum Action {
    /// No computation: the output is a view of the input.
    View,
    /// An operation.
    Kernel {
        op: Op,
        inputs: Vec<Operand>,
        specs: Vec<ArraySpec>,
        outputs: Vec<Operand>,
        /// An injected fault: the kernel fails.
        fails: bool,
    },
    /// A copy of elements of a dtype.
    Copy { from: Endpoint, to: Endpoint, dtype: DType },
}

/// A piece of work.
pub(crate) struct QueuedWork {
    /// The name of the operation.
    pub(crate) name: &'static str,
    /// Added to error messages.
    pub(crate) context: Context,
    /// Blocks that it reads.
    pub(crate) reads: Vec<Arc<Block>>,
    /// Blocks that it fills.
    pub(crate) writes: Vec<Arc<Block>>,
    pub(crate) action: Action,
}

impl Operand {
    fn storage(&self, name: &str, violations: &Violations) -> Result<Storage> {
        let Some(bytes) = self.block.bytes() else {
            let text = format!("use after free: {name} uses block {}, which was freed", self.block.id);
            return Err(violations.record(text));
        };
        Ok(bytes.storage(self.layout.clone()))
    }
}

impl QueuedWork {
    /// Run the work, unless the work that should have filled one of its inputs failed.
    pub(crate) fn run(self, violations: &Violations) -> std::result::Result<(), Failure> {
        let _step = fork::NoForkGuard::begin();
        let QueuedWork { name, context, reads, writes, action } = self;
        let result = match reads.iter().find_map(|block| block.failure()) {
            Some(failure) => Err(failure),
            None => catch_unwind(AssertUnwindSafe(|| action.run(name, violations)))
                .unwrap_or_else(|panic| Err(panicked(name, panic)))
                .map_err(|error| Failure::new(error.within(&context))),
        };
        for block in &writes {
            block.set_failure(result.as_ref().err().cloned());
        }
        result
    }
}

/// The error of a kernel that panicked; the payload may be an `Error`.
fn panicked(name: &str, panic: Box<dyn Any + Send>) -> Error {
    let panic = match panic.downcast::<Error>() {
        Ok(error) => return *error,
        Err(panic) => panic,
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown panic");
    error!(Runtime(name), "the kernel failed: {text}")
}

impl Action {
    fn run(self, name: &str, violations: &Violations) -> Result<()> {
        match self {
            Action::View => Ok(()),
            Action::Kernel { op, inputs, specs, outputs, fails } => {
                if fails {
                    return Err(error!(Runtime(name), "the simulated kernel failed"));
                }
                let storages =
                    inputs.iter().map(|input| input.storage(name, violations)).collect::<Result<_>>()?;
                let dtypes = inputs.iter().map(|input| input.dtype).collect();
                let mut task = Task::new(Stream::CPU, storages, dtypes, specs.iter().collect());
                // SAFETY: the task is the one that was launched on the device, with its blocks as host memory.
                unsafe { Cpu.launch(&op, &mut task) }?;
                let results: SmallVec<[Option<Storage>; 1]> = std::mem::take(&mut task.outputs);
                drop(task);
                for (result, output) in results.into_iter().zip(&outputs) {
                    let Some(result) = result else {
                        return Err(error!(Runtime(name), "the kernel returned no output"));
                    };
                    copy(&result, &mut output.storage(name, violations)?, output.dtype)?;
                }
                Ok(())
            }
            Action::Copy { from, to, dtype } => {
                let storage_of = |endpoint| match endpoint {
                    Endpoint::Device(operand) => Operand::storage(&operand, name, violations),
                    Endpoint::Host(storage) => Ok(storage),
                };
                let (from, mut to) = (storage_of(from)?, storage_of(to)?);
                copy(&from, &mut to, dtype)
            }
        }
    }
}

/// Copy elements; source and target may overlap.
fn copy(from: &Storage, to: &mut Storage, dtype: DType) -> Result<()> {
    if from.buffer().host_start() != to.buffer().host_start() {
        return Cpu.copy(from, to, dtype, Stream::CPU).map(drop);
    }
    if from.layout() == to.layout() {
        return Ok(());
    }
    Cpu.copy(&dense(from, dtype)?, to, dtype, Stream::CPU).map(drop)
}

/// A dense copy of host-readable elements in host memory.
pub(crate) fn dense(from: &Storage, dtype: DType) -> Result<Storage> {
    let mut copy = Storage::allocate(&from.layout().shape, dtype)?;
    Cpu.copy(from, &mut copy, dtype, Stream::CPU)?;
    Ok(copy)
}
