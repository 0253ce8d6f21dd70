//! Interpolation, differentiation and integration of sampled functions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::Array;
use umber_core::ops::{self, EdgeOrder, Outside, Samples};

use super::shaping::wrap;
use crate::args::{Ints, Operand, StreamArg, axes, record_on};
use crate::new_array::NewArray;

/// Piecewise linear interpolation between points.
///
/// Parameters
/// ----------
/// x : array_like
///     Real abscissas at which to interpolate, of any shape.
/// xp : array_like
///     Real abscissas of the points, with one axis, in ascending order; any order with `period`.
/// fp : array_like
///     Values at the points, real or complex, of the shape of `xp`.
/// left : array_like, optional
///     Value for `x` below the first point. Default: ``fp[0]``.
/// right : array_like, optional
///     Value for `x` above the last point. Default: ``fp[-1]``.
/// period : float, optional
///     Period of the function; `left` and `right` are then ignored. Default: not periodic.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Values of the shape of `x`; float32 if all are integers or booleans, else the promoted dtype of the three.
///
/// Raises
/// ------
/// TypeError
///     If `x` or `xp` is complex, or an argument is not convertible to an array.
/// ValueError
///     If `xp` and `fp` are not vectors of the same length of at least one, or `period` is zero or not finite.
///
/// See Also
/// --------
/// searchsorted, trapezoid
///
/// Notes
/// -----
/// The result is meaningless if `xp` descends somewhere. At repeated abscissas the last value counts. Between an
/// infinite and a finite value lies the infinite one, between opposite infinities NaN.
///
/// Examples
/// --------
/// >>> mx.interp(mx.array([-1.0, 0.5, 3.0]), mx.array([0.0, 2.0]), mx.array([1.0, 5.0]))
/// array([1, 2, 5], dtype=float32)
/// >>> mx.interp(mx.array([350, 10]), mx.array([0, 90, 180, 270]), mx.array([0.0, 1.0, 0.0, -1.0]), period=360)
/// array([-0.111111, 0.111111], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, xp, fp, left = None, right = None, period = None, *, stream = None))]
fn interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: Option<Operand>,
    right: Option<Operand>,
    period: Option<f64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (xp, fp) = (xp.into_array(), fp.into_array());
    let x = x.widen_with(&xp)?;
    let left = left.map(|left| left.widen_with(&fp)).transpose()?;
    let right = right.map(|right| right.widen_with(&fp)).transpose()?;
    let outside = Outside { left: left.as_ref(), right: right.as_ref(), period };
    record_on(stream, || ops::interp(&x, &xp, &fp, outside)).map(NewArray::from)
}

/// Numerical gradient of sampled values, by differences of adjacent elements.
///
/// Parameters
/// ----------
/// f : array_like
///     Values at the points of a grid.
/// *varargs : array_like
///     Spacing: nothing for unit distances, one number for all axes, or for each axis a number or the coordinates
///     along it.
/// axis : int or sequence of int, optional
///     Axes to differentiate along. Default: all axes.
/// edge_order : int, optional
///     Differences at the two ends of an axis: 1 from two points, 2 from three points. Default: 1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array or list of array
///     Derivatives of the shape of `f` along each axis, an array for a single axis; float32 if `f` and the spacing
///     are integers or booleans, else the promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If an axis is out of bounds.
/// ValueError
///     If an axis is given twice or has fewer than ``edge_order + 1`` points, the spacing does not fit the axes, or
///     `edge_order` is neither 1 nor 2.
///
/// See Also
/// --------
/// diff, grad
///
/// Notes
/// -----
/// Interior points use second-order accurate central differences, for uneven coordinates the derivative of the
/// parabola through three points. `mx.grad` differentiates functions; this function differentiates samples.
///
/// Examples
/// --------
/// >>> mx.gradient(mx.array([0.0, 1.0, 4.0, 9.0]))
/// array([1, 2, 4, 5], dtype=float32)
/// >>> mx.gradient(mx.array([0.0, 1.0, 4.0, 9.0]), 2.0, edge_order=2)
/// array([0, 1, 2, 3], dtype=float32)
/// >>> mx.gradient(mx.array([[0.0, 1.0], [4.0, 9.0]]), axis=1)
/// array([[1, 1],
///        [5, 5]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (f, *varargs, axis = None, edge_order = 1, stream = None))]
fn gradient(
    py: Python<'_>,
    f: Operand,
    varargs: Vec<Operand>,
    axis: Option<Ints>,
    edge_order: i64,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'_, PyAny>> {
    let edges = match edge_order {
        1 => EdgeOrder::First,
        2 => EdgeOrder::Second,
        other => {
            return Err(PyValueError::new_err(format!("[gradient] got edge_order {other}, expected 1 or 2")));
        }
    };
    let f = f.into_array();
    let spacing: Vec<Array> =
        varargs.into_iter().map(|step| step.promote_with(&f)).collect::<PyResult<_>>()?;
    let spacing: Vec<&Array> = spacing.iter().collect();
    let gradients = record_on(stream, || ops::gradient(&f, &spacing, axes(axis.as_ref()), edges))?;
    match <[Array; 1]>::try_from(gradients) {
        Ok([one]) => Ok(NewArray::from(one).object(py)?.into_any()),
        Err(many) => Ok(wrap(many).into_pyobject(py)?.into_any()),
    }
}

