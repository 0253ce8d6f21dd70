//! Codes in vectors of sixteen words.

use std::arch::x86_64::*;
use std::ops::Range;

use super::codes::{Codes, step_by_step};
use super::{Job, QGemm, bytes_of_four, with_packed_rows};
use crate::kinds::{FP4, FP8, INT1, INT2, INT3, INT4, INT5, bits_of, table, unit_of};

/// # Safety
///
/// The processor has AVX-512 (F, BW, DQ, VL) and FMA.
pub(super) unsafe fn run(product: &QGemm, kind: u8) {
    // SAFETY: guaranteed by the caller of this function.
    with_packed_rows::<__m512>(product, kind, |job, columns, scratch| unsafe {
        columns_of_kind(job, kind, columns, scratch);
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
/// # Safety
///
/// The processor has AVX-512 (F, BW, DQ, VL) and FMA.
unsafe fn columns_of_kind(job: &Job, kind: u8, columns: Range<usize>, scratch: &mut [f32]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { job.dispatch::<__m512>(kind, columns, scratch) };
}

/// Indices of the lower halves of all words, then of the upper ones.
const fn halves() -> [u16; 32] {
    let mut permutation = [0; 32];
    let mut i = 0;
    while i < 32 {
        permutation[i] = (i % 16 * 2 + i / 16) as u16;
        i += 1;
    }
    permutation
}

/// Indices of the byte pairs of each four units of `unit` bits.
const fn quarters(unit: usize) -> [u16; 32] {
    let mut permutation = [0; 32];
    let mut i = 0;
    while i < 32 {
        let index = i / 8 * (unit / 4) + i % 8;
        permutation[i] = if index < 32 { index as u16 } else { 0 };
        i += 1;
    }
    permutation
}

// SAFETY of all methods: only used inside `columns_of_kind`, whose caller guarantees the instructions.
impl Codes for __m512 {
    type Words = __m512i;

    #[inline(always)]
    unsafe fn words(from: *const u32) -> __m512i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn units<const KIND: u8>(from: *const u32) -> __m512i {
        let unit = const { unit_of(KIND) };
        // SAFETY: the caller guarantees a vector of units; the mask excludes the words after them.
        unsafe {
            if unit == 32 {
                return Self::words(from);
            }
            let read = _mm512_maskz_loadu_epi32((1 << (unit / 2)) - 1, from.cast());
            // Four units to each 128-bit lane, in which bytes can be shuffled.
            let permutation = const { quarters(unit_of(KIND)) };
            let quarters = _mm512_permutexvar_epi16(_mm512_loadu_si512(permutation.as_ptr().cast()), read);
            let bytes = const { bytes_of_four(unit_of(KIND)) };
            let bytes = _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast()));
            let words = _mm512_shuffle_epi8(quarters, bytes);
            if unit.is_multiple_of(8) {
                return words;
            }
            _mm512_srlv_epi32(words, _mm512_broadcast_i32x4(_mm_setr_epi32(0, 4, 0, 4)))
        }
    }

    #[inline(always)]
    fn level<const KIND: u8>(words: __m512i) -> __m512 {
        // SAFETY: see above.
        unsafe {
            match KIND {
                // The index into the table is the low four bits.
                FP4 | INT1 | INT2 | INT3 | INT4 => {
                    let table = const { table::<KIND>(0) };
                    _mm512_permutexvar_ps(words, _mm512_loadu_ps(table.as_ptr()))
                }
                INT5 => {
                    let (low, high) = const { (table::<INT5>(0), table::<INT5>(16)) };
                    let (low, high) = (_mm512_loadu_ps(low.as_ptr()), _mm512_loadu_ps(high.as_ptr()));
                    _mm512_permutex2var_ps(low, words, high)
                }
                FP8 => {
                    let magnitude = _mm512_and_si512(words, _mm512_set1_epi32(0x7f));
                    let normal =
                        _mm512_add_epi32(_mm512_slli_epi32::<20>(magnitude), _mm512_set1_epi32(120 << 23));
                    let small = _mm512_mul_ps(_mm512_cvtepi32_ps(magnitude), _mm512_set1_ps(1.0 / 512.0));
                    let is_small = _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(8));
                    let is_nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x7f));
                    let value = _mm512_mask_blend_ps(is_small, _mm512_castsi512_ps(normal), small);
                    let value = _mm512_mask_blend_ps(is_nan, value, _mm512_set1_ps(f32::NAN));
                    let sign = _mm512_and_si512(_mm512_slli_epi32::<24>(words), _mm512_set1_epi32(i32::MIN));
                    _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(value), sign))
                }
                _ => {
                    let mask = _mm512_set1_epi32((1 << bits_of(KIND)) - 1);
                    _mm512_cvtepi32_ps(_mm512_and_si512(words, mask))
                }
            }
        }
    }

    #[inline(always)]
    fn float8s(words: __m512i) -> [__m512; 4] {
        // SAFETY: see above.
        unsafe {
            let magnitude = _mm512_set1_epi8(0x7f);
            if _mm512_cmpeq_epi8_mask(_mm512_and_si512(words, magnitude), magnitude) != 0 {
                return step_by_step(words);
            }
            // The lower halves of all words, then the upper ones.
            let permutation = const { halves() };
            let halves = _mm512_permutexvar_epi16(_mm512_loadu_si512(permutation.as_ptr().cast()), words);
            let mut levels = [_mm512_setzero_ps(); 4];
            for (i, codes) in [_mm512_slli_epi16::<8>(halves), halves].into_iter().enumerate() {
                // The bits of a float16, except that the exponent is too small by eight.
                let codes = _mm512_and_si512(_mm512_srai_epi16::<1>(codes), _mm512_set1_epi16(!0x407f));
                let half_vectors = [_mm512_castsi512_si256(codes), _mm512_extracti64x4_epi64::<1>(codes)];
                for (level, half) in levels[i..].iter_mut().step_by(2).zip(half_vectors) {
                    *level = _mm512_mul_ps(_mm512_cvtph_ps(half), _mm512_set1_ps(256.0));
                }
            }
            levels
        }
    }

    #[inline(always)]
    fn next<const KIND: u8>(words: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srl_epi32(words, _mm_cvtsi32_si128(bits_of(KIND) as i32)) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const f32, permutation: __m512i) -> __m512 {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm512_permutexvar_ps(permutation, _mm512_loadu_ps(from)) }
    }
}
