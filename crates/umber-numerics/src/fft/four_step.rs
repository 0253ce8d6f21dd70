//! The four-step algorithm for one long line: as a matrix, whose columns are transformed first, then its rows.
//!
//! With `n = n1 n2`, element `j1 n2 + j2` is in row `j1` and column `j2`. The transformed columns are multiplied by the
//! twiddle factors `exp(-2πi k1 j2 / n)` and transposed tile by tile, so that each row occupies one SIMD lane; result `k1 +
//! n1 k2` is element `k2` of the transformed row `k1`.

use std::ops::Range;

use super::load_store::{CACHED, Group, INTERLEAVE, OutputScaling, Strides, load_rows, store_rows};
use super::passes::{Passes, times, twiddle, with_capacity};
use super::real_packing::{pack_pair, unpack_pair};
use crate::vector::{Lane, ScalarLane, Vector, WithSimd};

/// The plan for one long line.
pub(super) struct FourStep<T> {
    pub(super) columns: Passes<T>,
    pub(super) rows: Passes<T>,
    /// For each result of a column, the twiddle factors of the lanes of the first group: real parts, then imaginary parts.
    fine: Vec<T>,
    /// For each group, the factors that multiply those of the first group.
    coarse: Vec<[T; 2]>,
}

impl<T: Lane> FourStep<T> {
    /// The minimum length that makes a matrix of full groups.
    pub(super) fn min_length() -> usize {
        T::lanes() * T::lanes()
    }

    /// `None` if there is not enough memory.
    pub(super) fn new(length: usize) -> Option<FourStep<T>> {
        let lanes = T::lanes();
        let height = 1 << (length.trailing_zeros() / 2);
        let width = length / height;
        let mut fine = with_capacity(2 * lanes * height)?;
        for k in 0..height {
            for part in 0..2 {
                fine.extend((0..lanes).map(|lane| T::of(twiddle(k * lane, length)[part])));
            }
        }
        let mut coarse = with_capacity(length / lanes)?;
        for group in 0..width / lanes {
            coarse.extend((0..height).map(|k| twiddle(k * group * lanes, length).map(T::of)));
        }
        Some(FourStep { columns: Passes::new(height)?, rows: Passes::new(width)?, fine, coarse })
    }

    /// Number of groups of columns.
    pub(super) fn groups_of_columns(&self) -> usize {
        self.rows.length / T::lanes()
    }

    /// Number of groups of rows.
    pub(super) fn groups_of_rows(&self) -> usize {
        self.columns.length / T::lanes()
    }
}

/// Groups of neighbouring lines, which are `row_stride` real numbers apart.
#[inline(always)]
fn neighbours(groups: Range<usize>, lanes: usize, row_stride: isize) -> [Group; INTERLEAVE] {
    let mut result = [Group::NONE; INTERLEAVE];
    for (group, slot) in groups.zip(&mut result) {
        *slot = Group::regular((group * lanes) as isize * row_stride, row_stride, lanes);
    }
    result
}

/// Transforms groups of columns.
pub(super) struct Columns<'a, T> {
    pub(super) matrix: &'a FourStep<T>,
    pub(super) from: *const T,
    pub(super) strides: Strides,
    pub(super) exchange: usize,
    /// Groups of rows; each has as many vectors of lanes as the matrix has columns.
    pub(super) to: *mut T,
    pub(super) groups: Range<usize>,
}

