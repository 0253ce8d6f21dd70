//! Reductions: many elements to one.
//!
//! `axes` is what a user gave: none for all, negative ones counted from the end. Scans are in `scans.rs`.

use smallvec::SmallVec;
use umber_types::shape::normalize_axis;
use umber_types::{ArgReduceKind, Axes, DType, KeepAxes, ReduceKind, Result, Shape, UnaryKind, bail, ensure};

use crate::graph::Array;
use crate::primitives::arg_reduce::ArgReduce;
use crate::primitives::composite::{self, Softmax};
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{broadcast, cast, conj, constant, div, mul, reshape, sub, transpose, unary};

/// Axes as a user gave them, none for all.
pub(super) fn axes_of(op: &str, a: &Array, axes: Option<&[i64]>) -> Result<Axes> {
    match axes {
        Some(axes) => Axes::normalized(op, axes, a.ndim()),
        None => Ok(Axes::all(a.ndim())),
    }
}

/// A reduction, with the reduced axes kept or not.
pub(super) fn reduced(kind: ReduceKind, a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    let out = Array::record_one(Reduce { kind, axes: axes.clone() }, &[a])?;
    finish(&out, a, axes, keep)
}

/// `out`, which has the reduced axes of `a` with length one, in the shape the user asked for.
pub(super) fn finish(out: &Array, a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    reshape(out, a.shape().reduced(axes, keep))
}

/// Number of elements that become one.
fn count(a: &Array, axes: &Axes) -> usize {
    axes.iter().map(|&axis| a.shape()[axis]).product()
}

/// The sum over axes.
pub fn sum(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("sum", a, axes)?;
    reduced(ReduceKind::Sum, a, &axes, keep)
}

/// The product over axes.
pub fn prod(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("prod", a, axes)?;
    reduced(ReduceKind::Prod, a, &axes, keep)
}

/// An extremum of no elements does not exist.
pub(super) fn check_not_empty(op: &str, a: &Array, axes: &Axes) -> Result<()> {
    if let Some(axis) = axes.iter().find(|&&axis| a.shape()[axis] == 0) {
        bail!(
            Value,
            "[{op}] cannot reduce an array of shape {} over axis {axis}, which has no elements, \
             expected at least one",
            a.shape()
        );
    }
    Ok(())
}

fn extremum(kind: ReduceKind, a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of(kind.name(), a, axes)?;
    check_not_empty(kind.name(), a, &axes)?;
    reduced(kind, a, &axes, keep)
}

/// The least element over axes; NaN if any is.
pub fn min(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    extremum(ReduceKind::Min, a, axes, keep)
}

/// The greatest element over axes; NaN if any is.
pub fn max(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    extremum(ReduceKind::Max, a, axes, keep)
}

