//! The derivatives and batches of loops.

use umber_types::Result;

use super::{batch_body, chosen, derivative_spec, follow, pulled, pushed, spread, zero};
use crate::device;
use crate::graph::{Array, ArraySpec};
use crate::primitive::{Batched, Cotangents, lanes};
use crate::primitives::control_flow::{Iteration, Loop, Prepared};
use crate::primitives::rules::{self, move_axis};

/// Record a loop on `inputs` and what its body captured.
pub(super) fn record(iteration: Iteration, inputs: Vec<Array>, captured: Vec<Array>) -> Result<Vec<Array>> {
    let count = iteration.body.outputs.len();
    let inputs = inputs.into_iter().chain(captured).collect();
    let outputs = Loop(iteration.into()).record_on(inputs, device::current_stream())?;
    Ok(outputs.into_iter().take(count).collect())
}

/// The parts of a loop's inputs, or of its body's arguments.
struct Parts<'a, T> {
    carry: &'a [T],
    rows: &'a [T],
    constants: &'a [T],
}

impl<'a, T> Parts<'a, T> {
    fn of(iteration: &Iteration, all: &'a [T]) -> Parts<'a, T> {
        let (carry, rest) = all.split_at(iteration.carry);
        let (rows, constants) = rest.split_at(iteration.rows);
        Parts { carry, rows, constants }
    }
}

/// Cut `counts` values each off the front of `values`.
fn cut<'a, T, const N: usize>(mut values: &'a [T], counts: [usize; N]) -> [&'a [T]; N] {
    counts.map(|count| {
        let (front, rest) = values.split_at(count);
        values = rest;
        front
    })
}

fn count(flags: &[bool]) -> usize {
    flags.iter().filter(|flag| **flag).count()
}

