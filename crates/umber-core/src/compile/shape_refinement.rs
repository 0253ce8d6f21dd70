//! Adapting: the program that a function recorded at some lengths would give at others.
//!
//! What an operation is at other lengths its primitive says, in [`Primitive::generalize`]. What is decided here is what no
//! operation alone can know: the shapes of constants and broadcasts, which follow from what they meet.

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

/// A program at other lengths, and what its slots hold there and held before.
pub(crate) struct RefinedProgram {
    pub(crate) program: Program,
    pub(super) old: Vec<ArraySpec>,
    pub(super) new: Vec<ArraySpec>,
}

impl RefinedProgram {
    /// The first read that gives something else now: its slot and axis, and the lengths before and now.
    pub(crate) fn broken(&self, reads: &[ShapeGuard]) -> Option<(usize, usize, usize, usize)> {
        let read = reads.iter().find(|read| !read.holds(&self.old, &self.new))?;
        let slot = read.slot as usize;
        let length = |specs: &[ArraySpec]| specs[slot].shape[read.axis];
        Some((slot, read.axis, length(&self.old), length(&self.new)))
    }
}

impl Program {
    /// The program that the same function would give for arguments of other lengths.
    ///
    /// An error names the operation that could be one of several there. The answer is a candidate: lengths that the
    /// function worked into constants stay those of this program.
    pub fn refined(&self, arguments: &[ArraySpec]) -> Result<Program> {
        self.refined_by(arguments, Deciding::Hints(&Hints::default())).map(|refined| refined.program)
    }

    /// As [`Program::refined`], with what is known of single operations.
    pub(crate) fn refined_with(&self, arguments: &[ArraySpec], hints: &Hints) -> Result<RefinedProgram> {
        self.refined_by(arguments, Deciding::Hints(hints))
    }

    /// As [`Program::refined`], where `deciding` tells what the operations mean.
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
            // What is recorded for an axis without elements may be nothing at all.
            let may_become = |old: usize, new: usize| old == new || old > 0;
            ensure!(
                old.dtype == new.dtype
                    && old.shape.ndim() == new.shape.ndim()
                    && old.shape.iter().zip(new.shape.iter()).all(|(&old, &new)| may_become(old, new)),
                Value("compile"),
                "a graph recorded for {old} cannot be adapted to {new}"
            );
        }
        let mut adapting = ShapeRefiner {
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
            adapting.visit(step)?;
        }
        let outputs = self.outputs.iter().enumerate().map(|(i, output)| adapting.output(i, output)).collect();
        let ShapeRefiner { old, new, steps, .. } = adapting;
        let program = Program { arguments: arguments.to_vec(), steps, outputs };
        Ok(RefinedProgram { program, old, new })
    }
}

/// An update whose shape follows from where it is written.
#[derive(Clone, Copy)]
enum FreeUpdate {
    Constant,
    /// The step that broadcast it.
    Broadcast(usize),
}

