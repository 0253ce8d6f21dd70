//! The foundation of all kernel crates: views, threads, scratch memory, instruction sets, vectors and mathematics.
//!
//! For kernel crates only, which may import this crate and `umber-types`; programs use `umber`.

mod allocation_tracker;
pub mod allocator;
#[cfg(target_arch = "x86_64")]
pub mod amx;
pub mod arrays;
pub mod by_width;
pub mod caches;
pub mod dense;
pub mod float16;
mod float16_lanes;
pub mod fork;
pub mod indices;
pub mod isa;
pub mod keys;
pub mod lanes;
pub mod math;
pub mod max_exp_sum;
pub mod order;
#[cfg(target_arch = "x86_64")]
mod registers;
pub mod row;
pub mod scaled;
pub mod scratch;
pub mod scratch_vec;
pub mod shared;
pub mod stack;
pub mod strided_loops;
pub mod threads;
pub mod transpose;
pub mod tree_reduce;
pub mod view;
pub use view::{View, ViewMut};
