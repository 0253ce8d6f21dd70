//! Generalization: the operation that the same function would have recorded for other lengths.
//!
//! `compile::shape_refinement` walks a program and describes to each primitive, in a [`Change`], its old and new inputs. Where
//! one trace is ambiguous, a second one at other lengths decides, and [`Hints`] store the decision. A wrong result costs a
//! trace and no more, since candidates are trusted only after a trace has given an identical program.

mod factored_axes;
mod hints;
mod slices;

use smallvec::SmallVec;

pub(crate) use self::factored_axes::{AxisFactors, FactoredAxes, fitting, reshaped, unmerged};
pub(crate) use self::hints::{Anchor, Hint, OUTPUT, only_change};
pub use self::hints::{Axis, Hints};
pub(crate) use self::slices::{cut, without_ones};
use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitives::control_flow::Body;

/// How an ambiguous operation is decided.
#[derive(Debug)]
pub(crate) enum Deciding<'a> {
    /// By known hints.
    Hints(&'a Hints),
    /// By a trace of the same function at the new lengths; the decision is added to the hints.
    Trace(&'a Program, &'a mut Hints),
}

impl Deciding<'_> {
    /// A reborrow.
    pub(crate) fn lent(&mut self) -> Deciding<'_> {
        match self {
            Deciding::Hints(hints) => Deciding::Hints(hints),
            Deciding::Trace(other, hints) => Deciding::Trace(other, hints),
        }
    }
}

/// A step for other lengths: its old inputs and outputs, and its new inputs.
#[derive(Debug)]
pub struct Change<'a> {
    pub(crate) old: SmallVec<[&'a ArraySpec; 4]>,
    pub(crate) new: SmallVec<[&'a ArraySpec; 4]>,
    /// The factors of the axes of inputs with a merged axis.
    pub(crate) factored: SmallVec<[Option<&'a [AxisFactors]>; 4]>,
    pub(crate) answered: &'a [ArraySpec],
    /// Whether the second input may take any shape that the operation requires.
    pub(crate) is_update_free: bool,
    /// The index of the step.
    pub(crate) step: usize,
    pub(crate) deciding: Deciding<'a>,
    /// Refines a nested program of the operation for arguments of other lengths.
    pub(crate) refined: fn(&Program, &[ArraySpec]) -> Option<Body>,
}

impl<'a> Change<'a> {
    /// Whether no input changed.
    pub(crate) fn is_none(&self) -> bool {
        self.old == self.new
    }

    /// The factors of the axes of an input.
    pub(crate) fn parts(&self, input: usize) -> FactoredAxes {
        match self.factored[input] {
            Some(factors) => factors.into(),
            None => unmerged(&self.old[input].shape, &self.new[input].shape),
        }
    }

    /// The operation that the other trace recorded at this step.
    pub(crate) fn other(&self) -> Option<&'a Op> {
        match self.deciding {
            Deciding::Hints(_) => None,
            Deciding::Trace(other, _) => other.steps.get(self.step).map(|step| &step.op),
        }
    }

    /// The hint for the step that `find` accepts.
    pub(crate) fn hint<T>(&self, find: impl Fn(&Hint) -> Option<T>) -> Option<T> {
        match self.deciding {
            Deciding::Hints(hints) => hints.of(self.step).find_map(find),
            Deciding::Trace(..) => None,
        }
    }

    /// Record a hint for the step, if there is another trace.
    pub(crate) fn note(&mut self, hint: Hint) {
        if let Deciding::Trace(_, hints) = &mut self.deciding {
            hints.put(self.step, hint);
        }
    }
}

/// The operation for other lengths, and the factors of its outputs' axes, if one was merged.
#[derive(Debug)]
pub struct Generalized {
    pub(crate) op: Op,
    pub(crate) axes: Option<FactoredAxes>,
}

impl Generalized {
    /// An operation whose parameters do not depend on lengths, or are already updated. Factors of its inputs' axes are dropped.
    pub(crate) fn of(op: impl Into<Op>) -> Generalized {
        Generalized { op: op.into(), axes: None }
    }

    /// As [`Generalized::of`], with the factors of an input's axes for the outputs.
    pub(crate) fn along(op: impl Into<Op>, change: &Change<'_>, input: usize) -> Generalized {
        let axes = change.factored.get(input).copied().flatten().map(FactoredAxes::from);
        Generalized { op: op.into(), axes }
    }

    /// As [`Generalized::of`], for an elementwise operation.
    pub(crate) fn elementwise(op: impl Into<Op>, change: &Change<'_>) -> Generalized {
        Generalized::along(op, change, change.factored.iter().position(Option::is_some).unwrap_or(0))
    }
}

/// [`Primitive::generalize`](crate::primitive::Primitive::generalize) of an operation whose parameters do not depend on
/// lengths; with `along 0` the axes of its outputs have the factors of its first input.
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
