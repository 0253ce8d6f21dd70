//! Norms of vectors and matrices.

use umber_types::shape::normalize_axis;
use umber_types::{Axes, DType, KeepAxes, ReduceKind, Result, Scalar, UnaryKind, bail, ensure};

use super::factors::values_of;
use super::{computing, rounded};
use crate::graph::Array;
use crate::ops;
use crate::primitives::linalg::sum_last;
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{broadcast, cast, constant, power_of_two, reshape, transpose, unary};

/// The order of a norm, as users specify it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Of vectors `sum(|x|^p)^(1/p)` and its limits; of matrices the induced norm, for `p` of ±1, ±2 and ±inf.
    Number(f64),
    /// Of matrices: the square root of the sum of squares.
    Frobenius,
    /// Of matrices: the sum of singular values.
    Nuclear,
}

/// A norm of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixNorm {
    /// The square root of the sum of squares.
    Frobenius,
    /// The sum of singular values.
    Nuclear,
    /// The maximum over columns of the sum of absolute values.
    MaxColumnSum,
    /// The minimum over columns of the sum of absolute values.
    MinColumnSum,
    /// The maximum over rows of the sum of absolute values.
    MaxRowSum,
    /// The minimum over rows of the sum of absolute values.
    MinRowSum,
    /// The largest singular value.
    MaxSingularValue,
    /// The smallest singular value.
    MinSingularValue,
}

impl MatrixNorm {
    /// The norm of an order.
    ///
    /// Fails for a number that is not the order of a norm; `op` names the function in the error.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::linalg::{MatrixNorm, Order};
    /// assert_eq!(MatrixNorm::of("norm", Order::Number(1.0))?, MatrixNorm::MaxColumnSum);
    /// assert!(MatrixNorm::of("norm", Order::Number(3.0)).is_err()); // a norm of vectors only
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn of(op: &str, order: Order) -> Result<MatrixNorm> {
        Ok(match order {
            Order::Frobenius => MatrixNorm::Frobenius,
            Order::Nuclear => MatrixNorm::Nuclear,
            Order::Number(1.0) => MatrixNorm::MaxColumnSum,
            Order::Number(-1.0) => MatrixNorm::MinColumnSum,
            Order::Number(f64::INFINITY) => MatrixNorm::MaxRowSum,
            Order::Number(f64::NEG_INFINITY) => MatrixNorm::MinRowSum,
            Order::Number(2.0) => MatrixNorm::MaxSingularValue,
            Order::Number(-2.0) => MatrixNorm::MinSingularValue,
            Order::Number(other) => bail!(
                Value(format_args!("linalg.{op}")),
                "matrix norm of order {other} is not supported, expected 1, -1, 2, -2, inf, -inf, 'fro' or \
                 'nuc'"
            ),
        })
    }
}

/// Norm of vectors over one axis, or of matrices over two.
///
/// Matrix axes are rows, then columns. Without axes, that of a whole vector or matrix; without an order too, the 2-norm
/// of all elements.
///
/// Integers give float32, complex numbers real ones. Intermediate results do not overflow where the norm is
/// representable. The gradient of a vector norm at zero is zero; elements that tie for an extremum share its gradient.
///
/// Fails if an axis is out of bounds, there are more than two, or the order is not defined for them.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes};
/// use umber::ops::linalg::{Order, norm};
/// let a = Array::from([[3.0f32, -4.0], [0.0, 0.0]]);
/// assert_eq!(norm(&a, None, None, KeepAxes::No)?.to_vec::<f32>()?, [5.0]);
/// let sums = norm(&a, Some(Order::Number(1.0)), Some(&[1]), KeepAxes::No)?;
/// assert_eq!(sums.to_vec::<f32>()?, [7.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn norm(a: &Array, order: Option<Order>, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let x = cast(a, computing(a.dtype()))?;
    let ndim = a.ndim();
    let axes = match (axes, order) {
        (Some(axes), _) => {
            Axes::normalized("linalg.norm", axes, ndim)?;
            axes.iter().map(|&axis| normalize_axis("linalg.norm", axis, ndim)).collect::<Result<Vec<_>>>()?
        }
        (None, None) => {
            let out = power_norm(&x, 2.0, &Axes::all(ndim))?;
            return finish(&out, a, &Axes::all(ndim), keep);
        }
        (None, Some(_)) => (0..ndim).collect(),
    };
    let out = match (&axes[..], order) {
        ([axis], None) => power_norm(&x, 2.0, &Axes::one(*axis))?,
        ([axis], Some(Order::Number(p))) => power_norm(&x, p, &Axes::one(*axis))?,
        ([_], Some(Order::Frobenius | Order::Nuclear)) => {
            bail!(Value("linalg.norm"), "'fro' and 'nuc' are matrix norms: they need two axes, got one")
        }
        (&[row, column], order) => {
            let norm = MatrixNorm::of("norm", order.unwrap_or(Order::Frobenius))?;
            matrix_norm_of("norm", &x, norm, [row, column])?
        }
        (other, _) => bail!(
            Value("linalg.norm"),
            "needs one axis (vectors) or two (matrices), got {} axes of shape {}",
            other.len(),
            a.shape()
        ),
    };
    finish(&out, a, &Axes::sorted(axes), keep)
}

