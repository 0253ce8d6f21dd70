//! Hoist: compute steps that depend on no argument once instead of in every run.

use smallvec::SmallVec;
use umber_types::Result;

use crate::graph::program::{Operand, Step, constant_of};
use crate::graph::{Array, ArraySpec, Inputs, Program};

/// A program whose last arguments are the hoisted values.
pub(crate) struct HoistedProgram {
    pub(crate) program: Program,
    /// The hoisted values.
    pub(crate) arrays: Vec<Array>,
}

/// Hoist steps that depend on no argument; `None` if there are none.
pub(crate) fn hoist(program: &Program) -> Result<Option<HoistedProgram>> {
    let reads_slots = |operand: &Operand, fixed: &[Option<Array>]| match operand {
        Operand::Slot(slot) => fixed[*slot as usize].is_none(),
        Operand::Constant(_) => false,
    };
    // The arrays of slots that depend on no argument.
    let mut fixed: Vec<Option<Array>> = vec![None; program.arguments.len()];
    for step in &program.steps {
        if step.inputs.iter().any(|input| reads_slots(input, &fixed)) {
            fixed.extend(std::iter::repeat_n(None, step.outputs as usize));
            continue;
        }
        let array = |operand: &Operand| match operand {
            Operand::Slot(slot) => fixed[*slot as usize].clone().expect("all its inputs are hoisted"),
            Operand::Constant(constant) => constant_of(constant),
        };
        let inputs: Inputs = step.inputs.iter().map(array).collect();
        let outputs = Array::record_on(step.op.clone(), inputs, step.stream)?;
        fixed.extend(outputs.into_iter().map(Some));
    }
    if fixed.iter().all(Option::is_none) {
        return Ok(None);
    }
    // New order of slots: arguments, hoisted values, then the outputs of the remaining steps.
    let count = fixed.iter().flatten().count();
    let arguments = program.arguments.len();
    let mut new_slots: Vec<u32> = Vec::with_capacity(fixed.len());
    let mut specs: Vec<ArraySpec> = program.arguments.clone();
    let mut next = arguments + count;
    for (slot, array) in fixed.iter().enumerate() {
        new_slots.push(match array {
            Some(array) => {
                specs.push(array.spec().clone());
                specs.len() as u32 - 1
            }
            None if slot < arguments => slot as u32,
            None => {
                next += 1;
                next as u32 - 1
            }
        });
    }
    let renumber = |operand: &Operand| match operand {
        Operand::Slot(slot) => Operand::Slot(new_slots[*slot as usize]),
        Operand::Constant(_) => operand.clone(),
    };
    let mut first = arguments;
    let mut steps = Vec::with_capacity(program.steps.len());
    for step in &program.steps {
        let is_kept = fixed[first].is_none();
        first += step.outputs as usize;
        if is_kept {
            let inputs: SmallVec<[Operand; 3]> = step.inputs.iter().map(renumber).collect();
            steps.push(Step { inputs, ..step.clone() });
        }
    }
    let outputs = program.outputs.iter().map(renumber).collect();
    let arrays = fixed.into_iter().flatten().collect();
    Ok(Some(HoistedProgram { program: Program { arguments: specs, steps, outputs }, arrays }))
}
