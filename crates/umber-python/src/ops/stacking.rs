//! Joining arrays as rows, columns or blocks, splitting, flipping and rotating them, and reading their sizes.
//!
//! One subject: each binding takes a few lines; most lines of this file are documentation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use umber_core::Array;
use umber_core::graph::tracing;
use umber_core::ops::{self, Blocks, ElementOrder, Split};

use super::shaping::{list, wrap};
use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::array::{note_shape, shape_of};
use crate::new_array::NewArray;

/// Functions that join a sequence of arrays.
macro_rules! stacks {
    ($($(#[$doc:meta])* $name:ident $argument:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = ($argument, *, stream = None))]
            fn $name($argument: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let arrays = list(stringify!($name), $argument)?;
                let arrays: Vec<&Array> = arrays.iter().collect();
                record_on(stream, || ops::$name(&arrays)).map(NewArray::from)
            }
        )*

        fn register_stacks(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

stacks! {
    /// Join arrays along the second axis, or along the first for vectors.
    ///
    /// Parameters
    /// ----------
    /// tup : sequence of array_like
    ///     Arrays that have the same shape except along that axis. A 0-d array counts as a vector of one element.
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
    /// ValueError
    ///     If there are no arrays, or their shapes do not fit.
    ///
    /// See Also
    /// --------
    /// vstack, dstack, column_stack, concatenate, hsplit
    ///
    /// Examples
    /// --------
    /// >>> mx.hstack([mx.array([1, 2]), mx.array([3])])
    /// array([1, 2, 3], dtype=int32)
    /// >>> mx.hstack([mx.array([[1], [2]]), mx.array([[3], [4]])])
    /// array([[1, 3],
    ///        [2, 4]], dtype=int32)
    hstack tup,
    /// Join arrays along the first axis; each vector counts as a row.
    ///
    /// Parameters
    /// ----------
    /// tup : sequence of array_like
    ///     Arrays that have the same shape except along the first axis, after vectors have become rows.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The joined array, of at least two axes, in the promoted dtype of all arrays.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are no arrays, or their shapes do not fit.
    ///
    /// See Also
    /// --------
    /// hstack, dstack, stack, concatenate, vsplit
    ///
    /// Examples
    /// --------
    /// >>> mx.vstack([mx.array([1, 2]), mx.array([[3, 4], [5, 6]])])
    /// array([[1, 2],
    ///        [3, 4],
    ///        [5, 6]], dtype=int32)
    vstack tup,
    /// Join arrays along the third axis.
    ///
    /// Parameters
    /// ----------
    /// tup : sequence of array_like
    ///     Arrays that have the same shape except along the third axis. A vector counts as shape ``(1, n, 1)``, a matrix as
    ///     shape ``(m, n, 1)``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The joined array, of at least three axes, in the promoted dtype of all arrays.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are no arrays, or their shapes do not fit.
    ///
    /// See Also
    /// --------
    /// hstack, vstack, stack, concatenate, dsplit
    ///
    /// Examples
    /// --------
    /// >>> mx.dstack([mx.array([1, 2]), mx.array([3, 4])])
    /// array([[[1, 3],
    ///         [2, 4]]], dtype=int32)
    dstack tup,
    /// Join vectors as columns, and matrices as they are, into a matrix.
    ///
    /// Parameters
    /// ----------
    /// tup : sequence of array_like
    ///     Vectors and matrices with the same number of rows.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The joined matrix, in the promoted dtype of all arrays.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are no arrays, or the numbers of rows differ.
    ///
    /// See Also
    /// --------
    /// hstack, stack, concatenate
    ///
    /// Examples
    /// --------
    /// >>> mx.column_stack([mx.array([1, 2]), mx.array([[3, 4], [5, 6]])])
    /// array([[1, 3, 4],
    ///        [2, 5, 6]], dtype=int32)
    column_stack tup,
}

fn parse_blocks(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Blocks> {
    let Ok(items) = value.cast::<PyList>() else {
        return Ok(Blocks::Array(value.extract::<Operand>()?.into_array()));
    };
    if depth > 64 {
        return Err(PyValueError::new_err("[block] lists are nested deeper than 64 levels"));
    }
    Ok(Blocks::List(items.iter().map(|item| parse_blocks(&item, depth + 1)).collect::<PyResult<_>>()?))
}

/// Assemble an array from nested lists of blocks.
///
/// Parameters
/// ----------
/// arrays : nested list of array_like
///     Blocks. The innermost lists are joined along the last axis, the lists around them along the axis before it, and so on.
///     All blocks are nested equally deep.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The assembled array, in the promoted dtype of all blocks.
///
/// Raises
/// ------
/// ValueError
///     If a list is empty, blocks are nested to different depths or more than 64 levels deep, or shapes do not fit.
///
/// See Also
/// --------
/// concatenate, stack, hstack, vstack
///
/// Examples
/// --------
/// >>> mx.block([[mx.eye(2), mx.ones((2, 1))], [mx.zeros((1, 3))]])
/// array([[1, 0, 1],
///        [0, 1, 1],
///        [0, 0, 0]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (arrays, *, stream = None))]
fn block(arrays: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let blocks = parse_blocks(arrays, 0)?;
    record_on(stream, || ops::block(&blocks)).map(NewArray::from)
}

/// The argument of split functions: a number of sections, or the indices before which to split.
enum SplitArg {
    Sections(i64),
    Indices(Ints),
}

impl<'a, 'py> FromPyObject<'a, 'py> for SplitArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i64>() {
            Ok(sections) => Ok(SplitArg::Sections(sections)),
            Err(_) => object.extract().map(SplitArg::Indices),
        }
    }
}

impl SplitArg {
    fn split(&self) -> Split<'_> {
        match self {
            SplitArg::Sections(count) => Split::Sections(*count),
            SplitArg::Indices(indices) => Split::Indices(indices.as_slice()),
        }
    }
}

/// Functions that split along a fixed axis.
macro_rules! splits {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (ary, indices_or_sections, *, stream = None))]
            fn $name(
                ary: Operand,
                indices_or_sections: SplitArg,
                stream: Option<StreamArg>,
            ) -> PyResult<Vec<NewArray>> {
                let ary = ary.into_array();
                record_on(stream, || ops::$name(&ary, indices_or_sections.split())).map(wrap)
            }
        )*

        fn register_splits(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

splits! {
    /// Split an array along its second axis, or a vector along its only one.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     Input of at least one axis.
    /// indices_or_sections : int or sequence of int
    ///     Number of parts of equal length, or the indices before which to split.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// list of array
    ///     Views of `ary`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `ary` is 0-d, or the length of the axis is no multiple of the number of sections.
    ///
    /// See Also
    /// --------
    /// split, vsplit, dsplit, hstack
    ///
    /// Examples
    /// --------
    /// >>> mx.hsplit(mx.array([[1, 2, 3], [4, 5, 6]]), [2])
    /// [array([[1, 2],
    ///        [4, 5]], dtype=int32), array([[3],
    ///        [6]], dtype=int32)]
    hsplit,
    /// Split an array of at least two axes along its first axis.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     Input of at least two axes.
    /// indices_or_sections : int or sequence of int
    ///     Number of parts of equal length, or the indices before which to split.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// list of array
    ///     Views of `ary`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `ary` has fewer than two axes, or the length of the axis is no multiple of the number of sections.
    ///
    /// See Also
    /// --------
    /// split, hsplit, dsplit, vstack
    ///
    /// Examples
    /// --------
    /// >>> mx.vsplit(mx.array([[1, 2], [3, 4]]), 2)
    /// [array([[1, 2]], dtype=int32), array([[3, 4]], dtype=int32)]
    vsplit,
    /// Split an array of at least three axes along its third axis.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     Input of at least three axes.
    /// indices_or_sections : int or sequence of int
    ///     Number of parts of equal length, or the indices before which to split.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// list of array
    ///     Views of `ary`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `ary` has fewer than three axes, or the length of the axis is no multiple of the number of sections.
    ///
    /// See Also
    /// --------
    /// split, hsplit, vsplit, dstack
    ///
    /// Examples
    /// --------
    /// >>> [x.shape for x in mx.dsplit(mx.zeros((1, 2, 3)), [1])]
    /// [(1, 2, 1), (1, 2, 2)]
    dsplit,
}

/// Split an array along an axis into parts whose lengths may differ by one.
///
/// Parameters
/// ----------
/// ary : array_like
///     Input of at least one axis.
/// indices_or_sections : int or sequence of int
///     Number of parts, of which the first ones are longer by one where the length is no multiple of it, or the indices
///     before which to split.
/// axis : int, optional
///     Axis to split along. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// list of array
///     Views of `ary`.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds.
/// ValueError
///     If the number of sections is below 1 or above 2**24.
///
/// See Also
/// --------
/// split
///
/// Examples
/// --------
/// >>> mx.array_split(mx.arange(5), 3)
/// [array([0, 1], dtype=int32), array([2, 3], dtype=int32), array([4], dtype=int32)]
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections, axis = 0, *, stream = None))]
fn array_split(
    ary: Operand,
    indices_or_sections: SplitArg,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let ary = ary.into_array();
    record_on(stream, || ops::array_split(&ary, indices_or_sections.split(), axis)).map(wrap)
}

