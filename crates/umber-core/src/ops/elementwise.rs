//! Elementwise functions of one, two or three arrays.
//!
//! One subject: tables of one-line functions; most of the file is their documentation.

use umber_kernels::tape::{supports_binary, supports_unary};
use umber_types::{BinaryKind, DType, Kind, Result, Scalar, Side, UnaryKind, ensure, promote};

use super::fast_path;
use super::promotion::{cast_constant, common_shape, meet, meet_as, weak};
use crate::graph::Array;
use crate::primitives::control::{self, Control};
use crate::primitives::rules::{self, broadcast};
use crate::primitives::select::Select;

pub(super) fn unary(kind: UnaryKind, x: &Array) -> Result<Array> {
    if let Some(result) = fast_path::unary(kind, x) {
        return Ok(result);
    }
    ensure!(
        supports_unary(kind, x.dtype().compute_dtype()),
        Type(kind.name()),
        "dtype {} is not supported, expected {}",
        x.dtype(),
        families(|dtype| supports_unary(kind, dtype))
    );
    rules::unary(kind, x)
}

pub(super) fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    ensure!(
        supports_binary(kind, a.dtype().compute_dtype()),
        Type(kind.name()),
        "dtype {} is not supported, expected {}",
        a.dtype(),
        families(|dtype| supports_binary(kind, dtype))
    );
    rules::binary(kind, a, b)
}

/// The names of the dtype families that `supports` accepts, as a list with "or" before the last.
fn families(supports: impl Fn(DType) -> bool) -> String {
    let named: [(&str, DType); 4] = [
        ("bool", DType::Bool),
        ("integers", DType::Int32),
        ("real floating-point numbers", DType::Float32),
        ("complex numbers", DType::Complex64),
    ];
    let supported: Vec<&str> =
        named.iter().filter(|(_, dtype)| supports(*dtype)).map(|(name, _)| *name).collect();
    match supported.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => supported.concat(),
    }
}

/// The doc example of a function in a table: the input, and the expected elements of the result with their Rust type.
macro_rules! example {
    ($name:ident, $x:expr => $T:ident $expected:expr) => {
        concat!(
            "```\n# use umber_core as umber;\nuse umber::{Array, ops};\nlet x = Array::from(",
            stringify!($x),
            ");\nassert_eq!(ops::",
            stringify!($name),
            "(&x)?.to_vec::<",
            stringify!($T),
            ">()?, ",
            stringify!($expected),
            ");\n# Ok::<(), umber::Error>(())\n```"
        )
    };
    ($name:ident, $a:expr, $b:expr => $T:ident $expected:expr) => {
        concat!(
            "```\n# use umber_core as umber;\nuse umber::{Array, ops};\nlet (a, b) = (Array::from(",
            stringify!($a),
            "), Array::from(",
            stringify!($b),
            "));\nassert_eq!(ops::",
            stringify!($name),
            "(&a, &b)?.to_vec::<",
            stringify!($T),
            ">()?, ",
            stringify!($expected),
            ");\n# Ok::<(), umber::Error>(())\n```"
        )
    };
}

/// Functions whose result is inexact for every input dtype.
macro_rules! inexact_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The result has the shape of `x`. Integers and booleans are converted to float32; inexact dtypes are kept.
        /// Fails for complex numbers if the function is not defined for them.
        ///
        #[doc = example!($name, $x => $T $expected)]
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, &cast_constant(x, x.dtype().inexact())?)
        }
    )*};
}

/// Functions whose result has the dtype of the input.
macro_rules! same_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The result has the shape of `x`. Fails for a dtype that the function is not defined for.
        ///
        #[doc = example!($name, $x => $T $expected)]
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, x)
        }
    )*};
}

/// Functions that return integers and booleans unchanged.
macro_rules! rounding_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The result has the shape of `x`. Integers and booleans are returned unchanged. Fails for complex numbers if the
        /// function is not defined for them.
        ///
        #[doc = example!($name, $x => $T $expected)]
        pub fn $name(x: &Array) -> Result<Array> {
            if x.dtype().is_inexact() { unary(UnaryKind::$kind, x) } else { Ok(x.clone()) }
        }
    )*};
}

