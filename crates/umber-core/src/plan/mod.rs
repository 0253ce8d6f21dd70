//! Plan: a program lowered to kernels on storage.
//!
//! Elementwise neighbours are fused, shapes are known, and a run records no nodes. Values live in slots; the last reader of a
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
use crate::op::Op;
use crate::passes::{hoist, lower, specs_of};
use crate::primitive::Primitive;
use crate::primitives::fused::Fused;

/// A program ready to run.
#[derive(Debug)]
pub(crate) struct Plan {
    steps: Vec<PlanStep>,
    /// The constants of the program that it was made of.
    numbers: PlanConstants,
    /// Are constants part of what an operation of the program is? Then it is the plan of no program with others.
    has_fixed_numbers: bool,
    /// Arrays of one number each, allocated for each step that reads one, so that the step may overwrite it.
    constants: Vec<(ArraySpec, u32)>,
    /// Outputs that are arguments or constants: their numbers and values.
    forwarded: Vec<(u32, Operand)>,
    /// How many outputs there are.
    outputs: usize,
    /// The last arguments, the same in every run.
    hoisted: Vec<Array>,
    /// How many arguments a run must set.
    argument_count: usize,
    /// The slot of the original program that each slot corresponds to, if any.
    slots: Vec<Option<u32>>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
enum Operand {
    /// In a slot that is read again later.
    Shared(u32),
    /// In a slot that is not read again.
    Last(u32),
    /// A constant.
    Constant(u32),
}

/// The constants of a program: the plan is that of programs with others, too, as long as equal ones are equal there.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanConstants {
    /// Each once, in the order in which they are read first.
    values: SmallVec<[(DType, Scalar); 4]>,
    /// Where each is, if they are many.
    places: Option<HashMap<(DType, Scalar), u32>>,
    /// The place among them of each constant that is read.
    read: SmallVec<[u32; 8]>,
}

impl PlanConstants {
    /// The constants of a program.
    fn of(program: &Program) -> PlanConstants {
        let mut numbers = PlanConstants::default();
        for operand in program.steps.iter().flat_map(|step| &step.inputs).chain(&program.outputs) {
            if let program::Operand::Constant(constant) = operand {
                numbers.push(constant.0.dtype, constant.1);
            }
        }
        numbers
    }

    /// One more constant that is read.
    pub(crate) fn push(&mut self, dtype: DType, value: Scalar) {
        let place = self.place(dtype, value);
        self.read.push(place);
    }

    /// The place of a constant, which is added if it is new.
    fn place(&mut self, dtype: DType, value: Scalar) -> u32 {
        /// So many are looked through; more are found by their hash.
        const FEW: usize = 16;
        let constant = (dtype, value);
        let next = self.values.len() as u32;
        let place = if self.values.len() < FEW {
            self.values.iter().position(|own| *own == constant).map_or(next, |place| place as u32)
        } else {
            let places = self.places.get_or_insert_with(|| self.values.iter().copied().zip(0..).collect());
            *places.entry(constant).or_insert(next)
        };
        if place == next {
            self.values.push(constant);
        }
        place
    }

    /// Which constants are equal?
    pub(crate) fn pattern(&self) -> &[u32] {
        &self.read
    }
}

/// One step of a plan.
#[derive(Debug)]
struct PlanStep {
    op: Op,
    /// The places of a region's constants among the numbers.
    numbers: SmallVec<[u32; 2]>,
    /// Where it runs: on the CPU, if its own device cannot run it.
    stream: Stream,
    /// Where its outputs are to be.
    output_stream: Stream,
    inputs: SmallVec<[Operand; 3]>,
    dtypes: SmallVec<[DType; 3]>,
    specs: SmallVec<[ArraySpec; 1]>,
    /// Does a later step read it? By outputs; the others are dropped when the step has run.
    is_read: SmallVec<[bool; 1]>,
    first: u32,
    /// Outputs of the program that it writes: its own output, and the number of the program's.
    results: SmallVec<[(u32, u32); 1]>,
    /// The last step of the original program that it computes.
    root: u32,
    /// The user's line, to be named in errors.
    origin: Option<Arc<str>>,
}

