//! Sums of squared distances from the mean, read once.
//!
//! A block that the first cache holds is gone through twice, for its mean and for its sum, and joins what came before by
//! the rule of Chan, Golub and LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979).

use std::ops::Range;

use umber_types::match_dtype;

use crate::caches::Aligned;
use crate::isa::{Cache, prefetch_lines, vectorised};
use crate::nest::{Loop, Nest};
use crate::room::Room;
use crate::row::{BLOCK, Buffer, LANES, Real, STRETCH, Sums, Work, tree_of_eight};
use crate::shared::{Source, Target};
use crate::threads::parallel_ranges;
use crate::{View, ViewMut};

/// Columns worked on side by side.
const WIDTH: usize = 64;
/// Rows of a block of columns.
const HEIGHT: usize = 64;
/// Elements of one result that one task goes through; longer ones are cut, by their length alone.
const PART: usize = 1 << 16;
/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;

/// For each place of the other axes, `sum((x - mean x)^2)` over `axes`, into `dst`, where they have length one and the dtype
/// is what `x` computes in.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn squared_deviations(x: View, axes: Range<usize>, dst: ViewMut) {
    assert!(
        x.shape()
            .iter()
            .zip(dst.shape())
            .enumerate()
            .all(|(axis, (&length, &kept))| { kept == if axes.contains(&axis) { 1 } else { length } }),
        "axes that are summed over have length one"
    );
    if dst.size() == 0 {
        return;
    }
    let summed = Nest::new(&x.shape()[axes.clone()], [&x.strides()[axes.clone()]]);
    if summed.loops().len() > 1 {
        // No single step leads from element to element.
        return match_dtype!(float x.dtype(), T => {
            let copy = crate::quantized::dense::<T>(x);
            let layout = umber_types::Layout::contiguous(x.shape().into());
            squared_deviations(View::of(&copy, &layout), axes, dst);
        }, else => panic!("{} is no real float", x.dtype()));
    }
    let mut results = Nest::default();
    for axis in (0..x.shape().len()).filter(|axis| !axes.contains(axis)) {
        results.push(Loop { length: x.shape()[axis], strides: [x.strides()[axis], dst.strides()[axis]] });
    }
    match_dtype!(float x.dtype(), T => {
        assert_eq!(dst.dtype(), <<T as Real>::Work as umber_types::Element>::DTYPE, "sums have more digits");
        let task = Task::<T> {
            src: Source::of(&x),
            dst: Target::of(&dst),
            length: summed.count(),
            step: summed.inner().strides[0],
            results,
        };
        if task.length == 0 {
            task.set_zero();
        } else if task.step != 1 && task.results.inner().strides[0] == 1 && task.results.inner().length >= 8 {
            task.by_columns();
        } else {
            task.by_rows();
        }
    }, else => panic!("{} is no real float", x.dtype()));
}

struct Task<T: Real> {
    src: Source<T>,
    dst: Target<T::Work>,
    /// Elements of one sum, and the distance between them.
    length: usize,
    step: isize,
    /// Where the elements of each result begin, and where it goes.
    results: Nest<2>,
}

/// What is known of some elements.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    /// How far the mean is from the first element of all, near which it has more digits than by itself.
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl Moments {
    /// Those of these elements and others.
    #[inline(always)]
    fn joined(self, other: Moments) -> Moments {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        let part = other.count / count;
        Moments {
            count,
            mean: self.mean + distance * part,
            squares: self.squares + other.squares + distance * distance * self.count * part,
        }
    }
}

/// The sum of squared distances from the mean of `count` elements, given that from a point so far off, to which the mean was rounded.
#[inline(always)]
fn around_mean(squares: f64, count: f64, off: f64) -> f64 {
    let around = squares - count * off * off;
    // What is left of rounded squares may be less than nothing; NaN stays.
    if around < 0.0 { 0.0 } else { around }
}

impl<T: Real> Task<T> {
    /// The parts of the elements of one sum.
    fn parts(&self) -> usize {
        self.length.div_ceil(PART)
    }

    fn part(&self, part: usize) -> Range<usize> {
        part * PART..self.length.min((part + 1) * PART)
    }

