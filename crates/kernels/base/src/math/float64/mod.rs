//! Functions of f64: vectorisable ones, and ones in which f32 functions compute (`…_single`: accurate to the 24 bits of an f32
//! result).

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E};

mod special;
pub use special::*;

const LN2_LOW: f64 = 2.3190468138462996e-17;
const HALF_PI_LOW: f64 = 6.123233995736766e-17;
const HALF_PI_LOWEST: f64 = -1.4973849048591698e-33;
/// Adding this number rounds to an integer, which is then in the low bits.
const ROUNDER: f64 = 6755399441055744.0;

/// The polynomial with these coefficients, lowest power first.
#[inline(always)]
fn poly<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut y = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        y = y.mul_add(x, coefficients[i]);
    }
    y
}

/// `x` between `low` and `high`; NaN stays NaN.
#[inline(always)]
fn clamp(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// `2^n` for `n` in -1022..=1023.
#[inline(always)]
pub fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

/// The `e` with `x = m 2^e` and `1/2 <= |m| < 1`; 0 for zero, infinities and NaN.
#[inline(always)]
pub fn exponent(x: f64) -> f64 {
    let tiny = x.abs() < f64::MIN_POSITIVE;
    let bits = (if tiny { x * 18014398509481984.0 } else { x }).to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let e = f64::from(biased - 1022 - if tiny { 54 } else { 0 });
    if x == 0.0 || !x.is_finite() { 0.0 } else { e }
}

/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`; returns `n` and `e^r - 1`.
#[inline(always)]
fn expm1_reduced(x: f64) -> (i64, f64) {
    let rounded = x.mul_add(LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN_2, x));
    let p = poly(
        r,
        [
            0.5,
            0.16666666666666685,
            0.041666666666666685,
            0.00833333333331594,
            0.0013888888888873173,
            0.00019841269898711444,
            2.480158734957958e-5,
            2.755723281523018e-6,
            2.7557251408589167e-7,
            2.5112675904918676e-8,
            2.092191414490954e-9,
        ],
    );
    let n = (rounded.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64);
    (n, (r * r).mul_add(p, r))
}

/// `2^x` to 33 bits, for a result that is rounded to f32, where it may be zero or infinite.
#[inline(always)]
pub fn exp2_to_single(x: f64) -> f64 {
    let x = clamp(x, -160.0, 160.0);
    let rounded = x + ROUNDER;
    let f = x - (rounded - ROUNDER);
    let n = (rounded.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64);
    let p = poly(
        f,
        [
            0.6931471805537165,
            0.24022650922337005,
            0.055504109287626516,
            0.009618056670790485,
            0.001333345454130658,
            0.00015461447177570058,
            1.531008265740458e-05,
        ],
    );
    p.mul_add(f, 1.0) * power_of_two(n)
}

/// `e^x`
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (n, p) = expm1_reduced(clamp(x, -746.0, 711.0));
    let p = p + 1.0;
    // Two factors: 2^n itself may be beyond the normal range.
    let half = n >> 1;
    p * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// `e^x - 1`
#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    let (n, p) = expm1_reduced(clamp(x, -50.0, 710.0));
    // 2^(n-1) is representable even if 2^n is not.
    let scale = power_of_two(n.wrapping_sub(1));
    let y = 2.0 * p.mul_add(scale, scale - 0.5);
    if x == 0.0 { x } else { y }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    let e = exp(-x.abs());
    let sum = 1.0 + e;
    let y = (if x < 0.0 { e } else { 1.0 }) / sum;
    // The rounding error of the sum, divided by the sum.
    let error = (e - (sum - 1.0)) * if x < 0.0 { 1.0 - y } else { y };
    (-y).mul_add(error, y)
}

/// `sinh x / cosh x`
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let a = x.abs();
    let (n, p) = expm1_reduced(clamp(-2.0 * a, -50.0, 0.0));
    let scale = power_of_two(n);
    // e^(-2a) - 1 for small a; e^(-2a) itself where the result is near one.
    let t = p.mul_add(scale, scale - 1.0);
    let e = (p + 1.0) * scale;
    let small = -t / (t + 2.0);
    let large = 1.0 - 2.0 * e / (1.0 + e);
    let y = if a < 0.6 { small } else { large };
    (if x == 0.0 { 0.0 } else { y }).copysign(x)
}

/// Up to here [`sin`] and [`cos`] reduce their argument accurately.
pub const REDUCTION_LIMIT: f64 = 1e5;

/// `x = q π/2 + r` with `|r| <= π/4`, with π/2 as a sum of three f64 (Cody and Waite).
#[inline(always)]
fn quadrant(x: f64) -> (u64, f64) {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.mul_add(-HALF_PI_LOW, n.mul_add(-FRAC_PI_2, x));
    (rounded.to_bits(), n.mul_add(-HALF_PI_LOWEST, r))
}

#[inline(always)]
fn sin_of_quadrant(q: u64, r: f64) -> f64 {
    let z = r * r;
    let sin = [
        -0.16666666666666666,
        0.008333333333333045,
        -0.00019841269840967533,
        2.755731907663744e-6,
        -2.5052071562471422e-8,
        1.6054383335011348e-10,
        -7.392483129615798e-13,
    ];
    let cos = [
        0.041666666666666664,
        -0.0013888888888888382,
        2.4801587301170754e-5,
        -2.7557319054955874e-7,
        2.0876720480356528e-9,
        -1.1466667812371057e-11,
        4.583230797330438e-14,
    ];
    let sin = (r * z).mul_add(poly(z, sin), r);
    // 1 - z/2, corrected by its rounding error.
    let half = 0.5 * z;
    let high = 1.0 - half;
    let cos = high + (z * z).mul_add(poly(z, cos), (1.0 - high) - half);
    let y = if q & 1 == 0 { sin } else { cos };
    f64::from_bits(y.to_bits() ^ ((q & 2) << 62))
}

/// Sine, for arguments up to [`REDUCTION_LIMIT`].
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let (q, r) = quadrant(x);
    let y = sin_of_quadrant(q, r);
    if x == 0.0 { x } else { y }
}

/// Cosine, for arguments up to [`REDUCTION_LIMIT`].
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    let (q, r) = quadrant(x);
    sin_of_quadrant(q.wrapping_add(1), r)
}

/// Natural logarithm.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny { x * 4503599627370496.0 } else { x }).to_bits() as i64;
    // 1 + f in [2/3, 4/3)
    let e = bits.wrapping_sub(0x3fe5_5555_5555_5555) >> 52;
    let f = f64::from_bits(bits.wrapping_sub(e << 52) as u64) - 1.0;
    // The low bits of this number hold e as an integer, without a conversion instruction.
    let e = f64::from_bits(ROUNDER.to_bits().wrapping_add(e as u64)) - ROUNDER;
    let e = e - if tiny { 52.0 } else { 0.0 };
    // log(1 + f) = f - f²/2 + s (f²/2 + s² R), s = f / (2 + f)
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z * poly(
        z,
        [
            0.666666666666666,
            0.4000000000005643,
            0.28571428555918643,
            0.22222224284186573,
            0.18181666692162593,
            0.15391083454751567,
            0.13174100638197192,
            0.13839531492683493,
        ],
    );
    let half_square = 0.5 * f * f;
    let tail = s.mul_add(half_square + r, e * LN2_LOW);
    let y = e.mul_add(LN_2, f - (half_square - tail));
    let edge = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let edge = if x == f64::INFINITY { x } else { edge };
    if x > 0.0 && x < f64::INFINITY { y } else { edge }
}

/// `log(1 + x)`
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    // The rounding error of the sum, compensated to first order.
    let error = x - (u - 1.0);
    let y = log(u) + error / u;
    let y = if u > 0.0 && u < f64::INFINITY { y } else { log(u) };
    if x.abs() < 1e-16 { x } else { y }
}

/// `log(e^a + e^b)`
#[inline(always)]
pub fn logaddexp(a: f64, b: f64) -> f64 {
    let high = if a > b { a } else { b };
    let distance = if a == b { 0.0 } else { (a - b).abs() };
    high + log1p(exp(-distance))
}

/// `log2(2^a + 2^b)`
#[inline]
pub fn logaddexp2(a: f64, b: f64) -> f64 {
    let high = if a > b { a } else { b };
    let distance = if a == b { 0.0 } else { (a - b).abs() };
    high + (-distance).exp2().ln_1p() * LOG2_E
}

/// Tangent for `|x| <= 1e5`, to 30 bits.
#[inline(always)]
pub fn tan_single(x: f64) -> f64 {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    let r = n.mul_add(-HALF_PI_LOW, n.mul_add(-FRAC_PI_2, x));
    let z = r * r;
    let sin = [-0.16666666641616742, 0.00833332938507369, -0.00019839334631581906, 2.7183099019475424e-6];
    let cos = [0.04166666662279481, -0.0013888883751075882, 2.4799519482085506e-5, -2.721019940492347e-7];
    let sin = (r * z).mul_add(poly(z, sin), r);
    let cos = (z * z).mul_add(poly(z, cos), z.mul_add(-0.5, 1.0));
    let odd = rounded.to_bits() & 1 == 1;
    let (above, below) = if odd { (-cos, sin) } else { (sin, cos) };
    above / below
}

/// Inverse tangent for `x` in `[0, 1]`, to 30 bits.
#[inline(always)]
pub fn atan_single(x: f64) -> f64 {
    let z = x * x;
    let p = [
        -0.33333332130799903,
        0.1999992697965969,
        -0.14284161738834422,
        0.11094452659507391,
        -0.08985178457745309,
        0.07258632661862174,
        -0.054500260528057565,
        0.03445641887172335,
        -0.01628459499190519,
        0.004919979866604753,
        -0.0006967796062585601,
    ];
    (x * z).mul_add(poly(z, p), x)
}