/// Norm of vectors along one axis, several axes together, or all axes.
///
/// `sum(|x|^p)^(1/p)`, its limits for `p` of ±inf, and for 0 the number of non-zero elements. Fails if an axis is out
/// of bounds, or the axes of a maximum or minimum are empty.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes};
/// use umber::ops::linalg::vector_norm;
/// let a = Array::from([[3.0f32, -4.0], [0.0, 1e30]]);
/// let lengths = vector_norm(&a, 2.0, Some(&[1]), KeepAxes::No)?; // 1e60 would overflow
/// assert_eq!(lengths.to_vec::<f32>()?, [5.0, 1e30]);
/// assert_eq!(vector_norm(&a, 0.0, None, KeepAxes::No)?.to_vec::<f32>()?, [3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vector_norm(a: &Array, order: f64, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = match axes {
        Some(axes) => Axes::normalized("linalg.vector_norm", axes, a.ndim())?,
        None => Axes::all(a.ndim()),
    };
    let x = cast(a, computing(a.dtype()))?;
    finish(&power_norm(&x, order, &axes)?, a, &axes, keep)
}

/// Norm of the matrices along the last two axes.
///
/// `[..., m, n]` to `[...]`. Fails for fewer than two axes, or an order that is not a norm of matrices.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes};
/// use umber::ops::linalg::{Order, matrix_norm};
/// let a = Array::from([[1.0f32, -2.0], [3.0, 4.0]]);
/// let norm = |order| matrix_norm(&a, Order::Number(order), KeepAxes::No)?.to_vec::<f32>();
/// assert_eq!(norm(1.0)?, [6.0]); // of the columns
/// assert_eq!(norm(f64::INFINITY)?, [7.0]); // of the rows
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matrix_norm(a: &Array, order: Order, keep: KeepAxes) -> Result<Array> {
    let x = super::matrices("matrix_norm", a)?;
    let axes = [a.ndim() - 2, a.ndim() - 1];
    let out = matrix_norm_of("matrix_norm", &x, MatrixNorm::of("matrix_norm", order)?, axes)?;
    finish(&out, a, &Axes::sorted(axes), keep)
}

/// Round the result, whose reduced axes have length one, and reshape it as requested by `keep`.
fn finish(out: &Array, a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    rounded(&reshape(out, a.shape().reduced(axes, keep))?, a.dtype())
}

fn reduced(kind: ReduceKind, x: &Array, axes: &Axes) -> Result<Array> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    Array::record_one(Reduce { kind, axes: axes.clone() }, &[x])
}

/// The extremum over axes, which must not be empty.
fn extremum(op: &str, kind: ReduceKind, x: &Array, axes: &Axes) -> Result<Array> {
    ensure!(
        axes.iter().all(|&axis| x.shape()[axis] > 0),
        Value(format_args!("linalg.{op}")),
        "cannot take the norm of an empty axis: shape {}",
        x.shape()
    );
    reduced(kind, x, axes)
}

/// `sqrt(sum(|x|²))` over axes, which are kept with length one, for dtypes whose squares neither overflow nor underflow in
/// float64.
fn wide_norm(x: &Array, axes: &Axes) -> Result<Array> {
    let wide = cast(x, if x.dtype().is_complex() { DType::Complex128 } else { DType::Float64 })?;
    let sum = reduced(ReduceKind::Sum, &squared_magnitude(&wide, None)?, axes)?;
    cast(&power_or(&sum, 0.5, 0.0)?, x.dtype().real())
}

/// `|x|²`, or `|x / scale|²`, computed without the absolute value, which is not differentiable at zero.
fn squared_magnitude(x: &Array, scale: Option<&Array>) -> Result<Array> {
    let square = |component: &Array| match scale {
        Some(scale) => ops::square(&ops::divide(component, scale)?),
        None => ops::square(component),
    };
    if x.dtype().is_complex() {
        ops::add(&square(&ops::real(x)?)?, &square(&ops::imag(x)?)?)
    } else {
        square(x)
    }
}

