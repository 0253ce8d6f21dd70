//! Numerical differentiation and integration of sampled values.

use umber_types::shape::normalize_axis;
use umber_types::{KeepAxes, Result, Scalar, Shape, ensure, promote};

use super::comparisons::diff;
use super::elementwise::{add, divide, multiply, negative, subtract};
use super::promotion::{cast_constant, weak};
use super::reductions::{sum, widened};
use super::shaping::concatenate;
use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::slice::slice_along;

/// How [`gradient`] estimates derivatives at the two ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeOrder {
    /// From two points.
    First,
    /// From three points.
    Second,
}

/// Segments of an array along an axis.
struct AlongAxis<'a> {
    array: &'a Array,
    axis: usize,
}

impl AlongAxis<'_> {
    fn segment(&self, start: usize, length: usize) -> Result<Array> {
        slice_along(self.array, self.axis, start, length)
    }

    /// `Σ weights[k] segment(start + k)` over segments of equal length.
    fn weighted(&self, start: usize, length: usize, weights: &[Array]) -> Result<Array> {
        let mut total: Option<Array> = None;
        for (k, weight) in weights.iter().enumerate() {
            let term = multiply(&self.segment(start + k, length)?, weight)?;
            total = Some(match total {
                Some(total) => add(&total, &term)?,
                None => term,
            });
        }
        Ok(total.expect("at least one weight"))
    }
}

/// The derivative of a parabola through three points, with distances `a` and `b` between them, at one of the points: the weights
/// of the values at the three points.
fn parabola(a: &Array, b: &Array, point: usize) -> Result<[Array; 3]> {
    let sum = add(a, b)?;
    let (left, middle, right) = (multiply(a, &sum)?, multiply(a, b)?, multiply(b, &sum)?);
    let twice = |x: &Array, y: &Array| add(&add(x, x)?, y);
    Ok(match point {
        0 => [
            negative(&divide(&twice(a, b)?, &left)?)?,
            divide(&sum, &middle)?,
            negative(&divide(a, &right)?)?,
        ],
        1 => [negative(&divide(b, &left)?)?, divide(&subtract(b, a)?, &middle)?, divide(a, &right)?],
        _ => [divide(b, &left)?, negative(&divide(&sum, &middle)?)?, divide(&twice(b, a)?, &right)?],
    })
}

/// Derivatives along one axis; `steps` is the distance of all adjacent points, or a vector of distances.
fn derivatives(f: &Array, steps: &Array, axis: usize, edges: EdgeOrder) -> Result<Array> {
    let length = f.shape()[axis];
    let along = AlongAxis { array: f, axis };
    let is_uniform = steps.ndim() == 0;
    let mut aligned = vec![1; f.ndim()];
    let mut step = |start: usize, count: usize| -> Result<Array> {
        if is_uniform {
            return Ok(steps.clone());
        }
        aligned[axis] = count;
        reshape(&slice_along(steps, 0, start, count)?, Shape::from(&aligned[..]))
    };
    let mut segments = Vec::new();
    let interior = length - 2;
    let (first, last) = match edges {
        EdgeOrder::First => {
            let rise = |i: usize| subtract(&along.segment(i + 1, 1)?, &along.segment(i, 1)?);
            (divide(&rise(0)?, &step(0, 1)?)?, divide(&rise(interior)?, &step(interior, 1)?)?)
        }
        EdgeOrder::Second => {
            let first = along.weighted(0, 1, &parabola(&step(0, 1)?, &step(1, 1)?, 0)?)?;
            let weights = parabola(&step(interior - 1, 1)?, &step(interior, 1)?, 2)?;
            (first, along.weighted(length - 3, 1, &weights)?)
        }
    };
    segments.push(first);
    if interior > 0 {
        segments.push(if is_uniform {
            let rise = subtract(&along.segment(2, interior)?, &along.segment(0, interior)?)?;
            divide(&rise, &add(steps, steps)?)?
        } else {
            along.weighted(0, interior, &parabola(&step(0, interior)?, &step(1, interior)?, 1)?)?
        });
    }
    segments.push(last);
    concatenate(&segments.iter().collect::<Vec<_>>(), Some(axis as i64))
}

