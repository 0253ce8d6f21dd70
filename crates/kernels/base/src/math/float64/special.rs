//! The error function and its inverse.

use std::f64::consts::FRAC_2_SQRT_PI;

use super::{clamp, exp, log, poly};

/// `erf a` for `a` in `[0, 1]`.
#[inline(always)]
fn erf_small(a: f64) -> f64 {
    let p = [
        FRAC_2_SQRT_PI,
        -0.376126389031834,
        0.11283791670939458,
        -0.026866170642330402,
        0.0052239775992142705,
        -0.0008548325561980016,
        0.00012055281025685021,
        -1.4924427408658885e-5,
        1.6442788464188728e-6,
        -1.61623540402191e-7,
        1.3427643857518917e-8,
        -6.726865678512086e-10,
        -1.7155656742285507e-11,
    ];
    a * poly(a * a, p)
}

/// `e^(a²) erfc a` for `a` in `[0.5, 6]`.
#[inline(always)]
pub fn erfcx_middle(a: f64) -> f64 {
    // 1 / (1 + 2a) times a smooth function of (a - 3) / (a + 3).
    let p = [
        1.2530080582697296,
        -0.13562110612458114,
        -0.04756229435343478,
        0.1296451587027779,
        -0.11927366341661905,
        0.06830802734072242,
        -0.023770514875022204,
        0.0025293919707479622,
        0.0018886897217442191,
        -0.0007798354536708573,
        -0.00010515688248820345,
        0.00012513071445037195,
        4.970498076961644e-6,
        -2.0233952766828893e-5,
        -9.801036456096502e-7,
        3.5526793746275246e-6,
        9.774638167635254e-7,
    ];
    poly((a - 3.0) / (a + 3.0), p) / 2.0f64.mul_add(a, 1.0)
}

/// `1 - erf a` for `a` in `[0.5, 6]`.
#[inline(always)]
fn erfc_large(a: f64) -> f64 {
    let square = a * a;
    // e^(-a²), corrected by the rounding error of a².
    let error = a.mul_add(a, -square);
    let e = exp(-square);
    let e = error.mul_add(-e, e);
    e * erfcx_middle(a)
}

/// `2/√π ∫₀ˣ e^(-t²) dt`
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    let large = 1.0 - erfc_large(clamp(a, 0.5, 6.0));
    (if a < 1.0 { erf_small(a) } else { large }).copysign(x)
}

/// The inverse of `erf`, to 26 bits for `|x| <= 1 - 2^-24` and 24 bits beyond.
#[inline(always)]
pub fn erfinv_single(x: f64) -> f64 {
    let w = -log((1.0 - x) * (1.0 + x));
    let t = w - 2.5;
    let central = [
        1.5014093516926845,
        0.24664027577640862,
        -0.004177324643219243,
        -0.0012527048486942732,
        0.0002182635678429207,
        -4.9987840788518275e-6,
        -3.4260170834779923e-6,
        4.797074808559211e-7,
        1.645815954278827e-8,
        -1.1024561361008036e-8,
        4.3697047755152487e-10,
        1.3293582879477212e-10,
    ];
    let s = w.sqrt() - 3.0;
    let tail = [
        2.832976798297666,
        1.0016749077846043,
        0.009445462090037176,
        -0.007636416525545411,
        0.005685285740855893,
        -0.003600260464468012,
        0.0014904080858612542,
        -5.505861922946362e-5,
        -0.00031479379386181814,
        0.00011745642099475828,
    ];
    let far = [
        2.8329768732384806,
        1.001675664236566,
        0.009442566647593046,
        -0.00764828059588855,
        0.005706311036701283,
        -0.003552287413931621,
        0.0014273095372943126,
        -0.00012495576287837974,
        -0.00022888470593628602,
        0.00014640993148541993,
        -4.292664959034648e-5,
        6.474564288651361e-6,
        -4.046618902256906e-7,
    ];
    let outer = if w < 16.8 { poly(s, tail) } else { poly(s, far) };
    let y = x * if w < 5.0 { poly(t, central) } else { outer };
    if x.abs() == 1.0 { x * f64::INFINITY } else { y }
}

/// The inverse of `erf`.
#[inline(always)]
pub fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    let y = erfinv_single(a);
    // One step of Halley's method on erf y - a; near 1 on 1 - a, which is exact, instead of erf y.
    let inner = erf_small(clamp(y, 0.0, 1.0)) - a;
    let outer = (1.0 - a) - erfc_large(clamp(y, 0.5, 6.0));
    let excess = if y < 0.7 { inner } else { outer };
    let newton = excess / (FRAC_2_SQRT_PI * exp(-y * y));
    let step = newton / newton.mul_add(y, 1.0);
    let refined = y - step;
    let y = if a < 1.0 && a > 1e-150 { refined } else { y };
    let y = if a <= 1e-150 { a / FRAC_2_SQRT_PI } else { y };
    y.copysign(x)
}
