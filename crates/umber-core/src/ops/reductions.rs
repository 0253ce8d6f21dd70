//! Reductions over axes.
//!
//! `axes` is the argument of the user: `None` for all axes, negative axes are counted from the end. Scans are in `scans.rs`.

use umber_types::shape::normalize_axis;
use umber_types::{
    ArgReduceKind, Axes, BinaryKind, DType, KeepAxes, ReduceKind, Result, Shape, UnaryKind, bail, ensure,
};

use super::elementwise::{isnan, select};
use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::primitives::arg_reduce::ArgReduce;
use crate::primitives::composite::{self, Composite, Dispersion, Measure, Parameter, Shifted, Softmax};
use crate::primitives::merged_axes::MergedAxes;
use crate::primitives::number_of_elements::NumberOfElements;
use crate::primitives::reduce::Reduce;
use crate::primitives::rules::{
    self, add, binary, broadcast, cast, constant, reshape, sub, transpose, unary,
};
use crate::primitives::slice::slice_along;

/// The axes that a user gave, normalised; `None` for all.
pub(super) fn axes_of(op: &str, a: &Array, axes: Option<&[i64]>) -> Result<Axes> {
    match axes {
        Some(axes) => Axes::normalized(op, axes, a.ndim()),
        None => Ok(Axes::all(a.ndim())),
    }
}

/// Number of elements over axes: as a float32 scalar, and as an integer.
///
/// In a function that is traced for variable lengths the scalar is computed from `a`; the integer is the current
/// number.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (number, count) = ops::number_of_elements(&Array::from([[1, 2, 3], [4, 5, 6]]), Some(&[1]))?;
/// assert_eq!((number.item()?.as_f64(), count), (3.0, 3));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn number_of_elements(a: &Array, axes: Option<&[i64]>) -> Result<(Array, usize)> {
    let axes = axes_of("number_of_elements", a, axes)?;
    let count = axes.iter().map(|&axis| a.shape()[axis]).product();
    Ok((NumberOfElements { axes, dtype: DType::Float32 }.record(a)?, count))
}

/// A reduction, with the reduced axes kept or not.
pub(super) fn reduced(kind: ReduceKind, a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    let out = Array::record_one(Reduce { kind, axes: axes.clone() }, &[a])?;
    finish(&out, a, axes, keep)
}

/// `out`, which has the reduced axes of `a` with length one, in the shape requested by `keep`.
pub(super) fn finish(out: &Array, a: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    reshape(out, a.shape().reduced(axes, keep))
}

/// Number of elements that are reduced to one.
fn count(a: &Array, axes: &Axes) -> usize {
    axes.iter().map(|&axis| a.shape()[axis]).product()
}

/// Sum of the elements over axes.
///
/// Booleans and integers of fewer than 32 bits are converted to 32-bit integers first. The sum of no elements is
/// zero. Fails if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, Shape, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::sum(&a, None, KeepAxes::No)?.item()?.as_i64(), 10);
/// assert_eq!(ops::sum(&a, Some(&[0]), KeepAxes::No)?.to_vec::<i32>()?, [4, 6]);
/// assert_eq!(ops::sum(&a, Some(&[-1]), KeepAxes::Yes)?.shape(), &Shape::from([2, 1]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn sum(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("sum", a, axes)?;
    reduced(ReduceKind::Sum, a, &axes, keep)
}

/// Product of the elements over axes.
///
/// Dtypes are those of [`sum`]. The product of no elements is one. Fails if an axis is out of bounds or given
/// twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([2.0f32, 3.0, 4.0]);
/// assert_eq!(ops::prod(&a, None, KeepAxes::No)?.item()?.as_f64(), 24.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn prod(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("prod", a, axes)?;
    reduced(ReduceKind::Prod, a, &axes, keep)
}

/// Fail for a reduced axis without elements: an empty set has no extremum.
pub(super) fn check_not_empty(op: &str, a: &Array, axes: &Axes) -> Result<()> {
    if let Some(axis) = axes.iter().find(|&&axis| a.shape()[axis] == 0) {
        bail!(
            Value(op),
            "cannot reduce an empty axis without an initial value: axis {axis} of shape {}",
            a.shape()
        );
    }
    Ok(())
}

fn extremum(kind: ReduceKind, a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of(kind.name(), a, axes)?;
    check_not_empty(kind.name(), a, &axes)?;
    reduced(kind, a, &axes, keep)
}

/// Minimum of the elements over axes; NaN if any element is NaN.
///
/// The dtype is that of `a`. Fails for an axis without elements, or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[3, 1], [2, 4]]);
/// assert_eq!(ops::min(&a, Some(&[1]), KeepAxes::No)?.to_vec::<i32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn min(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    extremum(ReduceKind::Min, a, axes, keep)
}

