//! Shapeless: a program recorded for arguments of some lengths, adapted to others.
//!
//! A candidate made by `shape_refinement` is believed only after a trace at other lengths gave the very same program, and only for
//! the axes that were of other lengths then. So a wrong guess costs a trace, not a wrong result. Lengths that the function
//! read itself, or that met the bound of an operation, must be what they were. Lengths 0 and 1 are believed only where a trace
//! had them: reductions of nothing and broadcasts are something of their own. Such a trace leaves out what does nothing
//! there, as a slice of the first of one row; so at length 0 programs are compared as simplified, and at length 1, where
//! operations that look for it say so, only the shapes of the results.
//!
//! Constants that come of lengths come of their products, and of their sums where axes are concatenated. They differ if all
//! lengths that differ are greater, or all are less; where some are greater and some are less a trace tells nothing if
//! products or sums may agree by chance, as the number of elements of (2, 6) and (3, 4) does. Axes of several arguments that
//! went from one length to another together may be of one length by necessity, and are free together.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use smallvec::smallvec;
use umber_types::Result;

use super::shape_refinement::RefinedProgram;
use super::simplify::simplify;
use super::{CompiledGraph, Traced};
use crate::generalization::{Axis, Deciding, Hints};
use crate::graph::program::{self, Operand, Step};
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;

/// A function traced at some lengths, and for which axes others are known to be no different.
#[derive(Debug)]
pub struct ShapeGenericTrace {
    traced: Traced,
    /// Of the captured arrays.
    origins: Vec<CapturedView>,
    free: Mutex<FreeAxes>,
    /// What other traces told of single operations.
    hints: Mutex<Hints>,
}

/// Of more lengths that changed, some up and some down, products are not looked through.
const MAX_CHANGES: usize = 4;
/// How often a product that becomes a constant has one length at most.
const MAX_POWER: usize = 4;

/// How many operations behind captured arrays are compared, and how many bytes of one.
const MAX_NODES: usize = 1000;
const MAX_BYTES: usize = 1 << 20;

/// Axes that had one length, and then another one.
pub type EqualAxes = Vec<Axis>;

/// The axes of arguments that may have other lengths, each with those that changed alike when that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FreeAxes {
    /// Any lengths from two on.
    #[serde(rename = "axes")]
    pub long: Vec<EqualAxes>,
    /// The length 0 or 1.
    #[serde(default)]
    pub short: Vec<(usize, EqualAxes)>,
}

impl FreeAxes {
    /// Below this, an operation may do something else than at other lengths.
    pub(crate) const LONG: usize = 2;

    fn of_length(&self, length: usize) -> impl Iterator<Item = &EqualAxes> {
        let is_long = length >= FreeAxes::LONG;
        let long = self.long.iter().filter(move |_| is_long);
        long.chain(self.short.iter().filter(move |(own, _)| *own == length).map(|(_, alike)| alike))
    }

    fn put(&mut self, length: usize, alike: EqualAxes) {
        if self.of_length(length).any(|known| *known == alike) {
            return;
        }
        if length >= FreeAxes::LONG {
            self.long.push(alike);
        } else {
            self.short.push((length, alike));
        }
    }

    /// May an axis have the length it has in `specs`, alone or together with others?
    pub(crate) fn allow(&self, axis: Axis, specs: &[ArraySpec]) -> bool {
        let new = specs[axis.0].shape[axis.1];
        let is_alike = |&(argument, other): &Axis| argument == axis.0 || specs[argument].shape[other] == new;
        self.of_length(new).any(|alike| alike.contains(&axis) && alike.iter().all(is_alike))
    }

    /// All axes that may have another length.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Axis> {
        self.long.iter().chain(self.short.iter().map(|(_, alike)| alike)).flatten()
    }
}

/// How a captured array was made by views: two traces may make the same view of one array anew.
#[derive(Debug)]
struct CapturedView {
    /// The array, what it is a view of, and so on.
    arrays: Vec<Array>,
    /// What made each of them from the next.
    views: Vec<Op>,
}

