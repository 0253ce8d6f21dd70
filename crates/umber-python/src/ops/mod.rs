//! The functions of `umber.core`, a file a group as in the core's `ops`.

mod array_methods;
mod contraction;
mod creation;
mod elementwise;
mod indexing;
mod random;
mod reductions;
mod shaping;
mod sorting;
mod special;
mod types;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    types::register(module)?;
    creation::register(module)?;
    elementwise::register(module)?;
    special::register(module)?;
    reductions::register(module)?;
    shaping::register(module)?;
    indexing::register(module)?;
    sorting::register(module)?;
    contraction::register(module)?;
    random::register(module)
}