/// Predicates on floating-point values; `otherwise` is the result for all other dtypes.
macro_rules! test_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident $otherwise:literal: $x:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The result is bool and has the shape of `x`, which may have any dtype.
        ///
        #[doc = example!($name, $x => $T $expected)]
        pub fn $name(x: &Array) -> Result<Array> {
            if x.dtype().is_inexact() {
                return unary(UnaryKind::$kind, x);
            }
            Ok(Array::full(x.shape().clone(), $otherwise, DType::Bool))
        }
    )*};
}

inexact_unary! {
    /// Square root of each element.
    sqrt Sqrt: [4.0f32, 0.0] => f32 [2.0, 0.0],
    /// Reciprocal square root of each element: `1 / sqrt(x)`.
    rsqrt Rsqrt: [4.0f32, 0.0] => f32 [0.5, f32::INFINITY],
    /// Reciprocal of each element: `1 / x`.
    reciprocal Reciprocal: [4.0f32, 0.0] => f32 [0.25, f32::INFINITY],
    /// Exponential of each element: `e**x`.
    exp Exp: [0.0f32, f32::NEG_INFINITY] => f32 [1.0, 0.0],
    /// Exponential minus one: `exp(x) - 1`, accurate near zero.
    expm1 Expm1: [1e-10f32, f32::NEG_INFINITY] => f32 [1e-10, -1.0],
    /// Natural logarithm of each element.
    log Log: [1.0f32, 0.0] => f32 [0.0, f32::NEG_INFINITY],
    /// Base-2 logarithm of each element.
    log2 Log2: [8.0f32, 0.25] => f32 [3.0, -2.0],
    /// Base-10 logarithm of each element.
    log10 Log10: [1.0f32, 100.0] => f32 [0.0, 2.0],
    /// Natural logarithm of one plus each element: `log(1 + x)`, accurate near zero.
    log1p Log1p: [1e-10f32, -1.0] => f32 [1e-10, f32::NEG_INFINITY],
    /// Sine of each element, an angle in radians.
    sin Sin: [0.0, std::f64::consts::FRAC_PI_2] => f64 [0.0, 1.0],
    /// Cosine of each element, an angle in radians.
    cos Cos: [0.0, std::f64::consts::PI] => f64 [1.0, -1.0],
    /// Tangent of each element, an angle in radians.
    tan Tan: [0.0f32, 1e-10] => f32 [0.0, 1e-10],
    /// Inverse sine of each element, in radians.
    arcsin Arcsin: [0.0, 1.0] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// Inverse cosine of each element, in radians.
    arccos Arccos: [1.0, -1.0] => f64 [0.0, std::f64::consts::PI],
    /// Inverse tangent of each element, in radians.
    arctan Arctan: [0.0, f64::INFINITY] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// Hyperbolic sine of each element: `(exp(x) - exp(-x)) / 2`.
    sinh Sinh: [0.0f32, f32::NEG_INFINITY] => f32 [0.0, f32::NEG_INFINITY],
    /// Hyperbolic cosine of each element: `(exp(x) + exp(-x)) / 2`.
    cosh Cosh: [0.0f32, f32::NEG_INFINITY] => f32 [1.0, f32::INFINITY],
    /// Hyperbolic tangent of each element: `sinh(x) / cosh(x)`.
    tanh Tanh: [0.0f32, f32::NEG_INFINITY] => f32 [0.0, -1.0],
    /// Inverse hyperbolic sine of each element.
    arcsinh Arcsinh: [0.0f32, f32::INFINITY] => f32 [0.0, f32::INFINITY],
    /// Inverse hyperbolic cosine of each element.
    arccosh Arccosh: [1.0f32, f32::INFINITY] => f32 [0.0, f32::INFINITY],
    /// Inverse hyperbolic tangent of each element.
    arctanh Arctanh: [0.0f32, 1.0] => f32 [0.0, f32::INFINITY],
    /// Error function of each element.
    erf Erf: [0.0f32, f32::INFINITY] => f32 [0.0, 1.0],
    /// Inverse error function of each element.
    erfinv ErfInv: [0.0f32, 1.0] => f32 [0.0, f32::INFINITY],
    /// Logistic sigmoid of each element: `1 / (1 + exp(-x))`.
    sigmoid Sigmoid: [0.0f32, f32::NEG_INFINITY] => f32 [0.5, 0.0],
    /// Base-2 exponential of each element: `2**x`.
    exp2 Exp2: [3.0f32, -1.0] => f32 [8.0, 0.5],
    /// Real cube root of each element.
    cbrt Cbrt: [-8.0f32, 27.0] => f32 [-2.0, 3.0],
    /// Complementary error function of each element: `1 - erf(x)`, accurate for large elements.
    erfc Erfc: [0.0f32, f32::INFINITY] => f32 [1.0, 0.0],
    /// Logarithm of the absolute value of the gamma function of each element.
    ///
    /// Infinite at zero and the negative integers (DLMF 5.2).
    gammaln LogGamma: [1.0f32, 0.0] => f32 [0.0, f32::INFINITY],
    /// Logarithmic derivative of the gamma function of each element.
    digamma Digamma: [f32::INFINITY] => f32 [f32::INFINITY],
    /// Modified Bessel function of the first kind of order zero of each element.
    i0 I0: [0.0f32] => f32 [1.0],
    /// Exponentially scaled `i0` of each element: `exp(-abs(x)) * i0(x)`, without overflow.
    i0e I0e: [0.0f32] => f32 [1.0],
    /// Modified Bessel function of the first kind of order one of each element.
    i1 I1: [0.0f32] => f32 [0.0],
    /// Exponentially scaled `i1` of each element: `exp(-abs(x)) * i1(x)`, without overflow.
    i1e I1e: [0.0f32] => f32 [0.0],
}

