//! Batched solution of small systems of linear equations: each SIMD lane is one system.
//!
//! A library call for a small matrix costs more than its arithmetic. This is Gaussian elimination with partial pivoting for
//! well-scaled systems only. Systems with elements far from one, infinities or NaN, or with a pivot that has no finite
//! inverse, are reported and left to the library.

use std::ops::Range;
use std::sync::Mutex;

use umber_kernels_base::threads::parallel_ranges;

use super::batch::{Matrices, Order, Results, cost};
use super::equilibrate::safe_range;
use super::field::Field;
use crate::vector::{Lane, Vector, WithSimd};

/// Maximum bytes of a group of systems, which is traversed once per row and should stay in L2.
const MAX_GROUP_BYTES: usize = 256 << 10;
/// Minimum multiplications per task.
const GRAIN: usize = 1 << 18;
/// Maximum lanes of a vector.
const LANES: usize = 16;
/// Rows updated together, which share the loads of the pivot row.
const ROWS_PER_STEP: usize = 4;

/// Systems of one size, and the destination of their solutions.
pub(super) struct Systems<'a, T> {
    pub(super) left: Matrices<'a, T>,
    pub(super) right: Matrices<'a, T>,
    pub(super) solutions: Results<'a, T>,
}

/// Solve the well-scaled systems and return the indices of the others in ascending order; `None` if no system was solved.
pub(super) fn solve<T: Field + Lane>(systems: &Systems<'_, T>) -> Option<Vec<usize>> {
    let (size, columns, count) = (systems.left.rows(), systems.right.columns(), systems.left.count());
    let lanes = T::lanes();
    let group_elements = size.saturating_mul(size.saturating_add(columns)).saturating_mul(lanes);
    // A group costs as much as a few library calls, however many of its lanes are used.
    let min_lanes = lanes / 4;
    let is_suitable = lanes > 1
        && group_elements > 0
        && columns > 0
        && group_elements <= MAX_GROUP_BYTES / size_of::<T>()
        && count >= min_lanes;
    if !is_suitable {
        return None;
    }
    let groups = count / lanes + usize::from(count % lanes >= min_lanes);
    let solved = count.min(groups * lanes);
    let unsolved = Mutex::new((solved..count).collect::<Vec<usize>>());
    let row_offsets = RowOffsets::new(systems);
    parallel_ranges(groups, GRAIN / (lanes * cost(size, size, size + columns)), |groups| {
        let first = groups.start * lanes;
        let end = solved.min(groups.end * lanes);
        let failed = T::dispatch(Groups { systems, row_offsets: &row_offsets, range: first..end });
        // If a task panics, the list remains valid.
        unsolved.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(failed);
    });
    let mut unsolved = unsolved.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    unsolved.sort_unstable();
    Some(unsolved)
}

/// For each matrix element, in memory order, its index in the rows of a group: each row of the left side is followed by the
/// row of the right side.
struct RowOffsets {
    left: Vec<usize>,
    right: Vec<usize>,
    solutions: Vec<usize>,
}

impl RowOffsets {
    fn new<T: Field>(systems: &Systems<'_, T>) -> RowOffsets {
        let (size, columns) = (systems.left.rows(), systems.right.columns());
        let width = size + columns;
        let offsets = |order: Option<Order>, from: usize, columns: usize| -> Vec<usize> {
            let offset = |at: usize| match order {
                Some(Order::RowMajor) => at / columns * width + from + at % columns,
                // Copies are column-major.
                Some(Order::ColumnMajor) | None => at % size * width + from + at / size,
            };
            (0..size * columns).map(offset).collect()
        };
        RowOffsets {
            left: offsets(systems.left.order(), 0, size),
            right: offsets(systems.right.order(), size, columns),
            solutions: offsets(Some(Order::RowMajor), size, columns),
        }
    }
}

/// Some systems, processed in groups of one vector.
struct Groups<'a, T> {
    systems: &'a Systems<'a, T>,
    row_offsets: &'a RowOffsets,
    range: Range<usize>,
}

impl<T: Field + Lane> WithSimd<T> for Groups<'_, T> {
    /// Indices of the systems that were not solved.
    type Output = Vec<usize>;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) -> Vec<usize> {
        let Groups { systems: Systems { left, right, solutions }, row_offsets, range } = self;
        let size = left.rows();
        let width = size + right.columns();
        let (mut rows, mut copies) = (Vec::<V>::new(), Vec::<T>::new());
        let copied = if left.order().is_some() && right.order().is_some() {
            0
        } else {
            V::LANES * size * size.max(right.columns())
        };
        if rows.try_reserve_exact(size * width).is_err() || copies.try_reserve_exact(copied).is_err() {
            return range.collect();
        }
        copies.resize(copied, T::zero());
        let rows = rows.as_mut_ptr();
        let mut failed = Vec::new();
        for first in range.clone().step_by(V::LANES) {
            let count = V::LANES.min(range.end - first);
            // Unused lanes repeat the last system.
            let index = |lane: usize| first + lane.min(count - 1);
            // SAFETY: guaranteed by the caller of this function; there is space for every row of the group.
            let solved = unsafe {
                load_lanes(left, index, &mut copies, &row_offsets.left, rows);
                load_lanes(right, index, &mut copies, &row_offsets.right, rows);
                let are_in_safe_range = are_in_safe_range(rows, size, width);
                let have_pivots = eliminate(rows, size, width);
                substitute(rows, size, width);
                store_lanes(rows, &row_offsets.solutions, solutions, first..first + count);
                are_in_safe_range & have_pivots
            };
            failed.extend((0..count).filter(|lane| solved >> lane & 1 == 0).map(|lane| first + lane));
        }
        failed
    }
}

