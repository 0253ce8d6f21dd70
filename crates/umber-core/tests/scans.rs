//! Scans: values against naive implementations, rules against numerical derivatives.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use common::{array, values};
use rules::{check_jvp, check_vjp, check_vmap, sample_values};
use umber_core::ops::{self, NanIsEqual, ScanOrder};
use umber_core::primitive::Primitive;
use umber_core::primitives::scan::Scan;
use umber_core::{DType, Shape};
use umber_types::{Bool, ScanDirection, ScanExtent, ScanKind};

const FORWARD: ScanDirection = ScanDirection::Forward;
const REVERSE: ScanDirection = ScanDirection::Reverse;
const INCLUSIVE: ScanExtent = ScanExtent::Inclusive;
const EXCLUSIVE: ScanExtent = ScanExtent::Exclusive;
/// All combinations of direction and extent.
const ORDERS: [(ScanDirection, ScanExtent); 4] =
    [(FORWARD, INCLUSIVE), (REVERSE, INCLUSIVE), (FORWARD, EXCLUSIVE), (REVERSE, EXCLUSIVE)];

fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        let is_same = a == e || (a.is_nan() && e.is_nan());
        assert!(is_same || (a - e).abs() <= tolerance * (1.0 + e.abs()), "{actual:?} is not {expected:?}");
    }
}

/// A scan of each row of a matrix, by its definition.
fn naive_scan(
    kind: ScanKind,
    rows: &[f64],
    length: usize,
    (direction, extent): (ScanDirection, ScanExtent),
) -> Vec<f64> {
    let (identity, fold): (f64, fn(f64, f64) -> f64) = match kind {
        ScanKind::Sum => (0.0, |a, b| a + b),
        ScanKind::Prod => (1.0, |a, b| a * b),
        ScanKind::Max => (f64::NEG_INFINITY, f64::max),
        ScanKind::Min => (f64::INFINITY, f64::min),
        ScanKind::LogSumExp => (f64::NEG_INFINITY, |a, b| (a.exp() + b.exp()).ln()),
    };
    let mut out = vec![0.0; rows.len()];
    for (row, out) in rows.chunks(length).zip(out.chunks_mut(length)) {
        let mut total = identity;
        for step in 0..length {
            let i = if direction == REVERSE { length - 1 - step } else { step };
            let before = total;
            total = fold(total, row[i]);
            out[i] = if extent == INCLUSIVE { total } else { before };
        }
    }
    out
}

#[test]
fn scans_match_naive_scans() {
    let x = sample_values([3, 7], 1.5);
    for &kind in ScanKind::ALL {
        for (direction, extent) in ORDERS {
            let order = ScanOrder { axis: Some(-1), direction, extent };
            let actual = match kind {
                ScanKind::Sum => ops::cumsum(&x, order, None),
                ScanKind::Prod => ops::cumprod(&x, order, None),
                ScanKind::Max => ops::cummax(&x, order),
                ScanKind::Min => ops::cummin(&x, order),
                ScanKind::LogSumExp => ops::logcumsumexp(&x, order),
            };
            let expected = naive_scan(kind, &values(&x), 7, (direction, extent));
            assert_close(&values(&actual.unwrap()), &expected, 1e-12);
        }
    }
    let flat = ops::cumsum(&array(&[1i32, 2, 3, 4], [2, 2]), ScanOrder::default(), None).unwrap();
    assert_eq!(values::<i32>(&flat), [1, 3, 6, 10]);
    let columns = ops::cumsum(&array(&[1i32, 2, 3, 4], [2, 2]), ScanOrder::along(0), None).unwrap();
    assert_eq!(values::<i32>(&columns), [1, 2, 4, 6]);
    let counts = ops::cumsum(&array(&[Bool(1), Bool(0), Bool(1)], [3]), ScanOrder::along(0), None).unwrap();
    assert_eq!(values::<i32>(&counts), [1, 1, 2]);
    let truth = ops::cumprod(&array(&[Bool(1), Bool(0), Bool(1)], [3]), ScanOrder::along(0), None).unwrap();
    assert_eq!(values::<Bool>(&truth), [Bool(1), Bool(0), Bool(0)]);
    let wide = ops::cumprod(&array(&[100i8, 100], [2]), ScanOrder::along(0), Some(DType::Int32)).unwrap();
    assert_eq!(values::<i32>(&wide), [100, 10000]);
    assert_eq!(
        *ops::cumsum(&array(&[3f32], Shape::scalar()), ScanOrder::default(), None).unwrap().shape(),
        Shape::from([1])
    );
}

