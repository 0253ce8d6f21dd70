//! Rust types of array elements, and the macro that maps a [`DType`] to a type.

use crate::{Complex32, Complex64, DType, bf16, f16};

/// A boolean element: one byte, any non-zero value is true.
///
/// Memory that comes from outside may hold bytes other than 0 and 1, which Rust's `bool` must never hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// The value as Rust's `bool`.
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Bool(value as u8)
    }
}

/// A plain element type: every bit pattern is valid, so that any memory may be read as this type.
///
/// # Safety
/// The type must have no padding, no invalid bit pattern, and `size_of::<Self>() == Self::DTYPE.size()`.
pub unsafe trait Element:
    Value<Element = Self> + Send + Sync + PartialEq + std::fmt::Debug + 'static
{
    /// The dtype that corresponds to this type.
    const DTYPE: DType;
}

/// A Rust value that represents one element: the element types themselves, and `bool` for [`Bool`].
pub trait Value: Copy {
    /// The type in memory.
    type Element: Element;

    /// Convert to the element type.
    fn into_element(self) -> Self::Element;

    /// Convert from the element type.
    fn from_element(element: Self::Element) -> Self;
}

impl Value for bool {
    type Element = Bool;

    #[inline(always)]
    fn into_element(self) -> Bool {
        self.into()
    }

    #[inline(always)]
    fn from_element(element: Bool) -> bool {
        element.get()
    }
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),* $(,)?) => {
        $(
            // SAFETY: plain numbers, or `repr(C)` pairs of them; the assertion below checks their size.
            unsafe impl Element for $ty {
                const DTYPE: DType = DType::$dtype;
            }

            impl Value for $ty {
                type Element = $ty;

                #[inline(always)]
                fn into_element(self) -> $ty {
                    self
                }

                #[inline(always)]
                fn from_element(element: $ty) -> $ty {
                    element
                }
            }
            const _: () = assert!(size_of::<$ty>() == DType::$dtype.size());
        )*
    };
}

elements! {
    Bool => Bool, u8 => UInt8, u16 => UInt16, u32 => UInt32, u64 => UInt64,
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    f16 => Float16, bf16 => BFloat16, f32 => Float32, f64 => Float64,
    Complex32 => Complex64, Complex64 => Complex128,
}

/// Evaluate `$body` with `$T` bound to the element type of `$dtype`.
///
/// `match_dtype!(dtype, T => expr)` covers every dtype, float8 as `u8`. A leading category (`integer`, `signed`, `float`, `real`,
/// `field`, `inexact`, `number`) restricts it, with `else => expr` for the rest.
#[macro_export]
macro_rules! match_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::match_dtype!(@arms $dtype.storage_dtype(), $T, $body,
            [Bool UInt8 UInt16 UInt32 UInt64 Int8 Int16 Int32 Int64 Float16 BFloat16 Float32 Float64 Complex64 Complex128]
            unreachable!("other dtypes are stored as one of these"))
    };
    (number $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body,
            [UInt8 UInt16 UInt32 UInt64 Int8 Int16 Int32 Int64 Float16 BFloat16 Float32 Float64 Complex64 Complex128] $other)
    };
    (real $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body,
            [UInt8 UInt16 UInt32 UInt64 Int8 Int16 Int32 Int64 Float16 BFloat16 Float32 Float64] $other)
    };
    (integer $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body,
            [UInt8 UInt16 UInt32 UInt64 Int8 Int16 Int32 Int64] $other)
    };
    (ring $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body,
            [Bool Int8 Int16 Int32 Int64 Float16 BFloat16 Float32 Float64 Complex64 Complex128] $other)
    };
    (signed $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body, [Int8 Int16 Int32 Int64] $other)
    };
    (float $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body, [Float16 BFloat16 Float32 Float64] $other)
    };
    (field $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body, [Float32 Float64 Complex64 Complex128] $other)
    };
    (inexact $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        $crate::match_dtype!(@arms $dtype, $T, $body, [Float16 BFloat16 Float32 Float64 Complex64 Complex128] $other)
    };
    (@arms $dtype:expr, $T:ident, $body:expr, [$($variant:ident)*] $($other:expr)?) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $crate::match_dtype!(@type $variant);
                $body
            })*
            $(#[allow(unreachable_patterns, reason = "the category may cover every dtype")]
            _ => $other,)?
        }
    };
    (@type Bool) => { $crate::Bool };
    (@type UInt8) => { u8 };
    (@type UInt16) => { u16 };
    (@type UInt32) => { u32 };
    (@type UInt64) => { u64 };
    (@type Int8) => { i8 };
    (@type Int16) => { i16 };
    (@type Int32) => { i32 };
    (@type Int64) => { i64 };
    (@type Float16) => { $crate::f16 };
    (@type BFloat16) => { $crate::bf16 };
    (@type Float32) => { f32 };
    (@type Float64) => { f64 };
    (@type Complex64) => { $crate::Complex32 };
    (@type Complex128) => { $crate::Complex64 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_maps_to_its_type() {
        for dtype in DType::ALL {
            let (type_dtype, size) = match_dtype!(dtype, T => (T::DTYPE, size_of::<T>()));
            assert_eq!(type_dtype, dtype.storage_dtype());
            assert_eq!(size, dtype.size());
        }
    }

    #[test]
    fn categories_use_else_for_other_dtypes() {
        for dtype in DType::ALL {
            let integer = match_dtype!(integer dtype, T => T::DTYPE == dtype, else => false);
            assert_eq!(integer, dtype.is_integer());
            let float = match_dtype!(float dtype, T => T::DTYPE == dtype, else => false);
            assert_eq!(float, dtype.is_floating() && !dtype.is_float8());
        }
    }
}
