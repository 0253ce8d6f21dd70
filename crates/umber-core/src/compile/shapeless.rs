//! Shapeless: a program recorded for arguments of some lengths, adapted to others.
//!
//! A candidate made by `adapting` is believed only after a trace at other lengths gave the very same program, and only for
//! the axes that were of other lengths then; and never of a function that read lengths itself, or that had an operation
//! whose lengths met a bound. So a wrong guess costs a trace, not a wrong result. Axes of length zero or one stay what they
//! are, since broadcasting and empty reductions treat them as something of their own.
//!
//! Constants that come of lengths come of their products, and of their sums where axes are concatenated. They differ if all
//! lengths that differ are greater, or all are less; where some are greater and some are less a trace tells nothing if
//! products or sums may agree by chance, as the number of elements of (2, 6) and (3, 4) does. Axes of several arguments that
//! went from one length to another together may be of one length by necessity, and are free together.

use std::collections::BTreeMap;
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
    /// The axes whose lengths are free, together with those that changed alike when that was found.
    free: Mutex<Vec<Alike>>,
}

/// Of more lengths that changed, some up and some down, products are not looked through.
const MOST_CHANGES: usize = 4;
/// How often a product that becomes a constant has one length at most.
const MOST_TIMES: usize = 4;

/// An axis of an argument.
type Axis = (usize, usize);
/// Axes that had one length, and then another one.
type Alike = Vec<Axis>;

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
        let origins = traced.captured.iter().map(Origin::of).collect();
        Family { origins, free: Mutex::new(Vec::new()), traced }
    }

    /// The graph for arguments of other lengths, if a trace would surely give it.
    pub fn graph(&self, arguments: &[Array]) -> Option<CompiledGraph> {
        let given = &self.traced.program.arguments[..self.traced.given];
        if arguments.len() != given.len() || self.traced.reads_sizes {
            return None;
        }
        let is_like = |(argument, spec): (&Array, &ArraySpec)| {
            argument.ndim() == spec.shape.ndim() && argument.dtype() == spec.dtype
        };
        if !arguments.iter().zip(given).all(is_like) {
            return None;
        }
        {
            let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let is_free = |axis: &Axis, new: usize| {
                let goes_along = |&(argument, other): &Axis| {
                    argument == axis.0 || arguments[argument].shape()[other] == new
                };
                free.iter().any(|alike| alike.contains(axis) && alike.iter().all(goes_along))
            };
            let specs = arguments.iter().map(Array::spec);
            let mut changed = changes(given, specs).into_iter();
            if !changed.all(|((_, new), axes)| axes.iter().all(|axis| is_free(axis, new))) {
                return None;
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
        let changes = changes(given, specs);
        if self.may_agree_by_chance(changes.keys().copied()) {
            return;
        }
        let adapted = self.traced.program.adapted(&self.with_captured(specs));
        let mut captured = self.origins.iter().zip(&other.captured);
        // Equal programs capture equally many arrays.
        if !adapted.is_ok_and(|adapted| adapted == other.program)
            || !captured.all(|(origin, array)| origin.is_like(&Origin::of(array)))
        {
            return;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for alike in changes.into_values() {
            if !free.contains(&alike) {
                free.push(alike);
            }
        }
    }

    /// Of each argument, the axes whose lengths are known to be free.
    pub fn free(&self) -> Vec<Vec<bool>> {
        let given = &self.traced.program.arguments[..self.traced.given];
        let mut free: Vec<_> = given.iter().map(|spec| vec![false; spec.shape.ndim()]).collect();
        for &(argument, axis) in self.free.lock().unwrap_or_else(PoisonError::into_inner).iter().flatten() {
            free[argument][axis] = true;
        }
        free
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

    /// May the program be the same at lengths that changed so though it depends on them?
    fn may_agree_by_chance(&self, changes: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        let mut ways = changes.clone().map(|(old, new)| old < new);
        let first = ways.next();
        if ways.all(|way| Some(way) == first) {
            return false;
        }
        let adds_lengths = |step: &Step| matches!(step.op, Op::Concatenate(_) | Op::Control(_));
        let growth: Vec<f64> = changes.map(|(old, new)| (new as f64 / old as f64).ln()).collect();
        if self.traced.program.steps.iter().any(adds_lengths) || growth.len() > MOST_CHANGES {
            return true;
        }
        // A product has each of them so many times.
        let times = |product: usize, i: usize| (product / (MOST_TIMES + 1).pow(i as u32)) % (MOST_TIMES + 1);
        (1..(MOST_TIMES + 1).pow(growth.len() as u32)).any(|product| {
            let grown: f64 = growth.iter().enumerate().map(|(i, log)| times(product, i) as f64 * log).sum();
            grown.abs() < 1e-9
        })
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

/// The axes that have another length, by what it was and is.
fn changes<'a>(
    old: &[ArraySpec],
    new: impl IntoIterator<Item = &'a ArraySpec>,
) -> BTreeMap<(usize, usize), Alike> {
    let mut changes = BTreeMap::<_, Alike>::new();
    for (argument, (old, new)) in old.iter().zip(new).enumerate() {
        for (axis, (&old, &new)) in old.shape.iter().zip(new.shape.iter()).enumerate() {
            if old != new {
                changes.entry((old, new)).or_default().push((argument, axis));
            }
        }
    }
    changes
}
