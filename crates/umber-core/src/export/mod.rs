//! Export: functions as data that files can keep, and graphs as pictures.

mod dot;
mod mlx_names;

use std::collections::BTreeSet;

use umber_types::{Error, ErrorKind, Result, bail, ensure};

pub use self::dot::{letters, to_dot};
pub use self::mlx_names::{MlxOperation, Parameter};
use crate::compile::{self, Axis, FreeAxes, Hints, ShapeGenericTrace, ShapeGuard, Traced, Tracing};
use crate::graph::tracing::Lengths;
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::control_flow::ControlFlow;
use crate::primitives::leaf::Leaf;
use crate::validation;

/// The arguments that a trace of a function is for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Signature {
    /// Arguments by position.
    pub positional: Vec<ArraySpec>,
    /// Arguments by name, in the order of the names.
    pub keywords: Vec<(String, ArraySpec)>,
}

impl Signature {
    /// The signature of a call.
    pub fn of(positional: &[Array], keywords: &[(String, Array)]) -> Signature {
        let mut keywords: Vec<_> =
            keywords.iter().map(|(name, array)| (name.clone(), array.spec().clone())).collect();
        keywords.sort_by(|a, b| a.0.cmp(&b.0));
        Signature { positional: positional.iter().map(|array| array.spec().clone()).collect(), keywords }
    }

    /// All arguments, those by name last.
    pub fn specs(&self) -> impl Iterator<Item = &ArraySpec> {
        self.positional.iter().chain(self.keywords.iter().map(|(_, spec)| spec))
    }

    fn has_names_of(&self, other: &Signature) -> bool {
        self.positional.len() == other.positional.len()
            && self.keywords.iter().map(|(name, _)| name).eq(other.keywords.iter().map(|(name, _)| name))
    }
}

/// A function as traced for one signature.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The arguments it was exported with.
    pub signature: Signature,
    /// At which other lengths it may be called.
    pub free: Free,
    /// What it does with its arguments and constants.
    pub program: Program,
    /// The arrays it captured.
    pub constants: Vec<Array>,
}

/// At which lengths other than those of its program an exported function may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Free {
    /// The axes of arguments that may have other lengths.
    #[serde(flatten)]
    pub axes: FreeAxes,
    /// The lengths that the function read itself. These stay what they were.
    pub reads: Vec<ShapeGuard>,
    /// What is known of single operations at other lengths.
    pub hints: Hints,
}

/// Begin to trace a function that is to be exported; the arguments by name come last, in the order of the names.
pub fn begin(signature: &Signature, lengths: Lengths) -> Tracing {
    compile::begin_with(signature.specs().cloned(), Leaf::Trace, lengths)
}

/// End a trace from [`begin`]: what the function recorded, without operations that a file cannot hold.
pub fn end(tracing: Tracing, outputs: &[Array]) -> Result<Traced> {
    tracing.end_expanded(outputs, is_transient)
}

impl Exported {
    /// The function that was traced for one signature.
    pub fn new(signature: Signature, traced: &Traced) -> Result<Exported> {
        for constant in traced.captured() {
            ensure!(
                !constant.is_traced(),
                Value("export_function"),
                "the function captured a traced array of shape {}; captured arrays must be evaluated",
                constant.shape()
            );
        }
        ensure!(
            !holds_rules(traced.program()),
            Value("export_function"),
            "cannot export a custom_function with its own rules inside control flow or checkpoint: rules are \
             Python code"
        );
        let (program, constants) = (traced.program().clone(), traced.captured().to_vec());
        Ok(Exported { signature, free: Free::default(), program, constants })
    }

    /// The function for other lengths as well. `trace_signature` traces it for any signature, with [`Lengths::Free`].
    ///
    /// Axes of one length are tried together, since they may have to be equal, and each by itself.
    pub fn shapeless<E: From<umber_types::Error>>(
        signature: Signature,
        trace_signature: impl Fn(&Signature) -> std::result::Result<Traced, E>,
    ) -> std::result::Result<Exported, E> {
        let mut found =
            Exported::learned(&signature, &signature, trace_signature(&signature)?, &trace_signature)?;
        // Operations on axes of length one may have been left out: longer ones tell more.
        let is_bound = |axis: &Axis| !found.free.axes.all().any(|free| free == axis);
        let ones = axes_of(&signature, |length| length == 1).into_iter().filter(is_bound).collect::<Vec<_>>();
        for tried in [&ones[..]].into_iter().chain(ones.chunks(1)) {
            let other =
                with_lengths(&signature, |axis, length| if tried.contains(&axis) { 3 } else { length });
            if tried.is_empty() {
                continue;
            }
            let Ok(traced) = trace_signature(&other) else { continue };
            let wider = Exported::learned(&signature, &other, traced, &trace_signature)?;
            if wider.free.axes.long.len() > found.free.axes.long.len() && wider.refusal(&signature).is_none()
            {
                found = wider;
                break;
            }
        }
        Ok(found)
    }

