//! Special functions, the parts of numbers, and what is made of elementwise functions.

use pyo3::prelude::*;
use umber_core::ops;

use super::elementwise::{binary_functions, unary_functions};
use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;

unary_functions! {
    register_unary (a, /, *, stream = None)
    exp2 exp2 "2 to the power of each element.",
    cbrt cbrt "Real cube root of each element.",
    erfc erfc "`1 - erf(a)` of each element, accurate where `erf(a)` is near one.",
    gammaln gammaln "Logarithm of the absolute value of the gamma function of each element (DLMF 5.2).",
    lgamma gammaln "The same as `gammaln`.",
    digamma digamma "Derivative of the logarithm of the gamma function of each element (DLMF 5.2).",
    i0 i0 "Modified Bessel function of the first kind of order zero (DLMF 10.25).",
    i0e i0e "`exp(-|a|) i0(a)`, which does not overflow.",
    i1 i1 "Modified Bessel function of the first kind of order one (DLMF 10.25).",
    i1e i1e "`exp(-|a|) i1(a)`, which does not overflow.",
    sinc sinc "`sin(πa) / (πa)` of each element, and 1 at zero.",
    rint rint "Each number rounded to the nearest integer, halves to even, in floating point.",
    fabs fabs "Absolute value of each element in floating point.",
    signbit signbit "Where the sign bit is set: negative numbers and -0.0.",
    spacing spacing "Distance from each element to the next number away from zero.",
    bitwise_count bitwise_count "Number of bits set in the absolute value of each integer, as uint8.",
    isreal isreal "Where the imaginary part is zero.",
    iscomplex iscomplex "Where the imaginary part is different from zero.",
}

binary_functions! {
    register_binary (a, b, /, *, stream = None)
    logaddexp2 logaddexp2 "`log2(2**a + 2**b)` without overflow.",
    hypot hypot "`sqrt(a**2 + b**2)` without overflow on the way.",
    copysign copysign "The magnitude of `a` with the sign of `b`.",
    nextafter nextafter "The next floating-point number after `a` towards `b`.",
    heaviside heaviside "0 where `a` is negative, 1 where it is positive, `b` where it is zero.",
    float_power float_power "`a` to the power of `b` in double precision.",
    fmax fmax "The larger of `a` and `b`; the other one where one is not a number.",
    fmin fmin "The smaller of `a` and `b`; the other one where one is not a number.",
    gcd gcd "Greatest common divisor of integers.",
    lcm lcm "Least common multiple of integers.",
}

/// The bytes of `a` read as another dtype; the last axis shrinks or grows with the size of an element.
///
/// Python's `int`, `float` and `complex` stand for the dtype of their kind whose real numbers are as wide as those of `a`.
/// Raises `TypeError` where there is none.
#[pyfunction]
#[pyo3(signature = (a, dtype, stream = None))]
fn view(a: Operand, dtype: DtypeArg, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    let dtype = dtype.viewing(a.dtype())?;
    record_on(stream, || ops::view(&a, dtype)).map(NewArray::from)
}

/// `x` times 2 to the power of the integer `n`, rounded once.
#[pyfunction]
#[pyo3(signature = (x, n, /, *, stream = None))]
fn ldexp(x: Operand, n: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (x, n) = (x.alone(), n.alone());
    record_on(stream, || ops::ldexp(&x, &n)).map(NewArray::from)
}

/// Mantissa and exponent: `a = mantissa * 2**exponent` with `0.5 <= abs(mantissa) < 1`, the exponent an int32.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn frexp(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray)> {
    let a = a.alone();
    let (mantissa, exponent) = record_on(stream, || ops::frexp(&a))?;
    Ok((mantissa.into(), exponent.into()))
}

/// The fraction and the whole part of each number, both with its sign.
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn modf(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray)> {
    let a = a.alone();
    let (fraction, whole) = record_on(stream, || ops::modf(&a))?;
    Ok((fraction.into(), whole.into()))
}

/// The real part of complex numbers if all imaginary parts are below `tol` times the precision of the dtype (below `tol`
/// itself if that is not above one), else `a` as it is. Complex numbers are evaluated.
#[pyfunction]
#[pyo3(signature = (a, tol = 100.0, *, stream = None))]
fn real_if_close(py: Python<'_>, a: Operand, tol: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    compute(py, stream, || ops::real_if_close(&a, tol)).map(NewArray::from)
}

/// The angle of complex numbers in radians, or degrees; of real ones 0 or π.
#[pyfunction]
#[pyo3(signature = (a, /, deg = false, *, stream = None))]
fn angle(a: Operand, deg: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    let convert = if deg { ops::degrees } else { ops::positive };
    record_on(stream, || convert(&ops::angle(&a)?)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)?;
    for function in [
        wrap_pyfunction!(view, module)?,
        wrap_pyfunction!(ldexp, module)?,
        wrap_pyfunction!(frexp, module)?,
        wrap_pyfunction!(modf, module)?,
        wrap_pyfunction!(real_if_close, module)?,
        wrap_pyfunction!(angle, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
