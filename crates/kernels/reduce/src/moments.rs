//! Means, variances and standard deviations, read once.
//!
//! A block that L1 holds is gone through twice, for its mean and for its sum, and joins what came before by
//! the rule of Chan, Golub and LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979).
//!
//! Squares are taken in the type that computes. Where they may have left its range, which their sum shows, the result is computed
//! anew from scaled elements in float64 ([`umber_kernels_base::scaled`]).
//!
//! One subject: the moments of rows and of columns join and are finished by the same rules; a third is tests.

use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::isa::{Cache, prefetch_lines};
use umber_kernels_base::row::{
    BLOCK, Buffer, Compute, LANES, Real, SEGMENT, Sums, tree_of_eight, vectorised_rows,
};
use umber_kernels_base::scaled::{Scale, are_squares_lost};
use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::match_dtype;

/// Columns worked on side by side.
const WIDTH: usize = 64;
/// Rows of a block of columns.
const HEIGHT: usize = 64;
/// Elements of one result that one task goes through; longer ones are cut, by their length alone.
const PART: usize = 1 << 16;
/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Runs of fewer elements are copied first where several make a result.
const RUN: usize = 64;
/// Results of so few elements are computed side by side.
const MAX_SIDE_BY_SIDE: usize = 16;

/// A measure of how far elements are from their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispersion {
    /// The sum of squared distances, divided.
    Variance,
    /// Its square root.
    Deviation,
}

/// For each place of the other axes, the spread `sum((x - mean x)^2) / freedom` over `axes` or its root, into `dst`, where they
/// have length one and the dtype is what `x` computes in. It overflows or vanishes only where the result does.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn dispersion(x: View, axes: Range<usize>, freedom: f64, dispersion: Dispersion, dst: ViewMut) {
    compute(x, axes, MomentsOutput::Dispersion { dispersion, freedom }, [&dst, &dst]);
}

/// For each place of the other axes, the mean of `x` over `axes` as a sum of two numbers, the mean rounded and what that lost,
/// into
/// `high` and `low`, of one layout, where the axes have length one and the dtype is what `x` computes in.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn mean_parts(x: View, axes: Range<usize>, high: ViewMut, low: ViewMut) {
    compute(x, axes, MomentsOutput::Mean, [&high, &low]);
}

fn compute(x: View, axes: Range<usize>, output: MomentsOutput, dst: [&ViewMut; 2]) {
    assert!(
        x.shape()
            .iter()
            .zip(dst[0].shape())
            .enumerate()
            .all(|(axis, (&length, &kept))| { kept == if axes.contains(&axis) { 1 } else { length } }),
        "axes that are summed over have length one"
    );
    assert_eq!(dst[0].layout(), dst[1].layout(), "both results have one layout");
    if dst[0].size() == 0 {
        return;
    }
    let summed = StridedLoops::new(&x.shape()[axes.clone()], [&x.strides()[axes.clone()]]);
    let mut outer = summed.clone();
    let inner = longest_run(&summed).map_or(Loop::ONCE, |place| outer.remove(place));
    if outer.count() > 1 && inner.length < RUN {
        // No single step leads from element to element.
        return match_dtype!(float x.dtype(), T => {
            let copy = umber_kernels_base::dense::dense::<T>(x);
            let layout = umber_types::Layout::contiguous(x.shape().into());
            compute(View::of(&copy, &layout), axes, output, dst);
        }, else => panic!("{} is no real float", x.dtype()));
    }
    let mut results = StridedLoops::default();
    for axis in (0..x.shape().len()).filter(|axis| !axes.contains(axis)) {
        results.push(Loop { length: x.shape()[axis], strides: [x.strides()[axis], dst[0].strides()[axis]] });
    }
    let mut runs = SmallVec::new();
    outer.walk(0..outer.count(), |[at]| runs.push(at));
    match_dtype!(float x.dtype(), T => {
        assert_eq!(dst[0].dtype(), <<T as Real>::Compute as umber_types::Element>::DTYPE, "sums have more digits");
        let across = results.inner();
        let folds = if across.strides[0] == 1 && inner.strides[0] == across.length as isize {
            folds(across.length, inner.length)
        } else {
            1
        };
        let task = Task::<T> {
            src: Source::of(&x),
            dst: dst.map(|view| Target::of(view)),
            output,
            runs,
            length: inner.length / folds,
            step: inner.strides[0] * folds as isize,
            folds,
            summed,
            results,
        };
        let is_few = task.runs.len() == 1 && inner.length <= MAX_SIDE_BY_SIDE;
        let is_beside = task.step != 1 && across.strides[0] == 1;
        if task.runs.is_empty() || task.length == 0 {
            task.set_empty();
        } else if folds > 1 || across.length >= 8 && (is_few || is_beside) {
            task.by_columns();
        } else {
            task.by_rows();
        }
    }, else => panic!("{} is no real float", x.dtype()));
}