/// The order of elements by name: row-major ("C") or column-major ("F").
pub(super) fn element_order(op: &str, order: &str) -> PyResult<ElementOrder> {
    match order {
        "C" => Ok(ElementOrder::RowMajor),
        "F" => Ok(ElementOrder::ColumnMajor),
        other => Err(PyValueError::new_err(format!("[{op}] got order '{other}', expected 'C' or 'F'"))),
    }
}

/// Flatten an array in row-major or column-major order.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// order : {"C", "F"}, optional
///     Order in which elements are read: ``"C"`` is row-major (the last axis varies fastest), ``"F"`` column-major (the
///     first axis varies fastest). Default: ``"C"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     1-d array of the elements of `a`.
///
/// Raises
/// ------
/// ValueError
///     If `order` is neither ``"C"`` nor ``"F"``.
///
/// See Also
/// --------
/// flatten, reshape
///
/// Examples
/// --------
/// >>> mx.ravel(mx.array([[1, 2], [3, 4]]), order="F")
/// array([1, 3, 2, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, order = "C", *, stream = None))]
fn ravel(a: Operand, order: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, order) = (a.into_array(), element_order("ravel", order)?);
    record_on(stream, || ops::ravel(&a, order)).map(NewArray::from)
}

/// Reverse the order of the columns: ``m[:, ::-1]``.
///
/// Parameters
/// ----------
/// m : array_like
///     Input of at least two axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `m` with the second axis reversed.
///
/// Raises
/// ------
/// ValueError
///     If `m` has fewer than two axes.
///
/// See Also
/// --------
/// flip, flipud, rot90
///
/// Examples
/// --------
/// >>> mx.fliplr(mx.array([[1, 2], [3, 4]]))
/// array([[2, 1],
///        [4, 3]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (m, *, stream = None))]
fn fliplr(m: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.into_array();
    record_on(stream, || ops::fliplr(&m)).map(NewArray::from)
}

