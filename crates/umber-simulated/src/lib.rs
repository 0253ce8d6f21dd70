//! A simulated asynchronous accelerator.
//!
//! Imports `umber-core`, `umber-kernels` and `umber-types`.
//!
//! It has the difficulties of a real device: memory that the host cannot address, streams that run asynchronously and unordered
//! with respect to each other, and failures that are reported after the call that caused them has returned. The kernels are those
//! of the CPU. A race detector checks every launch, copy and release against the order that events establish
//! ([`order`](self#order)), so that a missing wait is an error in every run, independent of timing.
//!
//! # Order
//!
//! Each stream has a vector clock: for every other stream, the number of the last work that finishes before the next work of
//! this stream begins. Work may read a block of memory if its clock covers the work that wrote the block, and may write the
//! block if its clock also covers the work that read it. Waits of the host do not count.

mod backend;
mod block;
mod delays;
mod environment;
mod faults;
mod memory;
mod order;
mod stream;
mod work;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use umber_core::memory::Event;
use umber_types::{Device, DeviceType, Error, ErrorKind, Result, Stream, ensure};

pub use environment::register_from_environment;
use faults::Faults;
use memory::Pool;
use order::Order;
use stream::Streams;

/// Options of a simulated accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Seed of the random delays.
    pub seed: u64,
    /// Maximum random delay before a piece of work begins.
    pub delay: Duration,
    /// Bytes of memory.
    pub memory: usize,
    /// Decompose composite operations into simpler ones.
    pub decompose: bool,
    /// Report `eig` and `sort` as unsupported, so that they run on the CPU.
    pub unsupported: bool,
    /// Let a launch fail after this many launches.
    pub fail_launch: Option<u64>,
    /// Let a kernel fail after this many kernels.
    pub fail_kernel: Option<u64>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            seed: 0,
            delay: Duration::from_micros(200),
            memory: 1 << 30,
            decompose: false,
            unsupported: false,
            fail_launch: None,
            fail_kernel: None,
        }
    }
}

/// A simulated accelerator. Clones are handles to the same device.
#[derive(Clone)]
pub struct Simulated {
    machine: Arc<Machine>,
}

/// The state that all handles share. Locks are taken in the order of the fields.
struct Machine {
    device: Device,
    config: Config,
    /// The first process that used the device.
    process: OnceLock<u32>,
    /// Locked while work is numbered and enqueued, so that both happen in the same order.
    order: Mutex<Order>,
    pool: Pool,
    streams: Streams,
    faults: Faults,
    violations: Arc<Violations>,
}

/// Messages of the accesses that were not ordered.
#[derive(Debug, Default)]
struct Violations {
    all: Mutex<Vec<String>>,
    /// The violation of a release, which cannot return an error: the next launch returns it.
    deferred: Mutex<Option<Error>>,
}

/// Open the simulated accelerator `Device(gpu, index)`.
pub fn open(index: u32, config: Config) -> Simulated {
    let violations = Arc::new(Violations::default());
    let machine = Machine {
        device: Device { kind: DeviceType::Gpu, index },
        config,
        process: OnceLock::new(),
        order: Mutex::default(),
        pool: Pool::new(config.memory),
        streams: Streams::new(config, Arc::clone(&violations)),
        faults: Faults::new(config.fail_launch, config.fail_kernel),
        violations,
    };
    Simulated { machine: Arc::new(machine) }
}

/// The devices that were registered, by index.
static REGISTERED: Mutex<Vec<Simulated>> = Mutex::new(Vec::new());

/// The registered simulated accelerators of this process.
pub fn registered() -> Vec<Simulated> {
    lock(&REGISTERED).clone()
}

impl Simulated {
    /// Register the device as a backend, for the lifetime of the process.
    ///
    /// # Errors
    /// The index is not the next free accelerator index.
    pub fn register(&self) -> Result<()> {
        umber_core::backend::register(Box::new(self.clone()))?;
        lock(&REGISTERED).push(self.clone());
        Ok(())
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.machine.device
    }

    /// The event after all work that was started on a stream so far.
    pub fn record(&self, stream: Stream) -> Event {
        Event { stream, number: self.machine.order().started(stream.index) }
    }

    /// Messages of all accesses so far that were not ordered after the accesses they conflict with.
    pub fn violations(&self) -> Vec<String> {
        lock(&self.machine.violations.all).clone()
    }

    /// Clear the recorded violations.
    pub fn clear_violations(&self) {
        lock(&self.machine.violations.all).clear();
        lock(&self.machine.violations.deferred).take();
    }

    /// Let a launch fail, after `after` other launches.
    pub fn fail_next_launch(&self, after: u64) {
        self.machine.faults.fail_launch(after);
    }

    /// Let a kernel fail while it runs, after `after` other kernels.
    pub fn fail_next_kernel(&self, after: u64) {
        self.machine.faults.fail_kernel(after);
    }
}

impl Machine {
    /// A forked child has no stream threads, and locks that they held stay locked: only one process may use the device.
    fn check_process(&self) -> Result<()> {
        ensure!(
            self.is_own_process(),
            Runtime("simulated"),
            "the device was in use when this process was forked; use the spawn start method"
        );
        Ok(())
    }

    fn is_own_process(&self) -> bool {
        let id = std::process::id();
        *self.process.get_or_init(|| id) == id
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        lock(&self.order)
    }
}

impl Violations {
    /// Record a violation; returns it as an error for the call that caused it.
    fn record(&self, detail: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Runtime, detail).with_op("simulated");
        lock(&self.all).push(error.to_string());
        error
    }

    /// Record a violation of a call that cannot return an error; the next launch returns it.
    fn defer(&self, detail: String) {
        let error = self.record(detail);
        lock(&self.deferred).get_or_insert(error);
    }

    /// Return the deferred error, if there is one.
    fn check_deferred(&self) -> Result<()> {
        lock(&self.deferred).take().map_or(Ok(()), Err)
    }
}

/// Lock a mutex whose data is consistent even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Simulated({})", self.machine.device)
    }
}
