//! Vmap: traverse a tape from inputs to outputs, with every node computing a whole batch.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{DType, Result, Shape, bail, ensure, error, shape::normalize_axis};

use super::trace::{Tape, Trace, on_line_of};
use super::{checkpoint, control_flow, custom, holders};
use crate::device;
use crate::graph::tracing::{self, BatchIndex, BatchIndexGuard};
use crate::graph::{Array, ArraySpec, Inputs, Node};
use crate::primitive::{Batched, Primitive};
use crate::primitives::control_flow::record_again;
use crate::primitives::gather::iota;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{self, cast, move_axis};

/// Return a function that applies another one to every element of a batch axis, vectorised.
///
/// The batch axes are `in_axes` of the inputs and `out_axes` of the outputs. `None` in `in_axes` passes the whole input to
/// every element. A single entry applies to all.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::vmap;
/// // The product of a matrix with each row of a batch.
/// let product = vmap(|x| Ok(vec![x[0].matmul(&x[1])?]), &[None, Some(0)], &[Some(0)]);
/// let matrix = Array::from([[0.0f32, 1.0], [1.0, 0.0]]);
/// let rows = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(product(&[matrix, rows])?[0].to_vec::<f32>()?, [2.0, 1.0, 4.0, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vmap<F>(
    f: F,
    in_axes: &[Option<i64>],
    out_axes: &[Option<i64>],
) -> impl Fn(&[Array]) -> Result<Vec<Array>> + use<F>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let (in_axes, out_axes) = (in_axes.to_vec(), out_axes.to_vec());
    move |inputs| {
        let mapped = Mapped::begin(inputs, &expand_axes("in_axes", &in_axes, inputs.len())?)?;
        let outputs = f(&mapped.trace.inputs)?;
        let axes = expand_axes("out_axes", &out_axes, outputs.len())?;
        mapped.end(&outputs, &axes)
    }
}

/// One axis for each array, from as many or from a single one for all.
fn expand_axes(name: &str, axes: &[Option<i64>], count: usize) -> Result<Vec<Option<i64>>> {
    match axes {
        [axis] => Ok(vec![*axis; count]),
        _ if axes.len() == count => Ok(axes.to_vec()),
        _ => bail!(Value("vmap"), "got {} {name}, expected one or {count}", axes.len()),
    }
}

/// A trace of a function on a single element of its batched arguments: run it on `trace.inputs`, then end it.
#[derive(Debug)]
pub struct Mapped {
    /// One batch element of every argument, without values.
    pub trace: Trace,
    /// The arguments, with the batch axis first.
    values: Vec<Batched>,
    batch_size: usize,
    /// Placeholder for the index of the batch element: draws without a key depend on it.
    index: Array,
    batch_index_guard: BatchIndexGuard,
}

impl Mapped {
    /// Trace one batch element of `inputs` along `axes`; inputs whose axis is `None` are shared by all elements.
    pub fn begin(inputs: &[Array], axes: &[Option<i64>]) -> Result<Mapped> {
        ensure!(
            inputs.len() == axes.len(),
            Value("vmap"),
            "got {} in_axes, expected one for each of {} inputs",
            axes.len(),
            inputs.len()
        );
        let mut batch_size: Option<usize> = None;
        let mut values = Vec::with_capacity(inputs.len());
        let mut specs = Vec::with_capacity(inputs.len());
        for (input, axis) in inputs.iter().zip(axes) {
            let value = match axis {
                Some(axis) => Batched::yes(to_front(input, *axis)?),
                None => Batched { array: input.clone(), batched: false },
            };
            if value.batched {
                let length = value.array.shape()[0];
                let expected = *batch_size.get_or_insert(length);
                ensure!(
                    length == expected,
                    Value("vmap"),
                    "lengths of the mapped axes differ: {expected} and {length}"
                );
            }
            specs.push(ArraySpec::new(Shape::new(value.shape().iter().copied()), input.dtype()));
            values.push(value);
        }
        let Some(batch_size) = batch_size else {
            bail!(Value("vmap"), "needs at least one input with a mapped axis in in_axes");
        };
        let trace = Trace::placeholders(Leaf::Vmap, specs);
        let index = trace.another(Leaf::Vmap, ArraySpec::new(Shape::scalar(), DType::UInt32));
        let batch_index_guard =
            tracing::push_batch_index(BatchIndex { index: index.clone(), count: Some(batch_size) });
        Ok(Mapped { trace, values, batch_size, index, batch_index_guard })
    }

    /// The batch size.
    pub fn count(&self) -> usize {
        self.batch_size
    }

