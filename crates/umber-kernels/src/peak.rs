//! The greatest of some numbers, the exponentials of what lies below it, and their sum: most of the work of softmax and of
//! attention, for float32 in the instructions of AVX-512.
//!
//! The compiler keeps the sides of such loops in memory, and does not find the processor's own multiplication by powers of two,
//! which takes the place of nine operations. So they are written out here, and elsewhere they are loops of [`row`](crate::row).

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
use crate::isa::level;
#[cfg(target_arch = "x86_64")]
use crate::math::float32::{EXP, LN2_HIGH, LN2_LOW, LOG2_E_HIGH, ROUNDER};
use crate::row::LANES;

/// Vectors whose sum is taken before it becomes part of one in float64.
const TREE: usize = 8;

/// The greatest of some numbers, NaN if one is, negative infinity of none; `None` if this processor lacks the instructions.
#[inline]
pub(crate) fn greatest(values: &[f32]) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    if level() >= 2 {
        // SAFETY: the level says what the processor has.
        return Some(unsafe { greatest_avx512(values) });
    }
    let _ = values;
    None
}

/// Write `e^(x - peak)` of `count` numbers, a multiple of [`LANES`] of which none is greater than `peak`, and add each to the sum
/// of its lane. Of NaN, and of an infinite peak itself, it is NaN. Answers whether this processor has the instructions: if not,
/// nothing was done.
///
/// # Safety
/// So many numbers are readable and writable; both places are the same or lie apart.
#[inline]
pub(crate) unsafe fn exponentials(
    from: *const f32,
    to: *mut f32,
    count: usize,
    peak: f32,
    sums: &mut [f64; LANES],
) -> bool {
    debug_assert!(count.is_multiple_of(LANES));
    #[cfg(target_arch = "x86_64")]
    if level() >= 2 {
        // SAFETY: passed on; the level says what the processor has.
        unsafe { exponentials_avx512(from, to, count, peak, sums) };
        return true;
    }
    let _ = (from, to, count, peak, sums);
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
fn greatest_avx512(values: &[f32]) -> f32 {
    // Several side by side, as each comparison waits for the one before it.
    const ABREAST: usize = 4;
    let mut peaks = [_mm512_set1_ps(f32::NEG_INFINITY); ABREAST];
    let mut is_nan = 0;
    let mut blocks = values.chunks_exact(ABREAST * LANES);
    for block in &mut blocks {
        for (i, peak) in peaks.iter_mut().enumerate() {
            // SAFETY: a vector of the block.
            let x = unsafe { _mm512_loadu_ps(block.as_ptr().add(i * LANES)) };
            is_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            // Of NaN the processor answers its second operand.
            *peak = _mm512_max_ps(x, *peak);
        }
    }
    for vector in blocks.remainder().chunks(LANES) {
        let mask = u16::MAX >> (LANES - vector.len());
        // SAFETY: what is masked is not read.
        let x = unsafe { _mm512_mask_loadu_ps(peaks[0], mask, vector.as_ptr()) };
        is_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        peaks[0] = _mm512_max_ps(x, peaks[0]);
    }
    if is_nan != 0 {
        return f32::NAN;
    }
    let [a, b, c, d] = peaks;
    _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(a, b), _mm512_max_ps(c, d)))
}

/// As [`exp`](crate::math::float32::exp), of what cannot overflow.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
#[inline]
fn exp_avx512(x: __m512) -> __m512 {
    let rounder = _mm512_set1_ps(ROUNDER);
    // Further below exponentials are zero; of NaN the processor answers its second operand.
    let x = _mm512_max_ps(_mm512_set1_ps(-105.0), x);
    let n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(LOG2_E_HIGH), rounder), rounder);
    let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_HIGH), x);
    let r = _mm512_fnmadd_ps(n, _mm512_set1_ps(LN2_LOW), r);
    let mut p = _mm512_set1_ps(EXP[4]);
    for &coefficient in EXP[..4].iter().rev() {
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(coefficient));
    }
    let p = _mm512_add_ps(_mm512_fmadd_ps(_mm512_mul_ps(r, r), p, r), _mm512_set1_ps(1.0));
    _mm512_scalef_ps(p, n)
}

