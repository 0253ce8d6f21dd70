//! Shape refinement: derive the program for other lengths from one recorded at some lengths.
//!
//! Each primitive defines its operation for other lengths in [`Primitive::generalize`]. This module decides what no single
//! operation can know: the shapes of constants and broadcasts, which follow from the operations that use them.

use umber_types::{Result, Shape, bail, ensure};

use super::reference_trace::ReferenceTrace;
use super::shape_guards::ShapeGuard;
use crate::generalization::{
    AxisFactors, Change, Deciding, FactoredAxes, Generalized, Hint, Hints, OUTPUT, fitting,
};
use crate::graph::program::{Operand, Step};
use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitive::{FusionRole, Primitive};
use crate::primitives::broadcast::Broadcast;
use crate::primitives::control_flow::Body;
use crate::validation;

/// A program for other lengths, and the old and new specs of its slots.
pub(crate) struct RefinedProgram {
    pub(crate) program: Program,
    pub(super) old: Vec<ArraySpec>,
    pub(super) new: Vec<ArraySpec>,
}

impl RefinedProgram {
    /// The first guard that fails for the new lengths: slot, axis, old length and new length.
    pub(crate) fn violated(&self, reads: &[ShapeGuard]) -> Option<(usize, usize, usize, usize)> {
        let read = reads.iter().find(|read| !read.holds(&self.old, &self.new))?;
        let slot = read.slot as usize;
        let length = |specs: &[ArraySpec]| specs[slot].shape[read.axis];
        Some((slot, read.axis, length(&self.old), length(&self.new)))
    }
}

impl Program {
    /// The program that the same function would record for arguments of other lengths.
    ///
    /// Returns an error that names the operation if this is ambiguous. The result is a candidate: constants that the function
    /// computed from lengths keep their values.
    pub fn refined(&self, arguments: &[ArraySpec]) -> Result<Program> {
        self.refined_by(arguments, Deciding::Hints(&Hints::default())).map(|refined| refined.program)
    }

    /// As [`Program::refined`], with hints for single operations.
    pub(crate) fn refined_with(&self, arguments: &[ArraySpec], hints: &Hints) -> Result<RefinedProgram> {
        self.refined_by(arguments, Deciding::Hints(hints))
    }

    /// As [`Program::refined`], with ambiguous operations resolved by `deciding`.
    pub(super) fn refined_by(
        &self,
        arguments: &[ArraySpec],
        deciding: Deciding<'_>,
    ) -> Result<RefinedProgram> {
        ensure!(
            arguments.len() == self.arguments.len(),
            Value("compile"),
            "got {} arguments, expected {}",
            arguments.len(),
            self.arguments.len()
        );
        for (old, new) in self.arguments.iter().zip(arguments) {
            // A function may record no operations for an axis of length 0.
            let is_refinable = |old: usize, new: usize| old == new || old > 0;
            ensure!(
                old.dtype == new.dtype
                    && old.shape.ndim() == new.shape.ndim()
                    && old.shape.iter().zip(new.shape.iter()).all(|(&old, &new)| is_refinable(old, new)),
                Value("compile"),
                "a graph recorded for {old} cannot be adapted to {new}"
            );
        }
        let mut refiner = ShapeRefiner {
            old: self.arguments.clone(),
            new: arguments.to_vec(),
            open: vec![None; arguments.len()],
            factored: vec![None; arguments.len()],
            steps: Vec::with_capacity(self.steps.len()),
            arguments: arguments.len(),
            other: match deciding {
                Deciding::Hints(_) => None,
                Deciding::Trace(other, _) => Some(ReferenceTrace::new(other)?),
            },
            deciding,
        };
        for step in &self.steps {
            refiner.visit(step)?;
        }
        let outputs = self.outputs.iter().enumerate().map(|(i, output)| refiner.output(i, output)).collect();
        let ShapeRefiner { old, new, steps, .. } = refiner;
        let program = Program { arguments: arguments.to_vec(), steps, outputs };
        Ok(RefinedProgram { program, old, new })
    }
}

/// An update of a slice that takes the shape of the window.
#[derive(Clone, Copy)]
enum FreeUpdate {
    Constant,
    /// A broadcast, by the index of its step.
    Broadcast(usize),
}

struct ShapeRefiner<'a> {
    /// Old and new specs of the slots.
    old: Vec<ArraySpec>,
    new: Vec<ArraySpec>,
    /// For each slot whose shape its first user may still determine: the broadcast that computes it.
    open: Vec<Option<usize>>,
    /// The factors of each axis, for slots with an axis that was merged from several.
    factored: Vec<Option<FactoredAxes>>,
    steps: Vec<Step>,
    arguments: usize,
    other: Option<ReferenceTrace<'a>>,
    deciding: Deciding<'a>,
}

