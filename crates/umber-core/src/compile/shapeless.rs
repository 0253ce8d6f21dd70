//! Shapeless compilation: reuse a program recorded for some lengths for others.
//!
//! A candidate of `shape_refinement` is trusted only after a trace at other lengths has given an identical program, and only for
//! the axes whose lengths differed in that trace. A wrong guess therefore costs a trace, not a wrong result. Lengths that the
//! function read itself, or that determined the behaviour of an operation, must not change. Lengths 0 and 1 are trusted only if a
//! trace had them, since reductions of no elements and broadcasts are special cases. Such a trace omits operations that do
//! nothing, such as a slice of the first row of one row. For length 0, programs are therefore compared after simplification;
//! for length 1, where operations that check for it are guarded, only the shapes of the results are compared.
//!
//! Constants that depend on lengths are products of lengths, or sums if axes are concatenated. They differ if all changed
//! lengths grow, or all shrink. If some grow and some shrink, a trace is no evidence if products or sums may agree by chance, as
//! the numbers of elements of (2, 6) and (3, 4) do. Axes of several arguments that changed from one length to another together
//! may be required to be equal, and are free only together.

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

/// A function traced at some lengths, and the axes that are known to be free.
#[derive(Debug)]
pub struct ShapeGenericTrace {
    traced: Traced,
    /// The views through which captured arrays were derived.
    origins: Vec<CapturedView>,
    free: Mutex<FreeAxes>,
    /// Facts about ambiguous operations found in other traces.
    hints: Mutex<Hints>,
}

/// Maximum number of changed lengths, some growing and some shrinking, for which products are checked.
const MAX_CHANGES: usize = 4;
/// Maximum power of a length in a product that becomes a constant.
const MAX_POWER: usize = 4;

/// Maximum number of operations compared behind captured arrays, and maximum size of a compared array.
const MAX_NODES: usize = 1000;
const MAX_BYTES: usize = 1 << 20;

/// Axes that changed from one common length to another.
pub type EqualAxes = Vec<Axis>;

/// The axes of arguments that may have other lengths, each with the axes that changed together with it when this was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FreeAxes {
    /// Axes that may have any length from 2 on.
    #[serde(rename = "axes")]
    pub long: Vec<EqualAxes>,
    /// Axes that may have length 0 or 1.
    #[serde(default)]
    pub short: Vec<(usize, EqualAxes)>,
}

impl FreeAxes {
    /// Minimum length of the general case; below it, an operation may behave differently.
    pub(crate) const LONG: usize = 2;

    fn of_length(&self, length: usize) -> impl Iterator<Item = &EqualAxes> {
        let is_long = length >= FreeAxes::LONG;
        let long = self.long.iter().filter(move |_| is_long);
        long.chain(
            self.short.iter().filter(move |(short_length, _)| *short_length == length).map(|(_, axes)| axes),
        )
    }

    fn insert(&mut self, length: usize, axes: EqualAxes) {
        if self.of_length(length).any(|known| *known == axes) {
            return;
        }
        if length >= FreeAxes::LONG {
            self.long.push(axes);
        } else {
            self.short.push((length, axes));
        }
    }

    /// Whether an axis may have the length it has in `specs`, alone or together with others.
    pub(crate) fn allow(&self, axis: Axis, specs: &[ArraySpec]) -> bool {
        let new = specs[axis.0].shape[axis.1];
        let has_length =
            |&(argument, other): &Axis| argument == axis.0 || specs[argument].shape[other] == new;
        self.of_length(new).any(|axes| axes.contains(&axis) && axes.iter().all(has_length))
    }

    /// All axes that may have other lengths.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Axis> {
        self.long.iter().chain(self.short.iter().map(|(_, axes)| axes)).flatten()
    }
}

/// The chain of views from which a captured array was derived: two traces may create the same view of one array again.
#[derive(Debug)]
struct CapturedView {
    /// The array, the source of its view, and so on.
    arrays: Vec<Array>,
    /// The operations that compute each from the next.
    views: Vec<Op>,
}

