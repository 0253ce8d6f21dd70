//! Replay plan: a program with everything precomputed that does not depend on the values of its arguments.

use smallvec::smallvec;
use umber_types::Result;

use crate::eager::MAX_ELEMENTS;
use crate::graph::program::{Operand, constant_of};
use crate::graph::{Array, Inputs, Program, Specs};
use crate::op::Op;
use crate::primitives::control_flow::record_again;
use crate::primitives::leaf::Leaf;
use crate::source_line::{current_source_line, with_source_line};

/// Whether the arrays on which a program is recorded are traced by a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TracedInputs {
    No,
    Yes,
}

/// A program that is replayed without inferring the outputs of its operations.
#[derive(Debug)]
pub(super) struct ReplayPlan {
    program: Program,
    /// The outputs of each step.
    specs: Vec<Specs>,
    /// For each read of a slot, in the order of the steps and then the outputs: whether it is the last one.
    is_last_read: Vec<bool>,
    slots: usize,
}

/// The arrays in the slots, each until its last read.
struct Slots<'r> {
    arrays: Vec<Option<Array>>,
    is_last_read: std::slice::Iter<'r, bool>,
}

impl Slots<'_> {
    /// The array that the next operand reads.
    fn read(&mut self, operand: &Operand) -> Array {
        let is_last = self.is_last_read.next() == Some(&true);
        match operand {
            Operand::Slot(slot) => {
                let array = &mut self.arrays[*slot as usize];
                let read = if is_last { array.take() } else { array.clone() };
                read.expect("slots keep their arrays until the last read")
            }
            Operand::Constant(constant) => constant_of(constant),
        }
    }

    fn fill(&mut self, outputs: impl IntoIterator<Item = Array>) {
        self.arrays.extend(outputs.into_iter().map(Some));
    }
}

impl ReplayPlan {
    pub(super) fn new(program: Program) -> Result<ReplayPlan> {
        let (specs, slots) = (program.specs()?, program.slots());
        let is_last_read = last_reads(&program, slots);
        Ok(ReplayPlan { program, specs, is_last_read, slots })
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    /// Record the steps on arguments of the program's specs.
    pub(super) fn record(
        &self,
        arguments: Vec<Array>,
        captured: &[Array],
        traced_inputs: TracedInputs,
    ) -> Result<Vec<Array>> {
        let mut slots =
            Slots { arrays: Vec::with_capacity(self.slots), is_last_read: self.is_last_read.iter() };
        slots.fill(arguments);
        slots.fill(captured.iter().cloned());
        debug_assert!(slots.arrays.iter().flatten().map(Array::spec).eq(&self.program.arguments));
        let line = current_source_line();
        for (step, specs) in self.program.steps.iter().zip(&self.specs) {
            let inputs: Inputs = step.inputs.iter().map(|operand| slots.read(operand)).collect();
            let origin = step.origin.0.as_ref().or(line.as_ref()).cloned();
            match (&step.op, traced_inputs) {
                (Op::Loop(_) | Op::While(_), _) => {
                    let _origin = with_source_line(origin);
                    slots.fill(record_again(&step.op, inputs, step.stream)?);
                }
                (op, TracedInputs::No) => {
                    let arrays = Array::apply_compiled(op.clone(), inputs, specs, step.stream, origin)?;
                    slots.fill(arrays);
                }
                (op, TracedInputs::Yes) => {
                    let _origin = with_source_line(origin);
                    slots.fill(Array::record_known(op.clone(), inputs, specs.clone(), step.stream)?);
                }
            }
        }
        self.program.outputs.iter().map(|operand| detached(slots.read(operand))).collect()
    }
}

/// The array as the output of a node of its own. A large output of a fused node is copied, since holding it would otherwise keep
/// all outputs of the node alive.
fn detached(array: Array) -> Result<Array> {
    let is_one_of_several = array.node().outputs.len() > 1 && matches!(array.node().op(), Op::Fused(_));
    if !is_one_of_several || array.size() <= MAX_ELEMENTS {
        return Ok(array);
    }
    let (stream, origin) = (array.node().stream(), array.node().origin().cloned());
    let spec = [array.spec().clone()];
    let mut copies = Array::apply_compiled(Leaf::Copy.into(), smallvec![array], &spec, stream, origin)?;
    Ok(copies.swap_remove(0))
}

fn last_reads(program: &Program, slots: usize) -> Vec<bool> {
    let reads: Vec<&Operand> =
        program.steps.iter().flat_map(|step| &step.inputs).chain(&program.outputs).collect();
    let mut is_read_later = vec![false; slots];
    let mut last: Vec<bool> = reads
        .iter()
        .rev()
        .map(|operand| match operand {
            Operand::Slot(slot) => !std::mem::replace(&mut is_read_later[*slot as usize], true),
            Operand::Constant(_) => true,
        })
        .collect();
    last.reverse();
    last
}

#[cfg(test)]
mod tests {
    use umber_types::Result;

    use crate::compile::compile;
    use crate::graph::Array;
    use crate::primitives::rules::{add, mul};

    #[test]
    fn a_slot_can_be_read_several_times() -> Result<()> {
        let f = compile(|inputs: &[Array]| {
            let (x, twice) = (&inputs[0], add(&inputs[0], &inputs[0])?);
            Ok(vec![x.clone(), twice.clone(), mul(&twice, x)?, twice, x.clone()])
        });
        for value in [3.0f32, 4.0] {
            let outputs = f(&[Array::from([value])])?;
            let actual: Vec<f32> =
                outputs.iter().map(|array| array.to_vec::<f32>().map(|x| x[0])).collect::<Result<_>>()?;
            assert_eq!(actual, [value, 2.0 * value, 2.0 * value * value, 2.0 * value, value]);
        }
        Ok(())
    }
}
