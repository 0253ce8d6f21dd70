//! Elementwise functions.

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::Array;
use umber_core::ops::{self, Closeness, Side};

use crate::args::{DeviceArg, Operand, StreamArg, placed, record_on};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;
use crate::operators::{Comparand, compared};

/// Functions of one array or number: name, function, documentation in a row; `$signature` is the parameters'.
macro_rules! unary_functions {
    ($register:ident $signature:tt $($name:ident $function:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.alone();
                record_on(stream, || ops::$function(&a)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Functions of two arrays or numbers.
macro_rules! binary_functions {
    ($register:ident $signature:tt $($name:ident $function:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, b) = Operand::pair(a, b)?;
                record_on(stream, || ops::$function(&a, &b)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Comparisons of two arrays or numbers: name, comparison, documentation in a row.
macro_rules! comparisons {
    ($register:ident $signature:tt $($name:ident $op:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Comparand, b: Comparand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                compared(a, b, CompareOp::$op, stream, ops::$name)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

pub(super) use {binary_functions, unary_functions};

unary_functions! {
    register_unary (a, /, *, stream = None)
    sqrt sqrt "Square root of each element.",
    rsqrt rsqrt "One over the square root of each element.",
    reciprocal reciprocal "One over each element.",
    exp exp "`e` to the power of each element.",
    expm1 expm1 "`exp(a) - 1`, accurate near zero.",
    log log "Natural logarithm of each element.",
    log2 log2 "Logarithm to base 2 of each element.",
    log10 log10 "Logarithm to base 10 of each element.",
    log1p log1p "`log(1 + a)`, accurate near zero.",
    sin sin "Sine of each element, in radians.",
    cos cos "Cosine of each element, in radians.",
    tan tan "Tangent of each element, in radians.",
    arcsin arcsin "Inverse sine of each element, in radians.",
    arccos arccos "Inverse cosine of each element, in radians.",
    arctan arctan "Inverse tangent of each element, in radians.",
    sinh sinh "Hyperbolic sine of each element.",
    cosh cosh "Hyperbolic cosine of each element.",
    tanh tanh "Hyperbolic tangent of each element.",
    arcsinh arcsinh "Inverse hyperbolic sine of each element.",
    arccosh arccosh "Inverse hyperbolic cosine of each element.",
    arctanh arctanh "Inverse hyperbolic tangent of each element.",
    erf erf "Error function of each element.",
    erfinv erfinv "Inverse of the error function of each element.",
    sigmoid sigmoid "`1 / (1 + exp(-a))` of each element.",
    abs abs "Absolute value of each element; of a complex number its modulus.",
    negative negative "`-a`. Not defined for bool.",
    positive positive "`a` itself.",
    sign sign "-1, 0 or 1 as each element is below, at or above zero; of a complex number `a / |a|`.",
    square square "`a * a`.",
    floor floor "Largest integer not above each element.",
    ceil ceil "Smallest integer not below each element.",
    trunc trunc "Each element without its fraction.",
    logical_not logical_not "Where elements are zero.",
    real real "Real part of each element.",
    imag imag "Imaginary part of each element.",
    stop_gradient stop_gradient "The value of `a`, through which no gradient passes.",
    acos arccos "The same as `arccos`.",
    acosh arccosh "The same as `arccosh`.",
    asin arcsin "The same as `arcsin`.",
    asinh arcsinh "The same as `arcsinh`.",
    atan arctan "The same as `arctan`.",
    atanh arctanh "The same as `arctanh`.",
}

unary_functions! {
    register_unary_named (a, stream = None)
    conjugate conjugate "Complex conjugate of each element.",
    conj conjugate "Complex conjugate of each element.",
    bitwise_invert bitwise_invert "Every bit inverted; of bool, not.",
    isnan isnan "Where elements are not a number.",
    isinf isinf "Where elements are infinite.",
    isfinite isfinite "Where elements are neither infinite nor not a number.",
    isposinf isposinf "Where elements are positive infinity.",
    isneginf isneginf "Where elements are negative infinity.",
    degrees degrees "Radians to degrees.",
    radians radians "Degrees to radians.",
    rad2deg degrees "The same as `degrees`.",
    deg2rad radians "The same as `radians`.",
}

binary_functions! {
    register_binary_named (a, b, stream = None)
    add add "`a + b`, element by element with broadcasting.",
    subtract subtract "`a - b`.",
    multiply multiply "`a * b`.",
    divide divide "`a / b`; integers divide as float32.",
    floor_divide floor_divide "The quotient rounded down; zero where an integer is divided by zero.",
    remainder remainder "The remainder of `a / b`, with the sign of `b`.",
    fmod fmod "The remainder of `a / b`, with the sign of `a`.",
    bitwise_and bitwise_and "Bits set in both.",
    bitwise_or bitwise_or "Bits set in either.",
    bitwise_xor bitwise_xor "Bits set in exactly one.",
    left_shift left_shift "Bits of `a` moved up by `b`.",
    right_shift right_shift "Bits of `a` moved down by `b`.",
    bitwise_left_shift left_shift "The same as `left_shift`.",
    bitwise_right_shift right_shift "The same as `right_shift`.",
}

comparisons! {
    register_comparisons (a, b, stream = None)
    equal Eq "Where `a == b`.",
    not_equal Ne "Where `a != b`.",
    less Lt "Where `a < b`.",
    less_equal Le "Where `a <= b`.",
    greater Gt "Where `a > b`.",
    greater_equal Ge "Where `a >= b`.",
}

binary_functions! {
    register_binary (a, b, /, *, stream = None)
    power power "`a` to the power of `b`.",
    maximum maximum "The larger of `a` and `b`; not a number if either is.",
    minimum minimum "The smaller of `a` and `b`; not a number if either is.",
    logaddexp logaddexp "`log(exp(a) + exp(b))` without overflow.",
    arctan2 arctan2 "The angle of the point `(b, a)`, in radians.",
    logical_and logical_and "Where both are different from zero.",
    logical_or logical_or "Where either is different from zero.",
    logical_xor logical_xor "Where exactly one is different from zero.",
    pow power "The same as `power`.",
    atan2 arctan2 "The same as `arctan2`.",
}

/// The elements of `a` converted to `dtype`. With `copy` false an array that has that dtype is answered itself.
///
/// Python's `int`, `float` and `complex` keep the width of an array of their kind (int64 stays int64). Where the kind
/// changes they stand for int32, float32 and complex64, or for 64 bits a number where those would lose values that the dtype
/// of `a` can hold.
#[pyfunction]
#[pyo3(signature = (a, dtype, /, *, copy = true, device = None, stream = None))]
fn astype<'py>(
    a: &Bound<'py, PyAny>,
    dtype: DtypeArg,
    copy: bool,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let stream = placed("astype", stream, device)?;
    let array = a.extract::<Operand>()?.alone();
    let dtype = dtype.beside(array.dtype());
    let stays = stream.is_none_or(|StreamArg(stream)| stream.device == array.device());
    if !copy && stays && a.is_instance_of::<PyArray>() && array.dtype() == dtype {
        return Ok(a.clone());
    }
    let made = record_on(stream, || ops::astype(&array, dtype)).map(NewArray::from)?;
    let made = match stream {
        Some(StreamArg(stream)) => made.on(stream)?,
        None => made,
    };
    Ok(made.object(a.py())?.into_any())
}

/// A limit of [`clip`] beside `a`: a number beyond all that the integers of `a` can be on `side` does not limit.
fn limit(value: Option<Operand>, a: &Array, side: Side) -> PyResult<Option<Array>> {
    let Some(value) = value else { return Ok(None) };
    if let Operand::Number(number) = &value
        && number.check_fits(number.weak_dtype(a.dtype())).is_err()
        && (number.as_f64() > 0.0) == (side == Side::Right)
    {
        return Ok(None);
    }
    value.beside(a).map(Some)
}

/// `a` limited to `a_min..=a_max`; `None` does not limit, nor does a number below or above all that integers of the dtype
/// of `a` can be. `min` and `max` are the array API standard's names.
#[pyfunction]
#[pyo3(signature = (a, /, a_min = None, a_max = None, *, min = None, max = None, stream = None))]
fn clip(
    a: Operand,
    a_min: Option<Operand>,
    a_max: Option<Operand>,
    min: Option<Operand>,
    max: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    if a_min.is_some() && min.is_some() || a_max.is_some() && max.is_some() {
        return Err(PyTypeError::new_err("[clip] a limit is given under both of its names; pass only one"));
    }
    let a = a.alone();
    let (low, high) = (limit(a_min.or(min), &a, Side::Left)?, limit(a_max.or(max), &a, Side::Right)?);
    record_on(stream, || ops::clip(&a, low.as_ref(), high.as_ref())).map(NewArray::from)
}

/// `a` rounded to `decimals` places, halves to even.
#[pyfunction]
#[pyo3(signature = (a, /, decimals = 0, stream = None))]
fn round(a: Operand, decimals: i32, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::round(&a, decimals)).map(NewArray::from)
}

/// `a` with not-a-number and infinities replaced; infinities by the largest finite values unless given.
#[pyfunction]
#[pyo3(signature = (a, nan = 0.0, posinf = None, neginf = None, *, stream = None))]
fn nan_to_num(
    a: Operand,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || ops::nan_to_num(&a, nan, posinf, neginf)).map(NewArray::from)
}

/// Where `|a - b| <= atol + rtol * |b|`; infinities are close only to themselves.
#[pyfunction]
#[pyo3(signature = (a, b, /, rtol = 1e-5, atol = 1e-8, *, equal_nan = false, stream = None))]
fn isclose(
    a: Operand,
    b: Operand,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let closeness = Closeness { relative: rtol, absolute: atol, equal_nan };
    record_on(stream, || ops::isclose(&a, &b, closeness)).map(NewArray::from)
}

/// Whether all of `isclose(a, b)` hold, as a 0-d bool array.
#[pyfunction]
#[pyo3(signature = (a, b, /, rtol = 1e-5, atol = 1e-8, *, equal_nan = false, stream = None))]
fn allclose(
    a: Operand,
    b: Operand,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let closeness = Closeness { relative: rtol, absolute: atol, equal_nan };
    record_on(stream, || ops::allclose(&a, &b, closeness)).map(NewArray::from)
}

/// Whether shapes and all elements are equal, as a 0-d bool array.
#[pyfunction]
#[pyo3(signature = (a, b, equal_nan = false, stream = None))]
fn array_equal(a: Operand, b: Operand, equal_nan: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let nan = if equal_nan { ops::NanIsEqual::Yes } else { ops::NanIsEqual::No };
    record_on(stream, || ops::array_equal(&a, &b, nan)).map(NewArray::from)
}

/// Whether all elements are equal after broadcasting, as a 0-d bool array; shapes that do not broadcast are not.
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn array_equiv(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    record_on(stream, || ops::array_equiv(&a, &b)).map(NewArray::from)
}

/// A list of the quotient rounded down, and the remainder.
#[pyfunction]
#[pyo3(signature = (a, b, stream = None))]
fn divmod(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<Vec<NewArray>> {
    let (a, b) = Operand::pair(a, b)?;
    let (quotient, remainder) = record_on(stream, || ops::divmod(&a, &b))?;
    Ok(vec![quotient.into(), remainder.into()])
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_unary_named(module)?;
    register_binary_named(module)?;
    register_comparisons(module)?;
    register_binary(module)?;
    for function in [
        wrap_pyfunction!(astype, module)?,
        wrap_pyfunction!(clip, module)?,
        wrap_pyfunction!(round, module)?,
        wrap_pyfunction!(nan_to_num, module)?,
        wrap_pyfunction!(isclose, module)?,
        wrap_pyfunction!(allclose, module)?,
        wrap_pyfunction!(array_equal, module)?,
        wrap_pyfunction!(array_equiv, module)?,
        wrap_pyfunction!(divmod, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
