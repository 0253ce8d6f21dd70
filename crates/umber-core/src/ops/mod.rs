//! The functions users call, by documentation group: they check, promote, and record.

pub mod choosing;
pub mod comparing;
pub mod contraction;
pub mod creation;
mod dependent;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod histograms;
pub mod index_grids;
pub mod indexing;
pub mod median;
mod operators;
mod promotion;
pub mod random;
pub mod reductions;
pub mod scans;
pub mod searching;
pub mod sets;
pub mod shaping;
pub mod sorting;

pub use choosing::*;
pub use comparing::*;
pub use contraction::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use histograms::*;
pub use index_grids::*;
pub use indexing::{
    Index, OutOfBounds, dynamic_slice, dynamic_slice_update, get, put_along_axis, take, take_along_axis,
    update,
};
pub use median::median;
pub use promotion::{broadcast_all, weak};
pub use reductions::*;
pub use scans::*;
pub use searching::*;
pub use sets::*;
pub use shaping::*;
pub use sorting::*;
pub use umber_types::{Side, SortOrder};
