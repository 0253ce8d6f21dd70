//! Shaping: reshaping, permuting, joining, splitting, padding and repeating.

mod diagonals;
mod editing;
mod joining;
mod padding;
mod repeating;
mod reshaping;
mod spreading;

pub use diagonals::{DiagonalEnd, diag, diagflat, diagonal, fill_diagonal, trace, tril, triu};
pub(crate) use editing::set_in_turn;
pub use editing::{append, delete, insert, resize};
pub(super) use joining::MOST_PARTS;
pub use joining::{Split, concatenate, roll, split, stack, unstack};
pub use padding::{PadMode, PadStatistic, pad};
pub use repeating::{repeat, repeat_each};
pub use reshaping::{
    atleast, contiguous, expand_dims, flatten, flip, matrix_transpose, moveaxes, moveaxis, reshape, squeeze,
    swapaxes, transpose, unflatten,
};
pub use spreading::{
    MeshIndexing, MeshKind, as_strided, broadcast_arrays, broadcast_shapes, broadcast_to, meshgrid, tile,
};

use umber_types::{Result, error};

/// Lengths formatted as a Python tuple; they may be negative.
fn tuple(lengths: &[i64]) -> String {
    let inside: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    format!("({}{})", inside.join(", "), if lengths.len() == 1 { "," } else { "" })
}

/// The new length of an axis; fails if it exceeds 64 bits, with a message that contains `asked`.
fn fitting(op: &str, length: Option<i64>, asked: impl FnOnce() -> String) -> Result<i64> {
    length.ok_or_else(|| {
        error!(Overflow(op), "got {}, expected no more elements than memory can address", asked())
    })
}
