//! Small systems of linear equations side by side: each lane of a vector is a system of its own.
//!
//! A library's call for a small matrix takes longer than its arithmetic. This is the same elimination with partial pivoting,
//! and answers only for ordinary systems. The others, with numbers far from one, infinite ones and NaN among them, or a pivot
//! that has no inverse, are named and left to the library, which knows what comes of them.

use std::ops::Range;
use std::sync::Mutex;

use umber_kernels_base::threads::parallel_ranges;

use super::batch::{Matrices, Order, Results, cost};
use super::equilibrate::safe_range;
use super::field::Field;
use crate::vector::{Lane, Vector, WithSimd};

/// Bytes of a group of systems, which are gone through once a row: they stay in the second cache.
const MAX_GROUP_BYTES: usize = 256 << 10;
/// Multiplications worth a task of their own.
const GRAIN: usize = 1 << 18;
/// As many lanes as a vector has at most.
const LANES: usize = 16;
/// Rows that are changed together, so that the pivot's row is read once for them.
const ROWS_PER_STEP: usize = 4;

/// Systems of one size, and where their solutions go.
pub(super) struct Systems<'a, T> {
    pub(super) left: Matrices<'a, T>,
    pub(super) right: Matrices<'a, T>,
    pub(super) solutions: Results<'a, T>,
}

/// Solve the systems that are ordinary, and answer which are left, in order; nothing if all are.
pub(super) fn solve<T: Field + Lane>(systems: &Systems<'_, T>) -> Option<Vec<usize>> {
    let (size, columns, count) = (systems.left.rows(), systems.right.columns(), systems.left.count());
    let lanes = T::lanes();
    let numbers = size.saturating_mul(size.saturating_add(columns)).saturating_mul(lanes);
    // A group takes as long as a few calls, however many of its lanes are used.
    let few = lanes / 4;
    let is_fit = lanes > 1
        && numbers > 0
        && columns > 0
        && numbers <= MAX_GROUP_BYTES / size_of::<T>()
        && count >= few;
    if !is_fit {
        return None;
    }
    let groups = count / lanes + usize::from(count % lanes >= few);
    let solved = count.min(groups * lanes);
    let left = Mutex::new((solved..count).collect::<Vec<usize>>());
    let row_offsets = RowOffsets::new(systems);
    parallel_ranges(groups, GRAIN / (lanes * cost(size, size, size + columns)), |groups| {
        let first = groups.start * lanes;
        let end = solved.min(groups.end * lanes);
        let others = T::dispatch(Groups { systems, row_offsets: &row_offsets, range: first..end });
        // A panic elsewhere leaves the list as good as it was.
        left.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(others);
    });
    let mut left = left.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    left.sort_unstable();
    Some(left)
}

/// Where the elements of matrices, in the order in which they lie in memory, are in the rows of a group: each row of the
/// left side is followed by that of the right one.
struct RowOffsets {
    left: Vec<usize>,
    right: Vec<usize>,
    solutions: Vec<usize>,
}

impl RowOffsets {
    fn new<T: Field>(systems: &Systems<'_, T>) -> RowOffsets {
        let (size, columns) = (systems.left.rows(), systems.right.columns());
        let width = size + columns;
        let of = |order: Option<Order>, from: usize, columns: usize| -> Vec<usize> {
            let pivot_row = |at: usize| match order {
                Some(Order::RowsFirst) => at / columns * width + from + at % columns,
                // As what is copied is.
                Some(Order::ColumnsFirst) | None => at % size * width + from + at / size,
            };
            (0..size * columns).map(pivot_row).collect()
        };
        RowOffsets {
            left: of(systems.left.order(), 0, size),
            right: of(systems.right.order(), size, columns),
            solutions: of(Some(Order::RowsFirst), size, columns),
        }
    }
}

/// Some systems, a vector of them at a time.
struct Groups<'a, T> {
    systems: &'a Systems<'a, T>,
    row_offsets: &'a RowOffsets,
    range: Range<usize>,
}

impl<T: Field + Lane> WithSimd<T> for Groups<'_, T> {
    /// Those that are not solved.
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
        let mut others = Vec::new();
        for first in range.clone().step_by(V::LANES) {
            let count = V::LANES.min(range.end - first);
            // Lanes beyond the last system repeat it.
            let index = |lane: usize| first + lane.min(count - 1);
            // SAFETY: the vectors are the caller's; there is room for every row of the group.
            let solved = unsafe {
                load_lanes(left, index, &mut copies, &row_offsets.left, rows);
                load_lanes(right, index, &mut copies, &row_offsets.right, rows);
                let are_in_safe_range = are_in_safe_range(rows, size, width);
                let have_pivots = eliminate(rows, size, width);
                substitute(rows, size, width);
                store_lanes(rows, &row_offsets.solutions, solutions, first..first + count);
                are_in_safe_range & have_pivots
            };
            others.extend((0..count).filter(|lane| solved >> lane & 1 == 0).map(|lane| first + lane));
        }
        others
    }
}

