//! Checkpoint: a function whose intermediate values are computed again for its gradient instead of being kept.

use std::sync::Arc;

use umber_types::Result;

use super::trace::{Tape, Trace};
use super::vjp::pull;
use super::vmap::batch as batch_outputs;
use crate::graph::{Array, Inputs, Program};
use crate::primitive::{Batched, Cotangents, Point, lanes};
use crate::primitives::checkpoint::Checkpoint;
use crate::primitives::control::depends;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules;

/// A function whose gradient computes it again: only its arguments and what it captured are kept until then.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::{checkpoint, grad};
///
/// let block = checkpoint(|x| Ok(vec![ops::sin(&ops::exp(&x[0])?)?]));
/// let slope = grad(|x| Ok(block(std::slice::from_ref(x))?.remove(0)));
/// let expected = 1f64.exp() * 1f64.exp().cos();
/// assert!((slope(&Array::from(1.0f32))?.item()?.as_f64() - expected).abs() < 1e-5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn checkpoint<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    move |arguments| {
        // What its loops would keep for a backward pass is computed again with them.
        let trace = Trace::forwards(arguments)?;
        let outputs = f(&trace.inputs)?;
        end_checkpoint(trace, arguments, &outputs)
    }
}

/// The outputs that a function made of `trace`, which was begun on `arguments`; they can be computed again.
pub fn end_checkpoint(trace: Trace, arguments: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
    let placeholders = trace.end();
    if outputs.is_empty() || !arguments.iter().chain(outputs).any(Array::is_traced) {
        return Ok(outputs.to_vec());
    }
    let (program, captured) = Program::close(&placeholders, outputs);
    record(program, arguments.iter().chain(&captured).chain(outputs).cloned().collect())
}

fn record(program: Program, inputs: Inputs) -> Result<Vec<Array>> {
    Ok(Array::record(Checkpoint { program: Arc::new(program) }, inputs)?.into_vec())
}

/// Compute the function again when the cotangents are there, and pull them back through that.
pub(super) fn vjp(checkpoint: &Checkpoint, at: &Point<'_>, cotangents: &[Array]) -> Result<Cotangents> {
    let (arguments, _) = checkpoint.split(at.inputs);
    // Apart from the others: a cotangent is pulled back to all outputs of a node that is a source.
    let of = |wanted: bool| -> Vec<Array> {
        let chosen = arguments.iter().zip(at.wanted).filter(|&(_, &is_wanted)| is_wanted == wanted);
        chosen.map(|(argument, _)| argument.clone()).collect()
    };
    let sources = depends(&of(true), cotangents)?;
    let (mut wanted, mut others) = (sources.iter(), depends(&of(false), cotangents)?.into_iter());
    let again: Vec<Array> = at.wanted[..arguments.len()]
        .iter()
        .filter_map(|&is_wanted| if is_wanted { wanted.next().cloned() } else { others.next() })
        .collect();
    let outputs = checkpoint.program.replay(&again)?;
    let tape = Tape::between(&sources, &outputs, |_| false);
    let mut slots = pull(&tape, &outputs, cotangents.iter().cloned().map(Some))?;
    let pulled: Vec<Option<Array>> =
        again.iter().map(|source| tape.slot(source).and_then(|slot| slots[slot].take())).collect();
    // Computed together, so that what was computed again is not kept until the last of them is asked for.
    let there: Vec<Array> =
        pulled.iter().flatten().filter(|pulled| pulled.constant().is_none()).cloned().collect();
    let mut joined = depends(&there, &[])?.into_iter();
    let mut settled: Cotangents = pulled
        .into_iter()
        .map(|pulled| {
            pulled.and_then(|array| if array.constant().is_none() { joined.next() } else { Some(array) })
        })
        .collect();
    settled.resize(at.inputs.len(), None);
    Ok(settled)
}

/// The outputs for a batch, with the function batched.
pub(super) fn batch(checkpoint: &Checkpoint, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let lanes = lanes(inputs);
    let (arguments, outputs) = checkpoint.split(inputs);
    let lane = Trace::placeholders(Leaf::Trace, checkpoint.program.arguments.iter().cloned());
    let made = checkpoint.program.replay(&lane.inputs)?;
    let whole =
        Trace::placeholders(Leaf::Trace, arguments.iter().map(|argument| argument.array.spec().clone()));
    let values: Vec<Batched> = whole
        .inputs
        .iter()
        .zip(arguments)
        .map(|(array, like)| Batched { array: array.clone(), batched: like.batched })
        .collect();
    let again = batch_outputs(&lane.inputs, &made, &values)?;
    let batched: Vec<bool> = again.iter().zip(outputs).map(|(a, b)| a.batched || b.batched).collect();
    let spread = |values: &[Batched]| -> Result<Vec<Array>> {
        let arrays = values.iter().zip(&batched);
        arrays
            .map(
                |(value, &batched)| {
                    if batched { rules::batch(value, lanes) } else { Ok(value.array.clone()) }
                },
            )
            .collect()
    };
    let (program, captured) = Program::close(&whole.inputs, &spread(&again)?);
    drop((lane, whole));
    let arguments = arguments.iter().map(|argument| argument.array.clone());
    let all: Inputs = arguments.chain(captured).chain(spread(outputs)?).collect();
    let recorded = record(program, all)?;
    Ok(recorded.into_iter().zip(batched).map(|(array, batched)| Batched { array, batched }).collect())
}