/// Reverse mode: a loop in the opposite order over the carries that the iterations began with.
///
/// It carries the cotangents of the carry, sums those of constants and stacks those of rows. In each iteration the body
/// runs once more, so that of the forward pass only the carries are kept.
pub(super) fn pull_loop(
    repeated: &Loop,
    inputs: &[Array],
    outputs: &[Array],
    wanted: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let repeated = &repeated.keeping();
    let it = &*repeated.0;
    let mut outputs = outputs.to_vec();
    let mut cotangents = cotangents.to_vec();
    if outputs.len() < it.body.outputs.len() {
        outputs = record(it.clone(), inputs.to_vec(), Vec::new())?;
        cotangents.resize(outputs.len(), None);
    }
    let kept = &outputs[outputs.len() - it.carry..];
    let given = Parts::of(it, inputs);
    let specs = Parts::of(it, it.body.arguments());
    let wanted_parts = Parts::of(it, wanted);
    let active = spread(&it.body.program, it.carry, wanted);
    let [ct_carry, ct_sums, ct_rows] = cut(&cotangents, [it.carry, it.sums, repeated.sequences()]);
    let derivative_of = |outputs: &[ArraySpec], cts: &[Option<Array>]| -> Vec<ArraySpec> {
        outputs
            .iter()
            .zip(cts)
            .filter(|(_, ct)| ct.is_some())
            .map(|(spec, _)| derivative_spec(spec))
            .collect()
    };
    let [_, sum_outputs, row_outputs] = cut(&it.body.outputs, [it.carry, it.sums, repeated.sequences()]);
    let (ct_row_specs, ct_sum_specs) =
        (derivative_of(row_outputs, ct_rows), derivative_of(sum_outputs, ct_sums));
    let counts =
        [count(&active), it.carry, it.rows, ct_row_specs.len(), specs.constants.len(), ct_sum_specs.len()];
    let arguments: Vec<ArraySpec> = chosen(specs.carry, &active)
        .map(derivative_spec)
        .chain(specs.carry.iter().cloned())
        .chain(specs.rows.iter().cloned())
        .chain(ct_row_specs)
        .chain(specs.constants.iter().cloned())
        .chain(ct_sum_specs)
        .collect();
    let (mut has_row, mut has_constant) = (Vec::new(), Vec::new());
    let (body, captured) = follow(it.construct, arguments, |arguments| {
        let [ct_c, c, x, ct_y, k, ct_s] = cut(arguments, counts);
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let sources: Vec<Array> = chosen(c, &active)
            .chain(chosen(x, wanted_parts.rows))
            .chain(chosen(k, wanted_parts.constants))
            .cloned()
            .collect();
        let mut ct_c = ct_c.iter();
        let carry = active.iter().map(|&active| if active { ct_c.next().cloned() } else { None });
        let fill = |cts: &[Option<Array>], here: &[Array]| -> Vec<Option<Array>> {
            let mut here = here.iter();
            cts.iter().map(|ct| ct.as_ref().and_then(|_| here.next().cloned())).collect()
        };
        let cts = carry.chain(fill(ct_sums, ct_s)).chain(fill(ct_rows, ct_y)).collect();
        let answers = pulled(&it.body.program, &all, &sources, cts)?;
        let [carry, rows, constants] =
            cut(&answers, [counts[0], count(wanted_parts.rows), count(wanted_parts.constants)]);
        has_row = rows.iter().map(Option::is_some).collect();
        has_constant = constants.iter().map(Option::is_some).collect();
        let carry = carry.iter().zip(chosen(specs.carry, &active)).map(|(ct, spec)| match ct {
            Some(ct) => ct.clone(),
            None => zero(spec),
        });
        Ok(carry.chain(constants.iter().flatten().cloned()).chain(rows.iter().flatten().cloned()).collect())
    })?;
    let first = ct_carry
        .iter()
        .zip(specs.carry)
        .zip(&active)
        .filter(|(_, active)| **active)
        .map(|((ct, spec), _)| match ct {
            Some(ct) => rules::cast(ct, spec.dtype.inexact()),
            None => Ok(zero(spec)),
        })
        .collect::<Result<Vec<Array>>>()?;
    let all = first
        .into_iter()
        .chain(kept.iter().cloned())
        .chain(given.rows.iter().cloned())
        .chain(settled(ct_rows, row_outputs)?)
        .chain(given.constants.iter().cloned())
        .chain(settled(ct_sums, sum_outputs)?);
    let backward = Iteration {
        construct: it.construct,
        body,
        carry: counts[0],
        rows: counts[1] + counts[2] + counts[3],
        sums: count(&has_constant),
        length: it.length,
        order: it.order.reversed(),
        keeps: false,
        prepared: Prepared::default(),
    };
    let answers = record(backward, all.collect(), captured)?;
    let [carry, constants, rows] = cut(&answers, [counts[0], count(&has_constant), count(&has_row)]);
    let carry = among(carry, &active, None);
    let rows = among(rows, wanted_parts.rows, Some(&has_row));
    let constants = among(constants, wanted_parts.constants, Some(&has_constant));
    let answers = carry.into_iter().chain(rows).chain(constants).zip(wanted);
    Ok(answers.map(|(ct, &wanted)| ct.filter(|_| wanted)).collect())
}

/// The cotangents that there are, in the dtype that cotangents of such values have.
fn settled(cotangents: &[Option<Array>], like: &[ArraySpec]) -> Result<Vec<Array>> {
    let there = cotangents.iter().zip(like).filter_map(|(ct, spec)| Some((ct.as_ref()?, spec)));
    there.map(|(ct, spec)| rules::cast(ct, spec.dtype.inexact())).collect()
}

/// `answers` at the places where `flags` hold; `has` says for which of those there is one.
fn among(answers: &[Array], flags: &[bool], has: Option<&[bool]>) -> Vec<Option<Array>> {
    let mut answers = answers.iter();
    let mut has = has.map(|has| has.iter());
    let mut next = || {
        let is_there = has.as_mut().is_none_or(|has| has.next().is_some_and(|&has| has));
        if is_there { answers.next().cloned() } else { None }
    };
    flags.iter().map(|&flag| if flag { next() } else { None }).collect()
}

