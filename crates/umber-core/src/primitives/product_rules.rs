//! Building blocks for derivatives of products: products of all factors but one, and linear recurrences.
//!
//! They neither divide by a factor nor test whether it is zero, so that they can be differentiated any number of times,
//! also where factors are zero. A partial product that overflows to infinity times a zero factor is zero.

use smallvec::smallvec;
use umber_types::{Axes, BinaryKind, DType, Result, ScatterKind, Shape, SortOrder, UnaryKind};

use super::concatenate::concatenate;
use super::gather::{Form, Places, iota};
use super::merged_axes::MergedAxes;
use super::rules::{add, binary, broadcast, cast, mul_absorbing, reshape, unary, zeros_like};
use super::select::Select;
use super::slice::{Window, reversed, slice, slice_along};
use super::slice_update::slice_update;
use super::sort::{Sort, Sorted};
use crate::graph::Array;

/// `s(j) = c(j) + a(j) s(j + 1)` along an axis, with `s(n - 1) = c(n - 1)`; `a` has one element fewer than `c`.
///
/// Odd-even reduction: substitution eliminates the odd elements, the recurrence on the even ones has half the length, and
/// the odd elements follow from it. O(n) operations, linear in `c`.
pub(super) fn recurrence(a: &Array, c: &Array, axis: usize) -> Result<Array> {
    let n = c.shape()[axis];
    if n < 2 {
        return Ok(c.clone());
    }
    let every_other = |shape: &Shape, start: usize, count: usize| {
        let mut window = Window::along(shape, axis, start, count);
        window.steps[axis] = 2;
        window
    };
    let take_every_other =
        |x: &Array, start: usize, count: usize| slice(x, every_other(x.shape(), start, count));
    // Numbers of even elements, of odd elements, and of odd elements that have a successor.
    let (evens, odds, inner) = (n.div_ceil(2), n / 2, (n - 1) / 2);
    let a_even = take_every_other(a, 0, odds)?;
    let a_odd = take_every_other(a, 1, inner)?;
    let c_even = take_every_other(c, 0, evens)?;
    let c_odd = take_every_other(c, 1, odds)?;
    let a_product = mul_absorbing(&slice_along(&a_even, axis, 0, inner)?, &a_odd)?;
    let window = Window::along(c_even.shape(), axis, 0, odds);
    let c_sum = slice_update(ScatterKind::Add, &c_even, window, &mul_absorbing(&a_even, &c_odd)?)?;
    let s_even = recurrence(&a_product, &c_sum, axis)?;
    let after = slice_along(&s_even, axis, 1, inner)?;
    let s_odd = add(&slice_along(&c_odd, axis, 0, inner)?, &mul_absorbing(&a_odd, &after)?)?;
    // An odd last element has no successor: its value is that in `c`.
    let s = slice_update(ScatterKind::Set, c, every_other(c.shape(), 0, evens), &s_even)?;
    slice_update(ScatterKind::Set, &s, every_other(c.shape(), 1, inner), &s_odd)
}

/// For each element the product of those after it along an axis. Unlike in a scan, an overflowed partial product times zero
/// is zero, not NaN.
fn products_after(x: &Array, axis: usize) -> Result<Array> {
    let n = x.shape()[axis];
    let constants = |value: f64, count: usize| Array::full(x.shape().with(axis, count), value, x.dtype());
    if n == 0 {
        return Ok(x.clone());
    }
    let ends = concatenate(smallvec![constants(0.0, n - 1), constants(1.0, 1)], axis)?;
    recurrence(&slice_along(x, axis, 1, n - 1)?, &ends, axis)
}

/// For each element the product of those before it along an axis.
pub(super) fn products_before(x: &Array, axis: usize) -> Result<Array> {
    reversed(&products_after(&reversed(x, axis)?, axis)?, axis)
}

/// For each element the product of all others along some axes.
pub(super) fn others(x: &Array, axes: &Axes) -> Result<Array> {
    let merged = MergedAxes::new(x, axes)?;
    let (x, axis) = (&merged.array, merged.array.ndim() - 1);
    merged.restore(&mul_absorbing(&products_before(x, axis)?, &products_after(x, axis)?)?)
}

/// For each element the product of those after it in the same group: a run of adjacent elements along an axis with equal
/// `group`.
fn products_after_in_group(x: &Array, group: &Array, axis: usize) -> Result<Array> {
    let count = x.shape()[axis] - 1;
    let shifted = |x: &Array, start: usize| slice_along(x, axis, start, count);
    let is_same = binary(BinaryKind::Equal, &shifted(group, 0)?, &shifted(group, 1)?)?;
    let next = shifted(x, 1)?;
    let steps = Array::record_one(Select, &[&is_same, &next, &zeros_like(&next)])?;
    let ends = cast(&unary(UnaryKind::LogicalNot, &is_same)?, x.dtype())?;
    let last = Array::full(x.shape().with(axis, 1), 1.0, x.dtype());
    recurrence(&steps, &concatenate(smallvec![ends, last], axis)?, axis)
}

/// For each update of a scatter, the product of all other updates of the same element of an array of shape `target`.
///
/// The updates are sorted by target element, so that the updates of one element are adjacent.
pub(super) fn others_of_element(updates: &Array, places: &Places, target: &Shape) -> Result<Array> {
    if updates.size() == 0 {
        return Ok(updates.clone());
    }
    let (sorted_shape, axis) = match &places.form {
        Form::Grid { indices, .. } => {
            let count = indices[0].size();
            (Shape::from([count, updates.size() / count]), 0)
        }
        Form::Along { axis, .. } => (updates.shape().clone(), *axis),
    };
    // The last update of an element leaves its index there: all updates of the element read it as their group.
    let update_indices = reshape(&iota(&sorted_shape, axis)?, updates.shape().clone())?;
    let no_update = Array::full(target.clone(), -1, DType::Int64);
    let group = places.read(&places.write(ScatterKind::Set, &no_update, &update_indices)?)?;
    let mut group = reshape(&group, sorted_shape.clone())?;
    if matches!(places.form, Form::Grid { .. }) {
        group = slice_along(&group, 1, 0, 1)?;
    }
    let sort = Sort { axis, what: Sorted::Indices(SortOrder::Ascending) };
    let order = broadcast(&Array::record_one(sort, &[&group])?, &sorted_shape)?;
    let order = Places::along(places.op, axis, order);
    let (group, x) = (
        order.read(&broadcast(&group, &sorted_shape)?)?,
        order.read(&reshape(updates, sorted_shape.clone())?)?,
    );
    let earlier = products_after_in_group(&reversed(&x, axis)?, &reversed(&group, axis)?, axis)?;
    let product = mul_absorbing(&products_after_in_group(&x, &group, axis)?, &reversed(&earlier, axis)?)?;
    reshape(&order.write(ScatterKind::Set, &zeros_like(&product), &product)?, updates.shape().clone())
}
