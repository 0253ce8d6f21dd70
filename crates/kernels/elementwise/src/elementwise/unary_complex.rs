//! Functions of one complex element. complex64 computes in complex128 and rounds once.

use umber_kernels_base::math::complex;
use umber_types::{Bool, Complex, Complex32, Complex64, UnaryKind};

use super::{Entry, exact1, map1};

#[inline(always)]
fn widen(z: Complex32) -> Complex64 {
    Complex { re: f64::from(z.re), im: f64::from(z.im) }
}

#[inline(always)]
fn narrow(z: Complex64) -> Complex32 {
    Complex { re: z.re as f32, im: z.im as f32 }
}

macro_rules! complex_unary {
    ($name:ident, $ty:ident, $real:ident, $widen:expr, $narrow:expr) => {
        pub(crate) fn $name(kind: UnaryKind) -> Option<Entry> {
            use UnaryKind::*;
            Some(match kind {
                Abs => exact1!($ty => $real, |z| complex::abs($widen(z)) as $real),
                Negative => map1!($ty => $ty, I, |z| -z),
                Sign => exact1!($ty => $ty, |z| $narrow(complex::sign($widen(z)))),
                Square => map1!($ty => $ty, I, |z| {
                    Complex { re: (z.re - z.im) * (z.re + z.im), im: 2.0 * (z.re * z.im) }
                }, cost 2),
                Sqrt => exact1!($ty => $ty, |z| $narrow(complex::sqrt($widen(z)))),
                Rsqrt => exact1!($ty => $ty, |z| {
                    $narrow(complex::divide(Complex { re: 1.0, im: 0.0 }, complex::sqrt($widen(z))))
                }),
                Reciprocal => exact1!($ty => $ty, |z| {
                    $narrow(complex::divide(Complex { re: 1.0, im: 0.0 }, $widen(z)))
                }),
                Exp => exact1!($ty => $ty, |z| $narrow(complex::exp($widen(z)))),
                Expm1 => exact1!($ty => $ty, |z| $narrow(complex::expm1($widen(z)))),
                Log => exact1!($ty => $ty, |z| $narrow(complex::log($widen(z)))),
                Log2 => exact1!($ty => $ty, |z| {
                    $narrow(complex::log_scaled($widen(z), std::f64::consts::LOG2_E))
                }),
                Log10 => exact1!($ty => $ty, |z| {
                    $narrow(complex::log_scaled($widen(z), std::f64::consts::LOG10_E))
                }),
                Log1p => exact1!($ty => $ty, |z| $narrow(complex::log1p($widen(z)))),
                Sin => exact1!($ty => $ty, |z| $narrow(complex::sin($widen(z)))),
                Cos => exact1!($ty => $ty, |z| $narrow(complex::cos($widen(z)))),
                Tan => exact1!($ty => $ty, |z| $narrow(complex::tan($widen(z)))),
                Arcsin => exact1!($ty => $ty, |z| $narrow(complex::asin($widen(z)))),
                Arccos => exact1!($ty => $ty, |z| $narrow(complex::acos($widen(z)))),
                Arctan => exact1!($ty => $ty, |z| $narrow(complex::atan($widen(z)))),
                Sinh => exact1!($ty => $ty, |z| $narrow(complex::sinh($widen(z)))),
                Cosh => exact1!($ty => $ty, |z| $narrow(complex::cosh($widen(z)))),
                Tanh => exact1!($ty => $ty, |z| $narrow(complex::tanh($widen(z)))),
                Arcsinh => exact1!($ty => $ty, |z| $narrow(complex::asinh($widen(z)))),
                Arccosh => exact1!($ty => $ty, |z| $narrow(complex::acosh($widen(z)))),
                Arctanh => exact1!($ty => $ty, |z| $narrow(complex::atanh($widen(z)))),
                Sigmoid => exact1!($ty => $ty, |z| {
                    let one = Complex { re: 1.0, im: 0.0 };
                    $narrow(complex::divide(one, one + complex::exp(-$widen(z))))
                }),
                Round => map1!($ty => $ty, I, |z| {
                    Complex { re: z.re.round_ties_even(), im: z.im.round_ties_even() }
                }),
                LogicalNot => map1!($ty => Bool, I, |z| (z.re == 0.0 && z.im == 0.0).into()),
                Conjugate => map1!($ty => $ty, I, |z| Complex { re: z.re, im: -z.im }),
                Real => map1!($ty => $real, I, |z| z.re),
                Imag => map1!($ty => $real, I, |z| z.im),
                IsNan => map1!($ty => Bool, I, |z| (z.re.is_nan() || z.im.is_nan()).into()),
                IsInf => map1!($ty => Bool, I, |z| (z.re.is_infinite() || z.im.is_infinite()).into()),
                IsFinite => map1!($ty => Bool, I, |z| (z.re.is_finite() && z.im.is_finite()).into()),
                Exp2 => exact1!($ty => $ty, |z| $narrow(complex::exp($widen(z) * std::f64::consts::LN_2))),
                Floor | Ceil | Trunc | Erf | ErfInv | BitwiseInvert | Erfc | LogGamma | Digamma | I0 | I0e | I1
                | I1e | J0 | J1 | Y0 | Y1 | K0 | K0e | K1 | K1e | Gamma | Erfcx | ErfcInv | Ndtr | LogNdtr | Logit | Entr | Expi | Exp1 | Spence | Cbrt
                | Exponent | SignBit | BitCount => return None,
            })
        }
    };
}

complex_unary!(complex64, Complex32, f32, widen, narrow);
complex_unary!(complex128, Complex64, f64, std::convert::identity, std::convert::identity);
