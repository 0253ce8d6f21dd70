//! Streams: order among them, and memory that is reused while work is under way.
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
        let got = x.to_vec::<f32>().unwrap();
        assert!(got.iter().all(|v| (v - expected).abs() < expected * 1e-5), "{got:?} {expected}");
    }
    for stream in streams {
        synchronize(stream).unwrap();
    }
    assert_in_order(&accelerator);
}

#[test]
fn what_one_stream_reads_is_not_overwritten_by_another() {
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
        // The last reader of `x` on its own stream, while the other stream may still read it.
        let doubled = x * 2.0;
        async_eval(&[doubled.clone()]).unwrap();
        let host = &values(&doubled).unwrap();
        let at = |i: usize, j: usize| host[i * 40 + j] / 2.0;
        let got = values(&product).unwrap();
        for place in [0, 41, 1599] {
            let expected: f64 = (0..40).map(|k| at(place / 40, k) * at(k, place % 40)).sum();
            assert!(
                (got[place] - expected).abs() < 1e-3 * expected.abs().max(1.0),
                "{} {expected}",
                got[place]
            );
        }
    }
    assert_in_order(&accelerator);
}

#[test]
fn views_and_their_arrays_on_other_streams() {
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
        let got = values(&sum).unwrap()[0];
        let expected: f64 = values(&x).unwrap().iter().map(|v| v * v).sum();
        assert!((got - expected).abs() < 1e-4, "{got} {expected}");
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
fn streams_sleep_and_wake_again() {
    let accelerator = accelerator(Config::default());
    let x = &numbers([10]) + 1.0;
    x.eval().unwrap();
    // Longer than a thread stays without work.
    std::thread::sleep(Duration::from_millis(2500));
    (&x * 2.0).eval().unwrap();
    assert_in_order(&accelerator);
}

#[test]
fn an_array_that_is_given_up_is_overwritten() {
    // A device of its own, whose peak nobody else moves.
    let own = umber_simulated::open(1, Config { seed: 9, ..Config::default() });
    let _first = device();
    own.register().unwrap();
    device::set_default_device(umber_core::Device { index: 1, ..GPU }).unwrap();
    let mut v = &Array::full([1 << 16].into(), 1.0, umber_core::DType::Float32) + 0.0;
    let size = 4 << 16;
    eval(&[v.clone()]).unwrap();
    own.reset_peak();
    let before = own.active();
    for _ in 0..50 {
        v = v * 0.5 + 1.0;
        eval(&[v.clone()]).unwrap();
    }
    assert!(own.peak() < before + size, "{} after {before}", own.peak());
    assert_eq!(v.to_vec::<f32>().unwrap()[0], 2.0);
    assert_in_order(&own);
}
