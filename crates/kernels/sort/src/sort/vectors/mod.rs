//! Sorts integers with AVX-512 or AVX2: a quicksort that packs vectors on either side of a pivot, and networks of registers
//! for few items.
//!
//! After B. Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512 on Intel Skylake" (2017).

mod avx2;
mod avx512;
mod lanes;
mod networks;

use umber_kernels_base::isa::level;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};

use self::avx2::Avx2;
use self::avx512::Avx512;
use self::lanes::Lanes;
use super::order::Item;

/// Vectors that are partitioned at a time.
const STEPS: usize = 8;
// A partition keeps two blocks and a rest aside.
const _: () = assert!(networks::BLOCK >= 2 * STEPS);
/// The most items in a register.
const MAX_LANES: usize = 16;
/// From this many items on, the pivot is the median of many.
const MIN_MEDIAN_OF_MANY: usize = 1 << 14;
/// From this many items on, threads share the work.
const MIN_PARALLEL: usize = 1 << 16;

/// The instructions that items are sorted with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Avx512,
    Avx2,
}

/// The best that this processor has.
fn instructions() -> Option<Instructions> {
    let has_bits = || is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt");
    match level() {
        2 if has_bits() => Some(Instructions::Avx512),
        1 if has_bits() => Some(Instructions::Avx2),
        _ => None,
    }
}

/// Can items be sorted with vectors here?
pub(super) fn has_vectors() -> bool {
    instructions().is_some()
}

/// An item that fits the lanes of a register.
pub(super) trait VectorItem: Item + Default {
    type Avx512Lanes: Lanes<Item = Self>;
    type Avx2Lanes: Lanes<Item = Self>;
}

impl VectorItem for u32 {
    type Avx512Lanes = Avx512<u32>;
    type Avx2Lanes = Avx2<u32>;
}

impl VectorItem for u64 {
    type Avx512Lanes = Avx512<u64>;
    type Avx2Lanes = Avx2<u64>;
}

/// Sort with vectors if the processor has them; says whether it did.
pub(super) fn sort_with_vectors<T: VectorItem>(items: &mut [T]) -> bool {
    let threads = num_threads().min(items.len() / MIN_PARALLEL);
    // SAFETY: the processor has the instructions.
    unsafe {
        match instructions() {
            Some(Instructions::Avx512) => sort::<T::Avx512Lanes>(items, threads),
            Some(Instructions::Avx2) => sort::<T::Avx2Lanes>(items, threads),
            None => return false,
        }
    }
    true
}

/// Bring the item that sorting would put at `kth` there, none greater before and none lesser after it, with vectors if
/// the processor has them; says whether it did.
pub(super) fn select_with_vectors<T: VectorItem>(items: &mut [T], kth: usize) -> bool {
    // SAFETY: the processor has the instructions.
    unsafe {
        match instructions() {
            Some(Instructions::Avx512) => quickselect::<T::Avx512Lanes>(items, kth),
            Some(Instructions::Avx2) => quickselect::<T::Avx2Lanes>(items, kth),
            None => return false,
        }
    }
    true
}

/// How many bad pivots are too many.
fn depth_for(count: usize) -> u32 {
    2 * count.max(2).ilog2()
}

unsafe fn sort<L: Lanes>(items: &mut [L::Item], threads: usize) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        if threads > 1 {
            sort_on_threads::<L>(items, threads);
        } else {
            quicksort::<L>(items, depth_for(items.len()));
        }
    }
}

/// Partition until there is a part for each thread, then sort the parts.
unsafe fn sort_on_threads<L: Lanes>(items: &mut [L::Item], threads: usize) {
    let least = items.len() / (4 * threads);
    let mut parts = Vec::new();
    let mut open = vec![(0, items.len(), depth_for(4 * threads))];
    while let Some((start, end, depth)) = open.pop() {
        if end - start <= 2 * least || depth == 0 {
            parts.push((start, end));
            continue;
        }
        // SAFETY: guaranteed by the caller of this function.
        match unsafe { split::<L>(&mut items[start..end]) } {
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
            quicksort::<L>(
                std::slice::from_raw_parts_mut(all.at(start as isize), end - start),
                depth_for(end - start),
            );
        }
    });
}

