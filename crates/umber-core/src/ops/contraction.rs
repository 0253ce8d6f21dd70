//! Products of matrices and related contractions.

use smallvec::SmallVec;
use umber_types::{Axes, KeepAxes, Result, Scalar, Shape, bail, ensure, promote};

use super::promotion::{cast_constant, meet};
use super::reductions;
use crate::graph::Array;
use crate::primitives::matmul;
use crate::primitives::rules::{add, broadcast, cast, conj, constant, mul, reshape, transpose, zeros_like};

/// Matrix product over the last two axes; leading axes broadcast.
///
/// An operand of one axis is a row on the left and a column on the right, and the result is without that axis. Integers
/// wrap; the sum of bool products is a logical "or".
///
/// `(…, m, k)` by `(…, k, n)` gives `(…, m, n)` in the promoted dtype. Fails for 0-d operands, inner dimensions that
/// differ, or batch axes that do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let x = Array::from([1.0f32, -1.0]);
/// assert_eq!(ops::matmul(&a, &x)?.to_vec::<f32>()?, [-1.0, -1.0]);
/// assert!(ops::matmul(&a, &Array::from([1.0f32, 2.0, 3.0])).is_err());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn matmul(a: &Array, b: &Array) -> Result<Array> {
    product("matmul", a, b)
}

fn product(op: &str, a: &Array, b: &Array) -> Result<Array> {
    let (x, y) = as_matrices(op, a, b)?;
    without_vector_axes(&stacked(op, &x, &y)?, a, b)
}

/// The operands as stacks of matrices with equal inner dimensions and one dtype. An operand with one axis becomes a row on the
/// left and a column on the right.
pub(super) fn as_matrices(op: &str, a: &Array, b: &Array) -> Result<(Array, Array)> {
    ensure!(
        a.ndim() > 0 && b.ndim() > 0,
        Value(op),
        "operands must have at least one axis, got shapes {} and {}",
        a.shape(),
        b.shape()
    );
    let (x, y) = promoted(a, b)?;
    let x = if x.ndim() == 1 { reshape(&x, [1, x.shape()[0]])? } else { x };
    let y = if y.ndim() == 1 { reshape(&y, [y.shape()[0], 1])? } else { y };
    let depth = y.shape()[y.ndim() - 2];
    ensure!(
        x.shape().last() == Some(&depth),
        Value(op),
        "inner dimensions differ: {} @ {}",
        a.shape(),
        b.shape()
    );
    Ok((x, y))
}

/// Remove the axes that [`as_matrices`] added to vectors.
pub(super) fn without_vector_axes(out: &Array, a: &Array, b: &Array) -> Result<Array> {
    let mut shape = out.shape().clone();
    if b.ndim() == 1 {
        shape.remove(shape.ndim() - 1);
    }
    if a.ndim() == 1 {
        shape.remove(shape.ndim() - if b.ndim() == 1 { 1 } else { 2 });
    }
    reshape(out, shape)
}

/// Both arrays in the promoted dtype.
fn promoted(a: &Array, b: &Array) -> Result<(Array, Array)> {
    let dtype = promote(a.dtype(), b.dtype());
    Ok((cast_constant(a, dtype)?, cast_constant(b, dtype)?))
}

/// The product of stacks of matrices, whose batch axes broadcast.
fn stacked(op: &str, x: &Array, y: &Array) -> Result<Array> {
    let (rows, depth, columns) = (x.shape()[x.ndim() - 2], x.shape()[x.ndim() - 1], y.shape()[y.ndim() - 1]);
    let batch_of = |array: &Array| -> Shape { array.shape()[..array.ndim() - 2].into() };
    if y.ndim() == 2 && x.ndim() > 2 {
        // A single right matrix: merge the batch into the rows, so that the gradient of `y` is one product too.
        let batch = batch_of(x);
        let merged = reshape(x, [batch.size() * rows, depth])?;
        let shape: Shape = batch.iter().copied().chain([rows, columns]).collect();
        return reshape(&matmul::matmul(&merged, y)?, shape);
    }
    let Some(batch) = batch_of(x).broadcast(&batch_of(y)) else {
        bail!(Value(op), "batch axes of {} and {} cannot be broadcast", x.shape(), y.shape());
    };
    let broadcast_to_common =
        |array: &Array, tail: [usize; 2]| broadcast(array, &batch.iter().copied().chain(tail).collect());
    matmul::matmul(&broadcast_to_common(x, [rows, depth])?, &broadcast_to_common(y, [depth, columns])?)
}

