//! Fast paths for functions of one array, operators on two arrays of one dtype, and operators on an array and a scalar that takes
//! its dtype. These are most calls in practice, and need no promotion.
//!
//! Each function returns `None`, without side effects, if the general path has to be used.

use umber_kernels::tape::{supports_binary, supports_unary};
use umber_types::{BinaryKind, DType, Scalar, Side, UnaryKind};

use crate::apply;
use crate::graph::Array;

/// The operation `kind` on `x`, if it is defined for the dtype of `x`.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::UnaryKind;
/// use umber::{Array, ops};
/// let x = Array::from([-1, 2]);
/// assert_eq!(ops::fast_path::unary(UnaryKind::Abs, &x).unwrap().to_vec::<i32>()?, [1, 2]);
/// assert!(ops::fast_path::unary(UnaryKind::Exp, &x).is_none(), "integers become floats first");
/// # Ok::<(), umber::Error>(())
/// ```
#[inline]
pub fn unary(kind: UnaryKind, x: &Array) -> Option<Array> {
    if supports_unary(kind, x.dtype()) { apply::unary(kind, x) } else { None }
}

/// The operation `kind` on `a` and `b`, if they have one dtype, their shapes broadcast, and the operation keeps the dtype or
/// compares.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::BinaryKind;
/// use umber::{Array, ops};
/// let (x, y) = (Array::from([1, 2]), Array::from([[3], [4]]));
/// assert_eq!(ops::fast_path::binary(BinaryKind::Add, &x, &y).unwrap().to_vec::<i32>()?, [4, 5, 5, 6]);
/// assert!(ops::fast_path::binary(BinaryKind::Divide, &x, &y).is_none(), "integers divide as floats");
/// # Ok::<(), umber::Error>(())
/// ```
pub fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    let dtype = a.dtype();
    if dtype != b.dtype() || !preserves(kind, dtype) {
        return None;
    }
    let (shape_a, shape_b) = (a.shape(), b.shape());
    // Usually one operand has the shape of the result, so that no shape has to be built and checked.
    if shape_a == shape_b || shape_b.broadcasts_to(shape_a) {
        apply::binary(kind, a, b, shape_a)
    } else if shape_a.broadcasts_to(shape_b) {
        apply::binary(kind, a, b, shape_b)
    } else {
        let shape = shape_a.broadcast(shape_b).filter(umber_types::Shape::is_addressable)?;
        apply::binary(kind, a, b, &shape)
    }
}

/// [`binary`] of an array and a scalar, which is the operand on `side` and takes the array's dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::{Side, fast_path::with_number};
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
    if !preserves(kind, dtype) || !takes_dtype(number, dtype) {
        return None;
    }
    apply::with_number(kind, array, number, side)
}

/// Whether `kind` returns the dtype of its operands, or compares them.
#[inline]
fn preserves(kind: BinaryKind, dtype: DType) -> bool {
    (dtype.is_inexact() || !kind.returns_inexact()) && supports_binary(kind, dtype)
}

/// Whether a scalar takes this dtype next to an array of it, and its value fits.
#[inline]
fn takes_dtype(number: Scalar, dtype: DType) -> bool {
    number.weak_dtype(dtype) == dtype && number.check_fits(dtype).is_ok()
}
