//! Indexing: `a[...]`, `a[...] = v`, `a.at[...]`, and the functions that take index arrays.

mod bounds;
mod index_macro;
mod mask;
mod part;
mod plan;
mod take_functions;

use smallvec::SmallVec;
use umber_types::{Result, Scalar, ScatterKind, Shape, ensure};

use super::promotion::cast_constant;
use crate::graph::{Array, Inputs};
use crate::primitives::control::Surplus;
use crate::primitives::rules;
use crate::primitives::select::Select;
use crate::primitives::slice::{Slice, Window, slice, slice_into};
use crate::primitives::slice_update::{combining, slice_update};
use plan::Plan;

pub use bounds::OutOfBounds;
pub(crate) use bounds::{check_known, resolve_indices};
pub use index_macro::{IndexInteger, RangeWithStep};
pub use part::{Entry, part};
pub(in crate::ops) use take_functions::take_as;
pub use take_functions::{
    dynamic_slice, dynamic_slice_update, put_along_axis, take, take_along_axis, take_within,
};

/// One entry of an index, as NumPy reads it.
#[derive(Clone, Debug)]
pub enum Index {
    /// One element, counted from the end if negative; the axis vanishes.
    Int(i64),
    /// Evenly spaced elements, as Python's `start:stop:step`.
    Slice {
        /// First index; by default the first one in the direction of `step`.
        start: Option<i64>,
        /// One past the last index; by default past the end.
        stop: Option<i64>,
        /// Distance between indices; by default 1.
        step: Option<i64>,
    },
    /// All axes that the other entries do not index.
    Ellipsis,
    /// A new axis of length one.
    NewAxis,
    /// Elements selected by integers.
    Array(Array),
    /// Elements where a bool array, of the shape of the axes that it indexes, is true.
    Mask(Array),
}

/// `a[index]`: a view for integers, slices and new axes, else a gather.
///
/// The dtype stays; [`s!`](crate::s) builds the index, and [`Array::get`] is the same as a method. Fails if there are more
/// indices than axes, an index is out of bounds, a mask does not match its axes, or index arrays do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(ops::get(&a, &s![-1, ..2])?.to_vec::<i32>()?, [4, 5]);
/// assert_eq!(ops::get(&a, &s![.., [2, 0]])?.to_vec::<i32>()?, [3, 1, 6, 4]);
/// assert!(ops::get(&a, &s![2]).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn get(a: &Array, index: &[Index]) -> Result<Array> {
    if let Some(view) = basic_view(a, index) {
        return Ok(view);
    }
    if let Some(index) = mask::fill_empty(a.shape(), index) {
        return get(a, &index);
    }
    if let Some(merged) = merge_masked_axes(a, index)? {
        return get(&merged.array, &merged.index);
    }
    let plan = Plan::of(a, index)?;
    let shape = plan.shape();
    if shape.size() == 0 && plan.axes.is_empty() {
        return Ok(Array::full(shape, Scalar::Bool(false), a.dtype()));
    }
    if plan.axes.is_empty() {
        let part = slice_into(a, plan.window, shape)?;
        // `a[:]` of an array that foreign code may write is a copy, so that the result keeps its values.
        return if part.is_same(a) && a.is_externally_mutable() { copy(a) } else { Ok(part) };
    }
    let gathered = plan.places()?.read(&slice(a, plan.window.clone())?)?;
    plan.move_indexed_to_position(&rules::reshape(&gathered, plan.gathered_shape())?)
}

/// The view of an evaluated array for an index of integers and full slices only; see [`part`].
fn basic_view(a: &Array, index: &[Index]) -> Option<Array> {
    let entry = |entry: &Index| match entry {
        Index::Int(i) => Some(Entry::Index(*i)),
        Index::Slice { start: None, stop: None, step: None | Some(1) } => Some(Entry::All),
        Index::Slice { .. } | Index::Ellipsis | Index::NewAxis | Index::Array(_) | Index::Mask(_) => None,
    };
    let entries: SmallVec<[Entry; 4]> = index.iter().map(entry).collect::<Option<_>>()?;
    part(a, &entries)
}

/// Fail for an index of `a` with index arrays whose values are known and out of bounds, as the evaluation of [`get`] would.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// let a = Array::from([1, 2, 3]);
/// assert!(ops::check_index(&a, &s![[0, 2]]).is_ok());
/// assert!(ops::check_index(&a, &s![[0, 7]]).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn check_index(a: &Array, index: &[Index]) -> Result<()> {
    if index.iter().any(|entry| matches!(entry, Index::Mask(_))) {
        return Ok(());
    }
    Plan::new(a.shape(), index)?.check_known()
}

