//! Functions of f32: arguments and results are f32. Each function's text defines its formula.

mod exponential;
mod power;
mod special;
mod trigonometric;

use exponential::log_plus;
pub use exponential::*;
pub use power::*;
pub use special::*;
pub use trigonometric::*;

use crate::isa::Isa;

/// Minimum number of coefficients of a polynomial that is split.
const LONG: usize = 6;

/// The polynomial with these coefficients, lowest power first. Long ones are split into even and odd powers, which halves the
/// length of the dependency chain.
#[inline(always)]
fn poly<I: Isa, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let horner = |x: f32, last: usize, step: usize| {
        let mut y = coefficients[last];
        let mut i = last;
        while i >= step {
            i -= step;
            y = I::fma32(y, x, coefficients[i]);
        }
        y
    };
    if const { N < LONG } {
        return horner(x, N - 1, 1);
    }
    let (even, odd) = if N % 2 == 1 { (N - 1, N - 2) } else { (N - 2, N - 1) };
    I::fma32(horner(x * x, odd, 2), x, horner(x * x, even, 2))
}

/// `x` between `low` and `high`; NaN stays NaN.
#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// Adding this number rounds to an integer, which is then in the low bits.
pub const ROUNDER: f32 = 12582912.0;

/// `2^n` for `n` in -126..=127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}
