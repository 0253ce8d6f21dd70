//! Elementwise functions of one, two or three arrays.
//!
//! One subject: families of functions of a line each, whose documentation is what takes the room.

use umber_kernels::tape::{supports_binary, supports_unary};
use umber_types::{BinaryKind, DType, Kind, Result, Scalar, Side, UnaryKind, ensure, promote};

use super::fast_path;
use super::promotion::{cast_constant, common_shape, meet, meet_as, weak};
use crate::graph::Array;
use crate::primitives::control::{self, Control};
use crate::primitives::rules::{self, broadcast};
use crate::primitives::select::Select;

pub(super) fn unary(kind: UnaryKind, x: &Array) -> Result<Array> {
    if let Some(made) = fast_path::unary(kind, x) {
        return Ok(made);
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

/// The dtypes for which this holds, in words.
fn families(holds: impl Fn(DType) -> bool) -> String {
    let named: [(&str, DType); 4] = [
        ("bool", DType::Bool),
        ("integers", DType::Int32),
        ("real floating point numbers", DType::Float32),
        ("complex numbers", DType::Complex64),
    ];
    let held: Vec<&str> = named.iter().filter(|(_, one)| holds(*one)).map(|(name, _)| *name).collect();
    held.join(" or ")
}

/// The example of a function made by a table: some input, and the elements of the result with their Rust type.
macro_rules! example {
    ($name:ident, $x:expr => $T:ident $answer:expr) => {
        concat!(
            "```\n# use umber_core as umber;\nuse umber::{Array, ops};\nlet x = Array::from(",
            stringify!($x),
            ");\nassert_eq!(ops::",
            stringify!($name),
            "(&x)?.to_vec::<",
            stringify!($T),
            ">()?, ",
            stringify!($answer),
            ");\n# Ok::<(), umber::Error>(())\n```"
        )
    };
    ($name:ident, $a:expr, $b:expr => $T:ident $answer:expr) => {
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
            stringify!($answer),
            ");\n# Ok::<(), umber::Error>(())\n```"
        )
    };
}

/// Functions whose result is inexact whatever goes in.
macro_rules! inexact_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool become float32 first; inexact dtypes stay, and so does the
        /// shape. Fails for complex numbers where the function is not defined for them.
        ///
        #[doc = example!($name, $x => $T $answer)]
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, &cast_constant(x, x.dtype().inexact())?)
        }
    )*};
}

/// Functions that answer in the dtype they are given.
macro_rules! same_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// The shape stays. Fails for a dtype that the function is not defined for.
        ///
        #[doc = example!($name, $x => $T $answer)]
        pub fn $name(x: &Array) -> Result<Array> {
            unary(UnaryKind::$kind, x)
        }
    )*};
}

/// Functions that change nothing unless the dtype is floating.
macro_rules! rounding_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $x:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool stay as they are. The shape stays. Fails for complex numbers where the function is not
        /// defined for them.
        ///
        #[doc = example!($name, $x => $T $answer)]
        pub fn $name(x: &Array) -> Result<Array> {
            if x.dtype().is_inexact() { unary(UnaryKind::$kind, x) } else { Ok(x.clone()) }
        }
    )*};
}

