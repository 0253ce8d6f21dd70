//! Gamma function and its relatives: polygamma, zeta, incomplete gamma, beta and factorials.
//!
//! One subject: one binding per function; most lines are their documentation.

use pyo3::prelude::*;
use umber_core::ops::special;

use super::{binary_functions, unary_functions};
use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

unary_functions! {
    register_unary
    /// Gamma function of each element.
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
    /// gammaln, gammasgn, factorial, digamma
    ///
    /// Notes
    /// -----
    /// The integral of ``t**(x - 1) * exp(-t)`` over positive `t`, continued to negative `x` (DLMF 5.2). Infinite
    /// at zero, with its sign; NaN at the negative integers.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gamma(mx.array([5.0, 0.0, -0.5]))
    /// array([24, inf, -3.54491], dtype=float32)
    gamma(x),
    /// Sign of the gamma function of each element.
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
    /// gamma, gammaln
    ///
    /// Notes
    /// -----
    /// 1 or -1; NaN at the negative integers and at minus infinity, where there is none. ``gamma(x)`` is
    /// ``gammasgn(x) * exp(gammaln(x))``. The derivative is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gammasgn(mx.array([2.5, -0.5, -1.5]))
    /// array([1, -1, 1], dtype=float32)
    gammasgn(x),
    /// Principal branch of the logarithm of the gamma function of each element, NaN below zero.
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
    /// gammaln, gamma
    ///
    /// Notes
    /// -----
    /// It is not real below zero, where `gammaln` is the logarithm of the absolute value (DLMF 5.2).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.loggamma(mx.array([1.0, 5.0, -0.5]))
    /// array([0, 3.17805, nan], dtype=float32)
    loggamma(x),
    /// Factorial of each element: `gamma(n + 1)`, zero below zero.
    ///
    /// Parameters
    /// ----------
    /// n : array_like
    ///     Input of any shape and real dtype; whole numbers or numbers between them.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `n`; float32 for integers, booleans and float8, else the dtype of `n`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `n` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// gamma, comb
    ///
    /// Notes
    /// -----
    /// Products up to 170! are finite in float64, up to 34! in float32.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.factorial(mx.array([0, 4, 10, -1]))
    /// array([1, 24, 3.6288e+06, 0], dtype=float32)
    factorial(n),
}