/// The place of the loop that elements of a result are read along: one over neighbours, if it is long, else the longest.
fn longest_run(summed: &StridedLoops<1>) -> Option<usize> {
    let key = |l: &Loop<1>| (l.strides[0] == 1 && l.length >= RUN, l.length);
    summed.loops().iter().enumerate().max_by_key(|(_, l)| key(l)).map(|(place, _)| place)
}

/// Into how many each result is split where rows of `width` lie end to end, so that as many of them make a row as columns are
/// worked on: a divisor of the number of rows.
fn folds(width: usize, rows: usize) -> usize {
    (1..=WIDTH / width.max(1)).rev().find(|&folds| rows.is_multiple_of(folds) && rows > folds).unwrap_or(1)
}

/// What is computed of the elements of each result.
#[derive(Clone, Copy)]
enum MomentsOutput {
    Dispersion { dispersion: Dispersion, freedom: f64 },
    Mean,
}

struct Task<T: Real> {
    src: Source<T>,
    dst: [Target<T::Compute>; 2],
    output: MomentsOutput,
    /// Where the runs begin that the elements of one result lie in.
    runs: SmallVec<[isize; 1]>,
    /// Elements of a run, and the distance between them.
    length: usize,
    step: isize,
    /// Into how many parts side by side the results are split that rows of columns are too narrow for.
    folds: usize,
    /// All of the elements of a result.
    summed: StridedLoops<1>,
    /// Where the elements of each result begin, and where it goes.
    results: StridedLoops<2>,
}

/// What is known of some elements.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    /// How far the mean is from the first element of all, near which it has more digits than by itself.
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
    /// Are some of them different? Their squares may be too small to tell.
    differ: bool,
}

impl Moments {
    /// Those of these elements and others.
    #[inline(always)]
    fn combine(self, other: Moments) -> Moments {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        let part = other.count / count;
        Moments {
            count,
            mean: self.mean + distance * part,
            squares: self.squares + other.squares + distance * distance * self.count * part,
            differ: self.differ | other.differ | (distance != 0.0),
        }
    }
}

/// The sum of squared distances from the mean of `count` elements, given that from a point so far off, to which the mean was
/// rounded.
#[inline(always)]
fn around_mean(squares: f64, count: f64, off: f64) -> f64 {
    let around = squares - count * off * off;
    // What is left of rounded squares may be less than nothing; NaN stays.
    if around < 0.0 { 0.0 } else { around }
}

impl<T: Real> Task<T> {
    /// The parts of the elements of one result.
    fn parts(&self, height: usize) -> usize {
        self.runs.len() * self.length.div_ceil(height)
    }

    /// Where the run of a part begins, and its elements of that.
    fn part(&self, part: usize, height: usize) -> (isize, Range<usize>) {
        let cuts = self.length.div_ceil(height);
        let first = part % cuts * height;
        (self.runs[part / cuts], first..self.length.min(first + height))
    }

    fn needs_squares(&self) -> bool {
        matches!(self.output, MomentsOutput::Dispersion { .. })
    }

