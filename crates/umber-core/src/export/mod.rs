//! Export: functions as data that can be saved in files, and graphs as diagrams.

mod dot;
mod mlx_names;

use std::collections::BTreeSet;

use umber_types::{Error, ErrorKind, Result, bail, ensure};

pub use self::dot::{letters, to_dot};
pub use self::mlx_names::{MlxOperation, Parameter};
use crate::compile::{
    self, Axis, FreeAxes, GuardKind, Hints, ShapeGenericTrace, ShapeGuard, Traced, Tracing,
};
use crate::graph::tracing::Lengths;
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::control_flow::ControlFlow;
use crate::primitives::leaf::Leaf;
use crate::validation;

/// The arguments for which a function was traced.
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

    /// All arguments, keyword arguments last.
    pub fn specs(&self) -> impl Iterator<Item = &ArraySpec> {
        self.positional.iter().chain(self.keywords.iter().map(|(_, spec)| spec))
    }

    fn has_same_names(&self, other: &Signature) -> bool {
        self.positional.len() == other.positional.len()
            && self.keywords.iter().map(|(name, _)| name).eq(other.keywords.iter().map(|(name, _)| name))
    }
}

/// A function traced for one signature.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The arguments it was exported with.
    pub signature: Signature,
    /// The other lengths for which it may be called.
    pub free: Free,
    /// The operations on its arguments and constants.
    pub program: Program,
    /// The arrays it captured.
    pub constants: Vec<Array>,
}

/// The lengths, other than those of its program, for which an exported function may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Free {
    /// The axes of arguments that may have other lengths.
    #[serde(flatten)]
    pub axes: FreeAxes,
    /// The lengths that the function read itself, which must not change.
    pub reads: Vec<ShapeGuard>,
    /// Facts about ambiguous operations at other lengths.
    pub hints: Hints,
}

/// Begin to trace a function for export. Keyword arguments come last, in the order of their names.
pub fn begin(signature: &Signature, lengths: Lengths) -> Tracing {
    compile::begin_with(signature.specs().cloned(), Leaf::Trace, lengths)
}

/// End a trace from [`begin`], with operations that cannot be saved replaced by their expansions.
pub fn end(tracing: Tracing, outputs: &[Array]) -> Result<Traced> {
    tracing.end_expanded(outputs, is_transient)
}