same_unary! {
    /// Absolute value of each element; of a complex number its modulus.
    ///
    /// The modulus is real.
    abs Abs: [-2, 3] => i32 [2, 3],
    /// Negation of each element: `-x`.
    ///
    /// Not defined for bool.
    negative Negative: [-2, 3] => i32 [2, -3],
    /// Sign of each element: -1, 0 or 1; of a complex number `x / abs(x)`.
    sign Sign: [-2.5f32, 0.0, 7.0] => f32 [-1.0, 0.0, 1.0],
    /// Square of each element: `x * x`.
    square Square: [-2, 3] => i32 [4, 9],
    /// Bitwise NOT of each element; logical NOT for booleans.
    bitwise_invert BitwiseInvert: [0, 5] => i32 [-1, -6],
}

rounding_unary! {
    /// Largest integer not above each element.
    floor Floor: [1.7f32, -1.2] => f32 [1.0, -2.0],
    /// Smallest integer not below each element.
    ceil Ceil: [1.2f32, -1.7] => f32 [2.0, -1.0],
    /// Integer part of each element: each is rounded towards zero.
    trunc Trunc: [1.7f32, -1.7] => f32 [1.0, -1.0],
}

test_unary! {
    /// Test each element for NaN.
    isnan IsNan false: [f32::NAN, f32::INFINITY] => bool [true, false],
    /// Test each element for an infinity of either sign.
    isinf IsInf false: [f32::NAN, f32::NEG_INFINITY] => bool [false, true],
    /// Test each element for being finite: neither infinite nor NaN.
    isfinite IsFinite true: [1.0, f32::NAN, f32::INFINITY] => bool [true, false, false],
}

/// Logical NOT of each element: true where it is zero.
///
/// The result is bool and has the shape of `x`, which may have any dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([0.0f32, 2.0, f32::NAN]);
/// assert_eq!(ops::logical_not(&x)?.to_vec::<bool>()?, [true, false, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logical_not(x: &Array) -> Result<Array> {
    unary(UnaryKind::LogicalNot, &cast_constant(x, DType::Bool)?)
}

