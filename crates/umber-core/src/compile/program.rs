//! Program: a graph as a flat list of steps, to be recorded again on other arguments.

use smallvec::SmallVec;
use umber_types::{Result, Scalar, Stream};

use crate::graph::{Array, ArraySpec, Inputs};
use crate::op::Op;
use crate::transforms::Tape;

/// Where a step finds an input.
#[derive(Clone, Debug)]
enum Operand {
    /// An argument, or an output of an earlier step.
    Slot(u32),
    /// A constant; recorded anew at each call, so that holding it does not make it be stored.
    Constant(Box<(ArraySpec, Scalar)>),
    /// An array that the function captured.
    Captured(Array),
}

#[derive(Debug)]
struct Step {
    op: Op,
    stream: Stream,
    inputs: SmallVec<[Operand; 3]>,
}

/// Steps that make outputs from arguments.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    /// Arguments and outputs of all steps.
    slots: usize,
    outputs: Vec<Operand>,
}

impl Program {
    /// The steps between placeholders, which stand for the arguments, and outputs.
    pub(super) fn new(placeholders: &[Array], outputs: &[Array]) -> Program {
        let tape = Tape::traced(placeholders, outputs);
        // The tape numbers placeholders first and then its nodes in order, as `replay` fills slots.
        let operand = |array: &Array| match (tape.slot(array), array.constant()) {
            (Some(slot), _) => Operand::Slot(slot as u32),
            (None, Some(value)) => Operand::Constant(Box::new((array.spec().clone(), value))),
            (None, None) => Operand::Captured(array.clone()),
        };
        let steps = tape.nodes.iter().map(|node| Step {
            op: node.op().clone(),
            stream: node.stream(),
            inputs: node.inputs().iter().map(operand).collect(),
        });
        Program {
            steps: steps.collect(),
            slots: tape.slots(),
            outputs: outputs.iter().map(operand).collect(),
        }
    }

    /// The arrays that the function captured.
    pub(super) fn captured(&self) -> impl Iterator<Item = &Array> {
        let inputs = self.steps.iter().flat_map(|step| &step.inputs);
        inputs.chain(&self.outputs).filter_map(|operand| match operand {
            Operand::Captured(array) => Some(array),
            Operand::Slot(_) | Operand::Constant(_) => None,
        })
    }

    /// Record the steps on `arguments`.
    pub(super) fn replay(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let mut slots: Vec<Array> = Vec::with_capacity(self.slots);
        slots.extend_from_slice(arguments);
        let get = |operand: &Operand, slots: &[Array]| match operand {
            Operand::Slot(slot) => slots[*slot as usize].clone(),
            Operand::Constant(constant) => {
                let (spec, value) = constant.as_ref();
                Array::full(spec.shape.clone(), *value, spec.dtype)
            }
            Operand::Captured(array) => array.clone(),
        };
        for step in &self.steps {
            let inputs: Inputs = step.inputs.iter().map(|operand| get(operand, &slots)).collect();
            slots.extend(Array::record_on(step.op.clone(), inputs, step.stream)?);
        }
        Ok(self.outputs.iter().map(|operand| get(operand, &slots)).collect())
    }
}