/// Reverse the order of the rows: ``m[::-1]``.
///
/// Parameters
/// ----------
/// m : array_like
///     Input of at least one axis.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `m` with the first axis reversed.
///
/// Raises
/// ------
/// ValueError
///     If `m` is 0-d.
///
/// See Also
/// --------
/// flip, fliplr, rot90
///
/// Examples
/// --------
/// >>> mx.flipud(mx.array([[1, 2], [3, 4]]))
/// array([[3, 4],
///        [1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (m, *, stream = None))]
fn flipud(m: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.into_array();
    record_on(stream, || ops::flipud(&m)).map(NewArray::from)
}

/// Rotate an array by multiples of 90 degrees in the plane of two axes.
///
/// Parameters
/// ----------
/// m : array_like
///     Input of at least two axes.
/// k : int, optional
///     Number of rotations by 90 degrees; negative numbers rotate in the opposite direction. Default: 1.
/// axes : tuple of two int, optional
///     Axes of the plane. The rotation goes from the first towards the second. Default: ``(0, 1)``, counterclockwise.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `m`, rotated.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If the axes are the same.
///
/// See Also
/// --------
/// flip, fliplr, flipud
///
/// Examples
/// --------
/// >>> mx.rot90(mx.array([[1, 2], [3, 4]]))
/// array([[2, 4],
///        [1, 3]], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (m, k = 1, axes = [0, 1], *, stream = None),
    text_signature = "(m, k=1, axes=(0, 1), *, stream=None)"
)]
fn rot90(m: Operand, k: i64, axes: [i64; 2], stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.into_array();
    record_on(stream, || ops::rot90(&m, k, axes)).map(NewArray::from)
}