    /// Each result by itself.
    fn by_rows(&self) {
        let (count, parts) = (self.results.count(), self.parts(PART));
        let mut found = ScratchVec::new_or_unwind(count * parts);
        let slots = Target::over(found.spare());
        parallel_ranges(count * parts, GRAIN / self.length.min(PART) + 1, |range| {
            let mut buffer = Buffer::default();
            for item in range {
                let (result, part) = (item / parts, self.part(item % parts, PART));
                let mut at = 0;
                self.results.walk(result..result + 1, |[from, _]| at = from);
                let moments = vectorised_rows::<T, _>(
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
            let combine = moments[1..].iter().fold(moments[0], |all, &part| all.combine(part));
            self.set(from, to, combine);
        });
    }

    /// The results of nothing.
    fn set_empty(&self) {
        let [high, low] = match self.output {
            MomentsOutput::Dispersion { freedom, .. } => [0.0 / freedom; 2],
            MomentsOutput::Mean => [f64::NAN, 0.0],
        };
        self.results.walk(0..self.results.count(), |[_, to]| self.write(to, high, low));
    }

    /// Write a result and what was lost of it, or the result alone.
    fn write(&self, to: isize, high: f64, low: f64) {
        // SAFETY: elements of the destinations, which one task writes.
        unsafe {
            *self.dst[0].at(to) = T::Compute::nearest(high);
            if !self.needs_squares() {
                *self.dst[1].at(to) = T::Compute::nearest(low);
            }
        }
    }

    /// Store a result. One that the range of numbers may have spoilt on the way is computed anew, step by step.
    fn set(&self, from: isize, to: isize, moments: Moments) {
        let src = self.src.shifted(from);
        match self.output {
            MomentsOutput::Dispersion { dispersion, freedom } => {
                let Moments { count, squares, differ, .. } = moments;
                let is_lost = are_squares_lost::<T::Compute>(squares, count);
                let (squares, scale) = if is_lost && (differ || !squares.is_finite()) {
                    self.scaled_squares(src)
                } else {
                    (squares, Scale::ONE)
                };
                let value = match dispersion {
                    Dispersion::Variance => scale.restore(scale.restore(squares / freedom)),
                    Dispersion::Deviation => scale.restore((squares / freedom).sqrt()),
                };
                self.write(to, value, 0.0);
            }
            MomentsOutput::Mean => {
                // SAFETY: an element of the source.
                let first = unsafe { *src.at(0) }.widen().wide();
                let mean = first + moments.mean;
                if !mean.is_finite() {
                    let mean = self.scaled_mean(src);
                    let high = T::Compute::nearest(mean).wide();
                    return self.write(to, high, if high.is_finite() { mean - high } else { 0.0 });
                }
                // What the sum loses, as Knuth: whichever of both is the greater.
                let rest = mean - first;
                let lost = (first - (mean - rest)) + (moments.mean - rest);
                let high = T::Compute::nearest(mean).wide();
                self.write(to, high, if high.is_finite() { (mean - high) + lost } else { 0.0 });
            }
        }
    }

    /// Call `body` with every element of a result.
    fn each(&self, src: Source<T>, mut body: impl FnMut(f64)) {
        self.summed.walk(0..self.summed.count(), |[at]| {
            // SAFETY: an element of the source.
            body(unsafe { *src.at(at) }.widen().wide());
        });
    }

    /// The greatest distance of an element from zero; not finite if one is not.
    fn max_abs(&self, src: Source<T>) -> f64 {
        let mut max_abs = 0f64;
        self.each(src, |value| max_abs = if value.abs() <= max_abs { max_abs } else { value.abs() });
        max_abs
    }

    /// The sum of squared distances from the mean of scaled elements, and the scale.
    fn scaled_squares(&self, src: Source<T>) -> (f64, Scale) {
        let max_abs = self.max_abs(src);
        if !max_abs.is_finite() {
            return (f64::NAN, Scale::ONE);
        }
        let (scale, count) = (Scale::of(max_abs), self.summed.count() as f64);
        // SAFETY: an element of the source.
        let first = scale.apply(unsafe { *src.at(0) }.widen().wide());
        let mut sum = 0.0;
        self.each(src, |value| sum += scale.apply(value) - first);
        let (mut squares, mut rest) = (0.0, 0.0);
        self.each(src, |value| {
            let distance = (scale.apply(value) - first) - sum / count;
            squares += distance * distance;
            rest += distance;
        });
        (around_mean(squares, count, rest / count), scale)
    }

    /// The mean of elements whose sum overflows.
    fn scaled_mean(&self, src: Source<T>) -> f64 {
        let max_abs = self.max_abs(src);
        let (scale, count) =
            (if max_abs.is_finite() { Scale::of(max_abs) } else { Scale::ONE }, self.summed.count());
        let mut sum = 0.0;
        self.each(src, |value| sum += scale.apply(value));
        scale.restore(sum / count as f64)
    }

    #[inline(always)]
    fn row(
        &self,
        src: Source<T>,
        (run, part): (isize, Range<usize>),
        buffer: &mut Buffer<T::Compute>,
    ) -> Moments {
        let mut all = Moments::default();
        // SAFETY: an element of the source.
        let first = unsafe { *src.at(0) }.widen().wide();
        for start in part.clone().step_by(BLOCK) {
            let count = BLOCK.min(part.end - start);
            let from = src.at(run + start as isize * self.step);
            let in_place = T::IS_COMPUTE && self.step == 1;
            // SAFETY: elements of the source, which have this type if they stay in place.
            let values: &[T::Compute] = unsafe {
                if in_place {
                    std::slice::from_raw_parts(from.cast(), count)
                } else {
                    &buffer.load(from, self.step, count, T::Compute::default())[..count]
                }
            };
            // Half of what follows is asked for in either pass, as fast as memory brings it.
            let ask = |pass: usize, at: usize| {
                if in_place {
                    let half = |elements: usize| elements / 2;
                    let next = from.wrapping_add(count + half(pass * count + at));
                    prefetch_lines(next, half(SEGMENT.min(count - at)) * size_of::<T>(), Cache::L2);
                }
            };
            // Distances from any of them are small where the mean is far from zero.
            let origin = values[0];
            let offsets = sum_over(values, origin, |value| value - origin, |at| ask(0, at));
            let mean = (origin.wide() - first) + offsets / count as f64;
            let mut block = Moments { count: count as f64, mean, squares: 0.0, differ: false };
            if self.needs_squares() {
                let centre = T::Compute::nearest(first + mean);
                let distance = |value: T::Compute| (value - centre) * (value - centre);
                let squares = sum_over(values, centre, distance, |at| ask(1, at));
                block.squares = around_mean(squares, count as f64, first + mean - centre.wide());
                block.differ =
                    block.squares != 0.0 || values.iter().fold(false, |any, &value| any | (value != origin));
            }
            all = if start == part.start { block } else { all.combine(block) };
        }
        all
    }

    /// Results that lie side by side, together.
    fn by_columns(&self) {
        let inner = self.results.inner();
        let width = inner.length * self.folds;
        let (groups, tiles) = (self.results.count() / inner.length, width.div_ceil(WIDTH));
        // A part of as many elements in all.
        let height = (PART / WIDTH).next_multiple_of(HEIGHT);
        let parts = self.parts(height);
        let mut found = ScratchVec::new_or_unwind(groups * tiles * parts);
        let slots = Target::over(found.spare());
        let grain = GRAIN / (height.min(self.length) * WIDTH.min(width)) + 1;
        let begin = |group: usize| {
            let mut places = [0; 2];
            self.results.walk(group * inner.length..group * inner.length + 1, |at| places = at);
            places
        };
        parallel_ranges(groups * tiles * parts, grain, |range| {
            let mut block = Aligned([[T::Compute::default(); WIDTH]; HEIGHT]);
            for item in range {
                let (tile, part) = (item / parts, item % parts);
                let (group, first) = (tile / tiles, tile % tiles * WIDTH);
                let columns = WIDTH.min(width - first);
                let src = self.src.shifted(begin(group)[0] + first as isize * inner.strides[0]);
                // SAFETY: the slot of this item.
                let slot = unsafe { (*slots.at(item as isize)).write([Moments::default(); WIDTH]) };
                vectorised_rows::<T, _>(
                    #[inline(always)]
                    || self.columns(src, self.part(part, height), columns, &mut block.0, slot),
                );
            }
        });
        // SAFETY: every item has written its slot.
        unsafe { found.grow(groups * tiles * parts) };
        for (tile, parts) in found.chunks_exact(parts).enumerate() {
            let (group, first) = (tile / tiles, tile % tiles * WIDTH);
            let [from, to] = begin(group);
            for column in 0..WIDTH.min(inner.length - first) {
                let folds = (0..self.folds).map(|fold| column + fold * inner.length);
                let combine = parts
                    .iter()
                    .flat_map(|part| folds.clone().map(move |column| part[column]))
                    .reduce(Moments::combine)
                    .expect("a result has parts");
                let place = (first + column) as isize;
                self.set(from + place * inner.strides[0], to + place * inner.strides[1], combine);
            }
        }
    }

    /// The first elements of some neighbouring results.
    #[inline(always)]
    fn load_columns(&self, from: *const T, columns: usize, values: &mut [T::Compute; WIDTH]) {
        let across = self.results.inner().strides[0];
        if across != 1 {
            for (j, value) in values[..columns].iter_mut().enumerate() {
                // SAFETY: elements of the source, so far from each other.
                *value = unsafe { *from.wrapping_offset(j as isize * across) }.widen();
            }
            return;
        }
        // SAFETY: elements of the source, one beside the other.
        let line = unsafe { std::slice::from_raw_parts(from, columns) };
        // At once, so that nothing is read again: else the compiler goes from element to element.
        match <&[T; WIDTH]>::try_from(line) {
            Ok(line) => {
                let mut wide = [T::Compute::default(); WIDTH];
                wide.iter_mut().zip(line).for_each(|(wide, &x)| *wide = x.widen());
                *values = wide;
            }
            Err(_) => values.iter_mut().zip(line).for_each(|(value, &x)| *value = x.widen()),
        }
    }

    #[inline(always)]
    fn columns(
        &self,
        src: Source<T>,
        (run, rows): (isize, Range<usize>),
        columns: usize,
        block: &mut [[T::Compute; WIDTH]; HEIGHT],
        found: &mut [Moments; WIDTH],
    ) {
        let mut all = ([0f64; WIDTH], [0f64; WIDTH]);
        let mut firsts = [T::Compute::default(); WIDTH];
        self.load_columns(src.at(0), columns, &mut firsts);
        if self.folds > 1 {
            // Parts of one result are measured from one element.
            for column in columns / self.folds..columns {
                firsts[column] = firsts[column - columns / self.folds];
            }
        }
        let first = firsts.map(Compute::wide);
        let in_place = T::IS_COMPUTE && columns == WIDTH && self.results.inner().strides[0] == 1;
        for start in rows.clone().step_by(HEIGHT) {
            let height = HEIGHT.min(rows.end - start);
            let from = src.at(run + start as isize * self.step);
            let block: Block<T::Compute> = if in_place {
                Block { start: from.cast(), step: self.step, height }
            } else {
                for (row, values) in block[..height].iter_mut().enumerate() {
                    self.load_columns(from.wrapping_offset(row as isize * self.step), columns, values);
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
                centre[j] = T::Compute::nearest(first[j] + means[j]);
            }
            let next = |row: usize| {
                if in_place {
                    // As in a row.
                    let next = from.wrapping_offset((HEIGHT + row) as isize * self.step);
                    prefetch_lines(next, WIDTH * size_of::<T>(), Cache::L2);
                }
            };
            let squares = if self.needs_squares() {
                // SAFETY: as above.
                unsafe { column_sums(&block, |value, j| (value - centre[j]) * (value - centre[j]), next) }
            } else {
                [0.0; WIDTH]
            };
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
        let mut differ = all.1.map(|squares| squares != 0.0);
        if self.needs_squares() && differ[..columns].contains(&false) {
            let mut values = firsts;
            for row in rows.clone() {
                self.load_columns(src.at(run + row as isize * self.step), columns, &mut values);
                for j in 0..WIDTH {
                    differ[j] |= values[j] != firsts[j];
                }
            }
        }
        let count = rows.len() as f64;
        for (j, found) in found.iter_mut().enumerate() {
            *found = Moments { count, mean: all.0[j], squares: all.1[j], differ: differ[j] };
        }
    }
}

/// The sum of `part` of each value, of which `nothing` makes zero; `before` is called with the place of each stretch.
#[inline(always)]
fn sum_over<W: Compute>(
    values: &[W],
    nothing: W,
    part: impl Fn(W) -> W + Copy,
    before: impl Fn(usize),
) -> f64 {
    let mut sums = Sums::default();
    let (vectors, rest) = values.split_at(values.len() / LANES * LANES);
    sums.add_segments(vectors, part, before);
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
        // SAFETY: guaranteed by the caller of this function.
        unsafe { &*self.start.wrapping_offset(row as isize * self.step).cast() }
    }
}

/// The sums of `part` of the elements of each column, in float64 but for trees of eight; `before` is called with each row of
/// those.
///
/// # Safety
/// The block has as many rows as it says.
#[inline(always)]
unsafe fn column_sums<W: Compute>(
    block: &Block<W>,
    part: impl Fn(W, usize) -> W,
    before: impl Fn(usize),
) -> [f64; WIDTH] {
    let mut sums = [0f64; WIDTH];
    let whole = block.height / 8 * 8;
    for first in (0..whole).step_by(8) {
        (first..first + 8).for_each(&before);
        // SAFETY: guaranteed by the caller of this function.
        let rows: [&[W; WIDTH]; 8] = array_of(|k| unsafe { block.row(first + k) });
        for (sum, part) in sums.iter_mut().zip(tree_of_eight(rows, &part)) {
            *sum += part.wide();
        }
    }
    for row in whole..block.height {
        // SAFETY: guaranteed by the caller of this function.
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

    /// Sums of squared distances.
    fn variances(x: View, axes: Range<usize>, dst: ViewMut) {
        dispersion(x, axes, 1.0, Dispersion::Variance, dst);
    }

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
        let mut found = vec![T::Compute::default(); to.size()];
        variances(View::of(&x, &from), axes.clone(), ViewMut::of(&mut found, &to));
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
            variances(View::of(&far, &from), axes.clone(), ViewMut::of(&mut found, &to));
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
            variances(View::of(&far, &from), axes.clone(), ViewMut::of(&mut found, &to));
            for (&found, exact) in found.iter().zip(expected(&near, &shape, &axes)) {
                assert!((f64::from(found) - exact).abs() <= 1e-6 * exact, "{shape:?}: {found} {exact}");
            }
        }
    }

    #[test]
    fn spreads_leave_the_range_only_where_they_end_there() {
        for (scale, length) in [(1e-25f32, 6), (1e-25, 40), (1e30, 6), (1e30, 5000)] {
            let x: Vec<f32> = (0..2 * length).map(|i| if i % 2 == 0 { scale } else { -scale }).collect();
            let from = Layout::contiguous(Shape::from([2, length]));
            let (rows, columns) = (Layout::contiguous([2, 1].into()), Layout::contiguous([1, length].into()));
            let mut found = vec![7f32; 2];
            dispersion(
                View::of(&x, &from),
                1..2,
                length as f64,
                Dispersion::Deviation,
                ViewMut::of(&mut found, &rows),
            );
            assert!(found.iter().all(|&found| (found / scale - 1.0).abs() < 1e-6), "{scale}: {found:?}");
            let mut found = vec![7f32; length];
            dispersion(
                View::of(&x, &from),
                0..1,
                2.0,
                Dispersion::Deviation,
                ViewMut::of(&mut found, &columns),
            );
            assert!(found.iter().all(|&found| found == 0.0), "columns of equal elements");
        }
    }

    #[test]
    fn a_mean_has_two_parts() {
        let values = [16_777_216f32, 16_777_216.0, 16_777_218.0, 16_777_218.0, 16_777_216.0];
        for count in [5, 4, 3] {
            let from = Layout::contiguous(Shape::from([count]));
            let to = Layout::contiguous(Shape::from([1usize]));
            let (mut high, mut low) = ([0f32], [0f32]);
            let (first, second) = (ViewMut::of(&mut high, &to), ViewMut::of(&mut low, &to));
            mean_parts(View::of(&values[..count], &from), 0..1, first, second);
            let exact = values[..count].iter().map(|&x| f64::from(x)).sum::<f64>() / count as f64;
            assert_eq!(f64::from(high[0]), f64::from(exact as f32));
            assert!((f64::from(high[0]) + f64::from(low[0]) - exact).abs() < 1e-6);
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        let of = |x: &[f32]| {
            let mut found = [0f32];
            let (from, to) =
                (Layout::contiguous(Shape::from([x.len()])), Layout::contiguous(Shape::from([1usize])));
            variances(View::of(x, &from), 0..1, ViewMut::of(&mut found, &to));
            found[0]
        };
        assert!(of(&[1.0, f32::INFINITY]).is_nan() && of(&[f32::NAN, 1.0]).is_nan());
        assert_eq!(of(&[3e38, -3e38]), f32::INFINITY);
        assert_eq!(of(&[3e38, 3e38]), 0.0);
    }
}