    /// The function as traced at `base`, and which of its axes are free.
    fn learned<E: From<umber_types::Error>>(
        signature: &Signature,
        base: &Signature,
        traced: Traced,
        trace_signature: impl Fn(&Signature) -> std::result::Result<Traced, E>,
    ) -> std::result::Result<Exported, E> {
        let generic_trace = ShapeGenericTrace::new(traced);
        let try_lengths = |axes: &[Axis], changed: fn(usize) -> usize| {
            let other = with_lengths(
                base,
                |axis, length| if axes.contains(&axis) { changed(length) } else { length },
            );
            // A function that refuses other lengths along some axes may take them along others.
            trace_signature(&other).is_ok_and(|traced| generic_trace.learn(&traced))
        };
        let try_axes = |axes: &[Axis]| {
            let longer: [fn(usize) -> usize; 2] = [|length| 2 * length + 1, |length| 3 * length];
            let are_free = longer.into_iter().any(|longer| try_lengths(axes, longer));
            if are_free {
                let short: [fn(usize) -> usize; FreeAxes::LONG] = [|_| 0, |_| 1];
                for length in short {
                    try_lengths(axes, length);
                }
            }
            are_free
        };
        let lengths: BTreeSet<usize> =
            base.specs().flat_map(|spec| spec.shape.iter().copied()).filter(|&length| length > 0).collect();
        for &length in &lengths {
            let alike = axes_of(base, |other| other == length);
            let are_free = try_axes(&alike);
            if alike.len() > 1 {
                for axis in &alike {
                    try_axes(std::slice::from_ref(axis));
                }
            }
            if !are_free && alike.len() > 2 {
                try_pairs(&alike, &try_axes);
            }
        }
        let traced = generic_trace.traced();
        let mut exported = Exported::new(signature.clone(), traced)?;
        exported.free = Free {
            axes: generic_trace.free(),
            reads: traced.reads().slots.clone(),
            hints: generic_trace.hints(),
        };
        Ok(exported)
    }

    /// A function that somebody else wrote, checked.
    pub fn checked(
        signature: Signature,
        free: Free,
        program: Program,
        constants: Vec<Array>,
    ) -> Result<Exported> {
        let count = signature.specs().count();
        let is_alike = |(own, given): (&ArraySpec, &ArraySpec)| {
            own.dtype == given.dtype && own.shape.ndim() == given.shape.ndim()
        };
        ensure!(
            program.arguments.len() == count + constants.len()
                && program.arguments.iter().zip(signature.specs()).all(is_alike)
                && program.arguments[count..].iter().eq(constants.iter().map(Array::spec)),
            Value("import_function"),
            "arguments of the program do not match its signature and constants"
        );
        let has =
            |&(argument, axis): &Axis| argument < count && axis < program.arguments[argument].shape.ndim();
        ensure!(free.axes.all().all(has), Value("import_function"), "free axes do not match the arguments");
        let slots = validation::slots(&program)?;
        ensure!(
            free.reads.iter().all(|read| read.is_within(&slots)),
            Value("import_function"),
            "recorded lengths do not match the program"
        );
        let exported = Exported { signature, free, program, constants };
        ensure!(
            exported.refusal(&exported.signature).is_none(),
            Value("import_function"),
            "program does not match its signature"
        );
        Ok(exported)
    }

    /// Does it return results for a call with such arguments?
    pub fn answers(&self, call: &Signature) -> bool {
        self.is_for(call) && self.refusal(call).is_none()
    }

    /// Is it one for arguments of these names, dtypes and numbers of axes?
    pub fn is_for(&self, call: &Signature) -> bool {
        self.signature.has_names_of(call)
            && self
                .signature
                .specs()
                .zip(call.specs())
                .all(|(own, given)| own.dtype == given.dtype && own.shape.ndim() == given.shape.ndim())
    }

    /// Why it cannot be called with such lengths, if so. The call is one that it [is for](Exported::is_for).
    pub fn refusal(&self, call: &Signature) -> Option<Error> {
        let specs: Vec<ArraySpec> = call.specs().cloned().collect();
        let own = &self.program.arguments[..specs.len()];
        let mut changed = compile::changes(own, &specs).into_values().flatten().collect::<Vec<_>>();
        changed.sort_unstable();
        if changed.is_empty() {
            return None;
        }
        if let Some(&axis) = changed.iter().find(|&&axis| !self.free.axes.allow(axis, &specs)) {
            return Some(Error::new(ErrorKind::Value, self.bound(axis, &specs)));
        }
        self.refined(&specs).err()
    }

