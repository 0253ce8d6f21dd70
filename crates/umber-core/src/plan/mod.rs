//! Plan: a program lowered to kernels on storage.
//!
//! Elementwise steps are fused, shapes are known, and a run records no nodes. Values live in slots; the last reader of a
//! value takes it out of its slot, so that its buffer can be reused for the result.

pub(crate) mod cache;
mod control_flow;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Context, DType, Device, Error, Result, Scalar, Shape, Stream, error};

use crate::backend::asynchronous::{self, backend_of};
use crate::backend::{Backend, Cpu, Support, Task, decomposes, transfer};
use crate::frontend::Interrupts;
use crate::graph::program::{self, Step};
use crate::graph::{Array, ArraySpec, Program, Storage};
use crate::observer::{ObservedStep, Observer};
use crate::op::Op;
use crate::passes::{hoist, lower, specs_of};
use crate::primitive::Primitive;
use crate::primitives::fused::Fused;

/// A program ready to run.
#[derive(Debug)]
pub(crate) struct Plan {
    steps: Vec<PlanStep>,
    /// The constants of the original program.
    program_constants: PlanConstants,
    /// Whether constants are embedded in operations of the program. Then other constants need another plan.
    has_embedded_constants: bool,
    /// Arrays filled with one constant and the constant's index; allocated for each step that reads one, so that the step may
    /// overwrite it.
    constant_arrays: Vec<(ArraySpec, u32)>,
    /// Outputs that are arguments or constants: their indices and values.
    forwarded: Vec<(u32, Operand)>,
    /// Number of outputs.
    outputs: usize,
    /// The last arguments, the same in every run.
    hoisted: Vec<Array>,
    /// Number of arguments that a run must set.
    argument_count: usize,
    /// The slot of the original program that each slot corresponds to, if any.
    slots: Vec<Option<u32>>,
}

/// The source of a value.
#[derive(Clone, Copy, Debug)]
enum Operand {
    /// In a slot that is read again later.
    Shared(u32),
    /// In a slot that is not read again.
    Last(u32),
    /// A constant.
    Constant(u32),
}

/// The constants of a program. A plan also serves programs with other constants, as long as the same ones are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanConstants {
    /// Distinct values, in order of first use.
    values: SmallVec<[(DType, Scalar); 4]>,
    /// The index of each value, once there are many.
    indices: Option<HashMap<(DType, Scalar), u32>>,
    /// The index among `values` of each use of a constant.
    uses: SmallVec<[u32; 8]>,
}

impl PlanConstants {
    /// The constants of a program.
    fn of(program: &Program) -> PlanConstants {
        let mut constants = PlanConstants::default();
        for operand in program.steps.iter().flat_map(|step| &step.inputs).chain(&program.outputs) {
            if let program::Operand::Constant(constant) = operand {
                constants.push(constant.0.dtype, constant.1);
            }
        }
        constants
    }

    /// Add a use of a constant.
    pub(crate) fn push(&mut self, dtype: DType, value: Scalar) {
        let index = self.index_of(dtype, value);
        self.uses.push(index);
    }

    /// The index of a value, which is added if it is new.
    fn index_of(&mut self, dtype: DType, value: Scalar) -> u32 {
        /// Up to this many values are searched linearly; more by their hash.
        const MAX_LINEAR_SEARCH: usize = 16;
        let constant = (dtype, value);
        let next = self.values.len() as u32;
        let index = if self.values.len() < MAX_LINEAR_SEARCH {
            self.values.iter().position(|own| *own == constant).map_or(next, |index| index as u32)
        } else {
            let indices = self.indices.get_or_insert_with(|| self.values.iter().copied().zip(0..).collect());
            *indices.entry(constant).or_insert(next)
        };
        if index == next {
            self.values.push(constant);
        }
        index
    }

    /// The pattern of equal constants: the index of each use.
    pub(crate) fn pattern(&self) -> &[u32] {
        &self.uses
    }
}

