//! Floor 3: files to arrays and back.
//!
//! Readers check everything a file says before they believe it: a damaged file is an error, never a crash. Writers
//! write beside the target and rename, so that a file is whole or not there.

pub mod functions;
pub mod npy;
pub mod safetensors;
mod whole;

use umber_types::Error;

/// An operating-system error about a path.
fn io_error(op: &str, path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::Io(format!("[{op}] {}: {error}", path.display()))
}
