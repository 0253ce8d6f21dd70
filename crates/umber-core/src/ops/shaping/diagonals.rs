//! Diagonals and triangles of matrices.

use umber_types::shape::normalize_axis;
use umber_types::{DType, KeepAxes, Result, ScanDirection, ScanExtent, ScanKind, ScatterKind, bail, ensure};

use super::insert_delete::resize;
use crate::graph::Array;
use crate::graph::tracing::{are_lengths_free, note_length_read};
use crate::ops::elementwise::{greater_equal, subtract};
use crate::ops::error_context::with_op;
use crate::ops::promotion::cast_constant;
use crate::primitives::create::{Eye, EyeParameters};
use crate::primitives::rules;
use crate::primitives::scan::Scan;
use crate::primitives::select::Select;
use crate::primitives::slice::{Window, slice};
use crate::primitives::slice_update::slice_update;

/// Extract a diagonal of the matrices along two axes.
///
/// The two axes are removed, and the diagonal is the last axis. A positive `offset` counts diagonals above the main one.
/// Fails for fewer than two axes, or one axis twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(ops::diagonal(&a, 0, 0, 1)?.to_vec::<i32>()?, [1, 5]);
/// assert_eq!(ops::diagonal(&a, 1, 0, 1)?.to_vec::<i32>()?, [2, 6]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diagonal(a: &Array, offset: i64, axis1: i64, axis2: i64) -> Result<Array> {
    let ndim = a.ndim();
    ensure!(ndim >= 2, Value("diagonal"), "array must have at least 2 dimensions, got {ndim}");
    let (row, column) = (normalize_axis("diagonal", axis1, ndim)?, normalize_axis("diagonal", axis2, ndim)?);
    ensure!(row != column, Value("diagonal"), "axes must differ, got {axis1} twice");
    let order: smallvec::SmallVec<[usize; 6]> =
        (0..ndim).filter(|axis| ![row, column].contains(axis)).chain([row, column]).collect();
    let matrices = rules::transpose(a, &order)?;
    for axis in [row, column] {
        note_length_read(a, axis);
    }
    let (rows, columns) = (a.shape()[row], a.shape()[column]);
    let (first_row, first_column) = (offset.min(0).unsigned_abs() as usize, offset.max(0) as usize);
    let length = rows.saturating_sub(first_row).min(columns.saturating_sub(first_column));
    // In a flattened matrix neighbours on the diagonal are one row and one column apart: `columns + 1` elements.
    let mut flat = matrices.shape().clone();
    flat.remove(ndim - 1);
    flat.as_mut_slice()[ndim - 2] = rows * columns;
    let flat = rules::reshape(&matrices, flat)?;
    let mut window = Window::along(flat.shape(), ndim - 2, 0, length);
    if length > 0 {
        window.starts[ndim - 2] = first_row * columns + first_column;
        window.steps[ndim - 2] = columns as isize + 1;
    }
    slice(&flat, window)
}

/// Extract a diagonal of a matrix, or build a matrix with a vector on a diagonal.
///
/// Fails for other than one or two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let matrix = ops::diag(&Array::from([1, 2]), 0)?;
/// assert_eq!(matrix.to_vec::<i32>()?, [1, 0, 0, 2]);
/// assert_eq!(ops::diag(&matrix, 0)?.to_vec::<i32>()?, [1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diag(a: &Array, k: i64) -> Result<Array> {
    let length = match a.ndim() {
        2 => return diagonal(a, k, 0, 1),
        1 => a.size(),
        ndim => bail!(Value("diag"), "array must have 1 or 2 dimensions, got {ndim}"),
    };
    let side = (length as u64).saturating_add(k.unsigned_abs()).min(i64::MAX as u64) as i64;
    let shape = umber_types::Shape::checked("diag", &[side, side])?;
    let side = side as usize;
    let zeros = Array::full([side * side], 0.0, a.dtype());
    let mut window = Window::along(zeros.shape(), 0, 0, length);
    if length > 0 {
        window.starts[0] = if k < 0 { k.unsigned_abs() as usize * side } else { k as usize };
        window.steps[0] = side as isize + 1;
    }
    rules::reshape(&slice_update(ScatterKind::Set, &zeros, window, a)?, shape)
}

/// Build a matrix with the elements of the flattened input on a diagonal.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let matrix = ops::diagflat(&Array::from([[1, 2], [3, 4]]), 1)?;
/// assert_eq!(matrix.shape(), &Shape::from([5, 5]));
/// assert_eq!(ops::diagonal(&matrix, 1, 0, 1)?.to_vec::<i32>()?, [1, 2, 3, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diagflat(a: &Array, k: i64) -> Result<Array> {
    with_op("diagflat", diag(&rules::reshape(a, [a.size()])?, k))
}

/// The extent of the diagonal of a matrix with more rows than columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagonalEnd {
    /// At the last column.
    LastColumn,
    /// It starts again at the first column, after one row without it.
    BeginsAgain,
}

