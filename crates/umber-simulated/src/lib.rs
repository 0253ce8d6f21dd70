//! Floor 7: a simulated asynchronous accelerator.
//!
//! It has what makes a real device hard to use: memory that the host cannot address, streams whose work runs later and in any
//! order among each other, and failures that are known only after the call that caused them has returned. The kernels are those of
//! the CPU. Every launch, copy and release is checked against the order that events promise ([`order`](self#order)), so that a
//! missing wait is an error in every run and not only when the timing is bad.
//!
//! # Order
//!
//! Each stream has a vector clock: how much work of every other stream is over before its next work begins. Work may read a block of
//! memory if its clock covers the work that wrote the block, and may write it if its clock covers the work that read it as well. What
//! the host has waited for does not count.

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
    /// The longest delay before a piece of work begins.
    pub delay: Duration,
    /// Bytes of memory.
    pub memory: usize,
    /// Whether composite operations are expanded to simpler ones.
    pub decompose: bool,
    /// Whether `eig` and `sort` are left to the CPU.
    pub unsupported: bool,
    /// Refuse the launch after so many others.
    pub fail_launch: Option<u64>,
    /// Let the kernel after so many others fail.
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

/// A simulated accelerator. Clones are handles to the same one.
#[derive(Clone)]
pub struct Simulated {
    machine: Arc<Machine>,
}

/// What all handles share. Locks are taken in the order of the fields.
struct Machine {
    device: Device,
    config: Config,
    /// The process that has used the device first.
    process: OnceLock<u32>,
    /// Held while work is numbered and enqueued, so that both happen in the same order.
    order: Mutex<Order>,
    pool: Pool,
    streams: Streams,
    faults: Faults,
    violations: Arc<Violations>,
}

/// Accesses that were not ordered, in words.
#[derive(Debug, Default)]
struct Violations {
    all: Mutex<Vec<String>>,
    /// One that no call could answer with: the next launch does.
    owed: Mutex<Option<Error>>,
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

/// The simulated accelerators of this process that are registered.
pub fn registered() -> Vec<Simulated> {
    lock(&REGISTERED).clone()
}

impl Simulated {
    /// Let operations run on the device, for as long as the process lives.
    ///
    /// # Errors
    /// It is not the next accelerator by index.
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

    /// Every access so far that was not ordered after the accesses it conflicts with.
    pub fn violations(&self) -> Vec<String> {
        lock(&self.machine.violations.all).clone()
    }

    /// Forget the violations that are known.
    pub fn clear_violations(&self) {
        lock(&self.machine.violations.all).clear();
        lock(&self.machine.violations.owed).take();
    }

    /// Refuse a launch, after `after` others.
    pub fn fail_next_launch(&self, after: u64) {
        self.machine.faults.fail_launch(after);
    }

    /// Let a kernel fail while it runs, after `after` others.
    pub fn fail_next_kernel(&self, after: u64) {
        self.machine.faults.fail_kernel(after);
    }
}

impl Machine {
    /// Threads do not survive a fork, and their locks stay closed: only one process may use the device.
    fn check_process(&self) -> Result<()> {
        ensure!(
            self.is_own_process(),
            Runtime("simulated"),
            "the device was in use when this process was forked; use the spawn start method"
        );
        Ok(())
    }

    fn is_own_process(&self) -> bool {
        let own = std::process::id();
        *self.process.get_or_init(|| own) == own
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        lock(&self.order)
    }
}

impl Violations {
    /// Note what was not ordered, as the error of the call that asked for it.
    fn note(&self, detail: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Runtime, detail).with_op("simulated");
        lock(&self.all).push(error.to_string());
        error
    }

    /// Note what was not ordered where no error can be answered.
    fn owe(&self, detail: String) {
        let error = self.note(detail);
        lock(&self.owed).get_or_insert(error);
    }

    /// Answer with the error that is owed.
    fn check_drained(&self) -> Result<()> {
        lock(&self.owed).take().map_or(Ok(()), Err)
    }
}

/// Lock a mutex whose data stays consistent if a holder panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Simulated({})", self.machine.device)
    }
}
