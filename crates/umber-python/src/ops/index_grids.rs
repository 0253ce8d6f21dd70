//! Index arrays from shapes, and between places and coordinates.

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

/// A sequence of arrays, or the parts of one array along its first axis.
pub(super) fn rows(op: &str, arrays: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    match arrays.cast::<PyArray>() {
        Ok(array) => ops::unstack(&array.get().get(), 0).or_raise(),
        Err(_) => super::shaping::list(op, arrays),
    }
}

/// Index arrays of triangles.
macro_rules! triangles {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
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
    tril_indices "Row and column indices, uint32, of the elements on or below diagonal `k` of an `n` by `m` (by default `n`) matrix.",
    triu_indices "Row and column indices, uint32, of the elements on or above diagonal `k` of an `n` by `m` (by default `n`) matrix.",
}

/// The indices, uint32, of the main diagonal of an array with `ndim` axes of length `n`: a tuple of an array for each.
#[pyfunction]
#[pyo3(signature = (n, ndim = 2, *, stream = None))]
fn diag_indices(
    py: Python<'_>,
    n: i64,
    ndim: usize,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyTuple>> {
    if ndim > 64 {
        return Err(PyValueError::new_err(format!(
            "[diag_indices] {ndim} axes are too many; the maximum is 64"
        )));
    }
    tuple(py, compute(py, stream, || ops::diag_indices(n, ndim))?)
}

/// The coordinates of every element of an array of shape `dimensions`: stacked along a new first axis, or with `sparse` a
/// tuple of arrays with lengths of one along the other axes. The dtype is int32 unless one is given.
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
    let along = compute(py, stream, || ops::indices(&shape, dtype, kind))?;
    if sparse {
        return Ok(tuple(py, along)?.into_any());
    }
    let stacked = if along.is_empty() {
        Array::full([0].into(), 0, dtype)
    } else {
        compute(py, stream, || ops::stack(&along.iter().collect::<Vec<_>>(), 0))?
    };
    Ok(NewArray::from(stacked).object(py)?.into_any())
}

/// Index arrays that pick the rectangle of the given rows, columns, …: each runs along an axis of its own. A bool array picks
/// where it is true, and is evaluated.
#[pyfunction]
#[pyo3(signature = (*args, stream = None))]
fn ix_(py: Python<'_>, args: Vec<Operand>, stream: Option<StreamArg>) -> PyResult<Bound<'_, PyTuple>> {
    let arrays: Vec<Array> = args.into_iter().map(Operand::alone).collect();
    tuple(py, compute(py, stream, || ops::ix_(&arrays.iter().collect::<Vec<_>>()))?)
}

/// Does an array's first axis run fastest in the order of that name?
fn first_runs_fastest(op: &str, order: &str) -> PyResult<bool> {
    match order {
        "C" => Ok(false),
        "F" => Ok(true),
        other => Err(PyValueError::new_err(format!("[{op}] order: got '{other}', expected 'C' or 'F'"))),
    }
}

/// The lengths in the other order.
fn reversed_shape(shape: &Shape) -> Shape {
    shape.iter().rev().copied().collect()
}

/// The coordinates, a tuple of an uint32 array for each axis, of places in the flattened array of a shape; in `order` "F"
/// it was flattened with the first axis running fastest.
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
    let indices = indices.alone();
    if !first_runs_fastest("unravel_index", order)? {
        return tuple(py, compute(py, stream, || ops::unravel_index(&indices, &shape))?);
    }
    let mut found = compute(py, stream, || ops::unravel_index(&indices, &reversed_shape(&shape)))?;
    found.reverse();
    tuple(py, found)
}

/// The places, uint32, in the flattened array of shape `dims` of the elements with these coordinates, an array for each axis.
/// One outside raises, begins again from the other end ("wrap") or becomes the nearest one ("clip"): as `mode` says, one
/// for all axes or a tuple with one for each. In `order` "F" the first axis runs fastest.
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
    let along = rows("ravel_multi_index", multi_index)?;
    let mut modes = super::selecting::modes_of("ravel_multi_index", mode)?;
    let mut along: Vec<&Array> = along.iter().collect();
    let shape = if first_runs_fastest("ravel_multi_index", order)? {
        along.reverse();
        modes.reverse();
        reversed_shape(&shape)
    } else {
        shape
    };
    compute(py, stream, || ops::ravel_multi_index(&along, &shape, &modes)).map(NewArray::from)
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
