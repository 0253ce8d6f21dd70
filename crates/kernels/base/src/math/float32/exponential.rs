//! Exponentials, logarithms and functions built from them.

use super::{ROUNDER, clamp, poly, power_of_two};
use crate::isa::Isa;
use crate::math::float64;

/// `ln 2`, rounded.
pub const LN2_HIGH: f32 = 0.6931471824645996;
/// `ln 2 - LN2_HIGH`.
pub const LN2_LOW: f32 = -1.9046542121259336e-9;
/// `log2 e`, rounded.
pub const LOG2_E_HIGH: f32 = 1.4426950216293335;
const LOG2_E_LOW: f32 = 1.925963033500011e-8;
const LOG10_E_HIGH: f32 = 0.4342944920063019;
const LOG10_E_LOW: f32 = -1.0103049952192578e-8;
const LOG10_2_HIGH: f32 = 0.3010300099849701;
const LOG10_2_LOW: f32 = -1.432098883924482e-8;

/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`.
#[inline(always)]
fn split<I: Isa>(x: f32) -> (i32, f32) {
    let rounded = I::fma32(x, LOG2_E_HIGH, ROUNDER);
    let n = rounded - ROUNDER;
    let r = I::fma32(n, -LN2_LOW, I::fma32(n, -LN2_HIGH, x));
    ((rounded.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32), r)
}

/// `e^r - 1` for the `r` of `split`.
#[inline(always)]
fn expm1_reduced<I: Isa>(r: f32) -> f32 {
    I::fma32(r * r, poly::<I, 5>(r, [0.5, 0.16666543, 0.041666444, 0.008366535, 0.0013936874]), r)
}

/// `(e^r - 1 - r) / r²` for the `r` of `split`, lowest power first.
pub const EXP: [f32; 5] = [0.5, 0.16666518, 0.041666437, 0.008368952, 0.0013937489];

/// `e^x 2^shift`, for `x` up to 90.
#[inline(always)]
fn exp_shifted<I: Isa>(x: f32, shift: i32) -> f32 {
    let (n, r) = split::<I>(clamp(x, -105.0, 90.0));
    let p = I::fma32(r * r, poly::<I, 5>(r, EXP), r) + 1.0;
    let n = n.wrapping_add(shift);
    // Two factors: 2^n itself may be beyond the normal range.
    let half = n >> 1;
    p * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// `e^x`, for `x` such that neither the result nor `2^n` with the `n` of `split` leaves the normal range.
#[inline(always)]
fn exp_normal<I: Isa>(x: f32) -> f32 {
    let (n, r) = split::<I>(x);
    (I::fma32(r * r, poly::<I, 5>(r, EXP), r) + 1.0) * power_of_two(n)
}

/// `e^x`
#[inline(always)]
pub fn exp<I: Isa>(x: f32) -> f32 {
    exp_shifted::<I>(x, 0)
}

/// `e^x - 1`
#[inline(always)]
pub fn expm1<I: Isa>(x: f32) -> f32 {
    let (n, r) = split::<I>(clamp(x, -20.0, 89.0));
    // 2^(n-1) is representable even if 2^n is not.
    let scale = power_of_two(n.wrapping_sub(1));
    let y = 2.0 * I::fma32(expm1_reduced::<I>(r), scale, scale - 0.5);
    if x == 0.0 { x } else { y }
}

/// `x = 2^e (1 + f)` with `1 + f` in `[2/3, 4/3)`, for positive finite `x`.
#[inline(always)]
fn mantissa(x: f32) -> (f32, f32) {
    let tiny = x < f32::MIN_POSITIVE;
    let bits = (if tiny { x * 8388608.0 } else { x }).to_bits() as i32;
    let e = bits.wrapping_sub(0x3f2a_aaab) >> 23;
    let m = f32::from_bits(bits.wrapping_sub(e << 23) as u32);
    (e as f32 - if tiny { 23.0 } else { 0.0 }, m - 1.0)
}

/// `log(1 + f) - f` for the `f` of [`mantissa`].
#[inline(always)]
fn log_tail<I: Isa>(f: f32) -> f32 {
    let p = [
        -0.5,
        0.33333215,
        -0.24999723,
        0.20010449,
        -0.1668397,
        0.14005235,
        -0.12135328,
        0.13987307,
        -0.1310572,
    ];
    f * f * poly::<I, 9>(f, p)
}

/// The logarithm `y` of `x`, corrected for `x` that is not positive and finite.
#[inline(always)]
fn log_domain(x: f32, y: f32) -> f32 {
    let edge = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    let edge = if x == f32::INFINITY { x } else { edge };
    if x > 0.0 && x < f32::INFINITY { y } else { edge }
}

/// Natural logarithm.
#[inline(always)]
pub fn log<I: Isa>(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let y = I::fma32(e, LN2_HIGH, f + I::fma32(e, LN2_LOW, log_tail::<I>(f)));
    log_domain(x, y)
}

/// `log x + shift`, for positive finite `x`, accurate even if the sum is near zero.
#[inline(always)]
pub(super) fn log_plus<I: Isa>(x: f32, shift: f32) -> f32 {
    let (e, f) = mantissa(x);
    I::fma32(e, LN2_HIGH, shift) + (f + I::fma32(e, LN2_LOW, log_tail::<I>(f)))
}

/// Logarithm of base 2.
#[inline(always)]
pub fn log2<I: Isa>(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let low = I::fma32(log_tail::<I>(f), LOG2_E_HIGH, f * LOG2_E_LOW);
    log_domain(x, e + I::fma32(f, LOG2_E_HIGH, low))
}

/// Logarithm of base 10.
#[inline(always)]
pub fn log10<I: Isa>(x: f32) -> f32 {
    let (e, f) = mantissa(x);
    let low = I::fma32(log_tail::<I>(f), LOG10_E_HIGH, f * LOG10_E_LOW);
    let low = I::fma32(f, LOG10_E_HIGH, I::fma32(e, LOG10_2_LOW, low));
    log_domain(x, I::fma32(e, LOG10_2_HIGH, low))
}

/// `log(1 + x)`
#[inline(always)]
pub fn log1p<I: Isa>(x: f32) -> f32 {
    let u = 1.0 + x;
    // As `mantissa` does, but 1 + x is never subnormal.
    let bits = u.to_bits() as i32;
    let e = bits.wrapping_sub(0x3f2a_aaab) >> 23;
    let rounded = f32::from_bits(bits.wrapping_sub(e << 23) as u32) - 1.0;
    // 2^-e (1 + x) - 1 without the rounding of 1 + x, which only matters for small x.
    let scale = power_of_two(e.wrapping_neg());
    let f = if x < 1e7 { I::fma32(x, scale, scale - 1.0) } else { rounded };
    let e = e as f32;
    let y = log_domain(u, I::fma32(e, LN2_HIGH, f + I::fma32(e, LN2_LOW, log_tail::<I>(f))));
    if x == 0.0 { x } else { y }
}

/// `(e^x - e^-x) / 2`
#[inline(always)]
pub fn sinh<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let small = I::fma32(a * z, poly::<I, 4>(z, [0.16666667, 0.008333311, 0.00019842648, 2.783783e-6]), a);
    let half = exp_shifted::<I>(a, -1);
    let large = half - 0.25 / half;
    (if a < 1.0 { small } else { large }).copysign(x)
}

/// `(e^x + e^-x) / 2`
#[inline(always)]
pub fn cosh<I: Isa>(x: f32) -> f32 {
    let half = exp_shifted::<I>(x.abs(), -1);
    half + 0.25 / half
}

/// `sinh x / cosh x`
#[inline(always)]
pub fn tanh<I: Isa>(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let p = [-0.3333328, 0.13331416, -0.053737935, 0.020634094, -0.0057000536];
    let small = I::fma32(a * z, poly::<I, 5>(z, p), a);
    // tanh x rounds to one for x > 10.
    let large = 1.0 - 2.0 / (exp_normal::<I>(if a > 10.0 { 20.0 } else { a + a }) + 1.0);
    (if a < 0.625 { small } else { large }).copysign(x)
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub fn sigmoid<I: Isa>(x: f32) -> f32 {
    let e = exp::<I>(-x.abs());
    let sum = 1.0 + e;
    let y = (if x < 0.0 { e } else { 1.0 }) / sum;
    // The rounding error of the sum, divided by the sum.
    let error = (e - (sum - 1.0)) * if x < 0.0 { 1.0 - y } else { y };
    I::fma32(-y, error, y)
}

/// `log(e^a + e^b)`, computed in f64.
#[inline(always)]
pub fn logaddexp(a: f32, b: f32) -> f32 {
    float64::logaddexp(f64::from(a), f64::from(b)) as f32
}

/// `log2(2^a + 2^b)`, computed in f64.
#[inline(always)]
pub fn logaddexp2(a: f32, b: f32) -> f32 {
    use std::f64::consts::{LN_2, LOG2_E};
    (float64::logaddexp(f64::from(a) * LN_2, f64::from(b) * LN_2) * LOG2_E) as f32
}

/// `2^x`, computed in f64.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    float64::exp2_to_single(f64::from(x)) as f32
}

/// The real cube root, computed in f64.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    let root = float64::exp(float64::log(f64::from(x.abs())) * (1.0 / 3.0)) as f32;
    root.copysign(x)
}

/// `√(a² + b²)`, computed in f64, where the squares are exact and cannot overflow.
#[inline(always)]
pub fn hypot(a: f32, b: f32) -> f32 {
    let (x, y) = (f64::from(a), f64::from(b));
    let infinite = a.is_infinite() || b.is_infinite();
    if infinite { f32::INFINITY } else { x.mul_add(x, y * y).sqrt() as f32 }
}

/// `a 2^b` for an integral `b`, computed in f64 and rounded once.
#[inline(always)]
pub fn ldexp(a: f32, b: f32) -> f32 {
    // Beyond these limits every product is zero or infinite.
    let n = clamp(b, -300.0, 300.0) as i32;
    (f64::from(a) * float64::power_of_two(i64::from(n))) as f32
}
