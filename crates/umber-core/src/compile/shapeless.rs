//! Shapeless: a program recorded for arguments of some lengths, adapted to others.
//!
//! Most operations say nothing of lengths. Those that do are adapted where what they were recorded with leaves one
//! possibility, and refused otherwise. A candidate found so is believed only after a trace at other lengths gave the
//! very same program, and only for the axes that were of other lengths then; and never of a function that read lengths
//! itself. So a wrong guess costs a trace, not a wrong result. Axes of length zero or one stay what they are, since
//! broadcasting and empty reductions treat them as something of their own.

use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;
use umber_types::{Result, Shape, bail, ensure};

use super::constants::is_view;
use super::{CompiledGraph, Traced};
use crate::graph::program::{Operand, Step};
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::primitives::broadcast::Broadcast;
use crate::primitives::composite::Composite;
use crate::primitives::fft::Fft;
use crate::primitives::leaf::Leaf;
use crate::primitives::reshape::Reshape;
use crate::primitives::slice::{Slice, Window};
use crate::primitives::slice_update::SliceUpdate;
use crate::primitives::sort::{Sort, Sorted};

/// A function traced at some lengths, and for which axes others are known to be no different.
#[derive(Debug)]
pub struct Family {
    traced: Traced,
    /// Of the captured arrays.
    origins: Vec<Origin>,
    /// Of each argument, the axes whose lengths are free.
    free: Mutex<Vec<Vec<bool>>>,
}

/// How a captured array was made by views: two traces may make the same view of one array anew.
#[derive(Debug)]
struct Origin {
    /// The array, what it is a view of, and so on.
    arrays: Vec<Array>,
    /// What made each of them from the next.
    views: Vec<Op>,
}

impl Origin {
    fn of(array: &Array) -> Origin {
        let mut origin = Origin { arrays: vec![array.clone()], views: Vec::new() };
        let mut array = array.clone();
        while !array.is_evaluated()
            && (is_view(array.node().op()) || matches!(array.node().op(), Op::Cast(_)))
        {
            let Some(source) = array.node().lock_inputs().first().cloned() else { break };
            origin.views.push(array.node().op().clone());
            origin.arrays.push(source.clone());
            array = source;
        }
        origin
    }

    fn is_like(&self, other: &Origin) -> bool {
        let is_one = |(a, b): (&Array, &Array)| {
            let (one, two) = (a.node().op(), b.node().op());
            a.is_same(b) || (matches!(one, Op::Arange(_) | Op::Eye(_)) && one == two)
        };
        let shared = self.views.iter().zip(&other.views).take_while(|(a, b)| a == b).count();
        self.arrays.iter().zip(&other.arrays).take(shared + 1).any(is_one)
    }
}

impl Family {
    /// The family of a function traced at certain lengths.
    pub fn new(traced: Traced) -> Family {
        let given = &traced.program.arguments[..traced.given];
        let free = given.iter().map(|spec| vec![false; spec.shape.ndim()]).collect();
        let origins = traced.captured.iter().map(Origin::of).collect();
        Family { origins, free: Mutex::new(free), traced }
    }

    /// The graph for arguments of other lengths, if a trace would surely give it.
    pub fn graph(&self, arguments: &[Array]) -> Option<CompiledGraph> {
        let given = &self.traced.program.arguments[..self.traced.given];
        if arguments.len() != given.len() || self.traced.reads_sizes {
            return None;
        }
        {
            let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            for ((argument, spec), free) in arguments.iter().zip(given).zip(&*free) {
                let is_free =
                    changed(spec, argument.spec()).zip(free).all(|(changed, &free)| free || !changed);
                if argument.ndim() != spec.shape.ndim() || argument.dtype() != spec.dtype || !is_free {
                    return None;
                }
            }
        }
        let program = self.traced.program.adapted(&self.with_captured(arguments.iter().map(Array::spec)));
        CompiledGraph::of(&program.ok()?, given.len(), self.traced.captured.clone()).ok()
    }

