//! Shapes and layouts.

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

/// As many arrays as others are cut into at most.
const MAX_ARRAYS: usize = 1 << 24;

/// A sequence of arrays, in one dtype-free list. Of one array it is the parts along its first axis.
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
            return Err(PyValueError::new_err(format!("[{op}] more than {MAX_ARRAYS} arrays")));
        }
        list.push(item?.extract::<Operand>()?.alone());
    }
    Ok(list)
}

/// `a` under another shape of the same size; one length may be -1 and follows from the others.
///
/// Memory is shared where strides can say the new shape. With `copy` false `a` is evaluated, and ValueError raised where
/// they cannot.
#[pyfunction]
#[pyo3(signature = (a, /, shape, *, copy = None, stream = None))]
fn reshape(
    py: Python<'_>,
    a: Operand,
    shape: Ints,
    copy: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
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

/// `a` with the axes from `start_axis` to `end_axis` merged into one.
#[pyfunction]
#[pyo3(signature = (a, /, start_axis = 0, end_axis = -1, *, stream = None))]
fn flatten(a: Operand, start_axis: i64, end_axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::flatten(&a, start_axis, end_axis)).map(NewArray::from)
}

/// `a` with `axis` split into axes of the lengths of `shape`; one may be -1.
#[pyfunction]
#[pyo3(signature = (a, /, axis, shape, *, stream = None))]
fn unflatten(a: Operand, axis: i64, shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::unflatten(&a, axis, shape.as_slice())).map(NewArray::from)
}

/// `a` without the axes of length one: all of them, or those given.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn squeeze(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::squeeze(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// `a` with new axes of length one at `axis`.
#[pyfunction]
#[pyo3(signature = (a, /, axis, *, stream = None))]
fn expand_dims(a: Operand, axis: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::expand_dims(&a, axis.as_slice())).map(NewArray::from)
}

/// Permutations of axes.
macro_rules! transposes {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, axes = None, *, stream = None))]
            fn $name(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.alone();
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
    transpose "`a` with its axes in the order of `axes`, reversed by default.",
    permute_dims "The same as `transpose`.",
}

/// `a` with two axes exchanged.
#[pyfunction]
#[pyo3(signature = (a, /, axis1, axis2, *, stream = None))]
fn swapaxes(a: Operand, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::swapaxes(&a, axis1, axis2)).map(NewArray::from)
}

/// `a` with an axis moved to another place, or several axes to as many places.
#[pyfunction]
#[pyo3(signature = (a, /, source, destination, *, stream = None))]
fn moveaxis(a: Operand, source: Ints, destination: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::moveaxes(&a, source.as_slice(), destination.as_slice())).map(NewArray::from)
}

/// `a` with its last two axes exchanged.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn matrix_transpose(a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::matrix_transpose(&a)).map(NewArray::from)
}

/// `a` with the order of elements along `axis` (all axes by default) reversed.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, *, stream = None))]
fn flip(a: Operand, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::flip(&a, axes(axis.as_ref()))).map(NewArray::from)
}

/// `a` under a shape that it broadcasts to; never copies.
#[pyfunction]
#[pyo3(signature = (a, /, shape, *, stream = None))]
fn broadcast_to(a: Operand, shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::broadcast_to(&a, shape.as_slice())).map(NewArray::from)
}

/// The shape that all shapes broadcast to.
#[pyfunction]
#[pyo3(signature = (*shapes))]
fn broadcast_shapes(py: Python<'_>, shapes: Vec<Ints>) -> PyResult<Bound<'_, PyTuple>> {
    let shapes: Vec<Shape> = shapes
        .iter()
        .map(|shape| Shape::checked("broadcast_shapes", shape.as_slice()).or_raise())
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, ops::broadcast_shapes(&shapes).or_raise()?.iter())
}

/// All arrays broadcast to their common shape.
#[pyfunction]
#[pyo3(signature = (*arrays, stream = None))]
fn broadcast_arrays(arrays: Vec<Operand>, stream: Option<StreamArg>) -> PyResult<Vec<NewArray>> {
    let arrays: Vec<Array> = arrays.into_iter().map(Operand::alone).collect();
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::broadcast_arrays(&arrays)).map(wrap)
}

/// Joins along an existing axis.
macro_rules! concatenations {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
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
    concatenate "Arrays joined along `axis` (flattened first if `None`).",
    concat "The same as `concatenate`.",
}

/// Arrays of one shape joined along a new axis.
#[pyfunction]
#[pyo3(signature = (arrays, axis = Some(0), *, stream = None), text_signature = "(arrays, axis=0, *, stream=None)")]
fn stack(arrays: &Bound<'_, PyAny>, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let arrays = list("stack", arrays)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::stack(&arrays, axis.unwrap_or(0))).map(NewArray::from)
}

/// Where an array is cut: a number of equal parts, or indices.
pub(super) fn split_array(a: &Array, at: &Bound<'_, PyAny>, axis: i64) -> PyResult<Vec<Array>> {
    if let Ok(sections) = at.extract::<i64>() {
        return ops::split(a, Split::Sections(sections), axis).or_raise();
    }
    let indices: Ints = at.extract()?;
    ops::split(a, Split::Indices(indices.as_slice()), axis).or_raise()
}

/// `a` cut along `axis` into equal parts, or before each of the given indices.
#[pyfunction]
#[pyo3(signature = (a, /, indices_or_sections, axis = 0, *, stream = None))]
fn split(
    a: Operand,
    indices_or_sections: &Bound<'_, PyAny>,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let _ = stream;
    split_array(&a.alone(), indices_or_sections, axis).map(wrap)
}