/// Functions that tell something about floating-point values.
macro_rules! test_unary {
    ($($(#[$doc:meta])* $name:ident $kind:ident $otherwise:literal: $x:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Bool, of the same shape, for every dtype.
        ///
        #[doc = example!($name, $x => $T $answer)]
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
    sqrt Sqrt: [4.0f32, 0.0] => f32 [2.0, 0.0],
    /// One over the square root.
    rsqrt Rsqrt: [4.0f32, 0.0] => f32 [0.5, f32::INFINITY],
    /// One over `x`.
    reciprocal Reciprocal: [4.0f32, 0.0] => f32 [0.25, f32::INFINITY],
    /// `e` to the power of `x`.
    exp Exp: [0.0f32, f32::NEG_INFINITY] => f32 [1.0, 0.0],
    /// `exp(x) - 1`, accurate near zero.
    expm1 Expm1: [1e-10f32, f32::NEG_INFINITY] => f32 [1e-10, -1.0],
    /// Natural logarithm.
    log Log: [1.0f32, 0.0] => f32 [0.0, f32::NEG_INFINITY],
    /// Logarithm to base 2.
    log2 Log2: [8.0f32, 0.25] => f32 [3.0, -2.0],
    /// Logarithm to base 10.
    log10 Log10: [1.0f32, 100.0] => f32 [0.0, 2.0],
    /// `log(1 + x)`, accurate near zero.
    log1p Log1p: [1e-10f32, -1.0] => f32 [1e-10, f32::NEG_INFINITY],
    /// Sine of an angle in radians.
    sin Sin: [0.0, std::f64::consts::FRAC_PI_2] => f64 [0.0, 1.0],
    /// Cosine of an angle in radians.
    cos Cos: [0.0, std::f64::consts::PI] => f64 [1.0, -1.0],
    /// Tangent of an angle in radians.
    tan Tan: [0.0f32, 1e-10] => f32 [0.0, 1e-10],
    /// Inverse sine.
    arcsin Arcsin: [0.0, 1.0] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// Inverse cosine.
    arccos Arccos: [1.0, -1.0] => f64 [0.0, std::f64::consts::PI],
    /// Inverse tangent.
    arctan Arctan: [0.0, f64::INFINITY] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// Hyperbolic sine.
    sinh Sinh: [0.0f32, f32::NEG_INFINITY] => f32 [0.0, f32::NEG_INFINITY],
    /// Hyperbolic cosine.
    cosh Cosh: [0.0f32, f32::NEG_INFINITY] => f32 [1.0, f32::INFINITY],
    /// Hyperbolic tangent.
    tanh Tanh: [0.0f32, f32::NEG_INFINITY] => f32 [0.0, -1.0],
    /// Inverse hyperbolic sine.
    arcsinh Arcsinh: [0.0f32, f32::INFINITY] => f32 [0.0, f32::INFINITY],
    /// Inverse hyperbolic cosine.
    arccosh Arccosh: [1.0f32, f32::INFINITY] => f32 [0.0, f32::INFINITY],
    /// Inverse hyperbolic tangent.
    arctanh Arctanh: [0.0f32, 1.0] => f32 [0.0, f32::INFINITY],
    /// Error function.
    erf Erf: [0.0f32, f32::INFINITY] => f32 [0.0, 1.0],
    /// Inverse of the error function.
    erfinv ErfInv: [0.0f32, 1.0] => f32 [0.0, f32::INFINITY],
    /// `1 / (1 + exp(-x))`.
    sigmoid Sigmoid: [0.0f32, f32::NEG_INFINITY] => f32 [0.5, 0.0],
    /// `2` to the power of `x`.
    exp2 Exp2: [3.0f32, -1.0] => f32 [8.0, 0.5],
    /// The real cube root.
    cbrt Cbrt: [-8.0f32, 27.0] => f32 [-2.0, 3.0],
    /// `1 - erf(x)`, accurate where `erf(x)` is near one.
    erfc Erfc: [0.0f32, f32::INFINITY] => f32 [1.0, 0.0],
    /// `log |Γ(x)|`; infinite at zero and the negative integers.
    gammaln LogGamma: [1.0f32, 0.0] => f32 [0.0, f32::INFINITY],
    /// The derivative of `log Γ(x)`.
    digamma Digamma: [f32::INFINITY] => f32 [f32::INFINITY],
    /// Modified Bessel function of the first kind of order zero.
    i0 I0: [0.0f32] => f32 [1.0],
    /// `exp(-|x|) i0(x)`, which does not overflow.
    i0e I0e: [0.0f32] => f32 [1.0],
    /// Modified Bessel function of the first kind of order one.
    i1 I1: [0.0f32] => f32 [0.0],
    /// `exp(-|x|) i1(x)`, which does not overflow.
    i1e I1e: [0.0f32] => f32 [0.0],
}

same_unary! {
    /// Absolute value; of a complex number its modulus, real.
    abs Abs: [-2, 3] => i32 [2, 3],
    /// `-x`; bool has no negative.
    negative Negative: [-2, 3] => i32 [2, -3],
    /// -1, 0 or 1; of a complex number `x / |x|`.
    sign Sign: [-2.5f32, 0.0, 7.0] => f32 [-1.0, 0.0, 1.0],
    /// `x * x`.
    square Square: [-2, 3] => i32 [4, 9],
    /// Every bit inverted; bool: not.
    bitwise_invert BitwiseInvert: [0, 5] => i32 [-1, -6],
}

rounding_unary! {
    /// Largest integer not above `x`.
    floor Floor: [1.7f32, -1.2] => f32 [1.0, -2.0],
    /// Smallest integer not below `x`.
    ceil Ceil: [1.2f32, -1.7] => f32 [2.0, -1.0],
    /// `x` without its fraction.
    trunc Trunc: [1.7f32, -1.7] => f32 [1.0, -1.0],
}

test_unary! {
    /// Is it not a number?
    isnan IsNan false: [f32::NAN, f32::INFINITY] => bool [true, false],
    /// Is it an infinity?
    isinf IsInf false: [f32::NAN, f32::NEG_INFINITY] => bool [false, true],
    /// Is it neither an infinity nor not a number?
    isfinite IsFinite true: [1.0, f32::NAN, f32::INFINITY] => bool [true, false, false],
}

/// Is it zero?
///
/// Bool, of the same shape, for every dtype.
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

/// The complex conjugate; real arrays stay as they are.
///
/// Shape and dtype stay.
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

/// The real part; real arrays stay as they are.
///
/// The shape stays; complex64 answers float32, complex128 float64.
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

/// The imaginary part; zeros for real arrays.
///
/// The shape stays; complex64 answers float32, complex128 float64.
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

/// `x` itself.
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

/// The elements converted to `dtype`.
///
/// Floats lose their fraction on the way to integers, integers wrap; bool says whether an element differs from zero.
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

/// The value of `x`, through which no gradient passes.
///
/// Shape and dtype stay.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::grad;
/// let slope = grad(|x| Ok(x * &ops::stop_gradient(x)?));
/// assert_eq!(slope(&Array::from(3.0f32))?.item()?.as_f64(), 3.0); // of x * x it would be 6
/// # Ok::<(), umber::Error>(())
/// ```
pub fn stop_gradient(x: &Array) -> Result<Array> {
    Array::record_one(Control::StopGradient, &[x])
}

/// The same values as `inputs`, computed only after all of `dependencies`.
///
/// Shapes and dtypes stay. Derivatives pass through to `inputs`, none to `dependencies`.
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

/// Radians to degrees.
///
/// The shape stays; integers and bool become float32.
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

/// Degrees to radians.
///
/// The shape stays; integers and bool become float32.
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

/// Is it positive infinity?
///
/// Bool, of the same shape.
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

/// Is it negative infinity?
///
/// Bool, of the same shape.
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

/// `kind` of two arrays in the dtype and shape that they share, for the function `name`.
fn promoted(kind: BinaryKind, name: &str, a: &Array, b: &Array) -> Result<Array> {
    if let Some(made) = fast_path::binary(kind, a, b) {
        return Ok(made);
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

/// Which of two dtypes is a signed integer's where the other is uint64: no integer dtype holds the values of both.
pub(super) fn mixed_sign_uint64(a: DType, b: DType) -> Option<Side> {
    match (a.kind(), b.kind()) {
        (Kind::Signed, Kind::Unsigned) if b == DType::UInt64 => Some(Side::Left),
        (Kind::Unsigned, Kind::Signed) if a == DType::UInt64 => Some(Side::Right),
        _ => None,
    }
}

/// A comparison of signed integers, on the side `signed`, with uint64, exactly: negative ones are below all others, which
/// uint64 holds.
fn compare_with_uint64(kind: BinaryKind, name: &str, a: &Array, b: &Array, signed: Side) -> Result<Array> {
    use BinaryKind::{Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let (number, holds_below) = match signed {
        Side::Left => (a, matches!(kind, Less | LessEqual | NotEqual)),
        Side::Right => (b, matches!(kind, Greater | GreaterEqual | NotEqual)),
    };
    let is_negative = less(number, &weak(Scalar::Int(0), number))?;
    let (a, b) = meet_as(name, a, b, DType::UInt64)?;
    select(&is_negative, &Array::scalar(holds_below, DType::Bool), &binary(kind, &a, &b)?)
}

/// Functions of two arrays in their promoted dtype.
macro_rules! promoted_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $a:expr, $b:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Shapes broadcast, dtypes are promoted. Fails if the shapes do not broadcast, or for a dtype that the
        /// function is not defined for.
        ///
        #[doc = example!($name, $a, $b => $T $answer)]
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            promoted(BinaryKind::$kind, stringify!($name), a, b)
        }
    )*};
}

/// Functions of two arrays that answer in floating point.
macro_rules! inexact_binary {
    ($($(#[$doc:meta])* $name:ident $kind:ident: $a:expr, $b:expr => $T:ident $answer:expr),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Integers and bool become float32 first. Shapes broadcast, dtypes are promoted. Fails if the shapes do not
        /// broadcast, or for a dtype that the function is not defined for.
        ///
        #[doc = example!($name, $a, $b => $T $answer)]
        pub fn $name(a: &Array, b: &Array) -> Result<Array> {
            promoted(BinaryKind::$kind, stringify!($name), a, b)
        }
    )*};
}

promoted_binary! {
    /// `a + b`.
    add Add: [1, 2], [0.5f32, 0.5] => f32 [1.5, 2.5],
    /// `a - b`.
    subtract Subtract: [[1, 2], [3, 4]], [1, 2] => i32 [0, 0, 2, 2],
    /// `a * b`.
    multiply Multiply: [[1], [2]], [10, 20] => i32 [10, 20, 20, 40],
    /// The integer quotient, rounded down; zero where an integer is divided by zero.
    floor_divide FloorDivide: [7, -7, 7], [2, 2, 0] => i32 [3, -4, 0],
    /// The remainder with the sign of the divisor.
    remainder Remainder: [7, -7], [3, 3] => i32 [1, 2],
    /// The remainder with the sign of the dividend; zero where an integer is divided by zero.
    fmod Fmod: [7, -7], [3, 3] => i32 [1, -1],
    /// `a` to the power of `b`.
    power Power: [2, 3], [10, 0] => i32 [1024, 1],
    /// The larger; not a number if either is.
    maximum Maximum: [1, 5], [3, 3] => i32 [3, 5],
    /// The smaller; not a number if either is.
    minimum Minimum: [1, 5], [3, 3] => i32 [1, 3],
    /// `a == b`.
    equal Equal: [1, 2], [1.0f32, f32::NAN] => bool [true, false],
    /// `a != b`.
    not_equal NotEqual: [1, 2], [1.0f32, f32::NAN] => bool [false, true],
    /// `a < b`.
    less Less: [1, 2, 3], 2 => bool [true, false, false],
    /// `a <= b`.
    less_equal LessEqual: [1, 2, 3], 2 => bool [true, true, false],
    /// `a > b`.
    greater Greater: [1, 2, 3], 2 => bool [false, false, true],
    /// `a >= b`.
    greater_equal GreaterEqual: [1, 2, 3], 2 => bool [false, true, true],
    /// Bits set in both.
    bitwise_and BitwiseAnd: 0b1100, [0b1010] => i32 [0b1000],
    /// Bits set in either.
    bitwise_or BitwiseOr: 0b1100, [0b1010] => i32 [0b1110],
    /// Bits set in one of the two.
    bitwise_xor BitwiseXor: 0b1100, [0b1010] => i32 [0b0110],
}

inexact_binary! {
    /// `a / b`.
    divide Divide: [1, 3], [2, 0] => f32 [0.5, f32::INFINITY],
    /// `log(exp(a) + exp(b))` without overflow.
    logaddexp LogAddExp: [0.0f32, 1000.0], [f32::NEG_INFINITY, 0.0] => f32 [0.0, 1000.0],
    /// The angle of the point `(b, a)`.
    arctan2 Arctan2: [0.0, 1.0], [1.0, 0.0] => f64 [0.0, std::f64::consts::FRAC_PI_2],
    /// `log2(2^a + 2^b)` without overflow.
    logaddexp2 LogAddExp2: [1.0f32, 1000.0], [1.0f32, 0.0] => f32 [2.0, 1000.0],
    /// `√(a² + b²)` without overflow on the way.
    hypot Hypot: [3.0f32, 1e30], [4.0f32, 0.0] => f32 [5.0, 1e30],
    /// The magnitude of `a` with the sign of `b`.
    copysign CopySign: [3.0f32, -1.0], [-0.0f32, 2.0] => f32 [-3.0, 1.0],
}

/// Bits moved up by `b`; zero beyond the width. Bool counts as uint8.
///
/// Shapes broadcast, dtypes are promoted. Fails if they do not broadcast, or for inexact dtypes.
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

/// Bits moved down by `b`; beyond the width zero, or the sign. Bool counts as uint8.
///
/// Shapes broadcast, dtypes are promoted. Fails if they do not broadcast, or for inexact dtypes.
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

/// Are both different from zero?
///
/// Bool, of the common shape, for every dtype. Fails if the shapes do not broadcast.
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

/// Is either different from zero?
///
/// Bool, of the common shape, for every dtype. Fails if the shapes do not broadcast.
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

/// Is exactly one different from zero?
///
/// Bool, of the common shape, for every dtype. Fails if the shapes do not broadcast.
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

/// Quotient rounded down, and remainder.
///
/// Shapes broadcast, dtypes are promoted: `a = quotient * b + remainder`. Fails if the shapes do not broadcast, or for
/// complex numbers.
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

/// `a` where `condition` is not zero, else `b`.
///
/// The three shapes broadcast; `a` and `b` are promoted to one dtype. Fails if the shapes do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = Array::from([-1.0f32, 2.0]);
/// let positive = ops::greater(&x, &Array::from(0.0f32))?;
/// assert_eq!(ops::select(&positive, &x, &Array::from(0.0f32))?.to_vec::<f32>()?, [0.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn select(condition: &Array, a: &Array, b: &Array) -> Result<Array> {
    let dtype = promote(a.dtype(), b.dtype());
    let shape = common_shape("where", &[condition, a, b])?;
    let condition = broadcast(&cast_constant(condition, DType::Bool)?, &shape)?;
    let a = broadcast(&cast_constant(a, dtype)?, &shape)?;
    let b = broadcast(&cast_constant(b, dtype)?, &shape)?;
    Array::record_one(Select, &[&condition, &a, &b])
}

/// `x` limited to `low..=high`; a missing limit does not limit.
///
/// Shapes broadcast, dtypes are promoted; not-a-number stays. Fails if shapes do not broadcast.
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

impl Default for Closeness {
    /// MLX's: one part in 10⁵, or 10⁻⁸; NaN is close to nothing.
    fn default() -> Self {
        Closeness { relative: 1e-5, absolute: 1e-8, equal_nan: false }
    }
}

/// The dtype in which integers and floats are compared so that no integer of 32 bits is rounded to another one.
pub(super) fn compared(a: DType, b: DType) -> DType {
    let both = promote(a, b);
    let is_wide = |dtype: DType| dtype.is_integer() && dtype.size() >= 4;
    if both.is_floating() && (is_wide(a) || is_wide(b)) { DType::Float64 } else { both }
}

/// `|a - b| <= absolute + relative * |b|`; infinities are close only to themselves.
///
/// Bool, of the common shape. Fails if the shapes do not broadcast.
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
    // Integers of 32 bits and more are not rounded to float32.
    let dtype = match compared(a.dtype(), b.dtype()) {
        dtype if dtype.is_integer() && dtype.size() >= 4 => DType::Float64,
        dtype => dtype.inexact(),
    };
    let (a, b) = meet_as("isclose", a, b, dtype)?;
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