impl CapturedView {
    fn of(array: &Array) -> CapturedView {
        let mut result = CapturedView { arrays: vec![array.clone()], views: Vec::new() };
        let mut array = array.clone();
        while !array.is_evaluated()
            && (array.node().op().is_view() || matches!(array.node().op(), Op::Cast(_)))
        {
            let Some(source) = array.node().lock_inputs().first().cloned() else { break };
            result.views.push(array.node().op().clone());
            result.arrays.push(source.clone());
            array = source;
        }
        result
    }

    fn is_equivalent(&self, other: &CapturedView) -> bool {
        let mut remaining = MAX_NODES;
        let mut are_equivalent_arrays = |(a, b): (&Array, &Array)| are_equivalent(a, b, &mut remaining);
        let shared = self.views.iter().zip(&other.views).take_while(|(a, b)| a == b).count();
        self.arrays.iter().zip(&other.arrays).take(shared + 1).any(&mut are_equivalent_arrays)
    }
}

/// Whether two arrays hold the same elements, or are computed by the same operations from such arrays, as each trace may create
/// its own.
fn are_equivalent(a: &Array, b: &Array, remaining: &mut usize) -> bool {
    if a.is_same(b) {
        return true;
    }
    let Some(less) = remaining.checked_sub(1) else { return false };
    *remaining = less;
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
        (true, true) => {
            a.nbytes() <= MAX_BYTES && bytes(a).is_some_and(|bytes_of_a| bytes(b) == Some(bytes_of_a))
        }
        (false, false) => {
            let [inputs, other_inputs] = [a, b].map(|array| array.node().lock_inputs().clone());
            a.node().op() == b.node().op()
                && inputs.len() == other_inputs.len()
                && inputs.iter().zip(&other_inputs).all(|(a, b)| are_equivalent(a, b, remaining))
        }
        _ => false,
    }
}

impl ShapeGenericTrace {
    /// Start with a function traced at certain lengths.
    pub fn new(traced: Traced) -> ShapeGenericTrace {
        let traced = traced.peel_broadcasts();
        let origins = traced.captured.iter().map(CapturedView::of).collect();
        ShapeGenericTrace { origins, free: Mutex::default(), hints: Mutex::default(), traced }
    }

    /// The graph for arguments of other lengths, if a trace would certainly give the same.
    pub fn graph(&self, arguments: &[Array]) -> Option<CompiledGraph> {
        let traced_specs = &self.traced.program.arguments[..self.traced.argument_count];
        if arguments.len() != traced_specs.len() || self.traced.reads.has_others {
            return None;
        }
        let has_same_kind = |(argument, spec): (&Array, &ArraySpec)| {
            argument.ndim() == spec.shape.ndim() && argument.dtype() == spec.dtype
        };
        if !arguments.iter().zip(traced_specs).all(has_same_kind) {
            return None;
        }
        let specs: Vec<ArraySpec> = arguments.iter().map(|argument| argument.spec().clone()).collect();
        let is_known = {
            let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            changes(traced_specs, &specs)
                .iter()
                .all(|(_, axes)| axes.iter().all(|&axis| free.allow(axis, &specs)))
        };
        if !is_known {
            return None;
        }
        let refined = self.refined(&specs).ok()?;
        if refined.violated(&self.traced.reads.slots).is_some() {
            return None;
        }
        let (captured, reads) = (self.traced.captured.clone(), self.traced.reads.clone());
        CompiledGraph::of(&refined.program, traced_specs.len(), captured, reads).ok()
    }

    fn refined(&self, specs: &[ArraySpec]) -> Result<RefinedProgram> {
        let hints = self.hints();
        self.traced.program.refined_by(&self.with_captured(specs), Deciding::Hints(&hints))
    }

