//! The functions users call, by documentation group: they check, promote, and record.

pub mod creation;
pub mod elementwise;
pub mod indexing;
mod operators;
mod promotion;
pub mod shaping;

pub use creation::*;
pub use elementwise::*;
pub use indexing::{Index, dynamic_slice, dynamic_slice_update, put_along_axis, take, take_along_axis};
pub use promotion::{broadcast_all, weak};
pub use shaping::*;