/// One step of a plan.
#[derive(Debug)]
struct PlanStep {
    op: Op,
    /// The indices of a region's constants.
    constants: SmallVec<[u32; 2]>,
    /// The stream it runs on: the CPU's if its own device cannot run it.
    stream: Stream,
    /// The stream whose device stores its outputs.
    output_stream: Stream,
    inputs: SmallVec<[Operand; 3]>,
    dtypes: SmallVec<[DType; 3]>,
    specs: SmallVec<[ArraySpec; 1]>,
    /// Whether a later step reads each output; the others are dropped when the step has run.
    is_read: SmallVec<[bool; 1]>,
    first: u32,
    /// Outputs of the program that it computes: the index among its own outputs, and among the program's.
    results: SmallVec<[(u32, u32); 1]>,
    /// The last step of the original program that it computes.
    root: u32,
    /// The user's source line, for errors.
    origin: Option<Arc<str>>,
}

/// What the steps of a run share.
pub(crate) struct Run<'r> {
    /// The constants of a program that has this plan.
    pub(crate) constants: &'r PlanConstants,
    pub(crate) interrupts: &'r mut Interrupts,
    pub(crate) observer: Option<Observer>,
    /// The source line of a step of the original program, if the plan does not have it.
    pub(crate) origin: &'r dyn Fn(usize) -> Option<Arc<str>>,
    /// Added to errors that a device reports later.
    pub(crate) context: &'r dyn Fn() -> Context,
}

/// The values of a run. Slots that no step takes keep their values for the next run.
pub(crate) struct Slots(SmallVec<[Option<Storage>; 4]>);

impl Slots {
    /// Fill the slot of an argument.
    pub(crate) fn set(&mut self, slot: usize, storage: Storage) {
        self.0[slot] = Some(storage);
    }

    /// Drop the value of an argument.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.0[slot] = None;
    }
}

impl Plan {
    /// Lower a program that runs many times: steps that depend on no argument are computed once. The arguments in `persistent`
    /// keep their values from run to run.
    pub(crate) fn reusable(program: &Program, persistent: std::ops::Range<usize>) -> Result<Plan> {
        let hoisted = hoist::hoist(program)?;
        let remaining = hoisted.as_ref().map_or(program, |hoisted| &hoisted.program);
        let argument_count = program.arguments.len();
        let mut plan = Plan::lowered(remaining, &specs_of(remaining)?)?;
        plan.argument_count = argument_count;
        let hoisted_slots = argument_count..remaining.arguments.len() + plan.hoisted.len();
        plan.hoisted.splice(0..0, hoisted.into_iter().flat_map(|hoisted| hoisted.arrays));
        plan.mark_last(|slot| persistent.contains(&slot) || hoisted_slots.contains(&slot));
        Ok(plan)
    }

    /// Lower a program; `specs` are the specs of its slots.
    pub(crate) fn new(program: &Program, specs: &[ArraySpec]) -> Result<Plan> {
        let mut plan = Plan::lowered(program, specs)?;
        plan.mark_last(|_| false);
        Ok(plan)
    }

    fn lowered(program: &Program, specs: &[ArraySpec]) -> Result<Plan> {
        let lowered = lower(program, specs)?;
        let mut has_embedded_constants = false;
        for step in &program.steps {
            let inputs = step.inputs.iter().map(|operand| operand.spec(specs));
            has_embedded_constants |=
                matches!(step.op, Op::Fused(_)) || decomposes(&step.op, step.stream, inputs)?;
        }
        let kernels = &lowered.program;
        let mut plan = Plan {
            steps: Vec::with_capacity(kernels.steps.len()),
            program_constants: PlanConstants::of(program),
            has_embedded_constants,
            constant_arrays: Vec::new(),
            forwarded: Vec::new(),
            outputs: kernels.outputs.len(),
            hoisted: lowered.captured,
            argument_count: program.arguments.len(),
            slots: lowered.slots,
        };
        let mut first = kernels.arguments.len() as u32;
        for (step, &root) in kernels.steps.iter().zip(&lowered.roots) {
            plan.push(step, &lowered.specs, first, root)?;
            first += step.outputs;
        }
        for (index, output) in kernels.outputs.iter().enumerate() {
            plan.put_output(index as u32, output, kernels.arguments.len());
        }
        Ok(plan)
    }