binary_functions! {
    register_binary
    /// Polygamma function: the derivative of order `n` of `digamma` at `x`.
    ///
    /// Parameters
    /// ----------
    /// n : array_like
    ///     Orders, whole numbers that are not negative.
    /// x : array_like
    ///     Arguments, real.
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
    /// digamma, zeta
    ///
    /// Notes
    /// -----
    /// ``(-1)**(n + 1) * factorial(n) * zeta(n + 1, x)`` for positive `n` (DLMF 5.15.1), also below zero. NaN
    /// where `n` is negative or no whole number. Infinite at the poles ``x = 0, -1, …``. There is no derivative
    /// with respect to `n`.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.polygamma(1, mx.array([1.0, 2.0]))
    /// array([1.64493, 0.644934], dtype=float32)
    polygamma(n, x),
    /// Regularised lower incomplete gamma function.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Parameter of the integrand, not negative.
    /// x : array_like
    ///     Upper limits of the integral, not negative.
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
    ///     If the shapes do not broadcast. If a second derivative with respect to `a` is requested.
    ///
    /// See Also
    /// --------
    /// gammaincc, gammaincinv, gamma
    ///
    /// Notes
    /// -----
    /// The integral of ``t**(a - 1) * exp(-t)`` from 0 to `x`, divided by ``gamma(a)`` (DLMF 8.2.4): the
    /// distribution function of the gamma distribution. NaN where either argument is negative. Near ``x = a``,
    /// large parameters use Temme's uniform expansion (1987). The derivative with respect to `a` is that of the series,
    /// fraction or expansion, term by term; there is no second one.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gammainc(0.5, mx.array([0.0, 1.0, 10.0]))
    /// array([0, 0.842701, 0.999992], dtype=float32)
    gammainc(a, x),
    /// Regularised upper incomplete gamma function: `1 - gammainc(a, x)`, accurate where that cancels.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Parameter of the integrand, not negative.
    /// x : array_like
    ///     Lower limits of the integral, not negative.
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
    ///     If the shapes do not broadcast. If a second derivative with respect to `a` is requested.
    ///
    /// See Also
    /// --------
    /// gammainc, gammainccinv, gamma
    ///
    /// Notes
    /// -----
    /// The integral of ``t**(a - 1) * exp(-t)`` from `x` to infinity, divided by ``gamma(a)`` (DLMF 8.2.4). NaN
    /// where either argument is negative. There is no second derivative with respect to `a`.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gammaincc(0.5, mx.array([0.0, 1.0, 10.0]))
    /// array([1, 0.157299, 7.74422e-06], dtype=float32)
    gammaincc(a, x),
    /// Inverse of the regularised lower incomplete gamma function: the `x` with `gammainc(a, x) = y`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Parameter of the integrand, positive.
    /// y : array_like
    ///     Probabilities, in [0, 1].
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
    ///     If the shapes do not broadcast. If a second derivative with respect to `a` is requested.
    ///
    /// See Also
    /// --------
    /// gammainc, gammainccinv
    ///
    /// Notes
    /// -----
    /// The quantile function of the gamma distribution (DLMF 8.12), by Halley's method on the logarithm of the smaller tail.
    /// NaN where `a` is not positive or `y` is outside [0, 1]. Derivatives follow from the implicit function theorem.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gammaincinv(2.0, mx.array([0.0, 0.5, 0.95, 1.0]))
    /// array([0, 1.67835, 4.74386, inf], dtype=float32)
    gammaincinv(a, y),
    /// Inverse of the regularised upper incomplete gamma function: the `x` with `gammaincc(a, x) = y`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Parameter of the integrand, positive.
    /// y : array_like
    ///     Probabilities, in [0, 1].
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
    ///     If the shapes do not broadcast. If a second derivative with respect to `a` is requested.
    ///
    /// See Also
    /// --------
    /// gammaincc, gammaincinv
    ///
    /// Notes
    /// -----
    /// Accurate for small `y`, where ``gammaincinv(a, 1 - y)`` loses digits. NaN where `a` is not positive or `y` is outside
    /// [0, 1].
    ///
    /// Examples
    /// --------
    /// >>> mx.special.gammainccinv(2.0, mx.array([0.0, 0.5, 0.95, 1.0]))
    /// array([inf, 1.67835, 0.355362, 0], dtype=float32)
    gammainccinv(a, y),
    /// Beta function: `gamma(a) * gamma(b) / gamma(a + b)`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     First arguments, real.
    /// b : array_like
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
    /// betaln, gamma, comb
    ///
    /// Notes
    /// -----
    /// The integral of ``t**(a - 1) * (1 - t)**(b - 1)`` from 0 to 1 for positive arguments (DLMF 5.12). The
    /// gamma functions are not computed where they overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.beta(mx.array([1.0, 0.5, 200.0]), mx.array([2.0, 0.5, 1.0]))
    /// array([0.5, 3.14159, 0.005], dtype=float32)
    beta(a, b),
    /// Logarithm of the absolute value of the beta function.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     First arguments, real.
    /// b : array_like
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
    /// beta, gammaln
    ///
    /// Notes
    /// -----
    /// Where an argument is large, the difference of logarithms of gamma functions is computed without
    /// cancellation, by Stirling's formula (DLMF 5.11).
    ///
    /// Examples
    /// --------
    /// >>> mx.special.betaln(mx.array([1.0, 1e6]), mx.array([2.0, 0.5]))
    /// array([-0.693147, -6.33539], dtype=float32)
    betaln(a, b),
    /// Number of combinations of `n` things taken `k` at a time; zero where `k > n` or either is negative.
    ///
    /// Parameters
    /// ----------
    /// n : array_like
    ///     Numbers of things, real.
    /// k : array_like
    ///     Numbers of things taken, real.
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
    /// factorial, beta
    ///
    /// Notes
    /// -----
    /// ``1 / ((n + 1) * beta(n - k + 1, k + 1))``, which also interpolates between whole numbers. Results for
    /// whole numbers are rounded to whole numbers.
    ///
    /// Examples
    /// --------
    /// >>> mx.special.comb(5, mx.array([0, 2, 5, 6]))
    /// array([1, 10, 1, 0], dtype=float32)
    comb(n, k),
}

