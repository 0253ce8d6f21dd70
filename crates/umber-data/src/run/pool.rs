//! The threads of a prefetch: they draw tickets ahead and run them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use umber_core::frontend::check_interrupted;
use umber_kernels::fork::{ForkMutex, InChild, Level, generation};

use crate::error::Result;
use crate::fault;
use crate::random::Position;
use crate::run::lane::Lane;
use crate::run::task::SIGNAL_INTERVAL;
use crate::run::{Context, Task, gate};
use crate::sample::Sample;
use crate::state::State;
use crate::stream::Stream;

/// A ticket drawn ahead.
struct Entry {
    task: Arc<Task>,
    position: Position,
    /// The state of the stream behind this ticket.
    after: State,
}

/// A result, where it belongs, and the state behind it.
pub(crate) struct Delivered {
    pub result: Result<Option<Sample>>,
    pub position: Position,
    pub after: State,
}

#[derive(Default)]
struct Queue {
    /// Tickets drawn ahead, in order.
    ahead: VecDeque<Entry>,
    /// Tasks whose results a stage needs to draw.
    needed: VecDeque<Arc<Task>>,
    /// Whether a thread is drawing.
    is_drawing: bool,
    has_ended: bool,
    is_closed: bool,
    /// Threads that have not returned.
    threads: usize,
}

/// Threads that draw up to a number of tickets of a stream ahead, and run them.
pub struct Pool {
    stream: Stream,
    depth: usize,
    threads: usize,
    is_ordered: bool,
    /// The forks before it was made.
    generation: u8,
    queue: Mutex<Queue>,
    /// There may be work for a thread.
    work: Condvar,
    /// There may be a result, or a thread has returned.
    progress: Condvar,
    lane: Lane,
}

static POOLS: ForkMutex<Vec<Weak<Pool>>> = ForkMutex::new(Vec::new, Vec::new(), Level::Last, InChild::Renew);

/// Close all pools and wait for their threads, for at most `limit`. To be called before the program's interpreter goes.
pub fn close_all(limit: Duration) {
    let pools = std::mem::take(&mut *POOLS.lock());
    let until = Instant::now() + limit;
    for pool in pools.iter().filter_map(Weak::upgrade) {
        pool.close();
        pool.join(Some(until));
    }
}

