//! Reductions, softmax and norms: values against definitions, rules against numerical derivatives.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use common::{array, values};
use rules::{check_jvp, check_vjp, check_vmap, doubles, sample_values};
use umber_core::graph::ArrayInternals;
use umber_core::ops::{self, Precision};
use umber_core::primitive::Primitive;
use umber_core::primitives::arg_reduce::ArgReduce;
use umber_core::primitives::composite::{
    Composite, LayerNorm, LogSumExp, Parameter, RmsNorm, ShiftedLogSumExp, Softmax,
};
use umber_core::{Array, DType, KeepAxes, Shape};
use umber_types::{ArgReduceKind, Bool, Complex32, ErrorKind, f16};

const NO: KeepAxes = KeepAxes::No;

fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        let is_same = a == e || (a.is_nan() && e.is_nan());
        assert!(is_same || (a - e).abs() <= tolerance * (1.0 + e.abs()), "{actual:?} is not {expected:?}");
    }
}

#[test]
fn sums_widen_small_integers() {
    let expected = [
        (DType::Bool, DType::Int32),
        (DType::Int8, DType::Int32),
        (DType::Int16, DType::Int32),
        (DType::UInt8, DType::UInt32),
        (DType::UInt16, DType::UInt32),
        (DType::Int64, DType::Int64),
        (DType::UInt64, DType::UInt64),
        (DType::Float16, DType::Float16),
        (DType::Complex64, DType::Complex64),
    ];
    for (input, output) in expected {
        let x = Array::full(Shape::from([300]), 1, input);
        let sum = ops::sum(&x, None, NO).unwrap();
        assert_eq!(sum.dtype(), output, "sum of {input}");
        assert_eq!(doubles(&sum), [300.0]);
        assert_eq!(ops::prod(&x, None, NO).unwrap().dtype(), output, "prod of {input}");
        assert_eq!(ops::mean(&x, None, NO).unwrap().dtype(), input.inexact(), "mean of {input}");
    }
}

#[test]
fn reductions_over_selected_axes() {
    let x = array(&(0..24).collect::<Vec<i32>>(), [2, 3, 4]);
    let sum = ops::sum(&x, Some(&[0, -1]), NO).unwrap();
    assert_eq!(values::<i32>(&sum), [60, 92, 124]);
    assert_eq!(*ops::sum(&x, Some(&[0, -1]), KeepAxes::Yes).unwrap().shape(), Shape::from([1, 3, 1]));
    assert_eq!(values::<i32>(&ops::max(&x, Some(&[1]), NO).unwrap()), [8, 9, 10, 11, 20, 21, 22, 23]);
    assert_eq!(values::<i32>(&ops::min(&x, None, NO).unwrap()), [0]);
    assert_eq!(values::<i32>(&ops::sum(&x, Some(&[]), NO).unwrap()), values::<i32>(&x));
    assert!(matches!(ops::sum(&x, Some(&[3]), NO), Err(error) if error.kind() == ErrorKind::Axis));
    assert!(matches!(ops::sum(&x, Some(&[1, 1]), NO), Err(error) if error.kind() == ErrorKind::Value));
    assert_eq!(values::<i32>(&ops::count_nonzero(&x, Some(&[0, 1]), NO).unwrap()), [5, 6, 6, 6]);
}

