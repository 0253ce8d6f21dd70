//! The contents of `umber.core`. This file only lists and registers the modules.
//!
//! Imports the framework crates; only this crate and `umber-module` may import PyO3.

mod args;
mod array;
mod array_like;
mod container;
mod convert;
mod data;
mod debug_nans;
mod dtype;
mod enter;
mod enumeration;
mod environment;
mod error_text;
mod error_trampolines;
mod gil_cell;
mod indexing;
mod interop;
mod io;
mod memory;
mod named_tuple;
mod namespace;
mod narrow_x64;
mod new_array;
mod operators;
mod ops;
mod printing;
mod profile;
mod pytree;
mod random_key;
mod streams;
mod trace_scope;
mod transforms;

use pyo3::prelude::*;

/// Add all classes, functions and constants to the module.
///
/// # Errors
/// Exceptions that Python raises while they are added, such as MemoryError.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gil_cell::require_lock(module.py())?;
    environment::check(module.py())?;
    enter::register(module)?;
    dtype::register(module)?;
    streams::register(module)?;
    array::register(module)?;
    narrow_x64::register(module)?;
    array_like::register(module)?;
    indexing::register(module)?;
    interop::register(module)?;
    io::register(module)?;
    container::register(module)?;
    transforms::register(module)?;
    memory::register(module)?;
    printing::register(module)?;
    debug_nans::register(module)?;
    profile::register(module)?;
    data::register(module)?;
    namespace::register(module)?;
    ops::register(module)?;
    error_trampolines::guard(module)?;
    Ok(())
}
