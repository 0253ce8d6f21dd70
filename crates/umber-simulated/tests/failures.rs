//! Failures: of launches, of kernels that run later, and of memory.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};
use umber_types::ErrorKind;

use common::{GPU, accelerator, array, assert_in_order, numbers, values};
use umber_core::backend::Allocator;
use umber_core::{Array, DType, async_eval, device, eval, ops, synchronize};
use umber_simulated::{Config, Simulated};

/// The device, which one test has at a time, since any kernel may be the one that fails.
fn device() -> (Simulated, MutexGuard<'static, ()>) {
    static SERIAL: Mutex<()> = Mutex::new(());
    let turn = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    (accelerator(Config { seed: 11, memory: 64 << 20, ..Config::default() }), turn)
}

fn out_of_bounds() -> Array {
    let (x, places) = (&numbers([10]) + 1.0, array(&[3i32, 10], [2]));
    ops::take(&x, &places, None).unwrap()
}

#[test]
fn an_index_out_of_bounds_is_told_when_the_stream_is_synchronized() {
    let (accelerator, _turn) = device();
    device::set_default_stream(device::new_stream(GPU).unwrap()).unwrap();
    let taken = out_of_bounds();
    async_eval(&[taken.clone()]).unwrap();
    let error = synchronize(device::current_stream()).unwrap_err();
    assert!(error.kind() == ErrorKind::Index && error.to_string().starts_with("[take] "), "{error:?}");
    synchronize(device::current_stream()).unwrap();
    // Reading says it each time, and so does whatever reads it.
    for _ in 0..2 {
        assert_eq!(taken.to_vec::<f32>().unwrap_err(), error);
    }
    assert_eq!((&taken + 1.0).to_vec::<f32>().unwrap_err(), error);
    assert_in_order(&accelerator);
}

#[test]
fn an_index_out_of_bounds_is_told_by_eval() {
    let (accelerator, _turn) = device();
    let error = eval(&[out_of_bounds()]).unwrap_err();
    assert!(error.kind() == ErrorKind::Index && error.to_string().starts_with("[take] "), "{error:?}");
    // Of a view of it, too, and of one on another stream.
    for stream in [device::current_stream(), device::new_stream(GPU).unwrap()] {
        let taken = out_of_bounds();
        async_eval(&[taken.clone()]).unwrap();
        while !taken.is_evaluated() {
            std::thread::yield_now();
        }
        device::set_default_stream(stream).unwrap();
        let view = ops::reshape(&taken, &[2, 1]).unwrap();
        assert_eq!(eval(&[view]).unwrap_err(), error);
        assert_eq!(eval(&[taken]).unwrap_err(), error);
    }
    assert_in_order(&accelerator);
}

#[test]
fn a_launch_that_is_refused_leaves_the_graph_as_it_was() {
    let (accelerator, _turn) = device();
    for after in 0..4 {
        let x = &numbers([50, 50]) + 1.0;
        let product = ops::matmul(&x, &x).unwrap();
        let y = ops::matmul(&ops::tanh(&product).unwrap(), &x).unwrap();
        accelerator.fail_next_launch(after);
        let failed = eval(&[y.clone()]);
        if let Err(error) = &failed {
            assert!(error.to_string().starts_with("[simulated] launch refused"), "{error}");
        }
        accelerator.fail_next_launch(u64::MAX);
        let expected = {
            device::set_default_device(umber_core::Device::CPU).unwrap();
            let x = &numbers([50, 50]) + 1.0;
            let product = ops::matmul(&x, &x).unwrap();
            ops::matmul(&ops::tanh(&product).unwrap(), &x).unwrap().to_vec::<f32>().unwrap()
        };
        device::set_default_device(GPU).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), expected, "refused after {after}: {failed:?}");
    }
    assert_in_order(&accelerator);
}

