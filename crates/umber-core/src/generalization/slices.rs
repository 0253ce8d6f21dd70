//! Windows: parts and places of an axis, at another length of it.

use umber_types::Shape;

use super::hints::{Anchor, Cut, Hint, Part};
use super::{Change, Deciding};
use crate::primitives::slice::Window;

/// The part of the first input inside a window, at other lengths; `other` is the window that another trace has there.
pub(crate) fn cut(window: &Window, change: &mut Change<'_>, other: Option<&Window>) -> Option<Window> {
    let (old, new) = (&change.old[0].shape, &change.new[0].shape);
    let part = |window: &Window, axis: usize| Part {
        start: window.starts[axis],
        step: window.steps[axis],
        count: window.lengths[axis],
    };
    let mut cut = window.clone();
    let mut cuts: Vec<Option<Cut>> = vec![None; old.ndim()];
    for axis in 0..old.ndim() {
        // What is written into a window says how long it is.
        let written = change.new.get(1).filter(|_| !change.is_update_free).map(|update| update.shape[axis]);
        let is_as_before =
            old[axis] == new[axis] && written.is_none_or(|count| count == window.lengths[axis]);
        if is_as_before {
            continue;
        }
        let own = part(window, axis);
        let known = match (&change.deciding, other) {
            (Deciding::Hints(_), _) => change.hint(|hint| match hint {
                Hint::Cut(cuts) => cuts.get(axis).copied().flatten(),
                Hint::Rest(_) | Hint::Place(_) | Hint::Lengths(_) => None,
            }),
            (Deciding::Trace(..), Some(other)) if other.starts.len() == old.ndim() => {
                Cut::between(own, old[axis], part(other, axis), new[axis])
            }
            (Deciding::Trace(..), _) => None,
        };
        let way = match known {
            Some(cut) => cut,
            None => all_of(own, old[axis])?,
        };
        cuts[axis] = known;
        let found = way.applied(own, old[axis], new[axis])?;
        if written.is_some_and(|count| count != found.count) {
            return None;
        }
        cut.starts[axis] = found.start;
        cut.lengths.as_mut_slice()[axis] = found.count;
    }
    if cuts.iter().any(Option::is_some) {
        change.note(Hint::Cut(cuts));
    }
    Some(cut)
}

/// How all of an axis is cut, in either direction; a part could be cut in several ways.
fn all_of(part: Part, length: usize) -> Option<Cut> {
    let forwards = part.step == 1 && part.start == 0;
    let backwards = part.step == -1 && part.start + 1 == length;
    let first = if backwards { Anchor::End } else { Anchor::Start };
    (part.count == length && (forwards || backwards)).then_some(Cut { first, last: Anchor::End })
}

/// The shape of a part without those axes of length one that `shape` leaves out, and with those that it puts in.
pub(crate) fn without_ones(old: &Shape, new: &Shape, shape: &Shape) -> Option<Shape> {
    if shape == old {
        return Some(new.clone());
    }
    let mut long = old.iter().zip(new.iter()).filter(|(old, _)| **old != 1);
    if old.iter().zip(new.iter()).any(|(&old, &new)| old == 1 && new != 1) {
        return None;
    }
    let mut found = shape.clone();
    for length in found.as_mut_slice().iter_mut().filter(|length| **length != 1) {
        *length = *long.next()?.1;
    }
    Some(found)
}
