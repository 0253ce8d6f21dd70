//! Memory: the caching allocator, and buffers with an owner.

pub mod allocator;
mod buffer;

pub use buffer::{Access, Buffer, Lease, Stability};
