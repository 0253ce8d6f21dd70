//! Implicit differentiation: derivatives of solutions of equations, from the equations and not from the solver's steps.
//!
//! A solution `x` of `f(x, p) = 0` satisfies `∂f/∂x dx + ∂f/∂p dp = 0`. Its tangent is `-(∂f/∂x)⁻¹ ∂f/∂p dp`, and a cotangent `c`
//! of `x` becomes the cotangent `-(∂f/∂p)ᴴ (∂f/∂x)⁻ᴴ c` of `p`. The parameters `p` are the arrays that `f` captured. A linear
//! system `A x = b` is the case `f = A x - b`.

use std::fmt;
use std::sync::Arc;

use umber_types::{Result, ensure};

use super::custom::with_rules;
use super::jacobian::Linear;
use super::jvp::push_forward;
use super::trace::{Trace, check_like, zero_derivative};
use super::vjp::pull_back;
use crate::graph::tracing::{self, Residuals};
use crate::graph::{Array, Program};
use crate::primitive::{Batched, Tangents};
use crate::primitives::custom::{RuleSet, Rules};
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{neg, sub};

/// Solves `matvec(x) = b` for `x`, given `matvec` and `b`.
pub type LinearSolver = Arc<dyn Fn(&Linear, &[Array]) -> Result<Vec<Array>> + Send + Sync>;

/// How transposed systems are solved, which reverse mode needs.
#[derive(Clone)]
pub enum TransposeSolve {
    /// Not at all.
    Missing,
    /// By the same solver, since the matrix is its own conjugate transpose.
    Symmetric,
    /// By this solver.
    By(LinearSolver),
}

impl fmt::Debug for TransposeSolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransposeSolve::Missing => "Missing",
            TransposeSolve::Symmetric => "Symmetric",
            TransposeSolve::By(_) => "By(solver)",
        })
    }
}

/// A function of unknowns, traced on arrays without values, and its parameters: the arrays that it captured.
#[derive(Clone, Debug)]
pub struct Equations {
    program: Arc<Program>,
    parameters: Vec<Array>,
    unknowns: usize,
}

/// A trace of equations in progress: run their function on `trace.inputs`, then end it.
#[derive(Debug)]
pub struct TracedEquations {
    /// Placeholders for the unknowns.
    pub trace: Trace,
    op: &'static str,
}

impl TracedEquations {
    /// Begin with arrays of the shapes and dtypes of the unknowns; `op` is the function in messages.
    pub fn begin(op: &'static str, unknowns: &[Array]) -> Result<TracedEquations> {
        for (i, unknown) in unknowns.iter().enumerate() {
            ensure!(
                unknown.dtype().is_inexact(),
                Type(op),
                "array {i} has dtype {}, expected a floating-point or complex dtype",
                unknown.dtype()
            );
        }
        let trace = Trace::placeholders(Leaf::Trace, unknowns.iter().map(|unknown| unknown.spec().clone()));
        Ok(TracedEquations { trace, op })
    }

    /// End the trace of a function that returned `outputs`; these must be like the unknowns.
    pub fn end(self, what: &str, outputs: &[Array]) -> Result<Equations> {
        check_returned(self.op, what, outputs, &self.trace.inputs)?;
        let unknowns = self.trace.inputs.len();
        let (program, parameters) = Program::close(&self.trace.end(), outputs);
        Ok(Equations { program: Arc::new(program), parameters, unknowns })
    }
}

/// Check that the arrays which `what` returned have the shapes and dtypes of others.
fn check_returned(op: &str, what: &str, got: &[Array], expected: &[Array]) -> Result<()> {
    check_like(op, &format!("{what} returned"), got, expected, |i, property, got, expected| {
        format!("{what} returned {property} {got} as array {i}, expected {expected}")
    })
}

/// Run a solver. Its loops save no residuals, since no derivative passes through them.
pub fn run_solver<T>(solver: impl FnOnce() -> T) -> T {
    let _residuals = tracing::with_residuals(Residuals::Recomputed);
    solver()
}

