//! The median.

use umber_types::{Axes, BinaryKind, DType, KeepAxes, Result, Scalar};

use super::elementwise::{self, floor_divide, isfinite, maximum, minimum, select, subtract};
use super::nan_reductions::count_numbers;
use super::promotion::weak;
use super::reductions::{axes_of, finish, widened, widest};
use crate::graph::Array;
use crate::graph::tracing::are_lengths_free;
use crate::primitives::gather::Places;
use crate::primitives::merged_axes::MergedAxes;
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::rules::{add, binary, broadcast, cast, constant, full_like, mul};
use crate::primitives::select::Select;
use crate::primitives::slice::slice_along;
use crate::primitives::sort::{Sort, Sorted};

/// Median of the elements over axes.
///
/// The middle element in sorted order, or the mean of the two middle ones if their number is even. NaN if any
/// element is NaN, or if there are none. Floating dtypes are kept, others give float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[3.0f32, 1.0, 2.0, 10.0], [f32::NAN, 1.0, 1.0, 1.0]]);
/// let median = ops::median(&a, Some(&[-1]), KeepAxes::No)?.to_vec::<f32>()?;
/// assert_eq!(median[0], 2.5);
/// assert!(median[1].is_nan());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn median(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("median", a, axes)?;
    if axes.iter().any(|&axis| a.shape()[axis] == 0) {
        return Ok(Array::full(a.shape().reduced(&axes, keep), f64::NAN, a.dtype().inexact()));
    }
    let sortable = if a.dtype().is_inexact() { a.clone() } else { widened(a)? };
    let merged = MergedAxes::new(&sortable, &axes)?;
    let axis = merged.array.ndim() - 1;
    let length = merged.array.shape()[axis];
    let sorted = Array::record_one(Sort { axis, what: Sorted::Values }, &[&merged.array])?;
    let middle = if a.is_traced() && are_lengths_free() {
        let axes = Axes::sorted([axis]);
        middle_of("median", &sorted, &NumberOfElements { axes, dtype: DType::Int64 }.record(&sorted)?)?
    } else {
        let upper = slice_along(&sorted, axis, length / 2, 1)?;
        if length % 2 == 1 {
            upper
        } else {
            mean_of(&slice_along(&sorted, axis, length / 2 - 1, 1)?, &upper)?
        }
    };
    // NaN sorts last: the last element is NaN if and only if any element is.
    let last = slice_along(&sorted, axis, length - 1, 1)?;
    let is_number = binary(BinaryKind::Equal, &last, &last)?;
    let median = Array::record_one(Select, &[&is_number, &middle, &last])?;
    finish(&cast(&median, a.dtype().inexact())?, a, &axes, keep)
}

/// The median of the first `count` elements along the last axis, which is sorted.
fn middle_of(op: &'static str, sorted: &Array, count: &Array) -> Result<Array> {
    let axis = sorted.ndim() - 1;
    let number = |value: i64| Array::scalar(value, DType::Int64);
    let axes = Axes::sorted([axis]);
    let length = NumberOfElements { axes, dtype: DType::Int64 }.record(sorted)?;
    let last = subtract(&length, &number(1))?;
    // Broadcast the index to one per row, whether `count` is a scalar or has one element per row.
    let zeros = full_like(&slice_along(sorted, axis, 0, 1)?, 0, DType::Int64);
    let element = |index: &Array| {
        let index = maximum(&floor_divide(index, &number(2))?, &number(0))?;
        Places::along(op, axis, elementwise::add(&zeros, &minimum(&index, &last)?)?).read(sorted)
    };
    mean_of(&element(&subtract(count, &number(1))?)?, &element(count)?)
}

/// The median over axes, ignoring NaN, of complex elements ordered by their real parts first; NaN if all are NaN.
pub(super) fn median_of_numbers(a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    let merged = MergedAxes::new(a, axes)?.array;
    let axis = merged.ndim() - 1;
    let sorted = Array::record_one(Sort { axis, what: Sorted::Values }, &[&merged])?;
    let count = count_numbers(&merged, Some(&[-1]), KeepAxes::Yes, DType::Int64)?;
    let middle = middle_of("nanmedian", &sorted, &count)?;
    let zero = Array::scalar(0, DType::Int64);
    let is_all_nan = binary(BinaryKind::Equal, &count, &broadcast(&zero, count.shape())?)?;
    finish(&select(&is_all_nan, &weak(Scalar::Float(f64::NAN), &middle), &middle)?, a, axes, keep)
}

/// `(a + b) / 2`, rounded once; `a / 2 + b / 2` for float64 if the sum overflows.
fn mean_of(a: &Array, b: &Array) -> Result<Array> {
    let wide = widest(a.dtype());
    let (x, y) = (cast(a, wide)?, cast(b, wide)?);
    let half = constant(&x, 0.5);
    let sum = add(&x, &y)?;
    let mut mean = mul(&sum, &half)?;
    if a.dtype() == wide {
        mean = select(&isfinite(&sum)?, &mean, &add(&mul(&x, &half)?, &mul(&y, &half)?)?)?;
    }
    cast(&mean, a.dtype())
}