/// # Safety
/// As [`exponentials`], on a processor with the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn exponentials_avx512(
    from: *const f32,
    to: *mut f32,
    count: usize,
    peak: f32,
    sums: &mut [f64; LANES],
) {
    let (low, high) = sums.split_at_mut(LANES / 2);
    // SAFETY: eight numbers each.
    let mut totals = unsafe { [_mm512_loadu_pd(low.as_ptr()), _mm512_loadu_pd(high.as_ptr())] };
    let peak = _mm512_set1_ps(peak);
    let take = |at: usize| {
        // SAFETY: the caller's promise.
        unsafe {
            let made = exp_avx512(_mm512_sub_ps(_mm512_loadu_ps(from.add(at)), peak));
            _mm512_storeu_ps(to.add(at), made);
            made
        }
    };
    let add = |totals: &mut [__m512d; 2], some: __m512| {
        totals[0] = _mm512_add_pd(totals[0], _mm512_cvtps_pd(_mm512_castps512_ps256(some)));
        totals[1] = _mm512_add_pd(totals[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(some)));
    };
    let mut at = 0;
    while at + TREE * LANES <= count {
        let pair = |i: usize| _mm512_add_ps(take(at + i * LANES), take(at + (i + 1) * LANES));
        let quarters = [_mm512_add_ps(pair(0), pair(2)), _mm512_add_ps(pair(4), pair(6))];
        add(&mut totals, _mm512_add_ps(quarters[0], quarters[1]));
        at += TREE * LANES;
    }
    while at < count {
        add(&mut totals, take(at));
        at += LANES;
    }
    // SAFETY: as above.
    unsafe {
        _mm512_storeu_pd(low.as_mut_ptr(), totals[0]);
        _mm512_storeu_pd(high.as_mut_ptr(), totals[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_accurate_and_know_what_is_no_number() {
        let peak = 3.25f32;
        let values: Vec<f32> = (0..400_000u32).map(|i| peak - i as f32 * 2.7e-4).collect();
        let mut found = vec![0.0; values.len()];
        let mut sums = [0.0; LANES];
        // SAFETY: the places lie apart.
        if !unsafe { exponentials(values.as_ptr(), found.as_mut_ptr(), values.len(), peak, &mut sums) } {
            return;
        }
        let mut total = 0.0;
        for (&found, x) in found.iter().zip(values) {
            let exact = f64::from(x - peak).exp();
            let unit = (exact * f64::from(f32::EPSILON)).max(f64::from(f32::from_bits(1)));
            assert!((f64::from(found) - exact).abs() <= unit, "exp({x} - {peak}) = {found}, not {exact}");
            total += exact;
        }
        assert!((sums.iter().sum::<f64>() - total).abs() <= 1e-7 * total);
        let few: [f32; LANES] =
            std::array::from_fn(|i| [0.0, f32::NAN, -1e30, -104.5, f32::NEG_INFINITY][i.min(4)]);
        for (peak, expected) in
            [(0.0, [1.0, f32::NAN, 0.0, 0.0, 0.0]), (f32::INFINITY, [0.0, f32::NAN, 0.0, 0.0, 0.0])]
        {
            let mut found = [1.0f32; LANES];
            let mut sums = [0.0; LANES];
            // SAFETY: the places lie apart.
            assert!(unsafe { exponentials(few.as_ptr(), found.as_mut_ptr(), LANES, peak, &mut sums) });
            for (lane, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                assert!(found == expected || found.is_nan() && expected.is_nan(), "{found}, not {expected}");
                assert!(sums[lane] == f64::from(found) || found.is_nan() && sums[lane].is_nan());
            }
        }
        let mut nothing = [f32::NEG_INFINITY; LANES];
        let start = nothing.as_mut_ptr();
        // SAFETY: the places are the same.
        unsafe { exponentials(start, start, LANES, f32::NEG_INFINITY, &mut [0.0; LANES]) };
        assert!(nothing.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn the_greatest_is_found_wherever_it_is() {
        for length in [0, 1, 15, 16, 17, 63, 64, 65, 200] {
            let mut values: Vec<f32> = (0..length).map(|i| -1.0 - i as f32).collect();
            for place in 0..length {
                let before = std::mem::replace(&mut values[place], 7.0);
                assert!(greatest(&values).is_none_or(|found| found == 7.0), "{place} of {length}");
                values[place] = f32::NAN;
                assert!(greatest(&values).is_none_or(f32::is_nan), "{place} of {length}");
                values[place] = before;
            }
            let first = values.first().map_or(f32::NEG_INFINITY, |&first| first);
            assert!(greatest(&values).is_none_or(|found| found == first));
        }
    }
}
