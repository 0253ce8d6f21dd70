//! Derivatives and batches of loops with a condition.

use std::sync::Arc;

use umber_types::{DType, KeepAxes, Result, Shape, bail};

use super::cond::record_branch;
use super::scan::repeat;
use super::while_loop::record;
use super::{
    Checkpoint, Tape, batch_body, chosen, derivative_spec, pull, pushed, reaches, trace_function, zero,
};
use crate::graph::tracing::{self, Residuals};
use crate::graph::{Array, ArraySpec, Node};
use crate::ops;
use crate::primitive::{Batched, Cotangents, batch_size};
use crate::primitives::control_flow::{Condition, Construct, Limit, While};
use crate::primitives::rules::{self, reshape};

/// The outputs of a loop with a limit, as a loop of that many iterations, which leave the carry unchanged once the condition is
/// false.
fn as_counted_loop(operation: &Condition, limit: Limit, inputs: &[Array]) -> Result<Vec<Array>> {
    let count = operation.body.outputs.len();
    let specs = operation.body.arguments();
    let unchanged =
        trace_function(Construct::Cond, specs.iter().cloned(), |arguments| Ok(arguments[..count].to_vec()))?;
    let (body, captured) = trace_function(operation.construct, specs.iter().cloned(), |arguments| {
        let holds = operation.condition.program.replay(arguments)?;
        let branches = vec![unchanged, (operation.body.clone(), Vec::new())];
        record_branch(Construct::Cond, &rules::cast(&holds[0], DType::Int32)?, arguments, branches)
    })?;
    let constants = inputs[count..].iter().cloned().chain(captured).collect();
    let checkpoint = Checkpoint::Every(limit.saved_every);
    repeat(operation.construct, limit.iterations, (body, constants), inputs[..count].to_vec(), checkpoint)
}

/// Reverse mode through a counted loop, which runs the iterations again and saves their carries.
fn pull_limited(
    operation: &Condition,
    limit: Limit,
    inputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let outputs = {
        let _residuals = tracing::with_residuals(Residuals::Kept);
        as_counted_loop(operation, limit, inputs)?
    };
    let sources: Vec<Array> = chosen(inputs, needs_cotangent).cloned().collect();
    let is_input = |node: &Arc<Node>| inputs.iter().any(|input| Arc::ptr_eq(input.node(), node));
    let tape = Tape::differentiable_until(&sources, &outputs, is_input);
    let mut slots = pull(&tape, &outputs, cotangents.iter().cloned())?;
    // Taken, not cloned: an array that is used as two inputs has one cotangent, not two.
    let mut take = |input: &Array| tape.slot(input).and_then(|slot| slots[slot].take());
    let pulled = inputs.iter().zip(needs_cotangent);
    Ok(pulled.map(|(input, &needs_cotangent)| if needs_cotangent { take(input) } else { None }).collect())
}

/// Reverse mode is an error without a limit, since the number of carries to save is unknown, unless no derivative passes through
/// the loop.
pub(super) fn pull_while(
    repeated: &While,
    inputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let operation = &*repeated.0;
    let active = reaches(&operation.body.program, operation.body.outputs.len(), needs_cotangent);
    if !active.iter().zip(cotangents).any(|(&active, cotangent)| active && cotangent.is_some()) {
        return Ok(inputs.iter().map(|_| None).collect());
    }
    if let Some(limit) = operation.limit {
        return pull_limited(operation, limit, inputs, needs_cotangent, cotangents);
    }
    match operation.construct {
        Construct::ForiLoop => bail!(
            Value("fori_loop"),
            "a loop with computed bounds has no gradient: the number of iterations is unknown. Use Python \
             integers or evaluated arrays as bounds, or a scan of fixed length with a mask; jvp works"
        ),
        Construct::WhileLoop | Construct::Scan | Construct::Map | Construct::Cond | Construct::Switch => {
            bail!(
                Value("while_loop"),
                "a loop of unknown length has no gradient: the number of iterations is unknown. Set \
                 max_iterations, use a scan or a fori_loop between integers, or stop_gradient; jvp works"
            )
        }
    }
}