/// The values of a run. Slots that are never taken out keep their values for the next one.
pub(crate) struct Slots(SmallVec<[Option<Storage>; 4]>);

impl Slots {
    /// Fill the slot of an argument.
    pub(crate) fn set(&mut self, slot: usize, storage: Storage) {
        self.0[slot] = Some(storage);
    }

    /// Drop what the slot of an argument holds.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.0[slot] = None;
    }
}

impl Plan {
    /// Lower a program that runs many times: steps that depend on no argument are computed now. The arguments in `stays` keep
    /// their values from run to run.
    pub(crate) fn reusable(program: &Program, stays: std::ops::Range<usize>) -> Result<Plan> {
        let hoisted = hoist::hoist(program)?;
        let whole = hoisted.as_ref().map_or(program, |hoisted| &hoisted.program);
        let argument_count = program.arguments.len();
        let mut plan = Plan::lowered(whole, &specs_of(whole)?)?;
        plan.argument_count = argument_count;
        let hoisted_slots = argument_count..whole.arguments.len() + plan.hoisted.len();
        plan.hoisted.splice(0..0, hoisted.into_iter().flat_map(|hoisted| hoisted.arrays));
        plan.mark_last(|slot| stays.contains(&slot) || hoisted_slots.contains(&slot));
        Ok(plan)
    }

    /// Lower a program; `specs` are the specs of its slots.
    pub(crate) fn new(program: &Program, specs: &[ArraySpec]) -> Result<Plan> {
        let mut plan = Plan::lowered(program, specs)?;
        plan.mark_last(|_| false);
        Ok(plan)
    }

    fn lowered(program: &Program, specs: &[ArraySpec]) -> Result<Plan> {
        let whole = lower(program, specs)?;
        let mut has_fixed_numbers = false;
        for step in &program.steps {
            let inputs = step.inputs.iter().map(|operand| operand.spec(specs));
            has_fixed_numbers |=
                matches!(step.op, Op::Fused(_)) || decomposes(&step.op, step.stream, inputs)?;
        }
        let kernels = &whole.program;
        let mut plan = Plan {
            steps: Vec::with_capacity(kernels.steps.len()),
            numbers: PlanConstants::of(program),
            has_fixed_numbers,
            constants: Vec::new(),
            forwarded: Vec::new(),
            outputs: kernels.outputs.len(),
            hoisted: whole.captured,
            argument_count: program.arguments.len(),
            slots: whole.slots,
        };
        let mut first = kernels.arguments.len() as u32;
        for (step, &root) in kernels.steps.iter().zip(&whole.roots) {
            plan.push(step, &whole.specs, first, root)?;
            first += step.outputs;
        }
        for (number, output) in kernels.outputs.iter().enumerate() {
            plan.put_output(number as u32, output, kernels.arguments.len());
        }
        Ok(plan)
    }

