//! Sorting, partitioning and selecting the largest elements.

use pyo3::prelude::*;
use umber_core::ops::{self, SortOrder};

use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::new_array::NewArray;

/// The order of a sort.
fn order(descending: bool) -> SortOrder {
    if descending { SortOrder::Descending } else { SortOrder::Ascending }
}

/// Sort the elements along an axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// axis : int or None, optional
///     Axis to sort along; ``None`` sorts the flattened array. Default: -1.
/// descending : bool, optional
///     Whether to sort in descending order. Default: False.
/// stable : bool, optional
///     Accepted for the array API standard. Every sort is stable. Default: True.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Sorted elements in the shape (1-d for ``axis=None``) and dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// argsort, lexsort, partition, topk
///
/// Notes
/// -----
/// NaN comes last in either order. Complex numbers are ordered by their real parts, then by their imaginary parts.
///
/// Examples
/// --------
/// >>> mx.sort(mx.array([3, 1, 2]))
/// array([1, 2, 3], dtype=int32)
/// >>> mx.sort(mx.array([1.0, float("nan"), 2.0]), descending=True)
/// array([2, 1, nan], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn sort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // Every sort is stable.
    let _ = stable;
    let a = a.into_array();
    record_on(stream, || ops::sort(&a, axis, order(descending))).map(NewArray::from)
}

/// Compute the indices that sort the elements along an axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// axis : int or None, optional
///     Axis to sort along; ``None`` sorts the flattened array. Default: -1.
/// descending : bool, optional
///     Whether to sort in descending order. Default: False.
/// stable : bool, optional
///     Accepted for the array API standard. Every sort is stable. Default: True.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices, uint32, of the shape of `a` (1-d for ``axis=None``).
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// sort, lexsort, argpartition, take_along_axis
///
/// Notes
/// -----
/// Equal elements keep their order, also with `descending`. NaN comes last in either order.
///
/// Examples
/// --------
/// >>> mx.argsort(mx.array([3, 1, 1]))
/// array([1, 2, 0], dtype=uint32)
/// >>> mx.argsort(mx.array([3, 1, 1]), descending=True)
/// array([0, 1, 2], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn argsort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // Every sort is stable.
    let _ = stable;
    let a = a.into_array();
    record_on(stream, || ops::argsort(&a, axis, order(descending))).map(NewArray::from)
}

/// Partially sort the elements along an axis, such that one or several are in their sorted positions.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// kth : int or sequence of int
///     Index of the element, or indices of the elements, in their sorted positions; negative ones count from the end. No
///     element before such a position is larger, none after it is smaller.
/// axis : int or None, optional
///     Axis to partition along; ``None`` partitions the flattened array. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Partitioned elements in the shape (1-d for ``axis=None``) and dtype of `a`. The order of the other elements is
///     unspecified.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If `kth` is not an integer or a sequence of integers. Booleans are not.
/// ValueError
///     If `kth` is empty, or an index in it is out of bounds.
///
/// See Also
/// --------
/// argpartition, sort, topk
///
/// Notes
/// -----
/// NaN counts as larger than every number.
///
/// Examples
/// --------
/// >>> mx.partition(mx.array([5, 1, 4, 2, 3]), 2)[2]
/// array(3, dtype=int32)
/// >>> mx.partition(mx.array([5, 1, 4, 2, 3]), [0, 3])[[0, 3]]
/// array([1, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn partition(a: Operand, kth: Ints, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::partition_about(&a, kth.as_slice(), axis)).map(NewArray::from)
}

/// Compute the indices that partition the elements along an axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// kth : int or sequence of int
///     Index of the element, or indices of the elements, in their sorted positions; negative ones count from the end. No
///     element before such a position is larger, none after it is smaller.
/// axis : int or None, optional
///     Axis to partition along; ``None`` partitions the flattened array. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices, uint32, of the shape of `a` (1-d for ``axis=None``).
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If `kth` is not an integer or a sequence of integers. Booleans are not.
/// ValueError
///     If `kth` is empty, or an index in it is out of bounds.
///
/// See Also
/// --------
/// partition, argsort, take_along_axis
///
/// Examples
/// --------
/// >>> mx.argpartition(mx.array([50, 10, 40]), 0)[0]
/// array(1, dtype=uint32)
/// >>> mx.argpartition(mx.array([50, 10, 40]), [0, -1])
/// array([1, 2, 0], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn argpartition(a: Operand, kth: Ints, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::argpartition_about(&a, kth.as_slice(), axis)).map(NewArray::from)
}

/// Select the k largest elements along an axis, in ascending order.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// k : int
///     Number of elements.
/// axis : int or None, optional
///     Axis to select along; ``None`` selects from the flattened array. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The largest elements in the dtype of `a`. The axis has length `k`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If `k` is negative or larger than the length of the axis.
///
/// See Also
/// --------
/// sort, partition, max
///
/// Notes
/// -----
/// NaN counts as larger than every number.
///
/// Examples
/// --------
/// >>> mx.topk(mx.array([5, 1, 4, 2, 3]), 2)
/// array([4, 5], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, k, axis = -1, *, stream = None))]
fn topk(a: Operand, k: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::topk(&a, k, axis)).map(NewArray::from)
}

/// Compute the indices that sort by several keys; the last key has the highest priority.
///
/// Parameters
/// ----------
/// keys : sequence of array_like
///     Keys of the same shape. An array counts as the sequence of its elements along axis 0.
/// axis : int, optional
///     Axis to sort along. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices, uint32, of the shape of a key. Where elements of the last key are equal, the key before it decides, and so
///     on; elements that are equal in all keys keep their order.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If there are no keys, or their shapes differ.
///
/// See Also
/// --------
/// argsort, sort
///
/// Examples
/// --------
/// >>> mx.lexsort([mx.array([9, 1, 5]), mx.array([2, 2, 1])])
/// array([2, 1, 0], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (keys, axis = -1, *, stream = None))]
fn lexsort(keys: &Bound<'_, PyAny>, axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let keys = super::index_grids::rows("lexsort", keys)?;
    record_on(stream, || ops::lexsort(&keys.iter().collect::<Vec<_>>(), axis)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(sort, module)?,
        wrap_pyfunction!(argsort, module)?,
        wrap_pyfunction!(partition, module)?,
        wrap_pyfunction!(argpartition, module)?,
        wrap_pyfunction!(topk, module)?,
        wrap_pyfunction!(lexsort, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
