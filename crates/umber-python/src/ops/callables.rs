//! Functions that call a function of the user's.

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

/// `array` with its first axes in the order of all but `axis`, merged into one.
fn as_rows(array: &Array, axis: usize) -> Result<Array> {
    let last = ops::moveaxis(array, axis as i64, -1)?;
    let length = array.shape()[axis];
    ops::reshape(&last, &[(array.size() / length.max(1)) as i64, length as i64])
}

/// Results of rows, with the rows' axis split into those of `array` around the place where `axis` was.
fn in_place(rows: &Array, array: &Array, axis: usize) -> Result<Array> {
    let others =
        array.shape().iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &length)| length as i64);
    let inner: Vec<i64> = rows.shape()[1..].iter().map(|&length| length as i64).collect();
    let lengths: Vec<i64> = others.chain(inner.iter().copied()).collect();
    let mut placed = ops::reshape(rows, &lengths)?;
    for number in 0..inner.len() {
        placed = ops::moveaxis(&placed, (array.ndim() - 1 + number) as i64, (axis + number) as i64)?;
    }
    Ok(placed)
}

/// `func1d(row, *args, **kwargs)` of every row of `arr` along `axis`; the axes of its result stand where `axis` was.
///
/// The function is followed once, on a row without values, as `vmap` does.
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
    let arr = arr.alone();
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
    in_place(&stacked, &arr, axis).or_raise().map(NewArray::from)
}

/// `function(*indices, **kwargs)` of the index of every element of `shape` along each axis: arrays of `dtype`.
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
    let along = |&length: &usize| ops::arange(0.0, length as f64, 1.0, or(dtype, DType::Float32));
    let places = shape.iter().map(along).collect::<Result<Vec<Array>>>().or_raise()?;
    let places: Vec<&Array> = places.iter().collect();
    let grids = ops::meshgrid(&places, ops::MeshKind::Full, ops::MeshIndexing::Ij).or_raise()?;
    function.call(PyTuple::new(py, grids.into_iter().map(NewArray::from))?, kwargs)
}

/// What a piece of `piecewise` is on `x`: the value of a function, or a number or array.
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

/// `x` where each function (or number) of `funclist` is taken at the elements for which the condition of the same place holds;
/// of several conditions the last one counts. One more function is for the elements for which none holds, else they are zero.
///
/// Functions are called as `f(x, *args, **kw)` with an array of the shape of `x`, in which elements that are not theirs are
/// replaced by one that is, and must work element by element. The result has the dtype of `x`.
#[pyfunction]
#[pyo3(signature = (x, condlist, funclist, *args, **kw))]
fn piecewise<'py>(
    x: Operand,
    condlist: &Bound<'py, PyAny>,
    funclist: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kw: Option<&Bound<'py, PyDict>>,
) -> PyResult<NewArray> {
    let x = x.alone();
    let mut conditions = match condlist.extract::<Operand>() {
        // One condition may stand for a list of it.
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
