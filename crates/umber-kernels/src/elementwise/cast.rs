//! Conversions between dtypes, as block functions.
//!
//! Anything to bool asks whether it differs from zero. Complex to real drops the imaginary part. Floats to integers
//! round towards zero into 64 bits (saturating, NaN gives 0) and then keep the low bits, so that -1.0 is 255 in
//! uint8; negative floats reach uint64 through int64. The 16-bit floats live as f32 while they are computed:
//! going to one means rounding an f32 to a value that the narrow type has.

use std::marker::PhantomData;

use umber_types::{Bool, Complex, Complex32, Complex64, DType, Element, bf16, f16};

use super::{Entry, Map1};
use crate::halves::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::isa::Isa;

/// Conversion of one element.
pub(crate) trait Convert<D>: Copy {
    fn convert(self) -> D;
}

struct Cast<S, D>(PhantomData<(S, D)>);

impl<S: Element + Convert<D>, D: Element> Map1 for Cast<S, D> {
    type A = S;
    type D = D;
    #[inline(always)]
    fn f<I: Isa>(a: S) -> D {
        a.convert()
    }
}

macro_rules! convert {
    ($($S:ty => [$($D:ty),*], |$x:ident| $body:expr;)*) => {$($(
        impl Convert<$D> for $S {
            #[inline(always)]
            fn convert(self) -> $D {
                let $x = self;
                ($body) as $D
            }
        }
    )*)*};
}

convert! {
    Bool => [u8, u16, u32, u64, i8, i16, i32, i64], |x| u8::from(x.get());
    Bool => [f32, f64], |x| u8::from(x.get());
    u8 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    u16 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    u32 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    u64 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    i8 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    i16 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    i32 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    i64 => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64], |x| x;
    f32 => [u8, u16, u32, i8, i16, i32, i64], |x| (x as i64);
    f64 => [u8, u16, u32, i8, i16, i32, i64], |x| (x as i64);
    f32 => [u64], |x| if x < 0.0 { x as i64 as u64 } else { x as u64 };
    f64 => [u64], |x| if x < 0.0 { x as i64 as u64 } else { x as u64 };
    f32 => [f32, f64], |x| x;
    f64 => [f32, f64], |x| x;
}

macro_rules! convert_around {
    ($($ty:ident),*) => {$(
        impl Convert<Bool> for $ty {
            #[inline(always)]
            fn convert(self) -> Bool {
                (self != 0 as $ty).into()
            }
        }
        convert_around!(@complex $ty, f32);
        convert_around!(@complex $ty, f64);
    )*};
    (@complex $ty:ident, $real:ident) => {
        impl Convert<Complex<$real>> for $ty {
            #[inline(always)]
            fn convert(self) -> Complex<$real> {
                Complex { re: self.convert(), im: 0.0 }
            }
        }
        impl Convert<$ty> for Complex<$real> {
            #[inline(always)]
            fn convert(self) -> $ty {
                self.re.convert()
            }
        }
    };
}

convert_around!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Convert<Bool> for Bool {
    #[inline(always)]
    fn convert(self) -> Bool {
        self.get().into()
    }
}

macro_rules! convert_complex {
    ($($S:ident),*) => {$(
        impl Convert<Bool> for Complex<$S> {
            #[inline(always)]
            fn convert(self) -> Bool {
                (self.re != 0.0 || self.im != 0.0).into()
            }
        }
        impl Convert<Complex<$S>> for Bool {
            #[inline(always)]
            fn convert(self) -> Complex<$S> {
                Complex { re: self.convert(), im: 0.0 }
            }
        }
        convert_complex!(@pair $S, f32);
        convert_complex!(@pair $S, f64);
    )*};
    (@pair $S:ident, $D:ident) => {
        impl Convert<Complex<$D>> for Complex<$S> {
            #[inline(always)]
            fn convert(self) -> Complex<$D> {
                Complex { re: self.re as $D, im: self.im as $D }
            }
        }
    };
}

convert_complex!(f32, f64);

