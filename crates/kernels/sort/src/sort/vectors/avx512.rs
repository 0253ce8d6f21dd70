//! AVX-512 lanes. Partitions use the compress instructions.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use umber_kernels_base::transpose::avx512 as transpose;

use super::lanes::{Lanes, upper};
use super::networks::{BLOCK, sort_columns};

/// Items in registers of 64 bytes.
pub(in crate::sort) struct Avx512<T>(PhantomData<T>);

/// # Safety
///
/// The processor has AVX-512F, BMI2 and POPCNT.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn with_avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Permutations of lanes: in row `x` lane `i` takes the value of lane `i ^ x`.
macro_rules! xor_permutations {
    ($ty:ty, $count:literal) => {{
        let mut xor_permutations = [[0; $count]; $count];
        let mut x = 0;
        while x < $count {
            let mut i = 0;
            while i < $count {
                xor_permutations[x][i] = (i ^ x) as $ty;
                i += 1;
            }
            x += 1;
        }
        xor_permutations
    }};
}

macro_rules! lanes {
    (
        $ty:ident: $count:literal lanes, $mask:ty, set1 $set1:ident, load $load:ident, store $store:ident,
        pack $pack:ident, below $below:ident, min $min:ident, max $max:ident, mask_max $mask_max:ident,
        permute $permute:ident, sort $($sort:literal)*, merge $($merge:literal)*, networks $network:expr, runs $runs:path
    ) => {
        impl Avx512<$ty> {
            #[inline(always)]
            unsafe fn first(count: usize) -> $mask {
                ((1u32 << count) - 1) as $mask
            }
            /// Compare and exchange lanes `i` and `i ^ X`: the lower lane gets the minimum.
            #[inline(always)]
            unsafe fn order<const X: usize>(vector: __m512i) -> __m512i {
                const PERMUTATIONS: [[$ty; $count]; $count] = xor_permutations!($ty, $count);
                // SAFETY: the array fills a register, and the caller guarantees AVX-512.
                unsafe {
                    let partner = $permute(_mm512_loadu_si512(PERMUTATIONS[X].as_ptr().cast()), vector);
                    $mask_max($min(vector, partner), const { upper(X, $count) } as $mask, vector, partner)
                }
            }
        }

        // SAFETY: each function only executes its instructions, on the pointers that the trait allows.
        unsafe impl Lanes for Avx512<$ty> {
            type Item = $ty;
            type Vector = __m512i;
            const COUNT: usize = $count;
            const NETWORK: usize = $network;
            const RUN: usize = 1;
            #[inline(always)]
            unsafe fn compiled<R>(body: impl FnOnce() -> R) -> R {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { with_avx512(body) }
            }
            #[inline(always)]
            fn next(item: $ty) -> $ty {
                item.saturating_add(1)
            }
            #[inline(always)]
            unsafe fn load(from: *const $ty) -> __m512i {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { _mm512_loadu_si512(from.cast()) }
            }
            #[inline(always)]
            unsafe fn pivots(pivot: $ty) -> __m512i {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $set1(pivot.cast_signed()) }
            }
            #[inline(always)]
            unsafe fn partition(vector: __m512i, pivots: __m512i, low: *mut $ty, high: *mut $ty) -> usize {
                // SAFETY: guaranteed by the caller of this function.
                unsafe {
                    let below = $below(vector, pivots);
                    let ones = below.count_ones() as usize;
                    _mm512_storeu_si512(low.cast(), $pack(below, vector));
                    let above = $count - ones;
                    $store(high.sub(above).cast(), Self::first(above), $pack(!below, vector));
                    ones
                }
            }
            #[inline(always)]
            unsafe fn partition_partial(items: &[$ty], pivot: $ty, low: &mut *mut $ty, high: &mut *mut $ty) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe {
                    let vector = Self::load_partial(items.as_ptr(), items.len());
                    let valid = Self::first(items.len());
                    let below = $below(vector, Self::pivots(pivot)) & valid;
                    let ones = below.count_ones() as usize;
                    $store(low.cast(), Self::first(ones), $pack(below, vector));
                    *low = low.add(ones);
                    let above = items.len() - ones;
                    *high = high.sub(above);
                    $store(high.cast(), Self::first(above), $pack(valid & !below, vector));
                }
            }
            #[inline(always)]
            unsafe fn load_partial(from: *const $ty, count: usize) -> __m512i {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $load($set1(-1), Self::first(count), from.cast()) }
            }
            #[inline(always)]
            unsafe fn store_partial(to: *mut $ty, count: usize, vector: __m512i) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $store(to.cast(), Self::first(count), vector) }
            }
            #[inline(always)]
            unsafe fn min_max(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { ($min(a, b), $max(a, b)) }
            }
            #[inline(always)]
            unsafe fn reverse(vector: __m512i) -> __m512i {
                const PERMUTATIONS: [[$ty; $count]; $count] = xor_permutations!($ty, $count);
                // SAFETY: the array fills a register, and the caller guarantees AVX-512.
                unsafe { $permute(_mm512_loadu_si512(PERMUTATIONS[$count - 1].as_ptr().cast()), vector) }
            }
            #[inline(always)]
            unsafe fn sort_runs(vectors: &mut [__m512i; BLOCK]) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $runs(vectors) }
            }
            #[inline(always)]
            unsafe fn sort(mut vector: __m512i) -> __m512i {
                // SAFETY: guaranteed by the caller of this function.
                $(vector = unsafe { Self::order::<$sort>(vector) };)*
                vector
            }
            #[inline(always)]
            unsafe fn merge(mut vector: __m512i) -> __m512i {
                // SAFETY: guaranteed by the caller of this function.
                $(vector = unsafe { Self::order::<$merge>(vector) };)*
                vector
            }
        }
    };
}

lanes! {
    u32: 16 lanes, u16, set1 _mm512_set1_epi32, load _mm512_mask_loadu_epi32, store _mm512_mask_storeu_epi32,
    pack _mm512_maskz_compress_epi32, below _mm512_cmplt_epu32_mask, min _mm512_min_epu32, max _mm512_max_epu32,
    mask_max _mm512_mask_max_epu32, permute _mm512_permutexvar_epi32,
    sort 1 3 1 7 2 1 15 4 2 1, merge 8 4 2 1, networks 8 * BLOCK, runs columns
}
lanes! {
    u64: 8 lanes, u8, set1 _mm512_set1_epi64, load _mm512_mask_loadu_epi64, store _mm512_mask_storeu_epi64,
    pack _mm512_maskz_compress_epi64, below _mm512_cmplt_epu64_mask, min _mm512_min_epu64, max _mm512_max_epu64,
    mask_max _mm512_mask_max_epu64, permute _mm512_permutexvar_epi64,
    sort 1 3 1 7 2 1, merge 4 2 1, networks BLOCK, runs each
}

/// Sort each register separately.
///
/// # Safety
///
/// The processor has AVX-512.
#[inline(always)]
unsafe fn each(vectors: &mut [__m512i; BLOCK]) {
    for vector in vectors {
        // SAFETY: guaranteed by the caller of this function.
        *vector = unsafe { Avx512::<u64>::sort(*vector) };
    }
}

/// Sort the columns of a square block of registers, then transpose it so that each register is sorted.
///
/// # Safety
///
/// The processor has AVX-512.
#[inline(always)]
unsafe fn columns(vectors: &mut [__m512i; BLOCK]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        sort_columns::<Avx512<u32>>(vectors);
        *vectors = transpose::words(*vectors);
    }
}
