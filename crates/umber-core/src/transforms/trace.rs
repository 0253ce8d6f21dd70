//! Trace: the arguments on which a function is traced, and nodes in the form that derivative rules need.

use std::fmt::Display;
use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, ensure};

pub(super) use crate::graph::Tape;
use crate::graph::tracing::{self, Residuals, Tracing, WithResiduals};
use crate::graph::{Array, ArraySpec, Inputs, Node};
use crate::observer;
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::cast;
use crate::source_line::{SourceLineGuard, with_source_line};

/// A trace of a function in progress: run the function on `inputs`, then end the trace.
#[derive(Debug)]
pub struct Trace {
    /// The arguments of the function.
    pub inputs: Vec<Array>,
    /// Tracing ends when this is dropped.
    guard: Tracing,
    /// Whether loops in the function save residuals, until it returns.
    residuals: Option<WithResiduals>,
}

impl Trace {
    /// Arguments with the values of `primals`, which can be read while tracing.
    ///
    /// They depend on `primals`, so that an outer transform sees through the inner one.
    pub fn with_data(primals: &[Array]) -> Result<Trace> {
        Trace::over(primals, Residuals::Kept)
    }

    /// As [`Trace::with_data`], for forward mode: loops save no residuals for a backward pass.
    pub fn forwards(primals: &[Array]) -> Result<Trace> {
        Trace::over(primals, Residuals::Recomputed)
    }

    fn over(primals: &[Array], residuals: Residuals) -> Result<Trace> {
        let guard = tracing::enter();
        let inputs =
            primals.iter().map(|primal| primal.traced_copy(guard.trace_scope())).collect::<Result<_>>()?;
        Ok(Trace { inputs, guard, residuals: Some(tracing::with_residuals(residuals)) })
    }

    /// Arguments without values; `leaf` determines which transform is named in errors about missing values.
    pub fn placeholders(leaf: Leaf, specs: impl IntoIterator<Item = ArraySpec>) -> Trace {
        debug_assert!(leaf.is_placeholder());
        let guard = tracing::enter();
        let inputs = specs.into_iter().map(|spec| Array::placeholder(leaf, spec, Some(guard.trace_scope())));
        let residuals = Some(tracing::with_residuals(Residuals::Recomputed));
        Trace { inputs: inputs.collect(), guard, residuals }
    }

    /// Arguments without values, for a function of which only the graph is needed.
    pub fn of_graph(specs: impl IntoIterator<Item = ArraySpec>) -> Trace {
        Trace::placeholders(Leaf::Trace, specs)
    }

    /// One more argument without a value.
    pub(super) fn another(&self, leaf: Leaf, spec: ArraySpec) -> Array {
        Array::placeholder(leaf, spec, Some(self.guard.trace_scope()))
    }

    /// Call when the function has returned: later operations are still traced, but are not part of the function.
    pub fn returned(&mut self) {
        self.residuals = None;
    }

    /// Stop tracing and return the arguments that the function was run on.
    pub fn end(self) -> Vec<Array> {
        drop(self.residuals);
        drop(self.guard);
        self.inputs
    }
}

/// Marks the source line of an operation that belongs to a derivative.
const OF_DERIVATIVE: &str = ", in the derivative of ";

/// The inputs and outputs of a node, as derivative rules need them.
pub(super) struct Site {
    /// The node's inputs.
    pub(super) inputs: Inputs,
    /// Its outputs.
    pub(super) outputs: SmallVec<[Array; 1]>,
}

impl Site {
    /// The inputs and outputs of a node. If it computes in integers, they are converted to floating point.
    ///
    /// Derivatives of integers are real numbers, so rules must compute them in a floating-point dtype.
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

/// Give operations recorded by a node's rule the source line of the node. A custom rule is a function with lines of its own.
pub(super) fn on_line_of(node: &Node) -> Option<SourceLineGuard> {
    (!matches!(node.op(), Op::Custom(_))).then(|| with_source_line(node.origin().cloned()))
}

/// As [`on_line_of`], for operations recorded by a node's derivative rule: to an observer, the line says so.
pub(super) fn in_derivative_of(node: &Node) -> Option<SourceLineGuard> {
    if !observer::is_on() {
        return on_line_of(node);
    }
    let line = node.origin().map(|line| {
        // The derivative of an operation of a derivative needs no second mark.
        let is_marked = line.contains(OF_DERIVATIVE);
        if is_marked { Arc::clone(line) } else { format!("{line}{OF_DERIVATIVE}{}", node.op().name()).into() }
    });
    (!matches!(node.op(), Op::Custom(_))).then(|| with_source_line(line))
}

/// Whether the derivative of a node is zero everywhere: a bool computed from numbers is piecewise constant.
pub(super) fn is_flat(node: &Node) -> bool {
    let is_bool = |dtype| dtype == umber_types::DType::Bool;
    node.outputs.iter().all(|output| is_bool(output.spec.dtype))
        && !node.lock_inputs().iter().any(|input| is_bool(input.dtype()))
}

/// Error for a complex derivative of a real value, whose imaginary part would be lost.
pub(super) fn check_is_real(
    op: &str,
    what: &str,
    i: usize,
    derivative: &Array,
    primal: &Array,
) -> Result<()> {
    let (got, expected) = (derivative.dtype(), primal.dtype().inexact());
    let suffix =
        if primal.dtype() == expected { String::new() } else { format!(" (for {})", primal.dtype()) };
    ensure!(
        expected.is_complex() || !got.is_complex(),
        Value(op),
        "{what} {i} must have a real dtype, such as {expected}{suffix}, not {got}"
    );
    Ok(())
}

/// Check that the arrays a function returned have the shapes and dtypes of others. `returned` begins the error for another number
/// of arrays; `fault` is the error for an array, of the name of the property, its value and the expected value.
pub(super) fn check_like(
    op: &str,
    returned: &str,
    got: &[Array],
    expected: &[Array],
    fault: impl Fn(usize, &str, &dyn Display, &dyn Display) -> String,
) -> Result<()> {
    let (count, expected_count) = (got.len(), expected.len());
    ensure!(count == expected_count, Value(op), "{returned} {count} arrays, expected {expected_count}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let (shape, dtype) = (got.shape(), got.dtype());
        ensure!(shape == expected.shape(), Value(op), "{}", fault(i, "shape", shape, expected.shape()));
        ensure!(dtype == expected.dtype(), Type(op), "{}", fault(i, "dtype", &dtype, &expected.dtype()));
    }
    Ok(())
}

/// A derivative with respect to `primal`, in the dtype of such derivatives; `None` is zero.
pub(super) fn check_derivative(derivative: Option<Array>, primal: &Array) -> Result<Option<Array>> {
    let Some(derivative) = derivative else { return Ok(None) };
    debug_assert_eq!(derivative.shape(), primal.shape());
    let is_zero = derivative.constant().is_some_and(|value| value.as_complex() == (0.0, 0.0));
    // Rules receive and return real numbers; only a zero created with the dtype of an integer array is an integer.
    if is_zero || !derivative.dtype().is_inexact() {
        return Ok(None);
    }
    cast(&derivative, primal.dtype().inexact()).map(Some)
}

/// Zeros in the dtype and shape of a derivative with respect to `primal`.
pub(super) fn zero_derivative(primal: &Array) -> Array {
    Array::full(primal.shape().clone(), 0.0, primal.dtype().inexact())
}
