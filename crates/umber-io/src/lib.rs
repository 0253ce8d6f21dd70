//! Files to arrays and back.
//!
//! Imports `umber-core` and `umber-types`.
//!
//! [`load`] reads any format; each module reads and writes one. Arrays are mapped on loading: their memory is the file itself,
//! read on first use and shared with every process that maps the file. [`Source`] determines where bytes come from and
//! whether they are mapped or copied, [`Target`] where they are written and who receives the progress.
//!
//! Readers validate everything: a damaged file gives an error with the file and the fault, never a crash. Writers write to a
//! temporary file and rename it, so that a file is complete or unchanged.

mod atomic_write;
mod direct_io;
mod format;
pub mod functions;
pub mod gguf;
pub mod npy;
mod npy_header;
pub mod npz;
mod pipe;
pub mod safetensors;
mod signature;
mod source;
mod target;
mod zip;

pub use format::{Format, Loaded, Value, load, read};
pub use source::{Mapping, Source};
pub use target::{Progress, Put, Target};

use std::io;

use umber_core::graph::ArrayInternals;
use umber_core::{Array, Shape};
use umber_types::{Error, ErrorKind, Result, ensure, error};

/// An error of the operating system about a file.
fn io_error(op: &str, name: &str, error: &io::Error) -> Error {
    let verb = if op == "load" { "read" } else { "write" };
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let kind = if is_missing { ErrorKind::NotFound } else { ErrorKind::Io };
    Error::new(kind, format!("cannot {verb} {name}: {error}")).with_op(op)
}

/// The error with the operation `op` and the file `name`.
fn about(op: &str, name: &str, error: Error) -> Error {
    error.with_op(op).about(name)
}

/// The array of a file with this name.
fn named<'a>(arrays: &'a [(String, Array)], name: &str) -> Result<&'a Array> {
    const MAX_SHOWN: usize = 8;
    if let Some((_, array)) = arrays.iter().find(|(other, _)| other == name) {
        return Ok(array);
    }
    let shown: Vec<_> = arrays.iter().take(MAX_SHOWN).map(|(name, _)| format!("'{name}'")).collect();
    let list = match arrays.len() {
        0 => "none".to_owned(),
        1..=MAX_SHOWN => shown.join(", "),
        count => format!("{}, … ({count} arrays)", shown.join(", ")),
    };
    Err(error!(Value("load"), "no array is named '{name}'; the file has {list}"))
}

/// Maximum number of axes; a file with more is considered damaged.
const MAX_AXES: usize = 64;

/// The shape with lengths from a file.
fn shape_of(lengths: &[u64]) -> Result<Shape> {
    ensure!(lengths.len() <= MAX_AXES, Value, "array of {} axes; the maximum is {MAX_AXES}", lengths.len());
    let signed: Vec<i64> = lengths.iter().map(|&length| i64::try_from(length).unwrap_or(i64::MAX)).collect();
    Shape::checked("load", &signed).map_err(|_| {
        error!(
            Value,
            "shape {} is too large to address",
            Shape::new(lengths.iter().map(|&length| length as usize))
        )
    })
}

/// The bytes of a contiguous evaluated array.
fn bytes_of(dense: &Array) -> &[u8] {
    let host = dense.storage().and_then(umber_core::graph::Storage::host);
    host.and_then(|host| host.dense_bytes(dense.dtype())).unwrap_or(&[])
}
