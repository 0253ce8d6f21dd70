//! The functions users call, by documentation group: they check, promote, and record.
//!
//! | group | what is in it |
//! |---|---|
//! | [`comparing`] | whole arrays compared, and neighbours subtracted |
//! | [`contraction`] | products of matrices and of their kin |
//! | [`creation`] | arrays from parameters |
//! | [`einsum`](mod@einsum) | sums of products written with an index for each axis |
//! | [`elementwise`] | functions of one, two or three arrays, element by element |
//! | [`fast`] | operations that are one kernel where a backend has it |
//! | [`indexing`] | parts of arrays read and updated, and functions that take index arrays |
//! | [`median`](mod@median) | the median |
//! | [`random`] | draws from distributions, and their keys |
//! | [`reductions`] | many elements to one: sums, extrema, means, softmax |
//! | [`scans`] | what a reduction would answer after each element |
//! | [`shaping`] | the same elements under another shape, in another order, or several times |
//! | [`sorting`] | order, parts of it, and searching in it |
//!
//! All but [`fast`] and [`random`] are also named here: `ops::sum` is `ops::reductions::sum`. Arrays are taken by
//! reference and nothing is computed before a value is read. A failure is an [`Error`](crate::Error) whose text says
//! `[op]` what was wrong, got what, expected what. Rust's operators do the same for arithmetic, but panic.

pub mod comparing;
pub mod contraction;
pub mod creation;
pub mod einsum;
pub mod elementwise;
pub mod fast;
pub mod indexing;
pub mod median;
mod operators;
mod promotion;
pub mod random;
pub mod reductions;
pub mod scans;
pub mod shaping;
pub mod sorting;

pub use comparing::*;
pub use contraction::*;
pub use creation::*;
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use indexing::{
    Index, dynamic_slice, dynamic_slice_update, get, put_along_axis, take, take_along_axis, update,
};
pub use median::median;
pub use promotion::{broadcast_all, weak};
pub use reductions::*;
pub use scans::*;
pub use shaping::*;
pub use sorting::*;
