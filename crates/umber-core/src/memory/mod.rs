//! Memory: the host's caching allocator, and buffers with an owner, of the host or of another device.

mod buffer;
mod device;
mod file;
mod mapped;
mod policy;
pub(crate) mod replicas;

pub use umber_kernels::allocator;

pub use buffer::{Access, Buffer, ExternalWrites, Lease};
pub use device::{DeviceMemory, Event};
pub use mapped::is_mapped;
pub use policy::ViewPolicy;
