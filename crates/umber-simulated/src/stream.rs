//! Streams: queues, each served by a thread of its own while there is work.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use umber_types::{Result, error};

use crate::delays::Delays;
use crate::work::{Failure, QueuedWork};
use crate::{Config, Violations, lock};

/// How long a thread stays without work.
const IDLE: Duration = Duration::from_secs(2);

/// A piece of a stream's work.
pub(crate) enum Item {
    /// Begin nothing before another stream's work is over, up to this number.
    Wait(Arc<Queue>, u64),
    /// Compute or copy.
    QueuedWork(Box<QueuedWork>),
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    /// How many pieces of work are over.
    finished: u64,
    failures: BTreeMap<u64, Failure>,
    /// Whether there is a thread.
    is_served: bool,
    /// How many [`Served`] there are: the thread stays.
    expected: usize,
}

/// The queue of one stream.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

/// A queue with a thread that stays for as long as this does, to append work to.
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

    /// The queue of a stream, to append work to.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn served(&self, stream: u32) -> Result<Served> {
        let queue = self.queue(stream);
        let mut state = lock(&queue.state);
        if !state.is_served {
            let own = Arc::clone(&queue);
            let violations = Arc::clone(&self.violations);
            let mut delays = Delays::new(self.config.seed, stream, self.config.delay);
            std::thread::Builder::new()
                .name("umber-simulated".into())
                .spawn(move || own.serve(&mut delays, &violations))
                .map_err(|error| error!(Runtime("simulated"), "no thread for stream {stream}: {error}"))?;
            state.is_served = true;
        }
        state.expected += 1;
        drop(state);
        Ok(Served(queue))
    }

    /// Is a stream's work over, up to this number?
    pub(crate) fn is_over(&self, stream: u32, number: u64) -> bool {
        self.queue(stream).is_over(number)
    }

    /// Wait until a stream's work is over, up to this number.
    pub(crate) fn wait_until(&self, stream: u32, number: u64) {
        self.queue(stream).wait_until(number);
    }
}

impl Served {
    /// Append work; numbers follow one another as the calls do.
    pub(crate) fn push(&self, item: Item) {
        lock(&self.0.state).items.push_back(item);
        self.0.changed.notify_all();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        lock(&self.0.state).expected -= 1;
    }
}

impl Queue {
    fn is_over(&self, number: u64) -> bool {
        lock(&self.state).finished >= number
    }

    /// Wait until the work is over, up to this number.
    fn wait_until(&self, number: u64) {
        let mut state = lock(&self.state);
        while state.finished < number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wait until the work is over up to `number`, but no longer than `patience`: is it?
    ///
    /// # Errors
    /// That piece of work failed.
    pub(crate) fn finish(&self, number: u64, patience: Duration) -> Result<bool> {
        let Some(state) = self.over(number, patience) else { return Ok(false) };
        let Some(failure) = state.failures.get(&number) else { return Ok(true) };
        // What failed before is known with it.
        state.failures.range(..=number).for_each(|(_, failure)| drop(failure.tell()));
        Err(failure.tell().0)
    }

    /// The state once the work is over up to `number`, if that takes no longer than `patience`.
    fn over(&self, number: u64, patience: Duration) -> Option<MutexGuard<'_, State>> {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        while state.finished < number {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = wait_for(&self.changed, state, left);
        }
        Some(state)
    }

    /// As [`Queue::finish`], for all work up to `number`.
    ///
    /// # Errors
    /// The first failure that was not told.
    pub(crate) fn synchronize(&self, number: u64, patience: Duration) -> Result<bool> {
        let Some(state) = self.over(number, patience) else { return Ok(false) };
        let mut new = state.failures.values().filter_map(|failure| match failure.tell() {
            (error, false) => Some(error),
            (_, true) => None,
        });
        let first = new.next();
        // The others are known with it.
        new.for_each(drop);
        first.map_or(Ok(true), Err)
    }

    /// Run what comes, until nothing has come for a while.
    fn serve(self: &Arc<Queue>, delays: &mut Delays, violations: &Violations) {
        let mut state = lock(&self.state);
        loop {
            let Some(item) = state.items.pop_front() else {
                let deadline = Instant::now() + IDLE;
                while state.items.is_empty() {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() && state.expected == 0 {
                        state.is_served = false;
                        return;
                    }
                    state = wait_for(&self.changed, state, left.max(Duration::from_millis(1)));
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
