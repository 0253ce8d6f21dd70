//! Slices: a window of an array, for other lengths of its axes.

use umber_types::Shape;

use super::hints::{Anchor, AxisSlice, Cut, Hint};
use super::{Change, Deciding};
use crate::primitives::slice::Window;

/// The window for other lengths of the first input; `other` is the window in the other trace.
pub(crate) fn cut(window: &Window, change: &mut Change<'_>, other: Option<&Window>) -> Option<Window> {
    let (old, new) = (&change.old[0].shape, &change.new[0].shape);
    let axis_slice = |window: &Window, axis: usize| AxisSlice {
        start: window.starts[axis],
        step: window.steps[axis],
        count: window.lengths[axis],
    };
    let mut new_window = window.clone();
    let mut cuts: Vec<Option<Cut>> = vec![None; old.ndim()];
    for axis in 0..old.ndim() {
        // The update of a window determines its length.
        let update_length =
            change.new.get(1).filter(|_| !change.is_update_free).map(|update| update.shape[axis]);
        let is_unchanged =
            old[axis] == new[axis] && update_length.is_none_or(|count| count == window.lengths[axis]);
        if is_unchanged {
            continue;
        }
        let slice = axis_slice(window, axis);
        let known = match (&change.deciding, other) {
            (Deciding::Hints(_), _) => change.hint(|hint| match hint {
                Hint::Cut(cuts) => cuts.get(axis).copied().flatten(),
                Hint::Rest(_) | Hint::Place(_) | Hint::Lengths(_) => None,
            }),
            (Deciding::Trace(..), Some(other)) if other.starts.len() == old.ndim() => {
                Cut::between(slice, old[axis], axis_slice(other, axis), new[axis])
            }
            (Deciding::Trace(..), _) => None,
        };
        let anchors = match known {
            Some(cut) => cut,
            None => full_slice(slice, old[axis])?,
        };
        cuts[axis] = known;
        let new_slice = anchors.applied(slice, old[axis], new[axis])?;
        if update_length.is_some_and(|count| count != new_slice.count) {
            return None;
        }
        new_window.starts[axis] = new_slice.start;
        new_window.lengths.as_mut_slice()[axis] = new_slice.count;
    }
    if cuts.iter().any(Option::is_some) {
        change.note(Hint::Cut(cuts));
    }
    Some(new_window)
}

/// The anchors of a slice of a full axis, in either direction. Those of other slices are ambiguous.
fn full_slice(slice: AxisSlice, length: usize) -> Option<Cut> {
    let forwards = slice.step == 1 && slice.start == 0;
    let backwards = slice.step == -1 && slice.start + 1 == length;
    let first = if backwards { Anchor::End } else { Anchor::Start };
    (slice.count == length && (forwards || backwards)).then_some(Cut { first, last: Anchor::End })
}

/// The new shape of a window without the axes of length one that `shape` omits, and with those that it inserts.
pub(crate) fn without_ones(old: &Shape, new: &Shape, shape: &Shape) -> Option<Shape> {
    if shape == old {
        return Some(new.clone());
    }
    let mut long = old.iter().zip(new.iter()).filter(|(old, _)| **old != 1);
    if old.iter().zip(new.iter()).any(|(&old, &new)| old == 1 && new != 1) {
        return None;
    }
    let mut result = shape.clone();
    for length in result.as_mut_slice().iter_mut().filter(|length| **length != 1) {
        *length = *long.next()?.1;
    }
    Some(result)
}
