//! Shared functions of the rules of loops, and batches of loops.

use umber_types::Result;

use super::batch_body;
use crate::device;
use crate::graph::Array;
use crate::primitive::{Batched, batch_size};
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};
use crate::primitives::rules::{self, move_axis};

/// Record a loop on `inputs` and the arrays that its body captured.
pub(super) fn record(iteration: Iteration, inputs: Vec<Array>, captured: Vec<Array>) -> Result<Vec<Array>> {
    let count = iteration.body.outputs.len();
    let inputs = inputs.into_iter().chain(captured).collect();
    let outputs = Loop(iteration.into()).record_on(inputs, device::current_stream())?;
    Ok(outputs.into_iter().take(count).collect())
}

/// The inputs of a loop, or the arguments of its body, by kind.
pub(super) struct LoopInputs<'a, T> {
    pub(super) carry: &'a [T],
    pub(super) rows: &'a [T],
    pub(super) constants: &'a [T],
}

impl<'a, T> LoopInputs<'a, T> {
    pub(super) fn of(iteration: &Iteration, all: &'a [T]) -> LoopInputs<'a, T> {
        let (carry, rest) = all.split_at(iteration.carry);
        let (rows, constants) = rest.split_at(iteration.rows);
        LoopInputs { carry, rows, constants }
    }
}

/// Split `values` into consecutive slices of these lengths.
pub(super) fn split_by<T, const N: usize>(mut values: &[T], counts: [usize; N]) -> [&[T]; N] {
    counts.map(|count| {
        let (front, rest) = values.split_at(count);
        values = rest;
        front
    })
}

/// Number of flags that are set.
pub(super) fn count_true(flags: &[bool]) -> usize {
    flags.iter().filter(|flag| **flag).count()
}

/// Scatter `results` to the positions of set flags; `exists` gives for which of these a result exists.
pub(super) fn scatter_results(
    results: &[Array],
    flags: &[bool],
    exists: Option<&[bool]>,
) -> Vec<Option<Array>> {
    let mut results = results.iter();
    let mut exists = exists.map(|exists| exists.iter());
    let mut next = || {
        let has_next = exists.as_mut().is_none_or(|exists| exists.next().is_some_and(|&exists| exists));
        if has_next { results.next().cloned() } else { None }
    };
    flags.iter().map(|&flag| if flag { next() } else { None }).collect()
}

/// `vmap` of a loop: a loop over the batched body. A carry that becomes batched in some iteration is batched from the start.
pub(super) fn batch_loop(repeated: &Loop, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let iteration = &*repeated.0;
    let batch_size = batch_size(inputs);
    let mut batched: Vec<bool> = inputs.iter().map(|input| input.batched).collect();
    let mut forced = vec![false; iteration.body.outputs.len()];
    let batched_body = loop {
        forced[..iteration.carry].copy_from_slice(&batched[..iteration.carry]);
        let batched_body = batch_body(iteration.construct, &iteration.body, &batched, &forced, batch_size)?;
        if batched_body.batched[..iteration.carry] == batched[..iteration.carry] {
            break batched_body;
        }
        batched[..iteration.carry].copy_from_slice(&batched_body.batched[..iteration.carry]);
    };
    let mut all = Vec::with_capacity(inputs.len());
    for (i, input) in inputs.iter().enumerate() {
        all.push(match (i < iteration.carry, i < iteration.carry + iteration.rows) {
            (true, _) if batched[i] => rules::batch(input, batch_size)?,
            (false, true) if input.batched => move_axis(&input.array, 0, 1)?,
            _ => input.array.clone(),
        });
    }
    let (body, captured) = batched_body.closed;
    let results =
        record(Iteration { body, lowered: LoweredCache::default(), ..iteration.clone() }, all, captured)?;
    let restore_axis = |(i, (array, batched)): (usize, (Array, bool))| {
        let is_sequence = i >= iteration.carry + iteration.sums;
        let array = if batched && is_sequence { move_axis(&array, 1, 0)? } else { array };
        Ok(Batched { array, batched })
    };
    results.into_iter().zip(batched_body.batched).enumerate().map(restore_axis).collect()
}
