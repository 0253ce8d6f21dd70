//! Adapting: the program that a function recorded at some lengths would give at others.
//!
//! Most operations say nothing of lengths. Those that do are adapted where what they were recorded with leaves one
//! possibility, and refused otherwise.

use smallvec::SmallVec;
use umber_types::{Result, Shape, bail, ensure};

use super::joining::{Joined, Parts, fitting, inherited, reshaped, whole};
use crate::graph::program::{Operand, Step};
use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitives::broadcast::Broadcast;
use crate::primitives::composite::Composite;
use crate::primitives::fft::Fft;
use crate::primitives::leaf::Leaf;
use crate::primitives::reshape::Reshape;
use crate::primitives::slice::{Slice, Window};
use crate::primitives::slice_update::SliceUpdate;
use crate::primitives::sort::{Sort, Sorted};

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
            joined: vec![None; arguments.len()],
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
pub(super) struct Change<'a> {
    pub(super) old: SmallVec<[&'a ArraySpec; 4]>,
    pub(super) new: SmallVec<[&'a ArraySpec; 4]>,
    /// What the axes of inputs consist of, where one was joined.
    pub(super) joined: SmallVec<[Option<&'a [Parts]>; 4]>,
    pub(super) answered: &'a [ArraySpec],
}

impl Change<'_> {
    /// Is this axis of the first input as long as before?
    fn is_kept(&self, axis: usize) -> bool {
        self.old[0].shape[axis] == self.new[0].shape[axis]
    }

    /// What the axes of an input consist of.
    pub(super) fn parts(&self, input: usize) -> Joined {
        match self.joined[input] {
            Some(parts) => parts.into(),
            None => whole(&self.old[input].shape, &self.new[input].shape),
        }
    }
}

struct Adapting {
    /// What the slots were, and are.
    old: Vec<ArraySpec>,
    new: Vec<ArraySpec>,
    /// The broadcast that made a slot whose shape its first user may still decide.
    open: Vec<Option<usize>>,
    /// Of slots with an axis that was joined from several: what each axis consists of.
    joined: Vec<Option<Joined>>,
    steps: Vec<Step>,
}

impl Adapting {
    fn visit(&mut self, step: &Step) -> Result<()> {
        let mut inputs = step.inputs.clone();
        if is_elementwise(&step.op) {
            self.agree(step, &mut inputs)?;
        } else {
            if matches!(step.op, Op::MatMul(_)) {
                self.agree_on_batch(&inputs);
            }
            self.check_constants(step)?;
            for operand in &inputs {
                if let Operand::Slot(slot) = operand {
                    self.open[*slot as usize] = None;
                }
            }
        }
        let answered = step.infer(&self.old)?;
        let (op, parts) = {
            let change = Change {
                old: step.inputs.iter().map(|operand| operand.spec(&self.old)).collect(),
                new: inputs.iter().map(|operand| operand.spec(&self.new)).collect(),
                joined: step.inputs.iter().map(|operand| self.parts(operand)).collect(),
                answered: &answered,
            };
            if matches!(step.op, Op::Reshape(_)) {
                let Some((shape, parts)) = reshaped(&change) else { return Err(ambiguous(&step.op)) };
                (Some(Reshape { shape }.into()), Some(parts))
            } else {
                let op =
                    if change.old == change.new { Some(step.op.clone()) } else { adapt(&step.op, &change) };
                (op, inherited(&step.op, &change))
            }
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
        self.joined.extend(specs.iter().zip(&answered).map(|(new, old)| {
            let parts = parts.as_deref().map(|parts| fitting(parts, &old.shape, &new.shape));
            parts.filter(|parts| parts.iter().any(|parts| parts.len() > 1))
        }));
        self.old.extend(answered);
        self.new.extend(specs);
        self.steps.push(made);
        Ok(())
    }

    /// What an operand's axes consist of, if one was joined.
    fn parts(&self, operand: &Operand) -> Option<&[Parts]> {
        match operand {
            Operand::Slot(slot) => self.joined[*slot as usize].as_deref(),
            Operand::Constant(_) => None,
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
                            self.new[slot].shape.clone_from(&shape);
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
                Operand::Constant(constant) => constant.0.shape.clone_from(&shape),
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
            | Composite::ShiftedLogSumExp(_)
            | Composite::Rope(_)
            | Composite::Attention(_)
            | Composite::AttentionGradient(_)
            | Composite::GatedDelta(_)
            | Composite::Spread(_)
            | Composite::MeanParts(_),
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
