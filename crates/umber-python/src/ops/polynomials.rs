//! Polynomials as vectors of coefficients, the highest power first.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::ops::{self, CovarianceUnit, Powers};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::new_array::NewArray;

/// Functions of two polynomials.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a1, a2, *, stream = None))]
            fn $name(a1: Operand, a2: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, b) = Operand::pair(a1, a2)?;
                record_on(stream, || ops::$name(&a, &b)).map(NewArray::from)
            }
        )*

        fn register_arithmetic(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

arithmetic! {
    /// Sum of two polynomials.
    ///
    /// Parameters
    /// ----------
    /// a1, a2 : array_like
    ///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Coefficients in the promoted dtype, the highest power first; as many as those of the longer polynomial.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// ValueError
    ///     If coefficients have more than one axis or more than 4096 elements.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// polysub, polymul, polydiv, polyval
    ///
    /// Notes
    /// -----
    /// Leading zeros of the result are kept.
    ///
    /// Examples
    /// --------
    /// >>> mx.polyadd(mx.array([1, 2]), mx.array([5]))
    /// array([1, 7], dtype=int32)
    polyadd,
    /// Difference of two polynomials.
    ///
    /// Parameters
    /// ----------
    /// a1, a2 : array_like
    ///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Coefficients in the promoted dtype, the highest power first; as many as those of the longer polynomial.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// ValueError
    ///     If coefficients have more than one axis or more than 4096 elements.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// polyadd, polymul, polydiv, polyval
    ///
    /// Notes
    /// -----
    /// Leading zeros of the result are kept.
    ///
    /// Examples
    /// --------
    /// >>> mx.polysub(mx.array([1, 2]), mx.array([5]))
    /// array([1, -3], dtype=int32)
    polysub,
    /// Product of two polynomials: the convolution of their coefficients.
    ///
    /// Parameters
    /// ----------
    /// a1, a2 : array_like
    ///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Coefficients in the promoted dtype, the highest power first; as many as those of both together minus one.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is not convertible to an array.
    /// ValueError
    ///     If coefficients have more than one axis or more than 4096 elements, or there are none.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// polyadd, polysub, polydiv, polyval
    ///
    /// Examples
    /// --------
    /// >>> mx.polymul(mx.array([1, 1]), mx.array([1, -1]))
    /// array([1, 0, -1], dtype=int32)
    polymul,
}

/// Evaluate a polynomial at given points.
///
/// Parameters
/// ----------
/// p : array_like
///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
/// x : array_like
///     Points of any shape.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Values of the shape of `x`, in the promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If coefficients have more than one axis or more than 4096 elements.
/// OverflowError
///     If a Python integer does not fit the dtype of the other operand.
///
/// See Also
/// --------
/// polyfit, roots, polyder
///
/// Notes
/// -----
/// ``p[0] * x**(n - 1) + ... + p[n - 1]``, by Horner's rule; zero without coefficients. float16 and bfloat16 are
/// computed in float32.
///
/// Examples
/// --------
/// >>> mx.polyval(mx.array([1.0, 0.0, -2.0]), mx.array([0.0, 3.0]))
/// array([-2, 7], dtype=float32)
#[pyfunction]
#[pyo3(signature = (p, x, *, stream = None))]
fn polyval(p: Operand, x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.into_array();
    let x = x.promote_with(&p)?;
    record_on(stream, || ops::polyval(&p, &x)).map(NewArray::from)
}

/// Derivative of a polynomial.
///
/// Parameters
/// ----------
/// p : array_like
///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
/// m : int, optional
///     How many times to differentiate. Default: 1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Coefficients in the dtype of `p`, fewer by `m`; none if there are no more than `m`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If coefficients have more than one axis or more than 4096 elements, or `m` is negative.
///
/// See Also
/// --------
/// polyint, polyval
///
/// Examples
/// --------
/// >>> mx.polyder(mx.array([1, 1, 1]))
/// array([2, 1], dtype=int32)
#[pyfunction]
#[pyo3(signature = (p, m = 1, *, stream = None))]
fn polyder(p: Operand, m: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.into_array();
    record_on(stream, || ops::polyder(&p, m)).map(NewArray::from)
}

/// Integral of a polynomial.
///
/// Parameters
/// ----------
/// p : array_like
///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
/// m : int, optional
///     How many times to integrate, at most 4096. Default: 1.
/// k : array_like, optional
///     Constants of integration: one for all integrals, or at least `m`, the one of the first integral first.
///     Default: zero.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Coefficients, more by `m`; float32 if `p` and `k` are integers or booleans, else their promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If coefficients have more than one axis or more than 4096 elements, `m` is negative or too large, or there
///     are too few constants.
/// OverflowError
///     If a Python integer does not fit the dtype of the other operand.
///
/// See Also
/// --------
/// polyder, polyval
///
/// Examples
/// --------
/// >>> mx.polyint(mx.array([2.0, 1.0]))
/// array([1, 1, 0], dtype=float32)
/// >>> mx.polyint(mx.array([2.0, 1.0]), k=5)
/// array([1, 1, 5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (p, m = 1, k = None, *, stream = None))]
fn polyint(p: Operand, m: i64, k: Option<Operand>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.into_array();
    let k = k.map(|k| k.promote_with(&p)).transpose()?;
    record_on(stream, || ops::polyint(&p, m, k.as_ref())).map(NewArray::from)
}

/// Least-squares fit of a polynomial to points.
///
/// Parameters
/// ----------
/// x : array_like
///     Real abscissas: a vector of at least one element.
/// y : array_like
///     Real ordinates, one for each abscissa; with a second axis, each column is fitted.
/// deg : int
///     Degree of the polynomial, 0 to 4095.
/// rcond : float, optional
///     Singular values of the scaled Vandermonde matrix up to `rcond` times the largest one count as zero. Default:
///     the number of points times the machine epsilon of the dtype of `x`.
/// full : bool, optional
///     Also return diagnostics of the solution; takes precedence over `cov`. Default: False.
/// w : array_like, optional
///     Weights of the points, of the shape of `x`. Default: equal.
/// cov : bool or str, optional
///     Also return the covariance matrix of the coefficients, scaled by the variance of the residuals; with
///     ``"unscaled"`` not scaled, for weights that are reciprocal standard deviations of `y`. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or tuple
///     Coefficients, the highest power first, along the first axis: float32 for integers, else the promoted dtype.
///     ``(coefficients, residuals, rank, singular_values, rcond)`` if `full`; ``(coefficients, covariance)`` if
///     `cov`, with a last axis for the columns of `y`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is complex or not convertible to an array, or `cov` is neither a bool nor a string.
/// ValueError
///     If the degree is out of range, shapes do not match, `cov` is another string than ``"unscaled"``, or the
///     covariance is requested for no more points than coefficients.
///
/// See Also
/// --------
/// polyval, vander, linalg.lstsq
///
/// Notes
/// -----
/// Minimises ``sum(w**2 * (y - p(x))**2)``, in double precision. Without `rcond` and `full`, coefficients of powers
/// that the points do not distinguish from lower ones are zero; with either, the fit with the smallest coefficients
/// is chosen.
///
/// Examples
/// --------
/// >>> x, y = mx.array([0.0, 1.0, 2.0, 3.0]), mx.array([1.0, 3.0, 5.0, 7.5])
/// >>> mx.polyfit(x, y, 1)
/// array([2.15, 0.9], dtype=float32)
/// >>> mx.polyfit(x, y, 1, cov=True)[1]
/// array([[0.0075, -0.01125],
///        [-0.01125, 0.02625]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (x, y, deg, rcond = None, full = false, w = None, cov = CovArg(None), *, stream = None),
    text_signature = "(x, y, deg, rcond=None, full=False, w=None, cov=False, *, stream=None)"
)]
#[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
fn polyfit(
    py: Python<'_>,
    x: Operand,
    y: Operand,
    deg: i64,
    rcond: Option<f64>,
    full: bool,
    w: Option<Operand>,
    cov: CovArg,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let (x, y, w) = (x.into_array(), y.into_array(), w.map(Operand::into_array));
    let w = w.as_ref();
    let coefficients = if full || rcond.is_some() {
        let fit = compute(py, stream, || ops::polyfit_full(&x, &y, deg, w, rcond))?;
        if full {
            let arrays = [fit.coefficients, fit.residuals, fit.rank, fit.values].map(NewArray::from);
            let [p, residuals, rank, values] = arrays;
            return Ok((p, residuals, rank, values, fit.tolerance).into_pyobject(py)?.into_any());
        }
        fit.coefficients
    } else {
        record_on(stream, || ops::polyfit(&x, &y, deg, w))?
    };
    let coefficients = NewArray::from(coefficients);
    let Some(unit) = cov.0 else { return Ok(coefficients.object(py)?.into_any()) };
    let covariances = record_on(stream, || ops::polyfit_covariance(&x, &y, deg, w, unit))?;
    Ok((coefficients, NewArray::from(covariances)).into_pyobject(py)?.into_any())
}

