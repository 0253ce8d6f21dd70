//! The index syntax of Rust programs: numbers, ranges, arrays and masks become entries, and [`s!`](crate::s) a list of entries.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::SmallVec;
use umber_types::{DType, Result, ScatterKind};

use super::{Index, get, update};
use crate::graph::Array;

/// An index as NumPy's `a[...]` reads it, for [`Array::get`], [`Array::set`] and the functions of
/// [`ops::indexing`](crate::ops::indexing).
///
/// | entry | meaning |
/// |---|---|
/// | `2`, `-1` | one element, counted from the end if negative; the axis vanishes |
/// | `1..`, `..-1`, `2..5`, `..`, `..=3` | a range; bounds are clamped to the axis |
/// | `..; 2`, `5..1; -2` | a range with a step: Python's `start:stop:step`, so that a descending range starts at its larger end |
/// | `...` | all axes that the other entries do not index |
/// | `NewAxis` | a new axis of length one |
/// | `&array`, `[0, 2]` | elements selected by integers |
/// | `&mask`, `[true, false]` | elements where a bool array is true |
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops, s};
///
/// let a: Array = (0..12).collect();
/// let a = ops::reshape(&a, &[3, 4])?;
/// assert_eq!(a.get(s![1, -1])?.to_vec::<i32>()?, [7]);
/// assert_eq!(a.get(s![1.., ..; 3])?.to_vec::<i32>()?, [4, 7, 8, 11]);
/// assert_eq!(a.get(s![.., [0, 0]])?.shape(), &Shape::from([3, 2]));
/// assert_eq!(a.get(s![NewAxis, ..., 0])?.shape(), &Shape::from([1, 3]));
/// assert_eq!(a.get(s![&ops::greater(&a, &Array::from(9))?])?.to_vec::<i32>()?, [10, 11]);
/// # Ok::<(), umber::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@ [$($done:expr,)*]) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "a bound may count from the end, a step go backwards")]
        let index: [$crate::ops::Index; _] = [$($done),*];
        index
    }};
    (@ [$($done:expr,)*] ... $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::Index::Ellipsis,] $($($rest)*)?)
    };
    (@ [$($done:expr,)*] NewAxis $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::Index::NewAxis,] $($($rest)*)?)
    };
    (@ [$($done:expr,)*] $range:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::indexing::RangeWithStep::by($range, $step),] $($($rest)*)?)
    };
    (@ [$($done:expr,)*] $entry:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::Index::from($entry),] $($($rest)*)?)
    };
    ($($entries:tt)*) => { $crate::s!(@ [] $($entries)*) };
}

/// Integers of any size as indices, lengths and axes: values beyond 64 bits are out of bounds of every axis.
pub trait IndexInteger: Copy {
    /// The nearest 64-bit integer.
    fn to_index(self) -> i64;

    /// The nearest 64-bit integers of a list.
    fn to_indices(list: &[Self]) -> impl AsRef<[i64]> {
        list.iter().map(|integer| integer.to_index()).collect::<SmallVec<[i64; 4]>>()
    }
}

/// Not copied.
impl IndexInteger for i64 {
    #[inline]
    fn to_index(self) -> i64 {
        self
    }

    #[inline]
    fn to_indices(list: &[i64]) -> impl AsRef<[i64]> {
        list
    }
}

macro_rules! index_integers {
    ($($integer:ty)*) => {$(
        impl IndexInteger for $integer {
            #[inline]
            fn to_index(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}

index_integers! { i32 isize u32 u64 usize }

macro_rules! index_lists {
    ($($integer:ty)*) => {$(
        impl<const LENGTH: usize> From<[$integer; LENGTH]> for Index {
            fn from(indices: [$integer; LENGTH]) -> Index {
                Index::Array(Array::from(indices.map(IndexInteger::to_index)))
            }
        }
    )*};
}

index_lists! { i32 i64 isize u32 u64 usize }

/// Ranges that can have a step.
pub trait RangeWithStep {
    /// Every `step`-th element, backwards if negative.
    fn by(self, step: i64) -> Index;
}

/// The exclusive end of an inclusive range. It is open if the range goes forwards to element -1 or backwards to element 0.
fn exclusive_end(last: i64, step: i64) -> Option<i64> {
    match (last, step < 0) {
        (-1, false) | (0, true) => None,
        (last, false) => Some(last.saturating_add(1)),
        (last, true) => Some(last.saturating_sub(1)),
    }
}

macro_rules! ranges {
    ($($range:ty, |$self:ident, $step:ident| ($start:expr, $stop:expr);)*) => {$(
        impl<P: IndexInteger> RangeWithStep for $range {
            fn by($self, $step: i64) -> Index {
                Index::Slice { start: $start, stop: $stop, step: Some($step) }
            }
        }

        impl<P: IndexInteger> From<$range> for Index {
            fn from(range: $range) -> Index {
                range.by(1)
            }
        }
    )*};
}

ranges! {
    Range<P>, |self, step| (Some(self.start.to_index()), Some(self.end.to_index()));
    RangeFrom<P>, |self, step| (Some(self.start.to_index()), None);
    RangeTo<P>, |self, step| (None, Some(self.end.to_index()));
    RangeInclusive<P>, |self, step| (Some(self.start().to_index()), exclusive_end(self.end().to_index(), step));
    RangeToInclusive<P>, |self, step| (None, exclusive_end(self.end.to_index(), step));
}

impl RangeWithStep for RangeFull {
    fn by(self, step: i64) -> Index {
        Index::Slice { start: None, stop: None, step: Some(step) }
    }
}

impl From<RangeFull> for Index {
    fn from(range: RangeFull) -> Index {
        range.by(1)
    }
}

impl<P: IndexInteger> From<P> for Index {
    fn from(index: P) -> Index {
        Index::Int(index.to_index())
    }
}

impl From<&Array> for Index {
    fn from(array: &Array) -> Index {
        Index::from(array.clone())
    }
}

impl From<Array> for Index {
    fn from(array: Array) -> Index {
        if array.dtype() == DType::Bool { Index::Mask(array) } else { Index::Array(array) }
    }
}

impl From<bool> for Index {
    fn from(value: bool) -> Index {
        Index::Mask(Array::from(value))
    }
}

impl<const LENGTH: usize> From<[bool; LENGTH]> for Index {
    fn from(mask: [bool; LENGTH]) -> Index {
        Index::Mask(Array::from(mask))
    }
}

impl Array {
    /// `a[index]`, as [`ops::get`](crate::ops::get) does.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::{Array, s};
    ///
    /// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(a.get(s![.., 1..])?.to_vec::<i32>()?, [2, 3, 5, 6]);
    /// assert!(a.get(s![2]).is_err()); // out of bounds
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn get(&self, index: impl AsRef<[Index]>) -> Result<Array> {
        get(self, index.as_ref())
    }

    /// `a[index] = values`, as [`ops::update`](crate::ops::update) does. Other handles to the old value keep it.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::{Array, s};
    ///
    /// let mut a = Array::from([1.0f32, 2.0, 3.0]);
    /// let before = a.clone();
    /// a.set(s![1..], 0.0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 0.0]);
    /// assert_eq!(before.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn set(&mut self, index: impl AsRef<[Index]>, values: impl Into<Array>) -> Result<()> {
        *self = update(ScatterKind::Set, self, index.as_ref(), &values.into())?;
        Ok(())
    }
}
