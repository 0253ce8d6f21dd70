//! Arrays as sets: their distinct elements, and what two of them have in common.
//!
//! Elements are sorted and compared with their neighbours. How many are distinct decides a shape, so that they are
//! evaluated where they stand, unless the caller says a size.

use umber_types::shape::normalize_axis;
use umber_types::{
    BinaryKind, DType, KeepAxes, Result, ScatterKind, Shape, Side, SortOrder, ensure, promote,
};

use super::comparisons::NanIsEqual;
use super::elementwise::{compared, mixed_sign_uint64};
use super::indexing::{Index, get};
use super::promotion::cast_constant;
use super::scans::{ScanOrder, cumsum};
use super::searching::search_as;
use super::sorting::{argsort, lexsort, sort};
use super::{any, concatenate, data_dependent, logical_not};
use crate::graph::Array;
use crate::primitives::gather::{Places, iota};
use crate::primitives::nonzero::Nonzero;
use crate::primitives::rules::{binary, broadcast, cast, constant, move_axis, reshape, sub, zeros_like};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// What [`unique`] answers. What is not looked at is not computed.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct elements in ascending order, or the distinct parts along an axis.
    pub values: Array,
    /// Where in the flattened array, or along the axis, each of them stands first, as uint32.
    pub indices: Array,
    /// Which of them each element of the array is, as uint32 of its shape, or each part along the axis.
    pub inverse: Array,
    /// How often each of them occurs, as int32.
    pub counts: Array,
}

/// How many distinct elements [`unique`] answers.
#[derive(Clone, Debug)]
pub enum UniqueSize {
    /// As many as there are; the array is evaluated.
    Found,
    /// This many, so that the shape is known: the least ones, then `fill`, by default the least one.
    Fixed {
        /// How many.
        size: usize,
        /// What is there when there are no more.
        fill: Option<Array>,
    },
}

/// Elements, or rows of a matrix by their first elements, then their second ones and so on, in order, and where runs of
/// equal ones begin.
struct Runs {
    sorted: Array,
    /// Places before sorting.
    order: Array,
    is_first: Array,
}

impl Runs {
    fn of(a: &Array, nan: NanIsEqual) -> Result<Runs> {
        let count = a.shape()[0];
        let (sorted, order) = if a.ndim() == 1 {
            (sort(a, Some(0), SortOrder::Ascending)?, argsort(a, Some(0), SortOrder::Ascending)?)
        } else {
            let order = order_of_rows(a)?;
            (Places::grid("unique", &[0], smallvec::smallvec![order.clone()]).read(a)?, order)
        };
        if count == 0 {
            return Ok(Runs { is_first: Array::full([0].into(), false, DType::Bool), sorted, order });
        }
        let (before, after) =
            (slice_along(&sorted, 0, 0, count - 1)?, slice_along(&sorted, 0, 1, count - 1)?);
        let mut differs = binary(BinaryKind::NotEqual, &before, &after)?;
        if nan == NanIsEqual::Yes && a.dtype().is_inexact() {
            let is_number = |x: &Array| binary(BinaryKind::Equal, x, x);
            let either = binary(BinaryKind::LogicalOr, &is_number(&before)?, &is_number(&after)?)?;
            differs = binary(BinaryKind::LogicalAnd, &differs, &either)?;
        }
        if a.ndim() == 2 {
            differs = any(&differs, Some(&[1]), KeepAxes::No)?;
        }
        let first = Array::full([1].into(), true, DType::Bool);
        Ok(Runs { is_first: concatenate(&[&first, &differs], Some(0))?, sorted, order })
    }
}

/// Where each row comes from when they are sorted by their first elements, then their second ones and so on.
fn order_of_rows(a: &Array) -> Result<Array> {
    let columns: Vec<Array> = (0..a.shape()[1])
        .rev()
        .map(|column| reshape(&slice_along(a, 1, column, 1)?, [a.shape()[0]]))
        .collect::<Result<_>>()?;
    if columns.is_empty() {
        return cast(&iota(&[a.shape()[0]].into(), 0)?, DType::UInt32);
    }
    lexsort(&columns.iter().collect::<Vec<_>>(), 0)
}

