//! Element types: their names, sizes and kinds.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result, error};

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
pub enum DType {
    /// Boolean, one byte, 0 or 1.
    Bool,
    /// Unsigned 8-bit integer.
    UInt8,
    /// Unsigned 16-bit integer.
    UInt16,
    /// Unsigned 32-bit integer.
    UInt32,
    /// Unsigned 64-bit integer.
    UInt64,
    /// Signed 8-bit integer.
    Int8,
    /// Signed 16-bit integer.
    Int16,
    /// Signed 32-bit integer.
    Int32,
    /// Signed 64-bit integer.
    Int64,
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of IEEE 754 binary32.
    BFloat16,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
    /// Two binary32: real, imaginary.
    Complex64,
    /// Two binary64: real, imaginary.
    Complex128,
    /// 8 bits: 3 exponent bits, 4 fraction bits, with infinities.
    Float8E3M4,
    /// 8 bits: 4 exponent bits, 3 fraction bits, with infinities.
    Float8E4M3,
    /// As [`DType::Float8E4M3Fnuz`] with a bias of 11.
    Float8E4M3B11Fnuz,
    /// The OCP's E4M3: 4 exponent bits, 3 fraction bits, no infinities.
    Float8E4M3Fn,
    /// 4 exponent bits, 3 fraction bits, no infinities, no negative zero.
    Float8E4M3Fnuz,
    /// The OCP's E5M2: 5 exponent bits, 2 fraction bits, with infinities.
    Float8E5M2,
    /// 5 exponent bits, 2 fraction bits, no infinities, no negative zero.
    Float8E5M2Fnuz,
    /// The OCP's E8M0: powers of two, without sign, zero and infinities.
    Float8E8M0Fnu,
}

/// The kind of a dtype, in the order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// Booleans.
    Bool,
    /// Unsigned integers.
    Unsigned,
    /// Signed integers.
    Signed,
    /// Real floating point.
    Float,
    /// Complex floating point.
    Complex,
}

impl DType {
    /// The dtypes that operations compute in, in declaration order.
    pub const COMPUTE: [DType; 15] = [
        DType::Bool,
        DType::UInt8,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ];

    /// The float8 dtypes, in declaration order, which is that of DLPack's codes.
    pub const FLOAT8: [DType; 8] = [
        DType::Float8E3M4,
        DType::Float8E4M3,
        DType::Float8E4M3B11Fnuz,
        DType::Float8E4M3Fn,
        DType::Float8E4M3Fnuz,
        DType::Float8E5M2,
        DType::Float8E5M2Fnuz,
        DType::Float8E8M0Fnu,
    ];

    /// Every dtype, in declaration order.
    pub const ALL: [DType; 23] = {
        let mut all = [DType::Bool; 23];
        let (computed, _) = all.split_at_mut(15);
        computed.copy_from_slice(&DType::COMPUTE);
        let (_, float8) = all.split_at_mut(15);
        float8.copy_from_slice(&DType::FLOAT8);
        all
    };

    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::UInt16 | DType::Int16 | DType::Float16 | DType::BFloat16 => 2,
            DType::UInt32 | DType::Int32 | DType::Float32 => 4,
            DType::UInt64 | DType::Int64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
            _ => 1,
        }
    }

    /// Alignment of elements in bytes. Complex numbers are aligned like their parts.
    pub const fn alignment(self) -> usize {
        if self.is_complex() { self.size() / 2 } else { self.size() }
    }

    /// The public name, which is NumPy's (`"bool"` for [`DType::Bool`]).
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::UInt8 => "uint8",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::Float8E3M4 => "float8_e3m4",
            DType::Float8E4M3 => "float8_e4m3",
            DType::Float8E4M3B11Fnuz => "float8_e4m3b11fnuz",
            DType::Float8E4M3Fn => "float8_e4m3fn",
            DType::Float8E4M3Fnuz => "float8_e4m3fnuz",
            DType::Float8E5M2 => "float8_e5m2",
            DType::Float8E5M2Fnuz => "float8_e5m2fnuz",
            DType::Float8E8M0Fnu => "float8_e8m0fnu",
        }
    }

    /// The dtype with this name, if there is one (`"bool_"` is accepted, too).
    pub fn from_name(name: &str) -> Option<DType> {
        if name == "bool_" {
            return Some(DType::Bool);
        }
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Its kind.
    pub const fn kind(self) -> Kind {
        match self {
            DType::Bool => Kind::Bool,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Kind::Unsigned,
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => Kind::Signed,
            DType::Complex64 | DType::Complex128 => Kind::Complex,
            _ => Kind::Float,
        }
    }

    /// Whether it is a signed or unsigned integer (not bool).
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Unsigned | Kind::Signed)
    }

    /// The minimum and maximum of an integer dtype or of bool.
    pub const fn integer_bounds(self) -> Option<(i128, i128)> {
        let bits = self.size() as u32 * 8;
        match self.kind() {
            Kind::Bool => Some((0, 1)),
            Kind::Unsigned => Some((0, (1 << bits) - 1)),
            Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Float | Kind::Complex => None,
        }
    }

    /// Whether it is a real floating-point dtype.
    pub const fn is_floating(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether it is a float8 dtype. These are storage dtypes; operations compute in float32.
    pub const fn is_float8(self) -> bool {
        self as u8 > DType::Complex128 as u8
    }

    /// The dtype as which elements are copied: uint8 for float8, otherwise itself.
    pub const fn storage_dtype(self) -> DType {
        if self.is_float8() { DType::UInt8 } else { self }
    }

    /// Whether it is complex.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Whether it is real or complex floating point.
    pub const fn is_inexact(self) -> bool {
        self.is_floating() || self.is_complex()
    }

    /// Whether it is float16 or bfloat16, which compute in float32.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16)
    }

    /// The floating-point dtype of the results of functions such as `exp`, and of derivatives: itself if it is inexact, otherwise
    /// float32.
    pub const fn inexact(self) -> DType {
        if self.is_inexact() { self.compute_dtype() } else { DType::Float32 }
    }

    /// The dtype that operations on this one compute in: float32 for float8, otherwise itself.
    pub const fn compute_dtype(self) -> DType {
        if self.is_float8() { DType::Float32 } else { self }
    }

    /// The dtype of sums and products: small integers and bool widen to 32 bits.
    pub const fn sum_dtype(self) -> DType {
        match self {
            DType::Bool | DType::Int8 | DType::Int16 => DType::Int32,
            DType::UInt8 | DType::UInt16 => DType::UInt32,
            DType::UInt32 | DType::UInt64 | DType::Int32 | DType::Int64 => self,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => self,
            DType::Complex64 | DType::Complex128 => self,
            _ => DType::Float32,
        }
    }

    /// The real counterpart of a complex dtype; other dtypes are returned unchanged.
    pub const fn real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// The complex counterpart: complex128 for float64, otherwise complex64.
    pub const fn complex(self) -> DType {
        match self {
            DType::Float64 | DType::Complex128 => DType::Complex128,
            _ => DType::Complex64,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A dtype from its [name](DType::name), as in `"float32".parse::<DType>()`.
///
/// ```
/// use umber_types::DType;
/// assert_eq!("bfloat16".parse(), Ok(DType::BFloat16));
/// assert!("single".parse::<DType>().is_err());
/// ```
impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<DType> {
        let names = || DType::ALL.map(DType::name).join(", ");
        DType::from_name(name)
            .ok_or_else(|| error!(Value("dtype"), "no dtype is named '{name}', expected {}", names()))
    }
}
