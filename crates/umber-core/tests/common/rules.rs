//! Checks of a primitive's rules, one node at a time, without any transform.
#![allow(dead_code, reason = "not every test file needs all of it")]

use umber_core::graph::ArrayInternals;
use umber_core::op::Op;
use umber_core::primitive::{Batched, Point, Primitive};
use umber_core::primitives::cast::Cast;
use umber_core::{Array, DType, Shape, ops};
use umber_types::{KeepAxes, Scalar};

use super::values;

/// Double-precision values that are not special and all differ, scaled by `size`.
pub(crate) fn sample_values(shape: impl Into<Shape>, size: f64) -> Array {
    let shape = shape.into();
    let elements: Vec<f64> = (0..shape.size()).map(|i| size * ((i as f64 + 0.5) * 2.399_963).sin()).collect();
    super::array(&elements, shape)
}

/// Record one node with one output.
pub(crate) fn record(op: &Op, inputs: &[Array]) -> Array {
    Array::record(op.clone(), inputs.iter().cloned().collect()).expect("records").remove(0)
}

fn dot(a: &Array, b: &Array) -> f64 {
    let product = ops::multiply(a, b).expect("equal shapes");
    values::<f64>(&ops::sum(&product, None, KeepAxes::No).expect("sums"))[0]
}

/// The vjp rule, or that of the expansion's nodes if there is none, against central differences.
pub(crate) fn check_vjp(op: impl Into<Op>, inputs: &[&Array]) {
    let op = op.into();
    let inputs: &[Array] = &inputs.iter().map(|&x| x.clone()).collect::<Vec<_>>();
    let output = record(&op, inputs);
    assert_eq!(output.dtype(), DType::Float64, "differences need doubles");
    let cotangent = sample_values(output.shape().clone(), 1.3);
    let wanted = vec![true; inputs.len()];
    let outputs = [output];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &wanted };
    let pulled =
        op.vjp(&at, std::slice::from_ref(&cotangent)).expect("a vjp rule").expect("the rule records");
    assert_eq!(pulled.len(), inputs.len());
    for (i, pulled) in pulled.iter().enumerate() {
        let pulled = pulled.as_ref().expect("a cotangent for each input");
        assert_eq!(pulled.spec(), inputs[i].spec(), "cotangent {i} of {}", op.name());
        let direction = sample_values(inputs[i].shape().clone(), 0.7);
        let step = 1e-6;
        let moved = |by: f64| {
            let by = Array::scalar(Scalar::Float(by), DType::Float64);
            let mut moved = inputs.to_vec();
            moved[i] = &inputs[i] + &direction * &by;
            dot(&record(&op, &moved), &cotangent)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        let actual = dot(pulled, &direction);
        assert!(
            (slope - actual).abs() <= 1e-6 * (1.0 + slope.abs()),
            "vjp of {} for input {i}: found {actual}, differences give {slope}",
            op.name()
        );
    }
}

/// The jvp rule against the vjp rule: `<ct, J t> = <J' ct, t>`.
pub(crate) fn check_jvp(op: impl Into<Op>, inputs: &[&Array]) {
    let op = op.into();
    let inputs: &[Array] = &inputs.iter().map(|&x| x.clone()).collect::<Vec<_>>();
    let outputs = [record(&op, inputs)];
    let wanted = vec![true; inputs.len()];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &wanted };
    let cotangent = sample_values(outputs[0].shape().clone(), 1.3);
    let tangents: Vec<Option<Array>> =
        inputs.iter().map(|x| Some(sample_values(x.shape().clone(), 0.9))).collect();
    let pushed = op.jvp(&at, &tangents).expect("a jvp rule").expect("the rule records").remove(0);
    assert_eq!(pushed.spec(), outputs[0].spec());
    let pulled =
        op.vjp(&at, std::slice::from_ref(&cotangent)).expect("a vjp rule").expect("the rule records");
    let right: f64 = pulled.iter().flatten().zip(tangents.iter().flatten()).map(|(p, t)| dot(p, t)).sum();
    let left = dot(&cotangent, &pushed);
    assert!((left - right).abs() <= 1e-9 * (1.0 + left.abs()), "{}: {left} and {right}", op.name());
}

/// The vmap rule against one node a lane; `batched` says which inputs have the batch axis in front.
pub(crate) fn check_vmap(op: impl Into<Op>, inputs: &[&Array], batched: &[bool]) {
    let op = op.into();
    let given: Vec<Batched> = inputs
        .iter()
        .zip(batched)
        .map(|(&array, &batched)| Batched { array: array.clone(), batched })
        .collect();
    let batch_size = umber_core::primitive::batch_size(&given);
    let mapped = op.vmap(&given).expect("a vmap rule").expect("the rule records").remove(0);
    assert!(mapped.batched);
    for lane in 0..batch_size {
        let alone: Vec<Array> = inputs
            .iter()
            .zip(batched)
            .map(|(&x, &batched)| if batched { lane_of(x, lane) } else { x.clone() })
            .collect();
        let expected = record(&op, &alone);
        let actual = lane_of(&mapped.array, lane);
        assert_eq!(actual.spec(), expected.spec(), "lane {lane} of {}", op.name());
        assert_eq!(doubles(&actual), doubles(&expected), "lane {lane} of {}", op.name());
    }
}

/// Part `lane` along the first axis.
fn lane_of(x: &Array, lane: usize) -> Array {
    let shape = Shape::from(&x.shape()[1..]);
    let range = lane * shape.size()..(lane + 1) * shape.size();
    let cut = super::array(&doubles(x)[range], shape);
    cast(&cut, x.dtype())
}

/// `x` converted.
pub(crate) fn cast(x: &Array, dtype: DType) -> Array {
    Array::record_one(Cast(dtype), &[x]).expect("casts")
}

/// The elements as doubles.
pub(crate) fn doubles(x: &Array) -> Vec<f64> {
    values::<f64>(&cast(x, DType::Float64))
}
