//! Memory statistics and limits.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber::memory::allocator;

/// Bytes in use by arrays.
#[pyfunction]
fn get_active_memory() -> usize {
    allocator::get_active_memory()
}

/// The most bytes in use at once since the start or `reset_peak_memory`.
#[pyfunction]
fn get_peak_memory() -> usize {
    allocator::get_peak_memory()
}

/// Measure the peak anew from what is in use now.
#[pyfunction]
fn reset_peak_memory() {
    allocator::reset_peak_memory();
}

/// Bytes kept for reuse.
#[pyfunction]
fn get_cache_memory() -> usize {
    allocator::get_cache_memory()
}

/// The most bytes that arrays may use; an allocation beyond it raises `MemoryError`.
#[pyfunction]
fn get_memory_limit() -> usize {
    allocator::get_memory_limit()
}

/// A number of bytes.
fn bytes(op: &str, limit: i128) -> PyResult<usize> {
    usize::try_from(limit).map_err(|_| {
        PyValueError::new_err(format!("[{op}] got a limit of {limit} bytes, expected zero or more"))
    })
}

/// Set the memory limit in bytes; returns the one before.
#[pyfunction]
fn set_memory_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator::set_memory_limit(bytes("set_memory_limit", limit)?))
}

/// Set how many bytes may be kept for reuse; returns the limit before.
#[pyfunction]
fn set_cache_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator::set_cache_limit(bytes("set_cache_limit", limit)?))
}

/// Give everything kept for reuse back to the system.
#[pyfunction]
fn clear_cache() {
    allocator::clear_cache();
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(get_active_memory, module)?,
        wrap_pyfunction!(get_peak_memory, module)?,
        wrap_pyfunction!(reset_peak_memory, module)?,
        wrap_pyfunction!(get_cache_memory, module)?,
        wrap_pyfunction!(get_memory_limit, module)?,
        wrap_pyfunction!(set_memory_limit, module)?,
        wrap_pyfunction!(set_cache_limit, module)?,
        wrap_pyfunction!(clear_cache, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
