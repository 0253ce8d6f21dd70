//! Functions that take index arrays.

use pyo3::prelude::*;
use umber_core::ops;

use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::new_array::NewArray;
use crate::ops::selecting::mode_of;

/// Elements of `a` at `indices` along `axis` (of the flattened array by default).
///
/// `mode` says what becomes of indices outside: "raise", "wrap" or "clip"; negative ones are outside but for "raise".
#[pyfunction]
#[pyo3(signature = (a, /, indices, axis = None, *, mode = "raise", stream = None))]
fn take(
    a: Operand,
    indices: Operand,
    axis: Option<i64>,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices, mode) = (a.alone(), indices.alone(), mode_of("take", mode)?);
    record_on(stream, || ops::take_within(&a, &indices, axis, mode)).map(NewArray::from)
}

/// Elements of `a` at `indices` along `axis` (of the flattened array if `None`), other axes matched one to one.
#[pyfunction]
#[pyo3(signature = (a, /, indices, axis = -1, *, stream = None))]
fn take_along_axis(
    a: Operand,
    indices: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices) = (a.alone(), indices.alone());
    record_on(stream, || ops::take_along_axis(&a, &indices, axis)).map(NewArray::from)
}

/// `a` with `values` put at `indices` along `axis` (of the flattened array if `None`).
#[pyfunction]
#[pyo3(signature = (a, /, indices, values, axis = None, *, stream = None))]
fn put_along_axis(
    a: Operand,
    indices: Operand,
    values: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, indices) = (a.alone(), indices.alone());
    let values = values.beside(&a)?;
    record_on(stream, || ops::put_along_axis(&a, &indices, &values, axis)).map(NewArray::from)
}

/// The part of `a` of lengths `slice_size` from `start_indices` along `axes`.
#[pyfunction]
#[pyo3(signature = (a, start_indices, axes, slice_size, *, stream = None))]
fn slice(
    a: Operand,
    start_indices: Operand,
    axes: Ints,
    slice_size: Ints,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, start) = (a.alone(), start_indices.alone());
    record_on(stream, || ops::dynamic_slice(&a, &start, axes.as_slice(), slice_size.as_slice()))
        .map(NewArray::from)
}

/// `a` with `update` in place of the part from `start_indices` along `axes`.
#[pyfunction]
#[pyo3(signature = (a, update, start_indices, axes, *, stream = None))]
fn slice_update(
    a: Operand,
    update: Operand,
    start_indices: Operand,
    axes: Ints,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, start) = (a.alone(), start_indices.alone());
    let update = update.beside(&a)?;
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