    fn push(&mut self, step: &Step, specs: &[ArraySpec], first: u32, root: u32) -> Result<()> {
        let inputs = step.inputs.iter().map(|operand| self.operand(operand)).collect();
        let spec_refs: SmallVec<[&ArraySpec; 3]> =
            step.inputs.iter().map(|operand| operand.spec(specs)).collect();
        let dtypes = step.inputs.iter().map(|operand| operand.spec(specs).dtype).collect();
        let numbers = if let Op::Fused(Fused(region)) = &step.op {
            region.constants().map(|(dtype, value)| self.numbers.place(dtype, value)).collect()
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
            numbers,
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
                let number = self.numbers.place(spec.dtype, *value);
                self.constants.push((spec.clone(), number));
                Operand::Constant(self.constants.len() as u32 - 1)
            }
        }
    }

    fn put_output(&mut self, number: u32, output: &program::Operand, arguments: usize) {
        if let program::Operand::Slot(slot) = output
            && *slot as usize >= arguments
        {
            let writer = self.steps.partition_point(|step| step.first <= *slot) - 1;
            let own = *slot - self.steps[writer].first;
            self.steps[writer].results.push((own, number));
        } else {
            let operand = self.operand(output);
            self.forwarded.push((number, operand));
        }
    }

    /// Find where each value is read last, except in the slots that stay: walking backwards, the first reader met.
    fn mark_last(&mut self, stays: impl Fn(usize) -> bool) {
        let mut is_read: Vec<bool> = (0..self.slots.len()).map(stays).collect();
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

    /// Is it the plan of a program that differs only in having these constants?
    pub(crate) fn allows(&self, numbers: &PlanConstants) -> bool {
        self.numbers.read == numbers.read
            && (!self.has_fixed_numbers || self.numbers.values.starts_with(&numbers.values))
    }

    /// A constant by its place; those of the plan's own regions are behind the program's.
    fn number(&self, place: u32, numbers: &PlanConstants) -> Scalar {
        numbers.values.get(place as usize).unwrap_or(&self.numbers.values[place as usize]).1
    }

    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The last step of the original program that a step computes.
    pub(crate) fn root(&self, step: usize) -> usize {
        self.steps[step].root as usize
    }

    /// The values in slots, by the slots of the original program.
    pub(crate) fn live(&self, slots: Slots) -> impl Iterator<Item = (usize, Storage)> {
        let argument_count = self.slots.iter().zip(slots.0);
        argument_count.filter_map(|(argument_count, storage)| Some(((*argument_count)? as usize, storage?)))
    }

    /// Run on the arguments in the slots; returns the outputs. `context` is added to errors that a device finds later.
    pub(crate) fn run(
        &self,
        slots: &mut Slots,
        interrupts: &mut Interrupts,
        context: &dyn Fn() -> Context,
    ) -> Result<SmallVec<[Storage; 4]>> {
        let mut outputs: SmallVec<[Option<Storage>; 4]> = SmallVec::from_elem(None, self.outputs);
        let mut deliver = |number: usize, storage| outputs[number] = Some(storage);
        for step in 0..self.steps.len() {
            let origin = self.steps[step].origin.as_ref();
            let whole = || Context::default().recorded_at(origin).within(&context());
            self.run_step(step, &self.numbers, slots, interrupts, whole, &mut deliver)
                .map_err(|error| error.recorded_at(origin))?;
        }
        self.forward(&self.numbers, slots, &mut deliver)?;
        Ok(outputs.into_iter().map(|storage| storage.expect("every output has a source")).collect())
    }

    /// Run one step, with the constants of a program that this is the plan of; `deliver` takes the outputs of the program that
    /// it writes. If it fails, the slots are as before.
    pub(crate) fn run_step(
        &self,
        step: usize,
        numbers: &PlanConstants,
        slots: &mut Slots,
        interrupts: &mut Interrupts,
        context: impl FnOnce() -> Context,
        deliver: &mut impl FnMut(usize, Storage),
    ) -> Result<()> {
        let current = &self.steps[step];
        // Values go straight to the task, since they are large.
        let specs = current.specs.iter().collect();
        let mut task = Task::new(current.stream, SmallVec::new(), current.dtypes.clone(), specs);
        self.read_all(&current.inputs, numbers, slots, current.stream, &mut task.inputs)?;
        if current.output_stream.device != Device::CPU {
            task.context = context();
        }
        let other = self.with_numbers(current, numbers)?;
        if let Err(error) = current.launch(other.as_ref().unwrap_or(&current.op), &mut task, interrupts) {
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
                .ok_or_else(|| error!(Runtime(current.name()), "the kernel returned no output"))?;
            for &(_, number) in current.results.iter().filter(|(own, _)| *own as usize == i) {
                deliver(number as usize, storage.clone());
            }
            slots.0[current.first as usize + i] = current.is_read[i].then_some(storage);
        }
        Ok(())
    }

    /// The operation of a step whose constants are others than those that the plan was made with.
    fn with_numbers(&self, step: &PlanStep, numbers: &PlanConstants) -> Result<Option<Op>> {
        let Op::Fused(Fused(region)) = &step.op else { return Ok(None) };
        let value = |&place: &u32| self.number(place, numbers);
        if step.numbers.iter().all(|place| value(place) == self.number(*place, &self.numbers)) {
            return Ok(None);
        }
        let region = region.with_constants(step.numbers.iter().map(value))?;
        Ok(Some(Op::Fused(Fused(Arc::new(region)))))
    }

    /// Deliver the outputs that are arguments or constants, after all steps.
    pub(crate) fn forward(
        &self,
        numbers: &PlanConstants,
        slots: &mut Slots,
        deliver: &mut impl FnMut(usize, Storage),
    ) -> Result<()> {
        for (number, source) in &self.forwarded {
            let mut value = SmallVec::new();
            self.read_all(std::slice::from_ref(source), numbers, slots, Stream::CPU, &mut value)?;
            deliver(*number as usize, value.swap_remove(0));
        }
        Ok(())
    }

    /// The values of operands, for work on `stream`. If it fails, the slots are as before.
    fn read_all(
        &self,
        sources: &[Operand],
        numbers: &PlanConstants,
        slots: &mut Slots,
        stream: Stream,
        to: &mut SmallVec<[Storage; 3]>,
    ) -> Result<()> {
        const FILLED: &str = "values are made before they are read";
        let number = |source: &Operand| match source {
            Operand::Constant(constant) => {
                let (spec, number) = &self.constants[*constant as usize];
                let value = self.number(*number, numbers);
                Some(match stream.device {
                    Device::CPU => filled(&spec.shape, value, spec.dtype),
                    // One element is transferred.
                    _ => Storage::splat(value, &spec.shape, spec.dtype),
                })
            }
            Operand::Shared(_) | Operand::Last(_) => None,
        };
        let mut made = sources.iter().filter_map(number).collect::<Result<SmallVec<[_; 1]>>>()?.into_iter();
        for source in sources {
            to.push(match source {
                Operand::Shared(slot) => slots.0[*slot as usize].clone().expect(FILLED),
                Operand::Last(slot) => slots.0[*slot as usize].take().expect(FILLED),
                Operand::Constant(_) => made.next().expect("one for each constant"),
            });
        }
        Ok(())
    }
}

