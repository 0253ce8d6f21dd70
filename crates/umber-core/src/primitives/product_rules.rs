//! What derivatives of products are made of: products of all factors but one, and linear recurrences.
//!
//! There is no division and no question whether a factor is zero, so that these can be differentiated again as often
//! as one likes, at zeros too. Where a part of a product has left the range of its dtype, a zero among the other factors
//! still makes it zero.

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

/// `s(j) = c(j) + a(j) s(j + 1)` along an axis, with `s(n - 1) = c(n - 1)`: `a` is one shorter than `c`.
///
/// Odd-even reduction: pairs of steps become one until one element is left, then those between follow. O(n), and
/// linear in `c`.
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
    let pick = |x: &Array, start: usize, count: usize| slice(x, every_other(x.shape(), start, count));
    // Even elements, and odd ones that have a successor.
    let (evens, odds, inner) = (n.div_ceil(2), n / 2, (n - 1) / 2);
    let a_even = pick(a, 0, odds)?;
    let a_odd = pick(a, 1, inner)?;
    let c_even = pick(c, 0, evens)?;
    let c_odd = pick(c, 1, odds)?;
    let skipping = mul_absorbing(&slice_along(&a_even, axis, 0, inner)?, &a_odd)?;
    let window = Window::along(c_even.shape(), axis, 0, odds);
    let taken = slice_update(ScatterKind::Add, &c_even, window, &mul_absorbing(&a_even, &c_odd)?)?;
    let s_even = recurrence(&skipping, &taken, axis)?;
    let after = slice_along(&s_even, axis, 1, inner)?;
    let s_odd = add(&slice_along(&c_odd, axis, 0, inner)?, &mul_absorbing(&a_odd, &after)?)?;
    // What has no successor stays as it is in `c`.
    let s = slice_update(ScatterKind::Set, c, every_other(c.shape(), 0, evens), &s_even)?;
    slice_update(ScatterKind::Set, &s, every_other(c.shape(), 1, inner), &s_odd)
}

/// For each element the product of those after it along an axis. Unlike a scan, it does not meet the infinity that a part
/// became with a zero.
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

/// For each element the product of those after it that belong to the same group: neighbours along an axis whose
/// `group` is equal.
fn later(x: &Array, group: &Array, axis: usize) -> Result<Array> {
    let count = x.shape()[axis] - 1;
    let part = |x: &Array, start: usize| slice_along(x, axis, start, count);
    let is_same = binary(BinaryKind::Equal, &part(group, 0)?, &part(group, 1)?)?;
    let next = part(x, 1)?;
    let steps = Array::record_one(Select, &[&is_same, &next, &zeros_like(&next)])?;
    let ends = cast(&unary(UnaryKind::LogicalNot, &is_same)?, x.dtype())?;
    let last = Array::full(x.shape().with(axis, 1), 1.0, x.dtype());
    recurrence(&steps, &concatenate(smallvec![ends, last], axis)?, axis)
}

/// For each update the product of all others that go to the same element of an array of shape `target`.
///
/// Brought in order of where they go, those of one element are neighbours.
pub(super) fn others_of_element(updates: &Array, places: &Places, target: &Shape) -> Result<Array> {
    if updates.size() == 0 {
        return Ok(updates.clone());
    }
    let (lines, axis) = match &places.form {
        Form::Grid { indices, .. } => {
            let count = indices[0].size();
            (Shape::from([count, updates.size() / count]), 0)
        }
        Form::Along { axis, .. } => (updates.shape().clone(), *axis),
    };
    // Updates of one element read the number of the last of them.
    let numbers = reshape(&iota(&lines, axis)?, updates.shape().clone())?;
    let nobody = Array::full(target.clone(), -1, DType::Int64);
    let group = places.read(&places.write(ScatterKind::Set, &nobody, &numbers)?)?;
    let mut group = reshape(&group, lines.clone())?;
    if matches!(places.form, Form::Grid { .. }) {
        group = slice_along(&group, 1, 0, 1)?;
    }
    let sort = Sort { axis, what: Sorted::Indices(SortOrder::Ascending) };
    let order = broadcast(&Array::record_one(sort, &[&group])?, &lines)?;
    let order = Places::along(places.op, axis, order);
    let (group, x) =
        (order.read(&broadcast(&group, &lines)?)?, order.read(&reshape(updates, lines.clone())?)?);
    let earlier = later(&reversed(&x, axis)?, &reversed(&group, axis)?, axis)?;
    let product = mul_absorbing(&later(&x, &group, axis)?, &reversed(&earlier, axis)?)?;
    reshape(&order.write(ScatterKind::Set, &zeros_like(&product), &product)?, updates.shape().clone())
}