/// Copy an array with its main diagonal (`a[i, i, …]`) set to values.
///
/// Values are repeated if there are fewer than diagonal elements.
///
/// # Errors
/// If `a` has fewer than two axes, or more than two of different length, or there are no values.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::DiagonalEnd};
/// let filled = ops::fill_diagonal(&Array::from([[0, 0], [0, 0]]), &Array::from([3, 4]), DiagonalEnd::LastColumn)?;
/// assert_eq!(filled.to_vec::<i32>()?, [3, 0, 0, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fill_diagonal(a: &Array, values: &Array, end: DiagonalEnd) -> Result<Array> {
    let shape = a.shape();
    ensure!(
        shape.ndim() == 2 || (shape.ndim() > 2 && shape.iter().all(|length| *length == shape[0])),
        Value("fill_diagonal"),
        "array must have 2 dimensions, or more of equal length, got shape {shape}"
    );
    // Distance of neighbours on the diagonal: one step along every axis.
    let step = (1..shape.ndim()).rev().fold((1, 1), |(sum, stride), axis| {
        let stride: usize = stride * shape[axis];
        (sum + stride, stride)
    });
    let side = shape.iter().copied().min().unwrap_or(0);
    let count = match end {
        DiagonalEnd::BeginsAgain if shape.ndim() == 2 => a.size().div_ceil(step.0),
        DiagonalEnd::BeginsAgain | DiagonalEnd::LastColumn => side,
    };
    if count == 0 {
        return Ok(a.clone());
    }
    ensure!(values.size() > 0, Value("fill_diagonal"), "values must not be empty");
    let flat = rules::reshape(a, [a.size()])?;
    let mut window = Window::along(flat.shape(), 0, 0, count);
    window.steps[0] = step.0 as isize;
    let values = resize(&cast_constant(values, a.dtype())?, [count as i64])?;
    rules::reshape(&slice_update(ScatterKind::Set, &flat, window, &values)?, shape.clone())
}

/// Sum of the elements on a diagonal of two axes.
///
/// The diagonal is `offset` above the main one. The dtype is the given one, or that of a sum; the other axes are
/// kept. Fails where [`diagonal`] does.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::trace(&a, 0, 0, 1, None)?.item()?.as_i64(), 5);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn trace(a: &Array, offset: i64, axis1: i64, axis2: i64, dtype: Option<DType>) -> Result<Array> {
    let terms = diagonal(a, offset, axis1, axis2)?;
    let terms = rules::cast(&terms, dtype.unwrap_or(a.dtype()))?;
    let summed = crate::ops::sum(&terms, Some(&[-1]), KeepAxes::No)?;
    rules::cast(&summed, dtype.unwrap_or(summed.dtype()))
}

/// Return the lower triangle of each matrix, with zeros above a diagonal.
///
/// Shape and dtype are those of the input. Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::tril(&a, 0)?.to_vec::<i32>()?, [1, 0, 3, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tril(a: &Array, k: i64) -> Result<Array> {
    let mask = mask("tril", a, k)?;
    Array::record_one(Select, &[&mask, a, &rules::zeros_like(a)])
}

/// Return the upper triangle of each matrix, with zeros below a diagonal.
///
/// Shape and dtype are those of the input. Fails for fewer than two axes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::triu(&a, 1)?.to_vec::<i32>()?, [0, 2, 0, 0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn triu(a: &Array, k: i64) -> Result<Array> {
    let mask = mask("triu", a, k.saturating_sub(1))?;
    Array::record_one(Select, &[&mask, &rules::zeros_like(a), a])
}

/// The index of each element of `a` along an axis, computed from `a` so that it holds for all lengths of a shape-generic trace.
fn indices_along(a: &Array, axis: usize) -> Result<Array> {
    let ones = rules::full_like(a, 1, DType::Int64);
    let (direction, extent) = (ScanDirection::Forward, ScanExtent::Inclusive);
    Array::record_one(Scan { kind: ScanKind::Sum, axis, direction, extent }, &[&ones])
}

/// A mask of the elements on or below the `k`-th diagonal.
fn mask(op: &str, a: &Array, k: i64) -> Result<Array> {
    let ndim = a.ndim();
    ensure!(ndim >= 2, Value(op), "array must have at least 2 dimensions, got {ndim}");
    if a.is_traced() && are_lengths_free() {
        let [row, column] = [ndim - 2, ndim - 1].map(|axis| indices_along(a, axis));
        return greater_equal(&row?, &subtract(&column?, &Array::scalar(k, DType::Int64))?);
    }
    let parameters = EyeParameters {
        rows: a.shape()[ndim - 2],
        columns: a.shape()[ndim - 1],
        diagonal: k,
        fill_below: true,
        dtype: DType::Bool,
    };
    rules::broadcast(&Array::record_one(Eye(Box::new(parameters)), &[])?, a.shape())
}
