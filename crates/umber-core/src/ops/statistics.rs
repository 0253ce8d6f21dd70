//! Weighted means, ranges, covariances and correlations.

use umber_types::{Axes, DType, KeepAxes, Result, Scalar, Shape, bail, ensure, promote};

use super::contraction::matmul;
use super::data_dependent::known;
use super::elementwise::{clip, conjugate, divide, imag, less, multiply, real, sqrt, subtract};
use super::promotion::{cast_constant, weak};
use super::reductions::{any, axes_of, max, mean, min, sum, widest};
use super::shaping::{concatenate, diagonal, squeeze};
use crate::graph::Array;
use crate::graph::tracing::note_ones_read;
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::rules::{broadcast, cast, reshape, swap_last};

/// Range of the elements over axes: `max(a) - min(a)`.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[3i32, -1, 2], [3])?;
/// assert_eq!(ops::ptp(&x, None, KeepAxes::No)?.to_vec::<i32>()?, [4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For bool, and where the axes hold no elements.
pub fn ptp(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    ensure!(
        a.dtype() != DType::Bool,
        Type("ptp"),
        "dtype {} is not supported, expected a numeric dtype",
        a.dtype()
    );
    super::reductions::check_not_empty("ptp", a, &axes_of("ptp", a, axes)?)?;
    subtract(&max(a, axes, keep)?, &min(a, axes, keep)?)
}

/// Weights along some axes of `a`, broadcast to its shape.
fn broadcast_weights(a: &Array, weights: &Array, axes: Option<&[i64]>) -> Result<Array> {
    if weights.shape() == a.shape() {
        return Ok(weights.clone());
    }
    let Some(user_axes) = axes else {
        bail!(
            Value("average"),
            "weights of shape {} do not match array of shape {}; pass an axis",
            weights.shape(),
            a.shape()
        );
    };
    let axes = axes_of("average", a, Some(user_axes))?;
    let lengths: Shape = axes.iter().map(|&axis| a.shape()[axis]).collect();
    let in_order = user_axes.iter().map(|&axis| if axis < 0 { axis + a.ndim() as i64 } else { axis });
    ensure!(
        *weights.shape() == lengths && in_order.eq(axes.iter().map(|&axis| axis as i64)),
        Value("average"),
        "weights must have shape {1} or {lengths}, with axes in ascending order, got shape {0}",
        weights.shape(),
        a.shape()
    );
    let aligned: Shape =
        a.shape().iter().enumerate().map(|(axis, &n)| if axes.contains(&axis) { n } else { 1 }).collect();
    broadcast(&reshape(weights, aligned)?, a.shape())
}

/// A weighted mean and the sum of its weights.
#[derive(Clone, Debug)]
pub struct Average {
    /// The weighted mean.
    pub mean: Array,
    /// The sum of the weights, of the same shape and dtype.
    pub weight: Array,
}

/// Weighted mean of the elements over axes: `sum(a * weights) / sum(weights)`.
///
/// Infinite or NaN where the weights add up to zero. Weights have the shape of `a`, or the lengths of the axes;
/// without weights the result is the mean.
///
/// ```
/// use umber_core::{Array, KeepAxes, ops};
/// let x = Array::from_slice(&[1.0f32, 4.0], [2])?;
/// let w = Array::from_slice(&[2.0f32, 1.0], [2])?;
/// let average = ops::average(&x, None, Some(&w), KeepAxes::No)?;
/// assert_eq!((average.mean.to_vec::<f32>()?[0], average.weight.to_vec::<f32>()?[0]), (2.0, 3.0));
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the weights have neither shape.
pub fn average(a: &Array, axes: Option<&[i64]>, weights: Option<&Array>, keep: KeepAxes) -> Result<Average> {
    let reduced = axes_of("average", a, axes)?;
    let Some(weights) = weights else {
        let mean = mean(a, axes, keep)?;
        let count: usize = reduced.iter().map(|&axis| a.shape()[axis]).product();
        let weight = Array::full(mean.shape().clone(), count as f64, mean.dtype());
        return Ok(Average { mean, weight });
    };
    let dtype = promote(a.dtype(), weights.dtype()).inexact();
    let x = cast_constant(a, widest(dtype))?;
    let w = broadcast_weights(a, &cast_constant(weights, x.dtype())?, axes)?;
    let weight = sum(&w, axes, keep)?;
    let total = sum(&multiply(&x, &w)?, axes, keep)?;
    let mut mean = divide(&total, &weight)?;
    if dtype.real() == DType::Float64 {
        // If the sum overflows, use normalised weights instead.
        let normalised = divide(&w, &sum(&w, axes, KeepAxes::Yes)?)?;
        mean =
            super::select(&super::isfinite(&total)?, &mean, &sum(&multiply(&x, &normalised)?, axes, keep)?)?;
    }
    Ok(Average { mean: cast(&mean, dtype)?, weight: cast(&weight, dtype)? })
}

/// The axis of a matrix along which variables are enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variables {
    /// Each variable is a row.
    Rows,
    /// Each variable is a column.
    Columns,
}

