//! Circular functions and their inverses, and the inverse hyperbolic ones.

use super::{ROUNDER, poly};
use crate::isa::Isa;
use crate::math::float64;

const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;
const HALF_PI_HIGH: f32 = 1.5707963705062866;
const HALF_PI_LOW: f32 = -4.371138828673793e-8;
const HALF_PI_LOWEST: f32 = -1.7151245100058819e-15;
const PI: f32 = std::f32::consts::PI;

/// Up to here [`sin`] and [`cos`] reduce their argument accurately; larger ones need f64.
pub const REDUCTION_LIMIT: f32 = 1e5;

/// `x = q π/2 + r` with `|r| <= π/4`, with π/2 as a sum of three f32 (Cody and Waite).
#[inline(always)]
fn quadrant<I: Isa>(x: f32) -> (u32, f32) {
    let rounded = I::fma32(x, TWO_OVER_PI, ROUNDER);
    let n = rounded - ROUNDER;
    let r = I::fma32(n, -HALF_PI_HIGH, x);
    let r = I::fma32(n, -HALF_PI_LOW, r);
    let r = I::fma32(n, -HALF_PI_LOWEST, r);
    (rounded.to_bits(), r)
}

#[inline(always)]
fn sin_of_quadrant<I: Isa>(q: u32, r: f32) -> f32 {
    let z = r * r;
    let sin = I::fma32(r * z, poly::<I, 4>(z, [-0.16666667, 0.008333379, -0.00019853102, 2.8332538e-6]), r);
    let cos = poly::<I, 4>(z, [0.041666668, -0.0013888981, 2.4822519e-5, -2.893196e-7]);
    let cos = I::fma32(z * z, cos, I::fma32(z, -0.5, 1.0));
    let y = if q & 1 == 0 { sin } else { cos };
    f32::from_bits(y.to_bits() ^ ((q & 2) << 30))
}

/// Sine, for arguments up to [`REDUCTION_LIMIT`].
#[inline(always)]
pub fn sin<I: Isa>(x: f32) -> f32 {
    let (q, r) = quadrant::<I>(x);
    let y = sin_of_quadrant::<I>(q, r);
    if x == 0.0 { x } else { y }
}

/// Cosine, for arguments up to [`REDUCTION_LIMIT`].
#[inline(always)]
pub fn cos<I: Isa>(x: f32) -> f32 {
    let (q, r) = quadrant::<I>(x);
    sin_of_quadrant::<I>(q.wrapping_add(1), r)
}

/// Tangent, computed in f64, for arguments up to [`REDUCTION_LIMIT`].
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let y = float64::tan_single(f64::from(x)) as f32;
    if x == 0.0 { x } else { y }
}

/// `(asin z - z) / z³` as a function of `z²`.
#[inline(always)]
fn asin_tail<I: Isa>(z: f32) -> f32 {
    let p = [0.1666667, 0.07499723, 0.04471618, 0.029475288, 0.0282372, -0.0026440131, 0.045724884];
    poly::<I, 7>(z, p)
}

/// Inverse sine.
#[inline(always)]
pub fn asin<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let large = a > 0.5625;
    // asin a = π/2 - 2 asin √((1 - a) / 2)
    let z = if large { (1.0 - a) * 0.5 } else { a * a };
    let s = if large { z.sqrt() } else { a };
    let p = I::fma32(s * z, asin_tail::<I>(z), s);
    let y = if large { HALF_PI_HIGH - (2.0 * p - HALF_PI_LOW) } else { p };
    y.copysign(x)
}

/// Inverse cosine.
#[inline(always)]
pub fn acos<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let large = a > 0.5625;
    let z = if large { (1.0 - a) * 0.5 } else { x * x };
    let s = if large { z.sqrt() } else { x };
    let p = I::fma32(s * z, asin_tail::<I>(z), s);
    let outer = if x > 0.0 { 2.0 * p } else { PI - (2.0 * p - 2.0 * HALF_PI_LOW) };
    if large { outer } else { HALF_PI_HIGH - (p - HALF_PI_LOW) }
}

/// Inverse tangent.
#[inline(always)]
pub fn atan<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let large = a > 1.0;
    let t = if large { 1.0 / a } else { a };
    let z = t * t;
    let coefficients = [
        -0.33333328,
        0.19999714,
        -0.14280313,
        0.110609986,
        -0.0882049,
        0.06761294,
        -0.044948705,
        0.022747371,
        -0.0074108224,
        0.001131567,
    ];
    let p = I::fma32(t * z, poly::<I, 10>(z, coefficients), t);
    (if large { HALF_PI_HIGH - (p - HALF_PI_LOW) } else { p }).copysign(x)
}

/// The angle of the point `(x, y)`, computed in f64.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (a, b) = (f64::from(x.abs()), f64::from(y.abs()));
    let steep = b > a;
    let (low, high) = if steep { (a, b) } else { (b, a) };
    // 0/0 is taken as 0 and ∞/∞ as 1.
    let ratio = low / high;
    let ratio = if low == high { 1.0 } else { ratio };
    let ratio = if high == 0.0 { 0.0 } else { ratio };
    let angle = float64::atan_single(ratio);
    let angle = if steep { std::f64::consts::FRAC_PI_2 - angle } else { angle };
    let angle = if x.is_sign_negative() { std::f64::consts::PI - angle } else { angle };
    let nan = x.is_nan() || y.is_nan();
    if nan { f32::NAN } else { (angle as f32).copysign(y) }
}

/// Inverse hyperbolic sine, computed in f64.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let a = f64::from(x.abs());
    // a + a² / (1 + √(1 + a²)) has no cancellation for small a.
    let square = a * a;
    let term = square / (1.0 + (1.0 + square).sqrt());
    let term = if square == f64::INFINITY { a } else { term };
    (float64::log1p(a + term) as f32).copysign(x)
}

/// Inverse hyperbolic cosine, computed in f64.
#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let t = f64::from(x) - 1.0;
    let y = float64::log1p(t + (t * (t + 2.0)).sqrt()) as f32;
    if x < 1.0 { f32::NAN } else { y }
}

/// Inverse hyperbolic tangent, computed in f64.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let a = f64::from(x.abs());
    let y = (0.5 * float64::log1p(2.0 * a / (1.0 - a))) as f32;
    (if a > 1.0 { f32::NAN } else { y }).copysign(x)
}