    /// Compare with a trace at other lengths: if it is what this one adapts to, their difference is free.
    pub fn learn(&self, other: &Traced) {
        let given = &self.traced.program.arguments[..self.traced.given];
        if self.traced.reads_sizes || other.reads_sizes || other.given != given.len() {
            return;
        }
        let specs = &other.program.arguments[..other.given];
        let adapted = self.traced.program.adapted(&self.with_captured(specs));
        let mut captured = self.origins.iter().zip(&other.captured);
        // Equal programs capture equally many arrays.
        if !adapted.is_ok_and(|adapted| adapted == other.program)
            || !captured.all(|(origin, array)| origin.is_like(&Origin::of(array)))
        {
            return;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for ((spec, other), free) in given.iter().zip(specs).zip(&mut *free) {
            for (changed, free) in changed(spec, other).zip(free) {
                *free |= changed;
            }
        }
    }

    /// Of each argument, the axes whose lengths are known to be free.
    pub fn free(&self) -> Vec<Vec<bool>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why arguments like these have no graph yet, as far as the first trace tells.
    pub fn refusal(&self, given: &[ArraySpec]) -> String {
        if self.traced.reads_sizes {
            return "the function reads the lengths of axes itself".to_owned();
        }
        match self.traced.program.adapted(&self.with_captured(given)) {
            Ok(_) => "the function does something else at other lengths".to_owned(),
            Err(error) => error.message().to_owned(),
        }
    }

    fn with_captured<'a>(&'a self, given: impl IntoIterator<Item = &'a ArraySpec>) -> Vec<ArraySpec> {
        let captured = &self.traced.program.arguments[self.traced.given..];
        given.into_iter().chain(captured).cloned().collect()
    }
}

/// Which axes have another length?
fn changed(old: &ArraySpec, new: &ArraySpec) -> impl Iterator<Item = bool> {
    old.shape.iter().zip(new.shape.iter()).map(|(old, new)| old != new)
}

impl Program {
    /// The program that the same function would give for arguments of other lengths.
    ///
    /// An error names the operation that could be one of several there. The answer is a candidate: lengths that the
    /// function worked into constants stay those of this program.
    pub fn adapted(&self, arguments: &[ArraySpec]) -> Result<Program> {
        ensure!(
            arguments.len() == self.arguments.len(),
            Value,
            "[compile] got {} arguments, expected {}",
            arguments.len(),
            self.arguments.len()
        );
        for (old, new) in self.arguments.iter().zip(arguments) {
            let stays = |old: usize, new: usize| old == new || (old > 1 && new > 1);
            ensure!(
                old.dtype == new.dtype
                    && old.shape.ndim() == new.shape.ndim()
                    && old.shape.iter().zip(new.shape.iter()).all(|(&old, &new)| stays(old, new)),
                Value,
                "[compile] a graph recorded for {old} cannot be adapted to {new}"
            );
        }
        let mut adapting = Adapting {
            old: self.arguments.clone(),
            new: arguments.to_vec(),
            open: vec![None; arguments.len()],
            steps: Vec::with_capacity(self.steps.len()),
        };
        for step in &self.steps {
            adapting.visit(step)?;
        }
        let is_free_constant = |operand: &Operand| match operand {
            Operand::Constant(constant) => constant.0.shape.ndim() > 0,
            Operand::Slot(_) => false,
        };
        ensure!(
            self.arguments == arguments || !self.outputs.iter().any(is_free_constant),
            Value,
            "[full] the shape of a constant that is returned may depend on the lengths of arguments"
        );
        Ok(Program { arguments: arguments.to_vec(), steps: adapting.steps, outputs: self.outputs.clone() })
    }
}

/// An operation's inputs and outputs as they were, and its inputs as they are.
struct Change<'a> {
    old: SmallVec<[&'a ArraySpec; 4]>,
    new: SmallVec<[&'a ArraySpec; 4]>,
    answered: &'a [ArraySpec],
}

impl Change<'_> {
    /// Is this axis of the first input as long as before?
    fn is_kept(&self, axis: usize) -> bool {
        self.old[0].shape[axis] == self.new[0].shape[axis]
    }
}

struct Adapting {
    /// What the slots were, and are.
    old: Vec<ArraySpec>,
    new: Vec<ArraySpec>,
    /// The broadcast that made a slot whose shape its first user may still decide.
    open: Vec<Option<usize>>,
    steps: Vec<Step>,
}

