//! Validation: check that umber could have recorded a step that comes from elsewhere.
//!
//! Primitives rely on checks that `ops` makes before recording. Steps from a file skipped these, so each primitive repeats
//! what it relies on in [`Primitive::validate`]. Shapes that do not match are found by `infer`.

use umber_types::{Axes, DType, Result, bail};

use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;

/// Check every step of a program; returns the specs of its slots.
pub(crate) fn slots(program: &Program) -> Result<Vec<ArraySpec>> {
    program.checked_slots(check)
}

/// As [`slots`], but returns the specs of the outputs.
pub(crate) fn outputs(program: &Program) -> Result<Vec<ArraySpec>> {
    let slots = slots(program)?;
    Ok(program.outputs.iter().map(|output| output.spec(&slots).clone()).collect())
}

/// Check that `ops` could have recorded the operation on these inputs.
pub(crate) fn check(op: &Op, inputs: &[&ArraySpec]) -> Result<()> {
    let site = Site { name: op.name(), inputs };
    let is_float8 = inputs.iter().any(|input| input.dtype.is_float8());
    site.must(!is_float8 || op.takes_float8(), "a dtype other than float8")?;
    op.validate(&site)
}

/// The context of a check: the operation's name and its inputs.
#[derive(Debug)]
pub struct Site<'a> {
    name: &'static str,
    /// The specs of the inputs.
    pub inputs: &'a [&'a ArraySpec],
}

impl Site<'_> {
    /// Report the expected inputs as an error unless `holds`.
    pub fn must(&self, holds: bool, expected: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let specs: Vec<String> =
            self.inputs.iter().map(|input| format!("{} {}", input.shape, input.dtype)).collect();
        bail!(Value(self.name), "got {}, expected {expected}", specs.join(", "))
    }

    /// Require this number of inputs.
    pub fn takes(&self, count: usize) -> Result<()> {
        self.must(self.inputs.len() == count, &format!("{count} inputs"))
    }

    /// Require at least one input.
    pub fn takes_some(&self) -> Result<()> {
        self.must(!self.inputs.is_empty(), "at least one input")
    }

    /// Require this number of inputs, all of one shape and dtype.
    pub fn alike(&self, count: usize) -> Result<()> {
        self.takes(count)?;
        self.must(self.inputs.iter().all(|input| *input == self.inputs[0]), "inputs of one shape and dtype")
    }

    /// Require an axis of the first input.
    pub fn axis(&self, axis: usize) -> Result<()> {
        self.must(axis < self.ndim(0), &format!("an axis {axis}"))
    }

    /// Require axes of the first input.
    pub fn axes(&self, axes: &Axes) -> Result<()> {
        self.must(axes.last().is_none_or(|&axis| axis < self.ndim(0)), &format!("axes {:?}", &axes[..]))
    }

    /// Number of axes of an input; 0 if it does not exist.
    pub fn ndim(&self, i: usize) -> usize {
        self.inputs.get(i).map_or(0, |input| input.shape.ndim())
    }

    /// The length of an axis of an input, counted from the end; the last is 1.
    pub fn last(&self, i: usize, from_end: usize) -> usize {
        self.inputs[i].shape[self.ndim(i) - from_end]
    }

    /// Require matrices in the last two axes of a floating-point array.
    pub fn matrices(&self, i: usize) -> Result<()> {
        let is_inexact = self.inputs.get(i).is_some_and(|input| input.dtype.is_inexact());
        self.must(self.ndim(i) >= 2 && is_inexact, "matrices of floating-point numbers")
    }

    /// Require square matrices.
    pub fn square(&self, i: usize) -> Result<()> {
        self.matrices(i)?;
        self.must(self.last(i, 1) == self.last(i, 2), "square matrices")
    }

    /// Require the first two inputs to have equal axes before the last `tail` and one dtype.
    pub fn same_batch(&self, tail: usize) -> Result<()> {
        let batch = |i: usize| &self.inputs[i].shape[..self.ndim(i) - tail];
        self.must(
            batch(0) == batch(1) && self.inputs[0].dtype == self.inputs[1].dtype,
            "equal batches and dtypes",
        )
    }

    /// Require rows of real numbers, and up to six further inputs.
    pub fn rows(&self) -> Result<()> {
        self.must((1..=7).contains(&self.inputs.len()), "one to seven inputs")?;
        let dtype = self.inputs[0].dtype;
        self.must(self.ndim(0) > 0 && dtype.is_inexact() && !dtype.is_complex(), "rows of real numbers")
    }

    /// Whether the first input holds random keys.
    pub fn has_keys(&self) -> bool {
        self.inputs[0].dtype == DType::UInt32 && self.ndim(0) > 0 && self.last(0, 1) == 2
    }

    /// Refuse an operation that no exported program contains: files hold the operations it represents.
    pub fn is_no_step(&self) -> Result<()> {
        bail!(Value(self.name), "not an operation with inputs, so not a step of a program")
    }
}
