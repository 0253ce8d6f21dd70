//! What rules of loops share, and batches of loops.

use umber_types::Result;

use super::batch_body;
use crate::device;
use crate::graph::Array;
use crate::primitive::{Batched, batch_size};
use crate::primitives::control_flow::{Iteration, Loop, LoweredCache};
use crate::primitives::rules::{self, move_axis};

/// Record a loop on `inputs` and what its body captured.
pub(super) fn record(iteration: Iteration, inputs: Vec<Array>, captured: Vec<Array>) -> Result<Vec<Array>> {
    let count = iteration.body.outputs.len();
    let inputs = inputs.into_iter().chain(captured).collect();
    let outputs = Loop(iteration.into()).record_on(inputs, device::current_stream())?;
    Ok(outputs.into_iter().take(count).collect())
}

/// The parts of a loop's inputs, or of its body's arguments.
pub(super) struct Parts<'a, T> {
    pub(super) carry: &'a [T],
    pub(super) rows: &'a [T],
    pub(super) constants: &'a [T],
}

impl<'a, T> Parts<'a, T> {
    pub(super) fn of(iteration: &Iteration, all: &'a [T]) -> Parts<'a, T> {
        let (carry, rest) = all.split_at(iteration.carry);
        let (rows, constants) = rest.split_at(iteration.rows);
        Parts { carry, rows, constants }
    }
}

/// Cut `counts` values each off the front of `values`.
pub(super) fn cut<T, const N: usize>(mut values: &[T], counts: [usize; N]) -> [&[T]; N] {
    counts.map(|count| {
        let (front, rest) = values.split_at(count);
        values = rest;
        front
    })
}

/// How many flags hold.
pub(super) fn count(flags: &[bool]) -> usize {
    flags.iter().filter(|flag| **flag).count()
}

/// `results` at the places where `flags` hold; `has` says for which of those there is one.
pub(super) fn among(results: &[Array], flags: &[bool], has: Option<&[bool]>) -> Vec<Option<Array>> {
    let mut results = results.iter();
    let mut has = has.map(|has| has.iter());
    let mut next = || {
        let is_there = has.as_mut().is_none_or(|has| has.next().is_some_and(|&has| has));
        if is_there { results.next().cloned() } else { None }
    };
    flags.iter().map(|&flag| if flag { next() } else { None }).collect()
}

/// A batch: a loop of the batched body. What becomes batched on the way is batched from the start.
pub(super) fn batch_loop(repeated: &Loop, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let it = &*repeated.0;
    let batch_size = batch_size(inputs);
    let mut batched: Vec<bool> = inputs.iter().map(|input| input.batched).collect();
    let mut forced = vec![false; it.body.outputs.len()];
    let made = loop {
        forced[..it.carry].copy_from_slice(&batched[..it.carry]);
        let made = batch_body(it.construct, &it.body, &batched, &forced, batch_size)?;
        if made.batched[..it.carry] == batched[..it.carry] {
            break made;
        }
        batched[..it.carry].copy_from_slice(&made.batched[..it.carry]);
    };
    let mut all = Vec::with_capacity(inputs.len());
    for (i, input) in inputs.iter().enumerate() {
        all.push(match (i < it.carry, i < it.carry + it.rows) {
            (true, _) if batched[i] => rules::batch(input, batch_size)?,
            (false, true) if input.batched => move_axis(&input.array, 0, 1)?,
            _ => input.array.clone(),
        });
    }
    let (body, captured) = made.closed;
    let results = record(Iteration { body, lowered: LoweredCache::default(), ..it.clone() }, all, captured)?;
    let place = |(i, (array, batched)): (usize, (Array, bool))| {
        let is_sequence = i >= it.carry + it.sums;
        let array = if batched && is_sequence { move_axis(&array, 1, 0)? } else { array };
        Ok(Batched { array, batched })
    };
    results.into_iter().zip(made.batched).enumerate().map(place).collect()
}
