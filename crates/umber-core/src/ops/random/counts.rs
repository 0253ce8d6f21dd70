//! Distributions of counts.

use umber_types::{BinaryKind, DType, KeepAxes, Kind, Result, Scalar, Shape, UnaryKind, bail, ensure};

use super::choices::check_distribution;
use super::continuous::unit;
use super::families::{checked_key, draw, parameter, shape_of};
use super::split;
use crate::graph::Array;
use crate::ops::data_dependent::has_value;
use crate::ops::elementwise::{greater_equal, isfinite, less, less_equal, logical_and, select};
use crate::ops::reductions::{all, any};
use crate::ops::shaping::{concatenate, stack};
use crate::primitives::random::Rejection;
use crate::primitives::rules::{add, binary, cast, constant, div, neg, reshape, sub, unary, zeros_like};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;

/// Fail for dtypes that do not represent counts.
fn check_countable(op: &str, dtype: DType) -> Result<()> {
    ensure!(
        dtype.is_integer() || (dtype.is_floating() && !dtype.is_float8()),
        Value(op),
        "dtype {dtype} is not supported, expected integers or real floating-point numbers"
    );
    Ok(())
}

/// Fail for a constant parameter outside of a range; elements of other parameters that are outside give -1.
fn check_known(op: &str, name: &str, value: &Array, rule: &str, holds: impl Fn(f64) -> bool) -> Result<()> {
    if let Some(got) = value.constant().map(Scalar::as_f64) {
        ensure!(value.size() == 0 || holds(got), Value(op), "{name} must be {rule}, got {got}");
    }
    Ok(())
}

/// Check the number of trials, if it is constant, and that the dtype represents it.
fn check_trials(op: &str, n: &Array, dtype: DType) -> Result<()> {
    check_known(op, "n", n, "non-negative", |n| n >= 0.0)?;
    if dtype.is_integer() {
        let max_value = max_of(dtype).as_f64();
        check_known(op, "n", n, &format!("at most {max_value} for {dtype}"), |n| n <= max_value)?;
    }
    Ok(())
}

/// Float64 counts in `dtype`; counts above the maximum of an integer dtype become the maximum.
fn saturated(sample: &Array, dtype: DType) -> Result<Array> {
    if !dtype.is_integer() {
        return cast(sample, dtype);
    }
    let max_value = max_of(dtype);
    let is_above = binary(BinaryKind::GreaterEqual, sample, &constant(sample, max_value.as_f64()))?;
    let counts = cast(sample, dtype)?;
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
    check_countable(OP, dtype)?;
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
    let sample = draw(Rejection::Poisson, &checked_key(OP, key)?, &[&parameter(OP, "rate", rate, &shape)?])?;
    saturated(&sample, dtype)
}

/// Draw from the binomial distribution: the number of successes in `n` trials with probability `p` each.
///
/// Drawn by inversion for small means, and by transformed rejection (Hörmann, Journal of Statistical Computation and Simulation
/// 46, 1993) for others. An `n` that is no integer is rounded down. Elements whose `n` is negative or NaN, or whose `p` is not
/// in `[0, 1]`, are -1, which wraps in unsigned dtypes; counts above the maximum of an integer dtype become the maximum. The
/// default shape is the broadcast shape of the parameters.
///
/// Fails for a constant parameter that is invalid, an `n` above the maximum of an integer dtype, or for bool and complex dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let (n, p) = (Array::from(10), Array::from([0.0f32, 0.3, 1.0]));
/// let counts = random::binomial(&n, &p, None, DType::Int32, Some(&random::key(0)?))?.to_vec::<i32>()?;
/// assert!(counts[0] == 0 && (0..=10).contains(&counts[1]) && counts[2] == 10);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn binomial(
    n: &Array,
    p: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "binomial";
    check_countable(OP, dtype)?;
    check_trials(OP, n, dtype)?;
    check_known(OP, "p", p, "in [0, 1]", |p| (0.0..=1.0).contains(&p))?;
    let shape = shape_of(OP, shape, &[n, p])?;
    let (n, p) = (parameter(OP, "n", n, &shape)?, parameter(OP, "p", p, &shape)?);
    saturated(&draw(Rejection::Binomial, &checked_key(OP, key)?, &[&n, &p])?, dtype)
}

/// Draw from the geometric distribution: the number of trials up to and including the first success.
///
/// Computed as `floor(log(1 - u) / log(1 - p)) + 1` of a uniform `u` in float64. Elements whose `p` is not in `(0, 1]` are -1,
/// which wraps in unsigned dtypes; counts above the maximum of an integer dtype become the maximum.
///
/// Fails for a constant `p` that is invalid, or for bool and complex dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops::random};
/// let p = Array::from(0.25f32);
/// let trials = random::geometric(&p, Some(&[1000]), DType::Int32, Some(&random::key(0)?))?.to_vec::<i32>()?;
/// assert!(trials.iter().all(|&trials| trials >= 1));
/// assert!((f64::from(trials.iter().sum::<i32>()) / 1000.0 - 4.0).abs() < 0.6);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn geometric(p: &Array, shape: Option<&[i64]>, dtype: DType, key: Option<&Array>) -> Result<Array> {
    const OP: &str = "geometric";
    check_countable(OP, dtype)?;
    check_known(OP, "p", p, "in (0, 1]", |p| p > 0.0 && p <= 1.0)?;
    let shape = shape_of(OP, shape, &[p])?;
    let p = parameter(OP, "p", p, &shape)?;
    let log_complement = |x: &Array| unary(UnaryKind::Log1p, &neg(x)?);
    let u = unit(OP, &checked_key(OP, key)?, &shape, DType::Float64)?;
    let failures = unary(UnaryKind::Floor, &div(&log_complement(&u)?, &log_complement(&p)?)?)?;
    let trials = add(&failures, &constant(&failures, 1.0))?;
    let is_valid = logical_and(&less(&zeros_like(&p), &p)?, &less_equal(&p, &constant(&p, 1.0))?)?;
    saturated(&select(&is_valid, &trials, &constant(&trials, -1.0))?, dtype)
}

