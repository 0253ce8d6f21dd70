//! Identifiers of devices and streams.

use std::fmt;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum DeviceType {
    /// The host processor.
    Cpu,
    /// An accelerator.
    Gpu,
}

/// A device: its kind and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Device {
    /// Kind of device.
    pub kind: DeviceType,
    /// Index among the devices of this kind.
    pub index: u32,
}

/// A queue of work on a device. Work on one stream runs in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Stream {
    /// Number, unique in the process.
    pub index: u32,
    /// The device that runs the work.
    pub device: Device,
}

impl Device {
    /// The host processor.
    pub const CPU: Device = Device { kind: DeviceType::Cpu, index: 0 };
}

impl Stream {
    /// The default stream of a process.
    pub const CPU: Stream = Stream { index: 0, device: Device::CPU };
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceType::Cpu => "cpu",
            DeviceType::Gpu => "gpu",
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}, {})", self.kind, self.index)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {})", self.device, self.index)
    }
}
