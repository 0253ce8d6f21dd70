//! Sorting: values against the standard library's sort, rules against numerical derivatives.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use common::{array, values};
use rules::{check_jvp, check_vjp, check_vmap, doubles, sample_values};
use umber_core::graph::ArrayInternals;
use umber_core::ops::{self, Side};
use umber_core::primitives::sort::{Sort, Sorted};
use umber_core::{Array, DType, KeepAxes, Shape};
use umber_types::SortOrder::{Ascending, Descending};
use umber_types::{ErrorKind, f16};

#[test]
fn sort_along_rows_columns_and_flattened() {
    let x = array(&[5i32, 1, 4, 2, 9, 0], [2, 3]);
    assert_eq!(values::<i32>(&ops::sort(&x, Some(-1), Ascending).unwrap()), [1, 4, 5, 0, 2, 9]);
    assert_eq!(values::<i32>(&ops::sort(&x, Some(0), Ascending).unwrap()), [2, 1, 0, 5, 9, 4]);
    let flat = ops::sort(&x, None, Ascending).unwrap();
    assert_eq!((values::<i32>(&flat), flat.shape().ndim()), (vec![0, 1, 2, 4, 5, 9], 1));
    let order = ops::argsort(&x, Some(-1), Ascending).unwrap();
    assert_eq!((values::<u32>(&order), order.dtype()), (vec![1, 2, 0, 2, 0, 1], DType::UInt32));
}

#[test]
fn large_arrays_agree_with_the_standard_sort() {
    let x = sample_values([40_000], 3.0);
    let mut expected = values::<f64>(&x);
    expected.sort_by(f64::total_cmp);
    assert_eq!(values::<f64>(&ops::sort(&x, Some(0), Ascending).unwrap()), expected);
    let order = values::<u32>(&ops::argsort(&x, None, Ascending).unwrap());
    let unsorted = values::<f64>(&x);
    assert!(order.iter().map(|&i| unsorted[i as usize]).eq(expected));
}

#[test]
fn sort_is_stable_with_nan_last() {
    let x = array(&[3f32, f32::NAN, -0.0, 0.0, f32::NEG_INFINITY, f32::INFINITY], [6]);
    assert_eq!(values::<u32>(&ops::argsort(&x, Some(0), Ascending).unwrap()), [4, 2, 3, 0, 5, 1]);
    assert!(values::<f32>(&ops::sort(&x, Some(0), Ascending).unwrap())[5].is_nan());
    let ties = array(&[1u8, 0, 1, 0, 1], [5]);
    assert_eq!(values::<u32>(&ops::argsort(&ties, Some(0), Ascending).unwrap()), [1, 3, 0, 2, 4]);
}

#[test]
fn descending_sort_is_stable() {
    let x = array(&[1f32, f32::NAN, 3.0, 1.0, -2.0], [5]);
    assert_eq!(values::<u32>(&ops::argsort(&x, Some(0), Descending).unwrap()), [2, 0, 3, 4, 1]);
    let sorted = values::<f32>(&ops::sort(&x, Some(0), Descending).unwrap());
    assert!(sorted[..4] == [3.0, 1.0, 1.0, -2.0] && sorted[4].is_nan());
    let keys = [array(&[9, 4, 0, 4], [4]), array(&[1, 5, 1, 5], [4])];
    assert_eq!(values::<u32>(&ops::lexsort(&[&keys[0], &keys[1]], -1).unwrap()), [2, 0, 1, 3]);
    assert!(ops::lexsort(&[], -1).is_err());
}

#[test]
fn empty_arrays_sort() {
    let x = array::<f32>(&[], [2, 0]);
    assert_eq!(*ops::sort(&x, Some(1), Ascending).unwrap().shape(), Shape::from([2, 0]));
    assert_eq!(*ops::argsort(&x, Some(0), Ascending).unwrap().shape(), Shape::from([2, 0]));
    assert!(values::<f32>(&ops::sort(&x, Some(-1), Ascending).unwrap()).is_empty());
}

