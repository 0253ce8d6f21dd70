//! Evaluation: order, fusion, donation, errors, threads, depth.
#![allow(
    clippy::unwrap_used,
    clippy::cloned_ref_to_slice_refs,
    clippy::needless_range_loop,
    reason = "tests read better so"
)]

mod common;

use common::{array, ramp, values};
use umber_core::graph::Array as Handle;
use umber_core::graph::ArrayInternals;
use umber_core::memory::allocator;
use umber_core::{Array, DType, Shape, eval, ops};
use umber_types::ErrorKind;

#[test]
fn an_evaluated_chain_releases_its_inputs() {
    let x = ramp([3, 5]);
    let y = ops::exp(&(&x * 2.0 + 1.0)).unwrap();
    let expected: Vec<f32> = values::<f32>(&x).iter().map(|v| (v * 2.0 + 1.0).exp()).collect();
    for (a, b) in values::<f32>(&y).iter().zip(expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs());
    }
    assert!(y.node().inputs().is_empty(), "an evaluated node keeps no inputs");
}

#[test]
fn referenced_intermediates_are_stored_by_the_region() {
    let x = ramp([100]);
    let intermediate = &x * 3.0;
    let y = &intermediate + &x;
    eval(&[y.clone()]).unwrap();
    assert!(intermediate.is_evaluated(), "one kernel stores both");
    let (h, y, x) = (values::<f32>(&intermediate), values::<f32>(&y), values::<f32>(&x));
    for i in 0..100 {
        assert_eq!(h[i], x[i] * 3.0);
        assert_eq!(y[i], h[i] + x[i]);
    }
}

#[test]
fn intermediates_referenced_through_the_graph_are_stored() {
    let x = ramp([4, 4]);
    let middle = &x + 1.0;
    let y = ops::square(&middle).unwrap();
    let inputs = y.node().inputs();
    drop(middle);
    eval(&[y]).unwrap();
    // The handle from the graph is a reference too.
    assert!(inputs[0].is_evaluated());
}

#[test]
fn broadcasts_and_constants_fold_into_regions() {
    let x = ramp([4, 3]);
    let row = ramp([3]);
    let column = ramp([4, 1]);
    let y = (&x + &row) * &column - 0.5;
    let (x, r, c) = (values::<f32>(&x), values::<f32>(&row), values::<f32>(&column));
    let expected: Vec<f32> = (0..12).map(|i| (x[i] + r[i % 3]) * c[i / 3] - 0.5).collect();
    assert_eq!(values::<f32>(&y), expected);
}

fn summed(x: &Array, axis: usize) -> Array {
    let kind = umber_types::ReduceKind::Sum;
    Array::record_one(
        umber_core::primitives::reduce::Reduce { kind, axes: umber_core::Axes::one(axis) },
        &[x],
    )
    .unwrap()
}

#[test]
fn reductions_fuse_with_their_inputs() {
    let x = ramp([4, 5]);
    for axis in [0, 1] {
        let total = summed(&ops::square(&(&x - 1.0)).unwrap(), axis);
        let v = values::<f32>(&x);
        let at = |i: usize, j: usize| (v[i * 5 + j] - 1.0).powi(2);
        let expected: Vec<f32> = if axis == 0 {
            (0..5).map(|j| (0..4).map(|i| at(i, j)).sum()).collect()
        } else {
            (0..4).map(|i| (0..5).map(|j| at(i, j)).sum()).collect()
        };
        for (a, b) in values::<f32>(&total).iter().zip(expected) {
            assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} {b}");
        }
    }
    let intermediate = &x + 1.0;
    let total = summed(&intermediate, 0);
    eval(&[total.clone()]).unwrap();
    assert!(intermediate.is_evaluated(), "it is still referenced");
    let expected: f32 = (0..4).map(|i| values::<f32>(&intermediate)[i * 5]).sum();
    assert!((values::<f32>(&total)[0] - expected).abs() <= 1e-6 * expected.abs().max(1.0));
}

