//! Trace: the arguments a function is run on while it is followed, and the tape of what it recorded.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::Result;

use crate::graph::tracing::{self, Tracing};
use crate::graph::walk::{IdMap, node_id, topological_until};
use crate::graph::{Array, ArraySpec, Inputs, Node};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{add, cast};

/// A function is being followed: run it on `inputs`, then end the trace.
#[derive(Debug)]
pub struct Trace {
    /// What to run the function on.
    pub inputs: Vec<Array>,
    /// Tracing goes on until this is dropped.
    guard: Tracing,
}

impl Trace {
    /// Arguments with the values of `primals`, which can be read while tracing.
    ///
    /// They stay connected to `primals`, so an outer transform sees through the inner one.
    pub fn with_data(primals: &[Array]) -> Trace {
        let guard = tracing::enter();
        Trace { inputs: primals.iter().map(Array::traced_copy).collect(), guard }
    }

    /// Arguments without values; `leaf` says which transform is to be named when somebody asks for one.
    pub fn placeholders(leaf: Leaf, specs: impl IntoIterator<Item = ArraySpec>) -> Trace {
        debug_assert!(leaf.is_placeholder());
        let guard = tracing::enter();
        Trace { inputs: specs.into_iter().map(|spec| Array::placeholder(leaf, spec)).collect(), guard }
    }

    /// Stop tracing and answer the arguments that the function was run on.
    pub fn end(self) -> Vec<Array> {
        drop(self.guard);
        self.inputs
    }
}

/// The nodes through which outputs depend on sources, and a numbering of their outputs ("slots").
#[derive(Debug)]
pub(crate) struct Tape {
    /// Inputs before users; the sources' own nodes are not among them.
    pub(crate) nodes: Vec<Arc<Node>>,
    /// The slot of a node's first output, for `nodes` and the sources.
    first: IdMap<usize, u32>,
    slots: usize,
}

impl Tape {
    /// The tape between `sources` and `outputs`; nodes for which `is_outside` holds cannot depend on a source.
    pub(crate) fn between(
        sources: &[Array],
        outputs: &[Array],
        is_outside: impl Fn(&Arc<Node>) -> bool,
    ) -> Tape {
        let mut tape = Tape { nodes: Vec::new(), first: IdMap::default(), slots: 0 };
        for source in sources {
            tape.number(source.node());
        }
        let order = topological_until(outputs, |node| tape.holds(node) || is_outside(node));
        for node in order {
            if tape.holds(&node) || is_outside(&node) {
                continue;
            }
            let depends = node.lock_inputs().iter().any(|input| tape.holds(input.node()));
            if depends {
                tape.number(&node);
                tape.nodes.push(node);
            }
        }
        tape
    }

    /// The tape of a traced function: only traced nodes can depend on its arguments.
    pub(crate) fn traced(sources: &[Array], outputs: &[Array]) -> Tape {
        Tape::between(sources, outputs, |node| !node.traced)
    }

    fn number(&mut self, node: &Arc<Node>) {
        let next = self.slots;
        let first = *self.first.entry(node_id(node)).or_insert(next as u32);
        if first as usize == next {
            self.slots += node.outputs.len();
        }
    }

    fn holds(&self, node: &Arc<Node>) -> bool {
        self.first.contains_key(&node_id(node))
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The slot of an array, if it depends on a source or is one.
    pub(crate) fn slot(&self, array: &Array) -> Option<usize> {
        self.first.get(&node_id(array.node())).map(|&first| first as usize + array.output())
    }

    /// The slots of a node on the tape.
    pub(crate) fn slots_of(&self, node: &Arc<Node>) -> std::ops::Range<usize> {
        let first = self.first[&node_id(node)] as usize;
        first..first + node.outputs.len()
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
        if matches!(op, Op::Cast(_)) || site.outputs.iter().all(|output| output.dtype().is_inexact()) {
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

/// Does a derivative pass through this node at all? A truth value made from numbers changes only in jumps.
pub(super) fn is_flat(node: &Node) -> bool {
    let is_bool = |dtype| dtype == umber_types::DType::Bool;
    node.outputs.iter().all(|output| is_bool(output.spec.dtype))
        && !node.lock_inputs().iter().any(|input| is_bool(input.dtype()))
}

/// A derivative with respect to `like`, in the dtype derivatives of it have; `None` is zero.
pub(super) fn settle(derivative: Option<Array>, like: &Array) -> Result<Option<Array>> {
    let Some(derivative) = derivative else { return Ok(None) };
    debug_assert_eq!(derivative.shape(), like.shape());
    let is_zero = derivative.constant().is_some_and(|value| value.as_complex() == (0.0, 0.0));
    // Rules get real numbers and answer them; only a zero made like an integer array is of its dtype.
    if is_zero || !derivative.dtype().is_inexact() {
        return Ok(None);
    }
    cast(&derivative, like.dtype().inexact()).map(Some)
}

/// Add `more` to what a slot holds.
pub(super) fn accumulate(slot: &mut Option<Array>, more: Array) -> Result<()> {
    *slot = Some(match slot.take() {
        Some(sum) => add(&sum, &more)?,
        None => more,
    });
    Ok(())
}

/// Zeros in the dtype and shape of a derivative with respect to `like`.
pub(super) fn zero_derivative(like: &Array) -> Array {
    Array::full(like.shape().clone(), 0.0, like.dtype().inexact())
}
