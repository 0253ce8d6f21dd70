//! Helpers that the rules of several primitives share.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, Scalar, Shape, UnaryKind, ensure};

use crate::eager;
use crate::graph::tracing::are_lengths_free;
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Tangents};
use crate::primitives::binary::Binary;
use crate::primitives::broadcast::Broadcast;
use crate::primitives::cast::Cast;
use crate::primitives::control::Control;
use crate::primitives::float8::cast_float8;
use crate::primitives::reshape::Reshape;
use crate::primitives::select::Select;
use crate::primitives::transpose::Transpose;
use crate::primitives::unary::Unary;

/// The spec of an operation whose output has the shape and dtype of its first input.
pub(crate) fn same_spec(inputs: &[&ArraySpec]) -> Specs {
    inputs[0].clone().into()
}

/// `kind(x)`.
pub(crate) fn unary(kind: UnaryKind, x: &Array) -> Result<Array> {
    Array::record_one(Unary(kind), &[x])
}

/// `2^floor(log2 x)` for positive finite elements, one for zero, infinity and NaN.
///
/// Multiplication by it is exact unless the product underflows or overflows. No gradient passes through it.
pub(crate) fn power_of_two(x: &Array) -> Result<Array> {
    let constant_x = Array::record_one(Control::StopGradient, &[x])?;
    let exponent = unary(UnaryKind::Floor, &unary(UnaryKind::Log2, &constant_x)?)?;
    let is_finite = unary(UnaryKind::IsFinite, &exponent)?;
    let exponent = Array::record_one(Select, &[&is_finite, &exponent, &constant(&exponent, 0.0)])?;
    unary(UnaryKind::Exp2, &exponent)
}

/// `kind(a, b)` for arrays of one shape and dtype.
pub(crate) fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    debug_assert_eq!(a.shape(), b.shape());
    Array::record_one(Binary(kind), &[a, b])
}

/// `a + b`.
pub(crate) fn add(a: &Array, b: &Array) -> Result<Array> {
    binary(BinaryKind::Add, a, b)
}

/// `a - b`.
pub(crate) fn sub(a: &Array, b: &Array) -> Result<Array> {
    binary(BinaryKind::Subtract, a, b)
}

/// `a * b`. A factor that is the constant one is dropped: the first cotangent of a gradient is a one.
pub(crate) fn mul(a: &Array, b: &Array) -> Result<Array> {
    times(BinaryKind::Multiply, a, b)
}

/// `a * b` with `0 * inf = 0`, for products in which an infinity comes from overflow. Its derivatives use the same product.
pub(crate) fn mul_absorbing(a: &Array, b: &Array) -> Result<Array> {
    times(BinaryKind::MultiplyAbsorbing, a, b)
}

/// A product of this kind, or the other factor if one factor is the constant one.
fn times(kind: BinaryKind, a: &Array, b: &Array) -> Result<Array> {
    let is_one = |x: &Array| x.constant().is_some_and(|value| value.as_complex() == (1.0, 0.0));
    if is_one(a) && a.spec() == b.spec() {
        return Ok(b.clone());
    }
    if is_one(b) && a.spec() == b.spec() {
        return Ok(a.clone());
    }
    binary(kind, a, b)
}

/// `a / b`.
pub(crate) fn div(a: &Array, b: &Array) -> Result<Array> {
    binary(BinaryKind::Divide, a, b)
}

/// The polynomial with these coefficients, in ascending order of degree.
pub(crate) fn polynomial(x: &Array, coefficients: &[f64]) -> Result<Array> {
    let Some((&leading, lower)) = coefficients.split_last() else { return Ok(zeros_like(x)) };
    lower.iter().rev().try_fold(constant(x, leading), |sum, &next| add(&mul(&sum, x)?, &constant(x, next)))
}

/// `-x`.
pub(crate) fn neg(x: &Array) -> Result<Array> {
    unary(UnaryKind::Negative, x)
}

/// The conjugate of a complex array; a real array unchanged.
pub(crate) fn conj(x: &Array) -> Result<Array> {
    if x.dtype().is_complex() { unary(UnaryKind::Conjugate, x) } else { Ok(x.clone()) }
}

