//! The error function and its inverse.

use super::{clamp, exp, poly};
use crate::isa::Isa;
use crate::math::float64;

/// `2/√π ∫₀ˣ e^(-t²) dt`
#[inline(always)]
pub(crate) fn erf<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let p = [-0.37612635, 0.112837054, -0.026859784, 0.0052017914, -0.0008150004, 8.397394e-5];
    // 2/√π in two parts; `a` times the rest stays below an eighth of the sum.
    let low = I::fma32(z, poly::<I, 6>(z, p), -5.8635382771399236e-8);
    let small = I::fma32(a, 1.128379225730896, a * low);
    // log erfc is smooth and its error shrinks with erfc itself.
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

/// The number whose error function is `x`, computed in f64.
#[inline(always)]
pub(crate) fn erfinv(x: f32) -> f32 {
    let y = float64::erfinv_single(f64::from(x)) as f32;
    if x == 0.0 { x } else { y }
}