impl PlanStep {
    /// Does the CPU read what is on the host, and is the result to be there?
    fn is_on_host(&self, task: &Task<'_>) -> bool {
        self.output_stream.device == Device::CPU && task.inputs.iter().all(|input| input.buffer.is_on_host())
    }

    /// Start the kernel where it runs, with inputs that are transferred there, and transfer its outputs home.
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
        // A kernel may give its inputs away before the transfer fails.
        let inputs = task.inputs.clone();
        asynchronous::launch(backend, op, task)?;
        for (output, spec) in task.outputs.iter_mut().zip(&self.specs) {
            let Some(output) = output else { continue };
            match transfer::to_stream(output, spec.dtype, self.output_stream, interrupts) {
                Ok(moved) => *output = moved,
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

    /// Run the kernel; a panic becomes an error, which it may have been all along.
    fn launch(&self, op: &Op, task: &mut Task<'_>, interrupts: &mut Interrupts) -> Result<()> {
        let run = || match control_flow::nested(op)? {
            Some(nested) => nested.run(task, interrupts),
            // SAFETY: the step's specs are what `infer` gave for its inputs.
            None if self.is_on_host(task) => unsafe { Cpu.launch(op, task) }.map(drop),
            None => self.launch_on_device(op, task, interrupts),
        };
        let name = self.name();
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
            Err(error!(Runtime(name), "the kernel failed: {text}"))
        });
        result.map_err(|error| {
            if error.op() == Some(crate::memory::allocator::OP) {
                error.with_op(name)
            } else {
                error.or_op(name)
            }
        })
    }
}

/// Does the executor run it, not a backend?
fn is_run_by_executor(op: &Op) -> bool {
    op.control_flow().is_some() || matches!(op, Op::Transfer(_))
}

/// A dense array of one value on the host.
pub(crate) fn filled(shape: &Shape, value: Scalar, dtype: DType) -> Result<Storage> {
    let mut storage = Storage::allocate(shape, dtype)?;
    umber_kernels::create::fill(value, storage.view_mut(dtype).expect("fresh storage is unique"));
    Ok(storage)
}
