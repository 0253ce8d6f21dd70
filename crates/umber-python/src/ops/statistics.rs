//! Weighted means, ranges, covariances and correlations.

use pyo3::prelude::*;
use umber_core::ops::{self, Covariance, Variables};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, dtype_for};
use crate::new_array::NewArray;

/// Range of the elements over axes: `max(a) - min(a)`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape; not boolean.
/// axis : int or sequence of int, optional
///     Axes to reduce. Default: all axes.
/// keepdims : bool, optional
///     Keep the reduced axes with length one. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array without the reduced axes, or with length one for them if `keepdims`. The dtype is that of `a`.
///
/// Raises
/// ------
/// TypeError
///     If `a` is boolean, or not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice, or an axis without elements is reduced.
///
/// See Also
/// --------
/// max, min, minmax
///
/// Notes
/// -----
/// NaN if any element is NaN. The difference of integers wraps around if it does not fit the dtype.
///
/// Examples
/// --------
/// >>> mx.ptp(mx.array([[1, 5], [2, 9]]), axis=1)
/// array([4, 7], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, axis = None, keepdims = false, *, stream = None))]
fn ptp(a: Operand, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::ptp(&a, axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
}

/// Weighted mean of the elements over axes: `sum(a * weights) / sum(weights)`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// axis : int or sequence of int, optional
///     Axes to reduce. Default: all axes.
/// weights : array_like, optional
///     Weights, of the shape of `a`, or of the lengths of `axis` (which must be ascending). Default: equal weights,
///     as `mean`.
/// returned : bool, optional
///     Also return the sum of the weights. Default: False.
/// keepdims : bool, optional
///     Keep the reduced axes with length one. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or tuple of array
///     Weighted mean: float32 if `a` and `weights` are integers or booleans, else their promoted dtype. ``(mean,
///     sum_of_weights)``, both of the same shape and dtype, if `returned`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice, or `weights` has another shape.
///
/// See Also
/// --------
/// mean, median
///
/// Notes
/// -----
/// Infinite or NaN where the weights add up to zero.
///
/// Examples
/// --------
/// >>> mx.average(mx.array([1.0, 4.0]), weights=mx.array([2.0, 1.0]))
/// array(2, dtype=float32)
/// >>> mx.average(mx.array([1.0, 4.0]), weights=mx.array([2.0, 1.0]), returned=True)
/// (array(2, dtype=float32), array(3, dtype=float32))
#[pyfunction]
#[pyo3(signature = (a, axis = None, weights = None, returned = false, *, keepdims = false, stream = None))]
fn average(
    py: Python<'_>,
    a: Operand,
    axis: Option<Ints>,
    weights: Option<Operand>,
    returned: bool,
    keepdims: bool,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (a, weights) = (a.into_array(), weights.map(Operand::into_array));
    let result =
        record_on(stream, || ops::average(&a, axes(axis.as_ref()), weights.as_ref(), keep(keepdims)))?;
    let mean = NewArray::from(result.mean);
    if returned {
        return Ok((mean, NewArray::from(result.weight)).into_pyobject(py)?.into_any());
    }
    Ok(mean.object(py)?.into_any())
}

fn variables(rowvar: bool) -> Variables {
    if rowvar { Variables::Rows } else { Variables::Columns }
}

/// Covariance matrix of variables.
///
/// Parameters
/// ----------
/// m : array_like
///     Observations of one variable (at most one axis) or several (a matrix).
/// y : array_like, optional
///     More variables with the same number of observations, appended to those of `m`. Default: none.
/// rowvar : bool, optional
///     Each row of a matrix is a variable and each column an observation; the other way round if False. Default:
///     True.
/// bias : bool, optional
///     Divide by the number of observations ``n`` instead of ``n - 1``. Default: False.
/// ddof : int, optional
///     Divide by ``n - ddof``; takes precedence over `bias`. Default: 1, or 0 with `bias`.
/// fweights : array_like of int, optional
///     How many times each observation occurs. Default: once.
/// aweights : array_like, optional
///     Importance of each observation. Default: equal.
/// dtype : dtype, str or type, optional
///     Dtype to compute in and of the result; float32 if it is not inexact. Default: float32 for integers and
///     booleans, else the promoted dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Symmetric matrix (Hermitian for complex numbers) of the covariances; for one variable its variance, 0-d.
///
/// Raises
/// ------
/// TypeError
///     If `fweights` is not of an integer dtype, or an argument is not convertible to an array.
/// ValueError
///     If `m` or `y` has more than two axes, the numbers of observations differ, or weights have another shape or are
///     negative. Inside `vmap` and `compile`, values of weights are not checked.
///
/// See Also
/// --------
/// corrcoef, var
///
/// Notes
/// -----
/// ``sum(w * (x - mean(x)) * conj(y - mean(y))) / (n - ddof)`` with the weights ``w = fweights * aweights`` and ``n
/// = sum(w)``. With `aweights`, `ddof` is multiplied by ``sum(w * aweights) / sum(w)``.
///
/// Examples
/// --------
/// >>> mx.cov(mx.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
/// array([[1, -1],
///        [-1, 1]], dtype=float32)
/// >>> mx.cov(mx.array([1.0, 2.0, 4.0]), ddof=0)
/// array(1.55556, dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (m, y = None, rowvar = true, bias = false, ddof = None, fweights = None, aweights = None, *,
        dtype = None, stream = None)
)]
#[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
fn cov(
    m: Operand,
    y: Option<Operand>,
    rowvar: bool,
    bias: bool,
    ddof: Option<i64>,
    fweights: Option<Operand>,
    aweights: Option<Operand>,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (m, y) = (m.into_array(), y.map(Operand::into_array));
    let (fweights, aweights) = (fweights.map(Operand::into_array), aweights.map(Operand::into_array));
    let options = Covariance {
        variables: variables(rowvar),
        ddof: ddof.unwrap_or(i64::from(!bias)),
        frequencies: fweights.as_ref(),
        weights: aweights.as_ref(),
        dtype: dtype_for(dtype, m.dtype()),
    };
    record_on(stream, || ops::cov(&m, y.as_ref(), options)).map(NewArray::from)
}

