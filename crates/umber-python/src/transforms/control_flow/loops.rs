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

/// What `checkpoint` says.
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

/// What `unroll` says.
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

/// A number of rows that was given.
fn rows(op: &str, name: &str, value: Option<i64>) -> PyResult<Option<usize>> {
    let to_rows = |value: i64| {
        usize::try_from(value)
            .map_err(|_| PyValueError::new_err(format!("[{op}] {name} must not be negative, got {value}")))
    };
    value.map(to_rows).transpose()
}

/// Leaves that were Python numbers take the dtypes that the function gives them. Did any change?
fn yield_dtypes(init: &mut Leaves, carry: &[Array]) -> PyResult<bool> {
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

/// How often a function is followed anew since numbers gave way; dtypes only grow, so it ends by itself long before.
const MAX_RETRACES: usize = 8;

/// Take a carry through the rows of `xs`: `carry, y = f(carry, x)` for each row `x`, in order.
///
/// `init`, the first carry, and `xs` are (nested lists, tuples and dicts of) arrays; each array of `xs` has `length`
/// rows along its first axis. Without `xs`, `x` is `None` and `length` is needed. Answers the last carry and the `y`s,
/// stacked along a new first axis; with `reverse` the last row comes first, and results stand where their rows do.
///
/// `f` is followed once, on arrays without values; the carry keeps its structure, shapes and dtypes. (Python numbers
/// in `init` take the dtype that `f` gives them.) Draws without a key differ from one iteration to the next. `unroll`
/// makes that many iterations one, for small bodies.
///
/// Memory beside the results does not grow with `length`. A gradient keeps the carry of every iteration: `length` times
/// the carry. With `checkpoint=k` it keeps every k-th and computes those between again: `length / k + k` times the
/// carry, for one more run of `f`; `checkpoint="sqrt"` takes the k that makes this least (Griewank, 1992).
///
/// Raises `ValueError` for a carry that changes its shape, naming the leaf, for rows of different numbers, and without
/// `xs` and `length`; `TypeError` for a carry that changes its dtype or structure, and where `f` returns no pair.
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
    for tries in 0.. {
        let following =
            Scan::begin(Construct::Scan, &init.arrays, &xs.arrays, length, &|i| xs.name(i)).or_raise()?;
        let carry = init.tree.rebuild(py, following.carry())?;
        let returned = call_user(f, (carry, xs.tree.rebuild(py, following.row())?), None)?;
        let is_pair = returned.is_instance_of::<PyTuple>() || returned.is_instance_of::<PyList>();
        if !is_pair || returned.len()? != 2 {
            return Err(PyTypeError::new_err(format!(
                "[scan] the function returned {}, expected a pair (carry, y)",
                returned.get_type().name()?
            )));
        }
        let carry = init.matching(py, "scan", "carry", &returned.get_item(0)?)?;
        if tries < MAX_RETRACES && yield_dtypes(&mut init, &carry)? {
            continue;
        }
        let rows = Leaves::of("scan", "y", &returned.get_item(1)?)?;
        let scanned = following.end(carry, &rows.arrays, &|i| init.name(i), options).or_raise()?;
        let carry = init.tree.rebuild(py, &scanned.carry)?;
        let stacked = rows.tree.rebuild(py, &scanned.stacked)?;
        return Ok(PyTuple::new(py, [carry, stacked])?.into_any().unbind());
    }
    Err(PyTypeError::new_err("[scan] the dtypes of the carry do not settle"))
}

/// A bound of `fori_loop`.
fn bound(name: &str, value: &Bound<'_, PyAny>) -> PyResult<LoopBound> {
    // Not of an array: that would compute it.
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

/// `carry = body_fun(i, carry)` for `i` from `lower` to before `upper`, beginning with `init`; answers the last carry.
///
/// `i` is an int32 scalar (int64 where a bound needs it). Between Python integers, or arrays that have a value and are
/// not traced, this is a `scan` without rows: it has a gradient, which keeps the carry of every iteration, or of every
/// k-th with `checkpoint=k` (as in `scan`). Between arrays that are still to be computed it is a `while_loop`.
///
/// Raises `ValueError` for bounds that are no scalars and for a carry that changes its shape, naming the leaf; `TypeError`
/// for bounds that are no integers and for a carry that changes its dtype or structure.
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
    for tries in 0.. {
        let following = ForiLoop::begin(lower.clone(), upper.clone(), &init.arrays).or_raise()?;
        let index = NewArray::from(following.index().clone());
        let returned = call_user(body_fun, (index, init.tree.rebuild(py, following.carry())?), None)?;
        let carry = init.matching(py, "fori_loop", "carry", &returned)?;
        if tries < MAX_RETRACES && yield_dtypes(&mut init, &carry)? {
            continue;
        }
        let carry = following.end(carry, &|i| init.name(i), options).or_raise()?;
        return init.tree.rebuild(py, &carry);
    }
    Err(PyTypeError::new_err("[fori_loop] the dtypes of the carry do not settle"))
}

