//! Sorting and searching.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber::ops::{self, Side};

use crate::args::{Operand, StreamArg, on};
use crate::array::PyArray;

/// Elements in ascending order along `axis` (of the flattened array if `None`), not-a-number last; or in `descending`
/// order, not-a-number first. Always `stable`.
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn sort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let _ = stable;
    let (a, order) = (a.alone(), if descending { ops::sort_descending } else { ops::sort });
    on(stream, || order(&a, axis)).map(PyArray::from)
}

/// Indices that sort `a` along `axis` (the flattened array if `None`), as uint32; in `descending` order if asked for.
/// Always `stable`: equal elements keep their order.
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn argsort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let _ = stable;
    let (a, order) = (a.alone(), if descending { ops::argsort_descending } else { ops::argsort });
    on(stream, || order(&a, axis)).map(PyArray::from)
}

/// Elements along `axis` with the `kth` in its sorted place, none larger before it and none smaller after it.
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn partition(a: Operand, kth: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let a = a.alone();
    on(stream, || ops::partition(&a, kth, axis)).map(PyArray::from)
}

/// Indices that partition `a` along `axis` about its `kth` element, as uint32.
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn argpartition(a: Operand, kth: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let a = a.alone();
    on(stream, || ops::argpartition(&a, kth, axis)).map(PyArray::from)
}

/// The `k` largest elements along `axis` (of the flattened array if `None`), in no promised order.
#[pyfunction]
#[pyo3(signature = (a, /, k, axis = -1, *, stream = None))]
fn topk(a: Operand, k: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let a = a.alone();
    on(stream, || ops::topk(&a, k, axis)).map(PyArray::from)
}

/// Where each value would go into a sorted array of one axis: before ("left") or after ("right") equal elements.
#[pyfunction]
#[pyo3(signature = (sorted_sequence, values, /, side = "left", *, stream = None))]
fn searchsorted(
    sorted_sequence: Operand,
    values: Operand,
    side: &str,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let side = match side {
        "left" => Side::Left,
        "right" => Side::Right,
        other => {
            return Err(PyValueError::new_err(format!(
                "[searchsorted] got side '{other}', expected 'left' or 'right'"
            )));
        }
    };
    let (sorted, values) = Operand::pair(sorted_sequence, values)?;
    on(stream, || ops::searchsorted(&sorted, &values, side)).map(PyArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(sort, module)?,
        wrap_pyfunction!(argsort, module)?,
        wrap_pyfunction!(partition, module)?,
        wrap_pyfunction!(argpartition, module)?,
        wrap_pyfunction!(topk, module)?,
        wrap_pyfunction!(searchsorted, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