impl CapturedView {
    fn of(array: &Array) -> CapturedView {
        let mut origin = CapturedView { arrays: vec![array.clone()], views: Vec::new() };
        let mut array = array.clone();
        while !array.is_evaluated()
            && (array.node().op().is_view() || matches!(array.node().op(), Op::Cast(_)))
        {
            let Some(source) = array.node().lock_inputs().first().cloned() else { break };
            origin.views.push(array.node().op().clone());
            origin.arrays.push(source.clone());
            array = source;
        }
        origin
    }

    fn is_like(&self, other: &CapturedView) -> bool {
        let mut most = MAX_NODES;
        let mut is_one = |(a, b): (&Array, &Array)| are_alike(a, b, &mut most);
        let shared = self.views.iter().zip(&other.views).take_while(|(a, b)| a == b).count();
        self.arrays.iter().zip(&other.arrays).take(shared + 1).any(&mut is_one)
    }
}

/// Do two arrays hold the same elements, or come of the same operations on such? Those that each trace makes for itself may.
fn are_alike(a: &Array, b: &Array, most: &mut usize) -> bool {
    if a.is_same(b) {
        return true;
    }
    let Some(left) = most.checked_sub(1) else { return false };
    *most = left;
    if a.spec() != b.spec()
        || a.output() != b.output()
        || a.is_externally_mutable()
        || b.is_externally_mutable()
    {
        return false;
    }
    fn bytes(array: &Array) -> Option<&[u8]> {
        array.storage()?.host()?.dense_bytes(array.dtype())
    }
    match (a.is_evaluated(), b.is_evaluated()) {
        (true, true) => a.nbytes() <= MAX_BYTES && bytes(a).is_some_and(|own| bytes(b) == Some(own)),
        (false, false) => {
            let [own, other] = [a, b].map(|array| array.node().lock_inputs().clone());
            a.node().op() == b.node().op()
                && own.len() == other.len()
                && own.iter().zip(&other).all(|(a, b)| are_alike(a, b, most))
        }
        _ => false,
    }
}

impl ShapeGenericTrace {
    /// The family of a function traced at certain lengths.
    pub fn new(traced: Traced) -> ShapeGenericTrace {
        let traced = traced.peel_broadcasts();
        let origins = traced.captured.iter().map(CapturedView::of).collect();
        ShapeGenericTrace { origins, free: Mutex::default(), hints: Mutex::default(), traced }
    }

    /// The graph for arguments of other lengths, if a trace would surely give it.
    pub fn graph(&self, arguments: &[Array]) -> Option<CompiledGraph> {
        let given = &self.traced.program.arguments[..self.traced.argument_count];
        if arguments.len() != given.len() || self.traced.reads.has_others {
            return None;
        }
        let is_like = |(argument, spec): (&Array, &ArraySpec)| {
            argument.ndim() == spec.shape.ndim() && argument.dtype() == spec.dtype
        };
        if !arguments.iter().zip(given).all(is_like) {
            return None;
        }
        let specs: Vec<ArraySpec> = arguments.iter().map(|argument| argument.spec().clone()).collect();
        let is_known = {
            let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            changes(given, &specs).iter().all(|(_, axes)| axes.iter().all(|&axis| free.allow(axis, &specs)))
        };
        if !is_known {
            return None;
        }
        let refined = self.refined(&specs).ok()?;
        if refined.broken(&self.traced.reads.slots).is_some() {
            return None;
        }
        let (captured, reads) = (self.traced.captured.clone(), self.traced.reads.clone());
        CompiledGraph::of(&refined.program, given.len(), captured, reads).ok()
    }

    fn refined(&self, given: &[ArraySpec]) -> Result<RefinedProgram> {
        let hints = self.hints();
        self.traced.program.refined_by(&self.with_captured(given), Deciding::Hints(&hints))
    }