/// Load the matrix of each system into one lane of the rows.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and `rows` holds all of the offsets.
#[inline(always)]
unsafe fn load_lanes<T: Field, V: Vector<Lane = T>>(
    matrices: &Matrices<'_, T>,
    index: impl Fn(usize) -> usize,
    copies: &mut [T],
    row_offsets: &[usize],
    rows: *mut V,
) {
    let mut lines: [&[T]; LANES] = [&[]; LANES];
    if matrices.order().is_some() {
        for (lane, line) in lines[..V::LANES].iter_mut().enumerate() {
            *line = matrices.elements(index(lane));
        }
    } else {
        let copies = copies.chunks_exact_mut(row_offsets.len());
        for ((lane, line), copy) in lines[..V::LANES].iter_mut().enumerate().zip(copies) {
            matrices.load(index(lane), copy);
            *line = copy;
        }
    }
    // SAFETY: guaranteed by the caller of this function; each line has as many elements as there are offsets.
    unsafe {
        if row_offsets.len() < V::LANES {
            for (at, &offset) in row_offsets.iter().enumerate() {
                let lanes = rows.add(offset).cast::<T>();
                for (lane, line) in lines[..V::LANES].iter().enumerate() {
                    lanes.add(lane).write(line[at]);
                }
            }
            return;
        }
        for at in (0..row_offsets.len()).step_by(V::LANES) {
            // The last square is moved back to end with the last element, and overlaps the one before.
            let at = at.min(row_offsets.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, line) in square.as_mut().iter_mut().zip(&lines) {
                *vector = V::load(line[at..at + V::LANES].as_ptr());
            }
            V::transpose(&mut square);
            for (vector, &offset) in square.as_ref().iter().zip(&row_offsets[at..]) {
                rows.add(offset).write(*vector);
            }
        }
    }
}

/// Store the solutions of the systems of a group.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and `rows` holds all of the offsets.
#[inline(always)]
unsafe fn store_lanes<T: Field, V: Vector<Lane = T>>(
    rows: *const V,
    row_offsets: &[usize],
    solutions: &Results<'_, T>,
    systems: Range<usize>,
) {
    // SAFETY: guaranteed by the caller of this function; each solution has as many elements as there are offsets.
    unsafe {
        if row_offsets.len() < V::LANES {
            for (lane, index) in systems.enumerate() {
                let value = |offset: usize| *rows.add(offset).cast::<T>().add(lane);
                solutions.write(index, |out| {
                    out.iter_mut().zip(row_offsets).for_each(|(to, &offset)| *to = value(offset));
                });
            }
            return;
        }
        for at in (0..row_offsets.len()).step_by(V::LANES) {
            let at = at.min(row_offsets.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, &offset) in square.as_mut().iter_mut().zip(&row_offsets[at..]) {
                *vector = *rows.add(offset);
            }
            V::transpose(&mut square);
            for (vector, index) in square.as_ref().iter().zip(systems.clone()) {
                solutions.write(index, |out| vector.store(out[at..at + V::LANES].as_mut_ptr()));
            }
        }
    }
}

/// Bit mask of the lanes whose left side is within the safe range and whose right side does not exceed it. NaN passes, and is
/// detected as a pivot or propagates to the solution.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and there are `size` rows of `width` vectors.
#[inline(always)]
unsafe fn are_in_safe_range<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *const V,
    size: usize,
    width: usize,
) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let [low, high] = safe_range::<T>().map(|bound| V::splat(bound));
        let zero = V::splat(T::zero());
        // Two alternating accumulators, to shorten the dependency chain of the comparisons.
        let (mut min, mut max) = ([high; 2], [low; 2]);
        for i in 0..size {
            for j in 0..width {
                let value = (*rows.add(i * width + j)).abs();
                let (min, max) = (&mut min[j % 2], &mut max[j % 2]);
                *max = value.select_gt(*max, value, *max);
                if j < size {
                    let value = value.select_eq(zero, high, value);
                    *min = min.select_gt(value, value, *min);
                }
            }
        }
        let is_extreme = |i: usize| low.gt_mask(min[i]) | max[i].gt_mask(high);
        !(is_extreme(0) | is_extreme(1))
    }
}

