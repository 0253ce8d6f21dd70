//! Distributions that are drawn by transforming other draws, or by rejection with a random stream per element.

use umber_types::{BinaryKind, DType, Kind, Result, Scalar, Shape, UnaryKind, bail, ensure};

use super::continuous::unit;
use super::{check_real, key_or_next, split};
use crate::graph::Array;
use crate::ops::promotion::{cast_constant, common_shape};
use crate::ops::reductions::{self, Precision};
use crate::primitives::random::{Rejection, Rejections};
use crate::primitives::rules::{binary, broadcast, cast, constant, mul, neg, reshape, sub, unary};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// A parameter of a distribution, in float64 and of the shape of the draw.
fn parameter(op: &str, name: &str, value: &Array, shape: &Shape) -> Result<Array> {
    ensure!(!value.dtype().is_complex(), Type(op), "{name} must be real, not {}", value.dtype());
    ensure!(
        value.shape().broadcasts_to(shape),
        Value(op),
        "cannot broadcast {name} of shape {} to {shape}",
        value.shape()
    );
    broadcast(&cast_constant(value, DType::Float64)?, shape)
}

/// Fail for a constant parameter that is not positive; invalid elements of other parameters give NaN.
fn check_positive(op: &str, name: &str, value: &Array) -> Result<()> {
    if let Some(got) = value.constant().map(Scalar::as_f64) {
        ensure!(value.size() == 0 || got > 0.0, Value(op), "{name} must be positive, got {got}");
    }
    Ok(())
}

/// The requested shape, or the common shape of the parameters.
fn shape_of(op: &str, shape: Option<&[i64]>, parameters: &[&Array]) -> Result<Shape> {
    match shape {
        Some(shape) => Shape::checked(op, shape),
        None => common_shape(op, parameters),
    }
}

fn draw(kind: Rejection, key: &Array, parameter: &Array) -> Result<Array> {
    super::check_key(kind.name(), key)?;
    Array::record_one(Rejections(kind), &[key, parameter])
}

/// Split a key in two.
fn two_keys(key: Option<&Array>) -> Result<[Array; 2]> {
    let pair = split(&key_or_next(key)?, 2)?;
    let half = |i: usize| reshape(&slice_along(&pair, 0, i, 1)?, [2]);
    Ok([half(0)?, half(1)?])
}

/// Draw from the exponential distribution with mean `scale`.
///
/// Computed as `-scale log(1 - u)`. Fails for a dtype that is not real floating point, or if `scale` does not broadcast
/// to `shape`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (scale, key) = (Array::from(3.0f32), random::key(0)?);
/// let waits = random::exponential(&[1000], DType::Float32, Some(&scale), Some(&key))?.to_vec::<f32>()?;
/// assert!(waits.iter().all(|&wait| wait >= 0.0));
/// assert!((waits.iter().sum::<f32>() / 1000.0 - 3.0).abs() < 0.5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn exponential(shape: &[i64], dtype: DType, scale: Option<&Array>, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "exponential";
    check_real(OP, dtype)?;
    let shape = Shape::checked(OP, shape)?;
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let u = unit(OP, &key_or_next(key)?, &shape, wide)?;
    let mut sample = neg(&unary(UnaryKind::Log1p, &neg(&u)?)?)?;
    if let Some(scale) = scale {
        let scale = parameter(OP, "scale", scale, &shape)?;
        sample = mul(&sample, &cast(&scale, wide)?)?;
    }
    cast(&sample, dtype)
}

/// Draw from the gamma distribution with shape parameter `a` and scale `scale`.
///
/// The mean is `a scale`. Drawn in float64 by rejection (Marsaglia and Tsang, ACM Transactions on Mathematical Software
/// 26, 2000). Elements whose `a` is not positive are NaN. There is no derivative with respect to `a`.
///
/// ```
/// use umber_core::ops::random::{gamma, key};
/// use umber_core::{Array, DType};
///
/// let a = Array::scalar(2.5, DType::Float32);
/// let drawn = gamma(&a, Some(&[1000]), DType::Float32, None, Some(&key(0)?))?.to_vec::<f32>()?;
/// assert!((drawn.iter().sum::<f32>() / 1000.0 - 2.5).abs() < 0.3);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn gamma(
    a: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    scale: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "gamma";
    check_real(OP, dtype)?;
    check_positive(OP, "shape parameter", a)?;
    let parameters: &[&Array] = if let Some(scale) = scale { &[a, scale] } else { &[a] };
    let shape = shape_of(OP, shape, parameters)?;
    let mut sample = draw(Rejection::Gamma, &key_or_next(key)?, &parameter(OP, "a", a, &shape)?)?;
    if let Some(scale) = scale {
        sample = mul(&sample, &parameter(OP, "scale", scale, &shape)?)?;
    }
    cast(&sample, dtype)
}

