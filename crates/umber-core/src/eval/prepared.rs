//! Prepared: a program ready to run many times, straight on memory.
//!
//! Elementwise neighbours are fused once, shapes are known, and a run makes no nodes: values live in slots, a value
//! that is not read again is given away so that its memory can be written over.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::{View, ViewMut};
use umber_types::{DType, Error, Layout, Result};

use super::Interrupts;
use super::control_flow::{self, Nested};
use crate::backend::backend;
use crate::fusion::{fuse, region::Region};
use crate::graph::program::Operand;
use crate::graph::tracing::{self, Residuals};
use crate::graph::{Array, ArraySpec, Program, Storage};
use crate::op::Op;
use crate::primitive::CpuTask;
use crate::primitives::leaf::Leaf;

/// A program ready to run.
pub(super) struct Prepared {
    steps: Vec<Work>,
    /// What is put into the slots of arguments once, and what is captured.
    constants: Vec<Storage>,
    outputs: Vec<Source>,
    arguments: usize,
    captured: usize,
    slots: usize,
}

/// Where a value is.
#[derive(Clone, Copy)]
enum Source {
    /// In a slot, and read again later.
    Shared(u32),
    /// In a slot, for the last time.
    Last(u32),
    /// Among the constants.
    Constant(u32),
}

/// How a step is run.
enum Run {
    /// By the kernel of its primitive.
    Kernel(Op),
    /// By a fused tape, over its inputs where possible.
    Tape(Arc<Region>),
    /// By running programs.
    Programs(Nested),
}

struct Work {
    run: Run,
    device: umber_types::Device,
    inputs: SmallVec<[Source; 3]>,
    dtypes: SmallVec<[DType; 3]>,
    specs: SmallVec<[ArraySpec; 1]>,
    /// Outputs that no step and no result reads are dropped at once.
    is_read: SmallVec<[bool; 1]>,
    first: u32,
    /// The user's line, to be named in errors.
    origin: Option<Arc<str>>,
}

/// The values of one run, and of the next: slots of arguments that are never given away stay filled.
pub(super) struct Slots(Vec<Option<Storage>>);

impl Slots {
    /// Fill the slot of an argument.
    pub(super) fn set(&mut self, slot: usize, storage: Storage) {
        self.0[slot] = Some(storage);
    }

    /// Let go of what the slot of an argument holds.
    pub(super) fn clear(&mut self, slot: usize) {
        self.0[slot] = None;
    }
}

impl Prepared {
    /// Prepare a program. The arguments in `stays` keep their values from run to run.
    pub(super) fn new(program: &Program, stays: std::ops::Range<usize>) -> Result<Prepared> {
        let (fused, captured) = fused(program)?;
        let mut constants: Vec<Storage> = Vec::new();
        for array in &captured {
            array.eval()?;
            constants.push(array.storage().expect("just evaluated").clone());
        }
        let arguments = program.arguments.len();
        let mut prepared = Prepared {
            steps: Vec::with_capacity(fused.steps.len()),
            constants,
            outputs: Vec::new(),
            arguments,
            captured: captured.len(),
            slots: fused.slots(),
        };
        let mut first = fused.arguments.len();
        for (step, specs) in fused.steps.iter().zip(fused.specs()?) {
            let inputs: SmallVec<[Source; 3]> =
                step.inputs.iter().map(|operand| prepared.source(operand)).collect::<Result<_>>()?;
            let dtypes =
                step.inputs.iter().map(|operand| dtype_of(operand, &fused, &prepared.steps)).collect();
            let run = match &step.op {
                Op::Fused(region) => Run::Tape(Arc::clone(&region.0)),
                op => match control_flow::nested(op)? {
                    Some(nested) => Run::Programs(nested),
                    None => Run::Kernel(op.clone()),
                },
            };
            let is_read = SmallVec::from_elem(false, specs.len());
            let device = step.stream.device;
            let origin = step.origin.0.clone();
            let first_slot = first as u32;
            prepared.steps.push(Work {
                run,
                device,
                inputs,
                dtypes,
                specs,
                is_read,
                first: first_slot,
                origin,
            });
            first += step.outputs as usize;
        }
        prepared.outputs = fused.outputs.iter().map(|o| prepared.source(o)).collect::<Result<_>>()?;
        prepared.mark_last(&stays);
        Ok(prepared)
    }

    fn source(&mut self, operand: &Operand) -> Result<Source> {
        Ok(match operand {
            Operand::Slot(slot) if (*slot as usize) < self.arguments => Source::Shared(*slot),
            // Captured arrays come between the arguments and the steps' outputs.
            Operand::Slot(slot) if (*slot as usize) < self.arguments + self.captured => {
                Source::Constant(*slot - self.arguments as u32)
            }
            Operand::Slot(slot) => Source::Shared(*slot),
            Operand::Constant(constant) => {
                let (spec, value) = constant.as_ref();
                self.constants.push(Storage::splat(*value, &spec.shape, spec.dtype)?);
                Source::Constant(self.constants.len() as u32 - 1)
            }
        })
    }

    /// Find where each value is read last: walking backwards, the first reader met.
    fn mark_last(&mut self, stays: &std::ops::Range<usize>) {
        let mut is_read = vec![false; self.slots];
        is_read[stays.clone()].fill(true);
        let mark = |source: &mut Source, is_read: &mut [bool]| {
            if let Source::Shared(slot) = *source
                && !std::mem::replace(&mut is_read[slot as usize], true)
            {
                *source = Source::Last(slot);
            }
        };
        self.outputs.iter_mut().rev().for_each(|source| mark(source, &mut is_read));
        for step in self.steps.iter_mut().rev() {
            for (i, read) in step.is_read.iter_mut().enumerate() {
                *read = is_read[step.first as usize + i];
            }
            step.inputs.iter_mut().rev().for_each(|source| mark(source, &mut is_read));
        }
    }

