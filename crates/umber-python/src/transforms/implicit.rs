//! `custom_root`, `custom_linear_solve`.

use std::sync::Arc;

use pyo3::prelude::*;
use umber_core::transforms::{
    Equations, Linear, LinearSolver, TracedEquations, TransposeSolve, record_linear_solution, record_root,
    run_solver,
};
use umber_core::{Array, ops};

use super::control_flow::leaves::{Leaves, leaf};
use super::grad::split_aux;
use super::jacobian::LinearFunction;
use super::{call_user, check_callable};
use crate::enter::{OrRaise, carry};
use crate::pytree::{Pytree, PytreePath};

const ROOT: &str = "custom_root";
const SOLVE: &str = "custom_linear_solve";

/// Trace the function of the unknowns.
fn trace(
    op: &'static str,
    name: &str,
    function: &Bound<'_, PyAny>,
    unknowns: &Leaves,
) -> PyResult<Equations> {
    let py = function.py();
    let traced = TracedEquations::begin(op, &unknowns.arrays).or_raise()?;
    let returned = call_user(function, (unknowns.tree.rebuild(py, &traced.trace.inputs)?,), None)?;
    let outputs = unknowns.matching(py, op, name, &returned)?;
    traced.end(name, &outputs).or_raise()
}

/// Call a user's solver; returns the arrays of the solution, and the auxiliary object without derivatives.
fn solve(
    op: &'static str,
    solver: &Bound<'_, PyAny>,
    function: &Bound<'_, PyAny>,
    argument: &Leaves,
    has_aux: bool,
) -> PyResult<(Vec<Array>, Option<Py<PyAny>>)> {
    let py = solver.py();
    let arguments = (function, argument.tree.rebuild(py, &argument.arrays)?);
    let returned = run_solver(|| call_user(solver, arguments, None))?;
    let (solution, aux) = split_aux(op, returned, has_aux)?;
    let constant = |aux: Bound<'_, PyAny>| {
        let tree = Pytree::of(&aux)?;
        let arrays = tree.arrays().iter().map(ops::stop_gradient).collect::<umber_core::Result<Vec<_>>>();
        tree.rebuild(py, &arrays.or_raise()?)
    };
    Ok((argument.matching(py, op, "solve", &solution)?, aux.map(constant).transpose()?))
}

/// A user's solver of linear systems as a function of arrays.
fn linear_solver(
    op: &'static str,
    solver: &Bound<'_, PyAny>,
    tree: &Pytree,
    has_aux: bool,
) -> PyResult<LinearSolver> {
    let (solver, tree) = (solver.clone().unbind(), tree.structure(solver.py())?);
    Ok(Arc::new(move |linear: &Linear, right: &[Array]| {
        let apply = |py: Python<'_>| {
            let function = LinearFunction::between(py, op, linear.clone(), &tree)?;
            let returned = call_user(solver.bind(py), (function, tree.rebuild(py, right)?), None)?;
            let (solution, _) = split_aux(op, returned, has_aux)?;
            let mut entries = Vec::new();
            tree.align(op, &solution, &PytreePath::Root("the solver's result"), &mut entries)?;
            let to_array = |(i, (entry, right)): (usize, (Option<Bound<'_, PyAny>>, &Array))| {
                let entry = entry.unwrap_or_else(|| py.None().into_bound(py));
                leaf(op, &tree.path_of(py, "the solver's result", i), &entry, Some(right.dtype()))
            };
            entries.into_iter().zip(right).enumerate().map(to_array).collect::<PyResult<Vec<_>>>()
        };
        Python::attach(|py| apply(py).map_err(|error| carry(py, error)))
    }))
}

/// The result: the solution, or a pair with the auxiliary object.
fn result(py: Python<'_>, tree: &Pytree, solution: &[Array], aux: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
    let solution = tree.rebuild(py, solution)?;
    match aux {
        Some(aux) => Ok((solution, aux).into_pyobject(py)?.into_any().unbind()),
        None => Ok(solution),
    }
}