#[test]
fn a_reduction_does_not_overwrite_a_broadcast_input() {
    // The column has the size of the result and could be donated, but every element of a row reads it.
    let x = ramp([1000, 300]);
    let column = ramp([1000, 1]) * 1.0;
    column.eval().unwrap();
    let expected: Vec<f32> = values::<f32>(&column).iter().map(|v| v * 300.0).collect();
    let total = summed(&(&x * 0.0 + column), 1);
    for (a, b) in values::<f32>(&total).iter().zip(expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_value_read_by_two_kernels_is_stored_once() {
    let x = ramp([6]);
    let shared = &x * 2.0;
    let summed = umber_core::primitives::reduce::Reduce {
        kind: umber_types::ReduceKind::Sum,
        axes: umber_core::Axes::all(1),
    };
    let total = Array::record_one(summed, &[&shared]).unwrap();
    let y = ops::subtract(&shared, &total).unwrap();
    drop(shared);
    let v: Vec<f32> = values::<f32>(&x).iter().map(|v| v * 2.0).collect();
    let sum: f32 = v.iter().sum();
    for (a, b) in values::<f32>(&y).iter().zip(v) {
        assert!((a - (b - sum)).abs() < 1e-5);
    }
}

#[test]
fn dead_inputs_are_donated_and_live_ones_are_not() {
    let n = 1 << 16;
    let x = array(&vec![1f32; n], [n]);
    let address = x.storage().unwrap().buffer().host_start();
    let other_reference = x.clone();
    let y = &x + 1.0;
    drop(x);
    y.eval().unwrap();
    assert_ne!(y.storage().unwrap().buffer().host_start(), address, "the input is still referenced");
    drop(other_reference);
    let address = y.storage().unwrap().buffer().host_start();
    let z = (&y + 1.0) * &y;
    drop(y);
    z.eval().unwrap();
    assert_eq!(z.storage().unwrap().buffer().host_start(), address, "the input had no other reference");
    assert_eq!(values::<f32>(&z)[n - 1], 6.0);
}

#[test]
fn donation_is_safe_when_later_steps_read_the_input() {
    let n = 5000;
    let x = ramp([n]);
    let before = values::<f32>(&x);
    let first = &x + 1.0;
    let second = &first * &x;
    drop(x);
    eval(&[first.clone(), second.clone()]).unwrap();
    for i in 0..n {
        assert_eq!(values::<f32>(&first)[i], before[i] + 1.0);
        assert_eq!(values::<f32>(&second)[i], (before[i] + 1.0) * before[i]);
    }
}

#[test]
fn errors_name_shapes_that_do_not_broadcast() {
    let error = ops::add(&ramp([2, 3]), &ramp([4])).unwrap_err();
    assert_eq!(error.to_string(), "[add] shapes (2, 3) and (4,) cannot be broadcast");
}

#[test]
fn threads_share_a_graph() {
    let x = ramp([1000]);
    let mut y = x.clone();
    for _ in 0..200 {
        y = ops::sin(&(&y + &x)).unwrap();
    }
    let branches: Vec<Handle> = (0..8).map(|i| &y + f64::from(i)).collect();
    std::thread::scope(|scope| {
        for branch in &branches {
            scope.spawn(|| branch.eval().unwrap());
        }
    });
    let base = values::<f32>(&y);
    for (i, branch) in branches.iter().enumerate() {
        assert_eq!(values::<f32>(branch)[7], base[7] + i as f32);
    }
}

#[test]
fn a_long_chain_is_recorded_evaluated_and_dropped_in_bounded_stack() {
    let work = || {
        let mut x = array(&[0f32], [1]);
        for _ in 0..200_000 {
            x = &x + 1.0;
        }
        assert_eq!(values::<f32>(&x), [200_000.0]);
        let mut unevaluated = array(&[0f32], [1]);
        for _ in 0..200_000 {
            unevaluated = &unevaluated + 1.0;
        }
        drop(unevaluated);
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn readers_wait_for_async_evaluation() {
    let x = ramp([512]);
    let y = ops::exp(&x).unwrap();
    umber_core::async_eval(&[y.clone()]).unwrap();
    let z = &y + 1.0;
    assert_eq!(values::<f32>(&z).len(), 512);
    umber_core::synchronize(umber_core::Stream::CPU).unwrap();
    assert!(y.is_evaluated());
}

#[test]
fn arrays_are_usable_after_a_failed_allocation() {
    let x = Array::full(Shape::from([1 << 40, 1 << 10]), 1.0, DType::Float32);
    let y = ops::exp(&x).unwrap();
    assert!(matches!(y.eval(), Err(error) if error.kind() == ErrorKind::Memory));
    assert!(
        matches!(y.eval(), Err(error) if error.kind() == ErrorKind::Memory),
        "still pending, fails the same way"
    );
    assert!(allocator::get_active_memory() < 1 << 40);
}
