//! Recipe: a program with everything worked out that does not depend on the values of its arguments.

use umber_types::Result;

use crate::graph::program::Operand;
use crate::graph::{Array, Inputs, Program, Specs, on_line, users_line};
use crate::op::Op;
use crate::primitives::control_flow::record_again;

/// Are the arrays that a program is recorded on followed by a transformation?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    ByNobody,
    BySomebody,
}

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
    pub(super) fn record(
        &self,
        arguments: &[Array],
        captured: &[Array],
        followed: Followed,
    ) -> Result<Vec<Array>> {
        let mut slots: Vec<Array> = Vec::with_capacity(self.slots);
        slots.extend(arguments.iter().chain(captured).cloned());
        debug_assert!(slots.iter().map(Array::spec).eq(&self.program.arguments));
        let line = users_line();
        for (step, specs) in self.program.steps.iter().zip(&self.specs) {
            let inputs: Inputs = step.inputs.iter().map(|operand| operand.of(&slots)).collect();
            let origin = step.origin.0.as_ref().or(line.as_ref()).cloned();
            match (&step.op, followed) {
                (Op::Loop(_) | Op::While(_), _) => {
                    let _origin = on_line(origin);
                    slots.extend(record_again(&step.op, inputs, step.stream)?);
                }
                (op, Followed::ByNobody) => {
                    Array::record_onto(&mut slots, op.clone(), inputs, specs.clone(), step.stream, origin)?;
                }
                (op, Followed::BySomebody) => {
                    let _origin = on_line(origin);
                    slots.extend(Array::record_known(op.clone(), inputs, specs.clone(), step.stream)?);
                }
            }
        }
        let outputs = self.program.outputs.iter();
        Ok(outputs.map(|operand: &Operand| operand.of(&slots)).collect())
    }
}
