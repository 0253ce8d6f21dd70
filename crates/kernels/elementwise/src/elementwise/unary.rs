//! Table of the block functions of one element, by kind and dtype.

use umber_kernels_base::math::integer::Integer;
use umber_kernels_base::math::{
    bessel, entropy, error_function, exponential_integral, float32, float64, gamma,
};
use umber_types::{Bool, DType, UnaryKind};

use super::unary_complex::{complex64, complex128};
use super::{Entry, exact1, inverse_error, map1};

/// The block function, if the kind supports the (computing) dtype.
pub(crate) fn entry(kind: UnaryKind, dtype: DType) -> Option<Entry> {
    match dtype {
        DType::Bool => bool(kind),
        DType::UInt8 => u8(kind),
        DType::UInt16 => u16(kind),
        DType::UInt32 => u32(kind),
        DType::UInt64 => u64(kind),
        DType::Int8 => i8(kind),
        DType::Int16 => i16(kind),
        DType::Int32 => i32(kind),
        DType::Int64 => i64(kind),
        DType::Float16 | DType::BFloat16 | DType::Float32 => f32(kind),
        DType::Float64 => f64(kind),
        DType::Complex64 => complex64(kind),
        DType::Complex128 => complex128(kind),
        _ => None,
    }
}

fn bool(kind: UnaryKind) -> Option<Entry> {
    use UnaryKind::*;
    Some(match kind {
        LogicalNot | BitwiseInvert => map1!(Bool => Bool, I, |x| (!x.get()).into()),
        Abs | Sign | Square | Floor | Ceil | Round | Trunc | Conjugate | Real => {
            map1!(Bool => Bool, I, |x| x.get().into())
        }
        Imag | IsNan | IsInf | SignBit => map1!(Bool => Bool, I, |_x| false.into()),
        IsFinite => map1!(Bool => Bool, I, |_x| true.into()),
        _ => return None,
    })
}

macro_rules! unsigned {
    ($($ty:ident),*) => {$(
        fn $ty(kind: UnaryKind) -> Option<Entry> {
            use UnaryKind::*;
            Some(match kind {
                Abs | Floor | Ceil | Round | Trunc | Conjugate | Real => map1!($ty => $ty, I, |x| x),
                Imag => map1!($ty => $ty, I, |_x| 0),
                Negative => map1!($ty => $ty, I, |x| x.wrapping_neg()),
                Sign => map1!($ty => $ty, I, |x| x.sign()),
                Square => map1!($ty => $ty, I, |x| x.wrapping_mul(x)),
                LogicalNot => map1!($ty => Bool, I, |x| (x == 0).into()),
                BitwiseInvert => map1!($ty => $ty, I, |x| !x),
                BitCount => map1!($ty => $ty, I, |x| x.count_ones() as $ty),
                SignBit => map1!($ty => Bool, I, |_x| false.into()),
                // The result does not depend on the argument.
                IsNan | IsInf | IsFinite => return bool(kind),
                _ => return None,
            })
        }
    )*};
}

/// Operations that do not depend on the sign use the unsigned functions.
macro_rules! signed {
    ($($ty:ident: $unsigned:ident),*) => {$(
        fn $ty(kind: UnaryKind) -> Option<Entry> {
            Some(match kind {
                UnaryKind::Abs => map1!($ty => $ty, I, |x| x.wrapping_abs()),
                UnaryKind::Sign => map1!($ty => $ty, I, |x| x.sign()),
                UnaryKind::SignBit => map1!($ty => Bool, I, |x| (x < 0).into()),
                _ => return $unsigned(kind),
            })
        }
    )*};
}

unsigned!(u8, u16, u32, u64);
signed!(i8: u8, i16: u16, i32: u32, i64: u64);

/// The functions that need no approximation, for both widths.
macro_rules! float_basics {
    ($name:ident, $ty:ident, $bits:ident) => {
        fn $name(kind: UnaryKind) -> Option<Entry> {
            use UnaryKind::*;
            Some(match kind {
                Abs => map1!($ty => $ty, I, |x| x.abs()),
                Negative => map1!($ty => $ty, I, |x| -x),
                Sign => map1!($ty => $ty, I, |x| {
                    let one = if x > 0.0 { 1.0 } else { -1.0 };
                    let sign = if x == 0.0 { 0.0 } else { one };
                    if x.is_nan() { x } else { sign }
                }),
                Square => map1!($ty => $ty, I, |x| x * x),
                Sqrt => map1!($ty => $ty, I, |x| x.sqrt(), cost 3),
                Rsqrt => map1!($ty => $ty, I, |x| 1.0 / x.sqrt(), cost 4),
                Reciprocal => map1!($ty => $ty, I, |x| 1.0 / x, cost 2),
                Floor => map1!($ty => $ty, I, |x| x.floor()),
                Ceil => map1!($ty => $ty, I, |x| x.ceil()),
                Round => map1!($ty => $ty, I, |x| x.round_ties_even()),
                Trunc => map1!($ty => $ty, I, |x| x.trunc()),
                LogicalNot => map1!($ty => Bool, I, |x| (x == 0.0).into()),
                // Bitwise: copies, or all zeros.
                Conjugate | Real | Imag => return $bits(kind),
                IsNan => map1!($ty => Bool, I, |x| x.is_nan().into()),
                IsInf => map1!($ty => Bool, I, |x| x.is_infinite().into()),
                IsFinite => map1!($ty => Bool, I, |x| x.is_finite().into()),
                SignBit => map1!($ty => Bool, I, |x| x.is_sign_negative().into()),
                Exponent => map1!($ty => $ty, I, |x| float64::exponent(x.into()) as $ty, cost 4),
                _ => return None,
            })
        }
    };
}

