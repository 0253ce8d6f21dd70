//! `cond` and `switch`: run one of several functions.

use umber_types::{DType, Result, ensure};

use super::traced_function::Counter;
use super::{Closed, Construct, LeafName, TracedFunction};
use crate::graph::walk::IdMap;
use crate::graph::{Array, ArraySpec, Inputs};
use crate::ops;
use crate::primitives::control_flow::{Body, Branch};
use crate::primitives::rules::cast;

/// Record a branch operation that runs the body selected by `index` on `operands` and on its captured arrays.
pub(super) fn record_branch(
    construct: Construct,
    index: &Array,
    operands: &[Array],
    closed: Vec<Closed>,
) -> Result<Vec<Array>> {
    let mut inputs: Inputs = std::iter::once(index).chain(operands).cloned().collect();
    let mut input_indices: IdMap<(usize, u32), usize> = IdMap::default();
    let mut bodies: Vec<(Body, Vec<usize>)> = Vec::new();
    for (body, captured) in closed {
        let mut indices: Vec<usize> = (0..operands.len()).collect();
        for array in captured {
            indices.push(*input_indices.entry(array.id()).or_insert_with(|| {
                inputs.push(array);
                inputs.len() - 2
            }));
        }
        bodies.push((body, indices));
    }
    let arguments: Vec<ArraySpec> = inputs[1..].iter().map(|input| input.spec().clone()).collect();
    let bodies = bodies.into_iter().map(|(body, indices)| Body {
        program: body.program.among(arguments.clone(), &indices),
        outputs: body.outputs,
    });
    Ok(Array::record(Branch::new(construct, bodies.collect()), inputs)?.into_vec())
}

/// Branches in the process of being traced, one after the other.
#[derive(Debug)]
pub struct Branches {
    construct: Construct,
    index: Array,
    operands: Vec<Array>,
    closed: Vec<Closed>,
}

impl Branches {
    /// Select by a boolean: trace the branch for false first, then that for true.
    pub fn cond(pred: &Array, operands: &[Array]) -> Result<Branches> {
        ensure!(pred.ndim() == 0, Value("cond"), "pred must be a scalar, got shape {}", pred.shape());
        let index = cast(&cast(pred, DType::Bool)?, DType::Int32)?;
        Ok(Branches { construct: Construct::Cond, index, operands: operands.to_vec(), closed: Vec::new() })
    }

    /// Select one of `count` branches by an index, which is clamped to the valid range.
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

    /// Begin to trace the next branch.
    pub fn trace_function(&self) -> TracedFunction {
        let specs = self.operands.iter().map(|operand| operand.spec().clone());
        TracedFunction::begin(self.construct, specs, &Counter::None)
    }

    /// End the trace of a branch that returned `outputs`; `name` gives the users' names of outputs.
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

    /// The outputs of the selected branch.
    pub fn end(self) -> Result<Vec<Array>> {
        record_branch(self.construct, &self.index, &self.operands, self.closed)
    }
}

/// A branch of [`switch`].
pub type BranchFunction<'a> = &'a dyn Fn(&[Array]) -> Result<Vec<Array>>;

/// The name of an output for Rust programs.
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
    let mut builder = Branches::switch(index, branches.len(), operands)?;
    for branch in branches {
        let traced_fn = builder.trace_function();
        let outputs = branch(&traced_fn.trace.inputs)?;
        builder.add(traced_fn, outputs, &output_name)?;
    }
    builder.end()
}
