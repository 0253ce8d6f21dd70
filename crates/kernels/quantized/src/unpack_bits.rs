//! Codes of which a byte does not hold a whole number, moved to bytes of their own, 64 at a time (AVX-512 with VBMI).

use std::arch::asm;
use std::arch::x86_64::*;

use umber_kernels_base::isa::{is_unlimited, level};

/// Bytes of a vector.
pub(super) const BYTES: usize = 64;

/// Do codes of so many bits lie across bytes?
pub(super) const fn crosses_bytes(bits: usize) -> bool {
    !8usize.is_multiple_of(bits)
}

/// Packed bytes whose codes fill a vector, or, where bytes hold whole numbers of codes, as many vectors as these.
pub(super) const fn block_bytes(bits: usize) -> usize {
    if crosses_bytes(bits) { bits * BYTES / 8 } else { BYTES }
}

/// Has the processor the instructions?
pub(super) fn is_available() -> bool {
    level() == 2 && is_unlimited() && is_x86_feature_detected!("avx512vbmi")
}

/// How codes of 3, 5 or 6 bits are moved.
pub(super) struct BitUnpacker {
    /// The bytes of each eight codes, which are moved to eight bytes that shifts do not leave.
    permutation: __m512i,
    /// Where the codes begin there, in bits.
    shifts: __m512i,
}

impl BitUnpacker {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(bits: usize) -> Self {
        let (permutation, shifts) = match bits {
            3 => const { &permutation_and_shifts(3) },
            5 => const { &permutation_and_shifts(5) },
            _ => const { &permutation_and_shifts(6) },
        };
        // SAFETY: vectors of bytes.
        unsafe {
            Self {
                permutation: _mm512_loadu_si512(permutation.as_ptr().cast()),
                shifts: _mm512_loadu_si512(shifts.as_ptr().cast()),
            }
        }
    }

    /// The first 64 codes of packed bytes, each in the lowest bits of a byte, below its neighbours.
    ///
    /// # Safety
    /// The instructions are there ([`is_available`]). They are not set for this function, since then they might be used for other
    /// codes, too, by those that it becomes a part of.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn unpack(&self, packed: __m512i) -> __m512i {
        let (eights, bytes): (__m512i, __m512i);
        // SAFETY: registers only; the caller's promise.
        unsafe {
            asm!("vpermb {}, {}, {}", out(zmm_reg) eights, in(zmm_reg) self.permutation, in(zmm_reg) packed,
                options(pure, nomem, nostack, preserves_flags));
            asm!("vpmultishiftqb {}, {}, {}", out(zmm_reg) bytes, in(zmm_reg) self.shifts, in(zmm_reg) eights,
                options(pure, nomem, nostack, preserves_flags));
        }
        bytes
    }
}

const fn permutation_and_shifts(bits: usize) -> ([u8; BYTES], [u8; BYTES]) {
    let (mut permutation, mut shifts) = ([0; BYTES], [0; BYTES]);
    let mut i = 0;
    while i < BYTES {
        let (eight, byte) = (i / 8, i % 8);
        permutation[i] = if byte < bits { (eight * bits + byte) as u8 } else { 0 };
        shifts[i] = (byte * bits) as u8;
        i += 1;
    }
    (permutation, shifts)
}

/// The codes of packed bytes, which are as many as `out` has space for, one in each byte.
///
/// # Safety
/// The instructions are there ([`is_available`]).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn codes(bits: usize, packed: &[u8], out: &mut [u8]) {
    let (apart, code) = (BitUnpacker::new(bits), _mm512_set1_epi8((1 << bits) - 1));
    for (packed, out) in packed.chunks(block_bytes(bits)).zip(out.chunks_mut(BYTES)) {
        // SAFETY: what is inside of the chunks; the caller's promise.
        unsafe {
            let packed = _mm512_maskz_loadu_epi8((1 << packed.len()) - 1, packed.as_ptr().cast());
            let codes = _mm512_and_si512(apart.unpack(packed), code);
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), u64::MAX >> (BYTES - out.len()), codes);
        }
    }
}
