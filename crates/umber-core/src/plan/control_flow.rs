//! Loops and branches: nested programs run one iteration at a time, with memory independent of the number of iterations.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Context, DType, Error, Layout, Result, Scalar, Stream, error};

use super::{Plan, Slots};
use crate::backend::asynchronous::{self, backend_of};
use crate::backend::{Task, transfer};
use crate::frontend::Interrupts;
use crate::graph::program::{Operand, SourceLine, Step};
use crate::graph::{ArraySpec, Program, Storage};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::cast::Cast;
use crate::primitives::control_flow::{Choice, Condition, Construct, ControlFlow, Iteration, Loop};

/// An operation with nested programs, lowered.
pub(crate) enum Nested {
    /// A loop with a known number of iterations.
    Loop(Loop, Arc<LoweredLoop>),
    /// One of several programs.
    Branch(Arc<Choice>, Arc<Vec<Plan>>),
    /// A while loop.
    While(Arc<Condition>, Arc<LoweredWhile>),
}

pub(crate) struct LoweredLoop {
    body: Plan,
    /// The accumulators of sums, after the carry.
    sums: Vec<ArraySpec>,
}

pub(crate) struct LoweredWhile {
    condition: Plan,
    body: Plan,
}

/// Lower the nested programs of an operation, if it has any.
pub(crate) fn nested(op: &Op) -> Result<Option<Nested>> {
    let Some(control_flow) = op.control_flow() else { return Ok(None) };
    Ok(Some(match control_flow {
        ControlFlow::Loop(repeated) => {
            let lowered = repeated.0.lowered.get_or_make(|| LoweredLoop::new(&repeated.0))?;
            Nested::Loop(repeated.clone(), lowered)
        }
        ControlFlow::Branch(branch) => {
            let lower_bodies = || {
                let plan_of =
                    |body: &crate::primitives::control_flow::Body| Plan::reusable(&body.program, 0..0);
                branch.0.bodies.iter().map(plan_of).collect::<Result<Vec<_>>>()
            };
            Nested::Branch(Arc::clone(&branch.0), branch.0.lowered.get_or_make(lower_bodies)?)
        }
        ControlFlow::While(repeated) => {
            let condition = &repeated.0;
            let lower_programs = || {
                let arguments = condition.body.arguments().len();
                Ok(LoweredWhile {
                    // The condition must not overwrite the carry, which the body needs.
                    condition: Plan::reusable(&condition.condition.program, 0..arguments)?,
                    body: Plan::reusable(&condition.body.program, condition.body.outputs.len()..arguments)?,
                })
            };
            Nested::While(Arc::clone(condition), condition.lowered.get_or_make(lower_programs)?)
        }
    }))
}

impl Nested {
    /// Run on a task's inputs, which are not overwritten.
    pub(crate) fn run(&self, task: &mut Task<'_>, interrupts: &mut Interrupts) -> Result<()> {
        let outputs = match self {
            Nested::Loop(repeated, lowered) => lowered.run(&repeated.0, task, interrupts)?,
            Nested::Branch(choice, lowered) => run_branch(choice, lowered, task, interrupts)?,
            Nested::While(condition, lowered) => lowered.run(condition, task, interrupts)?,
        };
        // Outputs that no step computed may be in another device's memory.
        let transfer_output = |(output, spec): (&Storage, &&ArraySpec)| {
            transfer::to_stream(output, spec.dtype, task.stream, interrupts).map(Some)
        };
        task.outputs = outputs.iter().zip(&task.specs).map(transfer_output).collect::<Result<_>>()?;
        Ok(())
    }
}

/// Add the number of the iteration to an error.
fn in_iteration(construct: Construct, index: usize) -> impl FnOnce(Error) -> Error {
    move |error| error.within(&iteration_context(construct, index))
}

/// The context of an iteration.
fn iteration_context(construct: Construct, index: usize) -> Context {
    Context::default().with_note(format!("\nin iteration {index} of {}", construct.name()))
}

/// The dtype that values of `dtype` are summed in.
fn sum_dtype(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}

