//! The innermost loops: the sums of a strip of outputs over the taps, and of each tap over the outputs of a strip.

use umber_kernels_base::isa::prefetch_l1;
use umber_kernels_base::lanes::{Lanes, Ring};

use super::walk::Tap;

/// Pointers to the vectors of a strip: those of a tap begin at `start`, offset by the tap, and are `column` elements apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, W> {
    pub(super) start: *const W,
    pub(super) column: isize,
    pub(super) taps: &'a [Tap],
}

/// Rotate the lanes of each group of `N` lanes by `by`: lane `i` takes the value of lane `(i + by) mod N`.
#[inline(always)]
pub(super) fn rotate_lanes<W: Ring, V: Lanes<W>, const N: usize>(vector: V, by: usize) -> V {
    let (mut lanes, mut rotated) = ([W::ZERO; 16], [W::ZERO; 16]);
    // SAFETY: no vector of floats has more lanes than the arrays.
    unsafe { vector.store(lanes.as_mut_ptr()) };
    for lane in 0..V::COUNT {
        rotated[lane] = lanes[lane / N * N + (lane % N + by) % N];
    }
    // SAFETY: the array has at least as many elements as the vector has lanes.
    unsafe { V::load(rotated.as_ptr()) }
}

/// The sums of `R` outputs over the taps that read inside the input.
///
/// # Safety
///
/// All vectors of the input are readable, and so are `N` vectors of weights for each tap.
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
        let mut factors = [V::splat(W::ZERO); N];
        for (n, factor) in factors.iter_mut().enumerate() {
            // SAFETY: guaranteed factors the caller of this function.
            *factor = unsafe { V::load(weights.add(tap.weights + n * V::COUNT)) };
        }
        let is_full = (tap.low, tap.high) == (0, R);
        // Two loops, since the bounds check inside the loop would cost more than the multiplications.
        if is_full {
            for r in 0..R {
                // SAFETY: guaranteed factors the caller of this function.
                let x = unsafe { V::load(from.wrapping_offset(r as isize * rows.column)) };
                for n in 0..N {
                    sums[r][n] = sums[r][n].add_product::<FUSED>(x, factors[n]);
                }
            }
        } else {
            for r in 0..R {
                if r >= tap.low && r < tap.high {
                    // SAFETY: guaranteed factors the caller of this function.
                    let x = unsafe { V::load(from.wrapping_offset(r as isize * rows.column)) };
                    for n in 0..N {
                        sums[r][n] = sums[r][n].add_product::<FUSED>(x, factors[n]);
                    }
                }
            }
        }
    }
    let mut totals = [V::splat(W::ZERO); R];
    for r in 0..R {
        totals[r] = sums[r][0];
        for n in 1..N {
            let more = rotate_lanes::<W, V, N>(sums[r][n], n);
            totals[r] = totals[r].add_product::<FUSED>(more, V::splat(W::factor(1.0)));
        }
    }
    totals
}

/// Accumulate the contribution of a strip to the `N` sums of each tap: the input times the cotangents, which are rotated for
/// each of the sums.
///
/// # Safety
///
/// All vectors of the input are readable, and `N` vectors of sums for each tap are writable.
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
        let mut acc = [V::splat(W::ZERO); N];
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if (tap.low, tap.high) == (0, R) {
                for r in 0..R {
                    let x = V::load(from.wrapping_offset(r as isize * rows.column));
                    for n in 0..N {
                        acc[n] = acc[n].add_product::<FUSED>(x, cotangents[r][n]);
                    }
                }
            } else {
                for r in tap.low..tap.high {
                    let x = V::load(from.wrapping_offset(r as isize * rows.column));
                    for n in 0..N {
                        acc[n] = acc[n].add_product::<FUSED>(x, cotangents[r][n]);
                    }
                }
            }
            for n in 0..N {
                let to = sums.add(tap.weights + n * V::COUNT);
                V::load(to).add_product::<FUSED>(acc[n], one).store(to);
            }
        }
    }
}

/// Prefetch the vectors of the next strip. Their strides are too large for the hardware prefetcher.
#[inline(always)]
pub(super) fn prefetch<const R: usize, W>(start: *const W, column: isize) {
    for r in 0..R {
        prefetch_l1(start.wrapping_offset(r as isize * column));
    }
}
