//! Reductions of segments.

use pyo3::prelude::*;
use umber_core::Array;
use umber_core::ops::{self, IdOrder};

use crate::args::{Operand, StreamArg, compute};
use crate::new_array::NewArray;

type Reduction = fn(&Array, &Array, Option<i64>, IdOrder) -> umber_core::Result<Array>;

fn segment(
    py: Python<'_>,
    reduction: Reduction,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let order = if indices_are_sorted { IdOrder::Ascending } else { IdOrder::Any };
    let (data, ids) = (data.into_array(), segment_ids.into_array());
    compute(py, stream, || reduction(&data, &ids, num_segments, order)).map(NewArray::from)
}

/// Sum of each segment of the leading axis.
///
/// Parameters
/// ----------
/// data : array_like
///     Rows along the leading axis.
/// segment_ids : array_like
///     Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
/// num_segments : int, optional
///     Number of segments. Default: the maximum id plus one.
/// indices_are_sorted : bool, optional
///     Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Sums of shape ``(num_segments, *data.shape[1:])``. Booleans and integers of fewer than 32 bits are converted to 32-bit
///     integers first. An empty segment gives 0.
///
/// Raises
/// ------
/// TypeError
///     If `segment_ids` has no integers, or an argument is not convertible to an array.
/// ValueError
///     If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
///     also if there is no `num_segments`, as values decide it.
/// IndexError
///     If an id is not below `num_segments`. Raised when the result is evaluated.
///
/// See Also
/// --------
/// segment_mean, segment_prod, bincount, sum
///
/// Notes
/// -----
/// ``out[k]`` is ``data[segment_ids == k].sum(axis=0)``. Without `num_segments` the ids are evaluated.
///
/// Examples
/// --------
/// >>> mx.segment_sum(mx.array([1.0, 2.0, 4.0]), mx.array([2, 0, 2]))
/// array([2, 0, 5], dtype=float32)
/// >>> mx.segment_sum(mx.array([1.0, 2.0, 4.0]), mx.array([0, -1, 0]), num_segments=2)
/// array([5, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (data, segment_ids, num_segments = None, indices_are_sorted = false, *, stream = None))]
fn segment_sum(
    py: Python<'_>,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    segment(py, ops::segment_sum, data, segment_ids, num_segments, indices_are_sorted, stream)
}

/// Product of each segment of the leading axis.
///
/// Parameters
/// ----------
/// data : array_like
///     Rows along the leading axis.
/// segment_ids : array_like
///     Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
/// num_segments : int, optional
///     Number of segments. Default: the maximum id plus one.
/// indices_are_sorted : bool, optional
///     Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Products of shape ``(num_segments, *data.shape[1:])``. Booleans and integers of fewer than 32 bits are converted to
///     32-bit integers first. An empty segment gives 1.
///
/// Raises
/// ------
/// TypeError
///     If `segment_ids` has no integers, or an argument is not convertible to an array.
/// ValueError
///     If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
///     also if there is no `num_segments`, as values decide it.
/// IndexError
///     If an id is not below `num_segments`. Raised when the result is evaluated.
///
/// See Also
/// --------
/// segment_sum, prod
///
/// Notes
/// -----
/// ``out[k]`` is ``data[segment_ids == k].prod(axis=0)``. Without `num_segments` the ids are evaluated.
///
/// Examples
/// --------
/// >>> mx.segment_prod(mx.array([3, 5, 7]), mx.array([2, 0, 2]))
/// array([5, 1, 21], dtype=int32)
#[pyfunction]
#[pyo3(signature = (data, segment_ids, num_segments = None, indices_are_sorted = false, *, stream = None))]
fn segment_prod(
    py: Python<'_>,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    segment(py, ops::segment_prod, data, segment_ids, num_segments, indices_are_sorted, stream)
}