unsafe fn quicksort<L: Lanes>(mut items: &mut [L::Item], mut depth: u32) {
    while items.len() > L::NETWORK * L::COUNT {
        if depth == 0 {
            return items.sort_unstable();
        }
        depth -= 1;
        // SAFETY: guaranteed by the caller of this function.
        let Split::At(left, right) = (unsafe { split::<L>(items) }) else { return };
        let (first, rest) = items.split_at_mut(right);
        let first = &mut first[..left];
        let (shorter, longer) = if first.len() < rest.len() { (first, rest) } else { (rest, first) };
        // SAFETY: as above.
        unsafe { quicksort::<L>(shorter, depth) };
        items = longer;
    }
    // SAFETY: as above.
    unsafe { networks::sort::<L>(items) };
}

unsafe fn quickselect<L: Lanes>(items: &mut [L::Item], kth: usize) {
    let (mut start, mut end, mut depth) = (0, items.len(), depth_for(items.len()));
    // Items that are not wanted need not be sorted.
    while end - start > networks::BLOCK * L::COUNT {
        if depth == 0 {
            items[start..end].select_nth_unstable(kth - start);
            return;
        }
        depth -= 1;
        // SAFETY: guaranteed by the caller of this function.
        let Split::At(left, right) = (unsafe { split::<L>(&mut items[start..end]) }) else { return };
        if kth < start + left {
            end = start + left;
        } else if kth >= start + right {
            start += right;
        } else {
            return;
        }
    }
    // SAFETY: as above.
    unsafe { quicksort::<L>(&mut items[start..end], depth) };
}

/// What a partition found.
enum Split {
    /// All items are equal.
    Done,
    /// Those before the first place and those from the second on are to be sorted; those between are equal.
    At(usize, usize),
}

unsafe fn split<L: Lanes>(items: &mut [L::Item]) -> Split {
    // SAFETY: the caller's promise, and there are more items than a block of registers holds.
    unsafe {
        let pivot = pivot_of::<L>(items);
        let left = partition::<L>(items, pivot);
        if left > 0 {
            return Split::At(left, left);
        }
        // The pivot is the least. The greatest is its own successor, but then all are equal.
        let right = partition::<L>(items, L::next(pivot));
        if right == items.len() || right == 0 { Split::Done } else { Split::At(0, right) }
    }
}

/// The median of items spread over all.
unsafe fn pivot_of<L: Lanes>(items: &[L::Item]) -> L::Item {
    let mut sample = [L::Item::default(); 8 * MAX_LANES];
    let count = if items.len() < MIN_MEDIAN_OF_MANY { L::COUNT } else { sample.len() };
    let stride = items.len() / count;
    for (i, place) in sample[..count].iter_mut().enumerate() {
        // Not at equal distances: patterns in the items must not meet them.
        *place = items[i * stride + ((i * 0x9e37_79b9) >> 7) % stride];
    }
    // SAFETY: guaranteed by the caller of this function.
    unsafe { quicksort::<L>(&mut sample[..count], 32) };
    sample[count / 2]
}

/// Partition in place: move the items below the pivot to the front; returns their number.
///
/// Reads vectors from the end with less free space and writes lanes to both ends. The first vectors of both ends are buffered
/// to create that space.
unsafe fn partition<L: Lanes>(items: &mut [L::Item], pivot: L::Item) -> usize {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        L::compiled(
            #[inline(always)]
            || partition_body::<L>(items, pivot),
        )
    }
}

#[inline(always)]
unsafe fn partition_body<L: Lanes>(items: &mut [L::Item], pivot: L::Item) -> usize {
    let count = items.len();
    let block = STEPS * L::COUNT;
    let odd = count % L::COUNT;
    debug_assert!(count > networks::BLOCK * L::COUNT, "networks sort a block");
    let start = items.as_mut_ptr();
    // SAFETY: reads stay between `from` and `to`. Reading from the end with less free room leaves at least half of
    // what is kept aside free at either end, a block, so that writes reach only what has been read. Whole registers
    // written at either end go beyond their items, but not beyond that block.
    unsafe {
        let pivots = L::pivots(pivot);
        let mut aside = [L::Item::default(); (2 * STEPS + 1) * MAX_LANES];
        let kept = 2 * block + odd;
        aside[..block].copy_from_slice(&items[..block]);
        aside[block..kept].copy_from_slice(&items[count - block - odd..]);
        let (mut from, mut to) = (start.add(block), start.add(count - block - odd));
        let (mut low, mut high) = (start, start.add(count));
        while to.offset_from_unsigned(from) >= block {
            let source = next_block(&mut from, &mut to, low, high, block);
            // All are read before the first is written, which may lie over them.
            let mut vectors = [L::load(source); STEPS];
            for (i, vector) in vectors.iter_mut().enumerate().skip(1) {
                *vector = L::load(source.add(i * L::COUNT));
            }
            for vector in vectors {
                partition_register::<L>(vector, pivots, &mut low, &mut high);
            }
        }
        while from < to {
            let source = next_block(&mut from, &mut to, low, high, L::COUNT);
            partition_register::<L>(L::load(source), pivots, &mut low, &mut high);
        }
        for chunk in aside[..kept].chunks(L::COUNT) {
            // Two registers that are written whole must not meet.
            if high.offset_from_unsigned(low) >= 2 * L::COUNT {
                partition_register::<L>(L::load(chunk.as_ptr()), pivots, &mut low, &mut high);
            } else {
                L::partition_partial(chunk, pivot, &mut low, &mut high);
            }
        }
        low.offset_from_unsigned(start)
    }
}

