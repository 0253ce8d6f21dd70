//! A value that is written only under the GIL, so that a thread that holds the GIL reads it without another lock.
//!
//! Invariant: writers hold both the GIL and `write_lock`; readers hold either of them. The module declares that it uses the GIL,
//! which enables it in a free-threaded interpreter, and [`require_lock`] rejects an interpreter that still runs without it.

use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// Reject an interpreter that runs without the GIL.
///
/// # Errors
/// ImportError, if a free-threaded interpreter was configured to keep the GIL disabled.
pub(crate) fn require_lock(py: Python<'_>) -> PyResult<()> {
    let Some(is_enabled) = py.import("sys")?.getattr_opt("_is_gil_enabled")? else { return Ok(()) };
    if is_enabled.call0()?.is_truthy()? {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "[umber] the interpreter runs without its lock (GIL), which umber relies on; unset PYTHON_GIL and -X gil",
    ))
}

/// A type whose `clone` runs no Python code.
pub(crate) trait Handle: Clone {}

impl Handle for umber_core::Array {}

/// A cell that is synchronised by the GIL; see the module documentation for its invariant.
pub(crate) struct GilCell<T> {
    value: UnsafeCell<T>,
    write_lock: Mutex<()>,
}

// SAFETY: by the module invariant, no thread reads while another one writes.
unsafe impl<T: Send + Sync> Sync for GilCell<T> {}

impl<T: Handle> GilCell<T> {
    /// Create a cell.
    #[inline]
    pub(crate) const fn new(value: T) -> GilCell<T> {
        GilCell { value: UnsafeCell::new(value), write_lock: Mutex::new(()) }
    }

    fn write_lock(&self) -> MutexGuard<'_, ()> {
        self.write_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current value, on any thread.
    #[inline]
    pub(crate) fn get(&self) -> T {
        let _write = self.write_lock();
        // SAFETY: this thread holds `write_lock`, so no other thread writes.
        unsafe { (*self.value.get()).clone() }
    }

    /// The current value, read under the GIL without locking.
    #[inline]
    pub(crate) fn get_cloned(&self, py: Python<'_>) -> T {
        // SAFETY: the clone of a `Handle` runs no Python code.
        unsafe { self.with_ref(py, T::clone) }
    }

    /// The result of `of` for a reference to the current value, without cloning it.
    ///
    /// # Safety
    /// `of` runs no Python code and does not release the GIL.
    #[inline]
    pub(crate) unsafe fn with_ref<A>(&self, _py: Python<'_>, of: impl FnOnce(&T) -> A) -> A {
        // SAFETY: this thread holds the GIL until `of` returns, so no other thread writes.
        of(unsafe { &*self.value.get() })
    }

    /// Replace the value and return the previous one.
    pub(crate) fn replace(&self, _py: Python<'_>, value: T) -> T {
        let _write = self.write_lock();
        // SAFETY: this thread holds `write_lock` and the GIL.
        unsafe { std::mem::replace(&mut *self.value.get(), value) }
    }
}