/// Numerical gradient of sampled values, by differences of adjacent elements.
///
/// `spacing` holds one distance for all axes, or for every axis a distance (0-d) or the coordinates (a vector as
/// long as the axis); empty, it means unit distances. Interior points use second-order differences. Integers give
/// float32.
///
/// ```
/// use umber_core::{Array, ops};
/// let f = Array::from_slice(&[0.0f32, 1.0, 4.0, 9.0], [4])?;
/// let slopes = ops::gradient(&f, &[], None, ops::EdgeOrder::First)?;
/// assert_eq!(slopes[0].to_vec::<f32>()?, [1.0, 2.0, 4.0, 5.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If an axis has fewer points than the ends need (two, or three), or the spacings do not fit the axes.
pub fn gradient(f: &Array, spacing: &[&Array], axes: Option<&[i64]>, edges: EdgeOrder) -> Result<Vec<Array>> {
    let axes: Vec<usize> = match axes {
        Some(axes) => {
            umber_types::Axes::normalized("gradient", axes, f.ndim())?;
            axes.iter().map(|&axis| normalize_axis("gradient", axis, f.ndim())).collect::<Result<_>>()?
        }
        None => (0..f.ndim()).collect(),
    };
    ensure!(
        spacing.is_empty() || spacing.len() == axes.len() || (spacing.len() == 1 && spacing[0].ndim() == 0),
        Value("gradient"),
        "got {} spacings for {} axes, expected none, one number, or one per axis",
        spacing.len(),
        axes.len()
    );
    let dtype = spacing.iter().fold(f.dtype(), |dtype, array| promote(dtype, array.dtype())).inexact();
    let x = widened(&cast_constant(f, dtype)?)?;
    let min_points = if edges == EdgeOrder::First { 2 } else { 3 };
    let one = weak(Scalar::Int(1), &x);
    let derivative = |(i, &axis): (usize, &usize)| {
        let length = f.shape()[axis];
        ensure!(
            length >= min_points,
            Value("gradient"),
            "needs at least {min_points} points along axis {axis}, got {length} (shape {})",
            f.shape()
        );
        let coordinates = match spacing {
            [] => one.clone(),
            [all] => cast_constant(all, x.dtype())?,
            many => cast_constant(many[i], x.dtype())?,
        };
        ensure!(
            coordinates.ndim() == 0 || (coordinates.ndim() == 1 && coordinates.size() == length),
            Value("gradient"),
            "spacing for axis {axis} must be a number or have shape ({length},), got shape {}",
            coordinates.shape()
        );
        let steps = if coordinates.ndim() == 0 { coordinates } else { diff(&coordinates, 1, 0)? };
        cast(&derivatives(&x, &steps, axis, edges)?, dtype)
    };
    axes.iter().enumerate().map(derivative).collect()
}

/// Abscissas of the values of [`trapezoid`].
#[derive(Clone, Copy, Debug)]
pub enum Samples<'a> {
    /// Given abscissas: a vector as long as the axis, or an array that broadcasts with the values.
    At(&'a Array),
    /// Equidistant abscissas with this distance.
    Every(f64),
}

/// Integral along an axis by the trapezoidal rule.
///
/// `Σ (x[i + 1] - x[i]) (y[i] + y[i + 1]) / 2`; zero for fewer than two values.
///
/// ```
/// use umber_core::{Array, ops};
/// let y = Array::from_slice(&[1.0f32, 2.0, 3.0], [3])?;
/// assert_eq!(ops::trapezoid(&y, ops::Samples::Every(2.0), -1)?.to_vec::<f32>()?, [8.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the abscissas do not match the values.
pub fn trapezoid(y: &Array, samples: Samples<'_>, axis: i64) -> Result<Array> {
    let y_axis = normalize_axis("trapezoid", axis, y.ndim())?;
    let dtype = match samples {
        Samples::At(x) => promote(y.dtype(), x.dtype()).inexact(),
        Samples::Every(_) => y.dtype().inexact(),
    };
    let values = widened(&cast_constant(y, dtype)?)?;
    let count = y.shape()[y_axis].saturating_sub(1);
    let pairs = add(
        &slice_along(&values, y_axis, y.shape()[y_axis] - count, count)?,
        &slice_along(&values, y_axis, 0, count)?,
    )?;
    let widths = match samples {
        Samples::Every(distance) => weak(Scalar::Float(distance), &values),
        Samples::At(x) => {
            let x = cast_constant(x, values.dtype())?;
            let (x, x_axis) = if x.ndim() == 1 {
                let mut aligned = vec![1; y.ndim()];
                aligned[y_axis] = x.size();
                (reshape(&x, Shape::from(&aligned[..]))?, y_axis)
            } else {
                let x_axis = normalize_axis("trapezoid", axis, x.ndim())?;
                (x, x_axis)
            };
            ensure!(
                x.shape()[x_axis] == y.shape()[y_axis],
                Value("trapezoid"),
                "numbers of points differ along axis {axis}: {} in x, {} in y",
                x.shape()[x_axis],
                y.shape()[y_axis]
            );
            diff(&x, 1, x_axis as i64)?
        }
    };
    let areas = multiply(&pairs, &multiply(&widths, &weak(Scalar::Float(0.5), &widths))?)?;
    let axis = if axis < 0 { axis } else { axis - y.ndim() as i64 };
    cast(&sum(&areas, Some(&[axis]), KeepAxes::No)?, dtype)
}

/// Differences of adjacent elements of the flattened array.
///
/// `to_begin` is inserted before them, `to_end` appended to them.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2, 4], [3])?;
/// let end = Array::from_slice(&[9i32], [1])?;
/// assert_eq!(ops::ediff1d(&x, Some(&end), None)?.to_vec::<i32>()?, [1, 2, 9]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the dtype of `a` cannot hold the ends.
pub fn ediff1d(a: &Array, to_end: Option<&Array>, to_begin: Option<&Array>) -> Result<Array> {
    let differences = diff(&reshape(a, [a.size()])?, 1, 0)?;
    let end = |values: Option<&Array>| {
        let Some(values) = values else { return Ok(Array::full([0], 0, a.dtype())) };
        ensure!(
            promote(values.dtype(), a.dtype()) == a.dtype(),
            Type("ediff1d"),
            "cannot cast {} to {}, the dtype of the array",
            values.dtype(),
            a.dtype()
        );
        cast_constant(&reshape(values, [values.size()])?, a.dtype())
    };
    concatenate(&[&end(to_begin)?, &differences, &end(to_end)?], Some(0))
}
