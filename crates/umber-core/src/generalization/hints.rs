//! Hints: facts from a second trace about operations that are ambiguous for other lengths.
//!
//! `x[:, 1:]` and `x[:, 1:4]` record the same slice of an axis of length 4. A trace at another length shows which one it was.

use std::mem::discriminant;

use umber_types::Shape;

/// An argument and an axis of it.
pub type Axis = (usize, usize);

/// Hints for steps, with the index of each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hints(Vec<(u32, Hint)>);

/// A fact about a step.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Hint {
    /// A reshape: the axes of the result whose length follows from the number of elements, like `-1`.
    Rest(Vec<usize>),
    /// A slice: how the bounds on each axis are anchored.
    Cut(Vec<Option<Cut>>),
    /// A partition: the end from which the k-th index is counted.
    Place(Anchor),
    /// Lengths that do not follow from the step: an input index or [`OUTPUT`], an axis of it, and the axis of
    /// an argument that has the same length.
    Lengths(Vec<(u32, u32, Axis)>),
}

/// The output of a step, where input indices are expected.
pub(crate) const OUTPUT: u32 = u32::MAX;

/// Whether an index keeps its distance from the start or from the end of its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Anchor {
    Start,
    End,
}

impl Anchor {
    /// The index on an axis of length `new` that corresponds to `index` on one of length `old`, if it exists.
    pub(crate) fn moved(self, index: usize, old: usize, new: usize) -> Option<usize> {
        match self {
            Anchor::Start => Some(index),
            Anchor::End => (index + new).checked_sub(old),
        }
    }
}

/// The anchors of a slice's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cut {
    pub(crate) first: Anchor,
    pub(crate) last: Anchor,
}

const CUTS: [Cut; 4] = [
    Cut { first: Anchor::Start, last: Anchor::Start },
    Cut { first: Anchor::Start, last: Anchor::End },
    Cut { first: Anchor::End, last: Anchor::Start },
    Cut { first: Anchor::End, last: Anchor::End },
];

/// A slice of an axis: start, step and number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisSlice {
    pub(crate) start: usize,
    pub(crate) step: isize,
    pub(crate) count: usize,
}

impl Hints {
    pub(crate) fn of(&self, step: usize) -> impl Iterator<Item = &Hint> {
        self.0.iter().filter(move |(hint_step, _)| *hint_step as usize == step).map(|(_, hint)| hint)
    }

    /// Add a hint, or the facts that a known hint of the same kind lacks.
    pub(crate) fn put(&mut self, step: usize, hint: Hint) {
        let is_same_kind = |(hint_step, known): &&mut (u32, Hint)| {
            *hint_step as usize == step && discriminant(known) == discriminant(&hint)
        };
        let known = self.0.iter_mut().find(is_same_kind);
        match (known.map(|(_, known)| known), hint) {
            (Some(Hint::Rest(known)), Hint::Rest(new)) => {
                known.extend(new.into_iter().filter(|axis| !known.contains(axis)).collect::<Vec<_>>());
            }
            (Some(Hint::Cut(known)), Hint::Cut(new)) => {
                for (known, new) in known.iter_mut().zip(new) {
                    *known = known.or(new);
                }
            }
            (Some(Hint::Lengths(known)), Hint::Lengths(new)) => {
                for (operand, axis, source) in new {
                    if !known.iter().any(|(known_operand, known_axis, _)| {
                        (*known_operand, *known_axis) == (operand, axis)
                    }) {
                        known.push((operand, axis, source));
                    }
                }
            }
            (Some(_), _) => {}
            (None, hint) => self.0.push((step as u32, hint)),
        }
    }

    /// Add the hints of another trace.
    pub(crate) fn merge(&mut self, other: Hints) {
        for (step, hint) in other.0 {
            self.put(step as usize, hint);
        }
    }
}

impl Cut {
    /// The slice of an axis of length `new` that corresponds to `slice` of one of length `old`, if it exists.
    pub(crate) fn applied(self, slice: AxisSlice, old: usize, new: usize) -> Option<AxisSlice> {
        let start = self.first.moved(slice.start, old, new)?;
        let count = if slice.step == 1 {
            self.last.moved(slice.start + slice.count, old, new)?.checked_sub(start)?
        } else {
            match self.last {
                Anchor::Start => slice.count,
                Anchor::End if count_to_end(slice.start, slice.step, old) == slice.count => {
                    count_to_end(start, slice.step, new)
                }
                Anchor::End => return None,
            }
        };
        let is_within = count == 0 || last_of(start, slice.step, count).is_some_and(|last| last < new);
        (start <= new && is_within).then_some(AxisSlice { start, step: slice.step, count })
    }

    /// The anchors with which `slice` corresponds to `other` (of an axis of length `new`), if they are unique.
    pub(crate) fn between(slice: AxisSlice, old: usize, other: AxisSlice, new: usize) -> Option<Cut> {
        let mut candidates = CUTS.into_iter().filter(|cut| cut.applied(slice, old, new) == Some(other));
        candidates.next().filter(|_| candidates.next().is_none())
    }
}

/// The last index, if it is not before the start of the axis.
fn last_of(start: usize, step: isize, count: usize) -> Option<usize> {
    let distance = step.unsigned_abs().checked_mul(count - 1)?;
    if step < 0 { start.checked_sub(distance) } else { start.checked_add(distance) }
}

/// Number of elements from `start` to the end of the axis in the direction of `step`.
fn count_to_end(start: usize, step: isize, length: usize) -> usize {
    if start >= length {
        return 0;
    }
    let distance = if step < 0 { start + 1 } else { length - start };
    distance.div_ceil(step.unsigned_abs())
}

/// The only axis of `start..end` whose length differs in `other`.
pub(crate) fn only_change(of: &Shape, other: &Shape, start: usize, end: usize) -> Option<usize> {
    let mut changed = (start..end).filter(|&axis| of[axis] != other[axis]);
    changed.next().filter(|_| changed.next().is_none())
}
