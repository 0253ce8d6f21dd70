//! Dispatch of a fold to the instruction sets that it is compiled for.

use umber_kernels_base::isa::{vectorised, vectorised_by_avx2, vectors, vectors_of_avx2};

use super::fold::{Fold, Vectors};

/// [`vectorised`], if the fold is worth the code size.
#[inline(always)]
pub(crate) fn vectorised_for<F: Fold, R>(body: impl FnOnce() -> R) -> R {
    match const { F::VECTORS } {
        Vectors::None => body(),
        Vectors::Avx2 => vectorised_by_avx2(body),
        Vectors::Avx512 => vectorised(body),
    }
}

/// As [`vectorised_for`], on a processor that is known to have vectors.
#[inline(always)]
pub(super) fn vectors_for<F: Fold, R>(body: impl FnOnce() -> R) -> R {
    match const { F::VECTORS } {
        Vectors::None => body(),
        Vectors::Avx2 => vectors_of_avx2(body),
        Vectors::Avx512 => vectors(body),
    }
}

/// Whether there is a separate loop for windows.
pub(super) const fn has_windows<F: Fold>() -> bool {
    F::HAS_WINDOWS && !matches!(F::VECTORS, Vectors::None)
}

/// Whether the fold is performance-critical for whole programs.
pub(super) const fn is_hot<F: Fold>() -> bool {
    matches!(F::VECTORS, Vectors::Avx512)
}