/// A constant with the shape and dtype of `x`.
pub(crate) fn constant(x: &Array, value: impl Into<Scalar>) -> Array {
    Array::full(x.shape().clone(), value, x.dtype())
}

/// Zeros with the shape and dtype of `x`.
pub(crate) fn zeros_like(x: &Array) -> Array {
    full_like(x, 0.0, x.dtype())
}

/// `value` in every element, with the shape of `x`. In a shape-generic trace it is computed from `x`, because a constant
/// would keep the shape that `x` has while it is traced.
pub(crate) fn full_like(x: &Array, value: impl Into<Scalar>, dtype: DType) -> Array {
    let value = Array::full(x.shape().clone(), value, dtype);
    if x.ndim() == 0 || x.dtype().is_float8() || !x.is_traced() || !are_lengths_free() {
        return value;
    }
    let filled =
        binary(BinaryKind::Equal, x, x).and_then(|mask| Array::record_one(Select, &[&mask, &value, &value]));
    // Recording fails only for shapes and dtypes that differ; these are equal.
    filled.unwrap_or(value)
}

/// `a` broadcast to the shape of `x`; [`full_like`] if it is a constant.
pub(crate) fn broadcast_like(a: &Array, x: &Array) -> Result<Array> {
    match a.constant() {
        Some(value) => Ok(full_like(x, value, a.dtype())),
        None => broadcast(a, x.shape()),
    }
}

/// `x` converted to `dtype`; `x` itself if it has that dtype.
pub(crate) fn cast(x: &Array, dtype: DType) -> Result<Array> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    if x.dtype().is_float8() || dtype.is_float8() {
        return cast_float8(x, dtype);
    }
    Array::record_one(Cast(dtype), &[x])
}

/// `x` in double precision, where products of many factors overflow and underflow less easily.
pub(crate) fn doubled(x: &Array) -> Result<Array> {
    cast(x, if x.dtype().is_complex() { DType::Complex128 } else { DType::Float64 })
}

/// `x` in the dtype that rules compute in: float32 for 16-bit floats.
pub(crate) fn widened(x: &Array) -> Result<Array> {
    if x.dtype().is_half() { cast(x, DType::Float32) } else { Ok(x.clone()) }
}

/// `x` reshaped to `shape`; `x` itself if it has that shape.
pub(crate) fn reshape(x: &Array, shape: impl Into<Shape>) -> Result<Array> {
    let shape = shape.into();
    if *x.shape() == shape {
        return Ok(x.clone());
    }
    match x.constant() {
        Some(value) if x.size() == shape.size() => Ok(Array::full(shape, value, x.dtype())),
        _ => Array::record_one(Reshape { shape }, &[x]),
    }
}

/// `x` broadcast to `shape`; `x` itself if it has that shape.
pub(crate) fn broadcast(x: &Array, shape: &Shape) -> Result<Array> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    // The two paths below do not check the size.
    ensure!(shape.is_addressable(), Overflow("broadcast_to"), "shape {shape} is too large to address");
    if let Some(value) = x.constant() {
        return Ok(Array::filled(shape, value, x.dtype()));
    }
    if x.is_plain() && !eager::applies(shape) {
        return Ok(broadcast_plain(x, shape));
    }
    Array::record_one(Broadcast { shape: shape.clone() }, &[x])
}

/// [`broadcast`] for a [plain](Array::is_plain) array, an addressable shape and no eager evaluation.
#[inline]
pub(crate) fn broadcast_plain(x: &Array, shape: &Shape) -> Array {
    if x.shape() == shape {
        return x.clone();
    }
    if let Some(value) = x.constant() {
        return Array::filled(shape, value, x.dtype());
    }
    let op = Broadcast { shape: Shape::scalar() };
    Array::record_plain(op, (Some(x.clone()), None), x.dtype(), |op, _, output| {
        if let Op::Broadcast(broadcast) = op {
            broadcast.shape.clone_from(shape);
        }
        output.spec.shape.clone_from(shape);
    })
}