impl Equations {
    /// The same equations with other parameters.
    fn at(&self, parameters: &[Array]) -> Equations {
        Equations { parameters: parameters.to_vec(), ..self.clone() }
    }

    fn evaluate(&self, unknowns: &[Array], parameters: &[Array]) -> Result<Vec<Array>> {
        self.program.replay(&unknowns.iter().chain(parameters).cloned().collect::<Vec<_>>())
    }

    /// The function itself, if it is linear.
    fn linear(&self) -> Linear {
        Linear::closed(Arc::clone(&self.program), self.parameters.clone(), self.unknowns)
    }

    /// The derivative with respect to the unknowns.
    fn linearized(&self, unknowns: &[Array]) -> Result<Linear> {
        let trace = Trace::with_data(unknowns)?;
        let outputs = self.evaluate(&trace.inputs, &self.parameters)?;
        Linear::of(&trace.inputs, &outputs)
    }

    /// The derivative along tangents of the parameters; `None` if all are zero.
    fn push_parameters(&self, unknowns: &[Array], tangents: &Tangents) -> Result<Option<Vec<Array>>> {
        if tangents.iter().all(Option::is_none) {
            return Ok(None);
        }
        let trace = Trace::forwards(&self.parameters)?;
        let outputs = self.evaluate(unknowns, &trace.inputs)?;
        let tangents: Vec<Array> = tangents
            .iter()
            .zip(&trace.inputs)
            .map(|(tangent, input)| tangent.clone().unwrap_or_else(|| zero_derivative(input)))
            .collect();
        push_forward(&trace.inputs, &outputs, &tangents).map(Some)
    }

    /// The negative of the cotangents of the parameters for cotangents of the outputs.
    fn pull_parameters(&self, unknowns: &[Array], cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let trace = Trace::with_data(&self.parameters)?;
        let outputs = self.evaluate(unknowns, &trace.inputs)?;
        let pulled = pull_back(&trace.inputs, &outputs, cotangents)?;
        pulled.iter().map(|pulled| neg(pulled).map(Some)).collect()
    }
}

/// The rules of the solution of a linear system. Arguments are the parameters of the system, and its right-hand side.
struct SystemRules {
    system: Equations,
    solve: LinearSolver,
    transpose_solve: TransposeSolve,
}

/// Attach implicit derivatives to the solution `x` of `system(x) = b`.
pub fn record_linear_solution(
    system: &Equations,
    b: &[Array],
    x: &[Array],
    solve: LinearSolver,
    transpose_solve: TransposeSolve,
) -> Result<Vec<Array>> {
    check_returned("custom_linear_solve", "solve", x, b)?;
    let arguments: Vec<Array> = system.parameters.iter().chain(b).cloned().collect();
    with_rules(Arc::new(SystemRules { system: system.clone(), solve, transpose_solve }), &arguments, x)
}

/// Solve a linear system, with implicit derivatives.
fn solve_linear(
    system: &Equations,
    b: &[Array],
    solve: &LinearSolver,
    transpose_solve: TransposeSolve,
) -> Result<Vec<Array>> {
    let x = run_solver(|| solve(&system.linear(), b))?;
    record_linear_solution(system, b, &x, Arc::clone(solve), transpose_solve)
}

impl SystemRules {
    fn at<'a>(&self, arguments: &'a [Array]) -> (Equations, &'a [Array]) {
        let (parameters, b) = arguments.split_at(self.system.parameters.len());
        (self.system.at(parameters), b)
    }
}

impl Rules for SystemRules {
    fn rule_set(&self) -> RuleSet {
        RuleSet { vjp: true, jvp: true, vmap: false }
    }

    fn vjp(
        &self,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        let (system, _) = self.at(arguments);
        let pulled = match &self.transpose_solve {
            TransposeSolve::Missing => umber_types::bail!(
                Value("custom_linear_solve"),
                "a gradient needs transpose_solve, or symmetric=True for a matrix that is its own conjugate transpose"
            ),
            TransposeSolve::Symmetric => {
                solve_linear(&system, cotangents, &self.solve, TransposeSolve::Symmetric)?
            }
            TransposeSolve::By(transpose_solve) => {
                let transposed = transposed(&system)?;
                solve_linear(
                    &transposed,
                    cotangents,
                    transpose_solve,
                    TransposeSolve::By(Arc::clone(&self.solve)),
                )?
            }
        };
        let parameters = system.pull_parameters(outputs, &pulled)?;
        Ok(parameters.into_iter().chain(pulled.into_iter().map(Some)).collect())
    }

