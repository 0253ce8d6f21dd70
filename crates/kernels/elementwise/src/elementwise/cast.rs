//! Conversions between dtypes, as block functions.
//!
//! To bool: `x != 0`. Complex to real drops the imaginary part. Floats to integers go through int32 if the target is signed
//! and at most 32 bits wide or any type of at most 16 bits, else through int64, as [`umber_types::truncate::to_i32`]
//! specifies; the low bits are kept, so that -1.0 becomes 255 in uint8. float16 and bfloat16 values are held as f32 in
//! registers, so a cast to one rounds an f32 to a value of the narrow type.

use std::marker::PhantomData;

use umber_kernels_base::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use umber_kernels_base::isa::Isa;
use umber_types::truncate::{to_i32, to_i64, to_u64};
use umber_types::{Bool, Complex, Complex32, Complex64, DType, Element, bf16, f16};

use super::{Entry, Map1};
#[cfg(target_arch = "x86_64")]
use super::{Kernel, float16_convert};

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
    Bool => [u8, u16, u32, u64, i32, i64, f32, f64], |x| u8::from(x.get());
    u8 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    u16 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    u32 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    u64 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    i8 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    i16 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    i32 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    i64 => [u8, u16, u32, u64, i32, i64, f32, f64], |x| x;
    f32 => [u8, u16, i32], |x| if (-2_147_483_648.0..2_147_483_648.0).contains(&x) { x as i32 } else { i32::MIN };
    f64 => [u8, u16, i32], |x| to_i32(x);
    f32 => [u32, i64], |x| to_i64(f64::from(x));
    f64 => [u32, i64], |x| to_i64(x);
    f32 => [u64], |x| to_u64(f64::from(x));
    f64 => [u64], |x| to_u64(x);
    f32 => [f32, f64], |x| x;
    f64 => [f32, f64], |x| x;
}

macro_rules! convert_to_bool {
    ($($ty:ident),*) => {$(
        impl Convert<Bool> for $ty {
            #[inline(always)]
            fn convert(self) -> Bool {
                (self != 0 as $ty).into()
            }
        }
    )*};
}

convert_to_bool!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Convert<Bool> for Bool {
    #[inline(always)]
    fn convert(self) -> Bool {
        self.get().into()
    }
}

macro_rules! match_source {
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
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Complex64 => {
                type $T = f32;
                $body
            }
            DType::Float64 | DType::Complex128 => {
                type $T = f64;
                $body
            }
            _ => unreachable!("float8 is converted by the kernels of `float8`"),
        }
    };
}

/// Integer targets whose sign does not matter map to the unsigned type: the low bits are the same.
macro_rules! match_target {
    ($from:expr, $dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $T = Bool;
                $body
            }
            DType::UInt8 | DType::Int8 => {
                type $T = u8;
                $body
            }
            DType::UInt16 | DType::Int16 => {
                type $T = u16;
                $body
            }
            DType::Int32 if $from.is_floating() => {
                type $T = i32;
                $body
            }
            DType::UInt32 | DType::Int32 => {
                type $T = u32;
                $body
            }
            DType::Int64 if $from.is_floating() => {
                type $T = i64;
                $body
            }
            DType::UInt64 | DType::Int64 => {
                type $T = u64;
                $body
            }
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Complex64 => {
                type $T = f32;
                $body
            }
            DType::Float64 | DType::Complex128 => {
                type $T = f64;
                $body
            }
            _ => unreachable!("float8 is converted by the kernels of `float8`"),
        }
    };
}

/// A conversion between two dtypes.
pub(crate) enum Conversion {
    /// Same bits.
    Nothing,
    /// One block function.
    Direct(Entry),
    /// Two conversions, through this dtype.
    Through(DType),
}

/// The conversion between two computing dtypes.
pub(crate) fn conversion(from: DType, to: DType) -> Conversion {
    let same_bits = from.is_integer() && to.is_integer() && from.size() == to.size();
    if from == to || same_bits {
        return Conversion::Nothing;
    }
    match (from, to) {
        (DType::Complex64, DType::Complex128) => Conversion::Direct(WIDEN),
        (DType::Complex128, DType::Complex64) => Conversion::Direct(NARROW),
        (DType::Complex64, DType::Bool) => Conversion::Direct(BOOL_OF_COMPLEX64),
        (DType::Complex128, DType::Bool) => Conversion::Direct(BOOL_OF_COMPLEX128),
        (DType::Complex64, DType::Float32) => Conversion::Direct(REAL_OF_COMPLEX64),
        (DType::Complex128, DType::Float64) => Conversion::Direct(REAL_OF_COMPLEX128),
        (DType::Float32, DType::Complex64) => Conversion::Direct(COMPLEX64_OF_REAL),
        (DType::Float64, DType::Complex128) => Conversion::Direct(COMPLEX128_OF_REAL),
        _ if from.is_complex() => Conversion::Through(from.real()),
        _ if to.is_complex() => Conversion::Through(to.real()),
        // The sign does not matter either if the value is only truncated or compared with zero.
        _ => {
            let truncates = to == DType::Bool || (to.is_integer() && to.size() < from.size());
            let from = if truncates { unsigned(from) } else { from };
            Conversion::Direct(
                match_source!(from, S => match_target!(from, to, D => const { Entry::map1::<Cast<S, D>>() })),
            )
        }
    }
}

const fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::Int8 => DType::UInt8,
        DType::Int16 => DType::UInt16,
        DType::Int32 => DType::UInt32,
        DType::Int64 => DType::UInt64,
        other => other,
    }
}

macro_rules! entries {
    ($($name:ident, $A:ty => $D:ty, |$x:ident| $body:expr;)*) => {
        $(const $name: Entry = super::map1!($A => $D, I, |$x| $body);)*
    };
}

entries! {
    WIDEN, Complex32 => Complex64, |z| Complex { re: f64::from(z.re), im: f64::from(z.im) };
    NARROW, Complex64 => Complex32, |z| Complex { re: z.re as f32, im: z.im as f32 };
    BOOL_OF_COMPLEX64, Complex32 => Bool, |z| (z.re != 0.0 || z.im != 0.0).into();
    BOOL_OF_COMPLEX128, Complex64 => Bool, |z| (z.re != 0.0 || z.im != 0.0).into();
    REAL_OF_COMPLEX64, Complex32 => f32, |z| z.re;
    REAL_OF_COMPLEX128, Complex64 => f64, |z| z.re;
    COMPLEX64_OF_REAL, f32 => Complex32, |x| Complex { re: x, im: 0.0 };
    COMPLEX128_OF_REAL, f64 => Complex64, |x| Complex { re: x, im: 0.0 };
    PORTABLE_LOAD_F16, f16 => f32, |x| f16_to_f32(x);
    LOAD_BF16, bf16 => f32, |x| bf16_to_f32(x);
    PORTABLE_STORE_F16, f32 => f16, |x| f32_to_f16(x);
    STORE_BF16, f32 => bf16, |x| f32_to_bf16(x);
    ROUND_F16, f32 => f32, |x| f16_to_f32(f32_to_f16(x));
    ROUND_BF16, f32 => f32, |x| bf16_to_f32(f32_to_bf16(x));
}

/// `portable` with hardware conversion instructions at the levels AVX2 and AVX-512.
#[cfg(target_arch = "x86_64")]
const fn with_hardware(portable: Entry, kernels: [Kernel; 2]) -> Entry {
    Entry { kernels: [portable.kernels[0], kernels[0], kernels[1]], ..portable }
}

#[cfg(target_arch = "x86_64")]
const LOAD_F16: Entry =
    with_hardware(PORTABLE_LOAD_F16, [float16_convert::load_f16c, float16_convert::load_avx512]);
#[cfg(target_arch = "x86_64")]
const STORE_F16: Entry =
    with_hardware(PORTABLE_STORE_F16, [float16_convert::store_f16c, float16_convert::store_avx512]);
#[cfg(not(target_arch = "x86_64"))]
const LOAD_F16: Entry = PORTABLE_LOAD_F16;
#[cfg(not(target_arch = "x86_64"))]
const STORE_F16: Entry = PORTABLE_STORE_F16;

/// f64 to f32 with rounding to odd (the last bit is set if inexact), so that a second rounding to fewer bits is correct.
#[inline(always)]
fn to_odd(x: f64) -> f32 {
    let y = x as f32;
    let back = f64::from(y);
    let bits = y.to_bits();
    // Truncate first, so that the sticky bit means "slightly larger".
    let bits = bits.wrapping_sub(u32::from(back.abs() > x.abs()));
    let exact = back == x || x.is_nan();
    f32::from_bits(if exact { y.to_bits() } else { bits | 1 })
}

/// To f32 with rounding to odd, on the way to float16 or bfloat16.
struct ToOdd<S>(PhantomData<S>);

impl<S: Element + Convert<f64>> Map1 for ToOdd<S> {
    type A = S;
    type D = f32;
    #[inline(always)]
    fn f<I: Isa>(a: S) -> f32 {
        to_odd(a.convert())
    }
}

/// The block function from a wide real dtype to an f32 that rounds to float16 or bfloat16 as the value itself does.
pub(crate) fn before_float16(from: DType) -> Option<Entry> {
    Some(match from {
        DType::UInt32 => const { Entry::map1::<ToOdd<u32>>() },
        DType::UInt64 => const { Entry::map1::<ToOdd<u64>>() },
        DType::Int32 => const { Entry::map1::<ToOdd<i32>>() },
        DType::Int64 => const { Entry::map1::<ToOdd<i64>>() },
        DType::Float64 => const { Entry::map1::<ToOdd<f64>>() },
        _ => return None,
    })
}

/// From float16 or bfloat16 in memory to f32.
pub(crate) fn load_float16(dtype: DType) -> Entry {
    if dtype == DType::Float16 { LOAD_F16 } else { LOAD_BF16 }
}

/// From f32 to float16 or bfloat16 in memory, rounding.
pub(crate) fn store_float16(dtype: DType) -> Entry {
    if dtype == DType::Float16 { STORE_F16 } else { STORE_BF16 }
}

/// f32 rounded to a value of float16 or bfloat16.
pub(crate) fn round_to_float16(dtype: DType) -> Entry {
    if dtype == DType::Float16 { ROUND_F16 } else { ROUND_BF16 }
}
