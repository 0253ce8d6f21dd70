//! Broadcasting, tiling, coordinate grids and strided views, in which elements appear several times.

use smallvec::SmallVec;
use umber_types::shape::tuple;
use umber_types::{DType, Result, Shape, bail, ensure};

use super::checked_length;
use crate::graph::{Array, Inputs};
use crate::ops::ShapeArgument;
use crate::ops::indexing::take;
use crate::ops::promotion::common_shape;
use crate::primitives::broadcast::Broadcast;
use crate::primitives::gather::iota;
use crate::primitives::rules;

/// Broadcast an array to a shape.
///
/// The result is a view: no element is copied. Fails if a length of `a` is neither one nor that of `shape`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let rows = ops::broadcast_to(&Array::from([1, 2]), &[3, 2])?;
/// assert_eq!(rows.to_vec::<i32>()?, [1, 2, 1, 2, 1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn broadcast_to(a: &Array, shape: impl ShapeArgument) -> Result<Array> {
    let target = Shape::checked("broadcast_to", shape.lengths().as_ref())?;
    ensure!(
        a.shape().broadcasts_to(&target),
        Value("broadcast_to"),
        "cannot broadcast array of shape {} to {target}",
        a.shape()
    );
    view(a, &target)
}

/// Broadcast `a` to a shape as a view; a constant is not expanded either.
fn view(a: &Array, shape: &Shape) -> Result<Array> {
    if a.constant().is_none() || a.shape() == shape {
        return rules::broadcast(a, shape);
    }
    Array::record_one(Broadcast { shape: shape.clone() }, &[a])
}

/// Compute the shape that all given shapes broadcast to.
///
/// Without shapes the result is `()`. Fails if the shapes do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Shape, ops};
/// let shapes = [Shape::from([2, 1]), Shape::from([3]), Shape::scalar()];
/// assert_eq!(ops::broadcast_shapes(&shapes)?, Shape::from([2, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn broadcast_shapes(shapes: &[Shape]) -> Result<Shape> {
    let result = shapes.iter().try_fold(Shape::scalar(), |common, shape| match common.broadcast(shape) {
        Some(shape) => Ok(shape),
        None => bail!(Value("broadcast_shapes"), "shapes {common} and {shape} cannot be broadcast"),
    })?;
    ensure!(result.is_addressable(), Overflow("broadcast_shapes"), "shape {result} is too large to address");
    Ok(result)
}

/// Broadcast arrays to their common shape.
///
/// Fails if the shapes do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let arrays = ops::broadcast_arrays(&[&Array::from([[1], [2]]), &Array::from([1.0f32, 2.0])])?;
/// assert_eq!(arrays[0].to_vec::<i32>()?, [1, 1, 2, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn broadcast_arrays(arrays: &[&Array]) -> Result<Vec<Array>> {
    let shape = common_shape("broadcast_arrays", arrays)?;
    arrays.iter().map(|array| view(array, &shape)).collect()
}

/// Repeat an array as a whole along its axes.
///
/// `reps` has a number of repetitions for each axis. The shorter of `reps` and the shape is padded with ones in front. Fails
/// for negative numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let a = Array::from([1, 2]);
/// assert_eq!(ops::tile(&a, &[2])?.to_vec::<i32>()?, [1, 2, 1, 2]);
/// assert_eq!(ops::tile(&a, &[3, 1])?.shape(), &Shape::from([3, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tile(a: &Array, reps: &[i64]) -> Result<Array> {
    if reps.iter().any(|&count| count < 0) {
        bail!(Value("tile"), "repetitions must not be negative, got {}", tuple(reps));
    }
    let ndim = reps.len().max(a.ndim());
    let length = |axis: usize| (axis + a.ndim()).checked_sub(ndim).map_or(1, |axis| a.shape()[axis]);
    let count = |axis: usize| (axis + reps.len()).checked_sub(ndim).map_or(1, |axis| reps[axis]);
    // Each axis becomes (repetitions, length).
    let mut lengths: SmallVec<[i64; 6]> = SmallVec::new();
    let (mut split, mut expanded) = (Shape::scalar(), Shape::scalar());
    for axis in 0..ndim {
        split.push(1);
        split.push(length(axis));
        expanded.push(count(axis) as usize);
        expanded.push(length(axis));
        let length = length(axis) as i64;
        lengths.push(checked_length("tile", count(axis).checked_mul(length), || {
            format!("{} repetitions of an axis of length {length}", count(axis))
        })?);
    }
    let shape = Shape::checked("tile", &lengths)?;
    if reps.iter().all(|&count| count == 1) {
        return rules::reshape(a, shape);
    }
    rules::reshape(&rules::broadcast(&rules::reshape(a, split)?, &expanded)?, shape)
}

