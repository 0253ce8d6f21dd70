//! Selection of elements from several arrays, and in-place assignment of selected elements.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use umber_core::ops::{self, DiagonalEnd, OutOfBounds};
use umber_core::{Array, Scalar};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::new_array::NewArray;
use crate::pytree::class_of;

/// The treatment of indices out of bounds: `raise`, `wrap` or `clip`.
pub(super) fn mode_of(op: &str, mode: &str) -> PyResult<OutOfBounds> {
    match mode {
        "raise" => Ok(OutOfBounds::Raise),
        "wrap" => Ok(OutOfBounds::Wrap),
        "clip" => Ok(OutOfBounds::Clip),
        other => Err(PyValueError::new_err(format!(
            "[{op}] got mode '{other}', expected 'raise', 'wrap' or 'clip'"
        ))),
    }
}

/// The treatment of coordinates out of bounds, one mode for all axes or one for each.
pub(super) fn modes_of(op: &str, modes: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<OutOfBounds>> {
    let Some(modes) = modes else { return Ok(vec![OutOfBounds::Raise]) };
    if let Ok(mode) = modes.extract::<PyBackedStr>() {
        return Ok(vec![mode_of(op, &mode)?]);
    }
    let names = modes.extract::<Vec<PyBackedStr>>().map_err(|_| {
        let class = class_of(modes);
        PyTypeError::new_err(format!("[{op}] mode: got {class}, expected a string or a tuple of strings"))
    })?;
    names.iter().map(|mode| mode_of(op, mode)).collect()
}

/// Select elements from the choice of the first condition that is true.
///
/// Parameters
/// ----------
/// condlist : sequence of array_like
///     Conditions, bool arrays.
/// choicelist : sequence of array_like
///     Values for each condition, as many as conditions.
/// default : array_like, optional
///     Value where no condition is true. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Elements in the promoted dtype of the choices and the default. Conditions, choices and the default broadcast.
///
/// Raises
/// ------
/// ValueError
///     If there are no conditions, not as many choices as conditions, or the shapes do not broadcast.
/// TypeError
///     If a condition is not bool.
///
/// See Also
/// --------
/// where, choose, piecewise
///
/// Examples
/// --------
/// >>> x = mx.arange(6)
/// >>> mx.select([x < 2, x < 4], [x, 10 * x], default=-1)
/// array([0, 1, 20, 30, -1, -1], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (condlist, choicelist, default = None, *, stream = None),
    text_signature = "(condlist, choicelist, default=0, *, stream=None)"
)]
fn select(
    condlist: &Bound<'_, PyAny>,
    choicelist: &Bound<'_, PyAny>,
    default: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let conditions = super::shaping::list("select", condlist)?;
    let choices = super::shaping::list("select", choicelist)?;
    let default = default.unwrap_or(Operand::Number(Scalar::Int(0)));
    let default = choices
        .first()
        .map_or_else(|| Ok(default.clone().into_array()), |first| default.clone().promote_with(first))?;
    let conditions: Vec<&Array> = conditions.iter().collect();
    let choices: Vec<&Array> = choices.iter().collect();
    record_on(stream, || ops::select_from(&conditions, &choices, &default)).map(NewArray::from)
}

/// Select each element from the choice whose number an index array holds.
///
/// Parameters
/// ----------
/// a : array_like
///     Integer indices of choices.
/// choices : sequence of array_like
///     Arrays to select from. An array counts as the sequence of its elements along axis 0. Indices and choices broadcast.
/// mode : {"raise", "wrap", "clip"}, optional
///     Treatment of indices out of bounds, negative ones included: ``"raise"`` an error, ``"wrap"`` modulo the number of
///     choices, ``"clip"`` to the nearest valid index. Default: ``"raise"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     ``out[i] = choices[a[i]][i]``, in the promoted dtype of the choices.
///
/// Raises
/// ------
/// ValueError
///     If there are no choices, shapes do not broadcast, the mode is unknown, or in mode ``"raise"`` an index is out of
///     bounds.
/// TypeError
///     If `a` are not integers.
///
/// See Also
/// --------
/// select, where, take
///
/// Examples
/// --------
/// >>> mx.choose(mx.array([0, 1, 1]), [mx.array([1, 2, 3]), mx.array([10, 20, 30])])
/// array([1, 20, 30], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, choices, mode = "raise", *, stream = None))]
fn choose(
    py: Python<'_>,
    a: Operand,
    choices: &Bound<'_, PyAny>,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, mode) = (a.into_array(), mode_of("choose", mode)?);
    let choices = super::index_grids::rows("choose", choices)?;
    compute(py, stream, || ops::choose(&a, &choices.iter().collect::<Vec<_>>(), mode)).map(NewArray::from)
}

