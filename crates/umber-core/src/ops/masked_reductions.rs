//! Reductions with NumPy's `where`, `dtype` and `initial`.

use umber_types::{Axes, BinaryKind, DType, KeepAxes, ReduceKind, Result, Scalar, bail, ensure};

use super::elementwise::{
    abs, divide, isfinite, isnan, logical_not, maximum, multiply, real, select, square, subtract,
};
use super::linalg::power_or;
use super::promotion::{cast_constant, weak};
use super::reductions::{
    all, any, axes_of, count_true, deviation, finish, max, mean, min, prod, reduced, sum, variance, widest,
};
use crate::graph::Array;
use crate::primitives::composite::Measure;
use crate::primitives::rules::{binary, broadcast, cast, conj, power_of_two};

/// Optional arguments of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// The dtype that elements are converted to first.
    pub dtype: Option<DType>,
    /// The value that the reduction starts from, and the result for no elements.
    pub initial: Option<&'a Array>,
    /// The condition: elements for which it is false are left out. It broadcasts to the array's shape.
    pub condition: Option<&'a Array>,
    /// The mean of the elements, for variances, if the caller knows it; it broadcasts to the array's shape.
    pub mean: Option<&'a Array>,
}

impl Selection<'_> {
    fn is_plain(&self) -> bool {
        self.dtype.is_none() && self.initial.is_none() && self.condition.is_none() && self.mean.is_none()
    }

    /// The caller's mean in the dtype of `x`.
    pub(super) fn known_mean(&self, op: &str, x: &Array) -> Result<Option<Array>> {
        let Some(mean) = self.mean else { return Ok(None) };
        ensure!(
            mean.shape().broadcasts_to(x.shape()),
            Value(op),
            "cannot broadcast mean of shape {} to {}",
            mean.shape(),
            x.shape()
        );
        cast_constant(mean, x.dtype()).map(Some)
    }

    /// The condition as bool in the shape of `a`.
    pub(super) fn mask(&self, op: &str, a: &Array) -> Result<Option<Array>> {
        let Some(condition) = self.condition else { return Ok(None) };
        ensure!(
            condition.shape().broadcasts_to(a.shape()),
            Value(op),
            "cannot broadcast condition of shape {} to {}",
            condition.shape(),
            a.shape()
        );
        broadcast(&cast_constant(condition, DType::Bool)?, a.shape()).map(Some)
    }
}

/// A [`sum`], [`prod`], [`min`], [`max`], [`all`] or [`any`] over axes of selected elements.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops::{self, Selection}};
/// use umber_types::ReduceKind;
/// let x = Array::from_slice(&[1i32, 2, 3], [3])?;
/// let odd = Array::from_slice(&[1i32, 0, 1], [3])?;
/// let selection = Selection { condition: Some(&odd), ..Selection::default() };
/// assert_eq!(ops::reduce_selected(ReduceKind::Sum, &x, None, KeepAxes::No, selection)?.to_vec::<i32>()?, [4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the condition or the initial value does not broadcast, and for a minimum or maximum with a condition but no initial
/// value.
pub fn reduce_selected(
    kind: ReduceKind,
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    selection: Selection<'_>,
) -> Result<Array> {
    if selection.is_plain() {
        return plain(kind, a, axes, keep);
    }
    if kind == ReduceKind::Mean {
        ensure!(selection.initial.is_none(), Value("mean"), "does not take an initial value");
        return mean_selected(a, axes, keep, selection);
    }
    let op = kind.name();
    let reduced_axes = axes_of(op, a, axes)?;
    let mut x = cast_constant(a, selection.dtype.unwrap_or(a.dtype()))?;
    let (identity, combine) = identity_and_combine(kind);
    if matches!(kind, ReduceKind::All | ReduceKind::Any) {
        x = cast_constant(&x, DType::Bool)?;
    }
    if let Some(mask) = selection.mask(op, &x)? {
        // Replace elements that are left out by the identity of the reduction; an extremum has none and uses the initial value.
        let fill = match (identity, selection.initial) {
            (Some(value), _) => weak(value, &x),
            (None, Some(initial)) if initial.ndim() == 0 => cast_constant(initial, x.dtype())?,
            (None, Some(initial)) => bail!(
                Value(op),
                "with a condition (where), the initial value must be a number, got shape {}",
                initial.shape()
            ),
            (None, None) => bail!(Value(op), "an initial value is required with a condition (where)"),
        };
        x = select(&mask, &x, &fill)?;
    }
    let Some(initial) = selection.initial else {
        if identity.is_none() {
            super::reductions::check_not_empty(op, &x, &reduced_axes)?;
        }
        return cast(
            &reduced(kind, &x, &reduced_axes, keep)?,
            selection.dtype.unwrap_or(result_dtype(kind, &x)),
        );
    };
    let result = reduced(kind, &x, &reduced_axes, keep)?;
    ensure!(
        initial.shape().broadcasts_to(result.shape()),
        Value(op),
        "cannot broadcast initial value of shape {} to {}",
        initial.shape(),
        result.shape()
    );
    let initial = broadcast(&cast_constant(initial, result.dtype())?, result.shape())?;
    let result = binary(combine, &initial, &result)?;
    cast(&result, selection.dtype.unwrap_or(result.dtype()))
}