    /// Each result by itself.
    fn by_rows(&self) {
        let (count, parts) = (self.results.count(), self.parts());
        let mut found = Room::new_or_unwind(count * parts);
        let slots = Target::over(found.spare());
        parallel_ranges(count * parts, GRAIN / self.length.min(PART) + 1, |range| {
            let mut buffer = Buffer::new();
            for item in range {
                let (result, part) = (item / parts, self.part(item % parts));
                let mut at = 0;
                self.results.walk(result..result + 1, |[from, _]| at = from);
                let moments = vectorised(
                    #[inline(always)]
                    || self.row(self.src.shifted(at), part, &mut buffer),
                );
                // SAFETY: the slot of this item.
                unsafe { (*slots.at(item as isize)).write(moments) };
            }
        });
        // SAFETY: every item has written its slot.
        unsafe { found.grow(count * parts) };
        let mut rows = found.chunks_exact(parts);
        self.results.walk(0..count, |[from, to]| {
            let moments = rows.next().expect("a row of parts for each result");
            let joined = moments[1..].iter().fold(moments[0], |all, &part| all.joined(part));
            self.set(from, to, joined);
        });
    }

    /// The sums of nothing.
    fn set_zero(&self) {
        // SAFETY: elements of the destination, which nobody else writes.
        self.results
            .walk(0..self.results.count(), |[_, to]| unsafe { *self.dst.at(to) = T::Work::default() });
    }

    /// Store a result. One that is not finite is computed anew, step by step: differences may have overflowed on the way.
    fn set(&self, from: isize, to: isize, moments: Moments) {
        let squares =
            if moments.squares.is_finite() { moments.squares } else { self.plain(self.src.shifted(from)) };
        // SAFETY: an element of the destination, which one task writes.
        unsafe { *self.dst.at(to) = T::Work::nearest(squares) };
    }

    #[inline(always)]
    fn row(&self, src: Source<T>, part: Range<usize>, buffer: &mut Buffer<T::Work>) -> Moments {
        let mut all = Moments::default();
        // SAFETY: an element of the source.
        let first = unsafe { *src.at(0) }.widen().wide();
        for start in part.clone().step_by(BLOCK) {
            let count = BLOCK.min(part.end - start);
            let from = src.at(start as isize * self.step);
            let in_place = T::IS_WORK && self.step == 1;
            // SAFETY: elements of the source, which have this type if they stay in place.
            let values: &[T::Work] = unsafe {
                if in_place {
                    std::slice::from_raw_parts(from.cast(), count)
                } else {
                    &buffer.load(from, self.step, count, T::Work::default())[..count]
                }
            };
            // Half of what follows is asked for in either pass, as fast as memory brings it.
            let ask = |pass: usize, at: usize| {
                if in_place {
                    let half = |elements: usize| elements / 2;
                    let next = from.wrapping_add(count + half(pass * count + at));
                    prefetch_lines(next, half(STRETCH.min(count - at)) * size_of::<T>(), Cache::Second);
                }
            };
            // Distances from any of them are small where the mean is far from zero.
            let origin = values[0];
            let offsets = sum_over(values, origin, |value| value - origin, |at| ask(0, at));
            let mean = (origin.wide() - first) + offsets / count as f64;
            let centre = T::Work::nearest(first + mean);
            let distance = |value: T::Work| (value - centre) * (value - centre);
            let squares = sum_over(values, centre, distance, |at| ask(1, at));
            let squares = around_mean(squares, count as f64, first + mean - centre.wide());
            let block = Moments { count: count as f64, mean, squares };
            all = if start == part.start { block } else { all.joined(block) };
        }
        all
    }

    /// The sum of squares, by two passes over all elements.
    fn plain(&self, src: Source<T>) -> f64 {
        // SAFETY: elements of the source.
        let value = |i: usize| unsafe { *src.at(i as isize * self.step) }.widen();
        let mean = (0..self.length).map(|i| value(i).wide()).sum::<f64>() / self.length as f64;
        let centre = T::Work::nearest(mean);
        (0..self.length).map(|i| ((value(i) - centre) * (value(i) - centre)).wide()).sum()
    }

