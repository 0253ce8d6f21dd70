//! Operators of two arrays that are alike, and of an array and a number that takes its dtype, recorded without asking what
//! becomes of their dtypes and shapes: most operators of a program with large arrays are of such.

use umber_kernels::tape::supports_binary;
use umber_types::tape::binary_dtype;
use umber_types::{BinaryKind, DType, Scalar};

use super::at_once::{Side, takes_dtype};
use crate::graph::few::is_at_once;
use crate::graph::{Array, ArraySpec, lines_are_known};
use crate::primitives::binary::Binary;

/// `kind(a, b)` of arrays of one shape and a dtype that it keeps or compares; `None` for what is recorded as usual, whatever the
/// reason: nothing has happened then.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::BinaryKind;
/// use umber::{Array, ops};
/// let (x, y) = (Array::from([1, 2]), Array::from([3, 4]));
/// assert_eq!(ops::alike(BinaryKind::Add, &x, &y).unwrap().to_vec::<i32>()?, [4, 6]);
/// assert!(ops::alike(BinaryKind::Divide, &x, &y).is_none(), "integers divide as floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn alike(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    let is_plain = is_plain(kind, a) && is_recorded_alone(b) && a.spec() == b.spec();
    is_plain.then(|| record(kind, a, b))
}

/// [`alike`], of an array and a bare number, which stands on `side` and takes the array's dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::at_once::Side;
/// use umber::types::BinaryKind;
/// use umber::{Array, Scalar, ops};
/// let x = Array::from([1, 2]);
/// let below = ops::alike_number(BinaryKind::Subtract, &x, Scalar::Int(5), Side::Left).unwrap();
/// assert_eq!(below.to_vec::<i32>()?, [4, 3]);
/// assert!(ops::alike_number(BinaryKind::Add, &x, Scalar::Float(0.5), Side::Right).is_none(), "the sums are floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn alike_number(kind: BinaryKind, array: &Array, number: Scalar, side: Side) -> Option<Array> {
    let dtype = array.dtype();
    if !is_plain(kind, array) || !takes_dtype(number, dtype) {
        return None;
    }
    let number = Array::full(array.shape().clone(), number, dtype);
    Some(match side {
        Side::Left => record(kind, &number, array),
        Side::Right => record(kind, array, &number),
    })
}

/// Does `kind` keep or compare the dtype of an array that is recorded alone?
#[inline]
fn is_plain(kind: BinaryKind, array: &Array) -> bool {
    // Where it can be, it is computed as it is recorded.
    !is_at_once(array.shape()) && takes(kind, array.dtype()) && is_recorded_alone(array) && !lines_are_known()
}

/// Are elements of the dtype operands as they are?
#[inline]
fn takes(kind: BinaryKind, dtype: DType) -> bool {
    !dtype.is_float8() && supports_binary(kind, dtype) && (dtype.is_inexact() || !kind.answers_inexact())
}

/// Need nobody hear of what is recorded of the array?
#[inline]
fn is_recorded_alone(array: &Array) -> bool {
    array.node().follower().is_none() && !array.is_volatile()
}

#[inline]
fn record(kind: BinaryKind, a: &Array, b: &Array) -> Array {
    let spec = ArraySpec { shape: a.shape().clone(), dtype: binary_dtype(kind, a.dtype()) };
    Array::record_plain(Binary(kind).into(), a, b, spec)
}
