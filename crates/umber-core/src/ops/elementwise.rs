//! Elementwise functions of one, two or three arrays.

use umber_kernels::tape::{supports_binary, supports_unary};
use umber_types::{BinaryKind, DType, Result, Scalar, UnaryKind, bail, ensure, promote};

use super::promotion::{cast_constant, common_shape, meet, meet_as, weak};
use crate::graph::Array;
use crate::primitives::control::Control;
use crate::primitives::rules::{self, broadcast};
use crate::primitives::select::Select;

fn unary(kind: UnaryKind, x: &Array) -> Result<Array> {
    ensure!(
        supports_unary(kind, x.dtype()),
        Type,
        "[{}] is not defined for an array of {}",
        kind.name(),
        x.dtype()
    );
    rules::unary(kind, x)
}

fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    ensure!(
        supports_binary(kind, a.dtype()),
        Type,
        "[{}] is not defined for arrays of {}",
        kind.name(),
        a.dtype()
    );
    rules::binary(kind, a, b)
}

/// Functions whose result is inexact whatever goes in.
macro_rules! inexact_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool become float32 first.
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, &cast_constant(x, x.dtype().inexact())?)
        }
    )*};
}

/// Functions that answer in the dtype they are given.
macro_rules! same_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident),* $(,)?) => {$(
        $(#[$doc])*
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, x)
        }
    )*};
}

/// Functions that change nothing unless the dtype is floating.
macro_rules! rounding_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool stay as they are.
        pub fn $name(x: &Array) -> Result<Array> {
            if x.dtype().is_inexact() { unary(UnaryKind::$kind, x) } else { Ok(x.clone()) }
        }
    )*};
}

/// Functions that tell something about floating-point values.
macro_rules! test_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident $otherwise:literal),* $(,)?) => {$(
        $(#[$doc])*
        pub fn $name(x: &Array) -> Result<Array> {
            if x.dtype().is_inexact() {
                return unary(UnaryKind::$kind, x);
            }
            Ok(Array::full(x.shape().clone(), $otherwise, DType::Bool))
        }
    )*};
}

inexact_unary! {
    /// Square root.
    sqrt Sqrt,
    /// One over the square root.
    rsqrt Rsqrt,
    /// One over `x`.
    reciprocal Reciprocal,
    /// `e` to the power of `x`.
    exp Exp,
    /// `exp(x) - 1`, accurate near zero.
    expm1 Expm1,
    /// Natural logarithm.
    log Log,
    /// Logarithm to base 2.
    log2 Log2,
    /// Logarithm to base 10.
    log10 Log10,
    /// `log(1 + x)`, accurate near zero.
    log1p Log1p,
    /// Sine of an angle in radians.
    sin Sin,
    /// Cosine of an angle in radians.
    cos Cos,
    /// Tangent of an angle in radians.
    tan Tan,
    /// Inverse sine.
    arcsin Arcsin,
    /// Inverse cosine.
    arccos Arccos,
    /// Inverse tangent.
    arctan Arctan,
    /// Hyperbolic sine.
    sinh Sinh,
    /// Hyperbolic cosine.
    cosh Cosh,
    /// Hyperbolic tangent.
    tanh Tanh,
    /// Inverse hyperbolic sine.
    arcsinh Arcsinh,
    /// Inverse hyperbolic cosine.
    arccosh Arccosh,
    /// Inverse hyperbolic tangent.
    arctanh Arctanh,
    /// Error function.
    erf Erf,
    /// Inverse of the error function.
    erfinv ErfInv,
    /// `1 / (1 + exp(-x))`.
    sigmoid Sigmoid,
}

same_unary! {
    /// Absolute value; of a complex number its modulus, real.
    abs Abs,
    /// `-x`; bool has no negative.
    negative Negative,
    /// -1, 0 or 1; of a complex number `x / |x|`.
    sign Sign,
    /// `x * x`.
    square Square,
    /// Every bit inverted; bool: not.
    bitwise_invert BitwiseInvert,
}

rounding_unary! {
    /// Largest integer not above `x`.
    floor Floor,
    /// Smallest integer not below `x`.
    ceil Ceil,
    /// `x` without its fraction.
    trunc Trunc,
}

test_unary! {
    /// Is it not a number?
    isnan IsNan false,
    /// Is it an infinity?
    isinf IsInf false,
    /// Is it neither an infinity nor not a number?
    isfinite IsFinite true,
}

