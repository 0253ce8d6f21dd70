//! Binary search of values in sorted rows.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::keys::{Direction, Key, Keyed};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Side, match_dtype};

/// Minimum comparisons per task.
const GRAIN: usize = 1 << 14;
/// Values searched in parallel.
const BATCH: usize = 32;

/// Write to `dst` the insertion index of each of `values` in an ascending row of `sorted`: the number of elements that are
/// less, and with [`Side::Right`] also those that are equal. NaN is greater than every number and equal to itself; complex
/// numbers compare by real part, then by imaginary part.
///
/// `sorted` has a shape B + (n,), `values` has B + V; `dst` is uint32 and has the shape of `values`.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn searchsorted(side: Side, sorted: View, values: View, dst: ViewMut) {
    let batch = sorted.shape().len().checked_sub(1).expect("rows have an axis");
    assert_eq!(sorted.dtype(), values.dtype(), "sorted rows and values have one dtype");
    assert_eq!(dst.dtype(), DType::UInt32, "indices are uint32");
    assert_eq!(sorted.shape()[..batch], values.shape()[..batch], "a sorted row for each group of values");
    assert_eq!(values.shape(), dst.shape(), "an index for each value");
    let mut rows = StridedLoops::new(&[], [&[], &[], &[]]);
    for axis in 0..batch {
        let strides = [sorted.strides()[axis], values.strides()[axis], dst.strides()[axis]];
        rows.push(Loop { length: values.shape()[axis], strides });
    }
    let inner =
        StridedLoops::new(&values.shape()[batch..], [&values.strides()[batch..], &dst.strides()[batch..]]);
    let (length, stride) = (sorted.shape()[batch], sorted.strides()[batch]);
    let to = Target::of(&dst);
    match_dtype!(sorted.dtype(), T => {
        let search = Search::<T> {
            sorted: Source::of(&sorted), values: Source::of(&values), to, inner, length, stride, side,
        };
        let width = search.inner.count();
        let cost = 1 + usize::BITS as usize - length.leading_zeros() as usize;
        parallel_ranges(rows.count(), GRAIN / (width * cost).max(1), |range| {
            rows.walk(range, |starts| search.run(starts, width, cost));
        });
    });
}

struct Search<T> {
    sorted: Source<T>,
    values: Source<T>,
    to: Target<u32>,
    /// Loops over the values of a row: values, destination.
    inner: StridedLoops<2>,
    length: usize,
    stride: isize,
    side: Side,
}

impl<T: Keyed> Search<T> {
    /// Compute the insertion indices of a row's values.
    fn run(&self, starts: [isize; 3], width: usize, cost: usize) {
        // SAFETY: the layout of the row holds all elements below its length.
        let key_at = |i: usize| unsafe {
            (*self.sorted.at(starts[0] + i as isize * self.stride)).key(Direction::Ascending)
        };
        // With many values the keys of the row are computed once.
        let mut keys: Vec<T::Key> = Vec::new();
        if width >= self.length && keys.try_reserve_exact(self.length).is_ok() {
            keys.extend((0..self.length).map(key_at));
            let keys = &keys[..];
            parallel_ranges(width, GRAIN / cost, |range| self.find_batch(starts, range, keys));
        } else {
            parallel_ranges(width, GRAIN / cost, |range| self.find(starts, range, key_at));
        }
    }

    /// As [`Search::find`], for precomputed keys of the sorted row.
    fn find_batch(&self, [_, values, to]: [isize; 3], range: Range<usize>, keys: &[T::Key]) {
        let strides = self.inner.inner().strides;
        self.inner.inner_runs(range, |[from, offset], length| {
            let (from, to) = (self.values.shifted(values + from), self.to.shifted(to + offset));
            vectorised(
                #[inline(always)]
                || {
                    for start in (0..length).step_by(BATCH) {
                        let count = BATCH.min(length - start);
                        let mut targets = [T::Key::MIN; BATCH];
                        for (j, target) in targets[..count].iter_mut().enumerate() {
                            // SAFETY: the layout of the values holds this run.
                            let value = unsafe { *from.at((start + j) as isize * strides[0]) };
                            *target = value.key(Direction::Ascending);
                        }
                        let counts = match self.side {
                            Side::Left => count_batch(keys, &targets, |key, target| key < target),
                            Side::Right => count_batch(keys, &targets, |key, target| key <= target),
                        };
                        for (j, &insertion_index) in counts[..count].iter().enumerate() {
                            // SAFETY: the layout of the destination holds this run; tasks write disjoint elements.
                            unsafe { *to.at((start + j) as isize * strides[1]) = insertion_index };
                        }
                    }
                },
            );
        });
    }

    fn find(&self, [_, values, to]: [isize; 3], range: Range<usize>, key_at: impl Fn(usize) -> T::Key) {
        self.inner.walk(range, |[from, offset]| {
            // SAFETY: the layouts hold these elements; tasks write disjoint elements.
            unsafe {
                let key = (*self.values.at(values + from)).key(Direction::Ascending);
                *self.to.at(to + offset) = match self.side {
                    Side::Left => count_before(self.length, |i| key_at(i) < key),
                    Side::Right => count_before(self.length, |i| key_at(i) <= key),
                } as u32;
            }
        });
    }
}

/// The number of sorted keys before each target. All searches take the same steps in lockstep, so that their loads overlap.
#[inline(always)]
fn count_batch<K: Ord + Copy>(
    keys: &[K],
    targets: &[K; BATCH],
    comes_before: impl Fn(K, K) -> bool,
) -> [u32; BATCH] {
    let mut low = [0u32; BATCH];
    let mut count = keys.len();
    while count > 0 {
        let half = count.div_ceil(2);
        for (low, &target) in low.iter_mut().zip(targets) {
            // SAFETY: `low + count` never exceeds the number of keys, and `half` does not exceed `count`.
            let key = unsafe { *keys.get_unchecked(*low as usize + half - 1) };
            *low += half as u32 * u32::from(comes_before(key, target));
        }
        count -= half;
    }
    low
}

/// The number of indices below `length` for which `comes_before` holds; these are the first ones. Branch-free, since the
/// comparisons are unpredictable.
#[inline(always)]
fn count_before(length: usize, comes_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut count) = (0, length);
    while count > 1 {
        let half = count / 2;
        low += half * usize::from(comes_before(low + half - 1));
        count -= half;
    }
    low + usize::from(count == 1 && comes_before(low))
}
