//! The `Backend` implementation: work is checked by the race detector, numbered and enqueued; the stream's thread runs it later.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;
use umber_core::ArraySpec;
use umber_core::backend::{Allocator, Backend, Support, Task};
use umber_core::graph::Storage;
use umber_core::memory::{Buffer, Event};
use umber_core::op::Op;
use umber_core::primitive::Primitive;
use umber_core::primitives::fused::Fused;
use umber_types::{Context, DType, Device, Layout, Result, Stream, bail, ensure};

use crate::Simulated;
use crate::block::{self, Block, Memory};
use crate::stream::Item;
use crate::work::{Action, Endpoint, Operand, QueuedWork, dense};

// SAFETY: outputs are dense blocks of their specs' size, donated inputs of that size, or views of an input.
unsafe impl Backend for Simulated {
    fn device(&self) -> Device {
        self.machine.device
    }

    fn name(&self) -> String {
        "simulated accelerator".into()
    }

    fn allocator(&self) -> &dyn Allocator {
        self
    }

    fn support(&self, op: &Op, _inputs: &[&ArraySpec]) -> Support {
        let config = &self.machine.config;
        if config.decompose && matches!(op, Op::Composite(_)) {
            return Support::Decompose;
        }
        if config.unsupported && matches!(op, Op::Eig(_) | Op::Sort(_)) {
            return Support::Unsupported("the simulated accelerator was told not to");
        }
        Support::Native
    }

    unsafe fn launch(&self, op: &Op, task: &mut Task<'_>) -> Result<Event> {
        self.machine.check_process()?;
        self.machine.violations.check_deferred()?;
        if self.machine.faults.refuses_launch() {
            bail!(Runtime("simulated"), "launch refused");
        }
        let stream = self.own_stream(task.stream)?;
        let inputs = task.inputs.iter().zip(&task.dtypes).map(|(input, &dtype)| self.operand(input, dtype));
        let inputs = inputs.collect::<Result<Vec<Operand>>>()?;
        let reads = inputs.iter().map(|input| Arc::clone(&input.block)).collect();
        let (name, context) = (name_of(op), task.context.clone());
        if let Some(layout) = task.inputs.first().and_then(|input| op.view(input.layout())) {
            let output = task.inputs[0].with_layout(layout);
            let work = QueuedWork { name, context, reads, writes: Vec::new(), action: Action::View };
            let event = self.start(stream, work)?;
            task.outputs[0] = Some(output);
            return Ok(event);
        }
        let outputs = self.outputs(op, task)?;
        let operands = outputs.iter().zip(&task.specs).map(|(output, spec)| self.operand(output, spec.dtype));
        let operands = operands.collect::<Result<Vec<Operand>>>()?;
        let writes = operands.iter().map(|output| Arc::clone(&output.block)).collect();
        let action = Action::Kernel {
            op: op.clone(),
            inputs,
            specs: task.specs.iter().map(|&spec| spec.clone()).collect(),
            outputs: operands,
            fails: self.machine.faults.fails_kernel(),
        };
        let event = self.start(stream, QueuedWork { name, context, reads, writes, action })?;
        task.outputs = outputs.into_iter().map(Some).collect();
        Ok(event)
    }

    fn copy(&self, from: &Storage, to: &mut Storage, dtype: DType, stream: Stream) -> Result<Event> {
        self.machine.check_process()?;
        let stream = self.own_stream(stream)?;
        ensure!(
            from.layout().shape == to.layout().shape,
            Runtime("simulated"),
            "cannot copy from shape {} to {}",
            from.layout().shape,
            to.layout().shape
        );
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let source = if from.buffer().is_on_host() {
            Endpoint::Host(dense(from, dtype)?)
        } else {
            let operand = self.operand(from, dtype)?;
            reads.push(Arc::clone(&operand.block));
            Endpoint::Device(operand)
        };
        let target = if let Some(storage) = block::host_alias(to) {
            ensure!(!reads.is_empty(), Runtime("simulated"), "neither side of the copy is on the device");
            Endpoint::Host(storage)
        } else {
            let operand = self.operand(to, dtype)?;
            // A partial write keeps the other bytes of the block and therefore its failure, too.
            let covers_block =
                to.layout().is_contiguous() && to.layout().size() * dtype.size() == to.buffer().bytes();
            if !covers_block {
                // In front, so that the older of two failures is propagated.
                reads.insert(0, Arc::clone(&operand.block));
            }
            writes.push(Arc::clone(&operand.block));
            Endpoint::Device(operand)
        };
        let action = Action::Copy { from: source, to: target, dtype };
        self.start(stream, QueuedWork { name: "copy", context: Context::default(), reads, writes, action })
    }

