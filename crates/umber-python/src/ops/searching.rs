//! Searching: nonzero elements, selection by conditions, and positions in sorted arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::ops::{self, Side};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::new_array::NewArray;

/// Arrays as a tuple.
pub(super) fn tuple(py: Python<'_>, arrays: Vec<Array>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, arrays.into_iter().map(NewArray::from))
}

/// Find the indices of the nonzero elements.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     Coordinates of the nonzero elements in row-major order, one uint32 array for each axis. ``a[nonzero(a)]`` are the
///     elements.
///
/// Raises
/// ------
/// ValueError
///     If `a` is 0-d; inside `vmap` and `compile`, where `a` has no value.
///
/// See Also
/// --------
/// flatnonzero, argwhere, where
///
/// Notes
/// -----
/// NaN is nonzero.
///
/// Examples
/// --------
/// >>> mx.nonzero(mx.array([[0, 3], [4, 0]]))
/// (array([0, 1], dtype=uint32), array([1, 0], dtype=uint32))
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn nonzero(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let a = a.into_array();
    tuple(py, compute(py, stream, || ops::nonzero(&a))?)
}

/// Find the indices of the nonzero elements of the flattened array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices in ascending order, uint32.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `a` has no value.
///
/// See Also
/// --------
/// nonzero, argwhere, unravel_index
///
/// Examples
/// --------
/// >>> mx.flatnonzero(mx.array([[0, 3], [4, 0]]))
/// array([1, 2], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn flatnonzero(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    compute(py, stream, || ops::flatnonzero(&a)).map(NewArray::from)
}

/// Find the coordinates of the nonzero elements, one row for each.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Matrix of shape ``(count, a.ndim)``, uint32, in row-major order of the elements.
///
/// Raises
/// ------
/// ValueError
///     Inside `vmap` and `compile`, where `a` has no value.
///
/// See Also
/// --------
/// nonzero, flatnonzero
///
/// Examples
/// --------
/// >>> mx.argwhere(mx.array([[0, 3], [4, 0]]))
/// array([[0, 1],
///        [1, 0]], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn argwhere(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    compute(py, stream, || ops::argwhere(&a)).map(NewArray::from)
}

/// Select elements from two arrays by a condition, or find where it holds.
///
/// Parameters
/// ----------
/// condition : array_like
///     Condition; nonzero elements count as true.
/// x, y : array_like, optional
///     Values where the condition is true and false. The three arguments broadcast. Default: neither, which means
///     ``nonzero(condition)``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or tuple of array
///     Elements of `x` where `condition` is true, otherwise of `y`, in their promoted dtype. Without `x` and `y` the indices
///     of the nonzero elements, a tuple.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not broadcast.
/// TypeError
///     If only one of `x` and `y` is given.
///
/// See Also
/// --------
/// nonzero, select, choose
///
/// Notes
/// -----
/// The gradient of the result with respect to `x` is zero where `condition` is false, and vice versa for `y`. A NaN or
/// infinity in the derivative of a value that is not selected still spreads: ``0 * inf`` is NaN. Make such inputs valid
/// before they are used.
///
/// Examples
/// --------
/// >>> x = mx.array([1.0, -2.0, 3.0])
/// >>> mx.where(x > 0, x, 0.1 * x)
/// array([1, -0.2, 3], dtype=float32)
#[pyfunction(name = "where")]
#[pyo3(signature = (condition, x = None, y = None, /, *, stream = None))]
fn select(
    py: Python<'_>,
    condition: Operand,
    x: Option<Operand>,
    y: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (x, y) = match (x, y) {
        (Some(x), Some(y)) => Operand::pair(x, y)?,
        (None, None) => return nonzero(py, condition, stream).map(Bound::into_any),
        _ => return Err(PyTypeError::new_err("[where] x and y must be given together")),
    };
    let condition = condition.into_array();
    let selected = record_on(stream, || ops::select(&condition, &x, &y))?;
    Ok(NewArray::from(selected).object(py)?.into_any())
}

/// Select the elements of the flattened array where a condition is true.
///
/// Parameters
/// ----------
/// condition : array_like
///     Condition, which is flattened; nonzero elements count as true. It is evaluated, since it determines the shape of the
///     result.
/// arr : array_like
///     Input of any shape.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     1-d array of the selected elements, in the dtype of `arr`.
///
/// Raises
/// ------
/// IndexError
///     If the condition is true beyond the end of `arr`.
/// ValueError
///     Inside `vmap` and `compile`, where the condition has no value.
///
/// See Also
/// --------
/// compress, where, place
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2], [3, 4]])
/// >>> mx.extract(a % 2 == 0, a)
/// array([2, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (condition, arr, *, stream = None))]
fn extract(
    py: Python<'_>,
    condition: Operand,
    arr: Operand,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (condition, arr) = (condition.into_array(), arr.into_array());
    compute(py, stream, || ops::extract(&condition, &arr)).map(NewArray::from)
}

