//! Shapes and memory layouts: reshaping, permuting, joining, splitting, padding.
//!
//! One subject: each binding takes a few lines; most lines of this file are documentation.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::graph::ArrayInternals;
use umber_core::ops::{self, PadMode, PadStatistic, Split};
use umber_core::{Array, Shape};

use crate::args::{Ints, Operand, StreamArg, axes, record_on};
use crate::array::PyArray;
use crate::enter::{OrRaise, evaluate, to_exception};
use crate::new_array::NewArray;

pub(super) fn wrap(arrays: Vec<Array>) -> Vec<NewArray> {
    arrays.into_iter().map(NewArray::from).collect()
}

/// The maximum number of arrays in a sequence, equal to the maximum number of parts of a split.
const MAX_ARRAYS: usize = 1 << 24;

/// The arrays of a sequence; iterating over an array yields its elements along the first axis.
pub(super) fn list(op: &str, arrays: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    let Ok(items) = arrays.try_iter() else {
        let got = if arrays.is_instance_of::<PyArray>() {
            "a 0-d array".to_owned()
        } else {
            arrays.get_type().name()?.to_string()
        };
        return Err(PyTypeError::new_err(format!("[{op}] got {got}, expected a sequence of arrays")));
    };
    let mut list = Vec::new();
    for item in items {
        if list.len() == MAX_ARRAYS {
            return Err(PyValueError::new_err(format!("[{op}] got more than {MAX_ARRAYS} arrays")));
        }
        list.push(item?.extract::<Operand>()?.into_array());
    }
    Ok(list)
}

/// Reshape an array; the elements keep their row-major order.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// shape : int or sequence of int
///     New shape, of the same number of elements. One length may be -1; it follows from the others.
/// copy : bool, optional
///     ``False`` requires a view: `a` is evaluated, and the call fails if only a copy can have the new shape. Default:
///     copy only where necessary.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the given shape and the dtype of `a`. It shares memory with `a` if strides can express the new shape.
///
/// Raises
/// ------
/// ValueError
///     If the sizes differ, or more than one length is -1.
/// BufferError
///     If `copy` is ``False`` and a copy is necessary.
///
/// See Also
/// --------
/// flatten, unflatten, ravel, resize
///
/// Examples
/// --------
/// >>> mx.reshape(mx.arange(6), (2, -1))
/// array([[0, 1, 2],
///        [3, 4, 5]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, shape, *, copy = None, stream = None))]
fn reshape(
    py: Python<'_>,
    a: Operand,
    shape: Ints,
    copy: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    let reshaped = record_on(stream, || ops::reshape(&a, shape.as_slice()))?;
    if copy == Some(false) && !a.is_traced() {
        evaluate(py, &a)?;
        if a.storage().is_some_and(|storage| storage.layout().reshape(reshaped.shape()).is_none()) {
            return Err(to_exception(umber_core::types::error!(
                Buffer("reshape"),
                "reshaping {1} to {0} requires a copy, but copy=False",
                reshaped.shape(),
                a.shape()
            )));
        }
    }
    Ok(reshaped.into())
}

/// Merge consecutive axes of an array into one.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// start_axis, end_axis : int, optional
///     First and last axis to merge. Values beyond the array's axes mean its first or last axis. Default: 0 and -1, all
///     axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The elements of `a` in row-major order. A 0-d array becomes an array of shape ``(1,)``.
///
/// Raises
/// ------
/// ValueError
///     If `start_axis` comes after `end_axis`.
///
/// See Also
/// --------
/// unflatten, ravel, reshape
///
/// Examples
/// --------
/// >>> mx.flatten(mx.zeros((2, 3, 4)), 1).shape
/// (2, 12)
#[pyfunction]
#[pyo3(signature = (a, /, start_axis = 0, end_axis = -1, *, stream = None))]
fn flatten(a: Operand, start_axis: i64, end_axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::flatten(&a, start_axis, end_axis)).map(NewArray::from)
}

/// Split one axis of an array into several.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis.
/// axis : int
///     Axis to split.
/// shape : int or sequence of int
///     Lengths of the new axes. Their product is the length of `axis`; one length may be -1 and follows from the others.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array whose axis `axis` is replaced by axes of the lengths in `shape`; the dtype of `a`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If the product of the lengths is not the length of `axis`.
///
/// See Also
/// --------
/// flatten, reshape
///
/// Examples
/// --------
/// >>> mx.unflatten(mx.zeros((2, 12)), 1, (3, -1)).shape
/// (2, 3, 4)
#[pyfunction]
#[pyo3(signature = (a, /, axis, shape, *, stream = None))]
fn unflatten(a: Operand, axis: i64, shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::unflatten(&a, axis, shape.as_slice())).map(NewArray::from)
}

