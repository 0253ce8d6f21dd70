//! Passes: transformations of programs that keep their results.
//!
//! | pass | what it does |
//! |---|---|
//! | [`inline`] | replace composite steps, and steps without a kernel on their device, by the operations they consist of |
//! | [`hoist`] | compute steps that depend on no argument once, and make the results arguments |
//! | [`fuse`] | merge elementwise steps, with a following reduction or a preceding product, into one kernel |

pub(crate) mod fuse;
pub(crate) mod hoist;
pub(crate) mod inline;
pub(crate) mod partition;
#[cfg(test)]
mod tests;

use smallvec::SmallVec;
use umber_types::Result;

use self::fuse::FusedProgram;
use crate::graph::program::{Operand, Step};
use crate::graph::{Array, ArraySpec, Program};

/// The specs of a program's slots.
pub(crate) fn specs_of(program: &Program) -> Result<Vec<ArraySpec>> {
    let outputs = program.specs()?.into_iter().flatten();
    Ok(program.arguments.iter().cloned().chain(outputs).collect())
}

/// A program whose steps are kernels.
pub(crate) struct LoweredProgram {
    pub(crate) program: Program,
    /// The spec of each slot.
    pub(crate) specs: Vec<ArraySpec>,
    /// The slot of the original program that each slot corresponds to, if any.
    pub(crate) slots: Vec<Option<u32>>,
    /// The last step of the original program that each step computes.
    pub(crate) roots: Vec<u32>,
    /// The last arguments: arrays captured by inlined expansions.
    pub(crate) captured: Vec<Array>,
}

/// Inline composite steps, then fuse elementwise ones; `specs` are the specs of the slots.
pub(crate) fn lower(program: &Program, specs: &[ArraySpec]) -> Result<LoweredProgram> {
    let mut inlined = inline::inline(program, specs)?;
    while let Some(outer) = &inlined
        && let Some(inner) = inline::inline(&outer.program, &outer.specs)?
    {
        inlined = Some(inner.after(outer));
    }
    let (inlined_program, specs) = match &inlined {
        Some(inlined) => (&inlined.program, &inlined.specs[..]),
        None => (program, specs),
    };
    let FusedProgram { program, specs, slots, roots } = fuse::fuse(inlined_program, specs);
    Ok(match inlined {
        Some(inlined) => LoweredProgram {
            program,
            specs,
            slots: slots.iter().map(|&slot| inlined.slots[slot as usize]).collect(),
            roots: roots.iter().map(|&root| inlined.roots[root as usize]).collect(),
            captured: inlined.captured,
        },
        None => LoweredProgram {
            program,
            specs,
            slots: slots.into_iter().map(Some).collect(),
            roots,
            captured: Vec::new(),
        },
    })
}

/// A program with the spec and the writer of each slot.
pub(crate) struct Slots<'p> {
    pub(crate) program: &'p Program,
    /// The spec of each slot.
    pub(crate) specs: &'p [ArraySpec],
    /// The step that writes each slot after the arguments.
    writers: SmallVec<[u32; 8]>,
    /// The first slot that each step writes.
    firsts: SmallVec<[u32; 8]>,
    /// Whether the first output of each step is an output of the program.
    is_output: SmallVec<[bool; 8]>,
}

impl<'p> Slots<'p> {
    pub(crate) fn new(program: &'p Program, specs: &'p [ArraySpec]) -> Slots<'p> {
        let arguments = program.arguments.len();
        let mut writers = SmallVec::with_capacity(specs.len() - arguments);
        let mut firsts = SmallVec::with_capacity(program.steps.len());
        for (i, step) in program.steps.iter().enumerate() {
            firsts.push((arguments + writers.len()) as u32);
            writers.extend(std::iter::repeat_n(i as u32, step.outputs as usize));
        }
        let mut slots = Slots {
            program,
            specs,
            writers,
            firsts,
            is_output: SmallVec::from_elem(false, program.steps.len()),
        };
        for output in &program.outputs {
            if let Some(writer) = slots.writer(output) {
                slots.is_output[writer] = true;
            }
        }
        slots
    }

    pub(crate) fn steps(&self) -> &'p [Step] {
        &self.program.steps
    }

    /// The step that computes an operand.
    pub(crate) fn writer(&self, operand: &Operand) -> Option<usize> {
        match operand {
            Operand::Slot(slot) => {
                let index = (*slot as usize).checked_sub(self.program.arguments.len())?;
                Some(self.writers[index] as usize)
            }
            Operand::Constant(_) => None,
        }
    }

    /// The first slot that a step writes.
    pub(crate) fn first(&self, step: usize) -> u32 {
        self.firsts[step]
    }

    /// The spec of the first output of a step.
    pub(crate) fn spec(&self, step: usize) -> &'p ArraySpec {
        &self.specs[self.firsts[step] as usize]
    }

    /// Whether the first output of a step is an output of the program.
    pub(crate) fn is_output(&self, step: usize) -> bool {
        self.is_output[step]
    }
}