#[test]
fn topk_and_partition() {
    let x = array(&[5i32, 1, 4, 2, 9, 0], [6]);
    assert_eq!(values::<i32>(&ops::topk(&x, 2, Some(-1)).unwrap()), [5, 9]);
    assert_eq!(*ops::topk(&x, 0, None).unwrap().shape(), Shape::from([0]));
    let partition = values::<i32>(&ops::partition(&x, 3, Some(0)).unwrap());
    assert!(
        partition[3] == 4 && partition[..3].iter().all(|&v| v <= 4) && partition[4..].iter().all(|&v| v >= 4)
    );
    let indices = values::<u32>(&ops::argpartition(&x, -3, None).unwrap());
    assert_eq!(indices[3], 2);
    let several = values::<i32>(&ops::partition_about(&x, &[1, -2], Some(0)).unwrap());
    assert_eq!((several[1], several[4]), (1, 5));
    let repeated = ops::partition_about(&x, &[2, -4, 2], None).unwrap();
    assert_eq!(repeated.node().op().name(), "partition", "one position: no full sort");
    let several = values::<u32>(&ops::argpartition_about(&x, &[0, 5], None).unwrap());
    assert_eq!((several[0], several[5]), (5, 4));
    for rejected in [ops::partition_about(&x, &[], None), ops::argpartition_about(&x, &[1, 6], None)] {
        assert!(matches!(rejected, Err(error) if error.kind() == ErrorKind::Value));
    }
    for rejected in [ops::partition(&x, 6, None), ops::argpartition(&x, -7, None), ops::topk(&x, 7, None)] {
        assert!(matches!(rejected, Err(error) if error.kind() == ErrorKind::Value));
    }
    let scalar = array(&[1i32], Shape::scalar());
    assert!(matches!(ops::sort(&scalar, Some(-1), Ascending), Err(error) if error.kind() == ErrorKind::Axis));
}

#[test]
fn medians() {
    let half = array(&[f16::MAX; 2], [2]);
    assert_eq!(doubles(&ops::median(&half, None, KeepAxes::No).unwrap()), [f64::from(f16::MAX)]);
    let of_empty = ops::median(&array::<f32>(&[], [0, 3]), None, KeepAxes::No).unwrap();
    assert!(of_empty.to_vec::<f32>().unwrap()[0].is_nan());
    let x = array(&[4i32, 1, 3, 2, 10, 30, 20, 0], [2, 4]);
    let median = ops::median(&x, Some(&[1]), KeepAxes::No).unwrap();
    assert_eq!(values::<f32>(&median), [2.5, 15.0]);
    assert_eq!(values::<f32>(&ops::median(&x, Some(&[0]), KeepAxes::Yes).unwrap()), [7.0, 15.5, 11.5, 1.0]);
    let x = array(&[1f32, f32::NAN, 2.0], [3]);
    assert!(values::<f32>(&ops::median(&x, None, KeepAxes::No).unwrap())[0].is_nan());
}

#[test]
fn searchsorted_matches_partition_point() {
    for length in [0usize, 1, 2, 5, 64, 100] {
        let sorted: Vec<f64> = (0..length).map(|i| (i / 2) as f64).collect();
        let values_: Vec<f64> = (-1..120).map(|i| f64::from(i) * 0.5).chain([f64::NAN]).collect();
        let (s, v) = (array(&sorted, [length]), array(&values_, [2, values_.len() / 2]));
        let left = ops::searchsorted(&s, &v, Side::Left, None).unwrap();
        assert_eq!(left.shape(), v.shape());
        let before = |x: f64, y: f64| x < y || (y.is_nan() && !x.is_nan());
        let expected: Vec<u32> =
            values_.iter().map(|&v| sorted.partition_point(|&x| before(x, v)) as u32).collect();
        assert_eq!(values::<u32>(&left), expected);
        let right = ops::searchsorted(&s, &v, Side::Right, None).unwrap();
        let expected: Vec<u32> =
            values_.iter().map(|&v| sorted.partition_point(|&x| !before(v, x)) as u32).collect();
        assert_eq!(values::<u32>(&right), expected);
    }
    assert!(ops::searchsorted(&array(&[1f32; 4], [2, 2]), &array(&[1f32], [1]), Side::Left, None).is_err());
}

#[test]
fn derivative_and_vmap_rules() {
    let x = sample_values([3, 5, 2], 2.0);
    for axis in 0..3 {
        for what in [Sorted::Values, Sorted::ValuesAround(1)] {
            check_vjp(Sort { axis, what }, &[&x]);
            check_jvp(Sort { axis, what }, &[&x]);
        }
    }
    for what in [Sorted::Values, Sorted::Indices(Ascending), Sorted::Indices(Descending), Sorted::Around(1)] {
        check_vmap(Sort { axis: 1, what }, &[&x], &[true]);
    }
    let order: Array = ops::argsort(&x, Some(1), Ascending).unwrap();
    assert!(order.node().inputs().len() == 1, "recorded, not run");
}
