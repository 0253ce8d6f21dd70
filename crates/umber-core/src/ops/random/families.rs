//! Continuous distributions that are drawn by transforming other draws, or by rejection with a random stream per element.

use std::f64::consts::{PI, TAU};

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, Scalar, Shape, UnaryKind, bail, ensure};

use super::continuous::{normal, unit};
use super::{check_real, key_or_next, split};
use crate::graph::Array;
use crate::ops::promotion::{cast_constant, common_shape};
use crate::ops::reductions::{self, Precision};
use crate::primitives::random::{Rejection, Rejections};
use crate::primitives::rules::{add, binary, broadcast, cast, constant, div, mul, neg, reshape, sub, unary};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// A parameter of a distribution, in float64 and of the shape of the draw.
pub(super) fn parameter(op: &str, name: &str, value: &Array, shape: &Shape) -> Result<Array> {
    ensure!(!value.dtype().is_complex(), Value(op), "{name} must be real, not {}", value.dtype());
    ensure!(
        value.shape().broadcasts_to(shape),
        Value(op),
        "cannot broadcast {name} of shape {} to {shape}",
        value.shape()
    );
    broadcast(&cast_constant(value, DType::Float64)?, shape)
}

/// A parameter that must not be negative: a constant that is fails, negative elements of an array become NaN.
fn non_negative(op: &str, name: &str, value: &Array, shape: &Shape) -> Result<Array> {
    let known = value.constant().map(Scalar::as_f64);
    if let Some(got) = known.filter(|&got| value.size() > 0 && got < 0.0) {
        bail!(Value(op), "{name} must not be negative, got {got}");
    }
    let value = parameter(op, name, value, shape)?;
    if known.is_some() {
        return Ok(value);
    }
    let is_negative = binary(BinaryKind::Less, &value, &constant(&value, 0))?;
    Array::record_one(Select, &[&is_negative, &constant(&value, f64::NAN), &value])
}

/// Fail for a constant parameter that is not positive; invalid elements of other parameters give NaN.
fn check_positive(op: &str, name: &str, value: &Array) -> Result<()> {
    if let Some(got) = value.constant().map(Scalar::as_f64) {
        ensure!(value.size() == 0 || got > 0.0, Value(op), "{name} must be positive, got {got}");
    }
    Ok(())
}

/// The requested shape, or the common shape of the parameters.
pub(super) fn shape_of(op: &str, shape: Option<&[i64]>, parameters: &[&Array]) -> Result<Shape> {
    match shape {
        Some(shape) => Shape::checked(op, shape),
        None => common_shape(op, parameters),
    }
}

/// The caller's key, or one from the state.
pub(super) fn checked_key(op: &str, key: Option<&Array>) -> Result<Array> {
    let key = key_or_next(key)?;
    super::check_key(op, &key)?;
    Ok(key)
}

/// A draw for each element of the parameters, in float64.
pub(super) fn draw(kind: Rejection, key: &Array, parameters: &[&Array]) -> Result<Array> {
    let inputs = std::iter::once(&key).chain(parameters).map(|&input| input.clone()).collect();
    Ok(Array::record(Rejections(kind), inputs)?.remove(0))
}

/// Split a key in two.
fn two_keys(op: &str, key: Option<&Array>) -> Result<[Array; 2]> {
    let pair = split(&checked_key(op, key)?, 2)?;
    let half = |i: usize| reshape(&slice_along(&pair, 0, i, 1)?, [2]);
    Ok([half(0)?, half(1)?])
}

/// Half of the degrees of freedom.
fn half_freedom(op: &str, name: &str, value: &Array, shape: &Shape) -> Result<Array> {
    let value = parameter(op, name, value, shape)?;
    mul(&value, &constant(&value, 0.5))
}

/// A standard normal sample in at least float32.
fn standard_normal(shape: &Shape, dtype: DType, key: &Array) -> Result<Array> {
    let lengths: SmallVec<[i64; 6]> = shape.iter().map(|&length| length as i64).collect();
    normal(&lengths, if dtype.is_half() { DType::Float32 } else { dtype }, None, None, Some(key))
}

