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

/// Allocator of the device that this thread's operations run on.
fn allocator() -> &'static dyn Allocator {
    backend(device::default_device()).map_or(&Cpu, |backend| backend.allocator())
}

/// Return the number of bytes that arrays occupy on the default device.
///
/// Returns
/// -------
/// int
///
/// See Also
/// --------
/// get_peak_memory, get_cache_memory, set_memory_limit
///
/// Examples
/// --------
/// >>> x = mx.zeros(1000)
/// >>> mx.eval(x)
/// >>> mx.get_active_memory() >= x.nbytes
/// True
#[pyfunction]
fn get_active_memory() -> usize {
    allocator().active()
}

/// Return the peak of the active memory in bytes since the start or the last reset.
///
/// Returns
/// -------
/// int
///
/// See Also
/// --------
/// reset_peak_memory, get_active_memory
///
/// Examples
/// --------
/// >>> mx.get_peak_memory() >= mx.get_active_memory()
/// True
#[pyfunction]
fn get_peak_memory() -> usize {
    allocator().peak()
}

/// Reset the peak memory to the memory that is active now.
///
/// See Also
/// --------
/// get_peak_memory
///
/// Examples
/// --------
/// >>> mx.reset_peak_memory()
#[pyfunction]
fn reset_peak_memory() {
    allocator().reset_peak();
}

/// Return the number of bytes that are cached for reuse.
///
/// Returns
/// -------
/// int
///
/// See Also
/// --------
/// clear_cache, set_cache_limit
///
/// Examples
/// --------
/// >>> mx.clear_cache()
/// >>> mx.get_cache_memory()
/// 0
#[pyfunction]
fn get_cache_memory() -> usize {
    allocator().cached()
}

/// Return the memory limit in bytes.
///
/// Returns
/// -------
/// int
///
/// See Also
/// --------
/// set_memory_limit
///
/// Examples
/// --------
/// >>> mx.get_memory_limit() > 0
/// True
#[pyfunction]
fn get_memory_limit() -> usize {
    allocator().limit()
}

/// Parse a number of bytes.
fn bytes(op: &str, limit: i128) -> PyResult<usize> {
    usize::try_from(limit).map_err(|_| {
        to_exception(umber_core::types::error!(
            Overflow(op),
            "limit must be between 0 and {}, got {limit}",
            usize::MAX
        ))
    })
}

/// Set the memory limit, and return the previous one.
///
/// Parameters
/// ----------
/// limit : int
///     Maximum number of bytes that arrays may occupy.
///
/// Returns
/// -------
/// int
///     Previous limit in bytes.
///
/// Raises
/// ------
/// OverflowError
///     If `limit` is negative or does not fit 64 bits.
///
/// See Also
/// --------
/// get_memory_limit, set_cache_limit
///
/// Notes
/// -----
/// An allocation that would exceed the limit raises MemoryError.
///
/// Examples
/// --------
/// >>> before = mx.set_memory_limit(8 * 2**30)
/// >>> mx.set_memory_limit(before)
/// 8589934592
#[pyfunction]
fn set_memory_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator().set_limit(bytes("set_memory_limit", limit)?))
}

/// Set the maximum number of bytes to cache for reuse, and return the previous limit.
///
/// Parameters
/// ----------
/// limit : int
///     Maximum number of cached bytes.
///
/// Returns
/// -------
/// int
///     Previous limit in bytes.
///
/// Raises
/// ------
/// OverflowError
///     If `limit` is negative or does not fit 64 bits.
///
/// See Also
/// --------
/// clear_cache, get_cache_memory
///
/// Examples
/// --------
/// >>> before = mx.set_cache_limit(2**30)
/// >>> mx.set_cache_limit(before)
/// 1073741824
#[pyfunction]
fn set_cache_limit(limit: i128) -> PyResult<usize> {
    Ok(allocator().set_cache_limit(bytes("set_cache_limit", limit)?))
}

/// Return the number of bytes of the buffers behind arrays.
///
/// Parameters
/// ----------
/// *args : array or pytree of arrays
///     Evaluated arrays, or nested lists, tuples and dicts of them. Other objects are ignored.
///
/// Returns
/// -------
/// int
///
/// Raises
/// ------
/// ValueError
///     If an array is not evaluated.
///
/// See Also
/// --------
/// get_active_memory
///
/// Notes
/// -----
/// A buffer that several arrays share is counted once. A view counts as its whole buffer.
///
/// Examples
/// --------
/// >>> x = mx.zeros(1000)
/// >>> mx.eval(x)
/// >>> mx.get_array_buffer_size(x, x[:10])
/// 4000
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

/// Set how much memory may be kept resident, and return the previous limit.
///
/// Parameters
/// ----------
/// limit : int
///     Number of bytes.
///
/// Returns
/// -------
/// int
///     Always 0.
///
/// Raises
/// ------
/// OverflowError
///     If `limit` is negative or does not fit 64 bits.
///
/// Notes
/// -----
/// Only the memory of some GPUs can be kept resident. In this build the call has no effect.
///
/// Examples
/// --------
/// >>> mx.set_wired_limit(2**30)
/// 0
#[pyfunction]
fn set_wired_limit(limit: i128) -> PyResult<usize> {
    bytes("set_wired_limit", limit)?;
    Ok(0)
}

/// Release all cached memory to the system.
///
/// See Also
/// --------
/// get_cache_memory, set_cache_limit
///
/// Examples
/// --------
/// >>> mx.clear_cache()
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
