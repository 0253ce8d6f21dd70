//! Input-free parts of a traced function: arrays that it computes from no argument, such as a mask made of `arange`.
//!
//! Tracing sees them as captured arrays that are not evaluated yet. Held as such, their values would stay in memory as long as the
//! compiled function does. So their operations become steps of the program, where [`crate::passes::hoist`] decides what is
//! computed once.

use std::sync::Arc;

use crate::graph::program::{Operand, Step};
use crate::graph::walk::{IdMap, node_id, topological_until};
use crate::graph::{Array, Node, Program};
use crate::op::Op;

/// The nodes that only the traced function's graph refers to, inputs before users.
///
/// A node that anything else holds, such as an array that the function found in its closure, stays captured: it is evaluated once
/// for all who use it. `outputs` and `captured` are those of the trace.
pub(super) fn nodes(outputs: &[Array], captured: &[Array]) -> Vec<Arc<Node>> {
    if captured.iter().all(|array| array.is_evaluated() || array.is_traced()) {
        return Vec::new();
    }
    let graph: Vec<Arc<Node>> = topological_until(outputs, |node| node.is_evaluated());
    // How many handles the graph, `captured` and `graph` have.
    let mut handles: IdMap<usize, usize> = IdMap::default();
    for node in &graph {
        *handles.entry(node_id(node)).or_default() += 1;
        for input in node.lock_inputs().iter() {
            *handles.entry(node_id(input.node())).or_default() += 1;
        }
    }
    for array in captured {
        *handles.entry(node_id(array.node())).or_default() += 1;
    }
    // Constants become operands: the shape of `full` is not part of its operation.
    let is_own = |node: &Arc<Node>| {
        !node.is_traced()
            && !node.is_evaluated()
            && !matches!(node.op(), Op::Full(_) | Op::Leaf(_))
            && Arc::strong_count(node) == handles[&node_id(node)]
    };
    let own: Vec<bool> = graph.iter().map(is_own).collect();
    graph.into_iter().zip(own).filter_map(|(node, own)| own.then_some(node)).collect()
}

/// Insert `nodes` as the first steps of the program. Returns the new program and the arrays that it captures, which follow its
/// `argument_count` arguments.
pub(super) fn inline(
    program: &Program,
    argument_count: usize,
    captured: &[Array],
    nodes: &[Arc<Node>],
) -> (Program, Vec<Array>) {
    let nodes = needed(nodes, captured);
    let steps_of: IdMap<usize, usize> =
        nodes.iter().enumerate().map(|(step, node)| (node_id(node), step)).collect();
    let mut remaining: Vec<Array> = Vec::new();
    let mut arguments: IdMap<(usize, u32), u32> = IdMap::default();
    let inputs = nodes.iter().flat_map(|node| node.inputs());
    for array in captured.iter().cloned().chain(inputs) {
        if !steps_of.contains_key(&node_id(array.node())) && array.constant().is_none() {
            arguments.entry(array.id()).or_insert_with(|| {
                remaining.push(array);
                (argument_count + remaining.len() - 1) as u32
            });
        }
    }
    let mut first_outputs: Vec<u32> = Vec::with_capacity(nodes.len());
    let mut next = (argument_count + remaining.len()) as u32;
    for node in &nodes {
        first_outputs.push(next);
        next += node.outputs.len() as u32;
    }
    let operand = |array: &Array| match (steps_of.get(&node_id(array.node())), array.constant()) {
        (Some(step), _) => Operand::Slot(first_outputs[*step] + array.output() as u32),
        (None, Some(value)) => Operand::Constant(Box::new((array.spec().clone(), value))),
        (None, None) => Operand::Slot(arguments[&array.id()]),
    };
    let first_own = argument_count + captured.len();
    let renumbered = |old: &Operand| match old {
        Operand::Slot(slot) if (*slot as usize) < argument_count => Operand::Slot(*slot),
        Operand::Slot(slot) if (*slot as usize) < first_own => {
            operand(&captured[*slot as usize - argument_count])
        }
        Operand::Slot(slot) => Operand::Slot(next + slot - first_own as u32),
        Operand::Constant(_) => old.clone(),
    };
    let inlined = nodes.iter().map(|node| Step::of(node, operand));
    let own = (program.steps.iter())
        .map(|step| Step { inputs: step.inputs.iter().map(renumbered).collect(), ..step.clone() });
    let inlined = Program {
        steps: inlined.chain(own).collect(),
        outputs: program.outputs.iter().map(renumbered).collect(),
        arguments: (program.arguments[..argument_count].iter())
            .chain(remaining.iter().map(Array::spec))
            .cloned()
            .collect(),
    };
    (inlined, remaining)
}

/// Those of `nodes` that `captured` depends on through pending nodes of the list. A captured array that was evaluated since has
/// released its inputs, as has one that is held elsewhere and so not in the list.
fn needed<'a>(nodes: &'a [Arc<Node>], captured: &[Array]) -> Vec<&'a Arc<Node>> {
    let mut read: IdMap<usize, ()> = captured.iter().map(|array| (node_id(array.node()), ())).collect();
    let mut found: Vec<&Arc<Node>> = Vec::new();
    for node in nodes.iter().rev() {
        if read.contains_key(&node_id(node)) && !node.is_evaluated() {
            read.extend(node.lock_inputs().iter().map(|input| (node_id(input.node()), ())));
            found.push(node);
        }
    }
    found.reverse();
    found
}
