//! The functions of `umber.core`, with one file for each group, as in the core's `ops`.

mod aliases;
mod array_methods;
mod bits;
mod callables;
mod contraction;
mod convolution;
mod creation;
mod elementwise;
mod fast;
mod fft;
mod histograms;
mod index_grids;
mod indexing;
mod insert_delete;
mod interpolation;
mod linalg;
mod masked_reductions;
mod nan_reductions;
mod ndarray_methods;
mod polynomials;
mod quantiles;
mod quantization;
mod random;
mod random_families;
mod random_state;
mod reductions;
mod searching;
mod segments;
mod selecting;
mod sets;
mod shaping;
mod sorting;
mod special;
mod stacking;
mod statistics;
mod types;
mod windows;

use pyo3::prelude::*;

pub(crate) use self::types::is_kind;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    types::register(module)?;
    creation::register(module)?;
    elementwise::register(module)?;
    special::register(module)?;
    reductions::register(module)?;
    masked_reductions::register(module)?;
    nan_reductions::register(module)?;
    quantiles::register(module)?;
    shaping::register(module)?;
    stacking::register(module)?;
    bits::register(module)?;
    statistics::register(module)?;
    interpolation::register(module)?;
    polynomials::register(module)?;
    callables::register(module)?;
    windows::register(module)?;
    indexing::register(module)?;
    sorting::register(module)?;
    searching::register(module)?;
    sets::register(module)?;
    histograms::register(module)?;
    segments::register(module)?;
    selecting::register(module)?;
    insert_delete::register(module)?;
    index_grids::register(module)?;
    contraction::register(module)?;
    quantization::register(module)?;
    linalg::register(module)?;
    random::register(module)?;
    fft::register(module)?;
    fast::register(module)?;
    convolution::register(module)?;
    aliases::register(module)?;
    Ok(())
}
