//! Windows, and numbers spaced evenly on a logarithmic scale.

use pyo3::prelude::*;
use umber_core::types::shape::normalize_axis;
use umber_core::{Scalar, ops};

use super::creation::{Ends, end_of_line, exact, spaced_dtype, with_axes};
use crate::args::{StreamArg, compute, record_on};
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;

/// Windows of a length.
macro_rules! windows {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See F. J. Harris, On the Use of
            /// Windows for Harmonic Analysis with the Discrete Fourier Transform, 1978.
            #[pyfunction]
            #[pyo3(signature = (M, *, stream = None))]
            #[expect(non_snake_case, reason = "the argument's public name")]
            fn $name(M: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
                record_on(stream, || ops::$name(M)).map(NewArray::from)
            }
        )*

        fn register_windows(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

windows! {
    bartlett "The triangle from 0 to 1 and back: `1 - |2n / (M - 1) - 1|`.",
    blackman "The Blackman window: `0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1))`.",
    hamming "The Hamming window: `0.54 - 0.46 cos(2πn / (M - 1))`.",
    hanning "The Hann window: `0.5 - 0.5 cos(2πn / (M - 1))`.",
}

/// The Kaiser window `i0(beta * sqrt(1 - t**2)) / i0(beta)` with `t = 2n / (M - 1) - 1`.
///
/// float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See J. F. Kaiser, Digital Filters, 1966.
#[pyfunction]
#[pyo3(signature = (M, beta, *, stream = None))]
#[expect(non_snake_case, reason = "the argument's public name")]
fn kaiser(M: i64, beta: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::kaiser(M, beta)).map(NewArray::from)
}

/// `base` to the power of `num` evenly spaced values from `start` to `stop`; with `endpoint` the last one is `stop`.
/// Complex numbers answer complex64 unless a dtype is given.
///
/// Arrays broadcast, and the values lie along `axis`.
#[pyfunction]
#[pyo3(
    signature = (start, stop, num = 50, endpoint = true, base = None, dtype = None, *, axis = 0, stream = None),
    text_signature = "(start, stop, num=50, endpoint=True, base=10.0, dtype=None, *, axis=0, stream=None)"
)]
fn logspace(
    start: &Bound<'_, PyAny>,
    stop: &Bound<'_, PyAny>,
    num: i64,
    endpoint: bool,
    base: Option<&Bound<'_, PyAny>>,
    dtype: Option<DtypeArg>,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    const OP: &str = "logspace";
    let ends = Ends::new(OP, start, stop)?;
    let bases = base.map_or(Ok(None), with_axes)?;
    let number = match (&bases, base) {
        (None, Some(base)) => end_of_line(OP, "base", base)?,
        (_, None) | (Some(_), _) => Scalar::Float(10.0),
    };
    let ((first, last), is_one) = (ends.arrays(), bases.is_none() && !matches!(number, Scalar::Complex(..)));
    let bases = bases.unwrap_or_else(|| exact(number));
    let dtype = spaced_dtype(dtype, &[&first, &last, &bases]);
    record_on(stream, || match ends.reals() {
        Some((start, stop)) if is_one && !dtype.is_complex() => {
            normalize_axis(OP, axis, 1)?;
            ops::logspace(start, stop, num, endpoint, number.as_f64(), dtype)
        }
        _ => ops::logspace_between(&first, &last, num, endpoint, &bases, axis, dtype),
    })
    .map(NewArray::from)
}

/// `num` values from `start` to `stop`, each the same multiple of the one before; with `endpoint` the last is `stop`.
/// Complex numbers, which go the shorter way around zero, answer complex64 unless a dtype is given.
///
/// `start` and `stop` have one sign, and neither is zero. Arrays broadcast, and the values lie along `axis`.
#[pyfunction]
#[pyo3(
    signature = (start, stop, num = 50, endpoint = true, dtype = None, *, axis = 0, stream = None)
)]
fn geomspace(
    py: Python<'_>,
    start: &Bound<'_, PyAny>,
    stop: &Bound<'_, PyAny>,
    num: i64,
    endpoint: bool,
    dtype: Option<DtypeArg>,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    const OP: &str = "geomspace";
    let ends = Ends::new(OP, start, stop)?;
    let (first, last) = ends.arrays();
    let dtype = spaced_dtype(dtype, &[&first, &last]);
    compute(py, stream, || match ends.reals() {
        // Between arrays the ends of integers are exact.
        Some((start, stop)) if dtype.is_floating() => {
            normalize_axis(OP, axis, 1)?;
            ops::geomspace(start, stop, num, endpoint, dtype)
        }
        _ => ops::geomspace_between(&first, &last, num, endpoint, axis, dtype),
    })
    .map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_windows(module)?;
    module.add_function(wrap_pyfunction!(kaiser, module)?)?;
    module.add_function(wrap_pyfunction!(logspace, module)?)?;
    module.add_function(wrap_pyfunction!(geomspace, module)?)
}