/// Draw from the beta distribution with parameters `a` and `b`.
///
/// Computed as `x / (x + y)` of [`gamma`] draws `x` and `y` with parameters `a` and `b`, from their logarithms, so that
/// small parameters do not underflow. The default shape is the broadcast shape of the parameters. Fails for a dtype
/// that is not real floating point, or a constant parameter that is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (a, b) = (Array::from(2.0f32), Array::from(6.0f32));
/// let drawn = random::beta(&a, &b, Some(&[1000]), DType::Float32, Some(&random::key(0)?))?;
/// let drawn = drawn.to_vec::<f32>()?;
/// assert!(drawn.iter().all(|x| (0.0..=1.0).contains(x)));
/// assert!((drawn.iter().sum::<f32>() / 1000.0 - 0.25).abs() < 0.03);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn beta(a: &Array, b: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "beta";
    check_real(OP, dtype)?;
    check_positive(OP, "parameter a", a)?;
    check_positive(OP, "parameter b", b)?;
    let shape = shape_of(OP, shape, &[a, b])?;
    let keys = two_keys(key)?;
    let x = draw(Rejection::LogGamma, &keys[0], &parameter(OP, "a", a, &shape)?)?;
    let y = draw(Rejection::LogGamma, &keys[1], &parameter(OP, "b", b, &shape)?)?;
    cast(&unary(UnaryKind::Sigmoid, &sub(&x, &y)?)?, dtype)
}

/// Draw probability vectors from the Dirichlet distribution.
///
/// Computed as [`gamma`] draws with the parameters `alpha`, divided by their sum along the last axis. `shape` is that
/// of the result without its last axis.
///
/// Fails for a dtype that is not real floating point, if `alpha` has no axes, or for an element that is not positive.
/// Where `alpha` has not been evaluated, the draws of such elements are NaN instead.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops::random};
/// let alpha = Array::from([1.0f32, 2.0, 5.0]);
/// let drawn = random::dirichlet(&alpha, Some(&[4]), DType::Float32, Some(&random::key(0)?))?;
/// assert_eq!(drawn.shape(), &Shape::from([4, 3]));
/// let sums = drawn.to_vec::<f32>()?.chunks(3).map(|row| row.iter().sum()).collect::<Vec<f32>>();
/// assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dirichlet(alpha: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "dirichlet";
    check_real(OP, dtype)?;
    ensure!(alpha.ndim() > 0, Value("dirichlet"), "alpha must have at least one axis");
    check_positive(OP, "alpha", alpha)?;
    if alpha.is_evaluated() && !alpha.is_traced() && !alpha.dtype().is_complex() {
        for value in cast(alpha, DType::Float64)?.to_vec::<f64>()? {
            ensure!(value > 0.0, Value("dirichlet"), "alpha must be positive, got {value}");
        }
    }
    let (batch, classes) = (&alpha.shape()[..alpha.ndim() - 1], alpha.shape()[alpha.ndim() - 1]);
    let batch = match shape {
        Some(shape) => Shape::checked(OP, shape)?,
        None => batch.iter().copied().collect(),
    };
    let shape: Shape = batch.iter().copied().chain([classes]).collect();
    let alpha = parameter(OP, "alpha", alpha, &shape)?;
    let logs = draw(Rejection::LogGamma, &key_or_next(key)?, &alpha)?;
    cast(&reductions::softmax(&logs, Some(&[-1]), Precision::Full)?, dtype)
}

/// Draw from the Poisson distribution with mean `rate`.
///
/// Drawn by counting exponential waiting times for small rates and by transformed rejection (Hörmann, Insurance:
/// Mathematics and Economics 12, 1993) for others. Elements whose rate is negative or NaN are -1, which wraps in
/// unsigned dtypes; counts above the maximum of an integer dtype become the maximum.
///
/// Fails for a constant rate that is NaN, negative or above the maximum of an integer dtype, or for bool and complex
/// dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let rate = Array::from([0.0f32, 4.0]);
/// let drawn = random::poisson(&rate, Some(&[1000, 2]), DType::Int32, Some(&random::key(0)?))?;
/// let counts = drawn.to_vec::<i32>()?;
/// assert!(counts.iter().step_by(2).all(|&count| count == 0));
/// assert!((f64::from(counts.iter().sum::<i32>()) / 1000.0 - 4.0).abs() < 0.4);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn poisson(rate: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "poisson";
    ensure!(
        dtype.is_integer() || dtype.is_floating(),
        Type("poisson"),
        "dtype {dtype} is not supported, expected integers or real floating-point numbers"
    );
    let known = rate.constant().map(Scalar::as_f64);
    if let Some(rate) = known.filter(|&rate| rate.is_nan() || rate < 0.0) {
        bail!(Value("poisson"), "rate must be non-negative, got {rate}");
    }
    if dtype.is_integer()
        && let Some(rate) = known
    {
        let max_value = max_of(dtype).as_f64();
        ensure!(
            rate <= max_value,
            Value("poisson"),
            "rate {rate} is too large for {dtype}; the maximum is {max_value}"
        );
    }
    let shape = shape_of(OP, shape, &[rate])?;
    let sample = draw(Rejection::Poisson, &key_or_next(key)?, &parameter(OP, "rate", rate, &shape)?)?;
    if !dtype.is_integer() {
        return cast(&sample, dtype);
    }
    let max_value = max_of(dtype);
    let is_above = binary(BinaryKind::GreaterEqual, &sample, &constant(&sample, max_value.as_f64()))?;
    let counts = cast(&sample, dtype)?;
    Array::record_one(Select, &[&is_above, &constant(&counts, max_value), &counts])
}

/// The maximum of an integer dtype.
fn max_of(dtype: DType) -> Scalar {
    let unused = 64 - 8 * dtype.size() as u32;
    if dtype.kind() == Kind::Unsigned {
        Scalar::UInt(u64::MAX >> unused)
    } else {
        Scalar::Int(i64::MAX >> unused)
    }
}
