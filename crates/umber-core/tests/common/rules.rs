//! Checks of a primitive's rules, one node at a time, without any transform.
#![allow(dead_code, reason = "not every test file needs all of it")]

use umber_core::graph::ArrayInternals;
use umber_core::op::Op;
use umber_core::primitive::{Batched, Point, Primitive};
use umber_core::primitives::cast::Cast;
use umber_core::{Array, DType, Shape, ops};
use umber_types::{KeepAxes, Scalar};

use super::values;

/// Distinct float64 values of magnitude at most `scale`.
pub(crate) fn sample_values(shape: impl Into<Shape>, scale: f64) -> Array {
    let shape = shape.into();
    let elements: Vec<f64> =
        (0..shape.size()).map(|i| scale * ((i as f64 + 0.5) * 2.399_963).sin()).collect();
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

/// Compare the vjp rule with central differences.
pub(crate) fn check_vjp(op: impl Into<Op>, inputs: &[&Array]) {
    let op = op.into();
    let inputs: &[Array] = &inputs.iter().map(|&x| x.clone()).collect::<Vec<_>>();
    let output = record(&op, inputs);
    assert_eq!(output.dtype(), DType::Float64, "numerical derivatives need float64");
    let cotangent = sample_values(output.shape().clone(), 1.3);
    let needs_cotangent = vec![true; inputs.len()];
    let outputs = [output];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &needs_cotangent };
    let pulled =
        op.vjp(&at, std::slice::from_ref(&cotangent)).expect("a vjp rule").expect("the rule records");
    assert_eq!(pulled.len(), inputs.len());
    for (i, pulled) in pulled.iter().enumerate() {
        let pulled = pulled.as_ref().expect("a cotangent for each input");
        assert_eq!(pulled.spec(), inputs[i].spec(), "cotangent {i} of {}", op.name());
        let direction = sample_values(inputs[i].shape().clone(), 0.7);
        let step = 1e-6;
        let value_at = |distance: f64| {
            let distance = Array::scalar(Scalar::Float(distance), DType::Float64);
            let mut shifted = inputs.to_vec();
            shifted[i] = &inputs[i] + &direction * &distance;
            dot(&record(&op, &shifted), &cotangent)
        };
        let expected = (value_at(step) - value_at(-step)) / (2.0 * step);
        let actual = dot(pulled, &direction);
        assert!(
            (expected - actual).abs() <= 1e-6 * (1.0 + expected.abs()),
            "vjp of {} for input {i}: got {actual}, central differences give {expected}",
            op.name()
        );
    }
}

/// Compare the jvp rule with the vjp rule: `<ct, J t> = <J' ct, t>`.
pub(crate) fn check_jvp(op: impl Into<Op>, inputs: &[&Array]) {
    let op = op.into();
    let inputs: &[Array] = &inputs.iter().map(|&x| x.clone()).collect::<Vec<_>>();
    let outputs = [record(&op, inputs)];
    let needs_cotangent = vec![true; inputs.len()];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &needs_cotangent };
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

/// Compare the vmap rule with one node per batch element; `batched` tells which inputs have a leading batch axis.
pub(crate) fn check_vmap(op: impl Into<Op>, inputs: &[&Array], batched: &[bool]) {
    let op = op.into();
    let batched_inputs: Vec<Batched> = inputs
        .iter()
        .zip(batched)
        .map(|(&array, &batched)| Batched { array: array.clone(), batched })
        .collect();
    let batch_size = umber_core::primitive::batch_size(&batched_inputs);
    let mapped = op.vmap(&batched_inputs).expect("a vmap rule").expect("the rule records").remove(0);
    assert!(mapped.batched);
    for i in 0..batch_size {
        let element_inputs: Vec<Array> = inputs
            .iter()
            .zip(batched)
            .map(|(&x, &batched)| if batched { batch_element(x, i) } else { x.clone() })
            .collect();
        let expected = record(&op, &element_inputs);
        let actual = batch_element(&mapped.array, i);
        assert_eq!(actual.spec(), expected.spec(), "batch element {i} of {}", op.name());
        assert_eq!(doubles(&actual), doubles(&expected), "batch element {i} of {}", op.name());
    }
}

/// Element `i` along the first axis.
fn batch_element(x: &Array, i: usize) -> Array {
    let shape = Shape::from(&x.shape()[1..]);
    let range = i * shape.size()..(i + 1) * shape.size();
    let element = super::array(&doubles(x)[range], shape);
    cast(&element, x.dtype())
}

/// `x` converted to `dtype`.
pub(crate) fn cast(x: &Array, dtype: DType) -> Array {
    Array::record_one(Cast(dtype), &[x]).expect("casts")
}

/// The elements as float64.
pub(crate) fn doubles(x: &Array) -> Vec<f64> {
    values::<f64>(&cast(x, DType::Float64))
}