/// The order of the axes of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshIndexing {
    /// Cartesian: the first array runs along the second axis.
    Xy,
    /// Matrix: the first array runs along the first axis.
    Ij,
}

/// Dense or sparse coordinate grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshKind {
    /// Every result has the shape of the grid.
    Full,
    /// Every result has length one along the other arrays' axes.
    Sparse,
}

/// Create coordinate arrays of a grid from the coordinates along its axes.
///
/// Each result has the dtype of its input. Arrays of several axes are flattened.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::{MeshIndexing, MeshKind};
/// let (x, y) = (Array::from([1, 2, 3]), Array::from([10, 20]));
/// let grids = ops::meshgrid(&[&x, &y], MeshKind::Full, MeshIndexing::Xy)?;
/// assert_eq!(grids[0].to_vec::<i32>()?, [1, 2, 3, 1, 2, 3]);
/// assert_eq!(grids[1].to_vec::<i32>()?, [10, 10, 10, 20, 20, 20]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn meshgrid(arrays: &[&Array], kind: MeshKind, indexing: MeshIndexing) -> Result<Vec<Array>> {
    let count = arrays.len();
    let axis_of = |i: usize| match (indexing, i) {
        (MeshIndexing::Xy, 0) if count > 1 => 1,
        (MeshIndexing::Xy, 1) => 0,
        _ => i,
    };
    let mut shape = Shape::new(std::iter::repeat_n(1, count));
    for (i, array) in arrays.iter().enumerate() {
        shape.as_mut_slice()[axis_of(i)] = array.size();
    }
    let grid = |i: usize| {
        let aligned =
            Shape::new((0..count).map(|axis| if axis == axis_of(i) { arrays[i].size() } else { 1 }));
        let sparse = rules::reshape(arrays[i], aligned)?;
        if kind == MeshKind::Sparse { Ok(sparse) } else { rules::broadcast(&sparse, &shape) }
    };
    (0..count).map(grid).collect()
}

/// View the flattened array with a given shape, strides and offset.
///
/// The element at `index` is that at `offset + Σ index * stride` of the flattened array; strides and offset count elements.
/// By default the shape is that of `a`, and the strides are those of a row-major array. Fails if the view is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a: Array = (0..5).collect();
/// let windows = ops::as_strided(&a, Some(&[3, 3]), Some(&[1, 1]), 0)?;
/// assert_eq!(windows.to_vec::<i32>()?, [0, 1, 2, 1, 2, 3, 2, 3, 4]);
/// assert!(ops::as_strided(&a, Some(&[6]), None, 0).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn as_strided(a: &Array, shape: Option<&[i64]>, strides: Option<&[i64]>, offset: i64) -> Result<Array> {
    let shape = match shape {
        Some(shape) => Shape::checked("as_strided", shape)?,
        None => a.shape().clone(),
    };
    let dense: SmallVec<[i64; 6]> =
        umber_types::layout::row_major_strides(&shape).iter().map(|&stride| stride as i64).collect();
    let strides = strides.unwrap_or(&dense);
    ensure!(
        strides.len() == shape.ndim(),
        Value("as_strided"),
        "got {} strides for shape {shape}, expected {}",
        strides.len(),
        shape.ndim()
    );
    if shape.size() == 0 {
        return Ok(Array::full(shape, 0.0, a.dtype()));
    }
    let (mut low, mut high) = (i128::from(offset), i128::from(offset));
    for (&stride, &length) in strides.iter().zip(shape.iter()) {
        let span = i128::from(stride) * (length as i128 - 1);
        if span < 0 { low += span } else { high += span }
    }
    ensure!(
        low >= 0 && high < a.size() as i128,
        Value("as_strided"),
        "view of elements {low} to {high} is out of bounds for {} elements",
        a.size()
    );
    let mut terms: Inputs = Inputs::new();
    for (axis, &stride) in strides.iter().enumerate() {
        if shape[axis] > 1 {
            let positions = iota(&shape, axis)?;
            terms.push(rules::mul(&positions, &rules::constant(&positions, stride))?);
        }
    }
    let mut indices = Array::full(shape, offset, DType::Int64);
    for term in terms {
        indices = rules::add(&indices, &term)?;
    }
    take(a, &indices, None)
}
