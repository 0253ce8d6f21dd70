//! Vectors of x86-64: AVX-512 and AVX2.
//!
//! All functions are unsafe because they need the instruction set of their vector type, and pointers must be valid for all
//! lanes.

use std::arch::x86_64::*;

use super::{Vector, WithSimd};

macro_rules! vector {
    ($v:ident, $t:ident, $n:literal, [$splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident,
     $mul_add:ident, $mul_sub:ident, $neg_mul_add:ident, $div:ident], [$abs:ident, $bits:ident, $choose:ident], $deinterleave:ident, $interleave:ident, $reversed:ident, $transpose:ident) => {
        // Only used where the processor has the instructions, as the trait requires.
        impl Vector for $v {
            type Lane = $t;
            type Square = [$v; $n];
            const LANES: usize = $n;

            #[inline(always)]
            unsafe fn splat(x: $t) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn add(self, other: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            unsafe fn sub(self, other: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $sub(self, other) }
            }
            #[inline(always)]
            unsafe fn mul(self, other: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $mul(self, other) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, a: $v, b: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $mul_add(self, a, b) }
            }
            #[inline(always)]
            unsafe fn mul_sub(self, a: $v, b: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $mul_sub(self, a, b) }
            }
            #[inline(always)]
            unsafe fn neg_mul_add(self, a: $v, b: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $neg_mul_add(self, a, b) }
            }
            #[inline(always)]
            unsafe fn div(self, other: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $div(self, other) }
            }
            #[inline(always)]
            unsafe fn abs(self) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $abs(self) }
            }
            #[inline(always)]
            unsafe fn gt_mask(self, other: $v) -> u32 {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $bits::<_CMP_GT_OQ>(self, other) }
            }
            #[inline(always)]
            unsafe fn eq_mask(self, other: $v) -> u32 {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $bits::<_CMP_EQ_OQ>(self, other) }
            }
            #[inline(always)]
            unsafe fn select_gt(self, other: $v, then: $v, otherwise: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $choose::<_CMP_GT_OQ>(self, other, then, otherwise) }
            }
            #[inline(always)]
            unsafe fn select_eq(self, other: $v, then: $v, otherwise: $v) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $choose::<_CMP_EQ_OQ>(self, other, then, otherwise) }
            }
            #[inline(always)]
            unsafe fn prefetch(at: *const $t) {
                // SAFETY: prefetching is harmless at any address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
            }
            #[inline(always)]
            unsafe fn deinterleave(a: $v, b: $v) -> [$v; 2] {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $deinterleave(a, b) }
            }
            #[inline(always)]
            unsafe fn interleave(a: $v, b: $v) -> [$v; 2] {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $interleave(a, b) }
            }
            #[inline(always)]
            unsafe fn reversed(self) -> $v {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $reversed(self) }
            }
            #[inline(always)]
            unsafe fn square(x: $v) -> [$v; $n] {
                [x; $n]
            }
            #[inline(always)]
            unsafe fn transpose(x: &mut [$v; $n]) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $transpose(x) }
            }
        }
    };
}

vector!(
    __m512,
    f32,
    16,
    [
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_fmsub_ps,
        _mm512_fnmadd_ps,
        _mm512_div_ps
    ],
    [_mm512_abs_ps, bits16, select16],
    deinterleave16,
    interleave16,
    reversed16,
    transpose16
);
vector!(
    __m512d,
    f64,
    8,
    [
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_fmadd_pd,
        _mm512_fmsub_pd,
        _mm512_fnmadd_pd,
        _mm512_div_pd
    ],
    [_mm512_abs_pd, bits8d, select8d],
    deinterleave8d,
    interleave8d,
    reversed8d,
    transpose8d
);
vector!(
    __m256,
    f32,
    8,
    [
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_fmsub_ps,
        _mm256_fnmadd_ps,
        _mm256_div_ps
    ],
    [abs8, bits8, select8],
    deinterleave8,
    interleave8,
    reversed8,
    transpose8
);
vector!(
    __m256d,
    f64,
    4,
    [
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        _mm256_fmsub_pd,
        _mm256_fnmadd_pd,
        _mm256_div_pd
    ],
    [abs4d, bits4d, select4d],
    deinterleave4d,
    interleave4d,
    reversed4d,
    transpose4d
);

#[inline(always)]
unsafe fn bits16<const TEST: i32>(a: __m512, b: __m512) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    u32::from(unsafe { _mm512_cmp_ps_mask::<TEST>(a, b) })
}
#[inline(always)]
unsafe fn select16<const TEST: i32>(a: __m512, b: __m512, then: __m512, otherwise: __m512) -> __m512 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<TEST>(a, b), otherwise, then) }
}