/// Move one axis to the position before another.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of at least one axis.
/// axis : int
///     Axis to move.
/// start : int, optional
///     Axis before which `axis` is placed; the number of axes means the end. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     View of `a` with the axis moved.
///
/// Raises
/// ------
/// IndexError
///     If `axis` is out of bounds, or `start` is not between ``-a.ndim`` and ``a.ndim``.
///
/// See Also
/// --------
/// moveaxis
///
/// Examples
/// --------
/// >>> mx.rollaxis(mx.zeros((2, 3, 4)), 2).shape
/// (4, 2, 3)
/// >>> mx.rollaxis(mx.zeros((2, 3, 4)), 0, 3).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (a, axis, start = 0, *, stream = None))]
fn rollaxis(a: Operand, axis: i64, start: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::rollaxis(&a, axis, start)).map(NewArray::from)
}

/// Return the shape of an array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
///
/// Returns
/// -------
/// tuple of int
///     Length of each axis.
///
/// See Also
/// --------
/// ndim, size
///
/// Examples
/// --------
/// >>> mx.shape([[1, 2, 3]])
/// (1, 3)
#[pyfunction]
#[pyo3(signature = (a))]
fn shape(py: Python<'_>, a: Operand) -> PyResult<Bound<'_, PyTuple>> {
    shape_of(py, &a.into_array())
}

/// Return the number of axes of an array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
///
/// Returns
/// -------
/// int
///     Number of axes.
///
/// See Also
/// --------
/// shape, size
///
/// Examples
/// --------
/// >>> mx.ndim([[1, 2, 3]])
/// 2
#[pyfunction]
#[pyo3(signature = (a))]
fn ndim(a: Operand) -> usize {
    a.into_array().ndim()
}

/// Return the number of elements of an array, in all or along given axes.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape.
/// axis : int or sequence of int, optional
///     Axes whose lengths are multiplied. Default: all axes.
///
/// Returns
/// -------
/// int
///     Product of the lengths of the axes.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// shape, ndim
///
/// Examples
/// --------
/// >>> mx.size(mx.zeros((2, 3)))
/// 6
/// >>> mx.size(mx.zeros((2, 3)), 1)
/// 3
#[pyfunction]
#[pyo3(signature = (a, axis = None))]
fn size(a: Operand, axis: Option<Ints>) -> PyResult<usize> {
    let a = a.into_array();
    let Some(axis) = axis else { return Ok(note_shape(a).size()) };
    let axes = record_on(None, || umber_core::Axes::normalized("size", axis.as_slice(), a.ndim()))?;
    axes.iter().for_each(|&axis| tracing::note_length_read(&a, axis));
    Ok(axes.iter().map(|&axis| a.shape()[axis]).product())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_stacks(module)?;
    register_splits(module)?;
    for function in [
        wrap_pyfunction!(block, module)?,
        wrap_pyfunction!(array_split, module)?,
        wrap_pyfunction!(ravel, module)?,
        wrap_pyfunction!(fliplr, module)?,
        wrap_pyfunction!(flipud, module)?,
        wrap_pyfunction!(rot90, module)?,
        wrap_pyfunction!(rollaxis, module)?,
        wrap_pyfunction!(shape, module)?,
        wrap_pyfunction!(ndim, module)?,
        wrap_pyfunction!(size, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
