//! Modified Bessel functions of the first kind, of orders zero and one (DLMF 10.25, 10.40), in f64.

/// Up to here the power series is used, beyond it the expansion in `1/x`.
const SERIES_LIMIT: f64 = 8.0;
/// Terms of the series: the next one is negligible at [`SERIES_LIMIT`].
const TERMS: u32 = 28;

/// Chebyshev coefficients of `√x e^-x I₀(x)` in `16/x - 1`, for `x >= 8`.
const LARGE_0: [f64; 27] = [
    0.4022452055070544,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347567e-06,
    2.0489185894690638e-07,
    2.266668990498178e-08,
    3.3962320257083865e-09,
    4.94060238822497e-10,
    1.1889147107846439e-11,
    -3.1499165279632416e-11,
    -1.3215811840447713e-11,
    -1.7941785315068062e-12,
    7.180124451383666e-13,
    3.8527783827421426e-13,
    1.54008621752141e-14,
    -4.150569347287222e-14,
    -9.554846698828307e-15,
    3.8116806693526224e-15,
    1.7725601330565263e-15,
    -3.425485619677219e-16,
    -2.8276239805165836e-16,
    3.461222867697461e-17,
    4.46562142029676e-17,
    -4.830504485944182e-18,
    -7.233180487874754e-18,
    9.921475412173699e-19,
    1.193650890845982e-18,
];

/// Chebyshev coefficients of `√x e^-x I₁(x)` in `16/x - 1`, for `x >= 8`.
const LARGE_1: [f64; 27] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
    -9.314178867326884e-19,
    -1.242193275194891e-18,
];

/// `Σ (x²/4)^k / (k! (k + order)!)`: all terms are positive, so there is no cancellation.
fn series(x: f64, order: u32) -> f64 {
    let z = 0.25 * x * x;
    (1..=TERMS).rev().fold(1.0, |inner, k| (z / f64::from(k * (k + order))).mul_add(inner, 1.0))
}

/// The sum of the Chebyshev series with these coefficients, by Clenshaw's recurrence.
fn chebyshev(t: f64, coefficients: &[f64]) -> f64 {
    let (mut next, mut current) = (0.0, 0.0);
    for &c in coefficients[1..].iter().rev() {
        (next, current) = (current, (2.0 * t).mul_add(current, c - next));
    }
    t.mul_add(current, coefficients[0] - next)
}

/// `e^-x I(x)` for `x >= 8`.
fn large(x: f64, coefficients: &[f64]) -> f64 {
    chebyshev(16.0 / x - 1.0, coefficients) / x.sqrt()
}

/// `e^x scaled`, finite if the product is.
fn unscaled(x: f64, scaled: f64) -> f64 {
    if x < 700.0 {
        return x.exp() * scaled;
    }
    if x > 720.0 {
        return f64::INFINITY;
    }
    // e^x = e^700 e^(x - 700), where the difference is exact.
    700f64.exp() * scaled * (x - 700.0).exp()
}

/// `I₀(x)`
pub fn i0(x: f64) -> f64 {
    let a = x.abs();
    if a <= SERIES_LIMIT { series(a, 0) } else { unscaled(a, large(a, &LARGE_0)) }
}

/// `e^-|x| I₀(x)`
pub fn i0e(x: f64) -> f64 {
    let a = x.abs();
    if a <= SERIES_LIMIT { (-a).exp() * series(a, 0) } else { large(a, &LARGE_0) }
}

/// `I₁(x)`
pub fn i1(x: f64) -> f64 {
    let a = x.abs();
    let y = if a <= SERIES_LIMIT { 0.5 * a * series(a, 1) } else { unscaled(a, large(a, &LARGE_1)) };
    y.copysign(x)
}

/// `e^-|x| I₁(x)`
pub fn i1e(x: f64) -> f64 {
    let a = x.abs();
    let y = if a <= SERIES_LIMIT { 0.5 * a * (-a).exp() * series(a, 1) } else { large(a, &LARGE_1) };
    y.copysign(x)
}
