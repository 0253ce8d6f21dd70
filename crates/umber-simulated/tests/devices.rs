//! Two devices: transfers between them, and operations that fall back to the CPU.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use std::sync::OnceLock;

use common::{GPU, assert_in_order, numbers};
use umber_core::transforms::grad;
use umber_core::{Array, Device, KeepAxes, async_eval, device, eval, ops};
use umber_simulated::{Config, Simulated, open, registered};

const OTHER: Device = Device { index: 1, ..GPU };

fn devices() -> Vec<Simulated> {
    static DEVICES: OnceLock<()> = OnceLock::new();
    DEVICES.get_or_init(|| {
        for index in 0..2 {
            let config =
                Config { seed: u64::from(index), unsupported: true, decompose: true, ..Config::default() };
            open(index, config).register().unwrap();
        }
        open(0, Config::default()).register().unwrap_err();
    });
    assert_eq!(registered().len(), 2);
    registered()
}

fn on<T>(on: Device, f: impl FnOnce() -> T) -> T {
    device::set_default_device(on).unwrap();
    f()
}

#[test]
fn arrays_transfer_between_devices() {
    let devices = devices();
    let host = numbers([20, 3]);
    for _ in 0..10 {
        let x = on(GPU, || &host + 1.0);
        async_eval(&[x.clone()]).unwrap();
        let y = on(OTHER, || &x * 2.0);
        eval(&[y.clone()]).unwrap();
        assert_eq!((x.device(), y.device()), (GPU, OTHER));
        let back = on(GPU, || &y - &x);
        eval(&[back.clone()]).unwrap();
        assert_eq!(back.device(), GPU);
        let expected: Vec<f32> =
            host.to_vec::<f32>().unwrap().iter().map(|v| (v + 1.0) * 2.0 - (v + 1.0)).collect();
        assert_eq!(back.to_vec::<f32>().unwrap(), expected);
        let moved = ops::to_device(&back, OTHER).unwrap();
        eval(&[moved.clone()]).unwrap();
        assert_eq!(moved.device(), OTHER);
        assert_eq!(moved.to_vec::<f32>().unwrap(), expected);
    }
    devices.iter().for_each(assert_in_order);
}

#[test]
fn views_are_transferred() {
    let devices = devices();
    let host = numbers([20, 30]);
    let x = on(GPU, || &host + 0.0);
    eval(&[x.clone()]).unwrap();
    let transposed = ops::transpose(&x, None).unwrap();
    let corner = on(OTHER, || ops::split(&transposed, ops::Split::Sections(10), 0).unwrap()[9].clone() * 1.0);
    eval(&[corner.clone()]).unwrap();
    let host = host.to_vec::<f32>().unwrap();
    let expected: Vec<f32> =
        (27..30).flat_map(|j| (0..20).map(move |i| (i, j))).map(|(i, j)| host[i * 30 + j]).collect();
    assert_eq!(corner.to_vec::<f32>().unwrap(), expected);
    devices.iter().for_each(assert_in_order);
}

#[test]
fn gradients_are_on_the_device_of_the_input() {
    let devices = devices();
    let f = |x: &Array| {
        let y = ops::square(&ops::to_device(x, OTHER)?)?;
        ops::sum(&y, None, KeepAxes::No)
    };
    let x = on(GPU, || &numbers([6]) + 0.0);
    eval(&[x.clone()]).unwrap();
    let gradient = grad(f)(&x).unwrap();
    eval(&[gradient.clone()]).unwrap();
    assert_eq!(gradient.device(), GPU);
    let expected: Vec<f32> = x.to_vec::<f32>().unwrap().iter().map(|v| v * 2.0).collect();
    assert_eq!(gradient.to_vec::<f32>().unwrap(), expected);
    devices.iter().for_each(assert_in_order);
}

#[test]
fn unsupported_operations_run_on_the_cpu() {
    let devices = devices();
    let (x, host) = on(GPU, || (&numbers([5, 5]) + 0.0, numbers([5, 5])));
    let sorted = on(GPU, || &ops::sort(&(&x * 2.0), Some(1), ops::SortOrder::Ascending).unwrap() + 1.0);
    eval(&[sorted.clone()]).unwrap();
    assert_eq!(sorted.device(), GPU);
    let expected =
        on(Device::CPU, || &ops::sort(&(&host * 2.0), Some(1), ops::SortOrder::Ascending).unwrap() + 1.0);
    assert_eq!(sorted.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
    let spectrum = on(GPU, || ops::linalg::eig(&x).unwrap().0);
    eval(&[spectrum.clone()]).unwrap();
    assert_eq!(spectrum.device(), GPU);
    devices.iter().for_each(assert_in_order);
}

#[test]
fn composite_operations_are_expanded() {
    let devices = devices();
    let (x, host) = on(GPU, || (&numbers([5, 5]) + 0.0, numbers([5, 5])));
    let softmax = |x: &Array| ops::softmax(x, Some(&[1]), ops::Precision::Native).unwrap();
    let (actual, expected) =
        (on(GPU, || softmax(&x)).to_vec::<f32>(), on(Device::CPU, || softmax(&host)).to_vec::<f32>());
    let (actual, expected) = (actual.unwrap(), expected.unwrap());
    for (a, b) in actual.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-6, "{actual:?}\n{expected:?} {:?}", x.to_vec::<f32>());
    }
    devices.iter().for_each(assert_in_order);
}
