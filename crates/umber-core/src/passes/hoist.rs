//! Hoist: compute steps that depend on no argument once, not at every run.

use umber_types::Result;

use crate::graph::program::{Operand, Step, constant_of};
use crate::graph::{Array, Inputs, Program};
use crate::primitive::Primitive;

/// A program whose last arguments are the hoisted values.
pub(crate) struct HoistedProgram {
    pub(crate) program: Program,
    /// The hoisted values.
    pub(crate) arrays: Vec<Array>,
}

/// The most memory that the hoisted values of one program may take, in bytes. Larger values do not stay in the cache, so reading
/// them at every run costs about what computing them in a fused kernel does, and they would be held as long as the program.
const MAX_BYTES: usize = 16 << 20;

/// Hoist steps that depend on no argument; `None` if there are none.
///
/// Only values that the remaining steps read become arguments. A value that exceeds [`MAX_BYTES`], with the others, is computed at
/// every run, from hoisted inputs where these are small enough.
pub(crate) fn hoist(program: &Program) -> Result<Option<HoistedProgram>> {
    let values = input_free_values(program)?;
    if values.iter().all(Option::is_none) {
        return Ok(None);
    }
    let Choice { is_hoisted, is_left } = choose(program, &values);
    if !is_hoisted.contains(&true) {
        return Ok(None);
    }
    // New slots: arguments, hoisted values, outputs of the remaining steps.
    let argument_count = program.arguments.len();
    let arrays: Vec<Array> = values
        .into_iter()
        .zip(&is_hoisted)
        .filter_map(|(array, hoisted)| array.filter(|_| *hoisted))
        .collect();
    let mut slots: Vec<u32> = (0..argument_count as u32).collect();
    let (mut next_argument, mut next) = (argument_count as u32, (argument_count + arrays.len()) as u32);
    for (step, is_left) in program.steps.iter().zip(&is_left) {
        for _ in 0..step.outputs {
            let counter = if is_hoisted[slots.len()] {
                Some(&mut next_argument)
            } else if *is_left {
                Some(&mut next)
            } else {
                None
            };
            slots.push(counter.map_or(u32::MAX, |counter| {
                *counter += 1;
                *counter - 1
            }));
        }
    }
    let renumbered = |operand: &Operand| match operand {
        Operand::Slot(slot) => Operand::Slot(slots[*slot as usize]),
        Operand::Constant(_) => operand.clone(),
    };
    let steps = (program.steps.iter().zip(&is_left).filter(|(_, is_left)| **is_left))
        .map(|(step, _)| Step { inputs: step.inputs.iter().map(renumbered).collect(), ..step.clone() })
        .collect();
    let outputs = program.outputs.iter().map(renumbered).collect();
    let arguments = program.arguments.iter().chain(arrays.iter().map(Array::spec)).cloned().collect();
    Ok(Some(HoistedProgram { program: Program { arguments, steps, outputs }, arrays }))
}

/// Per slot the recorded value, if it depends on no argument.
fn input_free_values(program: &Program) -> Result<Vec<Option<Array>>> {
    let mut values: Vec<Option<Array>> = vec![None; program.arguments.len()];
    for step in &program.steps {
        let inputs: Option<Inputs> = (step.inputs.iter())
            .map(|operand| match operand {
                Operand::Slot(slot) => values[*slot as usize].clone(),
                Operand::Constant(constant) => Some(constant_of(constant)),
            })
            .collect();
        match inputs {
            Some(inputs) => {
                let outputs = Array::record_on(step.op.clone(), inputs, step.stream)?;
                values.extend(outputs.into_iter().map(Some));
            }
            None => values.extend(std::iter::repeat_n(None, step.outputs as usize)),
        }
    }
    Ok(values)
}

/// What becomes an argument, and what is computed at every run.
struct Choice {
    /// Per slot.
    is_hoisted: Vec<bool>,
    /// Per step.
    is_left: Vec<bool>,
}

/// Hoist values that an output or a remaining step reads, as long as they are small enough in sum.
///
/// Steps are visited from last to first, so that every reader is decided before what it reads.
fn choose(program: &Program, values: &[Option<Array>]) -> Choice {
    let bytes = kept_bytes(program, values);
    let mut is_read = vec![false; values.len()];
    let mut choice =
        Choice { is_hoisted: vec![false; values.len()], is_left: vec![true; program.steps.len()] };
    let mut budget = MAX_BYTES;
    mark(&program.outputs, &mut is_read);
    let mut end = values.len();
    for (step, is_left) in program.steps.iter().zip(&mut choice.is_left).rev() {
        let outputs = end - step.outputs as usize..end;
        end = outputs.start;
        let depends_on_arguments = outputs.clone().any(|slot| values[slot].is_none());
        let read = outputs.filter(|slot| is_read[*slot]);
        let total = read.clone().fold(0, |sum: usize, slot| sum.saturating_add(bytes[slot]));
        if !depends_on_arguments && total <= budget {
            budget -= total;
            read.for_each(|slot| choice.is_hoisted[slot] = true);
            *is_left = false;
        } else {
            mark(&step.inputs, &mut is_read);
        }
    }
    choice
}

/// Per slot the memory that holding its value takes, in bytes: a view holds what it is a view of.
fn kept_bytes(program: &Program, values: &[Option<Array>]) -> Vec<usize> {
    let mut bytes = vec![0; program.arguments.len()];
    for step in &program.steps {
        let source = match step.inputs.first() {
            Some(Operand::Slot(slot)) if step.op.is_view() => Some(bytes[*slot as usize]),
            Some(Operand::Constant(_)) if step.op.is_view() => Some(0),
            _ => None,
        };
        for _ in 0..step.outputs {
            let own = values[bytes.len()].as_ref().map_or(0, Array::nbytes);
            bytes.push(source.unwrap_or(own));
        }
    }
    bytes
}

fn mark(operands: &[Operand], slots: &mut [bool]) {
    for operand in operands {
        if let Operand::Slot(slot) = operand {
            slots[*slot as usize] = true;
        }
    }
}
