//! `scan`, `fori_loop`, `map`, `while_loop`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};
use umber_core::transforms::control_flow::{
    Batches, Bound as LoopBound, Checkpoint, Construct, ForiLoop, Order, Scan, ScanOptions, WhileLoop,
};
use umber_core::types::promote::promote;
use umber_core::{Array, Error, ops};

use super::super::call_user;
use super::super::check_callable;
use super::leaves::Leaves;
use crate::convert::from_object;
use crate::enter::{OrRaise, to_exception};
use crate::new_array::NewArray;

/// Parse the argument `checkpoint`.
fn checkpoint(op: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Checkpoint> {
    let Some(value) = value else { return Ok(Checkpoint::EveryStep) };
    if let Ok(text) = value.extract::<String>()
        && text == "sqrt"
    {
        return Ok(Checkpoint::SquareRoot);
    }
    match value.extract::<usize>() {
        Ok(every) if every > 0 && !value.is_instance_of::<PyBool>() => Ok(Checkpoint::Every(every)),
        _ => Err(PyValueError::new_err(format!(
            "[{op}] checkpoint: got {}, expected a positive integer, 'sqrt' or None",
            value.repr()?
        ))),
    }
}

/// Parse the argument `unroll`.
fn unroll(op: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(value) = value else { return Ok(1) };
    if value.is_instance_of::<PyBool>() {
        return Ok(if value.extract::<bool>()? { usize::MAX } else { 1 });
    }
    match value.extract::<usize>() {
        Ok(unroll) if unroll > 0 => Ok(unroll),
        _ => Err(PyValueError::new_err(format!(
            "[{op}] unroll: got {}, expected a positive integer or a bool",
            value.repr()?
        ))),
    }
}

/// Parse a number of rows.
fn rows(op: &str, name: &str, value: Option<i64>) -> PyResult<Option<usize>> {
    let to_rows = |value: i64| {
        usize::try_from(value)
            .map_err(|_| PyValueError::new_err(format!("[{op}] {name} must not be negative, got {value}")))
    };
    value.map(to_rows).transpose()
}

/// Convert leaves that were Python numbers to the dtypes that the function returned; whether any changed.
fn adopt_dtypes(init: &mut Leaves, carry: &[Array]) -> PyResult<bool> {
    let mut is_changed = false;
    for ((array, &is_weak), got) in init.arrays.iter_mut().zip(&init.is_weak).zip(carry) {
        let dtype = got.dtype();
        if is_weak && dtype != array.dtype() && promote(dtype, array.dtype()) == dtype {
            *array = ops::astype(array, dtype).or_raise()?;
            is_changed = true;
        }
    }
    Ok(is_changed)
}

/// Maximum number of traces while Python numbers in the carry adopt dtypes. Dtypes only widen, so few are needed.
const MAX_RETRACES: usize = 8;

/// Carry a value through the rows of arrays: ``carry, y = f(carry, x)`` for each row ``x``, in order.
///
/// Parameters
/// ----------
/// f : callable
///     Called as ``f(carry, x)``; returns a pair ``(carry, y)``. The carry keeps its structure, shapes and dtypes.
/// init : array_like or pytree of array_like
///     First carry. Python numbers take the dtype that `f` gives them.
/// xs : array or pytree of arrays, optional
///     Arrays with equal numbers of rows along their first axes. Default: None; `f` then gets None for ``x``.
/// length : int, optional
///     Number of iterations, required without `xs`. Default: the number of rows of `xs`.
/// reverse : bool, optional
///     Start at the last row. Each ``y`` is stored at the position of its row. Default: False.
/// unroll : int or bool, optional
///     Number of iterations to combine into one, for small functions; True for all of them. Default: 1.
/// checkpoint : int or {"sqrt"}, optional
///     Keep only every k-th carry for the gradient and recompute the others. Default: None, keep all.
///
/// Returns
/// -------
/// carry : array or pytree of arrays
///     Last carry.
/// ys : array or pytree of arrays
///     All ``y``, stacked along a new first axis.
///
/// Raises
/// ------
/// TypeError
///     If `f` does not return a pair, or if the carry changes its dtype or structure.
/// ValueError
///     If the carry changes its shape, if numbers of rows differ, if neither `xs` nor `length` is given, or if `length`,
///     `unroll` or `checkpoint` is out of range.
///
/// See Also
/// --------
/// associative_scan, fori_loop, map, while_loop, cumsum
///
/// Notes
/// -----
/// `f` is traced once, on arrays without values. Memory besides the results does not grow with the number of iterations
/// ``n``. A gradient keeps ``n`` carries. With ``checkpoint=k`` it keeps ``n / k + k`` of them and runs `f` once more per
/// iteration; ``"sqrt"`` chooses the `k` that minimises this number (Griewank, "Achieving logarithmic growth of temporal
/// and spatial complexity in reverse automatic differentiation", 1992). Random numbers drawn without a key differ from
/// iteration to iteration.
///
/// Examples
/// --------
/// >>> f = lambda carry, x: (carry + x, carry * x)
/// >>> mx.scan(f, mx.array(0.0), mx.array([1.0, 2.0, 3.0]))
/// (array(6, dtype=float32), array([0, 2, 9], dtype=float32))
/// >>> mx.scan(lambda c, _: (2 * c, c), mx.array(1.0), length=4)
/// (array(16, dtype=float32), array([1, 2, 4, 8], dtype=float32))
#[pyfunction]
#[pyo3(signature = (f, init, xs = None, length = None, reverse = false, unroll = None, checkpoint = None))]
fn scan<'py>(
    f: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
    xs: Option<&Bound<'py, PyAny>>,
    length: Option<i64>,
    reverse: bool,
    unroll: Option<&Bound<'py, PyAny>>,
    checkpoint: Option<&Bound<'py, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = f.py();
    check_callable("scan", f)?;
    let length = rows("scan", "length", length)?;
    let options = ScanOptions {
        order: if reverse { Order::Backwards } else { Order::Forwards },
        unroll: self::unroll("scan", unroll)?,
        checkpoint: self::checkpoint("scan", checkpoint)?,
    };
    let mut init = Leaves::of("scan", "carry", init)?;
    let none = py.None().into_bound(py);
    let xs = Leaves::of("scan", "xs", xs.unwrap_or(&none))?;
    for retraces in 0.. {
        let scan =
            Scan::begin(Construct::Scan, &init.arrays, &xs.arrays, length, &|i| xs.name(i)).or_raise()?;
        let carry = init.tree.rebuild(py, scan.carry())?;
        let returned = call_user(f, (carry, xs.tree.rebuild(py, scan.row())?), None)?;
        let is_pair = returned.is_instance_of::<PyTuple>() || returned.is_instance_of::<PyList>();
        if !is_pair || returned.len()? != 2 {
            return Err(PyTypeError::new_err(format!(
                "[scan] the function returned {}, expected a pair (carry, y)",
                returned.get_type().name()?
            )));
        }
        let carry = init.matching(py, "scan", "carry", &returned.get_item(0)?)?;
        if retraces < MAX_RETRACES && adopt_dtypes(&mut init, &carry)? {
            continue;
        }
        let rows = Leaves::of("scan", "y", &returned.get_item(1)?)?;
        let scanned = scan.end(carry, &rows.arrays, &|i| init.name(i), options).or_raise()?;
        let carry = init.tree.rebuild(py, &scanned.carry)?;
        let stacked = rows.tree.rebuild(py, &scanned.stacked)?;
        return Ok(PyTuple::new(py, [carry, stacked])?.into_any().unbind());
    }
    Err(PyTypeError::new_err("[scan] the dtypes of the carry do not settle"))
}

