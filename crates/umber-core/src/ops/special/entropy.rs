//! Log-odds, products with logarithms, and the terms of entropies.

use umber_types::{BinaryKind, Result, UnaryKind};

use super::{binary, binary_functions, composed, composed_of_two, example, unary, unary_functions};
use crate::graph::Array;
use crate::ops::elementwise::{equal, less_equal, logical_and, select};
use crate::primitives::rules::{self, add, constant, mul_absorbing, neg, sub, zeros_like};

unary_functions! {
    /// Log-odds of each element, the inverse of the logistic sigmoid: `log(x / (1 - x))`.
    logit Logit: [0.5, 1.0] => [0.0, f64::INFINITY],
    /// Term of the entropy of each element: `-x * log(x)`, zero at zero, negative infinity below.
    entr Entr: [0.0, 1.0, -1.0] => [0.0, 0.0, f64::NEG_INFINITY],
}

binary_functions! {
    /// Term of the relative entropy of each pair: `x * log(x / y)`, infinity outside the domain.
    rel_entr(x, y) RelEntr: [0.0, 1.0, 1.0], [2.0, 1.0, 0.0] => [0.0, 0.0, f64::INFINITY],
}

/// Term of the Kullback-Leibler divergence of each pair: `x * log(x / y) - x + y`.
///
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
/// broadcast, and for complex numbers.
///
#[doc = example!(kl_div, [0.0, 1.0, 1.0], [2.0, 1.0, 0.0] => [2.0, 0.0, f64::INFINITY])]
pub fn kl_div(x: &Array, y: &Array) -> Result<Array> {
    composed_of_two("kl_div", x, y, |x, y| add(&sub(&rules::binary(BinaryKind::RelEntr, x, y)?, x)?, y))
}

/// Logarithm of the logistic sigmoid of each element: `-log(1 + exp(-x))`.
///
/// The result has the shape of `x`. Integers and booleans are converted to float32; floating dtypes are kept. Fails for complex
/// numbers.
///
#[doc = example!(log_expit, [0.0, f64::NEG_INFINITY] => [0.5f64.ln(), f64::NEG_INFINITY])]
pub fn log_expit(x: &Array) -> Result<Array> {
    composed("log_expit", x, |x| neg(&rules::binary(BinaryKind::LogAddExp, &zeros_like(x), &neg(x)?)?))
}

/// `x * log(y)` of each pair, zero where `x` is zero and `y` is not NaN.
///
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
/// broadcast, and for complex numbers.
///
#[doc = example!(xlogy, [0.0, 2.0], [0.0, 1.0] => [0.0, 0.0])]
pub fn xlogy(x: &Array, y: &Array) -> Result<Array> {
    composed_of_two("xlogy", x, y, |x, y| times_logarithm(UnaryKind::Log, x, y, 0.0))
}

/// `x * log(1 + y)` of each pair, zero where `x` is zero and `y` is not NaN; accurate for small `y`.
///
/// Shapes broadcast, dtypes are promoted. Integers and booleans are converted to float32. Fails if the shapes do not
/// broadcast, and for complex numbers.
///
#[doc = example!(xlog1py, [0.0, 2.0], [-1.0, 0.0] => [0.0, 0.0])]
pub fn xlog1py(x: &Array, y: &Array) -> Result<Array> {
    composed_of_two("xlog1py", x, y, |x, y| times_logarithm(UnaryKind::Log1p, x, y, -1.0))
}

/// `x` times a logarithm of `y`, whose singularity is at `pole`. Where `x` is zero and `y` at or below the pole, the result and its
/// derivatives are zero.
fn times_logarithm(kind: UnaryKind, x: &Array, y: &Array, pole: f64) -> Result<Array> {
    let is_absorbed = logical_and(&equal(x, &zeros_like(x))?, &less_equal(y, &constant(y, pole))?)?;
    let argument = select(&is_absorbed, &constant(y, pole + 1.0), y)?;
    mul_absorbing(x, &rules::unary(kind, &argument)?)
}
