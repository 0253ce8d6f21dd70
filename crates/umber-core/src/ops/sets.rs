//! Set operations on the elements of arrays: distinct elements, membership, intersections, unions and differences.
//!
//! Elements are sorted and compared with their neighbours. The number of distinct elements determines a shape, so that the
//! inputs are evaluated eagerly, unless the caller gives a size.

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

/// The result of [`unique`]. Fields that are not used are not computed.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct elements in ascending order, or the distinct subarrays along an axis.
    pub values: Array,
    /// The first index of each in the flattened array, or along the axis, as uint32.
    pub indices: Array,
    /// The index into `values` of each element of the array, as uint32 of its shape, or of each subarray along the axis.
    pub inverse: Array,
    /// The number of occurrences of each, as int32.
    pub counts: Array,
}

/// The number of distinct elements that [`unique`] returns.
#[derive(Clone, Debug)]
pub enum UniqueSize {
    /// All of them; the array is evaluated.
    Found,
    /// A fixed number, so that the shape is known: the smallest ones, then `fill`, by default the smallest one.
    Fixed {
        /// The number of elements.
        size: usize,
        /// The padding.
        fill: Option<Array>,
    },
}

/// Sorted elements, or lexicographically sorted rows of a matrix, and the starts of runs of equal ones.
struct Runs {
    sorted: Array,
    /// The indices before sorting.
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
            return Ok(Runs { is_first: Array::full([0], false, DType::Bool), sorted, order });
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
        let first = Array::full([1], true, DType::Bool);
        Ok(Runs { is_first: concatenate(&[&first, &differs], Some(0))?, sorted, order })
    }
}

/// The indices that sort the rows lexicographically.
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

/// Find the distinct elements of an array, in ascending order.
///
/// `None` means the flattened array; an axis means the subarrays along it, in lexicographic order. NaN comes last. The
/// result also holds indices, inverse indices and counts.
///
/// # Errors
/// If a size is given for an empty array without a fill value; without a size, inside `vmap` and `compile`, where `a` has
/// no value.
///
/// # Examples
/// ```
/// use umber_core::{Array, ops};
///
/// let a = Array::from_slice(&[3, 1, 3], [3]).unwrap();
/// let result = ops::unique(&a, &ops::UniqueSize::Found, ops::NanIsEqual::Yes, None).unwrap();
/// assert_eq!(result.values.to_vec::<i32>().unwrap(), [1, 3]);
/// assert_eq!(result.counts.to_vec::<i32>().unwrap(), [1, 2]);
/// ```
pub fn unique(a: &Array, size: &UniqueSize, nan: NanIsEqual, axis: Option<i64>) -> Result<Unique> {
    let Some(axis) = axis else {
        let result = unique_rows(&reshape(a, [a.size()])?, size, nan)?;
        return Ok(Unique { inverse: reshape(&result.inverse, a.shape().clone())?, ..result });
    };
    let axis = normalize_axis("unique", axis, a.ndim())?;
    let moved = move_axis(a, axis, 0)?;
    let (length, others) = (moved.shape()[0], &moved.shape()[1..]);
    let rows = reshape(&moved, [length, others.iter().product()])?;
    let result = unique_rows(&rows, size, nan)?;
    let shape: Shape = result.values.shape().iter().take(1).chain(others).copied().collect();
    Ok(Unique { values: move_axis(&reshape(&result.values, shape)?, 0, axis)?, ..result })
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
        return empty_result(a, count, fill);
    }
    // One more than requested: the end of the last run.
    let bounds = Nonzero::of(&runs.is_first, count + 1)?;
    let starts = slice_along(&bounds, 0, 0, count)?;
    let ends = slice_along(&bounds, 0, 1, count)?;
    let end = constant(&starts, length as i64);
    let exists = binary(BinaryKind::Less, &starts, &end)?;
    let indices = Array::record_one(Select, &[&exists, &starts, &zeros_like(&starts)])?;
    let gather =
        |source: &Array| Places::grid("unique", &[0], smallvec::smallvec![indices.clone()]).read(source);
    let mut values = gather(&runs.sorted)?;
    if let Some(fill) = fill {
        let fill = broadcast(&reshape(&cast_constant(fill, a.dtype())?, Shape::scalar())?, values.shape())?;
        let is_valid = if a.ndim() == 1 { exists } else { reshape(&exists, [count, 1])? };
        values = Array::record_one(Select, &[&broadcast(&is_valid, values.shape())?, &values, &fill])?;
    }
    let counts = cast(&sub(&ends, &starts)?, count_dtype(length))?;
    let rank = cumsum(&cast(&runs.is_first, DType::Int64)?, ScanOrder::along(0), None)?;
    let rank = sub(&rank, &constant(&rank, 1))?;
    // Elements that the size excludes get the last index.
    let rank = binary(BinaryKind::Minimum, &rank, &constant(&rank, (count as i64 - 1).max(0)))?;
    let rank = cast(&rank, DType::UInt32)?;
    let inverse = Places::grid("unique", &[0], smallvec::smallvec![runs.order.clone()]).write(
        ScatterKind::Set,
        &zeros_like(&rank),
        &rank,
    )?;
    Ok(Unique { values, indices: gather(&runs.order)?, inverse, counts })
}

