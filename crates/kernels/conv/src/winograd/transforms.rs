//! The transforms before and after the products, along one axis or two: multiplications by the matrices *B*, *G* and *A* of
//! Lavin and Gray.

use umber_kernels_base::lanes::{Lanes, Ring};

use super::{INPUT_SIDE, SIDE, TAPS};

/// Transform of the input along an axis: each point is one element plus or minus another (two indices and the sign).
const PAIRS: [(usize, usize, f64); INPUT_SIDE] = [(0, 2, -1.0), (1, 2, 1.0), (2, 1, -1.0), (1, 3, -1.0)];

/// Pointer and strides of elements or vectors on two axes; the first axis may have length one.
#[derive(Clone, Copy)]
pub(super) struct Grid<P> {
    pub(super) start: P,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl<W> Grid<*const W> {
    /// # Safety
    /// The element at this row and column is readable.
    #[inline(always)]
    unsafe fn load<V: Lanes<W>>(&self, row: usize, column: usize) -> V {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { V::load(self.start.add(row * self.row + column * self.column)) }
    }
}

impl<W> Grid<*mut W> {
    /// # Safety
    /// The element at this row and column is writable.
    #[inline(always)]
    unsafe fn store<V: Lanes<W>>(&self, row: usize, column: usize, value: V) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { value.store(self.start.add(row * self.row + column * self.column)) }
    }
}

/// Transform the input of a tile to its points.
///
/// # Safety
///
/// The grids have `INPUT_SIDE` elements along each of the axes.
#[inline(always)]
pub(super) unsafe fn of_input<W: Ring, V: Lanes<W>, const FUSED: bool>(
    axes: usize,
    from: Grid<*const W>,
    to: Grid<*mut W>,
) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        if axes == 1 {
            let mut line = [V::splat(W::ZERO); INPUT_SIDE];
            for (column, value) in line.iter_mut().enumerate() {
                *value = from.load::<V>(0, column);
            }
            store_pairs::<W, V, FUSED>(line, to, 0);
            return;
        }
        for (row, (first, second, sign)) in PAIRS.into_iter().enumerate() {
            let sign = V::splat(W::factor(sign));
            let mut line = [V::splat(W::ZERO); INPUT_SIDE];
            for (column, value) in line.iter_mut().enumerate() {
                let (first, second) = (from.load::<V>(first, column), from.load::<V>(second, column));
                *value = first.add_product::<FUSED>(second, sign);
            }
            store_pairs::<W, V, FUSED>(line, to, row);
        }
    }
}

/// # Safety
/// The grid has `INPUT_SIDE` elements in this row.
#[inline(always)]
unsafe fn store_pairs<W: Ring, V: Lanes<W>, const FUSED: bool>(
    line: [V; INPUT_SIDE],
    to: Grid<*mut W>,
    row: usize,
) {
    for (column, (first, second, sign)) in PAIRS.into_iter().enumerate() {
        let value = line[first].add_product::<FUSED>(line[second], V::splat(W::factor(sign)));
        // SAFETY: guaranteed by the caller of this function.
        unsafe { to.store(row, column, value) };
    }
}

/// Transform the points of a tile to its outputs: one or two rows of two.
///
/// # Safety
///
/// The grid has `INPUT_SIDE` elements along each of the axes.
#[inline(always)]
pub(super) unsafe fn of_points<W: Ring, V: Lanes<W>, const FUSED: bool>(
    axes: usize,
    from: Grid<*const W>,
) -> [[V; SIDE]; SIDE] {
    let [mut upper, mut lower] = [[V::splat(W::ZERO); INPUT_SIDE]; SIDE];
    for (column, (upper, lower)) in upper.iter_mut().zip(&mut lower).enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let mut points = [V::splat(W::ZERO); INPUT_SIDE];
            points[0] = from.load::<V>(0, column);
            if axes == 2 {
                for (row, point) in points.iter_mut().enumerate().skip(1) {
                    *point = from.load::<V>(row, column);
                }
                [*upper, *lower] = inverse_transform_1d::<W, V, FUSED>(points);
            } else {
                *upper = points[0];
            }
        }
    }
    [inverse_transform_1d::<W, V, FUSED>(upper), inverse_transform_1d::<W, V, FUSED>(lower)]
}

/// Transform the points along an axis to two outputs.
#[inline(always)]
fn inverse_transform_1d<W: Ring, V: Lanes<W>, const FUSED: bool>([a, b, c, d]: [V; INPUT_SIDE]) -> [V; SIDE] {
    let (plus, minus) = (V::splat(W::factor(1.0)), V::splat(W::factor(-1.0)));
    let first = a.add_product::<FUSED>(b, plus).add_product::<FUSED>(c, plus);
    let second = b.add_product::<FUSED>(c, minus).add_product::<FUSED>(d, minus);
    [first, second]
}