    /// Facts about ambiguous operations found in other traces.
    pub fn hints(&self) -> Hints {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The function as first traced, with captured arrays in the form its program uses.
    pub fn traced(&self) -> &Traced {
        &self.traced
    }

    /// Compare with a trace at other lengths. If refining this program gives that one, the changed axes become free.
    ///
    /// Returns whether it does.
    pub fn learn(&self, other: &Traced) -> bool {
        let traced_specs = &self.traced.program.arguments[..self.traced.argument_count];
        if self.traced.reads.has_others
            || other.reads.has_others
            || other.argument_count != traced_specs.len()
        {
            return false;
        }
        let other = other.clone().peel_broadcasts();
        let specs = &other.program.arguments[..other.argument_count];
        let changes = changes(traced_specs, specs);
        if self.may_agree_by_chance(changes.keys().copied()) {
            return false;
        }
        let reads = &self.traced.reads;
        let new_specs = self.with_captured(specs);
        if let Some(length) = changes.keys().map(|(_, new)| *new).min().filter(|new| *new < FreeAxes::LONG) {
            let refined = self.traced.program.refined_by(&new_specs, Deciding::Hints(&self.hints()));
            let is_same = refined.is_ok_and(|refined| {
                let (refined_program, other_program) = (&refined.program, &other.program);
                let is_equal = match (length, simplify(refined_program), simplify(other_program)) {
                    (1, ..) => have_same_results(refined_program, other_program),
                    (_, Ok(a), Ok(b)) => a == b && self.captured_equivalent(&other.captured),
                    _ => false,
                };
                is_equal && refined.violated(&reads.slots).is_none()
            });
            if is_same {
                self.insert_free(changes);
            }
            return is_same;
        }
        let gives_other = |deciding: Deciding<'_>| {
            self.traced.program.refined_by(&new_specs, deciding).is_ok_and(|refined| {
                refined.program == other.program
                    && other.reads == *reads
                    && refined.violated(&reads.slots).is_none()
            })
        };
        let mut new_hints = Hints::default();
        let mut hints = self.hints();
        // The new hints must be consistent with the known ones.
        let is_same = gives_other(Deciding::Trace(&other.program, &mut new_hints)) && {
            hints.merge(new_hints);
            gives_other(Deciding::Hints(&hints))
        };
        if !is_same || !self.captured_equivalent(&other.captured) {
            return false;
        }
        self.insert_free(changes);
        *self.hints.lock().unwrap_or_else(PoisonError::into_inner) = hints;
        true
    }

    /// Whether a trace with an equal program captured equivalent arrays.
    fn captured_equivalent(&self, others: &[Array]) -> bool {
        self.origins.iter().zip(others).all(|(origin, array)| origin.is_equivalent(&CapturedView::of(array)))
    }

    fn insert_free(&self, changes: BTreeMap<(usize, usize), EqualAxes>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        for ((_, length), axes) in changes {
            free.insert(length, axes);
        }
    }

    /// The axes that are known to be free.
    pub fn free(&self) -> FreeAxes {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the program could be equal for these changes of lengths although it depends on the lengths.
    fn may_agree_by_chance(&self, changes: impl Iterator<Item = (usize, usize)> + Clone) -> bool {
        let mut grows = changes.clone().map(|(old, new)| old < new);
        let first = grows.next();
        if grows.all(|direction| Some(direction) == first) {
            return false;
        }
        let adds_lengths = |step: &Step| step.op.adds_lengths();
        let growth: Vec<f64> = changes.map(|(old, new)| (new as f64 / old as f64).ln()).collect();
        if self.traced.program.steps.iter().any(adds_lengths) || growth.len() > MAX_CHANGES {
            return true;
        }
        // The product as digits in base `MAX_POWER + 1`: the power of each length.
        let power = |powers: usize, i: usize| (powers / (MAX_POWER + 1).pow(i as u32)) % (MAX_POWER + 1);
        (1..(MAX_POWER + 1).pow(growth.len() as u32)).any(|powers| {
            let log_ratio: f64 =
                growth.iter().enumerate().map(|(i, log)| power(powers, i) as f64 * log).sum();
            log_ratio.abs() < 1e-9
        })
    }

    fn with_captured<'a>(&'a self, specs: impl IntoIterator<Item = &'a ArraySpec>) -> Vec<ArraySpec> {
        let captured = &self.traced.program.arguments[self.traced.argument_count..];
        specs.into_iter().chain(captured).cloned().collect()
    }
}

/// The source of an unevaluated broadcast or reshape.
fn broadcast_source(array: &Array) -> Option<Array> {
    let is_view = !array.is_evaluated() && matches!(array.node().op(), Op::Broadcast(_) | Op::Reshape(_));
    is_view.then(|| array.node().lock_inputs().first().cloned())?
}

