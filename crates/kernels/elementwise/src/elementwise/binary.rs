//! Table of the block functions of two elements, by kind and dtype.

use umber_kernels_base::math::integer::Integer;
use umber_kernels_base::math::{
    beta, entropy, exponential_integral, float32, float64, gamma, incomplete_gamma, inverse_incomplete_gamma,
};
use umber_types::{BinaryKind, Bool, DType};

use super::binary_complex::{complex64, complex128};
use super::{Entry, exact2, map2, power};

/// The block function, if the kind supports the (computing) dtype. `greater` and `greater_equal` share that of `less` and
/// `less_equal`, with swapped operands.
pub(crate) fn entry(kind: BinaryKind, dtype: DType) -> Option<Entry> {
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

/// True for kinds computed by the block function of the converse relation, with swapped operands.
pub(crate) const fn swaps_operands(kind: BinaryKind) -> bool {
    matches!(kind, BinaryKind::Greater | BinaryKind::GreaterEqual)
}

/// Bool arithmetic: that of 0 and 1, with nonzero results as true.
fn bool(kind: BinaryKind) -> Option<Entry> {
    use BinaryKind::*;
    Some(match kind {
        Add | Maximum | LogicalOr | BitwiseOr => map2!(Bool => Bool, I, |a, b| (a.get() | b.get()).into()),
        Multiply | Minimum | FloorDivide | LogicalAnd | BitwiseAnd => {
            map2!(Bool => Bool, I, |a, b| (a.get() & b.get()).into())
        }
        Subtract | NotEqual | BitwiseXor => map2!(Bool => Bool, I, |a, b| (a.get() ^ b.get()).into()),
        Remainder => map2!(Bool => Bool, I, |a, b| (a.get() & !b.get()).into()),
        Power => map2!(Bool => Bool, I, |a, b| (a.get() | !b.get()).into()),
        Equal => map2!(Bool => Bool, I, |a, b| (a.get() == b.get()).into()),
        Less | Greater => map2!(Bool => Bool, I, |a, b| (!a.get() & b.get()).into()),
        LessEqual | GreaterEqual => map2!(Bool => Bool, I, |a, b| (!a.get() | b.get()).into()),
        Divide | LogAddExp | LogAddExp2 | Arctan2 | LeftShift | RightShift | Hypot | CopySign | Fmod
        | Ldexp | Gcd | Zeta | Polygamma | GammaInc | GammaIncC | Beta | BetaLn | Expn | RelEntr
        | GammaIncInv | GammaIncCInv | GammaIncSlope | ZetaSlope | GammaDensity | MultiplyAbsorbing => {
            return None;
        }
    })
}

macro_rules! unsigned {
    ($($ty:ident),*) => {$(
        fn $ty(kind: BinaryKind) -> Option<Entry> {
            use BinaryKind::*;
            Some(match kind {
                Add => map2!($ty => $ty, I, |a, b| a.wrapping_add(b)),
                Subtract => map2!($ty => $ty, I, |a, b| a.wrapping_sub(b)),
                Multiply => map2!($ty => $ty, I, |a, b| a.wrapping_mul(b)),
                FloorDivide => exact2!($ty => $ty, |a, b| a.floor_divide(b)),
                Remainder => exact2!($ty => $ty, |a, b| Integer::remainder(a, b)),
                Power => exact2!($ty => $ty, |a, b| a.power(b)),
                Maximum => map2!($ty => $ty, I, |a, b| a.max(b)),
                Minimum => map2!($ty => $ty, I, |a, b| a.min(b)),
                Equal => map2!($ty => Bool, I, |a, b| (a == b).into()),
                NotEqual => map2!($ty => Bool, I, |a, b| (a != b).into()),
                Less | Greater => map2!($ty => Bool, I, |a, b| (a < b).into()),
                LessEqual | GreaterEqual => map2!($ty => Bool, I, |a, b| (a <= b).into()),
                LogicalAnd => map2!($ty => Bool, I, |a, b| (a != 0 && b != 0).into()),
                LogicalOr => map2!($ty => Bool, I, |a, b| (a != 0 || b != 0).into()),
                BitwiseAnd => map2!($ty => $ty, I, |a, b| a & b),
                BitwiseOr => map2!($ty => $ty, I, |a, b| a | b),
                BitwiseXor => map2!($ty => $ty, I, |a, b| a ^ b),
                LeftShift => map2!($ty => $ty, I, |a, b| a.shift_left(b)),
                RightShift => map2!($ty => $ty, I, |a, b| a.shift_right(b)),
                Fmod => exact2!($ty => $ty, |a, b| a.checked_rem(b).unwrap_or(0)),
                Gcd => exact2!($ty => $ty, |a, b| Integer::gcd(a, b)),
                Divide | LogAddExp | LogAddExp2 | Arctan2 | Hypot | CopySign | Ldexp | Zeta | Polygamma
                | GammaInc | GammaIncC | Beta | BetaLn | Expn | RelEntr | GammaDensity | GammaIncInv
                | GammaIncCInv | GammaIncSlope | ZetaSlope
                | MultiplyAbsorbing => return None,
            })
        }
    )*};
}

/// Operations that do not depend on the sign use the unsigned functions.
macro_rules! signed {
    ($($ty:ident: $unsigned:ident),*) => {$(
        fn $ty(kind: BinaryKind) -> Option<Entry> {
            use BinaryKind::*;
            Some(match kind {
                FloorDivide => exact2!($ty => $ty, |a, b| a.floor_divide(b)),
                Remainder => exact2!($ty => $ty, |a, b| Integer::remainder(a, b)),
                Power => exact2!($ty => $ty, |a, b| a.power(b)),
                Maximum => map2!($ty => $ty, I, |a, b| a.max(b)),
                Minimum => map2!($ty => $ty, I, |a, b| a.min(b)),
                Less | Greater => map2!($ty => Bool, I, |a, b| (a < b).into()),
                LessEqual | GreaterEqual => map2!($ty => Bool, I, |a, b| (a <= b).into()),
                RightShift => map2!($ty => $ty, I, |a, b| a.shift_right(b)),
                // `None` for division by zero and for `MIN % -1`: both give 0.
                Fmod => exact2!($ty => $ty, |a, b| a.checked_rem(b).unwrap_or(0)),
                Gcd => exact2!($ty => $ty, |a, b| Integer::gcd(a, b)),
                _ => return $unsigned(kind),
            })
        }
    )*};
}

unsigned!(u8, u16, u32, u64);
signed!(i8: u8, i16: u16, i32: u32, i64: u64);

/// The functions that need no approximation, for both widths.
macro_rules! float_basics {
    ($name:ident, $ty:ident, $fma:ident) => {
        fn $name(kind: BinaryKind) -> Option<Entry> {
            use BinaryKind::*;
            Some(match kind {
                Add => map2!($ty => $ty, I, |a, b| a + b),
                Subtract => map2!($ty => $ty, I, |a, b| a - b),
                Multiply => map2!($ty => $ty, I, |a, b| a * b),
                Divide => map2!($ty => $ty, I, |a, b| a / b, cost 2),
                FloorDivide => map2!($ty => $ty, I, |a, b| (a / b).floor(), cost 2),
                // If the quotient is small, `a - b trunc(a / b)` is exact with one fused multiply-add. The truncated quotient may
                // be one too large, in which case the remainder has the wrong sign.
                Remainder => map2!($ty => $ty, I, |a, b| {
                    let r = I::$fma(-(a / b).trunc(), b, a);
                    let over = r != 0.0 && (r < 0.0) != (a < 0.0);
                    let r = if over { r + b.copysign(a) } else { r };
                    let r = if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r };
                    if r == 0.0 { r.copysign(b) } else { r }
                }, cost 4, slow if !b.is_normal() || !a.is_finite() || (a / b).abs() >= 4194304.0 => {
                    let r = a % b;
                    let r = if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r };
                    if r == 0.0 { r.copysign(b) } else { r }
                }),
                Maximum => map2!($ty => $ty, I, |a, b| if a.is_nan() || a > b { a } else { b }),
                Minimum => map2!($ty => $ty, I, |a, b| if a.is_nan() || a < b { a } else { b }),
                Equal => map2!($ty => Bool, I, |a, b| (a == b).into()),
                NotEqual => map2!($ty => Bool, I, |a, b| (a != b).into()),
                Less | Greater => map2!($ty => Bool, I, |a, b| (a < b).into()),
                LessEqual | GreaterEqual => map2!($ty => Bool, I, |a, b| (a <= b).into()),
                LogicalAnd => map2!($ty => Bool, I, |a, b| (a != 0.0 && b != 0.0).into()),
                LogicalOr => map2!($ty => Bool, I, |a, b| (a != 0.0 || b != 0.0).into()),
                CopySign => map2!($ty => $ty, I, |a, b| a.copysign(b)),
                Fmod => exact2!($ty => $ty, |a, b| a % b),
                // Without NaN operands, only zero times infinity is NaN.
                MultiplyAbsorbing => map2!($ty => $ty, I, |a, b| {
                    let product = a * b;
                    if product.is_nan() && !a.is_nan() && !b.is_nan() { 0.0 } else { product }
                }, cost 2),
                _ => return None,
            })
        }
    };
}

