//! The derivatives and batches of branches.

use umber_types::{DType, Result, Shape};

use super::cond::choose;
use super::{BodyArguments, Closed, chosen, derivative_spec, pushed, vjp_of, zero};
use crate::graph::{Array, ArraySpec};
use crate::ops;
use crate::primitive::{Batched, Cotangents, batch_size};
use crate::primitives::control_flow::{Body, Branch};
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{self, reshape};
use crate::transforms::Trace;
use crate::transforms::vmap::batch;

/// Where does any branch have a derivative?
///
/// Known once all have been followed, each once: a branch may hold branches in turn.
fn any_has(answers: &[Vec<Option<Array>>]) -> Vec<bool> {
    let count = answers.first().map_or(0, Vec::len);
    (0..count).map(|i| answers.iter().any(|answers| answers[i].is_some())).collect()
}

/// Where one branch has a derivative, all answer one: the others zeros.
fn filled<'a>(
    answers: &[Option<Array>],
    specs: impl IntoIterator<Item = &'a ArraySpec>,
    has: &[bool],
) -> Vec<Array> {
    let all = answers.iter().zip(specs).zip(has).filter(|(_, has)| **has);
    all.map(|((answer, spec), _)| answer.clone().unwrap_or_else(|| zero(spec))).collect()
}

fn scatter(answers: Vec<Array>, flags: impl IntoIterator<Item = bool>) -> Vec<Option<Array>> {
    let mut answers = answers.into_iter();
    flags.into_iter().map(|flag| if flag { answers.next() } else { None }).collect()
}

/// Reverse mode: a branch of the branches' backward passes.
pub(super) fn pull_branch(
    branch: &Branch,
    inputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let choice = &*branch.0;
    let needs_cotangent = &needs_cotangent[1..];
    let specs = choice.bodies[0].arguments();
    let cts: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
    let arguments: Vec<ArraySpec> =
        specs.iter().cloned().chain(chosen(&choice.bodies[0].outputs, &cts).map(derivative_spec)).collect();
    let sought: Vec<&ArraySpec> = chosen(specs, needs_cotangent).collect();
    let trace = Trace::placeholders(Leaf::Body(choice.construct), arguments);
    let (own, ct) = trace.inputs.split_at(specs.len());
    let sources: Vec<Array> = chosen(own, needs_cotangent).cloned().collect();
    let answers = choice
        .bodies
        .iter()
        .map(|body| vjp_of(&body.program, own, &sources, scatter(ct.to_vec(), cts.iter().copied())));
    let answers: Vec<Vec<Option<Array>>> = answers.collect::<Result<_>>()?;
    let has = any_has(&answers);
    let closed = answers
        .iter()
        .map(|answers| Body::close(&trace.inputs, &filled(answers, sought.iter().copied(), &has)));
    let closed: Vec<Closed> = closed.collect();
    let mut given: Vec<Array> = inputs[1..].to_vec();
    for (ct, spec) in cotangents.iter().zip(&choice.bodies[0].outputs) {
        if let Some(ct) = ct {
            given.push(rules::cast(ct, spec.dtype.inexact())?);
        }
    }
    let answers = choose(choice.construct, &inputs[0], &given, closed)?;
    let mut answers = scatter(answers, has).into_iter();
    let all =
        needs_cotangent.iter().map(|&is_needed| if is_needed { answers.next().flatten() } else { None });
    Ok(std::iter::once(None).chain(all).collect())
}

/// Forward mode: a branch of the branches' tangents.
pub(super) fn push_branch(
    branch: &Branch,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let choice = &*branch.0;
    let tangents = &tangents[1..];
    let specs = choice.bodies[0].arguments();
    let outputs = &choice.bodies[0].outputs;
    let moving: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let arguments: Vec<ArraySpec> =
        specs.iter().cloned().chain(chosen(specs, &moving).map(derivative_spec)).collect();
    let trace = Trace::placeholders(Leaf::Body(choice.construct), arguments);
    let (own, t) = trace.inputs.split_at(specs.len());
    let sources: Vec<Array> = chosen(own, &moving).cloned().collect();
    let changes = choice.bodies.iter().map(|body| Ok(pushed(&body.program, own, &sources, t)?.1));
    let changes: Vec<Vec<Option<Array>>> = changes.collect::<Result<_>>()?;
    let has = any_has(&changes);
    let closed = changes.iter().map(|changes| Body::close(&trace.inputs, &filled(changes, outputs, &has)));
    let closed: Vec<Closed> = closed.collect();
    let given: Vec<Array> = inputs[1..].iter().chain(tangents.iter().flatten()).cloned().collect();
    let answers = choose(choice.construct, &inputs[0], &given, closed)?;
    Ok(scatter(answers, has))
}

/// A batch: a branch of batched branches; all of them and a selection where the choice differs from lane to lane.
pub(super) fn batch_branch(branch: &Branch, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let choice = &*branch.0;
    let batch_size = batch_size(inputs);
    if inputs[0].batched {
        return select_branch(branch, inputs, batch_size);
    }
    let batched: Vec<bool> = inputs[1..].iter().map(|input| input.batched).collect();
    let arguments_of_one =
        BodyArguments::new(choice.construct, choice.bodies[0].arguments(), &batched, batch_size);
    let results =
        choice.bodies.iter().map(|body| arguments_of_one.batch(body)).collect::<Result<Vec<_>>>()?;
    let mut forced = vec![false; choice.bodies[0].outputs.len()];
    for result in &results {
        forced.iter_mut().zip(result).for_each(|(forced, result)| *forced |= result.batched);
    }
    let closed = results.iter().map(|results| arguments_of_one.close(results, &forced));
    let closed = closed.collect::<Result<Vec<_>>>()?;
    let given: Vec<Array> = inputs[1..].iter().map(|input| input.array.clone()).collect();
    let answers = choose(choice.construct, &inputs[0].array, &given, closed)?;
    Ok(answers.into_iter().zip(forced).map(|(array, batched)| Batched { array, batched }).collect())
}

fn select_branch(branch: &Branch, inputs: &[Batched], batch_size: usize) -> Result<Vec<Batched>> {
    let choice = &*branch.0;
    let index = &inputs[0].array;
    let mut answers: Vec<Array> = Vec::new();
    for (number, body) in choice.bodies.iter().enumerate() {
        let results = {
            let arguments_of_one =
                Trace::placeholders(Leaf::Body(choice.construct), body.arguments().iter().cloned());
            let outputs = body.program.replay(&arguments_of_one.inputs)?;
            batch(&arguments_of_one.inputs, &outputs, &inputs[1..])?
        };
        let is_chosen = ops::equal(index, &Array::scalar(number as i64, DType::Int32))?;
        for (i, result) in results.iter().enumerate() {
            let result = rules::batch(result, batch_size)?;
            if number == 0 {
                answers.push(result);
                continue;
            }
            let ones: Shape = (0..result.ndim()).map(|axis| if axis == 0 { batch_size } else { 1 }).collect();
            answers[i] = ops::select(&reshape(&is_chosen, ones)?, &result, &answers[i])?;
        }
    }
    Ok(Batched::all(answers))
}