    fn jvp(&self, arguments: &[Array], tangents: &Tangents, outputs: &[Array]) -> Result<Vec<Option<Array>>> {
        let (system, b) = self.at(arguments);
        let (of_parameters, of_b) = tangents.split_at(system.parameters.len());
        let pushed = system.push_parameters(outputs, of_parameters)?;
        let mut right = Vec::with_capacity(b.len());
        for (i, (tangent, b)) in of_b.iter().zip(b).enumerate() {
            let tangent = tangent.clone().unwrap_or_else(|| zero_derivative(b));
            right.push(match &pushed {
                Some(pushed) => sub(&tangent, &pushed[i])?,
                None => tangent,
            });
        }
        let pushed = solve_linear(&system, &right, &self.solve, self.transpose_solve.clone())?;
        Ok(pushed.into_iter().map(Some).collect())
    }

    fn vmap(&self, _arguments: &[Batched]) -> Result<Vec<Batched>> {
        unreachable!("the rule set has no rule for batches")
    }
}

/// The system of the conjugate transpose.
fn transposed(system: &Equations) -> Result<Equations> {
    let specs = || system.program.arguments[..system.unknowns].iter().cloned();
    let unknowns = Trace::of_graph(specs());
    let outputs = system.evaluate(&unknowns.inputs, &system.parameters)?;
    let cotangents = Trace::of_graph(specs());
    let pulled = pull_back(&unknowns.inputs, &outputs, &cotangents.inputs)?;
    let (program, parameters) = Program::close(&cotangents.inputs, &pulled);
    Ok(Equations { program: Arc::new(program), parameters, unknowns: system.unknowns })
}

/// The rules of a root. Arguments are the parameters of the equations.
struct RootRules {
    equations: Equations,
    tangent_solve: LinearSolver,
}

/// Attach implicit derivatives to a `root` of equations. `tangent_solve` solves the equations linearised at the root.
pub fn record_root(
    equations: &Equations,
    initial_guess: &[Array],
    root: &[Array],
    tangent_solve: LinearSolver,
) -> Result<Vec<Array>> {
    check_returned("custom_root", "solve", root, initial_guess)?;
    let rules = RootRules { equations: equations.clone(), tangent_solve };
    with_rules(Arc::new(rules), &equations.parameters, root)
}

impl RootRules {
    /// The solution of the equations linearised at the root, for this right-hand side.
    fn solve(&self, equations: &Equations, root: &[Array], right: &[Array]) -> Result<Vec<Array>> {
        let solution = (self.tangent_solve)(&equations.linearized(root)?, right)?;
        check_returned("custom_root", "tangent_solve", &solution, right)?;
        Ok(solution)
    }
}

impl Rules for RootRules {
    fn rule_set(&self) -> RuleSet {
        RuleSet { vjp: true, jvp: true, vmap: false }
    }

    /// The solver is linear in its right-hand side, so its transpose is its vjp at any right-hand side: at the cotangents,
    /// since iterations may divide by the norm of the residual.
    fn vjp(
        &self,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        let equations = self.equations.at(arguments);
        let trace = Trace::with_data(cotangents)?;
        let solution = self.solve(&equations, outputs, &trace.inputs)?;
        let pulled = pull_back(&trace.inputs, &solution, cotangents)?;
        drop(trace);
        equations.pull_parameters(outputs, &pulled)
    }

    fn jvp(&self, arguments: &[Array], tangents: &Tangents, outputs: &[Array]) -> Result<Vec<Option<Array>>> {
        let equations = self.equations.at(arguments);
        let Some(right) = equations.push_parameters(outputs, tangents)? else {
            return Ok(outputs.iter().map(|_| None).collect());
        };
        let solution = self.solve(&equations, outputs, &right)?;
        solution.iter().map(|pushed| neg(pushed).map(Some)).collect()
    }

