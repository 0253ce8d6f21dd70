//! The incomplete gamma functions `P(a, x)` and `Q(a, x)` (DLMF 8) and their derivatives, in f64.
//!
//! Series for small arguments, a continued fraction for large ones, and for large `a` near `x = a` the uniform expansion of Temme,
//! "On the computation of the incomplete gamma functions for large values of the parameters" (1987), whose coefficients follow
//! from those of one function of one variable.

use std::f64::consts::{FRAC_2_SQRT_PI, TAU};

use super::dual::{Dual, Real};
use super::gamma::{digamma, gamma, log_gamma, stirling_correction, stirling_correction_slope};

/// The smallest `a` for the uniform expansion, which is used for `|η| < 1`.
const UNIFORM_START: f64 = 30.0;

/// Below this `a`, powers of `x` up to the underflow of `e^-x` are finite.
const DIRECT_LIMIT: f64 = 60.0;

/// Taylor coefficients of `η / (λ - 1)`, where `η²/2 = λ - 1 - log λ` and η has the sign of `λ - 1`.
const UNIFORM: [f64; 31] = [
    1.0,
    -0.3333333333333333,
    0.08333333333333333,
    -0.014814814814814815,
    0.0011574074074074073,
    0.0003527336860670194,
    -0.0001787551440329218,
    3.919263178522438e-05,
    -2.185448510679992e-06,
    -1.85406221071516e-06,
    8.296711340953087e-07,
    -1.7665952736826078e-07,
    6.707853543401498e-09,
    1.0261809784240309e-08,
    -4.382036018453353e-09,
    9.14769958223679e-10,
    -2.5514193994946248e-11,
    -5.830772132550426e-11,
    2.4361948020667415e-11,
    -5.0276692801141755e-12,
    1.1004392031956135e-13,
    3.371763262400985e-13,
    -1.392388722418162e-13,
    2.8534893807047445e-14,
    -5.139111834242572e-16,
    -1.9752288294349442e-15,
    8.099521156704561e-16,
    -1.6522531216398162e-16,
    2.5305430097478883e-18,
    1.1686939738559576e-17,
    -4.770037049820485e-18,
];

/// `ζ(k) - 1` for `k >= 2`.
const ZETA_MINUS_1: [f64; 28] = [
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.0020083928260822143,
    0.0009945751278180853,
    0.0004941886041194645,
    0.0002460865533080483,
    0.00012271334757848915,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
    3.81729326499984e-06,
    1.908212716553939e-06,
    9.539620338727962e-07,
    4.769329867878064e-07,
    2.38450502727733e-07,
    1.1921992596531106e-07,
    5.960818905125948e-08,
    2.980350351465228e-08,
    1.4901554828365043e-08,
    7.45071178983543e-09,
    3.725334024788457e-09,
    1.862659723513049e-09,
];

/// `P(a, x) = γ(a, x) / Γ(a)` for `a, x >= 0`; NaN elsewhere and where both are zero or infinite.
pub fn gammainc(a: f64, x: f64) -> f64 {
    if let Some(p) = boundary(a, x) {
        return p;
    }
    if let Some(q) = uniform(a, x) {
        return 0.5 * libm::erfc(-q.scaled) - q.remainder;
    }
    if x <= a.max(1.0) { lower(a, x).min(1.0) } else { 1.0 - upper(a, x) }
}

/// `Q(a, x) = Γ(a, x) / Γ(a)`, which is `1 - P(a, x)`.
pub fn gammaincc(a: f64, x: f64) -> f64 {
    if let Some(p) = boundary(a, x) {
        return 1.0 - p;
    }
    if let Some(q) = uniform(a, x) {
        return 0.5 * libm::erfc(q.scaled) + q.remainder;
    }
    if x > a.max(1.0) {
        upper(a, x)
    } else if a <= 1.0 {
        small_complement(a, x)
    } else {
        1.0 - lower(a, x)
    }
}

