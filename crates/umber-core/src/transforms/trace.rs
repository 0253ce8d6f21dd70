//! Trace: the arguments a function is run on while it is followed, and nodes as derivative rules see them.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, ensure};

pub(super) use crate::graph::Tape;
use crate::graph::tracing::{self, Residuals, Tracing, WithResiduals};
use crate::graph::{Array, ArraySpec, Inputs, Node};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::cast;
use crate::source_line::{SourceLineGuard, with_source_line};

/// A function is being followed: run it on `inputs`, then end the trace.
#[derive(Debug)]
pub struct Trace {
    /// What to run the function on.
    pub inputs: Vec<Array>,
    /// Tracing goes on until this is dropped.
    guard: Tracing,
    /// What loops in the function do about residuals, until it returns.
    residuals: Option<WithResiduals>,
}

impl Trace {
    /// Arguments with the values of `primals`, which can be read while tracing.
    ///
    /// They stay connected to `primals`, so an outer transform sees through the inner one.
    pub fn with_data(primals: &[Array]) -> Result<Trace> {
        Trace::over(primals, Residuals::Kept)
    }

    /// As [`Trace::with_data`], for a derivative that is taken forwards: loops keep nothing for a backward pass.
    pub fn forwards(primals: &[Array]) -> Result<Trace> {
        Trace::over(primals, Residuals::Recomputed)
    }

    fn over(primals: &[Array], residuals: Residuals) -> Result<Trace> {
        let guard = tracing::enter();
        let inputs =
            primals.iter().map(|primal| primal.traced_copy(guard.trace_scope())).collect::<Result<_>>()?;
        Ok(Trace { inputs, guard, residuals: Some(tracing::with_residuals(residuals)) })
    }

    /// Arguments without values; `leaf` says which transform is to be named when somebody asks for one.
    pub fn placeholders(leaf: Leaf, specs: impl IntoIterator<Item = ArraySpec>) -> Trace {
        debug_assert!(leaf.is_placeholder());
        let guard = tracing::enter();
        let inputs = specs.into_iter().map(|spec| Array::placeholder(leaf, spec, Some(guard.trace_scope())));
        let residuals = Some(tracing::with_residuals(Residuals::Recomputed));
        Trace { inputs: inputs.collect(), guard, residuals }
    }

    /// Arguments without values, of a function whose graph alone is wanted.
    pub fn of_graph(specs: impl IntoIterator<Item = ArraySpec>) -> Trace {
        Trace::placeholders(Leaf::Trace, specs)
    }

    /// One more argument without a value.
    pub(super) fn another(&self, leaf: Leaf, spec: ArraySpec) -> Array {
        Array::placeholder(leaf, spec, Some(self.guard.trace_scope()))
    }

    /// The function has returned: what is recorded from now on is followed still, but is no part of it.
    pub fn returned(&mut self) {
        self.residuals = None;
    }

    /// Stop tracing and answer the arguments that the function was run on.
    pub fn end(self) -> Vec<Array> {
        drop(self.residuals);
        drop(self.guard);
        self.inputs
    }
}

/// A node as derivative rules see it.
pub(super) struct Site {
    /// The node's inputs.
    pub(super) inputs: Inputs,
    /// Its outputs.
    pub(super) outputs: SmallVec<[Array; 1]>,
}

impl Site {
    /// The node as it is; where it computes in integers, as it would compute in floating point.
    ///
    /// Derivatives of integers are real numbers, so rules must compute them in a dtype that holds real numbers.
    pub(super) fn of(node: &Arc<Node>) -> Result<Site> {
        let mut site = Site { inputs: node.inputs(), outputs: Array::outputs_of(node) };
        let op = node.op();
        if op.forwards()
            || matches!(op, Op::Cast(_) | Op::Float8Cast(_))
            || site.outputs.iter().all(|output| output.dtype() == output.dtype().inexact())
        {
            return Ok(site);
        }
        for (i, input) in site.inputs.iter_mut().enumerate() {
            if !op.is_index(i) {
                *input = cast(input, input.dtype().inexact())?;
            }
        }
        for output in &mut site.outputs {
            *output = cast(output, output.dtype().inexact())?;
        }
        Ok(site)
    }
}

/// What a rule records for a node stands for the node's line. A custom rule is a function with lines of its own.
pub(super) fn on_line_of(node: &Node) -> Option<SourceLineGuard> {
    (!matches!(node.op(), Op::Custom(_))).then(|| with_source_line(node.origin().cloned()))
}

/// Does a derivative pass through this node at all? A truth value made from numbers changes only in jumps.
pub(super) fn is_flat(node: &Node) -> bool {
    let is_bool = |dtype| dtype == umber_types::DType::Bool;
    node.outputs.iter().all(|output| is_bool(output.spec.dtype))
        && !node.lock_inputs().iter().any(|input| is_bool(input.dtype()))
}

/// Fails for a complex derivative of what is real: its imaginary part would be lost.
pub(super) fn check_is_real(op: &str, what: &str, i: usize, derivative: &Array, like: &Array) -> Result<()> {
    let (got, expected) = (derivative.dtype(), like.dtype().inexact());
    let of = if like.dtype() == expected { String::new() } else { format!(" (for {})", like.dtype()) };
    ensure!(
        expected.is_complex() || !got.is_complex(),
        Value(op),
        "{what} {i} must have a real dtype, such as {expected}{of}, not {got}"
    );
    Ok(())
}

/// A derivative with respect to `like`, in the dtype derivatives of it have; `None` is zero.
pub(super) fn check_derivative(derivative: Option<Array>, like: &Array) -> Result<Option<Array>> {
    let Some(derivative) = derivative else { return Ok(None) };
    debug_assert_eq!(derivative.shape(), like.shape());
    let is_zero = derivative.constant().is_some_and(|value| value.as_complex() == (0.0, 0.0));
    // Rules get real numbers and answer them; only a zero made like an integer array is of its dtype.
    if is_zero || !derivative.dtype().is_inexact() {
        return Ok(None);
    }
    cast(&derivative, like.dtype().inexact()).map(Some)
}

/// Zeros in the dtype and shape of a derivative with respect to `like`.
pub(super) fn zero_derivative(like: &Array) -> Array {
    Array::full(like.shape().clone(), 0.0, like.dtype().inexact())
}
