//! Streams: queues, each with its own thread, which exits when it is idle.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use umber_types::{Result, error};

use crate::delays::Delays;
use crate::work::{Failure, QueuedWork};
use crate::{Config, Violations, lock};

/// An idle thread exits after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// An entry of a stream's queue.
pub(crate) enum Item {
    /// Wait until the work of another stream has finished, up to this number.
    Wait(Arc<Queue>, u64),
    /// An operation or a copy.
    QueuedWork(Box<QueuedWork>),
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    /// Number of pieces of work that have finished.
    finished: u64,
    failures: BTreeMap<u64, Failure>,
    /// Is a thread running?
    is_served: bool,
    /// Number of [`Served`] handles, during whose lifetime the thread does not exit.
    handles: usize,
}

/// The queue of one stream.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

/// A handle to append work to a queue; its thread does not exit while the handle exists.
pub(crate) struct Served(Arc<Queue>);

/// All streams of a device.
pub(crate) struct Streams {
    config: Config,
    violations: Arc<Violations>,
    queues: Mutex<HashMap<u32, Arc<Queue>>>,
}

impl Streams {
    pub(crate) fn new(config: Config, violations: Arc<Violations>) -> Streams {
        Streams { config, violations, queues: Mutex::default() }
    }

    /// The queue of a stream.
    pub(crate) fn queue(&self, stream: u32) -> Arc<Queue> {
        let new = || Arc::new(Queue { state: Mutex::default(), changed: Condvar::new() });
        Arc::clone(lock(&self.queues).entry(stream).or_insert_with(new))
    }

    /// A handle to the queue of a stream; spawns its thread if none is running.
    ///
    /// # Errors
    /// The thread cannot be spawned.
    pub(crate) fn served(&self, stream: u32) -> Result<Served> {
        let queue = self.queue(stream);
        let mut state = lock(&queue.state);
        if !state.is_served {
            let served_queue = Arc::clone(&queue);
            let violations = Arc::clone(&self.violations);
            let mut delays = Delays::new(self.config.seed, stream, self.config.delay);
            std::thread::Builder::new()
                .name("umber-simulated".into())
                .spawn(move || served_queue.serve(&mut delays, &violations))
                .map_err(|error| error!(Runtime("simulated"), "no thread for stream {stream}: {error}"))?;
            state.is_served = true;
        }
        state.handles += 1;
        drop(state);
        Ok(Served(queue))
    }

    /// Has a stream's work finished, up to this number?
    pub(crate) fn is_finished(&self, stream: u32, number: u64) -> bool {
        self.queue(stream).is_finished(number)
    }

    /// Wait until a stream's work has finished, up to this number.
    pub(crate) fn wait_until(&self, stream: u32, number: u64) {
        self.queue(stream).wait_until(number);
    }
}

impl Served {
    /// Append work. The numbers of work are assigned in the order of calls.
    pub(crate) fn push(&self, item: Item) {
        lock(&self.0.state).items.push_back(item);
        self.0.changed.notify_all();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        lock(&self.0.state).handles -= 1;
    }
}

impl Queue {
    fn is_finished(&self, number: u64) -> bool {
        lock(&self.state).finished >= number
    }

    /// Wait until the work has finished, up to this number.
    fn wait_until(&self, number: u64) {
        let mut state = lock(&self.state);
        while state.finished < number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wait until the work has finished up to `number`; returns false after `timeout`.
    ///
    /// # Errors
    /// That piece of work failed.
    pub(crate) fn finish(&self, number: u64, timeout: Duration) -> Result<bool> {
        let Some(state) = self.finished_state(number, timeout) else { return Ok(false) };
        let Some(failure) = state.failures.get(&number) else { return Ok(true) };
        // Earlier failures count as reported too.
        state.failures.range(..=number).for_each(|(_, failure)| drop(failure.report()));
        Err(failure.report().0)
    }

    /// The state once the work has finished up to `number`; `None` after `timeout`.
    fn finished_state(&self, number: u64, timeout: Duration) -> Option<MutexGuard<'_, State>> {
        let deadline = Instant::now() + timeout;
        let mut state = lock(&self.state);
        while state.finished < number {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return None;
            }
            state = wait_for(&self.changed, state, remaining);
        }
        Some(state)
    }

    /// As [`Queue::finish`], for all work up to `number`.
    ///
    /// # Errors
    /// The first failure that was not reported yet.
    pub(crate) fn synchronize(&self, number: u64, timeout: Duration) -> Result<bool> {
        let Some(state) = self.finished_state(number, timeout) else { return Ok(false) };
        let mut unreported = state.failures.values().filter_map(|failure| match failure.report() {
            (error, false) => Some(error),
            (_, true) => None,
        });
        let first = unreported.next();
        // The others count as reported too.
        unreported.for_each(drop);
        first.map_or(Ok(true), Err)
    }

    /// The thread's loop: run the entries of the queue until it is idle for [`IDLE_TIMEOUT`] and has no handles.
    fn serve(self: &Arc<Queue>, delays: &mut Delays, violations: &Violations) {
        let mut state = lock(&self.state);
        loop {
            let Some(item) = state.items.pop_front() else {
                let deadline = Instant::now() + IDLE_TIMEOUT;
                while state.items.is_empty() {
                    let remaining = deadline.saturating_duration_since(Instant::now());
                    if remaining.is_zero() && state.handles == 0 {
                        state.is_served = false;
                        return;
                    }
                    state = wait_for(&self.changed, state, remaining.max(Duration::from_millis(1)));
                }
                continue;
            };
            drop(state);
            let result = match item {
                Item::Wait(queue, number) => {
                    queue.wait_until(number);
                    Ok(())
                }
                Item::QueuedWork(work) => {
                    delays.sleep();
                    work.run(violations)
                }
            };
            state = lock(&self.state);
            state.finished += 1;
            let number = state.finished;
            if let Err(failure) = result {
                state.failures.insert(number, failure);
            }
            self.changed.notify_all();
        }
    }
}

fn wait_for<'a>(changed: &Condvar, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
    changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
}
