//! Fork safety: process-wide locks, and state that belongs to threads the child does not have.
//!
//! A fork copies the memory but only the forking thread. A lock that another thread held would stay locked in the child
//! forever, over half-updated data. So the forking thread acquires every [`ForkMutex`] before the fork, in the order of their
//! levels, and releases them afterwards, in the parent and in the child. A lock that it could not acquire in time (its holder
//! waits for the forking thread) is re-created in the child. Before that, the fork waits until no [`NoForkGuard`] is alive,
//! since work in progress on other threads is lost in the child.
//!
//! Invariant: `held` is accessed only by the thread that holds the lock, and the child's only thread is the one that forked.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Timeout of a fork for guards and locks, and of a guard for a fork to finish.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Lock order: a lock held while others are acquired comes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Held while operations are recorded.
    Recording,
    /// Held while graphs are inspected.
    Planning,
    /// Held briefly; no other lock is acquired under it.
    Last,
}

/// What happens to the data in a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InChild {
    /// Keep it.
    Keep,
    /// Re-create it: it refers to threads that are gone. The old value is leaked, since dropping it would contact them.
    Renew,
}

/// A mutex of the whole process that a forked child can always take. A panic under it leaves it usable.
pub struct ForkMutex<T: 'static> {
    mutex: UnsafeCell<Mutex<T>>,
    held: UnsafeCell<Option<MutexGuard<'static, T>>>,
    fresh: fn() -> T,
    level: Level,
    in_child: InChild,
    is_listed: AtomicBool,
}

// SAFETY: the data is reached through the mutex; `held` and replacing the mutex keep to the module's invariant.
unsafe impl<T: Send> Sync for ForkMutex<T> {}

/// Steps under way.
static STEPS: AtomicUsize = AtomicUsize::new(0);
/// Is a thread about to fork?
static IS_FORKING: AtomicBool = AtomicBool::new(false);

/// A step of work that a fork should not cut in two; ends when it is dropped.
#[must_use = "a step lasts as long as this value"]
pub struct NoForkGuard {
    generation: u8,
}

impl NoForkGuard {
    /// Begin a step; where a thread is about to fork, after that.
    #[inline]
    pub fn begin() -> NoForkGuard {
        // SeqCst: either the step sees that a thread forks, or the fork sees the step.
        STEPS.fetch_add(1, Ordering::SeqCst);
        if IS_FORKING.load(Ordering::SeqCst) {
            NoForkGuard::wait();
        }
        NoForkGuard { generation: generation() }
    }

