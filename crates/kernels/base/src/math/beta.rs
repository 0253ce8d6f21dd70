//! The beta function and its logarithm (DLMF 5.12), in f64.

use std::f64::consts::TAU;

use super::gamma::{digamma, gamma, log_gamma, log_gamma_and_sign, stirling_correction};

/// `log |B(a, b)|`
pub fn betaln(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a <= 0.0 || b <= 0.0 {
        return below(a, b).1;
    }
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if large.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if large < 10.0 {
        return if is_product_in_range(small) { ratio(small, large).ln() } else { log_gamma(small) };
    }
    // log Γ(large) - log Γ(small + large), by Stirling's formula for both (DLMF 5.11.1).
    let sum = small + large;
    let corrections = stirling_correction(large) - stirling_correction(sum);
    let quotient = (small / large).ln_1p();
    if small < 10.0 {
        let difference = (0.5 - large).mul_add(quotient, small) - small * sum.ln();
        return log_gamma(small) + (difference + corrections);
    }
    // The same for Γ(small).
    let logarithm = 0.5 * (TAU / large).ln() + (small - 0.5) * (small / sum).ln() - large * quotient;
    logarithm + (corrections + stirling_correction(small))
}

/// `B(a, b)`
pub fn beta(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a <= 0.0 || b <= 0.0 {
        let (sign, logarithm) = below(a, b);
        return sign * logarithm.exp();
    }
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if a + b < 160.0 && is_product_in_range(small) { ratio(small, large) } else { betaln(a, b).exp() }
}

/// Whether `Γ(small)` is finite.
fn is_product_in_range(small: f64) -> bool {
    small > 1e-300
}

/// `Γ(large) Γ(small) / Γ(small + large)`, corrected by the rounding error of the sum.
fn ratio(small: f64, large: f64) -> f64 {
    let sum = small + large;
    let error = small - (sum - large);
    gamma(large) / gamma(sum) * gamma(small) * (-error).mul_add(digamma(sum), 1.0)
}

/// The sign and the logarithm of `|B(a, b)|` where `a` or `b` is not positive. At their poles the function is finite only if the
/// other argument is a whole number that cancels the pole.
fn below(a: f64, b: f64) -> (f64, f64) {
    for (pole, other) in [(a, b), (b, a)] {
        if pole <= 0.0 && pole.fract() == 0.0 {
            let is_finite = other.fract() == 0.0 && other > 0.0 && 1.0 - pole - other > 0.0;
            if !is_finite {
                return (1.0, f64::INFINITY);
            }
            let sign = if other % 2.0 == 0.0 { 1.0 } else { -1.0 };
            return (sign, betaln(1.0 - pole - other, other));
        }
    }
    let [(a, sign_a), (b, sign_b), (sum, sign_sum)] = [a, b, a + b].map(log_gamma_and_sign);
    (sign_a * sign_b * sign_sum, a + b - sum)
}