#[test]
fn empty_reductions_have_a_sum_but_no_extremum() {
    let x = array::<f32>(&[], [0, 3]);
    assert_eq!(values::<f32>(&ops::sum(&x, Some(&[0]), NO).unwrap()), [0.0; 3]);
    assert_eq!(values::<f32>(&ops::prod(&x, Some(&[0]), NO).unwrap()), [1.0; 3]);
    assert!(values::<f32>(&ops::mean(&x, None, NO).unwrap())[0].is_nan());
    assert_eq!(values::<Bool>(&ops::all(&x, None, NO).unwrap()), [Bool(1)]);
    assert_eq!(values::<Bool>(&ops::any(&x, None, NO).unwrap()), [Bool(0)]);
    let error = ops::max(&x, Some(&[0]), NO).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[max]"), "{error}");
    assert!(error.to_string().contains("(0, 3)"), "{error}");
    assert_eq!(*ops::max(&x, Some(&[1]), NO).unwrap().shape(), Shape::from([0]));
    assert!(ops::argmax(&x, Some(0), NO).is_err());
    assert!(ops::logsumexp(&x, None, NO).is_err());
    assert_eq!(*ops::softmax(&x, Some(&[0]), Precision::Native).unwrap().shape(), Shape::from([0, 3]));
}

#[test]
fn means_of_half_floats_do_not_overflow() {
    let x = Array::full(Shape::from([100_000]), 10.0, DType::Float16);
    let mean = ops::mean(&x, None, NO).unwrap();
    assert_eq!(mean.dtype(), DType::Float16);
    assert_eq!(values::<f16>(&mean), [f16::from_f32(10.0)]);
    let x = array(&[f16::from_f32(-60000.0), f16::from_f32(60000.0)], [2]);
    assert_eq!(doubles(&ops::std(&x, None, NO, 0).unwrap()), [60000.0]);
}

#[test]
fn variance_matches_its_definition() {
    let x = sample_values([4, 5], 3.0);
    let v = values::<f64>(&x);
    let var = |row: &[f64], ddof: f64| {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (row.len() as f64 - ddof)
    };
    for ddof in [0, 1] {
        let expected: Vec<f64> = v.chunks(5).map(|row| var(row, ddof as f64)).collect();
        assert_close(&values(&ops::var(&x, Some(&[1]), NO, ddof).unwrap()), &expected, 1e-12);
        let roots: Vec<f64> = expected.iter().map(|v| v.sqrt()).collect();
        assert_close(&values(&ops::std(&x, Some(&[1]), NO, ddof).unwrap()), &roots, 1e-12);
    }
    assert_eq!(values::<f32>(&ops::var(&array(&[1f32, 2.0], [2]), None, NO, 2).unwrap()), [f32::INFINITY]);
    let z = array(&[Complex32::new(1.0, 2.0), Complex32::new(1.0, 3.0)], [2]);
    assert_eq!(values::<f32>(&ops::std(&z, None, NO, 0).unwrap()), [0.5]);
}

#[test]
fn argmin_and_argmax() {
    let x = array(&[3f32, 7.0, 7.0, -1.0, 5.0, -1.0], [2, 3]);
    assert_eq!(values::<u32>(&ops::argmax(&x, Some(1), NO).unwrap()), [1, 1]);
    assert_eq!(values::<u32>(&ops::argmin(&x, Some(-1), NO).unwrap()), [0, 0]);
    assert_eq!(values::<u32>(&ops::argmin(&x, None, NO).unwrap()), [3]);
    assert_eq!(*ops::argmin(&x, None, KeepAxes::Yes).unwrap().shape(), Shape::from([1, 1]));
    let x = array(&[1f32, f32::NAN, 9.0, f32::NAN], [4]);
    assert_eq!(values::<u32>(&ops::argmax(&x, None, NO).unwrap()), [1]);
    assert!(values::<f32>(&ops::max(&x, None, NO).unwrap())[0].is_nan());
}