    /// Results that lie side by side, together.
    fn by_columns(&self) {
        let inner = self.results.inner();
        let (groups, tiles) = (self.results.count() / inner.length, inner.length.div_ceil(WIDTH));
        // A part of as many elements in all.
        let height = (PART / WIDTH).next_multiple_of(HEIGHT);
        let parts = self.length.div_ceil(height);
        let mut found = Room::new_or_unwind(groups * tiles * parts);
        let slots = Target::over(found.spare());
        let grain = GRAIN / (height.min(self.length) * WIDTH.min(inner.length)) + 1;
        let begin = |group: usize| {
            let mut places = [0; 2];
            self.results.walk(group * inner.length..group * inner.length + 1, |at| places = at);
            places
        };
        parallel_ranges(groups * tiles * parts, grain, |range| {
            let mut block = Aligned([[T::Work::default(); WIDTH]; HEIGHT]);
            for item in range {
                let (tile, part) = (item / parts, item % parts);
                let (group, first) = (tile / tiles, tile % tiles * WIDTH);
                let columns = WIDTH.min(inner.length - first);
                let rows = part * height..self.length.min((part + 1) * height);
                let src = self.src.shifted(begin(group)[0] + first as isize);
                // SAFETY: the slot of this item.
                let slot = unsafe { (*slots.at(item as isize)).write([Moments::default(); WIDTH]) };
                vectorised(
                    #[inline(always)]
                    || self.columns(src, rows, columns, &mut block.0, slot),
                );
            }
        });
        // SAFETY: every item has written its slot.
        unsafe { found.grow(groups * tiles * parts) };
        for (tile, parts) in found.chunks_exact(parts).enumerate() {
            let (group, first) = (tile / tiles, tile % tiles * WIDTH);
            let [from, to] = begin(group);
            for column in 0..WIDTH.min(inner.length - first) {
                let joined = parts[1..].iter().fold(parts[0][column], |all, part| all.joined(part[column]));
                let place = (first + column) as isize;
                self.set(from + place, to + place * inner.strides[1], joined);
            }
        }
    }

    #[inline(always)]
    fn columns(
        &self,
        src: Source<T>,
        rows: Range<usize>,
        columns: usize,
        block: &mut [[T::Work; WIDTH]; HEIGHT],
        found: &mut [Moments; WIDTH],
    ) {
        let mut all = ([0f64; WIDTH], [0f64; WIDTH]);
        // SAFETY: elements of the source, one beside the other.
        let line = unsafe { std::slice::from_raw_parts(src.at(0), columns) };
        let mut first = [0f64; WIDTH];
        for (first, element) in first.iter_mut().zip(line) {
            *first = element.widen().wide();
        }
        let in_place = T::IS_WORK && columns == WIDTH;
        for start in rows.clone().step_by(HEIGHT) {
            let height = HEIGHT.min(rows.end - start);
            let from = src.at(start as isize * self.step);
            let block: Block<T::Work> = if in_place {
                Block { start: from.cast(), step: self.step, height }
            } else {
                for (row, values) in block[..height].iter_mut().enumerate() {
                    let from = from.wrapping_offset(row as isize * self.step);
                    // SAFETY: elements of the source, one beside the other.
                    let line = unsafe { std::slice::from_raw_parts(from, columns) };
                    // At once, so that nothing is read again: else the compiler goes from element to element.
                    match <&[T; WIDTH]>::try_from(line) {
                        Ok(line) => {
                            let mut wide = [T::Work::default(); WIDTH];
                            wide.iter_mut().zip(line).for_each(|(wide, &x)| *wide = x.widen());
                            *values = wide;
                        }
                        Err(_) => values.iter_mut().zip(line).for_each(|(value, &x)| *value = x.widen()),
                    }
                }
                Block { start: block.as_ptr().cast(), step: WIDTH as isize, height }
            };
            // SAFETY: the block has a row.
            let origin = *unsafe { block.row(0) };
            // SAFETY: whole rows of the source, or of the copy.
            let offsets = unsafe { column_sums(&block, |value, j| value - origin[j], |_| {}) };
            let count = height as f64;
            let mut means = [0f64; WIDTH];
            let mut centre = origin;
            for j in 0..WIDTH {
                means[j] = (origin[j].wide() - first[j]) + offsets[j] / count;
                centre[j] = T::Work::nearest(first[j] + means[j]);
            }
            let next = |row: usize| {
                if in_place {
                    // As in a row.
                    let next = from.wrapping_offset((HEIGHT + row) as isize * self.step);
                    prefetch_lines(next, WIDTH * size_of::<T>(), Cache::Second);
                }
            };
            // SAFETY: as above.
            let squares =
                unsafe { column_sums(&block, |value, j| (value - centre[j]) * (value - centre[j]), next) };
            let before = (start - rows.start) as f64;
            let part = count / (before + count);
            let (mean, sum) = &mut all;
            for j in 0..WIDTH {
                let distance = means[j] - mean[j];
                mean[j] += distance * part;
                let squares = around_mean(squares[j], count, first[j] + means[j] - centre[j].wide());
                sum[j] += squares + distance * distance * before * part;
            }
        }
        let count = rows.len() as f64;
        for (j, found) in found.iter_mut().enumerate() {
            *found = Moments { count, mean: all.0[j], squares: all.1[j] };
        }
    }
}

