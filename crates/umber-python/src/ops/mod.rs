//! The functions of `umber.core`, a file a group as in the core's `ops`.

mod array_methods;
mod contraction;
mod convolution;
mod creation;
mod elementwise;
mod fft;
mod indexing;
mod linalg;
mod random;
mod reductions;
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
    contraction::register(module)?;
    linalg::register(module)?;
    random::register(module)?;
    fft::register(module)?;
    convolution::register(module)?;
    Ok(())
}