    fn push(&mut self, step: &Step, specs: &[ArraySpec], first: u32, root: u32) -> Result<()> {
        let inputs = step.inputs.iter().map(|operand| self.operand(operand)).collect();
        let spec_refs: SmallVec<[&ArraySpec; 3]> =
            step.inputs.iter().map(|operand| operand.spec(specs)).collect();
        let dtypes = step.inputs.iter().map(|operand| operand.spec(specs).dtype).collect();
        let constants = if let Op::Fused(Fused(region)) = &step.op {
            region.constants().map(|(dtype, value)| self.program_constants.index_of(dtype, value)).collect()
        } else {
            SmallVec::new()
        };
        let count = step.outputs as usize;
        let stream = match backend_of(step.stream)?.support(&step.op, &spec_refs) {
            Support::Unsupported(_) if !is_run_by_executor(&step.op) => Stream::CPU,
            Support::Unsupported(_) | Support::Native | Support::Decompose => step.stream,
        };
        self.steps.push(PlanStep {
            op: step.op.clone(),
            constants,
            stream,
            output_stream: step.stream,
            inputs,
            dtypes,
            specs: specs[first as usize..first as usize + count].into(),
            is_read: SmallVec::from_elem(false, count),
            first,
            results: SmallVec::new(),
            root,
            origin: step.origin.0.clone(),
        });
        Ok(())
    }

    fn operand(&mut self, operand: &program::Operand) -> Operand {
        match operand {
            program::Operand::Slot(slot) => Operand::Shared(*slot),
            program::Operand::Constant(constant) => {
                let (spec, value) = constant.as_ref();
                let index = self.program_constants.index_of(spec.dtype, *value);
                self.constant_arrays.push((spec.clone(), index));
                Operand::Constant(self.constant_arrays.len() as u32 - 1)
            }
        }
    }

    fn put_output(&mut self, index: u32, output: &program::Operand, arguments: usize) {
        if let program::Operand::Slot(slot) = output
            && *slot as usize >= arguments
        {
            let writer = self.steps.partition_point(|step| step.first <= *slot) - 1;
            let output_index = *slot - self.steps[writer].first;
            self.steps[writer].results.push((output_index, index));
        } else {
            let operand = self.operand(output);
            self.forwarded.push((index, operand));
        }
    }

    /// Find the last read of each value, except in persistent slots. Going backwards, it is the first read found.
    fn mark_last(&mut self, is_persistent: impl Fn(usize) -> bool) {
        let mut is_read: Vec<bool> = (0..self.slots.len()).map(is_persistent).collect();
        let mark = |source: &mut Operand, is_read: &mut [bool]| {
            if let Operand::Shared(slot) = *source
                && !std::mem::replace(&mut is_read[slot as usize], true)
            {
                *source = Operand::Last(slot);
            }
        };
        self.forwarded.iter_mut().rev().for_each(|(_, source)| mark(source, &mut is_read));
        for step in self.steps.iter_mut().rev() {
            for (i, read) in step.is_read.iter_mut().enumerate() {
                *read = is_read[step.first as usize + i];
            }
            step.inputs.iter_mut().rev().for_each(|source| mark(source, &mut is_read));
        }
    }

    /// Slots for a run, to be filled with its arguments.
    pub(crate) fn slots(&self) -> Result<Slots> {
        let mut slots = Slots(SmallVec::from_elem(None, self.slots.len()));
        for (i, array) in self.hoisted.iter().enumerate() {
            array.eval()?;
            slots.set(self.argument_count + i, array.storage().expect("just evaluated").clone());
        }
        Ok(slots)
    }

    /// Whether it also is the plan of the same program with these constants.
    pub(crate) fn allows(&self, constants: &PlanConstants) -> bool {
        self.program_constants.uses == constants.uses
            && (!self.has_embedded_constants || self.program_constants.values.starts_with(&constants.values))
    }

    /// A constant by its index. The constants of fused regions follow those of the program and are stored in the plan only.
    fn constant(&self, index: u32, constants: &PlanConstants) -> Scalar {
        constants.values.get(index as usize).unwrap_or(&self.program_constants.values[index as usize]).1
    }

    /// Number of steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The last step of the original program that a step computes.
    pub(crate) fn root(&self, step: usize) -> usize {
        self.steps[step].root as usize
    }

    /// The values in slots that correspond to slots of the original program, with these.
    pub(crate) fn live(&self, slots: Slots) -> impl Iterator<Item = (usize, Storage)> {
        self.slots
            .iter()
            .zip(slots.0)
            .filter_map(|(original, storage)| Some(((*original)? as usize, storage?)))
    }