/// `a` with `values` assigned, added, … to `a[index]`. They broadcast to its shape and take the dtype of `a`.
///
/// If an element is selected several times, every value counts; of several values to assign, the last one remains.
///
/// Fails where [`get`] does, or if the values do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// use umber::types::ScatterKind;
/// let counts = Array::from([0, 0, 0]);
/// let updated = ops::update(ScatterKind::Add, &counts, &s![[0, 2, 2]], &Array::from(1))?;
/// assert_eq!(updated.to_vec::<i32>()?, [1, 0, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn update(kind: ScatterKind, a: &Array, index: &[Index], values: &Array) -> Result<Array> {
    if let Some(index) = mask::fill_empty(a.shape(), index) {
        return update(kind, a, &index, values);
    }
    let values = cast_constant(values, a.dtype())?;
    if let Some(updated) = update_where(kind, a, index, &values)? {
        return Ok(updated);
    }
    if let Some(merged) = merge_masked_axes(a, index)? {
        let updated = update(kind, &merged.array, &merged.index, &values)?;
        return rules::reshape(&updated, a.shape().clone());
    }
    let plan = Plan::of(a, index)?;
    let shape = plan.shape();
    let values = fit(&values, &shape)?;
    if shape.size() == 0 {
        return Ok(a.clone());
    }
    if plan.axes.is_empty() {
        let values = rules::reshape(&values, plan.window.lengths.clone())?;
        if plan.window.is_whole(a.shape()) {
            return combine(kind, a, &values);
        }
        return slice_update(kind, a, plan.window, &values);
    }
    plan.check_known()?;
    let indexer = plan.places()?;
    let values = rules::reshape(&plan.move_indexed_to_front(&values)?, plan.read_shape())?;
    if plan.window.is_whole(a.shape()) {
        return indexer.write(kind, a, &values);
    }
    let part = indexer.write(kind, &slice(a, plan.window.clone())?, &values)?;
    slice_update(ScatterKind::Set, a, plan.window, &part)
}

/// `a` with the true elements of `mask`, which covers its first axes, set to the first of `values`, in row-major order.
///
/// As [`update`] with [`ScatterKind::Set`], but values beyond the number of true elements are ignored, as in MLX.
///
/// Fails where [`update`] does, and if there are fewer values than true elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let mask = Array::from([true, false, true]);
/// let set = ops::assign_first(&Array::from([0, 0, 0]), &mask, &Array::from([7, 8, 9]))?;
/// assert_eq!(set.to_vec::<i32>()?, [7, 0, 8]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn assign_first(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let trailing = a.ndim().saturating_sub(mask.ndim());
    if mask.ndim() > 0 && values.ndim() > trailing && values.size() != 1 {
        let values = cast_constant(values, a.dtype())?;
        let updated = mask::masked_scatter(ScatterKind::Set, a, mask, &values, Surplus::Ignored)?;
        if let Some(updated) = updated {
            return Ok(updated);
        }
    }
    let values = mask::first_values(a, mask, values)?;
    update(ScatterKind::Set, a, &[Index::Mask(mask.clone())], &values)
}

/// An array, and an index of it in which an index array replaces a mask.
struct MaskResolved {
    array: Array,
    index: SmallVec<[Index; 4]>,
}

/// Merge the axes of a multi-dimensional mask, so that one index array replaces it instead of one per axis. `None` if there are
/// other index arrays or masks.
fn merge_masked_axes(a: &Array, index: &[Index]) -> Result<Option<MaskResolved>> {
    let mut mask_entry = None;
    let mut before = 0;
    for (position, entry) in index.iter().enumerate() {
        match entry {
            Index::Mask(mask) if mask.ndim() > 1 && mask_entry.is_none() => {
                mask_entry = Some((position, mask, before));
            }
            Index::Slice { .. } => before += 1,
            Index::NewAxis => {}
            Index::Ellipsis => {
                let used: usize = index.iter().map(plan::axes_used).sum();
                before += a.ndim().saturating_sub(used);
            }
            Index::Int(_) | Index::Array(_) | Index::Mask(_) => return Ok(None),
        }
    }
    let Some((position, mask, start)) = mask_entry else { return Ok(None) };
    plan::check_mask(mask, a.shape(), start)?;
    let (front, tail) = a.shape().split_at(start);
    let shape: Shape =
        front.iter().copied().chain([mask.size()]).chain(tail[mask.ndim()..].iter().copied()).collect();
    let mut merged: SmallVec<[Index; 4]> = index.iter().cloned().collect();
    merged[position] = Index::Array(mask::mask_indices(mask)?.flat);
    Ok(Some(MaskResolved { array: rules::reshape(a, shape)?, index: merged }))
}

