//! The rules of slices, concatenation, gathers and scatters: numerical derivatives, and vmap against loops.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use common::{array, values};
use umber_core::graph::ArrayInternals;
use umber_core::op::Op;
use umber_core::primitive::{Batched, Point, Primitive};
use umber_core::primitives::concatenate::Concatenate;
use umber_core::primitives::gather::{Gather, GatherAxis};
use umber_core::primitives::scatter::{Scatter, ScatterAxis, SourceRole};
use umber_core::primitives::slice::{Slice, Window};
use umber_core::primitives::slice_update::SliceUpdate;
use umber_core::{Array, Shape};
use umber_types::ScatterKind;

/// Distinct values, none of them zero.
fn ramp(shape: &[usize], seed: usize) -> Array {
    let size: usize = shape.iter().product();
    let elements: Vec<f64> = (0..size).map(|i| ((i * 7 + seed * 13) as f64 * 0.61).sin() + 0.3).collect();
    array(&elements, shape)
}

fn apply(op: &Op, inputs: &[Array]) -> Array {
    let mut outputs = Array::record(op.clone(), inputs.iter().cloned().collect()).expect("records");
    outputs.pop().expect("one output")
}

fn dot(a: &Array, b: &Array) -> f64 {
    values::<f64>(a).iter().zip(values::<f64>(b)).map(|(x, y)| x * y).sum()
}

fn shifted(x: &Array, direction: &Array, distance: f64) -> Array {
    let elements: Vec<f64> =
        values::<f64>(x).iter().zip(values::<f64>(direction)).map(|(x, d)| x + distance * d).collect();
    array(&elements, x.shape().clone())
}

/// Check vjp and jvp of `op` with respect to each floating input against central differences.
fn check_derivatives(op: impl Into<Op>, inputs: &[Array]) {
    let op = op.into();
    let output = apply(&op, inputs);
    let ct = ramp(output.shape(), 5);
    let needs_cotangent: Vec<bool> = inputs.iter().map(|input| input.dtype().is_inexact()).collect();
    let outputs = [output];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &needs_cotangent };
    let pulled = op.vjp(&at, std::slice::from_ref(&ct)).expect("a rule").expect("pulls");
    for i in (0..inputs.len()).filter(|&i| needs_cotangent[i]) {
        let direction = ramp(inputs[i].shape(), 9 + i);
        let output_at = |distance: f64| {
            let mut inputs = inputs.to_vec();
            inputs[i] = shifted(&inputs[i], &direction, distance);
            apply(&op, &inputs)
        };
        let (high, low) = (output_at(1e-5), output_at(-1e-5));
        let expected = (dot(&ct, &high) - dot(&ct, &low)) / 2e-5;
        let actual = dot(pulled[i].as_ref().expect("a cotangent"), &direction);
        assert!((actual - expected).abs() < 1e-6, "{op:?}, input {i}: vjp {actual}, differences {expected}");
        let tangents: Vec<Option<Array>> =
            (0..inputs.len()).map(|j| (i == j).then(|| direction.clone())).collect();
        if let Some(pushed) = op.jvp(&at, &tangents) {
            let actual = dot(&pushed.expect("pushes")[0], &ct);
            assert!(
                (actual - expected).abs() < 1e-6,
                "{op:?}, input {i}: jvp {actual}, differences {expected}"
            );
        }
    }
}

/// Check vmap for every combination of batched inputs against the op applied to each batch element.
fn check_vmap(op: impl Into<Op>, elements: &[Vec<Array>]) {
    let op = op.into();
    let count = elements[0].len();
    for combination in 1..1usize << count {
        let is_batched = |i: usize| combination >> i & 1 == 1;
        let inputs: Vec<Batched> = (0..count)
            .map(|i| {
                if !is_batched(i) {
                    return Batched { array: elements[0][i].clone(), batched: false };
                }
                let arrays: Vec<&Array> = elements.iter().map(|inputs| &inputs[i]).collect();
                Batched::yes(umber_core::ops::stack(&arrays, 0).expect("equal specs"))
            })
            .collect();
        let outputs = op.vmap(&inputs).expect("a rule").expect("batches");
        assert!(outputs[0].batched);
        let expected: Vec<f64> = elements
            .iter()
            .flat_map(|element| {
                let inputs: Vec<Array> = (0..count)
                    .map(|i| if is_batched(i) { element[i].clone() } else { elements[0][i].clone() })
                    .collect();
                values::<f64>(&apply(&op, &inputs))
            })
            .collect();
        assert_eq!(values::<f64>(&outputs[0].array), expected, "{op:?}, batched {combination:b}");
    }
}

fn window() -> Window {
    Window {
        starts: [1, 2].into_iter().collect(),
        steps: [1, -2].into_iter().collect(),
        lengths: Shape::from([2, 2]),
    }
}

const KINDS: [ScatterKind; 5] =
    [ScatterKind::Set, ScatterKind::Add, ScatterKind::Multiply, ScatterKind::Maximum, ScatterKind::Minimum];

#[test]
fn slices() {
    let inputs = |seed| vec![ramp(&[3, 4], seed)];
    let mut row = window();
    row.lengths = Shape::from([1, 2]);
    for (window, shape) in
        [(window(), Shape::from([2, 2])), (row.clone(), [2].into()), (row, [2, 1, 1].into())]
    {
        let op = Slice { window: Box::new(window), shape };
        check_derivatives(op.clone(), &inputs(0));
        check_vmap(op, &[inputs(0), inputs(1)]);
    }
}

