//! Convolutions, gathered and segmented matrix products: their rules against numerical derivatives and loops.
#![allow(clippy::unwrap_used, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use common::{array, values};
use rules::{check_jvp, check_vjp, check_vmap, sample_values};
use smallvec::smallvec;
use umber_core::graph::ArrayInternals;
use umber_core::ops;
use umber_core::primitives::convolution::{Convolution, ConvolutionWeight};
use umber_core::primitives::indexed_matmul::IndexedMatMul;
use umber_core::primitives::segmented_matmul::SegmentedMatMul;
use umber_types::{ConvAxis, ConvParams, ErrorKind};

/// Parameters with strides, padding and dilation on one of two axes, without and with groups.
fn test_params() -> Vec<ConvParams> {
    let one = ConvAxis { stride: 2, low: 1, high: 2, kernel_dilation: 2, input_dilation: 3 };
    let two = ConvAxis { stride: 1, low: 0, high: 1, kernel_dilation: 1, input_dilation: 1 };
    [1, 2].map(|groups| ConvParams { axes: smallvec![one, two], groups }).into()
}

/// An array of small integers.
fn integers(shape: &[usize]) -> umber_core::Array {
    let elements: Vec<f64> = (0..shape.iter().product()).map(|i: usize| (i * i % 7) as f64 - 3.0).collect();
    array(&elements, shape)
}

#[test]
fn rules_of_convolutions_and_weight_gradients() {
    for params in test_params() {
        let (x, weight) =
            (sample_values([2, 4, 3, 4], 1.0), sample_values([6, 2, 2, 4 / params.groups], 1.0));
        let out = [2, params.axes[0].outputs(4, 2), params.axes[1].outputs(3, 2), 6];
        let ct = sample_values(out, 1.0);
        let forward = Convolution(Box::new(params.clone()));
        let backward = ConvolutionWeight { params: Box::new(params.clone()), taps: [2, 2].into() };
        check_vjp(forward.clone(), &[&x, &weight]);
        check_jvp(forward.clone(), &[&x, &weight]);
        check_vjp(backward.clone(), &[&x, &ct]);
        check_jvp(backward.clone(), &[&x, &ct]);
        // Sums of integers are exact, so that the order of summation does not matter.
        let (x, weight, ct) =
            (integers(&x.shape()[..]), integers(&weight.shape()[..]), integers(&ct.shape()[..]));
        let batch = |x: &umber_core::Array| integers(&[&[3], &x.shape()[..]].concat());
        let (batched_x, batched_weight, batched_ct) = (batch(&x), batch(&weight), batch(&ct));
        check_vmap(forward.clone(), &[&batched_x, &weight], &[true, false]);
        check_vmap(forward.clone(), &[&x, &batched_weight], &[false, true]);
        check_vmap(forward, &[&batched_x, &batched_weight], &[true, true]);
        check_vmap(backward.clone(), &[&batched_x, &ct], &[true, false]);
        check_vmap(backward.clone(), &[&x, &batched_ct], &[false, true]);
        check_vmap(backward, &[&batched_x, &batched_ct], &[true, true]);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let (x, weight) = (sample_values([1, 3, 2], 1.0), sample_values([1, 4, 2], 1.0));
    let error = ops::conv1d(&x, &weight, &ops::ConvOptions::default()).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.to_string().starts_with("[conv1d]"), "{error}");
    let options = ops::ConvOptions { low: smallvec![i64::MAX], ..Default::default() };
    assert!(ops::conv1d(&x, &weight, &options).is_err());
}

#[test]
fn products_with_equal_target_are_summed() {
    let (a, b) = (sample_values([3, 2, 4], 1.0), sample_values([2, 4, 3], 1.0));
    let index = |indices: &[i64]| array(indices, [indices.len()]);
    let (left, right, targets) = (index(&[0, 2, 2, -1]), index(&[1, 0, -1, 1]), index(&[3, 0, 3, 1]));
    let run = |op: IndexedMatMul| {
        let out = umber_core::Array::record_one(op, &[&a, &b, &left, &right, &targets]).unwrap();
        assert_eq!(out.shape()[..], [5, 2, 3]);
        values::<f64>(&out)
    };
    let actual = run(IndexedMatMul { count: 5, op: "gather_mm" });
    let matrix = |x: &umber_core::Array, i: i64| {
        ops::take(x, &umber_core::Array::scalar(i, umber_core::DType::Int64), Some(0)).unwrap()
    };
    let sum = &ops::matmul(&matrix(&a, 0), &matrix(&b, 1)).unwrap()
        + &ops::matmul(&matrix(&a, 2), &matrix(&b, 1)).unwrap();
    let expected = values::<f64>(&sum);
    assert!(
        actual[18..24].iter().zip(&expected).all(|(a, e)| (a - e).abs() < 1e-12),
        "{actual:?} {expected:?}"
    );
    assert!(actual[24..].iter().all(|&zero| zero == 0.0));
}

#[test]
fn segmented_products_batch() {
    let segments = array(&[0i64, 2, 1, 4, 3, 3], [3, 2]);
    let batched_segments = array(&[0i64, 2, 1, 4, 3, 3, 4, 4, 0, 4, 1, 3], [2, 3, 2]);
    let (x, y) = (sample_values([2, 4], 1.0), sample_values([4, 3], 1.0));
    let (batched_x, batched_y) = (sample_values([2, 2, 4], 1.0), sample_values([2, 4, 3], 1.0));
    check_vmap(SegmentedMatMul::Sums, &[&batched_x, &y, &segments], &[true, false, false]);
    check_vmap(SegmentedMatMul::Sums, &[&x, &batched_y, &batched_segments], &[false, true, true]);
    let (x, y) = (sample_values([4, 3], 1.0), sample_values([3, 3, 2], 1.0));
    let (batched_x, batched_y) = (sample_values([2, 4, 3], 1.0), sample_values([2, 3, 3, 2], 1.0));
    check_vmap(SegmentedMatMul::Rows, &[&batched_x, &y, &batched_segments], &[true, false, true]);
    check_vmap(SegmentedMatMul::Rows, &[&x, &batched_y, &segments], &[false, true, false]);
}
