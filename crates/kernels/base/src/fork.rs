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

/// A process-wide mutex that a forked child can always lock. A panic under it does not poison it.
pub struct ForkMutex<T: 'static> {
    mutex: UnsafeCell<Mutex<T>>,
    held: UnsafeCell<Option<MutexGuard<'static, T>>>,
    fresh: fn() -> T,
    level: Level,
    in_child: InChild,
    is_registered: AtomicBool,
}

// SAFETY: the data is accessed through the mutex; `held` is accessed and the mutex replaced only under the module's invariant.
unsafe impl<T: Send> Sync for ForkMutex<T> {}

/// Number of live [`NoForkGuard`]s.
static GUARDS: AtomicUsize = AtomicUsize::new(0);
/// True while a thread waits to fork.
static IS_FORKING: AtomicBool = AtomicBool::new(false);

/// Delays forks while it is alive, so that a step of work is not interrupted.
#[must_use = "the guard delays forks only while it is alive"]
pub struct NoForkGuard {
    generation: u8,
}

impl NoForkGuard {
    /// Create a guard; waits while another thread is forking.
    #[inline]
    pub fn begin() -> NoForkGuard {
        // SeqCst: either this guard sees that a thread is forking, or the fork sees the guard.
        GUARDS.fetch_add(1, Ordering::SeqCst);
        if IS_FORKING.load(Ordering::SeqCst) {
            NoForkGuard::wait();
        }
        NoForkGuard { generation: generation() }
    }

    #[cold]
    fn wait() {
        GUARDS.fetch_sub(1, Ordering::SeqCst);
        let deadline = Instant::now() + TIMEOUT;
        while IS_FORKING.load(Ordering::SeqCst) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(50));
        }
        GUARDS.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for NoForkGuard {
    fn drop(&mut self) {
        // The count of a child starts at zero.
        if self.generation == generation() {
            GUARDS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A [`ForkMutex`] of any type.
trait Lock: Sync {
    fn level(&self) -> Level;
    /// Acquire the lock unless another thread holds it.
    fn try_hold(&'static self) -> bool;
    /// Release the lock that `try_hold` acquired.
    fn release(&'static self);
    /// Called in the child after a fork; `was_held` tells whether the forking thread holds the lock.
    fn continue_in_child(&'static self, was_held: bool);
}

const MAX_LOCKS: usize = 64;
static LOCKS: [OnceLock<&'static dyn Lock>; MAX_LOCKS] = [const { OnceLock::new() }; MAX_LOCKS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Fork generation of this process: 1 to 127, wrapping.
static GENERATION: AtomicU8 = AtomicU8::new(1);

thread_local! {
    /// The locks that this thread holds during a fork.
    static HELD_LOCKS: RefCell<Vec<&'static dyn Lock>> = const { RefCell::new(Vec::new()) };
    /// Nesting depth of forks; a fork inside another fork's handlers finds all locks held.
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
            is_registered: AtomicBool::new(false),
        }
    }

    /// Acquire the lock.
    pub fn lock(&'static self) -> MutexGuard<'static, T> {
        if !self.is_registered.load(Ordering::Acquire) {
            self.register();
        }
        self.mutex().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquire the lock unless another thread holds it.
    pub fn try_lock(&'static self) -> Option<MutexGuard<'static, T>> {
        if !self.is_registered.load(Ordering::Acquire) {
            self.register();
        }
        match self.mutex().try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn mutex(&'static self) -> &'static Mutex<T> {
        // SAFETY: the mutex is replaced only in a child without other threads (module invariant).
        unsafe { &*self.mutex.get() }
    }

    #[cold]
    fn register(&'static self) {
        register_handlers();
        if self.is_registered.swap(true, Ordering::AcqRel) {
            return;
        }
        let index = COUNT.fetch_add(1, Ordering::AcqRel);
        if let Some(entry) = LOCKS.get(index) {
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
        // SAFETY: this thread holds the lock.
        unsafe { *self.held.get() = Some(guard) };
        true
    }

    fn release(&'static self) {
        // SAFETY: this thread holds the lock.
        drop(unsafe { (*self.held.get()).take() });
    }

    fn continue_in_child(&'static self, was_held: bool) {
        if was_held {
            self.release();
        }
        if !was_held || self.in_child == InChild::Renew {
            // SAFETY: no other thread is left that could hold a reference to the old mutex, which is leaked.
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
        // SAFETY: the handlers acquire and release locks; in the child they allocate only the data of the locks, which the
        // C library allows after its own handlers.
        unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
    });
}

fn registered_locks() -> impl Iterator<Item = &'static dyn Lock> {
    LOCKS.iter().filter_map(|entry| entry.get().copied())
}

extern "C" fn prepare() {
    if DEPTH.replace(DEPTH.get() + 1) > 0 {
        return;
    }
    let mut locks: Vec<&'static dyn Lock> = registered_locks().collect();
    locks.sort_by_key(|lock| lock.level());
    let deadline = Instant::now() + TIMEOUT;
    IS_FORKING.store(true, Ordering::SeqCst);
    while GUARDS.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_micros(20));
    }
    // Guards and locks have separate timeouts.
    let deadline = Instant::now() + TIMEOUT;
    let mut held = Vec::with_capacity(locks.len());
    for lock in locks {
        let mut acquired = lock.try_hold();
        while !acquired && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(20));
            acquired = lock.try_hold();
        }
        if acquired {
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
    GUARDS.store(0, Ordering::SeqCst);
    IS_FORKING.store(false, Ordering::SeqCst);
    let held = HELD_LOCKS.take();
    let next = generation() % 127 + 1;
    GENERATION.store(next, Ordering::Relaxed);
    let address = |lock: &'static dyn Lock| std::ptr::from_ref(lock).cast::<()>();
    for lock in registered_locks() {
        lock.continue_in_child(held.iter().any(|other| address(*other) == address(lock)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static COUNTER: ForkMutex<u64> = ForkMutex::new(|| 0, 0, Level::Last, InChild::Keep);
    static RENEWED: ForkMutex<u64> = ForkMutex::new(|| 7, 0, Level::Planning, InChild::Renew);

    #[test]
    fn a_child_can_acquire_locks_that_other_threads_use() {
        /// Stops the threads on drop, even after a panic, since the scope joins them.
        struct StopOnDrop<'a>(&'a AtomicBool);
        impl Drop for StopOnDrop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }

        let stop = AtomicBool::new(false);
        // A lock that was never acquired is not registered.
        *COUNTER.lock() += 1;
        *RENEWED.lock() = 1;
        std::thread::scope(|scope| {
            let _stop_on_drop = StopOnDrop(&stop);
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
                // SAFETY: the child acquires two locks and exits without running any of the parent's code.
                let child = unsafe { libc::fork() };
                assert!(child >= 0);
                if child == 0 {
                    drop(COUNTER.lock());
                    let code = i32::from(*RENEWED.lock() != 7);
                    // SAFETY: exits the child.
                    unsafe { libc::_exit(code) };
                }
                let mut status = 0;
                // SAFETY: waits for the child forked above.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0);
            }
        });
    }
}
