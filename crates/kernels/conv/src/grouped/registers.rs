//! The innermost loops: sums over the taps of a strip of outputs, and of the outputs of a strip for each tap.

use umber_kernels_base::isa::prefetch_l1;
use umber_kernels_base::lanes::{Lanes, Ring};

use super::walk::Tap;

/// The vectors that a strip meets: those of a tap begin at `start`, `column` elements apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, W> {
    pub(super) start: *const W,
    pub(super) column: isize,
    pub(super) taps: &'a [Tap],
}

/// In each group of `N` lanes, every lane takes that `by` places further, round about.
#[inline(always)]
pub(super) fn rotate_lanes<W: Ring, V: Lanes<W>, const N: usize>(vector: V, by: usize) -> V {
    let (mut lanes, mut found) = ([W::ZERO; 16], [W::ZERO; 16]);
    // SAFETY: no vector of floats has more lanes than the arrays.
    unsafe { vector.store(lanes.as_mut_ptr()) };
    for lane in 0..V::COUNT {
        found[lane] = lanes[lane / N * N + (lane % N + by) % N];
    }
    // SAFETY: as above.
    unsafe { V::load(found.as_ptr()) }
}

/// The sums of `R` outputs over the taps that meet them inside the input.
///
/// # Safety
/// All vectors of the input, and `N` of weights for each tap, are readable.
#[expect(
    clippy::needless_range_loop,
    reason = "not all that iterators call is compiled for the vectors of the loop"
)]
#[inline(always)]
pub(super) unsafe fn outputs<W: Ring, V: Lanes<W>, const FUSED: bool, const N: usize, const R: usize>(
    rows: Rows<W>,
    weights: *const W,
) -> [V; R] {
    let mut sums = [[V::splat(W::ZERO); N]; R];
    for tap in rows.taps {
        let from = rows.start.wrapping_offset(tap.input);
        let mut by = [V::splat(W::ZERO); N];
        for (n, by) in by.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller of this function.
            *by = unsafe { V::load(weights.add(tap.weights + n * V::COUNT)) };
        }
        let is_whole = (tap.low, tap.high) == (0, R);
        // Twice, since a condition inside the loop takes longer than the loop.
        if is_whole {
            for r in 0..R {
                // SAFETY: guaranteed by the caller of this function.
                let x = unsafe { V::load(from.wrapping_offset(r as isize * rows.column)) };
                for n in 0..N {
                    sums[r][n] = sums[r][n].add_product::<FUSED>(x, by[n]);
                }
            }
        } else {
            for r in 0..R {
                if r >= tap.low && r < tap.high {
                    // SAFETY: guaranteed by the caller of this function.
                    let x = unsafe { V::load(from.wrapping_offset(r as isize * rows.column)) };
                    for n in 0..N {
                        sums[r][n] = sums[r][n].add_product::<FUSED>(x, by[n]);
                    }
                }
            }
        }
    }
    let mut found = [V::splat(W::ZERO); R];
    for r in 0..R {
        found[r] = sums[r][0];
        for n in 1..N {
            let more = rotate_lanes::<W, V, N>(sums[r][n], n);
            found[r] = found[r].add_product::<FUSED>(more, V::splat(W::factor(1.0)));
        }
    }
    found
}

/// Add to the `N` sums of each tap what the outputs of a strip contribute: the input times the cotangent, turned for each sum.
///
/// # Safety
/// All vectors of the input are readable, and `N` of sums for each tap are writable.
#[expect(
    clippy::needless_range_loop,
    reason = "not all that iterators call is compiled for the vectors of the loop"
)]
#[inline(always)]
pub(super) unsafe fn terms<W: Ring, V: Lanes<W>, const FUSED: bool, const N: usize, const R: usize>(
    rows: Rows<W>,
    cotangents: &[[V; N]; R],
    sums: *mut W,
) {
    let one = V::splat(W::factor(1.0));
    for tap in rows.taps {
        let from = rows.start.wrapping_offset(tap.input);
        let mut found = [V::splat(W::ZERO); N];
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if (tap.low, tap.high) == (0, R) {
                for r in 0..R {
                    let x = V::load(from.wrapping_offset(r as isize * rows.column));
                    for n in 0..N {
                        found[n] = found[n].add_product::<FUSED>(x, cotangents[r][n]);
                    }
                }
            } else {
                for r in tap.low..tap.high {
                    let x = V::load(from.wrapping_offset(r as isize * rows.column));
                    for n in 0..N {
                        found[n] = found[n].add_product::<FUSED>(x, cotangents[r][n]);
                    }
                }
            }
            for n in 0..N {
                let to = sums.add(tap.weights + n * V::COUNT);
                V::load(to).add_product::<FUSED>(found[n], one).store(to);
            }
        }
    }
}

/// Have the vectors of the next strip brought near: they are too far apart for the processor to foresee them.
#[inline(always)]
pub(super) fn prefetch<const R: usize, W>(start: *const W, column: isize) {
    for r in 0..R {
        prefetch_l1(start.wrapping_offset(r as isize * column));
    }
}
