//! Reads: the lengths that a traced function looked at, as places in its program.
//!
//! A function is deterministic in what it reads. So at other lengths at which all reads give the same, it records the same
//! operations, whatever its code does with the lengths.

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
    /// What was asked.
    pub asked: GuardKind,
}

/// What a function asked of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GuardKind {
    /// The length itself.
    Length,
    /// Whether it is one.
    IsOne,
    /// Whether it is that of an axis of another slot; it was.
    Equals(u32, usize),
}

/// The lengths that a function read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeGuards {
    /// Those of arrays in its program.
    pub slots: Vec<ShapeGuard>,
    /// Were there others, of arrays in functions that it traced itself? How they depend on its arguments is not known.
    pub has_others: bool,
}

/// Reads while their arrays are still known by handles.
#[derive(Debug)]
pub(super) struct PendingGuards {
    /// The arrays that were read, in the order of the reads: two for a comparison.
    pub(super) arrays: Vec<Array>,
    reads: Vec<(usize, Reading)>,
    /// Reads of arrays that belong to other traces.
    others: Vec<LengthRead>,
}

/// The reads of arrays that depend on `inputs`; those of other traced arrays concern whoever traces those.
pub(super) fn on_tape(inputs: &[Array], reads: Vec<LengthRead>) -> PendingGuards {
    let others = |read: &LengthRead| match &read.reading {
        Reading::Equals(other, _) => Some(other.clone()),
        Reading::Length | Reading::IsOne => None,
    };
    let all: Vec<Array> =
        reads.iter().flat_map(|read| std::iter::once(read.array.clone()).chain(others(read))).collect();
    let tape = Tape::traced(inputs, &all);
    let holds = |array: &Array| tape.slot(array).is_some();
    let mut found = PendingGuards { arrays: Vec::new(), reads: Vec::new(), others: Vec::new() };
    for read in reads {
        // Beside a length that is always the same, the other one is all that was read.
        let is_beside_fixed = matches!(&read.reading, Reading::Equals(other, _) if !other.is_traced());
        let reading = if is_beside_fixed { Reading::Length } else { read.reading.clone() };
        let is_known = holds(&read.array)
            && match &reading {
                Reading::Equals(other, _) => holds(other),
                Reading::Length | Reading::IsOne => true,
            };
        if !is_known {
            found.others.push(read);
            continue;
        }
        found.arrays.push(read.array);
        if let Reading::Equals(other, _) = &reading {
            found.arrays.push(other.clone());
        }
        found.reads.push((read.axis, reading));
    }
    found
}

impl PendingGuards {
    /// Tell the trace around this one of the reads that are not its own.
    pub(super) fn pass_on(&self) {
        self.others.iter().cloned().for_each(tracing::note);
    }

    /// The reads, given where the program has their arrays.
    pub(super) fn in_slots(&self, places: &[Operand]) -> ShapeGuards {
        let mut slots = Vec::with_capacity(self.reads.len());
        let mut has_others = !self.others.is_empty();
        let mut places = places.iter().map(|place| match place {
            Operand::Slot(slot) => Some(*slot),
            Operand::Constant(_) => None,
        });
        let mut next = || places.next().flatten();
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
    /// The same reads where slots have other numbers.
    pub(super) fn move_slots(&mut self, moved: impl Fn(u32) -> u32) {
        for read in &mut self.slots {
            read.slot = moved(read.slot);
            if let GuardKind::Equals(slot, _) = &mut read.asked {
                *slot = moved(*slot);
            }
        }
    }

    /// A compiled function is called on arrays that are traced: it depends on their lengths as it did on those it read.
    pub(super) fn note_again(&self, arguments: &[Array], captured: &[Array]) {
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
            let Some(own) = array(read.slot) else { continue };
            let reading = match read.asked {
                GuardKind::Length => Reading::Length,
                GuardKind::IsOne => Reading::IsOne,
                GuardKind::Equals(slot, axis) => match array(slot) {
                    Some(other) => Reading::Equals(other.clone(), axis),
                    None => Reading::Length,
                },
            };
            tracing::note(LengthRead { array: own.clone(), axis: read.axis, reading });
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
        let (was, is) = (length(old, self.slot, self.axis), length(new, self.slot, self.axis));
        match self.asked {
            GuardKind::Length => was == is,
            GuardKind::IsOne => (was == 1) == (is == 1),
            GuardKind::Equals(slot, axis) => is == length(new, slot, axis),
        }
    }

    /// Is it of an array and an axis that the program has? For programs that somebody else wrote.
    pub(crate) fn is_within(&self, slots: &[ArraySpec]) -> bool {
        let has =
            |slot: u32, axis: usize| slots.get(slot as usize).is_some_and(|spec| axis < spec.shape.ndim());
        has(self.slot, self.axis)
            && match self.asked {
                GuardKind::Length | GuardKind::IsOne => true,
                GuardKind::Equals(slot, axis) => has(slot, axis),
            }
    }
}
