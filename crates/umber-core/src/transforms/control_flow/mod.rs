//! Control flow: loops and branches whose functions are traced once, and which transforms can transform.
//!
//! [`scan`], [`fori_loop`], [`map`], [`while_loop`], [`cond`] and [`switch`] trace their functions on
//! placeholders and record one operation that holds them as programs. A front end that must return to its own language
//! to run a function uses the two halves: [`TracedFunction`] and the types that create and consume it. The derivative of
//! such an operation is an operation of the same kind that holds the derivatives of its functions, and likewise for `vmap`, so
//! these transforms nest like all others.
//!
//! | file | contents |
//! |---|---|
//! | `traced_function` | a function run once on placeholders |
//! | `scan`, `fori_loop` | `scan`, and `fori_loop` and `map`, which use it |
//! | `cond` | `cond`, `switch` |
//! | `while_loop` | `while_loop` |
//! | `associative_scan` | `associative_scan`, which records ordinary operations |
//! | `loop_rules`, `loop_vjp`, `loop_jvp`, `cond_rules`, `while_rules` | the derivatives and batches of the three operations |

mod associative_scan;
mod cond;
mod cond_rules;
mod fori_loop;
mod loop_jvp;
mod loop_rules;
mod loop_vjp;
mod scan;
mod traced_function;
mod while_loop;
mod while_rules;

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, Shape};

pub use self::associative_scan::{AssociativeScan, CombineFunction, associative_scan};
pub use self::cond::{BranchFunction, Branches, cond, switch};
pub use self::fori_loop::{Batches, Bound, ForiLoop, RowFunction, fori_loop, map, map_batches};
pub use self::scan::{Checkpoint, Scan, ScanOptions, Scanned, scan};
pub use self::traced_function::{LeafName, TracedFunction};
pub use self::while_loop::{WhileLoop, WhileLoopBody, bounded_while_loop, while_loop};
use super::jvp::push;
use super::trace::{Tape, Trace};
use super::vjp::pull;
use super::vmap::batch;
use crate::graph::tracing::{self, Residuals};
use crate::graph::{Array, ArraySpec, Node, Program};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, Primitive, Rule};
use crate::primitives::control_flow::{Body, ControlFlow};
pub use crate::primitives::control_flow::{Construct, Order};
use crate::primitives::leaf::Leaf;
use crate::primitives::rules;

