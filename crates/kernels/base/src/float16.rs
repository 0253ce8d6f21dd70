//! Branch-free conversions between float16, bfloat16 and float32, so that loops over them vectorise.

use umber_types::{bf16, f16};

/// The float32 equal to a float16.
#[inline(always)]
pub fn f16_to_f32(value: f16) -> f32 {
    let half = value.to_bits() as u32;
    let magnitude = (half & 0x7fff) << 13;
    // Reinterpreted as float32, the exponent is 112 too low; the multiplication also normalises subnormals.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = if magnitude >= 31 << 23 { 255 << 23 } else { 0 };
    f32::from_bits(scaled | special | (half & 0x8000) << 16)
}

/// The float16 nearest to a float32, ties to even.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> f16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Subnormal results: adding 0.5 aligns the last bit of the result with the last bit of the sum, which is rounded.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(112 << 23) >> 13;
    let special = if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    let result = if magnitude < 113 << 23 {
        small
    } else if magnitude >= 143 << 23 {
        special
    } else {
        normal
    };
    f16::from_bits((result | bits >> 16 & 0x8000) as u16)
}

/// The float32 equal to a bfloat16.
#[inline(always)]
pub fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits((value.to_bits() as u32) << 16)
}

/// The bfloat16 nearest to a float32, ties to even.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> bf16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let quiet = bits | 1 << 22;
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    bf16::from_bits(((if nan { quiet } else { rounded }) >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(f32_to_f16(f16_to_f32(a)).is_nan(), a.is_nan());
            assert_eq!(f32_to_bf16(bf16_to_f32(b)).is_nan(), b.is_nan());
            if !a.is_nan() {
                assert_eq!(f16_to_f32(a).to_bits(), a.to_f32().to_bits());
                assert_eq!(f32_to_f16(f16_to_f32(a)).to_bits(), bits);
            }
            if !b.is_nan() {
                assert_eq!(f32_to_bf16(bf16_to_f32(b)).to_bits(), bits);
            }
        }
    }

    #[test]
    fn rounding_agrees_with_the_definition() {
        // A prime step visits every exponent and many rounding cases.
        for bits in (0..=u32::MAX).step_by(9973) {
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(f32_to_f16(value).to_bits(), f16::from_f32(value).to_bits(), "{value}");
                assert_eq!(f32_to_bf16(value).to_bits(), bf16::from_f32(value).to_bits(), "{value}");
            }
        }
        for half in 0..0x7c00u16 {
            let low = f16::from_bits(half).to_f32().to_bits();
            let high = f16::from_bits(half + 1).to_f32();
            let high = if high.is_infinite() { 65536f32.to_bits() } else { high.to_bits() };
            let middle = low + (high - low) / 2;
            for bits in [middle - 1, middle, middle + 1] {
                let value = f32::from_bits(bits);
                assert_eq!(f32_to_f16(value).to_bits(), f16::from_f32(value).to_bits(), "{value}");
            }
        }
    }
}