#[inline(always)]
unsafe fn bits8d<const TEST: i32>(a: __m512d, b: __m512d) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    u32::from(unsafe { _mm512_cmp_pd_mask::<TEST>(a, b) })
}
#[inline(always)]
unsafe fn select8d<const TEST: i32>(a: __m512d, b: __m512d, then: __m512d, otherwise: __m512d) -> __m512d {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<TEST>(a, b), otherwise, then) }
}

#[inline(always)]
unsafe fn abs8(a: __m256) -> __m256 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
}
#[inline(always)]
unsafe fn bits8<const TEST: i32>(a: __m256, b: __m256) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<TEST>(a, b)) as u32 }
}
#[inline(always)]
unsafe fn select8<const TEST: i32>(a: __m256, b: __m256, then: __m256, otherwise: __m256) -> __m256 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<TEST>(a, b)) }
}

#[inline(always)]
unsafe fn abs4d(a: __m256d) -> __m256d {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), a) }
}
#[inline(always)]
unsafe fn bits4d<const TEST: i32>(a: __m256d, b: __m256d) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<TEST>(a, b)) as u32 }
}
#[inline(always)]
unsafe fn select4d<const TEST: i32>(a: __m256d, b: __m256d, then: __m256d, otherwise: __m256d) -> __m256d {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_blendv_pd(otherwise, then, _mm256_cmp_pd::<TEST>(a, b)) }
}

#[inline(always)]
unsafe fn deinterleave16(a: __m512, b: __m512) -> [__m512; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        [_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)]
    }
}
#[inline(always)]
unsafe fn interleave16(a: __m512, b: __m512) -> [__m512; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        [_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b)]
    }
}
#[inline(always)]
unsafe fn reversed16(a: __m512) -> __m512 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let reversed_order = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        _mm512_permutexvar_ps(reversed_order, a)
    }
}
#[inline(always)]
unsafe fn transpose16(x: &mut [__m512; 16]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut y = *x;
        for i in 0..8 {
            y[2 * i] = _mm512_unpacklo_ps(x[2 * i], x[2 * i + 1]);
            y[2 * i + 1] = _mm512_unpackhi_ps(x[2 * i], x[2 * i + 1]);
        }
        // Columns 4b + c of rows 4i.. in quarter b of x[4i + c].
        for i in 0..4 {
            let (a, b) = (_mm512_castps_pd(y[4 * i]), _mm512_castps_pd(y[4 * i + 1]));
            let (c, d) = (_mm512_castps_pd(y[4 * i + 2]), _mm512_castps_pd(y[4 * i + 3]));
            x[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
            x[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
            x[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
            x[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
        }
        for c in 0..4 {
            let low = _mm512_shuffle_f32x4::<0x88>(x[c], x[4 + c]);
            let high = _mm512_shuffle_f32x4::<0xdd>(x[c], x[4 + c]);
            let low2 = _mm512_shuffle_f32x4::<0x88>(x[8 + c], x[12 + c]);
            let high2 = _mm512_shuffle_f32x4::<0xdd>(x[8 + c], x[12 + c]);
            y[c] = _mm512_shuffle_f32x4::<0x88>(low, low2);
            y[8 + c] = _mm512_shuffle_f32x4::<0xdd>(low, low2);
            y[4 + c] = _mm512_shuffle_f32x4::<0x88>(high, high2);
            y[12 + c] = _mm512_shuffle_f32x4::<0xdd>(high, high2);
        }
        *x = y;
    }
}

#[inline(always)]
unsafe fn deinterleave8d(a: __m512d, b: __m512d) -> [__m512d; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        [_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b)]
    }
}
#[inline(always)]
unsafe fn interleave8d(a: __m512d, b: __m512d) -> [__m512d; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        [_mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(a, high, b)]
    }
}
#[inline(always)]
unsafe fn reversed8d(a: __m512d) -> __m512d {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a) }
}
#[inline(always)]
unsafe fn transpose8d(x: &mut [__m512d; 8]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut y = *x;
        for i in 0..4 {
            y[2 * i] = _mm512_unpacklo_pd(x[2 * i], x[2 * i + 1]);
            y[2 * i + 1] = _mm512_unpackhi_pd(x[2 * i], x[2 * i + 1]);
        }
        for c in 0..2 {
            let low = _mm512_shuffle_f64x2::<0x88>(y[c], y[2 + c]);
            let high = _mm512_shuffle_f64x2::<0xdd>(y[c], y[2 + c]);
            let low2 = _mm512_shuffle_f64x2::<0x88>(y[4 + c], y[6 + c]);
            let high2 = _mm512_shuffle_f64x2::<0xdd>(y[4 + c], y[6 + c]);
            x[c] = _mm512_shuffle_f64x2::<0x88>(low, low2);
            x[4 + c] = _mm512_shuffle_f64x2::<0xdd>(low, low2);
            x[2 + c] = _mm512_shuffle_f64x2::<0x88>(high, high2);
            x[6 + c] = _mm512_shuffle_f64x2::<0xdd>(high, high2);
        }
    }
}

