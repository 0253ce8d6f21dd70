//! Shapeless: a program recorded for arguments of some lengths, adapted to others.
//!
//! A candidate made by `adapting` is believed only after a trace at other lengths gave the very same program, and only for
//! the axes that were of other lengths then; and never of a function that read lengths itself. So a wrong guess costs a
//! trace, not a wrong result. Axes of length zero or one stay what they are, since broadcasting and empty reductions
//! treat them as something of their own.

use std::sync::{Mutex, PoisonError};

use smallvec::smallvec;

use super::constants::is_view;
use super::{CompiledGraph, Traced};
use crate::graph::program::{self, Operand, Step};
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;

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
        let traced = traced.opened();
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
        let other = other.clone().opened();
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

impl Traced {
    /// The same function that spreads captured arrays itself: what one is spread to depends on the lengths of arguments.
    fn opened(self) -> Traced {
        let Traced { program, given, captured, reads_sizes } = self;
        let mut kept: Vec<Array> = Vec::new();
        let mut places: Vec<usize> = (0..given).collect();
        let mut spread: Vec<Step> = Vec::new();
        let mut place_of = |array: &Array| {
            let known = kept.iter().position(|other| other.is_same(array));
            given
                + known.unwrap_or_else(|| {
                    kept.push(array.clone());
                    kept.len() - 1
                })
        };
        // Until it is known how many arrays are kept, what is spread has numbers from here.
        let beyond = program.slots() + captured.len();
        for array in &captured {
            let source = match array.node().op() {
                Op::Broadcast(_) if !array.is_evaluated() => array.node().lock_inputs().first().cloned(),
                _ => None,
            };
            places.push(match source {
                Some(source) => {
                    spread.push(Step {
                        op: array.node().op().clone(),
                        stream: array.node().stream(),
                        inputs: smallvec![Operand::Slot(place_of(&source) as u32)],
                        outputs: 1,
                        origin: program::Origin(array.node().origin().cloned()),
                    });
                    beyond + spread.len() - 1
                }
                None => place_of(array),
            });
        }
        if spread.is_empty() {
            return Traced { program, given, captured, reads_sizes };
        }
        let count = given + kept.len();
        let (old, more) = (program.arguments.len(), spread.len());
        let moved = |operand: &Operand| match operand {
            Operand::Slot(slot) => {
                let slot = *slot as usize;
                Operand::Slot(match places.get(slot) {
                    Some(&place) if place >= beyond => place - beyond + count,
                    Some(&place) => place,
                    None => slot - old + count + more,
                } as u32)
            }
            Operand::Constant(_) => operand.clone(),
        };
        let steps = program
            .steps
            .iter()
            .map(|step| Step { inputs: step.inputs.iter().map(moved).collect(), ..step.clone() });
        let opened = Program {
            arguments: program.arguments[..given]
                .iter()
                .chain(kept.iter().map(Array::spec))
                .cloned()
                .collect(),
            outputs: program.outputs.iter().map(moved).collect(),
            steps: spread.into_iter().chain(steps).collect(),
        };
        Traced { program: opened, given, captured: kept, reads_sizes }
    }
}

/// Which axes have another length?
fn changed(old: &ArraySpec, new: &ArraySpec) -> impl Iterator<Item = bool> {
    old.shape.iter().zip(new.shape.iter()).map(|(old, new)| old != new)
}
