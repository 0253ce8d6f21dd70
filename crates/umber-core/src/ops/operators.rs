//! Rust's operators on arrays and scalars. They panic with the error's text if shapes or dtypes are incompatible.
//!
//! A scalar operand takes the array's dtype if its kind allows it, as in Python; any type that converts to [`Scalar`] may be on
//! either side. A literal on the left needs a type suffix (`1i32 - &x`) only if the result is used within the same expression,
//! because Rust infers the type of the literal after that.
//!
//! ```
//! # use umber_core as umber;
//! use umber::{Array, DType};
//!
//! let x = Array::from([1u8, 2, 3]);
//! let mut y = 2i32 * &x - 1; // still uint8
//! y <<= 1;
//! assert_eq!((&y & !&x).to_vec::<u8>()?, [2, 4, 8]);
//! assert_eq!((&x * 0.5f32).dtype(), DType::Float32);
//! # Ok::<(), umber::Error>(())
//! ```

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::{
    Operand, add, bitwise_and, bitwise_invert, bitwise_or, bitwise_xor, divide, left_shift, multiply,
    negative, remainder, right_shift, subtract,
};
use crate::graph::Array;
use umber_types::{Complex32, Complex64, Result, Scalar, bf16, f16};

#[track_caller]
fn unwrap<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// An operator for every combination of arrays and scalars, and its assigning form.
macro_rules! binary_operators {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $function:ident),* $(,)?) => {$(
        impl $trait<&Array> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array {
                unwrap($function(self, other))
            }
        }
        impl $trait<Array> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array {
                unwrap($function(self, &other))
            }
        }
        impl $trait<&Array> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array {
                unwrap($function(&self, other))
            }
        }
        impl $trait for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array {
                unwrap($function(&self, &other))
            }
        }
        impl<S: Into<Scalar>> $trait<S> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: S) -> Array {
                unwrap($function(self, &unwrap(other.beside(self))))
            }
        }
        impl<S: Into<Scalar>> $trait<S> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: S) -> Array {
                (&self).$method(other)
            }
        }
        scalar_on_the_left! {
            $trait $method $function:
            bool, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f16, bf16, f32, f64, Complex32, Complex64
        }
        impl $assign<&Array> for Array {
            #[track_caller]
            fn $assign_method(&mut self, other: &Array) {
                *self = unwrap($function(self, other));
            }
        }
        impl $assign for Array {
            #[track_caller]
            fn $assign_method(&mut self, other: Array) {
                *self = unwrap($function(self, &other));
            }
        }
        impl<S: Into<Scalar>> $assign<S> for Array {
            #[track_caller]
            fn $assign_method(&mut self, other: S) {
                *self = unwrap($function(self, &unwrap(other.beside(self))));
            }
        }
    )*};
}

macro_rules! scalar_on_the_left {
    ($trait:ident $method:ident $function:ident: $($number:ident),*) => {$(
        impl $trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array {
                unwrap($function(&unwrap(self.beside(other)), other))
            }
        }
        impl $trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array {
                self.$method(&other)
            }
        }
    )*};
}

binary_operators! {
    Add add AddAssign add_assign add,
    Sub sub SubAssign sub_assign subtract,
    Mul mul MulAssign mul_assign multiply,
    Div div DivAssign div_assign divide,
    Rem rem RemAssign rem_assign remainder,
    BitAnd bitand BitAndAssign bitand_assign bitwise_and,
    BitOr bitor BitOrAssign bitor_assign bitwise_or,
    BitXor bitxor BitXorAssign bitxor_assign bitwise_xor,
    Shl shl ShlAssign shl_assign left_shift,
    Shr shr ShrAssign shr_assign right_shift,
}

macro_rules! unary_operators {
    ($($trait:ident $method:ident $function:ident),* $(,)?) => {$(
        impl $trait for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                unwrap($function(self))
            }
        }
        impl $trait for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                unwrap($function(&self))
            }
        }
    )*};
}

unary_operators! { Neg neg negative, Not not bitwise_invert }
