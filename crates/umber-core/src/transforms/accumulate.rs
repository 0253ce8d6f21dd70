//! Accumulation of the cotangents of an array until its node is visited.

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

/// The cotangent of one array as accumulated so far; empty is zero.
#[derive(Clone, Debug, Default)]
pub(super) struct CotangentSum {
    sum: Option<Array>,
    /// Matrix products that are still to be added.
    products: Vec<Product>,
}

/// An array and its factors. The array drops these itself once it is evaluated.
#[derive(Clone, Debug)]
struct Product {
    array: Array,
    left: Array,
    right: Array,
}

impl CotangentSum {
    /// Add a cotangent.
    pub(super) fn add(&mut self, cotangent: Array) -> Result<()> {
        if let Some((left, right)) = factors(&cotangent)? {
            self.products.push(Product { array: cotangent, left, right });
            return Ok(());
        }
        self.sum = Some(match self.sum.take() {
            Some(sum) => sum_of(&sum, &cotangent)?,
            None => cotangent,
        });
        Ok(())
    }

    /// Take the accumulated cotangent.
    pub(super) fn take(&mut self) -> Result<Option<Array>> {
        if self.products.is_empty() {
            return Ok(self.sum.take());
        }
        let terms = merged(std::mem::take(&mut self.products))?;
        let mut terms = self.sum.take().into_iter().chain(terms);
        let Some(first) = terms.next() else { return Ok(None) };
        terms.try_fold(first, |sum, term| sum_of(&sum, &term)).map(Some)
    }
}

/// Minimum number of products that are merged; concatenating fewer factors takes about as long as adding the products.
const MIN_MERGED_PRODUCTS: usize = 4;

/// Merge products into one: `Σ aᵢ bᵢ = [a₁ a₂ …] [b₁; b₂; …]`. Returns arrays with the same sum.
///
/// In each step of a sequence, the gradient of a weight is a product with few rows. One product of all rows writes and adds
/// fewer matrices. Products that are used elsewhere, or have been evaluated, are not merged.
fn merged(products: Vec<Product>) -> Result<Vec<Array>> {
    let is_exclusive =
        |product: &Product| Arc::strong_count(product.array.node()) == 1 && !product.array.is_evaluated();
    let (exclusive, others): (Vec<Product>, Vec<Product>) = products.into_iter().partition(is_exclusive);
    if exclusive.len() < MIN_MERGED_PRODUCTS {
        return Ok(others.into_iter().chain(exclusive).map(|product| product.array).collect());
    }
    let (mut lefts, mut rights) = (Inputs::new(), Inputs::new());
    for product in exclusive {
        lefts.push(swap_last(&product.left)?);
        rights.push(product.right);
    }
    let sum = matmul(&swap_last(&concatenate(lefts, 0)?)?, &concatenate(rights, 0)?)?;
    Ok(others.into_iter().map(|product| product.array).chain([sum]).collect())
}

/// The factors of an unevaluated array that is a matrix product, if they have no more elements than the product.
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

/// The sum of two cotangents of one array.
///
/// Transposed matrices, such as the gradients of a weight that is used transposed, are added before transposing, which reads
/// memory contiguously. A cotangent that is zero outside of a window, such as that of a slice, is added in the
/// window only: the gradients of all slices of an array together cost as much as one of the array.
fn sum_of(sum: &Array, cotangent: &Array) -> Result<Array> {
    if let (Some((a, axes)), Some((b, permutation))) = (as_transpose(sum), as_transpose(cotangent))
        && axes == permutation
    {
        return transpose(&add(&a, &b)?, axes);
    }
    if let Some((window, part)) = windowed(cotangent) {
        return slice_update(ScatterKind::Add, sum, window.clone(), &part);
    }
    if let Some((window, part)) = windowed(sum) {
        return slice_update(ScatterKind::Add, cotangent, window.clone(), &part);
    }
    add(sum, cotangent)
}

/// The window of an unevaluated array outside of which it is zero, and the elements inside.
fn windowed(array: &Array) -> Option<(&Window, Array)> {
    let node = array.node();
    let Op::SliceUpdate(SliceUpdate { window, kind: ScatterKind::Set }) = node.op() else { return None };
    if node.is_evaluated() {
        return None;
    }
    let inputs = node.lock_inputs();
    let [background, part] = &inputs[..] else { return None };
    let is_zero = background.constant().is_some_and(|value| value.as_complex() == (0.0, 0.0));
    is_zero.then(|| (&**window, part.clone()))
}

/// The source and permutation of an unevaluated transpose.
fn as_transpose(array: &Array) -> Option<(Array, &[usize])> {
    let node = array.node();
    let Op::Transpose(Transpose { permutation }) = node.op() else { return None };
    if node.is_evaluated() {
        return None;
    }
    Some((node.lock_inputs().first()?.clone(), permutation))
}
