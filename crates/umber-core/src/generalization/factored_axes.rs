//! Joining: axes that a reshape joined, and that another may tell apart again.

use smallvec::{SmallVec, smallvec};
use umber_types::Shape;

use super::Change;

/// The axes that an axis was joined from, the lengths they had and have. They may be told apart again.
pub(crate) type AxisFactors = SmallVec<[(usize, usize); 2]>;
/// The parts of each axis.
pub(crate) type FactoredAxes = Box<[AxisFactors]>;

/// What the axes of a value are if none was joined.
pub(crate) fn whole(old: &Shape, new: &Shape) -> FactoredAxes {
    old.iter().zip(new.iter()).map(|(&old, &new)| smallvec![(old, new)]).collect()
}

/// The shape that a reshape reaches, and what its axes consist of: axes that were kept or joined are so again, joined ones
/// are told apart again; of those that were split otherwise, `rest` names the one that takes what the others leave.
pub(crate) fn reshaped(
    change: &Change<'_>,
    mut rest: impl FnMut(std::ops::Range<usize>) -> Option<usize>,
) -> Option<(Shape, FactoredAxes)> {
    let (from, to) = (&change.old[0].shape, &change.answered[0].shape);
    let new = &change.new[0].shape;
    if from == new && change.factored[0].is_none() {
        return Some((to.clone(), whole(to, to)));
    }
    let given_parts = change.parts(0);
    let mut shape = to.clone();
    let mut parts = whole(to, to);
    let (mut i, mut j) = (0, 0);
    while i < from.ndim() || j < to.ndim() {
        // The shortest groups of axes with equally many elements.
        let (first, start) = (i, j);
        let (mut given, mut taken) = (1, 1);
        if i < from.ndim() {
            given = from[i];
            i += 1;
        }
        if j < to.ndim() && (given != 1 || i == from.ndim() || to[j] == 1) {
            taken = to[j];
            j += 1;
        }
        while given != taken {
            if given < taken && i < from.ndim() {
                given *= from[i];
                i += 1;
            } else if j < to.ndim() {
                taken *= to[j];
                j += 1;
            } else {
                return None;
            }
        }
        match distribute(given_parts[first..i].concat(), &to[start..j]) {
            Some(distribute) => {
                for (axis, own) in (start..j).zip(distribute) {
                    shape.as_mut_slice()[axis] = lengths(&own).1;
                    parts[axis] = own;
                }
            }
            None if given_parts[first..i].iter().flatten().all(|(old, new)| old == new) => {}
            None => {
                let axis = rest(start..j)?;
                let size: usize = new[first..i].iter().product();
                let others: usize =
                    (start..j).filter(|&other| other != axis).map(|other| to[other]).product();
                if others == 0 || !size.is_multiple_of(others) {
                    return None;
                }
                shape.as_mut_slice()[axis] = size / others;
                parts[axis] = smallvec![(to[axis], size / others)];
            }
        }
    }
    debug_assert_eq!(shape.size(), new.size());
    Some((shape, parts))
}

/// Axes of certain lengths made of parts in order, if they can be.
fn distribute(parts: Vec<(usize, usize)>, lengths: &[usize]) -> Option<Vec<AxisFactors>> {
    let mut parts = parts.into_iter().filter(|&part| part != (1, 1)).peekable();
    let mut axes = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let mut own = AxisFactors::new();
        let mut reached = 1;
        while reached != length {
            let part = parts.next()?;
            reached = part.0.saturating_mul(reached);
            own.push(part);
        }
        axes.push(own);
    }
    parts.peek().is_none().then_some(axes)
}

/// The parts of the axes, where they say how long these are; others are whole.
pub(crate) fn fitting(parts: &[AxisFactors], old: &Shape, new: &Shape) -> FactoredAxes {
    let mut fitting = whole(old, new);
    for (i, own) in parts.iter().enumerate().take(fitting.len()) {
        if lengths(own) == (old[i], new[i]) {
            fitting[i].clone_from(own);
        }
    }
    fitting
}

/// How long an axis was and is.
fn lengths(parts: &AxisFactors) -> (usize, usize) {
    parts.iter().fold((1, 1), |(old, new), part| (old.saturating_mul(part.0), new.saturating_mul(part.1)))
}