/// Set elements of an array, in place, at indices of the flattened array.
///
/// Parameters
/// ----------
/// a : array
///     Array to change.
/// ind : array_like
///     Integer indices of the flattened array.
/// v : array_like
///     Values, converted to the dtype of `a`; they are repeated if there are fewer than indices. Without values `a` stays
///     unchanged.
/// mode : {"raise", "wrap", "clip"}, optional
///     Treatment of indices out of bounds: ``"raise"`` an error, ``"wrap"`` modulo the size, ``"clip"`` to the nearest valid
///     index, so that negative indices become 0. Default: ``"raise"``, in which negative indices count from the end.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Raises
/// ------
/// IndexError
///     In mode ``"raise"`` if an index is out of bounds; in any mode if `a` is empty and there are indices.
/// TypeError
///     If `a` is no array, or `ind` are not integers.
/// ValueError
///     If the mode is unknown.
///
/// See Also
/// --------
/// place, putmask, put_along_axis, take
///
/// Examples
/// --------
/// >>> a = mx.array([1, 2, 3, 4])
/// >>> mx.put(a, [0, 2, 3], [-1, -2])
/// >>> a
/// array([-1, 2, -2, -1], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, ind, v, mode = "raise", *, stream = None))]
fn put(
    a: &Bound<'_, PyArray>,
    ind: Operand,
    v: Operand,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let (old, mode) = (a.get().get(), mode_of("put", mode)?);
    let (ind, v) = (ind.into_array(), v.promote_with(&old)?);
    if mode == OutOfBounds::Raise {
        crate::indexing::evaluate_index(a.py(), [&ind])?;
    }
    let new = record_on(stream, || ops::put(&old, &ind, &v, mode))?;
    a.get().update(a.py(), new)?;
    Ok(())
}

/// Set elements of an array, in place, where a mask is true, to consecutive values.
///
/// Parameters
/// ----------
/// arr : array
///     Array to change.
/// mask : array_like
///     Mask of the size of `arr`; nonzero elements count as true.
/// vals : array_like
///     Values, converted to the dtype of `arr`: the ``i``-th true element takes the ``i``-th value. They are repeated if
///     there are fewer.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Raises
/// ------
/// ValueError
///     If the mask differs in size, or there are no values for true elements.
/// TypeError
///     If `arr` is no array.
///
/// See Also
/// --------
/// putmask, put, extract
///
/// Examples
/// --------
/// >>> a = mx.array([1, 2, 3, 4])
/// >>> mx.place(a, a > 2, [10, 20])
/// >>> a
/// array([1, 2, 10, 20], dtype=int32)
#[pyfunction]
#[pyo3(signature = (arr, mask, vals, *, stream = None))]
fn place(
    py: Python<'_>,
    arr: &Bound<'_, PyArray>,
    mask: Operand,
    vals: Operand,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = arr.get().get();
    let (mask, vals) = (mask.into_array(), vals.promote_with(&old)?);
    let new = compute(py, stream, || ops::place(&old, &mask, &vals))?;
    arr.get().update(py, new)?;
    Ok(())
}

/// Set elements of an array, in place, where a mask is true, to the values at the same positions.
///
/// Parameters
/// ----------
/// a : array
///     Array to change.
/// mask : array_like
///     Mask of the size of `a`; nonzero elements count as true.
/// values : array_like
///     Values, converted to the dtype of `a`: element ``i`` of the flattened array takes ``values[i]``. They are repeated
///     if there are fewer elements than in `a`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Raises
/// ------
/// ValueError
///     If the mask differs in size, or there are no values.
/// TypeError
///     If `a` is no array.
///
/// See Also
/// --------
/// place, put, where
///
/// Examples
/// --------
/// >>> a = mx.array([1, 2, 3, 4])
/// >>> mx.putmask(a, a > 2, [10, 20])
/// >>> a
/// array([1, 2, 10, 20], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, mask, values, *, stream = None))]
fn putmask(
    a: &Bound<'_, PyArray>,
    mask: Operand,
    values: Operand,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = a.get().get();
    let (mask, values) = (mask.into_array(), values.promote_with(&old)?);
    let new = record_on(stream, || ops::putmask(&old, &mask, &values))?;
    a.get().update(a.py(), new)?;
    Ok(())
}

/// Set the main diagonal of an array, in place.
///
/// Parameters
/// ----------
/// a : array
///     Array to change, a matrix or an array of more axes of equal length.
/// val : array_like
///     Values, converted to the dtype of `a`; they are repeated if there are fewer than diagonal elements.
/// wrap : bool, optional
///     Whether the diagonal of a matrix with more rows than columns starts again at the first column, after one row without
///     it. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes, more than two of different length, or there are no values.
/// TypeError
///     If `a` is no array.
///
/// See Also
/// --------
/// diagonal, diag_indices, diag
///
/// Examples
/// --------
/// >>> a = mx.zeros((2, 3))
/// >>> mx.fill_diagonal(a, [1, 2])
/// >>> a
/// array([[1, 0, 0],
///        [0, 2, 0]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, val, wrap = false, *, stream = None))]
fn fill_diagonal(
    a: &Bound<'_, PyArray>,
    val: Operand,
    wrap: bool,
    stream: Option<StreamArg>,
) -> PyResult<()> {
    let old = a.get().get();
    let val = val.promote_with(&old)?;
    let end = if wrap { DiagonalEnd::BeginsAgain } else { DiagonalEnd::LastColumn };
    let new = record_on(stream, || ops::fill_diagonal(&old, &val, end))?;
    a.get().set(a.py(), new);
    Ok(())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(select, module)?,
        wrap_pyfunction!(choose, module)?,
        wrap_pyfunction!(put, module)?,
        wrap_pyfunction!(place, module)?,
        wrap_pyfunction!(putmask, module)?,
        wrap_pyfunction!(fill_diagonal, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