    fn wait(&self, stream: Stream, event: Event) -> Result<()> {
        self.machine.check_process()?;
        let stream = self.own_stream(stream)?;
        let other = self.own_stream(event.stream)?;
        let streams = &self.machine.streams;
        let queue = streams.served(stream)?;
        let mut order = self.machine.order();
        self.check_started(event, order.started(other))?;
        order.wait(stream, other, event.number);
        queue.push(Item::Wait(streams.queue(other), event.number));
        Ok(())
    }

    fn finish(&self, event: Event, timeout: Duration) -> Result<bool> {
        self.machine.check_process()?;
        let stream = self.own_stream(event.stream)?;
        self.check_started(event, self.machine.order().started(stream))?;
        self.machine.streams.queue(stream).finish(event.number, timeout)
    }

    fn synchronize(&self, stream: Stream, timeout: Duration) -> Result<bool> {
        self.machine.check_process()?;
        let stream = self.own_stream(stream)?;
        let started = self.machine.order().started(stream);
        self.machine.streams.queue(stream).synchronize(started, timeout)
    }
}

impl Simulated {
    fn own_stream(&self, stream: Stream) -> Result<u32> {
        ensure!(
            stream.device == self.machine.device,
            Runtime("simulated"),
            "{stream} is not a stream of {}",
            self.machine.device
        );
        Ok(stream.index)
    }

    fn check_started(&self, event: Event, started: u64) -> Result<()> {
        if event.number <= started {
            return Ok(());
        }
        Err(self.machine.violations.record(format!(
            "wait for work {} of {}, but the last started work is {started}",
            event.number, event.stream
        )))
    }

    /// A storage in the device's memory as an operand of work.
    fn operand(&self, storage: &Storage, dtype: DType) -> Result<Operand> {
        let block = self.block(storage.buffer())?;
        Ok(Operand { block, layout: storage.layout().clone(), dtype })
    }

    fn block(&self, buffer: &Buffer) -> Result<Arc<Block>> {
        let memory = buffer.device_memory().map(|memory| memory as &dyn Any);
        match memory.and_then(|memory| memory.downcast_ref::<Memory>()) {
            Some(memory) if Arc::ptr_eq(&memory.machine, &self.machine) => Ok(Arc::clone(&memory.block)),
            Some(_) | None => bail!(
                Runtime("simulated"),
                "memory is on {}, not on {}",
                buffer.device(),
                self.machine.device
            ),
        }
    }

    /// Storage for the outputs: donated inputs, or new blocks.
    fn outputs(&self, op: &Op, task: &Task<'_>) -> Result<SmallVec<[Storage; 1]>> {
        let may_overwrite = match op {
            Op::Fused(Fused(region)) => region.may_overwrite(),
            _ => matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Ternary(_) | Op::Select(_) | Op::Cast(_)),
        };
        let mut donated: SmallVec<[usize; 2]> = SmallVec::new();
        let mut outputs = SmallVec::new();
        for (i, spec) in task.specs.iter().enumerate() {
            let donor = if may_overwrite { task.donor(i, &donated) } else { None };
            outputs.push(match donor {
                Some(donor) => {
                    donated.push(donor);
                    task.inputs[donor].clone()
                }
                None => {
                    let buffer = self.allocate(spec.shape.size().saturating_mul(spec.dtype.size()))?;
                    Storage::new(buffer, Layout::contiguous(spec.shape.clone()))
                }
            });
        }
        Ok(outputs)
    }

    /// Check that work is ordered after the accesses it conflicts with, number it and enqueue it.
    fn start(&self, stream: u32, work: QueuedWork) -> Result<Event> {
        let ids = |blocks: &[Arc<Block>]| blocks.iter().map(|block| block.id).collect::<SmallVec<[u64; 4]>>();
        let queue = self.machine.streams.served(stream)?;
        let mut order = self.machine.order();
        match order.start(stream, work.name, &ids(&work.reads), &ids(&work.writes)) {
            Ok(number) => {
                queue.push(Item::QueuedWork(Box::new(work)));
                let stream = Stream { index: stream, device: self.machine.device };
                Ok(Event { stream, number })
            }
            Err(text) => {
                drop(order);
                Err(self.machine.violations.record(text))
            }
        }
    }
}

/// The name of an operation; for a fused region, of the operation that computes its last output.
fn name_of(op: &Op) -> &'static str {
    match op {
        Op::Fused(Fused(region)) => region.name(),
        _ => op.name(),
    }
}
