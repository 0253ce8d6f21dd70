//! Joining arrays as rows, columns or blocks, splitting them along fixed axes, and flattening.

use umber_types::{Result, Shape, bail, ensure};

use super::error_context::with_op;
use super::shaping::{MAX_PARTS, Split, atleast, concatenate, split};
use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::primitives::rules::{reshape, transpose};

/// Concatenate arrays along `axis`, each expanded to at least `ndim` axes.
fn join(op: &str, arrays: &[&Array], ndim: usize, axis: i64) -> Result<Array> {
    ensure!(!arrays.is_empty(), Value(op), "needs at least one array");
    let arrays: Vec<Array> = arrays.iter().map(|array| atleast(array, ndim)).collect::<Result<_>>()?;
    with_op(op, concatenate(&arrays.iter().collect::<Vec<_>>(), Some(axis)))
}

/// Join arrays along the second axis, or along the first for vectors.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2], [2, 1])?;
/// assert_eq!(ops::hstack(&[&x, &x])?.to_vec::<i32>()?, [1, 1, 2, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If there are no arrays, or their shapes differ along another axis.
pub fn hstack(arrays: &[&Array]) -> Result<Array> {
    let axis = arrays.first().map_or(0, |first| i64::from(first.ndim() > 1));
    join("hstack", arrays, 1, axis)
}

/// Join arrays along the first axis; each vector counts as a row.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2], [2])?;
/// assert_eq!(ops::vstack(&[&x, &x])?.shape()[..], [2, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If there are no arrays, or their shapes differ along another axis.
pub fn vstack(arrays: &[&Array]) -> Result<Array> {
    join("vstack", arrays, 2, 0)
}

/// Join arrays along the third axis.
///
/// A vector counts as shape `(1, n, 1)`, a matrix as shape `(m, n, 1)`.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2], [2])?;
/// assert_eq!(ops::dstack(&[&x, &x])?.shape()[..], [1, 2, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If there are no arrays, or their shapes differ along another axis.
pub fn dstack(arrays: &[&Array]) -> Result<Array> {
    join("dstack", arrays, 3, 2)
}

/// Join vectors as columns, and matrices as they are, into a matrix.
///
/// ```
/// use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1i32, 2], [2])?;
/// assert_eq!(ops::column_stack(&[&x, &x])?.to_vec::<i32>()?, [1, 1, 2, 2]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If there are no arrays, or the numbers of rows differ.
pub fn column_stack(arrays: &[&Array]) -> Result<Array> {
    let column = |array: &&Array| -> Result<Array> {
        if array.ndim() < 2 { reshape(array, [array.size(), 1]) } else { Ok((*array).clone()) }
    };
    let columns: Vec<Array> = arrays.iter().map(column).collect::<Result<_>>()?;
    join("column_stack", &columns.iter().collect::<Vec<_>>(), 2, 1)
}

/// Blocks of a larger array: the innermost lists join along the last axis, the next ones along the one before.
#[derive(Clone, Debug)]
pub enum Blocks {
    /// One block.
    Array(Array),
    /// Blocks along an axis.
    List(Vec<Blocks>),
}

impl Blocks {
    /// The depth of the nested lists, which must be the same for all of them.
    fn depth(&self) -> Result<usize> {
        let Blocks::List(items) = self else { return Ok(0) };
        let Some((first, others)) = items.split_first() else {
            bail!(Value("block"), "lists must not be empty");
        };
        let depth = first.depth()?;
        for other in others {
            let other_depth = other.depth()?;
            ensure!(
                other_depth == depth,
                Value("block"),
                "nesting depths of the lists differ: {depth} and {other_depth}"
            );
        }
        Ok(depth + 1)
    }

    fn max_ndim(&self) -> usize {
        match self {
            Blocks::Array(array) => array.ndim(),
            Blocks::List(items) => items.iter().map(Blocks::max_ndim).max().unwrap_or(0),
        }
    }

    fn join(&self, depth: usize, ndim: usize) -> Result<Array> {
        match self {
            Blocks::Array(array) => {
                let leading_ones = std::iter::repeat_n(1, ndim - array.ndim());
                reshape(array, leading_ones.chain(array.shape().iter().copied()).collect::<Shape>())
            }
            Blocks::List(items) => {
                let parts: Vec<Array> =
                    items.iter().map(|item| item.join(depth - 1, ndim)).collect::<Result<_>>()?;
                let axis = -(depth as i64);
                with_op("block", concatenate(&parts.iter().collect::<Vec<_>>(), Some(axis)))
            }
        }
    }
}