    /// What other traces told of single operations.
    pub fn hints(&self) -> Hints {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The function as it was traced first, with captured arrays as its program wants them.
    pub fn traced(&self) -> &Traced {
        &self.traced
    }

    /// Compare with a trace at other lengths: if it is what this one adapts to, their difference is free.
    ///
    /// Returns whether it is.
    pub fn learn(&self, other: &Traced) -> bool {
        let given = &self.traced.program.arguments[..self.traced.argument_count];
        if self.traced.reads.has_others || other.reads.has_others || other.argument_count != given.len() {
            return false;
        }
        let other = other.clone().peel_broadcasts();
        let specs = &other.program.arguments[..other.argument_count];
        let changes = changes(given, specs);
        if self.may_agree_by_chance(changes.keys().copied()) {
            return false;
        }
        let reads = &self.traced.reads;
        let given = self.with_captured(specs);
        if let Some(length) = changes.keys().map(|(_, new)| *new).min().filter(|new| *new < FreeAxes::LONG) {
            let refined = self.traced.program.refined_by(&given, Deciding::Hints(&self.hints()));
            let is_same = refined.is_ok_and(|refined| {
                let (own, its) = (&refined.program, &other.program);
                let is_alike = match (length, simplify(own), simplify(its)) {
                    (1, ..) => have_one_result(own, its),
                    (_, Ok(a), Ok(b)) => a == b && self.captured_alike(&other.captured),
                    _ => false,
                };
                is_alike && refined.broken(&reads.slots).is_none()
            });
            if is_same {
                self.put_free(changes);
            }
            return is_same;
        }
        let gives_other = |deciding: Deciding<'_>| {
            self.traced.program.refined_by(&given, deciding).is_ok_and(|refined| {
                refined.program == other.program
                    && other.reads == *reads
                    && refined.broken(&reads.slots).is_none()
            })
        };
        let mut found = Hints::default();
        let mut hints = self.hints();
        // What is found must go with what is known.
        let is_same = gives_other(Deciding::Trace(&other.program, &mut found)) && {
            hints.merge(found);
            gives_other(Deciding::Hints(&hints))
        };
        if !is_same || !self.captured_alike(&other.captured) {
            return false;
        }
        self.put_free(changes);
        *self.hints.lock().unwrap_or_else(PoisonError::into_inner) = hints;
        true
    }

    /// Did a trace with an equal program, which captured equally many arrays, capture like ones?
    fn captured_alike(&self, others: &[Array]) -> bool {
        self.origins.iter().zip(others).all(|(origin, array)| origin.is_like(&CapturedView::of(array)))
    }

    fn put_free(&self, changes: BTreeMap<(usize, usize), EqualAxes>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for ((_, length), alike) in changes {
            free.put(length, alike);
        }
    }

    /// The axes whose lengths are known to be free.
    pub fn free(&self) -> FreeAxes {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// May the program be the same at lengths that changed so though it depends on them?
    fn may_agree_by_chance(&self, changes: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        let mut ways = changes.clone().map(|(old, new)| old < new);
        let first = ways.next();
        if ways.all(|way| Some(way) == first) {
            return false;
        }
        let adds_lengths = |step: &Step| step.op.adds_lengths();
        let growth: Vec<f64> = changes.map(|(old, new)| (new as f64 / old as f64).ln()).collect();
        if self.traced.program.steps.iter().any(adds_lengths) || growth.len() > MAX_CHANGES {
            return true;
        }
        // A product has each of them so many times.
        let times = |product: usize, i: usize| (product / (MAX_POWER + 1).pow(i as u32)) % (MAX_POWER + 1);
        (1..(MAX_POWER + 1).pow(growth.len() as u32)).any(|product| {
            let grown: f64 = growth.iter().enumerate().map(|(i, log)| times(product, i) as f64 * log).sum();
            grown.abs() < 1e-9
        })
    }

    fn with_captured<'a>(&'a self, given: impl IntoIterator<Item = &'a ArraySpec>) -> Vec<ArraySpec> {
        let captured = &self.traced.program.arguments[self.traced.argument_count..];
        given.into_iter().chain(captured).cloned().collect()
    }
}

