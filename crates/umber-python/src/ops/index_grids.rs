//! Index arrays of triangles, diagonals and grids; conversion between flat indices and coordinates.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::ops::{self, MeshKind};
use umber_core::{Array, DType, Shape};

use super::searching::tuple;
use crate::args::{Ints, Operand, StreamArg, compute};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// The arrays of a sequence, or the elements of one array along its first axis.
pub(super) fn rows(op: &str, arrays: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    match arrays.cast::<PyArray>() {
        Ok(array) => ops::unstack(&array.get().get(), 0).or_raise(),
        Err(_) => super::shaping::list(op, arrays),
    }
}

/// Functions that return the index arrays of triangles.
macro_rules! triangles {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (n, k = 0, m = None, *, stream = None))]
            fn $name(
                py: Python<'_>,
                n: i64,
                k: i64,
                m: Option<i64>,
                stream: Option<StreamArg>,
            ) -> PyResult<Bound<'_, PyTuple>> {
                tuple(py, compute(py, stream, || ops::$name(n, k, m.unwrap_or(n)))?)
            }
        )*

        fn register_triangles(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

triangles! {
    /// Compute row and column indices of the elements on and below a diagonal of a matrix.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     Number of rows.
    /// k : int, optional
    ///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    /// m : int, optional
    ///     Number of columns. Default: `n`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// tuple of array
    ///     Row indices and column indices, uint32, in row-major order.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative.
    ///
    /// See Also
    /// --------
    /// triu_indices, tril, diag_indices
    ///
    /// Examples
    /// --------
    /// >>> mx.tril_indices(2)
    /// (array([0, 1, 1], dtype=uint32), array([0, 0, 1], dtype=uint32))
    tril_indices,
    /// Compute row and column indices of the elements on and above a diagonal of a matrix.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     Number of rows.
    /// k : int, optional
    ///     Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    /// m : int, optional
    ///     Number of columns. Default: `n`.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// tuple of array
    ///     Row indices and column indices, uint32, in row-major order.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative.
    ///
    /// See Also
    /// --------
    /// tril_indices, triu, diag_indices
    ///
    /// Examples
    /// --------
    /// >>> mx.triu_indices(2)
    /// (array([0, 0, 1], dtype=uint32), array([0, 1, 1], dtype=uint32))
    triu_indices,
}

/// Compute the indices of the main diagonal of an array whose axes have equal length.
///
/// Parameters
/// ----------
/// n : int
///     Length of each axis.
/// ndim : int, optional
///     Number of axes, at most 64. Default: 2.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     `ndim` arrays of the indices ``0, ..., n - 1``, uint32.
///
/// Raises
/// ------
/// ValueError
///     If `n` is negative, or `ndim` is above 64.
///
/// See Also
/// --------
/// diagonal, fill_diagonal, tril_indices, triu_indices
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2], [3, 4]])
/// >>> a[mx.diag_indices(2)]
/// array([1, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (n, ndim = 2, *, stream = None))]
fn diag_indices(
    py: Python<'_>,
    n: i64,
    ndim: usize,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyTuple>> {
    tuple(py, compute(py, stream, || ops::diag_indices(n, ndim))?)
}

/// Compute the coordinates of every element of an array of a given shape.
///
/// Parameters
/// ----------
/// dimensions : int or sequence of int
///     Shape of the array.
/// dtype : dtype, optional
///     Dtype of the coordinates. Default: int32.
/// sparse : bool, optional
///     Whether to return a tuple of arrays that have length one along all axes but their own. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or tuple of array
///     Array of shape ``(len(dimensions), *dimensions)``, whose part ``i`` holds the coordinates along axis ``i``; with
///     `sparse` a tuple of one array for each axis.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative.
///
/// See Also
/// --------
/// meshgrid, unravel_index
///
/// Examples
/// --------
/// >>> mx.indices((2, 3))[1]
/// array([[0, 1, 2],
///        [0, 1, 2]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (dimensions, dtype = None, sparse = false, *, stream = None))]
fn indices(
    py: Python<'_>,
    dimensions: Ints,
    dtype: Option<DtypeArg>,
    sparse: bool,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let shape = Shape::checked("indices", dimensions.as_slice()).or_raise()?;
    let dtype = or(dtype, DType::Int32);
    let kind = if sparse { MeshKind::Sparse } else { MeshKind::Full };
    let grids = compute(py, stream, || ops::indices(&shape, dtype, kind))?;
    if sparse {
        return Ok(tuple(py, grids)?.into_any());
    }
    let stacked = if grids.is_empty() {
        Array::full([0], 0, dtype)
    } else {
        compute(py, stream, || ops::stack(&grids.iter().collect::<Vec<_>>(), 0))?
    };
    Ok(NewArray::from(stacked).object(py)?.into_any())
}

/// Build index arrays that select the outer product of indices along each axis.
///
/// Parameters
/// ----------
/// *args : array_like
///     1-d arrays of integers or bool, one for each axis. A bool array stands for the indices of its true elements and is
///     evaluated.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     Index arrays that broadcast: array ``i`` varies along axis ``i``.
///
/// Raises
/// ------
/// ValueError
///     If an array is not 1-d.
/// TypeError
///     If an array is neither of integers nor of bool.
///
/// See Also
/// --------
/// meshgrid, take
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
/// >>> a[mx.ix_([0, 2], [False, True, True])]
/// array([[2, 3],
///        [8, 9]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (*args, stream = None))]
fn ix_(py: Python<'_>, args: Vec<Operand>, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let arrays: Vec<Array> = args.into_iter().map(Operand::into_array).collect();
    tuple(py, compute(py, stream, || ops::ix_(&arrays.iter().collect::<Vec<_>>()))?)
}

/// Parse an element order: whether it is column-major.
fn is_column_major(op: &str, order: &str) -> PyResult<bool> {
    match order {
        "C" => Ok(false),
        "F" => Ok(true),
        other => Err(PyValueError::new_err(format!("[{op}] order: got '{other}', expected 'C' or 'F'"))),
    }
}

/// The lengths in reverse order.
fn reversed_shape(shape: &Shape) -> Shape {
    shape.iter().rev().copied().collect()
}

/// Convert indices of the flattened array to coordinates.
///
/// Parameters
/// ----------
/// indices : array_like
///     Integer indices of the flattened array, of any shape.
/// shape : int or sequence of int
///     Shape of the array.
/// order : {"C", "F"}, optional
///     Order of the flattened elements: ``"C"`` is row-major, ``"F"`` column-major. Default: ``"C"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     Coordinates, one uint32 array for each axis, of the shape of `indices`.
///
/// Raises
/// ------
/// ValueError
///     If an index is negative or out of bounds; inside `vmap` and `compile` that is not checked.
/// TypeError
///     If `indices` are not integers.
///
/// See Also
/// --------
/// ravel_multi_index, argmax, flatnonzero
///
/// Examples
/// --------
/// >>> mx.unravel_index(mx.array([5, 2]), (2, 3))
/// (array([1, 0], dtype=uint32), array([2, 2], dtype=uint32))
#[pyfunction]
#[pyo3(signature = (indices, shape, order = "C", *, stream = None))]
fn unravel_index<'py>(
    py: Python<'py>,
    indices: Operand,
    shape: Ints,
    order: &str,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyTuple>> {
    let shape = Shape::checked("unravel_index", shape.as_slice()).or_raise()?;
    let indices = indices.into_array();
    if !is_column_major("unravel_index", order)? {
        return tuple(py, compute(py, stream, || ops::unravel_index(&indices, &shape))?);
    }
    let mut coordinates = compute(py, stream, || ops::unravel_index(&indices, &reversed_shape(&shape)))?;
    coordinates.reverse();
    tuple(py, coordinates)
}

/// Convert coordinates to indices of the flattened array.
///
/// Parameters
/// ----------
/// multi_index : sequence of array_like
///     Integer coordinates, one array for each axis. They broadcast.
/// dims : int or sequence of int
///     Shape of the array.
/// mode : str or tuple of str, optional
///     Treatment of coordinates out of bounds, for all axes or for each axis: ``"raise"``, ``"wrap"`` (modulo the length)
///     or ``"clip"`` (to the nearest valid index). Default: ``"raise"``.
/// order : {"C", "F"}, optional
///     Order of the flattened elements: ``"C"`` is row-major, ``"F"`` column-major. Default: ``"C"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Indices, uint32, of the broadcast shape of the coordinates.
///
/// Raises
/// ------
/// ValueError
///     If a coordinate is negative or out of bounds in mode ``"raise"`` (inside `vmap` and `compile` that is not checked),
///     the mode is unknown, there is not one array for each axis, or shapes do not broadcast.
/// TypeError
///     If coordinates are not integers.
///
/// See Also
/// --------
/// unravel_index
///
/// Examples
/// --------
/// >>> mx.ravel_multi_index(([1, 3], [2, 0]), (2, 3), mode="wrap")
/// array([5, 3], dtype=uint32)
#[pyfunction]
#[pyo3(
    signature = (multi_index, dims, mode = None, order = "C", *, stream = None),
    text_signature = "(multi_index, dims, mode='raise', order='C', *, stream=None)"
)]
fn ravel_multi_index(
    py: Python<'_>,
    multi_index: &Bound<'_, PyAny>,
    dims: Ints,
    mode: Option<&Bound<'_, PyAny>>,
    order: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let shape = Shape::checked("ravel_multi_index", dims.as_slice()).or_raise()?;
    let coordinates = rows("ravel_multi_index", multi_index)?;
    let mut modes = super::selecting::modes_of("ravel_multi_index", mode)?;
    let mut coordinates: Vec<&Array> = coordinates.iter().collect();
    let shape = if is_column_major("ravel_multi_index", order)? {
        coordinates.reverse();
        modes.reverse();
        reversed_shape(&shape)
    } else {
        shape
    };
    compute(py, stream, || ops::ravel_multi_index(&coordinates, &shape, &modes)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_triangles(module)?;
    for function in [
        wrap_pyfunction!(diag_indices, module)?,
        wrap_pyfunction!(indices, module)?,
        wrap_pyfunction!(ix_, module)?,
        wrap_pyfunction!(unravel_index, module)?,
        wrap_pyfunction!(ravel_multi_index, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
