//! Reshaping, and permuting or reversing axes.

use smallvec::{SmallVec, smallvec};
use umber_types::shape::{from_start, normalize_axis, tuple};
use umber_types::{Axes, Result, Shape, bail, ensure};

use crate::graph::Array;
use crate::graph::tracing::note_ones_read;
use crate::ops::ShapeArgument;
use crate::primitives::concatenate::Concatenate;
use crate::primitives::rules;
use crate::primitives::slice::{Window, slice};

/// The requested shape; a length of -1 is inferred from the number of elements.
fn resolve(op: &str, lengths: &[i64], size: usize) -> Result<Shape> {
    let unknown = lengths.iter().filter(|&&length| length == -1).count();
    ensure!(unknown <= 1, Value(op), "shape can have only one -1, got {}", tuple(lengths));
    if unknown == 0 {
        return Shape::checked(op, lengths);
    }
    let known: SmallVec<[i64; 6]> = lengths.iter().copied().filter(|&length| length != -1).collect();
    let count = Shape::checked(op, &known)?.size();
    ensure!(count > 0, Value(op), "cannot infer -1 in shape {}: another length is zero", tuple(lengths));
    ensure!(size.is_multiple_of(count), Value(op), "cannot reshape {size} elements into {}", tuple(lengths));
    Ok(lengths.iter().map(|&length| if length == -1 { size / count } else { length as usize }).collect())
}

/// Reshape an array; the elements keep their row-major order.
///
/// One length may be -1; it follows from the others. The result is a view if strides can express the new shape. Fails if
/// the sizes differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let a: Array = (0..6).collect();
/// assert_eq!(ops::reshape(&a, [2, -1])?.shape(), &Shape::from([2, 3]));
/// assert!(ops::reshape(&a, [4, -1]).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn reshape(a: &Array, shape: impl ShapeArgument) -> Result<Array> {
    let shape = resolve("reshape", shape.lengths().as_ref(), a.size())?;
    rules::reshape(a, shape)
}

/// Merge consecutive axes of an array into one.
///
/// Values of `start_axis` and `end_axis` out of bounds are clamped to the first or last axis. Fails if `start_axis` comes
/// after `end_axis`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::flatten(&a, 0, -1)?.shape(), &Shape::from([24]));
/// assert_eq!(ops::flatten(&a, 1, 2)?.shape(), &Shape::from([2, 12]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn flatten(a: &Array, start_axis: i64, end_axis: i64) -> Result<Array> {
    let ndim = a.ndim() as i64;
    if ndim == 0 {
        return rules::reshape(a, [1]);
    }
    let (start, end) =
        (from_start(start_axis, a.ndim()).max(0), from_start(end_axis, a.ndim()).min(ndim - 1));
    ensure!(
        start <= end,
        Value("flatten"),
        "start_axis {start_axis} is after end_axis {end_axis} of {ndim} dimensions"
    );
    let (start, end) = (start as usize, end as usize);
    let shape = a.shape();
    let merged: usize = shape[start..=end].iter().product();
    rules::reshape(
        a,
        shape[..start]
            .iter()
            .copied()
            .chain([merged])
            .chain(shape[end + 1..].iter().copied())
            .collect::<Shape>(),
    )
}

/// Split one axis of an array into several.
///
/// One of the new lengths may be -1. Fails if the product of the lengths is not the length of the axis.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 12]), DType::Float32);
/// assert_eq!(ops::unflatten(&a, -1, [3, -1])?.shape(), &Shape::from([2, 3, 4]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn unflatten(a: &Array, axis: i64, shape: impl ShapeArgument) -> Result<Array> {
    let lengths = shape.lengths();
    let shape = lengths.as_ref();
    ensure!(!shape.is_empty(), Value("unflatten"), "shape must not be empty");
    let axis_index = normalize_axis("unflatten", axis, a.ndim())?;
    let length = a.shape()[axis_index];
    let inner = resolve("unflatten", shape, length)?;
    ensure!(
        inner.size() == length,
        Value("unflatten"),
        "cannot unflatten axis {axis} of length {length} into {}",
        tuple(shape)
    );
    let outer = a.shape();
    let merged = outer[..axis_index].iter().chain(inner.iter()).chain(&outer[axis_index + 1..]).copied();
    rules::reshape(a, merged.collect::<Shape>())
}