/// The derivative of [`gammainc`] with respect to `a`. At `a = 0` the one from above.
pub fn gammainc_slope(a: f64, x: f64) -> f64 {
    // No argument so small changes the derivative.
    let a = if a == 0.0 && x > 0.0 { f64::MIN_POSITIVE } else { a };
    if let Some(p) = boundary(a, x) {
        return if p.is_nan() { p } else { 0.0 };
    }
    let a = Dual::parameter(a);
    if let Some(q) = uniform(a, x) {
        let u = q.scaled.value();
        return 0.5 * FRAC_2_SQRT_PI * (-u * u).exp() * q.scaled.slope() - q.remainder.slope();
    }
    if x <= a.value().max(1.0) { lower(a, x).slope() } else { -upper(a, x).slope() }
}

/// `x^a e^-x / Γ(a + 1)`, whose value at `a - 1` is the derivative of [`gammainc`] with respect to `x`.
pub fn gamma_density(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x.is_infinite() || a.is_infinite() || (a < 0.0 && a.fract() == 0.0) {
        return 0.0;
    }
    if a < DIRECT_LIMIT {
        if x > 1400.0 {
            return 0.0;
        }
        // Half of the exponential at a time: it may underflow where the product does not.
        let half = (-0.5 * x).exp();
        // The rounding error of a + 1 would grow in its gamma function.
        let factorial = if a > 1.0 { a * gamma(a) } else { gamma(a + 1.0) };
        return x.powf(a) * half / factorial * half;
    }
    let exponent = -a * log1p_deficit((x - a) / a, x / a);
    exponent.exp() / ((TAU * a).sqrt() * stirling_correction(a).exp())
}

/// `P(a, x)` where `a` or `x` is zero, infinite or out of the domain.
fn boundary(a: f64, x: f64) -> Option<f64> {
    if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 || (a == x && (a == 0.0 || a.is_infinite())) {
        return Some(f64::NAN);
    }
    if a == 0.0 || x.is_infinite() {
        return Some(1.0);
    }
    (x == 0.0 || a.is_infinite()).then_some(0.0)
}

/// `μ - log(1 + μ)`, given `1 + μ` too, without cancellation near zero.
pub fn log1p_deficit(mu: f64, successor: f64) -> f64 {
    if !(-0.7..1.5).contains(&mu) {
        return mu - successor.ln();
    }
    // log(1 + μ) = 2 artanh r with r = μ / (2 + μ), and μ - 2r = μ r.
    let r = mu / (2.0 + mu);
    let square = r * r;
    let (mut sum, mut power, mut k) = (0.0, r * square, 3.0);
    while f64::abs(power) > 1e-18 * mu * mu {
        sum += power / k;
        power *= square;
        k += 2.0;
    }
    (-2.0f64).mul_add(sum, mu * r)
}

/// The uniform expansion `Q(a, x) = erfc(scaled) / 2 + remainder`.
struct Uniform<T> {
    /// `η √(a/2)`
    scaled: T,
    remainder: T,
}

/// The uniform expansion, where it applies.
fn uniform<T: Real>(a: T, x: f64) -> Option<Uniform<T>> {
    let (parameter, ratio) = (a.value(), x / a.value());
    let mu = (x - parameter) / parameter;
    if parameter < UNIFORM_START || !(-0.7..1.36).contains(&mu) {
        return None;
    }
    let half_square = log1p_deficit(mu, ratio);
    let eta = (2.0 * half_square).sqrt().copysign(mu);
    // The derivative of `μ / η` cancels, so only its value at zero is used.
    let quotient = if mu == 0.0 { 1.0 } else { mu / eta };
    let eta = T::new(eta, || -quotient / parameter * a.slope());
    let exponent = parameter * half_square;
    let scaled = T::new(exponent.sqrt().copysign(mu), || {
        (0.5 * eta.value() - quotient) / (2.0 * parameter).sqrt() * a.slope()
    });
    // The derivative of `a η² / 2` is `-log(x / a)`.
    let decay = (-exponent).exp();
    let decay = T::new(decay, || decay * (mu - half_square) * a.slope());
    // The derivative of both sides gives a recurrence between the coefficients of the remainder's series in η.
    let inverse_gamma = (-stirling_correction(parameter)).exp();
    let inverse_gamma =
        T::new(inverse_gamma, || -inverse_gamma * stirling_correction_slope(parameter) * a.slope());
    let zero = T::constant(0.0);
    let (mut next, mut current, mut sum) = (zero, zero, zero);
    for (n, &coefficient) in UNIFORM.iter().enumerate().skip(1).rev() {
        let order = T::constant(n as f64 + 1.0);
        let found = (order / a).mul_add(next, T::constant(coefficient) * inverse_gamma);
        (next, current) = (current, found);
        sum = sum.mul_add(eta, found);
    }
    Some(Uniform { scaled, remainder: decay / (T::constant(TAU) * a).sqrt() * sum })
}

