//! Promotion and broadcasting of operands to a common dtype and shape.

use std::borrow::Cow;

use smallvec::SmallVec;
use umber_types::{DType, Result, Scalar, Shape, bail, ensure, promote};

use crate::graph::Array;
use crate::primitives::rules::{broadcast, cast};

/// A scalar as an array in the dtype that it takes next to `like`: it never raises the array's precision within its kind.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Scalar, Shape, ops};
/// let half = Array::full(Shape::from([2]), 1.0, DType::Float16);
/// assert_eq!(ops::weak(Scalar::Float(0.5), &half).dtype(), DType::Float16);
/// assert_eq!(ops::weak(Scalar::Float(0.5), &Array::from([1u8])).dtype(), DType::Float32);
/// ```
pub fn weak(value: Scalar, like: &Array) -> Array {
    Array::scalar(value, value.weak_dtype(like.dtype()))
}

/// Convert both operands to their promoted dtype and broadcast them to a common shape.
pub(crate) fn meet<'a>(op: &str, a: &'a Array, b: &'a Array) -> Result<(Cow<'a, Array>, Cow<'a, Array>)> {
    meet_as(op, a, b, promote(a.dtype(), b.dtype()))
}

/// Convert both operands to `dtype` and broadcast them to a common shape. Operands that match already are borrowed.
pub(crate) fn meet_as<'a>(
    op: &str,
    a: &'a Array,
    b: &'a Array,
    dtype: DType,
) -> Result<(Cow<'a, Array>, Cow<'a, Array>)> {
    if a.dtype() == dtype && b.dtype() == dtype && a.shape() == b.shape() {
        return Ok((Cow::Borrowed(a), Cow::Borrowed(b)));
    }
    let (a, b) = (cast_constant(a, dtype)?, cast_constant(b, dtype)?);
    if a.shape() == b.shape() {
        return Ok((Cow::Owned(a), Cow::Owned(b)));
    }
    let Some(shape) = a.shape().broadcast(b.shape()) else {
        bail!(Value(op), "shapes {} and {} cannot be broadcast", a.shape(), b.shape());
    };
    Ok((Cow::Owned(broadcast(&a, &shape)?), Cow::Owned(broadcast(&b, &shape)?)))
}

/// Convert to `dtype`; a constant array stays a constant.
pub(crate) fn cast_constant(x: &Array, dtype: DType) -> Result<Array> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    match x.constant() {
        // Integers are exact in both dtypes or wrap, as in `astype`.
        Some(value @ (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_))) => {
            Ok(Array::full(x.shape().clone(), value, dtype))
        }
        Some(value @ Scalar::Float(_)) if dtype.is_inexact() => {
            Ok(Array::full(x.shape().clone(), value, dtype))
        }
        _ => cast(x, dtype),
    }
}

/// The common shape to which all arrays broadcast.
pub(crate) fn common_shape(op: &str, arrays: &[&Array]) -> Result<Shape> {
    let mut shape = Shape::scalar();
    for array in arrays {
        shape = match shape.broadcast(array.shape()) {
            Some(shape) => shape,
            None => {
                let shapes: Vec<String> = arrays.iter().map(|array| array.shape().to_string()).collect();
                bail!(Value(op), "shapes {} cannot be broadcast", shapes.join(", "));
            }
        };
    }
    ensure!(shape.is_addressable(), Overflow(op), "shape {shape} is too large to address");
    Ok(shape)
}

/// All arrays broadcast to their common shape.
///
/// Dtypes are kept. Fails, naming `op`, if the shapes do not broadcast.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops};
/// let both = ops::broadcast_all("mine", &[&Array::from([1, 2]), &Array::from([[1], [2], [3]])])?;
/// assert_eq!(both[0].shape(), &Shape::from([3, 2]));
/// assert_eq!(both[1].to_vec::<i32>()?, [1, 1, 2, 2, 3, 3]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn broadcast_all(op: &str, arrays: &[&Array]) -> Result<SmallVec<[Array; 3]>> {
    let shape = common_shape(op, arrays)?;
    arrays.iter().map(|array| broadcast(array, &shape)).collect()
}
