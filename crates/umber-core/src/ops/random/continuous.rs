//! Draws of real numbers. The order of operations and the dtype of each are those of MLX, so that results agree.

use std::f64::consts::SQRT_2;

use umber_types::{BinaryKind, DType, Result, Scalar, Shape, UnaryKind, ensure};

use super::{bits, check_real, key_or_next};
use crate::graph::Array;
use crate::ops::promotion::{cast_constant, common_shape, meet};
use crate::primitives::rules::{add, binary, broadcast, cast, constant, div, mul, neg, reshape, sub, unary};
use crate::primitives::slice::slice_along;

/// The smallest float32 above -1: the inverse error function of -1 is infinite.
const ABOVE_MINUS_ONE: f64 = -1.0 + 1.0 / 16_777_216.0;

/// The largest number below one in a dtype.
pub(super) fn below_one(dtype: DType) -> f64 {
    let digits = if dtype == DType::Float16 {
        11
    } else if dtype == DType::BFloat16 {
        8
    } else {
        24
    };
    1.0 - 0.5f64.powi(digits)
}

/// A sample of [0, 1) in a real floating-point dtype.
pub(super) fn unit(op: &str, key: &Array, shape: &Shape, dtype: DType) -> Result<Array> {
    if dtype == DType::Float64 {
        return unit_f64(op, key, shape);
    }
    let words = cast(&bits(op, key, shape.clone())?, DType::Float32)?;
    let sample = mul(&words, &constant(&words, 0.5f64.powi(32)))?;
    cast(&binary(BinaryKind::Minimum, &sample, &constant(&sample, below_one(dtype)))?, dtype)
}

/// A sample of [0, 1) with 53 random bits: 26 from one word, 27 from another.
fn unit_f64(op: &str, key: &Array, shape: &Shape) -> Result<Array> {
    let pairs = bits(op, key, shape.iter().copied().chain([2]).collect())?;
    let part = |i: usize, dropped: u64, unit: i32| {
        let words = reshape(&slice_along(&pairs, shape.ndim(), i, 1)?, shape.clone())?;
        let high_bits = binary(BinaryKind::RightShift, &words, &constant(&words, Scalar::UInt(dropped)))?;
        let real = cast(&high_bits, DType::Float64)?;
        mul(&real, &constant(&real, 0.5f64.powi(unit)))
    };
    add(&part(0, 6, 26)?, &part(1, 5, 53)?)
}

/// Round `x` to its dtype at this point. A fused kernel would keep 16-bit floats in float32 between operations, unlike MLX.
fn rounded(x: &Array) -> Result<Array> {
    let dtype = x.dtype();
    if dtype.is_half() { cast(&cast(x, DType::Float32)?, dtype) } else { Ok(x.clone()) }
}

/// A sample of [low, high), which have the dtype and shape of the result.
fn between(op: &str, key: &Array, low: &Array, high: &Array) -> Result<Array> {
    let unit = unit(op, key, low.shape(), low.dtype())?;
    if low.constant() == Some(Scalar::Float(0.0)) && high.constant() == Some(Scalar::Float(1.0)) {
        return Ok(unit);
    }
    let width = rounded(&sub(high, low)?)?;
    rounded(&add(&rounded(&mul(&width, &unit)?)?, low)?)
}

/// A float32 sample of [low, high).
pub(super) fn float32_between(op: &str, key: &Array, low: &Array, high: &Array) -> Result<Array> {
    between(op, key, &cast_constant(low, DType::Float32)?, &cast_constant(high, DType::Float32)?)
}

/// A float32 sample of (-1, 1).
fn symmetric(op: &str, key: &Array, shape: &Shape) -> Result<Array> {
    let bound = |value: f64| Array::full(shape.clone(), value, DType::Float32);
    between(op, key, &bound(ABOVE_MINUS_ONE), &bound(1.0))
}

