//! Sorts integers: with vectors where the processor has them (`vectors`); else by comparison if there are few, by
//! digits if there are many, in parts and merged on several threads if there are very many.

use std::ops::Range;

use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};

/// From this many on, sorting by digits is faster than by comparison.
const MIN_RADIX: usize = 1 << 11;
/// From this many on, threads share the work.
const MIN_PARALLEL: usize = 1 << 16;
/// Bits of a digit.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// Items merged by one task.
const MERGE: usize = 1 << 15;

/// What is sorted: its whole value is its order.
pub(super) trait Item: Copy + Ord + Send + Sync {
    /// Can it be sorted by digits?
    const HAS_DIGITS: bool = true;
    /// The eleven bits from `shift` on.
    fn digit(self, shift: u32) -> usize;
    /// Can it be sorted with vectors here?
    fn has_vectors() -> bool {
        false
    }
    /// Sort with vectors if that can be done; says whether it was.
    fn sort_with_vectors(_items: &mut [Self]) -> bool {
        false
    }
    /// Select with vectors if that can be done; says whether it was.
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

/// A key with a place, which decides between equal keys. Places begin in order, and sorting by digits keeps them so.
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

/// Is there something to be sorted by digits, for which items are copied?
pub(super) fn needs_spare<I: Item>(count: usize) -> bool {
    count >= MIN_RADIX && I::HAS_DIGITS && !I::has_vectors()
}

/// Sort items, which differ in `bits` only if places are left out; `spare` has space for as many, if [`needs_spare`] says so.
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
    let parts = num_threads().next_power_of_two().min(items.len() / MIN_PARALLEL).max(1);
    let parts = 1 << parts.ilog2();
    let bounds: Vec<usize> = (0..=parts).map(|i| items.len() * i / parts).collect();
    let (a, b) = (Target::over(items), Target::over(spare));
    parallel_for(parts, |i| {
        let (start, length) = (bounds[i], bounds[i + 1] - bounds[i]);
        // SAFETY: tasks have parts of their own, of vectors that outlive the call.
        let (a, b) = unsafe {
            (
                std::slice::from_raw_parts_mut(a.at(start as isize), length),
                std::slice::from_raw_parts_mut(b.at(start as isize), length),
            )
        };
        sort_by_digits(a, b, bits.clone());
    });
    let mut width = 1;
    while width < parts {
        let next: Vec<usize> = bounds.iter().copied().step_by(width).collect();
        for pair in next.windows(3).step_by(2) {
            merge(&items[pair[0]..pair[1]], &items[pair[1]..pair[2]], &mut spare[pair[0]..pair[2]]);
        }
        std::mem::swap(items, spare);
        width *= 2;
    }
}

/// Bring the item that sorting would put at `kth` there, none greater before and none lesser after it.
pub(super) fn select_item<I: Item>(items: &mut [I], kth: usize) {
    if !I::select_with_vectors(items, kth) {
        items.select_nth_unstable(kth);
    }
}

/// Sort from the last digit to the first; `spare` is as long.
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
            let place = &mut starts[item.digit(shift)];
            spare[*place] = item;
            *place += 1;
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
        for place in start..end {
            let takes_a = j == j_end || i < i_end && a[i] <= b[j];
            let item = if takes_a { a[i] } else { b[j] };
            i += usize::from(takes_a);
            j += usize::from(!takes_a);
            // SAFETY: tasks have ranges of their own.
            unsafe { *out.at(place as isize) = item };
        }
    });
}

/// How many items of each of two sorted runs are among the first `count` of both merged.
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
