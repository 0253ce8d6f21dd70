//! Detection of writes into array objects that were created outside of the function being compiled.
//!
//! A traced value that is written into such an object would have no value after the trace, so the write raises, unless the
//! object is listed in `outputs`.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

thread_local! {
    /// The number of this thread's current trace, or 0.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<u64> = const { Cell::new(0) };
    /// Addresses of outside objects that may be written.
    static OUTPUTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The number of the trace in which array objects are created now.
#[inline]
pub(crate) fn current() -> u64 {
    CURRENT.get()
}

/// Guard for the trace of a function that is being compiled; dropping it ends the trace.
pub(crate) struct CompileScope {
    previous: u64,
    previous_outputs: Vec<usize>,
}

/// Begin to trace a function that may write into the objects at these addresses.
pub(crate) fn enter(outputs: Vec<usize>) -> CompileScope {
    LAST.set(LAST.get() + 1);
    CompileScope { previous: CURRENT.replace(LAST.get()), previous_outputs: OUTPUTS.replace(outputs) }
}

impl Drop for CompileScope {
    fn drop(&mut self) {
        CURRENT.set(self.previous);
        OUTPUTS.set(std::mem::take(&mut self.previous_outputs));
    }
}

/// Raise if a traced value is written into the object at `address`, which was created in the trace `born`, outside of this trace.
pub(crate) fn check_write(address: usize, born: u64) -> PyResult<()> {
    if current() == born || current() == 0 || OUTPUTS.with_borrow(|outputs| outputs.contains(&address)) {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "[compile] a function that is being compiled wrote into an array from outside, which would have no value \
         afterwards; name the array in outputs, or return the new value",
    ))
}
