//! Windows, and numbers spaced evenly on a logarithmic scale.

use pyo3::prelude::*;
use umber::{DType, ops};

use super::creation::{bound, followed_ends};
use crate::args::{StreamArg, on};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, or};

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
            fn $name(M: i64, stream: Option<StreamArg>) -> PyResult<PyArray> {
                on(stream, || ops::$name(M)).map(PyArray::from)
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
fn kaiser(M: i64, beta: f64, stream: Option<StreamArg>) -> PyResult<PyArray> {
    on(stream, || ops::kaiser(M, beta)).map(PyArray::from)
}

/// `base` to the power of `num` evenly spaced values from `start` to `stop`; with `endpoint` the last one is `stop`.
#[pyfunction]
#[pyo3(signature = (start, stop, num = 50, endpoint = true, base = 10.0, dtype = None, *, stream = None))]
fn logspace(
    start: &Bound<'_, PyAny>,
    stop: &Bound<'_, PyAny>,
    num: i64,
    endpoint: bool,
    base: f64,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    if let Some((start, stop)) = followed_ends("logspace", start, stop)? {
        let dtype = or(dtype, DType::Float32);
        return on(stream, || ops::logspace_between(&start, &stop, num, endpoint, base, dtype))
            .map(PyArray::from);
    }
    let (start, stop) =
        (bound("logspace", "start", start)?.as_f64(), bound("logspace", "stop", stop)?.as_f64());
    let dtype = or(dtype, DType::Float32);
    on(stream, || ops::logspace(start, stop, num, endpoint, base, dtype)).map(PyArray::from)
}

/// `num` values from `start` to `stop`, each the same multiple of the one before; with `endpoint` the last is `stop`.
///
/// `start` and `stop` have one sign, and neither is zero.
#[pyfunction]
#[pyo3(signature = (start, stop, num = 50, endpoint = true, dtype = None, *, stream = None))]
fn geomspace(
    start: &Bound<'_, PyAny>,
    stop: &Bound<'_, PyAny>,
    num: i64,
    endpoint: bool,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    if let Some((start, stop)) = followed_ends("geomspace", start, stop)? {
        let dtype = or(dtype, DType::Float32);
        return on(stream, || ops::geomspace_between(&start, &stop, num, endpoint, dtype)).map(PyArray::from);
    }
    let (start, stop) =
        (bound("geomspace", "start", start)?.as_f64(), bound("geomspace", "stop", stop)?.as_f64());
    on(stream, || ops::geomspace(start, stop, num, endpoint, or(dtype, DType::Float32))).map(PyArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_windows(module)?;
    module.add_function(wrap_pyfunction!(kaiser, module)?)?;
    module.add_function(wrap_pyfunction!(logspace, module)?)?;
    module.add_function(wrap_pyfunction!(geomspace, module)?)
}