/// Remove axes of length one.
///
/// The given axes, or all of length one. Fails if a given axis is longer.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([1, 3, 1]), DType::Float32);
/// assert_eq!(ops::squeeze(&a, None)?.shape(), &Shape::from([3]));
/// assert_eq!(ops::squeeze(&a, Some(&[0]))?.shape(), &Shape::from([3, 1]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn squeeze(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    let shape = a.shape();
    let axes = match axes {
        None => {
            note_ones_read(a);
            Axes::sorted((0..a.ndim()).filter(|&axis| shape[axis] == 1))
        }
        Some(axes) => {
            let axes = Axes::normalized("squeeze", axes, a.ndim())?;
            if let Some(&axis) = axes.iter().find(|&&axis| shape[axis] != 1) {
                bail!(Value("squeeze"), "cannot squeeze axis {axis} of length {}", shape[axis]);
            }
            axes
        }
    };
    rules::reshape(a, shape.reduced(&axes, umber_types::KeepAxes::No))
}

/// Insert axes of length one.
///
/// `axes` are the positions in the result. Fails if a position is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let a = Array::from([1, 2, 3]);
/// assert_eq!(ops::expand_dims(&a, &[0, -1])?.shape(), &Shape::from([1, 3, 1]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn expand_dims(a: &Array, axes: &[i64]) -> Result<Array> {
    let axes = Axes::normalized("expand_dims", axes, a.ndim() + axes.len())?;
    let mut shape = a.shape().clone();
    for &axis in axes.iter() {
        shape.insert(axis, 1);
    }
    rules::reshape(a, shape)
}

/// Permute the axes of an array.
///
/// Axis `i` of the result is axis `axes[i]` of `a`; `None` reverses the axes. The result is a view. Fails if `axes` does
/// not contain every axis exactly once.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(ops::transpose(&a, None)?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
/// let b = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::transpose(&b, Some(&[1, -1, 0]))?.shape(), &Shape::from([3, 4, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn transpose(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    let ndim = a.ndim();
    let Some(axes) = axes else {
        let reversed: SmallVec<[usize; 6]> = (0..ndim).rev().collect();
        return rules::transpose(a, &reversed);
    };
    ensure!(
        axes.len() == ndim,
        Value("transpose"),
        "got {} axes for {ndim} dimensions, expected each axis once",
        axes.len()
    );
    Axes::normalized("transpose", axes, ndim)?;
    let order = axes.iter().map(|&axis| normalize_axis("transpose", axis, ndim));
    rules::transpose(a, &order.collect::<Result<SmallVec<[usize; 6]>>>()?)
}

/// Exchange two axes of an array.
///
/// The result is a view. Fails if an axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::swapaxes(&a, 0, -1)?.shape(), &Shape::from([4, 3, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn swapaxes(a: &Array, axis1: i64, axis2: i64) -> Result<Array> {
    let first = normalize_axis("swapaxes", axis1, a.ndim())?;
    let second = normalize_axis("swapaxes", axis2, a.ndim())?;
    let mut order: SmallVec<[usize; 6]> = (0..a.ndim()).collect();
    order.swap(first, second);
    rules::transpose(a, &order)
}

/// Move one axis of an array to a new position; the other axes keep their order.
///
/// The result is a view. Fails if an axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::moveaxis(&a, 0, -1)?.shape(), &Shape::from([3, 4, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn moveaxis(a: &Array, source: i64, destination: i64) -> Result<Array> {
    let from = normalize_axis("moveaxis", source, a.ndim())?;
    let to = normalize_axis("moveaxis", destination, a.ndim())?;
    rules::move_axis(a, from, to)
}

