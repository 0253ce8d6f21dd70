//! Real lines as complex ones of half the length: even numbers are real parts, odd ones imaginary parts.
#![expect(
    clippy::needless_range_loop,
    reason = "what a loop names by number are rows of one tile or line together"
)]

use super::passes::{Row, room, root, times};
use crate::vector::{Lane, Vector};

/// Half of `exp(-2πi k / 2h)` for `k` up to `h / 2`.
pub(super) fn halved_roots<T: Lane>(half: usize) -> Option<Vec<[T; 2]>> {
    let mut roots = room(half / 2 + 1)?;
    roots.extend((0..=half / 2).map(|k| root(k, 2 * half).map(|x| T::of(x / 2.0))));
    Some(roots)
}

/// What the real line has at `k` and at `h - k`, from what the complex line has there, and a halved root.
#[inline(always)]
pub(super) unsafe fn split<V: Vector<Lane: Lane>>(a: Row<V>, b: Row<V>, root: Row<V>) -> [Row<V>; 2] {
    // SAFETY: the caller's.
    unsafe {
        let half = V::splat(V::Lane::of(0.5));
        let even = [a[0].add(b[0]), a[1].sub(b[1])];
        let odd = times([a[1].add(b[1]), b[0].sub(a[0])], root);
        [
            [even[0].mul_add(half, odd[0]), even[1].mul_add(half, odd[1])],
            [even[0].mul_sub(half, odd[0]), even[1].mul_from(half, odd[1])],
        ]
    }
}

/// Inverse of [`split`], times two.
#[inline(always)]
pub(super) unsafe fn join<V: Vector<Lane: Lane>>(a: Row<V>, b: Row<V>, root: Row<V>) -> [Row<V>; 2] {
    // SAFETY: the caller's.
    unsafe {
        let two = V::splat(V::Lane::of(2.0));
        let even = [a[0].add(b[0]), a[1].sub(b[1])];
        let odd = [a[0].sub(b[0]), a[1].add(b[1])];
        // i conj(root) odd, without the halving of the root.
        let turned = times([odd[1], odd[0]], root);
        [
            [turned[0].mul_from(two, even[0]), turned[1].mul_add(two, even[1])],
            [turned[0].mul_add(two, even[0]), turned[1].mul_sub(two, even[1])],
        ]
    }
}

/// From transforms of complex lines of `half` rows to those of real lines, in place; there is one more row at the end.
///
/// # Safety
/// The rows are there, and the instruction set is.
#[inline(always)]
pub(super) unsafe fn split_rows<V: Vector<Lane: Lane>>(rows: *mut V, places: &[u32], roots: &[[V::Lane; 2]]) {
    let half = places.len() - 1;
    let rows = rows.cast::<Row<V>>();
    // SAFETY: the caller's.
    let zero = unsafe { V::splat(V::Lane::of(0.0)) };
    // SAFETY: places are rows.
    unsafe {
        let [a, b] = *rows;
        *rows = [a.add(b), zero];
        *rows.add(half) = [a.sub(b), zero];
        for k in 1..half.div_ceil(2) {
            let (low, high) = (rows.add(places[k] as usize), rows.add(places[half - k] as usize));
            let root = [V::splat(roots[k][0]), V::splat(roots[k][1])];
            [*low, *high] = split(*low, *high, root);
        }
        if half > 1 {
            let middle = rows.add(places[half / 2] as usize);
            *middle = [(*middle)[0], zero.sub((*middle)[1])];
        }
    }
}

/// From `half` and one rows of transforms of real lines to those of complex lines, parts exchanged, in place.
///
/// # Safety
/// The rows are there, and the instruction set is.
#[inline(always)]
pub(super) unsafe fn join_rows<V: Vector<Lane: Lane>>(rows: *mut V, half: usize, roots: &[[V::Lane; 2]]) {
    let rows = rows.cast::<Row<V>>();
    // SAFETY: as above.
    unsafe {
        // What would make the line other than real does not count.
        let (a, b) = ((*rows)[0], (*rows.add(half))[0]);
        *rows = [a.sub(b), a.add(b)];
        for k in 1..half.div_ceil(2) {
            let (low, high) = (rows.add(k), rows.add(half - k));
            let root = [V::splat(roots[k][0]), V::splat(roots[k][1])];
            let [[a, b], [c, d]] = join(*low, *high, root);
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
