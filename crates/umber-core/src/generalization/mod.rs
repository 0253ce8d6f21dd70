//! Generalization: the operation that the same function would have recorded at other lengths.
//!
//! `compile::adapting` walks a program and tells each primitive in a [`Change`] what its inputs were and are. What cannot be
//! told from one trace a second one at other lengths shows, and [`Hints`] remember. A wrong answer costs a trace, not a
//! wrong result, since candidates are believed only after a trace gave the very same program.

mod factored_axes;
mod hints;
mod slices;

use smallvec::SmallVec;

pub(crate) use self::factored_axes::{AxisFactors, FactoredAxes, fitting, reshaped, whole};
pub(crate) use self::hints::{Anchor, Hint, OUTPUT, only_change};
pub use self::hints::{Axis, Hints};
pub(crate) use self::slices::{cut, without_ones};
use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitives::control_flow::Body;

/// How an operation that could be one of several is decided.
#[derive(Debug)]
pub(crate) enum Deciding<'a> {
    /// By what is known of it.
    Hints(&'a Hints),
    /// By the same function traced at the new lengths; what is found is added to the hints.
    Trace(&'a Program, &'a mut Hints),
}

impl Deciding<'_> {
    /// The same, for a shorter time.
    pub(crate) fn lent(&mut self) -> Deciding<'_> {
        match self {
            Deciding::Hints(hints) => Deciding::Hints(hints),
            Deciding::Trace(other, hints) => Deciding::Trace(other, hints),
        }
    }
}

/// A step at other lengths: its inputs and outputs as they were, and its inputs as they are.
#[derive(Debug)]
pub struct Change<'a> {
    pub(crate) old: SmallVec<[&'a ArraySpec; 4]>,
    pub(crate) new: SmallVec<[&'a ArraySpec; 4]>,
    /// What the axes of inputs consist of, where one was joined.
    pub(crate) factored: SmallVec<[Option<&'a [AxisFactors]>; 4]>,
    pub(crate) answered: &'a [ArraySpec],
    /// May the second input have any shape that the operation asks for?
    pub(crate) is_update_free: bool,
    /// The number of the step.
    pub(crate) step: usize,
    pub(crate) deciding: Deciding<'a>,
    /// A function that an operation holds, for arguments of other lengths.
    pub(crate) refined: fn(&Program, &[ArraySpec]) -> Option<Body>,
}

impl<'a> Change<'a> {
    /// Has no input another length?
    pub(crate) fn is_none(&self) -> bool {
        self.old == self.new
    }

    /// What the axes of an input consist of.
    pub(crate) fn parts(&self, input: usize) -> FactoredAxes {
        match self.factored[input] {
            Some(parts) => parts.into(),
            None => whole(&self.old[input].shape, &self.new[input].shape),
        }
    }

    /// What the other trace recorded at this step.
    pub(crate) fn other(&self) -> Option<&'a Op> {
        match self.deciding {
            Deciding::Hints(_) => None,
            Deciding::Trace(other, _) => other.steps.get(self.step).map(|step| &step.op),
        }
    }

    /// What is known of the step and `find` looks for.
    pub(crate) fn hint<T>(&self, find: impl Fn(&Hint) -> Option<T>) -> Option<T> {
        match self.deciding {
            Deciding::Hints(hints) => hints.of(self.step).find_map(find),
            Deciding::Trace(..) => None,
        }
    }

    /// Remember what the other trace told of the step.
    pub(crate) fn note(&mut self, hint: Hint) {
        if let Deciding::Trace(_, hints) = &mut self.deciding {
            hints.put(self.step, hint);
        }
    }
}

/// An operation at other lengths, and what the axes of its outputs consist of, if one was joined.
#[derive(Debug)]
pub struct Generalized {
    pub(crate) op: Op,
    pub(crate) axes: Option<FactoredAxes>,
}

impl Generalized {
    /// An operation that says nothing of lengths, or the right ones now. Joined axes of its inputs are not told apart again
    /// behind it.
    pub(crate) fn of(op: impl Into<Op>) -> Generalized {
        Generalized { op: op.into(), axes: None }
    }

    /// As [`Generalized::of`], where the axes of the outputs are those of an input.
    pub(crate) fn along(op: impl Into<Op>, change: &Change<'_>, input: usize) -> Generalized {
        let axes = change.factored.get(input).copied().flatten().map(FactoredAxes::from);
        Generalized { op: op.into(), axes }
    }

    /// As [`Generalized::of`], of an elementwise operation.
    pub(crate) fn elementwise(op: impl Into<Op>, change: &Change<'_>) -> Generalized {
        Generalized::along(op, change, change.factored.iter().position(Option::is_some).unwrap_or(0))
    }
}

/// [`Primitive::generalize`](crate::primitive::Primitive::generalize) of an operation whose parameters say nothing of lengths;
/// with `along 0` the axes of its outputs are those of its first input.
macro_rules! any_lengths {
    () => {
        fn generalize(
            &self,
            _change: &mut crate::generalization::Change<'_>,
        ) -> Option<crate::generalization::Generalized> {
            Some(crate::generalization::Generalized::of(self.clone()))
        }
    };
    (along $input:literal) => {
        fn generalize(
            &self,
            change: &mut crate::generalization::Change<'_>,
        ) -> Option<crate::generalization::Generalized> {
            Some(crate::generalization::Generalized::along(self.clone(), change, $input))
        }
    };
}
pub(crate) use any_lengths;