/// Scaled matrix product plus a scaled array: `alpha (a @ b) + beta c`.
///
/// A term whose factor is zero is left out, even if it holds NaN. `c` broadcasts to the shape of `a @ b`; dtypes are
/// promoted, and factors with a fraction make integers float32. Fails where [`matmul()`] does, or if `c` does not
/// broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1.0f32, 2.0]]);
/// let b = Array::from([[3.0f32], [4.0]]);
/// assert_eq!(ops::addmm(&Array::from(1.0f32), &a, &b, 2.0, 10.0)?.to_vec::<f32>()?, [32.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn addmm(c: &Array, a: &Array, b: &Array, alpha: f64, beta: f64) -> Result<Array> {
    let scaled = |x: Array, factor: f64| {
        if factor == 1.0 { Ok(x) } else { mul(&x, &constant(&x, Scalar::Float(factor))) }
    };
    let product = product("addmm", a, b)?;
    let (mut product, mut c) = promoted(&product, c)?;
    if alpha.fract() != 0.0 || beta.fract() != 0.0 {
        let dtype = product.dtype().inexact();
        (product, c) = (cast(&product, dtype)?, cast(&c, dtype)?);
    }
    ensure!(
        c.shape().broadcasts_to(product.shape()),
        Value("addmm"),
        "cannot broadcast c of shape {} to {}, the shape of a @ b",
        c.shape(),
        product.shape()
    );
    if beta == 0.0 {
        return if alpha == 0.0 { Ok(zeros_like(&product)) } else { scaled(product, alpha) };
    }
    let c = broadcast(&scaled(c, beta)?, product.shape())?;
    if alpha == 0.0 { Ok(c) } else { add(&scaled(product, alpha)?, &c) }
}

/// The elementwise product of arrays after promotion and broadcasting.
fn multiply(op: &str, a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = meet(op, a, b)?;
    mul(&a, &b)
}

/// Inner product: sum of products over the last axis of both arrays.
///
/// Shapes `(…, k)` and `(…, k)` give the other axes of `a`, then those of `b`; a 0-d operand multiplies. Fails if the
/// last axes differ in length.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([1, 2, 3]), Array::from([4, 5, 6]));
/// assert_eq!(ops::inner(&a, &b)?.to_vec::<i32>()?, [32]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn inner(a: &Array, b: &Array) -> Result<Array> {
    if a.ndim() == 0 || b.ndim() == 0 {
        return multiply("inner", a, b);
    }
    contract("inner", a, b, &[a.ndim() - 1], &[b.ndim() - 1])
}

/// Outer product: every element of `a` times every element of `b`, both flattened.
///
/// The shape is `(a.size(), b.size())`, the dtype the promoted one.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let products = ops::outer(&Array::from([1, 2]), &Array::from([10, 20, 30]))?;
/// assert_eq!(products.to_vec::<i32>()?, [10, 20, 30, 20, 40, 60]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn outer(a: &Array, b: &Array) -> Result<Array> {
    multiply("outer", &reshape(a, [a.size(), 1])?, &reshape(b, [b.size()])?)
}

/// Sum of products over pairs of axes of `a` and `b`.
///
/// `a_axes[i]` of `a` is paired with `b_axes[i]` of `b`. The result has the other axes of `a`, then those of `b`, in
/// the promoted dtype. Fails if the axes differ in number or length, or appear twice.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops, s};
/// let a = ops::ones(&Shape::from([2, 3, 4]), DType::Float32);
/// let b = ops::ones(&Shape::from([4, 3, 5]), DType::Float32);
/// let c = ops::tensordot(&a, &b, &[1, 2], &[1, 0])?;
/// assert_eq!(c.shape(), &Shape::from([2, 5]));
/// assert_eq!(c.get(s![0, 0])?.item()?.as_f64(), 12.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tensordot(a: &Array, b: &Array, a_axes: &[i64], b_axes: &[i64]) -> Result<Array> {
    ensure!(
        a_axes.len() == b_axes.len(),
        Value("tensordot"),
        "numbers of axes differ: {} of a, {} of b",
        a_axes.len(),
        b_axes.len()
    );
    // `normalized` sorts the axes; it only checks them here.
    let resolve = |axes: &[i64], ndim: usize| -> Result<SmallVec<[usize; 4]>> {
        Axes::normalized("tensordot", axes, ndim)?;
        axes.iter().map(|&axis| umber_types::shape::normalize_axis("tensordot", axis, ndim)).collect()
    };
    contract("tensordot", a, b, &resolve(a_axes, a.ndim())?, &resolve(b_axes, b.ndim())?)
}

