//! Floor 6: what is in `umber.core`. The module table, nothing else.

mod args;
mod array;
mod array_like;
mod attached;
mod boundary;
mod convert;
mod dtype;
mod enter;
mod enumeration;
mod environment;
mod explain;
mod indexing;
mod interop;
mod io;
mod made;
mod memory;
mod named_tuple;
mod namespace;
mod narrowing;
mod operators;
mod ops;
mod outside;
mod printing;
mod random_key;
mod streams;
mod transforms;
mod trees;

use pyo3::prelude::*;

/// Put everything into the module.
///
/// # Errors
/// What Python raises where memory is short.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    attached::require_lock(module.py())?;
    environment::check(module.py())?;
    enter::register(module)?;
    dtype::register(module)?;
    streams::register(module)?;
    array::register(module)?;
    narrowing::register(module)?;
    array_like::register(module)?;
    indexing::register(module)?;
    interop::register(module)?;
    io::register(module)?;
    transforms::register(module)?;
    memory::register(module)?;
    printing::register(module)?;
    namespace::register(module)?;
    ops::register(module)?;
    boundary::guard(module)?;
    Ok(())
}