/// Complex conjugate of each element.
///
/// Shape and dtype are those of `x`. Real arrays are returned unchanged.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex32;
/// let x = Array::from([Complex32::new(1.0, 2.0)]);
/// assert_eq!(ops::conjugate(&x)?.to_vec::<Complex32>()?, [Complex32::new(1.0, -2.0)]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn conjugate(x: &Array) -> Result<Array> {
    rules::conj(x)
}

/// Real part of each element.
///
/// The shape is that of `x`; complex64 gives float32, complex128 gives float64. Real arrays are returned unchanged.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex32;
/// let x = Array::from([Complex32::new(1.0, 2.0)]);
/// assert_eq!(ops::real(&x)?.to_vec::<f32>()?, [1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn real(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { rules::unary(UnaryKind::Real, x) } else { Ok(x.clone()) }
}

/// Imaginary part of each element, zero for real dtypes.
///
/// The shape is that of `x`; complex64 gives float32, complex128 gives float64.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::types::Complex32;
/// let x = Array::from([Complex32::new(1.0, 2.0)]);
/// assert_eq!(ops::imag(&x)?.to_vec::<f32>()?, [2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn imag(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { rules::unary(UnaryKind::Imag, x) } else { Ok(rules::zeros_like(x)) }
}

/// Return the input unchanged: `+x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1, 2]);
/// assert_eq!(ops::positive(&x)?.to_vec::<i32>()?, [-1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn positive(x: &Array) -> Result<Array> {
    Ok(x.clone())
}

/// Convert the elements of an array to another dtype.
///
/// Floating-point numbers are truncated towards zero when converted to integers, integers wrap around, and
/// nonzero elements become true in bool.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let x = Array::from([1.7f32, -1.7]);
/// assert_eq!(ops::astype(&x, DType::Int32)?.to_vec::<i32>()?, [1, -1]);
/// assert_eq!(ops::astype(&Array::from([300]), DType::UInt8)?.to_vec::<u8>()?, [44]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn astype(x: &Array, dtype: DType) -> Result<Array> {
    cast_constant(x, dtype)
}

/// Return the input and let no gradient pass through it.
///
/// Shape and dtype are those of `x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::grad;
/// let gradient = grad(|x| Ok(x * &ops::stop_gradient(x)?));
/// assert_eq!(gradient(&Array::from(3.0f32))?.item()?.as_f64(), 3.0); // of x * x it would be 6
/// # Ok::<(), umber::Error>(())
/// ```
pub fn stop_gradient(x: &Array) -> Result<Array> {
    Array::record_one(Control::StopGradient, &[x])
}

/// Return arrays unchanged, to be computed only after other arrays.
///
/// Shapes and dtypes are those of `inputs`. Derivatives pass through to `inputs`, none to `dependencies`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (x, first) = (Array::from(2.0f32), ops::exp(&Array::from(1.0f32))?);
/// let after = ops::depends(&[x], &[first.clone()])?;
/// after[0].eval()?;
/// assert!(first.is_evaluated());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn depends(inputs: &[Array], dependencies: &[Array]) -> Result<Vec<Array>> {
    control::depends(inputs, dependencies)
}

/// Convert angles from radians to degrees: `x * 180 / pi`.
///
/// The shape is that of `x`; integers and booleans become float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([0.0, std::f64::consts::PI]);
/// assert_eq!(ops::degrees(&x)?.to_vec::<f64>()?, [0.0, 180.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn degrees(x: &Array) -> Result<Array> {
    let wide = cast_constant(x, x.dtype().inexact())?;
    multiply(&wide, &weak(Scalar::Float(180.0 / std::f64::consts::PI), &wide))
}

