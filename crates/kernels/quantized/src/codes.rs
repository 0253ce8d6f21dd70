//! Values of codes before scaling: integers or small floats.

#[cfg(target_arch = "x86_64")]
use umber_kernels_base::isa::level;
use umber_kernels_base::isa::vectorised;
use umber_types::{Quantization, QuantizationMode};

use super::fp8::{from_fp4, from_fp8};
#[cfg(target_arch = "x86_64")]
use super::kinds::{FP4, table};
#[cfg(target_arch = "x86_64")]
use super::unpack_bits;

/// The unscaled values of all codes in some words, which hold whole groups.
pub(super) fn dequantize_codes(format: Quantization, words: &[u32], out: &mut [f32]) {
    debug_assert_eq!(words.len() * 32, out.len() * format.bits());
    match (format.mode(), format.bits()) {
        (QuantizationMode::Mxfp4 | QuantizationMode::Nvfp4, _) => {
            unpack_aligned::<4, 8>(words, out, from_fp4);
        }
        (QuantizationMode::Mxfp8, _) => bytes(words, out, from_fp8),
        (QuantizationMode::Affine, 1) => integers::<1, 32>(words, out),
        (QuantizationMode::Affine, 2) => integers::<2, 16>(words, out),
        (QuantizationMode::Affine, 3) => integers_crossing::<3>(words, out),
        (QuantizationMode::Affine, 4) => integers::<4, 8>(words, out),
        (QuantizationMode::Affine, 5) => integers_crossing::<5>(words, out),
        (QuantizationMode::Affine, 6) => integers_crossing::<6>(words, out),
        (QuantizationMode::Affine, _) => bytes(words, out, integer),
    }
}

/// The code of zero among [`FP4_INTEGERS`].
#[cfg(target_arch = "x86_64")]
pub(super) const FP4_ZERO_POINT: u8 = 12;

/// The FP4 (E2M1) values as unsigned integers: twice the value plus [`FP4_ZERO_POINT`].
#[cfg(target_arch = "x86_64")]
pub(super) const FP4_INTEGERS: [u8; 16] = {
    let (levels, mut integers) = (table::<FP4>(0), [0; 16]);
    let mut code = 0;
    while code < 16 {
        integers[code] = (2.0 * levels[code] + FP4_ZERO_POINT as f32) as u8;
        code += 1;
    }
    integers
};

/// Unpack bytes that hold two, four or eight codes to one code per byte.
#[cfg(target_arch = "x86_64")]
fn unpack(format: Quantization, packed: &[u8], out: &mut [u8]) {
    #[inline(always)]
    fn code<const BITS: usize>(byte: u8, i: usize) -> u8 {
        byte >> (i * BITS) & ((1 << BITS) - 1)
    }
    debug_assert_eq!(packed.len() * 8, out.len() * format.bits());
    match format.bits() {
        1 => each::<8, _, _>(packed, out, code::<1>),
        2 => each::<4, _, _>(packed, out, code::<2>),
        _ => each::<2, _, _>(packed, out, code::<4>),
    }
}

/// Unpack the codes in some words of affine mode, which hold whole groups, to one code per byte. FP4 codes become
/// [`FP4_INTEGERS`].
#[cfg(target_arch = "x86_64")]
pub(super) fn codes(format: Quantization, words: &[u32], out: &mut [u8]) {
    fn byte(code: u32) -> u8 {
        code as u8
    }
    match format.bits() {
        // SAFETY: integer kernels only run with AVX-512, which includes AVX2.
        _ if !format.has_biases() => unsafe { fp4_numbers(as_bytes(words), out) },
        // SAFETY: `is_available` checked the instructions.
        bits @ (3 | 5 | 6) if unpack_bits::is_available() => unsafe {
            unpack_bits::codes(bits, as_bytes(words), out);
        },
        3 => unpack_crossing::<3, _>(words, out, byte),
        5 => unpack_crossing::<5, _>(words, out, byte),
        6 => unpack_crossing::<6, _>(words, out, byte),
        8 => out.copy_from_slice(as_bytes(words)),
        _ => unpack(format, as_bytes(words), out),
    }
}

/// Unpack FP4 codes to [`FP4_INTEGERS`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fp4_numbers(packed: &[u8], out: &mut [u8]) {
    use std::arch::x86_64::*;
    // SAFETY: the array has the 16 bytes that are loaded.
    let (integers, low) = unsafe { (_mm_loadu_si128(FP4_INTEGERS.as_ptr().cast()), _mm_set1_epi8(15)) };
    // Groups have sixteen codes or more.
    for (packed, out) in packed.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<16>().0) {
        // SAFETY: eight bytes are read, sixteen written.
        unsafe {
            let packed = _mm_loadl_epi64(packed.as_ptr().cast());
            let codes = _mm_unpacklo_epi8(packed, _mm_srli_epi16::<4>(packed));
            let codes = _mm_shuffle_epi8(integers, _mm_and_si128(codes, low));
            _mm_storeu_si128(out.as_mut_ptr().cast(), codes);
        }
    }
}

/// The bytes of packed words. On little-endian processors they are in the order of the codes, which fill a word from its
/// lowest bits.
pub(super) fn as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: the same memory; every byte is a valid `u8`.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[inline(always)]
fn integer(code: u32) -> f32 {
    code as i32 as f32
}

