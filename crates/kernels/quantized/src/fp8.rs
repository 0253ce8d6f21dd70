//! FP4 (E2M1), float8 (E4M3) and power-of-two scales (E8M0), as in the OCP Microscaling specification.

use umber_kernels_base::dense::dense;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{Compute, Real};
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::match_dtype;

/// The largest finite E2M1 value.
pub(super) const LARGEST_FP4: f64 = 6.0;
/// The largest finite E4M3 value.
pub(super) const LARGEST_FP8: f64 = 448.0;

/// Convert the E4M3 in the low eight bits to float32.
#[inline(always)]
pub(super) fn from_fp8(code: u32) -> f32 {
    let magnitude = code & 0x7f;
    // Not by a product with a denormal float32, which would be slow.
    let normal = f32::from_bits((magnitude << 20).wrapping_add(120 << 23)).to_bits();
    let small = (magnitude as f32 * (1.0 / 512.0)).to_bits();
    let value = if magnitude < 8 { small } else { normal };
    let value = if magnitude == 0x7f { f32::NAN.to_bits() } else { value };
    f32::from_bits(value | (code & 0x80) << 24)
}

/// Round a float32 to the nearest E4M3, ties to even. Larger magnitudes become the largest value, NaN stays NaN.
#[inline(always)]
pub(super) fn to_fp8(value: f32) -> u32 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let small = (f32::from_bits(magnitude.min(1 << 30)) * 512.0).round_ties_even() as i32 as u32;
    let rounded = magnitude.wrapping_add(0x7_ffff).wrapping_add(magnitude >> 20 & 1) >> 20;
    let normal = rounded.wrapping_sub(120 << 3).min(126);
    let code = if magnitude < 121 << 23 { small } else { normal };
    let code = if magnitude > 0x7f80_0000 { 127 } else { code };
    code | bits >> 24 & 0x80
}

/// Convert the E2M1 in the low four bits to float32.
#[inline(always)]
pub(super) fn from_fp4(code: u32) -> f32 {
    // Twice the value is an integer.
    let (exponent, fraction) = (code >> 1 & 3, code & 1);
    let doubled = if exponent == 0 { fraction } else { (2 | fraction) << (exponent - 1) };
    let value = doubled as f32 * 0.5;
    if code & 8 == 0 { value } else { -value }
}

/// Round to the nearest E2M1, ties towards zero, as MLX does. NaN becomes zero, and zero is never negative.
#[inline(always)]
pub(super) fn to_fp4(value: f32) -> u32 {
    let magnitude = value.abs();
    let above = |bound: f32| u32::from(magnitude > bound);
    let code = above(0.25) + above(0.75) + above(1.25) + above(1.75) + above(2.5) + above(3.5) + above(5.0);
    code | if value < 0.0 && code > 0 { 8 } else { 0 }
}

/// Convert an E8M0 to its power of two.
#[inline(always)]
pub(super) fn from_e8m0(code: u8) -> f32 {
    f32::from_bits(if code == 0 { 1 << 22 } else { u32::from(code) << 23 })
}

/// The E8M0 of the smallest power of two that is not below a value; 1 for zero.
#[inline(always)]
pub(super) fn to_e8m0(value: f64) -> u8 {
    if value == 0.0 {
        return 127;
    }
    let bits = value.to_bits() & !(1 << 63);
    let exponent = (bits >> 52) as i64 - 1023 + i64::from(bits & ((1 << 52) - 1) != 0);
    (exponent.clamp(-127, 127) + 127) as u8
}

/// Round a float64 to odd: a float32 whose last bit records whether it is inexact, so that further rounding to fewer bits
/// gives the same result as from the float64.
#[inline(always)]
pub(super) fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(back.abs() > value.abs());
    f32::from_bits(towards_zero | 1)
}

/// E4M3 codes (uint8) of floats.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn encode_fp8(src: View, mut dst: ViewMut) {
    let target = Target::over(dst.as_mut_slice::<u8>().expect("dense uint8"));
    match_dtype!(float src.dtype(), T => {
        let values = dense::<T>(src);
        each(values.len(), |i| {
            // SAFETY: inside the output, which has the same length; every element is written once.
            unsafe { *target.at(i as isize) = to_fp8(round_to_odd(values[i].widen().wide())) as u8 };
        });
    }, else => panic!("codes are of floats"));
}

/// Decode E4M3 codes to floats.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn decode_fp8(src: View, dst: ViewMut) {
    assert!(dst.layout().is_contiguous(), "the output is dense");
    let codes = dense::<u8>(src);
    match_dtype!(float dst.dtype(), T => {
        let target = Target::<T>::of(&dst);
        each(codes.len(), |i| {
            let value = <T as Real>::Compute::nearest(f64::from(from_fp8(u32::from(codes[i]))));
            // SAFETY: inside the output, which has the same length; every element is written once.
            unsafe { *target.at(i as isize) = T::narrow(value) };
        });
    }, else => panic!("codes are of floats"));
}

/// Call `write` with every index below `count`, in parallel.
#[inline(always)]
fn each(count: usize, write: impl Fn(usize) + Sync) {
    parallel_ranges(count, 1 << 14, |range| {
        vectorised(
            #[inline(always)]
            || {
                for i in range {
                    write(i);
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for code in 0..256u32 {
            let value = from_fp8(code);
            let (exponent, fraction) = ((code >> 3 & 15) as i32, f64::from(code & 7));
            let magnitude = if exponent == 0 {
                fraction / 512.0
            } else {
                (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7)
            };
            if code & 0x7f == 0x7f {
                assert!(value.is_nan());
            } else {
                assert_eq!(f64::from(value.abs()), magnitude);
                assert_eq!(value.is_sign_negative(), code >= 128);
            }
            assert_eq!(to_fp8(value), code);
        }
        for code in 0..16u32 {
            assert_eq!(to_fp4(from_fp4(code)), if code == 8 { 0 } else { code });
        }
        for code in 0..255u8 {
            assert_eq!(to_e8m0(f64::from(from_e8m0(code))), code);
        }
    }

    #[test]
    fn values_round_to_the_nearest_code() {
        for code in 0..126u32 {
            let (low, high) = (f64::from(from_fp8(code)), f64::from(from_fp8(code + 1)));
            let middle = f64::midpoint(low, high);
            assert_eq!(to_fp8(round_to_odd(middle)), code + code % 2);
            assert_eq!(to_fp8(round_to_odd(middle * (1.0 - 1e-12))), code);
            assert_eq!(to_fp8(round_to_odd(middle * (1.0 + 1e-12))), code + 1);
        }
        for large in [449.0, 464.1, 1e30, f32::INFINITY] {
            assert_eq!((to_fp8(large), to_fp8(-large)), (126, 254));
        }
        assert_eq!(to_fp4(f32::INFINITY), 7);
        assert_eq!(to_fp4(-0.25), 0);
    }
}
