//! Checkpoint: intermediate values are recomputed for the gradient instead of being kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use umber_types::Result;

use super::trace::{Tape, Trace};
use super::vjp::pull;
use super::vmap::batch as batch_outputs;
use crate::graph::{Array, Inputs, Program};
use crate::primitive::{Batched, Cotangents, Point, batch_size};
use crate::primitives::checkpoint::Checkpoint;
use crate::primitives::control::depends;
use crate::primitives::leaf::Leaf;
use crate::primitives::rules;

/// Return a function that recomputes its intermediate values for the gradient instead of keeping them.
///
/// Only its arguments and the arrays that it captured are kept for the gradient.
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

/// End a checkpoint: return `outputs` of a function traced by `trace` on `arguments`, so that they can be recomputed.
pub fn end_checkpoint(trace: Trace, arguments: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
    let placeholders = trace.end();
    if outputs.is_empty() || !arguments.iter().chain(outputs).any(Array::is_traced) {
        return Ok(outputs.to_vec());
    }
    let (program, captured) = Program::close(&placeholders, outputs);
    record(Arc::new(program), arguments.iter().chain(&captured).chain(outputs).cloned().collect())
}

fn record(program: Arc<Program>, inputs: Inputs) -> Result<Vec<Array>> {
    Ok(Array::record(Checkpoint { program }, inputs)?.into_vec())
}

/// Compute the function again when the cotangents are there, and pull them back through that.
pub(super) fn vjp(checkpoint: &Checkpoint, at: &Point<'_>, cotangents: &[Array]) -> Result<Cotangents> {
    let (arguments, _) = checkpoint.split(at.inputs);
    // Apart from the others: a cotangent is pulled back to all outputs of a node that is a source.
    let of = |needed: bool| -> Vec<Array> {
        let chosen = arguments.iter().zip(at.needs_cotangent).filter(|&(_, &is_needed)| is_needed == needed);
        chosen.map(|(argument, _)| argument.clone()).collect()
    };
    let sources = depends(&of(true), cotangents)?;
    let (mut needed, mut others) = (sources.iter(), depends(&of(false), cotangents)?.into_iter());
    let again: Vec<Array> = at.needs_cotangent[..arguments.len()]
        .iter()
        .filter_map(|&is_needed| if is_needed { needed.next().cloned() } else { others.next() })
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
    let mut checked: Cotangents = pulled
        .into_iter()
        .map(|pulled| {
            pulled.and_then(|array| if array.constant().is_none() { joined.next() } else { Some(array) })
        })
        .collect();
    checked.resize(at.inputs.len(), None);
    Ok(checked)
}

/// A function that works on a batch.
#[derive(Clone)]
struct BatchedProgram {
    program: Arc<Program>,
    captured: Vec<Array>,
    /// Which outputs differ from lane to lane.
    batched: Vec<bool>,
}

/// A function, how many lanes there are, and which of its arguments and outputs differ among them.
type Key = (*const Program, usize, Vec<bool>);

/// Functions that were batched, with the ones they come from, while any [`BatchMemo`] lasts.
///
/// A function within others is met once in each of them, which doubles with every level.
#[derive(Default)]
struct Memory {
    lasting: usize,
    known: HashMap<Key, (Arc<Program>, BatchedProgram)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// While it lasts, no function is batched twice in one way.
pub(super) struct BatchMemo(());

/// Remember what functions are batched until the answer is dropped.
pub(super) fn batch_memo() -> BatchMemo {
    MEMORY.with_borrow_mut(|memory| memory.lasting += 1);
    BatchMemo(())
}

impl Drop for BatchMemo {
    fn drop(&mut self) {
        let forgotten = MEMORY.with_borrow_mut(|memory| {
            memory.lasting -= 1;
            if memory.lasting == 0 { std::mem::take(&mut memory.known) } else { HashMap::new() }
        });
        drop(forgotten);
    }
}

/// The outputs for a batch, with the function batched.
pub(super) fn batch(checkpoint: &Checkpoint, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let batch_size = batch_size(inputs);
    let flags = inputs.iter().map(|input| input.batched).collect();
    let key: Key = (Arc::as_ptr(&checkpoint.program), batch_size, flags);
    let known = MEMORY.with_borrow(|memory| memory.known.get(&key).map(|(_, made)| made.clone()));
    let made = match known {
        Some(made) => made,
        None => {
            let made = batch_program(checkpoint, inputs, batch_size)?;
            let kept = (checkpoint.program.clone(), made.clone());
            MEMORY.with_borrow_mut(|memory| memory.known.insert(key, kept));
            made
        }
    };
    let (arguments, outputs) = checkpoint.split(inputs);
    let arguments = arguments.iter().map(|argument| argument.array.clone());
    let outputs = batch_where(outputs, &made.batched, batch_size)?;
    let recorded = record(made.program, arguments.chain(made.captured).chain(outputs).collect())?;
    let answers = recorded.into_iter().zip(made.batched);
    Ok(answers.map(|(array, batched)| Batched { array, batched }).collect())
}

fn batch_program(checkpoint: &Checkpoint, inputs: &[Batched], batch_size: usize) -> Result<BatchedProgram> {
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
    let (program, captured) = Program::close(&whole.inputs, &batch_where(&again, &batched, batch_size)?);
    drop((lane, whole));
    Ok(BatchedProgram { program: Arc::new(program), captured, batched })
}

/// The arrays of values, those of all lanes where a flag holds.
fn batch_where(values: &[Batched], flags: &[bool], batch_size: usize) -> Result<Vec<Array>> {
    let arrays = values.iter().zip(flags);
    arrays
        .map(|(value, &flag)| if flag { rules::batch(value, batch_size) } else { Ok(value.array.clone()) })
        .collect()
}