/// Forward mode: a loop that carries tangents beside the carry.
pub(super) fn push_loop(
    repeated: &Loop,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let it = &*repeated.0;
    let given = Parts::of(it, inputs);
    let specs = Parts::of(it, it.body.arguments());
    let moving: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let active = spread(&it.body.program, it.carry, &moving);
    let moves = Parts::of(it, &moving);
    let tangents = Parts::of(it, tangents);
    let derivatives = |specs: &[ArraySpec], flags: &[bool]| -> Vec<ArraySpec> {
        chosen(specs, flags).map(derivative_spec).collect()
    };
    let counts =
        [it.carry, count(&active), it.rows, count(moves.rows), specs.constants.len(), count(moves.constants)];
    let arguments: Vec<ArraySpec> = specs
        .carry
        .iter()
        .cloned()
        .chain(derivatives(specs.carry, &active))
        .chain(specs.rows.iter().cloned())
        .chain(derivatives(specs.rows, moves.rows))
        .chain(specs.constants.iter().cloned())
        .chain(derivatives(specs.constants, moves.constants))
        .collect();
    let mut has = Vec::new();
    let (body, captured) = follow(it.construct, arguments, |arguments| {
        let [c, t_c, x, t_x, k, t_k] = cut(arguments, counts);
        let all: Vec<Array> = c.iter().chain(x).chain(k).cloned().collect();
        let sources: Vec<Array> = chosen(c, &active)
            .chain(chosen(x, moves.rows))
            .chain(chosen(k, moves.constants))
            .cloned()
            .collect();
        let tangents: Vec<Array> = t_c.iter().chain(t_x).chain(t_k).cloned().collect();
        let (values, changes) = pushed(&it.body.program, &all, &sources, &tangents)?;
        has = changes[it.carry..].iter().map(Option::is_some).collect();
        let carry = changes[..it.carry].iter().zip(specs.carry).zip(&active).filter(|(_, active)| **active);
        let carry = carry.map(|((change, spec), _)| change.clone().unwrap_or_else(|| zero(spec)));
        let others = changes[it.carry..].iter().flatten().cloned();
        Ok(values[..it.carry].iter().cloned().chain(carry).chain(others).collect())
    })?;
    let first = tangents.carry.iter().zip(specs.carry).zip(&active).filter(|(_, active)| **active);
    let first = first.map(|((tangent, spec), _)| tangent.clone().unwrap_or_else(|| zero(spec)));
    let all = given
        .carry
        .iter()
        .cloned()
        .chain(first)
        .chain(given.rows.iter().cloned())
        .chain(tangents.rows.iter().flatten().cloned())
        .chain(given.constants.iter().cloned())
        .chain(tangents.constants.iter().flatten().cloned())
        .collect();
    let forward = Iteration {
        body,
        carry: counts[0] + counts[1],
        rows: counts[2] + counts[3],
        sums: count(&has[..it.sums]),
        keeps: false,
        ..it.clone()
    };
    let forward = Iteration { prepared: Prepared::default(), ..forward };
    let answers = record(forward, all, captured)?;
    let [_, carry, others] = cut(&answers, [counts[0], counts[1], count(&has)]);
    let mut answers = among(carry, &active, None);
    answers.extend(among(others, &has, None));
    Ok(answers)
}

/// A batch: a loop of the batched body. What becomes batched on the way is batched from the start.
pub(super) fn batch_loop(repeated: &Loop, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let it = &*repeated.0;
    let lanes = lanes(inputs);
    let mut batched: Vec<bool> = inputs.iter().map(|input| input.batched).collect();
    let mut forced = vec![false; it.body.outputs.len()];
    let made = loop {
        forced[..it.carry].copy_from_slice(&batched[..it.carry]);
        let made = batch_body(it.construct, &it.body, &batched, &forced, lanes)?;
        if made.batched[..it.carry] == batched[..it.carry] {
            break made;
        }
        batched[..it.carry].copy_from_slice(&made.batched[..it.carry]);
    };
    let mut all = Vec::with_capacity(inputs.len());
    for (i, input) in inputs.iter().enumerate() {
        all.push(match (i < it.carry, i < it.carry + it.rows) {
            (true, _) if batched[i] => rules::batch(input, lanes)?,
            (false, true) if input.batched => move_axis(&input.array, 0, 1)?,
            _ => input.array.clone(),
        });
    }
    let (body, captured) = made.closed;
    let answers = record(Iteration { body, prepared: Prepared::default(), ..it.clone() }, all, captured)?;
    let place = |(i, (array, batched)): (usize, (Array, bool))| {
        let is_sequence = i >= it.carry + it.sums;
        let array = if batched && is_sequence { move_axis(&array, 1, 0)? } else { array };
        Ok(Batched { array, batched })
    };
    answers.into_iter().zip(made.batched).enumerate().map(place).collect()
}
