//! Default devices and streams: one default per thread, starting from a process-wide value.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

pub use umber_kernels::threads::num_threads;
use umber_kernels::threads::{self, MAX_THREADS};
use umber_types::{Device, DeviceType, Result, Stream, bail};

/// Number of accelerators with a backend.
static ACCELERATORS: AtomicU32 = AtomicU32::new(0);
static STREAMS: AtomicU32 = AtomicU32::new(1);
static THREAD_LOCAL_STREAMS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static DEFAULT_STREAM: Cell<Stream> = const { Cell::new(Stream::CPU) };
    /// The streams that represent thread-local streams on this thread.
    static OWN_STREAMS: RefCell<HashMap<ThreadLocalStream, Stream>> = RefCell::default();
}

/// A stream that is a different one on each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadLocalStream {
    /// Its number among the thread-local streams.
    pub index: u32,
    /// The device it is on.
    pub device: Device,
}

/// Test whether a device is available.
pub fn is_available(device: Device) -> bool {
    (device.index as usize) < device_count(device.kind)
}

/// The available devices, the CPU first.
pub fn available() -> impl Iterator<Item = Device> {
    let accelerators = 0..ACCELERATORS.load(Ordering::Acquire);
    std::iter::once(Device::CPU).chain(accelerators.map(|index| Device { kind: DeviceType::Gpu, index }))
}

/// Count one more accelerator.
pub(crate) fn announce_accelerator() {
    ACCELERATORS.fetch_add(1, Ordering::AcqRel);
}

/// Return the number of available devices of a kind.
pub fn device_count(kind: DeviceType) -> usize {
    match kind {
        DeviceType::Cpu => 1,
        DeviceType::Gpu => ACCELERATORS.load(Ordering::Acquire) as usize,
    }
}

/// Set the number of CPU threads that a kernel uses, and return the previous number.
///
/// It counts the calling thread, and holds for the whole process from the next kernel on. The initial number is the
/// environment variable `UMBER_NUM_THREADS`, or the number of processors that the process may use.
///
/// # Errors
/// A count of zero or beyond 256.
pub fn set_num_threads(count: i64) -> Result<usize> {
    match usize::try_from(count) {
        Ok(count @ 1..=MAX_THREADS) => Ok(threads::set_num_threads(count)),
        _ => bail!(Value("set_num_threads"), "n must be between 1 and {MAX_THREADS}, got {count}"),
    }
}

fn check(op: &str, device: Device) -> Result<()> {
    if !is_available(device) {
        let names: Vec<String> = available().map(|device| device.to_string()).collect();
        bail!(Value(op), "device {device} is not available, expected {}", names.join(" or "));
    }
    Ok(())
}

/// Return the device that this thread's operations run on by default.
pub fn default_device() -> Device {
    DEFAULT_STREAM.get().device
}

/// Set the device that this thread's operations run on by default.
pub fn set_default_device(device: Device) -> Result<()> {
    check("set_default_device", device)?;
    if DEFAULT_STREAM.get().device != device {
        DEFAULT_STREAM.set(Stream { index: 0, device });
    }
    Ok(())
}

/// Return the stream that this thread's operations on a device use by default.
pub fn default_stream(device: Device) -> Result<Stream> {
    check("default_stream", device)?;
    let current = DEFAULT_STREAM.get();
    Ok(if current.device == device { current } else { Stream { index: 0, device } })
}

/// Return the stream that this thread's operations use by default.
pub fn current_stream() -> Stream {
    DEFAULT_STREAM.get()
}

/// Set the stream that this thread's operations use by default.
pub fn set_default_stream(stream: Stream) -> Result<()> {
    check("set_default_stream", stream.device)?;
    DEFAULT_STREAM.set(stream);
    Ok(())
}

/// A changed default stream of this thread, until dropped.
#[derive(Debug)]
pub(crate) struct OnStream {
    previous: Stream,
    /// Makes the guard `!Send`.
    not_send: std::marker::PhantomData<*const ()>,
}

/// Make `stream` the default of this thread until the guard is dropped. The stream must exist; that of a node does.
pub(crate) fn on_stream(stream: Stream) -> OnStream {
    OnStream { previous: DEFAULT_STREAM.replace(stream), not_send: std::marker::PhantomData }
}

impl Drop for OnStream {
    fn drop(&mut self) {
        DEFAULT_STREAM.set(self.previous);
    }
}

/// Create a stream on a device, usable from every thread.
pub fn new_stream(device: Device) -> Result<Stream> {
    check("new_stream", device)?;
    Ok(Stream { index: STREAMS.fetch_add(1, Ordering::Relaxed), device })
}

/// Create a stream on a device that is a different one on each thread.
pub fn new_thread_local_stream(device: Device) -> Result<ThreadLocalStream> {
    check("new_thread_local_stream", device)?;
    Ok(ThreadLocalStream { index: THREAD_LOCAL_STREAMS.fetch_add(1, Ordering::Relaxed), device })
}

impl ThreadLocalStream {
    /// The stream that represents it on this thread.
    pub fn here(self) -> Stream {
        OWN_STREAMS.with_borrow_mut(|streams| {
            let next = || Stream { index: STREAMS.fetch_add(1, Ordering::Relaxed), device: self.device };
            *streams.entry(self).or_insert_with(next)
        })
    }
}

/// Release this thread's streams.
///
/// Thread-local ones get new streams when they are used again, and operations go to the first stream of their device. Other
/// streams remain valid, since any thread may use them.
pub fn clear_streams() {
    OWN_STREAMS.take();
    let device = DEFAULT_STREAM.get().device;
    DEFAULT_STREAM.set(Stream { index: 0, device });
}

impl std::fmt::Display for ThreadLocalStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ThreadLocalStream({}, {})", self.device, self.index)
    }
}