/// The cotangents of a node's inputs, if it is control flow.
pub(super) fn vjp(
    node: &Arc<Node>,
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Rule<Cotangents> {
    let inputs = node.inputs();
    Some(match node.op().control_flow()? {
        ControlFlow::Loop(repeated) => {
            loop_vjp::pull_loop(repeated, &inputs, &Array::outputs_of(node), needs_cotangent, cotangents)
        }
        ControlFlow::Branch(branch) => cond_rules::pull_branch(branch, &inputs, needs_cotangent, cotangents),
        ControlFlow::While(repeated) => {
            while_rules::pull_while(repeated, &inputs, needs_cotangent, cotangents)
        }
    })
}

/// The tangents of a node's outputs, if it is control flow.
pub(super) fn jvp(node: &Arc<Node>, tangents: &[Option<Array>]) -> Rule<Vec<Option<Array>>> {
    let inputs = node.inputs();
    Some(match node.op().control_flow()? {
        ControlFlow::Loop(repeated) => loop_jvp::push_loop(repeated, &inputs, tangents),
        ControlFlow::Branch(branch) => cond_rules::push_branch(branch, &inputs, tangents),
        ControlFlow::While(repeated) => while_rules::push_while(repeated, &inputs, tangents),
    })
}

/// The outputs for a batch, if it is control flow.
pub(super) fn vmap(op: &Op, inputs: &[Batched]) -> Rule<Vec<Batched>> {
    Some(match op.control_flow()? {
        ControlFlow::Loop(repeated) => loop_rules::batch_loop(repeated, inputs),
        ControlFlow::Branch(branch) => cond_rules::batch_branch(branch, inputs),
        ControlFlow::While(repeated) => while_rules::batch_while(repeated, inputs),
    })
}

/// A body and its captured arrays: its last arguments.
type Closed = (Body, Vec<Array>);

/// Trace `f` on placeholders as a body.
fn trace_function(
    construct: Construct,
    specs: impl IntoIterator<Item = ArraySpec>,
    f: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
) -> Result<Closed> {
    let trace = Trace::placeholders(Leaf::Body(construct), specs);
    let outputs = f(&trace.inputs)?;
    Ok(Body::close(&trace.inputs, &outputs))
}

/// Pull the cotangents of a program's outputs back to `sources`, some of its `arguments`.
fn vjp_of(
    program: &Program,
    arguments: &[Array],
    sources: &[Array],
    cotangents: Vec<Option<Array>>,
) -> Result<Vec<Option<Array>>> {
    let outputs = {
        let _residuals = tracing::with_residuals(Residuals::Kept);
        program.replay(arguments)?
    };
    let tape = Tape::differentiable(sources, &outputs);
    let slots = pull(&tape, &outputs, cotangents)?;
    Ok(sources.iter().map(|source| tape.slot(source).and_then(|slot| slots[slot].clone())).collect())
}

/// A program's outputs, and their tangents for tangents of `sources`, some of its `arguments`.
fn pushed(
    program: &Program,
    arguments: &[Array],
    sources: &[Array],
    tangents: &[Array],
) -> Result<(Vec<Array>, Vec<Option<Array>>)> {
    let outputs = program.replay(arguments)?;
    let tape = Tape::differentiable(sources, &outputs);
    let slots = push(&tape, sources, tangents.iter().cloned().map(Some), &outputs)?;
    let tangents = outputs.iter().map(|output| tape.slot(output).and_then(|slot| slots[slot].clone()));
    let tangents = tangents.collect();
    Ok((outputs, tangents))
}

/// A batched body, and which of its outputs are batched.
struct BatchedBody {
    closed: Closed,
    batched: Vec<bool>,
}

/// Batch a body with arguments batched where `batched` is true, and outputs batched at least where `forced` is true.
fn batch_body(
    construct: Construct,
    body: &Body,
    batched: &[bool],
    forced: &[bool],
    batch_size: usize,
) -> Result<BatchedBody> {
    let body_arguments = BodyArguments::new(construct, body.arguments(), batched, batch_size);
    let results = body_arguments.batch(body)?;
    let batched: Vec<bool> =
        results.iter().zip(forced).map(|(result, forced)| *forced || result.batched).collect();
    Ok(BatchedBody { closed: body_arguments.close(&results, forced)?, batched })
}

/// Placeholders for the arguments of a body: for a batch, and for a single element.
struct BodyArguments {
    // Dropped in this order, the inner trace first.
    all: Trace,
    single: Trace,
    batched: Vec<bool>,
    batch_size: usize,
}

impl BodyArguments {
    fn new(construct: Construct, specs: &[ArraySpec], batched: &[bool], batch_size: usize) -> BodyArguments {
        let single = Trace::placeholders(Leaf::Body(construct), specs.iter().cloned());
        let specs = specs
            .iter()
            .zip(batched)
            .map(|(spec, &batched)| if batched { lengthened(spec, batch_size) } else { spec.clone() });
        let all = Trace::placeholders(Leaf::Body(construct), specs);
        BodyArguments { all, single, batched: batched.to_vec(), batch_size }
    }

    /// A body's outputs for the batch.
    fn batch(&self, body: &Body) -> Result<Vec<Batched>> {
        let outputs = body.program.replay(&self.single.inputs)?;
        let values = self.all.inputs.iter().zip(&self.batched);
        let values: Vec<Batched> =
            values.map(|(array, &batched)| Batched { array: array.clone(), batched }).collect();
        batch(&self.single.inputs, &outputs, &values)
    }

    /// The body with these outputs, batched where `forced` is true.
    fn close(&self, results: &[Batched], forced: &[bool]) -> Result<Closed> {
        let arrays = results.iter().zip(forced).map(|(result, &forced)| {
            if forced { rules::batch(result, self.batch_size) } else { Ok(result.array.clone()) }
        });
        Ok(Body::close(&self.all.inputs, &arrays.collect::<Result<Vec<_>>>()?))
    }
}

/// A spec with a new first axis.
fn lengthened(spec: &ArraySpec, length: usize) -> ArraySpec {
    let shape: Shape = std::iter::once(length).chain(spec.shape.iter().copied()).collect();
    ArraySpec { shape, dtype: spec.dtype }
}

/// The spec of derivatives with respect to a value with this spec.
fn derivative_spec(spec: &ArraySpec) -> ArraySpec {
    ArraySpec { shape: spec.shape.clone(), dtype: spec.dtype.inexact() }
}

/// A zero derivative with respect to a value with this spec.
fn zero(spec: &ArraySpec) -> Array {
    Array::full(spec.shape.clone(), 0.0, spec.dtype.inexact())
}

/// The values whose flags are set.
fn chosen<'a, T>(values: &'a [T], flags: &'a [bool]) -> impl Iterator<Item = &'a T> {
    values.iter().zip(flags).filter(|(_, flag)| **flag).map(|(value, _)| value)
}

/// The carries, among a body's first `carry` arguments, that depend on arguments of `from` after any number of iterations.
fn reaches(program: &Program, carry: usize, from: &[bool]) -> Vec<bool> {
    let mut reached: SmallVec<[bool; 8]> = from.iter().copied().collect();
    loop {
        let outputs = program.reached(&reached);
        let newly_reached: SmallVec<[usize; 8]> = (0..carry).filter(|&i| outputs[i] && !reached[i]).collect();
        if newly_reached.is_empty() {
            return reached[..carry].to_vec();
        }
        newly_reached.into_iter().for_each(|i| reached[i] = true);
    }
}
