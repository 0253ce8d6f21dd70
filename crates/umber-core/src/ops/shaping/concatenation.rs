//! Joining and splitting arrays.

use smallvec::SmallVec;
use umber_types::shape::{from_start, normalize_axis};
use umber_types::{DType, Result, bail, ensure, promote};

use crate::graph::tracing::note_length_read;
use crate::graph::{Array, Inputs};
use crate::ops::promotion::cast_constant;
use crate::primitives::concatenate;
use crate::primitives::rules;
use crate::primitives::slice::slice_along;

/// The maximum number of parts of a split; each part is a separate array.
pub(in crate::ops) const MAX_PARTS: i64 = 1 << 24;

/// The arrays in their promoted dtype.
fn promoted(arrays: &[&Array]) -> Result<Inputs> {
    let dtype = arrays.iter().map(|array| array.dtype()).reduce(promote).unwrap_or(DType::Float32);
    arrays.iter().map(|array| cast_constant(array, dtype)).collect()
}

/// Join arrays along an existing axis.
///
/// `None` flattens the arrays first. The dtype is the promoted dtype of all arrays. Fails for no arrays, and for shapes
/// that differ along another axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let (a, b) = (Array::from([[1], [2]]), Array::from([[3.5f32], [4.5]]));
/// assert_eq!(ops::concatenate(&[&a, &b], Some(1))?.to_vec::<f32>()?, [1.0, 3.5, 2.0, 4.5]);
/// assert_eq!(ops::concatenate(&[&a, &b], None)?.shape(), &Shape::from([4]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn concatenate(arrays: &[&Array], axis: Option<i64>) -> Result<Array> {
    let Some(first) = arrays.first() else {
        bail!(Value("concatenate"), "needs at least one array");
    };
    let Some(axis) = axis else {
        let flat =
            arrays.iter().map(|array| rules::reshape(array, [array.size()])).collect::<Result<Inputs>>()?;
        let flat: SmallVec<[&Array; 8]> = flat.iter().collect();
        return concatenate::concatenate(promoted(&flat)?, 0);
    };
    ensure!(first.ndim() > 0, Value("concatenate"), "arrays must have at least one dimension");
    let axis = normalize_axis("concatenate", axis, first.ndim())?;
    for array in arrays {
        ensure!(
            array.ndim() == first.ndim(),
            Value("concatenate"),
            "numbers of dimensions differ: {} and {}",
            first.ndim(),
            array.ndim()
        );
        ensure!(
            array.shape().with(axis, 0) == first.shape().with(axis, 0),
            Value("concatenate"),
            "shapes {} and {} differ in axes other than axis {axis}",
            first.shape(),
            array.shape()
        );
    }
    concatenate::concatenate(promoted(arrays)?, axis)
}

/// Join arrays of one shape along a new axis.
///
/// The dtype is the promoted dtype of all arrays. Fails for no arrays, and for shapes that differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([1, 2]), Array::from([3, 4]));
/// assert_eq!(ops::stack(&[&a, &b], 0)?.to_vec::<i32>()?, [1, 2, 3, 4]);
/// assert_eq!(ops::stack(&[&a, &b], -1)?.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn stack(arrays: &[&Array], axis: i64) -> Result<Array> {
    let Some(first) = arrays.first() else {
        bail!(Value("stack"), "needs at least one array");
    };
    let axis = normalize_axis("stack", axis, first.ndim() + 1)?;
    let mut shape = first.shape().clone();
    shape.insert(axis, 1);
    if let Some(other) = arrays.iter().find(|array| array.shape() != first.shape()) {
        bail!(Value("stack"), "shapes differ: {} and {}", first.shape(), other.shape());
    }
    let arrays = promoted(arrays)?;
    let parts =
        arrays.iter().map(|array| rules::reshape(array, shape.clone())).collect::<Result<Inputs>>()?;
    concatenate::concatenate(parts, axis)
}

/// Where to split an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split<'a> {
    /// Into this many parts of equal length.
    Sections(i64),
    /// Before these indices, counted from the end if negative.
    Indices(&'a [i64]),
}