impl LoweredLoop {
    /// Lower the body with sums replaced by accumulators: arguments after the carry, and outputs after it.
    fn new(iteration: &Iteration) -> Result<LoweredLoop> {
        let Iteration { body, carry, sums, .. } = iteration;
        let program = &body.program;
        let sums: Vec<ArraySpec> = body.outputs[*carry..carry + sums]
            .iter()
            .map(|spec| ArraySpec { shape: spec.shape.clone(), dtype: sum_dtype(spec.dtype) })
            .collect();
        let mut arguments = program.arguments.clone();
        arguments.splice(carry..carry, sums.iter().cloned());
        let new_indices: Vec<usize> = (0..program.arguments.len())
            .map(|argument| if argument < *carry { argument } else { argument + sums.len() })
            .collect();
        let mut program: Program = program.clone().among(arguments, &new_indices);
        for (i, sum) in sums.iter().enumerate() {
            let stream = program.steps.last().map_or(Stream::CPU, |step| step.stream);
            let mut term = program.outputs[carry + i].clone();
            if body.outputs[carry + i].dtype != sum.dtype {
                let inputs = smallvec::smallvec![term];
                term = Operand::Slot(program.slots() as u32);
                program.steps.push(Step {
                    op: Cast(sum.dtype).into(),
                    stream,
                    inputs,
                    outputs: 1,
                    origin: SourceLine::default(),
                });
            }
            let add = Binary(umber_types::BinaryKind::Add).into();
            let inputs = smallvec::smallvec![Operand::Slot((carry + i) as u32), term];
            program.outputs[carry + i] = Operand::Slot(program.slots() as u32);
            program.steps.push(Step { op: add, stream, inputs, outputs: 1, origin: SourceLine::default() });
        }
        let carried = carry + sums.len() + iteration.rows;
        let persistent = carried..program.arguments.len();
        Ok(LoweredLoop { body: Plan::reusable(&program, persistent)?, sums })
    }

    fn run(
        &self,
        iteration: &Iteration,
        task: &Task<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<Vec<Storage>> {
        let Iteration { body, carry, rows, length, order, construct, .. } = iteration;
        let (inputs, stream) = (&task.inputs, task.stream);
        let sums_end = carry + self.sums.len();
        let mut stacks = body.outputs[sums_end..]
            .iter()
            .map(|row| Stack::new(row, *length, stream))
            .collect::<Result<Vec<Stack>>>()?;
        let mut carried: SmallVec<[Storage; 4]> = inputs[..*carry].iter().cloned().collect();
        for sum in &self.sums {
            carried.push(Storage::splat(Scalar::from(0.0).cast(sum.dtype), &sum.shape, sum.dtype)?);
        }
        let sequences = &inputs[*carry..carry + rows];
        let mut slots = self.body.slots()?;
        for (constant, storage) in inputs[carry + rows..].iter().enumerate() {
            slots.set(sums_end + rows + constant, storage.clone());
        }
        for step in 0..*length {
            let index = order.place(step, *length);
            let run_iteration = |slots: &mut Slots, interrupts: &mut Interrupts| {
                interrupts.check()?;
                self.body
                    .run(slots, interrupts, &|| iteration_context(*construct, index).within(&task.context))
            };
            for (slot, storage) in carried.drain(..).enumerate() {
                slots.set(slot, storage);
            }
            for (slot, sequence) in sequences.iter().enumerate() {
                slots.set(sums_end + slot, sequence.with_layout(row_of(&sequence.layout, index)));
            }
            let mut outputs =
                run_iteration(&mut slots, interrupts).map_err(in_iteration(*construct, index))?;
            for (stack, row) in stacks.iter_mut().zip(outputs.drain(sums_end..)) {
                stack.write(index, &row, interrupts)?;
            }
            carried = outputs;
        }
        for (sum, spec) in carried[*carry..].iter_mut().zip(&body.outputs[*carry..sums_end]) {
            if sum_dtype(spec.dtype) != spec.dtype {
                *sum = rounded(sum, spec, stream, interrupts)?;
            }
        }
        Ok(carried.into_iter().chain(stacks.into_iter().map(|stack| stack.storage)).collect())
    }
}

/// Row `index` of a sequence.
fn row_of(sequence: &Layout, index: usize) -> Layout {
    Layout {
        shape: sequence.shape[1..].iter().copied().collect(),
        strides: sequence.strides[1..].iter().copied().collect(),
        offset: (sequence.offset as isize + index as isize * sequence.strides[0]) as usize,
    }
}

/// A sum converted to the dtype of its terms.
fn rounded(sum: &Storage, spec: &ArraySpec, stream: Stream, interrupts: &mut Interrupts) -> Result<Storage> {
    let dtype = sum_dtype(spec.dtype);
    let sum = transfer::to_stream(sum, dtype, stream, interrupts)?;
    let inputs = smallvec::smallvec![sum];
    let mut task = Task::new(stream, inputs, smallvec::smallvec![dtype], smallvec::smallvec![spec]);
    asynchronous::launch(backend_of(stream)?, &Cast(spec.dtype).into(), &mut task)?;
    Ok(task.outputs.pop().flatten().expect("a kernel that ran has an output"))
}

/// Outputs of the iterations, stacked along a new first axis.
struct Stack {
    storage: Storage,
    dtype: DType,
    /// The stream that writes them.
    stream: Stream,
}

impl Stack {
    fn new(row: &ArraySpec, length: usize, stream: Stream) -> Result<Stack> {
        let stacked = crate::primitives::control_flow::stacked(row, length);
        let bytes = stacked.shape.size().saturating_mul(stacked.dtype.size());
        let buffer = backend_of(stream)?.allocator().allocate(bytes)?;
        let storage = Storage { buffer, layout: Layout::contiguous(stacked.shape) };
        Ok(Stack { storage, dtype: stacked.dtype, stream })
    }