impl Adapting {
    fn visit(&mut self, step: &Step) -> Result<()> {
        let mut inputs = step.inputs.clone();
        if is_elementwise(&step.op) {
            self.agree(step, &mut inputs)?;
        } else {
            self.check_constants(step)?;
            for operand in &inputs {
                if let Operand::Slot(slot) = operand {
                    self.open[*slot as usize] = None;
                }
            }
        }
        let answered = step.infer(&self.old)?;
        let op = {
            let change = Change {
                old: step.inputs.iter().map(|operand| operand.spec(&self.old)).collect(),
                new: inputs.iter().map(|operand| operand.spec(&self.new)).collect(),
                answered: &answered,
            };
            if change.old == change.new { Some(step.op.clone()) } else { adapt(&step.op, &change) }
        };
        let Some(op) = op else { return Err(ambiguous(&step.op)) };
        let is_open = matches!(step.op, Op::Broadcast(_));
        let made = Step { op, inputs, ..step.clone() };
        let specs = made.infer(&self.new)?;
        let fits = specs.len() == answered.len()
            && specs.iter().zip(&answered).all(|(new, old)| new.shape.ndim() == old.shape.ndim());
        if !fits {
            return Err(ambiguous(&step.op));
        }
        let open = is_open.then_some(self.steps.len());
        self.open.resize(self.open.len() + specs.len(), open);
        self.old.extend(answered);
        self.new.extend(specs);
        self.steps.push(made);
        Ok(())
    }

    /// Give broadcasts and constants among the inputs of an elementwise operation the shape of the others.
    fn agree(&mut self, step: &Step, inputs: &mut [Operand]) -> Result<()> {
        let slots = || {
            step.inputs.iter().filter_map(|operand| match operand {
                Operand::Slot(slot) => Some(*slot as usize),
                Operand::Constant(_) => None,
            })
        };
        let decides = slots().find(|&slot| self.open[slot].is_none()).or_else(|| slots().next());
        let Some(decides) = decides else { return Err(ambiguous(&step.op)) };
        let shape = self.new[decides].shape.clone();
        for operand in inputs {
            match operand {
                Operand::Slot(slot) => {
                    let slot = *slot as usize;
                    if let Some(maker) = self.open[slot].take() {
                        let source = self.steps[maker].inputs[0].spec(&self.new).shape.clone();
                        if self.new[slot].shape != shape && source.broadcasts_to(&shape) {
                            self.steps[maker].op = Broadcast { shape: shape.clone() }.into();
                            self.new[slot].shape = shape.clone();
                        }
                    }
                    ensure!(
                        self.new[slot].shape == shape,
                        Value,
                        "[{}] shapes {} and {shape} no longer agree",
                        step.op.name(),
                        self.new[slot].shape
                    );
                }
                Operand::Constant(constant) => constant.0.shape = shape.clone(),
            }
        }
        Ok(())
    }

    /// The shape of a constant beside inputs of other lengths may depend on them.
    fn check_constants(&self, step: &Step) -> Result<()> {
        let is_changed = |operand: &Operand| operand.spec(&self.old) != operand.spec(&self.new);
        let has_shape = |operand: &Operand| match operand {
            Operand::Constant(constant) => constant.0.shape.ndim() > 0,
            Operand::Slot(_) => false,
        };
        if step.inputs.iter().any(is_changed) && step.inputs.iter().any(has_shape) {
            return Err(ambiguous(&step.op));
        }
        Ok(())
    }
}

fn ambiguous(op: &Op) -> umber_types::Error {
    let error = || -> Result<()> {
        bail!(Value, "[{}] what it does at other lengths cannot be told from what it did at these", op.name())
    };
    error().expect_err("always an error")
}

fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Select(_) | Op::Cast(_))
}

