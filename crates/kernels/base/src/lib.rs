//! What all families of kernels stand on: views of memory, threads, scratch, instruction sets, vectors, mathematics.
//!
//! Only the families import it; programs use `umber`.

pub mod allocator;
pub mod arrays;
pub mod caches;
pub mod dense;
pub mod fork;
mod half_lanes;
pub mod halves;
pub mod indices;
pub mod isa;
pub mod joining;
pub mod keys;
pub mod lanes;
pub mod math;
pub mod moving;
pub mod nest;
pub mod order;
pub mod peak;
#[cfg(target_arch = "x86_64")]
mod registers;
pub mod room;
pub mod row;
pub mod scaled;
pub mod scratch;
pub mod shared;
pub mod stack;
pub mod threads;
#[cfg(target_arch = "x86_64")]
pub mod tile_unit;
pub mod turn;
pub mod view;
pub use view::{View, ViewMut};
