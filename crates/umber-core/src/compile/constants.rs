//! Constant folding: arrays that hold one value in every element and every call become constants of the program.
//!
//! Only operations whose results are exact or correctly rounded are folded, so that one element computed here equals bit for bit
//! the result of every kernel: arithmetic, comparisons, rounding and casts, except those of complex numbers.

use smallvec::SmallVec;
use umber_types::{DType, Result, Scalar, Shape, Stream};

use crate::graph::program::Operand;
use crate::graph::walk::{IdMap, node_id, topological_until};
use crate::graph::{Array, Node, Program, Storage};
use crate::op::Op;
use crate::primitive::Primitive;

/// Replace captured arrays that were computed from constants only by constants.
///
/// The arguments are unchanged, though some may no longer be read.
pub(super) fn fold(program: &Program, argument_count: usize, captured: &[Array]) -> Result<Program> {
    let mut known: IdMap<usize, Scalar> = IdMap::default();
    for node in topological_until(captured, |node| node.is_evaluated() || node.traced) {
        if node.is_evaluated() || node.traced {
            continue;
        }
        if let Some(value) = value_of(&node, &known)? {
            known.insert(node_id(&node), value);
        }
    }
    if known.is_empty() {
        return Ok(program.clone());
    }
    let mut folded = program.clone();
    let steps =
        folded.steps.iter_mut().flat_map(|step| step.inputs.iter_mut()).map(|operand| (operand, false));
    let outputs = folded.outputs.iter_mut().map(|operand| (operand, true));
    for (operand, is_output) in steps.chain(outputs) {
        let Operand::Slot(slot) = *operand else { continue };
        let array = (slot as usize).checked_sub(argument_count).and_then(|index| captured.get(index));
        // A broadcast of one element needs no memory, while a constant as an output would be filled.
        if let Some(array) =
            array.filter(|array| !is_output || !matches!(array.node().op(), Op::Broadcast(_)))
            && let Some(value) = known.get(&node_id(array.node()))
        {
            *operand = Operand::Constant(Box::new((array.spec().clone(), *value)));
        }
    }
    Ok(folded)
}

fn value_of(node: &Node, known: &IdMap<usize, Scalar>) -> Result<Option<Scalar>> {
    if let Op::Full(full) = node.op() {
        return Ok(Some(full.value));
    }
    let inputs = node.lock_inputs().clone();
    let mut constants: SmallVec<[(Scalar, DType); 3]> = SmallVec::new();
    for input in &inputs {
        let Some(&value) = known.get(&node_id(input.node())) else { return Ok(None) };
        constants.push((value, input.dtype()));
    }
    match constants[..] {
        [] => Ok(None),
        [(value, _)] if node.op().is_view() => Ok(Some(value)),
        _ => compute(node.op(), &constants, node.outputs[0].spec.dtype),
    }
}

/// The result of an operation on constants, if it is folded.
pub(super) fn compute(op: &Op, inputs: &[(Scalar, DType)], dtype: DType) -> Result<Option<Scalar>> {
    if inputs.is_empty() || dtype.is_complex() || inputs.iter().any(|(_, dtype)| dtype.is_complex()) {
        return Ok(None);
    }
    if !op.is_exact() {
        return Ok(None);
    }
    let scalar = |&(value, dtype): &(Scalar, DType)| {
        Array::from_storage(Storage::splat(value, &Shape::scalar(), dtype)?, dtype)
    };
    let operands: SmallVec<[Array; 3]> = inputs.iter().map(scalar).collect::<Result<_>>()?;
    let outputs = Array::record_on(op.clone(), operands.into_iter().collect(), Stream::CPU)?;
    outputs[0].item().map(Some)
}