/// Split an array along an axis.
///
/// The parts are views. Fails if the length of the axis is no multiple of the number of sections.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::Split;
/// let a: Array = (0..6).collect();
/// let halves = ops::split(&a, Split::Sections(2), 0)?;
/// assert_eq!(halves[1].to_vec::<i32>()?, [3, 4, 5]);
/// let parts = ops::split(&a, Split::Indices(&[1, -1]), 0)?;
/// assert_eq!(parts.iter().map(Array::size).collect::<Vec<_>>(), [1, 4, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn split(a: &Array, at: Split<'_>, axis: i64) -> Result<Vec<Array>> {
    let axis = normalize_axis("split", axis, a.ndim())?;
    let length = a.shape()[axis];
    match at {
        Split::Sections(count) => {
            ensure!(
                (1..=MAX_PARTS).contains(&count),
                Value("split"),
                "number of sections must be between 1 and {MAX_PARTS}, got {count}"
            );
            ensure!(
                length as i64 % count == 0,
                Value("split"),
                "cannot split axis {axis} of shape {} into {count} equal sections",
                a.shape()
            );
            let part_length = length / count as usize;
            (0..count as usize).map(|i| slice_along(a, axis, i * part_length, part_length)).collect()
        }
        Split::Indices(indices) => {
            let clamped = |&index: &i64| {
                let position = from_start(index, length);
                if !(0..=length as i64).contains(&position) {
                    note_length_read(a, axis);
                }
                position.clamp(0, length as i64) as usize
            };
            let mut start = 0;
            let mut parts = Vec::with_capacity(indices.len() + 1);
            for end in indices.iter().map(clamped).chain([length]) {
                if end < start {
                    note_length_read(a, axis);
                }
                // Slice empty parts, too: constants would fix the other lengths in a shape-generic trace.
                parts.push(slice_along(a, axis, start, end.saturating_sub(start))?);
                start = end;
            }
            Ok(parts)
        }
    }
}

/// Split an array into its elements along an axis, and remove that axis.
///
/// Fails if the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let columns = ops::unstack(&Array::from([[1, 2], [3, 4]]), 1)?;
/// assert_eq!(columns[1].to_vec::<i32>()?, [2, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn unstack(a: &Array, axis: i64) -> Result<Vec<Array>> {
    let axis = normalize_axis("unstack", axis, a.ndim())?;
    let mut shape = a.shape().clone();
    let length = shape.remove(axis);
    ensure!(
        length as i64 <= MAX_PARTS,
        Value("unstack"),
        "axis {axis} of shape {} is too long; the maximum is {MAX_PARTS} elements",
        a.shape()
    );
    let element = |i| rules::reshape(&slice_along(a, axis, i, 1)?, shape.clone());
    (0..length).map(element).collect()
}

/// Shift elements along axes; elements that leave at one end reenter at the other.
///
/// `None` shifts the flattened array. One shift holds for every axis; several shifts of one axis add up. Shape and dtype are
/// those of `a`. Fails if there are several shifts, but not as many as axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(ops::roll(&a, &[1], Some(&[1]))?.to_vec::<i32>()?, [3, 1, 2, 6, 4, 5]);
/// assert_eq!(ops::roll(&a, &[-1], None)?.to_vec::<i32>()?, [2, 3, 4, 5, 6, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn roll(a: &Array, shifts: &[i64], axes: Option<&[i64]>) -> Result<Array> {
    let total = shifts.iter().fold(0i64, |sum, &shift| sum.wrapping_add(shift));
    let Some(axes) = axes else {
        let flat = rules::reshape(a, [a.size()])?;
        return rules::reshape(&roll_along(&flat, total, 0)?, a.shape().clone());
    };
    ensure!(
        shifts.len() == axes.len() || shifts.len() == 1 || axes.len() == 1,
        Value("roll"),
        "got {} shifts for {} axes, expected one per axis",
        shifts.len(),
        axes.len()
    );
    let mut rolled = a.clone();
    for (i, &axis) in axes.iter().enumerate() {
        let shift = if axes.len() == 1 || shifts.len() == 1 { total } else { shifts[i] };
        rolled = roll_along(&rolled, shift, normalize_axis("roll", axis, a.ndim())?)?;
    }
    Ok(rolled)
}

fn roll_along(a: &Array, shift: i64, axis: usize) -> Result<Array> {
    let length = a.shape()[axis];
    if length == 0 {
        return Ok(a.clone());
    }
    if shift.unsigned_abs() >= length as u64 {
        note_length_read(a, axis);
    }
    let shift = shift.rem_euclid(length as i64) as usize;
    if shift == 0 {
        return Ok(a.clone());
    }
    let end = slice_along(a, axis, length - shift, shift)?;
    let begin = slice_along(a, axis, 0, length - shift)?;
    concatenate::concatenate([end, begin].into_iter().collect(), axis)
}
