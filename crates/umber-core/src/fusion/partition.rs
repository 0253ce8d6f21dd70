//! Partition: which nodes share a kernel.
//!
//! Walking from users to inputs, an elementwise node joins the region of its users when they are all in one region
//! and have its shape. A value that somebody holds is stored as one more output of the region. Nothing is computed
//! twice except what costs nothing: constants, broadcasts and copies are folded into every region that reads them.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::graph::Node;
use crate::op::Op;
use crate::primitives::control::Control;
use crate::primitives::leaf::Leaf;

/// A region has at most this many steps: beyond it, registers no longer stay in the nearest cache.
const MOST_STEPS: usize = 48;
/// And at most this many values stored.
const MOST_OUTPUTS: usize = 8;

/// What runs as one piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One node by its own kernel.
    Node(u32),
    /// Elementwise nodes by one fused kernel.
    Region(Members),
}

/// The nodes of a region, by their place in the topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// All nodes, inputs before users.
    pub nodes: SmallVec<[u32; 8]>,
    /// Those whose values are stored.
    pub outputs: SmallVec<[u32; 2]>,
}

impl Members {
    /// The node that all others lead to.
    pub fn root(&self) -> usize {
        self.nodes[self.nodes.len() - 1] as usize
    }
}

/// How fusion sees an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A step of a region.
    Step,
    /// The value of its input under a larger shape.
    Broadcast,
    /// The value of its input.
    Alias,
    /// A constant.
    Constant,
    /// Never part of a region.
    Alone,
}

pub(crate) fn role(op: &Op) -> Role {
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::Select(_) | Op::Cast(_) => Role::Step,
        Op::Broadcast(_) => Role::Broadcast,
        Op::Full(_) => Role::Constant,
        Op::Leaf(Leaf::Copy) | Op::Control(Control::StopGradient) => Role::Alias,
        _ => Role::Alone,
    }
}

/// Who reads a node, as far as known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    Nobody,
    /// Only this region.
    Region(u32),
    /// Several regions, or one through a broadcast: the value must be stored, unless it costs nothing.
    Several,
    /// A kernel of another kind: the value must be stored.
    Kernel,
}

impl Readers {
    fn and(self, other: Readers) -> Readers {
        match (self, other) {
            (Readers::Nobody, x) | (x, Readers::Nobody) => x,
            (Readers::Kernel, _) | (_, Readers::Kernel) => Readers::Kernel,
            (a, b) if a == b => a,
            _ => Readers::Several,
        }
    }
}

/// Group `nodes` (pending, inputs before users) into units of work, in an order in which they can run.
///
/// `is_held(i)`: must the value of node `i` exist afterwards? `index(node)`: its place in `nodes`, if it is there.
pub fn partition(
    nodes: &[Arc<Node>],
    is_held: impl Fn(usize) -> bool,
    index: impl Fn(&Arc<Node>) -> Option<usize>,
) -> Vec<Unit> {
    let mut readers = vec![Readers::Nobody; nodes.len()];
    let mut regions: Vec<Members> = Vec::new();
    let mut units: Vec<Unit> = Vec::new();
    // Places of regions in `units`, filled in at the end: units are collected from users to inputs.
    const LATER: u32 = u32::MAX;
    let mut roots: Vec<usize> = Vec::new();
    for i in (0..nodes.len()).rev() {
        let node = &nodes[i];
        let held = is_held(i);
        let own = held || matches!(readers[i], Readers::Kernel | Readers::Nobody);
        let reads = match role(node.op()) {
            Role::Step => {
                let region = match readers[i] {
                    Readers::Region(r) if joins(&regions[r as usize], nodes, node, held) => r,
                    _ => {
                        regions.push(Members { nodes: smallvec![], outputs: smallvec![i as u32] });
                        roots.push(units.len());
                        units.push(Unit::Node(LATER));
                        regions.len() as u32 - 1
                    }
                };
                let members = &mut regions[region as usize];
                if held && !members.nodes.is_empty() {
                    members.outputs.push(i as u32);
                }
                members.nodes.push(i as u32);
                Readers::Region(region)
            }
            Role::Alone => {
                units.push(Unit::Node(i as u32));
                Readers::Kernel
            }
            Role::Broadcast | Role::Alias | Role::Constant if own => {
                units.push(Unit::Node(i as u32));
                Readers::Kernel
            }
            Role::Alias => readers[i],
            Role::Broadcast | Role::Constant => Readers::Several,
        };
        for input in node.lock_inputs().iter() {
            if let Some(j) = index(input.node()) {
                readers[j] = readers[j].and(reads);
            }
        }
    }
    for (mut region, place) in regions.into_iter().zip(roots) {
        region.nodes.reverse();
        units[place] = Unit::Region(region);
    }
    units.reverse();
    units
}

fn joins(region: &Members, nodes: &[Arc<Node>], node: &Arc<Node>, held: bool) -> bool {
    let root = &nodes[region.nodes[0] as usize];
    region.nodes.len() < MOST_STEPS
        && (!held || region.outputs.len() < MOST_OUTPUTS)
        && root.outputs[0].spec.shape == node.outputs[0].spec.shape
}
