//! Piecewise linear interpolation.

use umber_types::{DType, Result, Scalar, Shape, Side, SortOrder, ensure, promote};

use super::elementwise::{
    add, clip, divide, equal, greater, isfinite, isinf, isnan, less, logical_and, logical_or, multiply,
    remainder, select, subtract,
};
use super::indexing::take;
use super::promotion::{cast_constant, weak};
use super::reductions::widened;
use super::searching::searchsorted;
use super::shaping::concatenate;
use super::sorting::argsort;
use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::slice::slice_along;

/// Values of [`interp`] outside of the points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside<'a> {
    /// The value below the first point; by default the value of the first point.
    pub left: Option<&'a Array>,
    /// The value above the last point; by default the value of the last point.
    pub right: Option<&'a Array>,
    /// The period of the function; a periodic function has no outside.
    pub period: Option<f64>,
}

/// Points in ascending order with their values, and the abscissas at which to interpolate.
struct Points {
    x: Array,
    xp: Array,
    fp: Array,
}

impl Points {
    /// All abscissas reduced to one period, with a point of the adjacent period at each end.
    fn wrapped(&self, period: f64) -> Result<Points> {
        let length = |like: &Array| weak(Scalar::Float(period), like);
        let x = remainder(&self.x, &length(&self.x))?;
        let folded = remainder(&self.xp, &length(&self.xp))?;
        let order = argsort(&folded, Some(0), SortOrder::Ascending)?;
        let (xp, fp) = (take(&folded, &order, Some(0))?, take(&self.fp, &order, Some(0))?);
        let count = xp.size();
        let (first, last) = (slice_along(&xp, 0, 0, 1)?, slice_along(&xp, 0, count - 1, 1)?);
        let before = subtract(&last, &length(&last))?;
        let after = add(&first, &length(&first))?;
        let ends = (slice_along(&fp, 0, count - 1, 1)?, slice_along(&fp, 0, 0, 1)?);
        Ok(Points {
            x,
            xp: concatenate(&[&before, &xp, &after], Some(0))?,
            fp: concatenate(&[&ends.0, &fp, &ends.1], Some(0))?,
        })
    }

    /// The linear interpolant at each abscissa; outside the points, the value at the nearer end.
    fn between(&self) -> Result<Array> {
        let count = self.xp.size() as i64;
        let end =
            |array: &Array, index: i64| reshape(&slice_along(array, 0, index as usize, 1)?, Shape::scalar());
        let (first, last) = (end(&self.fp, 0)?, end(&self.fp, count - 1)?);
        let zero = multiply(&self.x, &weak(Scalar::Int(0), &self.x))?;
        if count == 1 {
            return add(&first, &zero);
        }
        let insertion = cast(&searchsorted(&self.xp, &self.x, Side::Right, None)?, DType::Int64)?;
        let number = |value: i64| Array::scalar(value, DType::Int64);
        let upper = clip(&insertion, Some(&number(1)), Some(&number(count - 1)))?;
        let lower = subtract(&upper, &number(1))?;
        let (x0, x1) = (take(&self.xp, &lower, Some(0))?, take(&self.xp, &upper, Some(0))?);
        let (f0, f1) = (take(&self.fp, &lower, Some(0))?, take(&self.fp, &upper, Some(0))?);
        let (low, high) = (end(&self.xp, 0)?, end(&self.xp, count - 1)?);
        let (is_below, is_above) = (less(&self.x, &low)?, greater(&self.x, &high)?);
        let clamped = select(&logical_or(&is_below, &is_above)?, &x0, &self.x)?;
        let scale = overflow_scale(&x0, &x1)?;
        let distance = |to: &Array| subtract(&multiply(to, &scale)?, &multiply(&x0, &scale)?);
        let width = distance(&x1)?;
        let is_jump = equal(&width, &weak(Scalar::Int(0), &width))?;
        let width = select(&is_jump, &weak(Scalar::Int(1), &width), &width)?;
        let fraction = divide(&distance(&clamped)?, &width)?;
        // Replace infinite values before interpolating: their gradient would be NaN even where the result is masked out.
        let is_finite = logical_and(&isfinite(&f0)?, &isfinite(&f1)?)?;
        let zero_value = weak(Scalar::Int(0), &f0);
        let (start, stop) = (select(&is_finite, &f0, &zero_value)?, select(&is_finite, &f1, &zero_value)?);
        let scale = overflow_scale(&start, &stop)?;
        let (bottom, top) = (multiply(&start, &scale)?, multiply(&stop, &scale)?);
        let value = divide(&add(&bottom, &multiply(&subtract(&top, &bottom)?, &fraction)?)?, &scale)?;
        // If one value is infinite, use the sum: NaN between opposite infinities.
        let sum = select(&equal(&f0, &f1)?, &f0, &add(&f0, &f1)?)?;
        let value = select(&logical_or(&is_finite, &isnan(&self.x)?)?, &value, &sum)?;
        // Return the exact values at the points, despite rounding and infinite neighbours.
        let value = select(&equal(&self.x, &x0)?, &f0, &select(&equal(&self.x, &x1)?, &f1, &value)?)?;
        let value = select(&is_below, &first, &value)?;
        select(&is_above, &last, &value)
    }
}

