//! The functions users call, by documentation group: they check, promote, and record.

pub mod comparing;
pub mod contraction;
pub mod creation;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod indexing;
pub mod median;
mod operators;
mod promotion;
pub mod random;
pub mod reductions;
pub mod rounding;
pub mod scans;
pub mod shaping;
pub mod sorting;

pub use comparing::*;
pub use contraction::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use indexing::{
    Index, dynamic_slice, dynamic_slice_update, get, put_along_axis, take, take_along_axis, update,
};
pub use median::median;
pub use promotion::{broadcast_all, weak};
pub use reductions::*;
pub use rounding::round;
pub use scans::*;
pub use shaping::*;
pub use sorting::*;