/// Transform the taps of a kernel to its points.
///
/// # Safety
///
/// `from` has `TAPS` elements along each of the axes, `to` has `INPUT_SIDE`.
#[inline(always)]
pub(super) unsafe fn of_kernel<W: Ring, V: Lanes<W>, const FUSED: bool>(
    axes: usize,
    from: Grid<*const W>,
    to: Grid<*mut W>,
) {
    let rows = if axes == 2 { TAPS } else { 1 };
    let mut lines = [[V::splat(W::ZERO); INPUT_SIDE]; TAPS];
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        for (row, line) in lines.iter_mut().enumerate().take(rows) {
            *line = kernel_points::<W, V, FUSED>([from.load(row, 0), from.load(row, 1), from.load(row, 2)]);
        }
        let [first, second, third] = lines;
        for (column, a) in first.into_iter().enumerate() {
            let [b, c] = [second[column], third[column]];
            if axes == 2 {
                for (row, value) in kernel_points::<W, V, FUSED>([a, b, c]).into_iter().enumerate() {
                    to.store(row, column, value);
                }
            } else {
                to.store(0, column, a);
            }
        }
    }
}

/// Transform the cotangents of a tile to points, which multiply the points of the input in the weight gradient.
///
/// # Safety
///
/// The grid has `INPUT_SIDE` elements along each of the axes.
#[inline(always)]
pub(super) unsafe fn of_cotangents<W: Ring, V: Lanes<W>, const FUSED: bool>(
    axes: usize,
    [first, second]: [[V; SIDE]; SIDE],
    to: Grid<*mut W>,
) {
    let (first, second) = (cotangent_points::<W, V, FUSED>(first), cotangent_points::<W, V, FUSED>(second));
    for (column, (first, second)) in first.into_iter().zip(second).enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            if axes == 2 {
                let along = cotangent_points::<W, V, FUSED>([first, second]);
                for (row, value) in along.into_iter().enumerate() {
                    to.store(row, column, value);
                }
            } else {
                to.store(0, column, first);
            }
        }
    }
}

/// Transform two cotangents along an axis to points.
#[inline(always)]
fn cotangent_points<W: Ring, V: Lanes<W>, const FUSED: bool>([a, b]: [V; SIDE]) -> [V; INPUT_SIDE] {
    let (plus, minus) = (V::splat(W::factor(1.0)), V::splat(W::factor(-1.0)));
    let opposite = V::splat(W::ZERO).add_product::<FUSED>(b, minus);
    [a, a.add_product::<FUSED>(b, plus), a.add_product::<FUSED>(b, minus), opposite]
}

/// Transform the gradients of a kernel's points to the gradients of its taps.
///
/// # Safety
///
/// `from` has `INPUT_SIDE` elements along each of the axes, `to` has `TAPS`.
#[inline(always)]
pub(super) unsafe fn to_kernel<W: Ring, V: Lanes<W>, const FUSED: bool>(
    axes: usize,
    from: Grid<*const W>,
    to: Grid<*mut W>,
) {
    let rows = if axes == 2 { INPUT_SIDE } else { 1 };
    let mut lines = [[V::splat(W::ZERO); TAPS]; INPUT_SIDE];
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        for (row, line) in lines.iter_mut().enumerate().take(rows) {
            let mut points = [V::splat(W::ZERO); INPUT_SIDE];
            for (column, point) in points.iter_mut().enumerate() {
                *point = from.load(row, column);
            }
            *line = taps::<W, V, FUSED>(points);
        }
        let [first, second, third, fourth] = lines;
        for (column, a) in first.into_iter().enumerate() {
            let [b, c, d] = [second[column], third[column], fourth[column]];
            if axes == 2 {
                for (row, value) in taps::<W, V, FUSED>([a, b, c, d]).into_iter().enumerate() {
                    to.store(row, column, value);
                }
            } else {
                to.store(0, column, a);
            }
        }
    }
}

/// Transform the gradients of four points to those of three taps.
#[inline(always)]
fn taps<W: Ring, V: Lanes<W>, const FUSED: bool>([a, b, c, d]: [V; INPUT_SIDE]) -> [V; TAPS] {
    let (plus, half, minus_half) =
        (V::splat(W::factor(1.0)), V::splat(W::factor(0.5)), V::splat(W::factor(-0.5)));
    let halved = V::splat(W::ZERO).add_product::<FUSED>(b, half);
    let sum = halved.add_product::<FUSED>(c, half);
    [
        sum.add_product::<FUSED>(a, plus),
        halved.add_product::<FUSED>(c, minus_half),
        sum.add_product::<FUSED>(d, plus),
    ]
}

/// Transform three taps to four points.
#[inline(always)]
fn kernel_points<W: Ring, V: Lanes<W>, const FUSED: bool>([a, b, c]: [V; TAPS]) -> [V; INPUT_SIDE] {
    let (half, minus_half) = (V::splat(W::factor(0.5)), V::splat(W::factor(-0.5)));
    let ends = V::splat(W::ZERO).add_product::<FUSED>(a, half).add_product::<FUSED>(c, half);
    [a, ends.add_product::<FUSED>(b, half), ends.add_product::<FUSED>(b, minus_half), c]
}
