//! One long line: as a matrix, whose columns are transformed side by side, and then its rows.
//!
//! With `n = n1 n2`, number `j1 n2 + j2` is in row `j1` and column `j2`. Transformed columns are multiplied by
//! `exp(-2πi k1 j2 / n)` and turned tile by tile, so that rows stand side by side; result `k1 + n1 k2` is number `k2`
//! of transformed row `k1`.

use std::ops::Range;

use super::ends::{ABREAST, CACHED, Change, Group, Strides, bring, take};
use super::halves::{join, split};
use super::passes::{Passes, room, root, times};
use crate::vector::{Lane, Plain, Vector, Work};

/// How one long line is transformed.
pub(super) struct Matrix<T> {
    pub(super) columns: Passes<T>,
    pub(super) rows: Passes<T>,
    /// Of each result of a column, the factors of the lanes of the first group: real parts, then imaginary ones.
    fine: Vec<T>,
    /// Of each group, what those are to be multiplied by.
    coarse: Vec<[T; 2]>,
}

impl<T: Lane> Matrix<T> {
    /// The least length that makes a matrix.
    pub(super) fn least() -> usize {
        T::lanes() * T::lanes()
    }

    /// Nothing if there is no memory for it.
    pub(super) fn new(length: usize) -> Option<Matrix<T>> {
        let lanes = T::lanes();
        let down = 1 << (length.trailing_zeros() / 2);
        let across = length / down;
        let mut fine = room(2 * lanes * down)?;
        for k in 0..down {
            for part in 0..2 {
                fine.extend((0..lanes).map(|lane| T::of(root(k * lane, length)[part])));
            }
        }
        let mut coarse = room(length / lanes)?;
        for group in 0..across / lanes {
            coarse.extend((0..down).map(|k| root(k * group * lanes, length).map(T::of)));
        }
        Some(Matrix { columns: Passes::new(down)?, rows: Passes::new(across)?, fine, coarse })
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
fn neighbours(groups: Range<usize>, lanes: usize, apart: isize) -> [Group; ABREAST] {
    let mut places = [Group::NONE; ABREAST];
    for (group, place) in groups.zip(&mut places) {
        *place = Group::regular((group * lanes) as isize * apart, apart, lanes);
    }
    places
}

/// The transforms of groups of columns.
pub(super) struct Columns<'a, T> {
    pub(super) matrix: &'a Matrix<T>,
    pub(super) from: *const T,
    pub(super) strides: Strides,
    pub(super) exchange: usize,
    /// Groups of rows, each as many rows of lanes as the matrix has columns.
    pub(super) to: *mut T,
    pub(super) groups: Range<usize>,
}

impl<T: Lane> Work<T> for Columns<'_, T> {
    /// Is there memory for it?
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) -> bool {
        let Matrix { columns, rows: across, fine, coarse } = self.matrix;
        let (down, across, lanes) = (columns.length, across.length, V::LANES);
        let block = (CACHED / (2 * down * size_of::<V>())).clamp(1, ABREAST).min(self.groups.len());
        let Some(mut buffer) = scratch_vec::<V>(2 * down * block) else { return false };
        let rows = buffer.as_mut_ptr();
        let strides = Strides { pair: self.strides.pair * across as isize, part: self.strides.part };
        for group in self.groups.clone() {
            let nth = (group - self.groups.start) % block;
            // SAFETY: the caller's; places are rows of the buffer, tables have as many factors as columns have results.
            unsafe {
                if nth == 0 {
                    let places =
                        neighbours(group..self.groups.end.min(group + block), lanes, self.strides.pair);
                    let count = block.min(self.groups.end - group);
                    bring(self.from, &places[..count], strides, down, self.exchange, rows, 2 * down);
                }
                let rows = rows.add(2 * down * nth);
                columns.run(rows);
                for top in (0..down).step_by(lanes) {
                    let mut tiles = [V::square(V::splat(T::zero())); 2];
                    let [re, im] = &mut tiles;
                    let (a, b) = (re.as_mut(), im.as_mut());
                    for i in 0..lanes {
                        let k = top + i;
                        let row = rows.add(2 * columns.places[k] as usize);
                        let [c, d] = *coarse.get_unchecked(group * down + k);
                        let fine = fine.as_ptr().add(2 * lanes * k);
                        let factor =
                            times([V::load(fine), V::load(fine.add(lanes))], [V::splat(c), V::splat(d)]);
                        let x = times([*row, *row.add(1)], factor);
                        a[i] = x[0];
                        b[i] = x[1];
                    }
                    V::turn(re);
                    V::turn(im);
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
    pub(super) matrix: &'a Matrix<T>,
    pub(super) from: *mut T,
    pub(super) to: *mut T,
    pub(super) strides: Strides,
    pub(super) change: Change<T>,
    pub(super) groups: Range<usize>,
}

impl<T: Lane> Work<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let Matrix { columns, rows: passes, .. } = self.matrix;
        let (down, across, lanes) = (columns.length, passes.length, V::LANES);
        let strides = Strides { pair: self.strides.pair * down as isize, part: self.strides.part };
        let block = (CACHED / (2 * across * size_of::<V>())).clamp(1, ABREAST);
        let mut next = self.groups.start;
        while next < self.groups.end {
            let groups = next..self.groups.end.min(next + block);
            next = groups.end;
            let places = neighbours(groups.clone(), lanes, self.strides.pair);
            // SAFETY: the caller's.
            unsafe {
                let rows = self.from.cast::<V>().add(2 * groups.start * across);
                for i in 0..groups.len() {
                    passes.run(rows.add(2 * i * across));
                }
                let results = &passes.places[..across];
                take(rows, results, self.change, self.to, &places[..groups.len()], strides, 2 * across);
            }
        }
    }
}

/// Stretches of a line and of its mirror image, of as many numbers as a vector has.
pub(super) struct Mirrored<'a, T> {
    pub(super) roots: &'a [[T; 2]],
    pub(super) half: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) strides: [Strides; 2],
    pub(super) forward: bool,
    /// Of [`stretches`].
    pub(super) stretches: Range<usize>,
}

/// How many stretches there are.
pub(super) fn stretches<T: Lane>(half: usize) -> usize {
    (half / 2 + 1).div_ceil(T::lanes())
}

impl<T: Lane> Mirrored<'_, T> {
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
            let (low, high) = (at(k).map(Plain), at(half - k).map(Plain));
            let root = self.roots[k].map(Plain);
            let [low, high] = if self.forward { split(low, high, root) } else { join(low, high, root) };
            put(k, low.map(|x| x.0));
            if 2 * k < half {
                put(half - k, high.map(|x| x.0));
            }
        }
    }
}

impl<T: Lane> Work<T> for Mirrored<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) {
        let (half, lanes) = (self.half, V::LANES);
        let dense = self.strides.iter().all(|s| s.pair == 2 && s.part == 1);
        let exchange = usize::from(!self.forward);
        for stretch in self.stretches.clone() {
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
                let roots = read::<V>(self.roots.as_ptr().add(first).cast());
                let b = [b[0].reversed(), b[1].reversed()];
                let [a, b] = if self.forward { split(a, b, roots) } else { join(a, b, roots) };
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
    unsafe { V::part(V::load(from), V::load(from.add(V::LANES))) }
}

/// Inverse of [`read`].
#[inline(always)]
unsafe fn write<V: Vector>(to: *mut V::Lane, a: V, b: V) {
    // SAFETY: the caller's.
    unsafe {
        let [x, y] = V::weave(a, b);
        x.store(to);
        y.store(to.add(V::LANES));
    }
}