/// A bound of `fori_loop`.
fn bound(name: &str, value: &Bound<'_, PyAny>) -> PyResult<LoopBound> {
    // Not for an array, since extraction would evaluate it.
    if !value.is_instance_of::<crate::array::PyArray>()
        && let Ok(number) = value.extract::<i64>()
    {
        return Ok(LoopBound::Known(number));
    }
    match from_object(value, None)? {
        Some(array) => Ok(LoopBound::Array(array)),
        None => Err(PyTypeError::new_err(format!(
            "[fori_loop] {name}: got {}, expected an integer",
            value.get_type().name()?
        ))),
    }
}

/// Update a value in a loop over integers: ``carry = body_fun(i, carry)`` for ``lower <= i < upper``.
///
/// Parameters
/// ----------
/// lower, upper : int or integer scalar array
///     Bounds of the loop. If ``upper <= lower``, the result is `init`.
/// body_fun : callable
///     Called as ``body_fun(i, carry)``; returns the next carry, of the same structure, shapes and dtypes. ``i`` is an int32
///     scalar array, or int64 if a bound needs it.
/// init : array_like or pytree of array_like
///     First carry. Python numbers take the dtype that `body_fun` gives them.
/// unroll : int or bool, optional
///     Number of iterations to combine into one, for small functions; True for all of them. Default: 1.
/// checkpoint : int or {"sqrt"}, optional
///     Keep only every k-th carry for the gradient and recompute the others, as in `scan`. Default: None, keep all.
///
/// Returns
/// -------
/// array or pytree of arrays
///     Last carry.
///
/// Raises
/// ------
/// TypeError
///     If a bound is not an integer, or if the carry changes its dtype or structure.
/// ValueError
///     If a bound is not a scalar, or if the carry changes its shape.
///
/// See Also
/// --------
/// scan, while_loop
///
/// Notes
/// -----
/// If the bounds are Python integers or evaluated arrays that are not traced, this is a `scan` without rows and has a
/// gradient. Otherwise it is a `while_loop`, which has none.
///
/// Examples
/// --------
/// >>> mx.fori_loop(1, 6, lambda i, carry: carry * i, mx.array(1))
/// array(120, dtype=int32)
#[pyfunction]
#[pyo3(signature = (lower, upper, body_fun, init, *, unroll = None, checkpoint = None))]
fn fori_loop<'py>(
    lower: &Bound<'py, PyAny>,
    upper: &Bound<'py, PyAny>,
    body_fun: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
    unroll: Option<&Bound<'py, PyAny>>,
    checkpoint: Option<&Bound<'py, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = body_fun.py();
    check_callable("fori_loop", body_fun)?;
    let options = ScanOptions {
        order: Order::Forwards,
        unroll: self::unroll("fori_loop", unroll)?,
        checkpoint: self::checkpoint("fori_loop", checkpoint)?,
    };
    let (lower, upper) = (bound("lower", lower)?, bound("upper", upper)?);
    let mut init = Leaves::of("fori_loop", "carry", init)?;
    for retraces in 0.. {
        let fori_loop = ForiLoop::begin(lower.clone(), upper.clone(), &init.arrays).or_raise()?;
        let index = NewArray::from(fori_loop.index().clone());
        let returned = call_user(body_fun, (index, init.tree.rebuild(py, fori_loop.carry())?), None)?;
        let carry = init.matching(py, "fori_loop", "carry", &returned)?;
        if retraces < MAX_RETRACES && adopt_dtypes(&mut init, &carry)? {
            continue;
        }
        let carry = fori_loop.end(carry, &|i| init.name(i), options).or_raise()?;
        return init.tree.rebuild(py, &carry);
    }
    Err(PyTypeError::new_err("[fori_loop] the dtypes of the carry do not settle"))
}

