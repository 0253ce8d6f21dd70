//! The functions of `umber.core`, a file a group as in the core's `ops`.

mod elementwise;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    elementwise::register(module)
}
