//! Products of arrays.

use pyo3::prelude::*;
use umber::{Array, ops};

use crate::args::{Ints, Operand, StreamArg, on};
use crate::array::PyArray;

/// Functions of two arrays.
macro_rules! products {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, b, /, *, stream = None))]
            fn $name(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<PyArray> {
                let (a, b) = Operand::pair(a, b)?;
                on(stream, || ops::$name(&a, &b)).map(PyArray::from)
            }
        )*

        fn register_products(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

products! {
    matmul "Matrix product over the last two axes; leading axes broadcast, 1-D operands are vectors.",
    inner "Sum of products over the last axis of both.",
    outer "Products of every element of `a` with every element of `b`, both flattened.",
}

/// `alpha * (a @ b) + beta * c`.
#[pyfunction]
#[pyo3(signature = (c, a, b, /, alpha = 1.0, beta = 1.0, *, stream = None))]
fn addmm(
    c: Operand,
    a: Operand,
    b: Operand,
    alpha: f64,
    beta: f64,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let (a, b) = Operand::pair(a, b)?;
    let c = c.beside(&a)?;
    on(stream, || ops::addmm(&c, &a, &b, alpha, beta)).map(PyArray::from)
}

/// What `axes` of `tensordot` says: how many, or which of each.
#[derive(FromPyObject)]
enum DotAxes {
    Count(i64),
    Lists(Vec<Ints>),
}

/// Sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes.
#[pyfunction]
#[pyo3(signature = (a, b, /, axes = DotAxes::Count(2), *, stream = None), text_signature = "(a, b, /, axes=2, *, stream=None)")]
fn tensordot(a: Operand, b: Operand, axes: DotAxes, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let (a, b) = Operand::pair(a, b)?;
    let dot = |axes: &DotAxes| match axes {
        DotAxes::Count(count) => match usize::try_from(*count) {
            Ok(count) => ops::tensordot_count(&a, &b, count),
            Err(_) => Err(umber::Error::Value(format!("[tensordot] got {count} axes, expected 0 or more"))),
        },
        DotAxes::Lists(lists) => match &lists[..] {
            [left, right] => ops::tensordot(&a, &b, left.as_slice(), right.as_slice()),
            other => Err(umber::Error::Value(format!(
                "[tensordot] got {} lists of axes, expected one for each of two arrays",
                other.len()
            ))),
        },
    };
    on(stream, || dot(&axes)).map(PyArray::from)
}

/// Sum of products over `axis`, the first operand conjugated; other axes broadcast.
#[pyfunction]
#[pyo3(signature = (a, b, /, *, axis = -1, stream = None))]
fn vecdot(a: Operand, b: Operand, axis: i64, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let (a, b) = Operand::pair(a, b)?;
    on(stream, || ops::vecdot(&a, &b, axis)).map(PyArray::from)
}

/// Kronecker product: blocks of `b` scaled by the elements of `a`.
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn kron(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let (a, b) = Operand::pair(a, b)?;
    on(stream, || ops::kron(&a, &b)).map(PyArray::from)
}

/// Sums of products as Einstein's summation writes them: `einsum("ij,jk->ik", a, b)`.
#[pyfunction]
#[pyo3(signature = (subscripts, *operands, stream = None))]
fn einsum(subscripts: &str, operands: Vec<Operand>, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let arrays: Vec<Array> = operands.into_iter().map(Operand::alone).collect();
    let arrays: Vec<&Array> = arrays.iter().collect();
    on(stream, || ops::einsum(subscripts, &arrays)).map(PyArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_products(module)?;
    for function in [
        wrap_pyfunction!(addmm, module)?,
        wrap_pyfunction!(tensordot, module)?,
        wrap_pyfunction!(vecdot, module)?,
        wrap_pyfunction!(kron, module)?,
        wrap_pyfunction!(einsum, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
