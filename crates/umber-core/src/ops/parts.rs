//! What numbers are made of: signs, bits, exponents, real and imaginary parts, and their neighbours.

use umber_types::{BinaryKind, DType, Kind, Result, Scalar, UnaryKind, bail, ensure, promote};

use super::elementwise::{
    abs, add, arctan2, astype, binary, copysign, equal, greater, imag, isinf, isnan, logical_and,
    logical_not, logical_or, logical_xor, negative, not_equal, real, select, stop_gradient, subtract, unary,
};
use super::promotion::{cast_constant, meet_as, weak};
use crate::graph::Array;
use crate::primitives::view::View;

/// The bytes of `x` read as `dtype`: the last axis shrinks or grows with the size of an element.
///
/// Errors where the last axis has no whole number of elements of `dtype`. The bits have no derivative.
pub fn view(x: &Array, dtype: DType) -> Result<Array> {
    if x.dtype() == dtype { Ok(x.clone()) } else { Array::record_one(View(dtype), &[x]) }
}

/// Is the sign bit set? True for `-0.0` and for NaN with a sign. Not defined for complex numbers.
pub fn signbit(x: &Array) -> Result<Array> {
    unary(UnaryKind::SignBit, x)
}

/// `x 2^n` for integers `n`, rounded once.
pub fn ldexp(x: &Array, n: &Array) -> Result<Array> {
    ensure!(!n.dtype().is_inexact(), Type, "[ldexp] got exponents of {}, expected integers", n.dtype());
    let (x, n) = meet_as("ldexp", x, n, x.dtype().inexact())?;
    binary(BinaryKind::Ldexp, &x, &n)
}

/// Mantissa and exponent: `x = m 2^e` with `1/2 <= |m| < 1` and `e` int32; `(x, 0)` for zero, infinities and NaN.
pub fn frexp(x: &Array) -> Result<(Array, Array)> {
    let x = cast_constant(x, x.dtype().inexact())?;
    let exponent = unary(UnaryKind::Exponent, &x)?;
    let mantissa = binary(BinaryKind::Ldexp, &x, &negative(&exponent)?)?;
    Ok((mantissa, astype(&exponent, DType::Int32)?))
}

/// The next floating-point number after `a` towards `b`, in their promoted dtype; flat where it has a slope.
pub fn nextafter(a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype()).inexact();
    let (a, b) = meet_as("nextafter", a, b, dtype)?;
    let (a, b) = (stop_gradient(&a)?, stop_gradient(&b)?);
    let bits = match dtype {
        DType::Float16 | DType::BFloat16 => DType::UInt16,
        DType::Float32 => DType::UInt32,
        DType::Float64 => DType::UInt64,
        other => bail!(Type, "[nextafter] is not defined for arrays of {other}"),
    };
    let zero = weak(Scalar::Float(0.0), &a);
    let one = Array::scalar(Scalar::UInt(1), bits);
    // As integers, numbers of one sign are ordered by magnitude.
    let grows = logical_not(&logical_xor(&greater(&b, &a)?, &greater(&a, &zero)?)?)?;
    let here = view(&a, bits)?;
    let stepped = view(&select(&grows, &add(&here, &one)?, &subtract(&here, &one)?)?, dtype)?;
    let from_zero = copysign(&view(&one, dtype)?, &b)?;
    let moved = select(&equal(&a, &zero)?, &from_zero, &stepped)?;
    let number = select(&equal(&a, &b)?, &b, &moved)?;
    select(&logical_or(&isnan(&a)?, &isnan(&b)?)?, &add(&a, &b)?, &number)
}

/// The distance from `x` to the next number away from zero, with the sign of `x`; NaN for infinities.
pub fn spacing(x: &Array) -> Result<Array> {
    let x = cast_constant(x, x.dtype().inexact())?;
    let size = abs(&x)?;
    let above = nextafter(&size, &weak(Scalar::Float(f64::INFINITY), &size))?;
    let below = nextafter(&size, &weak(Scalar::Float(0.0), &size))?;
    // The largest number has no neighbour above.
    let is_last = logical_and(&isinf(&above)?, &logical_not(&isinf(&size)?)?)?;
    let size = stop_gradient(&size)?;
    let distance = select(&is_last, &subtract(&size, &below)?, &subtract(&above, &size)?)?;
    copysign(&distance, &x)
}

/// The number of bits set in the absolute value of an integer, as uint8.
pub fn bitwise_count(x: &Array) -> Result<Array> {
    let bits = match x.dtype().kind() {
        Kind::Bool => cast_constant(x, DType::UInt8)?,
        Kind::Unsigned => x.clone(),
        Kind::Signed => abs(x)?,
        Kind::Float | Kind::Complex => {
            bail!(Type, "[bitwise_count] is not defined for an array of {}", x.dtype())
        }
    };
    astype(&unary(UnaryKind::BitCount, &bits)?, DType::UInt8)
}

/// The angle of a complex number, in radians; of a real one 0 or π.
pub fn angle(x: &Array) -> Result<Array> {
    arctan2(&imag(x)?, &real(x)?)
}

/// Is the imaginary part zero?
pub fn isreal(x: &Array) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(Array::full(x.shape().clone(), true, DType::Bool));
    }
    let im = imag(x)?;
    equal(&im, &weak(Scalar::Float(0.0), &im))
}

/// Is the imaginary part different from zero?
pub fn iscomplex(x: &Array) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(Array::full(x.shape().clone(), false, DType::Bool));
    }
    let im = imag(x)?;
    not_equal(&im, &weak(Scalar::Float(0.0), &im))
}