macro_rules! match_compute {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $T = Bool;
                $body
            }
            DType::UInt8 => {
                type $T = u8;
                $body
            }
            DType::UInt16 => {
                type $T = u16;
                $body
            }
            DType::UInt32 => {
                type $T = u32;
                $body
            }
            DType::UInt64 => {
                type $T = u64;
                $body
            }
            DType::Int8 => {
                type $T = i8;
                $body
            }
            DType::Int16 => {
                type $T = i16;
                $body
            }
            DType::Int32 => {
                type $T = i32;
                $body
            }
            DType::Int64 => {
                type $T = i64;
                $body
            }
            DType::Float16 | DType::BFloat16 | DType::Float32 => {
                type $T = f32;
                $body
            }
            DType::Float64 => {
                type $T = f64;
                $body
            }
            DType::Complex64 => {
                type $T = Complex32;
                $body
            }
            DType::Complex128 => {
                type $T = Complex64;
                $body
            }
        }
    };
}

/// The block function from one computing dtype to another.
pub(crate) fn entry(from: DType, to: DType) -> Entry {
    match_compute!(from, S => match_compute!(to, D => const { Entry::map1::<Cast<S, D>>() }))
}

/// f64 to f32, the last bit set if anything was lost: rounding that once more to fewer bits rounds correctly.
#[inline(always)]
fn to_odd(x: f64) -> f32 {
    let y = x as f32;
    let wide = f64::from(y);
    let bits = y.to_bits();
    // Towards zero first, so that the set bit stands for "a little more".
    let bits = bits.wrapping_sub(u32::from(wide.abs() > x.abs()));
    let exact = wide == x || x.is_nan();
    f32::from_bits(if exact { y.to_bits() } else { bits | 1 })
}

/// To f32 on the way to a 16-bit float.
struct ToOdd<S>(PhantomData<S>);

impl<S: Element + Convert<f64>> Map1 for ToOdd<S> {
    type A = S;
    type D = f32;
    #[inline(always)]
    fn f<I: Isa>(a: S) -> f32 {
        to_odd(a.convert())
    }
}

/// The block function from a computing dtype to an f32 that rounds to a 16-bit float as the value itself does.
pub(crate) fn entry_before_half(from: DType) -> Entry {
    match from {
        DType::UInt32 => const { Entry::map1::<ToOdd<u32>>() },
        DType::UInt64 => const { Entry::map1::<ToOdd<u64>>() },
        DType::Int32 => const { Entry::map1::<ToOdd<i32>>() },
        DType::Int64 => const { Entry::map1::<ToOdd<i64>>() },
        DType::Float64 => const { Entry::map1::<ToOdd<f64>>() },
        DType::Complex128 => const { Entry::map1::<ToOdd<Complex64>>() },
        other => entry(other, DType::Float32),
    }
}

macro_rules! half_entries {
    ($name:ident, $A:ty => $D:ty, |$x:ident| $body:expr) => {
const $name: Entry = super::map1!($A => $D, I, |$x| $body);
    };
}

half_entries!(LOAD_F16, f16 => f32, |x| f16_to_f32(x));
half_entries!(LOAD_BF16, bf16 => f32, |x| bf16_to_f32(x));
half_entries!(STORE_F16, f32 => f16, |x| f32_to_f16(x));
half_entries!(STORE_BF16, f32 => bf16, |x| f32_to_bf16(x));
half_entries!(ROUND_F16, f32 => f32, |x| f16_to_f32(f32_to_f16(x)));
half_entries!(ROUND_BF16, f32 => f32, |x| bf16_to_f32(f32_to_bf16(x)));

/// From memory of a 16-bit float dtype to f32.
pub(crate) fn load_half(dtype: DType) -> Entry {
    if dtype == DType::Float16 { LOAD_F16 } else { LOAD_BF16 }
}

/// From f32 to memory of a 16-bit float dtype, rounding.
pub(crate) fn store_half(dtype: DType) -> Entry {
    if dtype == DType::Float16 { STORE_F16 } else { STORE_BF16 }
}

/// f32 rounded to what a 16-bit float dtype can hold.
pub(crate) fn round_half(dtype: DType) -> Entry {
    if dtype == DType::Float16 { ROUND_F16 } else { ROUND_BF16 }
}
