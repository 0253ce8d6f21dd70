//! Log-odds, products with logarithms, and the terms of entropies.

use pyo3::prelude::*;
use umber_core::ops::special;

use super::{binary_functions, unary_functions};
use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

unary_functions! {
    register_unary
    /// Log-odds of each element, the inverse of the logistic sigmoid: `log(x / (1 - x))`.
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
    /// expit, log_expit
    ///
    /// Notes
    /// -----
    /// NaN outside [0, 1].
    ///
    /// Examples
    /// --------
    /// >>> mx.special.logit(mx.array([0.0, 0.5, 0.75]))
    /// array([-inf, 0, 1.09861], dtype=float32)
    logit(x),
    /// Logarithm of the logistic sigmoid of each element: `-log(1 + exp(-x))`.
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
    /// expit, logit
    ///
    /// Notes
    /// -----
    /// Does not overflow, and keeps its digits where the sigmoid is close to one.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.log_expit(mx.array([0.0, -1000.0, 10.0]))
    /// array([-0.693147, -1000, -4.53989e-05], dtype=float32)
    log_expit(x),
    /// Term of the entropy of each element: `-x * log(x)`, zero at zero, negative infinity below.
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
    /// rel_entr, xlogy
    ///
    /// Examples
    /// --------
    /// >>> mx.special.entr(mx.array([0.0, 0.5, -1.0]))
    /// array([0, 0.346574, -inf], dtype=float32)
    entr(x),
}

binary_functions! {
    register_binary
    /// Term of the relative entropy of each pair: `x * log(x / y)`, infinity outside the domain.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     First arguments, real.
    /// y : array_like
    ///     Second arguments, real.
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
    ///     If the shapes do not broadcast.
    ///
    /// See Also
    /// --------
    /// kl_div, entr
    ///
    /// Notes
    /// -----
    /// The domain is positive `x` and `y`, and zero `x` with non-negative `y`, where it is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.rel_entr(mx.array([0.0, 2.0, 1.0]), mx.array([1.0, 1.0, 0.0]))
    /// array([0, 1.38629, inf], dtype=float32)
    rel_entr(x, y),
    /// Term of the Kullback-Leibler divergence of each pair: `x * log(x / y) - x + y`.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     First arguments, real.
    /// y : array_like
    ///     Second arguments, real.
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
    ///     If the shapes do not broadcast.
    ///
    /// See Also
    /// --------
    /// rel_entr, entr
    ///
    /// Notes
    /// -----
    /// Not negative, and convex in both arguments. Infinity outside the domain: positive `x` and `y`, and zero
    /// `x` with non-negative `y`, where it is `y`.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.kl_div(mx.array([0.0, 2.0, 1.0]), mx.array([1.0, 1.0, 0.0]))
    /// array([1, 0.386294, inf], dtype=float32)
    kl_div(x, y),
    /// `x * log(y)` of each pair, zero where `x` is zero and `y` is not NaN.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     Factors, real.
    /// y : array_like
    ///     Arguments of the logarithm, real.
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
    ///     If the shapes do not broadcast.
    ///
    /// See Also
    /// --------
    /// xlog1py, entr
    ///
    /// Notes
    /// -----
    /// Where `x` is zero and `y` is not positive, the derivatives are zero too.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.xlogy(mx.array([0.0, 2.0]), mx.array([0.0, 3.0]))
    /// array([0, 2.19722], dtype=float32)
    xlogy(x, y),
    /// `x * log(1 + y)` of each pair, zero where `x` is zero and `y` is not NaN; accurate for small `y`.
    ///
    /// Parameters
    /// ----------
    /// x : array_like
    ///     Factors, real.
    /// y : array_like
    ///     Arguments of the logarithm less one, real.
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
    ///     If the shapes do not broadcast.
    ///
    /// See Also
    /// --------
    /// xlogy, entr
    ///
    /// Notes
    /// -----
    /// Where `x` is zero and `y` is at most -1, the derivatives are zero too.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.xlog1py(mx.array([0.0, 2.0]), mx.array([-1.0, 1e-10]))
    /// array([0, 2e-10], dtype=float32)
    xlog1py(x, y),
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)
}
