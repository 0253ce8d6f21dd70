//! The functions users call, by documentation group: they check, promote, and record.

pub mod bits;
pub mod comparing;
pub mod contraction;
pub mod creation;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod indexing;
pub mod interpolation;
pub mod median;
mod naming;
pub mod nan_reductions;
mod operators;
pub mod polynomials;
mod promotion;
pub mod quantiles;
pub mod random;
pub mod reductions;
pub mod scans;
pub mod selection;
pub mod shaping;
pub mod sorting;
pub mod spacing;
pub mod stacking;
pub mod statistics;
pub mod turning;
pub mod windows;

pub use bits::*;
pub use comparing::*;
pub use contraction::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use indexing::{
    Index, dynamic_slice, dynamic_slice_update, get, put_along_axis, take, take_along_axis, update,
};
pub use interpolation::*;
pub use median::median;
pub use nan_reductions::*;
pub use polynomials::*;
pub use promotion::{broadcast_all, weak};
pub use quantiles::*;
pub use reductions::*;
pub use scans::*;
pub use selection::*;
pub use shaping::*;
pub use sorting::*;
pub use spacing::*;
pub use stacking::*;
pub use statistics::*;
pub use turning::*;
pub use windows::*;