/// Maximum of the elements over axes; NaN if any element is NaN.
///
/// The dtype is that of `a`. Fails for an axis without elements, or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[3, 1], [2, 4]]);
/// assert_eq!(ops::max(&a, Some(&[0]), KeepAxes::Yes)?.to_vec::<i32>()?, [3, 4]);
/// assert!(ops::max(&Array::from([0.0f32; 0]), None, KeepAxes::No).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn max(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    extremum(ReduceKind::Max, a, axes, keep)
}

/// Minimum and maximum of the elements over axes.
///
/// Fails where [`min`] does.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let (min, max) = ops::minmax(&Array::from([3, -1, 2]), None, KeepAxes::No)?;
/// assert_eq!((min.item()?.as_i64(), max.item()?.as_i64()), (-1, 3));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn minmax(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<(Array, Array)> {
    Ok((min(a, axes, keep)?, max(a, axes, keep)?))
}

/// Test whether all elements over axes are nonzero.
///
/// The result is bool; no elements give true. Fails if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[true, false], [true, true]]);
/// assert_eq!(ops::all(&a, Some(&[1]), KeepAxes::No)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn all(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    reduced(ReduceKind::All, a, &axes_of("all", a, axes)?, keep)
}

/// Test whether any element over axes is nonzero.
///
/// The result is bool; no elements give false. Fails if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[0, 0], [0, 7]]);
/// assert_eq!(ops::any(&a, Some(&[1]), KeepAxes::No)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn any(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    reduced(ReduceKind::Any, a, &axes_of("any", a, axes)?, keep)
}

/// Count the nonzero elements over axes.
///
/// The result is int32, or int64 if int32 cannot count the elements. Fails if an axis is out of bounds or given
/// twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[0.0f32, 2.0], [f32::NAN, 1.0]]);
/// assert_eq!(ops::count_nonzero(&a, Some(&[1]), KeepAxes::No)?.to_vec::<i32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn count_nonzero(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("count_nonzero", a, axes)?;
    count_true(&cast(a, DType::Bool)?, &axes, keep)
}

/// Number of true elements of a mask over axes: int32, or int64 if int32 cannot count the elements.
pub(super) fn count_true(mask: &Array, axes: &Axes, keep: KeepAxes) -> Result<Array> {
    const CHUNK: usize = 1 << 20;
    let length = count(mask, axes);
    if i32::try_from(length).is_ok() {
        return reduced(ReduceKind::Sum, mask, axes, keep);
    }
    // Count in chunks whose counts fit int32, so that the mask itself is not converted to int64.
    let merged = MergedAxes::new(mask, axes)?.array;
    let axis = merged.ndim() - 1;
    let (chunks, tail) = (length / CHUNK, length % CHUNK);
    let lengths = merged.shape()[..axis].iter().copied().chain([chunks, CHUNK]).collect::<Shape>();
    let full = reshape(&slice_along(&merged, axis, 0, chunks * CHUNK)?, lengths)?;
    let wide = |x: &Array, axis: usize| {
        cast(&reduced(ReduceKind::Sum, x, &Axes::one(axis), KeepAxes::No)?, DType::Int64)
    };
    let full = reduced(ReduceKind::Sum, &wide(&full, axis + 1)?, &Axes::one(axis), KeepAxes::No)?;
    let total = add(&full, &wide(&slice_along(&merged, axis, chunks * CHUNK, tail)?, axis)?)?;
    reshape(&total, mask.shape().reduced(axes, keep))
}

/// The dtype in which means are computed: it represents the elements exactly, and sums do not overflow.
pub(super) fn wide(dtype: DType) -> DType {
    if dtype.is_integer() && dtype.size() > 2 {
        DType::Float64
    } else if dtype.is_half() {
        DType::Float32
    } else {
        dtype.inexact()
    }
}

/// The dtype of sums that take several operations, to avoid intermediate rounding.
pub(super) fn widest(dtype: DType) -> DType {
    if dtype.is_complex() { DType::Complex128 } else { DType::Float64 }
}

/// `a` in the dtype in which means are computed.
pub(super) fn widened(a: &Array) -> Result<Array> {
    cast(a, wide(a.dtype()))
}

/// Arithmetic mean of the elements over axes: `sum(a) / n`.
///
/// float32 for integers, NaN for no elements. The sum is divided before it is rounded, so that nothing overflows
/// and the mean of equal elements is exact. Fails if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::mean(&a, Some(&[0]), KeepAxes::No)?.to_vec::<f32>()?, [2.0, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn mean(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("mean", a, axes)?;
    cast(&reduced(ReduceKind::Mean, &measurable(a)?, &axes, keep)?, a.dtype().inexact())
}