    /// The outputs of the batch, stacked along `axes`.
    pub fn end(self, outputs: &[Array], axes: &[Option<i64>]) -> Result<Vec<Array>> {
        ensure!(
            outputs.len() == axes.len(),
            Value("vmap"),
            "got {} out_axes, expected one for each of {} outputs",
            axes.len(),
            outputs.len()
        );
        let batch_size = self.batch_size;
        let batched = self.finish(outputs)?;
        batched.iter().zip(axes).map(|(output, axis)| from_front(output, batch_size, *axis)).collect()
    }

    /// The outputs of the batch, with the batch axis first if they are batched.
    pub fn finish(mut self, outputs: &[Array]) -> Result<Vec<Batched>> {
        drop(self.batch_index_guard);
        let mut sources = self.trace.end();
        sources.push(self.index);
        self.values.push(Batched::yes(cast(&iota(&[self.batch_size].into(), 0)?, DType::UInt32)?));
        batch(&sources, outputs, &self.values)
    }
}

/// Move the batch axis of `array` to the front.
pub fn to_front(array: &Array, axis: i64) -> Result<Array> {
    let axis = normalize_axis("vmap", axis, array.ndim())?;
    move_axis(array, axis, 0)
}

/// Return an output for the whole batch, with the batch axis at `axis`.
///
/// `None` requires an output that does not depend on the batch.
pub fn from_front(output: &Batched, batch_size: usize, axis: Option<i64>) -> Result<Array> {
    let Some(axis) = axis else {
        ensure!(
            !output.batched,
            Value("vmap"),
            "out_axes is None for an output that depends on the mapped axis"
        );
        return Ok(output.array.clone());
    };
    let axis = normalize_axis("vmap", axis, output.ndim() + 1)?;
    move_axis(&rules::batch(output, batch_size)?, 0, axis)
}

/// Compute `outputs` for a batch: they were computed from `placeholders` (of a [`Trace`]), for which `inputs` are substituted.
pub fn batch(placeholders: &[Array], outputs: &[Array], inputs: &[Batched]) -> Result<Vec<Batched>> {
    let tape = Tape::traced(placeholders, outputs);
    let _memo = checkpoint::batch_memo();
    replay(&tape, placeholders, inputs, outputs)
}

fn replay(tape: &Tape, sources: &[Array], values: &[Batched], outputs: &[Array]) -> Result<Vec<Batched>> {
    let mut slots: Vec<Option<Batched>> = vec![None; tape.slots()];
    for (source, value) in sources.iter().zip(values) {
        if let Some(slot) = tape.slot(source) {
            slots[slot] = Some(value.clone());
        }
    }
    let value_of = |array: &Array, slots: &[Option<Batched>]| {
        let value = tape.slot(array).and_then(|slot| slots[slot].clone());
        value.unwrap_or_else(|| Batched { array: array.clone(), batched: false })
    };
    let rule_arguments = custom::vmap_rule_arguments(tape, &slots);
    let batch_size = values.iter().find(|value| value.batched).map(|value| value.array.shape()[0]);
    let needed = custom::needed(tape, outputs, |i| rule_arguments.get(i).is_some_and(Option::is_some));
    for (i, node) in tape.nodes.iter().enumerate() {
        if needed.as_ref().is_some_and(|needed| !needed[i]) {
            continue;
        }
        let mut inputs: SmallVec<[Batched; 3]> =
            node.inputs().iter().map(|input| value_of(input, &slots)).collect();
        if let (Some(&Some(argument)), Some(batch_size)) = (rule_arguments.get(i), batch_size) {
            // The argument may not be batched after all, but the rule expects a batched one.
            inputs[argument] = Batched::yes(rules::batch(&inputs[argument], batch_size)?);
        }
        let _stream = device::on_stream(node.stream());
        let _line = on_line_of(node);
        for (slot, value) in tape.slots_of(node).zip(batch_node(node, &inputs)?) {
            slots[slot] = Some(value);
        }
    }
    Ok(outputs.iter().map(|output| value_of(output, &slots)).collect())
}

/// A node's outputs for a batch: the same node if no input is batched, otherwise by its rule or its expansion.
fn batch_node(node: &Arc<Node>, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let op = node.op();
    if !inputs.iter().any(|input| input.batched) {
        let inputs: Inputs = inputs.iter().map(|input| input.array.clone()).collect();
        let outputs = record_again(op, inputs, node.stream())?;
        return Ok(outputs.into_iter().map(|array| Batched { array, batched: false }).collect());
    }
    if let Some(outputs) = control_flow::vmap(op, inputs) {
        return outputs;
    }
    if let Some(outputs) = holders::vmap(op, inputs) {
        return outputs;
    }
    // Expanded for a single batch element; the expansion is then batched like any other graph.
    let single = node.inputs();
    let Some(expanded) = op.expand(&single) else {
        return Err(error!(Value("vmap"), "{} cannot be batched", op.name()));
    };
    let expanded = expanded?;
    let tape = Tape::between(&single, &expanded, |_| false);
    replay(&tape, &single, inputs, &expanded)
}
