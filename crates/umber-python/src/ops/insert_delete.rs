//! Arrays with elements put in, taken out, repeated or added at the end.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use umber_core::Array;
use umber_core::ops::{self, TrimSides};

use crate::args::{Ints, Operand, StreamArg, axes, compute, record_on};
use crate::indexing::parse_one;
use crate::new_array::NewArray;

/// `arr` without the elements at `obj` (an integer, a slice, or an array of integers or bool) along `axis`, of the flattened
/// array by default. An array of indices is evaluated.
#[pyfunction]
#[pyo3(signature = (arr, obj, axis = None, *, stream = None))]
fn delete(
    py: Python<'_>,
    arr: Operand,
    obj: &Bound<'_, PyAny>,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (arr, index) = (arr.alone(), parse_one(obj)?);
    compute(py, stream, || ops::delete(&arr, &index, axis)).map(NewArray::from)
}

/// `arr` with `values` put in before the elements at `obj` (an integer, a slice, or an array of integers or bool) along
/// `axis`, of the flattened array by default. An array of indices is evaluated.
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
    let (arr, index) = (arr.alone(), parse_one(obj)?);
    let values = values.beside(&arr)?;
    compute(py, stream, || ops::insert(&arr, &index, &values, axis)).map(NewArray::from)
}

/// `values` behind the elements of `arr` along `axis`; both flattened by default.
#[pyfunction]
#[pyo3(signature = (arr, values, axis = None, *, stream = None))]
fn append(arr: Operand, values: Operand, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (arr, values) = Operand::pair(arr, values)?;
    record_on(stream, || ops::append(&arr, &values, axis)).map(NewArray::from)
}

/// `filt` without the zeros in front ("f" in `trim`) and at the back ("b") of `axis`, of all axes by default. It is evaluated.
#[pyfunction]
#[pyo3(signature = (filt, trim = "fb", axis = None, *, stream = None))]
fn trim_zeros(
    py: Python<'_>,
    filt: Operand,
    trim: &str,
    axis: Option<Ints>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let filt = filt.alone();
    let ends = match trim.to_lowercase().as_str() {
        "fb" | "bf" => TrimSides::Both,
        "f" => TrimSides::Front,
        "b" => TrimSides::Back,
        _ => {
            return Err(PyValueError::new_err(format!(
                "[trim_zeros] got trim '{trim}', expected 'fb', 'f' or 'b'"
            )));
        }
    };
    compute(py, stream, || ops::trim_zeros(&filt, ends, axes(axis.as_ref()))).map(NewArray::from)
}

/// The elements of `a` in row-major order, begun again as often as needed, in another shape.
#[pyfunction]
#[pyo3(signature = (a, new_shape, *, stream = None))]
fn resize(a: Operand, new_shape: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::resize(&a, new_shape.as_slice())).map(NewArray::from)
}

/// Each element of `array` `repeats` times along `axis` (of the flattened array by default); an array of repeats has one
/// count for each element, and is evaluated.
#[pyfunction]
#[pyo3(signature = (array, repeats, axis = None, *, stream = None))]
fn repeat(
    py: Python<'_>,
    array: Operand,
    repeats: &Bound<'_, PyAny>,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    repeated(py, &array.alone(), repeats, axis, stream)
}

/// `array` with each element repeated: `repeats` is a number, or an array with one for each element.
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
    let counts = repeats.extract::<Operand>()?.alone();
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
