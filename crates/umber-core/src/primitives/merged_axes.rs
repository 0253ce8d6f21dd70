//! Several axes merged into one.

use smallvec::SmallVec;
use umber_types::{Axes, Result, Shape};

use super::rules::{reshape, transpose};
use crate::graph::Array;

/// An array with some axes moved to the end and merged into one, and the permutation that undoes it.
pub(crate) struct MergedAxes {
    pub(crate) array: Array,
    /// The permutation of the axes before merging: remaining axes, then merged axes.
    order: SmallVec<[usize; 6]>,
    /// The permuted shape.
    shape: Shape,
}

impl MergedAxes {
    pub(crate) fn new(a: &Array, axes: &Axes) -> Result<MergedAxes> {
        let kept = (0..a.ndim()).filter(|axis| !axes.contains(axis));
        let order: SmallVec<[usize; 6]> = kept.chain(axes.iter().copied()).collect();
        let shape: Shape = order.iter().map(|&axis| a.shape()[axis]).collect();
        let batch = shape[..shape.ndim() - axes.len()].iter().copied();
        let merged: Shape = batch.chain([axes.iter().map(|&axis| a.shape()[axis]).product()]).collect();
        Ok(MergedAxes { array: reshape(&transpose(a, &order)?, merged)?, order, shape })
    }

    /// `out`, of the merged shape, with its axes split and moved back.
    pub(crate) fn restore(&self, out: &Array) -> Result<Array> {
        let mut inverse: SmallVec<[usize; 6]> = SmallVec::from_elem(0, self.order.len());
        for (to, &from) in self.order.iter().enumerate() {
            inverse[from] = to;
        }
        transpose(&reshape(out, self.shape.clone())?, &inverse)
    }
}
