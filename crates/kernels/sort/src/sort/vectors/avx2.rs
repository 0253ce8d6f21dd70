//! AVX2 lanes. Partitions permute the lanes by a lookup table with one permutation per mask.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::lanes::{Lanes, upper};
use super::networks::{BLOCK, sort_columns};

/// Items in registers of 32 bytes.
pub(in crate::sort) struct Avx2<T>(PhantomData<T>);

/// # Safety
///
/// The processor has AVX2, BMI2 and POPCNT.
#[target_feature(enable = "avx2,bmi2,popcnt")]
unsafe fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// For each mask of `lanes` lanes: the indices of the 32-bit words of the lanes in the mask, then those of the others, both
/// in order.
const fn compress_table<const MASKS: usize>(lanes: usize) -> [[u8; 8]; MASKS] {
    let words = 8 / lanes;
    let mut table = [[0; 8]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut position, mut side) = (0, 0);
        while side < 2 {
            let mut word = 0;
            while word < 8 {
                let is_in = mask >> (word / words) & 1 == 1;
                if is_in == (side == 0) {
                    table[mask][position] = word as u8;
                    position += 1;
                }
                word += 1;
            }
            side += 1;
        }
        mask += 1;
    }
    table
}

static COMPRESS_WORDS: [[u8; 8]; 256] = compress_table(8);
static COMPRESS_PAIRS: [[u8; 8]; 16] = compress_table(4);

/// Eight words with all bits set, then eight zeros: an unaligned load is a mask of the first lanes.
static FIRST: [u32; 16] =
    [u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0, 0, 0, 0, 0, 0, 0, 0];

/// A mask of the first `words` words of a register.
///
/// # Safety
///
/// The processor has AVX2, and `words` is at most eight.
#[inline(always)]
unsafe fn first(words: usize) -> __m256i {
    debug_assert!(words <= 8);
    // SAFETY: guaranteed by the caller of this function: the load begins at most eight words after the start.
    unsafe { _mm256_loadu_si256(FIRST.as_ptr().add(8 - words).cast()) }
}

/// Permute a register, and store it both from `low` on and before `high`.
///
/// # Safety
///
/// There is space for a full register at either end, and the processor has AVX2.
#[inline(always)]
unsafe fn compress_store<T>(vector: __m256i, permutation: &[u8; 8], low: *mut T, high: *mut T) {
    // SAFETY: guaranteed by the caller of this function; the permutation has the eight bytes that are loaded.
    unsafe {
        let permutation = _mm256_cvtepu8_epi32(_mm_loadl_epi64(permutation.as_ptr().cast()));
        let compressed = _mm256_permutevar8x32_epi32(vector, permutation);
        _mm256_storeu_si256(low.cast(), compressed);
        _mm256_storeu_si256(high.cast::<__m256i>().sub(1), compressed);
    }
}

/// [`Lanes::partition_partial`], item by item.
///
/// # Safety
///
/// There is space for all items between `low` and `high`.
#[inline(always)]
unsafe fn partition_items<T: Copy + Ord>(items: &[T], pivot: T, low: &mut *mut T, high: &mut *mut T) {
    for &item in items {
        let is_below = item < pivot;
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let last_free = high.sub(1);
            // Branch-free: the item is stored at both ends, and the wrong copy is overwritten later, or both are the last
            // free element.
            low.write(item);
            last_free.write(item);
            *low = low.add(usize::from(is_below));
            *high = high.sub(usize::from(!is_below));
        }
    }
}

/// Transpose four registers of four pairs of words: lane `j` of register `i` becomes lane `i` of register `j`.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn transposed_pairs([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let (e, f) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (g, h) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(e, g),
            _mm256_permute2x128_si256::<0x20>(f, h),
            _mm256_permute2x128_si256::<0x31>(e, g),
            _mm256_permute2x128_si256::<0x31>(f, h),
        ]
    }
}

/// As [`transposed_pairs`], for eight registers of eight words.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn transposed([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let (i, j) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (k, l) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        let (m, n) = (_mm256_unpacklo_epi32(e, f), _mm256_unpackhi_epi32(e, f));
        let (o, p) = (_mm256_unpacklo_epi32(g, h), _mm256_unpackhi_epi32(g, h));
        // Pairs of words: those of lanes 0 and 4, of lanes 1 and 5, and so on, each from four registers.
        let [a, b] = [_mm256_unpacklo_epi64(i, k), _mm256_unpackhi_epi64(i, k)];
        let [c, d] = [_mm256_unpacklo_epi64(j, l), _mm256_unpackhi_epi64(j, l)];
        let [e, f] = [_mm256_unpacklo_epi64(m, o), _mm256_unpackhi_epi64(m, o)];
        let [g, h] = [_mm256_unpacklo_epi64(n, p), _mm256_unpackhi_epi64(n, p)];
        [
            _mm256_permute2x128_si256::<0x20>(a, e),
            _mm256_permute2x128_si256::<0x20>(b, f),
            _mm256_permute2x128_si256::<0x20>(c, g),
            _mm256_permute2x128_si256::<0x20>(d, h),
            _mm256_permute2x128_si256::<0x31>(a, e),
            _mm256_permute2x128_si256::<0x31>(b, f),
            _mm256_permute2x128_si256::<0x31>(c, g),
            _mm256_permute2x128_si256::<0x31>(d, h),
        ]
    }
}