    /// Run on the arguments in the slots; returns the outputs. `context` is added to errors that a device reports later.
    pub(crate) fn run(
        &self,
        slots: &mut Slots,
        interrupts: &mut Interrupts,
        context: &dyn Fn() -> Context,
    ) -> Result<SmallVec<[Storage; 4]>> {
        let mut outputs: SmallVec<[Option<Storage>; 4]> = SmallVec::from_elem(None, self.outputs);
        let mut deliver = |index: usize, storage| outputs[index] = Some(storage);
        let constants = &self.program_constants;
        let mut run =
            Run { constants, interrupts, observer: Observer::current(), origin: &|_| None, context };
        for step in 0..self.steps.len() {
            self.run_step(step, &mut run, slots, &mut deliver)?;
        }
        self.forward(constants, slots, &mut deliver)?;
        Ok(outputs.into_iter().map(|storage| storage.expect("every output has a source")).collect())
    }

    /// Run one step; `deliver` receives the outputs of the program that the step computes. If it fails, the slots are unchanged.
    pub(crate) fn run_step(
        &self,
        step: usize,
        run: &mut Run<'_>,
        slots: &mut Slots,
        deliver: &mut impl FnMut(usize, Storage),
    ) -> Result<()> {
        let current = &self.steps[step];
        let (constants, recorded_by_root) = (run.constants, run.origin);
        let origin = || current.origin.clone().or_else(|| recorded_by_root(current.root as usize));
        let recorded = |error: Error| error.recorded_at(origin().as_ref());
        // The inputs are read directly into the task, since storages are large to move.
        let specs = current.specs.iter().collect();
        let mut task = Task::new(current.stream, SmallVec::new(), current.dtypes.clone(), specs);
        self.read_all(&current.inputs, constants, slots, current.stream, &mut task.inputs)
            .map_err(recorded)?;
        if current.output_stream.device != Device::CPU {
            task.context = Context::default().recorded_at(origin().as_ref()).within(&(run.context)());
        }
        let op_with_constants = self.with_constants(current, constants).map_err(recorded)?;
        let op = op_with_constants.as_ref().unwrap_or(&current.op);
        let result = match &run.observer {
            None => current.launch(op, &mut task, run.interrupts).map_err(recorded),
            Some(observer) => {
                let step = ObservedStep { op, name: current.name(), origin: &origin };
                observer.around(&step, &mut task, run.interrupts, |task, interrupts| {
                    current.launch(op, task, interrupts).map_err(recorded)
                })
            }
        };
        if let Err(error) = result {
            for (source, storage) in current.inputs.iter().zip(task.inputs) {
                if let Operand::Last(slot) = source {
                    slots.0[*slot as usize] = Some(storage);
                }
            }
            return Err(error);
        }
        for (i, storage) in task.outputs.iter_mut().enumerate() {
            let storage = storage
                .take()
                .ok_or_else(|| error!(Runtime(current.name()), "the kernel returned no output"))
                .map_err(recorded)?;
            for &(_, index) in current.results.iter().filter(|(output, _)| *output as usize == i) {
                deliver(index as usize, storage.clone());
            }
            slots.0[current.first as usize + i] = current.is_read[i].then_some(storage);
        }
        Ok(())
    }

    /// The operation of a step with these constants, if they differ from those that the plan was created with.
    fn with_constants(&self, step: &PlanStep, constants: &PlanConstants) -> Result<Option<Op>> {
        let Op::Fused(Fused(region)) = &step.op else { return Ok(None) };
        let value = |&index: &u32| self.constant(index, constants);
        if step.constants.iter().all(|index| value(index) == self.constant(*index, &self.program_constants)) {
            return Ok(None);
        }
        let region = region.with_constants(step.constants.iter().map(value))?;
        Ok(Some(Op::Fused(Fused(Arc::new(region)))))
    }

    /// Deliver the outputs that are arguments or constants, after all steps.
    pub(crate) fn forward(
        &self,
        constants: &PlanConstants,
        slots: &mut Slots,
        deliver: &mut impl FnMut(usize, Storage),
    ) -> Result<()> {
        for (index, source) in &self.forwarded {
            let mut value = SmallVec::new();
            self.read_all(std::slice::from_ref(source), constants, slots, Stream::CPU, &mut value)?;
            deliver(*index as usize, value.swap_remove(0));
        }
        Ok(())
    }

