//! Memory: the caching allocator, and buffers with an owner.

mod buffer;
mod file;
mod mapped;
mod policy;

pub use umber_kernels::allocator;

pub use buffer::{Access, Buffer, Lease, Stability};
pub use mapped::is_mapped;
pub use policy::ViewPolicy;