/// `cov`: a bool, or "unscaled".
struct CovArg(Option<CovarianceUnit>);

impl<'a, 'py> FromPyObject<'a, 'py> for CovArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(is_requested) = object.extract::<bool>() {
            return Ok(CovArg(is_requested.then_some(CovarianceUnit::Residuals)));
        }
        match object.extract::<&str>() {
            Ok("unscaled") => Ok(CovArg(Some(CovarianceUnit::Weights))),
            Ok(other) => {
                Err(PyValueError::new_err(format!("got '{other}', expected True, False or 'unscaled'")))
            }
            Err(_) => Err(PyTypeError::new_err(format!(
                "got {}, expected True, False or 'unscaled'",
                object.get_type().name()?
            ))),
        }
    }
}

/// Quotient and remainder of two polynomials: `u = quotient * v + remainder`.
///
/// Parameters
/// ----------
/// u : array_like
///     Dividend: at least one coefficient, at most 4096, the highest power first.
/// v : array_like
///     Divisor: likewise, with a nonzero first coefficient.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// quotient : array
///     Coefficients; float32 for integers, else the promoted dtype.
/// remainder : array
///     Coefficients of the same dtype, without leading coefficients of at most 1e-8.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If coefficients have more than one axis, or there are none or more than 4096; inside `vmap` and `compile`,
///     as values decide the length of the remainder.
/// OverflowError
///     If a Python integer does not fit the dtype of the other operand.
///
/// See Also
/// --------
/// polymul, polyval
///
/// Notes
/// -----
/// The remainder is evaluated. A zero first coefficient of `v` gives infinities and NaN.
///
/// Examples
/// --------
/// >>> mx.polydiv(mx.array([3.0, 5.0, 2.0]), mx.array([2.0, 1.0]))
/// (array([1.5, 1.75], dtype=float32), array([0.25], dtype=float32))
#[pyfunction]
#[pyo3(signature = (u, v, *, stream = None))]
fn polydiv(
    py: Python<'_>,
    u: Operand,
    v: Operand,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray)> {
    let (u, v) = Operand::pair(u, v)?;
    let (quotient, remainder) = compute(py, stream, || ops::polydiv(&u, &v))?;
    Ok((quotient.into(), remainder.into()))
}

