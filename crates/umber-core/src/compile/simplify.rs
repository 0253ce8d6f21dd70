//! Simplify: the same outputs from fewer nodes.
//!
//! Equal operations on equal inputs become one node, operations that change nothing disappear, and what no output
//! needs falls away since only what outputs lead to is copied. Runs while the trace that recorded the graph is on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{BinaryKind, Result, Shape, Stream};

use crate::graph::walk::{IdMap, node_id};
use crate::graph::{Array, ArraySpec, Inputs, Node, Tape};
use crate::op::Op;
use crate::primitives::binary::Binary;
use crate::primitives::leaf::Leaf;
use crate::primitives::reshape::Reshape;
use crate::primitives::transpose::Transpose;

/// What makes two nodes compute the same.
#[derive(PartialEq, Eq, Hash)]
struct Computation {
    op: Op,
    inputs: SmallVec<[(usize, u32); 2]>,
    stream: Stream,
    /// Constants have a shape that their operation does not know.
    spec: ArraySpec,
}

impl Computation {
    fn new(op: &Op, inputs: &[Array], node: &Node) -> Computation {
        let spec = node.outputs[0].spec.clone();
        Computation {
            op: op.clone(),
            inputs: inputs.iter().map(Array::id).collect(),
            stream: node.stream,
            spec,
        }
    }
}

/// What stands for arrays of the graph as it was, and the computations there are so far.
#[derive(Default)]
struct Simplified {
    stand_ins: IdMap<(usize, u32), Array>,
    known: HashMap<Computation, Array>,
}

/// The same values as `outputs`, which were traced on `placeholders`, from fewer nodes.
///
/// What does not depend on a placeholder is the same at every call: it stays as it is, and is computed once.
pub(super) fn simplify(placeholders: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
    let mut done = Simplified::default();
    for node in &Tape::traced(placeholders, outputs).nodes {
        done.visit(node)?;
    }
    Ok(outputs.iter().map(|output| done.stand_in(output)).collect())
}

impl Simplified {
    fn stand_in(&mut self, array: &Array) -> Array {
        if let Some(array) = self.stand_ins.get(&array.id()) {
            return array.clone();
        }
        let node = array.node();
        // Equal constants and ranges are one. (Others without inputs may have let go of them.)
        if matches!(node.op(), Op::Full(_) | Op::Arange(_) | Op::Eye(_)) {
            let known = self.known.entry(Computation::new(node.op(), &[], node));
            return known.or_insert_with(|| array.sibling(0)).sibling(array.output());
        }
        array.clone()
    }

    fn replace(&mut self, node: &Arc<Node>, with: &Arc<Node>) {
        if node_id(node) != node_id(with) {
            for (old, new) in Array::outputs_of(node).iter().zip(Array::outputs_of(with)) {
                self.stand_ins.insert(old.id(), new);
            }
        }
    }

    fn visit(&mut self, node: &Arc<Node>) -> Result<()> {
        let given = node.inputs();
        let inputs: Inputs = given.iter().map(|input| self.stand_in(input)).collect();
        let (op, inputs) = merge_views(node.op().clone(), inputs);
        let spec = &node.outputs[0].spec;
        if let Some(same) = changes_nothing(&op, &inputs, spec) {
            self.stand_ins.insert(Array::outputs_of(node)[0].id(), same);
            return Ok(());
        }
        let entry = match self.known.entry(Computation::new(&op, &inputs, node)) {
            Entry::Occupied(known) => {
                let known = known.get().node().clone();
                self.replace(node, &known);
                return Ok(());
            }
            Entry::Vacant(entry) => entry,
        };
        let is_as_it_was = op == *node.op() && inputs.iter().zip(&given).all(|(new, old)| new.is_same(old));
        let array = if is_as_it_was {
            Array::outputs_of(node).swap_remove(0)
        } else {
            Array::record_on(op, inputs, node.stream())?.swap_remove(0)
        };
        let recorded = entry.insert(array).node().clone();
        self.replace(node, &recorded);
        Ok(())
    }
}

/// A view of a view of the same kind as one view.
fn merge_views(op: Op, inputs: Inputs) -> (Op, Inputs) {
    let Some(input) = inputs.first() else { return (op, inputs) };
    let before = || -> Inputs { input.node().inputs().into_iter().take(1).collect() };
    match (&op, input.node().op()) {
        (Op::Reshape(_), Op::Reshape(_)) => {
            let before = before();
            if before.is_empty() { (op, inputs) } else { (op, before) }
        }
        (Op::Transpose(outer), Op::Transpose(inner)) => {
            let before = before();
            if before.is_empty() {
                return (op, inputs);
            }
            let permutation =
                outer.permutation.iter().map(|&axis| inner.permutation[axis]).collect::<Shape>();
            (Transpose { permutation }.into(), before)
        }
        _ => (op, inputs),
    }
}

/// The input that the only output equals, bit for bit.
fn changes_nothing(op: &Op, inputs: &[Array], spec: &ArraySpec) -> Option<Array> {
    let input = inputs.first()?;
    if input.spec() != spec {
        return None;
    }
    let is = |array: &Array, number: f64| {
        array.constant().is_some_and(|value| value.as_complex() == (number, 0.0))
    };
    let same = match op {
        Op::Leaf(Leaf::Copy) | Op::Cast(_) | Op::Reshape(Reshape { .. }) | Op::Broadcast(_) => Some(input),
        Op::Transpose(Transpose { permutation }) => {
            permutation.iter().enumerate().all(|(i, &axis)| i == axis).then_some(input)
        }
        Op::Binary(Binary(BinaryKind::Multiply)) if is(input, 1.0) => inputs.get(1),
        Op::Binary(Binary(BinaryKind::Multiply | BinaryKind::Divide)) if is(&inputs[1], 1.0) => Some(input),
        // Not `x + 0`, which turns -0 into 0.
        Op::Binary(Binary(BinaryKind::Subtract)) if is_positive_zero(&inputs[1]) => Some(input),
        _ => None,
    };
    same.filter(|same| same.spec() == spec).cloned()
}

fn is_positive_zero(array: &Array) -> bool {
    array.constant().is_some_and(|value| {
        let (re, im) = value.as_complex();
        re.to_bits() == 0 && im.to_bits() == 0
    })
}
