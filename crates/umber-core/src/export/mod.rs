//! Export: functions as data that files can keep, and graphs as pictures.

mod check;
mod dot;

use std::collections::BTreeSet;

use umber_types::{Result, ensure};

pub use self::dot::{letters, to_dot};
use crate::graph::{Array, ArraySpec, Program};
use crate::op::Op;
use crate::transforms::{Trace, expanded};

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
    /// The arguments it was traced with.
    pub signature: Signature,
    /// Of each argument, the axes that may have other lengths; empty if none may.
    pub free: Vec<Vec<bool>>,
    /// What it does with its arguments and constants.
    pub program: Program,
    /// The arrays it captured.
    pub constants: Vec<Array>,
}

/// Begin to trace a function that is to be exported; the arguments by name come last, in the order of the names.
pub fn begin(signature: &Signature) -> Trace {
    Trace::of_graph(signature.specs().cloned())
}

impl Exported {
    /// The function that was run on the inputs of `trace` (from [`begin`]) and gave `outputs`.
    pub fn new(signature: Signature, trace: Trace, outputs: &[Array]) -> Result<Exported> {
        let stored = expanded(&trace.inputs, outputs, is_transient)?;
        let (program, constants) = Program::close(&trace.inputs, &stored);
        drop(trace);
        for constant in &constants {
            ensure!(
                !constant.is_traced(),
                Value,
                "[export_function] the function captured an array of shape {} that another transform is following, \
                 expected arrays with values",
                constant.shape()
            );
        }
        Ok(Exported { signature, free: Vec::new(), program, constants })
    }

    /// A function that somebody else wrote, checked.
    pub fn checked(
        signature: Signature,
        free: Vec<Vec<bool>>,
        program: Program,
        constants: Vec<Array>,
    ) -> Result<Exported> {
        let expected = signature.specs().chain(constants.iter().map(Array::spec));
        ensure!(
            program.arguments.iter().eq(expected),
            Value,
            "[import_function] the program's arguments are not those of its signature and constants"
        );
        let mut axes = free.iter().map(Vec::len);
        ensure!(
            free.is_empty() || signature.specs().all(|spec| axes.next() == Some(spec.shape.ndim())),
            Value,
            "[import_function] the axes that are free are not those of the arguments"
        );
        check::check(&program)?;
        Ok(Exported { signature, free, program, constants })
    }

    /// Does it answer a call with such arguments?
    pub fn answers(&self, call: &Signature) -> bool {
        self.signature.has_names_of(call)
            && self.signature.specs().zip(call.specs()).enumerate().all(|(i, (own, given))| {
                let is_free = |axis: usize| self.free.get(i).is_some_and(|free| free[axis]);
                let fits = |(axis, (own, given)): (usize, (&usize, &usize))| {
                    own == given || (is_free(axis) && *own > 1 && *given > 1)
                };
                own.dtype == given.dtype
                    && own.shape.ndim() == given.shape.ndim()
                    && own.shape.iter().zip(given.shape.iter()).enumerate().all(fits)
            })
    }

    /// The outputs for arguments that it answers, those by name last in the order of the names.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let all: Vec<Array> = arguments.iter().chain(&self.constants).cloned().collect();
        if self.signature.specs().eq(arguments.iter().map(Array::spec)) {
            return self.program.replay(&all);
        }
        let specs: Vec<ArraySpec> = all.iter().map(|array| array.spec().clone()).collect();
        self.program.adapted(&specs)?.replay(&all)
    }
}

/// Other lengths to trace a function at, to find out which of its axes are free: all axes of one length differ at once,
/// since they may have to be equal, and then all axes.
pub fn other_lengths(signature: &Signature) -> Vec<Signature> {
    let lengths: BTreeSet<usize> =
        signature.specs().flat_map(|spec| spec.shape.iter().copied()).filter(|&length| length > 1).collect();
    let changed = |is_changed: &dyn Fn(usize) -> bool| {
        let other = |spec: &ArraySpec| {
            let longer = |&length: &usize| if is_changed(length) { 2 * length + 1 } else { length };
            ArraySpec { shape: spec.shape.iter().map(longer).collect(), dtype: spec.dtype }
        };
        Signature {
            positional: signature.positional.iter().map(other).collect(),
            keywords: signature.keywords.iter().map(|(name, spec)| (name.clone(), other(spec))).collect(),
        }
    };
    let mut all: Vec<Signature> =
        lengths.iter().map(|&chosen| changed(&move |length| length == chosen)).collect();
    if lengths.len() > 1 {
        all.push(changed(&|length| length > 1));
    }
    all
}

/// Does it only make sense while the program runs that recorded it, or take more room than it is worth? Functions that
/// are computed again hold those within them, each level all below.
fn is_transient(op: &Op) -> bool {
    match op {
        Op::Fused(_) | Op::Custom(_) => true,
        Op::Checkpoint(held) => held.program.steps.iter().any(|step| matches!(step.op, Op::Checkpoint(_))),
        _ => false,
    }
}
