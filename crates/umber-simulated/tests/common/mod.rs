//! Helpers that the tests of the simulated accelerator share.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::sync::OnceLock;

use umber_core::types::{Element, Shape};
use umber_core::{Array, DType, Device, DeviceType, Result, device, ops};
use umber_simulated::{Config, Simulated, open};

/// The first accelerator.
pub(crate) const GPU: Device = Device { kind: DeviceType::Gpu, index: 0 };

/// The accelerator of this process; makes it the default device of this thread.
pub(crate) fn accelerator(config: Config) -> Simulated {
    static ACCELERATOR: OnceLock<Simulated> = OnceLock::new();
    let accelerator = ACCELERATOR.get_or_init(|| {
        let accelerator = open(0, config);
        accelerator.register().expect("the first accelerator");
        accelerator
    });
    device::set_default_device(GPU).expect("it is registered");
    accelerator.clone()
}

pub(crate) fn array<T: Element>(elements: &[T], shape: impl Into<Shape>) -> Array {
    Array::from_slice(elements, shape).expect("elements fill the shape")
}

/// Irregular elements between -1 and 1.
pub(crate) fn numbers(shape: impl Into<Shape>) -> Array {
    let shape = shape.into();
    let elements: Vec<f32> = (0..shape.size()).map(|i| ((i * 37 + 11) % 101) as f32 / 50.0 - 1.0).collect();
    array(&elements, shape)
}

/// The evaluated elements as float64.
pub(crate) fn values(array: &Array) -> Result<Vec<f64>> {
    let host = array.to_host()?;
    device::set_default_device(Device::CPU)?;
    let wide = ops::astype(&host, DType::Float64).and_then(|wide| wide.to_vec::<f64>());
    device::set_default_device(GPU)?;
    wide
}

/// Assert that a function has equal results on the accelerator and on the CPU.
pub(crate) fn assert_same(what: &str, f: impl Fn() -> Result<Vec<Array>>) {
    let on = |device: Device| -> Result<Vec<Vec<f64>>> {
        device::set_default_device(device)?;
        let arrays = f()?;
        umber_core::eval(&arrays)?;
        for array in &arrays {
            assert_eq!(array.device(), device, "{what}: device of the result");
        }
        arrays.iter().map(values).collect()
    };
    let cpu = on(Device::CPU).unwrap_or_else(|error| panic!("{what} on the CPU: {error}"));
    let gpu = on(GPU).unwrap_or_else(|error| panic!("{what} on the accelerator: {error}"));
    assert_eq!(gpu, cpu, "{what}");
}

pub(crate) fn assert_in_order(accelerator: &Simulated) {
    assert_eq!(accelerator.violations(), Vec::<String>::new());
}
