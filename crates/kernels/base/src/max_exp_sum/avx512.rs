//! In registers of 64 bytes.

use std::arch::x86_64::*;

use super::{TREE, UNDERFLOW};
use crate::math::float32::{EXP, LN2_HIGH, LN2_LOW, LOG2_E_HIGH, ROUNDER};
use crate::row::LANES;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
/// [`super::max_of`].
pub(super) fn max_of(values: &[f32]) -> f32 {
    // Several side by side, as each comparison waits for the one before it.
    const INDEPENDENT: usize = 4;
    let mut peaks = [_mm512_set1_ps(f32::NEG_INFINITY); INDEPENDENT];
    let mut is_nan = 0;
    let mut blocks = values.chunks_exact(INDEPENDENT * LANES);
    for block in &mut blocks {
        for (i, max) in peaks.iter_mut().enumerate() {
            // SAFETY: a vector of the block.
            let x = unsafe { _mm512_loadu_ps(block.as_ptr().add(i * LANES)) };
            is_nan |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
            // Of NaN the processor answers its second operand.
            *max = _mm512_max_ps(x, *max);
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
#[inline]
fn exp(x: __m512) -> __m512 {
    let rounder = _mm512_set1_ps(ROUNDER);
    // Further below exponentials are zero; of NaN the processor answers its second operand.
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
/// As [`super::exponentials`], on a processor with the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn exponentials(
    from: *const f32,
    to: *mut f32,
    count: usize,
    max: f32,
    sums: &mut [f64; LANES],
) {
    let (low, high) = sums.split_at_mut(LANES / 2);
    // SAFETY: eight numbers each.
    let mut totals = unsafe { [_mm512_loadu_pd(low.as_ptr()), _mm512_loadu_pd(high.as_ptr())] };
    let max = _mm512_set1_ps(max);
    let take = |at: usize| {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let made = exp(_mm512_sub_ps(_mm512_loadu_ps(from.add(at)), max));
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