/// `sum(|x|^p)^(1/p)` over axes, which are kept with length one.
fn power_norm(x: &Array, p: f64, axes: &Axes) -> Result<Array> {
    if p == 2.0 && x.dtype().real() == DType::Float32 {
        return wide_norm(x, axes);
    }
    let magnitude = ops::abs(x)?;
    if p == f64::INFINITY {
        return extremum("norm", ReduceKind::Max, &magnitude, axes);
    }
    if p == f64::NEG_INFINITY {
        return extremum("norm", ReduceKind::Min, &magnitude, axes);
    }
    if p == 0.0 {
        let is_nonzero = ops::not_equal(&magnitude, &constant(&magnitude, 0.0))?;
        return reduced(ReduceKind::Sum, &cast(&is_nonzero, magnitude.dtype())?, axes);
    }
    if p == 1.0 {
        return reduced(ReduceKind::Sum, &magnitude, axes);
    }
    if axes.iter().any(|&axis| x.shape()[axis] == 0) {
        return reduced(ReduceKind::Sum, &magnitude, axes);
    }
    // Scaled to near one, powers neither overflow nor underflow. A power of two scales exactly.
    let kind = if p > 0.0 { ReduceKind::Max } else { ReduceKind::Min };
    let scale = power_of_two(&reduced(kind, &magnitude, axes)?)?;
    let expanded = broadcast(&scale, magnitude.shape())?;
    let powers = if p == 2.0 {
        squared_magnitude(x, Some(&expanded))?
    } else {
        let ratio = ops::divide(&magnitude, &expanded)?;
        power_or(&ratio, p, if p > 0.0 { 0.0 } else { f64::INFINITY })?
    };
    let sum = reduced(ReduceKind::Sum, &powers, axes)?;
    let root = power_or(&sum, 1.0 / p, if p > 0.0 { 0.0 } else { f64::INFINITY })?;
    ops::multiply(&root, &scale)
}

/// `x^p` for non-negative `x`; at zero, the value `at_zero` and no gradient.
pub(in crate::ops) fn power_or(x: &Array, p: f64, at_zero: f64) -> Result<Array> {
    let is_zero = ops::equal(x, &constant(x, 0.0))?;
    let safe = ops::select(&is_zero, &constant(x, 1.0), x)?;
    let power = if p == 0.5 {
        unary(UnaryKind::Sqrt, &safe)?
    } else {
        ops::power(&safe, &constant(x, Scalar::Float(p)))?
    };
    ops::select(&is_zero, &constant(x, at_zero), &power)
}

/// A norm of matrices, whose axes (rows, then columns) are kept with length one.
pub(super) fn matrix_norm_of(
    op: &str,
    x: &Array,
    norm: MatrixNorm,
    [row, column]: [usize; 2],
) -> Result<Array> {
    let of_sums = |sum_axis: usize, kind: ReduceKind, other_axis: usize| {
        let sums = reduced(ReduceKind::Sum, &ops::abs(x)?, &Axes::one(sum_axis))?;
        extremum(op, kind, &sums, &Axes::one(other_axis))
    };
    let of_values = |norm: &dyn Fn(&Array, &Axes) -> Result<Array>| {
        let order: Vec<usize> =
            (0..x.ndim()).filter(|axis| ![row, column].contains(axis)).chain([row, column]).collect();
        let values = values_of(&transpose(x, &order)?)?;
        let out = norm(&values, &Axes::one(values.ndim() - 1))?;
        reshape(&out, x.shape().reduced(&Axes::sorted([row, column]), KeepAxes::Yes))
    };
    match norm {
        MatrixNorm::Frobenius => power_norm(x, 2.0, &Axes::sorted([row, column])),
        MatrixNorm::MaxColumnSum => of_sums(row, ReduceKind::Max, column),
        MatrixNorm::MinColumnSum => of_sums(row, ReduceKind::Min, column),
        MatrixNorm::MaxRowSum => of_sums(column, ReduceKind::Max, row),
        MatrixNorm::MinRowSum => of_sums(column, ReduceKind::Min, row),
        MatrixNorm::Nuclear => of_values(&|values, _| sum_last(values)),
        MatrixNorm::MaxSingularValue => {
            of_values(&|values, last| extremum(op, ReduceKind::Max, values, last))
        }
        MatrixNorm::MinSingularValue => {
            of_values(&|values, last| extremum(op, ReduceKind::Min, values, last))
        }
    }
}