/// The parts of `x` along `axis`, without that axis.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis = 0, stream = None))]
fn unstack(py: Python<'_>, x: Operand, axis: i64, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let x = x.alone();
    PyTuple::new(py, wrap(record_on(stream, || ops::unstack(&x, axis))?))
}

/// `a` repeated as a whole, `reps` times along each axis.
#[pyfunction]
#[pyo3(signature = (a, reps, /, *, stream = None))]
fn tile(a: Operand, reps: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::tile(&a, reps.as_slice())).map(NewArray::from)
}

/// `a` with elements moved by `shift` along `axis`, those that fall off come back at the other end.
#[pyfunction]
#[pyo3(signature = (a, shift, axis = None, *, stream = None))]
fn roll(a: Operand, shift: Ints, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::roll(&a, shift.as_slice(), axes(axis.as_ref()))).map(NewArray::from)
}

/// What was read as integers; `None` where it is something else, and an error where one is too large.
fn in_range<T>(py: Python<'_>, read: PyResult<T>) -> PyResult<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
            Err(PyOverflowError::new_err("[pad] pad_width does not fit 64 bits"))
        }
        Err(_) => Ok(None),
    }
}

/// Widths before and after every axis, from one number, a pair, or a pair an axis.
fn widths(given: &Bound<'_, PyAny>, ndim: usize) -> PyResult<Vec<(i64, i64)>> {
    if let Some(one) = in_range(given.py(), given.extract::<i64>())? {
        return Ok(vec![(one, one); ndim]);
    }
    // Room for all of a sequence is made before it is read.
    if let Ok(length) = given.len()
        && length > ndim.max(2)
    {
        return Err(PyValueError::new_err(format!(
            "[pad] got {length} widths, expected one, a pair, or a pair per axis"
        )));
    }
    if let Some(flat) = in_range(given.py(), given.extract::<Vec<i64>>())? {
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
    for pair in given.try_iter().into_iter().flatten() {
        if let Ok(length) = pair?.len()
            && length > 2
        {
            return Err(PyValueError::new_err(format!(
                "[pad] got {length} widths for an axis, expected one before and one after"
            )));
        }
    }
    let Some(pairs) = in_range(given.py(), given.extract::<Vec<Vec<i64>>>())? else {
        return Err(PyTypeError::new_err(format!(
            "[pad] pad_width: got {}, expected an integer, a pair of integers, or a pair per axis",
            given.get_type().name()?
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

/// What stands in a border, by name; `op` names the function in the error.
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

/// `a` with elements added around it.
///
/// `mode` says which: "constant" (`constant_values`), the element at the "edge", the array mirrored ("reflect" at the edge
/// element, "symmetric" beside it) or again and again ("wrap"), a "linear_ramp" to `end_values`, the "maximum", "mean",
/// "median" or "minimum" of each line (of the `stat_length` elements next to the border), or "empty": whatever.
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
    let a = a.alone();
    let mode = match pad_mode("pad", mode)? {
        PadMode::Statistic(statistic, _) => PadMode::Statistic(statistic, stat_length),
        mode => mode,
    };
    let widths = widths(pad_width, a.ndim())?;
    let value = match if mode == PadMode::LinearRamp { end_values } else { constant_values } {
        Some(value) => value.beside(&a)?,
        None => Array::scalar(0, a.dtype()),
    };
    record_on(stream, || ops::pad(&a, &widths, mode, &value)).map(NewArray::from)
}

/// Arrays with at least so many axes.
macro_rules! at_least {
    ($($name:ident $ndim:literal $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (*arys, stream = None))]
            fn $name(
                py: Python<'_>,
                arys: Vec<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<Bound<'_, PyAny>> {
                let made: Vec<Array> = record_on(stream, || {
                    arys.into_iter().map(|array| ops::atleast(&array.alone(), $ndim)).collect()
                })?;
                match <[Array; 1]>::try_from(made) {
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
    atleast_1d 1 "Arrays with at least one axis: a list, or one array for one.",
    atleast_2d 2 "Arrays with at least two axes: a list, or one array for one.",
    atleast_3d 3 "Arrays with at least three axes: a list, or one array for one.",
}

/// The elements of `a` on a diagonal of two axes.
#[pyfunction]
#[pyo3(signature = (a, offset = 0, axis1 = 0, axis2 = 1, stream = None))]
fn diagonal(
    a: Operand,
    offset: i64,
    axis1: i64,
    axis2: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::diagonal(&a, offset, axis1, axis2)).map(NewArray::from)
}

/// A matrix with all elements of `v` one after the other on its `k`-th diagonal.
#[pyfunction]
#[pyo3(signature = (v, k = 0, *, stream = None))]
fn diagflat(v: Operand, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let v = v.alone();
    record_on(stream, || ops::diagflat(&v, k)).map(NewArray::from)
}

/// `a` in dense row-major memory.
#[pyfunction]
#[pyo3(signature = (a, /, allow_col_major = false, *, stream = None))]
fn contiguous(a: Operand, allow_col_major: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let _ = allow_col_major;
    let a = a.alone();
    record_on(stream, || ops::contiguous(&a)).map(NewArray::from)
}

/// The flattened `a` seen under a shape and strides (in elements) from `offset`.
#[pyfunction]
#[pyo3(signature = (a, /, shape = None, strides = None, offset = 0, *, stream = None))]
fn as_strided(
    a: Operand,
    shape: Option<Ints>,
    strides: Option<Ints>,
    offset: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
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