fn plain(kind: ReduceKind, a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    match kind {
        ReduceKind::Sum => sum(a, axes, keep),
        ReduceKind::Prod => prod(a, axes, keep),
        ReduceKind::Min => min(a, axes, keep),
        ReduceKind::Max => max(a, axes, keep),
        ReduceKind::All => all(a, axes, keep),
        ReduceKind::Any => any(a, axes, keep),
        ReduceKind::Mean => mean(a, axes, keep),
    }
}

/// The identity of the reduction, if there is one, and the operation that combines two results.
fn identity_and_combine(kind: ReduceKind) -> (Option<Scalar>, BinaryKind) {
    match kind {
        ReduceKind::Sum => (Some(Scalar::Int(0)), BinaryKind::Add),
        ReduceKind::Prod => (Some(Scalar::Int(1)), BinaryKind::Multiply),
        ReduceKind::Min => (None, BinaryKind::Minimum),
        ReduceKind::Max => (None, BinaryKind::Maximum),
        ReduceKind::All => (Some(Scalar::Bool(true)), BinaryKind::LogicalAnd),
        ReduceKind::Any => (Some(Scalar::Bool(false)), BinaryKind::LogicalOr),
        ReduceKind::Mean => unreachable!("means do not combine"),
    }
}

fn result_dtype(kind: ReduceKind, x: &Array) -> DType {
    match kind {
        ReduceKind::Sum | ReduceKind::Prod => x.dtype().sum_dtype(),
        ReduceKind::Min | ReduceKind::Max | ReduceKind::Mean => x.dtype(),
        ReduceKind::All | ReduceKind::Any => DType::Bool,
    }
}

/// Elements in the dtype of computation, their mask, and the dtype of the result.
pub(super) struct Elements {
    x: Array,
    mask: Option<Array>,
    known_mean: Option<Array>,
    dtype: DType,
    /// Whether the elements have the range of float64, so that their squares may overflow.
    is_wide: bool,
}

impl Elements {
    fn new(op: &str, a: &Array, selection: Selection<'_>) -> Result<Elements> {
        let dtype = selection.dtype.unwrap_or(a.dtype().inexact());
        let is_wide = dtype.inexact().real() == DType::Float64;
        // Round to the requested dtype, then compute in one that represents the squares.
        let x = cast_constant(&cast_constant(a, dtype.inexact())?, widest(dtype))?;
        let (mask, known_mean) = (selection.mask(op, &x)?, selection.known_mean(op, &x)?);
        Ok(Elements { x, mask, known_mean, dtype, is_wide })
    }

    /// The elements of `a`, with a mask of those that are not NaN.
    pub(super) fn without_nan(
        op: &str,
        a: &Array,
        dtype: DType,
        selection: Selection<'_>,
    ) -> Result<Elements> {
        let is_wide = a.dtype().real() == DType::Float64;
        let x = cast_constant(a, widest(a.dtype()))?;
        let mask = Some(logical_not(&isnan(&x)?)?);
        let known_mean = selection.known_mean(op, &x)?;
        Ok(Elements { x, mask, known_mean, dtype, is_wide })
    }

    /// `x` where the mask is true, otherwise zero.
    fn masked(&self, x: &Array) -> Result<Array> {
        match &self.mask {
            Some(mask) => select(mask, x, &weak(Scalar::Int(0), x)),
            None => Ok(x.clone()),
        }
    }

    /// The number of elements over axes, masked or not.
    fn total_count(&self, axes: &Axes) -> f64 {
        axes.iter().map(|&axis| self.x.shape()[axis] as f64).product()
    }

    /// Number of selected elements over axes, which are kept with length one, as float64.
    fn count(&self, axes: &Axes) -> Result<Array> {
        match &self.mask {
            Some(mask) => cast(&count_true(mask, axes, KeepAxes::Yes)?, DType::Float64),
            None => Ok(Array::scalar(self.total_count(axes), DType::Float64)),
        }
    }

    /// The mean of the selected elements of `x`.
    fn mean_of(&self, x: &Array, axes: &Axes) -> Result<Array> {
        let (x, count) = (self.masked(x)?, self.count(axes)?);
        let total = reduced(ReduceKind::Sum, &x, axes, KeepAxes::Yes)?;
        let mean = divide(&total, &count)?;
        if !self.is_wide {
            return Ok(mean);
        }
        // The sum may overflow where the mean of all elements does not: rescale that mean then.
        let mean_of_all = reduced(ReduceKind::Mean, &x, axes, KeepAxes::Yes)?;
        let total_count = Array::scalar(self.total_count(axes), DType::Float64);
        select(&isfinite(&total)?, &mean, &multiply(&mean_of_all, &divide(&total_count, &count)?)?)
    }