/// Convert angles from degrees to radians: `x * pi / 180`.
///
/// The shape is that of `x`; integers and booleans become float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([0.0, 180.0]);
/// assert_eq!(ops::radians(&x)?.to_vec::<f64>()?, [0.0, std::f64::consts::PI]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn radians(x: &Array) -> Result<Array> {
    let wide = cast_constant(x, x.dtype().inexact())?;
    multiply(&wide, &weak(Scalar::Float(std::f64::consts::PI / 180.0), &wide))
}

/// Test each element for positive infinity.
///
/// The result is bool and has the shape of `x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
/// assert_eq!(ops::isposinf(&x)?.to_vec::<bool>()?, [true, false, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn isposinf(x: &Array) -> Result<Array> {
    is_infinity(x, f64::INFINITY)
}

/// Test each element for negative infinity.
///
/// The result is bool and has the shape of `x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
/// assert_eq!(ops::isneginf(&x)?.to_vec::<bool>()?, [false, true, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn isneginf(x: &Array) -> Result<Array> {
    is_infinity(x, f64::NEG_INFINITY)
}

fn is_infinity(x: &Array, infinity: f64) -> Result<Array> {
    if !x.dtype().is_inexact() {
        return Ok(Array::full(x.shape().clone(), false, DType::Bool));
    }
    equal(x, &weak(Scalar::Float(infinity), x))
}

/// The binary operation `kind` on two arrays, broadcast and promoted; `name` appears in errors.
fn promoted(kind: BinaryKind, name: &str, a: &Array, b: &Array) -> Result<Array> {
    if let Some(result) = fast_path::binary(kind, a, b) {
        return Ok(result);
    }
    if kind.compares()
        && let Some(signed) = mixed_sign_uint64(a.dtype(), b.dtype())
    {
        return compare_with_uint64(kind, name, a, b, signed);
    }
    let dtype = promote(a.dtype(), b.dtype());
    let dtype = if kind.returns_inexact() { dtype.inexact() } else { dtype };
    let (a, b) = meet_as(name, a, b, dtype)?;
    binary(kind, &a, &b)
}

/// The side of the signed integer dtype if the other one is uint64: no integer dtype holds the values of both.
pub(super) fn mixed_sign_uint64(a: DType, b: DType) -> Option<Side> {
    match (a.kind(), b.kind()) {
        (Kind::Signed, Kind::Unsigned) if b == DType::UInt64 => Some(Side::Left),
        (Kind::Unsigned, Kind::Signed) if a == DType::UInt64 => Some(Side::Right),
        _ => None,
    }
}

/// Compare signed integers, on the side `signed`, with uint64 exactly: negative integers are less than every uint64, and the
/// others are representable as uint64.
fn compare_with_uint64(kind: BinaryKind, name: &str, a: &Array, b: &Array, signed: Side) -> Result<Array> {
    use BinaryKind::{Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let (signed_operand, holds_below) = match signed {
        Side::Left => (a, matches!(kind, Less | LessEqual | NotEqual)),
        Side::Right => (b, matches!(kind, Greater | GreaterEqual | NotEqual)),
    };
    let is_negative = less(signed_operand, &weak(Scalar::Int(0), signed_operand))?;
    let (a, b) = meet_as(name, a, b, DType::UInt64)?;
    select(&is_negative, &Array::scalar(holds_below, DType::Bool), &binary(kind, &a, &b)?)
}

/// Functions of two arrays in their promoted dtype.
macro_rules! promoted_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $a:expr, $b:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Shapes broadcast, dtypes are promoted. Fails if the shapes do not broadcast, or for a dtype that the
        /// function is not defined for.
        ///
        #[doc = example!($name, $a, $b => $T $expected)]
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            promoted(BinaryKind::$kind, stringify!($name), a, b)
        }
    )*};
}

/// Functions of two arrays whose result is inexact.
macro_rules! inexact_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $a:expr, $b:expr => $T:ident $expected:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and booleans are converted to float32 first. Shapes broadcast, dtypes are promoted. Fails if the shapes
        /// do not broadcast, or for a dtype that the function is not defined for.
        ///
        #[doc = example!($name, $a, $b => $T $expected)]
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            promoted(BinaryKind::$kind, stringify!($name), a, b)
        }
    )*};
}

