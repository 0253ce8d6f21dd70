//! `while_loop`: a loop with a condition.

use umber_types::{DType, Result, ensure};

use super::traced_function::{Counter, check_carry};
use super::{Checkpoint, Closed, Construct, LeafName, TracedFunction};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::{Body, Limit, While};
use crate::primitives::rules::cast;
use umber_types::Shape;

/// Record a loop of a condition and a body, functions of `operands` (the carry first) and of their captured arrays.
pub(super) fn record(
    construct: Construct,
    operands: Vec<Array>,
    condition: Closed,
    body: Closed,
    limit: Option<Limit>,
) -> Result<Vec<Array>> {
    let count = operands.len();
    let (condition, condition_captured) = condition;
    let (body, body_captured) = body;
    let condition_end = count + condition_captured.len();
    let inputs: Vec<Array> = operands.into_iter().chain(condition_captured).chain(body_captured).collect();
    let arguments: Vec<ArraySpec> = inputs.iter().map(|input| input.spec().clone()).collect();
    let condition_indices: Vec<usize> = (0..condition_end).collect();
    let body_indices: Vec<usize> = (0..count).chain(condition_end..inputs.len()).collect();
    let renumber = |body: Body, indices: &[usize]| Body {
        program: body.program.among(arguments.clone(), indices),
        outputs: body.outputs,
    };
    let (condition, body) = (renumber(condition, &condition_indices), renumber(body, &body_indices));
    let op = While::new(construct, condition, body, limit);
    Ok(Array::record(op, inputs.into())?.into_vec())
}

/// A `while_loop` in the process of being traced: first its condition, then its body.
#[derive(Debug)]
pub struct WhileLoop {
    init: Vec<Array>,
    limit: Option<Limit>,
}

impl WhileLoop {
    /// Begin with the initial carry.
    pub fn begin(init: &[Array]) -> WhileLoop {
        WhileLoop { init: init.to_vec(), limit: None }
    }

    /// The same loop with a maximum number of iterations, and so with a reverse mode that saves these carries.
    #[must_use]
    pub fn limited(self, iterations: usize, checkpoint: Checkpoint) -> WhileLoop {
        let limit = Limit { iterations, saved_every: checkpoint.every(iterations) };
        WhileLoop { limit: Some(limit), ..self }
    }

    /// Begin to trace the condition.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.init.iter().map(|array| array.spec().clone());
        TracedFunction::begin(Construct::WhileLoop, specs, &Counter::Own)
    }

    /// End the trace of the condition, which returned `pred`.
    pub fn end_condition(self, traced_fn: TracedFunction, pred: &Array) -> Result<WhileLoopBody> {
        ensure!(
            pred.ndim() == 0,
            Value("while_loop"),
            "cond_fun must return a scalar, got shape {}",
            pred.shape()
        );
        let pred = [cast(pred, DType::Bool)?];
        let counts = traced_fn.counts(&pred);
        let condition = traced_fn.end_condition_trace(&pred, counts.then_some(self.init.len()));
        Ok(WhileLoopBody { init: self.init, condition, counts, limit: self.limit })
    }
}

/// A `while_loop` whose condition has been traced.
#[derive(Debug)]
pub struct WhileLoopBody {
    init: Vec<Array>,
    condition: Closed,
    /// Whether the condition depends on the index of the iteration.
    counts: bool,
    limit: Option<Limit>,
}