/// Update a value in a loop while a condition holds: ``carry = body_fun(carry)``.
///
/// Parameters
/// ----------
/// cond_fun : callable
///     Called as ``cond_fun(carry)``; returns a scalar.
/// body_fun : callable
///     Called as ``body_fun(carry)``; returns the next carry, of the same structure, shapes and dtypes.
/// init : array_like or pytree of array_like
///     First carry. Python numbers take the dtype that `body_fun` gives them.
/// max_iterations : int, optional
///     Stop after this number of iterations even if the condition holds; gives the loop a gradient. Default: no limit.
/// checkpoint : int or {"sqrt"}, optional
///     With `max_iterations`: keep only every k-th carry for the gradient, as in `scan`. Default: None, keep all.
///
/// Returns
/// -------
/// array or pytree of arrays
///     First carry for which ``cond_fun(carry)`` is false, or the carry after `max_iterations`.
///
/// Raises
/// ------
/// TypeError
///     If the carry changes its dtype or structure.
/// ValueError
///     If the condition is not a scalar, if the carry changes its shape, if `max_iterations` is negative, if `checkpoint` is out
///     of range or given without `max_iterations`, or if a reverse-mode gradient is taken without it.
///
/// See Also
/// --------
/// fori_loop, scan, cond
///
/// Notes
/// -----
/// Both functions are traced once, on arrays without values. Memory does not grow with the number of iterations. `jvp`
/// works. `grad` and `vjp` need `max_iterations`, because the number of carries to keep is otherwise unknown: they run the loop
/// again and keep the carries of `max_iterations` iterations. Under `vmap` the loop runs until the condition is false for every
/// batch element; elements whose condition is false keep their value.
///
/// Examples
/// --------
/// >>> mx.while_loop(lambda x: x < 100, lambda x: 2 * x, mx.array(3))
/// array(192, dtype=int32)
/// >>> root = lambda a: mx.while_loop(
/// ...     lambda x: mx.abs(x * x - a) > 1e-4, lambda x: (x + a / x) / 2, 1.0, max_iterations=20
/// ... )
/// >>> mx.value_and_grad(root)(mx.array(4.0))
/// (array(2, dtype=float32), array(0.25, dtype=float32))
#[pyfunction]
#[pyo3(signature = (cond_fun, body_fun, init, *, max_iterations = None, checkpoint = None))]
fn while_loop<'py>(
    cond_fun: &Bound<'py, PyAny>,
    body_fun: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
    max_iterations: Option<i64>,
    checkpoint: Option<&Bound<'py, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let py = body_fun.py();
    check_callable("while_loop", cond_fun)?;
    check_callable("while_loop", body_fun)?;
    let max_iterations = rows("while_loop", "max_iterations", max_iterations)?;
    if checkpoint.is_some() && max_iterations.is_none() {
        return Err(PyValueError::new_err(
            "[while_loop] checkpoint: needs max_iterations, without which there is no gradient",
        ));
    }
    let checkpoint = self::checkpoint("while_loop", checkpoint)?;
    let mut init = Leaves::of("while_loop", "carry", init)?;
    for retraces in 0.. {
        let mut while_loop = WhileLoop::begin(&init.arrays);
        if let Some(iterations) = max_iterations {
            while_loop = while_loop.limited(iterations, checkpoint);
        }
        let traced = while_loop.trace_function();
        let returned = call_user(cond_fun, (init.tree.rebuild(py, &traced.trace.inputs)?,), None)?;
        let Some(pred) = from_object(&returned, None)? else {
            return Err(PyTypeError::new_err(format!(
                "[while_loop] cond_fun returned {}, expected a scalar",
                returned.get_type().name()?
            )));
        };
        let conditioned = while_loop.end_condition(traced, &pred).or_raise()?;
        let traced = conditioned.trace_function();
        let returned = call_user(body_fun, (init.tree.rebuild(py, &traced.trace.inputs)?,), None)?;
        let carry = init.matching(py, "while_loop", "carry", &returned)?;
        if retraces < MAX_RETRACES && adopt_dtypes(&mut init, &carry)? {
            continue;
        }
        let carry = conditioned.end(traced, carry, &|i| init.name(i)).or_raise()?;
        return init.tree.rebuild(py, &carry);
    }
    Err(PyTypeError::new_err("[while_loop] the dtypes of the carry do not settle"))
}

