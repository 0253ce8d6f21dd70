//! The functions users call, by documentation group: they check, promote, and record.

pub mod creation;
pub mod elementwise;
mod operators;
mod promotion;
pub mod shaping;

pub use creation::*;
pub use elementwise::*;
pub use promotion::{broadcast_all, weak};
pub use shaping::*;
