//! Element types: their names, sizes and kinds.

use std::fmt;

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
    /// Eight bits: three of the exponent, four of the fraction, with infinities.
    Float8E3M4,
    /// Eight bits: four of the exponent, three of the fraction, with infinities.
    Float8E4M3,
    /// As [`DType::Float8E4M3Fnuz`] with a bias of 11.
    Float8E4M3B11Fnuz,
    /// The OCP's E4M3: four bits of the exponent, three of the fraction, no infinities.
    Float8E4M3Fn,
    /// Four bits of the exponent, three of the fraction, no infinities, one zero.
    Float8E4M3Fnuz,
    /// The OCP's E5M2: five bits of the exponent, two of the fraction, with infinities.
    Float8E5M2,
    /// Five bits of the exponent, two of the fraction, no infinities, one zero.
    Float8E5M2Fnuz,
    /// The OCP's E8M0: powers of two, no sign, no zero, no infinities.
    Float8E8M0Fnu,
}

/// The kind of number a dtype holds, ordered by how kinds promote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// Truth values.
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
    /// The dtypes that are computed in, in declaration order.
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

    /// The floats of eight bits, in declaration order, which is that of DLPack's codes.
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

    /// What elements are aligned to, in bytes. Complex numbers are pairs of floats.
    pub const fn alignment(self) -> usize {
        if self.is_complex() { self.size() / 2 } else { self.size() }
    }

    /// The public name, as NumPy spells it (`"bool"` for [`DType::Bool`]).
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

    /// The dtype with this name, if there is one (`"bool_"` is accepted too).
    pub fn from_name(name: &str) -> Option<DType> {
        if name == "bool_" {
            return Some(DType::Bool);
        }
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The kind of number held.
    pub const fn kind(self) -> Kind {
        match self {
            DType::Bool => Kind::Bool,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Kind::Unsigned,
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => Kind::Signed,
            DType::Complex64 | DType::Complex128 => Kind::Complex,
            _ => Kind::Float,
        }
    }

    /// Is it a signed or unsigned integer (not bool)?
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Unsigned | Kind::Signed)
    }

    /// The smallest and the largest value of an integer dtype or of bool.
    pub const fn integer_bounds(self) -> Option<(i128, i128)> {
        let bits = self.size() as u32 * 8;
        match self.kind() {
            Kind::Bool => Some((0, 1)),
            Kind::Unsigned => Some((0, (1 << bits) - 1)),
            Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Float | Kind::Complex => None,
        }
    }

    /// Is it a real floating-point type?
    pub const fn is_floating(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Is it a float of eight bits? Those are kept and moved; what computes with them does so in float32.
    pub const fn is_float8(self) -> bool {
        self as u8 > DType::Complex128 as u8
    }

    /// The dtype whose elements are moved like this one's: uint8 for floats of eight bits, else itself.
    pub const fn storage_dtype(self) -> DType {
        if self.is_float8() { DType::UInt8 } else { self }
    }

    /// Is it complex?
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Is it real or complex floating point?
    pub const fn is_inexact(self) -> bool {
        self.is_floating() || self.is_complex()
    }

    /// Is it a 16-bit float, which computes in float32?
    pub const fn is_half(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16)
    }

    /// The floating type that functions such as `exp` answer in: itself if inexact, else float32. So are derivatives.
    pub const fn inexact(self) -> DType {
        if self.is_inexact() { self.compute_dtype() } else { DType::Float32 }
    }

    /// The dtype that is computed in where elements of this one are given: float32 for eight bits, else itself.
    pub const fn compute_dtype(self) -> DType {
        if self.is_float8() { DType::Float32 } else { self }
    }

    /// The dtype that sums and products answer in: small integers and bool widen to 32 bits.
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

    /// The real counterpart of a complex dtype; others answer themselves.
    pub const fn real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// The complex counterpart: complex128 for float64, else complex64.
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
