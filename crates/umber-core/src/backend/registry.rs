//! Registry: the backends of a process.

use std::sync::OnceLock;

use umber_types::{Device, DeviceType, Result, ensure};

use super::{Backend, Cpu};
use crate::device;

/// Maximum number of devices of a kind.
const MAX_DEVICES: usize = 16;

/// The accelerators, by index.
static ACCELERATORS: [OnceLock<&'static dyn Backend>; MAX_DEVICES] = [const { OnceLock::new() }; MAX_DEVICES];

/// Register the backend of another device for the lifetime of the process. Accelerators are registered in the order of their
/// indices.
///
/// # Errors
/// The device has a backend, or is not the next of its kind.
pub fn register(backend: Box<dyn Backend>) -> Result<()> {
    let device = backend.device();
    let next = ACCELERATORS.iter().position(|slot| slot.get().is_none());
    ensure!(
        device.kind == DeviceType::Gpu && next == Some(device.index as usize),
        Value("register"),
        "cannot register a backend for {device}, expected the next accelerator without one"
    );
    let slot = &ACCELERATORS[device.index as usize];
    ensure!(slot.set(Box::leak(backend)).is_ok(), Value("register"), "{device} already has a backend");
    device::announce_accelerator();
    Ok(())
}

/// The backend of a device, if it has one.
#[inline]
pub fn backend(device: Device) -> Option<&'static dyn Backend> {
    match device.kind {
        DeviceType::Cpu => (device.index == 0).then_some(&Cpu),
        DeviceType::Gpu => ACCELERATORS.get(device.index as usize)?.get().copied(),
    }
}
