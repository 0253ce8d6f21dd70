//! Products with a transposed quantised matrix, as [`int8_dot`](super::int8_dot) and [`skinny_qgemm`](super::skinny_qgemm)
//! compute them.

use std::ops::Add;
#[cfg(target_arch = "x86_64")]
use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::shared::Target;
use umber_kernels_base::tree_reduce::tree_reduce;

#[cfg(target_arch = "x86_64")]
use super::codes::as_bytes;
use super::packed::QuantizedRows;

/// Numbers summed up side by side.
const LANES: usize = 16;

/// `out[r, j] = sum over i of x[r, i] * w[first + j, i]`, for dense `x` of `rows` rows, one at least, of some length, and dense
/// `out`.
pub(super) struct QGemm<'a> {
    pub(super) quantized: &'a QuantizedRows<'a>,
    /// The row of the matrix that the first column is of.
    pub(super) first: usize,
    pub(super) x: &'a [f32],
    pub(super) rows: usize,
    /// Columns of the output.
    pub(super) columns: usize,
    pub(super) out: Target<f32>,
}

impl QGemm<'_> {
    /// Numbers of a left row.
    pub(super) fn depth(&self) -> usize {
        self.x.len() / self.rows
    }

    /// The groups of the left rows, in order.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = &[f32]> {
        self.x.chunks_exact(self.quantized.format.group_size())
    }

    /// The packed words that a column is of.
    pub(super) fn words(&self, column: usize) -> &[u32] {
        self.quantized.words(self.first + column)
    }

    /// The packed words that some columns are of, one column after the other.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_words(&self, columns: Range<usize>) -> &[u32] {
        self.quantized.all_words(self.first + columns.start..self.first + columns.end)
    }

    /// As [`all_words`](Self::all_words), as bytes.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn bytes(&self, columns: Range<usize>) -> &[u8] {
        as_bytes(self.all_words(columns))
    }

    /// Is nothing far above its neighbours?
    pub(super) fn has_no_outliers(&self) -> bool {
        vectorised(
            #[inline(always)]
            || {
                let mut all = true;
                for group in self.groups() {
                    all &= has_no_outliers(group);
                }
                all
            },
        )
    }
}

/// Is the largest number of a group not far above the others? What is left of it where it meets a weight of zero must be little
/// beside what is left of its neighbours: the 2^-31 of it that four digits leave away 2^-24 of what is not zero, in the mean. So
/// that a few large numbers do not stand for many small ones, none counts for more than a sixteenth.
#[inline(always)]
fn has_no_outliers(group: &[f32]) -> bool {
    const MAX_SHARE: f32 = 1.0 / 16.0;
    /// The least mean of the others.
    const MIN_MEAN: f32 = 1.0 / 128.0;
    let largest = max_abs(group);
    let most = largest * MAX_SHARE;
    let sum = sum_over(group, |value| value.abs().min(most));
    let others = (sum_over(group, |value| f32::from(u8::from(value != 0.0))) - 1.0).max(0.0);
    sum >= most + others * (largest * MIN_MEAN)
}

/// The sum of what `of` says of each number of a group.
#[inline(always)]
pub(super) fn sum_over<T: Default + Copy + Add<Output = T>>(group: &[f32], of: impl Fn(f32) -> T) -> T {
    let mut sums = [T::default(); LANES];
    for values in group.as_chunks::<LANES>().0 {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum = *sum + of(value);
        }
    }
    tree_reduce(&sums, |a, b| a + b)
}

/// The greatest magnitude, or something that is not finite.
#[inline(always)]
pub(super) fn max_abs(values: &[f32]) -> f32 {
    // The bits of magnitudes are in the order of the magnitudes, below those of what is not finite.
    f32::from_bits(values.iter().fold(0, |most: u32, value| most.max(value.abs().to_bits())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_whose_largest_is_far_above_the_others_are_not_close() {
        let of = |values: &[(f32, usize)]| -> Vec<f32> {
            values.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count)).collect()
        };
        let close: [&[(f32, usize)]; 6] = [
            &[(0.0, 64)],
            &[(-3.0, 64)],
            &[(0.0, 63), (5.0, 1)],
            &[(0.0, 60), (5.0, 1), (-3.0, 1), (1.0, 2)],
            &[(-1.0, 63), (100.0, 1)],
            &[(1.0, 60), (1e-6, 4)],
        ];
        for values in close {
            assert!(has_no_outliers(&of(values)), "{values:?}");
        }
        let far: [&[(f32, usize)]; 4] = [
            &[(0.0, 62), (1e-6, 1), (-5.0, 1)],
            &[(1.0, 63), (-130.0, 1)],
            &[(1e-3, 63), (3e4, 1)],
            &[(1.0, 1), (1e-3, 127)],
        ];
        for values in far {
            assert!(!has_no_outliers(&of(values)), "{values:?}");
        }
    }
}
