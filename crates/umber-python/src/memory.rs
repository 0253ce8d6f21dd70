//! Memory statistics and limits.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::backend::{Allocator, Cpu, backend};
use umber_core::device;
use umber_core::graph::ArrayInternals;

use crate::enter::to_exception;
use crate::transforms::eval::arrays_of;

/// The memory of the device that this thread's operations run on.
fn allocator() -> &'static dyn Allocator {
    backend(device::default_device()).map_or(&Cpu, |backend| backend.allocator())
}

/// Bytes in use by arrays, on the default device.
#[pyfunction]
fn get_active_memory() -> usize {
    allocator().active()
}

/// The most bytes in use at once since the start or `reset_peak_memory`.
#[pyfunction]
fn get_peak_memory() -> usize {
    allocator().peak()
}

/// Measure the peak anew from what is in use now.
#[pyfunction]
fn reset_peak_memory() {
    allocator().reset_peak();
}

/// Bytes kept for reuse.
#[pyfunction]
fn get_cache_memory() -> usize {
    allocator().cached()
}

/// The most bytes that arrays may use; an allocation beyond it raises `MemoryError`.
#[pyfunction]
fn get_memory_limit() -> usize {
    allocator().limit()
}

/// A number of bytes.
fn bytes(op: &str, limit: i128) -> PyResult<usize> {
    usize::try_from(limit).map_err(|_| {
        to_exception(umber_core::types::error!(
            Overflow(op),
            "limit must be between 0 and {}, got {limit}",
            usize::MAX
        ))
    })
}

/// Set the memory limit in bytes; returns the one before.
#[pyfunction]
fn set_memory_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator().set_limit(bytes("set_memory_limit", limit)?))
}

/// Set how many bytes may be kept for reuse; returns the limit before.
#[pyfunction]
fn set_cache_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator().set_cache_limit(bytes("set_cache_limit", limit)?))
}

/// Bytes of the memory behind arrays, given one by one or in nested lists, tuples and dicts; anything else in there is left
/// alone.
///
/// Memory that several arrays share counts once, and as a whole even where they are parts of it. Raises `ValueError` for an
/// array that is not evaluated.
#[pyfunction]
#[pyo3(signature = (*args))]
fn get_array_buffer_size(args: &Bound<'_, PyTuple>) -> PyResult<usize> {
    let mut sizes = HashMap::new();
    for array in arrays_of(args.py(), args)? {
        let Some(storage) = array.storage() else {
            return Err(PyValueError::new_err(format!(
                "[get_array_buffer_size] array of shape {} is not evaluated; call mx.eval first",
                array.shape()
            )));
        };
        sizes.insert(Arc::as_ptr(storage.buffer()), storage.buffer().bytes());
    }
    Ok(sizes.values().sum())
}

/// Set how much memory is to stay resident; returns the limit before.
///
/// Only the memory of some GPUs can be kept resident, so the limit of this build is always 0.
#[pyfunction]
fn set_wired_limit(limit: i128) -> PyResult<usize> {
    bytes("set_wired_limit", limit)?;
    Ok(0)
}

/// Give everything kept for reuse back to the system.
#[pyfunction]
fn clear_cache() {
    allocator().clear_cache();
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
        wrap_pyfunction!(get_array_buffer_size, module)?,
        wrap_pyfunction!(set_wired_limit, module)?,
        wrap_pyfunction!(clear_cache, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
