//! A lock that tells a thread that would wait for itself, and that ends when the user interrupts the program.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use umber_core::frontend::check_interrupted;
use umber_kernels::fork::{ForkMutex, InChild, Level, generation};

use crate::error::Result;
use crate::fault;
use crate::run::task::SIGNAL_INTERVAL;

/// What a thread does, for others that wait for it.
#[derive(Default)]
struct Thread {
    /// The pool for whose results it waits; zero for none.
    waits_for: AtomicUsize,
}

thread_local! {
    static THREAD: Arc<Thread> = Arc::default();
    /// The pool that the thread belongs to; zero for none.
    static OWN_POOL: Cell<usize> = const { Cell::new(0) };
}

/// Forks are counted from the first use of such a lock on.
static COUNTS_FORKS: ForkMutex<()> = ForkMutex::new(|| (), (), Level::Last, InChild::Keep);

/// Say that the calling thread belongs to the pool at this address.
pub(super) fn belong_to(pool: usize) {
    OWN_POOL.set(pool);
}

/// Run `body`, in which the calling thread waits for the pool at this address.
pub(super) fn waiting_for<T>(pool: usize, body: impl FnOnce() -> T) -> T {
    let thread = THREAD.with(Arc::clone);
    let before = thread.waits_for.swap(pool, Ordering::SeqCst);
    let result = body();
    thread.waits_for.store(before, Ordering::SeqCst);
    result
}

/// Who uses a value, and how many threads wait for it.
#[derive(Default)]
struct Queue {
    holder: Option<Arc<Thread>>,
    waiting: usize,
}

/// Guards a value that one thread at a time uses.
pub(crate) struct Gate<T> {
    queue: Mutex<Queue>,
    freed: Condvar,
    value: Mutex<T>,
    /// The forks before it was made. Cheaper to ask for than the process.
    generation: u8,
}

/// The right to use the value of a gate.
pub(crate) struct Passed<'a, T> {
    gate: &'a Gate<T>,
    /// Always there before the drop.
    value: Option<MutexGuard<'a, T>>,
}

impl<T> Gate<T> {
    pub(crate) fn new(value: T) -> Gate<T> {
        drop(COUNTS_FORKS.lock());
        Gate {
            queue: Mutex::default(),
            freed: Condvar::new(),
            value: Mutex::new(value),
            generation: generation(),
        }
    }

    /// Wait for the value.
    ///
    /// # Errors
    /// If the holder waits for the calling thread, or is a thread that this child of a process does not have, or the user interrupts
    /// the program.
    pub(crate) fn pass(&self) -> Result<Passed<'_, T>> {
        if self.generation != generation() {
            return self.pass_in_child();
        }
        let own = THREAD.with(Arc::clone);
        let mut queue = self.lock();
        while let Some(other) = &queue.holder {
            let waits_for = other.waits_for.load(Ordering::SeqCst);
            if Arc::ptr_eq(other, &own) || (waits_for != 0 && waits_for == OWN_POOL.get()) {
                return Err(fault!(
                    Runtime,
                    "a function of a pipeline uses the stream that waits for it; give the function what it needs, or use the \
                     stream after the sample is read"
                ));
            }
            queue.waiting += 1;
            let waited = self.freed.wait_timeout(queue, SIGNAL_INTERVAL);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            queue = guard;
            queue.waiting -= 1;
            if timeout.timed_out() && OWN_POOL.get() == 0 {
                drop(queue);
                check_interrupted()?;
                queue = self.lock();
            }
        }
        queue.holder = Some(own);
        drop(queue);
        Ok(Passed { gate: self, value: Some(self.value.lock().unwrap_or_else(PoisonError::into_inner)) })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Threads of the parent may have held either lock.
    fn pass_in_child(&self) -> Result<Passed<'_, T>> {
        let until = Instant::now() + Duration::from_millis(200);
        loop {
            let queue = match self.queue.try_lock() {
                Ok(queue) => Some(queue),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(mut queue) = queue.filter(|queue| queue.holder.is_none())
                && let Ok(value) = self.value.try_lock()
            {
                queue.holder = Some(THREAD.with(Arc::clone));
                return Ok(Passed { gate: self, value: Some(value) });
            }
            if Instant::now() >= until {
                return Err(fault!(
                    Runtime,
                    "the process that forked this one was reading this stream; make it again in the child"
                ));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<T> Deref for Passed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("only the drop takes it"),
        }
    }
}

impl<T> DerefMut for Passed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.value {
            Some(value) => value,
            None => unreachable!("only the drop takes it"),
        }
    }
}

impl<T> Drop for Passed<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        let mut queue = self.gate.lock();
        queue.holder = None;
        let is_awaited = queue.waiting > 0;
        drop(queue);
        // To wake nobody is a call of the system, too.
        if is_awaited {
            self.gate.freed.notify_one();
        }
    }
}