impl Avx2<u32> {
    /// Compare and exchange lanes `i` and `i ^ X`: the lower lane gets the minimum.
    ///
    /// # Safety
    ///
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn order<const X: usize, const UPPER: i32>(vector: __m256i) -> __m256i {
        const { assert!(UPPER as u32 == upper(X, 8)) };
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let partner = match X {
                1 => _mm256_shuffle_epi32::<0b10_11_00_01>(vector),
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(vector),
                3 => _mm256_shuffle_epi32::<0b00_01_10_11>(vector),
                4 => _mm256_permute2x128_si256::<1>(vector, vector),
                7 => Self::reverse(vector),
                _ => unreachable!("networks of eight lanes have no such step"),
            };
            let (min, max) = Self::min_max(vector, partner);
            _mm256_blend_epi32::<UPPER>(min, max)
        }
    }
}

// SAFETY: each function only executes its instructions, on the pointers that the trait allows.
unsafe impl Lanes for Avx2<u32> {
    type Item = u32;
    type Vector = __m256i;
    const COUNT: usize = 8;
    const NETWORK: usize = 128;
    const RUN: usize = 2;
    #[inline(always)]
    unsafe fn compiled<R>(body: impl FnOnce() -> R) -> R {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { with_avx2(body) }
    }
    #[inline(always)]
    fn next(item: u32) -> u32 {
        item.saturating_add(1)
    }
    #[inline(always)]
    unsafe fn load(from: *const u32) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn pivots(pivot: u32) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_set1_epi32(pivot.cast_signed()) }
    }
    #[inline(always)]
    unsafe fn partition(vector: __m256i, pivots: __m256i, low: *mut u32, high: *mut u32) -> usize {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let is_above = _mm256_cmpeq_epi32(_mm256_max_epu32(vector, pivots), vector);
            let below = !_mm256_movemask_ps(_mm256_castsi256_ps(is_above)) as u8;
            compress_store(vector, &COMPRESS_WORDS[usize::from(below)], low, high);
            below.count_ones() as usize
        }
    }
    #[inline(always)]
    unsafe fn partition_partial(items: &[u32], pivot: u32, low: &mut *mut u32, high: &mut *mut u32) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { partition_items(items, pivot, low, high) }
    }
    #[inline(always)]
    unsafe fn load_partial(from: *const u32, count: usize) -> __m256i {
        // SAFETY: guaranteed by the caller of this function; masked lanes are not read.
        unsafe {
            if count == Self::COUNT {
                return Self::load(from);
            }
            let mask = first(count);
            _mm256_or_si256(
                _mm256_maskload_epi32(from.cast(), mask),
                _mm256_xor_si256(mask, _mm256_set1_epi32(-1)),
            )
        }
    }
    #[inline(always)]
    unsafe fn store_partial(to: *mut u32, count: usize, vector: __m256i) {
        // SAFETY: guaranteed by the caller of this function; masked lanes are not written.
        unsafe {
            match count {
                Self::COUNT => _mm256_storeu_si256(to.cast(), vector),
                0 => {}
                _ => _mm256_maskstore_epi32(to.cast(), first(count), vector),
            }
        }
    }
    #[inline(always)]
    unsafe fn min_max(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { (_mm256_min_epu32(a, b), _mm256_max_epu32(a, b)) }
    }
    #[inline(always)]
    unsafe fn reverse(vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)) }
    }
    #[inline(always)]
    unsafe fn sort_runs(vectors: &mut [__m256i; BLOCK]) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            sort_columns::<Self>(vectors);
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *vectors;
            let [a, b, c, d, e, f, g, h] = transposed([a, b, c, d, e, f, g, h]);
            let [i, j, k, l, m, n, o, p] = transposed([i, j, k, l, m, n, o, p]);
            *vectors = [a, i, b, j, c, k, d, l, e, m, f, n, g, o, h, p];
        }
    }
    #[inline(always)]
    unsafe fn sort(mut vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            vector = Self::order::<1, 0b1010_1010>(vector);
            vector = Self::order::<3, 0b1100_1100>(vector);
            vector = Self::order::<1, 0b1010_1010>(vector);
            vector = Self::order::<7, 0b1111_0000>(vector);
            vector = Self::order::<2, 0b1100_1100>(vector);
            Self::order::<1, 0b1010_1010>(vector)
        }
    }
    #[inline(always)]
    unsafe fn merge(mut vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            vector = Self::order::<4, 0b1111_0000>(vector);
            vector = Self::order::<2, 0b1100_1100>(vector);
            Self::order::<1, 0b1010_1010>(vector)
        }
    }
}

