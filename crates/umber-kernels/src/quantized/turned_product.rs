//! Products with a quantised matrix, turned: what [`digits`](super::digits) and [`few_rows`](super::few_rows) compute.

#[cfg(target_arch = "x86_64")]
use super::codes::as_bytes;
use super::packed::Packed;
use crate::shared::Target;

/// `out[r, j] = sum over i of x[r, i] * w[first + j, i]`, for dense `x` of `rows` rows, one at least, of some length, and dense
/// `out`.
pub(super) struct TurnedProduct<'a> {
    pub(super) packed: &'a Packed<'a>,
    /// The row of the matrix that the first column is of.
    pub(super) first: usize,
    pub(super) x: &'a [f32],
    pub(super) rows: usize,
    /// Columns of the output.
    pub(super) columns: usize,
    pub(super) out: Target<f32>,
}

impl TurnedProduct<'_> {
    /// Numbers of a left row.
    pub(super) fn depth(&self) -> usize {
        self.x.len() / self.rows
    }

    /// The packed words that a column is of.
    pub(super) fn words(&self, column: usize) -> &[u32] {
        self.packed.words(self.first + column)
    }

    /// As [`words`](Self::words), as bytes.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn bytes(&self, column: usize) -> &[u8] {
        as_bytes(self.words(column))
    }
}
