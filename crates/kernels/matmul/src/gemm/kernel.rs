//! The micro-kernel: sums of a few rows by two vectors of columns, kept in registers.

use std::ops::Range;

use umber_kernels_base::isa::{level, prefetch_l1};
use umber_kernels_base::lanes::{Lanes, Ring};

/// Vectors per row of a panel.
pub(super) const VECTORS: usize = 2;
/// The maximum rows of a tile: accumulators and operands fill the thirty-two 64-byte registers.
pub(super) const MAX_ROWS: usize = 12;
/// The minimum rows: fewer accumulators do not hide the latency of FMA.
pub(super) const MIN_ROWS: usize = 3;
/// Unroll factor along the depth.
const UNROLLED: usize = 4;

/// Evaluate an expression with the number of rows of a tile as a constant.
macro_rules! with_height {
    ($rows:expr, $height:ident => $body:expr) => {
        with_height!($rows, $height => $body, 4 5 6 7 8 9 10 11 12)
    };
    ($rows:expr, $height:ident => $body:expr, $($count:literal)*) => {
        match $rows {
            $($count => {
                const $height: usize = $count;
                $body
            })*
            _ => {
                const $height: usize = MIN_ROWS;
                $body
            }
        }
    };
}
pub(super) use with_height;

/// The maximum rows of a tile on this processor: with 32-byte vectors there are sixteen registers.
pub(super) fn max_rows() -> usize {
    if level() == 2 { MAX_ROWS } else { MAX_ROWS / 2 }
}

/// Split `0..length` into the fewest ranges of at most `max`, whose lengths differ by at most one.
pub(super) fn balanced_ranges(length: usize, max: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let count = length.div_ceil(max).max(1);
    let (shorter, longer) = (length / count, length % count);
    (0..count).scan(0, move |end, index| {
        let start = *end;
        *end += shorter + usize::from(index < longer);
        Some(start..*end)
    })
}

/// One tile of the result.
pub(super) struct Tile<T> {
    /// Rows of the packed left matrix.
    pub(super) left: *const T,
    /// A panel of the packed right matrix.
    pub(super) panel: *const T,
    pub(super) depth: usize,
    pub(super) out: *mut T,
    pub(super) out_row: isize,
    /// Overwrite the result instead of adding to it?
    pub(super) overwrite: bool,
}

impl<T: Ring> Tile<T> {
    /// Compute `rows` rows, from [`MIN_ROWS`] to [`max_rows`].
    ///
    /// # Safety
    /// The left matrix and the result have as many rows; the rows of the result hold a panel's width.
    #[inline(always)]
    pub(super) unsafe fn run<V: Lanes<T>, const FUSED: bool>(&self, rows: usize) {
        debug_assert!((MIN_ROWS..=MAX_ROWS).contains(&rows));
        // SAFETY: the operands have this many rows by this function's contract.
        unsafe { with_height!(rows, H => self.sum::<V, FUSED, H>()) }
    }

    /// [`Tile::run`] for a known number of rows.
    ///
    /// # Safety
    /// As of [`Tile::run`].
    #[inline(always)]
    unsafe fn sum<V: Lanes<T>, const FUSED: bool, const H: usize>(&self) {
        if const { H > MAX_ROWS / 2 && size_of::<V>() < 64 } {
            unreachable!("shorter vectors have fewer registers");
        }
        let address = |row: usize| self.out.wrapping_offset(row as isize * self.out_row);
        for row in 0..H {
            prefetch_l1(address(row));
            prefetch_l1(address(row).wrapping_add(VECTORS * V::COUNT - 1));
        }
        let width = VECTORS * V::COUNT;
        let mut sums = [[V::splat(T::ZERO); VECTORS]; H];
        let (mut left, mut panel) = (self.left, self.panel);
        // SAFETY: valid by this function's contract; both operands have the same depth.
        unsafe {
            for _ in 0..self.depth / UNROLLED {
                for depth in 0..UNROLLED {
                    add::<T, V, FUSED, H>(&mut sums, left.add(depth * H), panel.add(depth * width));
                }
                left = left.add(UNROLLED * H);
                panel = panel.add(UNROLLED * width);
            }
            for _ in 0..self.depth % UNROLLED {
                add::<T, V, FUSED, H>(&mut sums, left, panel);
                left = left.add(H);
                panel = panel.add(width);
            }
            let unit = V::splat(T::factor(1.0));
            for (row, sums) in sums.into_iter().enumerate() {
                for (vector, sum) in sums.into_iter().enumerate() {
                    let to = address(row).add(vector * V::COUNT);
                    // The old value is added last, off the critical path.
                    let sum = if self.overwrite { sum } else { V::load(to).add_product::<FUSED>(sum, unit) };
                    sum.store(to);
                }
            }
        }
    }
}

/// Add the products for one depth.
///
/// # Safety
/// As of [`Tile::sum`].
#[inline(always)]
unsafe fn add<T: Ring, V: Lanes<T>, const FUSED: bool, const H: usize>(
    sums: &mut [[V; VECTORS]; H],
    left: *const T,
    panel: *const T,
) {
    // SAFETY: the operands are readable as [`Tile::sum`] requires.
    unsafe {
        let right = [V::load(panel), V::load(panel.add(V::COUNT))];
        for (row, sums) in sums.iter_mut().enumerate() {
            let left = V::splat(*left.add(row));
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = sum.add_product::<FUSED>(left, right);
            }
        }
    }
}
