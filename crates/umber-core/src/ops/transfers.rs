//! Transfers between devices.

use umber_types::{Device, Result, Stream};

use crate::graph::Array;
use crate::primitives::transfer;

/// The array in memory of `device`; the same array if it is stored there already.
///
/// The transfer is recorded on the default stream of the device; gradients are transferred back to the device of the array.
/// Operations transfer their inputs as needed; this function chooses the device of a result.
///
/// # Errors
/// The device is not available.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Device, ops};
/// let x = Array::from([1.0f32, 2.0]);
/// assert!(ops::to_device(&x, Device::CPU)?.is_same(&x));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn to_device(array: &Array, device: Device) -> Result<Array> {
    transfer::to_device(array, device)
}

/// [`to_device`], for the device that a stream is on: the transfer is recorded on that stream.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Device, device, ops};
/// let stream = device::new_stream(Device::CPU)?;
/// let x = Array::from([1.0f32, 2.0]);
/// assert!(ops::to_stream(&x, stream)?.is_same(&x));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn to_stream(array: &Array, stream: Stream) -> Result<Array> {
    transfer::to_stream(array, stream)
}
