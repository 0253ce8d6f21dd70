//! A value that changes only under the interpreter lock, so that whoever holds that reads it without another.
//!
//! Invariant: it is written by threads that hold the interpreter lock and `write_lock`, and read by threads that hold either. The
//! module asks for the interpreter lock where that is optional, and [`require_lock`] refuses an interpreter that runs without.

use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// Refuse an interpreter that runs without its lock.
///
/// # Errors
/// ImportError, where a free-threaded interpreter was told to stay without it.
pub(crate) fn require_lock(py: Python<'_>) -> PyResult<()> {
    let Some(is_enabled) = py.import("sys")?.getattr_opt("_is_gil_enabled")? else { return Ok(()) };
    if is_enabled.call0()?.is_truthy()? {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "[umber] the interpreter runs without its lock (GIL), which umber relies on; unset PYTHON_GIL and -X gil",
    ))
}

/// What can be copied without Python code being run.
pub(crate) trait Handle: Clone {}

impl Handle for umber_core::Array {}

/// See the head of the file.
pub(crate) struct GilCell<T> {
    value: UnsafeCell<T>,
    write_lock: Mutex<()>,
}

// SAFETY: the invariant in the head of the file keeps readers and writers apart.
unsafe impl<T: Send + Sync> Sync for GilCell<T> {}

impl<T: Handle> GilCell<T> {
    /// A value.
    #[inline]
    pub(crate) const fn new(value: T) -> GilCell<T> {
        GilCell { value: UnsafeCell::new(value), write_lock: Mutex::new(()) }
    }

    fn write_lock(&self) -> MutexGuard<'_, ()> {
        self.write_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value now, on any thread.
    #[inline]
    pub(crate) fn get(&self) -> T {
        let _write = self.write_lock();
        // SAFETY: nobody writes while this thread has the turn.
        unsafe { (*self.value.get()).clone() }
    }

    /// The value now, without a lock.
    #[inline]
    pub(crate) fn get_cloned(&self, py: Python<'_>) -> T {
        // SAFETY: values are handles, which run no Python code as they are copied.
        unsafe { self.with_ref(py, T::clone) }
    }

    /// What `of` says of the value now, without a copy of its own.
    ///
    /// # Safety
    /// `of` runs no Python code and does not let go of the interpreter lock.
    #[inline]
    pub(crate) unsafe fn with_ref<A>(&self, _py: Python<'_>, of: impl FnOnce(&T) -> A) -> A {
        // SAFETY: nobody writes while this thread has the interpreter lock, which it has until `of` answers.
        of(unsafe { &*self.value.get() })
    }

    /// Put another value in place; answers the one before.
    pub(crate) fn replace(&self, _py: Python<'_>, value: T) -> T {
        let _write = self.write_lock();
        // SAFETY: this thread has the turn and the interpreter lock.
        unsafe { std::mem::replace(&mut *self.value.get(), value) }
    }
}
