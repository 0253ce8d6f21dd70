//! Functions that take index arrays.

use smallvec::{SmallVec, smallvec};
use umber_types::shape::{normalize_axis, out_of_bounds};
use umber_types::{Axes, BinaryKind, DType, Result, ScatterKind, Shape, bail, ensure};

use super::bounds::{OutOfBounds, resolve_indices};
use super::check_integers;
use crate::graph::{Array, Inputs};
use crate::ops::promotion::cast_constant;
use crate::primitives::gather::{Places, iota};
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::rules::{self, binary, constant};
use crate::primitives::select::Select;
use crate::primitives::slice::{Window, slice, slice_along};
use crate::primitives::slice_update::slice_update;

/// Take elements of an array at indices along an axis.
///
/// `None` means the flattened array. The axes of the indices replace the axis. The dtype is that of `a`. Fails for indices that
/// are not integers; an index out of bounds fails when the result is evaluated.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::take(&a, &Array::from([1, 1]), Some(0))?.to_vec::<i32>()?, [3, 4, 3, 4]);
/// assert_eq!(ops::take(&a, &Array::from(-1), None)?.item()?.as_i64(), 4);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn take(a: &Array, indices: &Array, axis: Option<i64>) -> Result<Array> {
    take_as("take", a, indices, axis)
}

/// [`take`]; `op` names the function in errors.
pub(in crate::ops) fn take_as(
    op: &'static str,
    a: &Array,
    indices: &Array,
    axis: Option<i64>,
) -> Result<Array> {
    check_integers(op, indices)?;
    if let Some(index) = indices.constant() {
        let axis = axis.map(|axis| normalize_axis(op, axis, a.ndim())).transpose()?;
        let length = axis.map_or(a.size(), |axis| a.shape()[axis]);
        let index = index.as_i64();
        if indices.size() > 0 && !(-(length as i64)..length as i64).contains(&index) {
            return Err(out_of_bounds(index, axis.unwrap_or(0), length).with_op(op));
        }
    }
    let Some(axis) = axis else {
        let indexer = Places::grid(op, &[0], smallvec![indices.clone()]);
        return indexer.read(&rules::reshape(a, [a.size()])?);
    };
    let axis = normalize_axis(op, axis, a.ndim())?;
    let indexer = Places::grid(op, &[axis], smallvec![indices.clone()]);
    let gathered = indexer.read(a)?;
    let indexed_ndim = indices.ndim();
    let order = (indexed_ndim..indexed_ndim + axis)
        .chain(0..indexed_ndim)
        .chain(indexed_ndim + axis..gathered.ndim());
    rules::transpose(&gathered, &order.collect::<SmallVec<[usize; 6]>>())
}

/// [`take`] with a mode for indices out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::OutOfBounds};
/// let (a, indices) = (Array::from([1, 2, 3]), Array::from([-1, 4]));
/// let wrapped = ops::take_within(&a, &indices, None, OutOfBounds::Wrap)?;
/// assert_eq!(wrapped.to_vec::<i32>()?, [3, 2]);
/// let clipped = ops::take_within(&a, &indices, None, OutOfBounds::Clip)?;
/// assert_eq!(clipped.to_vec::<i32>()?, [1, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If [`take`] fails, and if there are indices but no elements.
pub fn take_within(a: &Array, indices: &Array, axis: Option<i64>, mode: OutOfBounds) -> Result<Array> {
    if mode == OutOfBounds::Raise {
        return take(a, indices, axis);
    }
    let axis_index = axis.map(|axis| normalize_axis("take", axis, a.ndim())).transpose()?;
    let length = axis_index.map_or(a.size(), |axis| a.shape()[axis]);
    ensure!(
        length > 0 || indices.size() == 0,
        Index("take"),
        "cannot take elements of an empty axis: shape {}",
        a.shape()
    );
    take(a, &resolve_indices("take", indices, length, mode)?, axis)
}

/// Broadcast `a` and the indices so that their shapes differ along the axis only; `None` flattens `a`.
struct Aligned {
    source: Array,
    indices: Array,
    axis: usize,
}