/// 64-bit items are compared as signed integers with the highest bit flipped, since AVX2 has no unsigned comparison.
impl Avx2<u64> {
    /// # Safety
    ///
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn flip_sign(vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_xor_si256(vector, _mm256_set1_epi64x(i64::MIN)) }
    }

    /// Compare and exchange lanes `i` and `i ^ X`: the lower lane gets the minimum.
    ///
    /// # Safety
    ///
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn order<const X: usize, const UPPER_WORDS: i32>(vector: __m256i) -> __m256i {
        const { assert!(UPPER_WORDS as u32 == upper(2 * X, 8)) };
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let partner = match X {
                1 => _mm256_shuffle_epi32::<0b01_00_11_10>(vector),
                2 => _mm256_permute2x128_si256::<1>(vector, vector),
                3 => Self::reverse(vector),
                _ => unreachable!("networks of four lanes have no such step"),
            };
            let (min, max) = Self::min_max(vector, partner);
            _mm256_blend_epi32::<UPPER_WORDS>(min, max)
        }
    }
}

// SAFETY: each function only executes its instructions, on the pointers that the trait allows.
unsafe impl Lanes for Avx2<u64> {
    type Item = u64;
    type Vector = __m256i;
    const COUNT: usize = 4;
    const NETWORK: usize = 128;
    const RUN: usize = 4;
    #[inline(always)]
    unsafe fn compiled<R>(body: impl FnOnce() -> R) -> R {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { with_avx2(body) }
    }
    #[inline(always)]
    fn next(item: u64) -> u64 {
        item.saturating_add(1)
    }
    #[inline(always)]
    unsafe fn load(from: *const u64) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }
    #[inline(always)]
    unsafe fn pivots(pivot: u64) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { Self::flip_sign(_mm256_set1_epi64x(pivot.cast_signed())) }
    }
    #[inline(always)]
    unsafe fn partition(vector: __m256i, pivots: __m256i, low: *mut u64, high: *mut u64) -> usize {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let is_below = _mm256_cmpgt_epi64(pivots, Self::flip_sign(vector));
            let below = _mm256_movemask_pd(_mm256_castsi256_pd(is_below)) as usize;
            compress_store(vector, &COMPRESS_PAIRS[below & 15], low, high);
            below.count_ones() as usize
        }
    }
    #[inline(always)]
    unsafe fn partition_partial(items: &[u64], pivot: u64, low: &mut *mut u64, high: &mut *mut u64) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { partition_items(items, pivot, low, high) }
    }
    #[inline(always)]
    unsafe fn load_partial(from: *const u64, count: usize) -> __m256i {
        // SAFETY: guaranteed by the caller of this function; masked lanes are not read.
        unsafe {
            if count == Self::COUNT {
                return Self::flip_sign(Self::load(from));
            }
            let mask = first(2 * count);
            let max_value = _mm256_xor_si256(mask, _mm256_set1_epi32(-1));
            Self::flip_sign(_mm256_or_si256(_mm256_maskload_epi64(from.cast(), mask), max_value))
        }
    }
    #[inline(always)]
    unsafe fn store_partial(to: *mut u64, count: usize, vector: __m256i) {
        // SAFETY: guaranteed by the caller of this function; masked lanes are not written.
        unsafe {
            let vector = Self::flip_sign(vector);
            match count {
                Self::COUNT => _mm256_storeu_si256(to.cast(), vector),
                0 => {}
                _ => _mm256_maskstore_epi64(to.cast(), first(2 * count), vector),
            }
        }
    }
    #[inline(always)]
    unsafe fn min_max(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let is_greater = _mm256_cmpgt_epi64(a, b);
            (_mm256_blendv_epi8(a, b, is_greater), _mm256_blendv_epi8(b, a, is_greater))
        }
    }
    #[inline(always)]
    unsafe fn reverse(vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { _mm256_permute4x64_epi64::<0b00_01_10_11>(vector) }
    }
    #[inline(always)]
    unsafe fn sort_runs(vectors: &mut [__m256i; BLOCK]) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            sort_columns::<Self>(vectors);
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *vectors;
            let [a, b, c, d] = transposed_pairs([a, b, c, d]);
            let [e, f, g, h] = transposed_pairs([e, f, g, h]);
            let [i, j, k, l] = transposed_pairs([i, j, k, l]);
            let [m, n, o, p] = transposed_pairs([m, n, o, p]);
            *vectors = [a, e, i, m, b, f, j, n, c, g, k, o, d, h, l, p];
        }
    }
    #[inline(always)]
    unsafe fn sort(mut vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            vector = Self::order::<1, 0b1100_1100>(vector);
            vector = Self::order::<3, 0b1111_0000>(vector);
            Self::order::<1, 0b1100_1100>(vector)
        }
    }
    #[inline(always)]
    unsafe fn merge(mut vector: __m256i) -> __m256i {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            vector = Self::order::<2, 0b1111_0000>(vector);
            Self::order::<1, 0b1100_1100>(vector)
        }
    }
}
