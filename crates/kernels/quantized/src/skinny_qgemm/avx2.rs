//! Codes in vectors of eight words.

use std::arch::x86_64::*;
use std::ops::Range;

use super::codes::{Codes, step_by_step};
use super::{Job, QGemm, bytes_of_four, with_packed_rows};
use crate::kinds::{FP4, FP8, bits_of, table, unit_of};

/// # Safety
///
/// The processor has AVX2, FMA and F16C.
pub(super) unsafe fn run(product: &QGemm, kind: u8) {
    // SAFETY: guaranteed by the caller of this function.
    with_packed_rows::<__m256>(product, kind, |job, columns, scratch| unsafe {
        columns_of_kind(job, kind, columns, scratch);
    });
}

#[target_feature(enable = "avx2,fma,f16c")]
/// # Safety
///
/// The processor has AVX2, FMA and F16C.
unsafe fn columns_of_kind(job: &Job, kind: u8, columns: Range<usize>, scratch: &mut [f32]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { job.dispatch::<__m256>(kind, columns, scratch) };
}

// SAFETY of all methods: only used inside `columns_of_kind`, whose caller guarantees the instructions.
impl Codes for __m256 {
    type Words = __m256i;
    const UNSHIFTED: bool = true;

    #[inline(always)]
    unsafe fn words(from: *const u32) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn units<const KIND: u8>(from: *const u32) -> __m256i {
        let unit = const { unit_of(KIND) };
        // SAFETY: the caller guarantees a vector of units; both loads end within them.
        unsafe {
            if unit == 32 {
                return Self::words(from);
            }
            let overlap_start = unit - 16;
            let low = _mm_loadu_si128(from.cast());
            let high = _mm_loadu_si128(from.byte_add(overlap_start).cast());
            let bytes = const { bytes_of_four(unit_of(KIND)) };
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            // The upper lane starts with byte `overlap_start`, before its first unit, so its indices are larger. Unused
            // indices keep their highest bit set, which yields zero.
            let later = _mm_add_epi8(bytes, _mm_set1_epi8((unit / 2 - overlap_start) as i8));
            let words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), _mm256_set_m128i(later, bytes));
            if unit.is_multiple_of(8) {
                return words;
            }
            _mm256_srlv_epi32(words, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4))
        }
    }

    #[inline(always)]
    fn level<const KIND: u8>(words: __m256i) -> __m256 {
        // SAFETY: see above.
        unsafe {
            match KIND {
                FP4 => {
                    // The index into the table is the low three bits; the fourth is the sign.
                    let table = const { table::<FP4>(0) };
                    let value = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), words);
                    let sign = _mm256_and_si256(_mm256_slli_epi32::<28>(words), _mm256_set1_epi32(i32::MIN));
                    _mm256_or_ps(value, _mm256_castsi256_ps(sign))
                }
                FP8 => {
                    let magnitude = _mm256_and_si256(words, _mm256_set1_epi32(0x7f));
                    let normal =
                        _mm256_add_epi32(_mm256_slli_epi32::<20>(magnitude), _mm256_set1_epi32(120 << 23));
                    let small = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), _mm256_set1_ps(1.0 / 512.0));
                    let is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(8), magnitude);
                    let is_nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f));
                    let value =
                        _mm256_blendv_ps(_mm256_castsi256_ps(normal), small, _mm256_castsi256_ps(is_small));
                    let value =
                        _mm256_blendv_ps(value, _mm256_set1_ps(f32::NAN), _mm256_castsi256_ps(is_nan));
                    let sign = _mm256_and_si256(_mm256_slli_epi32::<24>(words), _mm256_set1_epi32(i32::MIN));
                    _mm256_or_ps(value, _mm256_castsi256_ps(sign))
                }
                _ => {
                    let mask = _mm256_set1_epi32((1 << bits_of(KIND)) - 1);
                    _mm256_cvtepi32_ps(_mm256_and_si256(words, mask))
                }
            }
        }
    }

    #[inline(always)]
    fn float8s(words: __m256i) -> [__m256; 4] {
        // SAFETY: see above.
        unsafe {
            let magnitude = _mm256_set1_epi8(0x7f);
            let is_nan = _mm256_cmpeq_epi8(_mm256_and_si256(words, magnitude), magnitude);
            if _mm256_movemask_epi8(is_nan) != 0 {
                return step_by_step(words);
            }
            // The lower halves of all words, then the upper ones.
            let permutation = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
            let halves = _mm256_shuffle_epi8(words, _mm256_broadcastsi128_si256(permutation));
            let halves = _mm256_permute4x64_epi64::<0b11_01_10_00>(halves);
            let mut levels = [_mm256_setzero_ps(); 4];
            for (i, codes) in [_mm256_slli_epi16::<8>(halves), halves].into_iter().enumerate() {
                // The bits of a float16, except that the exponent is too small by eight.
                let codes = _mm256_and_si256(_mm256_srai_epi16::<1>(codes), _mm256_set1_epi16(!0x407f));
                let half_vectors = [_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes)];
                for (level, half) in levels[i..].iter_mut().step_by(2).zip(half_vectors) {
                    *level = _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256.0));
                }
            }
            levels
        }
    }

    #[inline(always)]
    fn unshifted<const KIND: u8>(words: __m256i, step: usize) -> __m256 {
        let bits = bits_of(KIND);
        // SAFETY: see above.
        unsafe {
            if (step + 1) * bits == 32 {
                return _mm256_cvtepi32_ps(_mm256_srl_epi32(words, _mm_cvtsi32_si128(32 - bits as i32)));
            }
            let mask = _mm256_set1_epi32(((1 << bits) - 1) << (step * bits));
            _mm256_cvtepi32_ps(_mm256_and_si256(words, mask))
        }
    }

    #[inline(always)]
    fn next<const KIND: u8>(words: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_srl_epi32(words, _mm_cvtsi32_si128(bits_of(KIND) as i32)) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const f32, permutation: __m256i) -> __m256 {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), permutation) }
    }
}
