//! CPU kernels: loops over strided memory. No arrays, no graphs, no streams.
//!
//! Every kernel is a function of views and options: `kernel(options, input: View, output: ViewMut)`. Views carry
//! their dtype, so the functions are type-erased; generics are instantiated inside, by one `match_dtype!` per public function.
//!
//! The kernels are in one crate per family, which compile in parallel; this crate re-exports them under one name and imports
//! only these and `umber-types`.

pub use umber_kernels_attention::{attention, gated_delta};
pub use umber_kernels_base::{
    View, ViewMut, allocator, fork, isa, scratch_vec, shared, stack, strided_loops, threads, view,
};
pub use umber_kernels_conv as conv;
pub use umber_kernels_elementwise::{create, float8, tape};
pub use umber_kernels_gather::gather::{gather, gather_axis};
pub use umber_kernels_gather::nonzero::nonzero;
pub use umber_kernels_gather::scatter::{scatter, scatter_axis};
pub use umber_kernels_gather::{gather, nonzero, scatter};
pub use umber_kernels_matmul as matmul;
pub use umber_kernels_matmul::{addmm, matmul};
pub use umber_kernels_quantized as quantized;
pub use umber_kernels_random::{categorical, random, rejection};
pub use umber_kernels_reduce::arg_reduce::arg_reduce;
pub use umber_kernels_reduce::norm::{layer_norm, rms_norm};
pub use umber_kernels_reduce::reduce::reduce;
pub use umber_kernels_reduce::scan::scan;
pub use umber_kernels_reduce::softmax::{logsumexp, shifted_logsumexp, softmax};
pub use umber_kernels_reduce::{arg_reduce, moments, norm, reduce, rope, scan, softmax};
pub use umber_kernels_sort::search::searchsorted;
pub use umber_kernels_sort::sort::{argpartition, argsort, partition, sort};
pub use umber_kernels_sort::{search, sort};