/// `a` and `b` broadcast to `shape`; fail if their common shape does not broadcast to it.
pub(super) fn broadcast_bounds(op: &str, a: &Array, b: &Array, shape: &Shape) -> Result<(Array, Array)> {
    let bounds = common_shape(op, &[a, b])?;
    ensure!(bounds.broadcasts_to(shape), Value(op), "cannot broadcast bounds of shape {bounds} to {shape}");
    Ok((broadcast(a, shape)?, broadcast(b, shape)?))
}

/// Draw from the uniform distribution over `[low, high)`.
///
/// The bounds broadcast to `shape`. Fails for a dtype that is not real floating point, or shapes that do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let (low, high) = (Array::from(-1.0f32), Array::from(1.0f32));
/// let key = ops::random::key(0)?;
/// let x = ops::random::uniform(&low, &high, &[1000], DType::Float32, Some(&key))?;
/// assert!(x.to_vec::<f32>()?.iter().all(|x| (-1.0..1.0).contains(x)));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn uniform(low: &Array, high: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    check_real("uniform", dtype)?;
    let shape = Shape::checked("uniform", shape)?;
    let (low, high) =
        broadcast_bounds("uniform", &cast_constant(low, dtype)?, &cast_constant(high, dtype)?, &shape)?;
    between("uniform", &key_or_next(key)?, &low, &high)
}

/// Draw from the normal distribution with mean `loc` and standard deviation `scale`.
///
/// Complex numbers have variance one half in each part. `loc` and `scale` broadcast with `shape`. Fails for a dtype
/// that is not floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// let key = ops::random::key(0)?;
/// let x = ops::random::normal(&[4, 3], DType::Float32, None, None, Some(&key))?;
/// let again = ops::random::normal(&[4, 3], DType::Float32, None, None, Some(&key))?;
/// assert!(x.equals(&again)?); // a draw depends on its key and shape alone
/// # Ok::<(), umber::Error>(())
/// ```
pub fn normal(
    shape: &[i64],
    dtype: DType,
    loc: Option<&Array>,
    scale: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    ensure!(
        dtype.is_inexact() && !dtype.is_float8(),
        Value("normal"),
        "dtype {dtype} is not supported, expected floating-point or complex numbers"
    );
    let shape = Shape::checked("normal", shape)?;
    let key = key_or_next(key)?;
    let mut sample;
    let mut factor = None;
    if dtype.is_complex() {
        sample = complex_sample(&key, &shape, dtype)?;
    } else {
        sample = cast(&unary(UnaryKind::ErfInv, &symmetric("normal", &key, &shape)?)?, dtype)?;
        factor = Some(Array::scalar(SQRT_2, dtype));
    }
    if let Some(scale) = scale {
        let scale = cast(scale, dtype)?;
        factor = Some(match factor {
            Some(factor) => rounded(&mul(&broadcast(&factor, scale.shape())?, &scale)?)?,
            None => scale,
        });
    }
    if let Some(factor) = factor {
        let (a, b) = meet("normal", &factor, &sample)?;
        sample = rounded(&mul(&a, &b)?)?;
    }
    if let Some(loc) = loc {
        let loc = cast(loc, dtype)?;
        let (a, b) = meet("normal", &sample, &loc)?;
        sample = rounded(&add(&a, &b)?)?;
    }
    Ok(sample)
}

/// Pairs of samples as real and imaginary parts.
fn complex_sample(key: &Array, shape: &Shape, dtype: DType) -> Result<Array> {
    let pairs = symmetric("normal", key, &shape.iter().copied().chain([2]).collect())?;
    let pairs = unary(UnaryKind::ErfInv, &pairs)?;
    let part = |i: usize| {
        let part = reshape(&slice_along(&pairs, shape.ndim(), i, 1)?, shape.clone())?;
        cast(&part, dtype)
    };
    let imaginary = part(1)?;
    let times_i = mul(&imaginary, &constant(&imaginary, Scalar::Complex(0.0, 1.0)))?;
    add(&part(0)?, &times_i)
}

