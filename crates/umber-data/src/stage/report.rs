//! What a pipeline has done so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::DataError;

/// Counts of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Samples left out because of errors.
    pub skipped: u64,
    /// The first of these errors.
    pub errors: Vec<DataError>,
    /// Operations and threads, from the source down.
    pub stages: Vec<StageReport>,
}

/// Counts of a stage.
#[derive(Clone, Debug, Default)]
pub struct StageReport {
    /// Its public name.
    pub name: String,
    /// How often it ran.
    pub calls: u64,
    /// The time that it ran, of all threads together.
    pub time: Duration,
    /// The time that its reader waited for it.
    pub waits: Duration,
}

/// Calls and time of an operation, counted by all threads.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Stopwatch {
    /// Run `body` and count it.
    pub(crate) fn time<T>(&self, body: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = body();
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// The counts so far.
    pub(crate) fn read(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        (self.calls.load(Ordering::Relaxed), time)
    }
}