#[test]
fn slice_updates() {
    let inputs = |seed| vec![ramp(&[3, 4], seed), ramp(&[2, 2], seed + 3)];
    for kind in KINDS {
        let op = SliceUpdate { window: Box::new(window()), kind };
        check_derivatives(op.clone(), &inputs(0));
        check_vmap(op, &[inputs(0), inputs(1)]);
    }
}

#[test]
fn concatenations() {
    let inputs = |seed| vec![ramp(&[2, 1], seed), ramp(&[2, 3], seed + 3), ramp(&[2, 0], 0)];
    check_derivatives(Concatenate { axis: 1 }, &inputs(0));
    check_vmap(Concatenate { axis: 1 }, &[inputs(0), inputs(1)]);
}

/// Index arrays with a repeated pair.
fn grid(seed: i32) -> [Array; 2] {
    [array(&[0, 1, -3, 2 - seed], [2, 2]), array(&[1i64, 0, 1, -1], [2, 2])]
}

#[test]
fn gathers() {
    let [first, second] = grid(0);
    let [third, _] = grid(1);
    let two = Gather { axes: [0, 2].into(), op: "index" };
    check_derivatives(two.clone(), &[ramp(&[3, 2, 2], 0), first.clone(), second.clone()]);
    check_vmap(
        two,
        &[
            vec![ramp(&[3, 2, 2], 0), first.clone(), second.clone()],
            vec![ramp(&[3, 2, 2], 1), third.clone(), second],
        ],
    );
    let one = Gather { axes: [1].into(), op: "index" };
    check_vmap(one, &[vec![ramp(&[2, 3, 2], 0), first], vec![ramp(&[2, 3, 2], 1), third]]);
}

#[test]
fn gathers_along_an_axis() {
    let inputs = |seed| vec![ramp(&[2, 3], seed), array(&[0, 2, -3, -1, 1, 1 - seed as i32, 0, 0], [2, 4])];
    check_derivatives(GatherAxis { axis: 1, op: "index" }, &inputs(0));
    check_vmap(GatherAxis { axis: 1, op: "index" }, &[inputs(0), inputs(1)]);
}

#[test]
fn scatters() {
    let inputs = |seed: usize| {
        let [first, second] = grid(seed as i32);
        vec![ramp(&[3, 2, 2], seed), first, second, ramp(&[2, 2, 2], seed + 4)]
    };
    for kind in KINDS {
        let op = Scatter { kind, source: SourceRole::Value, axes: [0, 2].into(), op: "index" };
        check_derivatives(op.clone(), &inputs(0));
        check_vmap(op, &[inputs(0), inputs(1)]);
    }
}

#[test]
fn scatters_along_an_axis() {
    let inputs = |seed: usize| {
        let indices = array(&[0, 2, -3, -1, 1, 1 - seed as i32, 0, 0], [2, 4]);
        vec![ramp(&[2, 3], seed), indices, ramp(&[2, 4], seed + 4)]
    };
    for kind in KINDS {
        check_derivatives(ScatterAxis { kind, source: SourceRole::Value, axis: 1, op: "index" }, &inputs(0));
        check_vmap(
            ScatterAxis { kind, source: SourceRole::Value, axis: 1, op: "index" },
            &[inputs(0), inputs(1)],
        );
    }
}

#[test]
fn products_with_zeros_have_their_derivative() {
    // Elements 0, 1, 2 are multiplied by no, one and two zeros.
    let source = array(&[2.0, 3.0, 5.0], [3]);
    let indices = array(&[0, 0, 1, 1, 2, 2, 2], [7]);
    let updates = array(&[2.0, 4.0, 0.0, 5.0, 0.0, 0.0, 7.0], [7]);
    check_derivatives(
        Scatter { kind: ScatterKind::Multiply, source: SourceRole::Value, axes: [0].into(), op: "index" },
        &[source, indices, updates],
    );
}

/// The cotangents of the source and the updates of `[source, indices, updates]`.
fn pulled(op: Scatter, inputs: &[Array; 3], cotangent: &[f64]) -> [Vec<f64>; 2] {
    let op = Op::from(op);
    let outputs = [apply(&op, inputs)];
    let at = Point { inputs, outputs: &outputs, needs_cotangent: &[true, false, true] };
    let pulled = op.vjp(&at, &[array(cotangent, [cotangent.len()])]).expect("a rule").expect("pulls");
    [0, 2].map(|i| values::<f64>(pulled[i].as_ref().expect("a cotangent")))
}

#[test]
fn ties_share_the_cotangent_of_an_extremum() {
    let inputs = [array(&[3.0, 1.0], [2]), array(&[0, 0, 1], [3]), array(&[3.0, 3.0, 0.0], [3])];
    let op = Scatter { kind: ScatterKind::Maximum, source: SourceRole::Value, axes: [0].into(), op: "index" };
    assert_eq!(pulled(op, &inputs, &[6.0, 6.0]), [vec![2.0, 6.0], vec![2.0, 2.0, 0.0]]);
}

#[test]
fn an_identity_shares_no_cotangent_with_updates() {
    for (kind, extreme) in [(ScatterKind::Maximum, f64::NEG_INFINITY), (ScatterKind::Minimum, f64::INFINITY)]
    {
        let inputs = [
            array(&[extreme; 4], [4]),
            array(&[0, 0, 1, 1, 3], [5]),
            array(&[extreme, extreme, 2.0, 2.0, f64::NAN], [5]),
        ];
        let op = Scatter { kind, source: SourceRole::Identity, axes: [0].into(), op: "index" };
        let [source, updates] = pulled(op, &inputs, &[6.0, 8.0, 5.0, 0.0]);
        assert_eq!(source, [0.0, 0.0, 5.0, 0.0]);
        assert_eq!(updates, [3.0, 3.0, 4.0, 4.0, 0.0]);
    }
}
