//! Inserting, deleting, appending and repeating elements.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use umber_core::Array;
use umber_core::ops::{self, TrimSides};

use crate::args::{Ints, Operand, StreamArg, axes, compute, record_on};
use crate::indexing::parse_one;
use crate::new_array::NewArray;

/// Delete elements at given indices along an axis.
///
/// Parameters
/// ----------
/// arr : array_like
///     Input of any shape.
/// obj : int, slice or array_like
///     Indices to delete: an integer, a slice, or an array of integers or bool. An array is evaluated.
/// axis : int, optional
///     Axis to delete from. Default: flatten the array first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the remaining elements, in the dtype of `arr`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` or an index is out of bounds, or `obj` is no index.
/// ValueError
///     If a mask has another length than the axis, or an index array has no value, as inside `vmap` and `compile`.
///
/// See Also
/// --------
/// insert, append, trim_zeros
///
/// Examples
/// --------
/// >>> mx.delete(mx.array([1, 2, 3, 4]), [0, -1])
/// array([2, 3], dtype=int32)
/// >>> mx.delete(mx.array([[1, 2], [3, 4]]), 0, axis=1)
/// array([[2],
///        [4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (arr, obj, axis = None, *, stream = None))]
fn delete(
    py: Python<'_>,
    arr: Operand,
    obj: &Bound<'_, PyAny>,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (arr, index) = (arr.into_array(), parse_one(obj)?);
    compute(py, stream, || ops::delete(&arr, &index, axis)).map(NewArray::from)
}

/// Insert values before given indices along an axis.
///
/// Parameters
/// ----------
/// arr : array_like
///     Input of any shape.
/// obj : int, slice or array_like
///     Indices, in `arr`, before which to insert: an integer, a slice, or an array of integers or bool. The length of the
///     axis means its end. An array is evaluated.
/// values : array_like
///     Values, converted to the dtype of `arr`. They broadcast to as many elements as there are indices; at a single index
///     any number of values is inserted.
/// axis : int, optional
///     Axis to insert along. Default: flatten the array first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array with the values inserted, in the dtype of `arr`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` or an index is out of bounds, or `obj` is no index.
/// ValueError
///     If the values do not broadcast, or an index array has no value, as inside `vmap` and `compile`.
///
/// See Also
/// --------
/// delete, append, concatenate
///
/// Examples
/// --------
/// >>> mx.insert(mx.array([1, 2, 3]), 1, mx.array([8, 9]))
/// array([1, 8, 9, 2, 3], dtype=int32)
/// >>> mx.insert(mx.array([1, 2, 3]), [0, 3], 7)
/// array([7, 1, 2, 3, 7], dtype=int32)
#[pyfunction]
#[pyo3(signature = (arr, obj, values, axis = None, *, stream = None))]
fn insert(
    py: Python<'_>,
    arr: Operand,
    obj: &Bound<'_, PyAny>,
    values: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (arr, index) = (arr.into_array(), parse_one(obj)?);
    let values = values.promote_with(&arr)?;
    compute(py, stream, || ops::insert(&arr, &index, &values, axis)).map(NewArray::from)
}

/// Append values to an array along an axis.
///
/// Parameters
/// ----------
/// arr : array_like
///     Input of any shape.
/// values : array_like
///     Values, of the shape of `arr` except along `axis`.
/// axis : int, optional
///     Axis to append along. Default: flatten both arrays first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The joined array, in the promoted dtype of both.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If the shapes differ along another axis.
///
/// See Also
/// --------
/// insert, concatenate
///
/// Examples
/// --------
/// >>> mx.append(mx.array([[1, 2]]), mx.array([[3, 4]]), axis=0)
/// array([[1, 2],
///        [3, 4]], dtype=int32)
/// >>> mx.append(mx.array([1, 2]), 3.5)
/// array([1, 2, 3.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (arr, values, axis = None, *, stream = None))]
fn append(arr: Operand, values: Operand, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (arr, values) = Operand::pair(arr, values)?;
    record_on(stream, || ops::append(&arr, &values, axis)).map(NewArray::from)
}

