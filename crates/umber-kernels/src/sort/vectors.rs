//! Sorts integers with AVX-512: a quicksort that packs vectors on either side of a pivot, and networks of registers
//! for few items.
//!
//! After B. Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512 on Intel Skylake" (2017).

use std::arch::x86_64::{
    __m512i, _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask, _mm512_loadu_si512, _mm512_mask_loadu_epi32,
    _mm512_mask_loadu_epi64, _mm512_mask_max_epu32, _mm512_mask_max_epu64, _mm512_mask_storeu_epi32,
    _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64, _mm512_max_epu32,
    _mm512_max_epu64, _mm512_min_epu32, _mm512_min_epu64, _mm512_permutexvar_epi32, _mm512_permutexvar_epi64,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_storeu_si512,
};

use super::order::Item;
use crate::shared::Target;
use crate::threads::{num_threads, parallel_for};

/// Vectors that one network of registers sorts.
const NETWORK: usize = 16;
// A partition keeps two blocks and a rest aside.
const _: () = assert!(NETWORK >= 2 * STEPS);
/// Vectors that are partitioned at a time.
const STEPS: usize = 8;
/// From this many items on, the pivot is the median of many.
const MANY: usize = 1 << 14;
/// From this many items on, threads share the work.
const VERY_MANY: usize = 1 << 16;

/// Sort with vectors if the processor has them; says whether it did.
pub(super) fn sort_with_vectors<T: Lanes>(items: &mut [T]) -> bool {
    if !T::has_vectors() {
        return false;
    }
    let threads = num_threads().min(items.len() / VERY_MANY);
    // SAFETY: the processor has AVX-512.
    unsafe {
        if threads > 1 { sort_on_threads(items, threads) } else { quicksort(items, depth_for(items.len())) }
    }
    true
}

/// Bring the item that sorting would put at `kth` there, none greater before and none lesser after it, with vectors if
/// the processor has them; says whether it did.
pub(super) fn select_with_vectors<T: Lanes>(items: &mut [T], kth: usize) -> bool {
    if !T::has_vectors() {
        return false;
    }
    // SAFETY: the processor has AVX-512.
    unsafe { quickselect(items, kth) };
    true
}

/// An unsigned integer in the lanes of a register.
///
/// # Safety
/// All functions need AVX-512 F, BMI2 and POPCNT, and pointers good for as many items as counts say.
pub(super) unsafe trait Lanes: Item + Default {
    /// Items in a register.
    const COUNT: usize;
    /// The next greater; of the greatest itself.
    fn next(self) -> Self;
    /// The same item in all lanes.
    unsafe fn splat(self) -> __m512i;
    /// The first `count` items, then the greatest there is.
    unsafe fn load_some(from: *const Self, count: usize) -> __m512i;
    /// Write the first `count` lanes.
    unsafe fn store_some(to: *mut Self, count: usize, vector: __m512i);
    /// The lanes in a mask, moved to the front.
    unsafe fn pack(mask: u16, vector: __m512i) -> __m512i;
    /// The lanes where `a` is below `b`.
    unsafe fn below(a: __m512i, b: __m512i) -> u16;
    /// The lesser of each lane.
    unsafe fn lesser(a: __m512i, b: __m512i) -> __m512i;
    /// The greater of each lane.
    unsafe fn greater(a: __m512i, b: __m512i) -> __m512i;
    /// Bring lanes `i` and `i ^ X` in order.
    unsafe fn order<const X: usize>(vector: __m512i) -> __m512i;
    /// The lanes from last to first.
    unsafe fn reverse(vector: __m512i) -> __m512i;
    /// Sort the lanes.
    unsafe fn sort(vector: __m512i) -> __m512i;
    /// Sort lanes that rise, then fall.
    unsafe fn merge(vector: __m512i) -> __m512i;
}

