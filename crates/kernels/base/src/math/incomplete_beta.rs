//! The regularised incomplete beta function (DLMF 8.17) and its derivatives, in f64.

use std::f64::consts::TAU;

use super::beta::beta;
use super::dual::{Dual, Real};
use super::gamma::{digamma_deficit, digamma_difference, stirling_correction};
use super::incomplete_gamma::{is_last, log1p_deficit};

/// From here on, Stirling's formula gives the beta function relative to the powers in [`weight`].
const STIRLING_START: f64 = 10.0;

/// A parameter that stands for zero in derivatives; the gamma function is finite there.
const SMALLEST: f64 = 1e-300;

/// `I_x(a, b)` for `a, b >= 0` and `x` in `[0, 1]`; NaN elsewhere and where `a` and `b` are both zero or both infinite.
pub fn betainc(a: f64, b: f64, x: f64) -> f64 {
    if let Some(value) = boundary(a, b, x) {
        return value;
    }
    match part(a, b, x) {
        Part::Lower(lower) => lower.min(1.0),
        Part::Upper(upper) => 1.0 - upper,
    }
}

/// The derivative of [`betainc`] with respect to `a`. At `a = 0` the one from above.
pub fn betainc_slope_a(a: f64, b: f64, x: f64) -> f64 {
    // No argument so small changes the derivative.
    let a = if a == 0.0 && b > 0.0 { SMALLEST } else { a };
    slope(a, b, x, Dual::parameter(a), Dual::constant(b))
}

/// The derivative of [`betainc`] with respect to `b`. At `b = 0` the one from above.
pub fn betainc_slope_b(a: f64, b: f64, x: f64) -> f64 {
    let b = if b == 0.0 && a > 0.0 { SMALLEST } else { b };
    slope(a, b, x, Dual::constant(a), Dual::parameter(b))
}

/// A derivative of [`betainc`], given the parameters with theirs.
fn slope(a: f64, b: f64, x: f64, dual_a: Dual, dual_b: Dual) -> f64 {
    if let Some(value) = boundary(a, b, x) {
        return if value.is_nan() { value } else { 0.0 };
    }
    match part(dual_a, dual_b, x) {
        Part::Lower(lower) => lower.slope(),
        Part::Upper(upper) => -upper.slope(),
    }
}

/// `I_x(a, b)` where an argument is at the boundary of its domain or outside.
fn boundary(a: f64, b: f64, x: f64) -> Option<f64> {
    let is_inside = a >= 0.0 && b >= 0.0 && (0.0..=1.0).contains(&x);
    if !is_inside || (a == b && (a == 0.0 || a.is_infinite())) {
        return Some(f64::NAN);
    }
    if x == 0.0 || x == 1.0 {
        return Some(x);
    }
    if a == 0.0 || b.is_infinite() {
        return Some(1.0);
    }
    (b == 0.0 || a.is_infinite()).then_some(0.0)
}

/// `I_x(a, b)` or its complement.
enum Part<T> {
    Lower(T),
    Upper(T),
}

/// The part that the continued fraction gives without cancellation.
fn part<T: Real>(a: T, b: T, x: f64) -> Part<T> {
    let y = 1.0 - x;
    let excess = excess(a.value(), b.value(), x, y);
    let weight = weight(a.value(), b.value(), x, y, excess);
    let excess = T::new(excess, || y.mul_add(a.slope(), -x * b.slope()));
    let lower = || tail(a, b, x, y, excess, weight);
    // On either side of the maximum of the integrand, the continued fraction converges fast.
    if excess.value() >= 0.0 {
        return Part::Lower(lower());
    }
    let upper = tail(b, a, y, x, -excess, weight);
    // For small `b` the result may be small on this side too. Near one, the fraction takes too long, and the result is not small
    // unless `b` is tiny.
    if upper.value() < 0.9 || y < 1e-6 { Part::Upper(upper) } else { Part::Lower(lower()) }
}

/// `I_x(a, b)` by the continued fraction, given [`weight`].
fn tail<T: Real>(a: T, b: T, x: f64, y: f64, excess: T, weight: f64) -> T {
    let (p, q) = (a.value(), b.value());
    // The logarithmic derivatives of weight / a. That with respect to b may be large where b is small: so is that of the tail.
    let weight = T::new(weight / p, || {
        let (of_a, of_b) = if p.min(q) < STIRLING_START {
            // The smaller of x and y is exact.
            let logarithm = |x: f64, y: f64| if x < 0.5 { x.ln() } else { (-y).ln_1p() };
            (
                logarithm(x, y) + digamma_difference(p + 1.0, p + q, q - 1.0),
                logarithm(y, x) + digamma_difference(q, p + q, p),
            )
        } else {
            // The logarithms cancel near the maximum of the integrand.
            let deficit = digamma_deficit(p + q);
            (
                (-excess.value() / p).ln_1p() + digamma_deficit(p) - deficit - 1.0 / p,
                (excess.value() / q).ln_1p() + digamma_deficit(q) - deficit,
            )
        };
        weight / p * (of_a * a.slope() + of_b * b.slope())
    });
    weight / fraction(a, b, x, y, excess)
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

/// `x^a y^b / (a B(a, b) I_x(a, b))`: the even part of the continued fraction DLMF 8.17.22, in the form of Didonato and Morris
/// ("Algorithm 708", 1992), whose terms do not cancel where `excess` is positive; by the method of Lentz.
fn fraction<T: Real>(a: T, b: T, x: f64, y: f64, excess: T) -> T {
    // No denominator is zero.
    let nonzero = |t: T| if t.value().abs() < 1e-290 { T::constant(1e-290) } else { t };
    let (one, two, x) = (T::constant(1.0), T::constant(2.0), T::constant(x));
    let mut value = nonzero((excess + one) / (a + one));
    let (mut c, mut d) = (value, T::constant(0.0));
    for m in 1..100_000 {
        let is_first = m == 1;
        let m = T::constant(f64::from(m));
        let order = two.mul_add(m, a);
        let quotient = m * (b - m) * x / (order - one);
        // The whole fraction is divided by a, and so is its first numerator.
        let factor = if is_first { one } else { a + m - one };
        let numerator = factor / (order - one) * (a + b + m - one) * x * quotient;
        let denominator =
            m + quotient + (a + m) / (order + one) * m.mul_add(T::constant(1.0 + y), excess + one);
        d = one / nonzero(numerator.mul_add(d, denominator));
        c = nonzero(denominator + numerator / c);
        value = value * (c * d);
        if is_last(c, d, value) {
            break;
        }
    }
    value
}