/// Find a root of a function with a solver, and differentiate it implicitly.
///
/// Parameters
/// ----------
/// f : callable
///     Function of the unknowns; returns a tree like `initial_guess`. Derivatives reach the arrays that it captures.
/// initial_guess : array or pytree of arrays
///     Floating-point or complex arrays. No derivative reaches them.
/// solve : callable
///     Called as ``solve(f, initial_guess)``; returns an ``x`` with ``f(x) = 0``, a tree like `initial_guess`. Not differentiated.
/// tangent_solve : callable
///     Called as ``tangent_solve(g, y)`` with `f` linearised at the root, a linear function, and a tree `y` like
///     `initial_guess`; returns the ``x`` with ``g(x) = y``. For scalars ``lambda g, y: y / g(mx.ones_like(y))``, for vectors
///     ``lambda g, y: mx.linalg.solve(mx.jacfwd(g)(y), y)``. Must be differentiable for reverse mode.
/// has_aux : bool, optional
///     Whether `solve` returns a pair ``(x, aux)``, where `aux` is any object. Default: False.
///
/// Returns
/// -------
/// array or pytree of arrays
///     What `solve` returned. With `has_aux` a pair ``(x, aux)``; no derivative passes through `aux`.
///
/// Raises
/// ------
/// TypeError
///     If a function is not callable, if `initial_guess` holds other dtypes, or if `f` or `solve` returns other structures or
///     dtypes.
/// ValueError
///     If `f` or `solve` returns other shapes, or if `f` reads the value of an unknown.
///
/// See Also
/// --------
/// custom_linear_solve, custom_function, while_loop
///
/// Notes
/// -----
/// By the implicit function theorem, ``df/dx dx + df/dp dp = 0`` at the root for the parameters ``p`` that `f` captures. Tangents
/// solve this system with `tangent_solve`; cotangents solve the transposed one with its derivative. Memory and time of a
/// gradient do not depend on the number of the solver's steps. `f` is traced once more, on arrays without values.
///
/// Examples
/// --------
/// >>> def newton(f, x):
/// ...     return mx.while_loop(lambda x: mx.abs(f(x)) > 1e-5, lambda x: x - f(x) / mx.grad(f)(x), x)
/// >>> def square_root(a):
/// ...     f = lambda x: x * x - a
/// ...     return mx.custom_root(f, mx.array(1.0), newton, lambda g, y: y / g(mx.array(1.0)))
/// >>> mx.value_and_grad(square_root)(mx.array(4.0))
/// (array(2, dtype=float32), array(0.25, dtype=float32))
#[pyfunction]
#[pyo3(signature = (f, initial_guess, solve, tangent_solve, has_aux = false))]
fn custom_root<'py>(
    f: &Bound<'py, PyAny>,
    initial_guess: &Bound<'py, PyAny>,
    solve: &Bound<'py, PyAny>,
    tangent_solve: &Bound<'py, PyAny>,
    has_aux: bool,
) -> PyResult<Py<PyAny>> {
    for function in [f, solve, tangent_solve] {
        check_callable(ROOT, function)?;
    }
    let guess = Leaves::of(ROOT, "initial_guess", initial_guess)?;
    let equations = trace(ROOT, "f", f, &guess)?;
    let (root, aux) = self::solve(ROOT, solve, f, &guess, has_aux)?;
    let tangent_solve = linear_solver(ROOT, tangent_solve, &guess.tree, false)?;
    let root = record_root(&equations, &guess.arrays, &root, tangent_solve).or_raise()?;
    result(f.py(), &guess.tree, &root, aux)
}

/// Solve a linear system with a solver, and differentiate it implicitly.
///
/// Parameters
/// ----------
/// matvec : callable
///     Linear function: takes a tree like `b` and returns one. Derivatives reach the arrays that it captures.
/// b : array or pytree of arrays
///     Right-hand side: floating-point or complex arrays.
/// solve : callable
///     Called as ``solve(matvec, b)``; returns the ``x`` with ``matvec(x) = b``, a tree like `b`. Not differentiated.
/// transpose_solve : callable, optional
///     Called as ``transpose_solve(vecmat, b)`` like `solve`, with the function of the conjugate transpose. Reverse mode needs it.
///     Default: none.
/// symmetric : bool, optional
///     Whether the matrix equals its conjugate transpose, so that `solve` solves both. Default: False.
/// has_aux : bool, optional
///     Whether `solve` and `transpose_solve` return pairs ``(x, aux)``, where `aux` is any object. Default: False.
///
/// Returns
/// -------
/// array or pytree of arrays
///     What `solve` returned. With `has_aux` a pair ``(x, aux)``; no derivative passes through `aux`.
///
/// Raises
/// ------
/// TypeError
///     If a function is not callable, if `b` holds other dtypes, or if `matvec` or `solve` returns other structures or dtypes.
/// ValueError
///     If `matvec` or `solve` returns other shapes, if `matvec` reads the value of its argument, or if a reverse-mode derivative is
///     taken without `transpose_solve` and `symmetric`.
///
/// See Also
/// --------
/// custom_root, umber.core.linalg.solve
///
/// Notes
/// -----
/// ``A dx = db - dA x``: tangents are solutions of one more system, and cotangents of one with the conjugate transpose. So an
/// iterative solver in a `while_loop` has gradients without storing its steps, and higher derivatives too. `matvec` is
/// traced once more, on an array without values.
///
/// Examples
/// --------
/// >>> def jacobi(matvec, b):
/// ...     step = lambda x: x + 0.2 * (b - matvec(x))
/// ...     return mx.while_loop(lambda x: mx.abs(b - matvec(x)).max() > 1e-5, step, mx.zeros_like(b))
/// >>> def f(d, b):
/// ...     return mx.custom_linear_solve(lambda x: d * x, b, jacobi, symmetric=True).sum()
/// >>> mx.grad(f)(mx.array([2.0, 4.0]), mx.array([4.0, 8.0])).round(3)
/// array([-1, -0.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (matvec, b, solve, transpose_solve = None, symmetric = false, has_aux = false))]
fn custom_linear_solve<'py>(
    matvec: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    solve: &Bound<'py, PyAny>,
    transpose_solve: Option<&Bound<'py, PyAny>>,
    symmetric: bool,
    has_aux: bool,
) -> PyResult<Py<PyAny>> {
    for function in [matvec, solve].into_iter().chain(transpose_solve) {
        check_callable(SOLVE, function)?;
    }
    let right = Leaves::of(SOLVE, "b", b)?;
    let system = trace(SOLVE, "matvec", matvec, &right)?;
    let (x, aux) = self::solve(SOLVE, solve, matvec, &right, has_aux)?;
    let solver = |solver| linear_solver(SOLVE, solver, &right.tree, has_aux);
    let transpose_solve = match transpose_solve {
        Some(transpose_solve) => TransposeSolve::By(solver(transpose_solve)?),
        None if symmetric => TransposeSolve::Symmetric,
        None => TransposeSolve::Missing,
    };
    let x = record_linear_solution(&system, &right.arrays, &x, solver(solve)?, transpose_solve).or_raise()?;
    result(matvec.py(), &right.tree, &x, aux)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(custom_root, module)?)?;
    module.add_function(wrap_pyfunction!(custom_linear_solve, module)?)
}
