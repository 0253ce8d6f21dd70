//! Draws of booleans, integers and categories.

use umber_types::shape::normalize_axis;
use umber_types::{BinaryKind, DType, KeepAxes, Result, Scalar, Shape, SortOrder, UnaryKind, bail, ensure};

use super::continuous::{below_one, broadcast_bounds, float32_between, gumbel_sample, unit};
use super::{bits, key_or_next, permutation};
use crate::graph::Array;
use crate::ops::data_dependent::has_value;
use crate::ops::linalg::epsilon;
use crate::ops::promotion::{cast_constant, meet};
use crate::ops::{reductions, sorting};
use crate::primitives::random::CategoricalSample;
use crate::primitives::rules::{add, binary, broadcast, cast, constant, mul, neg, reshape, sub, unary};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// Draw booleans that are true with probability `p`.
///
/// Of the shape of `p` by default. Fails if `p` is not floating point or does not broadcast to the shape.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let key = ops::random::key(0)?;
/// let drawn = ops::random::bernoulli(&Array::from([0.0f32, 1.0]), None, Some(&key))?;
/// assert_eq!(drawn.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn bernoulli(p: &Array, shape: Option<&[i64]>, key: Option<&Array>) -> Result<Array> {
    ensure!(p.dtype().is_floating(), Value("bernoulli"), "p must be floating-point, not {}", p.dtype());
    let shape = match shape {
        Some(shape) => Shape::checked("bernoulli", shape)?,
        None => p.shape().clone(),
    };
    ensure!(
        p.shape().broadcasts_to(&shape),
        Value("bernoulli"),
        "cannot broadcast p of shape {} to {shape}",
        p.shape()
    );
    let bound = |value: f64| Array::full(shape.clone(), value, DType::Float32);
    let sample = float32_between("bernoulli", &key_or_next(key)?, &bound(0.0), &bound(1.0))?;
    binary(BinaryKind::Less, &sample, &broadcast(&cast(p, DType::Float32)?, &shape)?)
}

/// float32 represents every integer up to this one.
const MAX_EXACT: f64 = 16_777_216.0;

/// Draw integers uniformly from `[low, high)`.
///
/// Bounds of at most 2^24 in magnitude scale a float32 draw, as in MLX; larger bounds scale 64 random bits, with a bias
/// of at most `(high - low) / 2^64`. Where arrays of bounds have `low >= high`, the result is `low`.
///
/// ```
/// use umber_core::ops::random::{key, randint};
/// use umber_core::{Array, DType};
///
/// let bound = |value: i64| Array::scalar(value, DType::Int64);
/// let drawn = randint(&bound(-3), &bound(1 << 40), &[100], DType::Int64, Some(&key(0)?))?;
/// assert!(drawn.to_vec::<i64>()?.iter().all(|&x| (-3..1 << 40).contains(&x)));
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn randint(low: &Array, high: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    ensure!(
        dtype.is_integer() || dtype == DType::Bool,
        Value("randint"),
        "dtype {dtype} is not supported, expected an integer dtype or bool"
    );
    let shape = Shape::checked("randint", shape)?;
    if let (Some(from), Some(to)) = (low.constant(), high.constant())
        && shape.size() > 0
        && !is_below(from, to)
    {
        bail!(Value("randint"), "low must be less than high, got {from} and {to}");
    }
    if let (Some(from), Some(to)) = (low.constant(), high.constant())
        && let Some(last) = last_below(to)
        && shape.size() > 0
        && (from.check_fits(dtype).is_err() || last.check_fits(dtype).is_err())
        && let Some((min_value, max_value)) = dtype.integer_bounds()
    {
        bail!(Value("randint"), "[{from}, {to}) does not fit {dtype} ({min_value}..{max_value})");
    }
    let (low, high) = broadcast_bounds("randint", low, high, &shape)?;
    let key = key_or_next(key)?;
    match (is_exact(&low), is_exact(&high)) {
        (Some(true), Some(true)) => narrow_integers(&low, &high, dtype, &key),
        (Some(false), _) | (_, Some(false)) => wide_integers(&low, &high, dtype, &key),
        (None, _) | (_, None) => {
            let is_wide = binary(BinaryKind::LogicalOr, &is_beyond(&low)?, &is_beyond(&high)?)?;
            let wide = wide_integers(&low, &high, dtype, &key)?;
            Array::record_one(Select, &[&is_wide, &wide, &narrow_integers(&low, &high, dtype, &key)?])
        }
    }
}