impl ShapeRefiner<'_> {
    fn visit(&mut self, step: &Step) -> Result<()> {
        let mut inputs = step.inputs.clone();
        let free_update = self.free_update(step);
        if matches!(step.op.fusion_role(), FusionRole::Step(_)) {
            self.agree(step, &mut inputs)?;
        } else {
            if matches!(step.op, Op::MatMul(_)) {
                self.agree_on_batch(&inputs);
            }
            self.shape_constants(step, &mut inputs)?;
            for operand in &inputs {
                if let Operand::Slot(slot) = operand {
                    self.open[*slot as usize] = None;
                }
            }
        }
        let old_outputs = step.infer(&self.old)?;
        let general = self.generalized(step, &inputs, &old_outputs, free_update.is_some());
        let Some(Generalized { op, axes }) = general else { return Err(ambiguous(&step.op)) };
        if let (Op::SliceUpdate(update), Some(free)) = (&op, free_update) {
            self.broadcast_update(&update.window.lengths, free, &mut inputs[1]);
        }
        let is_open = matches!(step.op, Op::Broadcast(_));
        let refined_step = Step { op, inputs, ..step.clone() };
        // The nested programs of an operation were refined, and so checked, step by step. Functions of the running program
        // accept any inputs.
        let has_functions = refined_step.op.control_flow().is_some()
            || matches!(refined_step.op, Op::Custom(_) | Op::Checkpoint(_) | Op::Callback(_));
        if !has_functions {
            let new_inputs: Vec<&ArraySpec> =
                refined_step.inputs.iter().map(|operand| operand.spec(&self.new)).collect();
            validation::check(&refined_step.op, &new_inputs)?;
        }
        let specs = refined_step.infer(&self.new)?;
        let fits = specs.len() == old_outputs.len()
            && specs.iter().zip(&old_outputs).all(|(new, old)| new.shape.ndim() == old.shape.ndim());
        if !fits {
            return Err(ambiguous(&step.op));
        }
        let open = is_open.then_some(self.steps.len());
        self.open.resize(self.open.len() + specs.len(), open);
        self.factored.extend(specs.iter().zip(&old_outputs).map(|(new, old)| {
            let factors = axes.as_deref().map(|factors| fitting(factors, &old.shape, &new.shape));
            factors.filter(|factors| factors.iter().any(|axis| axis.len() > 1))
        }));
        self.old.extend(old_outputs);
        self.new.extend(specs);
        self.steps.push(refined_step);
        Ok(())
    }

    /// The operation of a step for the new inputs.
    fn generalized(
        &mut self,
        step: &Step,
        inputs: &[Operand],
        old_outputs: &[ArraySpec],
        is_update_free: bool,
    ) -> Option<Generalized> {
        let mut change = Change {
            old: step.inputs.iter().map(|operand| operand.spec(&self.old)).collect(),
            new: inputs.iter().map(|operand| operand.spec(&self.new)).collect(),
            factored: step.inputs.iter().map(|operand| factors_of(&self.factored, operand)).collect(),
            answered: old_outputs,
            is_update_free,
            step: self.steps.len(),
            deciding: self.deciding.lent(),
            refined,
        };
        if change.is_none() && change.factored.iter().all(Option::is_none) {
            return Some(Generalized::of(step.op.clone()));
        }
        step.op.generalize(&mut change)
    }

    /// The update of a slice update, if it is a constant or a broadcast that takes the shape of the window.
    fn free_update(&self, step: &Step) -> Option<FreeUpdate> {
        match (&step.op, step.inputs.get(1)?) {
            (Op::SliceUpdate(_), Operand::Constant(_)) => Some(FreeUpdate::Constant),
            (Op::SliceUpdate(_), Operand::Slot(slot)) => self.open[*slot as usize].map(FreeUpdate::Broadcast),
            _ => None,
        }
    }

    fn broadcast_update(&mut self, shape: &Shape, free: FreeUpdate, operand: &mut Operand) {
        match (free, operand) {
            (FreeUpdate::Constant, Operand::Constant(constant)) => constant.0.shape.clone_from(shape),
            (FreeUpdate::Broadcast(broadcast), Operand::Slot(slot)) => {
                self.broadcast_to(broadcast, *slot as usize, shape.clone());
            }
            _ => {}
        }
    }

    /// Broadcast the matrices of one operand of a product to the batch of the other, if its broadcast did only that.
    fn agree_on_batch(&mut self, inputs: &[Operand]) {
        let &[Operand::Slot(a), Operand::Slot(b)] = inputs else { return };
        for (own, other) in [(a, b), (b, a)] {
            let Some(broadcast) = self.open[own as usize] else { continue };
            let batch = self.new[other as usize].shape.ndim() - 2;
            let batch_shape = &self.new[other as usize].shape[..batch];
            let matrix = &self.new[own as usize].shape[batch..];
            let shape: Shape = batch_shape.iter().chain(matrix).copied().collect();
            if self.steps[broadcast].inputs[0].spec(&self.new).shape.broadcasts_to(&shape) {
                self.steps[broadcast].op = Broadcast { shape: shape.clone() }.into();
                self.new[own as usize].shape = shape;
            }
            return;
        }
    }

    /// The new shape of an array with shape `old`. Where `assumed` may be wrong, the reference trace or a hint determines it.
    fn shape_from_hint(&mut self, step: usize, operand: u32, old: &Shape, mut assumed: Shape) -> Shape {
        match (&self.other, &mut self.deciding) {
            (Some(other), Deciding::Trace(_, hints)) => {
                let Some(shape) = other.shape(step, operand).filter(|shape| shape.ndim() == old.ndim())
                else {
                    return assumed;
                };
                let mut lengths_found = Vec::new();
                for axis in (0..old.ndim()).filter(|&axis| shape[axis] != assumed[axis]) {
                    let lengths = (old[axis], shape[axis]);
                    let arguments = self.old[..self.arguments].iter().zip(&self.new);
                    let axes = arguments.enumerate().flat_map(|(argument, (old, new))| {
                        let both = old.shape.iter().copied().zip(new.shape.iter().copied()).enumerate();
                        both.map(move |(axis, both)| ((argument, axis), both))
                    });
                    let mut axes = axes.filter(|(_, both)| *both == lengths).map(|(axis, _)| axis);
                    let Some(source) = axes.next() else { return assumed };
                    // If two axes of one argument changed alike, the source is ambiguous; axes of several arguments must agree.
                    if axes.any(|(argument, _)| argument == source.0) {
                        return assumed;
                    }
                    lengths_found.push((operand, axis as u32, source));
                }
                if !lengths_found.is_empty() {
                    hints.put(step, Hint::Lengths(lengths_found));
                }
                shape.clone()
            }
            (_, Deciding::Hints(hints)) => {
                let lengths = hints.of(step).filter_map(|hint| match hint {
                    Hint::Lengths(lengths) => Some(lengths),
                    Hint::Rest(_) | Hint::Cut(_) | Hint::Place(_) => None,
                });
                for &(_, axis, (argument, source_axis)) in
                    lengths.flatten().filter(|(hint_operand, ..)| *hint_operand == operand)
                {
                    let length = self.new.get(argument).and_then(|spec| spec.shape.get(source_axis).copied());
                    if let (Some(length), Some(current)) =
                        (length, assumed.as_mut_slice().get_mut(axis as usize))
                    {
                        *current = length;
                    }
                }
                assumed
            }
            (None, Deciding::Trace(..)) => assumed,
        }
    }

    /// Change the shape of a broadcast, if its source broadcasts to it.
    fn broadcast_to(&mut self, broadcast: usize, slot: usize, shape: Shape) {
        if self.new[slot].shape != shape
            && self.steps[broadcast].inputs[0].spec(&self.new).shape.broadcasts_to(&shape)
        {
            self.steps[broadcast].op = Broadcast { shape: shape.clone() }.into();
            self.new[slot].shape = shape;
        }
    }

    /// An output of the program. The lengths of constants and broadcasts that are outputs need hints.
    fn output(&mut self, index: usize, output: &Operand) -> Operand {
        let step = self.steps.len() + index;
        match output {
            Operand::Constant(constant) if constant.0.shape.ndim() > 0 => {
                let mut constant = constant.clone();
                let old = constant.0.shape.clone();
                constant.0.shape = self.shape_from_hint(step, OUTPUT, &old, old.clone());
                Operand::Constant(constant)
            }
            Operand::Slot(slot) => {
                let slot = *slot as usize;
                if let Some(broadcast) = self.open[slot] {
                    let (old, new) = (self.old[slot].shape.clone(), self.new[slot].shape.clone());
                    let shape = self.shape_from_hint(step, OUTPUT, &old, new);
                    self.broadcast_to(broadcast, slot, shape);
                }
                output.clone()
            }
            Operand::Constant(_) => output.clone(),
        }
    }

    /// Give broadcasts and constants among the inputs of an elementwise operation the shape of the others.
    fn agree(&mut self, step: &Step, inputs: &mut [Operand]) -> Result<()> {
        let slots = || {
            step.inputs.iter().filter_map(|operand| match operand {
                Operand::Slot(slot) => Some(*slot as usize),
                Operand::Constant(_) => None,
            })
        };
        let shape = match slots().find(|&slot| self.open[slot].is_none()) {
            Some(decisive) => self.new[decisive].shape.clone(),
            None => {
                let old = step.inputs[0].spec(&self.old).shape.clone();
                let assumed = self.shape_of_broadcasts(slots()).unwrap_or_else(|| old.clone());
                self.shape_from_hint(self.steps.len(), OUTPUT, &old, assumed)
            }
        };
        for operand in inputs {
            match operand {
                Operand::Slot(slot) => {
                    let slot = *slot as usize;
                    if let Some(broadcast) = self.open[slot].take() {
                        self.broadcast_to(broadcast, slot, shape.clone());
                    }
                    ensure!(
                        self.new[slot].shape == shape,
                        Value(step.op.name()),
                        "shapes {} and {shape} no longer match",
                        self.new[slot].shape
                    );
                }
                Operand::Constant(constant) => constant.0.shape.clone_from(&shape),
            }
        }
        Ok(())
    }

    /// The common shape of broadcasts that are combined with no other arrays.
    fn shape_of_broadcasts(&self, slots: impl Iterator<Item = usize>) -> Option<Shape> {
        let mut result: Option<Shape> = None;
        for slot in slots {
            let shape = result.get_or_insert_with(|| self.old[slot].shape.clone());
            let Some(broadcast) = self.open[slot] else { continue };
            let source = &self.steps[broadcast].inputs[0];
            let (old, new) = (&source.spec(&self.old).shape, &source.spec(&self.new).shape);
            let leading = shape.ndim() - old.ndim();
            for axis in 0..old.ndim() {
                if old[axis] != new[axis] && self.old[slot].shape[leading + axis] == old[axis] {
                    shape.as_mut_slice()[leading + axis] = new[axis];
                }
            }
        }
        result
    }

    /// Give constants and broadcasts the shape that follows from other inputs whose lengths changed, if one follows.
    fn shape_constants(&mut self, step: &Step, inputs: &mut [Operand]) -> Result<()> {
        let is_changed = |operand: &&Operand| operand.spec(&self.old) != operand.spec(&self.new);
        let changed = step.inputs.iter().find(is_changed);
        let changed = changed.map(|changed| {
            [&self.old, &self.new].map(|specs: &Vec<ArraySpec>| changed.spec(specs).shape.clone())
        });
        let shape_from_changed = |shape: &Shape| match &changed {
            Some([old, new]) if shape.ndim() == old.ndim() => step.op.constant_shape(shape, old, new),
            Some(_) | None => Some(shape.clone()),
        };
        let step_index = self.steps.len();
        let is_free = |input: usize| input == 1 && matches!(step.op, Op::SliceUpdate(_));
        for (input, operand) in inputs.iter_mut().enumerate().filter(|(input, _)| !is_free(*input)) {
            match operand {
                Operand::Constant(constant) if constant.0.shape.ndim() > 0 => {
                    let old = constant.0.shape.clone();
                    let assumed = shape_from_changed(&old).ok_or_else(|| ambiguous(&step.op))?;
                    constant.0.shape = self.shape_from_hint(step_index, input as u32, &old, assumed);
                }
                Operand::Constant(_) => {}
                Operand::Slot(slot) => {
                    let slot = *slot as usize;
                    let Some(broadcast) = self.open[slot] else { continue };
                    let (old, new) = (self.old[slot].shape.clone(), self.new[slot].shape.clone());
                    let assumed = if old == new { shape_from_changed(&new).unwrap_or(new) } else { new };
                    let shape = self.shape_from_hint(step_index, input as u32, &old, assumed);
                    self.broadcast_to(broadcast, slot, shape);
                }
            }
        }
        Ok(())
    }
}

/// The factors of an operand's axes, if one was merged.
fn factors_of<'j>(factored: &'j [Option<FactoredAxes>], operand: &Operand) -> Option<&'j [AxisFactors]> {
    match operand {
        Operand::Slot(slot) => factored[*slot as usize].as_deref(),
        Operand::Constant(_) => None,
    }
}

fn ambiguous(op: &Op) -> umber_types::Error {
    let error =
        || -> Result<()> { bail!(Value(op.name()), "the graph cannot be generalised to other lengths") };
    error().expect_err("always an error")
}

/// A nested program of an operation, for other lengths.
fn refined(program: &Program, arguments: &[ArraySpec]) -> Option<Body> {
    let refined = program.refined_by(arguments, Deciding::Hints(&Hints::default())).ok()?;
    let outputs = refined.program.outputs.iter().map(|output| output.spec(&refined.new).clone()).collect();
    Some(Body { program: refined.program, outputs })
}