/// Options of [`cov`].
#[derive(Clone, Copy, Debug)]
pub struct Covariance<'a> {
    /// The axis along which variables are enumerated.
    pub variables: Variables,
    /// Delta degrees of freedom: subtracted from the number of observations.
    pub ddof: i64,
    /// The number of occurrences of each observation, integers.
    pub frequencies: Option<&'a Array>,
    /// Importance of each observation.
    pub weights: Option<&'a Array>,
    /// The dtype of computation and of the result.
    pub dtype: Option<DType>,
}

impl Default for Covariance<'_> {
    fn default() -> Self {
        Covariance { variables: Variables::Rows, ddof: 1, frequencies: None, weights: None, dtype: None }
    }
}

/// Variables as the rows of a matrix.
fn rows(op: &str, m: &Array, variables: Variables) -> Result<Array> {
    match (m.ndim(), variables) {
        (0 | 1, _) => reshape(m, [1, m.size()]),
        (2, Variables::Rows) => Ok(m.clone()),
        (2, Variables::Columns) => swap_last(m),
        (ndim, _) => bail!(Value(op), "array must have at most 2 dimensions, got {ndim}"),
    }
}

/// Check and convert the weights of `count` observations. Traced weights have no values to check.
fn observation_weights(name: &str, weights: &Array, count: usize, dtype: DType) -> Result<Array> {
    ensure!(
        weights.ndim() == 1 && weights.size() == count,
        Value("cov"),
        "{name} must have shape ({count},), got {}",
        weights.shape()
    );
    if !weights.dtype().is_complex() {
        let is_negative = any(&less(weights, &weak(Scalar::Int(0), weights))?, None, KeepAxes::No)?;
        ensure!(
            !known(&is_negative)?.is_some_and(Scalar::as_bool),
            Value("cov"),
            "{name} must not be negative"
        );
    }
    cast_constant(weights, dtype)
}

/// Weights of the observations.
struct Observations {
    count: Array,
    /// Frequencies times importance.
    weights: Option<Array>,
    /// The caller's weights, without frequencies.
    importance: Option<Array>,
    dtype: DType,
}

impl Observations {
    /// Weights of the columns of `x`.
    fn new(op: &str, x: &Array, dtype: DType, options: Covariance<'_>) -> Result<Observations> {
        let count = x.shape()[1];
        let mut weights = None;
        if let Some(frequencies) = options.frequencies {
            ensure!(
                frequencies.dtype().is_integer(),
                Type(op),
                "fweights must be integers, not {}",
                frequencies.dtype()
            );
            weights = Some(observation_weights("fweights", frequencies, count, dtype)?);
        }
        let importance = options
            .weights
            .map(|weights| observation_weights("aweights", weights, count, dtype))
            .transpose()?;
        if let Some(importance) = &importance {
            weights = Some(match weights {
                Some(frequencies) => multiply(&frequencies, importance)?,
                None => importance.clone(),
            });
        }
        let count = NumberOfElements { axes: Axes::sorted([1]), dtype: dtype.real() }.record(x)?;
        Ok(Observations { count, weights, importance, dtype })
    }

    /// Degrees of freedom: the number of observations, or their total weight, less `ddof`; never negative.
    fn freedom(&self, ddof: i64) -> Result<Array> {
        let number = |value: f64| Array::scalar(value, self.dtype.real());
        let Some(weights) = &self.weights else {
            return super::maximum(&subtract(&self.count, &number(ddof as f64))?, &number(0.0));
        };
        let total = real(&sum(weights, None, KeepAxes::No)?)?;
        let correction = match &self.importance {
            Some(importance) => {
                let squares = real(&sum(&multiply(weights, importance)?, None, KeepAxes::No)?)?;
                multiply(&divide(&squares, &total)?, &number(ddof as f64))?
            }
            None => number(ddof as f64),
        };
        super::maximum(&subtract(&total, &correction)?, &number(0.0))
    }
}

/// The largest absolute value of each row, or one if it is zero or not finite.
fn row_scale(rows: &Array) -> Result<Array> {
    let max_value = super::max(&super::abs(rows)?, Some(&[1]), KeepAxes::Yes)?;
    let one = weak(Scalar::Int(1), &max_value);
    let is_usable = super::logical_and(
        &super::isfinite(&max_value)?,
        &super::greater(&max_value, &weak(Scalar::Int(0), &max_value))?,
    )?;
    super::select(&is_usable, &super::stop_gradient(&max_value)?, &one)
}