/// Is it zero?
pub fn logical_not(x: &Array) -> Result<Array> {
    unary(UnaryKind::LogicalNot, &cast_constant(x, DType::Bool)?)
}

/// The complex conjugate; real arrays stay as they are.
pub fn conjugate(x: &Array) -> Result<Array> {
    rules::conj(x)
}

/// The real part; real arrays stay as they are.
pub fn real(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { rules::unary(UnaryKind::Real, x) } else { Ok(x.clone()) }
}

/// The imaginary part; zeros for real arrays.
pub fn imag(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { rules::unary(UnaryKind::Imag, x) } else { Ok(rules::zeros_like(x)) }
}

/// `x` itself.
pub fn positive(x: &Array) -> Result<Array> {
    Ok(x.clone())
}

/// The elements converted to `dtype`.
pub fn astype(x: &Array, dtype: DType) -> Result<Array> {
    cast_constant(x, dtype)
}

/// The value of `x`, through which no gradient passes.
pub fn stop_gradient(x: &Array) -> Result<Array> {
    Array::record_one(Control::StopGradient, &[x])
}

/// Radians to degrees.
pub fn degrees(x: &Array) -> Result<Array> {
    let wide = cast_constant(x, x.dtype().inexact())?;
    multiply(&wide, &weak(Scalar::Float(180.0 / std::f64::consts::PI), &wide))
}

/// Degrees to radians.
pub fn radians(x: &Array) -> Result<Array> {
    let wide = cast_constant(x, x.dtype().inexact())?;
    multiply(&wide, &weak(Scalar::Float(std::f64::consts::PI / 180.0), &wide))
}

/// Is it positive infinity?
pub fn isposinf(x: &Array) -> Result<Array> {
    is_infinity(x, f64::INFINITY)
}

/// Is it negative infinity?
pub fn isneginf(x: &Array) -> Result<Array> {
    is_infinity(x, f64::NEG_INFINITY)
}

fn is_infinity(x: &Array, infinity: f64) -> Result<Array> {
    if !x.dtype().is_inexact() {
        return Ok(Array::full(x.shape().clone(), false, DType::Bool));
    }
    equal(x, &weak(Scalar::Float(infinity), x))
}

/// Functions of two arrays in their promoted dtype.
macro_rules! promoted_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident),* $(,)?) => {$(
        $(#[$doc])*
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            let (a, b) = meet(stringify!($name), a, b)?;
            binary(BinaryKind::$kind, &a, &b)
        }
    )*};
}

/// Functions of two arrays that answer in floating point.
macro_rules! inexact_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool become float32 first.
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            let (a, b) = meet_as(stringify!($name), a, b, promote(a.dtype(), b.dtype()).inexact())?;
            binary(BinaryKind::$kind, &a, &b)
        }
    )*};
}

promoted_binary! {
    /// `a + b`.
    add Add,
    /// `a - b`.
    subtract Subtract,
    /// `a * b`.
    multiply Multiply,
    /// The integer quotient, rounded down; zero where an integer is divided by zero.
    floor_divide FloorDivide,
    /// The remainder with the sign of the divisor.
    remainder Remainder,
    /// `a` to the power of `b`.
    power Power,
    /// The larger; not a number if either is.
    maximum Maximum,
    /// The smaller; not a number if either is.
    minimum Minimum,
    /// `a == b`.
    equal Equal,
    /// `a != b`.
    not_equal NotEqual,
    /// `a < b`.
    less Less,
    /// `a <= b`.
    less_equal LessEqual,
    /// `a > b`.
    greater Greater,
    /// `a >= b`.
    greater_equal GreaterEqual,
    /// Bits set in both.
    bitwise_and BitwiseAnd,
    /// Bits set in either.
    bitwise_or BitwiseOr,
    /// Bits set in one of the two.
    bitwise_xor BitwiseXor,
}

inexact_binary! {
    /// `a / b`.
    divide Divide,
    /// `log(exp(a) + exp(b))` without overflow.
    logaddexp LogAddExp,
    /// The angle of the point `(b, a)`.
    arctan2 Arctan2,
}

/// Bits moved up by `b`; zero beyond the width. Bool counts as uint8.
pub fn left_shift(a: &Array, b: &Array) -> Result<Array> {
    shift(BinaryKind::LeftShift, a, b)
}

/// Bits moved down by `b`; beyond the width zero, or the sign. Bool counts as uint8.
pub fn right_shift(a: &Array, b: &Array) -> Result<Array> {
    shift(BinaryKind::RightShift, a, b)
}

