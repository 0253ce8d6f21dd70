//! Sorting of integers with AVX-512 or AVX2: quicksort with a vectorised partition, and sorting networks for few items.
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

/// Vectors partitioned per step.
const STEPS: usize = 8;
// A partition buffers two blocks and a remainder.
const _: () = assert!(networks::BLOCK >= 2 * STEPS);
/// Maximum items in a register.
const MAX_LANES: usize = 16;
/// Minimum number of items for which the pivot is the median of a large sample.
const MIN_MEDIAN_OF_MANY: usize = 1 << 14;
/// Minimum number of items for several threads.
const MIN_PARALLEL: usize = 1 << 16;

/// The instruction set for sorting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Avx512,
    Avx2,
}

/// The best instruction set of this processor.
fn instructions() -> Option<Instructions> {
    let has_bits = || is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt");
    match level() {
        2 if has_bits() => Some(Instructions::Avx512),
        1 if has_bits() => Some(Instructions::Avx2),
        _ => None,
    }
}

/// Whether items can be sorted with vector instructions.
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

/// Sort with vector instructions if the processor has them; returns whether it did.
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

/// Move the item with sorted position `kth` there, with no greater items before it and no smaller ones after it, if the
/// processor has vector instructions; returns whether it did.
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

/// Maximum number of partitions on a path before the sort falls back, to bound the cost of bad pivots.
fn depth_for(count: usize) -> u32 {
    2 * count.max(2).ilog2()
}

/// # Safety
///
/// The processor has the instructions of `L`.
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

/// Partition until there are several ranges for each thread, then sort these.
///
/// # Safety
///
/// The processor has the instructions of `L`.
unsafe fn sort_on_threads<L: Lanes>(items: &mut [L::Item], threads: usize) {
    let min_length = items.len() / (4 * threads);
    let mut partitions = Vec::new();
    let mut pending = vec![(0, items.len(), depth_for(4 * threads))];
    while let Some((start, end, depth)) = pending.pop() {
        if end - start <= 2 * min_length || depth == 0 {
            partitions.push((start, end));
            continue;
        }
        // SAFETY: guaranteed by the caller of this function.
        match unsafe { split::<L>(&mut items[start..end]) } {
            Split::Done => {}
            Split::At(left, right) => {
                pending.extend([(start, start + left, depth - 1), (start + right, end, depth - 1)]);
            }
        }
    }
    // The longest first, for load balancing.
    partitions.sort_unstable_by_key(|(start, end)| start.wrapping_sub(*end));
    let all = Target::over(items);
    parallel_for(partitions.len(), |i| {
        let (start, end) = partitions[i];
        // SAFETY: the ranges are disjoint, the items outlive the call, and the processor is the same.
        unsafe {
            quicksort::<L>(
                std::slice::from_raw_parts_mut(all.at(start as isize), end - start),
                depth_for(end - start),
            );
        }
    });
}

/// # Safety
///
/// The processor has the instructions of `L`.
unsafe fn quicksort<L: Lanes>(mut items: &mut [L::Item], mut depth: u32) {
    while items.len() > L::NETWORK * L::COUNT {
        if depth == 0 {
            return items.sort_unstable();
        }
        depth -= 1;
        // SAFETY: guaranteed by the caller of this function.
        let Split::At(left, right) = (unsafe { split::<L>(items) }) else { return };
        let (lower, upper) = items.split_at_mut(right);
        let lower = &mut lower[..left];
        let (shorter, longer) = if lower.len() < upper.len() { (lower, upper) } else { (upper, lower) };
        // SAFETY: guaranteed by the caller of this function.
        unsafe { quicksort::<L>(shorter, depth) };
        items = longer;
    }
    // SAFETY: guaranteed by the caller of this function.
    unsafe { networks::sort::<L>(items) };
}

/// # Safety
///
/// The processor has the instructions of `L`.
unsafe fn quickselect<L: Lanes>(items: &mut [L::Item], kth: usize) {
    let (mut start, mut end, mut depth) = (0, items.len(), depth_for(items.len()));
    // Only the range that contains `kth` is partitioned further.
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
    // SAFETY: guaranteed by the caller of this function.
    unsafe { quicksort::<L>(&mut items[start..end], depth) };
}

/// The result of a partition.
enum Split {
    /// All items are equal.
    Done,
    /// Items before the first index and from the second one on still need sorting; those between are equal.
    At(usize, usize),
}

/// # Safety
///
/// The processor has the instructions of `L`, and there are more items than a block of registers holds.
unsafe fn split<L: Lanes>(items: &mut [L::Item]) -> Split {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let pivot = pivot_of::<L>(items);
        let left = partition::<L>(items, pivot);
        if left > 0 {
            return Split::At(left, left);
        }
        // The pivot is the minimum. The maximum value is its own successor, but then all items are equal.
        let right = partition::<L>(items, L::next(pivot));
        if right == items.len() || right == 0 { Split::Done } else { Split::At(0, right) }
    }
}

/// The median of a sample spread over all items.
///
/// # Safety
///
/// The processor has the instructions of `L`.
unsafe fn pivot_of<L: Lanes>(items: &[L::Item]) -> L::Item {
    let mut sample = [L::Item::default(); 8 * MAX_LANES];
    let count = if items.len() < MIN_MEDIAN_OF_MANY { L::COUNT } else { sample.len() };
    let stride = items.len() / count;
    for (i, item) in sample[..count].iter_mut().enumerate() {
        // At irregular distances, so that regular patterns in the items do not bias the sample.
        *item = items[i * stride + ((i * 0x9e37_79b9) >> 7) % stride];
    }
    // SAFETY: guaranteed by the caller of this function.
    unsafe { quicksort::<L>(&mut sample[..count], 32) };
    sample[count / 2]
}

