//! Description of a product with a transposed quantised matrix, for [`int8_dot`](super::int8_dot) and
//! [`skinny_qgemm`](super::skinny_qgemm).

use std::ops::Add;
#[cfg(target_arch = "x86_64")]
use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::shared::Target;
use umber_kernels_base::tree_reduce::tree_reduce;

#[cfg(target_arch = "x86_64")]
use super::codes::as_bytes;
use super::packed::QuantizedRows;

/// Independent accumulators of a sum.
const LANES: usize = 16;

/// `out[r, j] = sum over i of x[r, i] * w[first + j, i]`, for dense `x` with at least one row, and dense `out`.
pub(super) struct QGemm<'a> {
    pub(super) quantized: &'a QuantizedRows<'a>,
    /// Row of the matrix for the first column.
    pub(super) first: usize,
    pub(super) x: &'a [f32],
    pub(super) rows: usize,
    /// Columns of the output.
    pub(super) columns: usize,
    pub(super) out: Target<f32>,
}

impl QGemm<'_> {
    /// Length of a left row.
    pub(super) fn depth(&self) -> usize {
        self.x.len() / self.rows
    }

    /// The groups of the left rows, in order.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = &[f32]> {
        self.x.chunks_exact(self.quantized.format.group_size())
    }

    /// The packed words of a column.
    pub(super) fn words(&self, column: usize) -> &[u32] {
        self.quantized.words(self.first + column)
    }

    /// The packed words of consecutive columns.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn all_words(&self, columns: Range<usize>) -> &[u32] {
        self.quantized.all_words(self.first + columns.start..self.first + columns.end)
    }

    /// As [`all_words`](Self::all_words), as bytes.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn bytes(&self, columns: Range<usize>) -> &[u8] {
        as_bytes(self.all_words(columns))
    }

    /// Whether no element is much larger than the others of its group.
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

/// Whether the largest element does not dominate its group. Its rounding error remains even if its weight is zero, so it must
/// be small compared with the neighbours' contributions: the 2^-31 of the maximum that four limbs round away must be at most
/// 2^-24 of the mean of the nonzero elements. Each element counts for at most a sixteenth of the maximum, so that a few large
/// elements cannot make up for many small ones.
#[inline(always)]
fn has_no_outliers(group: &[f32]) -> bool {
    const MAX_SHARE: f32 = 1.0 / 16.0;
    /// Minimum mean of the other elements, relative to the maximum.
    const MIN_MEAN: f32 = 1.0 / 128.0;
    let largest = max_abs(group);
    let cap = largest * MAX_SHARE;
    let sum = sum_over(group, |value| value.abs().min(cap));
    let others = (sum_over(group, |value| f32::from(u8::from(value != 0.0))) - 1.0).max(0.0);
    sum >= cap + others * (largest * MIN_MEAN)
}

/// The sum of `of` over the elements of a group.
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

/// The maximum magnitude, or a value that is not finite.
#[inline(always)]
pub(super) fn max_abs(values: &[f32]) -> f32 {
    // The bit patterns of magnitudes are ordered like the magnitudes, with infinity and NaN above all finite ones.
    f32::from_bits(values.iter().fold(0, |max: u32, value| max.max(value.abs().to_bits())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_a_dominant_element_have_outliers() {
        let repeated = |values: &[(f32, usize)]| -> Vec<f32> {
            values.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count)).collect()
        };
        let even: [&[(f32, usize)]; 6] = [
            &[(0.0, 64)],
            &[(-3.0, 64)],
            &[(0.0, 63), (5.0, 1)],
            &[(0.0, 60), (5.0, 1), (-3.0, 1), (1.0, 2)],
            &[(-1.0, 63), (100.0, 1)],
            &[(1.0, 60), (1e-6, 4)],
        ];
        for values in even {
            assert!(has_no_outliers(&repeated(values)), "{values:?}");
        }
        let uneven: [&[(f32, usize)]; 4] = [
            &[(0.0, 62), (1e-6, 1), (-5.0, 1)],
            &[(1.0, 63), (-130.0, 1)],
            &[(1e-3, 63), (3e4, 1)],
            &[(1.0, 1), (1e-3, 127)],
        ];
        for values in uneven {
            assert!(!has_no_outliers(&repeated(values)), "{values:?}");
        }
    }
}
