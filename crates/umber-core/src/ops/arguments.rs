//! Shapes, axes and operands as arguments of methods and functions.
//!
//! | argument | accepts |
//! |---|---|
//! | `impl Into<Shape>` | lengths: `3`, `[2, 3]`, `(2, 3)`, `vec![2, 3]`, slices, `x.shape()` |
//! | `impl ShapeArgument` | as above, with integers of any type; a function may give -1 a meaning |
//! | `impl AxesArgument` | `..` for all axes; one axis; arrays, slices, tuples and vectors of axes, counted from the end if negative |
//! | `impl AxisArgument` | `..` for the flattened array; one axis |
//! | `impl ReductionArgument` | axes as above, or [`keep`] of them |
//! | `impl Operand` | an array, or a number, which takes the dtype of the array beside it |

use std::ops::RangeFull;

use umber_types::{KeepAxes, Result, Scalar, Shape};

use super::indexing::IndexInteger;
use super::weak;
use crate::graph::Array;

/// A shape as an argument.
///
/// ```
/// use umber_core::{Shape, ops::ShapeArgument};
///
/// let rows = 2usize;
/// assert_eq!((rows, -1).lengths().as_ref(), [2, -1]);
/// assert_eq!(Shape::from([2, 3]).lengths().as_ref(), [2, 3]);
/// ```
pub trait ShapeArgument {
    /// The lengths, not checked.
    fn lengths(&self) -> impl AsRef<[i64]>;
}

/// Axes as an argument.
///
/// ```
/// use umber_core::ops::AxesArgument;
///
/// let all = (..).axes();
/// assert_eq!(all.as_ref().map(AsRef::as_ref), None);
/// let two = [0, -1].axes();
/// assert_eq!(two.as_ref().map(AsRef::as_ref), Some(&[0i64, -1][..]));
/// ```
pub trait AxesArgument {
    /// The axes, not checked; `None` for all.
    fn axes(&self) -> Option<impl AsRef<[i64]>>;
}

/// The axes of a reduction as an argument: they are removed, or kept with length one by [`keep`].
pub trait ReductionArgument {
    /// The axes, not checked; `None` for all.
    fn axes(&self) -> Option<impl AsRef<[i64]>>;

    /// Whether they are kept.
    fn keep_axes(&self) -> KeepAxes;
}

/// One axis as an argument, or `..` for the flattened array.
pub trait AxisArgument {
    /// The axis, not checked; `None` for the flattened array.
    fn axis(&self) -> Option<i64>;
}

impl AxisArgument for RangeFull {
    fn axis(&self) -> Option<i64> {
        None
    }
}

impl<I: IndexInteger> AxisArgument for I {
    fn axis(&self) -> Option<i64> {
        Some(self.to_index())
    }
}

/// The other operand of a function: an array, or a number, which takes the dtype of the array beside it if its kind allows that.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType};
///
/// let x = Array::from([1u8, 7]);
/// assert_eq!(x.minimum(3)?.dtype(), DType::UInt8);
/// assert_eq!(x.minimum(&Array::from(3i64))?.dtype(), DType::Int64);
/// assert!(x.minimum(300).is_err()); // does not fit
/// # Ok::<(), umber::Error>(())
/// ```
pub trait Operand {
    /// The operand as an array.
    ///
    /// # Errors
    /// If it is an integer that does not fit the dtype.
    fn beside(self, array: &Array) -> Result<Array>;
}

impl Operand for Array {
    fn beside(self, _array: &Array) -> Result<Array> {
        Ok(self)
    }
}

impl Operand for &Array {
    fn beside(self, _array: &Array) -> Result<Array> {
        Ok(self.clone())
    }
}

impl<S: Into<Scalar>> Operand for S {
    fn beside(self, array: &Array) -> Result<Array> {
        let value = self.into();
        value.check_fits(value.weak_dtype(array.dtype()))?;
        Ok(weak(value, array))
    }
}

/// Axes that a reduction keeps with length one.
#[derive(Clone, Copy, Debug)]
pub struct KeptAxes<A>(A);

/// Reduce these axes to length one instead of removing them, so that the result broadcasts to the operand.
///
/// ```
/// # use umber_core as umber;
/// use umber::KeepAxes;
/// use umber::ops::{ReductionArgument, keep};
///
/// assert_eq!(keep(-1).keep_axes(), KeepAxes::Yes);
/// assert_eq!([0, 1].keep_axes(), KeepAxes::No);
/// ```
pub fn keep<A: AxesArgument>(axes: A) -> KeptAxes<A> {
    KeptAxes(axes)
}

