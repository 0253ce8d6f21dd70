//! Implementation with 32-byte registers.

use std::arch::x86_64::*;

use super::{TREE, UNDERFLOW};
use crate::math::float32::{EXP, LN2_HIGH, LN2_LOW, LOG2_E_HIGH, ROUNDER};
use crate::row::LANES;

/// Floats per register.
const WIDTH: usize = 8;

/// [`super::max_of`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn max_of(values: &[f32]) -> f32 {
    // Independent accumulators hide the latency of the comparison.
    const INDEPENDENT: usize = 4;
    let mut maxima = [_mm256_set1_ps(f32::NEG_INFINITY); INDEPENDENT];
    let mut is_nan = [_mm256_setzero_ps(); INDEPENDENT];
    let mut blocks = values.chunks_exact(INDEPENDENT * WIDTH);
    for block in &mut blocks {
        for i in 0..INDEPENDENT {
            // SAFETY: the vector lies inside the block.
            let x = unsafe { _mm256_loadu_ps(block.as_ptr().add(i * WIDTH)) };
            is_nan[i] = _mm256_or_ps(is_nan[i], _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x));
            // `maxps` returns its second operand if either is NaN.
            maxima[i] = _mm256_max_ps(x, maxima[i]);
        }
    }
    let [a, b, c, d] = maxima;
    let max = _mm256_max_ps(_mm256_max_ps(a, b), _mm256_max_ps(c, d));
    let [a, b, c, d] = is_nan;
    let mut is_nan = _mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(a, b), _mm256_or_ps(c, d))) != 0;
    let mut lanes = [0.0; WIDTH];
    // SAFETY: the array holds one vector.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), max) };
    let mut result = f32::NEG_INFINITY;
    for &x in lanes.iter().chain(blocks.remainder()) {
        is_nan |= x.is_nan();
        result = if x > result { x } else { result };
    }
    if is_nan { f32::NAN } else { result }
}

/// As [`exp`](crate::math::float32::exp), for arguments that cannot overflow.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn exp(x: __m256) -> __m256 {
    // Biases the exponent by 64; the last multiplication removes it, so that subnormal results are rounded once. With the
    // exponent bias included, the low bits of the rounded number are those of the power of two.
    const UP: f32 = 64.0;
    let rounder = _mm256_set1_ps(ROUNDER + 127.0 + UP);
    // `maxps` returns its second operand if either is NaN, so NaN is kept.
    let x = _mm256_max_ps(_mm256_set1_ps(UNDERFLOW), x);
    let rounded = _mm256_fmadd_ps(x, _mm256_set1_ps(LOG2_E_HIGH), rounder);
    let power = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(rounded)));
    let n = _mm256_sub_ps(rounded, rounder);
    let r = _mm256_fnmadd_ps(n, _mm256_set1_ps(LN2_HIGH), x);
    let r = _mm256_fnmadd_ps(n, _mm256_set1_ps(LN2_LOW), r);
    let mut p = _mm256_set1_ps(EXP[4]);
    for &coefficient in EXP[..4].iter().rev() {
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(coefficient));
    }
    let p = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r), _mm256_set1_ps(1.0));
    _mm256_mul_ps(_mm256_mul_ps(p, power), _mm256_set1_ps(const { 1.0 / (1u128 << UP as u32) as f32 }))
}

/// # Safety
/// As of [`super::exponentials`]; the processor has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn exponentials(
    from: *const f32,
    to: *mut f32,
    count: usize,
    max: f32,
    sums: &mut [f64; LANES],
) {
    const TOTALS: usize = LANES / 4;
    let mut totals = [_mm256_setzero_pd(); TOTALS];
    for (total, sums) in totals.iter_mut().zip(sums.chunks_exact(4)) {
        // SAFETY: the array holds four float64 values.
        *total = unsafe { _mm256_loadu_pd(sums.as_ptr()) };
    }
    let max = _mm256_set1_ps(max);
    let exp_at = |at: usize| {
        // SAFETY: the ranges are valid by this function's contract.
        unsafe {
            let result = exp(_mm256_sub_ps(_mm256_loadu_ps(from.add(at)), max));
            _mm256_storeu_ps(to.add(at), result);
            result
        }
    };
    let add = |totals: &mut [__m256d], values: __m256| {
        totals[0] = _mm256_add_pd(totals[0], _mm256_cvtps_pd(_mm256_castps256_ps128(values)));
        totals[1] = _mm256_add_pd(totals[1], _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(values)));
    };
    let mut at = 0;
    while at + TREE * LANES <= count {
        for (half, totals) in totals.chunks_exact_mut(2).enumerate() {
            let start = at + half * WIDTH;
            let pair = |i: usize| _mm256_add_ps(exp_at(start + i * LANES), exp_at(start + (i + 1) * LANES));
            let quarters = [_mm256_add_ps(pair(0), pair(2)), _mm256_add_ps(pair(4), pair(6))];
            add(totals, _mm256_add_ps(quarters[0], quarters[1]));
        }
        at += TREE * LANES;
    }
    while at < count {
        for (half, totals) in totals.chunks_exact_mut(2).enumerate() {
            add(totals, exp_at(at + half * WIDTH));
        }
        at += LANES;
    }
    for (total, sums) in totals.into_iter().zip(sums.chunks_exact_mut(4)) {
        // SAFETY: the array holds four float64 values.
        unsafe { _mm256_storeu_pd(sums.as_mut_ptr(), total) };
    }
}
