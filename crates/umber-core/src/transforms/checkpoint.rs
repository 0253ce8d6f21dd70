//! Checkpoint: intermediate values are recomputed for the gradient instead of being saved.

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
        // Residuals of loops in the function are not saved, since the loops are recomputed, too.
        let trace = Trace::forwards(arguments)?;
        let outputs = f(&trace.inputs)?;
        end_checkpoint(trace, arguments, &outputs)
    }
}

/// End a checkpoint: return `outputs` of a function traced by `trace` on `arguments`, recorded so that they are recomputed for
/// gradients.
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

/// Recompute the function once the cotangents are available, and pull them back through it.
pub(super) fn vjp(checkpoint: &Checkpoint, at: &Point<'_>, cotangents: &[Array]) -> Result<Cotangents> {
    let (arguments, _) = checkpoint.split(at.inputs);
    // Kept separate from the other arguments, since a cotangent is pulled back to all outputs of a source's node.
    let arguments_where = |is_source: bool| -> Vec<Array> {
        let selected = arguments
            .iter()
            .zip(at.needs_cotangent)
            .filter(|&(_, &needs_cotangent)| needs_cotangent == is_source);
        selected.map(|(argument, _)| argument.clone()).collect()
    };
    let sources = depends(&arguments_where(true), cotangents)?;
    let (mut source_iter, mut others) =
        (sources.iter(), depends(&arguments_where(false), cotangents)?.into_iter());
    let recomputed_arguments: Vec<Array> = at.needs_cotangent[..arguments.len()]
        .iter()
        .filter_map(
            |&needs_cotangent| if needs_cotangent { source_iter.next().cloned() } else { others.next() },
        )
        .collect();
    let outputs = checkpoint.program.replay(&recomputed_arguments)?;
    let tape = Tape::differentiable_until(&sources, &outputs, |_| false);
    let mut slots = pull(&tape, &outputs, cotangents.iter().cloned().map(Some))?;
    let pulled: Vec<Option<Array>> = recomputed_arguments
        .iter()
        .map(|source| tape.slot(source).and_then(|slot| slots[slot].take()))
        .collect();
    // Made to depend on each other, so that all are evaluated together and recomputed values are not kept for the last one.
    let nonzero: Vec<Array> =
        pulled.iter().flatten().filter(|pulled| pulled.constant().is_none()).cloned().collect();
    let mut dependent = depends(&nonzero, &[])?.into_iter();
    let mut checked: Cotangents = pulled
        .into_iter()
        .map(|pulled| {
            pulled.and_then(|array| if array.constant().is_none() { dependent.next() } else { Some(array) })
        })
        .collect();
    checked.resize(at.inputs.len(), None);
    Ok(checked)
}

/// The program of a function for a batch.
#[derive(Clone)]
struct BatchedProgram {
    program: Arc<Program>,
    captured: Vec<Array>,
    /// Which outputs are batched.
    batched: Vec<bool>,
}

/// A program, the batch size, and which of its arguments and outputs are batched.
type Key = (*const Program, usize, Vec<bool>);

/// Programs that were batched, with their originals, while any [`BatchMemo`] exists.
///
/// Nested checkpoints are otherwise batched once in each enclosing one, which doubles the work with every level.
#[derive(Default)]
struct Memory {
    memo_count: usize,
    known: HashMap<Key, (Arc<Program>, BatchedProgram)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// While it exists, no program is batched twice in the same way.
pub(super) struct BatchMemo(());

/// Memoise batched programs until the result is dropped.
pub(super) fn batch_memo() -> BatchMemo {
    MEMORY.with_borrow_mut(|memory| memory.memo_count += 1);
    BatchMemo(())
}

impl Drop for BatchMemo {
    fn drop(&mut self) {
        let released = MEMORY.with_borrow_mut(|memory| {
            memory.memo_count -= 1;
            if memory.memo_count == 0 { std::mem::take(&mut memory.known) } else { HashMap::new() }
        });
        drop(released);
    }
}

/// The outputs for a batch, recorded as a checkpoint of the batched program.
pub(super) fn batch(checkpoint: &Checkpoint, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let batch_size = batch_size(inputs);
    let flags = inputs.iter().map(|input| input.batched).collect();
    let key: Key = (Arc::as_ptr(&checkpoint.program), batch_size, flags);
    let known = MEMORY
        .with_borrow(|memory| memory.known.get(&key).map(|(_, batched_program)| batched_program.clone()));
    let batched_program = match known {
        Some(batched_program) => batched_program,
        None => {
            let batched_program = batch_program(checkpoint, inputs, batch_size)?;
            let entry = (checkpoint.program.clone(), batched_program.clone());
            MEMORY.with_borrow_mut(|memory| memory.known.insert(key, entry));
            batched_program
        }
    };
    let (arguments, outputs) = checkpoint.split(inputs);
    let arguments = arguments.iter().map(|argument| argument.array.clone());
    let outputs = batch_where(outputs, &batched_program.batched, batch_size)?;
    let recorded =
        record(batched_program.program, arguments.chain(batched_program.captured).chain(outputs).collect())?;
    let outputs = recorded.into_iter().zip(batched_program.batched);
    Ok(outputs.map(|(array, batched)| Batched { array, batched }).collect())
}

fn batch_program(checkpoint: &Checkpoint, inputs: &[Batched], batch_size: usize) -> Result<BatchedProgram> {
    let (arguments, outputs) = checkpoint.split(inputs);
    let single = Trace::placeholders(Leaf::Trace, checkpoint.program.arguments.iter().cloned());
    let outputs_of_single = checkpoint.program.replay(&single.inputs)?;
    let full_batch =
        Trace::placeholders(Leaf::Trace, arguments.iter().map(|argument| argument.array.spec().clone()));
    let values: Vec<Batched> = full_batch
        .inputs
        .iter()
        .zip(arguments)
        .map(|(array, argument)| Batched { array: array.clone(), batched: argument.batched })
        .collect();
    let batched_outputs = batch_outputs(&single.inputs, &outputs_of_single, &values)?;
    let batched: Vec<bool> =
        batched_outputs.iter().zip(outputs).map(|(a, b)| a.batched || b.batched).collect();
    let (program, captured) =
        Program::close(&full_batch.inputs, &batch_where(&batched_outputs, &batched, batch_size)?);
    drop((single, full_batch));
    Ok(BatchedProgram { program: Arc::new(program), captured, batched })
}

/// The arrays of values, broadcast to the batch where a flag is set.
fn batch_where(values: &[Batched], flags: &[bool], batch_size: usize) -> Result<Vec<Array>> {
    let arrays = values.iter().zip(flags);
    arrays
        .map(|(value, &flag)| if flag { rules::batch(value, batch_size) } else { Ok(value.array.clone()) })
        .collect()
}