/// Unpack codes that do not cross words, which hold `COUNT` each.
#[inline(always)]
fn unpack_aligned<const BITS: usize, const COUNT: usize>(
    words: &[u32],
    out: &mut [f32],
    level: impl Fn(u32) -> f32,
) {
    each::<COUNT, _, _>(
        words,
        out,
        #[inline(always)]
        |word, i| level(word >> (i * BITS) & ((1 << BITS) - 1)),
    );
}

/// As [`unpack_aligned`] for integers. The compiler would vectorise across eight words and transpose the results; here eight
/// codes of one word are shifted by different counts.
fn integers<const BITS: usize, const COUNT: usize>(words: &[u32], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level() > 0 {
        assert!(words.len() * COUNT <= out.len(), "output too short for the codes");
        // SAFETY: the processor has AVX2, and the assertion checked the length.
        return unsafe { integers_avx2::<BITS, COUNT>(words, out.as_mut_ptr()) };
    }
    unpack_aligned::<BITS, COUNT>(words, out, integer);
}

/// # Safety
/// `out` has space for all codes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn integers_avx2<const BITS: usize, const COUNT: usize>(words: &[u32], out: *mut f32) {
    use std::arch::x86_64::*;
    const LANES: usize = 8;
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let shifts = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(BITS as i32));
    let code = _mm256_set1_epi32((1 << BITS) - 1);
    for (i, &word) in words.iter().enumerate() {
        for chunk in 0..COUNT / LANES {
            let word = _mm256_set1_epi32((word >> (chunk * LANES * BITS)) as i32);
            let codes = _mm256_and_si256(_mm256_srlv_epi32(word, shifts), code);
            // SAFETY: guaranteed by the caller of this function.
            unsafe { _mm256_storeu_ps(out.add(i * COUNT + chunk * LANES), _mm256_cvtepi32_ps(codes)) };
        }
    }
}

/// Apply `read` to each of the `COUNT` codes in every packed word or byte.
#[inline(always)]
fn each<const COUNT: usize, P: Copy, T>(packed: &[P], out: &mut [T], read: impl Fn(P, usize) -> T) {
    vectorised(
        #[inline(always)]
        || {
            // The constant length turns the shifts into one vector shift.
            for (&packed, out) in packed.iter().zip(out.as_chunks_mut::<COUNT>().0) {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = read(packed, i);
                }
            }
        },
    );
}

/// Unpack 8-bit codes.
#[inline(always)]
fn bytes(words: &[u32], out: &mut [f32], level: impl Fn(u32) -> f32) {
    if cfg!(target_endian = "big") {
        return unpack_aligned::<8, 4>(words, out, level);
    }
    vectorised(
        #[inline(always)]
        || {
            for (&code, out) in as_bytes(words).iter().zip(out) {
                *out = level(u32::from(code));
            }
        },
    );
}

/// Unpack codes that cross word boundaries: 32 codes fill `BITS` words.
#[inline(always)]
fn unpack_crossing<const BITS: usize, T>(words: &[u32], out: &mut [T], level: impl Fn(u32) -> T) {
    vectorised(
        #[inline(always)]
        || {
            for (words, out) in words.chunks_exact(BITS).zip(out.chunks_exact_mut(32)) {
                for (chunk, out) in out.chunks_exact_mut(8).enumerate() {
                    let bits = eight::<BITS>(words, chunk);
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = level((bits >> (i * BITS)) as u32 & ((1 << BITS) - 1));
                    }
                }
            }
        },
    );
}

/// Eight codes in the lowest bits of the result. `BITS` words hold four groups of eight codes, and `chunk` selects the group,
/// which may cross a word boundary.
#[inline(always)]
fn eight<const BITS: usize>(words: &[u32], chunk: usize) -> u64 {
    let (first, shift) = (chunk * 8 * BITS / 32, chunk * 8 * BITS % 32);
    let high = if first + 1 < BITS { u64::from(words[first + 1]) } else { 0 };
    (u64::from(words[first]) | high << 32) >> shift
}

/// As [`unpack_crossing`] for integers. The compiler would use 64-bit shifts.
fn integers_crossing<const BITS: usize>(words: &[u32], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level() > 0 {
        assert!(words.len() / BITS * 32 <= out.len(), "output too short for the codes");
        // SAFETY: the processor has AVX2, and the assertion checked the length.
        return unsafe { integers_crossing_avx2::<BITS>(words, out.as_mut_ptr()) };
    }
    unpack_crossing::<BITS, _>(words, out, integer);
}

/// # Safety
/// `out` has space for all codes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn integers_crossing_avx2<const BITS: usize>(words: &[u32], out: *mut f32) {
    use std::arch::x86_64::*;
    // Four codes fit a lane of 32 bits.
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
    let shifts = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(BITS as i32));
    let code = _mm256_set1_epi32((1 << BITS) - 1);
    for (i, words) in words.chunks_exact(BITS).enumerate() {
        for chunk in 0..4 {
            let bits = eight::<BITS>(words, chunk);
            let (low, high) = (bits as i32, (bits >> (4 * BITS)) as i32);
            let fours = _mm256_setr_m128i(_mm_set1_epi32(low), _mm_set1_epi32(high));
            let codes = _mm256_and_si256(_mm256_srlv_epi32(fours, shifts), code);
            // SAFETY: guaranteed by the caller of this function.
            unsafe { _mm256_storeu_ps(out.add(i * 32 + chunk * 8), _mm256_cvtepi32_ps(codes)) };
        }
    }
}
