//! Maximum, exponentials of the differences from it, and their sum: most of the work of softmax and attention, for float32
//! with AVX-512 and AVX2.
//!
//! Hand-written intrinsics: the compiler spills these accumulators, does not use AVX-512 `vscalefps` (one instruction instead
//! of nine), and misses the shorter scaling by powers of two on AVX2. Other targets use the loops of [`row`](crate::row).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
use crate::isa::level;
use crate::row::LANES;

/// Vectors of [`LANES`] that are summed in float32 before they are added to a float64 sum.
#[cfg(target_arch = "x86_64")]
const TREE: usize = 8;

/// Below this difference from the maximum the exponential is zero.
#[cfg(target_arch = "x86_64")]
const UNDERFLOW: f32 = -105.0;

/// The maximum, NaN if any value is, negative infinity of an empty slice; `None` if this processor lacks the instructions.
#[inline]
pub fn max_of(values: &[f32]) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: the level guarantees AVX-512.
        2 => return Some(unsafe { avx512::max_of(values) }),
        // SAFETY: the level guarantees AVX2 and FMA.
        1 => return Some(unsafe { avx2::max_of(values) }),
        _ => {}
    }
    let _ = values;
    None
}

/// Write `e^(x - max)` of `count` values, a multiple of [`LANES`] of which none exceeds `max`, and add each to the sum of its
/// lane. NaN, and an infinite maximum itself, give NaN. Returns false, and does nothing, if this processor lacks the
/// instructions.
///
/// # Safety
/// `count` values are readable and writable; the ranges are equal or disjoint.
#[inline]
pub unsafe fn exponentials(
    from: *const f32,
    to: *mut f32,
    count: usize,
    max: f32,
    sums: &mut [f64; LANES],
) -> bool {
    debug_assert!(count.is_multiple_of(LANES));
    // SAFETY: the ranges are valid by this function's contract; the level guarantees the instructions.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        match level() {
            2 => avx512::exponentials(from, to, count, max, sums),
            1 => avx2::exponentials(from, to, count, max, sums),
            _ => return false,
        }
    }
    let _ = (from, to, count, max, sums);
    cfg!(target_arch = "x86_64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_accurate_and_propagate_nan() {
        let max = 3.25f32;
        let values: Vec<f32> = (0..400_000u32).map(|i| max - i as f32 * 2.7e-4).collect();
        let mut actual = vec![0.0; values.len()];
        let mut sums = [0.0; LANES];
        // SAFETY: the ranges are disjoint.
        if !unsafe { exponentials(values.as_ptr(), actual.as_mut_ptr(), values.len(), max, &mut sums) } {
            return;
        }
        let mut total = 0.0;
        for (&actual, x) in actual.iter().zip(values) {
            let exact = f64::from(x - max).exp();
            let unit = (exact * f64::from(f32::EPSILON)).max(f64::from(f32::from_bits(1)));
            assert!((f64::from(actual) - exact).abs() <= unit, "exp({x} - {max}) = {actual}, not {exact}");
            total += exact;
        }
        assert!((sums.iter().sum::<f64>() - total).abs() <= 1e-7 * total);
        let values: [f32; LANES] =
            std::array::from_fn(|i| [0.0, f32::NAN, -1e30, -104.5, f32::NEG_INFINITY][i.min(4)]);
        for (max, expected) in
            [(0.0, [1.0, f32::NAN, 0.0, 0.0, 0.0]), (f32::INFINITY, [0.0, f32::NAN, 0.0, 0.0, 0.0])]
        {
            let mut actual = [1.0f32; LANES];
            let mut sums = [0.0; LANES];
            // SAFETY: the ranges are disjoint.
            assert!(unsafe { exponentials(values.as_ptr(), actual.as_mut_ptr(), LANES, max, &mut sums) });
            for (lane, (actual, expected)) in actual.into_iter().zip(expected).enumerate() {
                assert!(
                    actual == expected || actual.is_nan() && expected.is_nan(),
                    "{actual}, not {expected}"
                );
                assert!(sums[lane] == f64::from(actual) || actual.is_nan() && sums[lane].is_nan());
            }
        }
        let mut values = [f32::NEG_INFINITY; LANES];
        let start = values.as_mut_ptr();
        // SAFETY: the ranges are equal.
        unsafe { exponentials(start, start, LANES, f32::NEG_INFINITY, &mut [0.0; LANES]) };
        assert!(values.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn the_maximum_is_found_at_every_index() {
        for length in [0, 1, 15, 16, 17, 63, 64, 65, 200] {
            let mut values: Vec<f32> = (0..length).map(|i| -1.0 - i as f32).collect();
            for index in 0..length {
                let before = std::mem::replace(&mut values[index], 7.0);
                assert!(max_of(&values).is_none_or(|actual| actual == 7.0), "{index} of {length}");
                values[index] = f32::NAN;
                assert!(max_of(&values).is_none_or(f32::is_nan), "{index} of {length}");
                values[index] = before;
            }
            let first = values.first().map_or(f32::NEG_INFINITY, |&first| first);
            assert!(max_of(&values).is_none_or(|actual| actual == first));
        }
    }
}
