//! Small systems of linear equations side by side: each lane of a vector is a system of its own.
//!
//! A library's call for a small matrix takes longer than its arithmetic. This is the same elimination with partial pivoting,
//! and answers only for ordinary systems. The others, with numbers far from one, infinite ones and NaN among them, or a pivot
//! that has no inverse, are named and left to the library, which knows what comes of them.

use std::ops::Range;
use std::sync::Mutex;

use umber_kernels_base::threads::parallel_ranges;

use super::batch::{Matrices, Order, Results, cost};
use super::equilibrium::ordinary;
use super::field::Field;
use crate::vector::{Lane, Vector, Work};

/// Bytes of a group of systems, which are gone through once a row: they stay in the second cache.
const MOST: usize = 256 << 10;
/// Multiplications worth a task of their own.
const GRAIN: usize = 1 << 18;
/// As many lanes as a vector has at most.
const LANES: usize = 16;
/// Rows that are changed together, so that the pivot's row is read once for them.
const TOGETHER: usize = 4;

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
    let is_fit = lanes > 1 && numbers > 0 && columns > 0 && numbers <= MOST / size_of::<T>() && count >= few;
    if !is_fit {
        return None;
    }
    let groups = count / lanes + usize::from(count % lanes >= few);
    let solved = count.min(groups * lanes);
    let left = Mutex::new((solved..count).collect::<Vec<usize>>());
    let places = Places::new(systems);
    parallel_ranges(groups, GRAIN / (lanes * cost(size, size, size + columns)), |groups| {
        let first = groups.start * lanes;
        let end = solved.min(groups.end * lanes);
        let others = T::vectors(Groups { systems, places: &places, range: first..end });
        // A panic elsewhere leaves the list as good as it was.
        left.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(others);
    });
    let mut left = left.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    left.sort_unstable();
    Some(left)
}

/// Where the elements of matrices, in the order in which they lie in memory, are in the rows of a group: each row of the
/// left side is followed by that of the right one.
struct Places {
    left: Vec<usize>,
    right: Vec<usize>,
    solutions: Vec<usize>,
}

impl Places {
    fn new<T: Field>(systems: &Systems<'_, T>) -> Places {
        let (size, columns) = (systems.left.rows(), systems.right.columns());
        let width = size + columns;
        let of = |order: Option<Order>, from: usize, columns: usize| -> Vec<usize> {
            let place = |at: usize| match order {
                Some(Order::RowsFirst) => at / columns * width + from + at % columns,
                // As what is copied is.
                Some(Order::ColumnsFirst) | None => at % size * width + from + at / size,
            };
            (0..size * columns).map(place).collect()
        };
        Places {
            left: of(systems.left.order(), 0, size),
            right: of(systems.right.order(), size, columns),
            solutions: of(Some(Order::RowsFirst), size, columns),
        }
    }
}

/// Some systems, a vector of them at a time.
struct Groups<'a, T> {
    systems: &'a Systems<'a, T>,
    places: &'a Places,
    range: Range<usize>,
}

