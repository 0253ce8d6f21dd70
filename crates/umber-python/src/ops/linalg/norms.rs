//! Norms and condition numbers.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::ops::linalg::{self, MatrixNorm, Order};

use super::One;
use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// `ord`: a number or a name.
enum OrderArg {
    Number(f64),
    Name(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for OrderArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.extract::<String>() {
            return Ok(OrderArg::Name(name));
        }
        match object.extract::<f64>() {
            Ok(number) => Ok(OrderArg::Number(number)),
            Err(_) => Err(PyTypeError::new_err(format!(
                "got {}, expected a number, 'fro' or 'nuc'",
                object.get_type().name()?
            ))),
        }
    }
}

impl OrderArg {
    fn order(self, op: &str) -> PyResult<Order> {
        match self {
            OrderArg::Number(p) => Ok(Order::Number(p)),
            OrderArg::Name(name) if name == "fro" || name == "f" => Ok(Order::Frobenius),
            OrderArg::Name(name) if name == "nuc" => Ok(Order::Nuclear),
            OrderArg::Name(name) => Err(PyValueError::new_err(format!(
                "[linalg.{op}] got ord '{name}', expected a number, 'fro' or 'nuc'"
            ))),
        }
    }
}

/// Norms: of vectors over one axis (`sum(|a|**ord)**(1/ord)`), of matrices over two (`ord` 'fro', 'nuc', 1, -1, 2, -2,
/// inf or -inf); without `axis` and `ord` the 2-norm of all elements.
#[pyfunction]
#[pyo3(signature = (a, /, ord = None, axis = None, keepdims = false, *, stream = None))]
fn norm(
    a: Operand,
    ord: Option<OrderArg>,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> One {
    let (a, order) = (a.alone(), ord.map(|ord| ord.order("norm")).transpose()?);
    record_on(stream, || linalg::norm(&a, order, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Norms of vectors along `axis`, several axes together, or all.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis = None, keepdims = false, ord = 2.0, stream = None))]
fn vector_norm(x: Operand, axis: Option<Ints>, keepdims: bool, ord: f64, stream: Option<StreamArg>) -> One {
    let x = x.alone();
    record_on(stream, || linalg::vector_norm(&x, ord, axes(axis.as_ref()), keep(keepdims)))
        .map(NewArray::from)
}

/// Norms of the matrices along the last two axes.
#[pyfunction]
#[pyo3(
    signature = (x, /, *, keepdims = false, ord = None, stream = None),
    text_signature = "(x, /, *, keepdims=False, ord='fro', stream=None)"
)]
fn matrix_norm(x: Operand, keepdims: bool, ord: Option<OrderArg>, stream: Option<StreamArg>) -> One {
    let (x, order) = (x.alone(), ord.map_or(Ok(Order::Frobenius), |ord| ord.order("matrix_norm"))?);
    record_on(stream, || linalg::matrix_norm(&x, order, keep(keepdims))).map(NewArray::from)
}

/// Condition numbers `norm(a, p) * norm(inv(a), p)`; by default the ratio of the greatest and the least singular value.
/// Infinite for singular matrices.
#[pyfunction]
#[pyo3(signature = (a, p = None, *, stream = None))]
fn cond(a: Operand, p: Option<OrderArg>, stream: Option<StreamArg>) -> One {
    let (a, order) = (a.alone(), p.map(|p| p.order("cond")).transpose()?);
    let norm = order.map(|order| MatrixNorm::of("cond", order)).transpose().or_raise()?;
    record_on(stream, || linalg::cond(&a, norm)).map(NewArray::from)
}

pub(super) fn register(linalg: &Bound<'_, PyModule>) -> PyResult<()> {
    linalg.add_function(wrap_pyfunction!(norm, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(vector_norm, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(matrix_norm, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(cond, linalg)?)?;
    Ok(())
}
