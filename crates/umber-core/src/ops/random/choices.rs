//! Draws of truth values, integers and classes.

use umber_types::shape::normalize_axis;
use umber_types::{BinaryKind, DType, KeepAxes, Result, Shape, UnaryKind, bail, ensure};

use super::continuous::{float32_between, gumbel_sample, spread_bounds};
use super::key_or_next;
use crate::graph::Array;
use crate::ops::promotion::meet;
use crate::ops::reductions;
use crate::primitives::rules::{add, binary, broadcast, cast, constant, reshape, sub, unary};

/// True with probability `p`; of the shape of `p` if none is given.
///
/// Bool. Fails if `p` is not floating point or does not broadcast to the shape.
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
    ensure!(
        p.dtype().is_floating(),
        Value,
        "[bernoulli] got p of dtype {}, expected floating point",
        p.dtype()
    );
    let shape = match shape {
        Some(shape) => Shape::checked("bernoulli", shape)?,
        None => p.shape().clone(),
    };
    ensure!(
        p.shape().broadcasts_to(&shape),
        Value,
        "[bernoulli] cannot generate values of shape {shape} from p of shape {}",
        p.shape()
    );
    let bound = |value: f64| Array::full(shape.clone(), value, DType::Float32);
    let sample = float32_between("bernoulli", &key_or_next(key)?, &bound(0.0), &bound(1.0))?;
    binary(BinaryKind::Less, &sample, &broadcast(&cast(p, DType::Float32)?, &shape)?)
}

/// Integers in [low, high), uniform up to the resolution of float32.
///
/// The bounds broadcast to `shape`. Fails for a dtype that is neither integers nor bool, constant bounds without a number
/// between them, or shapes that do not fit.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let key = ops::random::key(0)?;
/// let dice = ops::random::randint(&Array::from(1), &Array::from(7), &[100], DType::Int32, Some(&key))?;
/// assert!(dice.to_vec::<i32>()?.iter().all(|eyes| (1..=6).contains(eyes)));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn randint(low: &Array, high: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    ensure!(
        dtype.is_integer() || dtype == DType::Bool,
        Value,
        "[randint] got dtype {dtype}, expected an integer dtype or bool"
    );
    let shape = Shape::checked("randint", shape)?;
    if let (Some(from), Some(to)) = (low.constant(), high.constant())
        && shape.size() > 0
        && from.as_f64() >= to.as_f64()
    {
        bail!(Value, "[randint] got low {} and high {}, expected low < high", from.as_f64(), to.as_f64());
    }
    let (low, high) = spread_bounds("randint", low, high, &shape)?;
    let sample = float32_between("randint", &key_or_next(key)?, &low, &high)?;
    let drawn = cast(&unary(UnaryKind::Floor, &sample)?, dtype)?;
    // Rounding may have reached `high`, or left `low` when that is not a float32.
    let high = if high.dtype() == DType::Bool { cast(&high, DType::Int32)? } else { high };
    let top = cast(&sub(&high, &constant(&high, 1))?, dtype)?;
    binary(BinaryKind::Maximum, &binary(BinaryKind::Minimum, &drawn, &top)?, &cast(&low, dtype)?)
}

/// How many classes to draw from each set of logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples<'a> {
    /// One.
    One,
    /// Results of this shape, to which the logits without their axis broadcast.
    Shape(&'a [i64]),
    /// So many, along a new last axis.
    Count(i64),
}

/// Classes with probabilities `softmax(logits)` along an axis, as uint32.
///
/// Fails if the axis is not there, or the asked-for shape does not fit.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape};
/// use umber::ops::random::{self, Samples};
/// let logits = Array::from([[0.0f32, 100.0], [100.0, 0.0]]);
/// let classes = random::categorical(&logits, -1, Samples::One, Some(&random::key(0)?))?;
/// assert_eq!(classes.to_vec::<u32>()?, [1, 0]);
/// let many = random::categorical(&logits, -1, Samples::Count(5), None)?;
/// assert_eq!(many.shape(), &Shape::from([2, 5]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn categorical(logits: &Array, axis: i64, samples: Samples<'_>, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "categorical";
    let axis = normalize_axis(OP, axis, logits.ndim())?;
    let classes = logits.shape()[axis];
    let mut rest = logits.shape().clone();
    rest.remove(axis);
    let (logits, drawn, axis) = match samples {
        Samples::One => (logits.clone(), logits.shape().clone(), axis),
        Samples::Count(count) => {
            let mut drawn = logits.shape().clone();
            drawn.push(Shape::checked(OP, &[count])?[0]);
            let column: Shape = logits.shape().iter().copied().chain([1]).collect();
            (reshape(logits, column)?, drawn, axis)
        }
        Samples::Shape(shape) => {
            let mut drawn = Shape::checked(OP, shape)?;
            ensure!(
                rest.broadcasts_to(&drawn),
                Value,
                "[categorical] cannot generate classes of shape {drawn} from logits whose other axes are {rest}"
            );
            let axis = axis + drawn.ndim() - rest.ndim();
            drawn.insert(axis, classes);
            (logits.clone(), drawn, axis)
        }
    };
    let noise = gumbel_sample(OP, &key_or_next(key)?, &drawn, DType::Float32)?;
    let (noise, logits) = meet(OP, &noise, &logits)?;
    reductions::argmax(&add(&noise, &logits)?, Some(axis as i64), KeepAxes::No)
}