impl<T: Field + Lane> Work<T> for Groups<'_, T> {
    /// Those that are not solved.
    type Output = Vec<usize>;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(self) -> Vec<usize> {
        let Groups { systems: Systems { left, right, solutions }, places, range } = self;
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
                bring(left, index, &mut copies, &places.left, rows);
                bring(right, index, &mut copies, &places.right, rows);
                let are_ordinary = are_ordinary(rows, size, width);
                let have_pivots = eliminate(rows, size, width);
                substitute(rows, size, width);
                take(rows, &places.solutions, solutions, first..first + count);
                are_ordinary & have_pivots
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
unsafe fn bring<T: Field, V: Vector<Lane = T>>(
    matrices: &Matrices<'_, T>,
    index: impl Fn(usize) -> usize,
    copies: &mut [T],
    places: &[usize],
    rows: *mut V,
) {
    let mut lines: [&[T]; LANES] = [&[]; LANES];
    if matrices.order().is_some() {
        for (lane, line) in lines[..V::LANES].iter_mut().enumerate() {
            *line = matrices.elements(index(lane));
        }
    } else {
        let copies = copies.chunks_exact_mut(places.len());
        for ((lane, line), copy) in lines[..V::LANES].iter_mut().enumerate().zip(copies) {
            matrices.load(index(lane), copy);
            *line = copy;
        }
    }
    // SAFETY: the caller's; lines are as long as the places are many.
    unsafe {
        if places.len() < V::LANES {
            for (at, &place) in places.iter().enumerate() {
                let lanes = rows.add(place).cast::<T>();
                for (lane, line) in lines[..V::LANES].iter().enumerate() {
                    lanes.add(lane).write(line[at]);
                }
            }
            return;
        }
        for at in (0..places.len()).step_by(V::LANES) {
            // The last square covers what is left, and some of what has been brought.
            let at = at.min(places.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, line) in square.as_mut().iter_mut().zip(&lines) {
                *vector = V::load(line[at..at + V::LANES].as_ptr());
            }
            V::turn(&mut square);
            for (vector, &place) in square.as_ref().iter().zip(&places[at..]) {
                rows.add(place).write(*vector);
            }
        }
    }
}

/// Write the solutions of the systems of a group.
///
/// # Safety
/// The vectors are there, and the rows have the places.
#[inline(always)]
unsafe fn take<T: Field, V: Vector<Lane = T>>(
    rows: *const V,
    places: &[usize],
    solutions: &Results<'_, T>,
    systems: Range<usize>,
) {
    // SAFETY: the caller's; solutions are as long as the places are many.
    unsafe {
        if places.len() < V::LANES {
            for (lane, index) in systems.enumerate() {
                let value = |place: usize| *rows.add(place).cast::<T>().add(lane);
                solutions.write(index, |part| {
                    part.iter_mut().zip(places).for_each(|(to, &place)| *to = value(place));
                });
            }
            return;
        }
        for at in (0..places.len()).step_by(V::LANES) {
            let at = at.min(places.len() - V::LANES);
            let mut square = V::square(V::splat(T::zero()));
            for (vector, &place) in square.as_mut().iter_mut().zip(&places[at..]) {
                *vector = *rows.add(place);
            }
            V::turn(&mut square);
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
unsafe fn are_ordinary<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *const V,
    size: usize,
    width: usize,
) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let [low, high] = ordinary::<T>().map(|bound| V::splat(bound));
        let zero = V::splat(T::zero());
        // Every second one, since a comparison waits for the one before.
        let (mut least, mut most) = ([high; 2], [low; 2]);
        for i in 0..size {
            for j in 0..width {
                let value = (*rows.add(i * width + j)).abs();
                let (least, most) = (&mut least[j % 2], &mut most[j % 2]);
                *most = value.where_above(*most, value, *most);
                if j < size {
                    let value = value.where_equal(zero, high, value);
                    *least = least.where_above(value, value, *least);
                }
            }
        }
        let is_extreme = |i: usize| low.above(least[i]) | most[i].above(high);
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
            let mut place = V::splat(T::of(k as f64));
            for i in k + 1..size {
                let value = (*rows.add(i * width + k)).abs();
                place = value.where_above(best, V::splat(T::of(i as f64)), place);
                best = value.where_above(best, value, best);
            }
            exchange(rows, width, k..size, place);
            let pivot = *pivots.add(k);
            let inverse = V::splat(T::one()).div(pivot);
            fine &= infinity.above(pivot.abs()) & infinity.above(inverse.abs());
            *pivots.add(k) = inverse;
            let mut i = k + 1;
            while i + TOGETHER <= size {
                subtract::<V, TOGETHER>(pivots, rows.add(i * width), k, width);
                i += TOGETHER;
            }
            for i in i..size {
                subtract::<V, 1>(pivots, rows.add(i * width), k, width);
            }
        }
        fine
    }
}

/// Exchange the first of some rows with the one that `place` names in each lane, from the column on that has its number.
///
/// # Safety
/// The vectors are there, and so many rows.
#[inline(always)]
unsafe fn exchange<T: Field + Lane, V: Vector<Lane = T>>(
    rows: *mut V,
    width: usize,
    range: Range<usize>,
    place: V,
) {
    // SAFETY: the caller's; every lane names at most one row.
    unsafe {
        let mut moved = [(0, T::zero()); LANES];
        let mut count = 0;
        for i in range.start + 1..range.end {
            let name = T::of(i as f64);
            if place.equals(V::splat(name)) != 0 {
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
                chosen = place.where_equal(name, value, chosen);
                *other = place.where_equal(name, top, value);
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
                *element = factor.mul_from(top, *element);
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
        while column + TOGETHER <= width {
            substitute_columns::<V, TOGETHER>(rows, size, width, column);
            column += TOGETHER;
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
                    *sum = factor.mul_from(*rows.add(j * width + column + i), *sum);
                }
            }
            for (i, sum) in sums.iter().enumerate() {
                *row.add(column + i) = sum.mul(inverse);
            }
        }
    }
}