fn align(op: &str, a: &Array, indices: &Array, axis: Option<i64>) -> Result<Aligned> {
    check_integers(op, indices)?;
    let source = match axis {
        Some(_) => a.clone(),
        None => rules::reshape(a, [a.size()])?,
    };
    let axis = normalize_axis(op, axis.unwrap_or(0), source.ndim())?;
    ensure!(
        indices.ndim() == source.ndim(),
        Value(op),
        "indices and array must have equally many dimensions, got {} and {}",
        indices.ndim(),
        source.ndim()
    );
    // Along the other axes, both broadcast to a common shape.
    let Some(common) = source.shape().with(axis, 1).broadcast(&indices.shape().with(axis, 1)) else {
        bail!(
            Value(op),
            "cannot broadcast indices of shape {} with array of shape {} except along axis {axis}",
            indices.shape(),
            source.shape()
        );
    };
    let indices = rules::broadcast(indices, &common.with(axis, indices.shape()[axis]))?;
    let source = rules::broadcast(&source, &common.with(axis, source.shape()[axis]))?;
    Ok(Aligned { source, indices, axis })
}

/// Take elements along an axis with an index array that has the axes of the input.
///
/// `None` flattens the array. The shape is that of the indices, which broadcast with the other axes; the dtype is that of
/// `a`. Fails for indices that are not integers, are out of bounds, or have another number of axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[30, 10, 20], [1, 3, 2]]);
/// let order = ops::argsort(&a, Some(1), ops::SortOrder::Ascending)?;
/// assert_eq!(ops::take_along_axis(&a, &order, Some(1))?.to_vec::<i32>()?, [10, 20, 30, 1, 2, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn take_along_axis(a: &Array, indices: &Array, axis: Option<i64>) -> Result<Array> {
    let Aligned { source, indices, axis } = align("take_along_axis", a, indices, axis)?;
    Places::along("take_along_axis", axis, indices).read(&source)
}

/// Return a copy of an array with values set along an axis at an index array.
///
/// `None` indexes the flattened array. Values broadcast to the shape of the indices; shape and dtype are those of `a`. Fails
/// where [`take_along_axis`] does, and if the values do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// let b = ops::put_along_axis(&a, &Array::from([[0], [2]]), &Array::from(9), Some(1))?;
/// assert_eq!(b.to_vec::<i32>()?, [9, 2, 3, 4, 5, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn put_along_axis(a: &Array, indices: &Array, values: &Array, axis: Option<i64>) -> Result<Array> {
    let aligned = align("put_along_axis", a, indices, axis)?;
    let shape = aligned.indices.shape();
    ensure!(
        values.shape().broadcasts_to(shape),
        Value("put_along_axis"),
        "cannot broadcast values of shape {} to {shape}",
        values.shape()
    );
    ensure!(
        axis.is_none() || aligned.source.shape() == a.shape(),
        Value("put_along_axis"),
        "cannot broadcast indices of shape {} to array of shape {}",
        indices.shape(),
        a.shape()
    );
    let values = rules::broadcast(&cast_constant(values, a.dtype())?, shape)?;
    let indexer = Places::along("put_along_axis", aligned.axis, aligned.indices);
    rules::reshape(&indexer.write(ScatterKind::Set, &aligned.source, &values)?, a.shape().clone())
}

/// A block whose start is known only at evaluation: an index array over the block for each indexed axis, and a window of the
/// array that covers the block along the other axes.
struct Block {
    op: &'static str,
    axes: SmallVec<[usize; 4]>,
    indices: Inputs,
    window: Window,
}

