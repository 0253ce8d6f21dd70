//! Unpacking of codes that cross byte boundaries to one code per byte, 64 at a time (AVX-512 VBMI).

use std::arch::asm;
use std::arch::x86_64::*;

use umber_kernels_base::isa::{is_unlimited, level};

/// Bytes of a vector.
pub(super) const BYTES: usize = 64;

/// Whether codes of this many bits cross byte boundaries.
pub(super) const fn crosses_bytes(bits: usize) -> bool {
    !8usize.is_multiple_of(bits)
}

/// Packed bytes whose codes fill a vector; if codes do not cross bytes, a full vector of packed bytes.
pub(super) const fn block_bytes(bits: usize) -> usize {
    if crosses_bytes(bits) { bits * BYTES / 8 } else { BYTES }
}

/// Whether the processor has the instructions.
pub(super) fn is_available() -> bool {
    level() == 2 && is_unlimited() && is_x86_feature_detected!("avx512vbmi")
}

/// Permutation and shifts that unpack codes of 3, 5 or 6 bits.
pub(super) struct BitUnpacker {
    /// Moves the bytes of each eight codes to their own 64-bit lane, since the multishift stays within lanes.
    permutation: __m512i,
    /// Bit offset of each code in its 64-bit lane.
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
        // SAFETY: the arrays are as long as a vector.
        unsafe {
            Self {
                permutation: _mm512_loadu_si512(permutation.as_ptr().cast()),
                shifts: _mm512_loadu_si512(shifts.as_ptr().cast()),
            }
        }
    }

    /// Unpack the first 64 codes, each to the lowest bits of a byte. The upper bits hold parts of the next codes.
    ///
    /// # Safety
    /// The processor has VBMI ([`is_available`]). The function does not enable it as a target feature, because the compiler
    /// could then use it in callers into which this is inlined, for codes that run without it.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn unpack(&self, packed: __m512i) -> __m512i {
        let (eights, bytes): (__m512i, __m512i);
        // SAFETY: the instructions only access registers, and the caller guarantees that they exist.
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

/// Unpack all codes of some bytes to one code per byte. `packed` holds as many codes as `out` has elements.
///
/// # Safety
/// The processor has VBMI ([`is_available`]).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn codes(bits: usize, packed: &[u8], out: &mut [u8]) {
    let (unpacker, code) = (BitUnpacker::new(bits), _mm512_set1_epi8((1 << bits) - 1));
    for (packed, out) in packed.chunks(block_bytes(bits)).zip(out.chunks_mut(BYTES)) {
        // SAFETY: the masks limit access to the chunks, and the caller guarantees VBMI.
        unsafe {
            let packed = _mm512_maskz_loadu_epi8((1 << packed.len()) - 1, packed.as_ptr().cast());
            let codes = _mm512_and_si512(unpacker.unpack(packed), code);
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), u64::MAX >> (BYTES - out.len()), codes);
        }
    }
}