impl Pool {
    /// Start the threads.
    pub(crate) fn start(stream: Stream, depth: usize, threads: usize, is_ordered: bool) -> Arc<Pool> {
        let pool = Arc::new(Pool {
            stream,
            depth: depth.max(1),
            threads: threads.max(1),
            is_ordered,
            generation: generation(),
            queue: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
            lane: Lane::default(),
        });
        for number in 0..pool.threads {
            let own = Arc::clone(&pool);
            let thread = std::thread::Builder::new().name(format!("umber-data-{number}"));
            pool.lock().threads += 1;
            if thread.spawn(move || own.work()).is_err() {
                // Without threads the reader does all the work.
                pool.lock().threads -= 1;
                break;
            }
        }
        let mut pools = POOLS.lock();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        pool
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who asks for an interpreter's lock.
    pub(crate) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// How many tasks a stage that needs results should have under way.
    pub(crate) fn window(&self) -> usize {
        2 * self.threads
    }

    /// Hand over a task whose result a stage needs.
    pub(crate) fn submit(&self, task: &Arc<Task>) {
        self.lock().needed.push_back(Arc::clone(task));
        self.work.notify_one();
    }

    /// The next result, in order unless the pool is unordered; `None` at the end.
    ///
    /// # Errors
    /// If the user interrupts the program, or this is a child of the process that started the threads.
    pub(crate) fn next(self: &Arc<Pool>) -> Result<Option<Delivered>> {
        if self.generation != generation() {
            return Err(fault!(
                Runtime,
                "the threads of this prefetch are in the process that forked this one; make the stream in the child"
            ));
        }
        gate::waiting_for(self.address(), || self.wait(&Context::reader(self)))
    }

    /// What the pool is known by among threads.
    fn address(self: &Arc<Pool>) -> usize {
        Arc::as_ptr(self).addr()
    }

    fn wait(self: &Arc<Pool>, context: &Context<'_>) -> Result<Option<Delivered>> {
        loop {
            let mut queue = self.lock();
            let place = if self.is_ordered {
                Some(0)
            } else {
                queue.ahead.iter().position(|entry| entry.task.is_done()).or(Some(0))
            };
            if let Some(entry) = place.and_then(|place| queue.ahead.get(place)) {
                let task = Arc::clone(&entry.task);
                if task.is_done() {
                    let entry = place.and_then(|place| queue.ahead.remove(place));
                    drop(queue);
                    self.work.notify_one();
                    if let Some(Entry { task, position, after }) = entry {
                        return Ok(Some(Delivered { result: task.take(), position, after }));
                    }
                } else if task.is_waiting() {
                    drop(queue);
                    task.run(context);
                } else {
                    self.pause(queue)?;
                }
                continue;
            }
            if queue.has_ended && !queue.is_drawing {
                return Ok(None);
            }
            if queue.is_drawing {
                self.pause(queue)?;
            } else {
                queue.is_drawing = true;
                drop(queue);
                self.draw(context);
            }
        }
    }

    /// Wait for progress, and look for an interrupt.
    fn pause(&self, queue: MutexGuard<'_, Queue>) -> Result<()> {
        let waited = self.progress.wait_timeout(queue, SIGNAL_INTERVAL);
        let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(guard);
        if timeout.timed_out() {
            check_interrupted()?;
        }
        Ok(())
    }

    /// Draw a ticket. The caller has set `is_drawing`.
    fn draw(self: &Arc<Pool>, context: &Context<'_>) {
        let ticket = self.stream.draw(context);
        let entry = ticket.map(|ticket| {
            let position = ticket.position();
            let after = self.stream.save();
            Entry { task: Arc::new(Task::new(ticket)), position, after }
        });
        let mut queue = self.lock();
        queue.is_drawing = false;
        match entry {
            Some(entry) => queue.ahead.push_back(entry),
            None => queue.has_ended = true,
        }
        drop(queue);
        self.work.notify_all();
        self.progress.notify_all();
    }

    /// What a thread does.
    fn work(self: Arc<Pool>) {
        gate::belong_to(self.address());
        let context = Context::worker(&self);
        let mut queue = self.lock();
        while !queue.is_closed {
            let needed = std::iter::from_fn(|| queue.needed.pop_front()).find(|task| task.is_waiting());
            let task = needed.or_else(|| {
                let mut tasks = queue.ahead.iter().map(|entry| &entry.task);
                tasks.find(|task| task.is_waiting()).map(Arc::clone)
            });
            if let Some(task) = task {
                drop(queue);
                task.run(&context);
                self.progress.notify_all();
                drop(task);
                queue = self.lock();
            } else if !queue.is_drawing && !queue.has_ended && queue.ahead.len() < self.depth {
                queue.is_drawing = true;
                drop(queue);
                self.draw(&context);
                queue = self.lock();
            } else {
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        }
        queue.threads -= 1;
        drop(queue);
        self.progress.notify_all();
    }

    /// Tell the threads to return when what they do is done.
    pub(crate) fn close(&self) {
        if self.generation != generation() {
            return;
        }
        let mut queue = self.lock();
        queue.is_closed = true;
        let dropped = (std::mem::take(&mut queue.ahead), std::mem::take(&mut queue.needed));
        drop(queue);
        self.work.notify_all();
        drop(dropped);
    }

    /// Wait until the threads have returned, or the time comes. Returns whether they have.
    pub(crate) fn join(&self, until: Option<Instant>) -> bool {
        if self.generation != generation() {
            return true;
        }
        let mut queue = self.lock();
        while queue.threads > 0 || queue.is_drawing {
            if until.is_some_and(|until| Instant::now() >= until) {
                return false;
            }
            queue =
                self.progress.wait_timeout(queue, SIGNAL_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
