//! Index arrays of triangles, diagonals and grids; conversion between flat indices and coordinates.

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, KeepAxes, Result, Shape, bail, ensure};

use super::creation::{eye, tri};
use super::data_dependent;
use super::indexing::{OutOfBounds, resolve_indices};
use super::promotion::broadcast_all;
use super::reductions::{max, min};
use crate::graph::{Array, Inputs};
use crate::primitives::gather::iota;
use crate::primitives::rules::{add, binary, broadcast, cast, constant, mul, reshape};

/// The dtype of indices into an axis: uint32, as in all functions that return indices, unless the axis is too long.
pub(super) fn index_dtype(length: usize) -> DType {
    if u32::try_from(length.saturating_sub(1)).is_ok() { DType::UInt32 } else { DType::Int64 }
}

/// The coordinates, one array for each axis, of flat row-major indices, in the dtype of the indices.
pub(crate) fn unravelled(indices: &Array, shape: &Shape) -> Result<Inputs> {
    let mut step = shape.size();
    let mut coordinates = Inputs::new();
    for (axis, &length) in shape.iter().enumerate() {
        // A length of zero means an empty array, which has no indices.
        step = step.checked_div(length).unwrap_or(0);
        let quotient = match step {
            0 | 1 => indices.clone(),
            step => binary(BinaryKind::FloorDivide, indices, &constant(indices, step as i64))?,
        };
        coordinates.push(match axis {
            0 => quotient,
            _ => binary(BinaryKind::Remainder, &quotient, &constant(&quotient, length as i64))?,
        });
    }
    Ok(coordinates)
}

/// Convert indices of the flattened, row-major array to coordinates.
///
/// The result is one uint32 array for each axis.
///
/// # Errors
/// If the indices are not integers, or one is out of bounds; inside `vmap` and `compile` that is not checked.
///
/// # Examples
/// ```
/// use umber_core::{Array, Shape, ops};
///
/// let flat = Array::from_slice(&[5, 2], [2]).unwrap();
/// let [row, column] = &ops::unravel_index(&flat, &Shape::from([2, 3])).unwrap()[..] else { panic!() };
/// assert_eq!(row.to_vec::<u32>().unwrap(), [1, 0]);
/// assert_eq!(column.to_vec::<u32>().unwrap(), [2, 2]);
/// ```
pub fn unravel_index(indices: &Array, shape: &Shape) -> Result<Vec<Array>> {
    let indices = resolve_indices("unravel_index", indices, shape.size(), OutOfBounds::Raise)?;
    check_inside("unravel_index", &indices, shape.size())?;
    unravelled(&indices, shape)?
        .iter()
        .zip(shape.iter())
        .map(|(coordinate, &length)| cast(coordinate, index_dtype(length)))
        .collect()
}

/// Fail for an int64 index that is negative or out of bounds, if the values are known.
pub(super) fn check_inside(op: &str, indices: &Array, length: usize) -> Result<()> {
    if indices.size() == 0 || !data_dependent::has_value(indices)? {
        return Ok(());
    }
    for extreme in [min(indices, None, KeepAxes::No)?, max(indices, None, KeepAxes::No)?] {
        if let Some(index) = data_dependent::known(&extreme)? {
            let index = index.as_i64();
            ensure!(
                (0..length as i64).contains(&index),
                Value(op),
                "index {index} is out of bounds for size {length}"
            );
        }
    }
    Ok(())
}

/// Convert coordinates to indices of the flattened, row-major array.
///
/// `coordinates` has one array for each axis, and `modes` one mode for each axis or one for all. The indices are uint32.
///
/// # Errors
/// If there are not one array and one mode for each axis, an array is not of integers, or shapes do not broadcast; in
/// [`OutOfBounds::Raise`] if a coordinate is out of bounds, which is not checked inside `vmap` and `compile`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops, ops::OutOfBounds};
/// let (row, column) = (Array::from([1, 3]), Array::from([2, 0]));
/// let ravel = |mode| ops::ravel_multi_index(&[&row, &column], &Shape::from([2, 3]), &[mode]);
/// assert_eq!(ravel(OutOfBounds::Wrap)?.to_vec::<u32>()?, [5, 3]);
/// assert!(ravel(OutOfBounds::Raise).is_err()); // there is no row 3
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ravel_multi_index(coordinates: &[&Array], shape: &Shape, modes: &[OutOfBounds]) -> Result<Array> {
    ensure!(
        coordinates.len() == shape.ndim() && shape.ndim() > 0,
        Value("ravel_multi_index"),
        "got {} index arrays for a shape of {} dimensions, expected one per dimension",
        coordinates.len(),
        shape.ndim()
    );
    ensure!(
        modes.len() == 1 || modes.len() == shape.ndim(),
        Value("ravel_multi_index"),
        "got {} modes for a shape of {} dimensions, expected one, or one per dimension",
        modes.len(),
        shape.ndim()
    );
    let coordinates = broadcast_all("ravel_multi_index", coordinates)?;
    let mut flat: Option<Array> = None;
    for ((indices, &length), &mode) in coordinates.iter().zip(shape.iter()).zip(modes.iter().cycle()) {
        let indices = resolve_indices("ravel_multi_index", indices, length, mode)?;
        if mode == OutOfBounds::Raise {
            check_inside("ravel_multi_index", &indices, length)?;
        }
        flat = Some(match flat {
            Some(flat) => add(&mul(&flat, &constant(&flat, length as i64))?, &indices)?,
            None => indices,
        });
    }
    let Some(flat) = flat else {
        bail!(Value("ravel_multi_index"), "shape must have at least one dimension")
    };
    cast(&flat, index_dtype(shape.size()))
}