/// The dtype of counts up to `max_count`.
pub(super) fn count_dtype(max_count: usize) -> DType {
    if i32::try_from(max_count).is_ok() { DType::Int32 } else { DType::Int64 }
}

/// The result for an empty array.
fn empty_result(a: &Array, size: usize, fill: Option<&Array>) -> Result<Unique> {
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
    let zeros = |length: usize, dtype| Array::full([length], 0, dtype);
    Ok(Unique {
        values,
        indices: zeros(size, DType::UInt32),
        inverse: zeros(0, DType::UInt32),
        counts: zeros(size, DType::Int32),
    })
}

/// The distinct elements, without indices and counts.
fn distinct(a: &Array) -> Result<Array> {
    Ok(unique(a, &UniqueSize::Found, NanIsEqual::Yes, None)?.values)
}

/// Whether the elements of an array are known to be distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// They are distinct and keep their order.
    Yes,
    /// They may repeat.
    Unknown,
}

/// The elements of `a` as a set: distinct and sorted, or unchanged if they are known to be distinct.
fn as_set(a: &Array, is_distinct: Distinct) -> Result<Array> {
    match is_distinct {
        Distinct::Yes => reshape(a, [a.size()]),
        Distinct::Unknown => distinct(a),
    }
}

/// Test which elements are contained in a set of values.
///
/// NaN is not contained in any set.
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
    let index = search_as("isin", &set, a, Side::Left, None)?;
    let index = binary(BinaryKind::Minimum, &index, &constant(&index, set.size() as i64 - 1))?;
    let nearest = Places::grid("isin", &[0], smallvec::smallvec![index]).read(&set)?;
    if mixed_sign_uint64(nearest.dtype(), a.dtype()).is_some() {
        return super::equal(&nearest, a);
    }
    let dtype = compared(nearest.dtype(), a.dtype());
    super::equal(&cast(&nearest, dtype)?, &cast(a, dtype)?)
}

fn select_by_mask(a: &Array, mask: Array) -> Result<Array> {
    get(a, &[Index::Mask(mask)])
}

/// Find the distinct elements that are in both arrays, in ascending order.
///
/// The result also holds the first index of each element in either array.
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
    // Common elements are determined exactly, before values are rounded to the promoted dtype.
    let dtype = promote(a.dtype(), b.dtype());
    let (a, b) = (reshape(a, [a.size()])?, reshape(b, [b.size()])?);
    let sides = [&a, &b].map(|side| {
        if are_distinct == Distinct::Unknown {
            let result = unique(side, &UniqueSize::Found, NanIsEqual::Yes, None)?;
            return Ok((result.values, result.indices));
        }
        Ok((sort(side, Some(0), SortOrder::Ascending)?, argsort(side, Some(0), SortOrder::Ascending)?))
    });
    let [left, right]: [Result<(Array, Array)>; 2] = sides;
    let ((left, left_indices), (right, right_indices)) = (left?, right?);
    let is_common = isin(&left, &right)?;
    let common = select_by_mask(&left, is_common.clone())?;
    let positions = search_as("intersect1d", &right, &common, Side::Left, None)?;
    let common = cast(&common, dtype)?;
    Ok([common, select_by_mask(&left_indices, is_common)?, get(&right_indices, &[Index::Array(positions)])?])
}

/// Find the distinct elements that are in either array, in ascending order.
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

/// Find the distinct elements of one array that are not in another, in ascending order.
///
/// # Errors
/// Inside `vmap` and `compile`, where the arrays have no value.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Distinct};
/// let difference = ops::setdiff1d(&Array::from([3, 1, 2, 3]), &Array::from([2]), Distinct::Unknown)?;
/// assert_eq!(difference.to_vec::<i32>()?, [1, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn setdiff1d(a: &Array, b: &Array, are_distinct: Distinct) -> Result<Array> {
    let set = as_set(a, are_distinct)?;
    let is_absent = logical_not(&isin(&set, b)?)?;
    select_by_mask(&set, is_absent)
}

/// Find the distinct elements that are in exactly one of two arrays, in ascending order.
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
