//! `cond`, `switch`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::transforms::control_flow::Branches;

use super::super::call_user;
use super::super::check_callable;
use super::leaves::Leaves;
use crate::args::Operand;
use crate::enter::OrRaise;

/// Trace all functions and record the operation that selects one.
fn trace_branches(
    op: &str,
    mut branches: Branches,
    functions: &[Bound<'_, PyAny>],
    operands: &Leaves,
) -> PyResult<Py<PyAny>> {
    let mut first: Option<Leaves> = None;
    for function in functions {
        let py = function.py();
        let traced = branches.trace_function();
        let args = operands.tree.rebuild(py, &traced.trace.inputs)?;
        let returned = call_user(function, args.bind(py).cast::<PyTuple>()?.clone(), None)?;
        let outputs = match &first {
            Some(first) => first.matching(py, op, "result", &returned)?,
            None => first.insert(Leaves::of(op, "result", &returned)?).arrays.clone(),
        };
        let known = first.as_ref();
        let name = |i: usize| known.map_or_else(|| "result".into(), |first| first.name(i));
        branches.add(traced, outputs, &name).or_raise()?;
    }
    let outputs = branches.end().or_raise()?;
    let (Some(first), Some(function)) = (first, functions.first()) else {
        return Err(PyTypeError::new_err(format!("[{op}] needs at least one function")));
    };
    first.tree.rebuild(function.py(), &outputs)
}

/// Return ``true_fun(*operands)`` if a scalar condition holds, otherwise ``false_fun(*operands)``.
///
/// Parameters
/// ----------
/// pred : scalar array_like
///     Condition; numbers count as true unless zero.
/// true_fun, false_fun : callable
///     Functions of the operands. Both return arrays of the same structure, shapes and dtypes.
/// *operands : array_like or pytree of array_like
///     Arguments of the chosen function.
///
/// Returns
/// -------
/// array or pytree of arrays
///     What the chosen function returns.
///
/// Raises
/// ------
/// TypeError
///     If the functions return different dtypes or structures, or if one of them is not callable.
/// ValueError
///     If `pred` is not a scalar, if the functions return different shapes, or if one reads the value of an operand.
///
/// See Also
/// --------
/// switch, where, while_loop
///
/// Notes
/// -----
/// Both functions are traced once, on arrays without values, but only the chosen one is executed. Gradients are those of
/// the branch that is executed. Under `vmap` with a batched `pred`, both branches are executed and their results are
/// selected.
///
/// Examples
/// --------
/// >>> f = lambda x: mx.cond(x > 0, mx.sqrt, mx.negative, x)
/// >>> f(mx.array(9.0)), f(mx.array(-4.0))
/// (array(3, dtype=float32), array(4, dtype=float32))
#[pyfunction]
#[pyo3(signature = (pred, true_fun, false_fun, *operands))]
fn cond<'py>(
    pred: Operand,
    true_fun: Bound<'py, PyAny>,
    false_fun: Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Py<PyAny>> {
    check_callable("cond", &true_fun)?;
    check_callable("cond", &false_fun)?;
    let operands = Leaves::of("cond", "operands", operands.as_any())?;
    let branches = Branches::cond(&pred.into_array(), &operands.arrays).or_raise()?;
    trace_branches("cond", branches, &[false_fun, true_fun], &operands)
}

/// Return ``branches[index](*operands)``, executing only that function.
///
/// Parameters
/// ----------
/// index : integer scalar array_like
///     Number of the function, clamped to ``[0, len(branches) - 1]``.
/// branches : sequence of callable
///     Functions of the operands. All return arrays of the same structure, shapes and dtypes.
/// *operands : array_like or pytree of array_like
///     Arguments of the chosen function.
///
/// Returns
/// -------
/// array or pytree of arrays
///     What the chosen function returns.
///
/// Raises
/// ------
/// TypeError
///     If `index` is not an integer, or if the functions return different dtypes or structures.
/// ValueError
///     If `branches` is empty, if `index` is not a scalar, or if the functions return different shapes.
///
/// See Also
/// --------
/// cond, where
///
/// Notes
/// -----
/// All functions are traced once. Gradients and `vmap` work as in `cond`.
///
/// Examples
/// --------
/// >>> branches = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]
/// >>> mx.switch(mx.array(1), branches, mx.array(3.0))
/// array(30, dtype=float32)
/// >>> mx.switch(99, branches, mx.array(3.0))
/// array(-3, dtype=float32)
#[pyfunction]
#[pyo3(signature = (index, branches, *operands))]
fn switch<'py>(
    index: Operand,
    branches: Vec<Bound<'py, PyAny>>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Py<PyAny>> {
    branches.iter().try_for_each(|branch| check_callable("switch", branch))?;
    let operands = Leaves::of("switch", "operands", operands.as_any())?;
    let selection = Branches::switch(&index.into_array(), branches.len(), &operands.arrays).or_raise()?;
    trace_branches("switch", selection, &branches, &operands)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cond, module)?)?;
    module.add_function(wrap_pyfunction!(switch, module)?)
}
