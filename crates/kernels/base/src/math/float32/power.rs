//! `x^y = e^(y ln x)` in double-float arithmetic: a value is a pair of f32, the second of which is the rounding error of the
//! first.
//!
//! A relative error of `ln x` is amplified by up to 88 in the result, so the logarithm has about 31 bits.

use super::{ROUNDER, poly};
use crate::isa::Isa;

/// Has few enough bits that its products with half-integers below 512 are exact.
const LN2_HIGH: f32 = 0.693145751953125;
const LN2_LOW: f32 = 1.4286068e-6;

/// The nearest f32 to `√2`, and its logarithm minus `ln 2 / 2`.
const ROOT: f32 = std::f32::consts::SQRT_2;
const ROOT_LOW: f32 = -1.7114271e-8;

/// Adding this rounds to an integer `n`, which is then in the low bits as the biased exponent of `2^n`.
const EXPONENT_ROUNDER: f32 = ROUNDER + 127.0;

/// Beyond this magnitude `e^x` is infinite or zero, whatever the low part is.
const LARGEST: f32 = 120.0;

/// `ln x`, for positive normal `x`.
#[inline(always)]
fn log<I: Isa>(x: f32) -> (f32, f32) {
    // x = 2^(j/2) m/c with c = 1 for even j and √2 for odd ones; m/c in [0.84, 1.2).
    let bits = x.to_bits() as i32;
    let half_steps = bits.wrapping_sub(0x3f58_0000);
    let m = f32::from_bits(bits.wrapping_sub(half_steps & !0x7f_ffff) as u32);
    let is_odd = half_steps & 0x40_0000 != 0;
    let j = (half_steps >> 22) as f32;
    let c = if is_odd { ROOT } else { 1.0 };
    // ln(m/c) = 2 artanh(s/2) with s = (m - c) / ((m + c) / 2); the difference is exact, the sum is a pair.
    let n = m - c;
    let mean = I::fma32(n, 0.5, c);
    let mean_low = I::fma32(n, 0.5, -(mean - c));
    let reciprocal = 1.0 / mean;
    let s = n * reciprocal;
    let residual = I::fma32(-s, mean_low, I::fma32(-s, mean, n));
    let z = s * s;
    // The derivative of artanh exceeds one, so the residual of s counts slightly more.
    let residual = I::fma32(residual * z, 0.25, residual);
    let tail = z * poly::<I, 3>(z, [0.083333336, 0.012499525, 0.0022583485]);
    let j_ln2 = j * (LN2_HIGH * 0.5);
    let high = j_ln2 + s;
    let low = I::fma32(residual, reciprocal, s - (high - j_ln2));
    let low = I::fma32(j, LN2_LOW * 0.5, low) + if is_odd { ROOT_LOW } else { 0.0 };
    (high, I::fma32(s, tail, low))
}

/// `e^(x + low)` for `|x|` up to [`LARGEST`]; arbitrary beyond.
#[inline(always)]
fn exp<I: Isa>(x: f32, low: f32) -> f32 {
    let rounded = I::fma32(x + low, std::f32::consts::LOG2_E, EXPONENT_ROUNDER);
    let n = rounded - EXPONENT_ROUNDER;
    let f = I::fma32(-n, LN2_HIGH, x);
    let low = I::fma32(-n, LN2_LOW, low);
    let u = f + low;
    let p = poly::<I, 5>(u, [0.5, 0.16666518, 0.041666206, 0.008368908, 0.0013950523]);
    let one = 1.0 + f;
    let y = one + I::fma32(u * u, p, (f - (one - 1.0)) + low);
    // Two factors, since 2^n itself may be outside the normal range. The first factor and y are well inside it.
    let n = rounded.to_bits() as i32;
    let half = n.wrapping_sub(EXPONENT_ROUNDER.to_bits() as i32) >> 1;
    let y = f32::from_bits((y.to_bits() as i32).wrapping_add(half << 23) as u32);
    y * f32::from_bits((n.wrapping_sub(half) << 23) as u32)
}

/// `y` times a logarithm, which may be infinite.
#[inline(always)]
fn times<I: Isa>(y: f32, (high, low): (f32, f32)) -> (f32, f32) {
    let product = y * high;
    (product, I::fma32(y, low, I::fma32(y, high, -product)))
}

/// `e^exponent`
#[inline(always)]
fn magnitude<I: Isa>((high, low): (f32, f32)) -> f32 {
    let magnitude = exp::<I>(high, low);
    let magnitude = if high > LARGEST { f32::INFINITY } else { magnitude };
    if high < -LARGEST { 0.0 } else { magnitude }
}

/// Apply the sign: negative for odd powers of negative numbers, NaN for their non-integral powers.
#[inline(always)]
fn with_sign(magnitude: f32, x: f32, y: f32) -> f32 {
    let half = y * 0.5;
    let is_integral = y.trunc() == y;
    let is_odd = is_integral && half.trunc() != half;
    let sign = if is_odd { x.to_bits() & 0x8000_0000 } else { 0 };
    if x < 0.0 && !is_integral { f32::NAN } else { f32::from_bits(magnitude.to_bits() | sign) }
}

/// True if [`exponent_of_power`] does not support the arguments: infinities, NaN, or a subnormal base.
#[inline(always)]
pub fn power_is_rare(x: f32, y: f32) -> bool {
    let is_normal = x.abs().to_bits().wrapping_sub(0x0080_0000) < 0x7f00_0000;
    (!is_normal && x != 0.0) || !y.is_finite()
}

/// `y ln |x|`, from which [`power_of_exponent`] computes `x^y`; for zero or normal `x` and finite `y`.
#[inline(always)]
pub fn exponent_of_power<I: Isa>(x: f32, y: f32) -> (f32, f32) {
    let (high, low) = log::<I>(x.abs());
    let high = if x == 0.0 && y != 0.0 { f32::NEG_INFINITY } else { high };
    times::<I>(y, (high, low))
}

/// `x^y`, given the result of [`exponent_of_power`].
#[inline(always)]
pub fn power_of_exponent<I: Isa>(exponent: (f32, f32), x: f32, y: f32) -> f32 {
    with_sign(magnitude::<I>(exponent), x, y)
}

/// `x^y` for all arguments; bitwise identical to the two steps where these apply.
#[inline(always)]
pub fn power<I: Isa>(x: f32, y: f32) -> f32 {
    let base = x.abs();
    let is_tiny = base < f32::MIN_POSITIVE;
    let (high, low) = log::<I>(if is_tiny { base * 16777216.0 } else { base });
    let shift = 24.0 * LN2_HIGH;
    let shifted = high - shift;
    let shifted_low = low + ((high - (shifted + shift)) - 24.0 * LN2_LOW);
    let (high, low) = if is_tiny { (shifted, shifted_low) } else { (high, low) };
    let high = if base == 0.0 { f32::NEG_INFINITY } else { high };
    let high = if base < f32::INFINITY { high } else { base };
    let magnitude = magnitude::<I>(times::<I>(y, (high, low)));
    let magnitude = if base.is_nan() || y.is_nan() { f32::NAN } else { magnitude };
    let magnitude = if base == 1.0 && !y.is_nan() { 1.0 } else { magnitude };
    let signed = with_sign(magnitude, x, y);
    let signed = if x == f32::NEG_INFINITY && signed.is_nan() { magnitude } else { signed };
    if x == 1.0 || y == 0.0 { 1.0 } else { signed }
}
