//! Floor 7: the shared library of `umber.core`. A crate that is linked waits for all others to be compiled, so
//! nothing but this is in it.

use pyo3::prelude::*;

/// Lazy, differentiable arrays that share memory.
// The module relies on the interpreter lock (`gil_cell.rs`), which a free-threaded interpreter has again once it imports this.
#[pymodule(gil_used = true)]
#[pyo3(name = "core")]
fn core_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    umber_python::fill(module)
}
