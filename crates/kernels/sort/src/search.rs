//! Where values go into sorted rows.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::keys::{Direction, Key, Keyed};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Side, match_dtype};

/// Comparisons worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Values searched for side by side.
const BATCH: usize = 32;

/// Write to `dst` how many elements of an ascending row of `sorted` come before each of `values`: those that are less,
/// and with [`Side::Right`] those that are equal too. NaN is greater than every number and equal to itself; complex
/// numbers compare by real part, then by imaginary part.
///
/// `sorted` has a shape B + (n,), `values` has B + V; `dst` is uint32 and has the shape of `values`.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn searchsorted(side: Side, sorted: View, values: View, dst: ViewMut) {
    let batch = sorted.shape().len().checked_sub(1).expect("rows have an axis");
    assert_eq!(sorted.dtype(), values.dtype(), "what is searched and what is searched for have one dtype");
    assert_eq!(dst.dtype(), DType::UInt32, "places are uint32");
    assert_eq!(sorted.shape()[..batch], values.shape()[..batch], "a sorted row for each group of values");
    assert_eq!(values.shape(), dst.shape(), "a place for each value");
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
    /// Find the places of a row's values.
    fn run(&self, starts: [isize; 3], width: usize, cost: usize) {
        // SAFETY: the layout of the row holds elements below its length.
        let key_at = |i: usize| unsafe {
            (*self.sorted.at(starts[0] + i as isize * self.stride)).key(Direction::Ascending)
        };
        // Where values are many, the keys that they meet are made once.
        let mut keys: Vec<T::Key> = Vec::new();
        if width >= self.length && keys.try_reserve_exact(self.length).is_ok() {
            keys.extend((0..self.length).map(key_at));
            let keys = &keys[..];
            parallel_ranges(width, GRAIN / cost, |part| self.find_batch(starts, part, keys));
        } else {
            parallel_ranges(width, GRAIN / cost, |part| self.find(starts, part, key_at));
        }
    }

    /// As [`Search::find`] where the keys of the sorted row are at hand.
    fn find_batch(&self, [_, values, to]: [isize; 3], part: Range<usize>, keys: &[T::Key]) {
        let strides = self.inner.inner().strides;
        self.inner.inner_runs(part, |[from, place], length| {
            let (from, to) = (self.values.shifted(values + from), self.to.shifted(to + place));
            vectorised(
                #[inline(always)]
                || {
                    for start in (0..length).step_by(BATCH) {
                        let count = BATCH.min(length - start);
                        let mut targets = [T::Key::MIN; BATCH];
                        for (j, targets) in targets[..count].iter_mut().enumerate() {
                            // SAFETY: the layout of the values holds this run.
                            let value = unsafe { *from.at((start + j) as isize * strides[0]) };
                            *targets = value.key(Direction::Ascending);
                        }
                        let places = match self.side {
                            Side::Left => count_batch(keys, &targets, |key, targets| key < targets),
                            Side::Right => count_batch(keys, &targets, |key, targets| key <= targets),
                        };
                        for (j, &place) in places[..count].iter().enumerate() {
                            // SAFETY: the layout of the destination holds this run; tasks have places of their own.
                            unsafe { *to.at((start + j) as isize * strides[1]) = place };
                        }
                    }
                },
            );
        });
    }

    fn find(&self, [_, values, to]: [isize; 3], part: Range<usize>, key_at: impl Fn(usize) -> T::Key) {
        self.inner.walk(part, |[from, place]| {
            // SAFETY: the layouts hold these elements; tasks have places of their own.
            unsafe {
                let key = (*self.values.at(values + from)).key(Direction::Ascending);
                *self.to.at(to + place) = match self.side {
                    Side::Left => count_before(self.length, |i| key_at(i) < key),
                    Side::Right => count_before(self.length, |i| key_at(i) <= key),
                } as u32;
            }
        });
    }
}

/// How many of some sorted keys come before each of the wanted ones, each found by the same steps as the others, so that
/// none waits for another's.
#[inline(always)]
fn count_batch<K: Ord + Copy>(
    keys: &[K],
    targets: &[K; BATCH],
    comes_before: impl Fn(K, K) -> bool,
) -> [u32; BATCH] {
    let mut low = [0u32; BATCH];
    let mut left = keys.len();
    while left > 0 {
        let half = left.div_ceil(2);
        for (low, &targets) in low.iter_mut().zip(targets) {
            // SAFETY: `low + left` never exceeds the number of keys, and `half` does not exceed `left`.
            let key = unsafe { *keys.get_unchecked(*low as usize + half - 1) };
            *low += half as u32 * u32::from(comes_before(key, targets));
        }
        left -= half;
    }
    low
}

/// How many of the first indices below `length` come before, where all that do stand in front. No branch depends on it:
/// it could not be predicted.
#[inline(always)]
fn count_before(length: usize, comes_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut left) = (0, length);
    while left > 1 {
        let half = left / 2;
        low += half * usize::from(comes_before(low + half - 1));
        left -= half;
    }
    low + usize::from(left == 1 && comes_before(low))
}
