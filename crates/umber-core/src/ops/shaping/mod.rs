//! Shaping: reshaping, permuting, joining, splitting, padding and repeating.

mod broadcasting;
mod concatenation;
mod diagonals;
mod insert_delete;
mod padding;
mod repeating;
mod reshaping;

pub use broadcasting::{
    MeshIndexing, MeshKind, as_strided, broadcast_arrays, broadcast_shapes, broadcast_to, meshgrid, tile,
};
pub(super) use concatenation::MAX_PARTS;
pub use concatenation::{Split, concatenate, roll, split, stack, unstack};
pub use diagonals::{DiagonalEnd, diag, diagflat, diagonal, fill_diagonal, trace, tril, triu};
pub(crate) use insert_delete::set_cyclic;
pub use insert_delete::{append, delete, insert, resize};
pub use padding::{PadMode, PadStatistic, pad};
pub use repeating::{repeat, repeat_each};
pub use reshaping::{
    atleast, contiguous, expand_dims, flatten, flip, matrix_transpose, moveaxes, moveaxis, reshape, squeeze,
    swapaxes, transpose, unflatten,
};

use umber_types::{Result, error};

/// The new length of an axis; fails if it exceeds 64 bits, with an error that starts with the text of `describe`.
fn checked_length(op: &str, length: Option<i64>, describe: impl FnOnce() -> String) -> Result<i64> {
    length.ok_or_else(|| error!(Overflow(op), "{} is too large to address", describe()))
}