fn shift(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    let dtype = match promote(a.dtype(), b.dtype()) {
        DType::Bool => DType::UInt8,
        other => other,
    };
    let (a, b) = meet_as(kind.name(), a, b, dtype)?;
    binary(kind, &a, &b)
}

/// Are both different from zero?
pub fn logical_and(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_and", a, b, DType::Bool)?;
    binary(BinaryKind::LogicalAnd, &a, &b)
}

/// Is either different from zero?
pub fn logical_or(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_or", a, b, DType::Bool)?;
    binary(BinaryKind::LogicalOr, &a, &b)
}

/// Is exactly one different from zero?
pub fn logical_xor(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_xor", a, b, DType::Bool)?;
    binary(BinaryKind::NotEqual, &a, &b)
}

/// Quotient rounded down, and remainder.
pub fn divmod(a: &Array, b: &Array) -> Result<(Array, Array)> {
    let (a, b) = meet("divmod", a, b)?;
    Ok((binary(BinaryKind::FloorDivide, &a, &b)?, binary(BinaryKind::Remainder, &a, &b)?))
}

/// `a` where `condition` is not zero, else `b`.
pub fn select(condition: &Array, a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype());
    let shape = common_shape("where", &[condition, a, b])?;
    let condition = broadcast(&cast_constant(condition, DType::Bool)?, &shape)?;
    let a = broadcast(&cast_constant(a, dtype)?, &shape)?;
    let b = broadcast(&cast_constant(b, dtype)?, &shape)?;
    Array::record_one(Select, &[&condition, &a, &b])
}

/// `x` limited to `low..=high`; a missing limit does not limit.
pub fn clip(x: &Array, low: Option<&Array>, high: Option<&Array>) -> Result<Array> {
    let raised = match low {
        Some(low) => maximum(x, low)?,
        None => x.clone(),
    };
    match (high, low) {
        (Some(high), _) => minimum(&raised, high),
        (None, Some(_)) => Ok(raised),
        (None, None) => bail!(Value, "[clip] got neither a lower nor an upper limit, expected at least one"),
    }
}

/// `x` with not-a-number and infinities replaced (infinities by the extreme finite values unless given).
pub fn nan_to_num(x: &Array, nan: f64, positive: Option<f64>, negative: Option<f64>) -> Result<Array> {
    if !x.dtype().is_inexact() {
        return Ok(x.clone());
    }
    ensure!(!x.dtype().is_complex(), Type, "[nan_to_num] is not defined for an array of {}", x.dtype());
    let largest = match x.dtype() {
        DType::Float16 => 65504.0,
        DType::BFloat16 => f64::from(umber_types::bf16::MAX),
        DType::Float64 => f64::MAX,
        _ => f64::from(f32::MAX),
    };
    let value = |v: f64| weak(Scalar::Float(v), x);
    let finite = select(&isnan(x)?, &value(nan), x)?;
    let finite = select(&isposinf(x)?, &value(positive.unwrap_or(largest)), &finite)?;
    select(&isneginf(x)?, &value(negative.unwrap_or(-largest)), &finite)
}

/// How close is close, for [`isclose`].
#[derive(Clone, Copy, Debug)]
pub struct Closeness {
    /// Relative tolerance.
    pub relative: f64,
    /// Absolute tolerance.
    pub absolute: f64,
    /// Is not-a-number close to itself?
    pub equal_nan: bool,
}

/// `|a - b| <= absolute + relative * |b|`; infinities are close only to themselves.
pub fn isclose(a: &Array, b: &Array, tolerance: Closeness) -> Result<Array> {
    let (a, b) = meet_as("isclose", a, b, promote(a.dtype(), b.dtype()).inexact())?;
    let distance = abs(&subtract(&a, &b)?)?;
    let size = abs(&b)?;
    let bound = add(
        &weak(Scalar::Float(tolerance.absolute), &distance),
        &multiply(&weak(Scalar::Float(tolerance.relative), &size), &size)?,
    )?;
    let near = less_equal(&distance, &bound)?;
    let infinite = logical_or(&isinf(&a)?, &isinf(&b)?)?;
    let same = equal(&a, &b)?;
    let close = select(&infinite, &same, &near)?;
    if !tolerance.equal_nan {
        return Ok(close);
    }
    logical_or(&close, &logical_and(&isnan(&a)?, &isnan(&b)?)?)
}