float_basics!(f32_basics, f32, fma32);
float_basics!(f64_basics, f64, fma64);

fn f32(kind: BinaryKind) -> Option<Entry> {
    use BinaryKind::*;
    Some(match kind {
        Power => const { power::entry() },
        LogAddExp => map2!(f32 => f32, I, |a, b| float32::logaddexp(a, b), cost 25),
        Arctan2 => map2!(f32 => f32, I, |a, b| float32::atan2(a, b), cost 12),
        LogAddExp2 => map2!(f32 => f32, I, |a, b| float32::logaddexp2(a, b), cost 25),
        Hypot => map2!(f32 => f32, I, |a, b| float32::hypot(a, b), cost 6),
        Ldexp => map2!(f32 => f32, I, |a, b| float32::ldexp(a, b), cost 4),
        // Computed in f64 and rounded once.
        Zeta => exact2!(f32 => f32, |s, q| gamma::zeta(s.into(), q.into()) as f32),
        Polygamma => exact2!(f32 => f32, |n, x| gamma::polygamma(n.into(), x.into()) as f32),
        GammaInc => exact2!(f32 => f32, |a, x| incomplete_gamma::gammainc(a.into(), x.into()) as f32),
        GammaIncC => exact2!(f32 => f32, |a, x| incomplete_gamma::gammaincc(a.into(), x.into()) as f32),
        GammaDensity => {
            exact2!(f32 => f32, |a, x| incomplete_gamma::gamma_density(a.into(), x.into()) as f32)
        }
        GammaIncSlope => {
            exact2!(f32 => f32, |a, x| incomplete_gamma::gammainc_slope(a.into(), x.into()) as f32)
        }
        GammaIncInv => {
            exact2!(f32 => f32, |a, p| inverse_incomplete_gamma::gammaincinv(a.into(), p.into()) as f32)
        }
        GammaIncCInv => {
            exact2!(f32 => f32, |a, q| inverse_incomplete_gamma::gammainccinv(a.into(), q.into()) as f32)
        }
        ZetaSlope => exact2!(f32 => f32, |s, q| gamma::zeta_slope(s.into(), q.into()) as f32),
        Beta => exact2!(f32 => f32, |a, b| beta::beta(a.into(), b.into()) as f32),
        BetaLn => exact2!(f32 => f32, |a, b| beta::betaln(a.into(), b.into()) as f32),
        Expn => exact2!(f32 => f32, |n, x| exponential_integral::expn(n.into(), x.into()) as f32),
        RelEntr => exact2!(f32 => f32, |x, y| entropy::rel_entr(x.into(), y.into()) as f32),
        _ => return f32_basics(kind),
    })
}