/// [`gamma_density`] as a function of `a`.
fn density<T: Real>(a: T, x: f64) -> T {
    let density = gamma_density(a.value(), x);
    T::new(density, || density * (x.ln() - digamma(a.value() + 1.0)) * a.slope())
}

/// `P(a, x)` by its series of positive terms (DLMF 8.7.1).
fn lower<T: Real>(a: T, x: f64) -> T {
    let one = T::constant(1.0);
    let (mut sum, mut term, mut n) = (one, one, a);
    while !term.is_negligible(sum, 0.25 * f64::EPSILON) {
        n = n + one;
        term = term * (T::constant(x) / n);
        sum = sum + term;
    }
    density(a, x) * sum
}

/// `Q(a, x)` by its continued fraction (DLMF 8.9.2, even form), with the method of Lentz.
fn upper<T: Real>(a: T, x: f64) -> T {
    let one = T::constant(1.0);
    let mut b = T::constant(x + 1.0) - a;
    let (mut c, mut d) = (T::constant(f64::INFINITY), one / b);
    let mut value = d;
    for k in 1..10_000 {
        let k = T::constant(f64::from(k));
        let numerator = -k * (k - a);
        b = b + T::constant(2.0);
        d = one / numerator.mul_add(d, b);
        c = b + numerator / c;
        value = value * (c * d);
        if is_last(c, d, value) {
            break;
        }
    }
    density(a, x) * a * value
}

/// Whether the method of Lentz has converged after a step that multiplied `product` by `c d`: the factor is one up to rounding, and
/// its derivative is below the rounding error of its two terms or of the product's.
pub(super) fn is_last<T: Real>(c: T, d: T, product: T) -> bool {
    let factor = c * d;
    let terms = (c.slope() * d.value()).abs() + (c.value() * d.slope()).abs();
    let scale = terms + (product.slope() / product.value()).abs();
    (factor.value() - 1.0).abs() < 0.5 * f64::EPSILON && factor.slope().abs() <= 4.0 * f64::EPSILON * scale
}

/// `Q(a, x)` for `a, x <= 1`, without cancellation (DLMF 8.7.1).
fn small_complement(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (0.0, 1.0, 0.0);
    loop {
        n += 1.0;
        term *= -x / n;
        let next = term / (a + n);
        sum += next;
        if next.abs() <= 0.25 * f64::EPSILON * f64::abs(sum) {
            break;
        }
    }
    let logarithm = a * x.ln() - log_gamma_of_successor(a);
    -logarithm.exp_m1() - a * logarithm.exp() * sum
}

/// `log Γ(1 + a)` for `a` in `[0, 1]`, accurate near zero (DLMF 5.7.3).
fn log_gamma_of_successor(a: f64) -> f64 {
    if a > 0.5 {
        return log_gamma(1.0 + a);
    }
    let series =
        ZETA_MINUS_1.iter().enumerate().rev().fold(0.0, |sum, (i, &zeta)| -a * sum + zeta / (i + 2) as f64);
    const ONE_MINUS_EULER: f64 = 0.42278433509846713;
    a * a.mul_add(series, ONE_MINUS_EULER) - a.ln_1p()
}