/// Partition in place: move the items below the pivot to the front; returns their number.
///
/// Reads vectors from the end with less free space and writes lanes to both ends. The first vectors of both ends are buffered
/// to create that space.
///
/// # Safety
///
/// The processor has the instructions of `L`, and there are more items than a block of registers holds.
unsafe fn partition<L: Lanes>(items: &mut [L::Item], pivot: L::Item) -> usize {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        L::compiled(
            #[inline(always)]
            || partition_body::<L>(items, pivot),
        )
    }
}

/// # Safety
///
/// As for [`partition`].
#[inline(always)]
unsafe fn partition_body<L: Lanes>(items: &mut [L::Item], pivot: L::Item) -> usize {
    let count = items.len();
    let block = STEPS * L::COUNT;
    let remainder = count % L::COUNT;
    debug_assert!(count > networks::BLOCK * L::COUNT, "networks sort a block");
    let start = items.as_mut_ptr();
    // SAFETY: reads stay between `from` and `to`. Reading from the end with less free space leaves at least half of the
    // buffered space, a block, free at either end, so that writes only reach memory that has been read. Full registers
    // written at either end extend beyond their items, but not beyond that block.
    unsafe {
        let pivots = L::pivots(pivot);
        let mut buffered = [L::Item::default(); (2 * STEPS + 1) * MAX_LANES];
        let buffered_count = 2 * block + remainder;
        buffered[..block].copy_from_slice(&items[..block]);
        buffered[block..buffered_count].copy_from_slice(&items[count - block - remainder..]);
        let (mut from, mut to) = (start.add(block), start.add(count - block - remainder));
        let (mut low, mut high) = (start, start.add(count));
        while to.offset_from_unsigned(from) >= block {
            let source = next_block(&mut from, &mut to, low, high, block);
            // All vectors are loaded before the first store, which may overlap them.
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
        for chunk in buffered[..buffered_count].chunks(L::COUNT) {
            // Two full registers, stored at both ends, must not overlap.
            if high.offset_from_unsigned(low) >= 2 * L::COUNT {
                partition_register::<L>(L::load(chunk.as_ptr()), pivots, &mut low, &mut high);
            } else {
                L::partition_partial(chunk, pivot, &mut low, &mut high);
            }
        }
        low.offset_from_unsigned(start)
    }
}

/// Take a block from the end with less free space.
///
/// # Safety
///
/// All pointers are into the same items, and there are at least `block` items between `from` and `to`.
#[inline(always)]
unsafe fn next_block<T>(
    from: &mut *mut T,
    to: &mut *mut T,
    low: *mut T,
    high: *mut T,
    block: usize,
) -> *const T {
    // SAFETY: guaranteed by the caller of this function.
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

/// Store the lanes below the pivot from `low` on, the others before `high`.
///
/// # Safety
///
/// There is space for a full register at either end, and the processor has the instructions of `L`.
#[inline(always)]
unsafe fn partition_register<L: Lanes>(
    vector: L::Vector,
    pivots: L::Vector,
    low: &mut *mut L::Item,
    high: &mut *mut L::Item,
) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let below = L::partition(vector, pivots, *low, *high);
        *low = low.add(below);
        *high = high.sub(L::COUNT - below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<L: Lanes>(instructions: Instructions, of: impl Fn(u64) -> L::Item)
    where
        L::Item: std::fmt::Debug,
    {
        if !has(instructions) {
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
                let mut expected = items.clone();
                expected.sort_unstable();
                let threads = num_threads().min(items.len() / MIN_PARALLEL);
                // SAFETY: the processor has the instructions.
                unsafe { sort::<L>(&mut items, threads) };
                assert!(items == expected, "{length} items");
            }
        }
    }

    /// Whether the processor has these instructions, even if it has better ones.
    fn has(instructions: Instructions) -> bool {
        super::instructions().is_some_and(|best| best == Instructions::Avx512 || best == instructions)
    }

    #[test]
    fn sorts_any_order_and_repetitions() {
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
                let mut expected = items.clone();
                expected.sort_unstable();
                if !select_with_vectors(&mut items, kth) {
                    return;
                }
                assert_eq!(items[kth], expected[kth]);
                assert!(items[..kth].iter().all(|&item| item <= expected[kth]));
                assert!(items[kth..].iter().all(|&item| item >= expected[kth]));
                items.sort_unstable();
                assert_eq!(items, expected);
            }
        }
    }

    #[test]
    fn selects_the_item_of_the_sorted_position() {
        check_selection::<u64>(|x| x);
        check_selection::<u32>(|x| x as u32);
    }

    #[test]
    fn falls_back_after_too_many_bad_pivots() {
        let mut items: Vec<u32> = (0..10_000).map(|i| i * 7919 % 10_007).collect();
        if has(Instructions::Avx2) {
            // SAFETY: the processor has the instructions.
            unsafe { quicksort::<Avx2<u32>>(&mut items, 1) };
            assert!(items.is_sorted());
        }
    }
}
