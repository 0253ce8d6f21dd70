//! The error function's relatives and the standard normal distribution.

use pyo3::prelude::*;
use umber_core::ops::special;

use super::unary_functions;
use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

unary_functions! {
    register_unary
    /// Scaled complementary error function of each element: `exp(x**2) * erfc(x)`.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `x` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// erfc, log_ndtr
    ///
    /// Notes
    /// -----
    /// Falls like ``1 / x`` where `erfc` underflows (DLMF 7.9, 7.12).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.erfcx(mx.array([0.0, 1.0, 100.0]))
    /// array([1, 0.427584, 0.00564161], dtype=float32)
    erfcx(x),
    /// Inverse of the complementary error function of each element, for elements in [0, 2].
    ///
    /// Parameters
    /// ----------
    /// y : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `y`; float32 for integers, booleans and float8, else the dtype of `y`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `y` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// erfc, erfinv, ndtri
    ///
    /// Notes
    /// -----
    /// Accurate for small `y`, where ``erfinv(1 - y)`` loses digits. NaN outside [0, 2].
    ///
    /// Examples
    /// --------
    /// >>> mx.special.erfcinv(mx.array([1.0, 1e-30, 0.0]))
    /// array([0, 8.14862, inf], dtype=float32)
    erfcinv(y),
    /// Distribution function of the standard normal distribution at each element.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `x` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// log_ndtr, ndtri, erfc
    ///
    /// Notes
    /// -----
    /// ``erfc(-x / sqrt(2)) / 2``, accurate in the lower tail.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.ndtr(mx.array([0.0, 1.96, -10.0]))
    /// array([0.5, 0.975002, 7.61985e-24], dtype=float32)
    ndtr(x),
    /// Logarithm of the distribution function of the standard normal distribution, accurate in both tails.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `x` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// ndtr, erfcx
    ///
    /// Notes
    /// -----
    /// ``log(ndtr(x))``, also where `ndtr` underflows.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.log_ndtr(mx.array([0.0, -100.0]))
    /// array([-0.693147, -5005.52], dtype=float32)
    log_ndtr(x),
    /// Quantile function of the standard normal distribution, the inverse of `ndtr`.
    ///
    /// Parameters
    /// ----------
    /// p : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `p`; float32 for integers, booleans and float8, else the dtype of `p`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `p` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// ndtr, erfcinv
    ///
    /// Notes
    /// -----
    /// ``-sqrt(2) * erfcinv(2 * p)``. NaN outside [0, 1].
    ///
    /// Examples
    /// --------
    /// >>> mx.special.ndtri(mx.array([0.5, 0.975, 0.0]))
    /// array([0, 1.95996, -inf], dtype=float32)
    ndtri(p),
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)
}