/// Draw from the multinomial distribution: how often each category occurs in `n` trials with probabilities `p`.
///
/// The categories are along the last axis of `p`; `n` broadcasts with its other axes. `shape` is that of the result without
/// its last axis, by default the broadcast shape. The trials are divided between halves of the categories by [`binomial`]
/// draws, then between quarters, and so on, so that the number of operations grows with the logarithm of the number of
/// categories.
///
/// Probabilities must sum to one along the last axis. Inside `vmap` and `compile`, where their values are unknown, they are
/// normalised instead, and the counts are -1 for an `n` or `p` that is invalid, as in [`binomial`].
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops::random};
/// let (n, p) = (Array::from([10, 20]), Array::from([0.5f32, 0.5, 0.0]));
/// let counts = random::multinomial(&n, &p, None, DType::Int32, Some(&random::key(0)?))?;
/// assert_eq!(counts.shape(), &Shape::from([2, 3]));
/// let counts = counts.to_vec::<i32>()?;
/// assert_eq!((counts[0] + counts[1], counts[2], counts[3] + counts[4]), (10, 0, 20));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn multinomial(
    n: &Array,
    p: &Array,
    shape: Option<&[i64]>,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    const OP: &str = "multinomial";
    check_countable(OP, dtype)?;
    check_trials(OP, n, dtype)?;
    let categories = p.shape().last().copied().unwrap_or(0);
    ensure!(
        categories > 0,
        Value(OP),
        "p must have at least one category along its last axis, got shape {}",
        p.shape()
    );
    ensure!(!p.dtype().is_complex(), Value(OP), "p must be real, not {}", p.dtype());
    if has_value(p)? {
        let values = cast(p, DType::Float64)?.to_vec::<f64>()?;
        for row in values.chunks(categories) {
            check_distribution(OP, row, p.dtype())?;
        }
    }
    let batch = match shape {
        Some(shape) => Shape::checked(OP, shape)?,
        None => {
            let others = Shape::from(&p.shape()[..p.ndim() - 1]);
            let Some(common) = others.broadcast(n.shape()) else {
                bail!(
                    Value(OP),
                    "cannot broadcast n of shape {} with the other axes of p, of shape {}",
                    n.shape(),
                    p.shape()
                );
            };
            common
        }
    };
    let with_last = |length: usize| batch.iter().copied().chain([length]).collect::<Shape>();
    let n = reshape(&parameter(OP, "n", n, &batch)?, with_last(1))?;
    let n = unary(UnaryKind::Floor, &n)?;
    let p = parameter(OP, "p", p, &with_last(categories))?;
    let counts = divided(&n, &p, &checked_key(OP, key)?)?;
    let is_probability = logical_and(&greater_equal(&p, &zeros_like(&p))?, &isfinite(&p)?)?;
    let is_distribution = logical_and(
        &all(&is_probability, Some(&[-1]), KeepAxes::Yes)?,
        &any(&cast(&p, DType::Bool)?, Some(&[-1]), KeepAxes::Yes)?,
    )?;
    let is_valid = logical_and(&is_distribution, &greater_equal(&n, &zeros_like(&n))?)?;
    saturated(&select(&is_valid, &counts, &constant(&counts, -1.0))?, dtype)
}

/// Trials `[..., 1]`, divided at random between categories with the relative probabilities `p`.
fn divided(trials: &Array, p: &Array, key: &Array) -> Result<Array> {
    let axis = p.ndim() - 1;
    // The sums of the probabilities of single categories, of pairs, of quadruples, …; an odd number is filled up by zero.
    let mut sums = vec![p.clone()];
    while let Some(last) = sums.last()
        && last.shape()[axis] > 1
    {
        let [left, right] = halves(last)?;
        sums.push(add(&left, &right)?);
    }
    let keys = split(key, sums.len() as i64 - 1)?;
    let mut counts = trials.clone();
    for (level, pair) in sums.windows(2).enumerate().rev() {
        let [parts, total] = [&pair[0], &pair[1]];
        let [left, _] = halves(parts)?;
        let is_empty = binary(BinaryKind::Equal, total, &zeros_like(total))?;
        let share = select(&is_empty, &zeros_like(total), &div(&left, total)?)?;
        let key = reshape(&slice_along(&keys, 0, level, 1)?, [2])?;
        let first = draw(Rejection::Binomial, &key, &[&counts, &share])?;
        let both = stack(&[&first, &sub(&counts, &first)?], axis as i64 + 1)?;
        let both = reshape(&both, total.shape().with(axis, 2 * total.shape()[axis]))?;
        counts = slice_along(&both, axis, 0, parts.shape()[axis])?;
    }
    Ok(counts)
}

/// The elements at even and at odd indices of the last axis; a missing last one is zero.
fn halves(x: &Array) -> Result<[Array; 2]> {
    let axis = x.ndim() - 1;
    let length = x.shape()[axis];
    let even = if length.is_multiple_of(2) {
        x.clone()
    } else {
        let zero = Array::full(x.shape().with(axis, 1), 0.0, x.dtype());
        concatenate(&[x, &zero], Some(axis as i64))?
    };
    let half = x.shape().with(axis, length.div_ceil(2));
    let pairs = reshape(&even, half.iter().copied().chain([2]).collect::<Shape>())?;
    let part = |i: usize| reshape(&slice_along(&pairs, axis + 1, i, 1)?, half.clone());
    Ok([part(0)?, part(1)?])
}