/// Compute row and column indices of the elements on and below a diagonal of a matrix.
///
/// The indices are uint32.
///
/// # Errors
/// If a length is negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// let indices = ops::tril_indices(3, -1, 3)?;
/// assert_eq!(indices[0].to_vec::<u32>()?, [1, 2, 2]);
/// assert_eq!(indices[1].to_vec::<u32>()?, [0, 0, 1]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tril_indices(rows: i64, k: i64, columns: i64) -> Result<Vec<Array>> {
    super::searching::nonzero(&tri(rows, columns, k, DType::Bool)?)
}

/// Compute row and column indices of the elements on and above a diagonal of a matrix.
///
/// The indices are uint32.
///
/// # Errors
/// If a length is negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// let indices = ops::triu_indices(2, 0, 3)?;
/// assert_eq!(indices[0].to_vec::<u32>()?, [0, 0, 0, 1, 1]);
/// assert_eq!(indices[1].to_vec::<u32>()?, [0, 1, 2, 1, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn triu_indices(rows: i64, k: i64, columns: i64) -> Result<Vec<Array>> {
    let below = tri(rows, columns, k.saturating_sub(1), DType::Bool)?;
    super::searching::nonzero(&super::logical_not(&below)?)
}

/// Compute the indices of the main diagonal of an array whose axes have equal length.
///
/// The indices are uint32.
///
/// # Errors
/// If a length is negative.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// let [rows, columns] = &ops::diag_indices(2, 2)?[..] else { panic!("two axes") };
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(a.get(s![rows, columns])?.to_vec::<i32>()?, [1, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn diag_indices(n: i64, ndim: usize) -> Result<Vec<Array>> {
    // `eye` checks the length.
    let length = eye(n, 0, 0, DType::Bool)?.shape()[0];
    let indices = cast(&iota(&Shape::from([length]), 0)?, index_dtype(length))?;
    Ok(vec![indices; ndim])
}

/// Compute the coordinates of every element of an array of a given shape.
///
/// One array for each axis: of the given shape, or of length one along the other axes for [`MeshKind::Sparse`](super::MeshKind).
///
/// # Errors
/// If an axis of an empty array is too long.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops, ops::MeshKind};
/// let shape = Shape::from([2, 3]);
/// let columns = &ops::indices(&shape, DType::Int32, MeshKind::Full)?[1];
/// assert_eq!(columns.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
/// let columns = &ops::indices(&shape, DType::Int32, MeshKind::Sparse)?[1];
/// assert_eq!(columns.shape(), &Shape::from([1, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn indices(shape: &Shape, dtype: DType, kind: super::MeshKind) -> Result<Vec<Array>> {
    (0..shape.ndim())
        .map(|axis| {
            let indices = cast(&iota(&Shape::from([shape[axis]]), 0)?, dtype)?;
            let aligned: Shape = (0..shape.ndim()).map(|a| if a == axis { shape[axis] } else { 1 }).collect();
            let aligned = reshape(&indices, aligned)?;
            match kind {
                super::MeshKind::Full => broadcast(&aligned, shape),
                super::MeshKind::Sparse => Ok(aligned),
            }
        })
        .collect()
}

/// Build index arrays that select the outer product of indices along each axis.
///
/// One array for each axis of the result; array `i` varies along axis `i`. A bool array stands for the indices of its true
/// elements and is evaluated.
///
/// # Errors
/// If an array is not 1-d, or is neither of integers nor of bool.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, s};
/// let a = Array::from([[1, 2, 3], [4, 5, 6], [7, 8, 9]]);
/// let indices = ops::ix_(&[&Array::from([0, 2]), &Array::from([false, true, true])])?;
/// assert_eq!(a.get(s![&indices[0], &indices[1]])?.to_vec::<i32>()?, [2, 3, 8, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn ix_(arrays: &[&Array]) -> Result<Vec<Array>> {
    let ndim = arrays.len();
    arrays
        .iter()
        .enumerate()
        .map(|(axis, array)| {
            ensure!(
                array.ndim() == 1,
                Value("ix_"),
                "arrays must be one-dimensional, got shape {}",
                array.shape()
            );
            let dtype = array.dtype();
            let indices = if dtype == DType::Bool {
                super::searching::flatnonzero(array)?
            } else if array.size() == 0 {
                // An empty array may have any dtype.
                cast(array, DType::UInt32)?
            } else {
                ensure!(dtype.is_integer(), Type("ix_"), "indices must be integers, not {dtype}");
                (*array).clone()
            };
            let lengths: SmallVec<[usize; 4]> =
                (0..ndim).map(|other| if other == axis { indices.size() } else { 1 }).collect();
            reshape(&indices, &lengths[..])
        })
        .collect()
}