impl WhileLoopBody {
    /// Begin to trace the body.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.init.iter().map(|array| array.spec().clone());
        TracedFunction::begin(Construct::WhileLoop, specs, &Counter::Own)
    }

    /// End the trace of the body, which returned `carry`; `name` gives the users' names of its arrays. Returns the final carry.
    pub fn end(self, traced_fn: TracedFunction, carry: Vec<Array>, name: LeafName<'_>) -> Result<Vec<Array>> {
        check_carry(Construct::WhileLoop, &carry, &traced_fn.trace.inputs, name)?;
        let count = self.init.len();
        let body_counts = traced_fn.counts(&carry);
        let is_counted = self.counts || body_counts;
        let body = traced_fn.end(carry, is_counted.then_some(count))?;
        let mut operands = self.init;
        let mut condition = self.condition;
        if is_counted {
            let zero = Array::full(Shape::scalar(), 0.0, DType::UInt32);
            if !self.counts {
                let (condition_body, _) = &mut condition;
                let mut arguments = condition_body.program.arguments.clone();
                arguments.insert(count, zero.spec().clone());
                let new_indices: Vec<usize> = (0..condition_body.program.arguments.len())
                    .map(|i| if i < count { i } else { i + 1 })
                    .collect();
                condition_body.program = condition_body.program.clone().among(arguments, &new_indices);
            }
            operands.push(zero);
        }
        let mut results = record(Construct::WhileLoop, operands, condition, body, self.limit)?;
        results.truncate(count);
        Ok(results)
    }
}

/// Update a value in a loop while a condition holds: `carry = body_fun(carry)`.
///
/// Both functions are traced once; the carry keeps its shapes and dtypes. Memory does not grow with the number of
/// iterations. Under `vmap` the loop runs until the condition is false for every batch element. `jvp`
/// works; a gradient does not, because the number of carries to keep is unknown: see [`bounded_while_loop`]. Fails if the carry changes its shapes or
/// dtypes, or if the condition is not a scalar.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::while_loop;
/// use umber::{Array, ops};
/// // Newton's method for the square root of 2.
/// let is_far = |x: &[Array]| ops::greater(&ops::abs(&(&x[0] * &x[0] - 2.0))?, &Array::from(1e-5f32));
/// let step = |x: &[Array]| Ok(vec![(&x[0] + &(2.0 / &x[0])) * 0.5]);
/// let root = while_loop(is_far, step, &[Array::from(1.0f32)])?;
/// assert!((root[0].item()?.as_f64() - 2.0f64.sqrt()).abs() < 1e-5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn while_loop(
    cond_fun: impl FnOnce(&[Array]) -> Result<Array>,
    body_fun: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    init: &[Array],
) -> Result<Vec<Array>> {
    run(WhileLoop::begin(init), cond_fun, body_fun)
}

/// As [`while_loop`], for at most `max_iterations` iterations.
///
/// The bound gives the loop a gradient. The backward pass runs the loop again and saves as many carries as a scan of
/// `max_iterations` rows does, according to `checkpoint`; iterations after the end only test the condition.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::{Checkpoint, bounded_while_loop};
/// use umber::transforms::grad;
/// use umber::{Array, ops};
/// // Newton's method for the square root, and its derivative.
/// let root = |a: &Array| {
///     let is_far = |x: &[Array]| ops::greater(&ops::abs(&(&x[0] * &x[0] - a))?, &Array::from(1e-5f32));
///     let step = |x: &[Array]| Ok(vec![(&x[0] + &(a / &x[0])) * 0.5]);
///     Ok(bounded_while_loop(is_far, step, &[Array::from(1.0f32)], 20, Checkpoint::EveryStep)?.remove(0))
/// };
/// assert!((grad(root)(&Array::from(4.0f32))?.item()?.as_f64() - 0.25).abs() < 1e-4);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn bounded_while_loop(
    cond_fun: impl FnOnce(&[Array]) -> Result<Array>,
    body_fun: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    init: &[Array],
    max_iterations: usize,
    checkpoint: Checkpoint,
) -> Result<Vec<Array>> {
    run(WhileLoop::begin(init).limited(max_iterations, checkpoint), cond_fun, body_fun)
}

fn run(
    builder: WhileLoop,
    cond_fun: impl FnOnce(&[Array]) -> Result<Array>,
    body_fun: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
) -> Result<Vec<Array>> {
    let traced_fn = builder.trace_function();
    let pred = cond_fun(&traced_fn.trace.inputs)?;
    let builder = builder.end_condition(traced_fn, &pred)?;
    let traced_fn = builder.trace_function();
    let carry = body_fun(&traced_fn.trace.inputs)?;
    builder.end(traced_fn, carry, &|i| format!("carry[{i}]"))
}
