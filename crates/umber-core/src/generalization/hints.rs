//! Hints: what a second trace told of operations that could be one of several at other lengths.
//!
//! `x[:, 1:]` and `x[:, 1:4]` record the same slice of an axis of length four. A trace at another length shows which it was.

use std::mem::discriminant;

use umber_types::Shape;

/// An argument and an axis of it.
pub type Axis = (usize, usize);

/// What steps do at other lengths, each with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hints(Vec<(u32, Hint)>);

/// What is known of a step.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Hint {
    /// A reshape: the axes of the result that are as long as the number of elements asks, like `-1`.
    Rest(Vec<usize>),
    /// A slice: how each axis is cut.
    Cut(Vec<Option<Cut>>),
    /// A partition: from which end the place in order is counted.
    Place(Anchor),
    /// Arrays whose lengths nothing in the step tells: an input by its number or [`OUTPUT`], an axis of it, and the axis of
    /// an argument that has the same length.
    Lengths(Vec<(u32, u32, Axis)>),
}

/// The output of a step, beside the numbers of its inputs.
pub(crate) const OUTPUT: u32 = u32::MAX;

/// Does a place keep its distance from the start of its axis or from the end?
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Anchor {
    Start,
    End,
}

impl Anchor {
    /// The place in an axis of length `new` that is as `place` in one of length `old`, if there is one.
    pub(crate) fn moved(self, place: usize, old: usize, new: usize) -> Option<usize> {
        match self {
            Anchor::Start => Some(place),
            Anchor::End => (place + new).checked_sub(old),
        }
    }
}

/// Where the part of an axis begins and ends.
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

/// A part of an axis: its first place, the distance of places, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: usize,
    pub(crate) step: isize,
    pub(crate) count: usize,
}

impl Hints {
    pub(crate) fn of(&self, step: usize) -> impl Iterator<Item = &Hint> {
        self.0.iter().filter(move |(known, _)| *known as usize == step).map(|(_, hint)| hint)
    }

    /// Add what is not known of a step yet.
    pub(crate) fn put(&mut self, step: usize, hint: Hint) {
        let is_of_kind = |(known, own): &&mut (u32, Hint)| {
            *known as usize == step && discriminant(own) == discriminant(&hint)
        };
        let known = self.0.iter_mut().find(is_of_kind);
        match (known.map(|(_, known)| known), hint) {
            (Some(Hint::Rest(known)), Hint::Rest(more)) => {
                known.extend(more.into_iter().filter(|axis| !known.contains(axis)).collect::<Vec<_>>());
            }
            (Some(Hint::Cut(known)), Hint::Cut(more)) => {
                for (known, more) in known.iter_mut().zip(more) {
                    *known = known.or(more);
                }
            }
            (Some(Hint::Lengths(known)), Hint::Lengths(more)) => {
                for (place, axis, of) in more {
                    if !known.iter().any(|(own, along, _)| (*own, *along) == (place, axis)) {
                        known.push((place, axis, of));
                    }
                }
            }
            (Some(_), _) => {}
            (None, hint) => self.0.push((step as u32, hint)),
        }
    }

    /// Add what is not known yet.
    pub(crate) fn merge(&mut self, other: Hints) {
        for (step, hint) in other.0 {
            self.put(step as usize, hint);
        }
    }
}

impl Cut {
    /// The part of an axis of length `new` that is cut like `part` of one of length `old`; none if there is no such part.
    pub(crate) fn applied(self, part: Part, old: usize, new: usize) -> Option<Part> {
        let start = self.first.moved(part.start, old, new)?;
        let count = if part.step == 1 {
            self.last.moved(part.start + part.count, old, new)?.checked_sub(start)?
        } else {
            match self.last {
                Anchor::Start => part.count,
                Anchor::End if through(part.start, part.step, old) == part.count => {
                    through(start, part.step, new)
                }
                Anchor::End => return None,
            }
        };
        let is_within = count == 0 || last_of(start, part.step, count).is_some_and(|last| last < new);
        (start <= new && is_within).then_some(Part { start, step: part.step, count })
    }

    /// The only way of cutting that makes `other` (of an axis of length `new`) of `part`.
    pub(crate) fn between(part: Part, old: usize, other: Part, new: usize) -> Option<Cut> {
        let mut fitting = CUTS.into_iter().filter(|cut| cut.applied(part, old, new) == Some(other));
        fitting.next().filter(|_| fitting.next().is_none())
    }
}

/// The last place, if it is not before the start of the axis.
fn last_of(start: usize, step: isize, count: usize) -> Option<usize> {
    let distance = step.unsigned_abs().checked_mul(count - 1)?;
    if step < 0 { start.checked_sub(distance) } else { start.checked_add(distance) }
}

/// How many places there are up to the end of the axis that steps lead to.
fn through(start: usize, step: isize, length: usize) -> usize {
    if start >= length {
        return 0;
    }
    let distance = if step < 0 { start + 1 } else { length - start };
    distance.div_ceil(step.unsigned_abs())
}

/// Which axis of `start..end` alone has another length in `other`?
pub(crate) fn only_change(of: &Shape, other: &Shape, start: usize, end: usize) -> Option<usize> {
    let mut changed = (start..end).filter(|&axis| of[axis] != other[axis]);
    changed.next().filter(|_| changed.next().is_none())
}