/// The distinct elements of `a` in ascending order, NaN last, and where they are; or its distinct parts along an axis, which
/// are ordered by their first elements, then their second ones and so on.
///
/// # Errors
/// If a size is given, but neither an element nor a fill value; without one, inside `vmap` and `compile`, where `a` has
/// no value.
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let a = Array::from_slice(&[3, 1, 3], [3]).unwrap();
/// let found = ops::unique(&a, &ops::UniqueSize::Found, ops::NanIsEqual::Yes, None).unwrap();
/// assert_eq!(found.values.to_vec::<i32>().unwrap(), [1, 3]);
/// assert_eq!(found.counts.to_vec::<i32>().unwrap(), [1, 2]);
/// ```
pub fn unique(a: &Array, size: &UniqueSize, nan: NanIsEqual, axis: Option<i64>) -> Result<Unique> {
    let Some(axis) = axis else {
        let found = unique_rows(&reshape(a, [a.size()])?, size, nan)?;
        return Ok(Unique { inverse: reshape(&found.inverse, a.shape().clone())?, ..found });
    };
    let axis = normalize_axis("unique", axis, a.ndim())?;
    let moved = move_axis(a, axis, 0)?;
    let (length, others) = (moved.shape()[0], &moved.shape()[1..]);
    let rows = reshape(&moved, [length, others.iter().product()])?;
    let found = unique_rows(&rows, size, nan)?;
    let shape: Shape = found.values.shape().iter().take(1).chain(others).copied().collect();
    Ok(Unique { values: move_axis(&reshape(&found.values, shape)?, 0, axis)?, ..found })
}

/// The distinct elements of a vector, or rows of a matrix.
fn unique_rows(a: &Array, size: &UniqueSize, nan: NanIsEqual) -> Result<Unique> {
    let runs = Runs::of(a, nan)?;
    let length = a.shape()[0];
    let (fill, count) = match size {
        UniqueSize::Found => (None, data_dependent::count_of("unique", &runs.is_first)?),
        UniqueSize::Fixed { size, fill } => (fill.as_ref(), *size),
    };
    if length == 0 {
        return nothing(a, count, fill);
    }
    // One more than asked for: the end of the last run.
    let bounds = Nonzero::of(&runs.is_first, count + 1)?;
    let starts = slice_along(&bounds, 0, 0, count)?;
    let ends = slice_along(&bounds, 0, 1, count)?;
    let end = constant(&starts, length as i64);
    let exists = binary(BinaryKind::Less, &starts, &end)?;
    let places = Array::record_one(Select, &[&exists, &starts, &zeros_like(&starts)])?;
    let pick = |from: &Array| Places::grid("unique", &[0], smallvec::smallvec![places.clone()]).read(from);
    let mut values = pick(&runs.sorted)?;
    if let Some(fill) = fill {
        let fill = broadcast(&reshape(&cast_constant(fill, a.dtype())?, Shape::scalar())?, values.shape())?;
        let is_there = if a.ndim() == 1 { exists } else { reshape(&exists, [count, 1])? };
        values = Array::record_one(Select, &[&broadcast(&is_there, values.shape())?, &values, &fill])?;
    }
    let counts = cast(&sub(&ends, &starts)?, counted(length))?;
    let rank = cumsum(&cast(&runs.is_first, DType::Int64)?, ScanOrder::along(0), None)?;
    let rank = sub(&rank, &constant(&rank, 1))?;
    // Those that there was no room for count as the last one.
    let rank = binary(BinaryKind::Minimum, &rank, &constant(&rank, (count as i64 - 1).max(0)))?;
    let rank = cast(&rank, DType::UInt32)?;
    let inverse = Places::grid("unique", &[0], smallvec::smallvec![runs.order.clone()]).write(
        ScatterKind::Set,
        &zeros_like(&rank),
        &rank,
    )?;
    Ok(Unique { values, indices: pick(&runs.order)?, inverse, counts })
}

/// The dtype of counts that are not more than `most`.
pub(super) fn counted(most: usize) -> DType {
    if i32::try_from(most).is_ok() { DType::Int32 } else { DType::Int64 }
}

/// The answer for no elements.
fn nothing(a: &Array, size: usize, fill: Option<&Array>) -> Result<Unique> {
    ensure!(
        size == 0 || fill.is_some(),
        Value("unique"),
        "size={size} of an empty array requires a fill_value"
    );
    let shape = a.shape().with(0, size);
    let values = match fill {
        Some(fill) => broadcast(&reshape(&cast_constant(fill, a.dtype())?, Shape::scalar())?, &shape)?,
        None => a.clone(),
    };
    let zeros = |length: usize, dtype| Array::full([length].into(), 0, dtype);
    Ok(Unique {
        values,
        indices: zeros(size, DType::UInt32),
        inverse: zeros(0, DType::UInt32),
        counts: zeros(size, DType::Int32),
    })
}

/// The distinct elements alone.
fn distinct(a: &Array) -> Result<Array> {
    Ok(unique(a, &UniqueSize::Found, NanIsEqual::Yes, None)?.values)
}

/// Are the elements of an array known to be distinct already?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// They are, so that they stay as they are.
    Yes,
    /// They may repeat.
    Unknown,
}

/// The elements of `a` as a set: distinct and in order, or as they are if they are known to be distinct.
fn as_set(a: &Array, is_distinct: Distinct) -> Result<Array> {
    match is_distinct {
        Distinct::Yes => reshape(a, [a.size()]),
        Distinct::Unknown => distinct(a),
    }
}

