//! Runs tapes over cache-sized blocks: the one executor of single elementwise steps and of fused regions.
//!
//! [`Program`] is a tape made ready: `program` chooses block functions, `link` makes chains of them and assigns registers,
//! `run` and `walk` go through the blocks (`small` where there is just one, `few` for one step without a program), `plan` turns
//! the operands' layouts into loops,
//! `blocks` moves elements between memory and registers, `copy` is the copy that needs no registers, and `elements` hands out
//! what a reduction folds instead of storing it. A register is a buffer of one block, small enough that all of them stay in the
//! first-level cache.
//!
//! The 16-bit floats are computed in f32: they widen when loaded and round once, when stored or where a
//! cast to them or from them stands.

mod blocks;
mod copy;
mod eager;
mod elements;
mod link;
mod plan;
mod program;
mod run;
mod small;
mod transposed_inputs;
mod walk;

pub use copy::copy;
pub use eager::{Function, compute_eagerly};
pub use elements::{Elements, Producer};
pub use program::Program;
pub use run::Rows;

use umber_types::{BinaryKind, DType, UnaryKind};

use crate::elementwise::{binary, compute_dtype, unary};

/// Does this function of one element take elements of this dtype?
pub fn supports_unary(kind: UnaryKind, dtype: DType) -> bool {
    unary::entry(kind, compute_dtype(dtype)).is_some()
}

/// Does this function of two elements take elements of this dtype?
pub fn supports_binary(kind: BinaryKind, dtype: DType) -> bool {
    binary::entry(kind, compute_dtype(dtype)).is_some()
}