impl Block {
    /// The block of `sizes` that starts at `start[i]` along `axes[i]`, at zero along the others.
    fn new(op: &'static str, a: &Array, start: &Array, axes: &[i64], sizes: &Shape) -> Result<Block> {
        check_integers(op, start)?;
        ensure!(
            start.ndim() <= 1 && start.size() == axes.len(),
            Value(op),
            "starts of shape {} do not match {} axes, expected one per axis",
            start.shape(),
            axes.len()
        );
        ensure!(
            sizes.ndim() == a.ndim()
                && sizes.iter().zip(a.shape().iter()).all(|(size, length)| size <= length),
            Value(op),
            "slice of shape {sizes} does not fit array of shape {}",
            a.shape()
        );
        let sorted = Axes::normalized(op, axes, a.ndim())?;
        let grid: Shape = sorted.iter().map(|&axis| sizes[axis]).collect();
        let starts = rules::cast(&rules::reshape(start, [axes.len()])?, DType::Int64)?;
        let mut indices = Inputs::from_elem(starts.clone(), sorted.len());
        for (i, &axis) in axes.iter().enumerate() {
            let axis = normalize_axis(op, axis, a.ndim())?;
            let position =
                sorted.iter().position(|&other| other == axis).expect("sorted holds the same axes");
            let first = rules::reshape(&slice_along(&starts, 0, i, 1)?, Shape::scalar())?;
            // Move negative starts out of bounds: as indices, they would count from the end.
            let length = NumberOfElements { axes: Axes::sorted([axis]), dtype: DType::Int64 }.record(a)?;
            let out_of_range = rules::sub(&first, &length)?;
            let is_negative = binary(BinaryKind::Less, &first, &constant(&first, 0))?;
            let first = Array::record_one(Select, &[&is_negative, &out_of_range, &first])?;
            indices[position] = rules::add(&iota(&grid, position)?, &rules::broadcast(&first, &grid)?)?;
        }
        let axes = SmallVec::from_slice(&sorted);
        let mut window = Window::whole(a.shape());
        for axis in (0..a.ndim()).filter(|axis| !axes.contains(axis)) {
            window.lengths.as_mut_slice()[axis] = sizes[axis];
        }
        Ok(Block { op, axes, indices, window })
    }

    fn places(&self) -> Places {
        Places::grid(self.op, &self.axes, self.indices.clone())
    }

    /// The permutation that moves the indexed axes to the front.
    fn order(&self) -> SmallVec<[usize; 6]> {
        let others = (0..self.window.lengths.ndim()).filter(|axis| !self.axes.contains(axis));
        self.axes.iter().copied().chain(others).collect()
    }
}

/// Extract a block of a given size that starts at computed indices.
///
/// The block has `sizes` elements and starts at `start[i]` along `axes[i]`, at zero along the other axes. Fails if it is
/// larger than the array. Evaluation fails if it extends beyond the array; negative starts are out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// let block = ops::dynamic_slice(&a, &Array::from([1]), &[1], &[2, 2])?;
/// assert_eq!(block.to_vec::<i32>()?, [2, 3, 5, 6]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dynamic_slice(a: &Array, start: &Array, axes: &[i64], sizes: &[i64]) -> Result<Array> {
    let block = Block::new("slice", a, start, axes, &Shape::checked("slice", sizes)?)?;
    let window = slice(a, block.window.clone())?;
    if block.axes.is_empty() {
        return Ok(window);
    }
    let read = block.places().read(&window)?;
    let mut inverse: SmallVec<[usize; 6]> = SmallVec::from_elem(0, a.ndim());
    for (position, axis) in block.order().into_iter().enumerate() {
        inverse[axis] = position;
    }
    rules::transpose(&read, &inverse)
}

/// Return a copy of an array with a block replaced that starts at computed indices.
///
/// The block starts at `start[i]` along `axes[i]`, at zero along the other axes. Shape and dtype are those of `a`. Fails
/// where [`dynamic_slice`] does.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([1, 2, 3, 4]);
/// let b = ops::dynamic_slice_update(&a, &Array::from([8, 9]), &Array::from([2]), &[0])?;
/// assert_eq!(b.to_vec::<i32>()?, [1, 2, 8, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dynamic_slice_update(a: &Array, update: &Array, start: &Array, axes: &[i64]) -> Result<Array> {
    let block = Block::new("slice_update", a, start, axes, update.shape())?;
    let update = cast_constant(update, a.dtype())?;
    if block.axes.is_empty() {
        return slice_update(ScatterKind::Set, a, block.window, &update);
    }
    let values = rules::transpose(&update, &block.order())?;
    if block.window.is_whole(a.shape()) {
        return block.places().write(ScatterKind::Set, a, &values);
    }
    let updated = block.places().write(ScatterKind::Set, &slice(a, block.window.clone())?, &values)?;
    slice_update(ScatterKind::Set, a, block.window, &updated)
}