/// Move axes of an array to new positions; the other axes keep their order.
///
/// The result is a view. Fails if an axis is out of bounds or given twice, or if there are not as many sources as
/// destinations.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::moveaxes(&a, &[0, 1], &[-1, 0])?.shape(), &Shape::from([3, 4, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn moveaxes(a: &Array, sources: &[i64], destinations: &[i64]) -> Result<Array> {
    let op = "moveaxis";
    ensure!(
        sources.len() == destinations.len(),
        Value(op),
        "numbers of axes differ: {} sources, {} destinations",
        sources.len(),
        destinations.len()
    );
    let normalized = |axes: &[i64]| -> Result<Vec<usize>> {
        let mut normalized = Vec::with_capacity(axes.len());
        for &axis in axes {
            let axis = normalize_axis(op, axis, a.ndim())?;
            ensure!(!normalized.contains(&axis), Value(op), "duplicate axis {axis} in {axes:?}");
            normalized.push(axis);
        }
        Ok(normalized)
    };
    let (from, to) = (normalized(sources)?, normalized(destinations)?);
    let mut others = (0..a.ndim()).filter(|axis| !from.contains(axis));
    let order: Vec<i64> = (0..a.ndim())
        .map(|axis| match to.iter().position(|&target| target == axis) {
            Some(i) => from[i] as i64,
            None => others.next().expect("the other axes fill the other positions") as i64,
        })
        .collect();
    transpose(a, Some(&order))
}

/// Exchange the last two axes of an array.
///
/// The result is a view. Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::zeros(&Shape::from([2, 3, 4]), DType::Float32);
/// assert_eq!(ops::matrix_transpose(&a)?.shape(), &Shape::from([2, 4, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_transpose(a: &Array) -> Result<Array> {
    ensure!(
        a.ndim() >= 2,
        Value("matrix_transpose"),
        "array must have at least 2 dimensions, got {}",
        a.ndim()
    );
    rules::swap_last(a)
}

/// Reverse the order of the elements along axes.
///
/// The given axes, or all. The result is a view. Fails if an axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::flip(&a, Some(&[1]))?.to_vec::<i32>()?, [2, 1, 4, 3]);
/// assert_eq!(ops::flip(&a, None)?.to_vec::<i32>()?, [4, 3, 2, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn flip(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    let axes = match axes {
        None => Axes::all(a.ndim()),
        Some(axes) => Axes::normalized("flip", axes, a.ndim())?,
    };
    let mut window = Window::whole(a.shape());
    axes.iter().for_each(|&axis| window.reverse(axis));
    slice(a, window)
}

/// View an array with at least `ndim` axes, 1 to 3.
///
/// A first missing axis, of length one, is inserted in front; a third axis is appended.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// assert_eq!(ops::atleast(&Array::from(1.0f32), 1)?.shape(), &Shape::from([1]));
/// assert_eq!(ops::atleast(&Array::from([1, 2]), 3)?.shape(), &Shape::from([1, 2, 1]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn atleast(a: &Array, ndim: usize) -> Result<Array> {
    let shape = a.shape();
    let expanded: Shape = match (ndim, shape.ndim()) {
        (_, 0) => std::iter::repeat_n(1, ndim).collect(),
        (2, 1) => [1, shape[0]].into(),
        (3, 1) => [1, shape[0], 1].into(),
        (3, 2) => [shape[0], shape[1], 1].into(),
        _ => return Ok(a.clone()),
    };
    rules::reshape(a, expanded)
}

/// Copy an array into contiguous row-major memory, unless it is stored that way already.
///
/// Memory is shared only if the array is row-major and its memory holds little else.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = ops::transpose(&Array::from([[1, 2], [3, 4]]), None)?;
/// let dense = ops::contiguous(&a)?;
/// assert_eq!(dense.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn contiguous(a: &Array) -> Result<Array> {
    if a.ndim() == 0 || a.storage().is_some_and(|storage| storage.is_dense_alone(a.dtype())) {
        return Ok(a.clone());
    }
    let mut outputs = Array::record(Concatenate { axis: 0 }, smallvec![a.clone()])?;
    Ok(outputs.pop().expect("one output"))
}
