//! The gamma function, its logarithm, the derivatives of that (digamma and polygamma), and Hurwitz' zeta function, which gives
//! the polygamma functions (DLMF 5.2, 5.11, 5.15, 25.2, 25.4, 25.11), in f64.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::dual::{Dual, Real};

/// The positive root of digamma, in two parts.
const ROOT: f64 = 1.4616321449683622;
const ROOT_LOW: f64 = 9.549995429965697e-17;

/// `digamma(x) / (x - root)` on `[1, 2]`, in powers of `x - 3/2`.
const SLOPE: [f64; 25] = [
    0.9510558760318328,
    -0.42362742128146047,
    0.2405424842407869,
    -0.14840492305391872,
    0.09498872445291817,
    -0.06192213327154086,
    0.04076083393802232,
    -0.026975796849870903,
    0.017907248451446506,
    -0.011908215022954471,
    0.007927018239564994,
    -0.005280020264450306,
    0.0035181643354796027,
    -0.0023446244638506528,
    0.0015627663530553948,
    -0.0010424375640517788,
    0.000695057895230654,
    -0.00045917430083105225,
    0.0003054969030525749,
    -0.00022008418201681154,
    0.00014834456823461422,
    -5.76048865255672e-05,
    3.592996803689913e-05,
    -8.401289563760489e-05,
    5.7657294642229025e-05,
];

/// `B(2k) / 2k`: the asymptotic series of digamma.
const TAIL: [f64; 11] = [
    0.08333333333333333,
    -0.008333333333333333,
    0.003968253968253968,
    -0.004166666666666667,
    0.007575757575757576,
    -0.021092796092796094,
    0.08333333333333333,
    -0.4432598039215686,
    3.0539543302701198,
    -26.456212121212122,
    281.46014492753625,
];

/// `B(2k) / (2k)!`: the corrections of the Euler-Maclaurin formula.
const CORRECTIONS: [f64; 12] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
];

/// Below this `q`, [`zeta`] uses the period of the sum over all integers.
const LOWEST_SUMMED: f64 = -20.0;

/// `B(2k) / (2k (2k - 1))`: the asymptotic series of the correction to Stirling's formula.
const STIRLING: [f64; 9] = [
    0.08333333333333333,
    -0.002777777777777778,
    0.0007936507936507937,
    -0.0005952380952380953,
    0.0008417508417508417,
    -0.0019175269175269176,
    0.00641025641025641,
    -0.029550653594771242,
    0.17964437236883057,
];

/// `Γ(x)`; infinite at zero, NaN at the negative integers.
pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// `log |Γ(x)|` and the sign of `Γ(x)`.
pub fn log_gamma_and_sign(x: f64) -> (f64, f64) {
    let (logarithm, sign) = libm::lgamma_r(x);
    (logarithm, f64::from(sign))
}

/// `log Γ(x) - (x - 1/2) log x + x - log √(2π)` for `x >= 10`.
pub fn stirling_correction(x: f64) -> f64 {
    let z = 1.0 / (x * x);
    STIRLING.iter().rev().fold(0.0f64, |sum, &c| sum.mul_add(z, c)) / x
}

/// The derivative of [`stirling_correction`].
pub fn stirling_correction_slope(x: f64) -> f64 {
    let z = 1.0 / (x * x);
    let sum =
        STIRLING.iter().enumerate().rev().fold(0.0f64, |sum, (k, &c)| sum.mul_add(z, c * (2 * k + 1) as f64));
    -z * sum
}

/// `log |Γ(x)|`
pub fn log_gamma(x: f64) -> f64 {
    // Like C99 for NaN and infinities; poles at zero and the negative integers.
    libm::lgamma(x)
}

/// The derivative of [`log_gamma`]. Infinite at zero, NaN at the negative integers.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        // ψ(x) = ψ(1 - x) - π / tan πx, where the tangent depends only on the fraction of x.
        let fraction = x - x.round();
        return if fraction == 0.0 || x.is_infinite() {
            f64::NAN
        } else {
            digamma(1.0 - x) - PI / (PI * fraction).tan()
        };
    }
    if x < 1.0 {
        return digamma_between(x + 1.0, -1.0 / x);
    }
    if x >= 8.0 {
        return x.ln() - digamma_deficit(x);
    }
    // ψ(x) = ψ(x - n) + Σ 1/(x - k); all terms have the same sign, except possibly a small last one.
    let (mut base, mut sum) = (x, 0.0);
    while base >= 2.0 {
        base -= 1.0;
        sum += 1.0 / base;
    }
    digamma_between(base, sum)
}

/// `log x - digamma(x)` for `x >= 8`.
pub fn digamma_deficit(x: f64) -> f64 {
    let z = 1.0 / (x * x);
    0.5 / x + TAIL.iter().rev().fold(0.0, |sum, &c| z * (c + sum))
}

/// `digamma(y) - digamma(x)` for positive `x` and `y = x + h`; the logarithms of large arguments do not cancel.
pub fn digamma_difference(x: f64, y: f64, h: f64) -> f64 {
    if x.min(y) < 8.0 {
        return digamma(y) - digamma(x);
    }
    (h / x).ln_1p() + (digamma_deficit(x) - digamma_deficit(y))
}