/// `a` in a dtype that mean kernels read. They accumulate 16-bit floats in a wider dtype, so that these are not converted.
fn measurable(a: &Array) -> Result<Array> {
    if a.dtype().is_half() { Ok(a.clone()) } else { widened(a) }
}

/// A measure of dispersion about the mean over axes, which are kept with length one, in the real dtype of computation.
fn dispersion(a: &Array, axes: &Axes, ddof: f64, measure: Measure) -> Result<Array> {
    if (count(a, axes) as f64) < ddof {
        axes.iter().for_each(|&axis| note_length_read(a, axis));
    }
    if a.dtype().is_complex() {
        let [re, im] = [UnaryKind::Real, UnaryKind::Imag].map(|part| unary(part, a));
        let (re, im) = (dispersion(&re?, axes, ddof, measure)?, dispersion(&im?, axes, ddof, measure)?);
        return match measure {
            Measure::Variance => add(&re, &im),
            Measure::Deviation => binary(BinaryKind::Hypot, &re, &im),
        };
    }
    let x = measurable(a)?;
    let out_shape = a.shape().reduced(axes, KeepAxes::Yes);
    let is_range = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    // The kernel reduces adjacent axes: transpose others to the end, without a copy.
    let (x, first) = if is_range {
        (x, axes.first().map_or(0, |&first| first))
    } else {
        let others = (0..a.ndim()).filter(|axis| !axes.contains(axis));
        let order: Vec<usize> = others.chain(axes.iter().copied()).collect();
        (transpose(&x, &order)?, a.ndim() - axes.len())
    };
    let dispersion =
        Dispersion { first: first as u32, count: axes.len() as u32, ddof: Parameter::new(ddof), measure };
    reshape(&Array::record_one(Composite::Dispersion(dispersion), &[&x])?, out_shape)
}

/// The variance with any `ddof`; `op` names the function in errors.
pub(super) fn variance(
    op: &str,
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
) -> Result<Array> {
    let axes = axes_of(op, a, axes)?;
    let var = dispersion(a, &axes, ddof, Measure::Variance)?;
    finish(&cast(&var, a.dtype().inexact().real())?, a, &axes, keep)
}

/// The square root of the [`variance`].
pub(super) fn deviation(
    op: &str,
    a: &Array,
    axes: Option<&[i64]>,
    keep: KeepAxes,
    ddof: f64,
) -> Result<Array> {
    let axes = axes_of(op, a, axes)?;
    let std = dispersion(a, &axes, ddof, Measure::Deviation)?;
    finish(&cast(&std, a.dtype().inexact().real())?, a, &axes, keep)
}

/// Variance of the elements over axes: `sum(|a - mean(a)|²) / (n - ddof)`.
///
/// The dtype is that of [`mean`], real also for complex numbers. Fails if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([1.0f32, 3.0]);
/// assert_eq!(ops::var(&a, None, KeepAxes::No, 0)?.item()?.as_f64(), 1.0);
/// assert_eq!(ops::var(&a, None, KeepAxes::No, 1)?.item()?.as_f64(), 2.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn var(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, ddof: i64) -> Result<Array> {
    variance("var", a, axes, keep, ddof as f64)
}

/// Standard deviation of the elements over axes: `sqrt(var(a))`.
///
/// The squares do not overflow unless the result does. The gradient between equal elements, where the function is
/// not differentiable, is zero.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[1.0f32, 5.0], [2.0, 2.0]]);
/// assert_eq!(ops::std(&a, Some(&[1]), KeepAxes::No, 0)?.to_vec::<f32>()?, [2.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn std(a: &Array, axes: Option<&[i64]>, keep: KeepAxes, ddof: i64) -> Result<Array> {
    deviation("std", a, axes, keep, ddof as f64)
}

fn arg_reduced(kind: ArgReduceKind, a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    let op = kind.name();
    let (x, axis, axes) = match axis {
        Some(axis) => {
            let axis = normalize_axis(op, axis, a.ndim())?;
            (a.clone(), axis, Axes::one(axis))
        }
        None => (reshape(a, [a.size()])?, 0, Axes::all(a.ndim())),
    };
    let length = x.shape()[axis];
    ensure!(length > 0, Value(op), "cannot reduce an empty axis: shape {}", a.shape());
    ensure!(
        u32::try_from(length - 1).is_ok(),
        Value(op),
        "axis of {length} elements is too long for uint32 indices"
    );
    // The order of complex NaN values depends on which part is NaN: make them all equal.
    let x = if x.dtype().is_complex() { select(&isnan(&x)?, &constant(&x, f64::NAN), &x)? } else { x };
    let out = Array::record_one(ArgReduce { kind, axis }, &[&x])?;
    finish(&out, a, &axes, keep)
}

