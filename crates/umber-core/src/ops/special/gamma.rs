//! The gamma function and its relatives: polygamma, zeta, incomplete gamma, beta and factorials (DLMF 5, 8, 25).

use std::f64::consts::PI;

use umber_types::{BinaryKind, KeepAxes, Result, TernaryKind, UnaryKind, ensure, promote};

use super::{
    binary, binary_functions, composed, composed_of_two, example, real_dtype, unary, unary_functions,
};
use crate::graph::Array;
use crate::ops::creation::arange;
use crate::ops::elementwise::{
    equal, greater, greater_equal, less, less_equal, logical_and, select, stop_gradient, subtract,
};
use crate::ops::promotion::{broadcast_all, cast_constant};
use crate::ops::reductions::sum;
use crate::ops::shaping::expand_dims;
use crate::primitives::rules::{self, add, constant, div, mul, sub, zeros_like};
use crate::primitives::ternary::Ternary;

unary_functions! {
    /// Gamma function of each element.
    ///
    /// Infinite at zero, with its sign; NaN at the negative integers.
    gamma Gamma: [5.0, 0.0] => [24.0, f64::INFINITY],
}

binary_functions! {
    /// Polygamma function: the derivative of order `n` of `digamma` at `x`.
    ///
    /// NaN where `n` is negative or no whole number. There is no derivative with respect to `n`.
    polygamma(n, x) Polygamma: [1.0, 2.0], [0.0, f64::INFINITY] => [f64::INFINITY, 0.0],
    /// Regularised lower incomplete gamma function.
    ///
    /// NaN where either argument is negative. There is no second derivative with respect to `a`.
    gammainc(a, x) GammaInc: [1.0, 2.0], [0.0, f64::INFINITY] => [0.0, 1.0],
    /// Regularised upper incomplete gamma function: `1 - gammainc(a, x)`, accurate where that cancels.
    ///
    /// NaN where either argument is negative. There is no second derivative with respect to `a`.
    gammaincc(a, x) GammaIncC: [1.0, 2.0], [0.0, f64::INFINITY] => [1.0, 0.0],
    /// Inverse of the regularised lower incomplete gamma function: the `x` with `gammainc(a, x) = y`.
    ///
    /// NaN where `a` is negative or `y` is outside [0, 1]. There is no second derivative with respect to `a`.
    gammaincinv(a, y) GammaIncInv: [1.0, 2.0], [0.0, 1.0] => [0.0, f64::INFINITY],
    /// Inverse of the regularised upper incomplete gamma function: the `x` with `gammaincc(a, x) = y`.
    ///
    /// NaN where `a` is negative or `y` is outside [0, 1]. There is no second derivative with respect to `a`.
    gammainccinv(a, y) GammaIncCInv: [1.0, 2.0], [0.0, 1.0] => [f64::INFINITY, 0.0],
    /// Beta function: `gamma(a) * gamma(b) / gamma(a + b)`.
    beta(a, b) Beta: [1.0, 1.0], [1.0, 2.0] => [1.0, 0.5],
    /// Logarithm of the absolute value of the beta function.
    betaln(a, b) BetaLn: [1.0, 0.0], [1.0, 1.0] => [0.0, f64::INFINITY],
}

/// Regularised incomplete beta function.
///
/// NaN where `a` or `b` is negative or `x` is outside [0, 1]. There are no second derivatives with respect to `a` and `b`.
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
/// broadcast, and for complex numbers.
///
#[doc = example!(betainc, [1.0, 1.0], [1.0, 2.0], [0.25, 1.0] => [0.25, 1.0])]
pub fn betainc(a: &Array, b: &Array, x: &Array) -> Result<Array> {
    let dtype = real_dtype("betainc", promote(promote(a.dtype(), b.dtype()), x.dtype()))?;
    let [a, b, x] = [cast_constant(a, dtype)?, cast_constant(b, dtype)?, cast_constant(x, dtype)?];
    let arguments = broadcast_all("betainc", &[&a, &b, &x])?;
    Array::record_one(Ternary(TernaryKind::BetaInc), &[&arguments[0], &arguments[1], &arguments[2]])
}

/// Hurwitz zeta function, and Riemann's zeta function where `q` is not given.
///
/// Infinite at the poles `s = 1` and `q = 0, -1, …`. NaN for `s < 1`, unless `q` is one, and for negative `q`, unless `s` is a whole
/// number. There is no second derivative with respect to `s`.
///
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
/// broadcast, and for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::special};
/// let y = special::zeta(&Array::from([1.0, 4.0]), None)?.to_vec::<f64>()?;
/// assert_eq!(y[0], f64::INFINITY);
/// assert!((y[1] - std::f64::consts::PI.powi(4) / 90.0).abs() < 1e-15);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn zeta(s: &Array, q: Option<&Array>) -> Result<Array> {
    let one = constant(s, 1.0);
    binary(BinaryKind::Zeta, s, q.unwrap_or(&one))
}

