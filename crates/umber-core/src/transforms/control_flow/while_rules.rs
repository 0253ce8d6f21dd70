//! The derivatives and batches of loops of unknown length.

use umber_types::{KeepAxes, Result, Shape, bail};

use super::while_loop::record;
use super::{batch_body, chosen, derivative_spec, pushed, reaches, trace_function, zero};
use crate::graph::{Array, ArraySpec};
use crate::op::Op;
use crate::ops;
use crate::primitive::{Batched, Cotangents, batch_size};
use crate::primitives::control::Control;
use crate::primitives::control_flow::{Construct, While};
use crate::primitives::rules::{self, reshape};

/// Reverse mode would have to know how many carries to keep, unless no derivative passes through the loop.
pub(super) fn pull_while(
    repeated: &While,
    inputs: &[Array],
    needs_cotangent: &[bool],
    cotangents: &[Option<Array>],
) -> Result<Cotangents> {
    let operation = &*repeated.0;
    let is_stopped = |input: &Array| matches!(input.node().op(), Op::Control(Control::StopGradient));
    let moving: Vec<bool> = inputs
        .iter()
        .zip(needs_cotangent)
        .map(|(input, &is_needed)| is_needed && !is_stopped(input))
        .collect();
    let active = reaches(&operation.body.program, operation.body.outputs.len(), &moving);
    if !active.iter().zip(cotangents).any(|(&active, cotangent)| active && cotangent.is_some()) {
        return Ok(inputs.iter().map(|_| None).collect());
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
                "a loop of unknown length has no gradient: the number of iterations is unknown. Use a scan \
                 or a fori_loop between integers, with mx.where to mask later iterations, or stop_gradient; \
                 jvp works"
            )
        }
    }
}

/// Forward mode: a loop that carries tangents beside the carry.
pub(super) fn push_while(
    repeated: &While,
    inputs: &[Array],
    tangents: &[Option<Array>],
) -> Result<Vec<Option<Array>>> {
    let operation = &*repeated.0;
    let carry = operation.body.outputs.len();
    let specs = operation.body.arguments();
    let mut moving: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let active = reaches(&operation.body.program, carry, &moving);
    moving[..carry].copy_from_slice(&active);
    let changing = active.iter().filter(|active| **active).count();
    // Arguments: carry, tangents of the carry, constants, tangents of constants.
    let arguments: Vec<ArraySpec> = specs[..carry]
        .iter()
        .cloned()
        .chain(chosen(&specs[..carry], &active).map(derivative_spec))
        .chain(specs[carry..].iter().cloned())
        .chain(chosen(&specs[carry..], &moving[carry..]).map(derivative_spec))
        .collect();
    let constants = carry + changing..changing + specs.len();
    let places: Vec<usize> = (0..carry).chain(constants.clone()).collect();
    let body = trace_function(operation.construct, arguments.iter().cloned(), |arguments| {
        let all: Vec<Array> = places.iter().map(|&place| arguments[place].clone()).collect();
        let sources: Vec<Array> = chosen(&all, &moving).cloned().collect();
        let tangents: Vec<Array> =
            arguments[carry..carry + changing].iter().chain(&arguments[constants.end..]).cloned().collect();
        let (values, changes) = pushed(&operation.body.program, &all, &sources, &tangents)?;
        let changes = changes.iter().zip(specs).zip(&active).filter(|(_, active)| **active);
        let changes = changes.map(|((change, spec), _)| change.clone().unwrap_or_else(|| zero(spec)));
        Ok(values.into_iter().chain(changes).collect())
    })?;
    let condition = trace_function(operation.construct, arguments, |arguments| {
        let all: Vec<Array> = places.iter().map(|&place| arguments[place].clone()).collect();
        operation.condition.program.replay(&all)
    })?;
    let first = tangents[..carry].iter().zip(specs).zip(&active).filter(|(_, active)| **active);
    let first = first.map(|((tangent, spec), _)| tangent.clone().unwrap_or_else(|| zero(spec)));
    let given: Vec<Array> = inputs[..carry]
        .iter()
        .cloned()
        .chain(first)
        .chain(inputs[carry..].iter().cloned())
        .chain(tangents[carry..].iter().flatten().cloned())
        .collect();
    let results = record(operation.construct, given, condition, body)?;
    let mut changes = results[carry..].iter();
    Ok(active.iter().map(|&active| if active { changes.next().cloned() } else { None }).collect())
}

/// A batch: until no lane goes on; lanes that do not keep what they have.
pub(super) fn batch_while(repeated: &While, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let operation = &*repeated.0;
    let carry = operation.body.outputs.len();
    let batch_size = batch_size(inputs);
    let mut batched: Vec<bool> = inputs.iter().map(|input| input.batched).collect();
    let is_lane_wise = loop {
        let looking = batch_body(operation.construct, &operation.condition, &batched, &[false], batch_size)?;
        let mut forced = batched[..carry].to_vec();
        // Where lanes end at different times, all that is carried differs from lane to lane.
        if looking.batched[0] {
            forced.fill(true);
        }
        let made = batch_body(operation.construct, &operation.body, &batched, &forced, batch_size)?;
        if made.batched == batched[..carry] {
            break looking.batched[0];
        }
        batched[..carry].copy_from_slice(&made.batched);
    };
    let (looking, looking_captured) =
        batch_body(operation.construct, &operation.condition, &batched, &[is_lane_wise], batch_size)?.closed;
    let (doing, doing_captured) =
        batch_body(operation.construct, &operation.body, &batched, &batched[..carry], batch_size)?.closed;
    let given = inputs
        .iter()
        .zip(&batched)
        .map(
            |(input, &batched)| {
                if batched { rules::batch(input, batch_size) } else { Ok(input.array.clone()) }
            },
        )
        .collect::<Result<Vec<Array>>>()?;
    if !is_lane_wise {
        let results =
            record(operation.construct, given, (looking, looking_captured), (doing, doing_captured))?;
        return Ok(as_batched(results, &batched));
    }
    // Both functions take what the other captured, too: the body asks the condition which lanes go on.
    let given: Vec<Array> = given.into_iter().chain(looking_captured).chain(doing_captured).collect();
    let specs: Vec<ArraySpec> = given.iter().map(|array| array.spec().clone()).collect();
    let asked = looking.arguments().len();
    let condition = trace_function(operation.construct, specs.iter().cloned(), |arguments| {
        let going = looking.program.replay(&arguments[..asked])?;
        Ok(vec![ops::any(&going[0], None, KeepAxes::No)?])
    })?;
    let body = trace_function(operation.construct, specs, |arguments| {
        let going = looking.program.replay(&arguments[..asked])?;
        let own: Vec<Array> = arguments[..inputs.len()].iter().chain(&arguments[asked..]).cloned().collect();
        let next = doing.program.replay(&own)?;
        let keep = |(next, now): (&Array, &Array)| {
            let ones: Shape = (0..next.ndim()).map(|axis| if axis == 0 { batch_size } else { 1 }).collect();
            ops::select(&reshape(&going[0], ones)?, next, now)
        };
        next.iter().zip(arguments).map(keep).collect()
    })?;
    Ok(as_batched(record(operation.construct, given, condition, body)?, &batched))
}

fn as_batched(results: Vec<Array>, batched: &[bool]) -> Vec<Batched> {
    results.into_iter().zip(batched).map(|(array, &batched)| Batched { array, batched }).collect()
}