#[inline(always)]
unsafe fn deinterleave8(a: __m256, b: __m256) -> [__m256; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm256_permute2f128_ps::<0x20>(a, b);
        let high = _mm256_permute2f128_ps::<0x31>(a, b);
        [_mm256_shuffle_ps::<0x88>(low, high), _mm256_shuffle_ps::<0xdd>(low, high)]
    }
}
#[inline(always)]
unsafe fn interleave8(a: __m256, b: __m256) -> [__m256; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm256_unpacklo_ps(a, b);
        let high = _mm256_unpackhi_ps(a, b);
        [_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high)]
    }
}
#[inline(always)]
unsafe fn reversed8(a: __m256) -> __m256 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)) }
}
#[inline(always)]
unsafe fn transpose8(x: &mut [__m256; 8]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut y = *x;
        for i in 0..4 {
            y[i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
            y[i + 4] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
        }
        for i in 0..2 {
            x[i] = _mm256_shuffle_ps::<0x44>(y[2 * i], y[2 * i + 1]);
            x[i + 2] = _mm256_shuffle_ps::<0xee>(y[2 * i], y[2 * i + 1]);
            x[i + 4] = _mm256_shuffle_ps::<0x44>(y[2 * i + 4], y[2 * i + 5]);
            x[i + 6] = _mm256_shuffle_ps::<0xee>(y[2 * i + 4], y[2 * i + 5]);
        }
        for i in 0..4 {
            y[i] = _mm256_permute2f128_ps::<0x20>(x[2 * i], x[2 * i + 1]);
            y[i + 4] = _mm256_permute2f128_ps::<0x31>(x[2 * i], x[2 * i + 1]);
        }
        *x = y;
    }
}
#[inline(always)]
unsafe fn deinterleave4d(a: __m256d, b: __m256d) -> [__m256d; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm256_permute2f128_pd::<0x20>(a, b);
        let high = _mm256_permute2f128_pd::<0x31>(a, b);
        [_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high)]
    }
}
#[inline(always)]
unsafe fn interleave4d(a: __m256d, b: __m256d) -> [__m256d; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let low = _mm256_unpacklo_pd(a, b);
        let high = _mm256_unpackhi_pd(a, b);
        [_mm256_permute2f128_pd::<0x20>(low, high), _mm256_permute2f128_pd::<0x31>(low, high)]
    }
}
#[inline(always)]
unsafe fn reversed4d(a: __m256d) -> __m256d {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { _mm256_permute4x64_pd::<0x1b>(a) }
}
#[inline(always)]
unsafe fn transpose4d(x: &mut [__m256d; 4]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let a = _mm256_unpacklo_pd(x[0], x[1]);
        let b = _mm256_unpackhi_pd(x[0], x[1]);
        let c = _mm256_unpacklo_pd(x[2], x[3]);
        let d = _mm256_unpackhi_pd(x[2], x[3]);
        x[0] = _mm256_permute2f128_pd::<0x20>(a, c);
        x[1] = _mm256_permute2f128_pd::<0x20>(b, d);
        x[2] = _mm256_permute2f128_pd::<0x31>(a, c);
        x[3] = _mm256_permute2f128_pd::<0x31>(b, d);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
/// Run with the widest vectors.
///
/// # Safety
///
/// The processor has AVX-512 F, BW, DQ and VL.
pub(super) unsafe fn wide32<W: WithSimd<f32>>(work: W) -> W::Output {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { work.run::<__m512>() }
}
/// # Safety
///
/// As for [`wide32`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
pub(super) unsafe fn wide64<W: WithSimd<f64>>(work: W) -> W::Output {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { work.run::<__m512d>() }
}
/// # Safety
///
/// The processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn half32<W: WithSimd<f32>>(work: W) -> W::Output {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { work.run::<__m256>() }
}
/// # Safety
///
/// As for [`half32`].
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn half64<W: WithSimd<f64>>(work: W) -> W::Output {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { work.run::<__m256d>() }
}