float_basics!(f32_basics, f32, u32);
float_basics!(f64_basics, f64, u64);

fn f32(kind: UnaryKind) -> Option<Entry> {
    use UnaryKind::*;
    Some(match kind {
        Exp => map1!(f32 => f32, I, |x| float32::exp::<I>(x), cost 3),
        Expm1 => map1!(f32 => f32, I, |x| float32::expm1::<I>(x), cost 4),
        Log => map1!(f32 => f32, I, |x| float32::log::<I>(x), cost 4),
        Log2 => map1!(f32 => f32, I, |x| float32::log2::<I>(x), cost 4),
        Log10 => map1!(f32 => f32, I, |x| float32::log10::<I>(x), cost 4),
        Log1p => map1!(f32 => f32, I, |x| float32::log1p::<I>(x), cost 5),
        Sin => map1!(f32 => f32, I, |x| float32::sin::<I>(x), cost 4,
            slow if x.abs() > float32::REDUCTION_LIMIT => f64::from(x).sin() as f32),
        Cos => map1!(f32 => f32, I, |x| float32::cos::<I>(x), cost 4,
            slow if x.abs() > float32::REDUCTION_LIMIT => f64::from(x).cos() as f32),
        Tan => map1!(f32 => f32, I, |x| float32::tan(x), cost 8,
            slow if x.abs() > float32::REDUCTION_LIMIT => f64::from(x).tan() as f32),
        Arcsin => map1!(f32 => f32, I, |x| float32::asin::<I>(x), cost 5),
        Arccos => map1!(f32 => f32, I, |x| float32::acos::<I>(x), cost 5),
        Arctan => map1!(f32 => f32, I, |x| float32::atan::<I>(x), cost 5),
        Sinh => map1!(f32 => f32, I, |x| float32::sinh::<I>(x), cost 6),
        Cosh => map1!(f32 => f32, I, |x| float32::cosh::<I>(x), cost 5),
        Tanh => map1!(f32 => f32, I, |x| float32::tanh::<I>(x), cost 6),
        Arcsinh => map1!(f32 => f32, I, |x| float32::asinh(x), cost 15),
        Arccosh => map1!(f32 => f32, I, |x| float32::acosh(x), cost 15),
        Arctanh => map1!(f32 => f32, I, |x| float32::atanh(x), cost 15),
        Erf => map1!(f32 => f32, I, |x| float32::erf::<I>(x), cost 6),
        ErfInv => const { inverse_error::entry() },
        Sigmoid => map1!(f32 => f32, I, |x| float32::sigmoid::<I>(x), cost 5),
        Cbrt => map1!(f32 => f32, I, |x| float32::cbrt(x), cost 25),
        Exp2 => map1!(f32 => f32, I, |x| float32::exp2(x), cost 8),
        // Computed in f64 and rounded once.
        Erfc => exact1!(f32 => f32, |x| libm::erfc(x.into()) as f32),
        LogGamma => exact1!(f32 => f32, |x| gamma::log_gamma(x.into()) as f32),
        Digamma => exact1!(f32 => f32, |x| gamma::digamma(x.into()) as f32),
        I0 => exact1!(f32 => f32, |x| bessel::i0(x.into()) as f32),
        I0e => exact1!(f32 => f32, |x| bessel::i0e(x.into()) as f32),
        I1 => exact1!(f32 => f32, |x| bessel::i1(x.into()) as f32),
        I1e => exact1!(f32 => f32, |x| bessel::i1e(x.into()) as f32),
        J0 => exact1!(f32 => f32, |x| libm::j0(x.into()) as f32),
        J1 => exact1!(f32 => f32, |x| libm::j1(x.into()) as f32),
        Y0 => exact1!(f32 => f32, |x| libm::y0(x.into()) as f32),
        Y1 => exact1!(f32 => f32, |x| libm::y1(x.into()) as f32),
        K0 => exact1!(f32 => f32, |x| bessel::k0(x.into()) as f32),
        K0e => exact1!(f32 => f32, |x| bessel::k0e(x.into()) as f32),
        K1 => exact1!(f32 => f32, |x| bessel::k1(x.into()) as f32),
        K1e => exact1!(f32 => f32, |x| bessel::k1e(x.into()) as f32),
        Gamma => exact1!(f32 => f32, |x| gamma::gamma(x.into()) as f32),
        Erfcx => exact1!(f32 => f32, |x| error_function::erfcx(x.into()) as f32),
        ErfcInv => exact1!(f32 => f32, |x| error_function::erfcinv(x.into()) as f32),
        Ndtr => exact1!(f32 => f32, |x| error_function::ndtr(x.into()) as f32),
        LogNdtr => exact1!(f32 => f32, |x| error_function::log_ndtr(x.into()) as f32),
        Logit => exact1!(f32 => f32, |x| entropy::logit(x.into()) as f32),
        Entr => exact1!(f32 => f32, |x| entropy::entr(x.into()) as f32),
        Expi => exact1!(f32 => f32, |x| exponential_integral::expi(x.into()) as f32),
        Exp1 => exact1!(f32 => f32, |x| exponential_integral::exp1(x.into()) as f32),
        Spence => exact1!(f32 => f32, |x| exponential_integral::spence(x.into()) as f32),
        _ => return f32_basics(kind),
    })
}

