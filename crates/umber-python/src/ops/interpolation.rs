//! Functions known at some points.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::Array;
use umber_core::ops::{self, EdgeOrder, Outside, Samples};

use super::shaping::wrap;
use crate::args::{Ints, Operand, StreamArg, axes, record_on};
use crate::new_array::NewArray;

/// Straight lines between the points `(xp, fp)`, at every element of `x`.
///
/// `xp` must rise. Below and above the points the values are `left` and `right`, by default those at the ends; with a
/// `period` the points repeat instead, in any order. Inexact, in the dtype that holds all three; `fp` may be complex.
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
    let (xp, fp) = (xp.alone(), fp.alone());
    let x = x.beside(&xp)?;
    let left = left.map(|left| left.beside(&fp)).transpose()?;
    let right = right.map(|right| right.beside(&fp)).transpose()?;
    let outside = Outside { left: left.as_ref(), right: right.as_ref(), period };
    record_on(stream, || ops::interp(&x, &xp, &fp, outside)).map(NewArray::from)
}

/// Slopes of `f` along `axis` (each of all axes by default) from differences of neighbours: an array, or a list of them.
///
/// `varargs` are the distance of neighbours, for all axes or one an axis, or the places along each axis. At the ends the
/// slope comes from two points (`edge_order` 1) or three (2). Integers answer float32.
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
    let f = f.alone();
    let spacing: Vec<Array> = varargs.into_iter().map(|step| step.beside(&f)).collect::<PyResult<_>>()?;
    let spacing: Vec<&Array> = spacing.iter().collect();
    let slopes = record_on(stream, || ops::gradient(&f, &spacing, axes(axis.as_ref()), edges))?;
    match <[Array; 1]>::try_from(slopes) {
        Ok([one]) => Ok(NewArray::from(one).object(py)?.into_any()),
        Err(many) => Ok(wrap(many).into_pyobject(py)?.into_any()),
    }
}

/// Area under straight lines between the values `y` along `axis`, at places `x` or at a distance of `dx`.
#[pyfunction]
#[pyo3(signature = (y, x = None, dx = 1.0, axis = -1, *, stream = None))]
fn trapezoid(
    y: Operand,
    x: Option<Operand>,
    dx: f64,
    axis: i64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (y, x) = (y.alone(), x.map(Operand::alone));
    let samples = x.as_ref().map_or(Samples::Every(dx), Samples::At);
    record_on(stream, || ops::trapezoid(&y, samples, axis)).map(NewArray::from)
}

/// Differences of neighbours in the flattened array, with `to_begin` in front of them and `to_end` behind.
#[pyfunction]
#[pyo3(signature = (ary, to_end = None, to_begin = None, *, stream = None))]
fn ediff1d(
    ary: Operand,
    to_end: Option<Operand>,
    to_begin: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let ary = ary.alone();
    let to_end = to_end.map(|end| end.beside(&ary)).transpose()?;
    let to_begin = to_begin.map(|begin| begin.beside(&ary)).transpose()?;
    record_on(stream, || ops::ediff1d(&ary, to_end.as_ref(), to_begin.as_ref())).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(interp, module)?)?;
    module.add_function(wrap_pyfunction!(gradient, module)?)?;
    module.add_function(wrap_pyfunction!(trapezoid, module)?)?;
    module.add_function(wrap_pyfunction!(ediff1d, module)?)
}
