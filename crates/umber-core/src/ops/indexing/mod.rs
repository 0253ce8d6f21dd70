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
        /// First index; by default the first that `step` meets.
        start: Option<i64>,
        /// One past the last index; by default beyond the last.
        stop: Option<i64>,
        /// Distance between indices; by default 1.
        step: Option<i64>,
    },
    /// All of as many axes as the other entries leave over.
    Ellipsis,
    /// A new axis of length one.
    NewAxis,
    /// Elements picked by integers.
    Array(Array),
    /// Elements picked where a bool array of the leading axes' shape holds.
    Mask(Array),
}

/// `a[index]`: a view where integers, slices and new axes say it, else a gather.
///
/// The dtype stays; [`s!`](crate::s) spells the index and [`Array::get`] is the same as a method. Fails if there are more
/// indices than axes, an index lies outside, a mask does not fit its axes, or index arrays do not broadcast.
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
    if let Some(view) = seen(a, index) {
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
        // `a[:]` is `a` as it is now, also where somebody outside can write `a`.
        return if part.is_same(a) && a.is_externally_mutable() { copy(a) } else { Ok(part) };
    }
    let read = plan.places()?.read(&slice(a, plan.window.clone())?)?;
    plan.move_picked_to_place(&rules::reshape(&read, plan.gathered_shape())?)
}

/// The part of an array, where its index names nothing but places and whole axes and it can be seen.
fn seen(a: &Array, index: &[Index]) -> Option<Array> {
    let entry = |entry: &Index| match entry {
        Index::Int(place) => Some(Entry::Index(*place)),
        Index::Slice { start: None, stop: None, step: None | Some(1) } => Some(Entry::All),
        Index::Slice { .. } | Index::Ellipsis | Index::NewAxis | Index::Array(_) | Index::Mask(_) => None,
    };
    let entries: SmallVec<[Entry; 4]> = index.iter().map(entry).collect::<Option<_>>()?;
    part(a, &entries)
}

/// Refuse an index of `a` with arrays of a few places that are known, and outside: as [`get`] does once it is evaluated.
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

/// `a` with `a[index]` set to, added to, … `values`, which broadcast to the shape of `a[index]` and take `a`'s dtype.
///
/// Where an element is picked several times every value counts; of several values to set, the last one stays.
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
    let places = plan.places()?;
    let values = rules::reshape(&plan.move_picked_to_front(&values)?, plan.read_shape())?;
    if plan.window.is_whole(a.shape()) {
        return places.write(kind, a, &values);
    }
    let part = places.write(kind, &slice(a, plan.window.clone())?, &values)?;
    slice_update(ScatterKind::Set, a, plan.window, &part)
}

/// `a` with the places where `mask`, of the shape of its first axes, holds set to the first of `values`, in row-major order.
///
/// As [`update`] with [`ScatterKind::Set`], but values beyond the number of places are ignored, which is MLX's rule.
///
/// Fails where [`update`] does, and if there are fewer values than places.
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

/// An array and an index of it in which a mask has become an index array.
struct MaskResolved {
    array: Array,
    index: SmallVec<[Index; 4]>,
}

/// The axes of a mask with several merged into one, if nothing else picks: one index array instead of one an axis.
fn merge_masked_axes(a: &Array, index: &[Index]) -> Result<Option<MaskResolved>> {
    let mut found = None;
    let mut before = 0;
    for (place, entry) in index.iter().enumerate() {
        match entry {
            Index::Mask(mask) if mask.ndim() > 1 && found.is_none() => found = Some((place, mask, before)),
            Index::Slice { .. } => before += 1,
            Index::NewAxis => {}
            Index::Ellipsis => {
                let used: usize = index.iter().map(plan::axes_used).sum();
                before += a.ndim().saturating_sub(used);
            }
            Index::Int(_) | Index::Array(_) | Index::Mask(_) => return Ok(None),
        }
    }
    let Some((place, mask, start)) = found else { return Ok(None) };
    plan::check_mask(mask, a.shape(), start)?;
    let (front, rest) = a.shape().split_at(start);
    let shape: Shape =
        front.iter().copied().chain([mask.size()]).chain(rest[mask.ndim()..].iter().copied()).collect();
    let mut merged: SmallVec<[Index; 4]> = index.iter().cloned().collect();
    merged[place] = Index::Array(mask::places(mask)?.flat);
    Ok(Some(MaskResolved { array: rules::reshape(a, shape)?, index: merged }))
}

/// A node of its own with all elements of `a`.
fn copy(a: &Array) -> Result<Array> {
    let window = Box::new(Window::whole(a.shape()));
    Array::record_one(Slice { window, shape: a.shape().clone() }, &[a])
}

/// Old and new values of one shape combined.
fn combine(kind: ScatterKind, old: &Array, new: &Array) -> Result<Array> {
    // What is assigned are values: memory of others, or that others see and may write, stays theirs.
    let is_of_others =
        new.storage().is_some_and(|storage| !storage.buffer.is_owned()) || new.is_externally_mutable();
    match combining(kind) {
        None if is_of_others && !new.is_traced() => new.copied(),
        None => Ok(new.clone()),
        Some(kind) => rules::binary(kind, old, new),
    }
}

/// `values` in the shape that is written; surplus leading axes of length one are dropped, as NumPy does.
fn fit(values: &Array, shape: &Shape) -> Result<Array> {
    let surplus = values.ndim().saturating_sub(shape.ndim());
    let (leading, rest) = values.shape().split_at(surplus);
    let dropped = Shape::from(rest);
    ensure!(
        leading.iter().all(|&length| length == 1) && dropped.broadcasts_to(shape),
        Value("index"),
        "cannot broadcast values of shape {} to {shape}",
        values.shape()
    );
    rules::broadcast(&rules::reshape(values, dropped)?, shape)
}

/// An update under a single mask, with values that do not depend on which elements the mask picks: a choice element
/// by element, which needs no value of the mask. `None` if it is something else.
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
    let Some((place, mask)) = mask else { return Ok(None) };
    let mask_ndim = mask.ndim();
    let trailing = a.ndim().saturating_sub(mask_ndim);
    let first = place == 0;
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

/// `a` updated by `values` where `mask` holds, all of one shape.
fn choose(kind: ScatterKind, a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    // Outside the mask the old element meets a value that leaves it, and its gradient, as they are.
    let other = match kind {
        ScatterKind::Set | ScatterKind::Maximum | ScatterKind::Minimum => a.clone(),
        ScatterKind::Add => rules::zeros_like(a),
        ScatterKind::Multiply => rules::constant(a, 1.0),
    };
    combine(kind, a, &Array::record_one(Select, &[mask, values, &other])?)
}

/// Index arrays as integers, all of one shape.
fn broadcast_indices(arrays: &[Array], shape: &Shape) -> Result<Inputs> {
    arrays.iter().map(|array| rules::broadcast(array, shape)).collect()
}

/// Refuse index arrays that do not hold integers.
fn check_integers(op: &str, indices: &Array) -> Result<()> {
    ensure!(indices.dtype().is_integer(), Type(op), "indices must be integers, not {}", indices.dtype());
    Ok(())
}
