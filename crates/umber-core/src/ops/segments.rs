//! Reductions of segments: of the elements along the leading axis that share an id.

use smallvec::smallvec;
use umber_types::{BinaryKind, DType, KeepAxes, Kind, Result, Scalar, ScatterKind, Shape, ensure};

use super::data_dependent;
use super::elementwise::{divide, less, maximum, select};
use super::reductions::{max, wide};
use super::sets::count_dtype;
use crate::graph::Array;
use crate::primitives::gather::{Places, iota};
use crate::primitives::rules::{binary, broadcast, cast, constant, reshape};
use crate::primitives::scatter::SourceRole;
use crate::primitives::slice::slice_along;

/// Whether the ids of segments are in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdOrder {
    /// They may be in any order.
    Any,
    /// They ascend, so that the last id is the maximum.
    Ascending,
}

/// Sum of each segment of the leading axis.
///
/// `out[k] = Σ data[i]` over all `i` with `ids[i] = k`. The result has `count` rows, by default the maximum id plus one.
/// Elements with negative ids are dropped. An empty segment gives zero; dtypes are those of [`sum`](super::sum).
///
/// Fails if `ids` is not a vector of integers, one for each row of `data`, or `count` is negative; on evaluation if an id
/// is not below `count`. Inside `vmap` and `compile`, where ids have no values, `count` is required.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::IdOrder};
/// let (data, ids) = (Array::from([1.0f32, 2.0, 4.0]), Array::from([2, 0, 2]));
/// assert_eq!(ops::segment_sum(&data, &ids, None, IdOrder::Any)?.to_vec::<f32>()?, [2.0, 0.0, 5.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn segment_sum(data: &Array, ids: &Array, count: Option<i64>, order: IdOrder) -> Result<Array> {
    let data = cast(data, data.dtype().sum_dtype())?;
    Segments::new("segment_sum", &data, ids, count, order)?.reduce(ScatterKind::Add, &data)
}

/// Product of each segment of the leading axis.
///
/// An empty segment gives one. Dtypes are those of [`prod`](super::prod); ids, `count` and errors those of
/// [`segment_sum`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::IdOrder};
/// let (data, ids) = (Array::from([3, 5, 7]), Array::from([2, 0, 2]));
/// assert_eq!(ops::segment_prod(&data, &ids, None, IdOrder::Any)?.to_vec::<i32>()?, [5, 1, 21]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn segment_prod(data: &Array, ids: &Array, count: Option<i64>, order: IdOrder) -> Result<Array> {
    let data = cast(data, data.dtype().sum_dtype())?;
    Segments::new("segment_prod", &data, ids, count, order)?.reduce(ScatterKind::Multiply, &data)
}

/// Minimum of each segment of the leading axis; NaN if any element is NaN.
///
/// The dtype is that of `data`. An empty segment gives its maximum: infinity, or the largest integer. Ids, `count` and errors
/// are those of [`segment_sum`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::IdOrder};
/// let (data, ids) = (Array::from([3.0f32, 5.0, 7.0]), Array::from([2, 0, 2]));
/// assert_eq!(ops::segment_min(&data, &ids, None, IdOrder::Any)?.to_vec::<f32>()?, [5.0, f32::INFINITY, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn segment_min(data: &Array, ids: &Array, count: Option<i64>, order: IdOrder) -> Result<Array> {
    Segments::new("segment_min", data, ids, count, order)?.reduce(ScatterKind::Minimum, data)
}

/// Maximum of each segment of the leading axis; NaN if any element is NaN.
///
/// The dtype is that of `data`. An empty segment gives its minimum: minus infinity, or the smallest integer. Ids, `count` and
/// errors are those of [`segment_sum`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::IdOrder};
/// let (data, ids) = (Array::from([3u8, 5, 7]), Array::from([2, 0, 2]));
/// assert_eq!(ops::segment_max(&data, &ids, None, IdOrder::Any)?.to_vec::<u8>()?, [5, 0, 7]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn segment_max(data: &Array, ids: &Array, count: Option<i64>, order: IdOrder) -> Result<Array> {
    Segments::new("segment_max", data, ids, count, order)?.reduce(ScatterKind::Maximum, data)
}