struct ShapeRefiner<'a> {
    /// What the slots were, and are.
    old: Vec<ArraySpec>,
    new: Vec<ArraySpec>,
    /// The broadcast that made a slot whose shape its first user may still decide.
    open: Vec<Option<usize>>,
    /// Of slots with an axis that was joined from several: what each axis consists of.
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
        let answered = step.infer(&self.old)?;
        let general = self.generalized(step, &inputs, &answered, free_update.is_some());
        let Some(Generalized { op, axes }) = general else { return Err(ambiguous(&step.op)) };
        if let (Op::SliceUpdate(update), Some(free)) = (&op, free_update) {
            self.broadcast_update(&update.window.lengths, free, &mut inputs[1]);
        }
        let is_open = matches!(step.op, Op::Broadcast(_));
        let made = Step { op, inputs, ..step.clone() };
        // The steps of functions that an operation holds were adapted, and so checked, one by one.
        let holds_functions =
            made.op.control_flow().is_some() || matches!(made.op, Op::Custom(_) | Op::Checkpoint(_));
        if !holds_functions {
            let given: Vec<&ArraySpec> = made.inputs.iter().map(|operand| operand.spec(&self.new)).collect();
            validation::check(&made.op, &given)?;
        }
        let specs = made.infer(&self.new)?;
        let fits = specs.len() == answered.len()
            && specs.iter().zip(&answered).all(|(new, old)| new.shape.ndim() == old.shape.ndim());
        if !fits {
            return Err(ambiguous(&step.op));
        }
        let open = is_open.then_some(self.steps.len());
        self.open.resize(self.open.len() + specs.len(), open);
        self.factored.extend(specs.iter().zip(&answered).map(|(new, old)| {
            let parts = axes.as_deref().map(|parts| fitting(parts, &old.shape, &new.shape));
            parts.filter(|parts| parts.iter().any(|parts| parts.len() > 1))
        }));
        self.old.extend(answered);
        self.new.extend(specs);
        self.steps.push(made);
        Ok(())
    }

    /// What a step's operation is on the new inputs.
    fn generalized(
        &mut self,
        step: &Step,
        inputs: &[Operand],
        answered: &[ArraySpec],
        is_update_free: bool,
    ) -> Option<Generalized> {
        let mut change = Change {
            old: step.inputs.iter().map(|operand| operand.spec(&self.old)).collect(),
            new: inputs.iter().map(|operand| operand.spec(&self.new)).collect(),
            factored: step.inputs.iter().map(|operand| parts_of(&self.factored, operand)).collect(),
            answered,
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

    /// What is written by an update, if it is one number or a broadcast that takes the shape of the window.
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
            (FreeUpdate::Broadcast(maker), Operand::Slot(slot)) => {
                self.broadcast_to(maker, *slot as usize, shape.clone());
            }
            _ => {}
        }
    }

    /// Spread the matrices of one operand of a product to the batch of the other, if that was all a broadcast did.
    fn agree_on_batch(&mut self, inputs: &[Operand]) {
        let &[Operand::Slot(a), Operand::Slot(b)] = inputs else { return };
        for (own, other) in [(a, b), (b, a)] {
            let Some(maker) = self.open[own as usize] else { continue };
            let batch = self.new[other as usize].shape.ndim() - 2;
            let front = &self.new[other as usize].shape[..batch];
            let matrix = &self.new[own as usize].shape[batch..];
            let shape: Shape = front.iter().chain(matrix).copied().collect();
            if self.steps[maker].inputs[0].spec(&self.new).shape.broadcasts_to(&shape) {
                self.steps[maker].op = Broadcast { shape: shape.clone() }.into();
                self.new[own as usize].shape = shape;
            }
            return;
        }
    }

    /// The shape of an array that was `old`, of which `assumed` may be wrong: by the other trace, or what one told.
    fn shape_from_hint(&mut self, step: usize, place: u32, old: &Shape, mut assumed: Shape) -> Shape {
        match (&self.other, &mut self.deciding) {
            (Some(other), Deciding::Trace(_, hints)) => {
                let Some(shape) = other.shape(step, place).filter(|shape| shape.ndim() == old.ndim()) else {
                    return assumed;
                };
                let mut found = Vec::new();
                for axis in (0..old.ndim()).filter(|&axis| shape[axis] != assumed[axis]) {
                    let lengths = (old[axis], shape[axis]);
                    let arguments = self.old[..self.arguments].iter().zip(&self.new);
                    let axes = arguments.enumerate().flat_map(|(argument, (old, new))| {
                        let both = old.shape.iter().copied().zip(new.shape.iter().copied()).enumerate();
                        both.map(move |(axis, both)| ((argument, axis), both))
                    });
                    let mut axes = axes.filter(|(_, both)| *both == lengths).map(|(axis, _)| axis);
                    let Some(of) = axes.next() else { return assumed };
                    // Of two axes of one argument it cannot be told which it follows; those of several must agree.
                    if axes.any(|(argument, _)| argument == of.0) {
                        return assumed;
                    }
                    found.push((place, axis as u32, of));
                }
                if !found.is_empty() {
                    hints.put(step, Hint::Lengths(found));
                }
                shape.clone()
            }
            (_, Deciding::Hints(hints)) => {
                let lengths = hints.of(step).filter_map(|hint| match hint {
                    Hint::Lengths(lengths) => Some(lengths),
                    Hint::Rest(_) | Hint::Cut(_) | Hint::Place(_) => None,
                });
                for &(_, axis, (argument, along)) in lengths.flatten().filter(|(own, ..)| *own == place) {
                    let length = self.new.get(argument).and_then(|spec| spec.shape.get(along).copied());
                    if let (Some(length), Some(own)) = (length, assumed.as_mut_slice().get_mut(axis as usize))
                    {
                        *own = length;
                    }
                }
                assumed
            }
            (None, Deciding::Trace(..)) => assumed,
        }
    }

    /// Let a broadcast have another shape, if its source has that.
    fn broadcast_to(&mut self, maker: usize, slot: usize, shape: Shape) {
        if self.new[slot].shape != shape
            && self.steps[maker].inputs[0].spec(&self.new).shape.broadcasts_to(&shape)
        {
            self.steps[maker].op = Broadcast { shape: shape.clone() }.into();
            self.new[slot].shape = shape;
        }
    }

    /// An output of the program: of constants and broadcasts nothing else tells the lengths.
    fn output(&mut self, number: usize, output: &Operand) -> Operand {
        let place = self.steps.len() + number;
        match output {
            Operand::Constant(constant) if constant.0.shape.ndim() > 0 => {
                let mut constant = constant.clone();
                let old = constant.0.shape.clone();
                constant.0.shape = self.shape_from_hint(place, OUTPUT, &old, old.clone());
                Operand::Constant(constant)
            }
            Operand::Slot(slot) => {
                let slot = *slot as usize;
                if let Some(maker) = self.open[slot] {
                    let (old, new) = (self.old[slot].shape.clone(), self.new[slot].shape.clone());
                    let shape = self.shape_from_hint(place, OUTPUT, &old, new);
                    self.broadcast_to(maker, slot, shape);
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
            Some(decides) => self.new[decides].shape.clone(),
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
                    if let Some(maker) = self.open[slot].take() {
                        self.broadcast_to(maker, slot, shape.clone());
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

    /// The shape of what is broadcast together from sources alone.
    fn shape_of_broadcasts(&self, slots: impl Iterator<Item = usize>) -> Option<Shape> {
        let mut found: Option<Shape> = None;
        for slot in slots {
            let shape = found.get_or_insert_with(|| self.old[slot].shape.clone());
            let Some(maker) = self.open[slot] else { continue };
            let source = &self.steps[maker].inputs[0];
            let (old, new) = (&source.spec(&self.old).shape, &source.spec(&self.new).shape);
            let front = shape.ndim() - old.ndim();
            for axis in 0..old.ndim() {
                if old[axis] != new[axis] && self.old[slot].shape[front + axis] == old[axis] {
                    shape.as_mut_slice()[front + axis] = new[axis];
                }
            }
        }
        found
    }

    /// Give constants and broadcasts beside inputs of other lengths the shape that follows from these, where one does.
    fn shape_constants(&mut self, step: &Step, inputs: &mut [Operand]) -> Result<()> {
        let is_changed = |operand: &&Operand| operand.spec(&self.old) != operand.spec(&self.new);
        let changed = step.inputs.iter().find(is_changed);
        let changed = changed.map(|changed| {
            [&self.old, &self.new].map(|specs: &Vec<ArraySpec>| changed.spec(specs).shape.clone())
        });
        let follows = |shape: &Shape| match &changed {
            Some([old, new]) if shape.ndim() == old.ndim() => step.op.constant_shape(shape, old, new),
            Some(_) | None => Some(shape.clone()),
        };
        let number = self.steps.len();
        let is_free = |place: usize| place == 1 && matches!(step.op, Op::SliceUpdate(_));
        for (place, operand) in inputs.iter_mut().enumerate().filter(|(place, _)| !is_free(*place)) {
            match operand {
                Operand::Constant(constant) if constant.0.shape.ndim() > 0 => {
                    let old = constant.0.shape.clone();
                    let assumed = follows(&old).ok_or_else(|| ambiguous(&step.op))?;
                    constant.0.shape = self.shape_from_hint(number, place as u32, &old, assumed);
                }
                Operand::Constant(_) => {}
                Operand::Slot(slot) => {
                    let slot = *slot as usize;
                    let Some(maker) = self.open[slot] else { continue };
                    let (old, new) = (self.old[slot].shape.clone(), self.new[slot].shape.clone());
                    let assumed = if old == new { follows(&new).unwrap_or(new) } else { new };
                    let shape = self.shape_from_hint(number, place as u32, &old, assumed);
                    self.broadcast_to(maker, slot, shape);
                }
            }
        }
        Ok(())
    }
}

/// What an operand's axes consist of, if one was joined.
fn parts_of<'j>(factored: &'j [Option<FactoredAxes>], operand: &Operand) -> Option<&'j [AxisFactors]> {
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

/// A function that an operation holds, at other lengths.
fn refined(program: &Program, given: &[ArraySpec]) -> Option<Body> {
    let refined = program.refined_by(given, Deciding::Hints(&Hints::default())).ok()?;
    let outputs = refined.program.outputs.iter().map(|output| output.spec(&refined.new).clone()).collect();
    Some(Body { program: refined.program, outputs })
}