promoted_binary! {
    /// Sum of two arrays, element by element: `a + b`.
    add Add: [1, 2], [0.5f32, 0.5] => f32 [1.5, 2.5],
    /// Difference of two arrays, element by element: `a - b`.
    subtract Subtract: [[1, 2], [3, 4]], [1, 2] => i32 [0, 0, 2, 2],
    /// Product of two arrays, element by element: `a * b`.
    multiply Multiply: [[1], [2]], [10, 20] => i32 [10, 20, 20, 40],
    /// Quotient rounded down to an integer: `floor(a / b)`.
    ///
    /// The quotient of an integer and zero is zero.
    floor_divide FloorDivide: [7, -7, 7], [2, 2, 0] => i32 [3, -4, 0],
    /// Remainder of the floor division, with the sign of `b`.
    remainder Remainder: [7, -7], [3, 3] => i32 [1, 2],
    /// Remainder of the truncated division, with the sign of `a`.
    ///
    /// The remainder of an integer and zero is zero.
    fmod Fmod: [7, -7], [3, 3] => i32 [1, -1],
    /// Elements of `a` raised to the powers `b`: `a**b`.
    power Power: [2, 3], [10, 0] => i32 [1024, 1],
    /// Maximum of two arrays, element by element; NaN if either is NaN.
    maximum Maximum: [1, 5], [3, 3] => i32 [3, 5],
    /// Minimum of two arrays, element by element; NaN if either is NaN.
    minimum Minimum: [1, 5], [3, 3] => i32 [1, 3],
    /// Test whether two arrays are equal, element by element: `a == b`.
    equal Equal: [1, 2], [1.0f32, f32::NAN] => bool [true, false],
    /// Test whether two arrays differ, element by element: `a != b`.
    not_equal NotEqual: [1, 2], [1.0f32, f32::NAN] => bool [false, true],
    /// Test whether `a` is less than `b`, element by element: `a < b`.
    less Less: [1, 2, 3], 2 => bool [true, false, false],
    /// Test whether `a` is at most `b`, element by element: `a <= b`.
    less_equal LessEqual: [1, 2, 3], 2 => bool [true, true, false],
    /// Test whether `a` is greater than `b`, element by element: `a > b`.
    greater Greater: [1, 2, 3], 2 => bool [false, false, true],
    /// Test whether `a` is at least `b`, element by element: `a >= b`.
    greater_equal GreaterEqual: [1, 2, 3], 2 => bool [false, true, true],
    /// Bitwise AND of two arrays.
    bitwise_and BitwiseAnd: 0b1100, [0b1010] => i32 [0b1000],
    /// Bitwise OR of two arrays.
    bitwise_or BitwiseOr: 0b1100, [0b1010] => i32 [0b1110],
    /// Bitwise exclusive OR of two arrays.
    bitwise_xor BitwiseXor: 0b1100, [0b1010] => i32 [0b0110],
}

inexact_binary! {
    /// Quotient of two arrays, element by element: `a / b`.
    divide Divide: [1, 3], [2, 0] => f32 [0.5, f32::INFINITY],
    /// Logarithm of a sum of exponentials: `log(exp(a) + exp(b))`, without overflow.
    logaddexp LogAddExp: [0.0f32, 1000.0], [f32::NEG_INFINITY, 0.0] => f32 [0.0, 1000.0],
    /// Angle of the point `(b, a)` from the positive x axis, in radians.
    arctan2 Arctan2: [0.0, 1.0], [1.0, 0.0] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// Base-2 logarithm of a sum of powers of two: `log2(2**a + 2**b)`, without overflow.
    logaddexp2 LogAddExp2: [1.0f32, 1000.0], [1.0f32, 0.0] => f32 [2.0, 1000.0],
    /// Length of the hypotenuse: `sqrt(a**2 + b**2)`, without overflow of the squares.
    hypot Hypot: [3.0f32, 1e30], [4.0f32, 0.0] => f32 [5.0, 1e30],
    /// Magnitude of `a` with the sign of `b`.
    copysign CopySign: [3.0f32, -1.0], [-0.0f32, 2.0] => f32 [-3.0, 1.0],
}

