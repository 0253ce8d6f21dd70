//! Products of matrices some of whose blocks are masked.

use umber_types::{Result, Shape, ensure};

use super::contraction::{as_matrices, matmul, without_vector_axes};
use super::elementwise::select;
use super::promotion::meet;
use crate::graph::Array;
use crate::primitives::rules::{broadcast, cast, constant, mul, reshape};
use crate::primitives::slice::slice_along;

/// The masks of [`block_masked_mm`]: an element a block, a bool that says whether to keep it or a factor.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockMasks<'a> {
    /// For the result.
    pub out: Option<&'a Array>,
    /// For the left operand.
    pub lhs: Option<&'a Array>,
    /// For the right operand.
    pub rhs: Option<&'a Array>,
}

/// Matrix product with masked blocks of the operands and the result.
///
/// A block has `block_size` by `block_size` elements; blocks at the ends may be smaller. A bool mask keeps or zeroes
/// blocks, a mask of numbers scales them.
///
/// ```
/// # use umber_core::{Array, ops};
/// let a = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let mask = Array::from_slice(&[2.0f32, 0.0, 0.0, 1.0], [2, 2])?;
/// let masks = ops::BlockMasks { out: Some(&mask), ..Default::default() };
/// assert_eq!(ops::block_masked_mm(&a, &a, 1, masks)?.to_vec::<f32>()?, [14.0, 0.0, 0.0, 22.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If shapes do not fit or the block size is not positive.
pub fn block_masked_mm(a: &Array, b: &Array, block_size: i64, masks: BlockMasks<'_>) -> Result<Array> {
    ensure!(block_size > 0, Value("block_masked_mm"), "block size must be positive, got {block_size}");
    let (x, y) = as_matrices("block_masked_mm", a, b)?;
    let (x, y) =
        (masked("mask_lhs", &x, masks.lhs, block_size)?, masked("mask_rhs", &y, masks.rhs, block_size)?);
    let out = masked("mask_out", &matmul(&x, &y)?, masks.out, block_size)?;
    without_vector_axes(&out, a, b)
}

/// `x` with its blocks masked.
fn masked(which: &str, x: &Array, mask: Option<&Array>, block_size: i64) -> Result<Array> {
    let Some(mask) = mask else { return Ok(x.clone()) };
    // A block is no longer than the axis it lies on.
    let size = |axis: usize| (block_size as usize).min(x.shape()[axis].max(1));
    let (rows, columns) = (x.ndim() - 2, x.ndim() - 1);
    let blocks = [x.shape()[rows].div_ceil(size(rows)), x.shape()[columns].div_ceil(size(columns))];
    let batch: Shape = mask.shape()[..mask.ndim().saturating_sub(2)].into();
    let grid: Shape = batch.iter().copied().chain(blocks).collect();
    ensure!(
        mask.shape().broadcasts_to(&grid),
        Value("block_masked_mm"),
        "cannot broadcast {which} of shape {} to ({}, {}), one element for each block",
        mask.shape(),
        blocks[0],
        blocks[1]
    );
    let apart: Shape = batch.iter().copied().chain([blocks[0], 1, blocks[1], 1]).collect();
    let expanded: Shape =
        batch.iter().copied().chain([blocks[0], size(rows), blocks[1], size(columns)]).collect();
    let joined: Shape =
        batch.iter().copied().chain([blocks[0] * size(rows), blocks[1] * size(columns)]).collect();
    let wide = reshape(&broadcast(&reshape(&broadcast(mask, &grid)?, apart)?, &expanded)?, joined)?;
    let last = wide.ndim() - 1;
    let wide = slice_along(&wide, last - 1, 0, x.shape()[rows])?;
    let wide = slice_along(&wide, last, 0, x.shape()[columns])?;
    if wide.dtype() == umber_types::DType::Bool {
        return select(&wide, x, &constant(x, 0));
    }
    let wide = cast(&wide, x.dtype())?;
    let (x, wide) = meet("block_masked_mm", x, &wide)?;
    mul(&x, &wide)
}
