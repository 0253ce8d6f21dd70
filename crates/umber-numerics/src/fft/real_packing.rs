//! Real lines as complex lines of half the length: even elements are the real parts, odd elements the imaginary parts.
#![expect(clippy::needless_range_loop, reason = "indices select rows of a tile and lines together")]

use super::passes::{Row, times, twiddle, with_capacity};
use crate::vector::{Lane, Vector};

/// Half the twiddle factors: `exp(-2πi k / 2h) / 2` for `k` up to `h / 2`.
pub(super) fn half_twiddles<T: Lane>(half: usize) -> Option<Vec<[T; 2]>> {
    let mut twiddles = with_capacity(half / 2 + 1)?;
    twiddles.extend((0..=half / 2).map(|k| twiddle(k, 2 * half).map(|x| T::of(x / 2.0))));
    Some(twiddles)
}

/// The transform of the real line at `k` and at `h - k`, from that of the complex line at these indices and half a twiddle
/// factor.
///
/// # Safety
///
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn unpack_pair<V: Vector<Lane: Lane>>(
    a: Row<V>,
    b: Row<V>,
    twiddle: Row<V>,
) -> [Row<V>; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let half = V::splat(V::Lane::of(0.5));
        let even = [a[0].add(b[0]), a[1].sub(b[1])];
        let odd = times([a[1].add(b[1]), b[0].sub(a[0])], twiddle);
        [
            [even[0].mul_add(half, odd[0]), even[1].mul_add(half, odd[1])],
            [even[0].mul_sub(half, odd[0]), even[1].neg_mul_add(half, odd[1])],
        ]
    }
}

/// Inverse of [`unpack_pair`], times two.
///
/// # Safety
///
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn pack_pair<V: Vector<Lane: Lane>>(a: Row<V>, b: Row<V>, twiddle: Row<V>) -> [Row<V>; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let two = V::splat(V::Lane::of(2.0));
        let even = [a[0].add(b[0]), a[1].sub(b[1])];
        let odd = [a[0].sub(b[0]), a[1].add(b[1])];
        // `i conj(w) odd`, where `w` is the full twiddle factor divided by two.
        let rotated = times([odd[1], odd[0]], twiddle);
        [
            [rotated[0].neg_mul_add(two, even[0]), rotated[1].mul_add(two, even[1])],
            [rotated[0].mul_add(two, even[0]), rotated[1].mul_sub(two, even[1])],
        ]
    }
}

/// Convert transforms of complex lines of `half` rows to those of real lines in place, with one more row at the end.
///
/// # Safety
///
/// There are `digit_reversed.len()` rows, and the processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn unpack_real<V: Vector<Lane: Lane>>(
    rows: *mut V,
    digit_reversed: &[u32],
    twiddles: &[[V::Lane; 2]],
) {
    let half = digit_reversed.len() - 1;
    let rows = rows.cast::<Row<V>>();
    // SAFETY: guaranteed by the caller of this function.
    let zero = unsafe { V::splat(V::Lane::of(0.0)) };
    // SAFETY: guaranteed by the caller of this function; all indices are below the number of rows.
    unsafe {
        let [a, b] = *rows;
        *rows = [a.add(b), zero];
        *rows.add(half) = [a.sub(b), zero];
        for k in 1..half.div_ceil(2) {
            let (low, high) =
                (rows.add(digit_reversed[k] as usize), rows.add(digit_reversed[half - k] as usize));
            let twiddle = [V::splat(twiddles[k][0]), V::splat(twiddles[k][1])];
            [*low, *high] = unpack_pair(*low, *high, twiddle);
        }
        if half > 1 {
            let middle = rows.add(digit_reversed[half / 2] as usize);
            *middle = [(*middle)[0], zero.sub((*middle)[1])];
        }
    }
}

/// Convert `half + 1` rows of transforms of real lines to those of complex lines in place, with real and imaginary parts
/// exchanged.
///
/// # Safety
///
/// There are `half + 1` rows, and the processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn pack_real<V: Vector<Lane: Lane>>(rows: *mut V, half: usize, twiddles: &[[V::Lane; 2]]) {
    let rows = rows.cast::<Row<V>>();
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        // Imaginary parts that a Hermitian line cannot have are ignored.
        let (a, b) = ((*rows)[0], (*rows.add(half))[0]);
        *rows = [a.sub(b), a.add(b)];
        for k in 1..half.div_ceil(2) {
            let (low, high) = (rows.add(k), rows.add(half - k));
            let twiddle = [V::splat(twiddles[k][0]), V::splat(twiddles[k][1])];
            let [[a, b], [c, d]] = pack_pair(*low, *high, twiddle);
            *low = [b, a];
            *high = [d, c];
        }
        if half > 1 {
            let middle = rows.add(half / 2);
            let [a, b] = *middle;
            let zero = V::splat(V::Lane::of(0.0));
            *middle = [zero.sub(b.add(b)), a.add(a)];
        }
    }
}
