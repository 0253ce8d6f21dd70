//! Runs tapes over cache-sized blocks: the executor of single elementwise steps and of fused regions.
//!
//! [`Program`] is a tape lowered for execution: `program` selects block functions, `link` fuses them into chains and assigns
//! registers, `plan` derives loops from the operands' layouts, and `run` and `walk` process the blocks. `small` runs programs of
//! a few blocks, `eager` single steps without a program. `blocks` copies elements between memory and registers, `copy` is the
//! plain copy, and `elements` passes results to a reduction instead of storing them. A register is a buffer of one block, small
//! enough that all registers stay in the L1 cache.
//!
//! float16 and bfloat16 are computed in f32: they are widened when loaded, and rounded once, when stored or at a cast to or from
//! them.

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

use umber_types::{BinaryKind, DType, TernaryKind, UnaryKind};

use crate::elementwise::{binary, compute_dtype, ternary, unary};

/// True if this unary function supports elements of this dtype.
pub fn supports_unary(kind: UnaryKind, dtype: DType) -> bool {
    unary::entry(kind, compute_dtype(dtype)).is_some()
}

/// True if this binary function supports elements of this dtype.
pub fn supports_binary(kind: BinaryKind, dtype: DType) -> bool {
    binary::entry(kind, compute_dtype(dtype)).is_some()
}

/// True if this ternary function supports elements of this dtype.
pub fn supports_ternary(kind: TernaryKind, dtype: DType) -> bool {
    ternary::entry(kind, compute_dtype(dtype)).is_some()
}