/// Remove axes of length one.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// axis : int or sequence of int, optional
///     Axes to remove. Default: all axes of length one.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` without these axes.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If a given axis is longer than one, or given twice.
///
/// See Also
/// --------
/// expand_dims
///
/// Examples
/// --------
/// >>> mx.squeeze(mx.zeros((1, 3, 1))).shape
/// (3,)
/// >>> mx.squeeze(mx.zeros((1, 3, 1)), 0).shape
/// (3, 1)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn squeeze(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::squeeze(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// Insert axes of length one.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// axis : int or sequence of int
///     Positions of the new axes in the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` with the new axes.
///
/// Raises
/// ------
/// IndexError
///     If a position is out of bounds of the result.
/// ValueError
///     If a position is given twice.
///
/// See Also
/// --------
/// squeeze, newaxis
///
/// Examples
/// --------
/// >>> mx.expand_dims(mx.zeros(3), 1).shape
/// (3, 1)
/// >>> mx.expand_dims(mx.zeros(3), (0, -1)).shape
/// (1, 3, 1)
#[pyfunction]
#[pyo3(signature = (a, /, axis, *, stream = None))]
fn expand_dims(a: Operand, axis: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::expand_dims(&a, axis.as_slice())).map(NewArray::from)
}

/// Functions that permute axes.
macro_rules! transposes {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, /, axes = None, *, stream = None))]
            fn $name(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.into_array();
                record_on(stream, || ops::transpose(&a, axes.as_ref().map(Ints::as_slice))).map(NewArray::from)
            }
        )*

        fn register_transposes(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

transposes! {
    /// Permute the axes of an array.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape.
    /// axes : int or sequence of int, optional
    ///     Permutation of the axes: axis ``i`` of the result is axis ``axes[i]`` of `a`. Default: reverse the axes.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View of `a` with its axes in the new order.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `axes` does not contain every axis exactly once.
    ///
    /// See Also
    /// --------
    /// swapaxes, moveaxis, matrix_transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.transpose(mx.array([[1, 2, 3], [4, 5, 6]]))
    /// array([[1, 4],
    ///        [2, 5],
    ///        [3, 6]], dtype=int32)
    /// >>> mx.transpose(mx.zeros((2, 3, 4)), (1, 2, 0)).shape
    /// (3, 4, 2)
    transpose,
    /// Alias of `transpose`, the name in the array API standard.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape.
    /// axes : int or sequence of int, optional
    ///     Permutation of the axes: axis ``i`` of the result is axis ``axes[i]`` of `a`. Default: reverse the axes.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View of `a` with its axes in the new order.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `axes` does not contain every axis exactly once.
    ///
    /// See Also
    /// --------
    /// transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.permute_dims(mx.zeros((2, 3, 4)), (1, 2, 0)).shape
    /// (3, 4, 2)
    permute_dims,
}

/// Exchange two axes of an array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis.
/// axis1, axis2 : int
///     The axes to exchange.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` with the axes exchanged.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// transpose, moveaxis, matrix_transpose
///
/// Examples
/// --------
/// >>> mx.swapaxes(mx.zeros((2, 3, 4)), 0, -1).shape
/// (4, 3, 2)
#[pyfunction]
#[pyo3(signature = (a, /, axis1, axis2, *, stream = None))]
fn swapaxes(a: Operand, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::swapaxes(&a, axis1, axis2)).map(NewArray::from)
}

/// Move axes of an array to new positions; the other axes keep their order.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis.
/// source : int or sequence of int
///     Axes to move.
/// destination : int or sequence of int
///     Their positions in the result, one for each axis in `source`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` with the axes moved.
///
/// Raises
/// ------
/// IndexError
///     If an axis or a position is out of bounds.
/// ValueError
///     If `source` and `destination` differ in length, or one of them contains an axis twice.
///
/// See Also
/// --------
/// transpose, swapaxes, rollaxis
///
/// Examples
/// --------
/// >>> mx.moveaxis(mx.zeros((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
/// >>> mx.moveaxis(mx.zeros((2, 3, 4)), (0, 1), (-1, 0)).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (a, /, source, destination, *, stream = None))]
fn moveaxis(a: Operand, source: Ints, destination: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::moveaxes(&a, source.as_slice(), destination.as_slice())).map(NewArray::from)
}

