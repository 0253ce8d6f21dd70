//! One long line: as a matrix, whose columns are transformed side by side, and then its rows.
//!
//! With `n = n1 n2`, number `j1 n2 + j2` is in row `j1` and column `j2`. Transformed columns are multiplied by
//! `exp(-2πi k1 j2 / n)` and turned tile by tile, so that rows stand side by side; result `k1 + n1 k2` is number `k2`
//! of transformed row `k1`.

use std::ops::Range;

use super::load_store::{CACHED, Group, INTERLEAVE, OutputScaling, Strides, load_rows, store_rows};
use super::passes::{Passes, times, twiddle, with_capacity};
use super::real_packing::{pack_pair, unpack_pair};
use crate::vector::{Lane, ScalarLane, Vector, WithSimd};

/// How one long line is transformed.
pub(super) struct FourStep<T> {
    pub(super) columns: Passes<T>,
    pub(super) rows: Passes<T>,
    /// Of each result of a column, the factors of the lanes of the first group: real parts, then imaginary ones.
    fine: Vec<T>,
    /// Of each group, what those are to be multiplied by.
    coarse: Vec<[T; 2]>,
}

impl<T: Lane> FourStep<T> {
    /// The least length that makes a matrix.
    pub(super) fn min_length() -> usize {
        T::lanes() * T::lanes()
    }

    /// Nothing if there is no memory for it.
    pub(super) fn new(length: usize) -> Option<FourStep<T>> {
        let lanes = T::lanes();
        let down = 1 << (length.trailing_zeros() / 2);
        let across = length / down;
        let mut fine = with_capacity(2 * lanes * down)?;
        for k in 0..down {
            for part in 0..2 {
                fine.extend((0..lanes).map(|lane| T::of(twiddle(k * lane, length)[part])));
            }
        }
        let mut coarse = with_capacity(length / lanes)?;
        for group in 0..across / lanes {
            coarse.extend((0..down).map(|k| twiddle(k * group * lanes, length).map(T::of)));
        }
        Some(FourStep { columns: Passes::new(down)?, rows: Passes::new(across)?, fine, coarse })
    }

    /// How many groups of columns there are.
    pub(super) fn groups_of_columns(&self) -> usize {
        self.rows.length / T::lanes()
    }

    /// How many groups of rows there are.
    pub(super) fn groups_of_rows(&self) -> usize {
        self.columns.length / T::lanes()
    }
}

/// Groups of lines beside one another, so many numbers apart.
#[inline(always)]
fn neighbours(groups: Range<usize>, lanes: usize, row_stride: isize) -> [Group; INTERLEAVE] {
    let mut digit_reversed = [Group::NONE; INTERLEAVE];
    for (group, place) in groups.zip(&mut digit_reversed) {
        *place = Group::regular((group * lanes) as isize * row_stride, row_stride, lanes);
    }
    digit_reversed
}

/// The transforms of groups of columns.
pub(super) struct Columns<'a, T> {
    pub(super) matrix: &'a FourStep<T>,
    pub(super) from: *const T,
    pub(super) strides: Strides,
    pub(super) exchange: usize,
    /// Groups of rows, each as many rows of lanes as the matrix has columns.
    pub(super) to: *mut T,
    pub(super) groups: Range<usize>,
}

impl<T: Lane> WithSimd<T> for Columns<'_, T> {
    /// Is there memory for it?
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) -> bool {
        let FourStep { columns, rows: across, fine, coarse } = self.matrix;
        let (down, across, lanes) = (columns.length, across.length, V::LANES);
        let block = (CACHED / (2 * down * size_of::<V>())).clamp(1, INTERLEAVE).min(self.groups.len());
        let Some(mut buffer) = with_capacity::<V>(2 * down * block) else { return false };
        let rows = buffer.as_mut_ptr();
        let strides = Strides { pair: self.strides.pair * across as isize, part: self.strides.part };
        for group in self.groups.clone() {
            let nth = (group - self.groups.start) % block;
            // SAFETY: the caller's; places are rows of the buffer, tables have as many factors as columns have results.
            unsafe {
                if nth == 0 {
                    let digit_reversed =
                        neighbours(group..self.groups.end.min(group + block), lanes, self.strides.pair);
                    let count = block.min(self.groups.end - group);
                    load_rows(
                        self.from,
                        &digit_reversed[..count],
                        strides,
                        down,
                        self.exchange,
                        rows,
                        2 * down,
                    );
                }
                let rows = rows.add(2 * down * nth);
                columns.run(rows);
                for top in (0..down).step_by(lanes) {
                    let mut tiles = [V::square(V::splat(T::zero())); 2];
                    let [re, im] = &mut tiles;
                    let (a, b) = (re.as_mut(), im.as_mut());
                    for i in 0..lanes {
                        let k = top + i;
                        let row = rows.add(2 * columns.digit_reversed[k] as usize);
                        let [c, d] = *coarse.get_unchecked(group * down + k);
                        let fine = fine.as_ptr().add(2 * lanes * k);
                        let factor =
                            times([V::load(fine), V::load(fine.add(lanes))], [V::splat(c), V::splat(d)]);
                        let x = times([*row, *row.add(1)], factor);
                        a[i] = x[0];
                        b[i] = x[1];
                    }
                    V::transpose(re);
                    V::transpose(im);
                    let to = self.to.cast::<V>().add(2 * (top / lanes * across + group * lanes));
                    let (a, b) = (re.as_ref(), im.as_ref());
                    for i in 0..lanes {
                        a[i].store(to.add(2 * i).cast());
                        b[i].store(to.add(2 * i + 1).cast());
                    }
                }
            }
        }
        true
    }
}