/// Remove zeros at the ends of an array.
///
/// Parameters
/// ----------
/// filt : array_like
///     Input of any shape. It is evaluated, since its values determine the shape of the result.
/// trim : {"fb", "f", "b"}, optional
///     Ends to trim: ``"f"`` the front, ``"b"`` the back, ``"fb"`` both. Default: ``"fb"``.
/// axis : int or sequence of int, optional
///     Axes to trim. Default: all axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The smallest block of `filt` along these axes that contains all nonzero elements (with ``"f"`` and ``"b"`` one end of
///     each axis stays).
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If `trim` is unknown; inside `vmap` and `compile`, where `filt` has no value.
///
/// See Also
/// --------
/// delete, nonzero
///
/// Examples
/// --------
/// >>> mx.trim_zeros(mx.array([0, 0, 1, 0, 2, 0]))
/// array([1, 0, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (filt, trim = "fb", axis = None, *, stream = None))]
fn trim_zeros(
    py: Python<'_>,
    filt: Operand,
    trim: &str,
    axis: Option<Ints>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let filt = filt.into_array();
    let sides = match trim.to_lowercase().as_str() {
        "fb" | "bf" => TrimSides::Both,
        "f" => TrimSides::Front,
        "b" => TrimSides::Back,
        _ => {
            return Err(PyValueError::new_err(format!(
                "[trim_zeros] got trim '{trim}', expected 'fb', 'f' or 'b'"
            )));
        }
    };
    compute(py, stream, || ops::trim_zeros(&filt, sides, axes(axis.as_ref()))).map(NewArray::from)
}

/// Repeat or truncate the elements of an array to fill a new shape.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// new_shape : int or sequence of int
///     Shape of the result; its size is arbitrary.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The elements of `a` in row-major order, repeated from the start as often as necessary. Zeros if `a` is empty.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative.
///
/// See Also
/// --------
/// reshape, tile, repeat
///
/// Examples
/// --------
/// >>> mx.resize(mx.array([1, 2, 3]), (2, 2))
/// array([[1, 2],
///        [3, 1]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, new_shape, *, stream = None))]
fn resize(a: Operand, new_shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::resize(&a, new_shape.as_slice())).map(NewArray::from)
}

/// Repeat each element of an array.
///
/// Parameters
/// ----------
/// array : array_like
///     Input of any shape.
/// repeats : int or array_like
///     Number of repetitions of each element. An array of integers has one count for each element along the axis, or one for
///     all, and is evaluated.
/// axis : int, optional
///     Axis to repeat along. Default: flatten the array first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array in the dtype of `array`. The length of the axis is the sum of the counts.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If a count is negative, the number of counts is wrong, or counts have no value, as inside `vmap` and `compile`.
/// TypeError
///     If the counts are not integers.
///
/// See Also
/// --------
/// tile, resize, broadcast_to
///
/// Examples
/// --------
/// >>> mx.repeat(mx.array([1, 2]), 2)
/// array([1, 1, 2, 2], dtype=int32)
/// >>> mx.repeat(mx.array([1, 2]), mx.array([1, 3]))
/// array([1, 2, 2, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (array, repeats, axis = None, *, stream = None))]
fn repeat(
    py: Python<'_>,
    array: Operand,
    repeats: &Bound<'_, PyAny>,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    repeated(py, &array.into_array(), repeats, axis, stream)
}

/// `array` with each element repeated; `repeats` is a number, or an array with a count for each element.
pub(super) fn repeated(
    py: Python<'_>,
    array: &Array,
    repeats: &Bound<'_, PyAny>,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    if repeats.is_instance_of::<PyInt>() {
        let repeats = repeats.extract()?;
        return record_on(stream, || ops::repeat(array, repeats, axis)).map(NewArray::from);
    }
    let counts = repeats.extract::<Operand>()?.into_array();
    compute(py, stream, || ops::repeat_each(array, &counts, axis)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(delete, module)?,
        wrap_pyfunction!(insert, module)?,
        wrap_pyfunction!(append, module)?,
        wrap_pyfunction!(resize, module)?,
        wrap_pyfunction!(trim_zeros, module)?,
        wrap_pyfunction!(repeat, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