impl Exported {
    /// Export a function traced for one signature.
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
            !contains(traced.program(), &|op| matches!(op, Op::Callback(_))),
            Value("export_function"),
            "cannot export a function that calls pure_callback: a file cannot hold the callback"
        );
        ensure!(
            !contains(traced.program(), &|op| matches!(op, Op::Custom(_))),
            Value("export_function"),
            "cannot export a custom_function with its own rules inside control flow or checkpoint: rules are \
             Python code"
        );
        let (program, constants) = (traced.program().clone(), traced.captured().to_vec());
        Ok(Exported { signature, free: Free::default(), program, constants })
    }

    /// Export a function for other lengths as well. `trace_signature` traces it for any signature, with [`Lengths::Free`].
    ///
    /// Axes of equal length are tried together, since they may have to be equal, and then one by one.
    pub fn shapeless<E: From<umber_types::Error>>(
        signature: Signature,
        trace_signature: impl Fn(&Signature) -> std::result::Result<Traced, E>,
    ) -> std::result::Result<Exported, E> {
        let mut exported =
            Exported::explore(&signature, &signature, trace_signature(&signature)?, &trace_signature)?;
        // At length 1 a trace may omit operations, so a trace with longer axes is more informative.
        let is_bound = |axis: &Axis| !exported.free.axes.all().any(|free| free == axis);
        let ones = axes_of(&signature, |length| length == 1).into_iter().filter(is_bound).collect::<Vec<_>>();
        for candidates in [&ones[..]].into_iter().chain(ones.chunks(1)) {
            let other =
                with_lengths(&signature, |axis, length| if candidates.contains(&axis) { 3 } else { length });
            if candidates.is_empty() {
                continue;
            }
            let Ok(traced) = trace_signature(&other) else { continue };
            let wider = Exported::explore(&signature, &other, traced, &trace_signature)?;
            if wider.free.axes.long.len() > exported.free.axes.long.len()
                && wider.refusal(&signature).is_none()
            {
                exported = wider;
                break;
            }
        }
        Ok(exported)
    }

    /// Export the function traced at `base`, and find its free axes.
    fn explore<E: From<umber_types::Error>>(
        signature: &Signature,
        base: &Signature,
        traced: Traced,
        trace_signature: impl Fn(&Signature) -> std::result::Result<Traced, E>,
    ) -> std::result::Result<Exported, E> {
        let generic_trace = ShapeGenericTrace::new(traced);
        let try_lengths = |axes: &[Axis], change_length: fn(usize) -> usize| {
            let other = with_lengths(
                base,
                |axis, length| if axes.contains(&axis) { change_length(length) } else { length },
            );
            // A function that raises an error for other lengths of some axes may accept them for others.
            trace_signature(&other).is_ok_and(|traced| generic_trace.learn(&traced))
        };
        let try_axes = |axes: &[Axis]| {
            let lengthen: [fn(usize) -> usize; 2] = [|length| 2 * length + 1, |length| 3 * length];
            let are_free = lengthen.into_iter().any(|lengthen| try_lengths(axes, lengthen));
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
            let equal_axes = axes_of(base, |other| other == length);
            let are_free = try_axes(&equal_axes);
            if equal_axes.len() > 1 {
                for axis in &equal_axes {
                    try_axes(std::slice::from_ref(axis));
                }
            }
            if !are_free && equal_axes.len() > 2 {
                try_pairs(&equal_axes, &try_axes);
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

    /// Check a function from an untrusted source.
    pub fn checked(
        signature: Signature,
        free: Free,
        program: Program,
        constants: Vec<Array>,
    ) -> Result<Exported> {
        let count = signature.specs().count();
        let is_compatible = |(traced, spec): (&ArraySpec, &ArraySpec)| {
            traced.dtype == spec.dtype && traced.shape.ndim() == spec.shape.ndim()
        };
        ensure!(
            program.arguments.len() == count + constants.len()
                && program.arguments.iter().zip(signature.specs()).all(is_compatible)
                && program.arguments[count..].iter().eq(constants.iter().map(Array::spec)),
            Value("import_function"),
            "arguments of the program do not match its signature and constants"
        );
        let exists =
            |&(argument, axis): &Axis| argument < count && axis < program.arguments[argument].shape.ndim();
        ensure!(
            free.axes.all().all(exists),
            Value("import_function"),
            "free axes do not match the arguments"
        );
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

    /// Whether it can be called with these arguments.
    pub fn answers(&self, call: &Signature) -> bool {
        self.is_for(call) && self.refusal(call).is_none()
    }

    /// Whether its arguments have these names, dtypes and numbers of axes.
    pub fn is_for(&self, call: &Signature) -> bool {
        self.signature.has_same_names(call)
            && self
                .signature
                .specs()
                .zip(call.specs())
                .all(|(traced, spec)| traced.dtype == spec.dtype && traced.shape.ndim() == spec.shape.ndim())
    }

    /// The reason why it cannot be called with these lengths, if any. `call` must satisfy [`is_for`](Exported::is_for).
    pub fn refusal(&self, call: &Signature) -> Option<Error> {
        let specs: Vec<ArraySpec> = call.specs().cloned().collect();
        let traced_specs = &self.program.arguments[..specs.len()];
        let mut changed = compile::changes(traced_specs, &specs).into_values().flatten().collect::<Vec<_>>();
        changed.sort_unstable();
        if changed.is_empty() {
            return None;
        }
        if let Some(&axis) = changed.iter().find(|&&axis| !self.free.axes.allow(axis, &specs)) {
            return Some(Error::new(ErrorKind::Value, self.length_error(axis, &specs)));
        }
        self.refined(&specs).err()
    }

    /// The error message for the length of an axis.
    fn length_error(&self, (argument, axis): Axis, specs: &[ArraySpec]) -> String {
        let length = specs[argument].shape[axis];
        let traced = self.signature.specs().nth(argument).map_or(0, |spec| spec.shape[axis]);
        let equal_axes = self.free.axes.long.iter().find(|axes| axes.contains(&(argument, axis)));
        let name = self.argument_name(argument);
        match equal_axes.and_then(|axes| {
            axes.iter()
                .find(|&&(other, other_axis)| other != argument && specs[other].shape[other_axis] != length)
        }) {
            Some(&(other, other_axis)) => format!(
                "{name}, axis {axis}: got length {length}, expected {}, the length of {}, axis {other_axis}: both were \
                 {traced} when the function was traced",
                specs[other].shape[other_axis],
                self.argument_name(other)
            ),
            None if equal_axes.is_some() && length < FreeAxes::LONG => format!(
                "{name}, axis {axis}: got length {length}, expected at least {}: the graph differs for axes of length \
                 {length}",
                length + 1
            ),
            None => format!(
                "{name}, axis {axis}: got length {length}, expected {traced}: the graph depends on this length{}",
                self.reason((argument, axis), traced)
            ),
        }
    }

    /// The reason why a length is fixed, as far as it is known, and the way out.
    fn reason(&self, (argument, axis): Axis, length: usize) -> String {
        let is_read = self.free.reads.iter().any(|read| {
            read.slot as usize == argument && read.axis == axis && read.asked == GuardKind::Length
        });
        if !is_read {
            return String::new();
        }
        let step = self.program.steps.iter().find_map(|step| {
            let (name, shape) = if let Op::Reshape(op) = &step.op {
                ("reshape", &op.shape)
            } else if let Op::Broadcast(op) = &step.op {
                ("broadcast_to", &op.shape)
            } else {
                return None;
            };
            shape.contains(&length).then_some((name, shape))
        });
        let user = step.map_or_else(String::new, |(op, shape)| format!(" and has {op} to {shape}"));
        format!(
            ", which the function reads{user}. Without reading it, as in x.reshape(-1, n) or flatten(x, 1) in place of \
             x.reshape(x.shape[0], n), an export accepts other lengths"
        )
    }

    /// The name of an argument for users.
    fn argument_name(&self, argument: usize) -> String {
        let count = self.signature.positional.len();
        match argument.checked_sub(count).and_then(|index| self.signature.keywords.get(index)) {
            Some((name, _)) => format!("argument '{name}'"),
            None => format!("argument {}", argument + 1),
        }
    }

    /// The program for arguments of other lengths.
    fn refined(&self, specs: &[ArraySpec]) -> Result<Program> {
        let constants = self.constants.iter().map(Array::spec);
        let arguments_and_constants: Vec<ArraySpec> = specs.iter().chain(constants).cloned().collect();
        let refined = self.program.refined_with(&arguments_and_constants, &self.free.hints)?;
        if let Some((slot, axis, old_length, new_length)) = refined.violated(&self.free.reads) {
            let traced_specs = &self.program.arguments[..specs.len()];
            let changed = compile::changes(traced_specs, specs);
            // The axis that was read, or else the axis on which its length most likely depends.
            let read = (slot < specs.len()).then_some((slot, axis));
            let same_change = changed.get(&(old_length, new_length)).and_then(|axes| axes.first().copied());
            let first = changed.values().flatten().min().copied();
            let Some(blamed) = read.or(same_change).or(first) else {
                bail!(Value, "a length that the function read has changed");
            };
            bail!(Value, "{}", self.length_error(blamed, specs));
        }
        Ok(refined.program)
    }

    /// The outputs for arguments it can be called with, keyword arguments last in the order of their names.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let arguments_and_constants: Vec<Array> = arguments.iter().chain(&self.constants).cloned().collect();
        let specs: Vec<ArraySpec> = arguments.iter().map(|array| array.spec().clone()).collect();
        if self.program.arguments[..specs.len()] == specs {
            return self.program.replay(&arguments_and_constants);
        }
        self.refined(&specs)?.replay(&arguments_and_constants)
    }
}

/// Try pairs of axes of equal length.
fn try_pairs(equal_axes: &[Axis], try_axes: &impl Fn(&[Axis]) -> bool) {
    /// With more axes of equal length, there are too many pairs.
    const MAX_AXES: usize = 6;
    if equal_axes.len() > MAX_AXES {
        return;
    }
    for (i, &first) in equal_axes.iter().enumerate() {
        for &second in &equal_axes[i + 1..] {
            try_axes(&[first, second]);
        }
    }
}

/// The axes of all arguments whose length satisfies `holds`.
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
        let shape = lengths.map(|(axis, &old_length)| length((argument, axis), old_length)).collect();
        ArraySpec { shape, dtype: spec.dtype }
    };
    let count = signature.positional.len();
    let named = signature.keywords.iter().enumerate();
    Signature {
        positional: signature.positional.iter().enumerate().map(other).collect(),
        keywords: named.map(|(i, (name, spec))| (name.clone(), other((count + i, spec)))).collect(),
    }
}

/// Whether a program, or a nested one, contains such an operation.
fn contains(program: &Program, is_wanted: &dyn Fn(&Op) -> bool) -> bool {
    program.steps.iter().any(|step| {
        if let Op::Checkpoint(checkpoint) = &step.op {
            return contains(&checkpoint.program, is_wanted);
        }
        let is_in_body = |flow: ControlFlow<'_>| flow.bodies().any(|body| contains(&body.program, is_wanted));
        is_wanted(&step.op) || step.op.control_flow().is_some_and(is_in_body)
    })
}

/// Whether an operation only makes sense in the process that recorded it, or takes too much space to save: nested checkpoints
/// each store all levels below.
fn is_transient(op: &Op) -> bool {
    if let Op::Checkpoint(checkpoint) = op {
        return checkpoint.program.steps.iter().any(|step| matches!(step.op, Op::Checkpoint(_)));
    }
    matches!(op, Op::Fused(_) | Op::Custom(_))
}