/// Assemble an array from nested lists of blocks.
///
/// The innermost lists are joined along the last axis, the lists around them along the axis before it, and so on.
///
/// ```
/// use umber_core::{Array, ops::{self, Blocks}};
/// let x = || Blocks::Array(Array::from_slice(&[1i32, 2], [1, 2]).unwrap());
/// let rows = Blocks::List(vec![Blocks::List(vec![x(), x()]), Blocks::List(vec![x(), x()])]);
/// assert_eq!(ops::block(&rows)?.shape()[..], [2, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If a list is empty, blocks are nested to different depths, or shapes do not fit.
pub fn block(blocks: &Blocks) -> Result<Array> {
    let depth = blocks.depth()?;
    blocks.join(depth, blocks.max_ndim().max(depth))
}

/// Split an array along an axis into parts whose lengths may differ by one.
///
/// Unlike [`split`], it accepts a number of sections that does not divide the length; the first parts are then longer.
///
/// ```
/// use umber_core::{Array, ops::{self, Split}};
/// let x = Array::from_slice(&[1i32, 2, 3], [3])?;
/// let parts = ops::array_split(&x, Split::Sections(2), 0)?;
/// assert_eq!((parts[0].size(), parts[1].size()), (2, 1));
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the number of sections is not positive, or the axis is out of bounds.
pub fn array_split(a: &Array, at: Split<'_>, axis: i64) -> Result<Vec<Array>> {
    let Split::Sections(count) = at else { return with_op("array_split", split(a, at, axis)) };
    ensure!(
        (1..=MAX_PARTS).contains(&count),
        Value("array_split"),
        "number of sections must be between 1 and {MAX_PARTS}, got {count}"
    );
    let axis_index = umber_types::shape::normalize_axis("array_split", axis, a.ndim())?;
    note_length_read(a, axis_index);
    let length = a.shape()[axis_index] as i64;
    let section_end = |i: i64| i * (length / count) + i.min(length % count);
    let indices: Vec<i64> = (1..count).map(section_end).collect();
    split(a, Split::Indices(&indices), axis)
}

fn split_along(op: &str, a: &Array, at: Split<'_>, min_ndim: usize, axis: i64) -> Result<Vec<Array>> {
    ensure!(
        a.ndim() >= min_ndim,
        Value(op),
        "array must have at least {min_ndim} dimensions, got {}",
        a.ndim()
    );
    with_op(op, split(a, at, axis))
}

/// Split an array along its second axis, or a vector along its only one.
///
/// ```
/// use umber_core::{Array, ops::{self, Split}};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::hsplit(&x, Split::Sections(2))?[1].to_vec::<i32>()?, [2, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For arrays without axes, and where [`split`] fails.
pub fn hsplit(a: &Array, at: Split<'_>) -> Result<Vec<Array>> {
    split_along("hsplit", a, at, 1, i64::from(a.ndim() > 1))
}

/// Split an array of at least two axes along its first axis.
///
/// ```
/// use umber_core::{Array, ops::{self, Split}};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::vsplit(&x, Split::Sections(2))?[1].to_vec::<i32>()?, [3, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For arrays with fewer axes, and where [`split`] fails.
pub fn vsplit(a: &Array, at: Split<'_>) -> Result<Vec<Array>> {
    split_along("vsplit", a, at, 2, 0)
}

/// Split an array of at least three axes along its third axis.
///
/// ```
/// use umber_core::{Array, ops::{self, Split}};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [1, 2, 2])?;
/// assert_eq!(ops::dsplit(&x, Split::Sections(2))?[1].to_vec::<i32>()?, [2, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For arrays with fewer axes, and where [`split`] fails.
pub fn dsplit(a: &Array, at: Split<'_>) -> Result<Vec<Array>> {
    split_along("dsplit", a, at, 3, 2)
}

/// The order in which elements are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementOrder {
    /// The last axis varies fastest.
    RowMajor,
    /// The first axis varies fastest.
    ColumnMajor,
}

/// Flatten an array in row-major or column-major order.
///
/// ```
/// use umber_core::{Array, ops::{self, ElementOrder}};
/// let x = Array::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
/// assert_eq!(ops::ravel(&x, ElementOrder::ColumnMajor)?.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), umber_core::Error>(())
/// ```
pub fn ravel(a: &Array, order: ElementOrder) -> Result<Array> {
    match order {
        ElementOrder::RowMajor => reshape(a, [a.size()]),
        ElementOrder::ColumnMajor => {
            let reversed: smallvec::SmallVec<[usize; 6]> = (0..a.ndim()).rev().collect();
            reshape(&transpose(a, &reversed)?, [a.size()])
        }
    }
}