impl Traced {
    /// The same function with broadcasts of captured arrays inside the program, since their shapes depend on the lengths of
    /// arguments.
    fn peel_broadcasts(self) -> Traced {
        let Traced { program, argument_count, captured, mut reads } = self;
        let mut sources: Vec<Array> = Vec::new();
        let mut new_slots: Vec<usize> = (0..argument_count).collect();
        let mut broadcasts: Vec<Step> = Vec::new();
        let mut slot_of = |array: &Array| {
            let known = sources.iter().position(|other| other.is_same(array));
            argument_count
                + known.unwrap_or_else(|| {
                    sources.push(array.clone());
                    sources.len() - 1
                })
        };
        // Temporary numbers of broadcast slots, until the number of sources is known.
        let first_broadcast = program.slots() + captured.len();
        for array in &captured {
            let mut views: Vec<Array> = Vec::new();
            let mut source = array.clone();
            while let Some(inner) = broadcast_source(&source) {
                views.push(std::mem::replace(&mut source, inner));
            }
            // A reshape without a broadcast does not depend on lengths of arguments.
            while views.last().is_some_and(|view| !matches!(view.node().op(), Op::Broadcast(_))) {
                source = views.pop().expect("the last view is a reshape");
            }
            let mut slot = slot_of(&source);
            for view in views.iter().rev() {
                broadcasts.push(Step {
                    op: view.node().op().clone(),
                    stream: view.node().stream(),
                    inputs: smallvec![Operand::Slot(slot as u32)],
                    outputs: 1,
                    origin: program::SourceLine(view.node().origin().cloned()),
                });
                slot = first_broadcast + broadcasts.len() - 1;
            }
            new_slots.push(slot);
        }
        if broadcasts.is_empty() {
            return Traced { program, argument_count, captured, reads };
        }
        let count = argument_count + sources.len();
        let (old_arguments, broadcast_count) = (program.arguments.len(), broadcasts.len());
        let renumber = |operand: &Operand| match operand {
            Operand::Slot(slot) => {
                let slot = *slot as usize;
                Operand::Slot(match new_slots.get(slot) {
                    Some(&new) if new >= first_broadcast => new - first_broadcast + count,
                    Some(&new) => new,
                    None => slot - old_arguments + count + broadcast_count,
                } as u32)
            }
            Operand::Constant(_) => operand.clone(),
        };
        let steps = program
            .steps
            .iter()
            .map(|step| Step { inputs: step.inputs.iter().map(renumber).collect(), ..step.clone() });
        let renumber_broadcasts = |mut step: Step| {
            for operand in &mut step.inputs {
                match operand {
                    Operand::Slot(slot) if *slot as usize >= first_broadcast => {
                        *slot = (*slot as usize - first_broadcast + count) as u32;
                    }
                    Operand::Slot(_) | Operand::Constant(_) => {}
                }
            }
            step
        };
        let peeled = Program {
            arguments: program.arguments[..argument_count]
                .iter()
                .chain(sources.iter().map(Array::spec))
                .cloned()
                .collect(),
            outputs: program.outputs.iter().map(renumber).collect(),
            steps: broadcasts.into_iter().map(renumber_broadcasts).chain(steps).collect(),
        };
        reads.renumber_slots(|slot| match renumber(&Operand::Slot(slot)) {
            Operand::Slot(slot) => slot,
            Operand::Constant(_) => slot,
        });
        Traced { program: peeled, argument_count, captured: sources, reads }
    }
}

/// Whether two programs return arrays of the same shapes and dtypes.
fn have_same_results(a: &Program, b: &Program) -> bool {
    let results = |program: &Program| -> Result<Vec<ArraySpec>> {
        let outputs = program.specs()?;
        let slots: Vec<ArraySpec> =
            program.arguments.iter().cloned().chain(outputs.into_iter().flatten()).collect();
        Ok(program.outputs.iter().map(|output| output.spec(&slots).clone()).collect())
    };
    matches!((results(a), results(b)), (Ok(a), Ok(b)) if a == b)
}

/// The axes whose lengths change, by old and new length.
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