/// The operation at the new lengths. One that is not listed has no answer, which is always safe.
fn adapt(op: &Op, change: &Change<'_>) -> Option<Op> {
    let adapted: Op = match op {
        // They say nothing of lengths.
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Select(_)
        | Op::Cast(_)
        | Op::Leaf(Leaf::Copy)
        | Op::Control(_)
        | Op::Transpose(_)
        | Op::Concatenate(_)
        | Op::Reduce(_)
        | Op::ArgReduce(_)
        | Op::GatherAxis(_)
        | Op::Composite(
            Composite::Softmax(_)
            | Composite::LogSumExp(_)
            | Composite::Rope(_)
            | Composite::Attention(_)
            | Composite::AttentionGradient(_)
            | Composite::GatedDelta(_),
        )
        | Op::Scan(_)
        | Op::Search(_)
        | Op::Sort(Sort { what: Sorted::Values | Sorted::Indices(_), .. })
        | Op::Cholesky(_)
        | Op::Solve(_)
        | Op::Inverse(_)
        | Op::Determinant(_) => op.clone(),
        Op::Composite(_) if change.old[1..] == change.new[1..] => op.clone(),
        Op::MatMul(_) => {
            let [a, b] = [0, 1].map(|i| &change.new[i].shape);
            let batch = a.ndim() - 2;
            (a[..batch] == b[..batch]).then(|| op.clone())?
        }
        // Places in an axis of another length may mean others.
        Op::Gather(gather) => {
            let kept = gather.axes.iter().all(|&axis| change.is_kept(axis));
            kept.then(|| op.clone())?
        }
        Op::Reshape(_) => Reshape { shape: reshaped(change)? }.into(),
        Op::Broadcast(Broadcast { shape }) => {
            let (old, new) = (&change.old[0].shape, &change.new[0].shape);
            let front = shape.ndim() - old.ndim();
            let mut shape = shape.clone();
            for axis in 0..old.ndim() {
                if shape[front + axis] == old[axis] {
                    shape.as_mut_slice()[front + axis] = new[axis];
                }
            }
            Broadcast { shape }.into()
        }
        Op::Slice(Slice { window, shape }) if *shape == window.lengths => {
            let window = widened(window, change)?;
            Slice { shape: window.lengths.clone(), window: Box::new(window) }.into()
        }
        Op::SliceUpdate(SliceUpdate { window, kind }) => {
            SliceUpdate { window: Box::new(widened(window, change)?), kind: *kind }.into()
        }
        Op::Fft(fft) if change.is_kept(fft.axis) => Fft { ..*fft }.into(),
        _ => return None,
    };
    Some(adapted)
}

/// A window that is all of every axis that has another length now.
fn widened(window: &Window, change: &Change<'_>) -> Option<Window> {
    let (old, new) = (&change.old[0].shape, &change.new[0].shape);
    let mut widened = window.clone();
    for axis in 0..old.ndim() {
        if old[axis] == new[axis] {
            continue;
        }
        let backwards = window.steps[axis] == -1 && window.starts[axis] + 1 == old[axis];
        let forwards = window.steps[axis] == 1 && window.starts[axis] == 0;
        if window.lengths[axis] != old[axis] || !(forwards || backwards) {
            return None;
        }
        if backwards {
            widened.starts[axis] = new[axis] - 1;
        }
        widened.lengths.as_mut_slice()[axis] = new[axis];
    }
    Some(widened)
}

/// The shape that a reshape reaches: axes that were kept or joined are so again; one that was split must not change.
fn reshaped(change: &Change<'_>) -> Option<Shape> {
    let (from, to) = (&change.old[0].shape, &change.answered[0].shape);
    let new = &change.new[0].shape;
    let mut shape = to.clone();
    let (mut i, mut j) = (0, 0);
    while i < from.ndim() || j < to.ndim() {
        // The shortest groups of axes with equally many elements.
        let (first, start) = (i, j);
        let (mut given, mut taken) = (1, 1);
        if i < from.ndim() {
            given = from[i];
            i += 1;
        }
        if j < to.ndim() && (given != 1 || i == from.ndim() || to[j] == 1) {
            taken = to[j];
            j += 1;
        }
        while given != taken {
            if given < taken && i < from.ndim() {
                given *= from[i];
                i += 1;
            } else if j < to.ndim() {
                taken *= to[j];
                j += 1;
            } else {
                return None;
            }
        }
        if from[first..i] == new[first..i] {
            continue;
        }
        let mut long = (start..j).filter(|&axis| to[axis] != 1);
        let (axis, None) = (long.next()?, long.next()) else { return None };
        shape.as_mut_slice()[axis] = new[first..i].iter().product();
    }
    Some(shape)
}