/// Bits of `a` shifted left by `b`: `a * 2**b`.
///
/// Bits shifted out are lost: a shift by the number of bits or more gives zero. Booleans count as uint8. Shapes
/// broadcast, dtypes are promoted. Fails if shapes do not broadcast, or for floating and complex dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([1u8, 3, 255]);
/// assert_eq!(ops::left_shift(&x, &Array::from(1u8))?.to_vec::<u8>()?, [2, 6, 254]);
/// assert_eq!(ops::left_shift(&x, &Array::from(8u8))?.to_vec::<u8>()?, [0, 0, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn left_shift(a: &Array, b: &Array) -> Result<Array> {
    shift(BinaryKind::LeftShift, a, b)
}

/// Bits of `a` shifted right by `b`: `floor(a / 2**b)`.
///
/// The shift is arithmetic: by the number of bits or more it gives zero, or -1 for negative integers. Booleans
/// count as uint8. Shapes broadcast, dtypes are promoted. Fails if shapes do not broadcast, or for floating and
/// complex dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([8, -8]);
/// assert_eq!(ops::right_shift(&x, &Array::from(1))?.to_vec::<i32>()?, [4, -4]);
/// assert_eq!(ops::right_shift(&x, &Array::from(40))?.to_vec::<i32>()?, [0, -1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn right_shift(a: &Array, b: &Array) -> Result<Array> {
    shift(BinaryKind::RightShift, a, b)
}

fn shift(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    let promoted = promote(a.dtype(), b.dtype());
    let dtype = if promoted == DType::Bool { DType::UInt8 } else { promoted };
    let (a, b) = meet_as(kind.name(), a, b, dtype)?;
    binary(kind, &a, &b)
}

/// Logical AND of two arrays: true where both elements are nonzero.
///
/// The result is bool and has the broadcast shape; operands may have any dtype. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([0, 2]), Array::from([3.0f32, f32::NAN]));
/// assert_eq!(ops::logical_and(&a, &b)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logical_and(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_and", a, b, DType::Bool)?;
    binary(BinaryKind::LogicalAnd, &a, &b)
}

/// Logical OR of two arrays: true where either element is nonzero.
///
/// The result is bool and has the broadcast shape; operands may have any dtype. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([0, 2]), Array::from([0.0f32, 0.0]));
/// assert_eq!(ops::logical_or(&a, &b)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logical_or(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_or", a, b, DType::Bool)?;
    binary(BinaryKind::LogicalOr, &a, &b)
}

/// Logical XOR of two arrays: true where exactly one element is nonzero.
///
/// The result is bool and has the broadcast shape; operands may have any dtype. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([0, 2]), Array::from([3, 3]));
/// assert_eq!(ops::logical_xor(&a, &b)?.to_vec::<bool>()?, [true, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logical_xor(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet_as("logical_xor", a, b, DType::Bool)?;
    binary(BinaryKind::NotEqual, &a, &b)
}

/// Floor quotient and remainder of two arrays.
///
/// `a = quotient * b + remainder`. Shapes broadcast, dtypes are promoted. Fails if the shapes do not broadcast, or
/// for complex numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (quotient, remainder) = ops::divmod(&Array::from([7, -7]), &Array::from(2))?;
/// assert_eq!(quotient.to_vec::<i32>()?, [3, -4]);
/// assert_eq!(remainder.to_vec::<i32>()?, [1, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn divmod(a: &Array, b: &Array) -> Result<(Array, Array)> {
    let (a, b) = meet("divmod", a, b)?;
    Ok((binary(BinaryKind::FloorDivide, &a, &b)?, binary(BinaryKind::Remainder, &a, &b)?))
}