/// Integral along an axis by the trapezoidal rule.
///
/// Parameters
/// ----------
/// y : array_like
///     Values to integrate, with at least one axis.
/// x : array_like, optional
///     Abscissas of the values: a vector as long as the axis, or an array that broadcasts with `y`. Default:
///     equidistant.
/// dx : float, optional
///     Distance of the abscissas, if `x` is not given. Default: 1.0.
/// axis : int, optional
///     Axis to integrate along. Default: -1, the last one.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array without the axis; float32 for integers and booleans, else the promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     If an argument is not convertible to an array.
/// IndexError
///     If the axis is out of bounds.
/// ValueError
///     If the length of `x` is not that of the axis, or the shapes do not broadcast.
///
/// See Also
/// --------
/// interp, cumsum
///
/// Notes
/// -----
/// ``sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2)``; zero for fewer than two values.
///
/// Examples
/// --------
/// >>> mx.trapezoid(mx.array([1.0, 2.0, 3.0]), dx=2.0)
/// array(8, dtype=float32)
/// >>> mx.trapezoid(mx.array([1.0, 2.0, 3.0]), x=mx.array([0.0, 1.0, 3.0]))
/// array(6.5, dtype=float32)
#[pyfunction]
#[pyo3(signature = (y, x = None, dx = 1.0, axis = -1, *, stream = None))]
fn trapezoid(
    y: Operand,
    x: Option<Operand>,
    dx: f64,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (y, x) = (y.into_array(), x.map(Operand::into_array));
    let samples = x.as_ref().map_or(Samples::Every(dx), Samples::At);
    record_on(stream, || ops::trapezoid(&y, samples, axis)).map(NewArray::from)
}

/// Differences of adjacent elements of the flattened array.
///
/// Parameters
/// ----------
/// ary : array_like
///     Input of any shape and dtype.
/// to_end : array_like, optional
///     Values to append to the differences. Default: none.
/// to_begin : array_like, optional
///     Values to insert before the differences. Default: none.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array with one axis and the dtype of `ary`.
///
/// Raises
/// ------
/// TypeError
///     If the dtype of `to_end` or `to_begin` does not promote to that of `ary`, or an argument is not convertible.
/// OverflowError
///     If a Python integer does not fit the dtype of `ary`.
///
/// See Also
/// --------
/// diff
///
/// Notes
/// -----
/// The difference of booleans is their logical XOR.
///
/// Examples
/// --------
/// >>> mx.ediff1d(mx.array([1, 2, 4]), to_end=9, to_begin=0)
/// array([0, 1, 2, 9], dtype=int32)
#[pyfunction]
#[pyo3(signature = (ary, to_end = None, to_begin = None, *, stream = None))]
fn ediff1d(
    ary: Operand,
    to_end: Option<Operand>,
    to_begin: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let ary = ary.into_array();
    let to_end = to_end.map(|end| end.promote_with(&ary)).transpose()?;
    let to_begin = to_begin.map(|begin| begin.promote_with(&ary)).transpose()?;
    record_on(stream, || ops::ediff1d(&ary, to_end.as_ref(), to_begin.as_ref())).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(interp, module)?)?;
    module.add_function(wrap_pyfunction!(gradient, module)?)?;
    module.add_function(wrap_pyfunction!(trapezoid, module)?)?;
    module.add_function(wrap_pyfunction!(ediff1d, module)?)
}
