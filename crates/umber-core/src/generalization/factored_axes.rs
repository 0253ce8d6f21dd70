//! Factored axes: axes that a reshape merged, and that a later reshape may split again.

use smallvec::{SmallVec, smallvec};
use umber_types::Shape;

use super::Change;

/// The axes that were merged into one, as old and new lengths.
pub(crate) type AxisFactors = SmallVec<[(usize, usize); 2]>;
/// The factors of each axis.
pub(crate) type FactoredAxes = Box<[AxisFactors]>;

/// The factors of axes that were not merged.
pub(crate) fn unmerged(old: &Shape, new: &Shape) -> FactoredAxes {
    old.iter().zip(new.iter()).map(|(&old, &new)| smallvec![(old, new)]).collect()
}

/// The result shape of a reshape, and the factors of its axes. Axes that the traced reshape kept or merged are kept or merged
/// again, and an axis that was merged before is split into its factors. For a group of axes that was split in another way, `rest`
/// returns the axis whose length is determined by the others.
pub(crate) fn reshaped(
    change: &Change<'_>,
    mut rest: impl FnMut(std::ops::Range<usize>) -> Option<usize>,
) -> Option<(Shape, FactoredAxes)> {
    let (from, to) = (&change.old[0].shape, &change.answered[0].shape);
    let new = &change.new[0].shape;
    if from == new && change.factored[0].is_none() {
        return Some((to.clone(), unmerged(to, to)));
    }
    let input_factors = change.parts(0);
    let mut shape = to.clone();
    let mut factors = unmerged(to, to);
    let (mut i, mut j) = (0, 0);
    while i < from.ndim() || j < to.ndim() {
        // The shortest groups of axes with the same number of elements.
        let (first, start) = (i, j);
        let (mut input_size, mut output_size) = (1, 1);
        if i < from.ndim() {
            input_size = from[i];
            i += 1;
        }
        if j < to.ndim() && (input_size != 1 || i == from.ndim() || to[j] == 1) {
            output_size = to[j];
            j += 1;
        }
        while input_size != output_size {
            if input_size < output_size && i < from.ndim() {
                input_size *= from[i];
                i += 1;
            } else if j < to.ndim() {
                output_size *= to[j];
                j += 1;
            } else {
                return None;
            }
        }
        match distribute(input_factors[first..i].concat(), &to[start..j]) {
            Some(axes) => {
                for (axis, axis_factors) in (start..j).zip(axes) {
                    shape.as_mut_slice()[axis] = lengths(&axis_factors).1;
                    factors[axis] = axis_factors;
                }
            }
            None if input_factors[first..i].iter().flatten().all(|(old, new)| old == new) => {}
            None => {
                let axis = rest(start..j)?;
                let size: usize = new[first..i].iter().product();
                let others: usize =
                    (start..j).filter(|&other| other != axis).map(|other| to[other]).product();
                if others == 0 || !size.is_multiple_of(others) {
                    return None;
                }
                shape.as_mut_slice()[axis] = size / others;
                factors[axis] = smallvec![(to[axis], size / others)];
            }
        }
    }
    debug_assert_eq!(shape.size(), new.size());
    Some((shape, factors))
}

/// Distribute the factors, in order, to axes of certain lengths, if possible.
fn distribute(factors: Vec<(usize, usize)>, lengths: &[usize]) -> Option<Vec<AxisFactors>> {
    let mut factors = factors.into_iter().filter(|&factor| factor != (1, 1)).peekable();
    let mut axes = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let mut axis_factors = AxisFactors::new();
        let mut product = 1;
        while product != length {
            let factor = factors.next()?;
            product = factor.0.saturating_mul(product);
            axis_factors.push(factor);
        }
        axes.push(axis_factors);
    }
    factors.peek().is_none().then_some(axes)
}

/// The factors of the axes whose lengths they match; the other axes have a single factor.
pub(crate) fn fitting(factors: &[AxisFactors], old: &Shape, new: &Shape) -> FactoredAxes {
    let mut fitting = unmerged(old, new);
    for (i, axis_factors) in factors.iter().enumerate().take(fitting.len()) {
        if lengths(axis_factors) == (old[i], new[i]) {
            fitting[i].clone_from(axis_factors);
        }
    }
    fitting
}

/// The old and new length of an axis.
fn lengths(factors: &AxisFactors) -> (usize, usize) {
    factors
        .iter()
        .fold((1, 1), |(old, new), factor| (old.saturating_mul(factor.0), new.saturating_mul(factor.1)))
}
