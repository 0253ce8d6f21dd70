//! Exponential integrals (DLMF 6, 8.19) and the dilogarithm (DLMF 25.12), in f64.

use std::f64::consts::PI;

use super::gamma::digamma;

/// Euler's constant.
const EULER: f64 = 0.5772156649015329;
/// The positive root of `Ei`, in two parts.
const ROOT: f64 = 0.3725074107813666;
const ROOT_LOW: f64 = 1.3140183414386028e-17;
/// From here on, the terms of the asymptotic series of `Ei` fall below the rounding error.
const ASYMPTOTIC_START: f64 = 40.0;
/// Orders below this are not computed: the recurrence takes as many steps.
const LOWEST_ORDER: f64 = -10_000.0;

/// `E₁(x) = ∫ₓ^∞ e^-t / t dt`; infinite at zero, NaN below.
pub fn exp1(x: f64) -> f64 {
    expn(1.0, x)
}

/// `Ei(x)`, the principal value of `∫ e^t / t dt` from minus infinity to `x`; minus infinity at zero.
pub fn expi(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 {
        return -exp1(-x);
    }
    let distance = (x - ROOT) - ROOT_LOW;
    if distance.abs() < 0.1 {
        // Ei(x) - Ei(root), term by term: log(x / root) + Σ (x^k - root^k) / (k k!).
        let (mut sum, mut difference, mut power, mut factorial) =
            ((distance / ROOT).ln_1p(), distance, ROOT, 1.0);
        for k in 1..30 {
            let k = f64::from(k);
            factorial *= k;
            sum += difference / (k * factorial);
            difference = x.mul_add(difference, power * distance);
            power *= ROOT;
        }
        return sum;
    }
    if x < ASYMPTOTIC_START {
        // DLMF 6.6.1.
        let (mut sum, mut term, mut k) = (0.0, 1.0, 0.0);
        while k < x || term > f64::EPSILON * sum {
            k += 1.0;
            term *= x / k;
            sum += term / k;
        }
        return EULER + x.ln() + sum;
    }
    // DLMF 6.12.2.
    let (mut sum, mut term, mut k) = (1.0, 1.0, 0.0);
    while term > 0.25 * f64::EPSILON {
        k += 1.0;
        term *= k / x;
        sum += term;
    }
    // e^x overflows before e^x / x does.
    let half = (0.5 * x).exp();
    half / x * sum * half
}

/// `Eₙ(x) = ∫₁^∞ e^(-xt) / t^n dt` for whole `n` and `x >= 0`.
pub fn expn(n: f64, x: f64) -> f64 {
    if x.is_nan() || x < 0.0 || n.fract() != 0.0 || n < LOWEST_ORDER || n.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 {
        return if n > 1.0 { 1.0 / (n - 1.0) } else { f64::INFINITY };
    }
    if x > 750.0 {
        return 0.0;
    }
    if n <= 0.0 {
        // DLMF 8.19.12 downwards from E₀; all terms are positive.
        let e = (-x).exp();
        let (mut value, mut order) = (e / x, 0.0);
        while order > n {
            order -= 1.0;
            value = (e - order * value) / x;
        }
        return value;
    }
    if x <= 1.0 { expn_series(n, x) } else { expn_fraction(n, x) }
}

/// The power series, with a logarithm in the term of degree `n - 1` (DLMF 8.19.8).
fn expn_series(n: f64, x: f64) -> f64 {
    let logarithmic = n - 1.0;
    let (mut sum, mut term, mut k) = (0.0, 1.0, 0.0);
    loop {
        let next = if k == logarithmic { term * (digamma(n) - x.ln()) } else { -term / (k - logarithmic) };
        sum += next;
        // If the logarithmic term is still to come, it is smaller yet.
        if next.abs() < 0.25 * f64::EPSILON * f64::abs(sum) {
            return sum;
        }
        k += 1.0;
        term *= -x / k;
    }
}

/// The continued fraction DLMF 8.19.17 in its even form for `x > 1`, from the innermost level, which loses no digits.
fn expn_fraction(n: f64, x: f64) -> f64 {
    // The error of `k` levels is e^(-4 √(k x)) at most.
    let levels = (100.0 / x) as u32 + 10;
    let tail =
        (1..=levels).rev().map(f64::from).fold(0.0, |tail, k| k * (n - 1.0 + k) / (x + n + 2.0 * k - tail));
    (-x).exp() / (x + n - tail)
}

/// `B(2k) / (2k + 1)!`
const DILOGARITHM: [f64; 10] = [
    0.027777777777777776,
    -0.0002777777777777778,
    4.72411186696901e-06,
    -9.185773074661964e-08,
    1.8978869988971e-09,
    -4.0647616451442256e-11,
    8.921691020456452e-13,
    -1.9939295860721074e-14,
    4.518980029619918e-16,
    -1.0356517612181247e-17,
];

/// The dilogarithm `Li₂(1 - z) = ∫₁^z log t / (1 - t) dt` for `z >= 0`.
pub fn spence(z: f64) -> f64 {
    let zeta_2 = PI * PI / 6.0;
    if z.is_nan() || z < 0.0 {
        return f64::NAN;
    }
    if z == 0.0 {
        return zeta_2;
    }
    if z < 0.5 {
        // DLMF 25.12.6.
        return zeta_2 - z.ln() * (-z).ln_1p() - spence(1.0 - z);
    }
    if z > 2.0 {
        // DLMF 25.12.4.
        let logarithm = z.ln();
        return -0.5 * logarithm * logarithm - spence(1.0 / z);
    }
    // The series in u = -log z (DLMF 25.12.8, with the Bernoulli numbers of 24.2.1).
    let u = 0.0 - z.ln();
    let square = u * u;
    let series = DILOGARITHM.iter().rev().fold(0.0f64, |sum, &c| sum.mul_add(square, c));
    series.mul_add(u * square, (-0.25 * u).mul_add(u, u))
}