/// Draw from the standard normal distribution truncated to `[lower, upper]`.
///
/// The bounds broadcast to `shape`. Fails for a dtype that is not real floating point, or shapes that do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let (low, high) = (Array::from(0.0f32), Array::from([1.0f32, 2.0]));
/// let x = ops::random::truncated_normal(&low, &high, None, DType::Float32, None)?.to_vec::<f32>()?;
/// assert!((0.0..=1.0).contains(&x[0]) && (0.0..=2.0).contains(&x[1]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn truncated_normal(
    lower: &Array,
    upper: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "truncated_normal";
    check_real(OP, dtype)?;
    let shape = match shape {
        Some(shape) => Shape::checked(OP, shape)?,
        None => common_shape(OP, &[lower, upper])?,
    };
    let (lower, upper) =
        broadcast_bounds(OP, &cast_constant(lower, dtype)?, &cast_constant(upper, dtype)?, &shape)?;
    let root = constant(&lower, SQRT_2);
    let step = |kind, x: &Array| rounded(&unary(kind, x)?);
    let quantile = |x: &Array| step(UnaryKind::Erf, &rounded(&div(x, &root)?)?);
    let sample = between(OP, &key_or_next(key)?, &quantile(&lower)?, &quantile(&upper)?)?;
    let x = rounded(&mul(&root, &step(UnaryKind::ErfInv, &sample)?)?)?;
    binary(BinaryKind::Maximum, &binary(BinaryKind::Minimum, &x, &upper)?, &lower)
}

/// Draw from the standard Gumbel distribution: `-log(-log(u))` of a uniform `u`.
///
/// Fails for a dtype that is not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let x = ops::random::gumbel(&[2, 3], DType::Float32, None)?;
/// assert_eq!(x.shape(), &Shape::from([2, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn gumbel(shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    check_real("gumbel", dtype)?;
    gumbel_sample("gumbel", &key_or_next(key)?, &Shape::checked("gumbel", shape)?, dtype)
}

/// `-log(-log(u))`.
pub(super) fn gumbel_sample(op: &str, key: &Array, shape: &Shape, dtype: DType) -> Result<Array> {
    let log = |x: &Array| rounded(&unary(UnaryKind::Log, x)?);
    neg(&log(&neg(&log(&unit(op, key, shape, dtype)?)?)?)?)
}

/// Draw from the Laplace distribution with mean `loc` and scale `scale`.
///
/// The density is `exp(-|x - loc| / scale) / (2 scale)`; by default `loc` is zero and `scale` one. They broadcast with
/// `shape`. Fails for a dtype that is not real floating point.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let (loc, scale) = (Array::from(5.0f32), Array::from(0.0f32));
/// let x = ops::random::laplace(&[3], DType::Float32, Some(&loc), Some(&scale), None)?;
/// assert_eq!(x.to_vec::<f32>()?, [5.0, 5.0, 5.0]); // no spread
/// # Ok::<(), umber::Error>(())
/// ```
pub fn laplace(
    shape: &[i64],
    dtype: DType,
    loc: Option<&Array>,
    scale: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    check_real("laplace", dtype)?;
    let u = symmetric("laplace", &key_or_next(key)?, &Shape::checked("laplace", shape)?)?;
    let magnitude = unary(UnaryKind::Log1p, &neg(&unary(UnaryKind::Abs, &u)?)?)?;
    let mut sample = cast(&mul(&unary(UnaryKind::Sign, &u)?, &magnitude)?, dtype)?;
    if let Some(scale) = scale {
        let scale = cast_constant(scale, dtype)?;
        let (a, b) = meet("laplace", &sample, &scale)?;
        sample = rounded(&mul(&a, &b)?)?;
    }
    if let Some(loc) = loc {
        let loc = cast_constant(loc, dtype)?;
        let (a, b) = meet("laplace", &loc, &sample)?;
        sample = rounded(&add(&a, &b)?)?;
    }
    Ok(sample)
}