/// Minimum of each segment of the leading axis.
///
/// Parameters
/// ----------
/// data : array_like
///     Rows along the leading axis.
/// segment_ids : array_like
///     Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
/// num_segments : int, optional
///     Number of segments. Default: the maximum id plus one.
/// indices_are_sorted : bool, optional
///     Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Minima of the dtype of `data` and shape ``(num_segments, *data.shape[1:])``; NaN if any element is NaN. An empty
///     segment gives the maximum of the dtype: infinity, or the largest integer.
///
/// Raises
/// ------
/// TypeError
///     If `segment_ids` has no integers, or an argument is not convertible to an array.
/// ValueError
///     If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
///     also if there is no `num_segments`, as values decide it.
/// IndexError
///     If an id is not below `num_segments`. Raised when the result is evaluated.
///
/// See Also
/// --------
/// segment_max, min
///
/// Notes
/// -----
/// ``out[k]`` is ``data[segment_ids == k].min(axis=0)``; equal minima share the gradient. Without `num_segments` the ids are evaluated.
///
/// Examples
/// --------
/// >>> mx.segment_min(mx.array([3.0, 5.0, 7.0]), mx.array([2, 0, 2]))
/// array([5, inf, 3], dtype=float32)
#[pyfunction]
#[pyo3(signature = (data, segment_ids, num_segments = None, indices_are_sorted = false, *, stream = None))]
fn segment_min(
    py: Python<'_>,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    segment(py, ops::segment_min, data, segment_ids, num_segments, indices_are_sorted, stream)
}

/// Maximum of each segment of the leading axis.
///
/// Parameters
/// ----------
/// data : array_like
///     Rows along the leading axis.
/// segment_ids : array_like
///     Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
/// num_segments : int, optional
///     Number of segments. Default: the maximum id plus one.
/// indices_are_sorted : bool, optional
///     Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Maxima of the dtype of `data` and shape ``(num_segments, *data.shape[1:])``; NaN if any element is NaN. An empty
///     segment gives the minimum of the dtype: minus infinity, or the smallest integer.
///
/// Raises
/// ------
/// TypeError
///     If `segment_ids` has no integers, or an argument is not convertible to an array.
/// ValueError
///     If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
///     also if there is no `num_segments`, as values decide it.
/// IndexError
///     If an id is not below `num_segments`. Raised when the result is evaluated.
///
/// See Also
/// --------
/// segment_min, max
///
/// Notes
/// -----
/// ``out[k]`` is ``data[segment_ids == k].max(axis=0)``; equal maxima share the gradient. Without `num_segments` the ids are evaluated.
///
/// Examples
/// --------
/// >>> mx.segment_max(mx.array([3.0, 5.0, 7.0]), mx.array([2, 0, 2]))
/// array([5, -inf, 7], dtype=float32)
#[pyfunction]
#[pyo3(signature = (data, segment_ids, num_segments = None, indices_are_sorted = false, *, stream = None))]
fn segment_max(
    py: Python<'_>,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    segment(py, ops::segment_max, data, segment_ids, num_segments, indices_are_sorted, stream)
}

/// Arithmetic mean of each segment of the leading axis.
///
/// Parameters
/// ----------
/// data : array_like
///     Rows along the leading axis.
/// segment_ids : array_like
///     Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
/// num_segments : int, optional
///     Number of segments. Default: the maximum id plus one.
/// indices_are_sorted : bool, optional
///     Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Means of shape ``(num_segments, *data.shape[1:])``, float32 for integers. An empty segment gives 0.
///
/// Raises
/// ------
/// TypeError
///     If `segment_ids` has no integers, or an argument is not convertible to an array.
/// ValueError
///     If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
///     also if there is no `num_segments`, as values decide it.
/// IndexError
///     If an id is not below `num_segments`. Raised when the result is evaluated.
///
/// See Also
/// --------
/// segment_sum, mean
///
/// Notes
/// -----
/// ``out[k]`` is ``data[segment_ids == k].mean(axis=0)``, but 0 instead of NaN for an empty segment. Without `num_segments` the ids are evaluated.
///
/// Examples
/// --------
/// >>> mx.segment_mean(mx.array([1.0, 2.0, 4.0]), mx.array([2, 0, 2]))
/// array([2, 0, 2.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (data, segment_ids, num_segments = None, indices_are_sorted = false, *, stream = None))]
fn segment_mean(
    py: Python<'_>,
    data: Operand,
    segment_ids: Operand,
    num_segments: Option<i64>,
    indices_are_sorted: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    segment(py, ops::segment_mean, data, segment_ids, num_segments, indices_are_sorted, stream)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(segment_sum, module)?,
        wrap_pyfunction!(segment_prod, module)?,
        wrap_pyfunction!(segment_min, module)?,
        wrap_pyfunction!(segment_max, module)?,
        wrap_pyfunction!(segment_mean, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