/// Roots of a polynomial.
///
/// Parameters
/// ----------
/// p : array_like
///     Coefficients with at most one axis and at most 4096 elements, the highest power first.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Complex roots: complex128 for float64 and complex128, else complex64.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If coefficients have more than one axis or more than 4096 elements; inside `vmap` and `compile`, as values
///     decide the number of roots.
///
/// See Also
/// --------
/// poly, polyval
///
/// Notes
/// -----
/// The eigenvalues of the companion matrix, computed in double precision. Leading zeros are removed, for which `p`
/// is evaluated; trailing zeros are roots at zero.
///
/// Examples
/// --------
/// >>> mx.roots(mx.array([1.0, -3.0, 2.0]))
/// array([2+0j, 1+0j], dtype=complex64)
#[pyfunction]
#[pyo3(signature = (p, *, stream = None))]
fn roots(py: Python<'_>, p: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.into_array();
    compute(py, stream, || ops::roots(&p)).map(NewArray::from)
}

/// Coefficients of the polynomial with given roots, or the characteristic polynomial of a matrix.
///
/// Parameters
/// ----------
/// seq_of_zeros : array_like
///     At most 4095 roots, or a square matrix of at most 4095 rows, whose eigenvalues are the roots.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Coefficients, the highest power first, the first one being one: float32 for integers, else the dtype of the
///     input.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If the input is neither a vector nor a square matrix, or too large.
///
/// See Also
/// --------
/// roots, polyval
///
/// Notes
/// -----
/// Computed in double precision.
///
/// Examples
/// --------
/// >>> mx.poly(mx.array([1.0, 2.0]))
/// array([1, -3, 2], dtype=float32)
/// >>> mx.poly(mx.array([[2, 0], [0, 3]]))
/// array([1, -5, 6], dtype=float32)
#[pyfunction]
#[pyo3(signature = (seq_of_zeros, *, stream = None))]
fn poly(seq_of_zeros: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let zeros = seq_of_zeros.into_array();
    record_on(stream, || ops::poly(&zeros)).map(NewArray::from)
}

/// Vandermonde matrix: powers of the elements of a vector.
///
/// Parameters
/// ----------
/// x : array_like
///     Input with one axis.
/// N : int, optional
///     Number of columns. Default: the length of `x`.
/// increasing : bool, optional
///     Powers from 0 to ``N - 1``; otherwise from ``N - 1`` to 0. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Matrix of shape ``(len(x), N)`` with the powers of ``x[i]`` in row ``i``; int32 for booleans, else the dtype
///     of `x`.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// ValueError
///     If `x` has not one axis, or `N` is negative.
///
/// See Also
/// --------
/// polyfit, polyval
///
/// Examples
/// --------
/// >>> mx.vander(mx.array([2, 3]), 3)
/// array([[4, 2, 1],
///        [9, 3, 1]], dtype=int32)
/// >>> mx.vander(mx.array([2, 3]), 3, increasing=True)
/// array([[1, 2, 4],
///        [1, 3, 9]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, N = None, increasing = false, *, stream = None))]
#[expect(non_snake_case, reason = "the argument's public name")]
fn vander(x: Operand, N: Option<i64>, increasing: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.into_array();
    let powers = if increasing { Powers::Rising } else { Powers::Falling };
    record_on(stream, || ops::vander(&x, N, powers)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_arithmetic(module)?;
    module.add_function(wrap_pyfunction!(polyval, module)?)?;
    module.add_function(wrap_pyfunction!(polyder, module)?)?;
    module.add_function(wrap_pyfunction!(polyint, module)?)?;
    module.add_function(wrap_pyfunction!(polyfit, module)?)?;
    module.add_function(wrap_pyfunction!(polydiv, module)?)?;
    module.add_function(wrap_pyfunction!(roots, module)?)?;
    module.add_function(wrap_pyfunction!(poly, module)?)?;
    module.add_function(wrap_pyfunction!(vander, module)?)
}