fn f64(kind: UnaryKind) -> Option<Entry> {
    use UnaryKind::*;
    Some(match kind {
        Exp => map1!(f64 => f64, I, |x| float64::exp(x), cost 8),
        Expm1 => map1!(f64 => f64, I, |x| float64::expm1(x), cost 8),
        Log => map1!(f64 => f64, I, |x| float64::log(x), cost 10),
        Log2 => exact1!(f64 => f64, |x| x.log2()),
        Log10 => exact1!(f64 => f64, |x| x.log10()),
        Log1p => map1!(f64 => f64, I, |x| float64::log1p(x), cost 14),
        Sin => map1!(f64 => f64, I, |x| float64::sin(x), cost 9,
            slow if x.abs() > float64::REDUCTION_LIMIT => x.sin()),
        Cos => map1!(f64 => f64, I, |x| float64::cos(x), cost 9,
            slow if x.abs() > float64::REDUCTION_LIMIT => x.cos()),
        Tan => exact1!(f64 => f64, |x| x.tan()),
        Arcsin => exact1!(f64 => f64, |x| x.asin()),
        Arccos => exact1!(f64 => f64, |x| x.acos()),
        Arctan => exact1!(f64 => f64, |x| x.atan()),
        Sinh => exact1!(f64 => f64, |x| x.sinh()),
        Cosh => exact1!(f64 => f64, |x| x.cosh()),
        Tanh => map1!(f64 => f64, I, |x| float64::tanh(x), cost 12),
        // The standard library's `asinh` doubles its argument, which overflows.
        Arcsinh => exact1!(f64 => f64, |x| libm::asinh(x)),
        // The standard library's functions lose precision near one; libm's `acosh` accepts arguments below one.
        Arccosh => exact1!(f64 => f64, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        Arctanh => exact1!(f64 => f64, |x| libm::atanh(x)),
        Erf => map1!(f64 => f64, I, |x| float64::erf(x), cost 20),
        ErfInv => map1!(f64 => f64, I, |x| float64::erfinv(x), cost 50),
        Sigmoid => map1!(f64 => f64, I, |x| float64::sigmoid(x), cost 12),
        Cbrt => exact1!(f64 => f64, |x| x.cbrt()),
        Exp2 => exact1!(f64 => f64, |x| x.exp2()),
        Erfc => exact1!(f64 => f64, |x| libm::erfc(x)),
        LogGamma => exact1!(f64 => f64, |x| gamma::log_gamma(x)),
        Digamma => exact1!(f64 => f64, |x| gamma::digamma(x)),
        I0 => exact1!(f64 => f64, |x| bessel::i0(x)),
        I0e => exact1!(f64 => f64, |x| bessel::i0e(x)),
        I1 => exact1!(f64 => f64, |x| bessel::i1(x)),
        I1e => exact1!(f64 => f64, |x| bessel::i1e(x)),
        J0 => exact1!(f64 => f64, |x| libm::j0(x)),
        J1 => exact1!(f64 => f64, |x| libm::j1(x)),
        Y0 => exact1!(f64 => f64, |x| libm::y0(x)),
        Y1 => exact1!(f64 => f64, |x| libm::y1(x)),
        K0 => exact1!(f64 => f64, |x| bessel::k0(x)),
        K0e => exact1!(f64 => f64, |x| bessel::k0e(x)),
        K1 => exact1!(f64 => f64, |x| bessel::k1(x)),
        K1e => exact1!(f64 => f64, |x| bessel::k1e(x)),
        Gamma => exact1!(f64 => f64, |x| gamma::gamma(x)),
        Erfcx => exact1!(f64 => f64, |x| error_function::erfcx(x)),
        ErfcInv => exact1!(f64 => f64, |x| error_function::erfcinv(x)),
        Ndtr => exact1!(f64 => f64, |x| error_function::ndtr(x)),
        LogNdtr => exact1!(f64 => f64, |x| error_function::log_ndtr(x)),
        Logit => exact1!(f64 => f64, |x| entropy::logit(x)),
        Entr => exact1!(f64 => f64, |x| entropy::entr(x)),
        Expi => exact1!(f64 => f64, |x| exponential_integral::expi(x)),
        Exp1 => exact1!(f64 => f64, |x| exponential_integral::exp1(x)),
        Spence => exact1!(f64 => f64, |x| exponential_integral::spence(x)),
        _ => return f64_basics(kind),
    })
}
