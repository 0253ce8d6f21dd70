//! Bessel functions of orders zero and one.

use pyo3::prelude::*;
use umber_core::ops::special;

use super::unary_functions;
use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

unary_functions! {
    register_unary
    /// Bessel function of the first kind and order zero of each element.
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
    /// j1, y0, i0
    ///
    /// Notes
    /// -----
    /// Even; oscillates like ``sqrt(2 / (pi * x)) * cos(x - pi / 4)`` and is zero at infinity (DLMF 10.2, 10.17). The
    /// derivative is ``-j1(x)``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.j0(mx.array([0.0, 1.0, 10.0]))
    /// array([1, 0.765198, -0.245936], dtype=float32)
    j0(x),
    /// Bessel function of the first kind and order one of each element.
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
    /// j0, y1, i1
    ///
    /// Notes
    /// -----
    /// Odd; oscillates like ``sqrt(2 / (pi * x)) * sin(x - pi / 4)`` and is zero at infinity (DLMF 10.2, 10.17). The
    /// derivative is ``j0(x) - j1(x) / x``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.j1(mx.array([0.0, 1.0, -10.0]))
    /// array([0, 0.440051, -0.0434727], dtype=float32)
    j1(x),
    /// Bessel function of the second kind and order zero of each element.
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
    /// y1, j0, k0
    ///
    /// Notes
    /// -----
    /// Negative infinity at zero, NaN below (DLMF 10.2). The derivative is ``-y1(x)``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.y0(mx.array([0.0, 1.0, 10.0]))
    /// array([-inf, 0.088257, 0.0556712], dtype=float32)
    y0(x),
    /// Bessel function of the second kind and order one of each element.
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
    /// y0, j1, k1
    ///
    /// Notes
    /// -----
    /// Negative infinity at zero, NaN below (DLMF 10.2). The derivative is ``y0(x) - y1(x) / x``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.y1(mx.array([0.0, 1.0, 10.0]))
    /// array([-inf, -0.781213, 0.249015], dtype=float32)
    y1(x),
    /// Modified Bessel function of the second kind and order zero of each element.
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
    /// k0e, k1, i0
    ///
    /// Notes
    /// -----
    /// Infinite at zero, NaN below, decays like ``exp(-x)`` (DLMF 10.25). The derivative is ``-k1(x)``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.k0(mx.array([0.0, 1.0, 10.0]))
    /// array([inf, 0.421024, 1.77801e-05], dtype=float32)
    k0(x),
    /// Modified Bessel function of the second kind and order zero, scaled by `exp(x)`.
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
    /// k0, k1e, i0e
    ///
    /// Notes
    /// -----
    /// ``exp(x) * k0(x)``, also where `k0` underflows (DLMF 10.40).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.k0e(mx.array([0.0, 1.0, 1000.0]))
    /// array([inf, 1.14446, 0.0396283], dtype=float32)
    k0e(x),
    /// Modified Bessel function of the second kind and order one of each element.
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
    /// k1e, k0, i1
    ///
    /// Notes
    /// -----
    /// Infinite at zero, NaN below, decays like ``exp(-x)`` (DLMF 10.25). The derivative is ``-k0(x) - k1(x) / x``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.k1(mx.array([0.0, 1.0, 10.0]))
    /// array([inf, 0.601907, 1.86488e-05], dtype=float32)
    k1(x),
    /// Modified Bessel function of the second kind and order one, scaled by `exp(x)`.
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
    /// k1, k0e, i1e
    ///
    /// Notes
    /// -----
    /// ``exp(x) * k1(x)``, also where `k1` underflows (DLMF 10.40).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.k1e(mx.array([0.0, 1.0, 1000.0]))
    /// array([inf, 1.63615, 0.0396481], dtype=float32)
    k1e(x),
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)
}
