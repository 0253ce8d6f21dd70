//! Sorting of integers: with vector instructions if the processor has them (`vectors`). Otherwise by comparison if there are
//! few, by radix sort if there are many; very many are sorted in chunks on several threads and merged.

use std::ops::Range;

use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};

/// Minimum number of items for which radix sort is faster than comparison sort.
const MIN_RADIX: usize = 1 << 11;
/// Minimum number of items for several threads.
const MIN_PARALLEL: usize = 1 << 16;
/// Bits of a radix digit.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// Items merged per task.
const MERGE: usize = 1 << 15;

/// A value to be sorted by its natural order.
pub(super) trait Item: Copy + Ord + Send + Sync {
    /// Whether it supports radix sort.
    const HAS_DIGITS: bool = true;
    /// The `DIGIT` bits from bit `shift` on.
    fn digit(self, shift: u32) -> usize;
    /// Whether this processor can sort it with vector instructions.
    fn has_vectors() -> bool {
        false
    }
    /// Sort with vector instructions if possible; returns whether it did.
    fn sort_with_vectors(_items: &mut [Self]) -> bool {
        false
    }
    /// Select with vector instructions if possible; returns whether it did.
    fn select_with_vectors(_items: &mut [Self], _kth: usize) -> bool {
        false
    }
}

macro_rules! items {
    ($($ty:ty)*) => { $(
        impl Item for $ty {
            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (BUCKETS - 1)
            }
            #[cfg(target_arch = "x86_64")]
            fn has_vectors() -> bool {
                super::vectors::has_vectors()
            }
            #[cfg(target_arch = "x86_64")]
            fn sort_with_vectors(items: &mut [$ty]) -> bool {
                super::vectors::sort_with_vectors(items)
            }
            #[cfg(target_arch = "x86_64")]
            fn select_with_vectors(items: &mut [$ty], kth: usize) -> bool {
                super::vectors::select_with_vectors(items, kth)
            }
        }
    )* };
}
items!(u32 u64);

/// A key with an index, which orders equal keys. Indices are ascending at first, so the stable radix sort only needs the key.
impl Item for (u64, u32) {
    #[inline(always)]
    fn digit(self, shift: u32) -> usize {
        self.0.digit(shift)
    }
}

impl Item for (u128, u32) {
    const HAS_DIGITS: bool = false;
    fn digit(self, shift: u32) -> usize {
        (self.0 >> shift) as usize & (BUCKETS - 1)
    }
}

/// Whether items are sorted by radix sort, which needs a spare buffer.
pub(super) fn needs_spare<I: Item>(count: usize) -> bool {
    count >= MIN_RADIX && I::HAS_DIGITS && !I::has_vectors()
}

/// Sort items that differ in `bits` only, apart from indices. `spare` has space for as many items if [`needs_spare`] is true.
pub(super) fn sort_items<I: Item>(items: &mut ScratchVec<I>, spare: &mut ScratchVec<I>, bits: Range<u32>) {
    if I::sort_with_vectors(items) {
        return;
    }
    if !needs_spare::<I>(items.len()) {
        items.sort_unstable();
        return;
    }
    spare.clear();
    spare.extend(items.iter().copied());
    let chunks = num_threads().next_power_of_two().min(items.len() / MIN_PARALLEL).max(1);
    let chunks = 1 << chunks.ilog2();
    let bounds: Vec<usize> = (0..=chunks).map(|i| items.len() * i / chunks).collect();
    let (a, b) = (Target::over(items), Target::over(spare));
    parallel_for(chunks, |i| {
        let (start, length) = (bounds[i], bounds[i + 1] - bounds[i]);
        // SAFETY: tasks have disjoint chunks of buffers that outlive the call.
        let (a, b) = unsafe {
            (
                std::slice::from_raw_parts_mut(a.at(start as isize), length),
                std::slice::from_raw_parts_mut(b.at(start as isize), length),
            )
        };
        sort_by_digits(a, b, bits.clone());
    });
    let mut width = 1;
    while width < chunks {
        let next: Vec<usize> = bounds.iter().copied().step_by(width).collect();
        for pair in next.windows(3).step_by(2) {
            merge(&items[pair[0]..pair[1]], &items[pair[1]..pair[2]], &mut spare[pair[0]..pair[2]]);
        }
        std::mem::swap(items, spare);
        width *= 2;
    }
}

/// Move the item with sorted position `kth` there, with no greater items before it and no smaller ones after it.
pub(super) fn select_item<I: Item>(items: &mut [I], kth: usize) {
    if !I::select_with_vectors(items, kth) {
        items.select_nth_unstable(kth);
    }
}

/// Least-significant-digit radix sort; `spare` has the same length.
fn sort_by_digits<'a, I: Item>(mut items: &'a mut [I], mut spare: &'a mut [I], bits: Range<u32>) {
    let count = items.len();
    let mut swapped = false;
    for shift in bits.step_by(DIGIT as usize) {
        let mut starts = [0usize; BUCKETS];
        for item in &*items {
            starts[item.digit(shift)] += 1;
        }
        if starts[items[0].digit(shift)] == count {
            continue;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &item in &*items {
            let position = &mut starts[item.digit(shift)];
            spare[*position] = item;
            *position += 1;
        }
        std::mem::swap(&mut items, &mut spare);
        swapped = !swapped;
    }
    if swapped {
        spare.copy_from_slice(items);
    }
}

/// Merge two sorted runs on several threads.
fn merge<I: Item>(a: &[I], b: &[I], out: &mut [I]) {
    let tasks = out.len().div_ceil(MERGE);
    let total = out.len();
    let out = Target::over(out);
    parallel_for(tasks, |task| {
        let (start, end) = (total * task / tasks, total * (task + 1) / tasks);
        let (mut i, mut j) = split(a, b, start);
        let (i_end, j_end) = split(a, b, end);
        for position in start..end {
            let takes_a = j == j_end || i < i_end && a[i] <= b[j];
            let item = if takes_a { a[i] } else { b[j] };
            i += usize::from(takes_a);
            j += usize::from(!takes_a);
            // SAFETY: tasks have disjoint ranges.
            unsafe { *out.at(position as isize) = item };
        }
    });
}

/// The numbers of items from each of two sorted runs among the first `count` of their merge.
fn split<I: Item>(a: &[I], b: &[I], count: usize) -> (usize, usize) {
    let (mut low, mut high) = (count.saturating_sub(b.len()), count.min(a.len()));
    while low < high {
        let middle = usize::midpoint(low, high);
        if a[middle] <= b[count - middle - 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low, count - low)
}