/// Sign of the gamma function of each element.
///
/// NaN at the negative integers and at minus infinity, where there is none. The result has the shape of `x`. Integers and
/// booleans are converted to float32; floating dtypes are kept. Fails for complex numbers.
///
#[doc = example!(gammasgn, [2.5, -0.5, -1.5, -0.0] => [1.0, -1.0, 1.0, -1.0])]
pub fn gammasgn(x: &Array) -> Result<Array> {
    composed("gammasgn", x, |x| {
        let x = stop_gradient(x)?;
        let floor = rules::unary(UnaryKind::Floor, &x)?;
        let one = constant(&x, 1.0);
        let is_odd = equal(&rules::binary(BinaryKind::Remainder, &floor, &constant(&x, 2.0))?, &one)?;
        let below = select(&is_odd, &constant(&x, -1.0), &one)?;
        let below = select(&equal(&floor, &x)?, &constant(&x, f64::NAN), &below)?;
        // One with the sign of zero, and NaN where x is NaN.
        let above =
            select(&equal(&x, &zeros_like(&x))?, &rules::binary(BinaryKind::CopySign, &one, &x)?, &one)?;
        let above = select(&greater_equal(&x, &zeros_like(&x))?, &above, &x)?;
        select(&less(&x, &zeros_like(&x))?, &below, &above)
    })
}

/// Principal branch of the logarithm of the gamma function of each element, NaN below zero.
///
/// The result has the shape of `x`. Integers and booleans are converted to float32; floating dtypes are kept. Fails for complex
/// numbers.
///
#[doc = example!(loggamma, [1.0, 0.0] => [0.0, f64::INFINITY])]
pub fn loggamma(x: &Array) -> Result<Array> {
    composed("loggamma", x, |x| {
        let is_below = less(x, &zeros_like(x))?;
        rules::unary(UnaryKind::LogGamma, &select(&is_below, &constant(x, f64::NAN), x)?)
    })
}

/// Factorial of each element: `gamma(n + 1)`, zero below zero.
///
/// The result has the shape of `n`. Integers and booleans are converted to float32; floating dtypes are kept. Fails for complex
/// numbers.
///
#[doc = example!(factorial, [0.0, 4.0, -1.0] => [1.0, 24.0, 0.0])]
pub fn factorial(n: &Array) -> Result<Array> {
    composed("factorial", n, |n| {
        let is_below = less(n, &zeros_like(n))?;
        let successor = add(&select(&is_below, &zeros_like(n), n)?, &constant(n, 1.0))?;
        select(&is_below, &zeros_like(n), &rules::unary(UnaryKind::Gamma, &successor)?)
    })
}

/// Number of combinations of `n` things taken `k` at a time; zero where `k > n` or either is negative.
///
/// `1 / ((n + 1) * beta(n - k + 1, k + 1))` between whole numbers too. Results for whole numbers are rounded to whole numbers.
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not broadcast,
/// and for complex numbers.
///
#[doc = example!(comb, [5.0, 3.0], [2.0, 4.0] => [10.0, 0.0])]
pub fn comb(n: &Array, k: &Array) -> Result<Array> {
    composed_of_two("comb", n, k, |n, k| {
        let zero = zeros_like(n);
        let is_inside = logical_and(&less_equal(&zero, k)?, &less_equal(k, n)?)?;
        let inside = |x: &Array| select(&is_inside, x, &zero);
        let (n, k) = (inside(n)?, inside(k)?);
        let one = constant(&n, 1.0);
        let successor = add(&n, &one)?;
        let beta = rules::binary(BinaryKind::Beta, &add(&sub(&n, &k)?, &one)?, &add(&k, &one)?)?;
        let value = div(&one, &mul(&successor, &beta)?)?;
        // Only the value is rounded: derivatives are those of the function between whole numbers.
        let is_whole = |x: &Array| equal(x, &rules::unary(UnaryKind::Round, x)?);
        let error = stop_gradient(&sub(&rules::unary(UnaryKind::Round, &value)?, &value)?)?;
        let are_whole = logical_and(&is_whole(&n)?, &is_whole(&k)?)?;
        let is_finite = rules::unary(UnaryKind::IsFinite, &value)?;
        let correction = select(&logical_and(&are_whole, &is_finite)?, &error, &zero)?;
        select(&is_inside, &add(&value, &correction)?, &zero)
    })
}

/// Logarithm of the multivariate gamma function of dimension `d`.
///
/// `d * (d - 1) / 4 * log(pi)` plus the sum of `gammaln(a - i / 2)` for `i` below `d`; NaN unless `a > (d - 1) / 2`. The result has
/// the shape of `a`. Integers and booleans are converted to float32; floating dtypes are kept. Fails for complex numbers and if
/// `d` is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::special};
/// let y = special::multigammaln(&Array::from(1.0), 1)?;
/// assert_eq!(y.item()?.as_f64(), 0.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn multigammaln(a: &Array, d: i64) -> Result<Array> {
    ensure!(d > 0, Value("multigammaln"), "d must be positive, got {d}");
    composed("multigammaln", a, |a| {
        let (d, axis) = (d as f64, [-1]);
        let is_inside = greater(a, &constant(a, (d - 1.0) / 2.0))?;
        let a = select(&is_inside, a, &constant(a, f64::NAN))?;
        let steps = arange(0.0, d / 2.0, 0.5, a.dtype())?;
        let terms = rules::unary(UnaryKind::LogGamma, &subtract(&expand_dims(&a, &axis)?, &steps)?)?;
        add(&sum(&terms, Some(&axis), KeepAxes::No)?, &constant(&a, d * (d - 1.0) / 4.0 * PI.ln()))
    })
}
