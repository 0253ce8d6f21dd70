//! Type promotion: the dtype of an operation on two dtypes, as a table.
//!
//! The rules are MLX's. Bool promotes to every other dtype. Integers widen to hold both, except that uint64 and a
//! signed integer have no common integer dtype and give float32. float16 and bfloat16 give float32. A complex dtype and
//! float64 give complex128. A float8 dtype, which MLX does not have, promotes to every float that is not float8; with a different
//! float8 dtype, an integer dtype or bool it gives float32.

use crate::DType;
use crate::dtype::DType::*;

/// Row: left dtype, column: right dtype, both in the order of [`DType::COMPUTE`].
#[rustfmt::skip]
const TABLE: [[DType; 15]; 15] = [
    // Bool     UInt8     UInt16    UInt32    UInt64    Int8      Int16     Int32     Int64     Float16   BFloat16  Float32   Float64     Complex64   Complex128
    [Bool,      UInt8,    UInt16,   UInt32,   UInt64,   Int8,     Int16,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [UInt8,     UInt8,    UInt16,   UInt32,   UInt64,   Int16,    Int16,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [UInt16,    UInt16,   UInt16,   UInt32,   UInt64,   Int32,    Int32,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [UInt32,    UInt32,   UInt32,   UInt32,   UInt64,   Int64,    Int64,    Int64,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [UInt64,    UInt64,   UInt64,   UInt64,   UInt64,   Float32,  Float32,  Float32,  Float32,  Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Int8,      Int16,    Int32,    Int64,    Float32,  Int8,     Int16,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Int16,     Int16,    Int32,    Int64,    Float32,  Int16,    Int16,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Int32,     Int32,    Int32,    Int64,    Float32,  Int32,    Int32,    Int32,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Int64,     Int64,    Int64,    Int64,    Float32,  Int64,    Int64,    Int64,    Int64,    Float16,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Float16,   Float16,  Float16,  Float16,  Float16,  Float16,  Float16,  Float16,  Float16,  Float16,  Float32,  Float32,  Float64,    Complex64,  Complex128],
    [BFloat16,  BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, BFloat16, Float32,  BFloat16, Float32,  Float64,    Complex64,  Complex128],
    [Float32,   Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float32,  Float64,    Complex64,  Complex128],
    [Float64,   Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,  Float64,    Complex128, Complex128],
    [Complex64, Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex64,Complex128, Complex64,  Complex128],
    [Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128,Complex128],
];

/// The dtype that holds the result of an operation on `a` and `b`.
pub const fn promote(a: DType, b: DType) -> DType {
    match (a.is_float8(), b.is_float8()) {
        (false, false) => TABLE[a as usize][b as usize],
        (true, false) => b.inexact(),
        (false, true) => a.inexact(),
        (true, true) => {
            if a as u8 == b as u8 {
                a
            } else {
                Float32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_idempotent_and_never_below_either_kind() {
        for a in DType::COMPUTE {
            assert_eq!(promote(a, a), a);
            for b in DType::COMPUTE {
                let c = promote(a, b);
                assert_eq!(c, promote(b, a), "{a} {b}");
                assert!(c.kind() >= a.kind().max(b.kind()), "{a} {b} -> {c}");
                assert_eq!(promote(c, a), c, "{a} {b} -> {c}");
            }
        }
    }

    #[test]
    fn floats_of_eight_bits_give_way() {
        for a in DType::FLOAT8 {
            for b in DType::ALL {
                let expected = if a == b { a } else { b.inexact() };
                assert_eq!((promote(a, b), promote(b, a)), (expected, expected), "{a} {b}");
            }
        }
    }

    #[test]
    fn integers_hold_both_operands() {
        for a in DType::COMPUTE.into_iter().filter(|d| d.is_integer()) {
            for b in DType::COMPUTE.into_iter().filter(|d| d.is_integer()) {
                let c = promote(a, b);
                let mixed = a.kind() != b.kind();
                if mixed && (a == UInt64 || b == UInt64) {
                    assert_eq!(c, Float32);
                } else {
                    let unsigned = if a.kind() == crate::Kind::Unsigned { a } else { b };
                    let needed = if mixed { unsigned.size() * 2 } else { 0 };
                    assert!(c.is_integer() && c.size() >= a.size().max(b.size()).max(needed));
                }
            }
        }
    }
}