impl<A: AxesArgument> ReductionArgument for A {
    fn axes(&self) -> Option<impl AsRef<[i64]>> {
        AxesArgument::axes(self)
    }

    fn keep_axes(&self) -> KeepAxes {
        KeepAxes::No
    }
}

impl<A: AxesArgument> ReductionArgument for KeptAxes<A> {
    fn axes(&self) -> Option<impl AsRef<[i64]>> {
        self.0.axes()
    }

    fn keep_axes(&self) -> KeepAxes {
        KeepAxes::Yes
    }
}

impl AxesArgument for RangeFull {
    fn axes(&self) -> Option<impl AsRef<[i64]>> {
        None::<[i64; 0]>
    }
}

/// Implementations for a type that contains integers.
macro_rules! lists {
    ($([$($parameters:tt)*] $list:ty, |$self:ident| $integers:expr;)*) => {$(
        impl<$($parameters)*> ShapeArgument for $list {
            #[inline]
            fn lengths(&self) -> impl AsRef<[i64]> {
                let $self = self;
                $integers
            }
        }

        impl<$($parameters)*> AxesArgument for $list {
            #[inline]
            fn axes(&self) -> Option<impl AsRef<[i64]>> {
                let $self = self;
                Some($integers)
            }
        }
    )*};
}

lists! {
    [I: IndexInteger] I, |integer| [integer.to_index()];
    [I: IndexInteger, const COUNT: usize] [I; COUNT], |list| list.map(IndexInteger::to_index);
    [I: IndexInteger, const COUNT: usize] &[I; COUNT], |list| list.map(IndexInteger::to_index);
    [I: IndexInteger] &[I], |list| I::to_indices(list);
    [I: IndexInteger] Vec<I>, |list| I::to_indices(list);
    [I: IndexInteger] &Vec<I>, |list| I::to_indices(list);
}

/// Tuples, whose integers may be of different types.
macro_rules! tuples {
    ($(($($integer:ident $position:tt),*))*) => {
        $(lists! { [$($integer: IndexInteger),*] ($($integer,)*), |_tuple| [$(_tuple.$position.to_index()),*] as [i64; _]; })*
    };
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl ShapeArgument for Shape {
    fn lengths(&self) -> impl AsRef<[i64]> {
        usize::to_indices(self)
    }
}

impl ShapeArgument for &Shape {
    fn lengths(&self) -> impl AsRef<[i64]> {
        ShapeArgument::lengths(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(shape: impl ShapeArgument) -> Vec<i64> {
        shape.lengths().as_ref().to_vec()
    }

    fn axes(axes: impl AxesArgument) -> Option<Vec<i64>> {
        axes.axes().map(|axes| axes.as_ref().to_vec())
    }

    #[test]
    #[expect(clippy::needless_borrows_for_generic_args, reason = "references are among the forms")]
    fn shapes_are_given_in_many_forms() {
        let vector = vec![2usize, 3];
        for shape in [
            lengths([2, 3]),
            lengths(&[2u64, 3]),
            lengths((2, 3usize)),
            lengths(&vector),
            lengths(&vector[..]),
            lengths(&[2i64, 3][..]),
            lengths(&Shape::from([2, 3])),
            lengths(vector.clone()),
            lengths(Shape::from(&vector)),
            lengths(Shape::from(&[2, 3])),
            lengths(Shape::from((2, 3))),
        ] {
            assert_eq!(shape, [2, 3]);
        }
        assert_eq!((lengths(()), lengths(6), lengths((6, -1))), (vec![], vec![6], vec![6, -1]));
        assert_eq!(lengths([usize::MAX]), [i64::MAX]);
    }

    #[test]
    fn axes_are_given_in_many_forms() {
        assert_eq!(axes(..), None);
        assert_eq!(
            (axes(-1), axes([0, -1]), axes((0, 2usize))),
            (Some(vec![-1]), Some(vec![0, -1]), Some(vec![0, 2]))
        );
        assert_eq!(axes(()), Some(vec![]));
        let kept = keep([1, 2]);
        assert_eq!(ReductionArgument::axes(&kept).map(|axes| axes.as_ref().to_vec()), Some(vec![1, 2]));
    }
}
