//! `cond` and `switch`: one of several functions.

use umber_types::{DType, Result, ensure};

use super::traced_function::Counter;
use super::{Closed, Construct, LeafName, TracedFunction};
use crate::graph::walk::IdMap;
use crate::graph::{Array, ArraySpec, Inputs};
use crate::ops;
use crate::primitives::control_flow::{Body, Branch};
use crate::primitives::rules::cast;

/// Record the branch that `index` chooses: a function of `operands` and of what it captured.
pub(super) fn choose(
    construct: Construct,
    index: &Array,
    operands: &[Array],
    closed: Vec<Closed>,
) -> Result<Vec<Array>> {
    let mut inputs: Inputs = std::iter::once(index).chain(operands).cloned().collect();
    let mut places: IdMap<(usize, u32), usize> = IdMap::default();
    let mut found: Vec<(Body, Vec<usize>)> = Vec::new();
    for (body, captured) in closed {
        let mut at: Vec<usize> = (0..operands.len()).collect();
        for array in captured {
            at.push(*places.entry(array.id()).or_insert_with(|| {
                inputs.push(array);
                inputs.len() - 2
            }));
        }
        found.push((body, at));
    }
    let arguments: Vec<ArraySpec> = inputs[1..].iter().map(|input| input.spec().clone()).collect();
    let bodies = found.into_iter().map(|(body, at)| Body {
        program: body.program.among(arguments.clone(), &at),
        outputs: body.outputs,
    });
    Ok(Array::record(Branch::new(construct, bodies.collect()), inputs)?.into_vec())
}

/// Branches being followed, one after the other.
#[derive(Debug)]
pub struct Branches {
    construct: Construct,
    index: Array,
    operands: Vec<Array>,
    closed: Vec<Closed>,
}

impl Branches {
    /// Choose by a truth value: first the branch for false is to be followed, then that for true.
    pub fn cond(pred: &Array, operands: &[Array]) -> Result<Branches> {
        ensure!(pred.ndim() == 0, Value("cond"), "pred must be a scalar, got shape {}", pred.shape());
        let index = cast(&cast(pred, DType::Bool)?, DType::Int32)?;
        Ok(Branches { construct: Construct::Cond, index, operands: operands.to_vec(), closed: Vec::new() })
    }

    /// Choose one of `count` branches by a number, which is brought into bounds.
    pub fn switch(index: &Array, count: usize, operands: &[Array]) -> Result<Branches> {
        ensure!(count > 0, Value("switch"), "branches must hold at least one function");
        ensure!(index.ndim() == 0, Value("switch"), "index must be a scalar, got shape {}", index.shape());
        ensure!(
            index.dtype().is_integer(),
            Type("switch"),
            "index must be an integer, not {}",
            index.dtype()
        );
        let last = Array::scalar(count as i64 - 1, index.dtype());
        let index = ops::clip(index, Some(&Array::scalar(0, index.dtype())), Some(&last))?;
        let index = cast(&index, DType::Int32)?;
        Ok(Branches { construct: Construct::Switch, index, operands: operands.to_vec(), closed: Vec::new() })
    }

    /// Begin to follow the next branch.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.operands.iter().map(|operand| operand.spec().clone());
        TracedFunction::begin(self.construct, specs, &Counter::None)
    }

    /// The branch answered `outputs`; `name` says what users call them.
    pub fn add(&mut self, traced_fn: TracedFunction, outputs: Vec<Array>, name: LeafName<'_>) -> Result<()> {
        if let Some((first, _)) = self.closed.first() {
            let op = self.construct.name();
            ensure!(
                outputs.len() == first.outputs.len(),
                Value(op),
                "numbers of arrays that the branches return differ: {} and {}",
                first.outputs.len(),
                outputs.len()
            );
            for (i, (output, expected)) in outputs.iter().zip(&first.outputs).enumerate() {
                ensure!(
                    *output.shape() == expected.shape,
                    Value(op),
                    "branches return {} with different shapes: {} and {}",
                    name(i),
                    expected.shape,
                    output.shape()
                );
                ensure!(
                    output.dtype() == expected.dtype,
                    Type(op),
                    "branches return {} with different dtypes: {} and {}",
                    name(i),
                    expected.dtype,
                    output.dtype()
                );
            }
        }
        let closed = traced_fn.end(outputs, None)?;
        self.closed.push(closed);
        Ok(())
    }

    /// The outputs of the branch that is chosen.
    pub fn end(self) -> Result<Vec<Array>> {
        choose(self.construct, &self.index, &self.operands, self.closed)
    }
}

/// A branch of [`switch`].
pub type BranchFunction<'a> = &'a dyn Fn(&[Array]) -> Result<Vec<Array>>;

/// What Rust programs call the output with a number.
fn output_name(i: usize) -> String {
    format!("output {i}")
}

/// Return `true_fun(operands)` if a scalar condition holds, otherwise `false_fun(operands)`.
///
/// Both functions are traced once, and must return arrays of equal shapes and dtypes; only the chosen one is executed.
/// Derivatives are those of the branch that is executed. Under `vmap` with a batched `pred`, both branches are executed
/// and their results are selected. Fails if `pred` is not a scalar, or if shapes or dtypes of the results differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::cond;
/// use umber::{Array, ops};
/// let x = Array::from(-4.0f32);
/// let is_positive = ops::greater(&x, &Array::from(0.0f32))?;
/// let root = cond(&is_positive, |x| Ok(vec![ops::sqrt(&x[0])?]), |x| Ok(vec![-&x[0]]), &[x])?;
/// assert_eq!(root[0].item()?.as_f64(), 4.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cond(
    pred: &Array,
    true_fun: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    false_fun: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    operands: &[Array],
) -> Result<Vec<Array>> {
    let mut branches = Branches::cond(pred, operands)?;
    let traced_fn = branches.trace_function();
    let outputs = false_fun(&traced_fn.trace.inputs)?;
    branches.add(traced_fn, outputs, &output_name)?;
    let traced_fn = branches.trace_function();
    let outputs = true_fun(&traced_fn.trace.inputs)?;
    branches.add(traced_fn, outputs, &output_name)?;
    branches.end()
}

/// Return `branches[index](operands)`, executing only that function.
///
/// `index` is an integer scalar, clamped to the valid range. Otherwise as [`cond`], which is this with two functions.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::{BranchFunction, switch};
/// use umber::Array;
/// let double = |x: &[Array]| Ok(vec![&x[0] * 2.0]);
/// let negate = |x: &[Array]| Ok(vec![-&x[0]]);
/// let branches: [BranchFunction; 2] = [&double, &negate];
/// let results = switch(&Array::from(7), &branches, &[Array::from(3.0f32)])?;
/// assert_eq!(results[0].item()?.as_f64(), -3.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn switch(index: &Array, branches: &[BranchFunction<'_>], operands: &[Array]) -> Result<Vec<Array>> {
    let mut following = Branches::switch(index, branches.len(), operands)?;
    for branch in branches {
        let traced_fn = following.trace_function();
        let outputs = branch(&traced_fn.trace.inputs)?;
        following.add(traced_fn, outputs, &output_name)?;
    }
    following.end()
}
