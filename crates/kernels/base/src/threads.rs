//! One pool of worker threads for the process: it spins briefly for the next job, then parks.
//!
//! A job is offered, never handed over: the calling thread works through the chunks itself, workers that are awake
//! join in, and a worker that wakes too late finds the job closed. So a sleeping worker costs the caller one
//! wake-up call, but no latency.
//!
//! Invariant: a worker reads `Pool::job` only while it is counted in `Pool::gate`; the caller keeps the closure
//! alive until the gate is closed and the count is back to zero.

use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::fork::{ForkMutex, InChild, Level};

const OPEN: u64 = 1 << 31;
const ENTRANTS: u64 = OPEN - 1;
const SPIN: Duration = Duration::from_micros(50);

/// The chunks of one call.
struct Job {
    /// Runs chunk `i`.
    run: *const (dyn Fn(usize) + Sync),
    next: AtomicUsize,
    count: usize,
    /// The payload of the first panic of a chunk.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

struct Pool {
    /// Epoch in the high half, then the open bit, then the number of workers inside.
    gate: AtomicU64,
    job: AtomicPtr<Job>,
    /// Locked by the thread whose job is offered.
    workers: Mutex<Vec<Worker>>,
}

struct Worker {
    thread: Thread,
    parked: Arc<AtomicBool>,
}

/// Replaced by the child after a fork, since threads do not survive one; the old pool is leaked on purpose.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
static START: ForkMutex<()> = ForkMutex::new(|| (), (), Level::Last, InChild::Keep);

thread_local! {
    static IN_PARALLEL: Cell<bool> = const { Cell::new(false) };
}

/// The maximum of [`set_num_threads`].
pub const MAX_THREADS: usize = 256;

/// The number of threads; zero until it is first needed.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The number of threads per kernel, the calling one included: the last value of [`set_num_threads`], else
/// `UMBER_NUM_THREADS`, else the processors available to this process (by affinity and control groups).
pub fn num_threads() -> usize {
    match COUNT.load(Ordering::Relaxed) {
        0 => initial_count(),
        count => count,
    }
}

#[cold]
fn initial_count() -> usize {
    let count = std::env::var("UMBER_NUM_THREADS")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .filter(|&count: &usize| count > 0)
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
        .min(MAX_THREADS);
    // A concurrent `set_num_threads` wins.
    COUNT.compare_exchange(0, count, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|set| set, |_| count)
}

/// Set the number of threads of later kernels; returns the previous one.
///
/// # Panics
/// If `count` is zero or more than [`MAX_THREADS`].
pub fn set_num_threads(count: usize) -> usize {
    assert!((1..=MAX_THREADS).contains(&count), "from 1 to {MAX_THREADS} threads");
    let before = num_threads();
    COUNT.store(count, Ordering::Relaxed);
    before
}

/// Run `body(i)` for every `i` in `0..count`, in any order, on any thread; returns when all are done.
///
/// Calls inside a running chunk, and calls while another thread's job is offered, run serially on the calling thread.
///
/// # Panics
/// If `body` panics on any thread, with the same payload.
pub fn parallel_for(count: usize, body: impl Fn(usize) + Sync) {
    run(count, &body);
}

fn run(count: usize, body: &(dyn Fn(usize) + Sync)) {
    if count <= 1 || num_threads() == 1 || IN_PARALLEL.get() {
        (0..count).for_each(body);
        return;
    }
    let pool = pool();
    let mut workers = match pool.workers.try_lock() {
        Ok(workers) => workers,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            (0..count).for_each(body);
            return;
        }
    };
    pool.ensure_workers(&mut workers, num_threads() - 1);
    // SAFETY: only the lifetime changes; `offer` returns after the last worker has left the job.
    let body: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(body) };
    let job = Job { run: body, next: AtomicUsize::new(0), count, panic: Mutex::new(None) };
    pool.offer(&job, &workers);
    drop(workers);
    if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(panic);
    }
}

/// Split `0..total` into ranges of about equal length, at least `grain` long, and run `body` on each.
pub fn parallel_ranges(total: usize, grain: usize, body: impl Fn(Range<usize>) + Sync) {
    run_ranges(total, grain, &body);
}

fn run_ranges(total: usize, grain: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    let chunks = (total / grain.max(1)).clamp(1, num_threads() * 4);
    if chunks == 1 || num_threads() == 1 {
        body(0..total);
        return;
    }
    run(chunks, &|i| body(total * i / chunks..total * (i + 1) / chunks));
}

impl Job {
    fn work(&self) {
        let was_in_parallel = IN_PARALLEL.replace(true);
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            if i >= self.count {
                break;
            }
            // SAFETY: the closure outlives the job (module invariant).
            let run = unsafe { &*self.run };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(i))) {
                self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                self.next.store(self.count, Ordering::Relaxed);
            }
        }
        IN_PARALLEL.set(was_in_parallel);
    }
}

