//! Shape guards: the lengths that a traced function read, with the slots of its program.
//!
//! A function is deterministic in what it reads. For other lengths for which all reads give the same values, it therefore records
//! the same operations, whatever its code does with the lengths.

use crate::graph::program::Operand;
use crate::graph::tracing::{self, LengthRead, Reading};
use crate::graph::{Array, ArraySpec, Tape};

/// A length that a function read.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ShapeGuard {
    /// The slot of the array.
    pub slot: u32,
    /// The axis.
    pub axis: usize,
    /// The property that was read.
    pub asked: GuardKind,
}

/// The property of a length that a function read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GuardKind {
    /// The length itself.
    Length,
    /// Whether it is 1.
    IsOne,
    /// Whether it equals the length of an axis of another slot; it did.
    Equals(u32, usize),
}

/// The lengths that a function read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeGuards {
    /// Reads of arrays in its program.
    pub slots: Vec<ShapeGuard>,
    /// Whether there were reads of arrays of nested traces, whose dependence on the arguments is unknown.
    pub has_others: bool,
}

/// Reads of arrays that have no slots yet.
#[derive(Debug)]
pub(super) struct PendingGuards {
    /// The arrays that were read, in the order of the reads; two for a comparison.
    pub(super) arrays: Vec<Array>,
    reads: Vec<(usize, Reading)>,
    /// Reads of arrays of outer traces.
    others: Vec<LengthRead>,
}

/// Split reads into those of arrays that depend on `inputs`, and those of other traced arrays, which concern outer traces.
pub(super) fn on_tape(inputs: &[Array], reads: Vec<LengthRead>) -> PendingGuards {
    let others = |read: &LengthRead| match &read.reading {
        Reading::Equals(other, _) => Some(other.clone()),
        Reading::Length | Reading::IsOne => None,
    };
    let all: Vec<Array> =
        reads.iter().flat_map(|read| std::iter::once(read.array.clone()).chain(others(read))).collect();
    let tape = Tape::traced(inputs, &all);
    let holds = |array: &Array| tape.slot(array).is_some();
    let mut guards = PendingGuards { arrays: Vec::new(), reads: Vec::new(), others: Vec::new() };
    for read in reads {
        // Compared with a length that does not vary, the length itself is what the function depends on.
        let is_against_constant = matches!(&read.reading, Reading::Equals(other, _) if !other.is_traced());
        let reading = if is_against_constant { Reading::Length } else { read.reading.clone() };
        let is_known = holds(&read.array)
            && match &reading {
                Reading::Equals(other, _) => holds(other),
                Reading::Length | Reading::IsOne => true,
            };
        if !is_known {
            guards.others.push(read);
            continue;
        }
        guards.arrays.push(read.array);
        if let Reading::Equals(other, _) = &reading {
            guards.arrays.push(other.clone());
        }
        guards.reads.push((read.axis, reading));
    }
    guards
}

impl PendingGuards {
    /// Report reads of arrays of outer traces to the trace around this one.
    pub(super) fn report_to_outer(&self) {
        self.others.iter().cloned().for_each(tracing::note);
    }

    /// The reads, by the slots of their arrays in the program.
    pub(super) fn in_slots(&self, operands: &[Operand]) -> ShapeGuards {
        let mut slots = Vec::with_capacity(self.reads.len());
        let mut has_others = !self.others.is_empty();
        let mut operands = operands.iter().map(|operand| match operand {
            Operand::Slot(slot) => Some(*slot),
            Operand::Constant(_) => None,
        });
        let mut next = || operands.next().flatten();
        for (axis, reading) in &self.reads {
            let slot = next();
            let asked = match reading {
                Reading::Length => Some(GuardKind::Length),
                Reading::IsOne => Some(GuardKind::IsOne),
                Reading::Equals(_, other_axis) => next().map(|other| GuardKind::Equals(other, *other_axis)),
            };
            match (slot, asked) {
                (Some(slot), Some(asked)) => slots.push(ShapeGuard { slot, axis: *axis, asked }),
                _ => has_others = true,
            }
        }
        ShapeGuards { slots, has_others }
    }
}

impl ShapeGuards {
    /// Renumber the slots.
    pub(super) fn renumber_slots(&mut self, renumber: impl Fn(u32) -> u32) {
        for read in &mut self.slots {
            read.slot = renumber(read.slot);
            if let GuardKind::Equals(slot, _) = &mut read.asked {
                *slot = renumber(*slot);
            }
        }
    }

    /// Record the reads again when the compiled function is called on traced arrays: the outer trace depends on them, too.
    pub(super) fn record_again(&self, arguments: &[Array], captured: &[Array]) {
        if !tracing::is_reading() {
            return;
        }
        let count = arguments.len() + captured.len();
        let array = |slot: u32| {
            let slot = slot as usize;
            arguments.get(slot).or_else(|| captured.get(slot.checked_sub(arguments.len())?))
        };
        if self.has_others || self.slots.iter().any(|read| read.slots().any(|slot| slot as usize >= count)) {
            arguments.iter().chain(captured).for_each(tracing::note_shape_read);
            return;
        }
        for read in &self.slots {
            let Some(read_array) = array(read.slot) else { continue };
            let reading = match read.asked {
                GuardKind::Length => Reading::Length,
                GuardKind::IsOne => Reading::IsOne,
                GuardKind::Equals(slot, axis) => match array(slot) {
                    Some(other) => Reading::Equals(other.clone(), axis),
                    None => Reading::Length,
                },
            };
            tracing::note(LengthRead { array: read_array.clone(), axis: read.axis, reading });
        }
    }
}

impl ShapeGuard {
    fn slots(&self) -> impl Iterator<Item = u32> {
        let other = match self.asked {
            GuardKind::Equals(slot, _) => Some(slot),
            GuardKind::Length | GuardKind::IsOne => None,
        };
        std::iter::once(self.slot).chain(other)
    }

    pub(super) fn holds(&self, old: &[ArraySpec], new: &[ArraySpec]) -> bool {
        let length = |specs: &[ArraySpec], slot: u32, axis: usize| specs[slot as usize].shape[axis];
        let (old_length, new_length) = (length(old, self.slot, self.axis), length(new, self.slot, self.axis));
        match self.asked {
            GuardKind::Length => old_length == new_length,
            GuardKind::IsOne => (old_length == 1) == (new_length == 1),
            GuardKind::Equals(slot, axis) => new_length == length(new, slot, axis),
        }
    }

    /// Whether its slots and axes exist in the program. For programs from untrusted sources.
    pub(crate) fn is_within(&self, slots: &[ArraySpec]) -> bool {
        let exists =
            |slot: u32, axis: usize| slots.get(slot as usize).is_some_and(|spec| axis < spec.shape.ndim());
        exists(self.slot, self.axis)
            && match self.asked {
                GuardKind::Length | GuardKind::IsOne => true,
                GuardKind::Equals(slot, axis) => exists(slot, axis),
            }
    }
}