/// The largest integer below an integer bound; `None` for other bounds.
fn last_below(bound: Scalar) -> Option<Scalar> {
    match bound {
        Scalar::Bool(bound) => Some(Scalar::Int(i64::from(bound) - 1)),
        Scalar::Int(bound) => bound.checked_sub(1).map(Scalar::Int),
        Scalar::UInt(bound) => bound.checked_sub(1).map(Scalar::UInt),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    }
}

/// `a < b`, compared as integers if both are.
fn is_below(a: Scalar, b: Scalar) -> bool {
    let integer = |value| match value {
        Scalar::Bool(value) => Some(i128::from(value)),
        Scalar::Int(value) => Some(i128::from(value)),
        Scalar::UInt(value) => Some(i128::from(value)),
        Scalar::Float(_) | Scalar::Complex(..) => None,
    };
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_f64() < b.as_f64(),
    }
}

/// Whether float32 represents a bound exactly; `None` if that depends on its values. Floating-point bounds are rounded.
fn is_exact(bound: &Array) -> Option<bool> {
    let narrow = bound.dtype().size() <= 2 || !bound.dtype().is_integer();
    if narrow { Some(true) } else { bound.constant().map(|value| value.as_f64().abs() <= MAX_EXACT) }
}

fn is_beyond(bound: &Array) -> Result<Array> {
    let magnitude = unary(UnaryKind::Abs, &cast(bound, DType::Float64)?)?;
    binary(BinaryKind::Greater, &magnitude, &constant(&magnitude, MAX_EXACT))
}

/// Integers from a float32 sample, as MLX draws them.
fn narrow_integers(low: &Array, high: &Array, dtype: DType, key: &Array) -> Result<Array> {
    let sample = float32_between("randint", key, low, high)?;
    let drawn = cast(&unary(UnaryKind::Floor, &sample)?, dtype)?;
    // Rounding may give `high`, or a value below `low` if float32 cannot represent it.
    let high = if high.dtype() == DType::Bool { &cast(high, DType::Int32)? } else { high };
    let max_value = cast(&sub(high, &constant(high, 1))?, dtype)?;
    binary(BinaryKind::Maximum, &binary(BinaryKind::Minimum, &drawn, &max_value)?, &cast(low, dtype)?)
}

/// `low` plus the upper 64 bits of the 128-bit product of a random word and `high - low`, all modulo 2⁶⁴.
fn wide_integers(low: &Array, high: &Array, dtype: DType, key: &Array) -> Result<Array> {
    // Signed integers wrap to the same 64 bits.
    let word = |bound: &Array| cast_constant(bound, DType::UInt64);
    let (low, high) = (word(low)?, word(high)?);
    let shape = low.shape();
    let pairs = bits("randint", key, shape.iter().copied().chain([2]).collect())?;
    let random = |i: usize| {
        let words = reshape(&slice_along(&pairs, shape.ndim(), i, 1)?, shape.clone())?;
        cast(&words, DType::UInt64)
    };
    let shift = constant(&low, 32);
    let upper = |x: &Array| binary(BinaryKind::RightShift, x, &shift);
    let lower = |x: &Array| binary(BinaryKind::BitwiseAnd, x, &constant(x, i64::from(u32::MAX)));
    let width = sub(&high, &low)?;
    let (r1, r0) = (random(0)?, random(1)?);
    let (w1, w0) = (upper(&width)?, lower(&width)?);
    let cross = add(&mul(&r1, &w0)?, &upper(&mul(&r0, &w0)?)?)?;
    let carry = add(&mul(&r0, &w1)?, &lower(&cross)?)?;
    let offset = add(&add(&mul(&r1, &w1)?, &upper(&cross)?)?, &upper(&carry)?)?;
    cast(&add(&low, &offset)?, dtype)
}

/// The shape of a draw of categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples<'a> {
    /// One.
    One,
    /// Results of this shape, to which the logits without their axis broadcast.
    Shape(&'a [i64]),
    /// This number of draws, along a new last axis.
    Count(i64),
}

