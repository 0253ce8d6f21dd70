//! Floor 5: the extension module `umber.core`. The module table, nothing else.

mod args;
mod array;
mod convert;
mod dtype;
mod enter;
mod interop;
mod memory;
mod operators;
mod ops;
mod printing;
mod streams;

use pyo3::prelude::*;

/// Lazy, differentiable arrays that share memory.
#[pymodule]
#[pyo3(name = "core")]
fn core_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    enter::register(module)?;
    dtype::register(module)?;
    streams::register(module)?;
    array::register(module)?;
    interop::register(module)?;
    memory::register(module)?;
    printing::register(module)?;
    ops::register(module)?;
    Ok(())
}
