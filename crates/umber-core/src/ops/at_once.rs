//! What is answered as it is written, without an operation to keep: operators of a few elements that are there, where a front end
//! asked for it ([`Few::AtOnce`](crate::eval::Few)), and parts of an array that is there.
//!
//! Each answers `None` for what is recorded as usual, whatever the reason; nothing has happened then.

use std::sync::Arc;

use umber_kernels::tape::Function;
use umber_types::shape::from_start;
use umber_types::tape::{binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Scalar, UnaryKind};

use crate::graph::Array;
use crate::graph::few::{Operand, elementwise, is_at_once};

/// On which side of an operator an operand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before it.
    Left,
    /// Behind it.
    Right,
}

/// `kind(x)`.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::UnaryKind;
/// use umber::{Array, ops};
/// // A program that has not asked for it records everything.
/// assert!(ops::at_once::unary(UnaryKind::Exp, &Array::from([0.0f32])).is_none());
/// ```
pub fn unary(kind: UnaryKind, x: &Array) -> Option<Array> {
    if !is_at_once(x.shape()) {
        return None;
    }
    elementwise(Function::Unary(kind), &[Operand::of(x)?], x.shape(), unary_dtype(kind, x.dtype()))
}

/// `kind(a, b)` of arrays of one dtype, of which one has the shape of the result, the other too or one element.
///
/// ```
/// # use umber_core as umber;
/// use umber::types::BinaryKind;
/// use umber::{Array, ops};
/// let (x, y) = (Array::from([0.0f32]), Array::from([1]));
/// assert!(ops::at_once::binary(BinaryKind::Add, &x, &y).is_none(), "their dtypes differ");
/// ```
pub fn binary(kind: BinaryKind, a: &Array, b: &Array) -> Option<Array> {
    // Most that are not computed at once have too many elements.
    if !is_at_once(a.shape()) || !is_at_once(b.shape()) {
        return None;
    }
    let dtype = a.dtype();
    let shape = match (a.shape(), b.shape()) {
        (a, b) if a == b => a,
        (a, b) if b.size() == 1 && b.ndim() <= a.ndim() => a,
        (a, b) if a.size() == 1 && a.ndim() <= b.ndim() => b,
        _ => return None,
    };
    if dtype != b.dtype() || kind.answers_inexact() && !dtype.is_inexact() {
        return None;
    }
    let operands = [Operand::of(a)?, Operand::of(b)?];
    elementwise(Function::Binary(kind), &operands, shape, binary_dtype(kind, dtype))
}

/// [`binary`] of an array and a bare number, which stands on `side` and takes the array's dtype.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::at_once::{Side, with_number};
/// use umber::types::BinaryKind;
/// use umber::{Array, Scalar};
/// let x = Array::from([1u8]);
/// assert!(with_number(BinaryKind::Add, &x, Scalar::Int(300), Side::Right).is_none(), "it does not fit");
/// ```
pub fn with_number(kind: BinaryKind, array: &Array, number: Scalar, side: Side) -> Option<Array> {
    if !is_at_once(array.shape()) {
        return None;
    }
    let dtype = array.dtype();
    if !takes_dtype(number, dtype) || kind.answers_inexact() && !dtype.is_inexact() {
        return None;
    }
    let (own, other) = (Operand::of(array)?, Operand::number(number, dtype));
    let operands = match side {
        Side::Left => [other, own],
        Side::Right => [own, other],
    };
    elementwise(Function::Binary(kind), &operands, array.shape(), binary_dtype(kind, dtype))
}

/// Does a bare number take this dtype beside an array of it, and fit?
#[inline]
pub(super) fn takes_dtype(number: Scalar, dtype: DType) -> bool {
    number.weak_dtype(dtype) == dtype && number.check_fits(dtype).is_ok()
}

/// What a part has of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One element, counted from the end if negative; the axis vanishes.
    Place(i64),
    /// All of it.
    All,
}

/// The part of an array at some places and whole axes, all of those that are not named, where it is there to be seen: programs
/// that go through an array in a loop ask for nothing else.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::at_once::{Entry, part};
/// use umber::Array;
/// let x = Array::from([[1, 2], [3, 4]]);
/// let column = part(&x, &[Entry::All, Entry::Place(-1)]).unwrap();
/// assert_eq!(column.to_vec::<i32>()?, [2, 4]);
/// assert!(part(&x, &[Entry::Place(2)]).is_none());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn part(array: &Array, entries: &[Entry]) -> Option<Array> {
    let storage = array.seen()?;
    let layout = &storage.layout;
    if entries.len() > layout.shape.ndim() || !entries.iter().any(|entry| matches!(entry, Entry::Place(_))) {
        return None;
    }
    let mut offset = layout.offset;
    for (axis, (&length, &stride)) in layout.shape.iter().zip(&layout.strides).enumerate() {
        match entries.get(axis) {
            Some(&Entry::Place(place)) => {
                let place =
                    usize::try_from(from_start(place, length)).ok().filter(|&place| place < length)?;
                offset = offset.checked_add_signed(place as isize * stride)?;
            }
            None | Some(Entry::All) if length > 0 => {}
            None | Some(Entry::All) => return None,
        }
    }
    Some(Array::placed(Arc::clone(&storage.buffer), array.dtype(), |shape, shown| {
        shown.offset = offset;
        for (axis, (&length, &stride)) in layout.shape.iter().zip(&layout.strides).enumerate() {
            if !matches!(entries.get(axis), Some(Entry::Place(_))) {
                shape.push(length);
                shown.shape.push(length);
                shown.strides.push(stride);
            }
        }
    }))
}
