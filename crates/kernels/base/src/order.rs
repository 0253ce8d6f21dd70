//! Minimum and maximum of elements; both propagate NaN.

use num_traits::Float;
use umber_types::{Bool, Complex, bf16, f16};

use crate::float16::{bf16_to_f32, f16_to_f32};

/// A type with a minimum and a maximum. Complex numbers compare by real part, then by imaginary part; one with a NaN
/// component counts as NaN.
pub trait MinMax: Copy {
    /// The smaller value, or NaN if either is; the first if they are equal.
    fn minimum(a: Self, b: Self) -> Self;
    /// The larger value, or NaN if either is; the first if they are equal.
    fn maximum(a: Self, b: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => { $(
        impl MinMax for $ty {
            #[inline(always)]
            fn minimum(a: Self, b: Self) -> Self {
                a.min(b)
            }
            #[inline(always)]
            fn maximum(a: Self, b: Self) -> Self {
                a.max(b)
            }
        }
    )* };
}
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats {
    ($($ty:ty)*) => { $(
        impl MinMax for $ty {
            #[inline(always)]
            fn minimum(a: Self, b: Self) -> Self {
                if (b < a) | b.is_nan() { b } else { a }
            }
            #[inline(always)]
            fn maximum(a: Self, b: Self) -> Self {
                if (b > a) | b.is_nan() { b } else { a }
            }
        }
        impl MinMax for Complex<$ty> {
            #[inline(always)]
            fn minimum(a: Self, b: Self) -> Self {
                if is_nan(a) || !is_nan(b) && (a.re < b.re || a.re == b.re && a.im <= b.im) { a } else { b }
            }
            #[inline(always)]
            fn maximum(a: Self, b: Self) -> Self {
                if is_nan(a) || !is_nan(b) && (a.re > b.re || a.re == b.re && a.im >= b.im) { a } else { b }
            }
        }
    )* };
}
floats!(f32 f64);

macro_rules! float16s {
    ($($ty:ty, $load:ident;)*) => { $(
        impl MinMax for $ty {
            #[inline(always)]
            fn minimum(a: Self, b: Self) -> Self {
                let (x, y) = ($load(a), $load(b));
                if (y < x) | y.is_nan() { b } else { a }
            }
            #[inline(always)]
            fn maximum(a: Self, b: Self) -> Self {
                let (x, y) = ($load(a), $load(b));
                if (y > x) | y.is_nan() { b } else { a }
            }
        }
    )* };
}
float16s! { f16, f16_to_f32; bf16, bf16_to_f32; }

impl MinMax for Bool {
    #[inline(always)]
    fn minimum(a: Self, b: Self) -> Self {
        Bool::from(a.get() & b.get())
    }
    #[inline(always)]
    fn maximum(a: Self, b: Self) -> Self {
        Bool::from(a.get() | b.get())
    }
}

#[inline(always)]
fn is_nan<T: Float>(value: Complex<T>) -> bool {
    value.re.is_nan() || value.im.is_nan()
}
