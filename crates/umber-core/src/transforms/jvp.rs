//! Jvp: traverse a tape from inputs to outputs and push tangents forward.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Result, bail, ensure};

use super::trace::{
    Site, Tape, Trace, check_derivative, check_is_real, in_derivative_of, is_flat, zero_derivative,
};
use super::vjp::{Slots, pull};
use super::{control_flow, custom};
use crate::device;
use crate::graph::{Array, ArraySpec, Node};
use crate::op::Op;
use crate::primitive::{Point, Primitive};
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::cast;

/// One tangent for each input or output of a node; `None` is zero.
type NodeTangents = SmallVec<[Option<Array>; 4]>;

/// Compute the outputs of a function and a Jacobian-vector product.
///
/// The outputs are those of `f` at `primals`; the product is their directional derivative along `tangents`.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::jvp;
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]));
/// let tangents = [Array::from([1.0f32, 0.0]), Array::from([0.0f32, 1.0])];
/// let (outputs, pushed) = jvp(|x| Ok(vec![&x[0] * &x[1]]), &[x, y], &tangents)?;
/// assert_eq!(outputs[0].to_vec::<f32>()?, [3.0, 8.0]);
/// assert_eq!(pushed[0].to_vec::<f32>()?, [3.0, 2.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn jvp(
    f: impl FnOnce(&[Array]) -> Result<Vec<Array>>,
    primals: &[Array],
    tangents: &[Array],
) -> Result<(Vec<Array>, Vec<Array>)> {
    let trace = Trace::forwards(primals)?;
    let outputs = f(&trace.inputs)?;
    let pushed = push_forward(&trace.end(), &outputs, tangents)?;
    Ok((outputs, pushed))
}

/// Push `tangents` of the inputs forward to tangents of `outputs`, which were computed from `inputs` of a [`Trace`].
///
/// Integer outputs have tangents in float32. Outputs that do not depend on the inputs have zeros.
pub fn push_forward(inputs: &[Array], outputs: &[Array], tangents: &[Array]) -> Result<Vec<Array>> {
    ensure!(
        inputs.len() == tangents.len(),
        Value("jvp"),
        "got {} tangents, expected one for each of {} inputs",
        tangents.len(),
        inputs.len()
    );
    let mut checked = Vec::with_capacity(tangents.len());
    for (i, (input, tangent)) in inputs.iter().zip(tangents).enumerate() {
        check_is_real("jvp", "tangent", i, tangent, input)?;
        ensure!(
            input.shape() == tangent.shape(),
            Value("jvp"),
            "tangent of shape {} does not match input of shape {}",
            tangent.shape(),
            input.shape()
        );
        // Tangents may be integers.
        checked.push(check_derivative(Some(cast(tangent, tangent.dtype().inexact())?), input)?);
    }
    let tape = Tape::differentiable(inputs, outputs);
    let slots = push(&tape, inputs, checked, outputs)?;
    let tangent_of = |output: &Array| {
        let pushed = tape.slot(output).and_then(|slot| slots[slot].clone());
        pushed.unwrap_or_else(|| zero_derivative(output))
    };
    Ok(outputs.iter().map(tangent_of).collect())
}

/// Traverse the tape forwards; returns the tangents of all slots that `outputs` need.
pub(super) fn push(
    tape: &Tape,
    sources: &[Array],
    tangents: impl IntoIterator<Item = Option<Array>>,
    outputs: &[Array],
) -> Result<Slots> {
    let mut slots: Slots = vec![None; tape.slots()];
    for (source, tangent) in sources.iter().zip(tangents) {
        // An array may be used as data and as an index: only the former has a tangent.
        if let (Some(slot), Some(tangent)) = (tape.slot(source), tangent) {
            slots[slot] = Some(tangent);
        }
    }
    let by_rule = |i: usize| matches!(tape.nodes[i].op(), Op::Custom(custom) if custom.pushes_by_rule());
    let needed = custom::needed(tape, outputs, by_rule);
    for (i, node) in tape.nodes.iter().enumerate() {
        if is_flat(node) || needed.as_ref().is_some_and(|needed| !needed[i]) {
            continue;
        }
        let tangent = |(i, input): (usize, &Array)| {
            tape.slot(input).filter(|_| !node.op().is_index(i)).and_then(|slot| slots[slot].clone())
        };
        let tangents: NodeTangents = node.inputs().iter().enumerate().map(tangent).collect();
        if tangents.iter().all(Option::is_none) {
            continue;
        }
        let _stream = device::on_stream(node.stream());
        let _line = in_derivative_of(node);
        let outputs = Array::outputs_of(node);
        for (pushed, output) in push_node(node, &tangents)?.into_iter().zip(outputs) {
            if let Some(slot) = tape.slot(&output) {
                slots[slot] = check_derivative(pushed, &output)?;
            }
        }
    }
    Ok(slots)
}

/// The tangents of a node's outputs: by its rule, through its expansion, or from its vjp.
fn push_node(node: &Arc<Node>, tangents: &[Option<Array>]) -> Result<NodeTangents> {
    if let Some(pushed) = control_flow::jvp(node, tangents) {
        return Ok(pushed?.into());
    }
    let op = node.op();
    let site = Site::of(node)?;
    let has_tangent: SmallVec<[bool; 4]> = tangents.iter().map(Option::is_some).collect();
    let point = Point { inputs: &site.inputs, outputs: &site.outputs, needs_cotangent: &has_tangent };
    if let Some(pushed) = op.jvp(&point, tangents) {
        return Ok(pushed?.into_iter().map(Some).collect());
    }
    let inputs = node.inputs();
    let is_custom = matches!(op, Op::Custom(custom) if custom.pushes_by_rule());
    if !is_custom && let Some(expanded) = op.expand(&inputs) {
        let expanded = expanded?;
        let tape = Tape::differentiable_until(&inputs, &expanded, |_| false);
        let slots = push(&tape, &inputs, tangents.iter().cloned(), &expanded)?;
        return Ok(expanded.iter().map(|output| tape.slot(output).and_then(|i| slots[i].clone())).collect());
    }
    transpose_twice(node, &point, tangents)
}

/// The jvp derived from the vjp: this is linear in its cotangents, and the jvp is its transpose with respect to them.
fn transpose_twice(node: &Arc<Node>, point: &Point<'_>, tangents: &[Option<Array>]) -> Result<NodeTangents> {
    let placeholder = |output: &Array| {
        let spec = ArraySpec { shape: output.shape().clone(), dtype: output.dtype().inexact() };
        Array::placeholder(Leaf::Trace, spec, None)
    };
    let cotangents: Vec<Array> = point.outputs.iter().map(placeholder).collect();
    let Some(pulled) = node.op().vjp(point, &cotangents) else {
        bail!(Value("jvp"), "{} has no derivative; wrap its input in stop_gradient", node.op().name());
    };
    let (pulled, tangents): (Vec<Array>, Vec<Option<Array>>) =
        pulled?.into_iter().zip(tangents).filter_map(|(pulled, t)| Some((pulled?, t.clone()))).unzip();
    let is_outside = |node: &Arc<Node>| {
        point.inputs.iter().chain(point.outputs).any(|array| Arc::ptr_eq(array.node(), node))
    };
    let tape = Tape::between(&cotangents, &pulled, is_outside);
    let slots = pull(&tape, &pulled, tangents)?;
    Ok(cotangents.iter().map(|placeholder| tape.slot(placeholder).and_then(|i| slots[i].clone())).collect())
}