/// The least and the greatest element over axes.
pub fn minmax(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<(Array, Array)> {
    Ok((min(a, axes, keep)?, max(a, axes, keep)?))
}

/// Are all elements over axes true?
pub fn all(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    reduced(ReduceKind::All, a, &axes_of("all", a, axes)?, keep)
}

/// Is any element over axes true?
pub fn any(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    reduced(ReduceKind::Any, a, &axes_of("any", a, axes)?, keep)
}

/// The number of elements over axes that are not zero.
pub fn count_nonzero(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("count_nonzero", a, axes)?;
    reduced(ReduceKind::Sum, &cast(a, DType::Bool)?, &axes, keep)
}

/// `a` in the dtype that means are computed in: integers in float32, 16-bit floats too, so that no sum overflows.
pub(super) fn widened(a: &Array) -> Result<Array> {
    let dtype = a.dtype().inexact();
    cast(a, if dtype.is_half() { DType::Float32 } else { dtype })
}

/// Mean over axes, which stay with length one.
fn mean_kept(x: &Array, axes: &Axes) -> Result<Array> {
    let sum = reduced(ReduceKind::Sum, x, axes, KeepAxes::Yes)?;
    div(&sum, &constant(&sum, count(x, axes) as f64))
}

/// The arithmetic mean over axes; float32 for integers, NaN for no elements.
pub fn mean(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("mean", a, axes)?;
    let mean = mean_kept(&widened(a)?, &axes)?;
    finish(&cast(&mean, a.dtype().inexact())?, a, &axes, keep)
}

/// Variance over axes, which stay with length one, in the dtype computed in.
fn var_kept(a: &Array, axes: &Axes, ddof: i64) -> Result<Array> {
    let x = widened(a)?;
    let distance = sub(&x, &broadcast(&mean_kept(&x, axes)?, x.shape())?)?;
    let square = if x.dtype().is_complex() {
        unary(UnaryKind::Real, &mul(&distance, &conj(&distance)?)?)?
    } else {
        unary(UnaryKind::Square, &distance)?
    };
    let sum = reduced(ReduceKind::Sum, &square, axes, KeepAxes::Yes)?;
    let freedom = (count(a, axes) as i64).saturating_sub(ddof).max(0);
    div(&sum, &constant(&sum, freedom as f64))
}

/// The variance over axes, `sum(|a - mean(a)|²) / (n - ddof)`; real also for complex numbers.
pub fn var(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, ddof: i64) -> Result<Array> {
    let axes = axes_of("var", a, axes)?;
    let var = var_kept(a, &axes, ddof)?;
    finish(&cast(&var, a.dtype().inexact().real())?, a, &axes, keep)
}

/// The standard deviation over axes: the square root of [`var`].
pub fn std(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, ddof: i64) -> Result<Array> {
    let axes = axes_of("std", a, axes)?;
    let std = unary(UnaryKind::Sqrt, &var_kept(a, &axes, ddof)?)?;
    finish(&cast(&std, a.dtype().inexact().real())?, a, &axes, keep)
}

fn arg_reduced(kind: ArgReduceKind, a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    let op = kind.name();
    let (x, axis, axes) = match axis {
        Some(axis) => {
            let axis = normalize_axis(op, axis, a.ndim())?;
            (a.clone(), axis, Axes::one(axis))
        }
        None => (reshape(a, [a.size()])?, 0, Axes::all(a.ndim())),
    };
    let length = x.shape()[axis];
    ensure!(
        length > 0,
        Value,
        "[{op}] cannot reduce an array of shape {} over an axis of no elements",
        a.shape()
    );
    ensure!(
        u32::try_from(length - 1).is_ok(),
        Value,
        "[{op}] an axis of {length} elements is too long for indices of dtype uint32"
    );
    let out = Array::record_one(ArgReduce { kind, axis }, &[&x])?;
    finish(&out, a, &axes, keep)
}

/// The index of the least element along an axis, or of the flattened array; the first of several.
pub fn argmin(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    arg_reduced(ArgReduceKind::ArgMin, a, axis, keep)
}

/// The index of the greatest element along an axis, or of the flattened array; the first of several.
pub fn argmax(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    arg_reduced(ArgReduceKind::ArgMax, a, axis, keep)
}

/// An array with some axes moved to the end and merged into one, and the way back.
pub(super) struct Merged {
    pub(super) array: Array,
    /// The axes in the order they have before merging: kept ones, then merged ones.
    order: SmallVec<[usize; 6]>,
    /// The shape in that order.
    shape: Shape,
}

impl Merged {
    pub(super) fn new(a: &Array, axes: &Axes) -> Result<Merged> {
        let kept = (0..a.ndim()).filter(|axis| !axes.contains(axis));
        let order: SmallVec<[usize; 6]> = kept.chain(axes.iter().copied()).collect();
        let shape: Shape = order.iter().map(|&axis| a.shape()[axis]).collect();
        let batch = shape[..shape.ndim() - axes.len()].iter().copied();
        let merged: Shape = batch.chain([count(a, axes)]).collect();
        Ok(Merged { array: reshape(&transpose(a, &order)?, merged)?, order, shape })
    }

    /// A result of the merged shape with its axes where they were.
    fn restore(&self, out: &Array) -> Result<Array> {
        let mut inverse: SmallVec<[usize; 6]> = SmallVec::from_elem(0, self.order.len());
        for (to, &from) in self.order.iter().enumerate() {
            inverse[from] = to;
        }
        transpose(&reshape(out, self.shape.clone())?, &inverse)
    }
}

/// The logarithm of the sum of exponentials over axes, without overflow.
pub fn logsumexp(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("logsumexp", a, axes)?;
    check_not_empty("logsumexp", a, &axes)?;
    let merged = Merged::new(&cast(a, a.dtype().inexact())?, &axes)?;
    finish(&composite::logsumexp(&merged.array)?, a, &axes, keep)
}

/// Is everything computed in float32 even for 16-bit floats?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// In float32 at least.
    Full,
    /// As the dtype would have it.
    Given,
}

/// Exponentials over axes divided by their sum; integers answer float32.
pub fn softmax(a: &Array, axes: Option<&[i64]>, precision: Precision) -> Result<Array> {
    let axes = axes_of("softmax", a, axes)?;
    let x = cast(a, a.dtype().inexact())?;
    if axes.is_empty() {
        return Ok(constant(&x, 1.0));
    }
    let merged = Merged::new(&x, &axes)?;
    let softmax = Softmax { precise: precision == Precision::Full };
    merged.restore(&composite::softmax(&merged.array, softmax)?)
}
