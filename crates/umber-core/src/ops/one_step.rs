//! Operations recorded in one step, without asking what becomes of dtypes and shapes: functions of one array, operators of two
//! arrays of one dtype, and of an array and a number that takes its dtype. Most of what a program does to large arrays is such.
//!
//! Each answers `None` for what is recorded as usual, whatever the reason; nothing has happened then.

use umber_kernels::tape::{supports_binary, supports_unary};
use umber_types::tape::{binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Scalar, UnaryKind};

use super::at_once::{Side, takes_dtype};
use crate::graph::Array;
use crate::graph::few::is_at_once;
use crate::primitives::binary::Binary;
use crate::primitives::rules::{broadcast, broadcast_plain};
use crate::primitives::unary::Unary;

/// `kind(x)` of a dtype that the function is defined for.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::UnaryKind;
/// use umber::{Array, ops};
/// let x = Array::from([-1, 2]);
/// assert_eq!(ops::one_step::unary(UnaryKind::Abs, &x).unwrap().to_vec::<i32>()?, [1, 2]);
/// assert!(ops::one_step::unary(UnaryKind::Exp, &x).is_none(), "integers become floats first");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn unary(kind: UnaryKind, x: &Array) -> Option<Array> {
    let dtype = x.dtype();
    let is_recorded = !is_at_once(x.shape()) && x.is_plain() && supports_unary(kind, dtype);
    is_recorded.then(|| Array::record_alike(Unary(kind), (Some(x.clone()), None), unary_dtype(kind, dtype)))
}

/// `kind(a, b)` of arrays of one dtype that it keeps or compares, whose shapes meet.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::BinaryKind;
/// use umber::{Array, ops};
/// let (x, y) = (Array::from([1, 2]), Array::from([[3], [4]]));
/// assert_eq!(ops::one_step::binary(BinaryKind::Add, &x, &y).unwrap().to_vec::<i32>()?, [4, 5, 5, 6]);
/// assert!(ops::one_step::binary(BinaryKind::Divide, &x, &y).is_none(), "integers divide as floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    if a.dtype() != b.dtype() || !takes(kind, a.dtype()) || !a.is_plain() || !b.is_plain() {
        return None;
    }
    if a.shape() == b.shape() {
        return (!is_at_once(a.shape())).then(|| record(kind, a.clone(), b.clone()));
    }
    // Nearly always one has the shape of the result, which need be neither made nor measured then.
    let (shape_a, shape_b) = (a.shape(), b.shape());
    let shape = match (shape_b.broadcasts_to(shape_a), shape_a.broadcasts_to(shape_b)) {
        (true, _) => shape_a,
        (_, true) => shape_b,
        _ => return both_broadcast(kind, a, b),
    };
    (!is_at_once(shape)).then(|| record(kind, broadcast_plain(a, shape), broadcast_plain(b, shape)))
}

/// [`binary`], of plain arrays neither of which has the shape of the result.
#[cold]
fn both_broadcast(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    let shape = a.shape().broadcast(b.shape()).filter(|shape| !is_at_once(shape))?;
    Some(record(kind, broadcast(a, &shape).ok()?, broadcast(b, &shape).ok()?))
}

/// [`binary`], of an array and a bare number, which stands on `side` and takes the array's dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::at_once::Side;
/// use umber::ops::one_step::with_number;
/// use umber::types::BinaryKind;
/// use umber::{Array, Scalar};
/// let x = Array::from([1, 2]);
/// let below = with_number(BinaryKind::Subtract, &x, Scalar::Int(5), Side::Left).unwrap();
/// assert_eq!(below.to_vec::<i32>()?, [4, 3]);
/// assert!(with_number(BinaryKind::Add, &x, Scalar::Float(0.5), Side::Right).is_none(), "the sums are floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn with_number(kind: BinaryKind, array: &Array, number: Scalar, side: Side) -> Option<Array> {
    let dtype = array.dtype();
    let is_recorded = !is_at_once(array.shape()) && array.is_plain();
    if !is_recorded || !takes(kind, dtype) || !takes_dtype(number, dtype) {
        return None;
    }
    let number = Array::filled(array.shape(), number, dtype);
    Some(match side {
        Side::Left => record(kind, number, array.clone()),
        Side::Right => record(kind, array.clone(), number),
    })
}

/// Does `kind` keep or compare the dtype?
#[inline]
fn takes(kind: BinaryKind, dtype: DType) -> bool {
    supports_binary(kind, dtype) && (dtype.is_inexact() || !kind.answers_inexact())
}

#[inline]
fn record(kind: BinaryKind, a: Array, b: Array) -> Array {
    let dtype = binary_dtype(kind, a.dtype());
    Array::record_alike(Binary(kind), (Some(a), Some(b)), dtype)
}
