//! Derivatives and batches of branches.

use umber_types::{DType, Result, Shape};

use super::cond::record_branch;
use super::{BodyArguments, Closed, chosen, derivative_spec, pushed, vjp_of, zero};
use crate::graph::{Array, ArraySpec};
use crate::ops;
use crate::primitive::{Batched, Cotangents, batch_size};
use crate::primitives::control_flow::{Body, Branch};
use crate::primitives::leaf::Leaf;
use crate::primitives::rules::{self, reshape};
use crate::transforms::Trace;
use crate::transforms::vmap::batch;

/// Where any branch has a nonzero derivative.
///
/// Computed after all branches were traced, each of them once: a branch may contain branches.
fn any_nonzero(branches: &[Vec<Option<Array>>]) -> Vec<bool> {
    let count = branches.first().map_or(0, Vec::len);
    (0..count).map(|i| branches.iter().any(|derivatives| derivatives[i].is_some())).collect()
}

/// The derivatives of one branch at the positions where any branch has one, with zeros where this one has none.
fn filled<'a>(
    derivatives: &[Option<Array>],
    specs: impl IntoIterator<Item = &'a ArraySpec>,
    has: &[bool],
) -> Vec<Array> {
    let all = derivatives.iter().zip(specs).zip(has).filter(|(_, has)| **has);
    all.map(|((derivative, spec), _)| derivative.clone().unwrap_or_else(|| zero(spec))).collect()
}

fn scatter(values: Vec<Array>, flags: impl IntoIterator<Item = bool>) -> Vec<Option<Array>> {
    let mut values = values.into_iter();
    flags.into_iter().map(|flag| if flag { values.next() } else { None }).collect()
}

/// Reverse mode: a branch operation of the branches' backward passes.
pub(super) fn pull_branch(
    branch: &Branch,
    inputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let choice = &*branch.0;
    let needs_cotangent = &needs_cotangent[1..];
    let specs = choice.bodies[0].arguments();
    let has_cotangent: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
    let arguments: Vec<ArraySpec> = specs
        .iter()
        .cloned()
        .chain(chosen(&choice.bodies[0].outputs, &has_cotangent).map(derivative_spec))
        .collect();
    let source_specs: Vec<&ArraySpec> = chosen(specs, needs_cotangent).collect();
    let trace = Trace::placeholders(Leaf::Body(choice.construct), arguments);
    let (primals, ct) = trace.inputs.split_at(specs.len());
    let sources: Vec<Array> = chosen(primals, needs_cotangent).cloned().collect();
    let derivatives = choice.bodies.iter().map(|body| {
        vjp_of(&body.program, primals, &sources, scatter(ct.to_vec(), has_cotangent.iter().copied()))
    });
    let derivatives: Vec<Vec<Option<Array>>> = derivatives.collect::<Result<_>>()?;
    let has = any_nonzero(&derivatives);
    let closed = derivatives.iter().map(|derivatives| {
        Body::close(&trace.inputs, &filled(derivatives, source_specs.iter().copied(), &has))
    });
    let closed: Vec<Closed> = closed.collect();
    let mut operands: Vec<Array> = inputs[1..].to_vec();
    for (ct, spec) in cotangents.iter().zip(&choice.bodies[0].outputs) {
        if let Some(ct) = ct {
            operands.push(rules::cast(ct, spec.dtype.inexact())?);
        }
    }
    let results = record_branch(choice.construct, &inputs[0], &operands, closed)?;
    let mut results = scatter(results, has).into_iter();
    let all = needs_cotangent
        .iter()
        .map(|&needs_cotangent| if needs_cotangent { results.next().flatten() } else { None });
    Ok(std::iter::once(None).chain(all).collect())
}

/// Forward mode: a branch operation of the branches' tangents.
pub(super) fn push_branch(
    branch: &Branch,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let choice = &*branch.0;
    let tangents = &tangents[1..];
    let specs = choice.bodies[0].arguments();
    let outputs = &choice.bodies[0].outputs;
    let has_tangent: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let arguments: Vec<ArraySpec> =
        specs.iter().cloned().chain(chosen(specs, &has_tangent).map(derivative_spec)).collect();
    let trace = Trace::placeholders(Leaf::Body(choice.construct), arguments);
    let (primals, t) = trace.inputs.split_at(specs.len());
    let sources: Vec<Array> = chosen(primals, &has_tangent).cloned().collect();
    let changes = choice.bodies.iter().map(|body| Ok(pushed(&body.program, primals, &sources, t)?.1));
    let changes: Vec<Vec<Option<Array>>> = changes.collect::<Result<_>>()?;
    let has = any_nonzero(&changes);
    let closed = changes.iter().map(|changes| Body::close(&trace.inputs, &filled(changes, outputs, &has)));
    let closed: Vec<Closed> = closed.collect();
    let operands: Vec<Array> = inputs[1..].iter().chain(tangents.iter().flatten()).cloned().collect();
    let results = record_branch(choice.construct, &inputs[0], &operands, closed)?;
    Ok(scatter(results, has))
}

/// A batch: a branch operation of batched branches. If the index is batched, all branches run and their results are selected.
pub(super) fn batch_branch(branch: &Branch, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let choice = &*branch.0;
    let batch_size = batch_size(inputs);
    if inputs[0].batched {
        return select_branch(branch, inputs, batch_size);
    }
    let batched: Vec<bool> = inputs[1..].iter().map(|input| input.batched).collect();
    let body_arguments =
        BodyArguments::new(choice.construct, choice.bodies[0].arguments(), &batched, batch_size);
    let results = choice.bodies.iter().map(|body| body_arguments.batch(body)).collect::<Result<Vec<_>>>()?;
    let mut forced = vec![false; choice.bodies[0].outputs.len()];
    for result in &results {
        forced.iter_mut().zip(result).for_each(|(forced, result)| *forced |= result.batched);
    }
    let closed = results.iter().map(|results| body_arguments.close(results, &forced));
    let closed = closed.collect::<Result<Vec<_>>>()?;
    let operands: Vec<Array> = inputs[1..].iter().map(|input| input.array.clone()).collect();
    let outputs = record_branch(choice.construct, &inputs[0].array, &operands, closed)?;
    Ok(outputs.into_iter().zip(forced).map(|(array, batched)| Batched { array, batched }).collect())
}

fn select_branch(branch: &Branch, inputs: &[Batched], batch_size: usize) -> Result<Vec<Batched>> {
    let choice = &*branch.0;
    let index = &inputs[0].array;
    let mut selected: Vec<Array> = Vec::new();
    for (branch_index, body) in choice.bodies.iter().enumerate() {
        let results = {
            let single = Trace::placeholders(Leaf::Body(choice.construct), body.arguments().iter().cloned());
            let outputs = body.program.replay(&single.inputs)?;
            batch(&single.inputs, &outputs, &inputs[1..])?
        };
        let is_chosen = ops::equal(index, &Array::scalar(branch_index as i64, DType::Int32))?;
        for (i, result) in results.iter().enumerate() {
            let result = rules::batch(result, batch_size)?;
            if branch_index == 0 {
                selected.push(result);
                continue;
            }
            let ones: Shape = (0..result.ndim()).map(|axis| if axis == 0 { batch_size } else { 1 }).collect();
            selected[i] = ops::select(&reshape(&is_chosen, ones)?, &result, &selected[i])?;
        }
    }
    Ok(Batched::all(selected))
}