#[test]
fn scan_rules_hold() {
    for &kind in ScanKind::ALL {
        for (direction, extent) in ORDERS {
            let scan = Scan { kind, axis: 1, direction, extent };
            // The first results of exclusive extrema and log-sum-exps are infinite, so that numerical derivatives are NaN.
            if extent == INCLUSIVE || matches!(kind, ScanKind::Sum | ScanKind::Prod) {
                check_vjp(scan, &[&sample_values([3, 6], 1.5)]);
                check_vjp(scan, &[&sample_values([3, 1], 1.5)]);
            }
            check_vmap(Scan { axis: 0, ..scan }, &[&sample_values([3, 6], 1.5)], &[true]);
        }
    }
    check_jvp(
        Scan { kind: ScanKind::Sum, axis: 0, direction: REVERSE, extent: EXCLUSIVE },
        &[&sample_values([3, 6], 1.5)],
    );
    for zeros in [vec![2], vec![0, 3], vec![1, 2, 5]] {
        let mut x = values::<f64>(&sample_values([6], 1.5));
        for &i in &zeros {
            x[i] = 0.0;
        }
        for (direction, extent) in ORDERS {
            check_vjp(Scan { kind: ScanKind::Prod, axis: 0, direction, extent }, &[&array(&x, [6])]);
        }
    }
}

/// The vjp of a scan with these cotangents.
fn pulled(scan: Scan, x: &[f64], ct: &[f64]) -> Vec<f64> {
    let inputs = [array(x, [x.len()])];
    let outputs = [rules::record(&scan.into(), &inputs)];
    let at = umber_core::primitive::Point { inputs: &inputs, outputs: &outputs, needs_cotangent: &[true] };
    let pulled = scan.vjp(&at, &[array(ct, [ct.len()])]).expect("a rule").expect("records").remove(0);
    values(&pulled.expect("a cotangent"))
}

#[test]
fn the_identity_of_exclusive_scans_has_no_derivative() {
    let scan = Scan { kind: ScanKind::Max, axis: 0, direction: FORWARD, extent: EXCLUSIVE };
    assert_eq!(pulled(scan, &[3.0, 1.0, 5.0, 2.0], &[9.0, 1.0, 2.0, 4.0]), [3.0, 0.0, 4.0, 0.0]);
    let scan = Scan { kind: ScanKind::Min, direction: REVERSE, ..scan };
    assert_eq!(pulled(scan, &[3.0, 1.0, 5.0, 2.0], &[1.0, 2.0, 4.0, 9.0]), [0.0, 1.0, 0.0, 6.0]);
    let scan = Scan { kind: ScanKind::LogSumExp, axis: 0, direction: FORWARD, extent: EXCLUSIVE };
    let e = 1f64.exp();
    let expected = [1.0 + 2.0 / (1.0 + e), 2.0 * e / (1.0 + e), 0.0];
    assert_close(&pulled(scan, &[0.0, 1.0, 7.0], &[5.0, 1.0, 2.0]), &expected, 1e-12);
    let lowest = [f64::NEG_INFINITY, 0.0, 800.0];
    let scan = Scan { extent: INCLUSIVE, ..scan };
    assert_close(&pulled(scan, &lowest, &[1.0, 1.0, 1.0]), &[0.0, 1.0, 1.0], 1e-12);
}

#[test]
fn diff_and_trace() {
    let x = array(&[1i32, 4, 9, 16], [4]);
    assert_eq!(values::<i32>(&ops::diff(&x, 1, -1).unwrap()), [3, 5, 7]);
    assert_eq!(values::<i32>(&ops::diff(&x, 2, 0).unwrap()), [2, 2]);
    assert_eq!(values::<i32>(&ops::diff(&x, 0, 0).unwrap()), values::<i32>(&x));
    assert_eq!(*ops::diff(&x, 9, 0).unwrap().shape(), Shape::from([0]));
    let truth = array(&[Bool(1), Bool(0), Bool(0)], [3]);
    assert_eq!(values::<Bool>(&ops::diff(&truth, 1, 0).unwrap()), [Bool(1), Bool(0)]);
    assert!(ops::diff(&x, -1, 0).is_err());
    let square = array(&[1i8, 2, 3, 4, 5, 100], [2, 3]);
    let trace = ops::trace(&square, 1, 0, 1, None).unwrap();
    assert_eq!((trace.dtype(), values::<i32>(&trace)), (DType::Int32, vec![102]));
    assert!(ops::trace(&x, 0, 0, 1, None).is_err());
}

#[test]
fn array_equal_and_allclose() {
    let truth = |x: &umber_core::Array| values::<Bool>(x)[0].get();
    let (a, b) = (array(&[1f32, f32::NAN], [2]), array(&[1f32, f32::NAN], [2]));
    assert!(truth(&ops::array_equal(&a, &b, NanIsEqual::Yes).unwrap()));
    assert!(!truth(&ops::array_equal(&a, &b, NanIsEqual::No).unwrap()));
    assert!(!truth(&ops::array_equal(&a, &array(&[1f32], [1]), NanIsEqual::Yes).unwrap()));
    assert!(truth(&ops::array_equal(&array(&[1i32], [1]), &array(&[1f32], [1]), NanIsEqual::No).unwrap()));
    let close = ops::Closeness { relative: 1e-5, absolute: 1e-8, equal_nan: false };
    let near = array(&[1.000_001f32], [1]);
    assert!(truth(&ops::allclose(&near, &array(&[1f32; 3], [3]), close).unwrap()));
    assert!(!truth(&ops::allclose(&a, &b, close).unwrap()));
}
