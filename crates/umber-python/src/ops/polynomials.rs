//! Polynomials as vectors of coefficients, the highest power first.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::ops::{self, CovarianceUnit, Powers};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::new_array::NewArray;

/// Functions of two polynomials.
macro_rules! arithmetic {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Polynomials are vectors of coefficients, the highest power first.
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
    polyadd "Sum of two polynomials.",
    polysub "Difference of two polynomials.",
    polymul "Product of two polynomials.",
}

/// Values of the polynomial with coefficients `p`, the highest power first, at every element of `x`.
#[pyfunction]
#[pyo3(signature = (p, x, *, stream = None))]
fn polyval(p: Operand, x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.alone();
    let x = x.beside(&p)?;
    record_on(stream, || ops::polyval(&p, &x)).map(NewArray::from)
}

/// Derivative of the polynomial with coefficients `p`, taken `m` times.
#[pyfunction]
#[pyo3(signature = (p, m = 1, *, stream = None))]
fn polyder(p: Operand, m: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.alone();
    record_on(stream, || ops::polyder(&p, m)).map(NewArray::from)
}

/// Integral of the polynomial with coefficients `p`, taken `m` times. `k` are the values at zero, one for all or one for
/// each, the first integral's first; zero by default. Integers answer float32.
#[pyfunction]
#[pyo3(signature = (p, m = 1, k = None, *, stream = None))]
fn polyint(p: Operand, m: i64, k: Option<Operand>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.alone();
    let k = k.map(|k| k.beside(&p)).transpose()?;
    record_on(stream, || ops::polyint(&p, m, k.as_ref())).map(NewArray::from)
}

/// Coefficients of the polynomial of degree `deg` that lies closest to the points `(x, y)`, the highest power first.
///
/// `sum(w**2 * (y - p(x))**2)` is least. `y` may have several columns, each with its polynomial in a column of the
/// result. Computed in double precision; integers answer float32.
///
/// Singular values of the powers of `x` up to `rcond` times the greatest count as zero. With `full` the answer is
/// (coefficients, residuals, rank, singular values, rcond); with `cov` it is (coefficients, covariances), in the unit of
/// the residuals, or for "unscaled" of the weights.
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
    let (x, y, w) = (x.alone(), y.alone(), w.map(Operand::alone));
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
        if let Ok(is_wanted) = object.extract::<bool>() {
            return Ok(CovArg(is_wanted.then_some(CovarianceUnit::Residuals)));
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

/// Quotient and remainder of two polynomials: (quotient, remainder), the latter without coefficients in front that are
/// nearly zero, for which it is evaluated. Integers answer float32.
#[pyfunction]
#[pyo3(signature = (u, v, *, stream = None))]
fn polydiv(
    py: Python<'_>,
    u: Operand,
    v: Operand,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray)> {
    let (u, v) = Operand::pair(u, v)?;
    let (quotient, rest) = compute(py, stream, || ops::polydiv(&u, &v))?;
    Ok((quotient.into(), rest.into()))
}

/// The roots of the polynomial with coefficients `p`, the highest power first: complex64, or complex128 of float64.
///
/// The eigenvalues of its companion matrix, computed in double precision. `p` is evaluated, since leading zeros do not count.
#[pyfunction]
#[pyo3(signature = (p, *, stream = None))]
fn roots(py: Python<'_>, p: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let p = p.alone();
    compute(py, stream, || ops::roots(&p)).map(NewArray::from)
}

/// Coefficients of the polynomial with these roots, or with the eigenvalues of a square matrix as roots; the first is one.
/// Integers answer float32.
#[pyfunction]
#[pyo3(signature = (seq_of_zeros, *, stream = None))]
fn poly(seq_of_zeros: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let zeros = seq_of_zeros.alone();
    record_on(stream, || ops::poly(&zeros)).map(NewArray::from)
}

/// Powers of the elements of a vector, those of `x[i]` in row `i`: `N` of them, falling unless `increasing`.
#[pyfunction]
#[pyo3(signature = (x, N = None, increasing = false, *, stream = None))]
#[expect(non_snake_case, reason = "the argument's public name")]
fn vander(x: Operand, N: Option<i64>, increasing: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let x = x.alone();
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