/// Pearson correlation coefficients of variables.
///
/// Parameters
/// ----------
/// x : array_like
///     Observations of one variable (at most one axis) or several (a matrix).
/// y : array_like, optional
///     More variables with the same number of observations, appended to those of `x`. Default: none.
/// rowvar : bool, optional
///     Each row of a matrix is a variable and each column an observation; the other way round if False. Default:
///     True.
/// dtype : dtype, str or type, optional
///     Dtype to compute in and of the result; float32 if it is not inexact. Default: float32 for integers and
///     booleans, else the promoted dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Symmetric matrix (Hermitian for complex numbers) of coefficients in [-1, 1]; for one variable 1, 0-d.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If `x` or `y` has more than two axes, or the numbers of observations differ.
///
/// See Also
/// --------
/// cov
///
/// Notes
/// -----
/// ``c[i, j] / sqrt(c[i, i] * c[j, j])`` with the covariance matrix ``c``. NaN for a variable that does not vary.
///
/// Examples
/// --------
/// >>> mx.corrcoef(mx.array([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
/// array([[1, -1],
///        [-1, 1]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, y = None, rowvar = true, *, dtype = None, stream = None))]
fn corrcoef(
    x: Operand,
    y: Option<Operand>,
    rowvar: bool,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, y) = (x.into_array(), y.map(Operand::into_array));
    let dtype = dtype_for(dtype, x.dtype());
    record_on(stream, || ops::corrcoef(&x, y.as_ref(), variables(rowvar), dtype)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ptp, module)?)?;
    module.add_function(wrap_pyfunction!(average, module)?)?;
    module.add_function(wrap_pyfunction!(cov, module)?)?;
    module.add_function(wrap_pyfunction!(corrcoef, module)?)
}