/// `carry = body_fun(carry)` for as long as `cond_fun(carry)` holds, beginning with `init`; answers the last carry.
///
/// The carry is a (nested list, tuple or dict of) arrays that keeps its structure, shapes and dtypes; `cond_fun`
/// returns a scalar. Both functions are followed once. Memory does not grow with the number of iterations. Under
/// `vmap` it goes on until no lane does, and lanes that have ended keep what they have. `jvp` works; a gradient does
/// not (`scan` and `fori_loop` have one), since it cannot be known how many carries it would have to keep.
///
/// Raises `ValueError` for a condition that is no scalar and for a carry that changes its shape, naming the leaf;
/// `TypeError` for a carry that changes its dtype or structure.
#[pyfunction]
fn while_loop<'py>(
    cond_fun: &Bound<'py, PyAny>,
    body_fun: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
) -> PyResult<Py<PyAny>> {
    let py = body_fun.py();
    check_callable("while_loop", cond_fun)?;
    check_callable("while_loop", body_fun)?;
    let mut init = Leaves::of("while_loop", "carry", init)?;
    for tries in 0.. {
        let begun = WhileLoop::begin(&init.arrays);
        let followed = begun.trace_function();
        let returned = call_user(cond_fun, (init.tree.rebuild(py, &followed.trace.inputs)?,), None)?;
        let Some(pred) = from_object(&returned, None)? else {
            return Err(PyTypeError::new_err(format!(
                "[while_loop] cond_fun returned {}, expected a scalar",
                returned.get_type().name()?
            )));
        };
        let looked_at = begun.end_condition(followed, &pred).or_raise()?;
        let followed = looked_at.trace_function();
        let returned = call_user(body_fun, (init.tree.rebuild(py, &followed.trace.inputs)?,), None)?;
        let carry = init.matching(py, "while_loop", "carry", &returned)?;
        if tries < MAX_RETRACES && yield_dtypes(&mut init, &carry)? {
            continue;
        }
        let carry = looked_at.end(followed, carry, &|i| init.name(i)).or_raise()?;
        return init.tree.rebuild(py, &carry);
    }
    Err(PyTypeError::new_err("[while_loop] the dtypes of the carry do not settle"))
}

/// An error of either side, while a function is followed.
enum Failure {
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

/// `f(x)` for each row `x` of `xs`, one after the other: the results of all rows, stacked.
///
/// `xs` is a (nested list, tuple or dict of) arrays with equal numbers of rows along their first axes. As `vmap` along
/// these, in the memory of one row at a time; with `batch_size` of that many rows, which `vmap` computes together. A
/// gradient works and keeps nothing but `xs`.
///
/// Raises `ValueError` for rows of different numbers and for a `batch_size` below one.
#[pyfunction]
#[pyo3(signature = (f, xs, batch_size = None))]
fn map<'py>(f: &Bound<'py, PyAny>, xs: &Bound<'py, PyAny>, batch_size: Option<i64>) -> PyResult<Py<PyAny>> {
    let py = f.py();
    check_callable("map", f)?;
    let xs = Leaves::of("map", "xs", xs)?;
    let name = |i: usize| xs.name(i);
    let Some(size) = rows("map", "batch_size", batch_size)? else {
        let following = Scan::begin(Construct::Map, &[], &xs.arrays, None, &name).or_raise()?;
        let rows =
            Leaves::of("map", "result", &call_user(f, (xs.tree.rebuild(py, following.row())?,), None)?)?;
        let scanned =
            following.end(Vec::new(), &rows.arrays, &|i| rows.name(i), ScanOptions::default()).or_raise()?;
        return rows.tree.rebuild(py, &scanned.stacked);
    };
    let batches = Batches::begin(&xs.arrays, size, &name).or_raise()?;
    let mut first: Option<Leaves> = None;
    let stacked = batches.run::<Failure>(&mut |lane| {
        let row = xs.tree.rebuild(py, lane).map_err(Failure::Python)?;
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
