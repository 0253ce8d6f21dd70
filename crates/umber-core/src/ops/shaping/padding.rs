//! Arrays made larger at their borders.

use smallvec::SmallVec;
use umber_types::{Result, ScatterKind, Shape, ensure};

use crate::graph::{Array, Inputs};
use crate::ops::promotion::cast_constant;
use crate::primitives::concatenate::concatenate;
use crate::primitives::rules;
use crate::primitives::slice::{Window, slice, slice_along};
use crate::primitives::slice_update::slice_update;

/// What stands in a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// A given value.
    Constant,
    /// The element at the edge.
    Edge,
    /// The elements mirrored at the edge element, which is not repeated.
    Reflect,
    /// The elements mirrored at the edge, the edge element included.
    Symmetric,
}

/// The array with `widths[axis]` elements more before and after it; one pair holds for every axis. `value` is
/// read by [`PadMode::Constant`] alone.
///
/// The dtype stays. Fails for negative widths, another number of pairs, or a value that does not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::PadMode;
/// let (a, zero) = (Array::from([1, 2, 3]), Array::from(0));
/// assert_eq!(ops::pad(&a, &[(1, 2)], PadMode::Constant, &zero)?.to_vec::<i32>()?, [0, 1, 2, 3, 0, 0]);
/// assert_eq!(ops::pad(&a, &[(0, 2)], PadMode::Reflect, &zero)?.to_vec::<i32>()?, [1, 2, 3, 2, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn pad(a: &Array, widths: &[(i64, i64)], mode: PadMode, value: &Array) -> Result<Array> {
    let ndim = a.ndim();
    ensure!(
        widths.len() == 1 || widths.len() == ndim,
        Value,
        "[pad] got {} pairs of widths, expected 1 or {ndim}",
        widths.len()
    );
    let mut lengths: SmallVec<[i64; 6]> = SmallVec::new();
    for axis in 0..ndim {
        let (low, high) = widths[if widths.len() == 1 { 0 } else { axis }];
        ensure!(
            low >= 0 && high >= 0,
            Value,
            "[pad] got widths ({low}, {high}) for axis {axis}, expected none negative"
        );
        lengths.push((a.shape()[axis] as i64).saturating_add(low).saturating_add(high));
    }
    let shape = Shape::checked("pad", &lengths)?;
    let low = |axis: usize| widths[if widths.len() == 1 { 0 } else { axis }].0 as usize;
    if shape == *a.shape() {
        return Ok(a.clone());
    }
    if mode == PadMode::Constant || a.size() == 0 {
        ensure!(
            value.shape().broadcasts_to(&shape),
            Value,
            "[pad] got a constant of shape {}, expected one that broadcasts to {shape}",
            value.shape()
        );
        let value =
            if a.size() == 0 && mode != PadMode::Constant { &Array::scalar(0.0, a.dtype()) } else { value };
        let border = rules::broadcast(&cast_constant(value, a.dtype())?, &shape)?;
        let mut window = Window::whole(a.shape());
        (0..ndim).for_each(|axis| window.starts[axis] = low(axis));
        return slice_update(ScatterKind::Set, &border, window, a);
    }
    let mut padded = a.clone();
    for axis in 0..ndim {
        let length = a.shape()[axis];
        let places: Vec<usize> =
            (0..shape[axis]).map(|i| mirrored(mode, i as i64 - low(axis) as i64, length as i64)).collect();
        if places.len() != length {
            padded = assemble(&padded, axis, &places)?;
        }
    }
    Ok(padded)
}

/// Which element stands at `place`, counted from the first element of an array of `length`?
fn mirrored(mode: PadMode, place: i64, length: i64) -> usize {
    let found = match mode {
        PadMode::Constant | PadMode::Edge => place.clamp(0, length - 1),
        PadMode::Reflect if length == 1 => 0,
        PadMode::Reflect => {
            let period = 2 * (length - 1);
            let within = place.rem_euclid(period);
            within.min(period - within)
        }
        PadMode::Symmetric => {
            let within = place.rem_euclid(2 * length);
            within.min(2 * length - 1 - within)
        }
    };
    found as usize
}

/// The elements at `places` along an axis: views of runs that go up, down or stay, concatenated.
fn assemble(a: &Array, axis: usize, places: &[usize]) -> Result<Array> {
    let mut parts = Inputs::new();
    let mut rest = places;
    while let Some(&first) = rest.first() {
        let step = rest.get(1).map_or(0, |&next| next as isize - first as isize);
        let end = rest.windows(2).position(|pair| pair[1] as isize - pair[0] as isize != step);
        let count = end.map_or(rest.len(), |end| end + 1);
        parts.push(if step == 0 {
            rules::broadcast(&slice_along(a, axis, first, 1)?, &a.shape().with(axis, count))?
        } else {
            let mut window = Window::along(a.shape(), axis, first, count);
            window.steps[axis] = step;
            slice(a, window)?
        });
        rest = &rest[count..];
    }
    concatenate(parts, axis)
}
