//! The units that multiply pairs of bfloat16: AMX tiles, or AVX-512 BF16 vectors.

use umber_kernels_base::amx::{ROW, TileType, Tiles, is_supported};
use umber_kernels_base::isa;

/// A kind of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Vectors (AVX-512 BF16).
    Vectors,
    /// Tiles (AMX), if the system permits this process to use them.
    Tiles,
}

/// The best unit of this processor, if it has one.
pub(super) fn available() -> Option<Kind> {
    if is_supported(TileType::Bf16) {
        return Some(Kind::Tiles);
    }
    (isa::level() == 2 && std::arch::is_x86_feature_detected!("avx512bf16")).then_some(Kind::Vectors)
}

/// A unit that is ready for use on this thread.
pub(super) enum Unit {
    Vectors,
    Tiles(Tiles),
}

impl Unit {
    /// Prepare the unit, which must be available, for this thread.
    pub(super) fn new(kind: Kind) -> Unit {
        match kind {
            Kind::Vectors => Unit::Vectors,
            Kind::Tiles => Unit::Tiles(Tiles::configure(ROW)),
        }
    }
}
