//! Truncation of real numbers to integers, one rule for constants and kernels.

/// Truncate to 32 bits towards zero, as the x86 instruction `cvttsd2si` does: values out of range and NaN give the minimum.
/// MLX and NumPy have the same results on x86.
#[inline(always)]
pub fn to_i32(value: f64) -> i32 {
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}

/// As [`to_i32`], for 64 bits.
#[inline(always)]
pub fn to_i64(value: f64) -> i64 {
    if value < 9_223_372_036_854_775_808.0 { value as i64 } else { i64::MIN }
}

/// As [`to_i64`] below 2^63, with negative values reinterpreted in two's complement; values from 2^64 on give 0.
#[inline(always)]
pub fn to_u64(value: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if value >= HALF { (to_i64(value - HALF) as u64) ^ (1 << 63) } else { to_i64(value) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Scalar};

    #[test]
    fn real_numbers_become_integers_as_on_x86() {
        let cases =
            [1e10, -1e10, f64::NAN, f64::INFINITY, 3e9, -1.5, 1e20, -2_147_483_648.9, 2_147_483_647.9];
        let narrow = [i32::MIN, i32::MIN, i32::MIN, i32::MIN, i32::MIN, -1, i32::MIN, i32::MIN, i32::MAX];
        assert_eq!(cases.map(to_i32), narrow);
        assert_eq!([1e10, f64::NAN, -1e20, 1e20].map(to_i64), [10_000_000_000, i64::MIN, i64::MIN, i64::MIN]);
        assert_eq!(
            [1e19, f64::NAN, -1.0, 1e20].map(to_u64),
            [10_000_000_000_000_000_000, 1 << 63, u64::MAX, 0]
        );
        assert_eq!(Scalar::Float(1e10).cast(DType::Int32), Scalar::Int(i64::from(i32::MIN)));
        assert_eq!(Scalar::Float(300.5).cast(DType::UInt8), Scalar::UInt(44));
        assert_eq!(Scalar::Float(3e9).cast(DType::UInt32), Scalar::UInt(3_000_000_000));
    }
}
