//! float8: the formats of the OCP's specifications, of IEEE's interim report P3109, and IEEE 754 scaled down to 8 bits, named as
//! by ml_dtypes and DLPack.

use crate::DType;

/// The encoding of an 8-bit float.
#[derive(Clone, Copy, Debug)]
pub struct Float8 {
    /// Number of fraction bits.
    fraction: u32,
    /// Exponent bias.
    bias: i32,
    /// The code of the largest finite number.
    largest: u8,
    /// The code for values out of range: infinity if the format has one, otherwise NaN.
    overflow_code: u8,
    /// The code of NaN.
    nan: u8,
    /// Whether it has a sign bit.
    is_signed: bool,
    /// Whether NaN takes the code of negative zero.
    has_one_zero: bool,
}

impl Float8 {
    /// The format of a dtype; `None` for other dtypes than float8.
    pub const fn of(dtype: DType) -> Option<Float8> {
        let (fraction, bias, largest, overflow_code, nan) = match dtype {
            DType::Float8E3M4 => (4, 3, 0x6f, 0x70, 0x78),
            DType::Float8E4M3 => (3, 7, 0x77, 0x78, 0x7c),
            DType::Float8E4M3B11Fnuz => (3, 11, 0x7f, 0x80, 0x80),
            DType::Float8E4M3Fn => (3, 7, 0x7e, 0x7f, 0x7f),
            DType::Float8E4M3Fnuz => (3, 8, 0x7f, 0x80, 0x80),
            DType::Float8E5M2 => (2, 15, 0x7b, 0x7c, 0x7e),
            DType::Float8E5M2Fnuz => (2, 16, 0x7f, 0x80, 0x80),
            DType::Float8E8M0Fnu => (0, 127, 0xfe, 0xff, 0xff),
            _ => return None,
        };
        let is_signed = !matches!(dtype, DType::Float8E8M0Fnu);
        Some(Float8 { fraction, bias, largest, overflow_code, nan, is_signed, has_one_zero: nan == 0x80 })
    }

    /// The value of a code; every value is a float32.
    #[inline]
    pub fn decode(self, code: u8) -> f32 {
        if !self.is_signed {
            return if code == self.nan {
                f32::NAN
            } else {
                power_of_two(i32::from(code) - self.bias) as f32
            };
        }
        let magnitude = code & 0x7f;
        let sign = if code & 0x80 == 0 { 1f64 } else { -1.0 };
        if self.has_one_zero && code == self.nan {
            return f32::NAN;
        }
        if !self.has_one_zero && magnitude > self.largest {
            let is_infinite = magnitude == self.overflow_code && self.overflow_code != self.nan;
            return if is_infinite { f32::INFINITY } else { f32::NAN }.copysign(sign as f32);
        }
        let exponent = i32::from(magnitude >> self.fraction);
        let fraction = f64::from(magnitude & ((1 << self.fraction) - 1));
        let unit = power_of_two(exponent.max(1) - self.bias - self.fraction as i32);
        let significand = if exponent == 0 { fraction } else { fraction + f64::from(1u32 << self.fraction) };
        (sign * significand * unit) as f32
    }

    /// The nearest code, ties to even. In the format of powers of two only, ties round up.
    ///
    /// Values out of range become infinity if the format has one, otherwise NaN. In the format without zero and sign, zero and
    /// negative values become NaN.
    #[inline]
    pub fn encode(self, value: f64) -> u8 {
        if !self.is_signed {
            return self.encode_power(value);
        }
        let sign = if value.is_sign_negative() && !self.has_one_zero { 0x80 } else { 0 };
        let magnitude = value.abs();
        if magnitude.is_nan() {
            return self.nan | sign;
        }
        if magnitude == f64::INFINITY {
            return self.overflow_code | sign;
        }
        let min_exponent = 1 - self.bias;
        // Exponents below the minimum share its unit: such values are subnormal.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(min_exponent);
        let units = (magnitude * power_of_two(self.fraction as i32 - exponent)).round_ties_even();
        let code = units as i64 + (i64::from(exponent - min_exponent) << self.fraction);
        if code > i64::from(self.largest) {
            return self.overflow_code | sign;
        }
        let code = code as u8;
        let is_negative = value.is_sign_negative() && !(self.has_one_zero && code == 0);
        code | if is_negative { 0x80 } else { 0 }
    }

