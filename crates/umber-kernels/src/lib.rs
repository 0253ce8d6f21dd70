//! Floor 1: CPU loops over strided memory. No arrays, no graphs, no streams.
//!
//! Every kernel is a function of views and options: `kernel(options, input: View, output: ViewMut)`. Views carry
//! their dtype, so the functions are type-erased; generics are instantiated inside by one `match_dtype!` at the
//! door.

mod halves;
mod isa;
mod nest;
pub mod reduce;
pub mod threads;
pub mod view;

pub use reduce::reduce;
pub use view::{View, ViewMut};
