//! Functions that take a Python function.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umber_core::transforms::Mapped;
use umber_core::types::shape::normalize_axis;
use umber_core::{Array, DType, Result, Shape, ops};

use crate::args::{Ints, Operand};
use crate::convert::from_object;
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;
use crate::pytree::class_of;

/// `array` as a matrix whose rows are its 1-D slices along `axis`.
fn as_rows(array: &Array, axis: usize) -> Result<Array> {
    let last = ops::moveaxis(array, axis as i64, -1)?;
    let length = array.shape()[axis];
    ops::reshape(&last, [(array.size() / length.max(1)) as i64, length as i64])
}

/// Undo [`as_rows`] for results: split the axis of rows into the other axes of `array`, and move the axes of each result to the
/// position of `axis`.
fn restore_axes(rows: &Array, array: &Array, axis: usize) -> Result<Array> {
    let others =
        array.shape().iter().enumerate().filter(|&(i, _)| i != axis).map(|(_, &length)| length as i64);
    let inner: Vec<i64> = rows.shape()[1..].iter().map(|&length| length as i64).collect();
    let lengths: Vec<i64> = others.chain(inner.iter().copied()).collect();
    let mut result = ops::reshape(rows, &lengths)?;
    for i in 0..inner.len() {
        result = ops::moveaxis(&result, (array.ndim() - 1 + i) as i64, (axis + i) as i64)?;
    }
    Ok(result)
}

/// Apply a function to every 1-D slice of an array along an axis.
///
/// Parameters
/// ----------
/// func1d : callable
///     Called as ``func1d(row, *args, **kwargs)`` with a 1-D array. Returns an array or a number.
/// axis : int
///     Axis of the slices.
/// arr : array_like
///     Array of at least one element.
/// *args, **kwargs : object
///     Further arguments of `func1d`.
///
/// Returns
/// -------
/// array
///     Shape of `arr` with `axis` replaced by the axes of the result of `func1d`.
///
/// Raises
/// ------
/// ValueError
///     If `arr` has no elements.
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If `func1d` returns something else than an array or a number.
///
/// See Also
/// --------
/// vmap, fromfunction
///
/// Notes
/// -----
/// As in `vmap`, the function is traced once, on a slice without values.
///
/// Examples
/// --------
/// >>> mx.apply_along_axis(lambda row: row.max() - row.min(), 1, mx.array([[1, 2], [3, 7]]))
/// array([1, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (func1d, axis, arr, *args, **kwargs))]
fn apply_along_axis<'py>(
    py: Python<'py>,
    func1d: &Bound<'py, PyAny>,
    axis: i64,
    arr: Operand,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<NewArray> {
    let arr = arr.into_array();
    let axis = normalize_axis("apply_along_axis", axis, arr.ndim()).or_raise()?;
    if arr.size() == 0 {
        return Err(PyValueError::new_err(format!(
            "[apply_along_axis] array must not be empty, got shape {}",
            arr.shape()
        )));
    }
    let rows = as_rows(&arr, axis).or_raise()?;
    let mapped = Mapped::begin(&[rows], &[Some(0)]).or_raise()?;
    let row = NewArray::from(mapped.trace.inputs[0].clone()).object(py)?.into_any();
    let arguments: Vec<Bound<'py, PyAny>> = std::iter::once(row).chain(args.iter()).collect();
    let returned = func1d.call(PyTuple::new(py, arguments)?, kwargs)?;
    let Some(returned) = from_object(&returned, None)? else {
        return Err(PyTypeError::new_err(format!(
            "[apply_along_axis] the function returned {}, expected an array or a number",
            returned.get_type().name()?
        )));
    };
    let mut stacked = mapped.end(&[returned], &[Some(0)]).or_raise()?;
    let stacked = stacked.pop().expect("one output");
    restore_axes(&stacked, &arr, axis).or_raise().map(NewArray::from)
}