/// Exchange the last two axes of an array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least two axes, a matrix or a batch of matrices.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a`, each matrix transposed.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes.
///
/// See Also
/// --------
/// transpose, swapaxes
///
/// Examples
/// --------
/// >>> mx.matrix_transpose(mx.zeros((2, 3, 4))).shape
/// (2, 4, 3)
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn matrix_transpose(a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::matrix_transpose(&a)).map(NewArray::from)
}

/// Reverse the order of the elements along axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// axis : int or sequence of int, optional
///     Axes to reverse. Default: all axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` with the axes reversed.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// fliplr, flipud, rot90
///
/// Examples
/// --------
/// >>> mx.flip(mx.array([[1, 2], [3, 4]]), 1)
/// array([[2, 1],
///        [4, 3]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn flip(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::flip(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// Broadcast an array to a shape.
///
/// Parameters
/// ----------
/// a : array_like
///     Input whose lengths, aligned at the last axis, are equal to those of `shape` or one.
/// shape : int or sequence of int
///     Shape of the result.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` in the new shape; no element is copied.
///
/// Raises
/// ------
/// ValueError
///     If `a` does not broadcast to `shape`.
///
/// See Also
/// --------
/// broadcast_arrays, broadcast_shapes
///
/// Examples
/// --------
/// >>> mx.broadcast_to(mx.array([1, 2]), (2, 2))
/// array([[1, 2],
///        [1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, shape, *, stream = None))]
fn broadcast_to(a: Operand, shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::broadcast_to(&a, shape.as_slice())).map(NewArray::from)
}

/// Compute the shape that all given shapes broadcast to.
///
/// Parameters
/// ----------
/// *shapes : int or sequence of int
///     Shapes. Without any the result is ``()``.
///
/// Returns
/// -------
/// tuple of int
///     The common shape. Shapes are aligned at the last axis; a length of one stretches to the other lengths.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not broadcast, or a length is negative.
///
/// See Also
/// --------
/// broadcast_to, broadcast_arrays
///
/// Examples
/// --------
/// >>> mx.broadcast_shapes((2, 1), (3,))
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (*shapes))]
fn broadcast_shapes(py: Python<'_>, shapes: Vec<Ints>) -> PyResult<Bound<'_, PyTuple>> {
    let shapes: Vec<Shape> = shapes
        .iter()
        .map(|shape| Shape::checked("broadcast_shapes", shape.as_slice()).or_raise())
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, ops::broadcast_shapes(&shapes).or_raise()?.iter())
}

/// Broadcast arrays to their common shape.
///
/// Parameters
/// ----------
/// *arrays : array_like
///     Inputs.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// list of array
///     Views of the inputs in the common shape. Each keeps its dtype.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not broadcast.
///
/// See Also
/// --------
/// broadcast_to, broadcast_shapes
///
/// Examples
/// --------
/// >>> [x.shape for x in mx.broadcast_arrays(mx.zeros((2, 1)), mx.zeros(3))]
/// [(2, 3), (2, 3)]
#[pyfunction]
#[pyo3(signature = (*arrays, stream = None))]
fn broadcast_arrays(arrays: Vec<Operand>, stream: Option<StreamArg>) -> PyResult<Vec<NewArray>> {
    let arrays: Vec<Array> = arrays.into_iter().map(Operand::into_array).collect();
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::broadcast_arrays(&arrays)).map(wrap)
}

