//! Recipe: a program with everything worked out that does not depend on the values of its arguments.

use umber_types::Result;

use crate::graph::program::Operand;
use crate::graph::{Array, Inputs, Program, Specs, on_line};
use crate::op::Op;

/// A program that is recorded without asking its operations what they answer.
#[derive(Debug)]
pub(super) struct Recipe {
    program: Program,
    /// The outputs of each step.
    specs: Vec<Specs>,
    slots: usize,
}

impl Recipe {
    pub(super) fn new(program: Program) -> Result<Recipe> {
        let (specs, slots) = (program.specs()?, program.slots());
        Ok(Recipe { program, specs, slots })
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// Record the steps on arguments of the program's specs.
    pub(super) fn record(&self, arguments: &[Array], captured: &[Array]) -> Result<Vec<Array>> {
        let mut slots: Vec<Array> = Vec::with_capacity(self.slots);
        slots.extend(arguments.iter().chain(captured).cloned());
        debug_assert!(slots.iter().map(Array::spec).eq(&self.program.arguments));
        for (step, specs) in self.program.steps.iter().zip(&self.specs) {
            let inputs: Inputs = step.inputs.iter().map(|operand| operand.of(&slots)).collect();
            let _origin = on_line(step.origin.0.clone());
            slots.extend(match &step.op {
                Op::Loop(repeated) => repeated.record_on(inputs, step.stream)?,
                op => Array::record_known(op.clone(), inputs, specs.clone(), step.stream)?,
            });
        }
        let outputs = self.program.outputs.iter();
        Ok(outputs.map(|operand: &Operand| operand.of(&slots)).collect())
    }
}
