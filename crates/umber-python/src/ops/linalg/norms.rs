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

/// Norm of vectors over one axis, or of matrices over two.
///
/// Parameters
/// ----------
/// a : array_like
///     Real or complex input. Integers and bool are computed in float32.
/// ord : float or {'fro', 'nuc'}, optional
///     Order of the norm, see the table. Default: the 2-norm of vectors, 'fro' for matrices.
/// axis : int or sequence of int, optional
///     One axis of vectors, or the axes of the rows and columns of matrices. Default: all axes of a 1-D or 2-D array;
///     without `ord`, the 2-norm of all elements of an array of any shape.
/// keepdims : bool, optional
///     Keep the reduced axes with length 1. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real, of the shape of `a` without the reduced axes.
///
/// Raises
/// ------
/// ValueError
///     If `ord` is not a norm of vectors or matrices, there are more than two axes, an axis is given twice, or the axis
///     of a maximum or minimum is empty.
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// linalg.vector_norm, linalg.matrix_norm, linalg.cond
///
/// Notes
/// -----
/// ========  =============================  ====================================
/// ord       vectors                        matrices
/// ========  =============================  ====================================
/// 'fro'     none                           square root of the sum of squares
/// 'nuc'     none                           sum of the singular values
/// inf       max(abs(x))                    max(sum(abs(x), axis=1))
/// -inf      min(abs(x))                    min(sum(abs(x), axis=1))
/// 0         number of non-zero elements    none
/// 1, -1     sum(abs(x)**p)**(1/p)          max, min of sum(abs(x), axis=0)
/// 2, -2     sum(abs(x)**p)**(1/p)          largest, smallest singular value
/// other     sum(abs(x)**p)**(1/p)          none
/// ========  =============================  ====================================
///
/// Intermediate results do not overflow where the norm is representable. The gradient of a vector norm at zero is zero;
/// elements that tie for a maximum or minimum share its gradient.
///
/// Examples
/// --------
/// >>> a = mx.array([[3.0, -4.0], [0.0, 0.0]])
/// >>> mx.linalg.norm(a)
/// array(5, dtype=float32)
/// >>> mx.linalg.norm(a, ord=1, axis=1)
/// array([7, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, /, ord = None, axis = None, keepdims = false, *, stream = None))]
fn norm(
    a: Operand,
    ord: Option<OrderArg>,
    axis: Option<Ints>,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> One {
    let (a, order) = (a.into_array(), ord.map(|ord| ord.order("norm")).transpose()?);
    record_on(stream, || linalg::norm(&a, order, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Norm of vectors along one axis, several axes together, or all axes.
///
/// Parameters
/// ----------
/// x : array_like
///     Real or complex input. Integers and bool are computed in float32.
/// axis : int or sequence of int, optional
///     Axes of the vectors. Default: all axes.
/// keepdims : bool, optional
///     Keep the reduced axes with length 1. Default: False.
/// ord : float, optional
///     Order `p` of the norm. Default: 2.0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real: ``sum(abs(x)**p)**(1/p)``, the maximum of ``abs(x)`` for inf, its minimum for -inf, and the number of
///     non-zero elements for 0.
///
/// Raises
/// ------
/// ValueError
///     If the axes of a maximum or minimum are empty.
/// TypeError
///     If `ord` is not a number.
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// norm, matrix_norm
///
/// Notes
/// -----
/// Intermediate results do not overflow where the norm is representable. The gradient of a vector norm at zero is zero;
/// elements that tie for a maximum or minimum share its gradient.
///
/// Examples
/// --------
/// >>> mx.linalg.vector_norm(mx.array([[3.0, -4.0], [0.0, 1e30]]), axis=1)
/// array([5, 1e+30], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, /, *, axis = None, keepdims = false, ord = 2.0, stream = None))]
fn vector_norm(x: Operand, axis: Option<Ints>, keepdims: bool, ord: f64, stream: Option<StreamArg>) -> One {
    let x = x.into_array();
    record_on(stream, || linalg::vector_norm(&x, ord, axes(axis.as_ref()), keep(keepdims)))
        .map(NewArray::from)
}

/// Norm of the matrices along the last two axes.
///
/// Parameters
/// ----------
/// x : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// keepdims : bool, optional
///     Keep the reduced axes with length 1. Default: False.
/// ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
///     Order of the norm, as in `norm`. Default: 'fro'.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real, of shape ``(...)``.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes, or `ord` is not a norm of matrices.
///
/// See Also
/// --------
/// norm, vector_norm
///
/// Examples
/// --------
/// >>> x = mx.array([[1.0, -2.0], [3.0, 4.0]])
/// >>> mx.linalg.matrix_norm(x, ord=1), mx.linalg.matrix_norm(x, ord=mx.inf)
/// (array(6, dtype=float32), array(7, dtype=float32))
#[pyfunction]
#[pyo3(
    signature = (x, /, *, keepdims = false, ord = None, stream = None),
    text_signature = "(x, /, *, keepdims=False, ord='fro', stream=None)"
)]
fn matrix_norm(x: Operand, keepdims: bool, ord: Option<OrderArg>, stream: Option<StreamArg>) -> One {
    let (x, order) = (x.into_array(), ord.map_or(Ok(Order::Frobenius), |ord| ord.order("matrix_norm"))?);
    record_on(stream, || linalg::matrix_norm(&x, order, keep(keepdims))).map(NewArray::from)
}

/// Condition number of matrices: ``norm(a, p) * norm(inv(a), p)``.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``, square unless `p` is None, 2 or -2. Integers and bool are computed in
///     float32.
/// p : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
///     Order of the norm, as in `norm`. Default: 2, the ratio of the largest and the smallest singular value.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real, of shape ``(...)``. inf for singular matrices.
///
/// Raises
/// ------
/// ValueError
///     If the matrices are empty, not square where they must be, or `p` is not a norm of matrices.
///
/// See Also
/// --------
/// norm, svdvals
///
/// Notes
/// -----
/// The smallest singular value of a singular matrix may be rounded to a tiny number; the result is then very large
/// instead of inf.
///
/// Examples
/// --------
/// >>> mx.linalg.cond(mx.array([[1.0, 0.0], [0.0, 4.0]]))
/// array(4, dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, p = None, *, stream = None))]
fn cond(a: Operand, p: Option<OrderArg>, stream: Option<StreamArg>) -> One {
    let (a, order) = (a.into_array(), p.map(|p| p.order("cond")).transpose()?);
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
