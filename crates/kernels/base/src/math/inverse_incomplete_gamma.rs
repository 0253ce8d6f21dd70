//! The inverses of the incomplete gamma functions with respect to `x`, in f64.
//!
//! Halley's method on the logarithm of the smaller of `P` and `Q` as a function of `log x`: where both are small, the logarithm is
//! close to a line. A bracket of the root keeps the steps inside.

use super::error_function::erfcinv;
use super::gamma::log_gamma;
use super::incomplete_gamma::{gamma_density, gammainc, gammaincc};

/// Steps until the bracket alone would have located the root.
const STEPS: u32 = 200;

/// The function whose value is given.
#[derive(Clone, Copy)]
enum Tail {
    Lower,
    Upper,
}

/// The `x` with `gammainc(a, x) = p`; NaN unless `a > 0` and `p` is in `[0, 1]`, but 0 and infinity for `p` of 0 and 1 and `a >= 0`.
pub fn gammaincinv(a: f64, p: f64) -> f64 {
    inverse(a, p, Tail::Lower)
}

/// The `x` with `gammaincc(a, x) = q`.
pub fn gammainccinv(a: f64, q: f64) -> f64 {
    inverse(a, q, Tail::Upper)
}

fn inverse(a: f64, y: f64, tail: Tail) -> f64 {
    if a.is_nan() || a < 0.0 || !(0.0..=1.0).contains(&y) {
        return f64::NAN;
    }
    if y == 0.0 || y == 1.0 {
        let is_start = (y == 0.0) == matches!(tail, Tail::Lower);
        return if is_start { 0.0 } else { f64::INFINITY };
    }
    if a == 0.0 || a.is_infinite() {
        return f64::NAN;
    }
    // Above one half, the complement is exact.
    match tail {
        _ if y <= 0.5 => solve(a, y, tail),
        Tail::Lower => solve(a, 1.0 - y, Tail::Upper),
        Tail::Upper => solve(a, 1.0 - y, Tail::Lower),
    }
}

/// The root, for `y` in `(0, 1/2]`.
fn solve(a: f64, y: f64, tail: Tail) -> f64 {
    let target = y.ln();
    let mut x = start(a, y, target, tail);
    if x == 0.0 {
        return x;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..STEPS {
        let (value, sign) = match tail {
            Tail::Lower => (gammainc(a, x), 1.0),
            Tail::Upper => (gammaincc(a, x), -1.0),
        };
        let excess = value.ln() - target;
        if excess * sign > 0.0 {
            high = x;
        } else {
            low = x;
        }
        // With u = log x: the first derivative of the logarithm, and the ratio of the second to it.
        let slope = sign * gamma_density(a, x) * a / value;
        let newton = excess / slope;
        let curvature = a - x - slope;
        let step = newton / (1.0 - (0.5 * newton * curvature).min(0.5));
        let next = x * (-step).exp();
        if step.abs() <= 1e-6 || next == x {
            return next;
        }
        x = if next > low && next < high {
            next
        } else if high.is_infinite() {
            2.0 * x
        } else if low == 0.0 {
            0.25 * x
        } else {
            low.sqrt() * high.sqrt()
        };
        if x == low || x == high {
            return x;
        }
    }
    x
}

/// An approximation of the root.
fn start(a: f64, y: f64, target: f64, tail: Tail) -> f64 {
    // The first term of the series of P, which is less than P.
    let lower = |target: f64| ((target + log_gamma(a + 1.0)) / a).exp();
    // Wilson and Hilferty, "The distribution of chi-square" (1931): the cube root is almost normal.
    let deviate = std::f64::consts::SQRT_2 * erfcinv(2.0 * y);
    let deviate = if matches!(tail, Tail::Lower) { -deviate } else { deviate };
    let root = deviate.mul_add(1.0 / (3.0 * a.sqrt()), 1.0 - 1.0 / (9.0 * a));
    let cube = a * root * root * root;
    match tail {
        Tail::Lower if a < 1.0 || root < 0.3 => lower(target),
        Tail::Upper if a < 1.0 => {
            // Q is less than x^(a-1) e^-x / Γ(a), and close to it for large x.
            let x = -target - log_gamma(a);
            if x > 1.0 { x + (a - 1.0) * x.ln() } else { lower((-y).ln_1p()) }
        }
        Tail::Lower | Tail::Upper => cube,
    }
}