/// Functions that join arrays along an existing axis.
macro_rules! concatenations {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (arrays, axis = Some(0), *, stream = None), text_signature = "(arrays, axis=0, *, stream=None)")]
            fn $name(arrays: &Bound<'_, PyAny>, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let arrays = list(stringify!($name), arrays)?;
                let arrays: Vec<&Array> = arrays.iter().collect();
                record_on(stream, || ops::concatenate(&arrays, axis)).map(NewArray::from)
            }
        )*

        fn register_concatenations(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

concatenations! {
    /// Join arrays along an existing axis.
    ///
    /// Parameters
    /// ----------
    /// arrays : sequence of array_like
    ///     Arrays that have the same shape except along `axis`. An array counts as the sequence of its elements along axis 0.
    /// axis : int or None, optional
    ///     Axis to join along; ``None`` flattens the arrays first. Default: 0.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The joined array, in the promoted dtype of all arrays.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If `axis` is out of bounds.
    /// ValueError
    ///     If there are no arrays, an array is 0-d, or the shapes differ along another axis.
    /// TypeError
    ///     If `arrays` is not a sequence.
    ///
    /// See Also
    /// --------
    /// stack, split, block, hstack, vstack
    ///
    /// Examples
    /// --------
    /// >>> mx.concatenate([mx.array([[1, 2]]), mx.array([[3.5, 4.5]])])
    /// array([[1, 2],
    ///        [3.5, 4.5]], dtype=float32)
    concatenate,
    /// Alias of `concatenate`, the name in the array API standard.
    ///
    /// Parameters
    /// ----------
    /// arrays : sequence of array_like
    ///     Arrays that have the same shape except along `axis`. An array counts as the sequence of its elements along axis 0.
    /// axis : int or None, optional
    ///     Axis to join along; ``None`` flattens the arrays first. Default: 0.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The joined array, in the promoted dtype of all arrays.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If `axis` is out of bounds.
    /// ValueError
    ///     If there are no arrays, an array is 0-d, or the shapes differ along another axis.
    /// TypeError
    ///     If `arrays` is not a sequence.
    ///
    /// See Also
    /// --------
    /// concatenate
    ///
    /// Examples
    /// --------
    /// >>> mx.concat([mx.array([1]), mx.array([2, 3])])
    /// array([1, 2, 3], dtype=int32)
    concat,
}

/// Join arrays of one shape along a new axis.
///
/// Parameters
/// ----------
/// arrays : sequence of array_like
///     Arrays of the same shape. An array counts as the sequence of its elements along axis 0.
/// axis : int or None, optional
///     Position of the new axis in the result. Default: 0, also for ``None``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The joined array, of one axis more, in the promoted dtype of all arrays.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If there are no arrays, or the shapes differ.
/// TypeError
///     If `arrays` is not a sequence.
///
/// See Also
/// --------
/// concatenate, unstack
///
/// Examples
/// --------
/// >>> mx.stack([mx.array([1, 2]), mx.array([3, 4])], axis=-1)
/// array([[1, 3],
///        [2, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (arrays, axis = Some(0), *, stream = None), text_signature = "(arrays, axis=0, *, stream=None)")]
fn stack(arrays: &Bound<'_, PyAny>, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let arrays = list("stack", arrays)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::stack(&arrays, axis.unwrap_or(0))).map(NewArray::from)
}

/// Split an array into a number of equal parts, or before indices.
pub(super) fn split_array(
    a: &Array,
    indices_or_sections: &Bound<'_, PyAny>,
    axis: i64,
) -> PyResult<Vec<Array>> {
    if let Ok(sections) = indices_or_sections.extract::<i64>() {
        return ops::split(a, Split::Sections(sections), axis).or_raise();
    }
    let indices: Ints = indices_or_sections.extract()?;
    ops::split(a, Split::Indices(indices.as_slice()), axis).or_raise()
}

/// Split an array along an axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis.
/// indices_or_sections : int or sequence of int
///     Number of parts of equal length, or the indices before which to split. Negative indices count from the end; indices
///     beyond the end give empty parts.
/// axis : int, optional
///     Axis to split along. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// list of array
///     Views of `a`: as many as there are sections, or one more than there are indices.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If the length of the axis is no multiple of the number of sections, or that number is below 1 or above 2**24.
///
/// See Also
/// --------
/// array_split, unstack, concatenate, hsplit, vsplit, dsplit
///
/// Examples
/// --------
/// >>> mx.split(mx.arange(5), [2, 4])
/// [array([0, 1], dtype=int32), array([2, 3], dtype=int32), array([4], dtype=int32)]
#[pyfunction]
#[pyo3(signature = (a, /, indices_or_sections, axis = 0, *, stream = None))]
fn split(
    a: Operand,
    indices_or_sections: &Bound<'_, PyAny>,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let _ = stream;
    split_array(&a.into_array(), indices_or_sections, axis).map(wrap)
}

/// Split an array into its elements along an axis, and remove that axis.
///
/// Parameters
/// ----------
/// x : array_like
///     Input of at least one axis.
/// axis : int, optional
///     Axis to split along. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     Views of `x`, as many as the axis is long, each without the axis.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// stack, split
///
/// Examples
/// --------
/// >>> mx.unstack(mx.array([[1, 2], [3, 4]]), axis=1)
/// (array([1, 3], dtype=int32), array([2, 4], dtype=int32))
#[pyfunction]
#[pyo3(signature = (x, /, *, axis = 0, stream = None))]
fn unstack(py: Python<'_>, x: Operand, axis: i64, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let x = x.into_array();
    PyTuple::new(py, wrap(record_on(stream, || ops::unstack(&x, axis))?))
}

/// Repeat an array as a whole along its axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// reps : int or sequence of int
///     Number of repetitions along each axis. The shorter of `reps` and the shape of `a` is padded with ones in front.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of shape ``a.shape[i] * reps[i]`` and the dtype of `a`.
///
/// Raises
/// ------
/// ValueError
///     If a number of repetitions is negative.
///
/// See Also
/// --------
/// repeat, broadcast_to
///
/// Examples
/// --------
/// >>> mx.tile(mx.array([1, 2]), (2, 2))
/// array([[1, 2, 1, 2],
///        [1, 2, 1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, reps, /, *, stream = None))]
fn tile(a: Operand, reps: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::tile(&a, reps.as_slice())).map(NewArray::from)
}

