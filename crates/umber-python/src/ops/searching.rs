//! Searching: where something holds, and where values go.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::ops::{self, Side};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::new_array::NewArray;

/// Arrays as a tuple.
pub(super) fn tuple(py: Python<'_>, arrays: Vec<Array>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, arrays.into_iter().map(NewArray::from))
}

/// The indices of the elements that are not zero: a tuple of an uint32 array for each axis, in row-major order.
///
/// `a` is evaluated, since its values decide the shape; inside `vmap` and `compile` that raises ValueError.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn nonzero(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let a = a.alone();
    tuple(py, compute(py, stream, || ops::nonzero(&a))?)
}

/// The indices, uint32, of the elements of the flattened array that are not zero. `a` is evaluated.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn flatnonzero(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    compute(py, stream, || ops::flatnonzero(&a)).map(NewArray::from)
}

/// The indices of the elements that are not zero, a row of uint32 for each. `a` is evaluated.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn argwhere(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    compute(py, stream, || ops::argwhere(&a)).map(NewArray::from)
}

/// Elements of `x` where `condition` is not zero, else of `y`. Of `condition` alone the same as `nonzero`.
#[pyfunction(name = "where")]
#[pyo3(signature = (condition, x = None, y = None, /, *, stream = None))]
fn select(
    py: Python<'_>,
    condition: Operand,
    x: Option<Operand>,
    y: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (x, y) = match (x, y) {
        (Some(x), Some(y)) => Operand::pair(x, y)?,
        (None, None) => return nonzero(py, condition, stream).map(Bound::into_any),
        _ => return Err(PyTypeError::new_err("[where] x and y must be given together")),
    };
    let condition = condition.alone();
    let picked = record_on(stream, || ops::select(&condition, &x, &y))?;
    Ok(NewArray::from(picked).object(py)?.into_any())
}

/// The elements of the flattened `arr` where the flattened `condition` is not zero. `condition` is evaluated.
#[pyfunction]
#[pyo3(signature = (condition, arr, *, stream = None))]
fn extract(
    py: Python<'_>,
    condition: Operand,
    arr: Operand,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (condition, arr) = (condition.alone(), arr.alone());
    compute(py, stream, || ops::extract(&condition, &arr)).map(NewArray::from)
}

/// The parts of `a` along `axis` (elements of the flattened array by default) where `condition`, of one axis and perhaps
/// shorter, is not zero. `condition` is evaluated.
#[pyfunction]
#[pyo3(signature = (condition, a, axis = None, *, stream = None))]
fn compress(
    py: Python<'_>,
    condition: Operand,
    a: Operand,
    axis: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (condition, a) = (condition.alone(), a.alone());
    compute(py, stream, || ops::compress(&condition, &a, axis)).map(NewArray::from)
}

/// Where each value would go into a sorted array of one axis, as uint32: before ("left") or after ("right") equal elements.
///
/// Not-a-number is greater than every number. `sorter` holds the indices that bring the array in order, if it is not.
#[pyfunction]
#[pyo3(signature = (sorted_sequence, values, /, side = "left", sorter = None, *, stream = None))]
fn searchsorted(
    sorted_sequence: Operand,
    values: Operand,
    side: &str,
    sorter: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    insertion_points(sorted_sequence, values, side, sorter, stream)
}

/// [`searchsorted`], which arrays have as a method, too.
pub(super) fn insertion_points(
    sorted: Operand,
    values: Operand,
    side: &str,
    sorter: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let side = Side::ALL.iter().find(|known| known.name() == side).ok_or_else(|| {
        PyValueError::new_err(format!("[searchsorted] got side '{side}', expected 'left' or 'right'"))
    })?;
    let (sorted, values) = Operand::compared(sorted, values)?;
    let sorter = sorter.map(Operand::alone);
    record_on(stream, || ops::searchsorted(&sorted, &values, *side, sorter.as_ref())).map(NewArray::from)
}

/// Which of the intervals between `bins`, rising or falling, each element of `x` lies in, as uint32.
///
/// `i` where `bins[i-1] <= x < bins[i]`, or with `right` where `bins[i-1] < x <= bins[i]`.
#[pyfunction]
#[pyo3(signature = (x, bins, right = false, *, stream = None))]
fn digitize(
    py: Python<'_>,
    x: Operand,
    bins: Operand,
    right: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, bins) = Operand::compared(x, bins)?;
    let closed = if right { Side::Right } else { Side::Left };
    compute(py, stream, || ops::digitize(&x, &bins, closed)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(nonzero, module)?,
        wrap_pyfunction!(flatnonzero, module)?,
        wrap_pyfunction!(argwhere, module)?,
        wrap_pyfunction!(select, module)?,
        wrap_pyfunction!(extract, module)?,
        wrap_pyfunction!(compress, module)?,
        wrap_pyfunction!(searchsorted, module)?,
        wrap_pyfunction!(digitize, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
