//! Reference trace: a trace of the function at the lengths that a program is refined to.

use umber_types::{Result, Shape};

use crate::generalization::OUTPUT;
use crate::graph::program::Step;
use crate::graph::{ArraySpec, Program};
use crate::passes::specs_of;

/// A program of the same function, traced at the new lengths.
pub(super) struct ReferenceTrace<'a> {
    program: &'a Program,
    specs: Vec<ArraySpec>,
    /// The first slot of each step.
    firsts: Vec<usize>,
}

impl<'a> ReferenceTrace<'a> {
    pub(super) fn new(program: &'a Program) -> Result<ReferenceTrace<'a>> {
        let mut next = program.arguments.len();
        let first = |step: &Step| {
            next += step.outputs as usize;
            next - step.outputs as usize
        };
        let firsts = program.steps.iter().map(first).collect();
        Ok(ReferenceTrace { program, specs: specs_of(program)?, firsts })
    }

    /// The shape of an input of a step, or of its output. Indices beyond the steps refer to the outputs of the program.
    pub(super) fn shape(&self, step: usize, operand: u32) -> Option<&Shape> {
        let spec = match self.program.steps.get(step) {
            Some(_) if operand == OUTPUT => self.specs.get(self.firsts[step])?,
            Some(step) => step.inputs.get(operand as usize)?.spec(&self.specs),
            None => self.program.outputs.get(step - self.program.steps.len())?.spec(&self.specs),
        };
        Some(&spec.shape)
    }
}
