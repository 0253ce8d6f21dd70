//! Floor 1: CPU loops over strided memory. No arrays, no graphs, no streams.
//!
//! Every kernel is a function of views and options: `kernel(options, input: View, output: ViewMut)`. Views carry
//! their dtype, so the functions are type-erased; generics are instantiated inside by one `match_dtype!` at the
//! door.

pub mod gather;
mod halves;
mod indices;
mod isa;
mod nest;
mod order;
pub mod reduce;
pub mod scatter;
pub mod threads;
pub mod view;

pub use gather::{gather, gather_axis};
pub use reduce::reduce;
pub use scatter::{scatter, scatter_axis};
pub use view::{View, ViewMut};