    /// What is wrong with the length of an axis.
    fn bound(&self, (argument, axis): Axis, specs: &[ArraySpec]) -> String {
        let given = specs[argument].shape[axis];
        let traced = self.signature.specs().nth(argument).map_or(0, |spec| spec.shape[axis]);
        let partner = self.free.axes.long.iter().find(|alike| alike.contains(&(argument, axis)));
        let own = self.named(argument);
        match partner.and_then(|alike| {
            alike.iter().find(|&&(other, along)| other != argument && specs[other].shape[along] != given)
        }) {
            Some(&(other, along)) => format!(
                "{own}, axis {axis}: got length {given}, expected {}, the length of {}, axis {along}: both were \
                 {traced} when the function was traced",
                specs[other].shape[along],
                self.named(other)
            ),
            None if partner.is_some() && given < FreeAxes::LONG => format!(
                "{own}, axis {axis}: got length {given}, expected at least {}: the graph differs for axes of length \
                 {given}",
                given + 1
            ),
            None => format!(
                "{own}, axis {axis}: got length {given}, expected {traced}: the graph depends on this length"
            ),
        }
    }

    /// What users call an argument.
    fn named(&self, argument: usize) -> String {
        let count = self.signature.positional.len();
        match argument.checked_sub(count).and_then(|place| self.signature.keywords.get(place)) {
            Some((name, _)) => format!("argument '{name}'"),
            None => format!("argument {}", argument + 1),
        }
    }

    /// The program for arguments of other lengths.
    fn refined(&self, specs: &[ArraySpec]) -> Result<Program> {
        let constants = self.constants.iter().map(Array::spec);
        let all: Vec<ArraySpec> = specs.iter().chain(constants).cloned().collect();
        let refined = self.program.refined_with(&all, &self.free.hints)?;
        if let Some((slot, axis, was, is)) = refined.broken(&self.free.reads) {
            let own = &self.program.arguments[..specs.len()];
            let changed = compile::changes(own, specs);
            // The axis that was read itself, or the likeliest that the one read depends on.
            let read = (slot < specs.len()).then_some((slot, axis));
            let alike = changed.get(&(was, is)).and_then(|axes| axes.first().copied());
            let first = changed.values().flatten().min().copied();
            let Some(place) = read.or(alike).or(first) else {
                bail!(Value, "a length that the function read has changed");
            };
            bail!(Value, "{}", self.bound(place, specs));
        }
        Ok(refined.program)
    }

    /// The outputs for arguments that it answers, those by name last in the order of the names.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let all: Vec<Array> = arguments.iter().chain(&self.constants).cloned().collect();
        let specs: Vec<ArraySpec> = arguments.iter().map(|array| array.spec().clone()).collect();
        if self.program.arguments[..specs.len()] == specs {
            return self.program.replay(&all);
        }
        self.refined(&specs)?.replay(&all)
    }
}

/// Try pairs of axes that all have one length.
fn try_pairs(alike: &[Axis], try_axes: &impl Fn(&[Axis]) -> bool) {
    /// With more axes of one length, pairs are too many to try.
    const MOST: usize = 6;
    if alike.len() > MOST {
        return;
    }
    for (i, &first) in alike.iter().enumerate() {
        for &second in &alike[i + 1..] {
            try_axes(&[first, second]);
        }
    }
}

/// The axes of all arguments for whose lengths `holds`.
fn axes_of(signature: &Signature, holds: impl Fn(usize) -> bool) -> Vec<Axis> {
    let axes = signature.specs().enumerate().flat_map(|(argument, spec)| {
        spec.shape.iter().enumerate().map(move |(axis, &length)| ((argument, axis), length))
    });
    axes.filter(|&(_, length)| holds(length)).map(|(axis, _)| axis).collect()
}

/// The same arguments with other lengths.
fn with_lengths(signature: &Signature, length: impl Fn(Axis, usize) -> usize) -> Signature {
    let other = |(argument, spec): (usize, &ArraySpec)| {
        let lengths = spec.shape.iter().enumerate();
        let shape = lengths.map(|(axis, &own)| length((argument, axis), own)).collect();
        ArraySpec { shape, dtype: spec.dtype }
    };
    let count = signature.positional.len();
    let named = signature.keywords.iter().enumerate();
    Signature {
        positional: signature.positional.iter().enumerate().map(other).collect(),
        keywords: named.map(|(i, (name, spec))| (name.clone(), other((count + i, spec)))).collect(),
    }
}

/// Does a program, or one that an operation of it runs, hold a function with rules of its own?
fn holds_rules(program: &Program) -> bool {
    program.steps.iter().any(|step| {
        if let Op::Checkpoint(held) = &step.op {
            return holds_rules(&held.program);
        }
        let is_in_body = |flow: ControlFlow<'_>| flow.bodies().any(|body| holds_rules(&body.program));
        matches!(step.op, Op::Custom(_)) || step.op.control_flow().is_some_and(is_in_body)
    })
}

/// Does it only make sense while the program runs that recorded it, or take more room than it is worth? Functions that
/// are computed again hold those within them, each level all below.
fn is_transient(op: &Op) -> bool {
    if let Op::Checkpoint(held) = op {
        return held.program.steps.iter().any(|step| matches!(step.op, Op::Checkpoint(_)));
    }
    matches!(op, Op::Fused(_) | Op::Custom(_))
}
