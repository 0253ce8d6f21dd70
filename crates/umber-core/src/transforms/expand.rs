//! Expansion: replace operations of some kinds by simpler ones.

use umber_types::Result;

use super::trace::Tape;
use crate::graph::{Array, Inputs};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::source_line::with_source_line;

/// The same `outputs` of `placeholders`, with the operations for which `is_replaced` is true replaced by their expansions.
pub(crate) fn expanded(
    placeholders: &[Array],
    outputs: &[Array],
    is_replaced: impl Fn(&Op) -> bool,
) -> Result<Vec<Array>> {
    let tape = Tape::traced(placeholders, outputs);
    if !tape.nodes.iter().any(|node| is_replaced(node.op())) {
        return Ok(outputs.to_vec());
    }
    let mut slots: Vec<Option<Array>> = vec![None; tape.slots()];
    let replacement = |array: &Array, slots: &[Option<Array>]| {
        tape.slot(array).and_then(|slot| slots[slot].clone()).unwrap_or_else(|| array.clone())
    };
    for node in &tape.nodes {
        let old_inputs = node.inputs();
        let inputs: Inputs = old_inputs.iter().map(|input| replacement(input, &slots)).collect();
        let expansion = if is_replaced(node.op()) { node.op().expand(&inputs) } else { None };
        let is_unchanged = inputs.iter().zip(&old_inputs).all(|(new, old)| new.is_same(old));
        let _line = with_source_line(node.origin().cloned());
        let arrays = match expansion {
            Some(arrays) => arrays?,
            None if is_unchanged => continue,
            None => Array::record_on(node.op().clone(), inputs, node.stream())?.into_vec(),
        };
        for (slot, array) in tape.slots_of(node).zip(arrays) {
            slots[slot] = Some(array);
        }
    }
    Ok(outputs.iter().map(|output| replacement(output, &slots)).collect())
}
