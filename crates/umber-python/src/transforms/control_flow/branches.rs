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

/// Follow the functions one after the other and record the choice.
fn trace_function(
    op: &str,
    mut branches: Branches,
    functions: &[Bound<'_, PyAny>],
    operands: &Leaves,
) -> PyResult<Py<PyAny>> {
    let mut first: Option<Leaves> = None;
    for function in functions {
        let py = function.py();
        let followed = branches.trace_function();
        let given = operands.tree.rebuild(py, &followed.trace.inputs)?;
        let returned = call_user(function, given.bind(py).cast::<PyTuple>()?.clone(), None)?;
        let outputs = match &first {
            Some(first) => first.matching(py, op, "result", &returned)?,
            None => first.insert(Leaves::of(op, "result", &returned)?).arrays.clone(),
        };
        let known = first.as_ref();
        let name = |i: usize| known.map_or_else(|| "result".into(), |first| first.name(i));
        branches.add(followed, outputs, &name).or_raise()?;
    }
    let outputs = branches.end().or_raise()?;
    let (Some(first), Some(function)) = (first, functions.first()) else {
        return Err(PyTypeError::new_err(format!("[{op}] needs at least one function")));
    };
    first.tree.rebuild(function.py(), &outputs)
}

/// `true_fun(*operands)` where the scalar `pred` holds, else `false_fun(*operands)`; only one of them runs.
///
/// Both functions are followed once, on arrays without values, and return (nested lists, tuples and dicts of) arrays
/// of one structure, equal shapes and equal dtypes. A derivative is that of the branch that runs. Under `vmap`, where
/// `pred` differs from lane to lane, both run and results are selected.
///
/// Raises `ValueError` for a `pred` that is no scalar and for branches that return other shapes, `TypeError` for branches
/// that return other dtypes or structures.
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
    let branches = Branches::cond(&pred.alone(), &operands.arrays).or_raise()?;
    trace_function("cond", branches, &[false_fun, true_fun], &operands)
}

/// `branches[index](*operands)`; only that function runs. An `index` outside is brought to the nearest end.
///
/// As `cond` otherwise, which is this with two functions.
///
/// Raises `ValueError` without any branch, for an `index` that is no scalar and for branches that return other shapes;
/// `TypeError` for an `index` that is no integer and for branches that return other dtypes or structures.
#[pyfunction]
#[pyo3(signature = (index, branches, *operands))]
fn switch<'py>(
    index: Operand,
    branches: Vec<Bound<'py, PyAny>>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Py<PyAny>> {
    branches.iter().try_for_each(|branch| check_callable("switch", branch))?;
    let operands = Leaves::of("switch", "operands", operands.as_any())?;
    let following = Branches::switch(&index.alone(), branches.len(), &operands.arrays).or_raise()?;
    trace_function("switch", following, &branches, &operands)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cond, module)?)?;
    module.add_function(wrap_pyfunction!(switch, module)?)
}
