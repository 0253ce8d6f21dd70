//! Several elementwise steps fused into one loop: intermediate results stay in registers.
//!
//! A chain is a list of [`Link`]s over an accumulator of a few vectors. The loop runs all links once for each [`tile`](TILE)
//! of elements, which amortises the dispatch, and stores only values that memory or a later step needs. 16-bit floats are
//! widened when loaded and rounded when stored.

#[cfg(target_arch = "x86_64")]
mod links;
#[cfg(target_arch = "x86_64")]
mod run;
#[cfg(target_arch = "x86_64")]
mod vectors;

#[cfg(target_arch = "x86_64")]
use umber_kernels_base::isa::level;
use umber_types::{BinaryKind, DType, UnaryKind};

#[cfg(target_arch = "x86_64")]
use run::{Avx2, Avx512, run};
#[cfg(target_arch = "x86_64")]
use vectors::{Words256, Words512};

/// Bytes of the largest tile of a value.
pub(crate) const TILE: usize = VECTORS * 64;
/// Vectors per accumulator: enough to hide instruction latency, and half of the registers of AVX2.
const VECTORS: usize = 8;

/// The effect of a link on the accumulator, for an operand `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Sets the accumulator to `x`.
    Load,
    /// Stores the accumulator.
    Store,
    /// Stores an output: with non-temporal stores if the run uses them.
    Output,
    Negative,
    Abs,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Square,
    Add,
    Multiply,
    Subtract,
    /// `x - accumulator`.
    SubtractFrom,
    Divide,
    /// `x / accumulator`.
    DivideInto,
    /// The maximum, `x` if both are equal; NaN of either.
    Maximum,
    /// The maximum, the accumulator if both are equal; NaN of either.
    MaximumOf,
    Minimum,
    MinimumOf,
}

/// The source of a link's operand, or the format of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Elements of the computing dtype in memory.
    Elements,
    /// bfloat16 elements in memory.
    BFloat16,
    Float16,
    /// int32 elements in memory, converted to float32.
    Integers,
    Constant,
    Accumulator,
}

/// One step of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) op: Op,
    pub(crate) source: Source,
    /// True if the value has memory for a single tile, which every tile reuses.
    pub(crate) is_local: bool,
    /// The value that is read or written.
    pub(crate) value: u32,
    /// The bits of a constant.
    pub(crate) constant: u64,
}

/// Runs links over `n` elements: `(links, address of each value, n, with non-temporal stores?)`.
///
/// Contract: each value that links name has memory for `n` elements, or for [`TILE`] bytes if it is local; `n` is a multiple
/// of [`LANES`](super::LANES); different values do not overlap; outputs are aligned to 64 bytes if they are written with
/// non-temporal stores.
pub(crate) type Chain = unsafe fn(&[Link], &[*mut u8], usize, bool);

impl Op {
    /// The same function with swapped operands.
    pub(crate) fn swapped(self) -> Op {
        match self {
            Op::Subtract => Op::SubtractFrom,
            Op::Divide => Op::DivideInto,
            Op::Maximum => Op::MaximumOf,
            Op::Minimum => Op::MinimumOf,
            symmetric => symmetric,
        }
    }
}

/// The link of a unary function of a (computing) dtype.
pub(crate) fn unary(kind: UnaryKind, dtype: DType) -> Option<Op> {
    Some(match kind {
        _ if !dtype.is_floating() => return None,
        UnaryKind::Negative => Op::Negative,
        UnaryKind::Abs => Op::Abs,
        UnaryKind::Sqrt => Op::Sqrt,
        UnaryKind::Rsqrt => Op::Rsqrt,
        UnaryKind::Reciprocal => Op::Reciprocal,
        UnaryKind::Square => Op::Square,
        _ => return None,
    })
}

/// The link of a binary function of a (computing) dtype, whose first operand is the accumulator.
pub(crate) fn binary(kind: BinaryKind, dtype: DType) -> Option<Op> {
    Some(match kind {
        BinaryKind::Add => Op::Add,
        BinaryKind::Subtract => Op::Subtract,
        BinaryKind::Multiply => Op::Multiply,
        _ if !dtype.is_floating() => return None,
        BinaryKind::Divide => Op::Divide,
        BinaryKind::Maximum => Op::Maximum,
        BinaryKind::Minimum => Op::Minimum,
        _ => return None,
    })
}

/// The chain loop for this (computing) dtype, if the processor's instruction set has one.
#[cfg(target_arch = "x86_64")]
pub(crate) fn chain(dtype: DType) -> Option<Chain> {
    use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
    let chains: [Chain; 2] = match dtype {
        DType::Float32 => [run::<Avx2, __m256>, run::<Avx512, __m512>],
        DType::Float64 => [run::<Avx2, __m256d>, run::<Avx512, __m512d>],
        DType::Int32 | DType::UInt32 => [run::<Avx2, Words256>, run::<Avx512, Words512>],
        _ => return None,
    };
    Some(chains[level().checked_sub(1)?])
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn chain(_dtype: DType) -> Option<Chain> {
    None
}
