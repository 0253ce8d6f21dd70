//! Floor 1: CPU loops over strided memory. No arrays, no graphs, no streams.
//!
//! Every kernel is a function of views and options: `kernel(options, input: View, output: ViewMut)`. Views carry
//! their dtype, so the functions are type-erased; generics are instantiated inside by one `match_dtype!` at the
//! door.

pub mod allocator;
pub mod arg_reduce;
pub mod attention;
mod caches;
pub mod conv;
pub mod create;
mod elementwise;
pub mod float8;
pub mod fork;
pub mod gated_delta;
pub mod gather;
mod halves;
mod indices;
pub mod isa;
mod joining;
mod keys;
mod math;
pub mod matmul;
pub mod moments;
mod moving;
pub mod nest;
pub mod nonzero;
pub mod norm;
mod order;
mod peak;
pub mod pick;
pub mod quantized;
pub mod random;
pub mod reduce;
pub mod rejection;
pub mod room;
pub mod rope;
mod row;
mod scaled;
pub mod scan;
pub mod scatter;
pub mod search;
pub mod shared;
pub mod softmax;
pub mod sort;
pub mod stack;
pub mod tape;
pub mod threads;
#[cfg(target_arch = "x86_64")]
mod tile_unit;
mod turn;
pub mod view;

pub use arg_reduce::arg_reduce;
pub use gather::{gather, gather_axis};
pub use matmul::{addmm, matmul};
pub use nonzero::nonzero;
pub use norm::{layer_norm, rms_norm};
pub use reduce::reduce;
pub use scan::scan;
pub use scatter::{scatter, scatter_axis};
pub use search::searchsorted;
pub use softmax::{logsumexp, shifted_logsumexp, softmax};
pub use sort::{argpartition, argsort, partition, sort};
pub use view::{View, ViewMut};