/// Hurwitz zeta function, and Riemann's zeta function where `q` is not given.
///
/// Parameters
/// ----------
/// x : array_like
///     Exponents, real.
/// q : array_like, optional
///     First terms of the sum, real. Default: 1.
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
///     If the shapes do not broadcast. If a second derivative with respect to `x` is requested.
///
/// See Also
/// --------
/// polygamma
///
/// Notes
/// -----
/// The sum of ``(q + n)**-x`` over the natural numbers `n`. Infinite at the poles ``x = 1`` and ``q = 0, -1, …``.
/// NaN for ``x < 1``, unless `q` is one, and for negative `q`, unless `x` is a whole number (DLMF 25.2, 25.11).
/// There is no second derivative with respect to `x`.
///
/// Examples
/// --------
/// >>> mx.special.zeta(mx.array([2.0, 0.0, -1.0]))
/// array([1.64493, -0.5, -0.0833333], dtype=float32)
/// >>> mx.special.zeta(2, mx.array([1.0, 2.0]))
/// array([1.64493, 0.644934], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, q = None, /, *, stream = None))]
fn zeta(x: Operand, q: Option<Operand>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (x, q) = match q {
        Some(q) => Operand::pair(x, q).map(|(x, q)| (x, Some(q)))?,
        None => (x.into_array(), None),
    };
    record_on(stream, || special::zeta(&x, q.as_ref())).map(NewArray::from)
}

/// Regularised incomplete beta function.
///
/// Parameters
/// ----------
/// a : array_like
///     First parameters, not negative.
/// b : array_like
///     Second parameters, not negative.
/// x : array_like
///     Upper limits of the integral, in [0, 1].
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
///     If the shapes do not broadcast. If a second derivative with respect to `a` or `b` is requested.
///
/// See Also
/// --------
/// beta, gammainc
///
/// Notes
/// -----
/// The integral of ``t**(a - 1) * (1 - t)**(b - 1)`` from 0 to `x`, divided by ``beta(a, b)`` (DLMF 8.17): the
/// distribution function of the beta distribution. NaN where `a` or `b` is negative or `x` is outside [0, 1].
/// The derivatives with respect to `a` and `b` are those of the continued fraction, term by term; there are no second
/// ones.
///
/// Examples
/// --------
/// >>> mx.special.betainc(2.0, 3.0, mx.array([0.0, 0.5, 1.0]))
/// array([0, 0.6875, 1], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, x, /, *, stream = None))]
fn betainc(a: Operand, b: Operand, x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let [a, b, x] = Operand::three(a, b, x)?;
    record_on(stream, || special::betainc(&a, &b, &x)).map(NewArray::from)
}

/// Logarithm of the multivariate gamma function of dimension `d`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and real dtype.
/// d : int
///     Dimension, positive.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
///
/// Raises
/// ------
/// TypeError
///     If `a` is complex, or not convertible to an array.
/// ValueError
///     If `d` is not positive.
///
/// See Also
/// --------
/// gammaln
///
/// Notes
/// -----
/// ``d * (d - 1) / 4 * log(pi)`` plus the sum of ``gammaln(a - i / 2)`` for `i` below `d` (DLMF 35.3.4). NaN
/// unless ``a > (d - 1) / 2``.
///
/// Examples
/// --------
/// >>> mx.special.multigammaln(mx.array([2.0, 10.0]), 3)
/// array([1.59631, 36.8129], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, d, /, *, stream = None))]
fn multigammaln(a: Operand, d: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || special::multigammaln(&a, d)).map(NewArray::from)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)?;
    module.add_function(wrap_pyfunction!(zeta, module)?)?;
    module.add_function(wrap_pyfunction!(betainc, module)?)?;
    module.add_function(wrap_pyfunction!(multigammaln, module)?)
}