/// Draw from the exponential distribution with mean `scale`.
///
/// Computed as `-scale log(1 - u)`. The default shape is that of `scale`; elements whose `scale` is negative are NaN. Fails
/// for a dtype that is not real floating point, a constant `scale` that is negative, or if `scale` does not broadcast to
/// `shape`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (scale, key) = (Array::from(3.0f32), random::key(0)?);
/// let waits = random::exponential(Some(&[1000]), DType::Float32, Some(&scale), Some(&key))?.to_vec::<f32>()?;
/// assert!(waits.iter().all(|&wait| wait >= 0.0));
/// assert!((waits.iter().sum::<f32>() / 1000.0 - 3.0).abs() < 0.5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn exponential(
    shape: Option<&[i64]>,
    dtype: DType,
    scale: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "exponential";
    check_real(OP, dtype)?;
    let shape = shape_of(OP, shape, scale.as_slice())?;
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    let u = unit(OP, &key_or_next(key)?, &shape, wide)?;
    let mut sample = neg(&unary(UnaryKind::Log1p, &neg(&u)?)?)?;
    if let Some(scale) = scale {
        let scale = non_negative(OP, "scale", scale, &shape)?;
        sample = mul(&sample, &cast(&scale, wide)?)?;
    }
    cast(&sample, dtype)
}

/// Draw from the gamma distribution with shape parameter `a` and scale `scale`.
///
/// The mean is `a scale`. Drawn in float64 by rejection (Marsaglia and Tsang, ACM Transactions on Mathematical Software
/// 26, 2000). Elements whose `a` is not positive, or whose `scale` is negative, are NaN. There is no derivative with respect
/// to `a`.
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
    let mut sample = draw(Rejection::Gamma, &checked_key(OP, key)?, &[&parameter(OP, "a", a, &shape)?])?;
    if let Some(scale) = scale {
        sample = mul(&sample, &non_negative(OP, "scale", scale, &shape)?)?;
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
    let keys = two_keys(OP, key)?;
    let x = draw(Rejection::LogGamma, &keys[0], &[&parameter(OP, "a", a, &shape)?])?;
    let y = draw(Rejection::LogGamma, &keys[1], &[&parameter(OP, "b", b, &shape)?])?;
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
    let logs = draw(Rejection::LogGamma, &checked_key(OP, key)?, &[&alpha])?;
    cast(&reductions::softmax(&logs, Some(&[-1]), Precision::Full)?, dtype)
}

/// Draw from the log-normal distribution: `exp(mean + sigma z)` of a standard normal `z`.
///
/// `z` is the draw of [`normal`] with the same key. `mean` is zero by default. The default shape is the broadcast shape of
/// the parameters. Elements whose `sigma` is negative are NaN. Fails for a dtype that is not real floating point, or a constant
/// `sigma` that is negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (sigma, mean) = (Array::from([0.0f32, 0.5]), Array::from(0.0f32));
/// let drawn = random::lognormal(&sigma, None, DType::Float32, Some(&mean), Some(&random::key(0)?))?;
/// let drawn = drawn.to_vec::<f32>()?;
/// assert!(drawn[0] == 1.0 && drawn[1] > 0.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn lognormal(
    sigma: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    mean: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "lognormal";
    check_real(OP, dtype)?;
    let parameters: &[&Array] = if let Some(mean) = mean { &[sigma, mean] } else { &[sigma] };
    let shape = shape_of(OP, shape, parameters)?;
    let z = standard_normal(&shape, dtype, &checked_key(OP, key)?)?;
    let mut exponent = mul(&z, &cast(&non_negative(OP, "sigma", sigma, &shape)?, z.dtype())?)?;
    if let Some(mean) = mean {
        exponent = add(&exponent, &cast(&parameter(OP, "mean", mean, &shape)?, z.dtype())?)?;
    }
    cast(&unary(UnaryKind::Exp, &exponent)?, dtype)
}

/// Draw from the chi-square distribution with `df` degrees of freedom.
///
/// Computed as twice a [`gamma`] draw with the parameter `df / 2`. Elements whose `df` is not positive are NaN. Fails for a
/// dtype that is not real floating point, or a constant `df` that is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let df = Array::from(3.0f32);
/// let drawn = random::chisquare(&df, Some(&[1000]), DType::Float32, Some(&random::key(0)?))?;
/// assert!((drawn.to_vec::<f32>()?.iter().sum::<f32>() / 1000.0 - 3.0).abs() < 0.4);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn chisquare(df: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "chisquare";
    check_real(OP, dtype)?;
    check_positive(OP, "df", df)?;
    let shape = shape_of(OP, shape, &[df])?;
    let sample = draw(Rejection::Gamma, &checked_key(OP, key)?, &[&half_freedom(OP, "df", df, &shape)?])?;
    cast(&mul(&sample, &constant(&sample, 2.0))?, dtype)
}