    fn write(&mut self, index: usize, row: &Storage, interrupts: &mut Interrupts) -> Result<()> {
        let row = transfer::to_stream(row, self.dtype, self.stream, interrupts)?;
        let layout = row_of(&self.storage.layout, index);
        let layout_of_all = std::mem::replace(&mut self.storage.layout, layout);
        let backend = backend_of(self.stream)?;
        let copied = asynchronous::copy(backend, &row, &mut self.storage, self.dtype, self.stream);
        self.storage.layout = layout_of_all;
        copied.map(drop)
    }
}

/// The element of a scalar storage; waits for a device that computes it.
fn scalar(storage: &Storage, dtype: DType, interrupts: &mut Interrupts) -> Result<Scalar> {
    let host = transfer::to_host(storage, dtype, interrupts)?;
    let bytes = host.on_host().dense_bytes(dtype);
    let bytes = bytes.ok_or_else(|| error!(Runtime("eval"), "value is not a scalar"))?;
    Ok(Scalar::from_bytes(dtype, bytes))
}

fn run_branch(
    choice: &Choice,
    lowered: &[Plan],
    task: &Task<'_>,
    interrupts: &mut Interrupts,
) -> Result<Vec<Storage>> {
    let inputs = &task.inputs;
    let index = scalar(&inputs[0], DType::Int32, interrupts)?.as_f64().max(0.0) as usize;
    let index = index.min(lowered.len() - 1);
    let mut slots = lowered[index].slots()?;
    for (slot, storage) in inputs[1..].iter().enumerate() {
        slots.set(slot, storage.clone());
    }
    let note = || format!("\nin branch {index} of {}", choice.construct.name());
    let outputs = lowered[index]
        .run(&mut slots, interrupts, &|| Context::default().with_note(note()).within(&task.context))
        .map_err(|error| error.with_note(note()))?;
    Ok(outputs.into_vec())
}

impl LoweredWhile {
    fn run(
        &self,
        condition: &Condition,
        task: &Task<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<Vec<Storage>> {
        let inputs = &task.inputs;
        let carry = condition.body.outputs.len();
        let (mut condition_slots, mut body_slots) = (self.condition.slots()?, self.body.slots()?);
        for (slot, storage) in inputs.iter().enumerate().skip(carry) {
            condition_slots.set(slot, storage.clone());
            body_slots.set(slot, storage.clone());
        }
        let mut carried: SmallVec<[Storage; 4]> = inputs[..carry].iter().cloned().collect();
        let limit = condition.limit.map_or(usize::MAX, |limit| limit.iterations);
        for step in 0..limit {
            let context = || iteration_context(condition.construct, step).within(&task.context);
            let mut run_iteration = || {
                interrupts.check()?;
                for (slot, storage) in carried.iter().enumerate() {
                    condition_slots.set(slot, storage.clone());
                }
                let outputs = self.condition.run(&mut condition_slots, interrupts, &context)?;
                if !scalar(&outputs[0], DType::Bool, interrupts)?.as_bool() {
                    return Ok(false);
                }
                for (slot, storage) in carried.drain(..).enumerate() {
                    // A second handle would keep the body from reusing the buffer.
                    condition_slots.clear(slot);
                    body_slots.set(slot, storage);
                }
                carried = self.body.run(&mut body_slots, interrupts, &context)?;
                Ok(true)
            };
            if !run_iteration().map_err(in_iteration(condition.construct, step))? {
                break;
            }
        }
        Ok(carried.into_vec())
    }
}
