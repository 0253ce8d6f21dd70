//! Logarithms of ratios of probabilities: log-odds and the terms of entropies, in f64.

/// `log(p / (1 - p))`
pub fn logit(p: f64) -> f64 {
    // From 1/4 on, 2p - 1 is exact, and there is no cancellation near 1/2.
    if p < 0.25 { (p / (1.0 - p)).ln() } else { 2.0 * libm::atanh(2.0 * p - 1.0) }
}

/// `-x log x`, zero at zero and `-∞` below.
pub fn entr(x: f64) -> f64 {
    if x > 0.0 {
        -x * x.ln()
    } else if x == 0.0 {
        0.0
    } else if x < 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
    }
}

/// `x log(x / y)`, zero where `x` is zero and `y` is not negative, `∞` outside the domain.
pub fn rel_entr(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 && y >= 0.0 {
        return 0.0;
    }
    if x <= 0.0 || y <= 0.0 {
        return f64::INFINITY;
    }
    let ratio = x / y;
    if (0.5..2.0).contains(&ratio) {
        // The difference is exact.
        return x * ((x - y) / y).ln_1p();
    }
    // The quotient may overflow or underflow where the difference of logarithms does not.
    if ratio.is_normal() { x * ratio.ln() } else { x * (x.ln() - y.ln()) }
}
