//! Conversions between float16 and float32 with F16C or AVX-512 instructions. The results are those of
//! [`float16`](umber_kernels_base::float16), except that loading makes a NaN quiet.

use std::arch::x86_64::*;

/// Elements converted per instruction.
const BATCH: usize = 16;
/// The canonical NaN, without its sign.
const NAN: i16 = 0x7e00;
const SIGN: i16 = i16::MIN;

/// From memory to float32, by AVX-512.
///
/// # Safety
/// The processor has AVX-512F, and the contract of [`Kernel`](super::Kernel) holds.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn load_avx512(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
    for i in (0..n).step_by(BATCH) {
        // SAFETY: by the contract of `Kernel`, `n` elements are accessible, a multiple of LANES.
        unsafe {
            _mm512_storeu_ps(d.add(4 * i).cast(), _mm512_cvtph_ps(_mm256_loadu_si256(a.add(2 * i).cast())));
        };
    }
}

/// Round sixteen floats to float16.
///
/// # Safety
/// The caller is compiled for AVX-512 (F, BW and VL).
#[inline(always)]
pub(super) unsafe fn round_avx512(x: __m512) -> __m256i {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let half = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        let quiet = _mm256_or_si256(_mm256_and_si256(half, _mm256_set1_epi16(SIGN)), _mm256_set1_epi16(NAN));
        _mm256_mask_mov_epi16(half, is_nan, quiet)
    }
}

/// From float32 to memory, by AVX-512.
///
/// # Safety
/// As [`load_avx512`], with AVX-512BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn store_avx512(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
    for i in (0..n).step_by(BATCH) {
        // SAFETY: by the contract of `Kernel`, `n` elements are accessible, a multiple of LANES.
        unsafe {
            let x = _mm512_loadu_ps(a.add(4 * i).cast());
            _mm256_storeu_si256(d.add(2 * i).cast(), round_avx512(x));
        }
    }
}

/// From memory to float32, by F16C.
///
/// # Safety
/// The processor has F16C, and the contract of [`Kernel`](super::Kernel) holds.
#[target_feature(enable = "avx,f16c")]
pub(super) unsafe fn load_f16c(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
    for i in (0..n).step_by(BATCH / 2) {
        // SAFETY: by the contract of `Kernel`, `n` elements are accessible, a multiple of LANES.
        unsafe {
            _mm256_storeu_ps(d.add(4 * i).cast(), _mm256_cvtph_ps(_mm_loadu_si128(a.add(2 * i).cast())));
        };
    }
}

/// Round eight floats to float16.
///
/// # Safety
/// The caller is compiled for AVX2 and F16C.
#[inline(always)]
pub(super) unsafe fn round_f16c(x: __m256) -> __m128i {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        let wide = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
        let is_nan = _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256::<1>(wide));
        let quiet = _mm_or_si128(_mm_and_si128(half, _mm_set1_epi16(SIGN)), _mm_set1_epi16(NAN));
        _mm_blendv_epi8(half, quiet, is_nan)
    }
}

/// From float32 to memory, by F16C.
///
/// # Safety
/// As [`load_f16c`], with AVX2.
#[target_feature(enable = "avx2,f16c")]
pub(super) unsafe fn store_f16c(d: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
    for i in (0..n).step_by(BATCH / 2) {
        // SAFETY: by the contract of `Kernel`, `n` elements are accessible, a multiple of LANES.
        unsafe {
            let x = _mm256_loadu_ps(a.add(4 * i).cast());
            _mm_storeu_si128(d.add(2 * i).cast(), round_f16c(x));
        }
    }
}

#[cfg(test)]
mod tests {
    use umber_types::f16;

    use super::*;
    use crate::elementwise::Kernel;
    use umber_kernels_base::float16::{f16_to_f32, f32_to_f16};
    use umber_kernels_base::isa::level;

    fn check(load: Kernel, store: Kernel) {
        let float16s: Vec<u16> = (0..=u16::MAX).collect();
        let mut wide = vec![0f32; float16s.len()];
        let none = std::ptr::null();
        // SAFETY: the processor has the instructions, and both buffers have `wide.len()` elements, a multiple of LANES.
        unsafe { load(wide.as_mut_ptr().cast(), float16s.as_ptr().cast(), none, none, wide.len()) };
        for (&bits, &actual) in float16s.iter().zip(&wide) {
            let expected = f16_to_f32(f16::from_bits(bits));
            assert!(
                actual == expected || actual.is_nan() && expected.is_nan(),
                "{bits:x}: {actual} {expected}"
            );
        }
        // Values between float16 numbers, ties, and values out of range.
        let floats: Vec<f32> = (0..1 << 20).map(|i: u32| f32::from_bits(i.wrapping_mul(4096 + 1))).collect();
        let mut actual = vec![0u16; floats.len()];
        // SAFETY: as above, with `floats.len()` elements.
        unsafe { store(actual.as_mut_ptr().cast(), floats.as_ptr().cast(), none, none, floats.len()) };
        for (&x, &actual) in floats.iter().zip(&actual) {
            assert_eq!(actual, f32_to_f16(x).to_bits(), "{x:e} {:x}", x.to_bits());
        }
    }

    #[test]
    fn conversions_match_the_portable_functions() {
        if level() >= 1 {
            check(load_f16c, store_f16c);
        }
        if level() >= 2 {
            check(load_avx512, store_avx512);
        }
    }
}