/// Arithmetic mean of each segment of the leading axis.
///
/// float32 for integers. An empty segment gives zero, so that it contributes nothing to what follows. Ids, `count` and errors
/// are those of [`segment_sum`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::IdOrder};
/// let (data, ids) = (Array::from([1.0f32, 2.0, 4.0]), Array::from([2, 0, 2]));
/// assert_eq!(ops::segment_mean(&data, &ids, None, IdOrder::Any)?.to_vec::<f32>()?, [2.0, 0.0, 2.5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn segment_mean(data: &Array, ids: &Array, count: Option<i64>, order: IdOrder) -> Result<Array> {
    let x = cast(data, wide(data.dtype()))?;
    let segments = Segments::new("segment_mean", &x, ids, count, order)?;
    let sums = segments.reduce(ScatterKind::Add, &x)?;
    let one = Array::scalar(1, count_dtype(ids.size()));
    let sizes = segments.reduce(ScatterKind::Add, &broadcast(&one, ids.shape())?)?;
    let column: Shape =
        sizes.shape().iter().copied().chain(std::iter::repeat_n(1, data.ndim() - 1)).collect();
    let divisors = cast(&reshape(&maximum(&sizes, &one)?, column)?, x.dtype())?;
    cast(&divide(&sums, &divisors)?, data.dtype().inexact())
}

/// The segments of a leading axis.
struct Segments {
    op: &'static str,
    /// The segment of each row, `count` for rows that are dropped.
    indices: Array,
    count: usize,
}

impl Segments {
    fn new(
        op: &'static str,
        data: &Array,
        ids: &Array,
        count: Option<i64>,
        order: IdOrder,
    ) -> Result<Segments> {
        ensure!(ids.dtype().is_integer(), Type(op), "segment_ids must be integers, not {}", ids.dtype());
        ensure!(
            ids.ndim() == 1 && data.shape().first() == ids.shape().first(),
            Value(op),
            "segment_ids must be a vector with an id for each row of data, got shapes {} and {}",
            ids.shape(),
            data.shape()
        );
        let count = match count {
            Some(count) => count,
            None => count_of(op, ids, order)?,
        };
        ensure!(count >= 0, Value(op), "num_segments must not be negative, got {count}");
        let count = Shape::checked(op, &[count])?[0];
        if count == 0 {
            return Ok(Segments { op, indices: ids.clone(), count });
        }
        // Reading the numbers of all segments at the ids raises for ids beyond the last segment.
        let numbers = iota(&[count].into(), 0)?;
        let number_of = |ids: &Array| Places::grid(op, &[0], smallvec![ids.clone()]).read(&numbers);
        let indices = if ids.dtype().kind() == Kind::Unsigned {
            number_of(ids)?
        } else {
            let zero = constant(ids, 0);
            let numbers = number_of(&binary(BinaryKind::Maximum, ids, &zero)?)?;
            select(&less(ids, &zero)?, &constant(&numbers, count as i64), &numbers)?
        };
        Ok(Segments { op, indices, count })
    }

    /// Combine the rows of each segment.
    fn reduce(&self, kind: ScatterKind, rows: &Array) -> Result<Array> {
        let rest = rows.shape()[1..].iter().copied();
        let identity = identity(kind, rows.dtype());
        if self.count == 0 {
            let shape: Shape = std::iter::once(0).chain(rest).collect();
            return Ok(Array::full(shape, identity, rows.dtype()));
        }
        // One more row collects what is dropped.
        let shape: Shape = std::iter::once(self.count + 1).chain(rest).collect();
        let start = Array::full(shape, identity, rows.dtype());
        let places = Places::grid(self.op, &[0], smallvec![self.indices.clone()]);
        slice_along(&places.write_onto(SourceRole::Identity, kind, &start, rows)?, 0, 0, self.count)
    }
}

/// The number of segments: the maximum id plus one.
fn count_of(op: &str, ids: &Array, order: IdOrder) -> Result<i64> {
    let length = ids.size();
    if length == 0 {
        return Ok(0);
    }
    let last = match order {
        IdOrder::Any => max(ids, None, KeepAxes::No)?,
        IdOrder::Ascending => slice_along(ids, 0, length - 1, 1)?,
    };
    let last = data_dependent::value_of(op, &last)?;
    let last =
        if let Scalar::UInt(id) = last { i64::try_from(id).unwrap_or(i64::MAX) } else { last.as_i64() };
    Ok(last.max(-1).saturating_add(1))
}

/// The value that does not change a combination with it, which is the result of an empty segment.
fn identity(kind: ScatterKind, dtype: DType) -> Scalar {
    let extreme = |infinity: f64, bound: fn((i128, i128)) -> i128| match dtype.integer_bounds().map(bound) {
        Some(bound) => i64::try_from(bound).map_or(Scalar::UInt(bound as u64), Scalar::Int),
        // Complex numbers are compared by their real parts first, then by their imaginary parts.
        None if dtype.is_complex() => Scalar::Complex(infinity, infinity),
        None => Scalar::Float(infinity),
    };
    match kind {
        ScatterKind::Set | ScatterKind::Add => Scalar::Int(0),
        ScatterKind::Multiply => Scalar::Int(1),
        ScatterKind::Maximum => extreme(f64::NEG_INFINITY, |(low, _)| low),
        ScatterKind::Minimum => extreme(f64::INFINITY, |(_, high)| high),
    }
}
