//! The error function's relatives and the standard normal distribution (DLMF 7).

use umber_types::{Result, UnaryKind};

use super::{composed, example, unary, unary_functions};
use crate::graph::Array;
use crate::primitives::rules::{constant, mul, sub, zeros_like};

unary_functions! {
    /// Scaled complementary error function of each element: `exp(x**2) * erfc(x)`.
    erfcx Erfcx: [0.0, f64::INFINITY] => [1.0, 0.0],
    /// Inverse of the complementary error function of each element, for elements in [0, 2].
    erfcinv ErfcInv: [1.0, 0.0] => [0.0, f64::INFINITY],
    /// Distribution function of the standard normal distribution at each element.
    ndtr Ndtr: [0.0, f64::INFINITY] => [0.5, 1.0],
    /// Logarithm of the distribution function of the standard normal distribution, accurate in both tails.
    log_ndtr LogNdtr: [0.0, f64::NEG_INFINITY] => [0.5f64.ln(), f64::NEG_INFINITY],
}

/// Quantile function of the standard normal distribution, the inverse of `ndtr`.
///
/// NaN outside [0, 1]. The result has the shape of `p`. Integers and booleans are converted to float32; floating dtypes are
/// kept. Fails for complex numbers.
///
#[doc = example!(ndtri, [0.5, 1.0] => [0.0, f64::INFINITY])]
pub fn ndtri(p: &Array) -> Result<Array> {
    composed("ndtri", p, |p| {
        let inverse = unary(UnaryKind::ErfcInv, &mul(p, &constant(p, 2.0))?)?;
        // A difference, so that the median is a positive zero.
        sub(&zeros_like(p), &mul(&inverse, &constant(p, std::f64::consts::SQRT_2))?)
    })
}
