//! Parts of numbers: signs, bits, exponents, real and imaginary parts; and neighbouring floating-point numbers.

use umber_types::{BinaryKind, DType, KeepAxes, Kind, Result, Scalar, UnaryKind, bail, ensure, promote};

use super::data_dependent;
use super::elementwise::{
    abs, add, arctan2, astype, binary, copysign, equal, greater, imag, isinf, isnan, less, logical_and,
    logical_not, logical_or, logical_xor, negative, not_equal, real, select, stop_gradient, subtract, trunc,
    unary,
};
use super::promotion::{cast_constant, meet_as, weak};
use super::reductions::all;
use crate::graph::Array;
use crate::primitives::view::View;

/// Reinterpret the bytes of an array as another dtype.
///
/// The last axis shrinks or grows by the ratio of the element sizes. Fails if its length in bytes is not a
/// multiple of the size of `dtype`. The derivative is not defined.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops};
/// let x = Array::from([1.0f32, -2.0]);
/// assert_eq!(ops::view(&x, DType::UInt32)?.to_vec::<u32>()?, [0x3f80_0000, 0xc000_0000]);
/// assert_eq!(ops::view(&x, DType::UInt16)?.shape(), &Shape::from([4]));
/// assert!(ops::view(&Array::from([1.0f32]), DType::Float64).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn view(x: &Array, dtype: DType) -> Result<Array> {
    if x.dtype() == dtype { Ok(x.clone()) } else { Array::record_one(View(dtype), &[x]) }
}

/// Test the sign bit of each element: true for negative numbers and `-0.0`.
///
/// For NaN, its sign bit is returned. The result is bool and has the shape of `x`. Not defined for complex
/// numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-0.0f32, 0.0, -3.0]);
/// assert_eq!(ops::signbit(&x)?.to_vec::<bool>()?, [true, false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn signbit(x: &Array) -> Result<Array> {
    unary(UnaryKind::SignBit, x)
}

/// Multiply by a power of two: `x * 2**n`, rounded once.
///
/// The shapes broadcast; integers and booleans become float32. Fails if `n` is not of integers or booleans.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (x, n) = (Array::from([1.0f32, 3.0]), Array::from([4, -1]));
/// assert_eq!(ops::ldexp(&x, &n)?.to_vec::<f32>()?, [16.0, 1.5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ldexp(x: &Array, n: &Array) -> Result<Array> {
    ensure!(!n.dtype().is_inexact(), Type("ldexp"), "exponents must be integers, not {}", n.dtype());
    let (x, n) = meet_as("ldexp", x, n, x.dtype().inexact())?;
    binary(BinaryKind::Ldexp, &x, &n)
}

/// Mantissa and exponent of each element: `x = mantissa * 2**exponent`.
///
/// `1/2 <= |mantissa| < 1`, and the exponent is int32; `(x, 0)` for zero, infinities and NaN. Both have the shape
/// of `x`. Not defined for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (mantissa, exponent) = ops::frexp(&Array::from([8.0f32, -3.0, 0.0]))?;
/// assert_eq!(mantissa.to_vec::<f32>()?, [0.5, -0.75, 0.0]);
/// assert_eq!(exponent.to_vec::<i32>()?, [4, 2, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn frexp(x: &Array) -> Result<(Array, Array)> {
    let x = cast_constant(x, x.dtype().inexact())?;
    let exponent = unary(UnaryKind::Exponent, &x)?;
    let mantissa = binary(BinaryKind::Ldexp, &x, &negative(&exponent)?)?;
    Ok((mantissa, astype(&exponent, DType::Int32)?))
}

/// Next floating-point number after `a` in the direction of `b`.
///
/// The dtype is the promoted one, the shapes broadcast. NaN in either gives NaN. The gradient is zero. Not defined
/// for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let next = ops::nextafter(&Array::from([1.0f32, 0.0, 2.0]), &Array::from([2.0f32, -1.0, 2.0]))?;
/// assert_eq!(next.to_vec::<f32>()?, [1.0 + f32::EPSILON, -f32::from_bits(1), 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn nextafter(a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype()).inexact();
    let (a, b) = meet_as("nextafter", a, b, dtype)?;
    // Stop gradients at input and output: bit patterns have no derivative in forward or reverse mode.
    let (a, b) = (stop_gradient(&a)?, stop_gradient(&b)?);
    ensure!(
        dtype.is_floating(),
        Type("nextafter"),
        "dtype {dtype} is not supported, expected real floating-point numbers"
    );
    let bits = match dtype.size() {
        2 => DType::UInt16,
        4 => DType::UInt32,
        _ => DType::UInt64,
    };
    let zero = weak(Scalar::Float(0.0), &a);
    let one = Array::scalar(Scalar::UInt(1), bits);
    // Bit patterns of numbers of one sign are ordered by magnitude.
    let is_outward = logical_not(&logical_xor(&greater(&b, &a)?, &greater(&a, &zero)?)?)?;
    let pattern = view(&a, bits)?;
    let stepped = view(&select(&is_outward, &add(&pattern, &one)?, &subtract(&pattern, &one)?)?, dtype)?;
    let from_zero = copysign(&view(&one, dtype)?, &b)?;
    let neighbour = select(&equal(&a, &zero)?, &from_zero, &stepped)?;
    let result = select(&equal(&a, &b)?, &b, &neighbour)?;
    stop_gradient(&select(&logical_or(&isnan(&a)?, &isnan(&b)?)?, &add(&a, &b)?, &result)?)
}

