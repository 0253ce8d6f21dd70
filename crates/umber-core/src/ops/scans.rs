//! Scans: what a reduction would answer after each element along an axis.

use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, ScanDirection, ScanExtent, ScanKind};

use crate::graph::Array;
use crate::primitives::rules::{cast, reshape};
use crate::primitives::scan::Scan;

/// Along which axis, from which end, and whether an element counts for its own place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOrder {
    /// The axis, none for the flattened array.
    pub axis: Option<i64>,
    /// From which end.
    pub direction: ScanDirection,
    /// Does an element count for its own place?
    pub extent: ScanExtent,
}

impl Default for ScanOrder {
    fn default() -> Self {
        ScanOrder { axis: None, direction: ScanDirection::Forward, extent: ScanExtent::Inclusive }
    }
}

impl ScanOrder {
    /// Forward and inclusive along an axis.
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

/// Running sums, of `dtype` if given; bool answers int32.
pub fn cumsum(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    let natural = if a.dtype() == DType::Bool { DType::Int32 } else { a.dtype() };
    scanned(ScanKind::Sum, a, order, dtype.unwrap_or(natural))
}

/// Running products, of `dtype` if given.
pub fn cumprod(a: &Array, order: ScanOrder, dtype: Option<DType>) -> Result<Array> {
    scanned(ScanKind::Prod, a, order, dtype.unwrap_or(a.dtype()))
}

/// Running maxima.
pub fn cummax(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::Max, a, order, a.dtype())
}

/// Running minima.
pub fn cummin(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::Min, a, order, a.dtype())
}

/// Running logarithms of sums of exponentials; integers answer float32.
pub fn logcumsumexp(a: &Array, order: ScanOrder) -> Result<Array> {
    scanned(ScanKind::LogSumExp, a, order, a.dtype().inexact())
}