/// Forward mode: a loop that carries the tangents of the carry in addition to the carry.
pub(super) fn push_while(
    repeated: &While,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let operation = &*repeated.0;
    let carry = operation.body.outputs.len();
    let specs = operation.body.arguments();
    let mut has_tangent: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let active = reaches(&operation.body.program, carry, &has_tangent);
    has_tangent[..carry].copy_from_slice(&active);
    let active_count = active.iter().filter(|active| **active).count();
    // Arguments: carry, tangents of the carry, constants, tangents of constants.
    let arguments: Vec<ArraySpec> = specs[..carry]
        .iter()
        .cloned()
        .chain(chosen(&specs[..carry], &active).map(derivative_spec))
        .chain(specs[carry..].iter().cloned())
        .chain(chosen(&specs[carry..], &has_tangent[carry..]).map(derivative_spec))
        .collect();
    let constants = carry + active_count..active_count + specs.len();
    let primal_indices: Vec<usize> = (0..carry).chain(constants.clone()).collect();
    let body = trace_function(operation.construct, arguments.iter().cloned(), |arguments| {
        let primals: Vec<Array> = primal_indices.iter().map(|&index| arguments[index].clone()).collect();
        let sources: Vec<Array> = chosen(&primals, &has_tangent).cloned().collect();
        let tangents: Vec<Array> = arguments[carry..carry + active_count]
            .iter()
            .chain(&arguments[constants.end..])
            .cloned()
            .collect();
        let (values, changes) = pushed(&operation.body.program, &primals, &sources, &tangents)?;
        let changes = changes.iter().zip(specs).zip(&active).filter(|(_, active)| **active);
        let changes = changes.map(|((change, spec), _)| change.clone().unwrap_or_else(|| zero(spec)));
        Ok(values.into_iter().chain(changes).collect())
    })?;
    let condition = trace_function(operation.construct, arguments, |arguments| {
        let primals: Vec<Array> = primal_indices.iter().map(|&index| arguments[index].clone()).collect();
        operation.condition.program.replay(&primals)
    })?;
    let first = tangents[..carry].iter().zip(specs).zip(&active).filter(|(_, active)| **active);
    let first = first.map(|((tangent, spec), _)| tangent.clone().unwrap_or_else(|| zero(spec)));
    let operands: Vec<Array> = inputs[..carry]
        .iter()
        .cloned()
        .chain(first)
        .chain(inputs[carry..].iter().cloned())
        .chain(tangents[carry..].iter().flatten().cloned())
        .collect();
    let results = record(operation.construct, operands, condition, body, operation.limit)?;
    let mut changes = results[carry..].iter();
    Ok(active.iter().map(|&active| if active { changes.next().cloned() } else { None }).collect())
}

/// A batch: the loop runs until no batch element is active; elements that are not active keep their values.
pub(super) fn batch_while(repeated: &While, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let operation = &*repeated.0;
    let carry = operation.body.outputs.len();
    let batch_size = batch_size(inputs);
    let mut batched: Vec<bool> = inputs.iter().map(|input| input.batched).collect();
    let is_per_element = loop {
        let batched_condition =
            batch_body(operation.construct, &operation.condition, &batched, &[false], batch_size)?;
        let mut forced = batched[..carry].to_vec();
        // If batch elements end at different times, the whole carry is batched.
        if batched_condition.batched[0] {
            forced.fill(true);
        }
        let batched_body = batch_body(operation.construct, &operation.body, &batched, &forced, batch_size)?;
        if batched_body.batched == batched[..carry] {
            break batched_condition.batched[0];
        }
        batched[..carry].copy_from_slice(&batched_body.batched);
    };
    let (batched_condition, condition_captured) =
        batch_body(operation.construct, &operation.condition, &batched, &[is_per_element], batch_size)?
            .closed;
    let (batched_body, body_captured) =
        batch_body(operation.construct, &operation.body, &batched, &batched[..carry], batch_size)?.closed;
    let operands = inputs
        .iter()
        .zip(&batched)
        .map(
            |(input, &batched)| {
                if batched { rules::batch(input, batch_size) } else { Ok(input.array.clone()) }
            },
        )
        .collect::<Result<Vec<Array>>>()?;
    if !is_per_element {
        let results = record(
            operation.construct,
            operands,
            (batched_condition, condition_captured),
            (batched_body, body_captured),
            operation.limit,
        )?;
        return Ok(as_batched(results, &batched));
    }
    // Both functions take the arrays captured by either: the body evaluates the condition to find the active elements.
    let operands: Vec<Array> = operands.into_iter().chain(condition_captured).chain(body_captured).collect();
    let specs: Vec<ArraySpec> = operands.iter().map(|array| array.spec().clone()).collect();
    let condition_argument_count = batched_condition.arguments().len();
    let condition = trace_function(operation.construct, specs.iter().cloned(), |arguments| {
        let is_active = batched_condition.program.replay(&arguments[..condition_argument_count])?;
        Ok(vec![ops::any(&is_active[0], None, KeepAxes::No)?])
    })?;
    let body = trace_function(operation.construct, specs, |arguments| {
        let is_active = batched_condition.program.replay(&arguments[..condition_argument_count])?;
        let body_arguments: Vec<Array> =
            arguments[..inputs.len()].iter().chain(&arguments[condition_argument_count..]).cloned().collect();
        let next = batched_body.program.replay(&body_arguments)?;
        let select_active = |(next, current): (&Array, &Array)| {
            let ones: Shape = (0..next.ndim()).map(|axis| if axis == 0 { batch_size } else { 1 }).collect();
            ops::select(&reshape(&is_active[0], ones)?, next, current)
        };
        next.iter().zip(arguments).map(select_active).collect()
    })?;
    let results = record(operation.construct, operands, condition, body, operation.limit)?;
    Ok(as_batched(results, &batched))
}

fn as_batched(results: Vec<Array>, batched: &[bool]) -> Vec<Batched> {
    results.into_iter().zip(batched).map(|(array, &batched)| Batched { array, batched }).collect()
}