/// Distance from each element to the next number away from zero, with the sign of the element.
///
/// Infinities give NaN; the largest finite number gives the distance to the number below. Not defined for complex
/// numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([1.0f32, -2.0]);
/// assert_eq!(ops::spacing(&x)?.to_vec::<f32>()?, [f32::EPSILON, -2.0 * f32::EPSILON]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn spacing(x: &Array) -> Result<Array> {
    let x = cast_constant(x, x.dtype().inexact())?;
    let magnitude = abs(&x)?;
    let above = nextafter(&magnitude, &weak(Scalar::Float(f64::INFINITY), &magnitude))?;
    let below = nextafter(&magnitude, &weak(Scalar::Float(0.0), &magnitude))?;
    // The largest finite number has no finite neighbour above.
    let is_max = logical_and(&isinf(&above)?, &logical_not(&isinf(&magnitude)?)?)?;
    let magnitude = stop_gradient(&magnitude)?;
    let distance = select(&is_max, &subtract(&magnitude, &below)?, &subtract(&above, &magnitude)?)?;
    copysign(&distance, &x)
}

/// Number of bits set in the absolute value of each integer.
///
/// The result is uint8. Fails for floating-point and complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// assert_eq!(ops::bitwise_count(&Array::from([7, -8, 0]))?.to_vec::<u8>()?, [3, 1, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn bitwise_count(x: &Array) -> Result<Array> {
    let bits = match x.dtype().kind() {
        Kind::Bool => cast_constant(x, DType::UInt8)?,
        Kind::Unsigned => x.clone(),
        Kind::Signed => abs(x)?,
        Kind::Float | Kind::Complex => {
            bail!(Type("bitwise_count"), "dtype {} is not supported, expected integers", x.dtype())
        }
    };
    astype(&unary(UnaryKind::BitCount, &bits)?, DType::UInt8)
}

/// Angle of each complex number from the positive real axis.
///
/// `arctan2(imag(x), real(x))` in radians, in the real dtype of the same precision. Real numbers give 0, or π if
/// negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex64;
/// let x = Array::from([Complex64::new(0.0, 2.0), Complex64::new(1.0, 0.0)]);
/// let angles = ops::angle(&x)?.to_vec::<f64>()?;
/// assert!((angles[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-15 && angles[1] == 0.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn angle(x: &Array) -> Result<Array> {
    arctan2(&imag(x)?, &real(x)?)
}

/// Test whether the imaginary part of each element is zero.
///
/// The result is bool and has the shape of `x`; it is always true for real dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex32;
/// let x = Array::from([Complex32::new(1.0, 0.0), Complex32::new(0.0, 1.0)]);
/// assert_eq!(ops::isreal(&x)?.to_vec::<bool>()?, [true, false]);
/// assert_eq!(ops::isreal(&Array::from([1.5]))?.to_vec::<bool>()?, [true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn isreal(x: &Array) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(Array::full(x.shape().clone(), true, DType::Bool));
    }
    let im = imag(x)?;
    equal(&im, &weak(Scalar::Float(0.0), &im))
}

/// Test whether the imaginary part of each element is nonzero.
///
/// The result is bool and has the shape of `x`; it is always false for real dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex32;
/// let x = Array::from([Complex32::new(1.0, 0.0), Complex32::new(0.0, 1.0)]);
/// assert_eq!(ops::iscomplex(&x)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn iscomplex(x: &Array) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(Array::full(x.shape().clone(), false, DType::Bool));
    }
    let im = imag(x)?;
    not_equal(&im, &weak(Scalar::Float(0.0), &im))
}

/// Fractional and integer part of each element, both with its sign.
///
/// The fraction of an infinity is zero. Integers and booleans become float32. Not defined for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (fraction, whole) = ops::modf(&Array::from([1.5f32, -2.25]))?;
/// assert_eq!(fraction.to_vec::<f32>()?, [0.5, -0.25]);
/// assert_eq!(whole.to_vec::<f32>()?, [1.0, -2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn modf(x: &Array) -> Result<(Array, Array)> {
    ensure!(
        !x.dtype().is_complex(),
        Type("modf"),
        "dtype {} is not supported, expected real numbers",
        x.dtype()
    );
    let x = cast_constant(x, x.dtype().inexact())?;
    let integer = trunc(&x)?;
    // Subtract in the order that keeps the sign of zero; the derivative is one everywhere.
    let is_negative = signbit(&x)?;
    let fraction = select(&is_negative, &negative(&subtract(&integer, &x)?)?, &subtract(&x, &integer)?)?;
    let zero = weak(Scalar::Float(0.0), &x);
    let signed = select(&is_negative, &negative(&zero)?, &zero)?;
    Ok((select(&isinf(&x)?, &signed, &fraction)?, integer))
}

/// Real part of a complex array if all imaginary parts are close to zero, else the array.
///
/// They are close to zero if they are below `tolerance` times the machine epsilon of the dtype, or below
/// `tolerance` itself if it is not greater than one. Real arrays are returned unchanged.
///
/// # Errors
/// Inside `vmap` and `compile`, where `x` has no value: it decides the dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops, types::Complex32};
/// let x = Array::from_slice(&[Complex32::new(1.0, 1e-7)], [1])?;
/// assert_eq!(ops::real_if_close(&x, 100.0)?.dtype(), DType::Float32);
/// assert_eq!(ops::real_if_close(&x, 1e-9)?.dtype(), DType::Complex64);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn real_if_close(x: &Array, tolerance: f64) -> Result<Array> {
    if !x.dtype().is_complex() {
        return Ok(x.clone());
    }
    let precision = if x.dtype() == DType::Complex128 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let limit = if tolerance > 1.0 { tolerance * precision } else { tolerance };
    let magnitude = abs(&imag(x)?)?;
    let is_close = all(&less(&magnitude, &weak(Scalar::Float(limit), &magnitude))?, None, KeepAxes::No)?;
    if data_dependent::value_of("real_if_close", &is_close)?.as_bool() { real(x) } else { Ok(x.clone()) }
}
