//! NumPy's `dot` and `vdot`.

use umber_types::{Result, ensure};

use super::contraction::{inner, tensordot};
use super::elementwise::{conjugate, multiply};
use super::error_context::with_op;
use crate::graph::Array;
use crate::primitives::rules::reshape;

/// Dot product: sum of products over the last axis of `a` and the second to last axis of `b`.
///
/// A `b` of one axis is summed over that axis, and a 0-d operand multiplies. Unlike in [`matmul`](super::matmul) the
/// other axes do not broadcast: those of `a` come first, then those of `b`. The dtype is the promoted one.
///
/// # Errors
/// If the axes that are summed over differ in length.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([[1, 2], [3, 4]]), Array::from([10, 1]));
/// assert_eq!(ops::dot(&a, &b)?.to_vec::<i32>()?, [12, 34]);
/// assert_eq!(ops::dot(&b, &b)?.to_vec::<i32>()?, [101]);
/// assert_eq!(ops::dot(&b, &Array::from(2))?.to_vec::<i32>()?, [20, 2]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dot(a: &Array, b: &Array) -> Result<Array> {
    if a.ndim() == 0 || b.ndim() == 0 {
        return with_op("dot", multiply(a, b));
    }
    let axis = if b.ndim() == 1 { -1 } else { -2 };
    with_op("dot", tensordot(a, b, &[-1], &[axis]))
}

/// Sum of `conj(a) * b` over all elements of two arrays of equal size.
///
/// Both arrays are flattened.
///
/// # Errors
/// If the sizes differ.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let (a, b) = (Array::from([[1, 2], [3, 4]]), Array::from([1, 1, 1, 10]));
/// assert_eq!(ops::vdot(&a, &b)?.item()?.as_i64(), 46);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn vdot(a: &Array, b: &Array) -> Result<Array> {
    ensure!(a.size() == b.size(), Value("vdot"), "sizes differ: shapes {} and {}", a.shape(), b.shape());
    with_op("vdot", inner(&conjugate(&reshape(a, [a.size()])?)?, &reshape(b, [b.size()])?))
}