/// The sum of `part` of each value, of which `nothing` makes zero; `before` is called with the place of each stretch.
#[inline(always)]
fn sum_over<W: Work>(values: &[W], nothing: W, part: impl Fn(W) -> W + Copy, before: impl Fn(usize)) -> f64 {
    let mut sums = Sums::default();
    let (vectors, rest) = values.split_at(values.len() / LANES * LANES);
    sums.add_stretches(vectors, part, before);
    if !rest.is_empty() {
        let mut last = [nothing; LANES];
        last[..rest.len()].copy_from_slice(rest);
        sums.add(&last, part);
    }
    sums.total()
}

/// Rows of columns side by side, `step` elements apart.
struct Block<W> {
    start: *const W,
    step: isize,
    height: usize,
}

impl<W> Block<W> {
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    unsafe fn row(&self, row: usize) -> &[W; WIDTH] {
        // SAFETY: the caller's promise.
        unsafe { &*self.start.wrapping_offset(row as isize * self.step).cast() }
    }
}

/// The sums of `part` of the elements of each column, in float64 but for trees of eight; `before` is called with each row of those.
///
/// # Safety
/// The block has as many rows as it says.
#[inline(always)]
unsafe fn column_sums<W: Work>(
    block: &Block<W>,
    part: impl Fn(W, usize) -> W,
    before: impl Fn(usize),
) -> [f64; WIDTH] {
    let mut sums = [0f64; WIDTH];
    let whole = block.height / 8 * 8;
    for first in (0..whole).step_by(8) {
        (first..first + 8).for_each(&before);
        // SAFETY: the caller's promise.
        let rows: [&[W; WIDTH]; 8] = std::array::from_fn(|k| unsafe { block.row(first + k) });
        for (sum, part) in sums.iter_mut().zip(tree_of_eight(rows, &part)) {
            *sum += part.wide();
        }
    }
    for row in whole..block.height {
        // SAFETY: the caller's promise.
        let row = unsafe { block.row(row) };
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum += part(row[j], j).wide();
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use umber_types::{Element, Layout, Shape, bf16, f16};

    use super::*;

    /// The sums over `axes` of `x`, by definition, in float64.
    fn expected(x: &[f64], shape: &[usize], axes: &Range<usize>) -> Vec<f64> {
        let outer: usize = shape[..axes.start].iter().product();
        let count: usize = shape[axes.clone()].iter().product();
        let inner: usize = shape[axes.end..].iter().product();
        let mut sums = Vec::new();
        for i in 0..outer * inner {
            let first = i / inner * count * inner + i % inner;
            let values = || (0..count).map(|k| x[first + k * inner]);
            let mean = values().sum::<f64>() / count as f64;
            sums.push(values().map(|value| (value - mean).powi(2)).sum());
        }
        sums
    }

    fn check<T: Real + Element>(of: fn(f64) -> T, shape: &[usize], axes: Range<usize>, offset: f64) {
        let size: usize = shape.iter().product();
        let value = |i: usize| offset + ((i * 7919 % 1013) as f64 / 97.0).sin() * 3.0;
        let x: Vec<T> = (0..size).map(|i| of(value(i))).collect();
        let wide: Vec<f64> = x.iter().map(|&x| x.widen().wide()).collect();
        let mut kept = shape.to_vec();
        kept[axes.clone()].fill(1);
        let (from, to) = (Layout::contiguous(Shape::from(shape)), Layout::contiguous(Shape::from(&kept[..])));
        let mut found = vec![T::Work::default(); to.size()];
        squared_deviations(View::of(&x, &from), axes.clone(), ViewMut::of(&mut found, &to));
        for (found, exact) in found.iter().zip(expected(&wide, shape, &axes)) {
            // Distances are as exact as the elements, of which they are a small part.
            let error = (found.wide() - exact).abs();
            assert!(
                error <= 4e-7 * exact.max(1e-12),
                "{} {shape:?} {axes:?}: {} {exact}",
                T::DTYPE,
                found.wide()
            );
        }
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for (shape, axes) in [
            (&[5, 1][..], 1..2),
            (&[3, 17], 1..2),
            (&[4, 5000], 1..2),
            (&[2, 70_001], 1..2),
            (&[200_003], 0..1),
            (&[300, 9], 0..1),
            (&[7, 9, 70], 0..2),
            (&[2, 1300, 65], 1..2),
            (&[40, 3], 0..1),
            (&[3, 5, 7, 11], 1..3),
            (&[2, 0, 3], 1..2),
        ] {
            for offset in [0.0, 100.0] {
                check::<f32>(|x| x as f32, shape, axes.clone(), offset);
                check::<f64>(|x| x, shape, axes.clone(), offset);
                check::<f16>(f16::from_f64, shape, axes.clone(), offset);
                check::<bf16>(bf16::from_f64, shape, axes.clone(), offset);
            }
        }
    }

    #[test]
    fn a_mean_far_from_zero_takes_no_digits() {
        let count = 20_000;
        for (shape, axes) in [([count, 1], 0..1), ([1, count], 1..2), ([count / 16, 16], 0..1)] {
            // Multiples of a power of two, which differences of these numbers are exactly.
            let near: Vec<f64> = (0..count).map(|i| ((i * 7919 % 1013) as f64 - 500.0) / 1024.0).collect();
            let far: Vec<f64> = near.iter().map(|x| x + 1e8).collect();
            let (from, kept) = (Layout::contiguous(Shape::from(shape)), shape[1 - axes.start]);
            let to = Layout::contiguous(Shape::from(if axes.start == 0 { [1, kept] } else { [kept, 1] }));
            let mut found = vec![0f64; kept];
            squared_deviations(View::of(&far, &from), axes.clone(), ViewMut::of(&mut found, &to));
            for (found, exact) in found.iter().zip(expected(&near, &shape, &axes)) {
                assert!((found - exact).abs() <= 1e-13 * exact, "{shape:?}: {found} {exact}");
            }
        }
    }

    #[test]
    fn a_mean_between_numbers_takes_no_digits() {
        let count = 19_200;
        for (shape, axes) in [([1, count], 1..2), ([count / 16, 16], 0..1), ([count / 64, 64], 0..1)] {
            // Sixty-fourths beside 2^17, of which float32 has none between.
            let near: Vec<f64> = (0..count).map(|i| ((i * i % 1013 % 17) as f64 - 8.0) / 64.0).collect();
            let far: Vec<f32> = near.iter().map(|x| (x + 131072.0) as f32).collect();
            let (from, kept) = (Layout::contiguous(Shape::from(shape)), shape[1 - axes.start]);
            let to = Layout::contiguous(Shape::from(if axes.start == 0 { [1, kept] } else { [kept, 1] }));
            let mut found = vec![0f32; kept];
            squared_deviations(View::of(&far, &from), axes.clone(), ViewMut::of(&mut found, &to));
            for (&found, exact) in found.iter().zip(expected(&near, &shape, &axes)) {
                assert!((f64::from(found) - exact).abs() <= 1e-6 * exact, "{shape:?}: {found} {exact}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        let of = |x: &[f32]| {
            let mut found = [0f32];
            let (from, to) =
                (Layout::contiguous(Shape::from([x.len()])), Layout::contiguous(Shape::from([1usize])));
            squared_deviations(View::of(x, &from), 0..1, ViewMut::of(&mut found, &to));
            found[0]
        };
        assert!(of(&[1.0, f32::INFINITY]).is_nan() && of(&[f32::NAN, 1.0]).is_nan());
        assert_eq!(of(&[3e38, -3e38]), f32::INFINITY);
        assert_eq!(of(&[3e38, 3e38]), 0.0);
    }
}
