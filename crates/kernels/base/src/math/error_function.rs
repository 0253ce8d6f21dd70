//! Functions derived from the complementary error function (DLMF 7): its scaled form, its inverse, and the normal distribution,
//! in f64.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use super::float64;

/// `1/√2 - FRAC_1_SQRT_2`.
const FRAC_1_SQRT_2_LOW: f64 = -4.833646656726457e-17;
/// Above this argument, the continued fraction of [`erfcx`] with [`LEVELS`] levels is used.
const FRACTION_START: f64 = 6.0;
/// Levels of the continued fraction: more change nothing at [`FRACTION_START`].
const LEVELS: u32 = 28;

/// `e^(x²) erfc(x)`
pub fn erfcx(x: f64) -> f64 {
    let a = x.abs();
    if x < 0.0 {
        return 2.0 * exp_square(a) - erfcx(a);
    }
    if a < 0.5 {
        return exp_square(a) * libm::erfc(a);
    }
    if a <= FRACTION_START {
        return float64::erfcx_middle(a);
    }
    // DLMF 7.9.1, from the innermost level.
    let tail = (1..=LEVELS).rev().fold(0.0, |tail, k| 0.5 * f64::from(k) / (a + tail));
    0.5 * FRAC_2_SQRT_PI / (a + tail)
}

/// `e^(x²)`, corrected by the rounding error of `x²`.
fn exp_square(x: f64) -> f64 {
    let square = x * x;
    let e = square.exp();
    if e.is_finite() { x.mul_add(x, -square).mul_add(e, e) } else { e }
}

/// The inverse of `erfc` on `[0, 2]`.
pub fn erfcinv(y: f64) -> f64 {
    // Both differences are exact.
    if y > 1.5 {
        return -erfcinv_small(2.0 - y);
    }
    if y >= 0.5 { float64::erfinv(1.0 - y) } else { erfcinv_small(y) }
}

/// The inverse of `erfc` below one half, by Halley's method on the logarithm of `erfc`.
fn erfcinv_small(y: f64) -> f64 {
    if y == 0.0 {
        return f64::INFINITY;
    }
    let target = -y.ln();
    if target.is_nan() {
        return f64::NAN;
    }
    let mut x = (target - 0.5 * (std::f64::consts::PI * target).ln()).sqrt();
    for _ in 0..4 {
        let scaled = erfcx(x);
        let excess = scaled.ln() - x * x + target;
        let slope = -FRAC_2_SQRT_PI / scaled;
        let newton = excess / slope;
        // The second derivative is -slope (2x + slope).
        x -= newton / (0.5 * newton).mul_add(2.0f64.mul_add(x, slope), 1.0);
        if newton.abs() <= 1e-6 * x {
            break;
        }
    }
    x
}

/// The distribution function of the standard normal distribution, `erfc(-x/√2) / 2`.
pub fn ndtr(x: f64) -> f64 {
    if x.abs() > 40.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    // -x/√2 as a sum: the relative error of erfc is x² times that of its argument.
    let t = -x * FRAC_1_SQRT_2;
    let low = (-x).mul_add(FRAC_1_SQRT_2, -t) - x * FRAC_1_SQRT_2_LOW;
    let slope = FRAC_2_SQRT_PI * (-t * t).exp();
    0.5 * (-low).mul_add(slope, libm::erfc(t))
}

/// The logarithm of [`ndtr`].
pub fn log_ndtr(x: f64) -> f64 {
    if x < -1.0 {
        return (0.5 * erfcx(-x * FRAC_1_SQRT_2)).ln() - 0.5 * x * x;
    }
    (-ndtr(-x)).ln_1p()
}
