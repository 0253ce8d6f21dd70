//! The error function and its inverse.

use super::{clamp, exp, log_plus, poly};
use crate::isa::Isa;
use crate::math::float64;

/// `2/√π ∫₀ˣ e^(-t²) dt`
#[inline(always)]
pub fn erf<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let p = [-0.37612635, 0.112837054, -0.026859784, 0.0052017914, -0.0008150004, 8.397394e-5];
    // 2/√π as a sum of two f32; the term with `low` is less than an eighth of the sum.
    let low = I::fma32(z, poly::<I, 6>(z, p), -5.8635382771399236e-8);
    let small = I::fma32(a, 1.128379225730896, a * low);
    // log erfc is smooth, and its error is scaled by erfc itself.
    let q = [
        0.00017471616,
        -1.1295152,
        -0.6333462,
        -0.10828116,
        0.025120338,
        -0.0041715037,
        0.0004345749,
        -2.1106682e-5,
    ];
    let large = 1.0 - exp::<I>(poly::<I, 8>(clamp(a, 0.0, 4.0), q));
    (if a < 0.92 { small } else { large }).copysign(x)
}

/// True if [`erfinv_central`] supports `x`.
#[inline(always)]
pub fn erfinv_is_central(x: f32) -> bool {
    x.abs() <= 0.9966
}

/// The inverse of `erf` away from the ends: `x` times a polynomial in `w = -log(1 - x²)` up to five, as in Giles, "Approximating
/// the erfinv function" (GPU Computing Gems 2, 2011), with other coefficients.
#[inline(always)]
pub fn erfinv_central<I: Isa>(x: f32) -> f32 {
    let t = -log_plus::<I>(I::fma32(-x, x, 1.0), 1.0);
    let slope = poly::<I, 10>(
        t,
        [
            0.24783288,
            0.0042507164,
            -0.002376449,
            0.00010013382,
            3.8315902e-5,
            -4.346319e-6,
            -5.9704706e-7,
            1.7044403e-7,
            -1.3805995e-8,
            3.3554592e-10,
        ],
    );
    const START: f32 = 1.1273744;
    let high = I::fma32(slope, t, START);
    let low = I::fma32(slope, t, START - high);
    // Compensate for the rounding errors of the sum and of the product.
    let y = x * high;
    let y = y + I::fma32(x, low, I::fma32(x, high, -y));
    if x == 0.0 { x } else { y }
}

/// The inverse of `erf`, computed in f64.
#[inline(always)]
pub fn erfinv(x: f32) -> f32 {
    let y = float64::erfinv_single(f64::from(x)) as f32;
    if x == 0.0 { x } else { y }
}
