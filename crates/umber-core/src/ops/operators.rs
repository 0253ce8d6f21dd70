//! Rust's operators on arrays. They panic with the text of the error where shapes or dtypes do not meet.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::{add, divide, multiply, negative, remainder, subtract, weak};
use crate::graph::Array;
use umber_types::{Result, Scalar};

fn unwrap(result: Result<Array>) -> Array {
    match result {
        Ok(array) => array,
        Err(error) => panic!("{error}"),
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $function:ident),* $(,)?) => {$(
        impl $trait<&Array> for &Array {
            type Output = Array;
            fn $method(self, other: &Array) -> Array {
                unwrap($function(self, other))
            }
        }
        impl $trait<Array> for &Array {
            type Output = Array;
            fn $method(self, other: Array) -> Array {
                unwrap($function(self, &other))
            }
        }
        impl $trait<&Array> for Array {
            type Output = Array;
            fn $method(self, other: &Array) -> Array {
                unwrap($function(&self, other))
            }
        }
        impl $trait for Array {
            type Output = Array;
            fn $method(self, other: Array) -> Array {
                unwrap($function(&self, &other))
            }
        }
        impl $trait<f64> for &Array {
            type Output = Array;
            fn $method(self, other: f64) -> Array {
                unwrap($function(self, &weak(Scalar::Float(other), self)))
            }
        }
        impl $trait<f64> for Array {
            type Output = Array;
            fn $method(self, other: f64) -> Array {
                (&self).$method(other)
            }
        }
        impl $trait<&Array> for f64 {
            type Output = Array;
            fn $method(self, other: &Array) -> Array {
                unwrap($function(&weak(Scalar::Float(self), other), other))
            }
        }
        impl $trait<Array> for f64 {
            type Output = Array;
            fn $method(self, other: Array) -> Array {
                self.$method(&other)
            }
        }
    )*};
}

operators! {
    Add add add, Sub sub subtract, Mul mul multiply, Div div divide, Rem rem remainder,
}

impl Neg for &Array {
    type Output = Array;
    fn neg(self) -> Array {
        unwrap(negative(self))
    }
}

impl Neg for Array {
    type Output = Array;
    fn neg(self) -> Array {
        -&self
    }
}