/// Index of the minimum along an axis.
///
/// The first one if several elements are the minimum; without an axis the index into the flattened array. The
/// result is uint32. Fails for an axis without elements, or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[3, 1, 1], [2, 4, 9]]);
/// assert_eq!(ops::argmin(&a, Some(1), KeepAxes::No)?.to_vec::<u32>()?, [1, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argmin(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    arg_reduced(ArgReduceKind::ArgMin, a, axis, keep)
}

/// Index of the maximum along an axis.
///
/// The first one if several elements are the maximum; without an axis the index into the flattened array. The
/// result is uint32. Fails for an axis without elements, or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([[3, 1, 1], [2, 4, 9]]);
/// assert_eq!(ops::argmax(&a, Some(1), KeepAxes::No)?.to_vec::<u32>()?, [0, 2]);
/// assert_eq!(ops::argmax(&a, None, KeepAxes::No)?.item()?.as_i64(), 5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn argmax(a: &Array, axis: Option<i64>, keep: KeepAxes) -> Result<Array> {
    arg_reduced(ArgReduceKind::ArgMax, a, axis, keep)
}

/// Logarithm of the sum of exponentials over axes: `log(sum(exp(a)))`.
///
/// Large elements do not overflow. Floating dtypes are kept, others give float32. Fails for an axis without
/// elements.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, KeepAxes, ops};
/// let a = Array::from([1000.0f32, f32::NEG_INFINITY]);
/// assert_eq!(ops::logsumexp(&a, None, KeepAxes::No)?.item()?.as_f64(), 1000.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logsumexp(a: &Array, axes: Option<&[i64]>, keep: KeepAxes) -> Result<Array> {
    let axes = axes_of("logsumexp", a, axes)?;
    check_not_empty("logsumexp", a, &axes)?;
    let merged = MergedAxes::new(&cast(a, a.dtype().inexact())?, &axes)?;
    finish(&composite::logsumexp(&merged.array)?, a, &axes, keep)
}

/// Logarithm of the softmax over one or more axes: `a - logsumexp(a)`.
///
/// Computed as `(a - max(a)) - log(sum(exp(a - max(a))))`. The shape is that of `a`; floating dtypes are kept,
/// integers give float32. 16-bit floats are computed in float32 and rounded once. Fails if an axis is out of bounds
/// or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([1e6f32, 1e6, f32::NEG_INFINITY]);
/// let y = ops::log_softmax(&a, Some(&[-1]))?;
/// assert_eq!(y.to_vec::<f32>()?, [-(2f32.ln()), -(2f32.ln()), f32::NEG_INFINITY]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn log_softmax(a: &Array, axes: Option<&[i64]>) -> Result<Array> {
    let axes = axes_of("log_softmax", a, axes)?;
    let x = cast(a, a.dtype().inexact())?;
    if axes.is_empty() {
        // Zero, and NaN for infinities and NaN.
        return sub(&x, &x);
    }
    if x.size() == 0 {
        return Ok(x);
    }
    let merged = MergedAxes::new(&x, &axes)?;
    let Shifted { max, log } = composite::shifted_logsumexp(&merged.array)?;
    let wide = rules::widened(&merged.array)?;
    let keep_axis = |row: &Array| {
        let column: Shape = row.shape().iter().copied().chain([1]).collect();
        broadcast(&reshape(row, column)?, wide.shape())
    };
    let y = sub(&sub(&wide, &keep_axis(&max)?)?, &keep_axis(&log)?)?;
    merged.restore(&cast(&y, x.dtype())?)
}

/// Precision in which 16-bit floats are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// float32 throughout.
    Full,
    /// The default precision of the dtype.
    Native,
}

/// Softmax over one or more axes: `exp(a) / sum(exp(a))`.
///
/// Large inputs do not overflow. The shape is that of `a`; floating dtypes are kept, integers give float32. Fails
/// if an axis is out of bounds or given twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::Precision;
/// let a = Array::from([[1000.0f32, 1000.0], [0.0, f32::NEG_INFINITY]]);
/// let p = ops::softmax(&a, Some(&[-1]), Precision::Native)?;
/// assert_eq!(p.to_vec::<f32>()?, [0.5, 0.5, 1.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn softmax(a: &Array, axes: Option<&[i64]>, precision: Precision) -> Result<Array> {
    let axes = axes_of("softmax", a, axes)?;
    let x = cast(a, a.dtype().inexact())?;
    if axes.is_empty() {
        // One, and NaN for infinities and NaN.
        return add(&sub(&x, &x)?, &constant(&x, 1.0));
    }
    let merged = MergedAxes::new(&x, &axes)?;
    let softmax = Softmax { precise: precision == Precision::Full };
    merged.restore(&composite::softmax(&merged.array, softmax)?)
}
