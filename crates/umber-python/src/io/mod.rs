//! Files: `load` and the save functions.

mod load;
mod path_or_file;
mod save;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    load::register(module)?;
    save::register(module)
}