    #[cold]
    fn wait() {
        STEPS.fetch_sub(1, Ordering::SeqCst);
        let deadline = Instant::now() + TIMEOUT;
        while IS_FORKING.load(Ordering::SeqCst) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(50));
        }
        STEPS.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for NoForkGuard {
    fn drop(&mut self) {
        // A child counts anew.
        if self.generation == generation() {
            STEPS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A lock of any data.
trait Lock: Sync {
    fn level(&self) -> Level;
    /// Acquire the lock unless another thread holds it.
    fn try_hold(&'static self) -> bool;
    /// Release the lock that `try_hold` acquired.
    fn release(&'static self);
    /// After a fork, in the child. Was it held?
    fn continue_in_child(&'static self, was_held: bool);
}

const MAX_LOCKS: usize = 64;
static LIST: [OnceLock<&'static dyn Lock>; MAX_LOCKS] = [const { OnceLock::new() }; MAX_LOCKS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Number of this process in its line of forks, from 1 and around.
static GENERATION: AtomicU8 = AtomicU8::new(1);

thread_local! {
    /// The locks that this thread holds because it is forking.
    static HELD_LOCKS: RefCell<Vec<&'static dyn Lock>> = const { RefCell::new(Vec::new()) };
    /// A fork inside a fork's own handlers finds everything held.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

impl<T: Send + 'static> ForkMutex<T> {
    /// A lock around `value`; a child may re-create it with `fresh()`.
    pub const fn new(fresh: fn() -> T, value: T, level: Level, in_child: InChild) -> Self {
        ForkMutex {
            mutex: UnsafeCell::new(Mutex::new(value)),
            held: UnsafeCell::new(None),
            fresh,
            level,
            in_child,
            is_listed: AtomicBool::new(false),
        }
    }

    /// Take the lock.
    pub fn lock(&'static self) -> MutexGuard<'static, T> {
        if !self.is_listed.load(Ordering::Acquire) {
            self.list();
        }
        self.mutex().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquire the lock unless another thread holds it.
    pub fn try_lock(&'static self) -> Option<MutexGuard<'static, T>> {
        if !self.is_listed.load(Ordering::Acquire) {
            self.list();
        }
        match self.mutex().try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn mutex(&'static self) -> &'static Mutex<T> {
        // SAFETY: it is replaced only in a child that has no other thread (module invariant).
        unsafe { &*self.mutex.get() }
    }

    #[cold]
    fn list(&'static self) {
        register_handlers();
        if self.is_listed.swap(true, Ordering::AcqRel) {
            return;
        }
        let place = COUNT.fetch_add(1, Ordering::AcqRel);
        if let Some(entry) = LIST.get(place) {
            let _ = entry.set(self);
        }
    }
}

impl<T: Send + 'static> Lock for ForkMutex<T> {
    fn level(&self) -> Level {
        self.level
    }

    fn try_hold(&'static self) -> bool {
        let Some(guard) = self.try_lock() else { return false };
        // SAFETY: this thread has the lock.
        unsafe { *self.held.get() = Some(guard) };
        true
    }

    fn release(&'static self) {
        // SAFETY: this thread has the lock.
        drop(unsafe { (*self.held.get()).take() });
    }

    fn continue_in_child(&'static self, was_held: bool) {
        if was_held {
            self.release();
        }
        if !was_held || self.in_child == InChild::Renew {
            // SAFETY: no other thread is left that could have a reference into the old, which is leaked.
            unsafe { self.mutex.get().write(Mutex::new((self.fresh)())) };
        }
    }
}

/// A counter that changes with every fork, cycling from 1 to 127: a mark with another value belongs to threads that are gone.
#[inline]
pub fn generation() -> u8 {
    GENERATION.load(Ordering::Relaxed)
}

/// Register the fork handlers once.
fn register_handlers() {
    static AT_FORK: OnceLock<()> = OnceLock::new();
    AT_FORK.get_or_init(|| {
        // SAFETY: the handlers take locks and let go of them; in the child they allocate nothing that is not a lock's
        // own data, which the C library allows after its own handlers.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

fn listed() -> impl Iterator<Item = &'static dyn Lock> {
    LIST.iter().filter_map(|entry| entry.get().copied())
}

extern "C" fn before() {
    if DEPTH.replace(DEPTH.get() + 1) > 0 {
        return;
    }
    let mut locks: Vec<&'static dyn Lock> = listed().collect();
    locks.sort_by_key(|lock| lock.level());
    let deadline = Instant::now() + TIMEOUT;
    IS_FORKING.store(true, Ordering::SeqCst);
    while STEPS.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(20));
    }
    // Guards and locks have separate timeouts.
    let deadline = Instant::now() + TIMEOUT;
    let mut held = Vec::with_capacity(locks.len());
    for lock in locks {
        let mut has = lock.try_hold();
        while !has && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(20));
            has = lock.try_hold();
        }
        if has {
            held.push(lock);
        }
    }
    HELD_LOCKS.replace(held);
}

extern "C" fn in_parent() {
    if DEPTH.replace(DEPTH.get().saturating_sub(1)) > 1 {
        return;
    }
    for lock in HELD_LOCKS.take().into_iter().rev() {
        lock.release();
    }
    IS_FORKING.store(false, Ordering::SeqCst);
}

extern "C" fn in_child() {
    DEPTH.set(0);
    STEPS.store(0, Ordering::SeqCst);
    IS_FORKING.store(false, Ordering::SeqCst);
    let held = HELD_LOCKS.take();
    let next = generation() % 127 + 1;
    GENERATION.store(next, Ordering::Relaxed);
    let address = |lock: &'static dyn Lock| std::ptr::from_ref(lock).cast::<()>();
    for lock in listed() {
        lock.continue_in_child(held.iter().any(|other| address(*other) == address(lock)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static COUNTER: ForkMutex<u64> = ForkMutex::new(|| 0, 0, Level::Last, InChild::Keep);
    static RENEWED: ForkMutex<u64> = ForkMutex::new(|| 7, 0, Level::Planning, InChild::Renew);

    #[test]
    fn a_child_can_take_locks_that_other_threads_are_taking() {
        /// Stops the threads whatever happens: a scope waits for them.
        struct Stopped<'a>(&'a AtomicBool);
        impl Drop for Stopped<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }

        let stop = AtomicBool::new(false);
        // A lock that was never taken is as it was made.
        *COUNTER.lock() += 1;
        *RENEWED.lock() = 1;
        std::thread::scope(|scope| {
            let _stopped = Stopped(&stop);
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        *COUNTER.lock() += 1;
                        *RENEWED.lock() = 1;
                        std::thread::yield_now();
                    }
                });
            }
            for _ in 0..50 {
                // SAFETY: the child takes two locks and leaves without running anything of the parent's.
                let child = unsafe { libc::fork() };
                assert!(child >= 0);
                if child == 0 {
                    drop(COUNTER.lock());
                    let code = i32::from(*RENEWED.lock() != 7);
                    // SAFETY: ends the child.
                    unsafe { libc::_exit(code) };
                }
                let mut status = 0;
                // SAFETY: waits for the child that was just made.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
            }
        });
    }
}