/// The transforms of groups of rows, in place, and what comes of them.
pub(super) struct Rows<'a, T> {
    pub(super) matrix: &'a FourStep<T>,
    pub(super) from: *mut T,
    pub(super) to: *mut T,
    pub(super) strides: Strides,
    pub(super) scaling: OutputScaling<T>,
    pub(super) groups: Range<usize>,
}

impl<T: Lane> WithSimd<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let FourStep { columns, rows: passes, .. } = self.matrix;
        let (down, across, lanes) = (columns.length, passes.length, V::LANES);
        let strides = Strides { pair: self.strides.pair * down as isize, part: self.strides.part };
        let block = (CACHED / (2 * across * size_of::<V>())).clamp(1, INTERLEAVE);
        let mut next = self.groups.start;
        while next < self.groups.end {
            let groups = next..self.groups.end.min(next + block);
            next = groups.end;
            let digit_reversed = neighbours(groups.clone(), lanes, self.strides.pair);
            // SAFETY: the caller's.
            unsafe {
                let rows = self.from.cast::<V>().add(2 * groups.start * across);
                for i in 0..groups.len() {
                    passes.run(rows.add(2 * i * across));
                }
                let results = &passes.digit_reversed[..across];
                store_rows(
                    rows,
                    results,
                    self.scaling,
                    self.to,
                    &digit_reversed[..groups.len()],
                    strides,
                    2 * across,
                );
            }
        }
    }
}

/// Stretches of a line and of its mirror image, of as many numbers as a vector has.
pub(super) struct RealPairs<'a, T> {
    pub(super) twiddles: &'a [[T; 2]],
    pub(super) half: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) strides: [Strides; 2],
    pub(super) forward: bool,
    /// Of [`segments`].
    pub(super) segments: Range<usize>,
}

/// How many stretches there are.
pub(super) fn segments<T: Lane>(half: usize) -> usize {
    (half / 2 + 1).div_ceil(T::lanes())
}

impl<T: Lane> RealPairs<'_, T> {
    /// The pair of `k` alone.
    #[inline(always)]
    unsafe fn one(&self, k: usize) {
        let (half, [from, to]) = (self.half, self.strides);
        // SAFETY: the caller's.
        unsafe {
            let at = |k: usize| {
                let at = self.from.offset(k as isize * from.pair);
                [*at, *at.offset(from.part)]
            };
            let put = |k: usize, x: [T; 2]| {
                let at = self.to.offset(k as isize * to.pair);
                let [a, b] = if self.forward { x } else { [x[1], x[0]] };
                *at = a;
                *at.offset(to.part) = b;
            };
            if k == 0 {
                let [a, b] = at(0);
                if self.forward {
                    put(0, [a + b, T::zero()]);
                    put(half, [a - b, T::zero()]);
                } else {
                    let b = at(half)[0];
                    put(0, [a + b, a - b]);
                }
                return;
            }
            let (low, high) = (at(k).map(ScalarLane), at(half - k).map(ScalarLane));
            let twiddle = self.twiddles[k].map(ScalarLane);
            let [low, high] =
                if self.forward { unpack_pair(low, high, twiddle) } else { pack_pair(low, high, twiddle) };
            put(k, low.map(|x| x.0));
            if 2 * k < half {
                put(half - k, high.map(|x| x.0));
            }
        }
    }
}

impl<T: Lane> WithSimd<T> for RealPairs<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let (half, lanes) = (self.half, V::LANES);
        let dense = self.strides.iter().all(|s| s.pair == 2 && s.part == 1);
        let exchange = usize::from(!self.forward);
        for stretch in self.segments.clone() {
            let first = stretch * lanes;
            if stretch == 0 || !dense || 2 * (first + lanes) > half {
                for k in first..(first + lanes).min(half / 2 + 1) {
                    // SAFETY: the caller's.
                    unsafe { self.one(k) };
                }
                continue;
            }
            // SAFETY: the caller's; the stretch and its mirror image are apart and inside the line.
            unsafe {
                let (low, high) = (2 * first, 2 * (half - first - lanes + 1));
                let a = read::<V>(self.from.add(low));
                let b = read::<V>(self.from.add(high));
                let twiddles = read::<V>(self.twiddles.as_ptr().add(first).cast());
                let b = [b[0].reversed(), b[1].reversed()];
                let [a, b] =
                    if self.forward { unpack_pair(a, b, twiddles) } else { pack_pair(a, b, twiddles) };
                write::<V>(self.to.add(low), a[exchange], a[1 - exchange]);
                write::<V>(self.to.add(high), b[exchange].reversed(), b[1 - exchange].reversed());
            }
        }
    }
}

// Functions, since closures would not be compiled for the instruction set.

/// Pairs that are one piece of memory, part by part.
#[inline(always)]
unsafe fn read<V: Vector>(from: *const V::Lane) -> [V; 2] {
    // SAFETY: the caller's.
    unsafe { V::deinterleave(V::load(from), V::load(from.add(V::LANES))) }
}

/// Inverse of [`read`].
#[inline(always)]
unsafe fn write<V: Vector>(to: *mut V::Lane, a: V, b: V) {
    // SAFETY: the caller's.
    unsafe {
        let [x, y] = V::interleave(a, b);
        x.store(to);
        y.store(to.add(V::LANES));
    }
}