fn f64(kind: BinaryKind) -> Option<Entry> {
    use BinaryKind::*;
    Some(match kind {
        Power => exact2!(f64 => f64, |a, b| a.powf(b)),
        LogAddExp => map2!(f64 => f64, I, |a, b| float64::logaddexp(a, b), cost 25),
        Arctan2 => exact2!(f64 => f64, |a, b| a.atan2(b)),
        LogAddExp2 => exact2!(f64 => f64, |a, b| float64::logaddexp2(a, b)),
        Hypot => exact2!(f64 => f64, |a, b| a.hypot(b)),
        Ldexp => exact2!(f64 => f64, |a, b| libm::ldexp(a, b as i32)),
        Zeta => exact2!(f64 => f64, |s, q| gamma::zeta(s, q)),
        Polygamma => exact2!(f64 => f64, |n, x| gamma::polygamma(n, x)),
        GammaInc => exact2!(f64 => f64, |a, x| incomplete_gamma::gammainc(a, x)),
        GammaIncC => exact2!(f64 => f64, |a, x| incomplete_gamma::gammaincc(a, x)),
        GammaDensity => exact2!(f64 => f64, |a, x| incomplete_gamma::gamma_density(a, x)),
        GammaIncSlope => exact2!(f64 => f64, |a, x| incomplete_gamma::gammainc_slope(a, x)),
        GammaIncInv => exact2!(f64 => f64, |a, p| inverse_incomplete_gamma::gammaincinv(a, p)),
        GammaIncCInv => exact2!(f64 => f64, |a, q| inverse_incomplete_gamma::gammainccinv(a, q)),
        ZetaSlope => exact2!(f64 => f64, |s, q| gamma::zeta_slope(s, q)),
        Beta => exact2!(f64 => f64, |a, b| beta::beta(a, b)),
        BetaLn => exact2!(f64 => f64, |a, b| beta::betaln(a, b)),
        Expn => exact2!(f64 => f64, |n, x| exponential_integral::expn(n, x)),
        RelEntr => exact2!(f64 => f64, |x, y| entropy::rel_entr(x, y)),
        _ => return f64_basics(kind),
    })
}
