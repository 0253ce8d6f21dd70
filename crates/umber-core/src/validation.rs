//! Validation: is a step that somebody else wrote one that umber could have recorded?
//!
//! Primitives trust what `ops` checked before it recorded them. What comes from a file has not been there, so each
//! primitive says in [`Primitive::validate`] what it trusts. Shapes that do not fit each other are found by `infer`.

use umber_types::{Axes, DType, Result, bail};

use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;

/// Check every step of a program; returns what its slots hold.
pub(crate) fn slots(program: &Program) -> Result<Vec<ArraySpec>> {
    program.checked_slots(check)
}

/// As [`slots`], but returns what the outputs are.
pub(crate) fn outputs(program: &Program) -> Result<Vec<ArraySpec>> {
    let slots = slots(program)?;
    Ok(program.outputs.iter().map(|output| output.spec(&slots).clone()).collect())
}

/// Could `ops` have recorded the operation on these inputs?
pub(crate) fn check(op: &Op, inputs: &[&ArraySpec]) -> Result<()> {
    let site = Site { name: op.name(), inputs };
    let is_float8 = inputs.iter().any(|input| input.dtype.is_float8());
    site.must(!is_float8 || op.takes_float8(), "a dtype other than float8")?;
    op.validate(&site)
}

/// Where an operation stands: its name, and what it is given.
#[derive(Debug)]
pub struct Site<'a> {
    name: &'static str,
    /// The specs of the inputs.
    pub inputs: &'a [&'a ArraySpec],
}

impl Site<'_> {
    /// Refuse the inputs unless `holds`.
    pub fn must(&self, holds: bool, expected: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let given: Vec<String> =
            self.inputs.iter().map(|input| format!("{} {}", input.shape, input.dtype)).collect();
        bail!(Value(self.name), "got {}, expected {expected}", given.join(", "))
    }

    /// So many inputs.
    pub fn takes(&self, count: usize) -> Result<()> {
        self.must(self.inputs.len() == count, &format!("{count} inputs"))
    }

    /// At least one input.
    pub fn takes_some(&self) -> Result<()> {
        self.must(!self.inputs.is_empty(), "at least one input")
    }

    /// So many inputs, all alike.
    pub fn alike(&self, count: usize) -> Result<()> {
        self.takes(count)?;
        self.must(self.inputs.iter().all(|input| *input == self.inputs[0]), "inputs of one shape and dtype")
    }

    /// An axis of the first input.
    pub fn axis(&self, axis: usize) -> Result<()> {
        self.must(axis < self.ndim(0), &format!("an axis {axis}"))
    }

    /// Axes of the first input.
    pub fn axes(&self, axes: &Axes) -> Result<()> {
        self.must(axes.last().is_none_or(|&axis| axis < self.ndim(0)), &format!("axes {:?}", &axes[..]))
    }

    /// How many axes an input has; none if it is not there.
    pub fn ndim(&self, i: usize) -> usize {
        self.inputs.get(i).map_or(0, |input| input.shape.ndim())
    }

    /// The length of an axis of an input, counted from the end: the last is 1.
    pub fn last(&self, i: usize, from_end: usize) -> usize {
        self.inputs[i].shape[self.ndim(i) - from_end]
    }

    /// Matrices in the last two axes of a floating-point array.
    pub fn matrices(&self, i: usize) -> Result<()> {
        let is_inexact = self.inputs.get(i).is_some_and(|input| input.dtype.is_inexact());
        self.must(self.ndim(i) >= 2 && is_inexact, "matrices of floating-point numbers")
    }

    /// Square matrices.
    pub fn square(&self, i: usize) -> Result<()> {
        self.matrices(i)?;
        self.must(self.last(i, 1) == self.last(i, 2), "square matrices")
    }

    /// Equal axes in front of the last `tail` of the first two inputs, which have one dtype.
    pub fn same_batch(&self, tail: usize) -> Result<()> {
        let batch = |i: usize| &self.inputs[i].shape[..self.ndim(i) - tail];
        self.must(
            batch(0) == batch(1) && self.inputs[0].dtype == self.inputs[1].dtype,
            "equal batches and dtypes",
        )
    }

    /// Rows of real numbers, and up to six inputs more.
    pub fn rows(&self) -> Result<()> {
        self.must((1..=7).contains(&self.inputs.len()), "one to seven inputs")?;
        let dtype = self.inputs[0].dtype;
        self.must(self.ndim(0) > 0 && dtype.is_inexact() && !dtype.is_complex(), "rows of real numbers")
    }

    /// Keys of random numbers as the first input.
    pub fn has_keys(&self) -> bool {
        self.inputs[0].dtype == DType::UInt32 && self.ndim(0) > 0 && self.last(0, 1) == 2
    }

    /// Refuse an operation that no program holds: files keep what it stands for.
    pub fn is_no_step(&self) -> Result<()> {
        bail!(Value(self.name), "not an operation with inputs, so not a step of a program")
    }
}