/// Select elements from two arrays by a condition.
///
/// Elements of `a` where `condition` is nonzero, otherwise of `b`, in their promoted dtype. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1.0f32, 2.0]);
/// let positive = ops::greater(&x, &Array::from(0.0f32))?;
/// assert_eq!(ops::select(&positive, &x, &Array::from(0.0f32))?.to_vec::<f32>()?, [0.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
#[doc(alias = "where")]
pub fn select(condition: &Array, a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype());
    let shape = common_shape("where", &[condition, a, b])?;
    let condition = broadcast(&cast_constant(condition, DType::Bool)?, &shape)?;
    let a = broadcast(&cast_constant(a, dtype)?, &shape)?;
    let b = broadcast(&cast_constant(b, dtype)?, &shape)?;
    Array::record_one(Select, &[&condition, &a, &b])
}

/// Limit the elements of an array to an interval: `minimum(maximum(x, low), high)`.
///
/// A limit that is `None` does not limit. Shapes broadcast, dtypes are promoted; NaN stays NaN. Fails if the shapes
/// do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1.0f32, 0.5, 9.0]);
/// let (low, high) = (Array::from(0.0f32), Array::from(1.0f32));
/// assert_eq!(ops::clip(&x, Some(&low), Some(&high))?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn clip(x: &Array, low: Option<&Array>, high: Option<&Array>) -> Result<Array> {
    let raised = match low {
        Some(low) => maximum(x, low)?,
        None => x.clone(),
    };
    match high {
        Some(high) => minimum(&raised, high),
        None => Ok(raised),
    }
}

/// Tolerances of [`isclose`].
#[derive(Clone, Copy, Debug)]
pub struct Closeness {
    /// Relative tolerance.
    pub relative: f64,
    /// Absolute tolerance.
    pub absolute: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

impl Default for Closeness {
    /// MLX's defaults: relative 1e-5, absolute 1e-8; NaN is not close to anything.
    fn default() -> Self {
        Closeness { relative: 1e-5, absolute: 1e-8, equal_nan: false }
    }
}

/// The dtype in which integers and floating-point numbers are compared; it represents 32-bit integers exactly.
pub(super) fn compared(a: DType, b: DType) -> DType {
    let both = promote(a, b);
    let is_wide = |dtype: DType| dtype.is_integer() && dtype.size() >= 4;
    if both.is_floating() && (is_wide(a) || is_wide(b)) { DType::Float64 } else { both }
}

/// Test element by element whether `a` is close to `b`: `|a - b| <= absolute + relative * |b|`.
///
/// The result is bool and has the broadcast shape. An infinity is close to itself only. Fails if the shapes do not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::Closeness;
/// let (a, b) = (Array::from([1.0f32, 1.0, f32::NAN]), Array::from([1.000001f32, 1.1, f32::NAN]));
/// assert_eq!(ops::isclose(&a, &b, Closeness::default())?.to_vec::<bool>()?, [true, false, false]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn isclose(a: &Array, b: &Array, tolerance: Closeness) -> Result<Array> {
    // float32 does not represent every integer of 32 bits or more.
    let dtype = match compared(a.dtype(), b.dtype()) {
        dtype if dtype.is_integer() && dtype.size() >= 4 => DType::Float64,
        dtype => dtype.inexact(),
    };
    let (a, b) = meet_as("isclose", a, b, dtype)?;
    let distance = abs(&subtract(&a, &b)?)?;
    let magnitude = abs(&b)?;
    let bound = add(
        &weak(Scalar::Float(tolerance.absolute), &distance),
        &multiply(&weak(Scalar::Float(tolerance.relative), &magnitude), &magnitude)?,
    )?;
    let is_within = less_equal(&distance, &bound)?;
    let is_infinite = logical_or(&isinf(&a)?, &isinf(&b)?)?;
    let is_equal = equal(&a, &b)?;
    let is_close = select(&is_infinite, &is_equal, &is_within)?;
    if !tolerance.equal_nan {
        return Ok(is_close);
    }
    logical_or(&is_close, &logical_and(&isnan(&a)?, &isnan(&b)?)?)
}