/// Reduce the left sides to upper triangular form, with the inverses of the pivots on the diagonal, and apply the same
/// operations to the right sides. Returns a bit mask of the lanes whose pivots all have finite inverses.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and there are `size` rows of `width` vectors.
#[inline(always)]
unsafe fn eliminate<T: Field + Lane, V: Vector<Lane = T>>(rows: *mut V, size: usize, width: usize) -> u32 {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let infinity = V::splat(T::infinity());
        let mut invertible = u32::MAX;
        for k in 0..size {
            let pivots = rows.add(k * width);
            let mut best = (*pivots.add(k)).abs();
            let mut pivot_row = V::splat(T::of(k as f64));
            for i in k + 1..size {
                let value = (*rows.add(i * width + k)).abs();
                pivot_row = value.select_gt(best, V::splat(T::of(i as f64)), pivot_row);
                best = value.select_gt(best, value, best);
            }
            exchange(rows, width, k..size, pivot_row);
            let pivot = *pivots.add(k);
            let inverse = V::splat(T::one()).div(pivot);
            invertible &= infinity.gt_mask(pivot.abs()) & infinity.gt_mask(inverse.abs());
            *pivots.add(k) = inverse;
            let mut i = k + 1;
            while i + ROWS_PER_STEP <= size {
                subtract::<V, ROWS_PER_STEP>(pivots, rows.add(i * width), k, width);
                i += ROWS_PER_STEP;
            }
            for i in i..size {
                subtract::<V, 1>(pivots, rows.add(i * width), k, width);
            }
        }
        invertible
    }
}

/// In each lane, exchange the first row of `range` with row `pivot_row`, beginning with the column of the same index.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and there are `range.end` rows of `width` vectors.
#[inline(always)]
unsafe fn exchange<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *mut V,
    width: usize,
    range: Range<usize>,
    pivot_row: V,
) {
    // SAFETY: guaranteed by the caller of this function; each lane selects at most one row, so there are at most `LANES`
    // candidates.
    unsafe {
        let mut candidates = [(0, T::zero()); LANES];
        let mut count = 0;
        for i in range.start + 1..range.end {
            let row_index = T::of(i as f64);
            if pivot_row.eq_mask(V::splat(row_index)) != 0 {
                candidates[count] = (i, row_index);
                count += 1;
            }
        }
        if count == 0 {
            return;
        }
        for column in range.start..width {
            let first = rows.add(range.start * width + column);
            let top = *first;
            let mut selected = top;
            for &(i, row_index) in &candidates[..count] {
                let other = rows.add(i * width + column);
                let (value, row_index) = (*other, V::splat(row_index));
                selected = pivot_row.select_eq(row_index, value, selected);
                *other = pivot_row.select_eq(row_index, top, value);
            }
            *first = selected;
        }
    }
}

/// Subtract multiples of the pivot row from `COUNT` rows, so that their column `k` becomes zero.
///
/// # Safety
///
/// The processor has the instruction set of `V`; the pivot row and the other rows have `width` vectors.
#[inline(always)]
unsafe fn subtract<V: Vector, const COUNT: usize>(pivots: *const V, rows: *mut V, k: usize, width: usize) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let inverse = *pivots.add(k);
        let mut factors = [inverse; COUNT];
        for (i, factor) in factors.iter_mut().enumerate() {
            *factor = (*rows.add(i * width + k)).mul(inverse);
        }
        for column in k + 1..width {
            let top = *pivots.add(column);
            for (i, factor) in factors.iter().enumerate() {
                let element = rows.add(i * width + column);
                *element = factor.neg_mul_add(top, *element);
            }
        }
    }
}

/// Back substitution, which overwrites the right sides with the solutions.
///
/// # Safety
///
/// The processor has the instruction set of `V`, and there are `size` rows of `width` vectors.
#[inline(always)]
unsafe fn substitute<V: Vector>(rows: *mut V, size: usize, width: usize) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut column = size;
        while column + ROWS_PER_STEP <= width {
            substitute_columns::<V, ROWS_PER_STEP>(rows, size, width, column);
            column += ROWS_PER_STEP;
        }
        for column in column..width {
            substitute_columns::<V, 1>(rows, size, width, column);
        }
    }
}

/// As [`substitute`], for `COUNT` columns.
///
/// # Safety
///
/// As for [`substitute`].
#[inline(always)]
unsafe fn substitute_columns<V: Vector, const COUNT: usize>(
    rows: *mut V,
    size: usize,
    width: usize,
    column: usize,
) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        for k in (0..size).rev() {
            let row = rows.add(k * width);
            let inverse = *row.add(k);
            let mut sums = [inverse; COUNT];
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = *row.add(column + i);
            }
            for j in k + 1..size {
                let factor = *row.add(j);
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = factor.neg_mul_add(*rows.add(j * width + column + i), *sum);
                }
            }
            for (i, sum) in sums.iter().enumerate() {
                *row.add(column + i) = sum.mul(inverse);
            }
        }
    }
}