/// What an array that is still to be computed spreads, or shows under another shape.
fn broadcast_source(array: &Array) -> Option<Array> {
    let is_view = !array.is_evaluated() && matches!(array.node().op(), Op::Broadcast(_) | Op::Reshape(_));
    is_view.then(|| array.node().lock_inputs().first().cloned())?
}

impl Traced {
    /// The same function that spreads captured arrays itself: what one is spread to depends on the lengths of arguments.
    fn peel_broadcasts(self) -> Traced {
        let Traced { program, argument_count: given, captured, mut reads } = self;
        let mut kept: Vec<Array> = Vec::new();
        let mut places: Vec<usize> = (0..given).collect();
        let mut broadcasts: Vec<Step> = Vec::new();
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
            let mut views: Vec<Array> = Vec::new();
            let mut source = array.clone();
            while let Some(inner) = broadcast_source(&source) {
                views.push(std::mem::replace(&mut source, inner));
            }
            // A reshape alone keeps the lengths that it has.
            while views.last().is_some_and(|view| !matches!(view.node().op(), Op::Broadcast(_))) {
                source = views.pop().expect("there is a last one");
            }
            let mut place = place_of(&source);
            for view in views.iter().rev() {
                broadcasts.push(Step {
                    op: view.node().op().clone(),
                    stream: view.node().stream(),
                    inputs: smallvec![Operand::Slot(place as u32)],
                    outputs: 1,
                    origin: program::SourceLine(view.node().origin().cloned()),
                });
                place = beyond + broadcasts.len() - 1;
            }
            places.push(place);
        }
        if broadcasts.is_empty() {
            return Traced { program, argument_count: given, captured, reads };
        }
        let count = given + kept.len();
        let (old, more) = (program.arguments.len(), broadcasts.len());
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
        let placed = |mut step: Step| {
            for operand in &mut step.inputs {
                match operand {
                    Operand::Slot(slot) if *slot as usize >= beyond => {
                        *slot = (*slot as usize - beyond + count) as u32;
                    }
                    Operand::Slot(_) | Operand::Constant(_) => {}
                }
            }
            step
        };
        let peel_broadcasts = Program {
            arguments: program.arguments[..given]
                .iter()
                .chain(kept.iter().map(Array::spec))
                .cloned()
                .collect(),
            outputs: program.outputs.iter().map(moved).collect(),
            steps: broadcasts.into_iter().map(placed).chain(steps).collect(),
        };
        reads.move_slots(|slot| match moved(&Operand::Slot(slot)) {
            Operand::Slot(slot) => slot,
            Operand::Constant(_) => slot,
        });
        Traced { program: peel_broadcasts, argument_count: given, captured: kept, reads }
    }
}

/// Do programs return arrays of the same shapes and dtypes?
fn have_one_result(a: &Program, b: &Program) -> bool {
    let results = |program: &Program| -> Result<Vec<ArraySpec>> {
        let made = program.specs()?;
        let slots: Vec<ArraySpec> =
            program.arguments.iter().cloned().chain(made.into_iter().flatten()).collect();
        Ok(program.outputs.iter().map(|output| output.spec(&slots).clone()).collect())
    };
    matches!((results(a), results(b)), (Ok(a), Ok(b)) if a == b)
}

/// The axes that have another length, by what it was and is.
pub(crate) fn changes<'a>(
    old: &[ArraySpec],
    new: impl IntoIterator<Item = &'a ArraySpec>,
) -> BTreeMap<(usize, usize), EqualAxes> {
    let mut changes = BTreeMap::<_, EqualAxes>::new();
    for (argument, (old, new)) in old.iter().zip(new).enumerate() {
        for (axis, (&old, &new)) in old.shape.iter().zip(new.shape.iter()).enumerate() {
            if old != new {
                changes.entry((old, new)).or_default().push((argument, axis));
            }
        }
    }
    changes
}