/// Draw class indices with probabilities `softmax(logits)` along an axis.
///
/// uint32. A single set of logits with a non-scalar result inverts the cumulative sum of `exp(logits - max)`; otherwise
/// the result is `argmax(logits + gumbel)`. (This choice is MLX's; either method is right for all cases.)
///
/// ```
/// use umber_core::Array;
/// use umber_core::ops::random::{Samples, categorical, key};
///
/// let logits = Array::from_slice(&[f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY], [3])?;
/// let drawn = categorical(&logits, -1, Samples::Count(4), Some(&key(0)?))?;
/// assert_eq!(drawn.to_vec::<u32>()?, [1, 1, 1, 1]);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn categorical(logits: &Array, axis: i64, samples: Samples<'_>, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "categorical";
    let axis = normalize_axis(OP, axis, logits.ndim())?;
    let classes = logits.shape()[axis];
    let mut batch_shape = logits.shape().clone();
    batch_shape.remove(axis);
    ensure!(
        classes > 0,
        Value("categorical"),
        "needs at least one class along axis {axis}, got logits of shape {}",
        logits.shape()
    );
    let out_shape = match samples {
        Samples::One => batch_shape.clone(),
        Samples::Count(count) => {
            batch_shape.iter().copied().chain([Shape::checked(OP, &[count])?[0]]).collect()
        }
        Samples::Shape(shape) => Shape::checked(OP, shape)?,
    };
    let is_count = matches!(samples, Samples::Count(_));
    ensure!(
        is_count || batch_shape.broadcasts_to(&out_shape),
        Value("categorical"),
        "cannot broadcast the other axes of the logits, {batch_shape}, to {out_shape}"
    );
    let key = key_or_next(key)?;
    if batch_shape.size() == 1 && out_shape.ndim() > 0 {
        return sample_indices(OP, &relative_weights(&reshape(logits, [classes])?)?, &out_shape, &key);
    }
    // The other axes of the logits are the last axes of the result, followed by the axis of samples if there is one.
    let (drawn_axis, logits) = if is_count {
        (axis, reshape(logits, logits.shape().iter().copied().chain([1]).collect::<Shape>())?)
    } else {
        (axis + out_shape.ndim() - batch_shape.ndim(), logits.clone())
    };
    let mut noise_shape = out_shape;
    noise_shape.insert(drawn_axis, classes);
    let noise = gumbel_sample(OP, &key, &noise_shape, DType::Float32)?;
    let (noise, logits) = meet(OP, &noise, &logits)?;
    reductions::argmax(&add(&noise, &logits)?, Some(drawn_axis as i64), KeepAxes::No)
}

/// `exp(logits - max)` of one axis in float32, or float64 for float64 logits. If the maximum is infinite, the logits equal to it
/// have weight one and all others zero.
fn relative_weights(logits: &Array) -> Result<Array> {
    let dtype = if logits.dtype() == DType::Float64 { DType::Float64 } else { DType::Float32 };
    let logits = cast(logits, dtype)?;
    let max_value = broadcast(&reductions::max(&logits, None, KeepAxes::Yes)?, logits.shape())?;
    let is_max = cast(&binary(BinaryKind::Equal, &logits, &max_value)?, dtype)?;
    let weights = unary(UnaryKind::Exp, &sub(&logits, &max_value)?)?;
    let is_infinite = unary(UnaryKind::IsInf, &max_value)?;
    Array::record_one(Select, &[&is_infinite, &is_max, &weights])
}

/// Indices into a vector of weights, drawn with probabilities proportional to the weights.
fn sample_indices(op: &str, weights: &Array, shape: &Shape, key: &Array) -> Result<Array> {
    let level = unit(op, key, &[shape.size()].into(), weights.dtype())?;
    reshape(&Array::record_one(CategoricalSample, &[weights, &level])?, shape.clone())
}

/// Whether an item may be drawn more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Yes: draws are independent.
    With,
    /// No: draws are part of a random order.
    Without,
}

