//! Where samples come from.

mod columns;
mod vector;

pub use columns::Columns;
pub use vector::Vector;
