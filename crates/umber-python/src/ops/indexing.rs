//! Functions that take index arrays.

use pyo3::prelude::*;
use umber_core::ops;

use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::new_array::NewArray;
use crate::ops::selecting::mode_of;

/// Take elements of an array at indices along an axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// indices : array_like
///     Integer indices of any shape.
/// axis : int, optional
///     Axis to index. Default: index the flattened array.
/// mode : {"raise", "wrap", "clip"}, optional
///     Treatment of indices out of bounds: ``"raise"`` an error, ``"wrap"`` modulo the length, ``"clip"`` to the nearest
///     valid index, so that negative indices become 0. Default: ``"raise"``, in which negative indices count from the end.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Elements in the dtype of `a`. The axes of `indices` replace `axis` in the shape of `a`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds, or if there are indices but no elements. In mode ``"raise"`` also if an index is out of
///     bounds, when the result is evaluated.
/// TypeError
///     If `indices` are not integers.
/// ValueError
///     If the mode is unknown.
///
/// See Also
/// --------
/// take_along_axis, put_along_axis, compress
///
/// Examples
/// --------
/// >>> mx.take(mx.array([[1, 2], [3, 4]]), mx.array([1, 1, 0]), axis=0)
/// array([[3, 4],
///        [3, 4],
///        [1, 2]], dtype=int32)
/// >>> mx.take(mx.array([1, 2, 3]), mx.array([-1, 4]), mode="wrap")
/// array([3, 2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, indices, axis = None, *, mode = "raise", stream = None))]
fn take(
    a: Operand,
    indices: Operand,
    axis: Option<i64>,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices, mode) = (a.into_array(), indices.into_array(), mode_of("take", mode)?);
    record_on(stream, || ops::take_within(&a, &indices, axis, mode)).map(NewArray::from)
}

/// Take elements along an axis with an index array that has the axes of the input.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// indices : array_like
///     Integer indices with as many axes as `a`. Along the other axes `a` and `indices` broadcast. Negative indices count
///     from the end.
/// axis : int or None, optional
///     Axis to index; ``None`` indexes the flattened array with 1-d `indices`. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the shape of `indices`, broadcast along the other axes, and the dtype of `a`:
///     ``out[i, j] = a[i, indices[i, j]]`` for the last of two axes.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds; if an index is, when the result is evaluated.
/// ValueError
///     If the numbers of axes differ, or the shapes do not broadcast.
/// TypeError
///     If `indices` are not integers.
///
/// See Also
/// --------
/// put_along_axis, take, argsort, argmax
///
/// Examples
/// --------
/// >>> a = mx.array([[30, 10, 20], [1, 3, 2]])
/// >>> mx.take_along_axis(a, mx.argsort(a, axis=1), axis=1)
/// array([[10, 20, 30],
///        [1, 2, 3]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, indices, axis = -1, *, stream = None))]
fn take_along_axis(
    a: Operand,
    indices: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices) = (a.into_array(), indices.into_array());
    record_on(stream, || ops::take_along_axis(&a, &indices, axis)).map(NewArray::from)
}

/// Return a copy of an array with values set along an axis at an index array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape. It is not changed.
/// indices : array_like
///     Integer indices with as many axes as `a`. Along the other axes they broadcast to `a`.
/// values : array_like
///     Values, converted to the dtype of `a`. They broadcast to the shape of the indices.
/// axis : int or None, optional
///     Axis to index; ``None`` indexes the flattened array with 1-d `indices`. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the shape and dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` or an index is out of bounds. The latter may be raised only when the result is evaluated.
/// ValueError
///     If the numbers of axes differ, or shapes do not broadcast.
/// TypeError
///     If `indices` are not integers.
///
/// See Also
/// --------
/// take_along_axis, put
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2, 3], [4, 5, 6]])
/// >>> mx.put_along_axis(a, mx.array([[0], [2]]), 9, axis=1)
/// array([[9, 2, 3],
///        [4, 5, 9]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, indices, values, axis = None, *, stream = None))]
fn put_along_axis(
    a: Operand,
    indices: Operand,
    values: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices) = (a.into_array(), indices.into_array());
    let values = values.promote_with(&a)?;
    record_on(stream, || ops::put_along_axis(&a, &indices, &values, axis)).map(NewArray::from)
}

/// Extract a block of a given size that starts at computed indices.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// start_indices : array_like
///     First index of the block along each axis in `axes`; integers, non-negative. They may be the result of a computation.
/// axes : int or sequence of int
///     Axes that `start_indices` refer to. The block starts at 0 along the other axes.
/// slice_size : int or sequence of int
///     Shape of the block, one length for every axis of `a`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of shape `slice_size` and the dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds, or the block extends beyond the array. The latter is raised when the result is evaluated.
/// ValueError
///     If the block is larger than the array, or there is not one start for each axis.
/// TypeError
///     If `start_indices` are not integers.
///
/// See Also
/// --------
/// slice_update, take
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2, 3], [4, 5, 6]])
/// >>> mx.slice(a, mx.array([1]), axes=1, slice_size=(2, 2))
/// array([[2, 3],
///        [5, 6]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, start_indices, axes, slice_size, *, stream = None))]
fn slice(
    a: Operand,
    start_indices: Operand,
    axes: Ints,
    slice_size: Ints,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, start) = (a.into_array(), start_indices.into_array());
    record_on(stream, || ops::dynamic_slice(&a, &start, axes.as_slice(), slice_size.as_slice()))
        .map(NewArray::from)
}

/// Return a copy of an array with a block replaced that starts at computed indices.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape. It is not changed.
/// update : array_like
///     Block with as many axes as `a`, converted to the dtype of `a`.
/// start_indices : array_like
///     First index of the block along each axis in `axes`; integers, non-negative. They may be the result of a computation.
/// axes : int or sequence of int
///     Axes that `start_indices` refer to. The block starts at 0 along the other axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the shape and dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds, or the block extends beyond the array. The latter may be raised only when the result is
///     evaluated.
/// ValueError
///     If the block is larger than the array, or there is not one start for each axis.
/// TypeError
///     If `start_indices` are not integers.
///
/// See Also
/// --------
/// slice, put_along_axis
///
/// Examples
/// --------
/// >>> mx.slice_update(mx.array([1, 2, 3, 4]), mx.array([8, 9]), mx.array([2]), axes=0)
/// array([1, 2, 8, 9], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, update, start_indices, axes, *, stream = None))]
fn slice_update(
    a: Operand,
    update: Operand,
    start_indices: Operand,
    axes: Ints,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, start) = (a.into_array(), start_indices.into_array());
    let update = update.promote_with(&a)?;
    record_on(stream, || ops::dynamic_slice_update(&a, &update, &start, axes.as_slice())).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(take, module)?,
        wrap_pyfunction!(take_along_axis, module)?,
        wrap_pyfunction!(put_along_axis, module)?,
        wrap_pyfunction!(slice, module)?,
        wrap_pyfunction!(slice_update, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
