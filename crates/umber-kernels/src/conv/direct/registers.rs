//! Sums kept in registers: a few outputs times a few vectors of channels, or a few terms of the kernel times as many.
//!
//! Vectors are used in plain loops only: a closure would not be compiled for the instructions they need.

use crate::matmul::lanes::{Lanes, Ring};

/// A term of a position in a copy of the input: one number for all channels, or where each channel meets its `OWN` a vector
/// of them.
#[inline(always)]
unsafe fn left<W: Ring, V: Lanes<W>, const OWN: bool>(from: *const W, c: usize) -> V {
    // SAFETY: the caller's.
    unsafe { if OWN { V::load(from.add(c * V::COUNT)) } else { V::splat(*from) } }
}

/// Vectors one after the other.
#[inline(always)]
unsafe fn vectors<W: Ring, V: Lanes<W>, const C: usize>(from: *const W) -> [V; C] {
    let mut found = [V::splat(W::ZERO); C];
    for (c, vector) in found.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *vector = unsafe { V::load(from.add(c * V::COUNT)) };
    }
    found
}

/// Add to `R` outputs (or set them, if `fresh`) what they meet in `C` vectors of channels: `run` terms after each tap.
///
/// # Safety
/// From each row on, all terms of all taps are readable, so are as many weights, and the sums are writable.
#[inline(always)]
pub(super) unsafe fn outputs<
    W: Ring,
    V: Lanes<W>,
    const FUSED: bool,
    const OWN: bool,
    const R: usize,
    const C: usize,
>(
    rows: [*const W; R],
    taps: &[usize],
    run: usize,
    weights: *const W,
    to: [*mut W; R],
    fresh: bool,
) {
    let stride = if OWN { C * V::COUNT } else { 1 };
    let mut weights = weights;
    let mut sums = [[V::splat(W::ZERO); C]; R];
    // SAFETY: the caller's.
    unsafe {
        if !fresh {
            for (sums, to) in sums.iter_mut().zip(to) {
                *sums = vectors::<W, V, C>(to);
            }
        }
        for &tap in taps {
            let mut rows = rows;
            for row in &mut rows {
                *row = row.add(tap);
            }
            for i in 0..run {
                let right = vectors::<W, V, C>(weights);
                for r in 0..R {
                    for c in 0..C {
                        let left = left::<W, V, OWN>(rows[r].add(i * stride), c);
                        sums[r][c] = sums[r][c].add_product::<FUSED>(left, right[c]);
                    }
                }
                weights = weights.add(C * V::COUNT);
            }
        }
        for (sums, to) in sums.iter().zip(to) {
            for (c, sum) in sums.iter().enumerate() {
                sum.store(to.add(c * V::COUNT));
            }
        }
    }
}

/// Add to `R` terms of the kernel, in `C` vectors of channels, what they meet in some outputs: pairs of where an
/// output's first tap lies and of its cotangent.
///
/// # Safety
/// Each output's terms and cotangent are readable, and the sums writable.
#[inline(always)]
pub(super) unsafe fn terms<
    W: Ring,
    V: Lanes<W>,
    const FUSED: bool,
    const OWN: bool,
    const R: usize,
    const C: usize,
>(
    outputs: impl Iterator<Item = (*const W, *const W)>,
    terms: [usize; R],
    to: *mut W,
) {
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [[V::splat(W::ZERO); C]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            *sums = vectors::<W, V, C>(to.add(r * C * V::COUNT));
        }
        for (row, cotangent) in outputs {
            let right = vectors::<W, V, C>(cotangent);
            for r in 0..R {
                for c in 0..C {
                    let left = left::<W, V, OWN>(row.add(terms[r]), c);
                    sums[r][c] = sums[r][c].add_product::<FUSED>(left, right[c]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                sum.store(to.add((r * C + c) * V::COUNT));
            }
        }
    }
}
