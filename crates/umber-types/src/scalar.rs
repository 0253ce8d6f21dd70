//! Constants with a type.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::truncate::{to_i32, to_i64, to_u64};
use crate::{Bool, Complex, DType, Float8, Kind, Result, bf16, ensure, f16};

/// A constant of some kind, stored at the widest precision of its kind. Compared and hashed by bits.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A real number.
    Float(#[serde(with = "bits")] f64),
    /// A complex number: real, imaginary.
    Complex(#[serde(with = "bits")] f64, #[serde(with = "bits")] f64),
}

/// Real numbers in files, stored as bits, since text formats have no infinity and NaN.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

impl Scalar {
    /// The real value as a double; the imaginary part of a complex number is dropped.
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(v) => f64::from(u8::from(v)),
            Scalar::Int(v) => v as f64,
            Scalar::UInt(v) => v as f64,
            Scalar::Float(v) | Scalar::Complex(v, _) => v,
        }
    }

    /// The value as a signed integer: unsigned values wrap, real ones are converted by [`to_i64`].
    pub fn as_i64(self) -> i64 {
        match self {
            Scalar::Bool(v) => i64::from(v),
            Scalar::Int(v) => v,
            Scalar::UInt(v) => v as i64,
            Scalar::Float(v) | Scalar::Complex(v, _) => to_i64(v),
        }
    }

    /// The value as a signed integer, converted by [`to_i32`] if it is real.
    fn as_i32(self) -> i32 {
        match self {
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => self.as_i64() as i32,
            Scalar::Float(v) | Scalar::Complex(v, _) => to_i32(v),
        }
    }

    /// The value as an unsigned integer: two's complement for negative integers.
    pub fn as_u64(self) -> u64 {
        match self {
            Scalar::Bool(v) => u64::from(v),
            Scalar::Int(v) => v as u64,
            Scalar::UInt(v) => v,
            Scalar::Float(v) | Scalar::Complex(v, _) => to_u64(v),
        }
    }

    /// Whether it is nonzero.
    pub fn as_bool(self) -> bool {
        match self {
            Scalar::Bool(v) => v,
            Scalar::Int(v) => v != 0,
            Scalar::UInt(v) => v != 0,
            Scalar::Float(v) => v != 0.0,
            Scalar::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// Real and imaginary part.
    pub fn as_complex(self) -> (f64, f64) {
        match self {
            Scalar::Complex(re, im) => (re, im),
            other => (other.as_f64(), 0.0),
        }
    }

    /// The value converted to `dtype`.
    #[must_use]
    #[inline]
    pub fn cast(self, dtype: DType) -> Scalar {
        match (self, dtype) {
            // The most common case.
            (Scalar::Float(v), DType::Float32) => Scalar::Float(f64::from(v as f32)),
            _ => self.cast_to(dtype),
        }
    }

    fn cast_to(self, dtype: DType) -> Scalar {
        match dtype {
            DType::Bool => Scalar::Bool(self.as_bool()),
            DType::UInt8 => Scalar::UInt(u64::from(self.as_i32() as u8)),
            DType::UInt16 => Scalar::UInt(u64::from(self.as_i32() as u16)),
            DType::UInt32 => Scalar::UInt(u64::from(self.as_i64() as u32)),
            DType::UInt64 => Scalar::UInt(self.as_u64()),
            DType::Int8 => Scalar::Int(i64::from(self.as_i32() as i8)),
            DType::Int16 => Scalar::Int(i64::from(self.as_i32() as i16)),
            DType::Int32 => Scalar::Int(i64::from(self.as_i32())),
            DType::Int64 => Scalar::Int(self.as_i64()),
            DType::Float16 => Scalar::Float(f16::from_f64(self.as_f64()).to_f64()),
            DType::BFloat16 => Scalar::Float(bf16::from_f64(self.as_f64()).to_f64()),
            DType::Float32 => Scalar::Float(f64::from(self.as_f64() as f32)),
            DType::Float64 => Scalar::Float(self.as_f64()),
            DType::Complex64 => {
                let (re, im) = self.as_complex();
                Scalar::Complex(f64::from(re as f32), f64::from(im as f32))
            }
            DType::Complex128 => {
                let (re, im) = self.as_complex();
                Scalar::Complex(re, im)
            }
            _ => Scalar::Float(f64::from(float8(dtype).decode(float8(dtype).encode(self.as_f64())))),
        }
    }

    /// The bytes of this value as an element of `dtype`, in the low bytes of the array.
    pub fn to_bytes(self, dtype: DType) -> [u8; 16] {
        let mut bytes = [0; 16];
        let mut write = |source: &[u8]| bytes[..source.len()].copy_from_slice(source);
        match dtype {
            DType::Bool => write(&[Bool::from(self.as_bool()).0]),
            DType::UInt8 => write(&(self.as_i32() as u8).to_ne_bytes()),
            DType::UInt16 => write(&(self.as_i32() as u16).to_ne_bytes()),
            DType::UInt32 => write(&(self.as_i64() as u32).to_ne_bytes()),
            DType::UInt64 => write(&self.as_u64().to_ne_bytes()),
            DType::Int8 => write(&(self.as_i32() as i8).to_ne_bytes()),
            DType::Int16 => write(&(self.as_i32() as i16).to_ne_bytes()),
            DType::Int32 => write(&(self.as_i32()).to_ne_bytes()),
            DType::Int64 => write(&self.as_i64().to_ne_bytes()),
            DType::Float16 => write(&f16::from_f64(self.as_f64()).to_ne_bytes()),
            DType::BFloat16 => write(&bf16::from_f64(self.as_f64()).to_ne_bytes()),
            DType::Float32 => write(&(self.as_f64() as f32).to_ne_bytes()),
            DType::Float64 => write(&self.as_f64().to_ne_bytes()),
            DType::Complex64 => {
                let (re, im) = self.as_complex();
                write(&(re as f32).to_ne_bytes());
                bytes[4..8].copy_from_slice(&(im as f32).to_ne_bytes());
            }
            DType::Complex128 => {
                let (re, im) = self.as_complex();
                write(&re.to_ne_bytes());
                bytes[8..16].copy_from_slice(&im.to_ne_bytes());
            }
            _ => write(&[float8(dtype).encode(self.as_f64())]),
        }
        bytes
    }

    /// Read an element of `dtype` from the start of `bytes`.
    ///
    /// # Panics
    /// If `bytes` is shorter than the element.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Scalar {
        macro_rules! read {
            ($ty:ty, $at:expr) => {{
                let mut raw = [0; size_of::<$ty>()];
                raw.copy_from_slice(&bytes[$at..$at + size_of::<$ty>()]);
                <$ty>::from_ne_bytes(raw)
            }};
        }
        match dtype {
            DType::Bool => Scalar::Bool(bytes[0] != 0),
            DType::UInt8 => Scalar::UInt(u64::from(bytes[0])),
            DType::UInt16 => Scalar::UInt(u64::from(read!(u16, 0))),
            DType::UInt32 => Scalar::UInt(u64::from(read!(u32, 0))),
            DType::UInt64 => Scalar::UInt(read!(u64, 0)),
            DType::Int8 => Scalar::Int(i64::from(read!(i8, 0))),
            DType::Int16 => Scalar::Int(i64::from(read!(i16, 0))),
            DType::Int32 => Scalar::Int(i64::from(read!(i32, 0))),
            DType::Int64 => Scalar::Int(read!(i64, 0)),
            DType::Float16 => Scalar::Float(read!(f16, 0).to_f64()),
            DType::BFloat16 => Scalar::Float(read!(bf16, 0).to_f64()),
            DType::Float32 => Scalar::Float(f64::from(read!(f32, 0))),
            DType::Float64 => Scalar::Float(read!(f64, 0)),
            DType::Complex64 => Scalar::Complex(f64::from(read!(f32, 0)), f64::from(read!(f32, 4))),
            DType::Complex128 => Scalar::Complex(read!(f64, 0), read!(f64, 8)),
            _ => Scalar::Float(f64::from(float8(dtype).decode(bytes[0]))),
        }
    }

    /// The dtype of a constant on its own, by MLX's rule for Python numbers (int32, int64 if too large, float32, complex64).
    pub fn default_dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(v) if i32::try_from(v).is_ok() => DType::Int32,
            Scalar::UInt(v) if i32::try_from(v).is_ok() => DType::Int32,
            Scalar::UInt(v) if i64::try_from(v).is_err() => DType::UInt64,
            Scalar::Int(_) | Scalar::UInt(_) => DType::Int64,
            Scalar::Float(_) => DType::Float32,
            Scalar::Complex(..) => DType::Complex64,
        }
    }

    /// The dtype this constant takes next to an array of `dtype`: a weak constant never raises the array's
    /// precision within its kind, and raises the kind only when it has to (a float next to integers).
    #[inline]
    pub fn weak_dtype(self, dtype: DType) -> DType {
        match (self, dtype.kind()) {
            (Scalar::Bool(_), _) => dtype,
            (Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) if dtype.is_float8() => DType::Float32,
            (Scalar::Int(_) | Scalar::UInt(_), Kind::Bool) => self.default_dtype(),
            (Scalar::Int(_) | Scalar::UInt(_), _) => dtype,
            (Scalar::Float(_), Kind::Float | Kind::Complex) => dtype,
            (Scalar::Float(_), _) => DType::Float32,
            (Scalar::Complex(..), _) => dtype.complex(),
        }
    }

    /// Return an error if an integer does not fit an integer dtype. Other values are rounded or wrap by the rules of a cast.
    #[inline]
    pub fn check_fits(self, dtype: DType) -> Result<()> {
        match self {
            Scalar::Int(value) if dtype.is_integer() => check_integer(i128::from(value), dtype),
            Scalar::UInt(value) if dtype.is_integer() => check_integer(i128::from(value), dtype),
            _ => Ok(()),
        }
    }

    fn bits(self) -> (u8, u64, u64) {
        match self {
            Scalar::Bool(v) => (0, u64::from(v), 0),
            Scalar::Int(v) => (1, v as u64, 0),
            Scalar::UInt(v) => (2, v, 0),
            Scalar::Float(v) => (3, v.to_bits(), 0),
            Scalar::Complex(re, im) => (4, re.to_bits(), im.to_bits()),
        }
    }
}

