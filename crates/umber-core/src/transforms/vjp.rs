//! Vjp: traverse a tape from outputs to inputs and pull cotangents back.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, bail, ensure};

use super::accumulate::CotangentSum;
use super::trace::{
    Site, Tape, Trace, check_derivative, check_is_real, in_derivative_of, is_flat, zero_derivative,
};
use super::{control_flow, holders};
use crate::device;
use crate::graph::{Array, Node};
use crate::primitive::{Cotangents, Point, Primitive};

/// Derivatives, indexed by slot; `None` is zero.
pub(super) type Slots = Vec<Option<Array>>;
/// One derivative for each output of a node; `None` is zero.
type Outputs = SmallVec<[Option<Array>; 1]>;

/// Compute the outputs of a function and a vector-Jacobian product.
///
/// The outputs are those of `f` at `primals`; the product holds the cotangents of `primals` for `cotangents` of the outputs.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::vjp;
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]));
/// let (outputs, pulled) = vjp(|x| Ok(vec![&x[0] * &x[1]]), &[x, y], &[Array::from([1.0f32, 10.0])])?;
/// assert_eq!(outputs[0].to_vec::<f32>()?, [3.0, 8.0]);
/// assert_eq!(pulled[0].to_vec::<f32>()?, [3.0, 40.0]);
/// assert_eq!(pulled[1].to_vec::<f32>()?, [1.0, 20.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vjp(
    f: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    primals: &[Array],
    cotangents: &[Array],
) -> Result<(Vec<Array>, Vec<Array>)> {
    let trace = Trace::with_data(primals)?;
    let outputs = f(&trace.inputs)?;
    let pulled = pull_back(&trace.end(), &outputs, cotangents)?;
    Ok((outputs, pulled))
}

/// Pull `cotangents` of `outputs` back to cotangents of `inputs` (of a [`Trace`]), from which they were computed.
///
/// Integer inputs have cotangents in float32. Inputs that no output depends on have zeros.
pub fn pull_back(inputs: &[Array], outputs: &[Array], cotangents: &[Array]) -> Result<Vec<Array>> {
    ensure!(
        outputs.len() == cotangents.len(),
        Value("vjp"),
        "got {} cotangents, expected one for each of {} outputs",
        cotangents.len(),
        outputs.len()
    );
    for (i, (output, cotangent)) in outputs.iter().zip(cotangents).enumerate() {
        check_is_real("vjp", "cotangent", i, cotangent, output)?;
        ensure!(
            output.shape() == cotangent.shape(),
            Value("vjp"),
            "cotangent of shape {} does not match output of shape {}",
            cotangent.shape(),
            output.shape()
        );
    }
    let tape = Tape::differentiable(inputs, outputs);
    let slots = pull(&tape, outputs, cotangents.iter().cloned().map(Some))?;
    let cotangent_of = |input: &Array| {
        let pulled = tape.slot(input).and_then(|slot| slots[slot].clone());
        pulled.unwrap_or_else(|| zero_derivative(input))
    };
    Ok(inputs.iter().map(cotangent_of).collect())
}

/// Traverse the tape backwards; returns the cotangents in the slots of its sources.
pub(super) fn pull(
    tape: &Tape,
    outputs: &[Array],
    cotangents: impl IntoIterator<Item = Option<Array>>,
) -> Result<Slots> {
    let mut slots = vec![CotangentSum::default(); tape.slots()];
    for (output, cotangent) in outputs.iter().zip(cotangents) {
        if let Some(slot) = tape.slot(output)
            && let Some(cotangent) = as_cotangent(cotangent, output)?
        {
            slots[slot].add(cotangent)?;
        }
    }
    for node in tape.nodes.iter().rev() {
        let cotangents: Outputs =
            slots[tape.slots_of(node)].iter_mut().map(CotangentSum::take).collect::<Result<_>>()?;
        if cotangents.iter().all(Option::is_none) || is_flat(node) {
            continue;
        }
        let _stream = device::on_stream(node.stream());
        let _line = in_derivative_of(node);
        let inputs = node.inputs();
        let slots_of_inputs: SmallVec<[Option<usize>; 4]> = inputs
            .iter()
            .enumerate()
            .map(|(i, input)| tape.slot(input).filter(|_| !node.op().is_index(i)))
            .collect();
        let needs_cotangent: SmallVec<[bool; 4]> = slots_of_inputs.iter().map(Option::is_some).collect();
        let pulled = pull_node(node, &needs_cotangent, cotangents)?;
        for ((slot, pulled), input) in slots_of_inputs.into_iter().zip(pulled).zip(&inputs) {
            if let (Some(slot), Some(pulled)) = (slot, check_derivative(pulled, input)?) {
                slots[slot].add(pulled)?;
            }
        }
    }
    slots.iter_mut().map(CotangentSum::take).collect()
}

/// A cotangent in the dtype of cotangents of `output`. Cotangents from users may be integers.
fn as_cotangent(cotangent: Option<Array>, output: &Array) -> Result<Option<Array>> {
    let Some(cotangent) = cotangent else { return Ok(None) };
    let real = crate::primitives::rules::cast(&cotangent, cotangent.dtype().inexact())?;
    check_derivative(Some(real), output)
}

/// The cotangents of a node's inputs.
fn pull_node(node: &Arc<Node>, needs_cotangent: &[bool], cotangents: Outputs) -> Result<Cotangents> {
    if let Some(pulled) = control_flow::vjp(node, needs_cotangent, &cotangents) {
        return pulled;
    }
    let site = Site::of(node)?;
    let filled: SmallVec<[Array; 1]> = cotangents
        .iter()
        .zip(&site.outputs)
        .map(|(cotangent, output)| cotangent.clone().unwrap_or_else(|| zero_derivative(output)))
        .collect();
    let point = Point { inputs: &site.inputs, outputs: &site.outputs, needs_cotangent };
    match holders::vjp(node.op(), &point, &filled) {
        Some(pulled) => pulled,
        None => pull_expansion(node, needs_cotangent, cotangents),
    }
}

/// Pull back through the simpler nodes of a node's expansion.
fn pull_expansion(node: &Arc<Node>, needs_cotangent: &[bool], cotangents: Outputs) -> Result<Cotangents> {
    let inputs = node.inputs();
    let Some(expanded) = node.op().expand(&inputs) else {
        bail!(Value("vjp"), "{} has no gradient; wrap its input in stop_gradient", node.op().name());
    };
    let expanded = expanded?;
    let sources: Vec<Array> = inputs
        .iter()
        .zip(needs_cotangent)
        .filter(|(_, needs_cotangent)| **needs_cotangent)
        .map(|(input, _)| input.clone())
        .collect();
    let is_input = |node: &Arc<Node>| inputs.iter().any(|input| Arc::ptr_eq(input.node(), node));
    let tape = Tape::differentiable_until(&sources, &expanded, is_input);
    let mut slots = pull(&tape, &expanded, cotangents)?;
    // Taken, not cloned: an array that is used as two inputs has one cotangent, not two.
    let mut take = |input: &Array| tape.slot(input).and_then(|slot| slots[slot].take());
    Ok(inputs
        .iter()
        .zip(needs_cotangent)
        .map(|(input, &needs_cotangent)| if needs_cotangent { take(input) } else { None })
        .collect())
}