/// Check probabilities, unless they are traced and have no values.
fn check_probabilities(op: &str, weights: &Array, replacement: Replacement, draws: usize) -> Result<()> {
    if draws == 0 || !has_value(weights)? {
        return Ok(());
    }
    let values = cast(weights, DType::Float64)?.to_vec::<f64>()?;
    check_distribution(op, &values, weights.dtype())?;
    let possible = values.iter().filter(|&&value| value > 0.0).count();
    ensure!(
        replacement == Replacement::With || draws <= possible,
        Value(op),
        "cannot draw {draws} items without replacement from {possible} with non-zero p"
    );
    Ok(())
}

/// Fail for probabilities, which the user gave in a dtype, that are negative, not finite, or do not sum to one.
pub(super) fn check_distribution(op: &str, values: &[f64], dtype: DType) -> Result<()> {
    if let Some(value) = values.iter().find(|value| !(0.0..=f64::MAX).contains(*value)) {
        bail!(Value(op), "p must be finite and non-negative, got {value}");
    }
    let total: f64 = values.iter().sum();
    ensure!(total > 0.0, Value(op), "p must not be all zeros");
    // A tolerance of half the digits of the dtype covers the rounding error of long sums.
    let spacing = if dtype.is_half() { 2.0 * (1.0 - below_one(dtype)) } else { epsilon(dtype) };
    ensure!((total - 1.0).abs() <= spacing.sqrt(), Value(op), "p must sum to 1, got {total}");
    Ok(())
}

/// Draw integers below `count` at random, with or without replacement.
///
/// uint32 of `shape`, uniform or with probabilities `weights`. Without replacement, weighted items are those with the
/// largest `log(weight) + gumbel` (Efraimidis and Spirakis, Information Processing Letters 97, 2006): each is drawn in
/// proportion to its weight among the remaining ones.
///
/// Weights must sum to one. Inside `vmap` and `compile`, where their values are unknown, they are normalised instead.
///
/// ```
/// use umber_core::ops::random::{Replacement, choice, key};
///
/// let hand = choice(52, &[5], Replacement::Without, None, Some(&key(3)?))?;
/// assert!(hand.to_vec::<u32>()?.iter().all(|&card| card < 52));
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn choice(
    count: i64,
    shape: &[i64],
    replacement: Replacement,
    weights: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "choice";
    let shape = Shape::checked(OP, shape)?;
    let items = Shape::checked(OP, &[count])?[0];
    ensure!(u32::try_from(items).is_ok(), Value("choice"), "{items} items are too many for uint32 indices");
    ensure!(items > 0 || shape.size() == 0, Value("choice"), "cannot draw {shape} from no items");
    if let Some(weights) = weights {
        ensure!(
            !weights.dtype().is_complex() && weights.shape()[..] == [items],
            Value("choice"),
            "p must be real and of shape ({items},), got shape {} and dtype {}",
            weights.shape(),
            weights.dtype()
        );
        check_probabilities(OP, weights, replacement, shape.size())?;
    }
    let weights = weights
        .map(|weights| {
            let wide = weights.dtype() == DType::Float64;
            cast(weights, if wide { DType::Float64 } else { DType::Float32 })
        })
        .transpose()?;
    match (replacement, weights) {
        (Replacement::With, None) => {
            let bound = |value: i64| Array::scalar(value, DType::Int64);
            let dims: Vec<i64> = shape.iter().map(|&length| length as i64).collect();
            randint(&bound(0), &bound(count.max(1)), &dims, DType::UInt32, key)
        }
        (Replacement::With, Some(weights)) => sample_indices(OP, &weights, &shape, &key_or_next(key)?),
        (Replacement::Without, weights) => {
            ensure!(
                shape.size() <= items,
                Value("choice"),
                "cannot draw {shape} from {items} items without replacement"
            );
            let order = match weights {
                None => permutation(count, key)?,
                Some(weights) => {
                    let noise = gumbel_sample(OP, &key_or_next(key)?, weights.shape(), weights.dtype())?;
                    let score = add(&unary(UnaryKind::Log, &weights)?, &noise)?;
                    sorting::argsort(&neg(&score)?, Some(0), SortOrder::Ascending)?
                }
            };
            reshape(&slice_along(&order, 0, 0, shape.size())?, shape)
        }
    }
}
