//! Program: a function as data. Steps that make outputs from arguments, to be recorded on any arguments.
//!
//! What a function captured besides its arguments becomes arguments too, so that a program holds no arrays: it can be
//! compared, hashed and stored, and derivatives reach what was captured.

use smallvec::SmallVec;
use umber_types::{Result, Scalar, Stream, ensure};

use super::walk::IdMap;
use super::{Array, ArraySpec, Inputs, Tape};
use crate::op::Op;

/// Where a step finds an input, or a program an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// An argument, or an output of an earlier step: arguments come first.
    Slot(u32),
    /// A constant; recorded anew each time, so that holding it does not make it be stored.
    Constant(Box<(ArraySpec, Scalar)>),
}

/// A node to record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// Where it runs.
    pub stream: Stream,
    /// What it reads.
    pub inputs: SmallVec<[Operand; 3]>,
    /// How many outputs it has.
    pub outputs: u32,
}

/// Steps that make outputs from arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// What the arguments are: first those of the function, then what it captured.
    pub arguments: Vec<ArraySpec>,
    /// What to record, inputs before users.
    pub steps: Vec<Step>,
    /// What the function returns.
    pub outputs: Vec<Operand>,
}

impl Program {
    /// The function that made `outputs` of `placeholders`, and the arrays it captured: the program's last arguments.
    ///
    /// The placeholders are those of one trace; what does not depend on them is captured, constants excepted.
    pub fn close(placeholders: &[Array], outputs: &[Array]) -> (Program, Vec<Array>) {
        let tape = Tape::traced(placeholders, outputs);
        let given = placeholders.len();
        let mut captured: Vec<Array> = Vec::new();
        let mut places: IdMap<(usize, u32), u32> = IdMap::default();
        for array in tape.nodes.iter().flat_map(|node| node.inputs()).chain(outputs.iter().cloned()) {
            if tape.slot(&array).is_none() && array.constant().is_none() {
                places.entry(array.id()).or_insert_with(|| {
                    captured.push(array);
                    (given + captured.len() - 1) as u32
                });
            }
        }
        // The tape numbers placeholders first and then its nodes' outputs in order.
        let slot =
            |on_tape: usize| if on_tape < given { on_tape as u32 } else { (on_tape + captured.len()) as u32 };
        let operand = |array: &Array| match (tape.slot(array), array.constant()) {
            (Some(on_tape), _) => Operand::Slot(slot(on_tape)),
            (None, Some(value)) => Operand::Constant(Box::new((array.spec().clone(), value))),
            (None, None) => Operand::Slot(places[&array.id()]),
        };
        let steps = tape.nodes.iter().map(|node| Step {
            op: node.op().clone(),
            stream: node.stream(),
            inputs: node.inputs().iter().map(operand).collect(),
            outputs: node.outputs.len() as u32,
        });
        let program = Program {
            steps: steps.collect(),
            outputs: outputs.iter().map(operand).collect(),
            arguments: placeholders.iter().chain(&captured).map(|array| array.spec().clone()).collect(),
        };
        (program, captured)
    }

    /// Record the steps on `arguments`, the captured arrays last.
    pub fn replay(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        ensure!(
            arguments.len() == self.arguments.len(),
            Value,
            "[program] got {} arguments, expected {}",
            arguments.len(),
            self.arguments.len()
        );
        let mut slots: Vec<Array> = Vec::with_capacity(self.slots());
        slots.extend_from_slice(arguments);
        let get = |operand: &Operand, slots: &[Array]| match operand {
            Operand::Slot(slot) => slots[*slot as usize].clone(),
            Operand::Constant(constant) => {
                let (spec, value) = constant.as_ref();
                Array::full(spec.shape.clone(), *value, spec.dtype)
            }
        };
        for step in &self.steps {
            let inputs: Inputs = step.inputs.iter().map(|operand| get(operand, &slots)).collect();
            slots.extend(Array::record_on(step.op.clone(), inputs, step.stream)?);
        }
        Ok(self.outputs.iter().map(|operand| get(operand, &slots)).collect())
    }

    /// Arguments and outputs of all steps.
    pub fn slots(&self) -> usize {
        self.arguments.len() + self.steps.iter().map(|step| step.outputs as usize).sum::<usize>()
    }
}
