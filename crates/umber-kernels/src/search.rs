//! Where values go into sorted rows.

use std::ops::Range;

use umber_types::{DType, Side, match_dtype};

use crate::keys::{Direction, Keyed};
use crate::nest::{Loop, Nest};
use crate::shared::{Source, Target};
use crate::threads::parallel_ranges;
use crate::{View, ViewMut};

/// Comparisons worth a task of their own.
const GRAIN: usize = 1 << 14;

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
    let mut rows = Nest::new(&[], [&[], &[], &[]]);
    for axis in 0..batch {
        let strides = [sorted.strides()[axis], values.strides()[axis], dst.strides()[axis]];
        rows.push(Loop { length: values.shape()[axis], strides });
    }
    let inner = Nest::new(&values.shape()[batch..], [&values.strides()[batch..], &dst.strides()[batch..]]);
    let (length, stride) = (sorted.shape()[batch], sorted.strides()[batch]);
    let to = Target::of(&dst);
    match_dtype!(sorted.dtype(), T => {
        let search = Search::<T> {
            sorted: Source::of(&sorted), values: Source::of(&values), to, inner, length, stride, side,
        };
        let width = search.inner.count();
        let cost = 1 + usize::BITS as usize - length.leading_zeros() as usize;
        parallel_ranges(rows.count(), GRAIN / (width * cost).max(1), |range| {
            rows.walk(range, |starts| {
                parallel_ranges(width, GRAIN / cost, |part| search.find(starts, part));
            });
        });
    });
}

struct Search<T> {
    sorted: Source<T>,
    values: Source<T>,
    to: Target<u32>,
    /// Loops over the values of a row: values, destination.
    inner: Nest<2>,
    length: usize,
    stride: isize,
    side: Side,
}

impl<T: Keyed> Search<T> {
    fn find(&self, [sorted, values, to]: [isize; 3], part: Range<usize>) {
        self.inner.walk(part, |[from, place]| {
            // SAFETY: the layouts hold these elements; tasks have places of their own.
            unsafe {
                let key = (*self.values.at(values + from)).key(Direction::Ascending);
                *self.to.at(to + place) = self.rank(sorted, key) as u32;
            }
        });
    }

    /// How many elements of a row come before a key.
    #[inline(always)]
    fn rank(&self, row: isize, key: T::Key) -> usize {
        let (mut low, mut left) = (0, self.length);
        while left > 0 {
            let half = left / 2;
            // SAFETY: the layout of the row holds the element, for `low + half` is below its length.
            let element = unsafe { *self.sorted.at(row + (low + half) as isize * self.stride) };
            let found = element.key(Direction::Ascending);
            let goes_after = match self.side {
                Side::Left => found < key,
                Side::Right => found <= key,
            };
            (low, left) = if goes_after { (low + half + 1, left - half - 1) } else { (low, half) };
        }
        low
    }
}
