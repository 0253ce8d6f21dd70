//! Memory shared with other libraries: exports, imports, and write permissions.
//!
//! Every export holds a [`umber::memory::Lease`] on the buffer, so the memory outlives the array and is never
//! recycled while a view exists; every import holds a reference to its producer until the last array over it is dropped.

mod arrow;
mod buffer;
mod dlpack;
mod export;
mod foreign_buffer;
mod formats;
mod import;
mod memory_layout;
mod native_caller;
mod ndarray;
mod numpy;
mod numpy_functions;

use pyo3::prelude::*;

pub(crate) use arrow::{TableColumn, import_table};
pub(crate) use dlpack::before_dlpack;
pub(crate) use foreign_buffer::Copying;
pub(crate) use formats::struct_format;
pub(crate) use import::from_shared;
pub(crate) use ndarray::from_ndarray;
pub(crate) use numpy::scalar as numpy_scalar;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    export::register(module)?;
    import::register(module)?;
    memory_layout::register(module)?;
    dlpack::register(module)?;
    arrow::register(module)
}