impl Pool {
    /// Start workers until there are `target`, or the system refuses; fewer workers give the same results.
    fn ensure_workers(&'static self, workers: &mut Vec<Worker>, target: usize) {
        while workers.len() < target {
            let parked = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&parked);
            let index = workers.len() + 1;
            let started = thread::Builder::new()
                .name(format!("umber-{index}"))
                .spawn(move || self.worker_loop(index, &flag));
            let Ok(handle) = started else { return };
            workers.push(Worker { thread: handle.thread().clone(), parked });
        }
    }

    fn offer(&self, job: &Job, workers: &[Worker]) {
        self.job.store(std::ptr::from_ref(job).cast_mut(), Ordering::Relaxed);
        let epoch = (self.gate.load(Ordering::Relaxed) >> 32).wrapping_add(1) << 32;
        // SeqCst: either a worker about to park sees the open gate, or this thread sees its parked flag.
        self.gate.store(epoch | OPEN, Ordering::SeqCst);
        let helpers = (job.count - 1).min(num_threads() - 1);
        for worker in workers.iter().take(helpers) {
            if worker.parked.swap(false, Ordering::SeqCst) {
                worker.thread.unpark();
            }
        }
        job.work();
        self.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut spins = 0u32;
        while self.gate.load(Ordering::Acquire) & ENTRANTS != 0 {
            spins += 1;
            // Yield to a worker that was preempted inside a chunk.
            if spins > 10_000 { thread::yield_now() } else { std::hint::spin_loop() }
        }
    }

    /// The loop of worker `index`, which takes no jobs while the number of threads is smaller.
    fn worker_loop(&self, index: usize, parked: &AtomicBool) {
        let mut last_epoch = 0;
        let mut idle_since = Instant::now();
        loop {
            let gate = self.gate.load(Ordering::SeqCst);
            if gate & OPEN != 0 && gate >> 32 != last_epoch && index < num_threads() {
                if self.gate.compare_exchange(gate, gate + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    last_epoch = gate >> 32;
                    // SAFETY: this worker is counted in the gate, so the job is alive (module invariant).
                    unsafe { (*self.job.load(Ordering::Acquire)).work() };
                    self.gate.fetch_sub(1, Ordering::AcqRel);
                    idle_since = Instant::now();
                }
            } else if idle_since.elapsed() < SPIN {
                std::hint::spin_loop();
            } else {
                parked.store(true, Ordering::SeqCst);
                let gate = self.gate.load(Ordering::SeqCst);
                if gate & OPEN == 0 || gate >> 32 == last_epoch || index >= num_threads() {
                    thread::park();
                }
                parked.store(false, Ordering::SeqCst);
                idle_since = Instant::now();
            }
        }
    }
}

extern "C" fn forget_pool() {
    POOL.store(std::ptr::null_mut(), Ordering::Release);
}

fn pool() -> &'static Pool {
    let existing = POOL.load(Ordering::Acquire);
    if !existing.is_null() {
        // SAFETY: only leaked pools are ever stored.
        return unsafe { &*existing };
    }
    let _start = START.lock();
    let existing = POOL.load(Ordering::Acquire);
    if !existing.is_null() {
        // SAFETY: only leaked pools are ever stored.
        return unsafe { &*existing };
    }
    static AT_FORK: OnceLock<()> = OnceLock::new();
    AT_FORK.get_or_init(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(forget_pool)) };
    });
    let pool: &'static Pool = Box::leak(Box::new(Pool {
        gate: AtomicU64::new(0),
        job: AtomicPtr::new(std::ptr::null_mut()),
        workers: Mutex::new(Vec::new()),
    }));
    POOL.store(std::ptr::from_ref(pool).cast_mut(), Ordering::Release);
    pool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_runs_once() {
        for count in [0, 1, 2, 7, 1000] {
            let hits: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            parallel_for(count, |i| {
                hits[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(hits.iter().all(|hit| hit.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn the_number_of_threads_can_change() {
        let before = num_threads();
        for count in [1, 5, 2, 3] {
            set_num_threads(count);
            assert_eq!(num_threads(), count);
            let sum = AtomicUsize::new(0);
            parallel_for(100, |i| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
            assert_eq!(sum.load(Ordering::Relaxed), 4950);
        }
        assert_eq!(set_num_threads(before), 3);
    }

    #[test]
    fn ranges_cover_without_overlap() {
        for total in [0usize, 1, 5, 1000, 12345] {
            let sum = AtomicUsize::new(0);
            parallel_ranges(total, 10, |range| {
                sum.fetch_add(range.sum::<usize>(), Ordering::Relaxed);
            });
            assert_eq!(sum.load(Ordering::Relaxed), total * total.saturating_sub(1) / 2);
        }
    }

    #[test]
    fn many_threads_and_nesting() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let sum = AtomicUsize::new(0);
                        parallel_for(4, |i| {
                            parallel_for(4, |j| {
                                sum.fetch_add(i * 4 + j, Ordering::Relaxed);
                            });
                        });
                        assert_eq!(sum.load(Ordering::Relaxed), 120);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let panic =
            catch_unwind(|| parallel_for(64, |i| assert!(i != 40, "on purpose"))).expect_err("panics");
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
        parallel_for(4, |_| ());
    }
}
