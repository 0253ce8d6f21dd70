//! The shared library of `umber.core`. Linking waits until all other crates are compiled, so this crate contains
//! only the entry point.
//!
//! Imports `umber-python`.

use pyo3::prelude::*;

/// Lazy, differentiable arrays that share memory.
// The module relies on the GIL (`gil_cell.rs`); with `gil_used`, a free-threaded interpreter enables its GIL on import.
#[pymodule(gil_used = true)]
#[pyo3(name = "core")]
fn core_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    umber_python::fill(module)
}
