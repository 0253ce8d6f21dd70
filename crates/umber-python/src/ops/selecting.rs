//! Choosing between arrays, and setting chosen elements.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use umber_core::ops::{self, DiagonalEnd, OutOfBounds};
use umber_core::{Array, Scalar};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::new_array::NewArray;
use crate::pytree::class_of;

/// What becomes of indices outside: `raise`, `wrap` or `clip`.
pub(super) fn mode_of(op: &str, mode: &str) -> PyResult<OutOfBounds> {
    match mode {
        "raise" => Ok(OutOfBounds::Raise),
        "wrap" => Ok(OutOfBounds::Wrap),
        "clip" => Ok(OutOfBounds::Clip),
        other => Err(PyValueError::new_err(format!(
            "[{op}] got mode '{other}', expected 'raise', 'wrap' or 'clip'"
        ))),
    }
}

/// What becomes of coordinates outside: on all axes alike, or on each of several.
pub(super) fn modes_of(op: &str, modes: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<OutOfBounds>> {
    let Some(modes) = modes else { return Ok(vec![OutOfBounds::Raise]) };
    if let Ok(mode) = modes.extract::<PyBackedStr>() {
        return Ok(vec![mode_of(op, &mode)?]);
    }
    let several = modes.extract::<Vec<PyBackedStr>>().map_err(|_| {
        let class = class_of(modes);
        PyTypeError::new_err(format!("[{op}] mode: got {class}, expected a string or a tuple of strings"))
    })?;
    several.iter().map(|mode| mode_of(op, mode)).collect()
}

/// At each place the choice of the first condition that holds there, or `default` where none does.
#[pyfunction]
#[pyo3(
    signature = (condlist, choicelist, default = None, *, stream = None),
    text_signature = "(condlist, choicelist, default=0, *, stream=None)"
)]
fn select(
    condlist: &Bound<'_, PyAny>,
    choicelist: &Bound<'_, PyAny>,
    default: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let conditions = super::shaping::list("select", condlist)?;
    let choices = super::shaping::list("select", choicelist)?;
    let default = default.unwrap_or(Operand::Number(Scalar::Int(0)));
    let default =
        choices.first().map_or_else(|| Ok(default.clone().alone()), |first| default.clone().beside(first))?;
    let conditions: Vec<&Array> = conditions.iter().collect();
    let choices: Vec<&Array> = choices.iter().collect();
    record_on(stream, || ops::select_from(&conditions, &choices, &default)).map(NewArray::from)
}

/// At each place the element of the choice whose number `a` has there. An index outside raises, begins again from the other
/// end ("wrap") or becomes the nearest one ("clip").
#[pyfunction]
#[pyo3(signature = (a, choices, mode = "raise", *, stream = None))]
fn choose(
    py: Python<'_>,
    a: Operand,
    choices: &Bound<'_, PyAny>,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, mode) = (a.alone(), mode_of("choose", mode)?);
    let choices = super::index_grids::rows("choose", choices)?;
    compute(py, stream, || ops::choose(&a, &choices.iter().collect::<Vec<_>>(), mode)).map(NewArray::from)
}

/// Set the elements of `a` at the indices `ind` of the flattened array to `v`, which begins again when it is used up.
#[pyfunction]
#[pyo3(signature = (a, ind, v, mode = "raise", *, stream = None))]
fn put(
    a: &Bound<'_, PyArray>,
    ind: Operand,
    v: Operand,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let (old, mode) = (a.get().get(), mode_of("put", mode)?);
    let (ind, v) = (ind.alone(), v.beside(&old)?);
    if mode == OutOfBounds::Raise {
        crate::indexing::evaluate_index(a.py(), [&ind])?;
    }
    let new = record_on(stream, || ops::put(&old, &ind, &v, mode))?;
    a.get().update(a.py(), new)?;
    Ok(())
}

/// Set the elements of `arr` where `mask` holds to those of `vals` one after the other, which begin again when they are
/// used up.
#[pyfunction]
#[pyo3(signature = (arr, mask, vals, *, stream = None))]
fn place(
    py: Python<'_>,
    arr: &Bound<'_, PyArray>,
    mask: Operand,
    vals: Operand,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = arr.get().get();
    let (mask, vals) = (mask.alone(), vals.beside(&old)?);
    let new = compute(py, stream, || ops::place(&old, &mask, &vals))?;
    arr.get().update(py, new)?;
    Ok(())
}

/// Set the elements of `a` where `mask` holds to those of `values` at the same place; those begin again when there are fewer.
#[pyfunction]
#[pyo3(signature = (a, mask, values, *, stream = None))]
fn putmask(
    a: &Bound<'_, PyArray>,
    mask: Operand,
    values: Operand,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = a.get().get();
    let (mask, values) = (mask.alone(), values.beside(&old)?);
    let new = record_on(stream, || ops::putmask(&old, &mask, &values))?;
    a.get().update(a.py(), new)?;
    Ok(())
}

/// Set the main diagonal of `a` to `val`, which begins again when it is used up; with `wrap` the diagonal of a tall matrix
/// begins again below, after one row without it.
#[pyfunction]
#[pyo3(signature = (a, val, wrap = false, *, stream = None))]
fn fill_diagonal(
    a: &Bound<'_, PyArray>,
    val: Operand,
    wrap: bool,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = a.get().get();
    let val = val.beside(&old)?;
    let end = if wrap { DiagonalEnd::BeginsAgain } else { DiagonalEnd::LastColumn };
    let new = record_on(stream, || ops::fill_diagonal(&old, &val, end))?;
    a.get().set(a.py(), new);
    Ok(())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(select, module)?,
        wrap_pyfunction!(choose, module)?,
        wrap_pyfunction!(put, module)?,
        wrap_pyfunction!(place, module)?,
        wrap_pyfunction!(putmask, module)?,
        wrap_pyfunction!(fill_diagonal, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