#[test]
fn softmax_over_any_axes() {
    let x = sample_values([2, 3, 4], 5.0);
    let v = values::<f64>(&x);
    for axes in [vec![2], vec![0], vec![-2], vec![0, 2], vec![0, 1, 2]] {
        let y = ops::softmax(&x, Some(&axes), Precision::Native).unwrap();
        assert_eq!(y.shape(), x.shape());
        let exponentials = array(&v.iter().map(|x| x.exp()).collect::<Vec<_>>(), [2, 3, 4]);
        let sums = ops::sum(&exponentials, Some(&axes), KeepAxes::Yes).unwrap();
        assert_close(&values(&y), &values(&(exponentials / &sums)), 1e-12);
        let lse = ops::logsumexp(&x, Some(&axes), KeepAxes::Yes).unwrap();
        assert_close(&values(&lse), &values(&ops::log(&sums).unwrap()), 1e-12);
    }
    let integers = ops::softmax(&array(&[1i32, 1], [2]), None, Precision::Full).unwrap();
    assert_eq!(values::<f32>(&integers), [0.5, 0.5]);
    let one = ops::softmax(&array(&[7f32], Shape::scalar()), None, Precision::Native).unwrap();
    assert_eq!(values::<f32>(&one), [1.0]);
}

#[test]
fn softmax_and_logsumexp_of_complex_numbers() {
    let x = array(&[Complex32::new(1.0, 1.0), Complex32::new(2.0, 0.0)], [2]);
    let y = values::<Complex32>(&ops::softmax(&x, None, Precision::Native).unwrap());
    assert!((y[0] - Complex32::new(0.217_958, 0.201_948)).norm() < 1e-5, "{y:?}");
    let lse = values::<Complex32>(&ops::logsumexp(&x, None, NO).unwrap())[0];
    let expected = (Complex32::new(1.0, 1.0).exp() + Complex32::new(2.0, 0.0).exp()).ln();
    assert!((lse - expected).norm() < 1e-5, "{lse} is not {expected}");
}

#[test]
fn softmax_and_logsumexp_of_extreme_arguments() {
    let huge = array(&[1000f32, 1000.0], [2]);
    assert_eq!(values::<f32>(&ops::softmax(&huge, None, Precision::Native).unwrap()), [0.5, 0.5]);
    let lse = |x: &[f32]| values::<f32>(&ops::logsumexp(&array(x, [x.len()]), None, NO).unwrap())[0];
    assert!((lse(&[1000.0, 1000.0]) - 1000.6931).abs() < 1e-3);
    assert_eq!(lse(&[f32::NEG_INFINITY; 2]), f32::NEG_INFINITY);
    assert_eq!(lse(&[f32::INFINITY, 1.0]), f32::INFINITY);
    assert!(lse(&[f32::NAN, 1.0]).is_nan());
}

#[test]
fn arg_reductions_have_zero_derivatives() {
    let op = ArgReduce { kind: ArgReduceKind::ArgMax, axis: 1 };
    check_vmap(op, &[&sample_values([4, 3, 2], 1.0)], &[true]);
    let x = [sample_values([2, 3], 1.0)];
    let outputs = [rules::record(&op.into(), &x)];
    let at = umber_core::primitive::Point { inputs: &x, outputs: &outputs, needs_cotangent: &[true] };
    let ct = outputs[0].clone();
    assert_eq!(values::<f64>(op.vjp(&at, &[ct]).unwrap().unwrap()[0].as_ref().unwrap()), [0.0; 6]);
}

/// Compare the kernel of a composite with its decomposition for every floating dtype.
fn check_composite(composite: Composite, inputs: &[&Array]) {
    for (dtype, tolerance) in
        [(DType::Float64, 1e-12), (DType::Float32, 2e-6), (DType::Float16, 3e-3), (DType::BFloat16, 2e-2)]
    {
        let cast: Vec<Array> = inputs.iter().map(|&x| rules::cast(x, dtype)).collect();
        let kernel = rules::record(&composite.into(), &cast);
        let decomposed = composite.expand(&cast).expect("expands").expect("records").remove(0);
        assert_eq!(kernel.spec(), decomposed.spec());
        assert_close(&doubles(&kernel), &doubles(&decomposed), tolerance);
    }
}

