//! The micro-kernel: the sums of a few lines by one or two vectors of lanes, kept in registers.

use umber_kernels_base::lanes::{Lanes, Ring};

use super::product::Matrix;

/// The maximum lines of a tile; each needs an address register.
pub const LINES: usize = 8;

/// The number of lines of the next tile, of `left` remaining ones: as many as the registers allow.
#[inline(always)]
pub(super) fn height<T, V: Lanes<T>>(left: usize) -> usize {
    let max = if V::COUNT * size_of::<T>() >= 64 { 8 } else { 4 };
    [8, 4, 2].into_iter().find(|&height| height <= left.min(max)).unwrap_or(1)
}

/// A tile of some lines by some vectors: `sums[line, lane] += sum over depth of lines[line, depth] * lanes[depth, lane]`.
pub(super) struct Tile<T> {
    pub(super) depth: usize,
    /// Contiguous along the depth.
    pub(super) lines: Matrix<T>,
    pub(super) lanes: *const T,
    /// Stride between the lanes of successive depths.
    pub(super) lanes_row: isize,
    pub(super) sums: *mut T,
    /// Stride between the sums of successive lines.
    pub(super) sums_row: isize,
    /// Overwrite the sums instead of adding to them?
    pub(super) overwrite: bool,
}

impl<T: Ring> Tile<T> {
    /// [`Tile::add`] for a height returned by [`height`], and one or two vectors.
    ///
    /// # Safety
    /// As of [`Tile::add`].
    #[inline(always)]
    pub(super) unsafe fn of<V: Lanes<T>, const FUSED: bool>(&self, height: usize, vectors: usize) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if vectors == 2 {
                self.of_height::<V, FUSED, 2>(height);
            } else {
                self.of_height::<V, FUSED, 1>(height);
            }
        }
    }

    /// [`Tile::of`] for a constant number of vectors.
    ///
    /// # Safety
    /// As of [`Tile::add`].
    #[inline(always)]
    unsafe fn of_height<V: Lanes<T>, const FUSED: bool, const R: usize>(&self, height: usize) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            match height {
                8 if const { V::COUNT * size_of::<T>() >= 64 } => self.add::<V, FUSED, 8, R>(),
                4 => self.add::<V, FUSED, 4, R>(),
                2 => self.add::<V, FUSED, 2, R>(),
                _ => self.add::<V, FUSED, 1, R>(),
            }
        }
    }

    /// Add the products of `L` lines and `R` vectors of lanes.
    ///
    /// # Safety
    /// All elements of the shape are readable, or writable for the sums.
    #[inline(always)]
    unsafe fn add<V: Lanes<T>, const FUSED: bool, const L: usize, const R: usize>(&self) {
        let address = |line: usize, r: usize| {
            self.sums.wrapping_offset(line as isize * self.sums_row).wrapping_add(r * V::COUNT)
        };
        let mut accumulators = [[V::splat(T::ZERO); R]; L];
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if !self.overwrite {
                for (line, accumulators) in accumulators.iter_mut().enumerate() {
                    for (r, accumulators) in accumulators.iter_mut().enumerate() {
                        *accumulators = V::load(address(line, r));
                    }
                }
            }
            let mut lines = [self.lines.start; L];
            for (line, start) in lines.iter_mut().enumerate() {
                *start = self.lines.at(line, 0);
            }
            let mut lanes = self.lanes;
            for d in 0..self.depth {
                let mut right = [V::splat(T::ZERO); R];
                for (r, right) in right.iter_mut().enumerate() {
                    *right = V::load(lanes.add(r * V::COUNT));
                }
                lanes = lanes.wrapping_offset(self.lanes_row);
                for (line, accumulators) in lines.iter().zip(&mut accumulators) {
                    let left = V::splat(*line.add(d));
                    for (accumulators, right) in accumulators.iter_mut().zip(right) {
                        *accumulators = accumulators.add_product::<FUSED>(left, right);
                    }
                }
            }
            for (line, accumulators) in accumulators.into_iter().enumerate() {
                for (r, accumulators) in accumulators.into_iter().enumerate() {
                    accumulators.store(address(line, r));
                }
            }
        }
    }
}