/// Shift elements along axes; elements that leave at one end reenter at the other.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// shift : int or sequence of int
///     Number of positions to shift by: one for all axes, or one for each axis in `axis`. Negative numbers shift towards
///     the front. Several shifts of one axis add up.
/// axis : int or sequence of int, optional
///     Axes to shift along. Default: shift the flattened array, then restore the shape.
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
///     If an axis is out of bounds.
/// ValueError
///     If there are several shifts, but not as many as axes.
///
/// Examples
/// --------
/// >>> mx.roll(mx.arange(5), 2)
/// array([3, 4, 0, 1, 2], dtype=int32)
/// >>> mx.roll(mx.array([[1, 2, 3], [4, 5, 6]]), 1, axis=1)
/// array([[3, 1, 2],
///        [6, 4, 5]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, shift, axis = None, *, stream = None))]
fn roll(a: Operand, shift: Ints, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::roll(&a, shift.as_slice(), axes(axis.as_ref()))).map(NewArray::from)
}

/// Convert the result of an extraction: `None` if the object contains anything but integers, an error if one is too large.
fn optional<T>(py: Python<'_>, read: PyResult<T>) -> PyResult<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
            Err(PyOverflowError::new_err("[pad] pad_width does not fit 64 bits"))
        }
        Err(_) => Ok(None),
    }
}

/// The widths before and after each axis, from one number, a pair, or a pair for each axis.
fn widths(pad_width: &Bound<'_, PyAny>, ndim: usize) -> PyResult<Vec<(i64, i64)>> {
    if let Some(one) = optional(pad_width.py(), pad_width.extract::<i64>())? {
        return Ok(vec![(one, one); ndim]);
    }
    // Extraction allocates memory for the reported length before it reads the sequence.
    if let Ok(length) = pad_width.len()
        && length > ndim.max(2)
    {
        return Err(PyValueError::new_err(format!(
            "[pad] got {length} widths, expected one, a pair, or a pair per axis"
        )));
    }
    if let Some(flat) = optional(pad_width.py(), pad_width.extract::<Vec<i64>>())? {
        return match flat[..] {
            [one] => Ok(vec![(one, one); ndim]),
            [before, after] => Ok(vec![(before, after); ndim]),
            [] if ndim == 0 => Ok(Vec::new()),
            _ => Err(PyValueError::new_err(format!(
                "[pad] got {} widths, expected one, a pair, or a pair per axis",
                flat.len()
            ))),
        };
    }
    for pair in pad_width.try_iter().into_iter().flatten() {
        if let Ok(length) = pair?.len()
            && length > 2
        {
            return Err(PyValueError::new_err(format!(
                "[pad] got {length} widths for an axis, expected one before and one after"
            )));
        }
    }
    let Some(pairs) = optional(pad_width.py(), pad_width.extract::<Vec<Vec<i64>>>())? else {
        return Err(PyTypeError::new_err(format!(
            "[pad] pad_width: got {}, expected an integer, a pair of integers, or a pair per axis",
            pad_width.get_type().name()?
        )));
    };
    let pairs: Vec<(i64, i64)> = pairs
        .iter()
        .map(|pair| match pair[..] {
            [both] => Ok((both, both)),
            [before, after] => Ok((before, after)),
            _ => Err(PyValueError::new_err(format!(
                "[pad] got {} widths for an axis, expected one before and one after",
                pair.len()
            ))),
        })
        .collect::<PyResult<_>>()?;
    Ok(if pairs.len() == 1 { vec![pairs[0]; ndim] } else { pairs })
}