/// Error while a function is traced: from Python or from umber.
pub(super) enum Failure {
    Python(PyErr),
    Core(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Python(error) => error,
            Failure::Core(error) => to_exception(error),
        }
    }
}

/// Apply a function to each row of arrays, one after the other, and stack the results.
///
/// Parameters
/// ----------
/// f : callable
///     Function of one row; returns an array or a pytree (nested lists, tuples and dicts) of arrays.
/// xs : array or pytree of arrays
///     Arrays with equal numbers of rows along their first axes.
/// batch_size : int, optional
///     Number of rows to compute together with `vmap`. Default: one row at a time.
///
/// Returns
/// -------
/// array or pytree of arrays
///     Results of all rows, stacked along a new first axis.
///
/// Raises
/// ------
/// ValueError
///     If numbers of rows differ, if an array in `xs` is a scalar, or if `batch_size` is less than 1.
///
/// See Also
/// --------
/// vmap, scan
///
/// Notes
/// -----
/// The results are those of ``vmap(f)(xs)``, with the intermediate memory of one row (or `batch_size` rows). `f` is traced
/// once. The gradient keeps only `xs` and recomputes the rest.
///
/// Examples
/// --------
/// >>> mx.map(lambda x: mx.outer(x, x).sum(), mx.array([[1.0, 2.0], [3.0, 4.0]]))
/// array([9, 49], dtype=float32)
#[pyfunction]
#[pyo3(signature = (f, xs, batch_size = None))]
fn map<'py>(f: &Bound<'py, PyAny>, xs: &Bound<'py, PyAny>, batch_size: Option<i64>) -> PyResult<Py<PyAny>> {
    let py = f.py();
    check_callable("map", f)?;
    let xs = Leaves::of("map", "xs", xs)?;
    let name = |i: usize| xs.name(i);
    let Some(size) = rows("map", "batch_size", batch_size)? else {
        let scan = Scan::begin(Construct::Map, &[], &xs.arrays, None, &name).or_raise()?;
        let rows = Leaves::of("map", "result", &call_user(f, (xs.tree.rebuild(py, scan.row())?,), None)?)?;
        let scanned =
            scan.end(Vec::new(), &rows.arrays, &|i| rows.name(i), ScanOptions::default()).or_raise()?;
        return rows.tree.rebuild(py, &scanned.stacked);
    };
    let batches = Batches::begin(&xs.arrays, size, &name).or_raise()?;
    let mut first: Option<Leaves> = None;
    let stacked = batches.run::<Failure>(&mut |batch| {
        let row = xs.tree.rebuild(py, batch).map_err(Failure::Python)?;
        let returned = call_user(f, (row,), None).map_err(Failure::Python)?;
        let rows = Leaves::of("map", "result", &returned).map_err(Failure::Python)?;
        let arrays = rows.arrays.clone();
        first.get_or_insert(rows);
        Ok(arrays)
    })?;
    match first {
        Some(rows) => rows.tree.rebuild(py, &stacked),
        None => Ok(py.None()),
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(scan, module)?,
        wrap_pyfunction!(fori_loop, module)?,
        wrap_pyfunction!(while_loop, module)?,
        wrap_pyfunction!(map, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
