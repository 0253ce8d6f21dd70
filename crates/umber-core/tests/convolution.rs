//! Convolutions and products of chosen matrices: their rules against differences and loops.
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

fn ways() -> Vec<ConvParams> {
    let one = ConvAxis { stride: 2, low: 1, high: 2, kernel_dilation: 2, input_dilation: 3 };
    let two = ConvAxis { stride: 1, low: 0, high: 1, kernel_dilation: 1, input_dilation: 1 };
    [1, 2].map(|groups| ConvParams { axes: smallvec![one, two], groups }).into()
}

/// Small whole numbers.
fn whole(shape: &[usize]) -> umber_core::Array {
    let numbers: Vec<f64> = (0..shape.iter().product()).map(|i: usize| (i * i % 7) as f64 - 3.0).collect();
    array(&numbers, shape)
}

#[test]
fn convolutions_and_their_weights() {
    for how in ways() {
        let (x, weight) = (sample_values([2, 4, 3, 4], 1.0), sample_values([6, 2, 2, 4 / how.groups], 1.0));
        let out = [2, how.axes[0].outputs(4, 2), how.axes[1].outputs(3, 2), 6];
        let by = sample_values(out, 1.0);
        let forward = Convolution(Box::new(how.clone()));
        let backward = ConvolutionWeight { params: Box::new(how.clone()), taps: [2, 2].into() };
        check_vjp(forward.clone(), &[&x, &weight]);
        check_jvp(forward.clone(), &[&x, &weight]);
        check_vjp(backward.clone(), &[&x, &by]);
        check_jvp(backward.clone(), &[&x, &by]);
        // Whole numbers: sums are the same in any order.
        let (x, weight, by) = (whole(&x.shape()[..]), whole(&weight.shape()[..]), whole(&by.shape()[..]));
        let lanes = |x: &umber_core::Array| whole(&[&[3], &x.shape()[..]].concat());
        let (many_x, many_weight, many_by) = (lanes(&x), lanes(&weight), lanes(&by));
        check_vmap(forward.clone(), &[&many_x, &weight], &[true, false]);
        check_vmap(forward.clone(), &[&x, &many_weight], &[false, true]);
        check_vmap(forward, &[&many_x, &many_weight], &[true, true]);
        check_vmap(backward.clone(), &[&many_x, &by], &[true, false]);
        check_vmap(backward.clone(), &[&x, &many_by], &[false, true]);
        check_vmap(backward, &[&many_x, &many_by], &[true, true]);
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
fn several_products_add_up() {
    let (a, b) = (sample_values([3, 2, 4], 1.0), sample_values([2, 4, 3], 1.0));
    let index = |numbers: &[i64]| array(numbers, [numbers.len()]);
    let (left, right, places) = (index(&[0, 2, 2, -1]), index(&[1, 0, -1, 1]), index(&[3, 0, 3, 1]));
    let pulled = |op: IndexedMatMul| {
        let out = umber_core::Array::record_one(op, &[&a, &b, &left, &right, &places]).unwrap();
        assert_eq!(out.shape()[..], [5, 2, 3]);
        values::<f64>(&out)
    };
    let actual = pulled(IndexedMatMul { count: 5 });
    let picked = |x: &umber_core::Array, i: i64| {
        ops::take(x, &umber_core::Array::scalar(i, umber_core::DType::Int64), Some(0)).unwrap()
    };
    let sum = &ops::matmul(&picked(&a, 0), &picked(&b, 1)).unwrap()
        + &ops::matmul(&picked(&a, 2), &picked(&b, 1)).unwrap();
    let wanted = values::<f64>(&sum);
    assert!(actual[18..24].iter().zip(&wanted).all(|(f, w)| (f - w).abs() < 1e-12), "{actual:?} {wanted:?}");
    assert!(actual[24..].iter().all(|&zero| zero == 0.0));
}

#[test]
fn segments_of_lanes() {
    let segments = array(&[0i64, 2, 1, 4, 3, 3], [3, 2]);
    let many = array(&[0i64, 2, 1, 4, 3, 3, 4, 4, 0, 4, 1, 3], [2, 3, 2]);
    let (x, y) = (sample_values([2, 4], 1.0), sample_values([4, 3], 1.0));
    let (many_x, many_y) = (sample_values([2, 2, 4], 1.0), sample_values([2, 4, 3], 1.0));
    check_vmap(SegmentedMatMul::Sums, &[&many_x, &y, &segments], &[true, false, false]);
    check_vmap(SegmentedMatMul::Sums, &[&x, &many_y, &many], &[false, true, true]);
    let (x, y) = (sample_values([4, 3], 1.0), sample_values([3, 3, 2], 1.0));
    let (many_x, many_y) = (sample_values([2, 4, 3], 1.0), sample_values([2, 3, 3, 2], 1.0));
    check_vmap(SegmentedMatMul::Rows, &[&many_x, &y, &many], &[true, false, true]);
    check_vmap(SegmentedMatMul::Rows, &[&x, &many_y, &segments], &[false, true, false]);
}
