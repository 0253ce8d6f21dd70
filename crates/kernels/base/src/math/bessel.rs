//! Modified Bessel functions of orders zero and one (DLMF 10.25, 10.31, 10.40), in f64.

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

/// From here on, the expansion in `1/x` of the functions of the second kind is used.
const SECOND_START: f64 = 1.0;
/// Terms of the series of the functions of the second kind below [`SECOND_START`].
const SECOND_TERMS: u32 = 11;
/// Euler's constant.
const EULER: f64 = 0.5772156649015329;

/// Chebyshev coefficients of `√x e^x K₀(x)` in `2/x - 1`, for `x >= 1`.
const SECOND_0: [f64; 34] = [
    1.1944330762167386,
    -0.053855323307629495,
    0.004362000068251702,
    -0.0005521270349863234,
    8.959565555755952e-05,
    -1.7138726856421186e-05,
    3.695146089045472e-06,
    -8.737284518980525e-07,
    2.225046272255236e-07,
    -6.025216756376064e-08,
    1.7186668629418083e-08,
    -5.1272057810909205e-09,
    1.5907351467912106e-09,
    -5.10958325791419e-10,
    1.6929517419961088e-10,
    -5.7683063818637606e-11,
    2.0159542597761383e-11,
    -7.210940065346495e-12,
    2.6349075982806445e-12,
    -9.819576891759296e-13,
    3.72695818784577e-13,
    -1.4388149744180521e-13,
    5.6436532735816866e-14,
    -2.2469288334596896e-14,
    9.072046991627365e-15,
    -3.711589997838162e-15,
    1.537582290719742e-15,
    -6.445464362724762e-16,
    2.7324144482527955e-16,
    -1.1707837700385628e-16,
    5.067869397943657e-17,
    -2.215087912714289e-17,
    9.77208135793031e-18,
    -4.349519763540327e-18,
];

/// Chebyshev coefficients of `√x e^x K₁(x)` in `2/x - 1`, for `x >= 1`.
const SECOND_1: [f64; 35] = [
    1.4532756675938414,
    0.19051350202061165,
    -0.008406706460495654,
    0.0008815363164514389,
    -0.000129995769583983,
    2.3441638979785087e-05,
    -4.853489413610226e-06,
    1.1139969511197356e-06,
    -2.772707643805077e-07,
    7.37247184977708e-08,
    -2.0717892129028323e-08,
    6.103966549420336e-09,
    -1.873778917957349e-09,
    5.963886884453419e-10,
    -1.96028004074301e-10,
    6.632273899864202e-11,
    -2.3034250700407756e-11,
    8.193082518369976e-12,
    -2.9786645069974164e-12,
    1.1049772078983365e-12,
    -4.1763277431648047e-13,
    1.6061141914625803e-13,
    -6.277632672531289e-14,
    2.4911830875182032e-14,
    -1.002779686252293e-14,
    4.091059996919741e-15,
    -1.690331071434488e-15,
    7.068360792264328e-16,
    -2.9895680121763374e-16,
    1.2781913900252084e-16,
    -5.521491188037584e-17,
    2.4087033253210474e-17,
    -1.0606842599776099e-17,
    4.712904181351423e-18,
    -2.112162909518146e-18,
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

/// `K₀(x)`; infinite at zero, NaN below.
pub fn k0(x: f64) -> f64 {
    if x < SECOND_START { k0_small(x) } else { decayed(x, second(x, &SECOND_0)) }
}

/// `e^x K₀(x)`
pub fn k0e(x: f64) -> f64 {
    if x < SECOND_START { k0_small(x) * x.exp() } else { second(x, &SECOND_0) }
}

/// `K₁(x)`; infinite at zero, NaN below.
pub fn k1(x: f64) -> f64 {
    if x < SECOND_START { k1_small(x) } else { decayed(x, second(x, &SECOND_1)) }
}

/// `e^x K₁(x)`
pub fn k1e(x: f64) -> f64 {
    if x < SECOND_START { k1_small(x) * x.exp() } else { second(x, &SECOND_1) }
}

/// `e^x K(x)` for `x >= 1`.
fn second(x: f64, coefficients: &[f64]) -> f64 {
    chebyshev(2.0 / x - 1.0, coefficients) / x.sqrt()
}

/// `e^-x scaled`, which may be in range where the exponential is not.
fn decayed(x: f64, scaled: f64) -> f64 {
    if x < 700.0 {
        return (-x).exp() * scaled;
    }
    let half = (-0.5 * x).exp();
    half * scaled * half
}

/// `K₀(x)` below one (DLMF 10.31.2).
fn k0_small(x: f64) -> f64 {
    let z = 0.25 * x * x;
    let (mut term, mut harmonic, mut first, mut sum) = (1.0, 0.0, 1.0, 0.0);
    for k in 1..SECOND_TERMS {
        let k = f64::from(k);
        term *= z / (k * k);
        harmonic += 1.0 / k;
        first += term;
        sum = f64::mul_add(term, harmonic, sum);
    }
    f64::mul_add(-((0.5 * x).ln() + EULER), first, sum)
}

/// `K₁(x)` below one (DLMF 10.31.1).
fn k1_small(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    let z = 0.25 * x * x;
    // The sums of harmonic numbers that follow each other.
    let (mut term, mut harmonics, mut first, mut sum) = (1.0, 1.0, 1.0, 1.0);
    for k in 1..SECOND_TERMS {
        let k = f64::from(k);
        term *= z / (k * (k + 1.0));
        harmonics += 1.0 / k + 1.0 / (k + 1.0);
        first += term;
        sum = f64::mul_add(term, harmonics, sum);
    }
    let logarithm = (0.5 * x).ln() + EULER;
    1.0 / x + 0.5 * x * logarithm.mul_add(first, -0.5 * sum)
}
