//! Iteration over the first axis of an array.

use std::iter::FusedIterator;
use std::ops::Range;

use umber_types::{Result, ensure};

use super::{Index, get};
use crate::graph::Array;

/// The elements of an array along its first axis, each without that axis. See [`Array::rows`].
#[derive(Clone, Debug)]
pub struct Rows {
    array: Array,
    remaining: Range<usize>,
}

impl Rows {
    fn row(&self, index: usize) -> Array {
        get(&self.array, &[Index::Int(index as i64)]).expect("the index is within the first axis")
    }
}

impl Iterator for Rows {
    type Item = Array;

    fn next(&mut self) -> Option<Array> {
        self.remaining.next().map(|index| self.row(index))
    }

    fn nth(&mut self, skipped: usize) -> Option<Array> {
        self.remaining.nth(skipped).map(|index| self.row(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.remaining.size_hint()
    }
}

impl DoubleEndedIterator for Rows {
    fn next_back(&mut self) -> Option<Array> {
        self.remaining.next_back().map(|index| self.row(index))
    }
}

impl ExactSizeIterator for Rows {}

impl FusedIterator for Rows {}

impl Array {
    /// Iterate over the first axis: the rows of a matrix, the numbers of a vector as 0-d arrays. Rows are views.
    ///
    /// Fails for a 0-d array. `for row in &x` is the same, but panics.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::Array;
    ///
    /// let x = Array::from([[1, 2], [3, 4], [5, 6]]);
    /// let last = x.rows()?.next_back();
    /// assert_eq!(last.map(|row| row.to_vec::<i32>()), Some(Ok(vec![5, 6])));
    /// for (i, row) in x.rows()?.enumerate() {
    ///     assert_eq!(row.to_vec::<i32>()?[0], 2 * i as i32 + 1);
    /// }
    /// assert!(Array::from(1).rows().is_err());
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn rows(&self) -> Result<Rows> {
        ensure!(self.ndim() > 0, Type("rows"), "a 0-d array has no axis to iterate over");
        Ok(Rows { array: self.clone(), remaining: 0..self.shape()[0] })
    }
}

/// Iterates over the first axis, see [`Array::rows`]. Panics for a 0-d array.
#[expect(
    clippy::into_iter_without_iter,
    reason = "`rows` is that method, and returns an error for a 0-d array"
)]
impl IntoIterator for &Array {
    type Item = Array;
    type IntoIter = Rows;

    #[track_caller]
    fn into_iter(self) -> Rows {
        match self.rows() {
            Ok(rows) => rows,
            Err(error) => panic!("{error}"),
        }
    }
}