/// The content of a border, by name; `op` names the function in the error.
pub(super) fn pad_mode(op: &str, name: &str) -> PyResult<PadMode> {
    Ok(match name {
        "constant" => PadMode::Constant,
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "symmetric" => PadMode::Symmetric,
        "wrap" => PadMode::Wrap,
        "linear_ramp" => PadMode::LinearRamp,
        "maximum" => PadMode::Statistic(PadStatistic::Maximum, None),
        "mean" => PadMode::Statistic(PadStatistic::Mean, None),
        "median" => PadMode::Statistic(PadStatistic::Median, None),
        "minimum" => PadMode::Statistic(PadStatistic::Minimum, None),
        "empty" => PadMode::Empty,
        other => {
            return Err(PyValueError::new_err(format!(
                "[{op}] got mode '{other}', expected 'constant', 'edge', 'reflect', 'symmetric', 'wrap', 'linear_ramp', \
                 'maximum', 'mean', 'median', 'minimum' or 'empty'"
            )));
        }
    })
}

/// Fail for an option that the mode of `pad` does not read.
fn refuse_unless(is_read: bool, option: &str, mode: &str) -> PyResult<()> {
    if is_read {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("[pad] {option} has no meaning in mode '{mode}'")))
}

/// Extend an array at the ends of its axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// pad_width : int or sequence
///     Number of elements to add: one number for both ends of all axes, a pair ``(before, after)`` for all axes, or a
///     sequence of one pair for each axis.
/// mode : str, optional
///     Content of the border: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"``, ``"wrap"``, ``"linear_ramp"``,
///     ``"maximum"``, ``"mean"``, ``"median"``, ``"minimum"`` or ``"empty"``; see Notes. Default: ``"constant"``.
/// constant_values : array_like, optional
///     Value of the border in mode ``"constant"``, converted to the dtype of `a`; it broadcasts to the result. Default: 0.
/// end_values : array_like, optional
///     Outermost value in mode ``"linear_ramp"``, a single number; other modes refuse it. Default: 0.
/// stat_length : int, optional
///     Number of elements next to the border that a statistic is computed from; modes without one refuse it. Default: all
///     elements along the axis.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the dtype of `a`, extended by the given widths.
///
/// Raises
/// ------
/// ValueError
///     If a width is negative, there are not as many pairs as axes, the mode is unknown, a value does not broadcast,
///     `stat_length` is 0, the mode does not use `end_values` or `stat_length`, or an axis of length 0 is padded in a mode
///     that needs elements.
/// TypeError
///     If `pad_width` does not consist of integers.
///
/// Notes
/// -----
/// The modes fill the border with
///
/// - ``"constant"``: `constant_values`;
/// - ``"edge"``: the element at the edge;
/// - ``"reflect"``: the elements mirrored, without the edge element;
/// - ``"symmetric"``: the elements mirrored, with the edge element;
/// - ``"wrap"``: the elements of the opposite end, periodically;
/// - ``"linear_ramp"``: equal steps from the element at the edge to `end_values`;
/// - ``"maximum"``, ``"mean"``, ``"median"``, ``"minimum"``: the statistic of the elements along the axis;
/// - ``"empty"``: unspecified values, currently zeros.
///
/// Axes are padded one after the other, so that corners depend on the borders of the earlier axes. For integers a mean or a
/// median is rounded to the nearest integer, halves to even, and a ramp is rounded down.
///
/// Examples
/// --------
/// >>> mx.pad(mx.array([1, 2, 3]), (1, 2), constant_values=9)
/// array([9, 1, 2, 3, 9, 9], dtype=int32)
/// >>> mx.pad(mx.array([1, 2, 3]), (1, 2), mode="reflect")
/// array([2, 1, 2, 3, 2, 1], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (
        a, pad_width, mode = "constant", constant_values = None, *, end_values = None, stat_length = None,
        stream = None
    ),
    text_signature = "(a, pad_width, mode='constant', constant_values=0, *, end_values=0, stat_length=None, stream=None)"
)]
fn pad(
    a: Operand,
    pad_width: &Bound<'_, PyAny>,
    mode: &str,
    constant_values: Option<Operand>,
    end_values: Option<Operand>,
    stat_length: Option<usize>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    let name = mode;
    let mode = match pad_mode("pad", mode)? {
        PadMode::Statistic(statistic, _) => PadMode::Statistic(statistic, stat_length),
        mode => mode,
    };
    let is_ramp = mode == PadMode::LinearRamp;
    refuse_unless(is_ramp || end_values.is_none(), "end_values", name)?;
    refuse_unless(matches!(mode, PadMode::Statistic(..)) || stat_length.is_none(), "stat_length", name)?;
    let widths = widths(pad_width, a.ndim())?;
    let value = match if is_ramp { end_values } else { constant_values } {
        Some(value) => value.promote_with(&a)?,
        None => Array::scalar(0, a.dtype()),
    };
    record_on(stream, || ops::pad(&a, &widths, mode, &value)).map(NewArray::from)
}