/// Select parts of an array along an axis by a 1-d condition.
///
/// Parameters
/// ----------
/// condition : array_like
///     1-d condition; nonzero elements count as true. Elements beyond its end are not selected. It is evaluated, since it
///     determines the shape of the result.
/// a : array_like
///     Input of any shape.
/// axis : int, optional
///     Axis to select along. Default: flatten the array first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The selected parts, in the dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds, or the condition is true beyond the end of the axis.
/// ValueError
///     If the condition is not 1-d; inside `vmap` and `compile`, where it has no value.
///
/// See Also
/// --------
/// extract, take
///
/// Examples
/// --------
/// >>> mx.compress([False, True], mx.array([[1, 2], [3, 4], [5, 6]]), axis=0)
/// array([[3, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (condition, a, axis = None, *, stream = None))]
fn compress(
    py: Python<'_>,
    condition: Operand,
    a: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (condition, a) = (condition.into_array(), a.into_array());
    compute(py, stream, || ops::compress(&condition, &a, axis)).map(NewArray::from)
}

/// Find the indices at which values would be inserted into a sorted array.
///
/// Parameters
/// ----------
/// sorted_sequence : array_like
///     1-d array in ascending order, or in any order with `sorter`.
/// values : array_like
///     Values to search for, of any shape. Values of different dtypes are compared exactly, without rounding.
/// side : {"left", "right"}, optional
///     Index before (``"left"``) or after (``"right"``) equal elements. Default: ``"left"``.
/// sorter : array_like, optional
///     Indices that sort `sorted_sequence`, such as the result of `argsort`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Number of elements that are less than each value, with ``"right"`` also of those equal to it; uint32 of the shape of
///     `values`.
///
/// Raises
/// ------
/// ValueError
///     If `sorted_sequence` is not 1-d, `sorter` differs in shape, or `side` is unknown.
/// TypeError
///     If `sorter` does not contain integers.
/// IndexError
///     If an index in `sorter` is out of bounds, when the result is evaluated.
///
/// See Also
/// --------
/// digitize, sort, argsort
///
/// Notes
/// -----
/// NaN counts as larger than every number and as equal to itself. If the array is not sorted, the result is unspecified, but
/// never larger than its length.
///
/// Examples
/// --------
/// >>> mx.searchsorted(mx.array([1, 2, 2, 4]), mx.array([2, 0, 9]))
/// array([1, 0, 4], dtype=uint32)
/// >>> mx.searchsorted(mx.array([1, 2, 2, 4]), mx.array([2, 0, 9]), side="right")
/// array([3, 0, 4], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (sorted_sequence, values, /, side = "left", sorter = None, *, stream = None))]
fn searchsorted(
    sorted_sequence: Operand,
    values: Operand,
    side: &str,
    sorter: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    insertion_points(sorted_sequence, values, side, sorter, stream)
}

/// The implementation of [`searchsorted`], shared with the method of `array`.
pub(super) fn insertion_points(
    sorted: Operand,
    values: Operand,
    side: &str,
    sorter: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let side = Side::ALL.iter().find(|known| known.name() == side).ok_or_else(|| {
        PyValueError::new_err(format!("[searchsorted] got side '{side}', expected 'left' or 'right'"))
    })?;
    let (sorted, values) = Operand::compared(sorted, values)?;
    let sorter = sorter.map(Operand::into_array);
    record_on(stream, || ops::searchsorted(&sorted, &values, *side, sorter.as_ref())).map(NewArray::from)
}

/// Find the index of the bin that each element belongs to.
///
/// Parameters
/// ----------
/// x : array_like
///     Real input of any shape.
/// bins : array_like
///     1-d edges of the bins, in ascending or descending order. They are evaluated.
/// right : bool, optional
///     Whether the right edge of each bin belongs to it, instead of the left one. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices, uint32, of the shape of `x`: ``i`` where ``bins[i - 1] <= x < bins[i]``, or with `right` where
///     ``bins[i - 1] < x <= bins[i]``; 0 and ``len(bins)`` outside of the edges. For descending edges
///     ``bins[i - 1] > x >= bins[i]``, or with `right` ``bins[i - 1] >= x > bins[i]``.
///
/// Raises
/// ------
/// ValueError
///     If `bins` is not 1-d, an argument is complex, or `bins` is not monotonic; inside `vmap` and `compile` the order is
///     not checked.
///
/// See Also
/// --------
/// searchsorted, histogram, bincount
///
/// Examples
/// --------
/// >>> mx.digitize(mx.array([0.5, 1.0, 7.0]), mx.array([0.0, 1.0, 2.0]))
/// array([1, 2, 3], dtype=uint32)
/// >>> mx.digitize(mx.array([0.5, 1.0, 7.0]), mx.array([0.0, 1.0, 2.0]), right=True)
/// array([1, 1, 3], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (x, bins, right = false, *, stream = None))]
fn digitize(
    py: Python<'_>,
    x: Operand,
    bins: Operand,
    right: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, bins) = Operand::compared(x, bins)?;
    let closed = if right { Side::Right } else { Side::Left };
    compute(py, stream, || ops::digitize(&x, &bins, closed)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(nonzero, module)?,
        wrap_pyfunction!(flatnonzero, module)?,
        wrap_pyfunction!(argwhere, module)?,
        wrap_pyfunction!(select, module)?,
        wrap_pyfunction!(extract, module)?,
        wrap_pyfunction!(compress, module)?,
        wrap_pyfunction!(searchsorted, module)?,
        wrap_pyfunction!(digitize, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