/// A separate node with all elements of `a`.
fn copy(a: &Array) -> Result<Array> {
    let window = Box::new(Window::whole(a.shape()));
    Array::record_one(Slice { window, shape: a.shape().clone() }, &[a])
}

/// Combine old and new values of the same shape.
fn combine(kind: ScatterKind, old: &Array, new: &Array) -> Result<Array> {
    // Assignment copies: the result must not alias memory that foreign code owns or may write.
    let is_foreign =
        new.storage().is_some_and(|storage| !storage.buffer.is_owned()) || new.is_externally_mutable();
    match combining(kind) {
        None if is_foreign && !new.is_traced() => new.copied(),
        None => Ok(new.clone()),
        Some(kind) => rules::binary(kind, old, new),
    }
}

/// Broadcast `values` to the shape that is written; surplus leading axes of length one are dropped, as in NumPy.
fn fit(values: &Array, shape: &Shape) -> Result<Array> {
    let surplus = values.ndim().saturating_sub(shape.ndim());
    let (leading, tail) = values.shape().split_at(surplus);
    let shape_without_surplus = Shape::from(tail);
    ensure!(
        leading.iter().all(|&length| length == 1) && shape_without_surplus.broadcasts_to(shape),
        Value("index"),
        "cannot broadcast values of shape {} to {shape}",
        values.shape()
    );
    rules::broadcast(&rules::reshape(values, shape_without_surplus)?, shape)
}

/// An update under a single mask with values that do not depend on which elements are selected: an elementwise select, which
/// does not need the mask's values. `None` for other updates.
fn update_where(kind: ScatterKind, a: &Array, index: &[Index], values: &Array) -> Result<Option<Array>> {
    let mut mask = None;
    for (i, entry) in index.iter().enumerate() {
        match entry {
            Index::Ellipsis => {}
            Index::Mask(array) if mask.is_none() => mask = Some((i, array)),
            Index::Mask(_) | Index::Int(_) | Index::Slice { .. } | Index::NewAxis | Index::Array(_) => {
                return Ok(None);
            }
        }
    }
    let Some((position, mask)) = mask else { return Ok(None) };
    let mask_ndim = mask.ndim();
    let trailing = a.ndim().saturating_sub(mask_ndim);
    let first = position == 0;
    if mask_ndim == 0 {
        return Ok(None);
    }
    if values.size() != 1 && !(first && values.ndim() <= trailing) {
        return if first { mask::masked_scatter(kind, a, mask, values, Surplus::Refused) } else { Ok(None) };
    }
    let start = if first { 0 } else { trailing };
    plan::check_mask(mask, a.shape(), start)?;
    let aligned: Shape = (0..a.ndim())
        .map(|axis| axis.checked_sub(start).and_then(|axis| mask.shape().get(axis).copied()).unwrap_or(1))
        .collect();
    let mask = rules::broadcast(&rules::reshape(mask, aligned)?, a.shape())?;
    let tail_shape = Shape::from(&a.shape()[if first { mask_ndim } else { a.ndim() }..]);
    let fitted = fit(values, &tail_shape)?;
    let values = rules::broadcast(&fitted, a.shape())?;
    choose(kind, a, &mask, &values).map(Some)
}

/// `a` updated by `values` where `mask` is true; all have the same shape.
fn choose(kind: ScatterKind, a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    // Outside the mask, combine elements with the identity of the operation, so that they and their gradients do not change.
    let other = match kind {
        ScatterKind::Set | ScatterKind::Maximum | ScatterKind::Minimum => a.clone(),
        ScatterKind::Add => rules::zeros_like(a),
        ScatterKind::Multiply => rules::constant(a, 1.0),
    };
    combine(kind, a, &Array::record_one(Select, &[mask, values, &other])?)
}

/// Index arrays, broadcast to one shape.
fn broadcast_indices(arrays: &[Array], shape: &Shape) -> Result<Inputs> {
    arrays.iter().map(|array| rules::broadcast(array, shape)).collect()
}

/// Fail for index arrays that are not integers.
fn check_integers(op: &str, indices: &Array) -> Result<()> {
    ensure!(indices.dtype().is_integer(), Type(op), "indices must be integers, not {}", indices.dtype());
    Ok(())
}