/// The covariance matrix in the dtype of computation. With `normalise`, variables are scaled to a maximum absolute value of one.
fn covariance(
    op: &str,
    m: &Array,
    y: Option<&Array>,
    options: Covariance<'_>,
    normalise: bool,
) -> Result<Array> {
    let promoted = y.map_or(m.dtype(), |y| promote(m.dtype(), y.dtype())).inexact();
    let dtype = options.dtype.unwrap_or(promoted).inexact();
    let wide = if dtype.is_half() { DType::Float32 } else { dtype };
    // Round the deviations from the mean to the dtype of computation, not the mean.
    let mut x = cast_constant(&cast_constant(&rows(op, m, options.variables)?, wide)?, widest(wide))?;
    if let Some(y) = y {
        let y = cast_constant(&cast_constant(&rows(op, y, options.variables)?, wide)?, widest(wide))?;
        ensure!(
            y.shape()[1] == x.shape()[1],
            Value(op),
            "numbers of observations differ: {} and {}",
            x.shape()[1],
            y.shape()[1]
        );
        x = concatenate(&[&x, &y], Some(0))?;
    }
    let observations = Observations::new(op, &x, wide, options)?;
    let weights = observations.weights.as_ref();
    let row_mean = |x: &Array| match weights {
        Some(weights) => average(x, Some(&[1]), Some(weights), KeepAxes::Yes).map(|average| average.mean),
        None => mean(x, Some(&[1]), KeepAxes::Yes),
    };
    let mut centred = subtract(&x, &row_mean(&x)?)?;
    if x.dtype() == wide {
        // float64 has no wider dtype: correct the rounding error of the mean by the mean of the deviations.
        centred = subtract(&centred, &row_mean(&centred)?)?;
    }
    centred = cast_constant(&centred, wide)?;
    if normalise && centred.size() > 0 {
        centred = divide(&centred, &row_scale(&centred)?)?;
    }
    let weighted = match weights {
        Some(weights) => multiply(&centred, weights)?,
        None => centred.clone(),
    };
    let products = matmul(&centred, &conjugate(&swap_last(&weighted)?)?)?;
    divide(&products, &cast_constant(&observations.freedom(options.ddof)?, wide)?)
}

/// The matrix, or its only element as a 0-d array.
fn squeeze_single(matrix: Array) -> Result<Array> {
    note_ones_read(&matrix);
    if matrix.size() == 1 { squeeze(&matrix, None) } else { Ok(matrix) }
}

/// The dtype of a covariance matrix.
fn result_dtype(m: &Array, y: Option<&Array>, dtype: Option<DType>) -> DType {
    dtype.unwrap_or_else(|| y.map_or(m.dtype(), |y| promote(m.dtype(), y.dtype()))).inexact()
}

/// Covariance matrix of variables.
///
/// `sum(w (x - mean(x)) conj(y - mean(y))) / (n - ddof)` for the variables of `m` and then those of `y`; for one
/// variable its variance, 0-d.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[0.0f32, 1.0, 2.0, 2.0, 1.0, 0.0], [2, 3])?;
/// let matrix = ops::cov(&x, None, ops::Covariance::default())?;
/// assert_eq!(matrix.to_vec::<f32>()?, [1.0, -1.0, -1.0, 1.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For more than two axes, different numbers of observations, and weights of another shape or negative ones.
pub fn cov(m: &Array, y: Option<&Array>, options: Covariance<'_>) -> Result<Array> {
    let matrix = covariance("cov", m, y, options, false)?;
    let matrix = squeeze_single(matrix)?;
    cast(&matrix, result_dtype(m, y, options.dtype))
}

/// Pearson correlation coefficients of variables.
///
/// `cov[i, j] / sqrt(cov[i, i] cov[j, j])`, in [-1, 1]. NaN for a variable that does not vary; for one variable 1,
/// 0-d.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[0.0f32, 1.0, 4.0, 2.0], [2, 2])?;
/// let matrix = ops::corrcoef(&x, None, ops::Variables::Rows, None)?;
/// assert!((matrix.to_vec::<f32>()?[1] + 1.0).abs() < 1e-6);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For more than two axes, and different numbers of observations.
pub fn corrcoef(m: &Array, y: Option<&Array>, variables: Variables, dtype: Option<DType>) -> Result<Array> {
    let options = Covariance { variables, dtype, ..Covariance::default() };
    // Correlation is invariant under scaling; scaled variables keep the squares in range.
    let matrix = covariance("corrcoef", m, y, options, true)?;
    let count = matrix.shape()[0];
    let deviations = sqrt(&real(&diagonal(&matrix, 0, 0, 1)?)?)?;
    let (column, row) = (reshape(&deviations, [count, 1])?, reshape(&deviations, [1, count])?);
    let coefficients = divide(&divide(&matrix, &column)?, &row)?;
    let clipped = clip_to_one(&coefficients)?;
    let clipped = squeeze_single(clipped)?;
    cast(&clipped, result_dtype(m, y, dtype))
}

/// Clip real and imaginary parts to [-1, 1], which rounding errors may exceed.
fn clip_to_one(x: &Array) -> Result<Array> {
    let clipped = |component: &Array| {
        clip(component, Some(&weak(Scalar::Int(-1), component)), Some(&weak(Scalar::Int(1), component)))
    };
    if !x.dtype().is_complex() {
        return clipped(x);
    }
    let times_i = multiply(&clipped(&imag(x)?)?, &Array::scalar(Scalar::Complex(0.0, 1.0), x.dtype()))?;
    super::add(&clipped(&real(x)?)?, &times_i)
}
