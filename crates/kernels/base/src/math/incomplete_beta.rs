//! The regularised incomplete beta function (DLMF 8.17) and its derivative, in f64.

use std::f64::consts::TAU;

use super::beta::beta;
use super::gamma::stirling_correction;
use super::incomplete_gamma::log1p_deficit;

/// From here on, Stirling's formula gives the beta function relative to the powers in [`weight`].
const STIRLING_START: f64 = 10.0;

/// `I_x(a, b)` for `a, b >= 0` and `x` in `[0, 1]`; NaN elsewhere and where `a` and `b` are both zero or both infinite.
pub fn betainc(a: f64, b: f64, x: f64) -> f64 {
    let is_inside = a >= 0.0 && b >= 0.0 && (0.0..=1.0).contains(&x);
    if !is_inside || (a == b && (a == 0.0 || a.is_infinite())) {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    if a == 0.0 || b.is_infinite() {
        return 1.0;
    }
    if b == 0.0 || a.is_infinite() {
        return 0.0;
    }
    let y = 1.0 - x;
    let excess = excess(a, b, x, y);
    let lower = || (weight(a, b, x, y, excess) / fraction(a, b, x, y, excess)).min(1.0);
    // On either side of the maximum of the integrand, the continued fraction converges fast.
    if excess >= 0.0 {
        return lower();
    }
    let upper = weight(a, b, x, y, excess) / fraction(b, a, y, x, -excess);
    // For small `b` the result may be small on this side too. Near one, the fraction takes too long, and the result is not small
    // unless `b` is tiny.
    if upper < 0.9 || y < 1e-6 { 1.0 - upper } else { lower() }
}

/// `a y - b x` for `y = 1 - x`, with the rounding errors of the difference and of a product.
fn excess(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let product = b * x;
    y.mul_add(a, -product) - x.mul_add(b, -product) + a * ((1.0 - y) - x)
}

/// `x^(a-1) (1-x)^(b-1) / B(a, b)`, the derivative of [`betainc`] with respect to `x`.
pub fn beta_density(a: f64, b: f64, x: f64) -> f64 {
    if a.is_nan() || b.is_nan() || !(0.0..=1.0).contains(&x) {
        return f64::NAN;
    }
    let y = 1.0 - x;
    if a.min(b) >= STIRLING_START && x > 0.0 && x < 1.0 {
        return weight(a, b, x, y, excess(a, b, x, y)) / (x * y);
    }
    x.powf(a - 1.0) * power_of_complement(x, b - 1.0) / beta(a, b)
}

/// `(1 - x)^b`
fn power_of_complement(x: f64, b: f64) -> f64 {
    if b == 0.0 {
        1.0
    } else if x >= 0.5 {
        // The difference is exact.
        (1.0 - x).powf(b)
    } else {
        (b * (-x).ln_1p()).exp()
    }
}

/// `x^a y^b / B(a, b)` for `x` between 0 and 1, given `y = 1 - x` and [`excess`].
fn weight(a: f64, b: f64, x: f64, y: f64, excess: f64) -> f64 {
    if a.min(b) < STIRLING_START {
        return x.powf(a) * power_of_complement(x, b) / beta(a, b);
    }
    // Relative to the maximum, which is at a / (a + b), the terms of first order cancel.
    let sum = a + b;
    let logarithm = a * log1p_deficit(-excess / a, x * sum / a) + b * log1p_deficit(excess / b, y * sum / b);
    let corrections = stirling_correction(sum) - stirling_correction(a) - stirling_correction(b);
    (a / sum * b / TAU).sqrt() * (corrections - logarithm).exp()
}

/// `x^a y^b / (B(a, b) I_x(a, b))`: the even part of the continued fraction DLMF 8.17.22, in the form of Didonato and Morris
/// ("Algorithm 708", 1992), whose terms do not cancel where `excess` is positive; by the method of Lentz.
fn fraction(a: f64, b: f64, x: f64, y: f64, excess: f64) -> f64 {
    // No denominator is zero.
    let nonzero = |t: f64| if t.abs() < 1e-290 { 1e-290 } else { t };
    let mut value = nonzero(a * (excess + 1.0) / (a + 1.0));
    let (mut c, mut d) = (value, 0.0);
    for m in 1..100_000 {
        let m = f64::from(m);
        let order = 2.0f64.mul_add(m, a);
        let quotient = m * (b - m) * x / (order - 1.0);
        let numerator = (a + m - 1.0) / (order - 1.0) * (a + b + m - 1.0) * x * quotient;
        let denominator = m + quotient + (a + m) / (order + 1.0) * m.mul_add(1.0 + y, excess + 1.0);
        d = 1.0 / nonzero(f64::mul_add(numerator, d, denominator));
        c = nonzero(denominator + numerator / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 0.5 * f64::EPSILON {
            break;
        }
    }
    value
}