/// Take a block from the end that has less free room.
#[inline(always)]
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
#[inline(always)]
unsafe fn partition_register<L: Lanes>(
    vector: L::Vector,
    pivots: L::Vector,
    low: &mut *mut L::Item,
    high: &mut *mut L::Item,
) {
    // SAFETY: the caller has space for a whole register at either end.
    unsafe {
        let below = L::partition(vector, pivots, *low, *high);
        *low = low.add(below);
        *high = high.sub(L::COUNT - below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<L: Lanes>(found: Instructions, of: impl Fn(u64) -> L::Item)
    where
        L::Item: std::fmt::Debug,
    {
        if !has(found) {
            return;
        }
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let ends = [511, 512, 513, 1024, 1025, 1500, 2047, 2048, 2049, 4097];
        let lengths = (0..300).chain((300..1100).step_by(7)).chain(ends).chain([40_000, 200_003]);
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
                let mut items: Vec<L::Item> = (0..length).map(|i| of(pattern(i))).collect();
                let mut wanted = items.clone();
                wanted.sort_unstable();
                let threads = num_threads().min(items.len() / MIN_PARALLEL);
                // SAFETY: the processor has the instructions.
                unsafe { sort::<L>(&mut items, threads) };
                assert!(items == wanted, "{length} items");
            }
        }
    }

    /// Does the processor have these, be there better ones or not?
    fn has(instructions: Instructions) -> bool {
        super::instructions().is_some_and(|best| best == Instructions::Avx512 || best == instructions)
    }

    #[test]
    fn sorts_whatever_the_order_and_the_repetitions() {
        check::<Avx512<u32>>(Instructions::Avx512, |x| x as u32);
        check::<Avx512<u64>>(Instructions::Avx512, |x| x);
        check::<Avx512<u64>>(Instructions::Avx512, u64::reverse_bits);
        check::<Avx2<u32>>(Instructions::Avx2, |x| x as u32);
        check::<Avx2<u32>>(Instructions::Avx2, |x| (x as u32).reverse_bits());
        check::<Avx2<u64>>(Instructions::Avx2, |x| x);
        check::<Avx2<u64>>(Instructions::Avx2, u64::reverse_bits);
    }

    fn check_selection<T: VectorItem + std::fmt::Debug>(of: impl Fn(u64) -> T) {
        for length in [1usize, 2, 100, 129, 257, 300, 1025, 2049, 5000, 100_000] {
            for kth in [0, length / 3, length - 1] {
                let mut items: Vec<T> = (0..length as u64).map(|i| of(i * 7919 % 10_007 % 3001)).collect();
                let mut wanted = items.clone();
                wanted.sort_unstable();
                if !select_with_vectors(&mut items, kth) {
                    return;
                }
                assert_eq!(items[kth], wanted[kth]);
                assert!(items[..kth].iter().all(|&item| item <= wanted[kth]));
                assert!(items[kth..].iter().all(|&item| item >= wanted[kth]));
                items.sort_unstable();
                assert_eq!(items, wanted);
            }
        }
    }

    #[test]
    fn selects_what_sorting_would_put_there() {
        check_selection::<u64>(|x| x);
        check_selection::<u32>(|x| x as u32);
    }

    #[test]
    fn gives_up_on_pivots_that_do_not_divide() {
        let mut items: Vec<u32> = (0..10_000).map(|i| i * 7919 % 10_007).collect();
        if has(Instructions::Avx2) {
            // SAFETY: the processor has the instructions.
            unsafe { quicksort::<Avx2<u32>>(&mut items, 1) };
            assert!(items.is_sorted());
        }
    }
}