/// Is each element of `a` among the elements of `set`? NaN is not, as it equals nothing.
///
/// # Errors
/// If the set has more elements than uint32 can count.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, set) = (Array::from([[1.0f32, f32::NAN], [3.0, 4.0]]), Array::from([4.0f32, 1.0, f32::NAN]));
/// assert_eq!(ops::isin(&a, &set)?.to_vec::<bool>()?, [true, false, false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn isin(a: &Array, set: &Array) -> Result<Array> {
    let set = sort(&reshape(set, [set.size()])?, Some(0), SortOrder::Ascending)?;
    if set.size() == 0 {
        return Ok(Array::full(a.shape().clone(), false, DType::Bool));
    }
    let place = search_as("isin", &set, a, Side::Left, None)?;
    let place = binary(BinaryKind::Minimum, &place, &constant(&place, set.size() as i64 - 1))?;
    let found = Places::grid("isin", &[0], smallvec::smallvec![place]).read(&set)?;
    if mixed_sign_uint64(found.dtype(), a.dtype()).is_some() {
        return super::equal(&found, a);
    }
    let dtype = compared(found.dtype(), a.dtype());
    super::equal(&cast(&found, dtype)?, &cast(a, dtype)?)
}

fn picked(a: &Array, mask: Array) -> Result<Array> {
    get(a, &[Index::Mask(mask)])
}

/// The distinct elements that are in both arrays, in ascending order, and where each stands first in either.
///
/// # Errors
/// Inside `vmap` and `compile`, where the arrays have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Distinct};
/// let (a, b) = (Array::from([5, 1, 5, 2]), Array::from([2, 7, 5]));
/// let [common, in_a, in_b] = ops::intersect1d(&a, &b, Distinct::Unknown)?;
/// assert_eq!(common.to_vec::<i32>()?, [2, 5]);
/// assert_eq!(in_a.to_vec::<u32>()?, [3, 0]);
/// assert_eq!(in_b.to_vec::<u32>()?, [0, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn intersect1d(a: &Array, b: &Array, are_distinct: Distinct) -> Result<[Array; 3]> {
    // What is common is decided before the dtype of both rounds it.
    let dtype = promote(a.dtype(), b.dtype());
    let (a, b) = (reshape(a, [a.size()])?, reshape(b, [b.size()])?);
    let sides = [&a, &b].map(|side| {
        if are_distinct == Distinct::Unknown {
            let found = unique(side, &UniqueSize::Found, NanIsEqual::Yes, None)?;
            return Ok((found.values, found.indices));
        }
        Ok((sort(side, Some(0), SortOrder::Ascending)?, argsort(side, Some(0), SortOrder::Ascending)?))
    });
    let [left, right]: [Result<(Array, Array)>; 2] = sides;
    let ((left, left_places), (right, right_places)) = (left?, right?);
    let is_common = isin(&left, &right)?;
    let common = picked(&left, is_common.clone())?;
    let places = search_as("intersect1d", &right, &common, Side::Left, None)?;
    let common = cast(&common, dtype)?;
    Ok([common, picked(&left_places, is_common)?, get(&right_places, &[Index::Array(places)])?])
}

/// The distinct elements that are in either array, in ascending order.
///
/// # Errors
/// Inside `vmap` and `compile`, where the arrays have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let union = ops::union1d(&Array::from([3, 1, 3]), &Array::from([2, 1]))?;
/// assert_eq!(union.to_vec::<i32>()?, [1, 2, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn union1d(a: &Array, b: &Array) -> Result<Array> {
    distinct(&concatenate(&[a, b], None)?)
}

/// The distinct elements of `a` that are not in `b`, in ascending order.
///
/// # Errors
/// Inside `vmap` and `compile`, where the arrays have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Distinct};
/// let rest = ops::setdiff1d(&Array::from([3, 1, 2, 3]), &Array::from([2]), Distinct::Unknown)?;
/// assert_eq!(rest.to_vec::<i32>()?, [1, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn setdiff1d(a: &Array, b: &Array, are_distinct: Distinct) -> Result<Array> {
    let set = as_set(a, are_distinct)?;
    let is_elsewhere = logical_not(&isin(&set, b)?)?;
    picked(&set, is_elsewhere)
}

/// The distinct elements that are in one of the arrays but not in both, in ascending order.
///
/// # Errors
/// Inside `vmap` and `compile`, where the arrays have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Distinct};
/// let (a, b) = (Array::from([3, 1, 3]), Array::from([2, 1]));
/// assert_eq!(ops::setxor1d(&a, &b, Distinct::Unknown)?.to_vec::<i32>()?, [2, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn setxor1d(a: &Array, b: &Array, are_distinct: Distinct) -> Result<Array> {
    let (a, b) = (as_set(a, are_distinct)?, as_set(b, are_distinct)?);
    let (only_a, only_b) = (setdiff1d(&a, &b, Distinct::Yes)?, setdiff1d(&b, &a, Distinct::Yes)?);
    sort(&concatenate(&[&only_a, &only_b], Some(0))?, Some(0), SortOrder::Ascending)
}