/// `x` with its axes permuted; `x` itself for the identity permutation.
pub(crate) fn transpose(x: &Array, permutation: &[usize]) -> Result<Array> {
    if permutation.iter().enumerate().all(|(i, &axis)| i == axis) {
        return Ok(x.clone());
    }
    if let Some(storage) = x.seen() {
        let layout = &storage.layout;
        return Ok(Array::placed(Arc::clone(&storage.buffer), x.dtype(), |shape, shown| {
            shown.offset = layout.offset;
            for &axis in permutation {
                shape.push(layout.shape[axis]);
                shown.shape.push(layout.shape[axis]);
                shown.strides.push(layout.strides[axis]);
            }
        }));
    }
    Array::record_one(Transpose { permutation: permutation.into() }, &[x])
}

/// `x` with the last two axes swapped.
pub(crate) fn swap_last(x: &Array) -> Result<Array> {
    let n = x.ndim();
    let mut permutation: SmallVec<[usize; 6]> = (0..n).collect();
    permutation.swap(n - 1, n - 2);
    transpose(x, &permutation)
}

/// `x` with axis `from` moved to position `to`.
pub(crate) fn move_axis(x: &Array, from: usize, to: usize) -> Result<Array> {
    let mut permutation: SmallVec<[usize; 6]> = (0..x.ndim()).filter(|&axis| axis != from).collect();
    permutation.insert(to, from);
    transpose(x, &permutation)
}

/// The adjoint of a broadcast from `shape`: `x` summed over the axes that the broadcast added or repeated.
pub(crate) fn unbroadcast(x: &Array, shape: &Shape) -> Result<Array> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    let missing = x.ndim() - shape.ndim();
    let axes =
        (0..x.ndim()).filter(|&axis| axis < missing || (shape[axis - missing] == 1 && x.shape()[axis] != 1));
    let summed = super::reduce::sum(x, &umber_types::Axes::sorted(axes))?;
    reshape(&summed, shape.clone())
}

/// A tangent, or zeros like `x`.
pub(crate) fn tangent_or_zero(tangent: Option<&Array>, x: &Array) -> Array {
    tangent.cloned().unwrap_or_else(|| zeros_like(x))
}

/// Jvp of a function that is linear in its one input: the same operation on the tangent.
pub(crate) fn linear_jvp(op: impl Into<Op>, tangents: &Tangents) -> Result<Vec<Array>> {
    let tangent = tangents[0].as_ref().expect("jvp rules run with a tangent");
    Ok(vec![Array::record_one(op, &[tangent])?])
}

/// `input` with axes of length one after its batch axis, so that one batch element has `ndim` axes.
pub(crate) fn align(input: &Batched, ndim: usize) -> Result<Array> {
    let missing = ndim - input.ndim();
    if missing == 0 || !input.batched {
        return Ok(input.array.clone());
    }
    let shape = input.array.shape();
    let lengths =
        shape[..1].iter().copied().chain(std::iter::repeat_n(1, missing)).chain(shape[1..].iter().copied());
    reshape(&input.array, lengths.collect::<Shape>())
}

/// `input` with a batch axis in front, broadcast if it had none.
pub(crate) fn batch(input: &Batched, batch_size: usize) -> Result<Array> {
    if input.batched {
        return Ok(input.array.clone());
    }
    let shape: Shape = std::iter::once(batch_size).chain(input.array.shape().iter().copied()).collect();
    broadcast(&input.array, &shape)
}

/// Vmap of an operation on inputs of equal shape: batch every input, record the same operation.
pub(crate) fn batch_elementwise(op: impl Into<Op>, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let batch_size = crate::primitive::batch_size(inputs);
    let arrays: SmallVec<[Array; 3]> =
        inputs.iter().map(|input| batch(input, batch_size)).collect::<Result<_>>()?;
    let refs: SmallVec<[&Array; 3]> = arrays.iter().collect();
    Ok(vec![Batched::yes(Array::record_one(op, &refs)?)])
}