#[test]
fn a_kernel_that_fails_fails_what_reads_it_and_nothing_else() {
    let (accelerator, _turn) = device();
    let x = &numbers([30]) + 1.0;
    let other = &numbers([30]) * 2.0;
    eval(&[x.clone(), other.clone()]).unwrap();
    accelerator.fail_next_kernel(0);
    let failing = ops::cumsum(&x, ops::ScanOrder::along(0), None).unwrap();
    let error = eval(&[failing.clone()]).unwrap_err();
    assert!(
        error.kind() == ErrorKind::Runtime && error.to_string().ends_with("the simulated kernel failed"),
        "{error:?}"
    );
    assert_eq!(eval(&[failing.clone()]).unwrap_err(), error);
    let dependent = &failing * 2.0;
    assert_eq!(eval(&[dependent.clone()]).unwrap_err(), error);
    assert_eq!(values(&dependent).unwrap_err(), error);
    assert_eq!(values(&ops::sort(&failing, None, ops::SortOrder::Ascending).unwrap()).unwrap_err(), error);
    assert_eq!(values(&(&x + &other)).unwrap().len(), 30);
    assert_eq!(values(&other).unwrap().len(), 30);
    // It was told.
    synchronize(device::current_stream()).unwrap();
    assert_in_order(&accelerator);
}

#[test]
fn a_kernel_that_fails_in_a_loop_is_told() {
    let (accelerator, _turn) = device();
    let xs = &numbers([10, 4]) + 1.0;
    xs.eval().unwrap();
    accelerator.fail_next_kernel(4);
    let square = |x: &[Array]| Ok(vec![ops::square(&x[0])?]);
    let rows = umber_core::transforms::control_flow::map(square, &[xs]).unwrap();
    let error = eval(&rows).unwrap_err();
    assert!(error.to_string().contains("the simulated kernel failed"), "{error}");
    synchronize(device::current_stream()).unwrap();
    assert_in_order(&accelerator);
}

#[test]
fn memory_runs_out_and_is_there_again() {
    let (accelerator, _turn) = device();
    synchronize(device::current_stream()).unwrap_or_default();
    let before = accelerator.active();
    let mut held: Vec<Array> = Vec::new();
    let error = loop {
        // Sixteen megabytes each.
        let next = ops::arange(0.0, (4 << 20) as f64, 1.0, DType::Float32).unwrap();
        match eval(&[next.clone()]) {
            Ok(()) => held.push(next),
            Err(error) => break error,
        }
        assert!(held.len() <= 4, "64 MB of memory");
    };
    assert!(
        error.kind() == ErrorKind::Memory && error.to_string().contains("out of memory: requested"),
        "{error:?}"
    );
    assert_eq!(held[0].to_vec::<f32>().unwrap()[7], 7.0);
    let next = &held[1] + &held[2];
    eval(&[next.clone()]).unwrap_err();
    held.clear();
    assert_eq!(next.to_vec::<f32>().unwrap()[7], 14.0);
    drop(next);
    assert_eq!(accelerator.active(), before);
    let limit = accelerator.set_limit(before + 1000);
    assert!(matches!(eval(&[numbers([1000]) + 1.0]), Err(error) if error.kind() == ErrorKind::Memory));
    accelerator.set_limit(limit);
    eval(&[numbers([1000]) + 1.0]).unwrap();
    accelerator.clear_cache();
    assert_eq!(accelerator.cached(), 0);
    assert_in_order(&accelerator);
}

#[test]
fn failures_of_one_thread_are_not_those_of_another() {
    let (accelerator, _turn) = device();
    let failing = || {
        device::set_default_device(GPU).unwrap();
        for _ in 0..100 {
            let error = eval(&[out_of_bounds()]).expect_err("an index is out of bounds");
            assert!(error.to_string().starts_with("[take] "), "{error}");
        }
    };
    let working = || {
        device::set_default_device(GPU).unwrap();
        for i in 0..100 {
            let x = &numbers([10]) + i as f32;
            eval(&[x]).expect("nothing fails here");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(failing);
        scope.spawn(working);
    });
    synchronize(device::current_stream()).unwrap_or_default();
    assert_in_order(&accelerator);
}
