//! Errors that name the function the user called.

use umber_types::{Error, Result};

/// Replace the function's name in the prefix of the error's text, `[name] …`, by `op`.
pub(super) fn with_op<T>(op: &str, result: Result<T>) -> Result<T> {
    result.map_err(|error: Error| error.with_op(op))
}
