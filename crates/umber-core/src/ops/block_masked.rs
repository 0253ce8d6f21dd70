//! Matrix products with masked blocks.

use umber_types::{Result, Shape, ensure};

use super::contraction::{as_matrices, matmul, without_vector_axes};
use super::elementwise::select;
use super::promotion::meet;
use crate::graph::Array;
use crate::primitives::rules::{broadcast, cast, constant, mul, reshape};
use crate::primitives::slice::slice_along;

/// The masks of [`block_masked_mm`], with one element per block: a bool that keeps or zeroes the block, or a factor.
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

/// Apply the mask to the blocks of `x`.
fn masked(which: &str, x: &Array, mask: Option<&Array>, block_size: i64) -> Result<Array> {
    let Some(mask) = mask else { return Ok(x.clone()) };
    // A block is clipped to the length of its axis.
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
    let split: Shape = batch.iter().copied().chain([blocks[0], 1, blocks[1], 1]).collect();
    let block_shape: Shape =
        batch.iter().copied().chain([blocks[0], size(rows), blocks[1], size(columns)]).collect();
    let merged: Shape =
        batch.iter().copied().chain([blocks[0] * size(rows), blocks[1] * size(columns)]).collect();
    let expanded_mask =
        reshape(&broadcast(&reshape(&broadcast(mask, &grid)?, split)?, &block_shape)?, merged)?;
    let last = expanded_mask.ndim() - 1;
    let expanded_mask = slice_along(&expanded_mask, last - 1, 0, x.shape()[rows])?;
    let expanded_mask = slice_along(&expanded_mask, last, 0, x.shape()[columns])?;
    if expanded_mask.dtype() == umber_types::DType::Bool {
        return select(&expanded_mask, x, &constant(x, 0));
    }
    let expanded_mask = cast(&expanded_mask, x.dtype())?;
    let (x, expanded_mask) = meet("block_masked_mm", x, &expanded_mask)?;
    mul(&x, &expanded_mask)
}
