//! Implementation with 64-byte registers.

use std::arch::x86_64::*;

use super::{TREE, UNDERFLOW};
use crate::math::float32::{EXP, LN2_HIGH, LN2_LOW, LOG2_E_HIGH, ROUNDER};
use crate::row::LANES;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
/// [`super::max_of`].
pub(super) fn max_of(values: &[f32]) -> f32 {
    // Independent accumulators hide the latency of the comparison.
    const INDEPENDENT: usize = 4;
    let mut maxima = [_mm512_set1_ps(f32::NEG_INFINITY); INDEPENDENT];
    let mut is_nan = 0;
    let mut blocks = values.chunks_exact(INDEPENDENT * LANES);
    for block in &mut blocks {
        for (i, max) in maxima.iter_mut().enumerate() {
            // SAFETY: the vector lies inside the block.
            let x = unsafe { _mm512_loadu_ps(block.as_ptr().add(i * LANES)) };
            is_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            // `maxps` returns its second operand if either is NaN.
            *max = _mm512_max_ps(x, *max);
        }
    }
    for vector in blocks.remainder().chunks(LANES) {
        let mask = u16::MAX >> (LANES - vector.len());
        // SAFETY: masked lanes are not read.
        let x = unsafe { _mm512_mask_loadu_ps(maxima[0], mask, vector.as_ptr()) };
        is_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        maxima[0] = _mm512_max_ps(x, maxima[0]);
    }
    if is_nan != 0 {
        return f32::NAN;
    }
    let [a, b, c, d] = maxima;
    _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(a, b), _mm512_max_ps(c, d)))
}

/// As [`exp`](crate::math::float32::exp), for arguments that cannot overflow.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
#[inline]
fn exp(x: __m512) -> __m512 {
    let rounder = _mm512_set1_ps(ROUNDER);
    // Below the limit the result is zero. `maxps` returns its second operand if either is NaN, so NaN is kept.
    let x = _mm512_max_ps(_mm512_set1_ps(UNDERFLOW), x);
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
/// As of [`super::exponentials`]; the processor has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn exponentials(
    from: *const f32,
    to: *mut f32,
    count: usize,
    max: f32,
    sums: &mut [f64; LANES],
) {
    let (low, high) = sums.split_at_mut(LANES / 2);
    // SAFETY: each half of the array holds eight float64 values.
    let mut totals = unsafe { [_mm512_loadu_pd(low.as_ptr()), _mm512_loadu_pd(high.as_ptr())] };
    let max = _mm512_set1_ps(max);
    let exp_at = |at: usize| {
        // SAFETY: the ranges are valid by this function's contract.
        unsafe {
            let result = exp(_mm512_sub_ps(_mm512_loadu_ps(from.add(at)), max));
            _mm512_storeu_ps(to.add(at), result);
            result
        }
    };
    let add = |totals: &mut [__m512d; 2], values: __m512| {
        totals[0] = _mm512_add_pd(totals[0], _mm512_cvtps_pd(_mm512_castps512_ps256(values)));
        totals[1] = _mm512_add_pd(totals[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(values)));
    };
    let mut at = 0;
    while at + TREE * LANES <= count {
        let pair = |i: usize| _mm512_add_ps(exp_at(at + i * LANES), exp_at(at + (i + 1) * LANES));
        let quarters = [_mm512_add_ps(pair(0), pair(2)), _mm512_add_ps(pair(4), pair(6))];
        add(&mut totals, _mm512_add_ps(quarters[0], quarters[1]));
        at += TREE * LANES;
    }
    while at < count {
        add(&mut totals, exp_at(at));
        at += LANES;
    }
    // SAFETY: each half of the array holds eight float64 values.
    unsafe {
        _mm512_storeu_pd(low.as_mut_ptr(), totals[0]);
        _mm512_storeu_pd(high.as_mut_ptr(), totals[1]);
    }
}
