//! Window functions, and values spaced evenly on a logarithmic scale.

use pyo3::prelude::*;
use umber_core::types::shape::normalize_axis;
use umber_core::{Scalar, ops};

use super::creation::{Ends, exact, interval_end, spaced_dtype, with_axes};
use crate::args::{StreamArg, compute, record_on};
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;

/// Window functions whose only parameter is the length.
macro_rules! windows {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
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
    /// Bartlett window: a triangle with zeros at both ends.
    ///
    /// Parameters
    /// ----------
    /// M : int
    ///     Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``w[n] = 1 - abs(2 * n / (M - 1) - 1)``, float32 of shape ``(M,)``.
    ///
    /// Raises
    /// ------
    /// OverflowError
    ///     If the window has more elements than memory can address.
    ///
    /// See Also
    /// --------
    /// blackman, hamming, hanning, kaiser
    ///
    /// Notes
    /// -----
    /// F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    /// IEEE 66 (1978).
    ///
    /// Examples
    /// --------
    /// >>> mx.bartlett(5)
    /// array([0, 0.5, 1, 0.5, 0], dtype=float32)
    bartlett,
    /// Blackman window: a sum of three cosine terms with small side lobes.
    ///
    /// Parameters
    /// ----------
    /// M : int
    ///     Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``w[n] = 0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t)`` with ``t = 2 * pi * n / (M - 1)``, float32 of shape ``(M,)``.
    ///
    /// Raises
    /// ------
    /// OverflowError
    ///     If the window has more elements than memory can address.
    ///
    /// See Also
    /// --------
    /// bartlett, hamming, hanning, kaiser
    ///
    /// Notes
    /// -----
    /// F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    /// IEEE 66 (1978). The end points are about 1e-17, not exactly zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.blackman(5)[1:4]
    /// array([0.34, 1, 0.34], dtype=float32)
    blackman,
    /// Hamming window: a raised cosine that does not reach zero at its ends.
    ///
    /// Parameters
    /// ----------
    /// M : int
    ///     Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``w[n] = 0.54 - 0.46 * cos(2 * pi * n / (M - 1))``, float32 of shape ``(M,)``.
    ///
    /// Raises
    /// ------
    /// OverflowError
    ///     If the window has more elements than memory can address.
    ///
    /// See Also
    /// --------
    /// bartlett, blackman, hanning, kaiser
    ///
    /// Notes
    /// -----
    /// F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    /// IEEE 66 (1978).
    ///
    /// Examples
    /// --------
    /// >>> mx.hamming(5)
    /// array([0.08, 0.54, 1, 0.54, 0.08], dtype=float32)
    hamming,
    /// Hann window: a raised cosine with zeros at both ends.
    ///
    /// Parameters
    /// ----------
    /// M : int
    ///     Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     ``w[n] = 0.5 - 0.5 * cos(2 * pi * n / (M - 1))``, float32 of shape ``(M,)``.
    ///
    /// Raises
    /// ------
    /// OverflowError
    ///     If the window has more elements than memory can address.
    ///
    /// See Also
    /// --------
    /// bartlett, blackman, hamming, kaiser
    ///
    /// Notes
    /// -----
    /// F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    /// IEEE 66 (1978).
    ///
    /// Examples
    /// --------
    /// >>> mx.hanning(5)
    /// array([0, 0.5, 1, 0.5, 0], dtype=float32)
    hanning,
}

/// Kaiser window: a family of windows with an adjustable trade-off of width and side lobes.
///
/// Parameters
/// ----------
/// M : int
///     Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
/// beta : float
///     Shape parameter; 0 gives a rectangular window, larger values lower side lobes and a wider main lobe.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     ``w[n] = i0(beta * sqrt(1 - t**2)) / i0(beta)`` with ``t = 2 * n / (M - 1) - 1``, where ``i0`` is the modified
///     Bessel function of the first kind of order zero; float32 of shape ``(M,)``.
///
/// Raises
/// ------
/// OverflowError
///     If the window has more elements than memory can address.
///
/// See Also
/// --------
/// bartlett, blackman, hamming, hanning, i0
///
/// Notes
/// -----
/// J. F. Kaiser, "Digital filters", in F. F. Kuo and J. F. Kaiser, System Analysis by Digital Computer, Wiley (1966).
///
/// Examples
/// --------
/// >>> mx.kaiser(5, 8.6)
/// array([0.00133251, 0.340394, 1, 0.340394, 0.00133251], dtype=float32)
#[pyfunction]
#[pyo3(signature = (M, beta, *, stream = None))]
#[expect(non_snake_case, reason = "the argument's public name")]
fn kaiser(M: i64, beta: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::kaiser(M, beta)).map(NewArray::from)
}

/// Create values evenly spaced on a logarithmic scale; the ends are given as exponents.
///
/// Parameters
/// ----------
/// start, stop : array_like
///     Exponents of the first value and of the end, real or complex. Arrays broadcast.
/// num : int, optional
///     Number of values. Default: 50.
/// endpoint : bool, optional
///     Whether the last value is ``base**stop``. Default: True.
/// base : array_like, optional
///     Base of the powers. An array broadcasts with the ends. Default: 10.
/// dtype : dtype, optional
///     Dtype of the result. Default: float32, for complex arguments complex64.
/// axis : int, optional
///     Axis of the result along which the values lie, for arrays. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     ``base ** linspace(start, stop, num, endpoint)``, computed in double precision.
///
/// Raises
/// ------
/// ValueError
///     If `num` is negative, or shapes do not broadcast.
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If an argument is complex and `dtype` is not.
///
/// See Also
/// --------
/// geomspace, linspace, arange
///
/// Notes
/// -----
/// If the ends or the base are arrays, the values are differentiable with respect to them.
///
/// Examples
/// --------
/// >>> mx.logspace(0, 3, 4)
/// array([1, 10, 100, 1000], dtype=float32)
/// >>> mx.logspace(0, 3, 4, base=2)
/// array([1, 2, 4, 8], dtype=float32)
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
        (None, Some(base)) => interval_end(OP, "base", base)?,
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

/// Create values in geometric progression between two ends.
///
/// Parameters
/// ----------
/// start, stop : array_like
///     Ends of the progression, of the same sign and not zero; or complex. Arrays broadcast.
/// num : int, optional
///     Number of values. Default: 50.
/// endpoint : bool, optional
///     Whether the last value is `stop`. If False, `stop` would be the next value. Default: True.
/// dtype : dtype, optional
///     Dtype of the result. Default: float32, for complex ends complex64.
/// axis : int, optional
///     Axis of the result along which the values lie, for arrays as ends. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     ``start * (stop / start) ** (i / (num - endpoint))``. The ends are exact. Complex values follow the spiral that
///     takes the shorter way around zero.
///
/// Raises
/// ------
/// ValueError
///     If `num` is negative, an end is zero or not finite, real ends differ in sign, or the ends do not broadcast.
/// IndexError
///     If `axis` is out of bounds.
/// TypeError
///     If an end is complex and `dtype` is not.
///
/// See Also
/// --------
/// logspace, linspace
///
/// Notes
/// -----
/// Inside `vmap`, `compile` and `grad`, where values are unknown, invalid ends yield NaN instead of an error. If the ends are
/// arrays, the values are differentiable with respect to them.
///
/// Examples
/// --------
/// >>> mx.geomspace(1, 1000, 4)
/// array([1, 10, 100, 1000], dtype=float32)
/// >>> mx.geomspace(1, 8, 3, endpoint=False)
/// array([1, 2, 4], dtype=float32)
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
        // For integers, the version for arrays is used, since it keeps the ends exact.
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
