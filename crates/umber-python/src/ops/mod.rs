//! The functions of `umber.core`, a file a group as in the core's `ops`.

mod array_methods;
mod choosing;
mod contraction;
mod creation;
mod editing;
mod elementwise;
mod histograms;
mod index_grids;
mod indexing;
mod random;
mod reductions;
mod searching;
mod sets;
mod shaping;
mod sorting;
mod types;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    types::register(module)?;
    creation::register(module)?;
    elementwise::register(module)?;
    reductions::register(module)?;
    shaping::register(module)?;
    indexing::register(module)?;
    sorting::register(module)?;
    searching::register(module)?;
    sets::register(module)?;
    histograms::register(module)?;
    choosing::register(module)?;
    editing::register(module)?;
    index_grids::register(module)?;
    contraction::register(module)?;
    random::register(module)
}