/// The lanes that take the greater of lanes `i` and `i ^ x`.
const fn upper(x: usize) -> u16 {
    let (mut mask, mut i) = (0, 0);
    while i < 16 {
        if i & (1 << x.ilog2()) != 0 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

macro_rules! lanes {
    (
        $ty:ident: $count:literal lanes, $mask:ty, set1 $set1:ident, load $load:ident, store $store:ident,
        pack $pack:ident, below $below:ident, min $min:ident, max $max:ident, mask_max $mask_max:ident,
        permute $permute:ident, sort $($sort:literal)*, merge $($merge:literal)*
    ) => {
        // SAFETY: each function is its instruction.
        unsafe impl Lanes for $ty {
            const COUNT: usize = $count;
            #[inline]
            fn next(self) -> $ty {
                self.saturating_add(1)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn splat(self) -> __m512i {
                $set1(self.cast_signed())
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn load_some(from: *const $ty, count: usize) -> __m512i {
                let mask = ((1u32 << count) - 1) as $mask;
                // SAFETY: the caller's promise.
                unsafe { $load($set1(-1), mask, from.cast()) }
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn store_some(to: *mut $ty, count: usize, vector: __m512i) {
                let mask = ((1u32 << count) - 1) as $mask;
                // SAFETY: the caller's promise.
                unsafe { $store(to.cast(), mask, vector) }
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn pack(mask: u16, vector: __m512i) -> __m512i {
                $pack(mask as $mask, vector)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn below(a: __m512i, b: __m512i) -> u16 {
                u16::from($below(a, b))
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn lesser(a: __m512i, b: __m512i) -> __m512i {
                $min(a, b)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn greater(a: __m512i, b: __m512i) -> __m512i {
                $max(a, b)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn order<const X: usize>(vector: __m512i) -> __m512i {
                let places: [$ty; $count] = std::array::from_fn(|i| (i ^ X) as $ty);
                // SAFETY: the array fills a register.
                let partner = $permute(unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }, vector);
                $mask_max($min(vector, partner), const { upper(X) } as $mask, vector, partner)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn reverse(vector: __m512i) -> __m512i {
                let places: [$ty; $count] = std::array::from_fn(|i| ($count - 1 - i) as $ty);
                // SAFETY: the array fills a register.
                $permute(unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }, vector)
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn sort(mut vector: __m512i) -> __m512i {
                // SAFETY: the caller's promise.
                $(vector = unsafe { Self::order::<$sort>(vector) };)*
                vector
            }
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            unsafe fn merge(mut vector: __m512i) -> __m512i {
                // SAFETY: the caller's promise.
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
    sort 1 3 1 7 2 1 15 4 2 1, merge 8 4 2 1
}
lanes! {
    u64: 8 lanes, u8, set1 _mm512_set1_epi64, load _mm512_mask_loadu_epi64, store _mm512_mask_storeu_epi64,
    pack _mm512_maskz_compress_epi64, below _mm512_cmplt_epu64_mask, min _mm512_min_epu64, max _mm512_max_epu64,
    mask_max _mm512_mask_max_epu64, permute _mm512_permutexvar_epi64,
    sort 1 3 1 7 2 1, merge 4 2 1
}

/// How many bad pivots are too many.
fn depth_for(count: usize) -> u32 {
    2 * count.max(2).ilog2()
}

/// Partition until there is a part for each thread, then sort the parts.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn sort_on_threads<T: Lanes>(items: &mut [T], threads: usize) {
    let least = items.len() / (4 * threads);
    let mut parts = Vec::new();
    let mut open = vec![(0, items.len(), depth_for(4 * threads))];
    while let Some((start, end, depth)) = open.pop() {
        if end - start <= 2 * least || depth == 0 {
            parts.push((start, end));
            continue;
        }
        // SAFETY: the caller's promise.
        match unsafe { split(&mut items[start..end]) } {
            Split::Done => {}
            Split::At(left, right) => {
                open.extend([(start, start + left, depth - 1), (start + right, end, depth - 1)]);
            }
        }
    }
    // The longest first, so that none is left over at the end.
    parts.sort_unstable_by_key(|(start, end)| start.wrapping_sub(*end));
    let all = Target::over(items);
    parallel_for(parts.len(), |i| {
        let (start, end) = parts[i];
        // SAFETY: parts are disjoint, the items outlive the call, and the processor is the same.
        unsafe {
            quicksort(
                std::slice::from_raw_parts_mut(all.at(start as isize), end - start),
                depth_for(end - start),
            );
        }
    });
}

#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn quicksort<T: Lanes>(mut items: &mut [T], mut depth: u32) {
    while items.len() > NETWORK * T::COUNT {
        if depth == 0 {
            return items.sort_unstable();
        }
        depth -= 1;
        // SAFETY: the caller's promise.
        let Split::At(left, right) = (unsafe { split(items) }) else { return };
        let (first, rest) = items.split_at_mut(right);
        let first = &mut first[..left];
        let (shorter, longer) = if first.len() < rest.len() { (first, rest) } else { (rest, first) };
        // SAFETY: as above.
        unsafe { quicksort(shorter, depth) };
        items = longer;
    }
    // SAFETY: as above.
    unsafe {
        match items.len().div_ceil(T::COUNT) {
            0 | 1 => sort_few::<T, 1>(items),
            2 => sort_few::<T, 2>(items),
            3..=4 => sort_few::<T, 4>(items),
            5..=8 => sort_few::<T, 8>(items),
            _ => sort_few::<T, NETWORK>(items),
        }
    }
}

#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn quickselect<T: Lanes>(items: &mut [T], kth: usize) {
    let (mut start, mut end, mut depth) = (0, items.len(), depth_for(items.len()));
    while end - start > NETWORK * T::COUNT {
        if depth == 0 {
            items[start..end].select_nth_unstable(kth - start);
            return;
        }
        depth -= 1;
        // SAFETY: the caller's promise.
        let Split::At(left, right) = (unsafe { split(&mut items[start..end]) }) else { return };
        if kth < start + left {
            end = start + left;
        } else if kth >= start + right {
            start += right;
        } else {
            return;
        }
    }
    // SAFETY: as above.
    unsafe { quicksort(&mut items[start..end], depth) };
}

/// What a partition found.
enum Split {
    /// All items are equal.
    Done,
    /// Those before the first place and those from the second on are to be sorted; those between are equal.
    At(usize, usize),
}

#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn split<T: Lanes>(items: &mut [T]) -> Split {
    // SAFETY: the caller's promise, and there are more items than a network sorts.
    unsafe {
        let pivot = pivot_of(items);
        let left = partition(items, pivot);
        if left > 0 {
            return Split::At(left, left);
        }
        // The pivot is the least. The greatest is its own successor, but then all are equal.
        let right = partition(items, pivot.next());
        if right == items.len() || right == 0 { Split::Done } else { Split::At(0, right) }
    }
}

/// The median of items spread over all.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn pivot_of<T: Lanes>(items: &[T]) -> T {
    let mut sample = [T::default(); 128];
    let count = if items.len() < MANY { T::COUNT } else { sample.len() };
    let stride = items.len() / count;
    for (i, place) in sample[..count].iter_mut().enumerate() {
        // Not at equal distances: patterns in the items must not meet them.
        *place = items[i * stride + ((i * 0x9e37_79b9) >> 7) % stride];
    }
    // SAFETY: the caller's promise.
    unsafe {
        if count == T::COUNT { sort_few::<T, 1>(&mut sample[..count]) } else { quicksort(&mut sample, 32) }
    }
    sample[count / 2]
}

/// Bring the items below the pivot to the front; answers how many there are.
///
/// Vectors are read from whichever end has less free room, and their lanes are written to both. What the first reads
/// from either end free is kept aside.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn partition<T: Lanes>(items: &mut [T], pivot: T) -> usize {
    let count = items.len();
    let block = STEPS * T::COUNT;
    let odd = count % T::COUNT;
    debug_assert!(count > NETWORK * T::COUNT, "networks sort fewer");
    let start = items.as_mut_ptr();
    // SAFETY: reads stay between `from` and `to`. Reading from the end with less free room leaves at least half of
    // what is kept aside free at either end, a block, so that writes reach only what has been read. Whole registers
    // written at `low` go beyond their items, but not beyond that block.
    unsafe {
        let splat = pivot.splat();
        let mut aside = [T::default(); (2 * STEPS + 1) * 16];
        let kept = 2 * block + odd;
        aside[..block].copy_from_slice(&items[..block]);
        aside[block..kept].copy_from_slice(&items[count - block - odd..]);
        let (mut from, mut to) = (start.add(block), start.add(count - block - odd));
        let (mut low, mut high) = (start, start.add(count));
        while to.offset_from_unsigned(from) >= block {
            let source = next_block(&mut from, &mut to, low, high, block);
            let vectors: [__m512i; STEPS] =
                std::array::from_fn(|i| _mm512_loadu_si512(source.add(i * T::COUNT).cast()));
            for vector in vectors {
                spread(vector, splat, &mut low, &mut high);
            }
        }
        while from < to {
            let source = next_block(&mut from, &mut to, low, high, T::COUNT);
            spread(_mm512_loadu_si512(source.cast()), splat, &mut low, &mut high);
        }
        for chunk in aside[..kept].chunks(T::COUNT) {
            let vector = T::load_some(chunk.as_ptr(), chunk.len());
            spread_some(vector, chunk.len(), splat, &mut low, &mut high);
        }
        low.offset_from_unsigned(start)
    }
}

/// Take a block from the end that has less free room.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn next_block<T>(
    from: &mut *mut T,
    to: &mut *mut T,
    low: *mut T,
    high: *mut T,
    block: usize,
) -> *const T {
    // SAFETY: all point into the items; the caller checks that there is a block between `from` and `to`.
    unsafe {
        if from.offset_from_unsigned(low) <= high.offset_from_unsigned(*to) {
            let source = *from;
            *from = from.add(block);
            source
        } else {
            *to = to.sub(block);
            *to
        }
    }
}

/// Write the lanes below the pivot from `low` on, the others before `high`.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn spread<T: Lanes>(vector: __m512i, pivot: __m512i, low: &mut *mut T, high: &mut *mut T) {
    // SAFETY: the caller has room for a whole register at either end.
    unsafe {
        let below = T::below(vector, pivot);
        let ones = below.count_ones() as usize;
        _mm512_storeu_si512((*low).cast(), T::pack(below, vector));
        *low = low.add(ones);
        *high = high.sub(T::COUNT - ones);
        T::store_some(*high, T::COUNT - ones, T::pack(!below, vector));
    }
}

/// As [`spread`] for the first `count` lanes where there is room for just these.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn spread_some<T: Lanes>(
    vector: __m512i,
    count: usize,
    pivot: __m512i,
    low: &mut *mut T,
    high: &mut *mut T,
) {
    // SAFETY: the caller has room for the lanes between `low` and `high`.
    unsafe {
        let valid = ((1u32 << count) - 1) as u16;
        let below = T::below(vector, pivot) & valid;
        let ones = below.count_ones() as usize;
        T::store_some(*low, ones, T::pack(below, vector));
        *low = low.add(ones);
        *high = high.sub(count - ones);
        T::store_some(*high, count - ones, T::pack(valid & !below, vector));
    }
}

/// Sort at most `N` registers of items.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn sort_few<T: Lanes, const N: usize>(items: &mut [T]) {
    let count = items.len();
    let held = |i: usize| count.saturating_sub(i * T::COUNT).min(T::COUNT);
    // SAFETY: only items are read and written; the caller's promise.
    unsafe {
        let mut vectors: [__m512i; N] =
            std::array::from_fn(|i| T::load_some(items.as_ptr().wrapping_add(i * T::COUNT), held(i)));
        sort_vectors::<T, N>(&mut vectors);
        for (i, &vector) in vectors.iter().enumerate() {
            T::store_some(items.as_mut_ptr().wrapping_add(i * T::COUNT), held(i), vector);
        }
    }
}

/// Bitonic sort (K. E. Batcher, 1968) of all lanes of `N` registers.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
unsafe fn sort_vectors<T: Lanes, const N: usize>(vectors: &mut [__m512i; N]) {
    // SAFETY: the caller's promise.
    unsafe {
        for vector in &mut *vectors {
            *vector = T::sort(*vector);
        }
        let mut width = 1;
        while width < N {
            for run in vectors.chunks_exact_mut(2 * width) {
                // The second half turned round makes the whole rise, then fall.
                run[width..].reverse();
                for i in 0..width {
                    let (a, b) = (run[i], T::reverse(run[width + i]));
                    (run[i], run[width + i]) = (T::lesser(a, b), T::greater(a, b));
                }
                let mut distance = width / 2;
                while distance > 0 {
                    for i in (0..2 * width).filter(|i| i & distance == 0) {
                        let (a, b) = (run[i], run[i + distance]);
                        (run[i], run[i + distance]) = (T::lesser(a, b), T::greater(a, b));
                    }
                    distance /= 2;
                }
                for vector in run {
                    *vector = T::merge(*vector);
                }
            }
            width *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Lanes + std::fmt::Debug>(of: impl Fn(u64) -> T) {
        if !T::has_vectors() {
            return;
        }
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let lengths = (0..300).chain([511, 512, 513, 1000, 4097, 40_000, 200_003]);
        for length in lengths {
            let patterns: [&mut dyn FnMut(u64) -> u64; 8] = [
                &mut |_| random(),
                &mut |i| i,
                &mut |i| u64::MAX - i,
                &mut |_| 5,
                &mut |_| u64::MAX,
                &mut |i| i % 3,
                &mut |i| if i % 7 == 0 { u64::MAX } else { i * i % 11 },
                &mut |i| i.min(1000u64.wrapping_sub(i)),
            ];
            for pattern in patterns {
                let mut items: Vec<T> = (0..length).map(|i| of(pattern(i))).collect();
                let mut wanted = items.clone();
                wanted.sort_unstable();
                assert!(sort_with_vectors(&mut items));
                assert!(items == wanted, "{length} items");
            }
        }
    }

    #[test]
    fn sorts_whatever_the_order_and_the_repetitions() {
        check(|x| x as u32);
        check(|x| x);
    }

    #[test]
    fn selects_what_sorting_would_put_there() {
        if !u64::has_vectors() {
            return;
        }
        for length in [1usize, 2, 100, 257, 5000, 100_000] {
            for kth in [0, length / 3, length - 1] {
                let mut items: Vec<u64> = (0..length as u64).map(|i| i * 7919 % 10_007 % 3001).collect();
                let mut wanted = items.clone();
                wanted.sort_unstable();
                assert!(select_with_vectors(&mut items, kth));
                assert_eq!(items[kth], wanted[kth]);
                assert!(items[..kth].iter().all(|&item| item <= wanted[kth]));
                assert!(items[kth..].iter().all(|&item| item >= wanted[kth]));
                items.sort_unstable();
                assert_eq!(items, wanted);
            }
        }
    }

    #[test]
    fn gives_up_on_pivots_that_do_not_divide() {
        if u32::has_vectors() {
            let mut items: Vec<u32> = (0..10_000).map(|i| i * 7919 % 10_007).collect();
            // SAFETY: the processor has AVX-512.
            unsafe { quicksort(&mut items, 1) };
            assert!(items.is_sorted());
        }
    }
}