/// `digamma(x) + more` for `x` in `[1, 2]`, without cancellation near the root.
fn digamma_between(x: f64, more: f64) -> f64 {
    let t = x - 1.5;
    let slope = SLOPE.iter().rev().fold(0.0f64, |sum, &c| sum.mul_add(t, c));
    ((x - ROOT) - ROOT_LOW).mul_add(slope, more)
}

/// The derivative of order `n` of [`digamma`], for whole `n >= 0` (DLMF 5.15.1, which also holds below zero).
pub fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n.is_nan() || n < 0.0 || n.fract() != 0.0 {
        return f64::NAN;
    }
    let magnitude = gamma(n + 1.0) * zeta(n + 1.0, x);
    if n % 2.0 == 0.0 { -magnitude } else { magnitude }
}

/// `ζ(s, q) = Σ (q + n)^-s`, for whole `s` also below `q = 0`; infinite at the poles `s = 1` and `q = 0, -1, …`. For `q = 1` and
/// `s < 1` Riemann's zeta function, NaN elsewhere.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if s < 1.0 {
        return if q == 1.0 { riemann_zeta_below(s) } else { f64::NAN };
    }
    if s == 1.0 || (q <= 0.0 && q.fract() == 0.0) {
        return f64::INFINITY;
    }
    if q < 0.0 && (s.fract() != 0.0 || q.is_infinite()) {
        return f64::NAN;
    }
    if q < LOWEST_SUMMED {
        // The sum over all integers has period 1; subtract its part below q. Differences of q from integers are exact here.
        let fraction = q - q.floor();
        let below = zeta(s, 1.0 - fraction) - zeta(s, 1.0 - q);
        return zeta(s, fraction) + if s % 2.0 == 0.0 { below } else { -below };
    }
    if q.is_infinite() {
        return 0.0;
    }
    euler_maclaurin(s, q)
}

/// The derivative of [`zeta`] with respect to `s`, for positive `q`: below, only whole `s` have a value. Infinite at the poles.
pub fn zeta_slope(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || q < 0.0 || (s < 1.0 && q != 1.0) {
        return f64::NAN;
    }
    if s == 1.0 {
        return f64::NEG_INFINITY;
    }
    if q == 0.0 {
        return f64::INFINITY;
    }
    if q.is_infinite() || s == f64::INFINITY {
        return if s.is_infinite() && q < 1.0 { f64::INFINITY } else { 0.0 };
    }
    let s = Dual::parameter(s);
    if s.value() < 1.0 { riemann_zeta_below(s) } else { euler_maclaurin(s, q) }.slope()
}

/// `ζ(s)` for `s < 1`.
fn riemann_zeta_below<T: Real>(s: T) -> T {
    if s.value() >= 0.0 {
        return euler_maclaurin(s, 1.0);
    }
    // DLMF 25.4.1, where the sine depends only on s modulo 4 and is zero at the even numbers.
    let remainder = s.value() % 4.0;
    let sine = if remainder % 2.0 == 0.0 { 0.0 } else { (FRAC_PI_2 * remainder).sin() };
    let sine = T::new(sine, || FRAC_PI_2 * (FRAC_PI_2 * remainder).cos() * s.slope());
    if (sine.value() == 0.0 && sine.slope() == 0.0) || s.value().is_infinite() {
        return sine;
    }
    let reflected = T::constant(1.0) - s;
    let order = reflected.value();
    let growth = if order < 161.0 {
        TAU.powf(-order) * gamma(order)
    } else {
        (log_gamma(order) - order * TAU.ln()).exp()
    };
    let growth = T::new(growth, || growth * (digamma(order) - TAU.ln()) * reflected.slope());
    T::constant(2.0) * growth * sine * euler_maclaurin(reflected, 1.0)
}

/// The Euler-Maclaurin formula for the sum over `(q + n)^-s` (DLMF 25.11.5).
fn euler_maclaurin<T: Real>(s: T, q: f64) -> T {
    let power = |base: f64| {
        let power = base.powf(-s.value());
        T::new(power, || -s.slope() * base.ln() * power)
    };
    let one = T::constant(1.0);
    let (mut sum, mut from) = (T::constant(0.0), q);
    // The corrections decrease quickly from here on.
    let start = s.value().max(12.0);
    while from < start {
        let term = power(from);
        sum = sum + term;
        from += 1.0;
        // The sum of all further terms is less than the term times `from / (s - 1)`.
        if from > 1.0
            && s.value() > 1.0
            && term.is_negligible(sum, 0.1 * f64::EPSILON * (s.value() - 1.0) / from)
        {
            return sum;
        }
    }
    let last = power(from);
    if last.value() == 0.0 {
        return sum;
    }
    let mut factor = s * last / T::constant(from);
    let mut tail = last * (T::constant(0.5) + T::constant(from) / (s - one));
    for (k, &c) in CORRECTIONS.iter().enumerate() {
        tail = tail + T::constant(c) * factor;
        let odd = (2 * k + 1) as f64;
        let growth = (s + T::constant(odd)) * (s + T::constant(odd + 1.0));
        factor = factor * growth / T::constant(from * from);
    }
    sum + tail
}
