//! Errors under the name of the function that a user called.

use umber_types::{Error, Result};

/// `result` with the name in front of its error's text, `[name] …`, exchanged for `op`.
pub(super) fn with_op<T>(op: &str, result: Result<T>) -> Result<T> {
    result.map_err(|error: Error| error.with_op(op))
}