    /// The values of operands, for a step on `stream`. If it fails, the slots are unchanged.
    fn read_all(
        &self,
        sources: &[Operand],
        constants: &PlanConstants,
        slots: &mut Slots,
        stream: Stream,
        to: &mut SmallVec<[Storage; 3]>,
    ) -> Result<()> {
        const FILLED: &str = "values are written before they are read";
        let constant = |source: &Operand| match source {
            Operand::Constant(array) => {
                let (spec, index) = &self.constant_arrays[*array as usize];
                let value = self.constant(*index, constants);
                Some(match stream.device {
                    Device::CPU => filled(&spec.shape, value, spec.dtype),
                    // Only one element is transferred.
                    _ => Storage::splat(value, &spec.shape, spec.dtype),
                })
            }
            Operand::Shared(_) | Operand::Last(_) => None,
        };
        let mut filled_arrays =
            sources.iter().filter_map(constant).collect::<Result<SmallVec<[_; 1]>>>()?.into_iter();
        for source in sources {
            to.push(match source {
                Operand::Shared(slot) => slots.0[*slot as usize].clone().expect(FILLED),
                Operand::Last(slot) => slots.0[*slot as usize].take().expect(FILLED),
                Operand::Constant(_) => filled_arrays.next().expect("one for each constant"),
            });
        }
        Ok(())
    }
}

impl PlanStep {
    /// Whether all inputs are in host memory and the result is to be, too.
    fn is_on_host(&self, task: &Task<'_>) -> bool {
        self.output_stream.device == Device::CPU && task.inputs.iter().all(|input| input.buffer.is_on_host())
    }

    /// Start the kernel on its device, with inputs transferred to it, and transfer the outputs to their device.
    fn launch_on_device(&self, op: &Op, task: &mut Task<'_>, interrupts: &mut Interrupts) -> Result<()> {
        for (input, &dtype) in task.inputs.iter_mut().zip(&task.dtypes) {
            if input.buffer.device() != self.stream.device {
                *input = transfer::to_stream(input, dtype, self.stream, interrupts)?;
            }
        }
        if matches!(op, Op::Transfer(_)) {
            task.outputs = task.inputs.drain(..).map(Some).collect();
            return Ok(());
        }
        let backend = backend_of(self.stream)?;
        if self.output_stream.device == self.stream.device {
            return asynchronous::launch(backend, op, task);
        }
        // A kernel may reuse the buffers of its inputs, which are restored if the transfer fails.
        let inputs = task.inputs.clone();
        asynchronous::launch(backend, op, task)?;
        for (output, spec) in task.outputs.iter_mut().zip(&self.specs) {
            let Some(output) = output else { continue };
            match transfer::to_stream(output, spec.dtype, self.output_stream, interrupts) {
                Ok(transferred) => *output = transferred,
                Err(error) => {
                    task.inputs = inputs;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The name of the operation whose result it computes.
    fn name(&self) -> &'static str {
        if let Op::Fused(Fused(region)) = &self.op { region.name() } else { self.op.name() }
    }

    /// Run the kernel. A panic becomes an error; a panic with an error as its payload becomes that error.
    fn launch(&self, op: &Op, task: &mut Task<'_>, interrupts: &mut Interrupts) -> Result<()> {
        let run = || match control_flow::nested(op)? {
            Some(nested) => nested.run(task, interrupts),
            // SAFETY: the step's specs are what `infer` gave for its inputs.
            None if self.is_on_host(task) => unsafe { Cpu.launch(op, task) }.map(drop),
            None => self.launch_on_device(op, task, interrupts),
        };
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let panic = match panic.downcast::<Error>() {
                Ok(error) => return Err(*error),
                Err(panic) => panic,
            };
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown panic");
            Err(error!(Runtime(self.name()), "the kernel failed: {text}"))
        });
        result.map_err(|error| {
            if error.op() == Some(crate::memory::allocator::OP) {
                error.with_op(self.name())
            } else {
                error.or_op(self.name())
            }
        })
    }
}

/// Whether the executor runs it instead of a backend.
fn is_run_by_executor(op: &Op) -> bool {
    op.control_flow().is_some() || matches!(op, Op::Transfer(_))
}

/// A contiguous array filled with one value, on the host.
pub(crate) fn filled(shape: &Shape, value: Scalar, dtype: DType) -> Result<Storage> {
    let mut storage = Storage::allocate(shape, dtype)?;
    umber_kernels::create::fill(value, storage.view_mut(dtype).expect("fresh storage is unique"));
    Ok(storage)
}
