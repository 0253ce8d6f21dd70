//! The functions users call, by documentation group: they check, promote, and record.
//!
//! | group | what is in it |
//! |---|---|
//! | [`comparing`] | whole arrays compared, and neighbours subtracted |
//! | [`contraction`] | products of matrices and of their kin |
//! | [`creation`] | arrays from parameters |
//! | [`einsum`](mod@einsum) | sums of products written with an index for each axis |
//! | [`elementwise`] | functions of one, two or three arrays, element by element |
//! | [`fast`] | operations that are one kernel where a backend has it |
//! | [`indexing`] | parts of arrays read and updated, and functions that take index arrays |
//! | [`median`](mod@median) | the median |
//! | [`random`] | draws from distributions, and their keys |
//! | [`reductions`] | many elements to one: sums, extrema, means, softmax |
//! | [`scans`] | what a reduction would answer after each element |
//! | [`shaping`] | the same elements under another shape, in another order, or several times |
//! | [`sorting`] | order, parts of it, and searching in it |
//!
//! All but [`fast`] and [`random`] are also named here: `ops::sum` is `ops::reductions::sum`. Arrays are taken by
//! reference and nothing is computed before a value is read. A failure is an [`Error`](crate::Error) whose text says
//! `[op]` what was wrong, got what, expected what. Rust's operators do the same for arithmetic, but panic.

pub mod bits;
pub mod block_masked;
pub mod choosing;
pub mod combinations;
pub mod comparing;
pub mod contraction;
pub mod convolution;
pub mod creation;
mod dependent;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod fft;
pub mod fitting;
pub mod gathered;
pub mod hadamard;
pub mod histograms;
pub mod index_grids;
pub mod indexing;
pub mod interpolation;
pub mod linalg;
pub mod median;
mod naming;
pub mod nan_reductions;
mod operators;
pub mod parts;
pub mod polynomials;
mod promotion;
pub mod quantile_places;
pub mod quantiles;
pub mod random;
pub mod reductions;
pub mod rounding;
pub mod scans;
pub mod searching;
pub mod selection;
pub mod sets;
pub mod shaping;
pub mod slopes;
pub mod sorting;
pub mod spacing;
pub mod stacking;
pub mod statistics;
pub mod turning;
pub mod windows;

pub use bits::*;
pub use block_masked::*;
pub use choosing::*;
pub use combinations::*;
pub use comparing::*;
pub use contraction::*;
pub use convolution::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use fitting::polyfit;
pub use gathered::*;
pub use hadamard::*;
pub use histograms::*;
pub use index_grids::*;
pub use indexing::{
    Index, OutOfBounds, dynamic_slice, dynamic_slice_update, get, put_along_axis, take, take_along_axis,
    update,
};
pub use interpolation::*;
pub use median::median;
pub use nan_reductions::*;
pub use parts::*;
pub use polynomials::*;
pub use promotion::{broadcast_all, weak};
pub use quantile_places::QuantileMethod;
pub use quantiles::*;
pub use reductions::*;
pub use rounding::*;
pub use scans::*;
pub use searching::*;
pub use selection::*;
pub use sets::*;
pub use shaping::*;
pub use slopes::*;
pub use sorting::*;
pub use spacing::*;
pub use stacking::*;
pub use statistics::*;
pub use turning::*;
pub use umber_types::{Side, SortOrder};
pub use windows::*;
