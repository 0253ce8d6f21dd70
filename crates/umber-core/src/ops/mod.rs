//! The functions users call, by documentation group: they check, promote, and record.

pub mod contraction;
pub mod creation;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod indexing;
mod operators;
mod promotion;
pub mod random;
pub mod reductions;
pub mod shaping;

pub use contraction::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use indexing::{Index, dynamic_slice, dynamic_slice_update, put_along_axis, take, take_along_axis};
pub use promotion::{broadcast_all, weak};
pub use reductions::*;
pub use shaping::*;