    fn encode_power(self, value: f64) -> u8 {
        // This form of the condition also rejects NaN.
        if !(value > 0.0 && value < f64::INFINITY) {
            return self.nan;
        }
        let bits = value.to_bits();
        let exponent = (bits >> 52) as i32 - 1023 + i32::from(bits >> 51 & 1 == 1);
        let code = (exponent + self.bias).max(0);
        if code > i32::from(self.largest) { self.overflow_code } else { code as u8 }
    }

    /// Distance from 1 to the next larger number.
    pub fn epsilon(self) -> f64 {
        power_of_two(-(self.fraction as i32))
    }

    /// The largest finite number.
    pub fn max(self) -> f64 {
        f64::from(self.decode(self.largest))
    }

    /// The smallest (most negative) number.
    pub fn min(self) -> f64 {
        if self.is_signed { -self.max() } else { self.smallest_normal() }
    }

    /// The smallest positive normal number.
    pub fn smallest_normal(self) -> f64 {
        power_of_two(if self.is_signed { 1 - self.bias } else { -self.bias })
    }
}

/// Two to the power of an exponent in the range of normal doubles.
#[inline]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> impl Iterator<Item = (DType, Float8)> {
        DType::ALL.into_iter().filter_map(|dtype| Some((dtype, Float8::of(dtype)?)))
    }

    #[test]
    fn every_float8_dtype_has_a_format() {
        for dtype in DType::ALL {
            assert_eq!(Float8::of(dtype).is_some(), dtype.is_float8());
        }
    }

    #[test]
    fn codes_round_trip() {
        for (dtype, format) in formats() {
            for code in 0..=255 {
                let value = format.decode(code);
                if value.is_nan() {
                    assert!(format.decode(format.encode(value.into())).is_nan(), "{dtype} {code}");
                } else {
                    assert_eq!(format.encode(value.into()), code, "{dtype}");
                }
            }
        }
    }

    #[test]
    fn values_round_to_the_nearest_code() {
        for (dtype, format) in formats() {
            for code in 0..format.largest {
                let (low, high) = (f64::from(format.decode(code)), f64::from(format.decode(code + 1)));
                let middle = f64::midpoint(low, high);
                assert_eq!(format.encode(middle * (1.0 - 1e-9)), code, "{dtype}");
                assert_eq!(format.encode(middle * (1.0 + 1e-9)), code + 1, "{dtype}");
                let tie = if format.is_signed { code + code % 2 } else { code + 1 };
                assert_eq!(format.encode(middle), tie, "{dtype}");
            }
        }
    }

    #[test]
    fn range_limits() {
        let format = |dtype| Float8::of(dtype).unwrap();
        assert_eq!(format(DType::Float8E4M3Fn).max(), 448.0);
        assert_eq!(format(DType::Float8E5M2).max(), 57344.0);
        assert_eq!(format(DType::Float8E4M3B11Fnuz).max(), 30.0);
        assert_eq!(format(DType::Float8E8M0Fnu).min(), 2f64.powi(-127));
        assert_eq!(format(DType::Float8E4M3Fn).encode(464.0), 0x7e);
        assert_eq!(format(DType::Float8E4M3Fn).encode(-464.1), 0xff);
        assert_eq!(format(DType::Float8E5M2).encode(-1e300), 0xfc);
        assert_eq!(format(DType::Float8E4M3Fnuz).encode(-1e-300), 0);
        assert_eq!(format(DType::Float8E8M0Fnu).encode(0.0), 0xff);
        assert_eq!(format(DType::Float8E8M0Fnu).encode(1e-300), 0);
        assert_eq!(format(DType::Float8E8M0Fnu).encode(3e38), 0xff);
    }
}
