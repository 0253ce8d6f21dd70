//! `umber.data`: pipelines of samples that feed arrays.

// Examples in Python index dicts by texts.
#![allow(clippy::doc_link_with_quotes)]

mod buffer;
mod by_rank;
mod callable;
mod ending;
mod errors;
mod features;
mod files;
mod operations;
mod readers;
mod samples;
mod sources;
mod state;
mod stream;
mod text;

use std::time::Duration;

use pyo3::prelude::*;

/// Stop the threads of all pipelines; called before the interpreter ends.
#[pyfunction]
fn _close(py: Python<'_>) {
    ending::end(py, Duration::from_secs(5));
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let data = PyModule::new(py, "_data")?;
    data.setattr("__name__", "umber.core._data")?;
    data.add_class::<buffer::PyBuffer>()?;
    data.add_class::<stream::PyStream>()?;
    sources::register(&data)?;
    readers::register(&data)?;
    text::register(&data)?;
    features::register(&data)?;
    let close = wrap_pyfunction!(_close, &data)?;
    data.add("_close", close)?;
    module.add("_data", &data)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core._data", data)
}