/// Call a function with the indices of every element of a shape along each axis.
///
/// Parameters
/// ----------
/// function : callable
///     Called as ``function(*indices, **kwargs)`` with one array of the given shape per axis.
/// shape : int or sequence of int
///     Shape of the arrays of indices.
/// dtype : Dtype, optional
///     Dtype of the indices. Default: float32.
/// **kwargs : object
///     Further arguments of `function`.
///
/// Returns
/// -------
/// object
///     The result of `function`.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative.
/// TypeError
///     If `function` is not callable.
///
/// See Also
/// --------
/// indices, meshgrid
///
/// Examples
/// --------
/// >>> mx.fromfunction(lambda i, j: i == j, (2, 2), dtype=mx.int32)
/// array([[True, False],
///        [False, True]], dtype=bool)
#[pyfunction]
#[pyo3(signature = (function, shape, *, dtype = None, **kwargs))]
fn fromfunction<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    shape: Ints,
    dtype: Option<DtypeArg>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if !function.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "[fromfunction] got {}, expected a function of indices",
            function.get_type().name()?
        )));
    }
    let shape = Shape::checked("fromfunction", shape.as_slice()).or_raise()?;
    let range = |&length: &usize| ops::arange(0.0, length as f64, 1.0, or(dtype, DType::Float32));
    let coordinates = shape.iter().map(range).collect::<Result<Vec<Array>>>().or_raise()?;
    let coordinates: Vec<&Array> = coordinates.iter().collect();
    let grids = ops::meshgrid(&coordinates, ops::MeshKind::Full, ops::MeshIndexing::Ij).or_raise()?;
    function.call(PyTuple::new(py, grids.into_iter().map(NewArray::from))?, kwargs)
}

/// The value of one entry of `funclist` for `x`: the result of a function, or a number or array.
fn piece<'py>(
    piece: &Bound<'py, PyAny>,
    x: Array,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Array> {
    let py = piece.py();
    let value = if piece.is_callable() {
        let x = NewArray::from(x).object(py)?.into_any();
        let arguments: Vec<Bound<'py, PyAny>> = std::iter::once(x).chain(args.iter()).collect();
        piece.call(PyTuple::new(py, arguments)?, kwargs)?
    } else {
        piece.clone()
    };
    from_object(&value, None)?.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "[piecewise] funclist: got {}, expected functions, numbers or arrays",
            class_of(&value)
        ))
    })
}

/// Evaluate a function that is defined by one expression per condition.
///
/// Parameters
/// ----------
/// x : array_like
///     Argument of the functions.
/// condlist : array_like of bool or sequence of array_like of bool
///     Conditions that broadcast to the shape of `x`. If several are true for an element, the last one counts.
/// funclist : sequence of callable or array_like
///     A function, number or array for each condition. One more is for elements where no condition holds, which are 0
///     otherwise.
/// *args, **kw : object
///     Further arguments of the functions, which are called as ``f(x, *args, **kw)``.
///
/// Returns
/// -------
/// array
///     Shape and dtype of `x`.
///
/// Raises
/// ------
/// ValueError
///     If `funclist` has another length, or a condition is not bool or does not broadcast.
/// TypeError
///     If `funclist` is not a sequence of functions, numbers or arrays.
///
/// See Also
/// --------
/// where, select
///
/// Notes
/// -----
/// Functions must work element by element. They receive an array of the shape of `x` in which elements outside of their
/// condition are replaced by one inside of it, so they see only valid arguments.
///
/// Examples
/// --------
/// >>> x = mx.array([-2.0, -1.0, 1.0, 4.0])
/// >>> mx.piecewise(x, [x > 0], [mx.sqrt, -1.0])
/// array([-1, -1, 1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, condlist, funclist, *args, **kw))]
fn piecewise<'py>(
    x: Operand,
    condlist: &Bound<'py, PyAny>,
    funclist: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kw: Option<&Bound<'py, PyDict>>,
) -> PyResult<NewArray> {
    let x = x.into_array();
    let mut conditions = match condlist.extract::<Operand>() {
        // A single condition may be given without a list.
        Ok(Operand::Array(array)) if array.ndim() == x.ndim() => vec![array],
        _ => super::shaping::list("piecewise", condlist)?,
    };
    let pieces = funclist
        .try_iter()
        .map_err(|_| {
            PyTypeError::new_err(format!(
                "[piecewise] funclist: got {}, expected a sequence of functions, numbers or arrays",
                class_of(funclist)
            ))
        })?
        .collect::<PyResult<Vec<_>>>()?;
    if pieces.len() == conditions.len() + 1 {
        let otherwise = ops::none_holds(&conditions.iter().collect::<Vec<_>>(), &x).or_raise()?;
        conditions.push(otherwise);
    }
    if pieces.len() != conditions.len() {
        return Err(PyValueError::new_err(format!(
            "[piecewise] got {0} functions for {1} conditions, expected as many as conditions, or one more",
            pieces.len(),
            conditions.len()
        )));
    }
    let mut result = Array::full(x.shape().clone(), 0, x.dtype());
    for (condition, function) in conditions.iter().zip(&pieces) {
        let value = piece(function, ops::confined(&x, condition).or_raise()?, args, kw)?;
        result = ops::replaced(&result, condition, &value).or_raise()?;
    }
    Ok(result.into())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(apply_along_axis, module)?)?;
    module.add_function(wrap_pyfunction!(piecewise, module)?)?;
    module.add_function(wrap_pyfunction!(fromfunction, module)?)
}