    /// The mean over axes, rounded.
    pub(super) fn mean(&self, axes: &Axes, keep: KeepAxes) -> Result<Array> {
        finish(&cast(&self.mean_of(&self.x, axes)?, self.dtype.inexact())?, &self.x, axes, keep)
    }

    /// A measure of dispersion about the mean over axes, rounded.
    pub(super) fn dispersion(
        &self,
        axes: &Axes,
        keep: KeepAxes,
        ddof: f64,
        measure: Measure,
    ) -> Result<Array> {
        // Scaling by a power of two near the largest element is exact and keeps the squares in range.
        let scale = (self.is_wide && measure == Measure::Deviation && self.total_count(axes) > 0.0)
            .then(|| {
                power_of_two(&reduced(ReduceKind::Max, &abs(&self.masked(&self.x)?)?, axes, KeepAxes::Yes)?)
            })
            .transpose()?;
        let scaled = |x: &Array| scale.as_ref().map_or_else(|| Ok(x.clone()), |scale| divide(x, scale));
        let x = scaled(&self.x)?;
        let deviations = match &self.known_mean {
            Some(mean) => self.masked(&subtract(&x, &scaled(mean)?)?)?,
            None => {
                let deviations = self.masked(&subtract(&x, &self.mean_of(&x, axes)?)?)?;
                // float64 has no wider dtype: correct the rounding error of the mean by the mean of the deviations.
                if self.is_wide {
                    self.masked(&subtract(&deviations, &self.mean_of(&deviations, axes)?)?)?
                } else {
                    deviations
                }
            }
        };
        let squares = if deviations.dtype().is_complex() {
            real(&multiply(&deviations, &conj(&deviations)?)?)?
        } else {
            square(&deviations)?
        };
        let count = self.count(axes)?;
        let freedom = subtract(&count, &Array::scalar(ddof, DType::Float64))?;
        let freedom = maximum(&freedom, &Array::scalar(0.0, DType::Float64))?;
        let variance = divide(&reduced(ReduceKind::Sum, &squares, axes, KeepAxes::Yes)?, &freedom)?;
        let measured = match measure {
            Measure::Variance => variance,
            // The square root is not differentiable at zero: the gradient is zero there, as for norms.
            Measure::Deviation => power_or(&variance, 0.5, 0.0)?,
        };
        let measured = scale.map_or(Ok(measured.clone()), |scale| multiply(&measured, &scale))?;
        finish(&cast(&measured, self.dtype.inexact().real())?, &self.x, axes, keep)
    }
}

/// Arithmetic mean of selected elements over axes; NaN where there are none.
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1i32, 2, 6], [3])?;
/// let selection = Selection { dtype: Some(DType::Float64), ..Selection::default() };
/// assert_eq!(ops::mean_selected(&x, None, KeepAxes::No, selection)?.to_vec::<f64>()?, [3.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the condition does not broadcast to the array's shape.
pub fn mean_selected(
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of("mean", a, axes)?;
    match selection {
        Selection { dtype, initial: None, condition: None, mean: None } => {
            let x = dtype.map_or(Ok(a.clone()), |dtype| cast_constant(a, dtype.inexact()))?;
            cast(&mean(&x, axes, keep)?, dtype.unwrap_or(a.dtype().inexact()))
        }
        _ => {
            let elements = Elements::new("mean", a, selection)?;
            cast(&elements.mean(&reduced_axes, keep)?, elements.dtype)
        }
    }
}

/// Variance of selected elements over axes, as [`var`](super::var).
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1i32, 3], [2])?;
/// let selection = Selection { dtype: Some(DType::Float64), ..Selection::default() };
/// assert_eq!(ops::var_selected(&x, None, KeepAxes::No, 1.0, selection)?.to_vec::<f64>()?, [2.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the condition or the mean does not broadcast to the array's shape.
pub fn var_selected(
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of("var", a, axes)?;
    if selection.is_plain() {
        return variance("var", a, axes, keep, ddof);
    }
    let elements = Elements::new("var", a, selection)?;
    cast(&elements.dispersion(&reduced_axes, keep, ddof, Measure::Variance)?, elements.dtype.real())
}

/// Standard deviation of selected elements over axes: the square root of [`var_selected`].
///
/// ```
/// use umber_core::{Array, DType, KeepAxes, ops::{self, Selection}};
/// let x = Array::from_slice(&[1i32, 3], [2])?;
/// let selection = Selection { dtype: Some(DType::Float64), ..Selection::default() };
/// assert_eq!(ops::std_selected(&x, None, KeepAxes::No, 0.0, selection)?.to_vec::<f64>()?, [1.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`var_selected`].
pub fn std_selected(
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
    selection: Selection<'_>,
) -> Result<Array> {
    let reduced_axes = axes_of("std", a, axes)?;
    if selection.is_plain() {
        return deviation("std", a, axes, keep, ddof);
    }
    let elements = Elements::new("std", a, selection)?;
    cast(&elements.dispersion(&reduced_axes, keep, ddof, Measure::Deviation)?, elements.dtype.real())
}