#[test]
fn shifted_logsumexp_matches_its_decomposition() {
    let shifted = Composite::ShiftedLogSumExp(ShiftedLogSumExp);
    for dtype in [DType::Float64, DType::Float32, DType::Float16, DType::BFloat16] {
        let x = rules::cast(&sample_values([3, 4, 10], 4.0), dtype);
        let kernel = Array::record(shifted, [x.clone()].into_iter().collect()).unwrap();
        let decomposed = shifted.expand(&[x]).expect("expands").expect("records");
        for (kernel, decomposed) in kernel.iter().zip(&decomposed) {
            assert_eq!(kernel.spec(), decomposed.spec());
            assert_close(&doubles(kernel), &doubles(decomposed), 2e-6);
        }
    }
    check_vmap(shifted, &[&sample_values([3, 5], 2.0)], &[true]);
}

#[test]
fn composites_match_their_decompositions() {
    let x = sample_values([3, 4, 10], 4.0);
    let (weight, bias) = (sample_values([10], 2.0), sample_values([10], 0.5));
    let epsilon = Parameter::new(1e-5);
    let softmax = Composite::Softmax(Softmax { precise: true });
    check_composite(softmax, &[&x]);
    check_composite(Composite::Softmax(Softmax { precise: false }), &[&sample_values([3, 4, 10], 1.0)]);
    check_composite(Composite::LogSumExp(LogSumExp), &[&x]);
    let rms = |has_weight| Composite::RmsNorm(RmsNorm { epsilon, has_weight });
    check_composite(rms(false), &[&x]);
    check_composite(rms(true), &[&x, &weight]);
    let layer = |has_weight, has_bias| Composite::LayerNorm(LayerNorm { epsilon, has_weight, has_bias });
    check_composite(layer(false, false), &[&x]);
    check_composite(layer(true, false), &[&x, &weight]);
    check_composite(layer(false, true), &[&x, &bias]);
    check_composite(layer(true, true), &[&x, &weight, &bias]);
}

#[test]
fn composite_rules_hold() {
    let x = sample_values([3, 5], 2.0);
    let (weight, bias) = (sample_values([5], 2.0), sample_values([5], 0.5));
    let epsilon = Parameter::new(1e-3);
    let softmax = Composite::Softmax(Softmax { precise: false });
    for composite in [softmax, Composite::LogSumExp(LogSumExp)] {
        check_vjp(composite, &[&x]);
        check_jvp(composite, &[&x]);
        check_vmap(composite, &[&x], &[true]);
    }
    let rms = Composite::RmsNorm(RmsNorm { epsilon, has_weight: true });
    check_vjp(rms, &[&x, &weight]);
    check_vjp(Composite::RmsNorm(RmsNorm { epsilon, has_weight: false }), &[&x]);
    check_vmap(rms, &[&x, &weight], &[true, false]);
    let layer = |has_weight, has_bias| Composite::LayerNorm(LayerNorm { epsilon, has_weight, has_bias });
    check_vjp(layer(true, true), &[&x, &weight, &bias]);
    check_vjp(layer(false, true), &[&x, &bias]);
    check_vjp(layer(true, false), &[&x, &weight]);
    check_vmap(layer(true, true), &[&x, &weight, &bias], &[true, false, false]);
}

#[test]
fn norms_validate_their_arguments() {
    let x = array(&[1f32, 2.0, 3.0], [1, 3]);
    let weight = array(&[1f32, 1.0], [2]);
    let error = ops::fast::layer_norm(&x, Some(&weight), None, 1e-5).unwrap_err();
    assert!(error.to_string().starts_with("[layer_norm]") && error.to_string().contains("(2,)"), "{error}");
    assert!(ops::fast::rms_norm(&array(&[1i32], [1]), None, 1e-5).is_err());
    assert!(ops::fast::rms_norm(&array(&[1f32], Shape::scalar()), None, 1e-5).is_err());
    let half = array(&[f16::from_f32(1.0)], [1]);
    let wide = ops::fast::rms_norm(&half, Some(&array(&[2f32], [1])), 0.0).unwrap();
    assert_eq!(wide.dtype(), DType::Float32);
    assert_eq!(values::<f32>(&wide), [2.0]);
}