/// Draw from the F distribution with `dfnum` and `dfden` degrees of freedom.
///
/// Computed as `(x / dfnum) / (y / dfden)` of [`chisquare`] draws `x` and `y`, from their logarithms, so that few degrees of
/// freedom do not underflow. Elements whose parameters are not positive are NaN. Fails for a dtype that is not real floating
/// point, or a constant parameter that is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (dfnum, dfden) = (Array::from(3.0f32), Array::from(12.0f32));
/// let drawn = random::f(&dfnum, &dfden, Some(&[1000]), DType::Float32, Some(&random::key(0)?))?;
/// assert!((drawn.to_vec::<f32>()?.iter().sum::<f32>() / 1000.0 - 1.2).abs() < 0.2);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn f(
    dfnum: &Array,
    dfden: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "f";
    check_real(OP, dtype)?;
    check_positive(OP, "dfnum", dfnum)?;
    check_positive(OP, "dfden", dfden)?;
    let shape = shape_of(OP, shape, &[dfnum, dfden])?;
    let keys = two_keys(OP, key)?;
    let (a, b) = (half_freedom(OP, "dfnum", dfnum, &shape)?, half_freedom(OP, "dfden", dfden, &shape)?);
    let x = draw(Rejection::LogGamma, &keys[0], &[&a])?;
    let y = draw(Rejection::LogGamma, &keys[1], &[&b])?;
    cast(&mul(&unary(UnaryKind::Exp, &sub(&x, &y)?)?, &div(&b, &a)?)?, dtype)
}

/// Draw from Student's t distribution with `df` degrees of freedom.
///
/// Computed as `z sqrt(df / x)` of a [`normal`] draw `z` and a [`chisquare`] draw `x`. Elements whose `df` is not positive are
/// NaN. Fails for a dtype that is not real floating point, or a constant `df` that is not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let df = Array::from(5.0f32);
/// let drawn = random::t(&df, Some(&[1000]), DType::Float32, Some(&random::key(0)?))?.to_vec::<f32>()?;
/// assert!((drawn.iter().sum::<f32>() / 1000.0).abs() < 0.2);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn t(df: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "t";
    check_real(OP, dtype)?;
    check_positive(OP, "df", df)?;
    let shape = shape_of(OP, shape, &[df])?;
    let keys = two_keys(OP, key)?;
    let half = half_freedom(OP, "df", df, &shape)?;
    let z = standard_normal(&shape, DType::Float64, &keys[0])?;
    // The ratio of the degrees of freedom to the draw, from logarithms: the draw may underflow.
    let log_ratio = sub(&unary(UnaryKind::Log, &half)?, &draw(Rejection::LogGamma, &keys[1], &[&half])?)?;
    let factor = unary(UnaryKind::Exp, &mul(&log_ratio, &constant(&log_ratio, 0.5))?)?;
    cast(&mul(&z, &factor)?, dtype)
}

/// Draw angles in `[-π, π]` from the von Mises distribution with mean direction `mu` and concentration `kappa`.
///
/// The density is proportional to `exp(kappa cos(x - mu))`; a concentration of zero gives the uniform distribution. Drawn in
/// float64 by rejection (Best and Fisher, Applied Statistics 28, 1979). Elements whose `kappa` is negative are NaN. There is no
/// derivative with respect to `kappa`. Fails for a dtype that is not real floating point, or a constant `kappa` that is
/// negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (mu, kappa) = (Array::from(3.0f32), Array::from(4.0f32));
/// let drawn = random::vonmises(&mu, &kappa, Some(&[1000]), DType::Float64, Some(&random::key(0)?))?;
/// assert!(drawn.to_vec::<f64>()?.iter().all(|angle| angle.abs() <= std::f64::consts::PI));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vonmises(
    mu: &Array,
    kappa: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "vonmises";
    check_real(OP, dtype)?;
    let shape = shape_of(OP, shape, &[mu, kappa])?;
    let kappa = non_negative(OP, "kappa", kappa, &shape)?;
    let deviation = draw(Rejection::VonMises, &checked_key(OP, key)?, &[&kappa])?;
    let angle = add(&deviation, &parameter(OP, "mu", mu, &shape)?)?;
    // Wrap to [-π, π).
    let half_turn = constant(&angle, PI);
    let wrapped = binary(BinaryKind::Remainder, &add(&angle, &half_turn)?, &constant(&angle, TAU))?;
    cast(&sub(&wrapped, &half_turn)?, dtype)
}