impl<T: Lane> WithSimd<T> for Columns<'_, T> {
    /// Whether there is enough memory for the buffer.
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) -> bool {
        let FourStep { columns, rows: row_passes, fine, coarse } = self.matrix;
        let (height, width, lanes) = (columns.length, row_passes.length, V::LANES);
        let block = (CACHED / (2 * height * size_of::<V>())).clamp(1, INTERLEAVE).min(self.groups.len());
        let Some(mut buffer) = with_capacity::<V>(2 * height * block) else { return false };
        let rows = buffer.as_mut_ptr();
        let strides = Strides { pair: self.strides.pair * width as isize, part: self.strides.part };
        for group in self.groups.clone() {
            let nth = (group - self.groups.start) % block;
            // SAFETY: guaranteed by the caller of this function; row indices are inside the buffer, and there are factors for
            // each result of a column.
            unsafe {
                if nth == 0 {
                    let line_groups =
                        neighbours(group..self.groups.end.min(group + block), lanes, self.strides.pair);
                    let count = block.min(self.groups.end - group);
                    load_rows(
                        self.from,
                        &line_groups[..count],
                        strides,
                        height,
                        self.exchange,
                        rows,
                        2 * height,
                    );
                }
                let rows = rows.add(2 * height * nth);
                columns.run(rows);
                for top in (0..height).step_by(lanes) {
                    let mut tiles = [V::square(V::splat(T::zero())); 2];
                    let [re, im] = &mut tiles;
                    let (a, b) = (re.as_mut(), im.as_mut());
                    for i in 0..lanes {
                        let k = top + i;
                        let row = rows.add(2 * columns.digit_reversed[k] as usize);
                        let [c, d] = *coarse.get_unchecked(group * height + k);
                        let fine = fine.as_ptr().add(2 * lanes * k);
                        let factor =
                            times([V::load(fine), V::load(fine.add(lanes))], [V::splat(c), V::splat(d)]);
                        let x = times([*row, *row.add(1)], factor);
                        a[i] = x[0];
                        b[i] = x[1];
                    }
                    V::transpose(re);
                    V::transpose(im);
                    let to = self.to.cast::<V>().add(2 * (top / lanes * width + group * lanes));
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

/// Transforms groups of rows in place, and writes the results.
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
        let (height, width, lanes) = (columns.length, passes.length, V::LANES);
        let strides = Strides { pair: self.strides.pair * height as isize, part: self.strides.part };
        let block = (CACHED / (2 * width * size_of::<V>())).clamp(1, INTERLEAVE);
        let mut next = self.groups.start;
        while next < self.groups.end {
            let groups = next..self.groups.end.min(next + block);
            next = groups.end;
            let line_groups = neighbours(groups.clone(), lanes, self.strides.pair);
            // SAFETY: guaranteed by the caller of this function.
            unsafe {
                let rows = self.from.cast::<V>().add(2 * groups.start * width);
                for i in 0..groups.len() {
                    passes.run(rows.add(2 * i * width));
                }
                let results = &passes.digit_reversed[..width];
                store_rows(
                    rows,
                    results,
                    self.scaling,
                    self.to,
                    &line_groups[..groups.len()],
                    strides,
                    2 * width,
                );
            }
        }
    }
}

/// Conversion between the transform of a real line and that of a complex line of half the length, by segments of one vector
/// and their mirror images.
pub(super) struct RealPairs<'a, T> {
    pub(super) twiddles: &'a [[T; 2]],
    pub(super) half: usize,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) strides: [Strides; 2],
    pub(super) forward: bool,
    /// Range of the [`segments`].
    pub(super) segments: Range<usize>,
}

/// Number of segments.
pub(super) fn segments<T: Lane>(half: usize) -> usize {
    (half / 2 + 1).div_ceil(T::lanes())
}

impl<T: Lane> RealPairs<'_, T> {
    /// Process the pair of `k` with scalars.
    ///
    /// # Safety
    ///
    /// Both sides hold the line, and no other task uses this pair.
    #[inline(always)]
    unsafe fn transform_pair(&self, k: usize) {
        let (half, [from, to]) = (self.half, self.strides);
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let load = |k: usize| {
                let at = self.from.offset(k as isize * from.pair);
                [*at, *at.offset(from.part)]
            };
            let store = |k: usize, x: [T; 2]| {
                let at = self.to.offset(k as isize * to.pair);
                let [a, b] = if self.forward { x } else { [x[1], x[0]] };
                *at = a;
                *at.offset(to.part) = b;
            };
            if k == 0 {
                let [a, b] = load(0);
                if self.forward {
                    store(0, [a + b, T::zero()]);
                    store(half, [a - b, T::zero()]);
                } else {
                    let b = load(half)[0];
                    store(0, [a + b, a - b]);
                }
                return;
            }
            let (low, high) = (load(k).map(ScalarLane), load(half - k).map(ScalarLane));
            let twiddle = self.twiddles[k].map(ScalarLane);
            let [low, high] =
                if self.forward { unpack_pair(low, high, twiddle) } else { pack_pair(low, high, twiddle) };
            store(k, low.map(|x| x.0));
            if 2 * k < half {
                store(half - k, high.map(|x| x.0));
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
        for segment in self.segments.clone() {
            let first = segment * lanes;
            if segment == 0 || !dense || 2 * (first + lanes) > half {
                for k in first..(first + lanes).min(half / 2 + 1) {
                    // SAFETY: guaranteed by the caller of this function.
                    unsafe { self.transform_pair(k) };
                }
                continue;
            }
            // SAFETY: guaranteed by the caller of this function; the segment and its mirror image do not overlap and are
            // inside the line.
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

/// Load contiguous pairs, and separate real and imaginary parts.
///
/// # Safety
///
/// Two vectors are readable.
#[inline(always)]
unsafe fn read<V: Vector>(from: *const V::Lane) -> [V; 2] {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { V::deinterleave(V::load(from), V::load(from.add(V::LANES))) }
}

/// Inverse of [`read`].
///
/// # Safety
///
/// Two vectors are writable.
#[inline(always)]
unsafe fn write<V: Vector>(to: *mut V::Lane, a: V, b: V) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let [x, y] = V::interleave(a, b);
        x.store(to);
        y.store(to.add(V::LANES));
    }
}