/// Let a matrix of each system be a lane of the rows.
///
/// # Safety
/// The vectors are there, and the rows have the places.
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
    // SAFETY: the caller's; lines are as long as the places are many.
    unsafe {
        if row_offsets.len() < V::LANES {
            for (at, &pivot_row) in row_offsets.iter().enumerate() {
                let lanes = rows.add(pivot_row).cast::<T>();
                for (lane, line) in lines[..V::LANES].iter().enumerate() {
                    lanes.add(lane).write(line[at]);
                }
            }
            return;
        }
        for at in (0..row_offsets.len()).step_by(V::LANES) {
            // The last square covers what is left, and some of what has been brought.
            let at = at.min(row_offsets.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, line) in square.as_mut().iter_mut().zip(&lines) {
                *vector = V::load(line[at..at + V::LANES].as_ptr());
            }
            V::transpose(&mut square);
            for (vector, &pivot_row) in square.as_ref().iter().zip(&row_offsets[at..]) {
                rows.add(pivot_row).write(*vector);
            }
        }
    }
}

/// Write the solutions of the systems of a group.
///
/// # Safety
/// The vectors are there, and the rows have the places.
#[inline(always)]
unsafe fn store_lanes<T: Field, V: Vector<Lane = T>>(
    rows: *const V,
    row_offsets: &[usize],
    solutions: &Results<'_, T>,
    systems: Range<usize>,
) {
    // SAFETY: the caller's; solutions are as long as the places are many.
    unsafe {
        if row_offsets.len() < V::LANES {
            for (lane, index) in systems.enumerate() {
                let value = |pivot_row: usize| *rows.add(pivot_row).cast::<T>().add(lane);
                solutions.write(index, |part| {
                    part.iter_mut().zip(row_offsets).for_each(|(to, &pivot_row)| *to = value(pivot_row));
                });
            }
            return;
        }
        for at in (0..row_offsets.len()).step_by(V::LANES) {
            let at = at.min(row_offsets.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, &pivot_row) in square.as_mut().iter_mut().zip(&row_offsets[at..]) {
                *vector = *rows.add(pivot_row);
            }
            V::transpose(&mut square);
            for (vector, index) in square.as_ref().iter().zip(systems.clone()) {
                solutions.write(index, |part| vector.store(part[at..at + V::LANES].as_mut_ptr()));
            }
        }
    }
}

/// In which lanes are the left sides near enough to one, and the right sides not far above? NaN passes, and is met again as a
/// pivot, or in the solution.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn are_in_safe_range<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *const V,
    size: usize,
    width: usize,
) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let [low, high] = safe_range::<T>().map(|bound| V::splat(bound));
        let zero = V::splat(T::zero());
        // Every second one, since a comparison waits for the one before.
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

/// Bring the left sides into upper triangular form, with inverses of the pivots on the diagonal, and change the right sides
/// alike; answers in which lanes all pivots have an inverse.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn eliminate<T: Field + Lane, V: Vector<Lane = T>>(rows: *mut V, size: usize, width: usize) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let infinity = V::splat(T::infinity());
        let mut fine = u32::MAX;
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
            fine &= infinity.gt_mask(pivot.abs()) & infinity.gt_mask(inverse.abs());
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
        fine
    }
}

/// Exchange the first of some rows with the one that `pivot_row` names in each lane, from the column on that has its number.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn exchange<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *mut V,
    width: usize,
    range: Range<usize>,
    pivot_row: V,
) {
    // SAFETY: the caller's; every lane names at most one row.
    unsafe {
        let mut moved = [(0, T::zero()); LANES];
        let mut count = 0;
        for i in range.start + 1..range.end {
            let name = T::of(i as f64);
            if pivot_row.eq_mask(V::splat(name)) != 0 {
                moved[count] = (i, name);
                count += 1;
            }
        }
        if count == 0 {
            return;
        }
        for column in range.start..width {
            let first = rows.add(range.start * width + column);
            let top = *first;
            let mut chosen = top;
            for &(i, name) in &moved[..count] {
                let other = rows.add(i * width + column);
                let (value, name) = (*other, V::splat(name));
                chosen = pivot_row.select_eq(name, value, chosen);
                *other = pivot_row.select_eq(name, top, value);
            }
            *first = chosen;
        }
    }
}

/// Subtract from some rows as much of the pivot's as makes their column `k` zero.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn subtract<V: Vector, const COUNT: usize>(pivots: *const V, rows: *mut V, k: usize, width: usize) {
    // SAFETY: the caller's.
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

/// Let the right sides be the solutions, from the last row on.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn substitute<V: Vector>(rows: *mut V, size: usize, width: usize) {
    // SAFETY: the caller's.
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

/// As [`substitute`], for some columns.
///
/// # Safety
/// As [`substitute`].
#[inline(always)]
unsafe fn substitute_columns<V: Vector, const COUNT: usize>(
    rows: *mut V,
    size: usize,
    width: usize,
    column: usize,
) {
    // SAFETY: the caller's.
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
