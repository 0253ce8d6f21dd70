//! Arrays joined as rows, columns or blocks, and cut apart again.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use umber_core::Array;
use umber_core::graph::tracing;
use umber_core::ops::{self, Blocks, ElementOrder, Split};

use super::shaping::{list, wrap};
use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::array::{noting_sizes, shape_of};
use crate::new_array::NewArray;

/// Joins of a sequence of arrays.
macro_rules! stacks {
    ($($name:ident $argument:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = ($argument, *, stream = None))]
            fn $name($argument: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let arrays = list(stringify!($name), $argument)?;
                let arrays: Vec<&Array> = arrays.iter().collect();
                record_on(stream, || ops::$name(&arrays)).map(NewArray::from)
            }
        )*

        fn register_stacks(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

stacks! {
    hstack tup "Arrays joined along the second axis, vectors along their only one.",
    vstack tup "Arrays joined along the first axis, each vector being a row.",
    dstack tup "Arrays joined along the third axis, vectors and matrices being one deep.",
    column_stack tup "Vectors as the columns of a matrix, beside matrices as they are.",
}

fn nested(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Blocks> {
    let Ok(items) = value.cast::<PyList>() else {
        return Ok(Blocks::Array(value.extract::<Operand>()?.alone()));
    };
    if depth > 64 {
        return Err(PyValueError::new_err("[block] lists are nested deeper than 64 levels"));
    }
    Ok(Blocks::List(items.iter().map(|item| nested(&item, depth + 1)).collect::<PyResult<_>>()?))
}

/// An array from nested lists of blocks: the innermost lists join along the last axis, the next along the one before.
#[pyfunction]
#[pyo3(signature = (arrays, *, stream = None))]
fn block(arrays: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let blocks = nested(arrays, 0)?;
    record_on(stream, || ops::block(&blocks)).map(NewArray::from)
}

/// A number of parts, or where to cut.
enum Cuts {
    Sections(i64),
    Indices(Ints),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Cuts {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i64>() {
            Ok(sections) => Ok(Cuts::Sections(sections)),
            Err(_) => object.extract().map(Cuts::Indices),
        }
    }
}

impl Cuts {
    fn places(&self) -> Split<'_> {
        match self {
            Cuts::Sections(count) => Split::Sections(*count),
            Cuts::Indices(indices) => Split::Indices(indices.as_slice()),
        }
    }
}

/// Cuts along one axis.
macro_rules! splits {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (ary, indices_or_sections, *, stream = None))]
            fn $name(
                ary: Operand,
                indices_or_sections: Cuts,
                stream: Option<StreamArg>,
            ) -> PyResult<Vec<NewArray>> {
                let ary = ary.alone();
                record_on(stream, || ops::$name(&ary, indices_or_sections.places())).map(wrap)
            }
        )*

        fn register_splits(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

splits! {
    hsplit "`ary` cut along its second axis (or only one) into equal parts, or before each of the given indices.",
    vsplit "`ary` cut along its first axis into equal parts, or before each of the given indices.",
    dsplit "`ary` cut along its third axis into equal parts, or before each of the given indices.",
}

/// `ary` cut along `axis` into parts whose lengths differ by one at most, or before each of the given indices.
#[pyfunction]
#[pyo3(signature = (ary, indices_or_sections, axis = 0, *, stream = None))]
fn array_split(
    ary: Operand,
    indices_or_sections: Cuts,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let ary = ary.alone();
    record_on(stream, || ops::array_split(&ary, indices_or_sections.places(), axis)).map(wrap)
}

/// Which axis runs fastest: the last one ("C") or the first one ("F").
pub(super) fn element_order(op: &str, order: &str) -> PyResult<ElementOrder> {
    match order {
        "C" => Ok(ElementOrder::RowMajor),
        "F" => Ok(ElementOrder::ColumnMajor),
        other => Err(PyValueError::new_err(format!("[{op}] got order '{other}', expected 'C' or 'F'"))),
    }
}

/// All elements along one axis: in `order` "C" the last axis runs fastest, in "F" the first.
#[pyfunction]
#[pyo3(signature = (a, order = "C", *, stream = None))]
fn ravel(a: Operand, order: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, order) = (a.alone(), element_order("ravel", order)?);
    record_on(stream, || ops::ravel(&a, order)).map(NewArray::from)
}

/// `m` with its columns in reverse order.
#[pyfunction]
#[pyo3(signature = (m, *, stream = None))]
fn fliplr(m: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.alone();
    record_on(stream, || ops::fliplr(&m)).map(NewArray::from)
}

/// `m` with its rows in reverse order.
#[pyfunction]
#[pyo3(signature = (m, *, stream = None))]
fn flipud(m: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.alone();
    record_on(stream, || ops::flipud(&m)).map(NewArray::from)
}

/// `m` turned `k` times by a right angle, from the first of `axes` towards the second.
#[pyfunction]
#[pyo3(
    signature = (m, k = 1, axes = [0, 1], *, stream = None),
    text_signature = "(m, k=1, axes=(0, 1), *, stream=None)"
)]
fn rot90(m: Operand, k: i64, axes: [i64; 2], stream: Option<StreamArg>) -> PyResult<NewArray> {
    let m = m.alone();
    record_on(stream, || ops::rot90(&m, k, axes)).map(NewArray::from)
}

/// `a` with one axis moved back until it lies before `start`.
#[pyfunction]
#[pyo3(signature = (a, axis, start = 0, *, stream = None))]
fn rollaxis(a: Operand, axis: i64, start: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::rollaxis(&a, axis, start)).map(NewArray::from)
}

/// The shape of `a`, as a tuple.
#[pyfunction]
#[pyo3(signature = (a))]
fn shape(py: Python<'_>, a: Operand) -> PyResult<Bound<'_, PyTuple>> {
    shape_of(py, &a.alone())
}

/// The number of axes of `a`.
#[pyfunction]
#[pyo3(signature = (a))]
fn ndim(a: Operand) -> usize {
    a.alone().ndim()
}

/// The number of elements of `a`, or its length along `axis` (over all of several axes).
#[pyfunction]
#[pyo3(signature = (a, axis = None))]
fn size(a: Operand, axis: Option<Ints>) -> PyResult<usize> {
    let a = a.alone();
    let Some(axis) = axis else { return Ok(noting_sizes(a).size()) };
    let axes = record_on(None, || umber_core::Axes::normalized("size", axis.as_slice(), a.ndim()))?;
    axes.iter().for_each(|&axis| tracing::note_length_read(&a, axis));
    Ok(axes.iter().map(|&axis| a.shape()[axis]).product())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_stacks(module)?;
    register_splits(module)?;
    for function in [
        wrap_pyfunction!(block, module)?,
        wrap_pyfunction!(array_split, module)?,
        wrap_pyfunction!(ravel, module)?,
        wrap_pyfunction!(fliplr, module)?,
        wrap_pyfunction!(flipud, module)?,
        wrap_pyfunction!(rot90, module)?,
        wrap_pyfunction!(rollaxis, module)?,
        wrap_pyfunction!(shape, module)?,
        wrap_pyfunction!(ndim, module)?,
        wrap_pyfunction!(size, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