    /// Empty slots.
    pub(super) fn slots(&self) -> Slots {
        Slots(vec![None; self.slots])
    }

    /// Run on the arguments in the slots; answers the outputs.
    pub(super) fn run(
        &self,
        slots: &mut Slots,
        interrupts: &mut Interrupts,
    ) -> Result<SmallVec<[Storage; 4]>> {
        for step in &self.steps {
            step.run(self, slots, interrupts).map_err(|error| match &step.origin {
                Some(origin) => error.map_message(|text| format!("{text}\nrecorded at {origin}")),
                None => error,
            })?;
        }
        Ok(self.outputs.iter().map(|source| self.read(*source, slots)).collect())
    }

    fn read(&self, source: Source, slots: &mut Slots) -> Storage {
        const FILLED: &str = "values are made before they are read";
        match source {
            Source::Shared(slot) => slots.0[slot as usize].clone().expect(FILLED),
            Source::Last(slot) => slots.0[slot as usize].take().expect(FILLED),
            Source::Constant(constant) => self.constants[constant as usize].clone(),
        }
    }
}

impl Work {
    fn run(&self, prepared: &Prepared, slots: &mut Slots, interrupts: &mut Interrupts) -> Result<()> {
        let inputs = self.inputs.iter().map(|source| prepared.read(*source, slots)).collect();
        let mut task = CpuTask::new(inputs, self.dtypes.clone(), self.specs.iter().collect());
        match &self.run {
            Run::Kernel(op) => backend(self.device).run(op, &mut task)?,
            Run::Tape(region) => run_tape(region, &mut task)?,
            Run::Programs(nested) => nested.run(&mut task, interrupts)?,
        }
        for (i, (storage, &is_read)) in task.outputs.into_iter().zip(&self.is_read).enumerate() {
            let slot = &mut slots.0[self.first as usize + i];
            *slot = if is_read {
                Some(storage.ok_or_else(|| Error::Runtime("[eval] a kernel gave no output".into()))?)
            } else {
                None
            };
        }
        Ok(())
    }
}

/// The program with elementwise regions fused, and what it captured.
fn fused(program: &Program) -> Result<(Program, Vec<Array>)> {
    let guard = tracing::enter();
    let _residuals = tracing::with_residuals(Residuals::Recomputed);
    let placeholder =
        |spec: &ArraySpec| Array::placeholder(Leaf::Trace, spec.clone(), Some(guard.follower()));
    let placeholders: Vec<Array> = program.arguments.iter().map(placeholder).collect();
    let outputs = program.replay(&placeholders)?;
    let outputs = fuse(&outputs, |node| node.traced)?;
    let (fused, captured) = Program::close(&placeholders, &outputs);
    Ok((fused, captured))
}

fn dtype_of(operand: &Operand, program: &Program, steps: &[Work]) -> DType {
    match operand {
        Operand::Constant(constant) => constant.0.dtype,
        Operand::Slot(slot) => match program.arguments.get(*slot as usize) {
            Some(spec) => spec.dtype,
            None => {
                let at = steps.partition_point(|step| step.first <= *slot) - 1;
                steps[at].specs[(*slot - steps[at].first) as usize].dtype
            }
        },
    }
}

/// Run a fused region, over an input's memory where nothing else holds it.
fn run_tape(region: &Region, task: &mut CpuTask<'_>) -> Result<()> {
    region.prepare()?;
    let mut used: SmallVec<[usize; 4]> = SmallVec::new();
    let mut outputs: SmallVec<[Storage; 2]> = SmallVec::new();
    for spec in &task.specs {
        let size = spec.dtype.size();
        let free = (0..task.inputs.len()).find(|i| {
            region.may_overwrite()
                && !used.contains(i)
                && task.dtypes[*i].size() == size
                && task.inputs[*i].is_donatable(&spec.shape, size)
        });
        outputs.push(match free {
            Some(i) => {
                used.push(i);
                task.inputs[i].clone()
            }
            None => Storage::allocate(&spec.shape, spec.dtype)?,
        });
    }
    {
        let layouts: SmallVec<[Cow<'_, Layout>; 4]> =
            task.inputs.iter().enumerate().map(|(i, input)| region.spread(i, &input.layout)).collect();
        let inputs: SmallVec<[View<'_>; 4]> = task
            .inputs
            .iter()
            .zip(&task.dtypes)
            .zip(&layouts)
            .map(|((input, &dtype), layout)| {
                // SAFETY: a broadcast layout reaches the same elements as the storage's own, which its buffer holds;
                // the buffer is written during the run only where it is also an output, block by block after being
                // read.
                unsafe { View::new(input.buffer.start().as_ptr(), dtype, layout) }
            })
            .collect();
        let mut views: SmallVec<[ViewMut<'_>; 2]> = outputs
            .iter()
            .zip(&task.specs)
            .map(|(storage, spec)| {
                // SAFETY: the storage is new, or an input's that only this task holds (`is_donatable`).
                unsafe { ViewMut::new(storage.buffer.start().as_ptr(), spec.dtype, &storage.layout) }
            })
            .collect();
        region.run(&inputs, &mut views)?;
    }
    task.inputs.clear();
    task.outputs = outputs.into_iter().map(Some).collect();
    Ok(())
}