/// As [`Scalar::check_fits`], for an integer and an integer dtype.
fn check_integer(value: i128, dtype: DType) -> Result<()> {
    let Some((low, high)) = dtype.integer_bounds() else { return Ok(()) };
    ensure!((low..=high).contains(&value), Overflow, "{value} does not fit {dtype} ({low}..{high})");
    Ok(())
}

/// The format of a float8 dtype.
fn float8(dtype: DType) -> Float8 {
    Float8::of(dtype).expect("all other dtypes are float8")
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}
impl Eq for Scalar {}
impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::UInt(value) => write!(f, "{value}"),
            Scalar::Float(value) => write!(f, "{value:?}"),
            Scalar::Complex(re, im) => write!(f, "{re:?}{im:+?}i"),
        }
    }
}

macro_rules! scalars {
    ($($number:ty, |$value:ident| $scalar:expr;)*) => {$(
        impl From<$number> for Scalar {
            #[inline]
            fn from($value: $number) -> Self {
                $scalar
            }
        }
    )*};
}

scalars! {
    bool, |v| Scalar::Bool(v);
    i8, |v| Scalar::Int(v.into());
    i16, |v| Scalar::Int(v.into());
    i32, |v| Scalar::Int(v.into());
    i64, |v| Scalar::Int(v);
    isize, |v| Scalar::Int(v as i64);
    u8, |v| Scalar::UInt(v.into());
    u16, |v| Scalar::UInt(v.into());
    u32, |v| Scalar::UInt(v.into());
    u64, |v| Scalar::UInt(v);
    usize, |v| Scalar::UInt(v as u64);
    f16, |v| Scalar::Float(v.to_f64());
    bf16, |v| Scalar::Float(v.to_f64());
    f32, |v| Scalar::Float(v.into());
    f64, |v| Scalar::Float(v);
    Complex<f32>, |v| Scalar::Complex(v.re.into(), v.im.into());
    Complex<f64>, |v| Scalar::Complex(v.re, v.im);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_in_every_dtype() {
        for dtype in DType::ALL {
            for scalar in [Scalar::Int(1), Scalar::Float(0.5), Scalar::Bool(true), Scalar::Complex(2.0, -1.0)]
            {
                let converted = scalar.cast(dtype);
                let back = Scalar::from_bytes(dtype, &converted.to_bytes(dtype));
                assert_eq!(converted, back, "{dtype}");
            }
        }
    }

    #[test]
    fn integers_must_fit_integer_dtypes() {
        for (value, dtype, fits) in [
            (255, DType::UInt8, true),
            (256, DType::UInt8, false),
            (-1, DType::UInt64, false),
            (-128, DType::Int8, true),
            (-129, DType::Int8, false),
            (i64::MAX, DType::Int64, true),
            (i64::MAX, DType::Float16, true),
        ] {
            assert_eq!(Scalar::Int(value).check_fits(dtype).is_ok(), fits, "{value} {dtype}");
        }
        assert!(Scalar::UInt(u64::MAX).check_fits(DType::Int64).is_err());
    }

    #[test]
    fn weak_scalars_keep_the_array_kind() {
        assert_eq!(Scalar::Float(1.0).weak_dtype(DType::Float16), DType::Float16);
        assert_eq!(Scalar::Int(1).weak_dtype(DType::UInt8), DType::UInt8);
        assert_eq!(Scalar::Float(1.0).weak_dtype(DType::Int64), DType::Float32);
        assert_eq!(Scalar::Int(1).weak_dtype(DType::Bool), DType::Int32);
        assert_eq!(Scalar::Complex(0.0, 1.0).weak_dtype(DType::Float64), DType::Complex128);
    }
}
