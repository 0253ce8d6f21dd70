//! Partition: which nodes share a kernel.
//!
//! Walking from users to inputs, an elementwise node joins the region of its users when they are all in one region
//! and have its shape. A value that somebody holds is stored as one more output of the region. Nothing is computed
//! twice except what costs nothing: constants, broadcasts and copies are folded into every region that reads them.
//!
//! A reduction ends a region: the elementwise nodes that only it reads are computed a block at a time and folded, and
//! nothing but its result is stored. A product of matrices begins one, if only that reads it: the elementwise nodes go on
//! with a block of it as soon as it is computed.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use umber_types::Shape;

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
    /// Elementwise nodes, perhaps with a reduction of what they lead to or the product they begin with, by one fused kernel.
    Region(Members),
}

/// The nodes of a region, by their place in the topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// All nodes, inputs before users.
    pub nodes: SmallVec<[u32; 8]>,
    /// Those whose values are stored; of a reduction only itself.
    pub outputs: SmallVec<[u32; 2]>,
}

impl Members {
    /// The node that all others lead to.
    pub fn root(&self) -> usize {
        self.nodes[self.nodes.len() - 1] as usize
    }

    /// Which of the nodes has this place in the topological order. Mostly one follows the other there.
    pub(crate) fn position(&self, place: u32) -> Option<usize> {
        let near = place.checked_sub(*self.nodes.first()?)? as usize;
        if self.nodes.get(near) == Some(&place) { Some(near) } else { self.nodes.binary_search(&place).ok() }
    }
}

/// Units in an order in which they can run. Often there is but one.
pub type Units = SmallVec<[Unit; 1]>;

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
    /// Ends a region that computes its input.
    Reduction,
    /// Begins a region that reads it.
    Product,
    /// The value of its input under another shape, part of a region only behind a product.
    Reshape,
    /// Never part of a region.
    Alone,
}

pub(crate) fn role(op: &Op) -> Role {
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::Select(_) | Op::Cast(_) => Role::Step,
        Op::Reduce(_) => Role::Reduction,
        Op::MatMul(_) => Role::Product,
        Op::Reshape(_) => Role::Reshape,
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
    nodes: &[&Arc<Node>],
    is_held: impl Fn(usize) -> bool,
    index: impl Fn(&Arc<Node>) -> Option<usize>,
) -> Units {
    let mut readers: SmallVec<[Readers; 8]> = SmallVec::from_elem(Readers::Nobody, nodes.len());
    let products = Products::count(nodes, &is_held, &index);
    let mut regions: SmallVec<[Growing; 2]> = SmallVec::new();
    let mut units = Units::new();
    // Places of regions in `units`, filled in at the end: units are collected from users to inputs.
    const LATER: u32 = u32::MAX;
    for i in (0..nodes.len()).rev() {
        let node = nodes[i];
        let held = is_held(i);
        let own = held || matches!(readers[i], Readers::Kernel | Readers::Nobody);
        let reads = match role(node.op()) {
            Role::Step => {
                let shape = &node.outputs[0].spec.shape;
                match readers[i] {
                    Readers::Region(r) if regions[r as usize].admits(shape, held) => {
                        let members = &mut regions[r as usize].members;
                        if held {
                            members.outputs.push(i as u32);
                        }
                        members.nodes.push(i as u32);
                        Readers::Region(r)
                    }
                    _ => {
                        regions.push(Growing::new(i, shape.clone(), Ends::Elementwise, units.len()));
                        units.push(Unit::Node(LATER));
                        Readers::Region(regions.len() as u32 - 1)
                    }
                }
            }
            Role::Reduction if let Some(shape) = prologue(node, nodes, &index) => {
                regions.push(Growing::new(i, shape, Ends::Reduction, units.len()));
                units.push(Unit::Node(LATER));
                Readers::Region(regions.len() as u32 - 1)
            }
            Role::Product => match readers[i] {
                Readers::Region(r) if !held && regions[r as usize].may_begin_with(i, nodes) => {
                    regions[r as usize].begin_with(i, i);
                    Readers::Kernel
                }
                _ => {
                    units.push(Unit::Node(i as u32));
                    Readers::Kernel
                }
            },
            Role::Reshape => match (readers[i], products.behind(node, &index)) {
                (Readers::Region(r), Some(product))
                    if !held && regions[r as usize].may_begin_with(product, nodes) =>
                {
                    regions[r as usize].begin_with(product, i);
                    Readers::Region(r)
                }
                _ => {
                    units.push(Unit::Node(i as u32));
                    Readers::Kernel
                }
            },
            Role::Reduction | Role::Alone => {
                units.push(Unit::Node(i as u32));
                Readers::Kernel
            }
            Role::Broadcast | Role::Alias | Role::Constant if own => {
                units.push(Unit::Node(i as u32));
                Readers::Kernel
            }
            Role::Alias => {
                // A member, so that its input can be overwritten when the region has run.
                if let Readers::Region(r) = readers[i]
                    && regions[r as usize].members.nodes.len() < MOST_STEPS
                {
                    regions[r as usize].members.nodes.push(i as u32);
                }
                readers[i]
            }
            Role::Broadcast | Role::Constant => Readers::Several,
        };
        for input in node.lock_inputs().iter() {
            if let Some(j) = index(input.node()) {
                readers[j] = readers[j].and(reads);
            }
        }
    }
    for Growing { mut members, ends, place, .. } in regions {
        members.nodes.reverse();
        units[place] = match (&members.nodes[..], ends) {
            (&[only], Ends::Reduction) => Unit::Node(only),
            _ => Unit::Region(members),
        };
    }
    units.reverse();
    units
}

