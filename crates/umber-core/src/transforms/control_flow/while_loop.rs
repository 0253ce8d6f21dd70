//! `while_loop`: a loop with a condition.

use umber_types::{DType, Result, ensure};

use super::traced_function::{Counter, check_carry};
use super::{Closed, Construct, LeafName, TracedFunction};
use crate::graph::{Array, ArraySpec};
use crate::primitives::control_flow::{Body, While};
use crate::primitives::rules::cast;
use umber_types::Shape;

/// Record a loop of functions of `given` (the carry first) and of what each captured.
pub(super) fn record(
    construct: Construct,
    given: Vec<Array>,
    condition: Closed,
    body: Closed,
) -> Result<Vec<Array>> {
    let count = given.len();
    let (condition, looked_at) = condition;
    let (body, read) = body;
    let middle = count + looked_at.len();
    let inputs: Vec<Array> = given.into_iter().chain(looked_at).chain(read).collect();
    let arguments: Vec<ArraySpec> = inputs.iter().map(|input| input.spec().clone()).collect();
    let all: Vec<usize> = (0..middle).collect();
    let others: Vec<usize> = (0..count).chain(middle..inputs.len()).collect();
    let place = |body: Body, places: &[usize]| Body {
        program: body.program.among(arguments.clone(), places),
        outputs: body.outputs,
    };
    let op = While::new(construct, place(condition, &all), place(body, &others));
    Ok(Array::record(op, inputs.into())?.into_vec())
}

/// A `while_loop` being followed: first its condition, then its body.
#[derive(Debug)]
pub struct WhileLoop {
    init: Vec<Array>,
}

impl WhileLoop {
    /// Begin with what is carried into the first iteration.
    pub fn begin(init: &[Array]) -> WhileLoop {
        WhileLoop { init: init.to_vec() }
    }

    /// Begin to follow the condition.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.init.iter().map(|array| array.spec().clone());
        TracedFunction::begin(Construct::WhileLoop, specs, &Counter::Own)
    }

    /// The condition answered `pred`.
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
        Ok(WhileLoopBody { init: self.init, condition, counts })
    }
}

/// A `while_loop` whose condition is known.
#[derive(Debug)]
pub struct WhileLoopBody {
    init: Vec<Array>,
    condition: Closed,
    /// Does the condition read the number of the iteration?
    counts: bool,
}

impl WhileLoopBody {
    /// Begin to follow the body.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.init.iter().map(|array| array.spec().clone());
        TracedFunction::begin(Construct::WhileLoop, specs, &Counter::Own)
    }

    /// The body answered `carry`; `name` says what users call its arrays. Answers the carry after the last iteration.
    pub fn end(self, traced_fn: TracedFunction, carry: Vec<Array>, name: LeafName<'_>) -> Result<Vec<Array>> {
        check_carry(Construct::WhileLoop, &carry, &traced_fn.trace.inputs, name)?;
        let count = self.init.len();
        let body_counts = traced_fn.counts(&carry);
        let is_counted = self.counts || body_counts;
        let body = traced_fn.end(carry, is_counted.then_some(count))?;
        let mut given = self.init;
        let mut condition = self.condition;
        if is_counted {
            let zero = Array::full(Shape::scalar(), 0.0, DType::UInt32);
            if !self.counts {
                let (looking, _) = &mut condition;
                let mut arguments = looking.program.arguments.clone();
                arguments.insert(count, zero.spec().clone());
                let places: Vec<usize> =
                    (0..looking.program.arguments.len()).map(|i| if i < count { i } else { i + 1 }).collect();
                looking.program = looking.program.clone().among(arguments, &places);
            }
            given.push(zero);
        }
        let mut answers = record(Construct::WhileLoop, given, condition, body)?;
        answers.truncate(count);
        Ok(answers)
    }
}

/// Update a value in a loop while a condition holds: `carry = body_fun(carry)`.
///
/// Both functions are traced once; the carry keeps its shapes and dtypes. Memory does not grow with the number of
/// iterations. Under `vmap` the loop runs until the condition is false for every batch element. `jvp`
/// works; a gradient does not, because the number of carries to keep is unknown. Fails if the carry changes its shapes or
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
    let begun = WhileLoop::begin(init);
    let traced_fn = begun.trace_function();
    let pred = cond_fun(&traced_fn.trace.inputs)?;
    let looked_at = begun.end_condition(traced_fn, &pred)?;
    let traced_fn = looked_at.trace_function();
    let carry = body_fun(&traced_fn.trace.inputs)?;
    looked_at.end(traced_fn, carry, &|i| format!("carry[{i}]"))
}
