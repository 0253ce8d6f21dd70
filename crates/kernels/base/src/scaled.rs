//! Scaling by powers of two, so that squares neither overflow nor underflow.

use crate::row::Compute;

/// A power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    exponent: i32,
}

impl Scale {
    /// The identity.
    pub const ONE: Scale = Scale { exponent: 0 };

    /// The scale that brings finite values of magnitude up to `max_abs` close to one.
    pub fn of(max_abs: f64) -> Scale {
        // Subnormals have the exponent of the smallest normal number.
        let biased = (max_abs.to_bits() >> 52 & 0x7ff).max(1) as i32;
        Scale { exponent: if max_abs == 0.0 { 0 } else { biased - 1023 } }
    }

    /// Divide a number by the power.
    #[inline]
    pub fn apply(self, value: f64) -> f64 {
        times_power_of_two(value, -self.exponent)
    }

    /// Multiply a number by the power.
    #[inline]
    pub fn restore(self, value: f64) -> f64 {
        times_power_of_two(value, self.exponent)
    }
}

/// `x 2^n` for `n` within twice the range of exponents: two factors, both normal numbers.
#[inline]
fn times_power_of_two(x: f64, n: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    let half = n / 2;
    x * power(half) * power(n - half)
}

/// True if a sum of squares of `count` values may have overflowed, or lost terms to underflow. Terms that underflow are
/// negligible if the mean square does not.
#[inline(always)]
pub fn are_squares_lost<W: Compute>(squares: f64, count: f64) -> bool {
    let min_mean = const {
        let exponent: u64 = if size_of::<W>() == 4 { 100 } else { 960 };
        f64::from_bits((1023 - exponent) << 52)
    };
    !(squares >= min_mean * count && squares.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_normalise_and_restore_numbers() {
        for value in [f64::MAX, 1e300, 3.0, 1.0, 1e-300, f64::MIN_POSITIVE, 5e-324] {
            let scale = Scale::of(value);
            let scaled = scale.apply(value);
            assert!((1e-16..2.0).contains(&scaled), "{value}: {scaled}");
            assert_eq!(scale.restore(scaled), value);
        }
        assert_eq!(Scale::of(0.0), Scale::ONE);
    }

    #[test]
    fn squares_are_lost_outside_of_the_range() {
        assert!(are_squares_lost::<f32>(0.0, 1.0) && are_squares_lost::<f32>(f64::INFINITY, 1.0));
        assert!(are_squares_lost::<f32>(f64::NAN, 1.0) && !are_squares_lost::<f64>(1e-280, 1.0));
        assert!(!are_squares_lost::<f32>(1.0, 1e6) && are_squares_lost::<f32>(1.0, 1e31));
    }
}
