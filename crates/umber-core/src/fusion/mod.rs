//! Fusion: which nodes become one kernel, and the program they become.
//!
//! Evaluation and compilation ask [`partition`] the same question; evaluation runs the answer, compilation records
//! it as [`crate::primitives::fused::Fused`] nodes.

pub mod partition;
pub(crate) mod programs;
pub mod region;

use std::sync::Arc;

use crate::graph::walk::{IdMap, node_id, topological_until};
use crate::graph::{Array, Inputs, Node, on_line};
use crate::primitives::fused::Fused;
use crate::primitives::leaf::Leaf;
use partition::{Unit, partition};
use umber_types::Result;

/// The graph behind `outputs` with every elementwise region replaced by one fused node.
///
/// Only nodes for which `is_part` holds are looked at. Those already evaluated, and placeholders, stay as they are.
pub fn fuse(outputs: &[Array], is_part: impl Fn(&Arc<Node>) -> bool) -> Result<Vec<Array>> {
    let nodes: Vec<_> = topological_until(outputs, |node| !is_part(node))
        .into_iter()
        .filter(|node| {
            is_part(node)
                && !node.is_evaluated()
                && !matches!(node.op(), crate::op::Op::Leaf(leaf) if *leaf != Leaf::Copy)
        })
        .collect();
    let index: IdMap<usize, usize> = nodes.iter().enumerate().map(|(i, node)| (node_id(node), i)).collect();
    let wanted: IdMap<usize, ()> = outputs.iter().map(|output| (node_id(output.node()), ())).collect();
    let units = partition(
        &nodes.iter().collect::<Vec<_>>(),
        |i| wanted.contains_key(&node_id(&nodes[i])),
        |node| index.get(&node_id(node)).copied(),
    );
    let mut replaced: IdMap<(usize, u32), Array> = IdMap::default();
    let substitute = |array: &Array, replaced: &IdMap<(usize, u32), Array>| {
        replaced.get(&array.id()).cloned().unwrap_or_else(|| array.clone())
    };
    for unit in units {
        match unit {
            Unit::Node(i) => {
                let node = &nodes[i as usize];
                let inputs: Inputs = node.inputs().iter().map(|input| substitute(input, &replaced)).collect();
                if inputs.is_empty() {
                    continue;
                }
                let _line = on_line(node.origin().cloned());
                let arrays = Array::record_on(node.op().clone(), inputs, node.stream())?;
                for (old, new) in Array::outputs_of(node).iter().zip(arrays) {
                    replaced.insert(old.id(), new);
                }
            }
            Unit::Region(region) => {
                let built =
                    region::build(|i| &nodes[i as usize], &region, |node| index.get(&node_id(node)).copied());
                let inputs: Inputs = built.inputs.iter().map(|input| substitute(input, &replaced)).collect();
                let stream = nodes[region.root()].stream();
                let arrays = Array::record_on(Fused(built.region.into()), inputs, stream)?;
                for (&member, new) in region.outputs.iter().zip(arrays) {
                    let old = &Array::outputs_of(&nodes[member as usize])[0];
                    replaced.insert(old.id(), new);
                }
            }
        }
    }
    Ok(outputs.iter().map(|output| substitute(output, &replaced)).collect())
}