    fn vmap(&self, _arguments: &[Batched]) -> Result<Vec<Batched>> {
        unreachable!("the rule set has no rule for batches")
    }
}

/// Solve the linear system `matvec(x) = b` by `solve`, with derivatives that do not differentiate the solver.
///
/// `matvec` is a linear function of arrays of the shapes and dtypes of `b`; derivatives reach `b` and the arrays that it captures.
/// `solve` receives it with a right-hand side; derivatives are solutions of further systems by `solve` and
/// `transpose_solve`. Fails if `b` is not floating point or complex, or if `matvec` or `solve` returns other shapes or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use std::sync::Arc;
/// use umber::{Array, ops};
/// use umber::transforms::{LinearSolver, TransposeSolve, custom_linear_solve, grad};
/// // A diagonal matrix, whose entries a solver finds by applying it to ones.
/// let solve: LinearSolver = Arc::new(|matvec, b| {
///     let diagonal = matvec.call(&[Array::from([1.0f32, 1.0])])?;
///     Ok(vec![&b[0] / &diagonal[0]])
/// });
/// let first = |d: &Array| {
///     let b = [Array::from([6.0f32, 8.0])];
///     let x = custom_linear_solve(|x| Ok(vec![&x[0] * d]), &b, &solve, TransposeSolve::Symmetric)?;
///     ops::sum(&x[0], None, umber::KeepAxes::No)
/// };
/// let slopes = grad(first)(&Array::from([2.0f32, 4.0]))?;
/// assert_eq!(slopes.to_vec::<f32>()?, [-1.5, -0.5]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn custom_linear_solve(
    matvec: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    b: &[Array],
    solve: &LinearSolver,
    transpose_solve: TransposeSolve,
) -> Result<Vec<Array>> {
    let traced = TracedEquations::begin("custom_linear_solve", b)?;
    let outputs = matvec(&traced.trace.inputs)?;
    solve_linear(&traced.end("matvec", &outputs)?, b, solve, transpose_solve)
}

/// Find a root of `f` by `solve`, with derivatives that do not differentiate the solver.
///
/// `solve(f, initial_guess)` returns an `x` with `f(x) = 0`, of the shapes and dtypes of the guess. Derivatives reach the
/// arrays that `f` captures, by the implicit function theorem. `tangent_solve` solves `f` linearised at the root, and is
/// differentiated for reverse mode. Fails if the guess is not floating point or complex, or if `f` or `solve` returns
/// other shapes or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use std::sync::Arc;
/// use umber::{Array, ops};
/// use umber::transforms::{LinearSolver, custom_root, grad};
/// let tangent_solve: LinearSolver =
///     Arc::new(|g, y| Ok(vec![&y[0] / &g.call(&[Array::from(1.0f32)])?[0]]));
/// let root = |a: &Array| {
///     let f = |x: &[Array]| Ok(vec![&x[0] * &x[0] - a]);
///     // The solver may be opaque: its steps are not differentiated.
///     let solve = |_: &dyn Fn(&[Array]) -> umber::Result<Vec<Array>>, _: &[Array]| Ok(vec![ops::sqrt(a)?]);
///     Ok(custom_root(f, &[Array::from(1.0f32)], solve, tangent_solve.clone())?.remove(0))
/// };
/// assert_eq!(grad(root)(&Array::from(4.0f32))?.item()?.as_f64(), 0.25);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn custom_root(
    f: impl Fn(&[Array]) -> Result<Vec<Array>>,
    initial_guess: &[Array],
    solve: impl FnOnce(&dyn Fn(&[Array]) -> Result<Vec<Array>>, &[Array]) -> Result<Vec<Array>>,
    tangent_solve: LinearSolver,
) -> Result<Vec<Array>> {
    let traced = TracedEquations::begin("custom_root", initial_guess)?;
    let outputs = f(&traced.trace.inputs)?;
    let equations = traced.end("f", &outputs)?;
    let root = run_solver(|| solve(&f, initial_guess))?;
    record_root(&equations, initial_guess, &root, tangent_solve)
}