/// [`tensordot`] over the last `count` axes of `a` and the first `count` of `b`.
///
/// Fails if an array has fewer axes, or the axes differ in length.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let a = ops::ones(&Shape::from([2, 3]), DType::Float32);
/// let b = ops::ones(&Shape::from([3, 4]), DType::Float32);
/// assert_eq!(ops::tensordot_count(&a, &b, 1)?.shape(), &Shape::from([2, 4]));
/// assert_eq!(ops::tensordot_count(&a, &b, 0)?.shape(), &Shape::from([2, 3, 3, 4]));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn tensordot_count(a: &Array, b: &Array, count: usize) -> Result<Array> {
    ensure!(
        count <= a.ndim().min(b.ndim()),
        Value("tensordot"),
        "cannot sum over {count} axes of arrays of shapes {} and {}",
        a.shape(),
        b.shape()
    );
    let a_axes: SmallVec<[usize; 4]> = (a.ndim() - count..a.ndim()).collect();
    let b_axes: SmallVec<[usize; 4]> = (0..count).collect();
    contract("tensordot", a, b, &a_axes, &b_axes)
}

/// Contract pairs of axes by one matrix product.
fn contract(op: &str, a: &Array, b: &Array, a_axes: &[usize], b_axes: &[usize]) -> Result<Array> {
    ensure!(
        a_axes.iter().zip(b_axes).all(|(&i, &j)| a.shape()[i] == b.shape()[j]),
        Value(op),
        "axes {a_axes:?} of shape {} and {b_axes:?} of shape {} differ in length",
        a.shape(),
        b.shape()
    );
    let kept = |x: &Array, axes: &[usize]| -> SmallVec<[usize; 6]> {
        (0..x.ndim()).filter(|axis| !axes.contains(axis)).collect()
    };
    let (a_kept, b_kept) = (kept(a, a_axes), kept(b, b_axes));
    let length = |x: &Array, axes: &[usize]| -> usize { axes.iter().map(|&axis| x.shape()[axis]).product() };
    let order = |first: &[usize], second: &[usize]| -> SmallVec<[usize; 6]> {
        first.iter().chain(second).copied().collect()
    };
    let depth = length(a, a_axes);
    let left = reshape(&transpose(a, &order(&a_kept, a_axes))?, [length(a, &a_kept), depth])?;
    let right = reshape(&transpose(b, &order(b_axes, &b_kept))?, [depth, length(b, &b_kept)])?;
    let shape: Shape =
        a_kept.iter().map(|&i| a.shape()[i]).chain(b_kept.iter().map(|&i| b.shape()[i])).collect();
    reshape(&product(op, &left, &right)?, shape)
}

/// Dot product of vectors along an axis: sum of `conj(a) * b` over `axis`.
///
/// The result has the broadcast shape without that axis, in the promoted dtype; a negative axis counts from the end of
/// either array. Fails if the axis differs in length, or the others do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::vecdot(&a, &Array::from([1, 1]), -1)?.to_vec::<i32>()?, [3, 7]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vecdot(a: &Array, b: &Array, axis: i64) -> Result<Array> {
    let conjugate = conj(a)?;
    let (x, y) = meet("vecdot", &conjugate, b)?;
    let shortest = a.ndim().min(b.ndim());
    // The axis counts from the end of the axes that both operands have, so that it is the same one in each.
    let axis = umber_types::shape::normalize_axis("vecdot", axis, shortest)? + x.ndim() - shortest;
    let length = |array: &Array| array.shape()[axis + array.ndim() - x.ndim()];
    ensure!(
        length(a) == length(b),
        Value("vecdot"),
        "axes to sum over differ in length in shapes {} and {}",
        a.shape(),
        b.shape()
    );
    let products = mul(&x, &y)?;
    let sum = reductions::sum(&products, Some(&[axis as i64]), KeepAxes::No)?;
    // The result has the dtype of the products, although sums of small integers have a wider one.
    cast(&sum, products.dtype())
}

/// Kronecker product: `a` with each element replaced by that element times `b`.
///
/// Each axis has the product of both lengths; the shape with fewer axes is padded with ones in front.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let x = ops::kron(&Array::from([1, 2]), &Array::from([1, 10]))?;
/// assert_eq!(x.to_vec::<i32>()?, [1, 10, 2, 20]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn kron(a: &Array, b: &Array) -> Result<Array> {
    let ndim = a.ndim().max(b.ndim());
    let padded = |x: &Array| -> SmallVec<[usize; 6]> {
        std::iter::repeat_n(1, ndim - x.ndim()).chain(x.shape().iter().copied()).collect()
    };
    let (left, right) = (padded(a), padded(b));
    let a_shape: Shape = left.iter().flat_map(|&length| [length, 1]).collect();
    let b_shape: Shape = right.iter().flat_map(|&length| [1, length]).collect();
    let product = multiply("kron", &reshape(a, a_shape)?, &reshape(b, b_shape)?)?;
    let shape: Shape = left.iter().zip(&right).map(|(m, n)| m * n).collect();
    reshape(&product, shape)
}
