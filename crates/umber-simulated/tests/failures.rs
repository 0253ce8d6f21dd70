//! Failures: of launches, of kernels that run later, and of memory.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};
use umber_types::ErrorKind;

use common::{GPU, accelerator, array, assert_in_order, numbers, values};
use umber_core::backend::Allocator;
use umber_core::{Array, DType, async_eval, device, eval, ops, synchronize};
use umber_simulated::{Config, Simulated};

/// The device, and a lock that serialises the tests: an injected fault hits the next kernel of any test.
fn device() -> (Simulated, MutexGuard<'static, ()>) {
    static SERIAL: Mutex<()> = Mutex::new(());
    let lock = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    (accelerator(Config { seed: 11, memory: 64 << 20, ..Config::default() }), lock)
}

fn out_of_bounds() -> Array {
    let (x, indices) = (&numbers([10]) + 1.0, array(&[3i32, 10], [2]));
    ops::take(&x, &indices, None).unwrap()
}

#[test]
fn synchronize_reports_an_index_out_of_bounds() {
    let (accelerator, _lock) = device();
    device::set_default_stream(device::new_stream(GPU).unwrap()).unwrap();
    let taken = out_of_bounds();
    async_eval(&[taken.clone()]).unwrap();
    let error = synchronize(device::current_stream()).unwrap_err();
    assert!(error.kind() == ErrorKind::Index && error.to_string().starts_with("[take] "), "{error:?}");
    synchronize(device::current_stream()).unwrap();
    // Every read of the array fails, and so does work that reads it.
    for _ in 0..2 {
        assert_eq!(taken.to_vec::<f32>().unwrap_err(), error);
    }
    assert_eq!((&taken + 1.0).to_vec::<f32>().unwrap_err(), error);
    assert_in_order(&accelerator);
}

#[test]
fn eval_reports_an_index_out_of_bounds() {
    let (accelerator, _lock) = device();
    let error = eval(&[out_of_bounds()]).unwrap_err();
    assert!(error.kind() == ErrorKind::Index && error.to_string().starts_with("[take] "), "{error:?}");
    // Also for a view of the array, on the same stream and on another one.
    for stream in [device::current_stream(), device::new_stream(GPU).unwrap()] {
        let taken = out_of_bounds();
        async_eval(&[taken.clone()]).unwrap();
        while !taken.is_evaluated() {
            std::thread::yield_now();
        }
        device::set_default_stream(stream).unwrap();
        let view = ops::reshape(&taken, [2, 1]).unwrap();
        assert_eq!(eval(&[view]).unwrap_err(), error);
        assert_eq!(eval(&[taken]).unwrap_err(), error);
    }
    assert_in_order(&accelerator);
}

#[test]
fn a_failed_launch_does_not_change_the_graph() {
    let (accelerator, _lock) = device();
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
        assert_eq!(y.to_vec::<f32>().unwrap(), expected, "failed after {after} launches: {failed:?}");
    }
    assert_in_order(&accelerator);
}

#[test]
fn a_kernel_failure_propagates_to_dependent_work_only() {
    let (accelerator, _lock) = device();
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
    // The failure has been reported.
    synchronize(device::current_stream()).unwrap();
    assert_in_order(&accelerator);
}

#[test]
fn a_kernel_failure_in_a_loop_is_reported() {
    let (accelerator, _lock) = device();
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
fn memory_is_usable_after_an_out_of_memory_error() {
    let (accelerator, _lock) = device();
    synchronize(device::current_stream()).unwrap_or_default();
    let before = accelerator.active();
    let mut arrays: Vec<Array> = Vec::new();
    let error = loop {
        // 16 MB each.
        let next = ops::arange(0.0, (4 << 20) as f64, 1.0, DType::Float32).unwrap();
        match eval(&[next.clone()]) {
            Ok(()) => arrays.push(next),
            Err(error) => break error,
        }
        assert!(arrays.len() <= 4, "64 MB of memory");
    };
    assert!(
        error.kind() == ErrorKind::Memory && error.to_string().contains("out of memory: requested"),
        "{error:?}"
    );
    assert_eq!(arrays[0].to_vec::<f32>().unwrap()[7], 7.0);
    let next = &arrays[1] + &arrays[2];
    eval(&[next.clone()]).unwrap_err();
    arrays.clear();
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
fn failures_do_not_affect_other_threads() {
    let (accelerator, _lock) = device();
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