/// Functions that return arrays with a minimum number of axes.
macro_rules! at_least {
    ($($(#[$doc:meta])* $name:ident $ndim:literal,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (*arys, stream = None))]
            fn $name(
                py: Python<'_>,
                arys: Vec<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<Bound<'_, PyAny>> {
                let arrays: Vec<Array> = record_on(stream, || {
                    arys.into_iter().map(|array| ops::atleast(&array.into_array(), $ndim)).collect()
                })?;
                match <[Array; 1]>::try_from(arrays) {
                    Ok([one]) => Ok(NewArray::from(one).object(py)?.into_any()),
                    Err(many) => Ok(wrap(many).into_pyobject(py)?.into_any()),
                }
            }
        )*

        fn register_at_least(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

at_least! {
    /// View arrays with at least one axis.
    ///
    /// Parameters
    /// ----------
    /// *arys : array_like
    ///     Inputs. A 0-d array gets shape ``(1,)``; other arrays keep their shape.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array or list of array
    ///     The array for a single input, otherwise a list.
    ///
    /// See Also
    /// --------
    /// atleast_2d, atleast_3d, expand_dims
    ///
    /// Examples
    /// --------
    /// >>> mx.atleast_1d(3)
    /// array([3], dtype=int32)
    atleast_1d 1,
    /// View arrays with at least two axes.
    ///
    /// Parameters
    /// ----------
    /// *arys : array_like
    ///     Inputs. Missing axes, of length one, are inserted in front: shape ``(n,)`` becomes ``(1, n)``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array or list of array
    ///     The array for a single input, otherwise a list.
    ///
    /// See Also
    /// --------
    /// atleast_1d, atleast_3d, expand_dims
    ///
    /// Examples
    /// --------
    /// >>> mx.atleast_2d(mx.array([1, 2]))
    /// array([[1, 2]], dtype=int32)
    atleast_2d 2,
    /// View arrays with at least three axes.
    ///
    /// Parameters
    /// ----------
    /// *arys : array_like
    ///     Inputs. Shape ``(n,)`` becomes ``(1, n, 1)``, and shape ``(m, n)`` becomes ``(m, n, 1)``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array or list of array
    ///     The array for a single input, otherwise a list.
    ///
    /// See Also
    /// --------
    /// atleast_1d, atleast_2d, expand_dims
    ///
    /// Examples
    /// --------
    /// >>> [x.shape for x in mx.atleast_3d(mx.zeros(2), mx.zeros((2, 3)))]
    /// [(1, 2, 1), (2, 3, 1)]
    atleast_3d 3,
}

/// Extract a diagonal of the matrices along two axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least two axes.
/// offset : int, optional
///     Diagonal to extract: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// axis1, axis2 : int, optional
///     Axes of the rows and columns of the matrices. Default: 0 and 1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The elements ``a[..., i, ..., i + offset, ...]``. The two axes are removed, and the diagonal is the last axis.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If `a` has fewer than two axes, or the axes are the same.
///
/// See Also
/// --------
/// diag, diagflat, fill_diagonal, trace
///
/// Examples
/// --------
/// >>> mx.diagonal(mx.array([[1, 2, 3], [4, 5, 6]]), offset=1)
/// array([2, 6], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, offset = 0, axis1 = 0, axis2 = 1, stream = None))]
fn diagonal(
    a: Operand,
    offset: i64,
    axis1: i64,
    axis2: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::diagonal(&a, offset, axis1, axis2)).map(NewArray::from)
}

/// Build a matrix with the elements of the flattened input on a diagonal.
///
/// Parameters
/// ----------
/// v : array_like
///     Input of any shape.
/// k : int, optional
///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Square matrix with ``v.size + abs(k)`` rows, of the dtype of `v`; zero off the diagonal.
///
/// Raises
/// ------
/// OverflowError
///     If the matrix has more elements than memory can address.
///
/// See Also
/// --------
/// diag, diagonal
///
/// Examples
/// --------
/// >>> mx.diagflat(mx.array([1, 2]), 1)
/// array([[0, 1, 0],
///        [0, 0, 2],
///        [0, 0, 0]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (v, k = 0, *, stream = None))]
fn diagflat(v: Operand, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let v = v.into_array();
    record_on(stream, || ops::diagflat(&v, k)).map(NewArray::from)
}

/// Copy an array into contiguous row-major memory, unless it is stored that way already.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// allow_col_major : bool, optional
///     Accepted for compatibility with MLX. The result is row-major in either case. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array equal to `a`. It shares memory with `a` only if `a` is row-major and its memory holds little else.
///
/// See Also
/// --------
/// as_strided
///
/// Examples
/// --------
/// >>> x = mx.contiguous(mx.array([[1, 2], [3, 4]]).T)
/// >>> np.asarray(x).strides
/// (8, 4)
#[pyfunction]
#[pyo3(signature = (a, /, allow_col_major = false, *, stream = None))]
fn contiguous(a: Operand, allow_col_major: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let _ = allow_col_major;
    let a = a.into_array();
    record_on(stream, || ops::contiguous(&a)).map(NewArray::from)
}

/// View the flattened array with a given shape, strides and offset.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// shape : int or sequence of int, optional
///     Shape of the result. Default: the shape of `a`.
/// strides : int or sequence of int, optional
///     Stride of each axis, in elements; may be zero or negative. Default: the strides of a row-major array.
/// offset : int, optional
///     Index of the first element in the flattened array. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The elements ``flatten(a)[offset + sum(index * strides)]``.
///
/// Raises
/// ------
/// ValueError
///     If the view reaches outside of the array, or there is not one stride for each axis.
///
/// See Also
/// --------
/// reshape, broadcast_to
///
/// Examples
/// --------
/// >>> mx.as_strided(mx.arange(5), (3, 3), (1, 1))
/// array([[0, 1, 2],
///        [1, 2, 3],
///        [2, 3, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, shape = None, strides = None, offset = 0, *, stream = None))]
fn as_strided(
    a: Operand,
    shape: Option<Ints>,
    strides: Option<Ints>,
    offset: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    let (shape, strides) = (shape.as_ref().map(Ints::as_slice), strides.as_ref().map(Ints::as_slice));
    record_on(stream, || ops::as_strided(&a, shape, strides, offset)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_transposes(module)?;
    register_concatenations(module)?;
    register_at_least(module)?;
    for function in [
        wrap_pyfunction!(reshape, module)?,
        wrap_pyfunction!(flatten, module)?,
        wrap_pyfunction!(unflatten, module)?,
        wrap_pyfunction!(squeeze, module)?,
        wrap_pyfunction!(expand_dims, module)?,
        wrap_pyfunction!(swapaxes, module)?,
        wrap_pyfunction!(moveaxis, module)?,
        wrap_pyfunction!(matrix_transpose, module)?,
        wrap_pyfunction!(flip, module)?,
        wrap_pyfunction!(broadcast_to, module)?,
        wrap_pyfunction!(broadcast_shapes, module)?,
        wrap_pyfunction!(broadcast_arrays, module)?,
        wrap_pyfunction!(stack, module)?,
        wrap_pyfunction!(split, module)?,
        wrap_pyfunction!(unstack, module)?,
        wrap_pyfunction!(tile, module)?,
        wrap_pyfunction!(roll, module)?,
        wrap_pyfunction!(pad, module)?,
        wrap_pyfunction!(diagonal, module)?,
        wrap_pyfunction!(diagflat, module)?,
        wrap_pyfunction!(contiguous, module)?,
        wrap_pyfunction!(as_strided, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
