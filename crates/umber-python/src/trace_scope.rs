//! Outside: array objects that a function being compiled did not make, and may therefore not write into.
//!
//! What it writes there has no value once the trace is over, so the write itself is refused, unless the object is named
//! among the outputs.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

thread_local! {
    /// The number of the trace this thread is in; none is 0.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<u64> = const { Cell::new(0) };
    /// Addresses of objects from outside that may be written.
    static OUTPUTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The trace that array objects are made in now.
#[inline]
pub(crate) fn current() -> u64 {
    CURRENT.get()
}

/// A function is being compiled, until dropped.
pub(crate) struct CompileScope {
    before: u64,
    outputs_before: Vec<usize>,
}

/// Begin to trace a function that may write into the objects at these addresses.
pub(crate) fn enter(outputs: Vec<usize>) -> CompileScope {
    LAST.set(LAST.get() + 1);
    CompileScope { before: CURRENT.replace(LAST.get()), outputs_before: OUTPUTS.replace(outputs) }
}

impl Drop for CompileScope {
    fn drop(&mut self) {
        CURRENT.set(self.before);
        OUTPUTS.set(std::mem::take(&mut self.outputs_before));
    }
}

/// Refuse to write a traced value into the object at `address`, made in the trace `born`, if that is from outside.
pub(crate) fn check_write(address: usize, born: u64) -> PyResult<()> {
    if current() == born || current() == 0 || OUTPUTS.with_borrow(|outputs| outputs.contains(&address)) {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "[compile] a function that is being compiled wrote into an array from outside, which would have no value \
         afterwards; name the array in outputs, or return the new value",
    ))
}