/// What the last node of a region is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Elementwise,
    Reduction,
}

/// A region while nodes are still added to it.
struct Growing {
    /// Users before inputs.
    members: Members,
    /// The shape of every step.
    shape: Shape,
    ends: Ends,
    /// The product it begins with.
    product: Option<usize>,
    /// Where it goes among the units.
    place: usize,
}

impl Growing {
    fn new(root: usize, shape: Shape, ends: Ends, place: usize) -> Growing {
        let members = Members { nodes: smallvec![root as u32], outputs: smallvec![root as u32] };
        Growing { members, shape, ends, product: None, place }
    }

    /// May it begin with this product, perhaps under another shape?
    fn may_begin_with(&self, product: usize, nodes: &[&Arc<Node>]) -> bool {
        let spec = &nodes[product].outputs[0].spec;
        let has_home = |&output: &u32| nodes[output as usize].outputs[0].spec.dtype == spec.dtype;
        self.ends == Ends::Elementwise
            && self.product.is_none_or(|own| own == product)
            && self.shape.size() == spec.shape.size()
            && self.shape.last() == spec.shape.last()
            && self.members.outputs.iter().any(has_home)
    }

    /// It begins with this product, of which `node` is a part: itself, or its other shape.
    fn begin_with(&mut self, product: usize, node: usize) {
        self.product = Some(product);
        self.members.nodes.push(node as u32);
    }

    /// May a node of this shape, of which all users are in here, be computed in here?
    fn admits(&self, shape: &Shape, held: bool) -> bool {
        let has_room = match self.ends {
            Ends::Elementwise => self.members.outputs.len() < MOST_OUTPUTS,
            Ends::Reduction => false,
        };
        self.members.nodes.len() < MOST_STEPS && (!held || has_room) && self.shape == *shape
    }
}

/// Which products nothing but one node reads.
struct Products {
    /// By their places; empty if there is no product.
    has_one_reader: Vec<bool>,
}

impl Products {
    fn count(
        nodes: &[&Arc<Node>],
        is_held: &impl Fn(usize) -> bool,
        index: &impl Fn(&Arc<Node>) -> Option<usize>,
    ) -> Products {
        let is_product = |node: &&Arc<Node>| role(node.op()) == Role::Product;
        if !nodes.iter().any(is_product) {
            return Products { has_one_reader: Vec::new() };
        }
        let mut readers = vec![0u32; nodes.len()];
        for node in nodes {
            for input in node.lock_inputs().iter() {
                if let Some(i) = index(input.node()) {
                    readers[i] += 1;
                }
            }
        }
        let is_one = |(i, node)| is_product(node) && readers[i] == 1 && !is_held(i);
        Products { has_one_reader: nodes.iter().enumerate().map(is_one).collect() }
    }

    /// The product that a node alone reads.
    fn behind(&self, node: &Arc<Node>, index: &impl Fn(&Arc<Node>) -> Option<usize>) -> Option<usize> {
        let i = index(node.lock_inputs().first()?.node())?;
        self.has_one_reader.get(i).copied().unwrap_or(false).then_some(i)
    }
}

/// The shape of the steps that may run in one region with a reduction, if its input is such a step.
fn prologue(
    reduction: &Arc<Node>,
    nodes: &[&Arc<Node>],
    index: impl Fn(&Arc<Node>) -> Option<usize>,
) -> Option<Shape> {
    let inputs = reduction.lock_inputs();
    let input = inputs.first()?;
    let is_step = index(input.node()).is_some_and(|i| role(nodes[i].op()) == Role::Step);
    is_step.then(|| input.shape().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_place_with_or_without_gaps() {
        for nodes in [smallvec![3, 4, 5], smallvec![3, 5, 6, 9], smallvec![0]] {
            let members = Members { nodes, outputs: SmallVec::new() };
            for place in 0..12 {
                let expected = members.nodes.iter().position(|&node| node == place);
                assert_eq!(members.position(place), expected, "{place} among {:?}", members.nodes);
            }
        }
    }
}