/// The power of two, 0.5 or 1, that scales both ends so that their distance does not overflow.
pub(super) fn overflow_scale(low: &Array, high: &Array) -> Result<Array> {
    let is_too_wide = isinf(&subtract(high, low)?)?;
    let number = |value: f64| Array::scalar(value, low.dtype().real());
    select(&is_too_wide, &number(0.5), &number(1.0))
}

/// Piecewise linear interpolation between points.
///
/// The result has the shape of `x` and is inexact, in the promoted dtype of all three; `fp` may be complex. `xp`
/// must be ascending, otherwise the result is meaningless. At repeated abscissas the last value counts. Between an
/// infinite and a finite value lies the infinite one, between opposite infinities NaN.
///
/// ```
/// use umber_core::{Array, ops};
/// let xp = Array::from_slice(&[0.0f32, 2.0], [2])?;
/// let fp = Array::from_slice(&[1.0f32, 5.0], [2])?;
/// let x = Array::from_slice(&[-1.0f32, 0.5, 3.0], [3])?;
/// let f = ops::interp(&x, &xp, &fp, ops::Outside::default())?;
/// assert_eq!(f.to_vec::<f32>()?, [1.0, 2.0, 5.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If `xp` and `fp` are not vectors of one length of at least one, `x` or `xp` is complex, or the period is zero.
pub fn interp(x: &Array, xp: &Array, fp: &Array, outside: Outside<'_>) -> Result<Array> {
    ensure!(
        xp.ndim() == 1 && xp.shape() == fp.shape() && xp.size() > 0,
        Value("interp"),
        "xp and fp must be one-dimensional, non-empty and of equal length, got shapes {} and {}",
        xp.shape(),
        fp.shape()
    );
    let x_dtype = promote(x.dtype(), xp.dtype()).inexact();
    ensure!(!x_dtype.is_complex(), Type("interp"), "dtype {x_dtype} is not supported, expected real numbers");
    let dtype = promote(x_dtype, fp.dtype()).inexact();
    let x_dtype = promote(x_dtype, dtype.real());
    let convert = |array: &Array| widened(&cast_constant(array, x_dtype)?);
    let points = Points { x: convert(x)?, xp: convert(xp)?, fp: widened(&cast_constant(fp, dtype)?)? };
    if let Some(period) = outside.period {
        ensure!(
            period != 0.0 && period.is_finite(),
            Value("interp"),
            "period must be finite and non-zero, got {period}"
        );
        return cast(&points.wrapped(period.abs())?.between()?, dtype);
    }
    let mut value = points.between()?;
    let end = |index: usize| reshape(&slice_along(&points.xp, 0, index, 1)?, Shape::scalar());
    if let Some(left) = outside.left {
        let is_outside = less(&points.x, &end(0)?)?;
        value = select(&is_outside, &cast_constant(left, value.dtype())?, &value)?;
    }
    if let Some(right) = outside.right {
        let is_outside = greater(&points.x, &end(xp.size() - 1)?)?;
        value = select(&is_outside, &cast_constant(right, value.dtype())?, &value)?;
    }
    cast(&value, dtype)
}
