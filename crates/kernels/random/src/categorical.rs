//! Categorical sampling by inversion of the cumulative weights.

use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Result, error};

/// Levels worth another thread.
const GRAIN: usize = 1 << 12;

/// The accumulator type of the weights.
trait Weight:
    Copy + Default + PartialOrd + Send + Sync + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self>
{
}
impl Weight for f32 {}
impl Weight for f64 {}

/// Inverse-CDF sampling: for each of `levels` in [0, 1), the last index whose exclusive cumulative weight is at most
/// `level * total`.
///
/// `weights` are `[..., n]`, `levels` `[..., m]` of the same dtype, float32 or float64, and `out` is uint32 of the shape of
/// `levels`. Weights are summed in order and in their own dtype, so that draws agree with those of MLX.
///
/// # Errors
/// If the cumulative sums cannot be allocated.
///
/// # Panics
/// If shapes or dtypes do not match.
pub fn categorical(weights: View, levels: View, out: ViewMut) -> Result<()> {
    assert_eq!(weights.dtype(), levels.dtype(), "weights and levels have the same dtype");
    assert_eq!((levels.shape(), out.dtype()), (out.shape(), DType::UInt32), "one uint32 index per level");
    assert!(weights.shape()[weights.shape().len() - 1] > 0, "at least one category");
    match weights.dtype() {
        DType::Float32 => categorical_as::<f32>(&weights, &levels, &out),
        DType::Float64 => categorical_as::<f64>(&weights, &levels, &out),
        other => unreachable!("weights have a real dtype, not {other}"),
    }
}

fn categorical_as<T: Weight>(weights: &View, levels: &View, out: &ViewMut) -> Result<()> {
    let axis = weights.shape().len() - 1;
    assert_eq!(weights.shape()[..axis], levels.shape()[..axis], "equal batch axes");
    let (count, draws) = (weights.shape()[axis], levels.shape()[axis]);
    let mut batch = StridedLoops::new(&[], [&[], &[], &[]]);
    for i in 0..axis {
        let strides = [weights.strides()[i], levels.strides()[i], out.strides()[i]];
        batch.push(Loop { length: weights.shape()[i], strides });
    }
    let mut before: Vec<T> = Vec::new();
    before
        .try_reserve_exact(count)
        .map_err(|_| error!(Memory("random"), "out of memory for {count} cumulative sums"))?;
    let steps = [weights.strides()[axis], levels.strides()[axis], out.strides()[axis]];
    let (source, level, target) = (Source::<T>::of(weights), Source::<T>::of(levels), Target::<u32>::of(out));
    batch.walk(0..if out.size() == 0 { 0 } else { batch.count() }, |[w, l, o]| {
        before.clear();
        let mut total = T::default();
        for i in 0..count as isize {
            before.push(total);
            // SAFETY: the offset is inside the layout of the weights.
            total = total + unsafe { *source.at(w + i * steps[0]) };
        }
        let before = &before[..];
        parallel_ranges(draws, GRAIN, |range| {
            for i in range.start as isize..range.end as isize {
                // SAFETY: the offsets are inside the layouts, and each output element is written by one task.
                unsafe {
                    let goal = *level.at(l + i * steps[1]) * total;
                    // Not `sum <= goal`, so that a NaN gives the last index.
                    let end = before.partition_point(|&sum| {
                        !matches!(sum.partial_cmp(&goal), Some(std::cmp::Ordering::Greater))
                    });
                    *target.at(o + i * steps[2]) = end.saturating_sub(1) as u32;
                }
            }
        });
    });
    Ok(())
}
