//! Scans: cumulative reductions along an axis.

use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, Scalar, ScanDirection, ScanExtent, ScanKind, Shape};

use super::shaping::concatenate;
use crate::graph::Array;
use crate::ops::AxisArgument;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::scan::Scan;

/// Axis, direction and extent of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOrder {
    /// The axis; `None` for the flattened array.
    pub axis: Option<i64>,
    /// The end to start from.
    pub direction: ScanDirection,
    /// Whether an element is included in its own result.
    pub extent: ScanExtent,
}

/// Forward along an axis, or along the flattened array for `..`.
impl<A: AxisArgument> From<A> for ScanOrder {
    fn from(axis: A) -> Self {
        ScanOrder { axis: axis.axis(), ..ScanOrder::default() }
    }
}

impl Default for ScanOrder {
    fn default() -> Self {
        ScanOrder { axis: None, direction: ScanDirection::Forward, extent: ScanExtent::Inclusive }
    }
}

impl ScanOrder {
    /// Forward and inclusive along an axis.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::ScanOrder;
    /// assert_eq!(ScanOrder::along(1), ScanOrder { axis: Some(1), ..ScanOrder::default() });
    /// ```
    pub fn along(axis: i64) -> ScanOrder {
        ScanOrder { axis: Some(axis), ..ScanOrder::default() }
    }
}

fn scanned(kind: ScanKind, a: &Array, order: ScanOrder, dtype: DType) -> Result<Array> {
    let ScanOrder { axis, direction, extent } = order;
    let (a, axis) = match axis {
        Some(axis) => (a.clone(), normalize_axis(kind.name(), axis, a.ndim())?),
        None => (reshape(a, [a.size()])?, 0),
    };
    Array::record_one(Scan { kind, axis, direction, extent }, &[&cast(&a, dtype)?])
}

/// Cumulative sum along an axis.
///
/// The dtype is that of `a` (int32 for booleans) unless one is given. The shape is that of `a`, or one axis for the
/// flattened array. Fails if the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(ops::cumsum(&a, ScanOrder::along(1), None)?.to_vec::<i32>()?, [1, 3, 6, 4, 9, 15]);
/// assert_eq!(ops::cumsum(&a, ScanOrder::default(), None)?.to_vec::<i32>()?, [1, 3, 6, 10, 15, 21]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cumsum(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    let natural = if a.dtype() == DType::Bool { DType::Int32 } else { a.dtype() };
    scanned(ScanKind::Sum, a, order, dtype.unwrap_or(natural))
}

/// Cumulative product along an axis.
///
/// The dtype is that of `a` unless one is given. The shape is that of `a`, or one axis for the flattened array.
/// Fails if the axis is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// use umber::types::ScanDirection;
/// let a = Array::from([2, 3, 4]);
/// let order = ScanOrder { direction: ScanDirection::Reverse, ..ScanOrder::along(0) };
/// assert_eq!(ops::cumprod(&a, order, None)?.to_vec::<i32>()?, [24, 12, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cumprod(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    scanned(ScanKind::Prod, a, order, dtype.unwrap_or(a.dtype()))
}

/// Insert the initial value of a scan before its first result (after the last one of a reverse scan), along the
/// axis of `order`.
///
/// This is the array API's `include_initial`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// let sums = ops::cumsum(&Array::from([1, 2, 3]), ScanOrder::along(0), None)?;
/// assert_eq!(ops::with_initial(&sums, ScanOrder::along(0), 0)?.to_vec::<i32>()?, [0, 1, 3, 6]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn with_initial(scan: &Array, order: ScanOrder, initial: impl Into<Scalar>) -> Result<Array> {
    let axis = normalize_axis("scan", order.axis.unwrap_or(0), scan.ndim())?;
    let shape: Shape =
        (scan.shape().iter().enumerate()).map(|(i, &length)| if i == axis { 1 } else { length }).collect();
    let initial = Array::full(shape, initial, scan.dtype());
    let arrays = match order.direction {
        ScanDirection::Forward => [&initial, scan],
        ScanDirection::Reverse => [scan, &initial],
    };
    concatenate(&arrays, Some(axis as i64))
}

/// Cumulative maximum along an axis.
///
/// The shape is that of `a`, or one axis for the flattened array. Fails if the axis is out of bounds. The dtype is
/// that of `a`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// let a = Array::from([1.0f32, 3.0, 2.0]);
/// assert_eq!(ops::cummax(&a, ScanOrder::along(0))?.to_vec::<f32>()?, [1.0, 3.0, 3.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cummax(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::Max, a, order, a.dtype())
}

/// Cumulative minimum along an axis.
///
/// The shape is that of `a`, or one axis for the flattened array. Fails if the axis is out of bounds. The dtype is
/// that of `a`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// use umber::types::ScanExtent;
/// let a = Array::from([2.0f32, 1.0, 3.0]);
/// let order = ScanOrder { extent: ScanExtent::Exclusive, ..ScanOrder::along(0) };
/// assert_eq!(ops::cummin(&a, order)?.to_vec::<f32>()?, [f32::INFINITY, 2.0, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cummin(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::Min, a, order, a.dtype())
}

/// Logarithm of the cumulative sum of exponentials along an axis: `log(cumsum(exp(a)))`.
///
/// The shape is that of `a`, or one axis for the flattened array. Fails if the axis is out of bounds. Integers give
/// float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::ops::ScanOrder;
/// let a = Array::from([f32::NEG_INFINITY, 1000.0, 0.0]);
/// let sums = ops::logcumsumexp(&a, ScanOrder::along(0))?;
/// assert_eq!(sums.to_vec::<f32>()?, [f32::NEG_INFINITY, 1000.0, 1000.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn logcumsumexp(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::LogSumExp, a, order, a.dtype().inexact())
}
