//! Exponential integrals and the dilogarithm.

use pyo3::prelude::*;
use umber_core::ops::special;

use super::{binary_functions, unary_functions};
use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

unary_functions! {
    register_unary
    /// Exponential integral Ei of each element: principal value of the integral of `exp(t) / t` to `x`.
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
    /// exp1, expn
    ///
    /// Notes
    /// -----
    /// Negative infinity at zero (DLMF 6.2.5).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.expi(mx.array([1.0, -1.0]))
    /// array([1.89512, -0.219384], dtype=float32)
    expi(x),
    /// Exponential integral E1 of each element: the integral of `exp(-t) / t` from `x` to infinity.
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
    /// expi, expn
    ///
    /// Notes
    /// -----
    /// Infinite at zero, NaN below (DLMF 6.2.1).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.exp1(mx.array([1.0, 10.0]))
    /// array([0.219384, 4.15697e-06], dtype=float32)
    exp1(x),
    /// Dilogarithm of `1 - z`: the integral of `log(t) / (1 - t)` from 1 to `z`.
    ///
    /// Parameters
    /// ----------
    /// z : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `z`; float32 for integers, booleans and float8, else the dtype of `z`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `z` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// expi
    ///
    /// Notes
    /// -----
    /// NaN below zero (DLMF 25.12). Other libraries define the dilogarithm as ``spence(1 - z)``.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.spence(mx.array([0.0, 1.0, 2.0]))
    /// array([1.64493, 0, -0.822467], dtype=float32)
    spence(z),
}

binary_functions! {
    register_binary
    /// Generalised exponential integral of `x`, of whole order `n`.
    ///
    /// Parameters
    /// ----------
    /// n : array_like
    ///     Orders, whole numbers.
    /// x : array_like
    ///     Lower limits, not negative.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an argument is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast. If a derivative with respect to `n` is requested.
    ///
    /// See Also
    /// --------
    /// exp1, expi
    ///
    /// Notes
    /// -----
    /// The integral of ``exp(-x * t) / t**n`` from 1 to infinity (DLMF 8.19). NaN where `x` is negative or `n` is
    /// no whole number. Negative orders, which the derivatives of order zero need, are computed too. There is no
    /// derivative with respect to `n`.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.expn(2, mx.array([0.0, 1.0]))
    /// array([1, 0.148496], dtype=float32)
    expn(n, x),
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)
}
