//! What multiplies pairs of bfloat16: the processor's tiles, or else its vectors.

use umber_kernels_base::amx::{ROW, TileType, Tiles, is_supported};
use umber_kernels_base::isa;

/// What a processor multiplies pairs of bfloat16 with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Vectors (AVX-512 BF16).
    Vectors,
    /// Tiles (AMX), if the system lets this process use them.
    Tiles,
}

/// What this processor multiplies pairs of bfloat16 with, if with anything.
pub(super) fn available() -> Option<Kind> {
    if is_supported(TileType::Bf16) {
        return Some(Kind::Tiles);
    }
    (isa::level() == 2 && std::arch::is_x86_feature_detected!("avx512bf16")).then_some(Kind::Vectors)
}

/// A unit ready to be used on this thread.
pub(super) enum Unit {
    Vectors,
    Tiles(Tiles),
}

impl Unit {
    /// The unit must be available.
    pub(super) fn ready(kind: Kind) -> Unit {
        match kind {
            Kind::Vectors => Unit::Vectors,
            Kind::Tiles => Unit::Tiles(Tiles::configure(ROW)),
        }
    }
}
