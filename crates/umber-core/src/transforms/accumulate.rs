//! Slots: where the derivatives with respect to one array gather until its own node is reached.

use std::sync::Arc;

use umber_types::{Result, ScatterKind};

use crate::graph::{Array, Inputs};
use crate::op::Op;
use crate::primitives::concatenate::concatenate;
use crate::primitives::matmul::matmul;
use crate::primitives::rules::{add, swap_last, transpose};
use crate::primitives::slice::Window;
use crate::primitives::slice_update::{SliceUpdate, slice_update};
use crate::primitives::transpose::Transpose;

/// The derivative with respect to one array, as far as it is known; nothing is zero.
#[derive(Clone, Debug, Default)]
pub(super) struct CotangentSum {
    sum: Option<Array>,
    /// Products of matrices that are still to be added.
    products: Vec<Product>,
}

/// An array and the matrices that it is the product of. It lets go of these itself once it is evaluated.
#[derive(Clone, Debug)]
struct Product {
    array: Array,
    left: Array,
    right: Array,
}

impl CotangentSum {
    /// Add `more`.
    pub(super) fn add(&mut self, more: Array) -> Result<()> {
        if let Some((left, right)) = factors(&more)? {
            self.products.push(Product { array: more, left, right });
            return Ok(());
        }
        self.sum = Some(match self.sum.take() {
            Some(sum) => sum_of(&sum, &more)?,
            None => more,
        });
        Ok(())
    }

    /// What was added, which is let go.
    pub(super) fn take(&mut self) -> Result<Option<Array>> {
        if self.products.is_empty() {
            return Ok(self.sum.take());
        }
        let parts = joined(std::mem::take(&mut self.products))?;
        let mut parts = self.sum.take().into_iter().chain(parts);
        let Some(first) = parts.next() else { return Ok(None) };
        parts.try_fold(first, |sum, part| sum_of(&sum, &part)).map(Some)
    }
}

/// Fewer products are added as they are: to place factors beside each other takes about as long.
const WORTH_JOINING: usize = 4;

/// Arrays with the sum of `products`: `Σ aᵢ bᵢ = [a₁ a₂ …] [b₁; b₂; …]`.
///
/// A weight that meets many steps of a sequence has a product of few rows as its gradient in each: one product of all
/// rows neither writes nor adds as many matrices. Products that somebody else needs as well, or that were evaluated meanwhile,
/// stay as they are.
fn joined(products: Vec<Product>) -> Result<Vec<Array>> {
    let is_alone =
        |product: &Product| Arc::strong_count(product.array.node()) == 1 && !product.array.is_evaluated();
    let (alone, kept): (Vec<Product>, Vec<Product>) = products.into_iter().partition(is_alone);
    if alone.len() < WORTH_JOINING {
        return Ok(kept.into_iter().chain(alone).map(|product| product.array).collect());
    }
    let (mut lefts, mut rights) = (Inputs::new(), Inputs::new());
    for product in alone {
        lefts.push(swap_last(&product.left)?);
        rights.push(product.right);
    }
    let sum = matmul(&swap_last(&concatenate(lefts, 0)?)?, &concatenate(rights, 0)?)?;
    Ok(kept.into_iter().map(|product| product.array).chain([sum]).collect())
}

/// What an array that is not evaluated is the product of: two matrices that have no more elements than it has.
fn factors(array: &Array) -> Result<Option<(Array, Array)>> {
    if let Some((product, [1, 0])) = as_transpose(array) {
        return match factors(&product)? {
            Some((left, right)) => Ok(Some((swap_last(&right)?, swap_last(&left)?))),
            None => Ok(None),
        };
    }
    let node = array.node();
    if !matches!(node.op(), Op::MatMul(_)) || array.ndim() != 2 || node.is_evaluated() {
        return Ok(None);
    }
    let inputs = node.lock_inputs();
    let [left, right] = &inputs[..] else { return Ok(None) };
    let is_small = left.size() + right.size() <= array.size();
    Ok(is_small.then(|| (left.clone(), right.clone())))
}

/// The sum of two derivatives with respect to one array.
///
/// Of two matrices turned alike, such as the gradients of a weight that many products use turned, what they were turned
/// from is added: a sum of many then reads memory as it lies. What is zero but for a window, such as the gradient of an
/// array of which a part was taken, is added there: the gradients of all parts together cost as much as one array.
fn sum_of(sum: &Array, more: &Array) -> Result<Array> {
    if let (Some((a, axes)), Some((b, others))) = (as_transpose(sum), as_transpose(more))
        && axes == others
    {
        return transpose(&add(&a, &b)?, axes);
    }
    if let Some((window, part)) = placed(more) {
        return slice_update(ScatterKind::Add, sum, window.clone(), &part);
    }
    if let Some((window, part)) = placed(sum) {
        return slice_update(ScatterKind::Add, more, window.clone(), &part);
    }
    add(sum, more)
}

/// Where an array that is not evaluated has elements other than zeros, and these.
fn placed(array: &Array) -> Option<(&Window, Array)> {
    let node = array.node();
    let Op::SliceUpdate(SliceUpdate { window, kind: ScatterKind::Set }) = node.op() else { return None };
    if node.is_evaluated() {
        return None;
    }
    let inputs = node.lock_inputs();
    let [around, part] = &inputs[..] else { return None };
    let is_zero = around.constant().is_some_and(|value| value.as_complex() == (0.0, 0.0));
    is_zero.then(|| (&**window, part.clone()))
}

/// What an array that is not evaluated is the transpose of, and how.
fn as_transpose(array: &Array) -> Option<(Array, &[usize])> {
    let node = array.node();
    let Op::Transpose(Transpose { permutation }) = node.op() else { return None };
    if node.is_evaluated() {
        return None;
    }
    Some((node.lock_inputs().first()?.clone(), permutation))
}
