//! Tape: the part of a graph between some source arrays and outputs computed from them.

use std::sync::Arc;

use super::walk::{IdMap, node_id, topological_until};
use super::{Array, Node};
use crate::op::Op;
use crate::primitives::control::Control;

/// The nodes through which outputs depend on sources, and a numbering of their outputs ("slots").
#[derive(Debug)]
pub(crate) struct Tape {
    /// Inputs before users, without the nodes of the sources.
    pub(crate) nodes: Vec<Arc<Node>>,
    /// The slot of a node's first output, for `nodes` and the sources.
    first: IdMap<usize, u32>,
    slots: usize,
}

impl Tape {
    /// The tape between `sources` and `outputs`. Nodes for which `is_outside` is true cannot depend on a source.
    pub(crate) fn between(
        sources: &[Array],
        outputs: &[Array],
        is_outside: impl Fn(&Arc<Node>) -> bool,
    ) -> Tape {
        let mut tape = Tape { nodes: Vec::new(), first: IdMap::default(), slots: 0 };
        for source in sources {
            tape.assign_slots(source.node());
        }
        let order = topological_until(outputs, |node| tape.holds(node) || is_outside(node));
        tape.first.reserve(order.len());
        for node in order {
            if tape.holds(&node) || is_outside(&node) {
                continue;
            }
            let depends = node.lock_inputs().iter().any(|input| tape.holds(input.node()));
            if depends {
                tape.assign_slots(&node);
                tape.nodes.push(node);
            }
        }
        tape
    }

    /// The tape of a traced function: only traced nodes can depend on its arguments.
    pub(crate) fn traced(sources: &[Array], outputs: &[Array]) -> Tape {
        Tape::between(sources, outputs, |node| !node.traced)
    }

    /// The tape of a traced function for its derivatives, which do not pass through `stop_gradient`.
    pub(crate) fn differentiable(sources: &[Array], outputs: &[Array]) -> Tape {
        Tape::differentiable_until(sources, outputs, |node| !node.traced)
    }

    /// The tape for derivatives between `sources` and `outputs`. Nodes for which `is_outside` is true cannot depend on a source.
    pub(crate) fn differentiable_until(
        sources: &[Array],
        outputs: &[Array],
        is_outside: impl Fn(&Arc<Node>) -> bool,
    ) -> Tape {
        let stops = |node: &Node| matches!(node.op(), Op::Control(Control::StopGradient));
        Tape::between(sources, outputs, |node| stops(node) || is_outside(node))
    }

    fn assign_slots(&mut self, node: &Arc<Node>) {
        let next = self.slots;
        let first = *self.first.entry(node_id(node)).or_insert(next as u32);
        if first as usize == next {
            self.slots += node.outputs.len();
        }
    }

    fn holds(&self, node: &Arc<Node>) -> bool {
        self.first.contains_key(&node_id(node))
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The slot of an array, if it is a source or depends on one.
    pub(crate) fn slot(&self, array: &Array) -> Option<usize> {
        self.first.get(&node_id(array.node())).map(|&first| first as usize + array.output())
    }

    /// The slots of a node on the tape.
    pub(crate) fn slots_of(&self, node: &Arc<Node>) -> std::ops::Range<usize> {
        let first = self.first[&node_id(node)] as usize;
        first..first + node.outputs.len()
    }
}
