//! Sorting and searching.

use pyo3::prelude::*;
use umber_core::ops::{self, SortOrder};

use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

/// Which elements come first.
fn order(descending: bool) -> SortOrder {
    if descending { SortOrder::Descending } else { SortOrder::Ascending }
}

/// Elements in order along `axis` (of the flattened array if `None`); not-a-number last, also with `descending`.
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn sort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // Every order is stable.
    let _ = stable;
    let a = a.alone();
    record_on(stream, || ops::sort(&a, axis, order(descending))).map(NewArray::from)
}

/// Indices that sort `a` along `axis` (the flattened array if `None`), as uint32; equal elements keep their order.
#[pyfunction]
#[pyo3(signature = (a, /, axis = -1, *, descending = false, stable = true, stream = None))]
fn argsort(
    a: Operand,
    axis: Option<i64>,
    descending: bool,
    stable: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    // Every order is stable.
    let _ = stable;
    let a = a.alone();
    record_on(stream, || ops::argsort(&a, axis, order(descending))).map(NewArray::from)
}

/// Elements along `axis` with the `kth` in its sorted place, none larger before it and none smaller after it.
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn partition(a: Operand, kth: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::partition(&a, kth, axis)).map(NewArray::from)
}

/// Indices that partition `a` along `axis` about its `kth` element, as uint32.
#[pyfunction]
#[pyo3(signature = (a, /, kth, axis = -1, *, stream = None))]
fn argpartition(a: Operand, kth: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::argpartition(&a, kth, axis)).map(NewArray::from)
}

/// The `k` largest elements along `axis` (of the flattened array if `None`), in ascending order.
#[pyfunction]
#[pyo3(signature = (a, /, k, axis = -1, *, stream = None))]
fn topk(a: Operand, k: i64, axis: Option<i64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::topk(&a, k, axis)).map(NewArray::from)
}

/// The indices, uint32, that sort by several keys along `axis`: by the last one, where it is equal by the one before it.
///
/// `keys` is a sequence of arrays of one shape, or an array whose first axis it is.
#[pyfunction]
#[pyo3(signature = (keys, axis = -1, *, stream = None))]
fn lexsort(keys: &Bound<'_, PyAny>, axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let keys = super::index_grids::rows("lexsort", keys)?;
    record_on(stream, || ops::lexsort(&keys.iter().collect::<Vec<_>>(), axis)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(sort, module)?,
        wrap_pyfunction!(argsort, module)?,
        wrap_pyfunction!(partition, module)?,
        wrap_pyfunction!(argpartition, module)?,
        wrap_pyfunction!(topk, module)?,
        wrap_pyfunction!(lexsort, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
