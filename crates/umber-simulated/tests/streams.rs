//! Streams: synchronisation between them, and reuse of memory with pending work.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::time::Duration;

use common::{GPU, accelerator, array, assert_in_order, numbers, values};
use umber_core::backend::Allocator;
use umber_core::{Array, KeepAxes, async_eval, device, eval, ops, synchronize};
use umber_simulated::{Config, Simulated};

fn device() -> Simulated {
    accelerator(Config { seed: 5, ..Config::default() })
}

#[test]
fn a_chain_on_two_streams() {
    let accelerator = device();
    let streams = [device::new_stream(GPU).unwrap(), device::new_stream(GPU).unwrap()];
    for is_evaluated_between in [false, true] {
        let mut x = array(&[1.0f32; 300], [300]);
        for i in 0..100 {
            device::set_default_stream(streams[i % 2]).unwrap();
            x = &x * 1.01 + 1.0;
            if is_evaluated_between {
                async_eval(&[x.clone()]).unwrap();
            }
        }
        let mut expected = 1.0f32;
        (0..100).for_each(|_| expected = expected * 1.01 + 1.0);
        let actual = x.to_vec::<f32>().unwrap();
        assert!(actual.iter().all(|v| (v - expected).abs() < expected * 1e-5), "{actual:?} {expected}");
    }
    for stream in streams {
        synchronize(stream).unwrap();
    }
    assert_in_order(&accelerator);
}

#[test]
fn donation_waits_for_readers_on_other_streams() {
    let accelerator = device();
    let (first, second) = (device::new_stream(GPU).unwrap(), device::new_stream(GPU).unwrap());
    for round in 0..30 {
        device::set_default_stream(first).unwrap();
        let x = &numbers([40, 40]) + round as f32;
        x.eval().unwrap();
        device::set_default_stream(second).unwrap();
        let product = ops::matmul(&x, &x).unwrap();
        async_eval(&[product.clone()]).unwrap();
        device::set_default_stream(first).unwrap();
        // Donates `x` on its own stream, while the other stream may still read it.
        let doubled = x * 2.0;
        async_eval(&[doubled.clone()]).unwrap();
        let host = &values(&doubled).unwrap();
        let element = |i: usize, j: usize| host[i * 40 + j] / 2.0;
        let actual = values(&product).unwrap();
        for flat in [0, 41, 1599] {
            let expected: f64 = (0..40).map(|k| element(flat / 40, k) * element(k, flat % 40)).sum();
            assert!(
                (actual[flat] - expected).abs() < 1e-3 * expected.abs().max(1.0),
                "{} {expected}",
                actual[flat]
            );
        }
    }
    assert_in_order(&accelerator);
}

#[test]
fn views_of_arrays_on_other_streams() {
    let accelerator = device();
    let streams: Vec<_> = (0..3).map(|_| device::new_stream(GPU).unwrap()).collect();
    for _ in 0..20 {
        device::set_default_stream(streams[0]).unwrap();
        let x = ops::tanh(&numbers([6, 5])).unwrap();
        device::set_default_stream(streams[1]).unwrap();
        let transposed = ops::transpose(&x, None).unwrap();
        async_eval(&[transposed.clone()]).unwrap();
        device::set_default_stream(streams[2]).unwrap();
        let sum = ops::sum(&(&transposed * &transposed), None, KeepAxes::No).unwrap();
        let actual = values(&sum).unwrap()[0];
        let expected: f64 = values(&x).unwrap().iter().map(|v| v * v).sum();
        assert!((actual - expected).abs() < 1e-4, "{actual} {expected}");
    }
    assert_in_order(&accelerator);
}

#[test]
fn threads_share_the_device() {
    let accelerator = device();
    let shared = &numbers([64]) * 3.0;
    let work = |thread: usize| {
        let shared = shared.clone();
        move || {
            device();
            device::set_default_stream(device::new_stream(GPU).unwrap()).unwrap();
            let mut x = shared.clone();
            for _ in 0..20 {
                x = &x + &(&shared * thread as f32);
                async_eval(&[x.clone()]).unwrap();
            }
            let (x, shared) = (values(&x).unwrap(), values(&shared).unwrap());
            for (x, shared) in x.iter().zip(shared) {
                assert!((x - shared * (1 + 20 * thread) as f64).abs() < 1e-2, "{x} {shared}");
            }
        }
    };
    let threads: Vec<_> = (0..4).map(|thread| std::thread::spawn(work(thread))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_in_order(&accelerator);
}

#[test]
fn streams_restart_after_their_thread_has_exited() {
    let accelerator = accelerator(Config::default());
    let x = &numbers([10]) + 1.0;
    x.eval().unwrap();
    // Longer than the idle timeout of a stream's thread.
    std::thread::sleep(Duration::from_millis(2500));
    (&x * 2.0).eval().unwrap();
    assert_in_order(&accelerator);
}

#[test]
fn an_unreferenced_input_is_donated() {
    // A separate device, so that other tests do not change its peak memory.
    let accelerator = umber_simulated::open(1, Config { seed: 9, ..Config::default() });
    let _first = device();
    accelerator.register().unwrap();
    device::set_default_device(umber_core::Device { index: 1, ..GPU }).unwrap();
    let mut v = &Array::full([1 << 16], 1.0, umber_core::DType::Float32) + 0.0;
    let size = 4 << 16;
    eval(&[v.clone()]).unwrap();
    accelerator.reset_peak();
    let before = accelerator.active();
    for _ in 0..50 {
        v = v * 0.5 + 1.0;
        eval(&[v.clone()]).unwrap();
    }
    assert!(accelerator.peak() < before + size, "{} after {before}", accelerator.peak());
    assert_eq!(v.to_vec::<f32>().unwrap()[0], 2.0);
    assert_in_order(&accelerator);
}
