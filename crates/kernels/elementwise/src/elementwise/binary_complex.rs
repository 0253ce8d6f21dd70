//! Functions of two complex elements, ordered by real part, then imaginary part. complex64 divides and takes powers
//! in complex128 and rounds once.

use umber_kernels_base::math::complex;
use umber_types::{BinaryKind, Bool, Complex, Complex32, Complex64};

use super::{Entry, exact2, map2};

#[inline(always)]
fn widen(z: Complex32) -> Complex64 {
    Complex { re: f64::from(z.re), im: f64::from(z.im) }
}

#[inline(always)]
fn narrow(z: Complex64) -> Complex32 {
    Complex { re: z.re as f32, im: z.im as f32 }
}

macro_rules! complex_binary {
    ($name:ident, $ty:ident, $widen:expr, $narrow:expr) => {
        pub(crate) fn $name(kind: BinaryKind) -> Option<Entry> {
            use BinaryKind::*;
            Some(match kind {
                Add => map2!($ty => $ty, I, |a, b| a + b),
                Subtract => map2!($ty => $ty, I, |a, b| a - b),
                Multiply => map2!($ty => $ty, I, |a, b| a * b, cost 2),
                Divide => exact2!($ty => $ty, |a, b| $narrow(complex::divide($widen(a), $widen(b)))),
                Power => exact2!($ty => $ty, |a, b| $narrow(complex::power($widen(a), $widen(b)))),
                LogAddExp => exact2!($ty => $ty, |a, b| $narrow(complex::logaddexp($widen(a), $widen(b)))),
                Maximum => map2!($ty => $ty, I, |a, b| {
                    if a.re.is_nan() || a.im.is_nan() { return a; }
                    if b.re.is_nan() || b.im.is_nan() { return b; }
                    if complex::less(a, b) { b } else { a }
                }),
                Minimum => map2!($ty => $ty, I, |a, b| {
                    if a.re.is_nan() || a.im.is_nan() { return a; }
                    if b.re.is_nan() || b.im.is_nan() { return b; }
                    if complex::less(b, a) { b } else { a }
                }),
                Equal => map2!($ty => Bool, I, |a, b| (a.re == b.re && a.im == b.im).into()),
                NotEqual => map2!($ty => Bool, I, |a, b| (a.re != b.re || a.im != b.im).into()),
                Less | Greater => map2!($ty => Bool, I, |a, b| complex::less(a, b).into()),
                LessEqual | GreaterEqual => map2!($ty => Bool, I, |a, b| (a.re < b.re || (a.re == b.re && a.im <= b.im)).into()),
                LogicalAnd => map2!($ty => Bool, I, |a, b| {
                    ((a.re != 0.0 || a.im != 0.0) && (b.re != 0.0 || b.im != 0.0)).into()
                }),
                LogicalOr => map2!($ty => Bool, I, |a, b| {
                    (a.re != 0.0 || a.im != 0.0 || b.re != 0.0 || b.im != 0.0).into()
                }),
                MultiplyAbsorbing => map2!($ty => $ty, I, |a, b| {
                    let is_zero = |z: $ty| z.re == 0.0 && z.im == 0.0;
                    let is_number = |z: $ty| !z.re.is_nan() && !z.im.is_nan();
                    let is_absorbed = (is_zero(a) && is_number(b)) || (is_zero(b) && is_number(a));
                    if is_absorbed { $ty::new(0.0, 0.0) } else { a * b }
                }, cost 4),
                FloorDivide | Remainder | Arctan2 | BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift
                | RightShift | Hypot | CopySign | Fmod | LogAddExp2 | Ldexp | Gcd | Zeta | Polygamma
                | GammaInc | GammaIncC | Beta | BetaLn | Expn | RelEntr | GammaDensity
                | GammaIncInv | GammaIncCInv | GammaIncSlope | ZetaSlope => return None,
            })
        }
    };
}

complex_binary!(complex64, Complex32, widen, narrow);
complex_binary!(complex128, Complex64, std::convert::identity, std::convert::identity);
