//! Means, variances and standard deviations in one pass over memory.
//!
//! Each block that fits L1 is read twice, for its mean and its sum of squares, and is combined with the previous blocks by
//! the formula of Chan, Golub and LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979).
//!
//! Squares are accumulated in the compute type. If they may have overflowed or underflowed, which their sum shows, the result
//! is recomputed from scaled elements in float64 ([`umber_kernels_base::scaled`]).
//!
//! One subject: moments of rows and of columns are combined and finished by the same rules. A third of the file is tests.

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

/// Columns computed together.
const WIDTH: usize = 64;
/// Rows of a block of columns.
const HEIGHT: usize = 64;
/// Elements of one result per task. Longer results are split by their length only, independently of the threads.
const CHUNK: usize = 1 << 16;
/// Minimum elements per task.
const GRAIN: usize = 1 << 14;
/// Results of several runs are copied to dense memory first if the runs are shorter than this.
const RUN: usize = 64;
/// Results of at most this many elements are computed several at a time, as columns.
const MAX_COLUMN_LENGTH: usize = 16;

/// A measure of dispersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispersion {
    /// The sum of squared deviations from the mean, divided by the degrees of freedom.
    Variance,
    /// The square root of the variance.
    Deviation,
}

/// The variance `sum((x - mean x)^2) / freedom` over `axes` or its root, into `dst`, where these axes have length one and the
/// dtype is the compute type of `x`. It overflows or underflows only if the result does.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn dispersion(x: View, axes: Range<usize>, freedom: f64, dispersion: Dispersion, dst: ViewMut) {
    compute(x, axes, MomentsOutput::Dispersion { dispersion, freedom }, [&dst, &dst]);
}

/// The mean of `x` over `axes` as a sum of two numbers, the rounded mean and its rounding error, into `high` and `low`. Both
/// have the same layout, length one on these axes, and the compute type of `x`.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn mean_parts(x: View, axes: Range<usize>, high: ViewMut, low: ViewMut) {
    compute(x, axes, MomentsOutput::Mean, [&high, &low]);
}

fn compute(x: View, axes: Range<usize>, output: MomentsOutput, dst: [&ViewMut; 2]) {
    assert!(
        x.shape().iter().zip(dst[0].shape()).enumerate().all(|(axis, (&length, &result_length))| {
            result_length == if axes.contains(&axis) { 1 } else { length }
        }),
        "axes that are summed over have length one"
    );
    assert_eq!(dst[0].layout(), dst[1].layout(), "both results have one layout");
    if dst[0].size() == 0 {
        return;
    }
    let summed = StridedLoops::new(&x.shape()[axes.clone()], [&x.strides()[axes.clone()]]);
    let mut outer = summed.clone();
    let inner = longest_run(&summed).map_or(Loop::ONCE, |index| outer.remove(index));
    if outer.count() > 1 && inner.length < RUN {
        // The elements of a result cannot be visited with one stride.
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
        assert_eq!(dst[0].dtype(), <<T as Real>::Compute as umber_types::Element>::DTYPE, "the results have the compute type");
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
        let is_short = task.runs.len() == 1 && inner.length <= MAX_COLUMN_LENGTH;
        let has_adjacent_results = task.step != 1 && across.strides[0] == 1;
        if task.runs.is_empty() || task.length == 0 {
            task.set_empty();
        } else if folds > 1 || across.length >= 8 && (is_short || has_adjacent_results) {
            task.by_columns();
        } else {
            task.by_rows();
        }
    }, else => panic!("{} is no real float", x.dtype()));
}

/// Index of the loop along which the elements of a result are read: the contiguous one if it is long enough, else the
/// longest.
fn longest_run(summed: &StridedLoops<1>) -> Option<usize> {
    let key = |l: &Loop<1>| (l.strides[0] == 1 && l.length >= RUN, l.length);
    summed.loops().iter().enumerate().max_by_key(|(_, l)| key(l)).map(|(index, _)| index)
}

/// Number of folds: if narrow rows of `width` are contiguous in memory, this many of them are treated as one row, and each
/// result is split into as many partial results. A divisor of `rows`.
fn folds(width: usize, rows: usize) -> usize {
    (1..=WIDTH / width.max(1)).rev().find(|&folds| rows.is_multiple_of(folds) && rows > folds).unwrap_or(1)
}

/// The quantity to compute for each result.
#[derive(Clone, Copy)]
enum MomentsOutput {
    Dispersion { dispersion: Dispersion, freedom: f64 },
    Mean,
}

struct Task<T: Real> {
    src: Source<T>,
    dst: [Target<T::Compute>; 2],
    output: MomentsOutput,
    /// Offsets of the runs that hold the elements of one result.
    runs: SmallVec<[isize; 1]>,
    /// Elements of a run, and their stride.
    length: usize,
    step: isize,
    /// Number of partial results per result, for rows that are too narrow to fill the columns.
    folds: usize,
    /// Loops over all elements of a result.
    summed: StridedLoops<1>,
    /// Loops over the results: offsets of their first elements and of the destinations.
    results: StridedLoops<2>,
}

/// Moments of a set of elements.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    /// The mean relative to the very first element, which is more accurate than the mean itself.
    mean: f64,
    /// The sum of squared deviations from the mean.
    squares: f64,
    /// Whether some elements differ. Their squares may underflow to zero.
    differ: bool,
}

impl Moments {
    /// Moments of the union of two sets.
    #[inline(always)]
    fn combine(self, other: Moments) -> Moments {
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        let weight = other.count / count;
        Moments {
            count,
            mean: self.mean + distance * weight,
            squares: self.squares + other.squares + distance * distance * self.count * weight,
            differ: self.differ | other.differ | (distance != 0.0),
        }
    }
}

/// The sum of squared deviations from the mean of `count` elements, computed from that around a point at distance `off` (the
/// rounded mean).
#[inline(always)]
fn around_mean(squares: f64, count: f64, off: f64) -> f64 {
    let around = squares - count * off * off;
    // The difference of rounded squares may be slightly negative; NaN is kept.
    if around < 0.0 { 0.0 } else { around }
}

impl<T: Real> Task<T> {
    /// Number of chunks of the elements of one result.
    fn chunk_count(&self, height: usize) -> usize {
        self.runs.len() * self.length.div_ceil(height)
    }

    /// Offset of a chunk's run, and the chunk's range of elements in it.
    fn chunk(&self, chunk: usize, height: usize) -> (isize, Range<usize>) {
        let chunks_per_run = self.length.div_ceil(height);
        let first = chunk % chunks_per_run * height;
        (self.runs[chunk / chunks_per_run], first..self.length.min(first + height))
    }

    fn needs_squares(&self) -> bool {
        matches!(self.output, MomentsOutput::Dispersion { .. })
    }

    /// Compute each result separately.
    fn by_rows(&self) {
        let (count, chunks) = (self.results.count(), self.chunk_count(CHUNK));
        let mut partials = ScratchVec::new_or_unwind(count * chunks);
        let slots = Target::over(partials.spare());
        parallel_ranges(count * chunks, GRAIN / self.length.min(CHUNK) + 1, |range| {
            let mut buffer = Buffer::default();
            for item in range {
                let (result, chunk) = (item / chunks, self.chunk(item % chunks, CHUNK));
                let mut at = 0;
                self.results.walk(result..result + 1, |[from, _]| at = from);
                let moments = vectorised_rows::<T, _>(
                    #[inline(always)]
                    || self.row(self.src.shifted(at), chunk, &mut buffer),
                );
                // SAFETY: the slot of this item.
                unsafe { (*slots.at(item as isize)).write(moments) };
            }
        });
        // SAFETY: every item has written its slot.
        unsafe { partials.grow(count * chunks) };
        let mut rows = partials.chunks_exact(chunks);
        self.results.walk(0..count, |[from, to]| {
            let moments = rows.next().expect("a row of chunks for each result");
            let combined = moments[1..].iter().fold(moments[0], |all, &chunk| all.combine(chunk));
            self.set(from, to, combined);
        });
    }

    /// Write the results of no elements.
    fn set_empty(&self) {
        let [high, low] = match self.output {
            MomentsOutput::Dispersion { freedom, .. } => [0.0 / freedom; 2],
            MomentsOutput::Mean => [f64::NAN, 0.0],
        };
        self.results.walk(0..self.results.count(), |[_, to]| self.write(to, high, low));
    }

    /// Write a result, and its rounding error if that is requested.
    fn write(&self, to: isize, high: f64, low: f64) {
        // SAFETY: elements of the destinations, which only one task writes.
        unsafe {
            *self.dst[0].at(to) = T::Compute::nearest(high);
            if !self.needs_squares() {
                *self.dst[1].at(to) = T::Compute::nearest(low);
            }
        }
    }

    /// Store a result. It is recomputed with scaling if it overflowed or underflowed on the way.
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
                // SAFETY: the first element of the source.
                let first = unsafe { *src.at(0) }.widen().wide();
                let mean = first + moments.mean;
                if !mean.is_finite() {
                    let mean = self.scaled_mean(src);
                    let high = T::Compute::nearest(mean).wide();
                    return self.write(to, high, if high.is_finite() { mean - high } else { 0.0 });
                }
                // The rounding error of the sum by Knuth's TwoSum, which works for any order of magnitudes.
                let added = mean - first;
                let lost = (first - (mean - added)) + (moments.mean - added);
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

    /// Maximum magnitude of the elements; not finite if an element is not.
    fn max_abs(&self, src: Source<T>) -> f64 {
        let mut max_abs = 0f64;
        self.each(src, |value| max_abs = if value.abs() <= max_abs { max_abs } else { value.abs() });
        max_abs
    }

    /// The sum of squared deviations of scaled elements, and the scale.
    fn scaled_squares(&self, src: Source<T>) -> (f64, Scale) {
        let max_abs = self.max_abs(src);
        if !max_abs.is_finite() {
            return (f64::NAN, Scale::ONE);
        }
        let (scale, count) = (Scale::of(max_abs), self.summed.count() as f64);
        // SAFETY: the first element of the source.
        let first = scale.apply(unsafe { *src.at(0) }.widen().wide());
        let mut sum = 0.0;
        self.each(src, |value| sum += scale.apply(value) - first);
        let (mut squares, mut distances) = (0.0, 0.0);
        self.each(src, |value| {
            let distance = (scale.apply(value) - first) - sum / count;
            squares += distance * distance;
            distances += distance;
        });
        (around_mean(squares, count, distances / count), scale)
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
        (run, chunk): (isize, Range<usize>),
        buffer: &mut Buffer<T::Compute>,
    ) -> Moments {
        let mut all = Moments::default();
        // SAFETY: the first element of the source.
        let first = unsafe { *src.at(0) }.widen().wide();
        for start in chunk.clone().step_by(BLOCK) {
            let count = BLOCK.min(chunk.end - start);
            let from = src.at(run + start as isize * self.step);
            let in_place = T::IS_COMPUTE && self.step == 1;
            // SAFETY: elements of the source; they are only read in place if they have the compute type.
            let values: &[T::Compute] = unsafe {
                if in_place {
                    std::slice::from_raw_parts(from.cast(), count)
                } else {
                    &buffer.load(from, self.step, count, T::Compute::default())[..count]
                }
            };
            // Each of the two passes prefetches half of the next block, to spread the memory traffic.
            let prefetch_half = |pass: usize, at: usize| {
                if in_place {
                    let half = |elements: usize| elements / 2;
                    let next = from.wrapping_add(count + half(pass * count + at));
                    prefetch_lines(next, half(SEGMENT.min(count - at)) * size_of::<T>(), Cache::L2);
                }
            };
            // Deviations from any element of the block stay small even if the mean is far from zero.
            let origin = values[0];
            let offsets = sum_over(values, origin, |value| value - origin, |at| prefetch_half(0, at));
            let mean = (origin.wide() - first) + offsets / count as f64;
            let mut block = Moments { count: count as f64, mean, squares: 0.0, differ: false };
            if self.needs_squares() {
                let centre = T::Compute::nearest(first + mean);
                let distance = |value: T::Compute| (value - centre) * (value - centre);
                let squares = sum_over(values, centre, distance, |at| prefetch_half(1, at));
                block.squares = around_mean(squares, count as f64, first + mean - centre.wide());
                block.differ =
                    block.squares != 0.0 || values.iter().fold(false, |any, &value| any | (value != origin));
            }
            all = if start == chunk.start { block } else { all.combine(block) };
        }
        all
    }

    /// Compute neighbouring results together.
    fn by_columns(&self) {
        let inner = self.results.inner();
        let width = inner.length * self.folds;
        let (groups, tiles) = (self.results.count() / inner.length, width.div_ceil(WIDTH));
        // Chunks have about the same number of elements as in rows.
        let height = (CHUNK / WIDTH).next_multiple_of(HEIGHT);
        let chunks = self.chunk_count(height);
        let mut partials = ScratchVec::new_or_unwind(groups * tiles * chunks);
        let slots = Target::over(partials.spare());
        let grain = GRAIN / (height.min(self.length) * WIDTH.min(width)) + 1;
        let offsets_of = |group: usize| {
            let mut offsets = [0; 2];
            self.results.walk(group * inner.length..group * inner.length + 1, |at| offsets = at);
            offsets
        };
        parallel_ranges(groups * tiles * chunks, grain, |range| {
            let mut block = Aligned([[T::Compute::default(); WIDTH]; HEIGHT]);
            for item in range {
                let (tile, chunk) = (item / chunks, item % chunks);
                let (group, first) = (tile / tiles, tile % tiles * WIDTH);
                let columns = WIDTH.min(width - first);
                let src = self.src.shifted(offsets_of(group)[0] + first as isize * inner.strides[0]);
                // SAFETY: the slot of this item.
                let slot = unsafe { (*slots.at(item as isize)).write([Moments::default(); WIDTH]) };
                vectorised_rows::<T, _>(
                    #[inline(always)]
                    || self.columns(src, self.chunk(chunk, height), columns, &mut block.0, slot),
                );
            }
        });
        // SAFETY: every item has written its slot.
        unsafe { partials.grow(groups * tiles * chunks) };
        for (tile, tile_partials) in partials.chunks_exact(chunks).enumerate() {
            let (group, first) = (tile / tiles, tile % tiles * WIDTH);
            let [from, to] = offsets_of(group);
            for column in 0..WIDTH.min(inner.length - first) {
                let folds = (0..self.folds).map(|fold| column + fold * inner.length);
                let combined = tile_partials
                    .iter()
                    .flat_map(|partial| folds.clone().map(move |column| partial[column]))
                    .reduce(Moments::combine)
                    .expect("a result has chunks");
                let index = (first + column) as isize;
                self.set(from + index * inner.strides[0], to + index * inner.strides[1], combined);
            }
        }
    }

    /// Load the first elements of some neighbouring results.
    #[inline(always)]
    fn load_columns(&self, from: *const T, columns: usize, values: &mut [T::Compute; WIDTH]) {
        let across = self.results.inner().strides[0];
        if across != 1 {
            for (j, value) in values[..columns].iter_mut().enumerate() {
                // SAFETY: elements of the source, `across` apart.
                *value = unsafe { *from.wrapping_offset(j as isize * across) }.widen();
            }
            return;
        }
        // SAFETY: contiguous elements of the source.
        let line = unsafe { std::slice::from_raw_parts(from, columns) };
        // Through a temporary array, so that the compiler vectorises the conversion.
        match <&[T; WIDTH]>::try_from(line) {
            Ok(line) => {
                let mut widened = [T::Compute::default(); WIDTH];
                widened.iter_mut().zip(line).for_each(|(widened, &x)| *widened = x.widen());
                *values = widened;
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
        moments: &mut [Moments; WIDTH],
    ) {
        let mut all = ([0f64; WIDTH], [0f64; WIDTH]);
        let mut firsts = [T::Compute::default(); WIDTH];
        self.load_columns(src.at(0), columns, &mut firsts);
        if self.folds > 1 {
            // All partial results of one result are relative to the same element.
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
            // SAFETY: the block has at least one row.
            let origin = *unsafe { block.row(0) };
            // SAFETY: full rows of the source or of the copy.
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
                    // Prefetch as in `row`.
                    let next = from.wrapping_offset((HEIGHT + row) as isize * self.step);
                    prefetch_lines(next, WIDTH * size_of::<T>(), Cache::L2);
                }
            };
            let squares = if self.needs_squares() {
                // SAFETY: full rows of the source or of the copy.
                unsafe { column_sums(&block, |value, j| (value - centre[j]) * (value - centre[j]), next) }
            } else {
                [0.0; WIDTH]
            };
            let previous_count = (start - rows.start) as f64;
            let weight = count / (previous_count + count);
            let (mean, sum) = &mut all;
            for j in 0..WIDTH {
                let distance = means[j] - mean[j];
                mean[j] += distance * weight;
                let squares = around_mean(squares[j], count, first[j] + means[j] - centre[j].wide());
                sum[j] += squares + distance * distance * previous_count * weight;
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
        for (j, moments) in moments.iter_mut().enumerate() {
            *moments = Moments { count, mean: all.0[j], squares: all.1[j], differ: differ[j] };
        }
    }
}

/// The sum of `term` of each value. `neutral` is a value whose term is zero. `on_segment` is called with the offset of each
/// segment.
#[inline(always)]
fn sum_over<W: Compute>(
    values: &[W],
    neutral: W,
    term: impl Fn(W) -> W + Copy,
    on_segment: impl Fn(usize),
) -> f64 {
    let mut sums = Sums::default();
    let (vectors, tail) = values.split_at(values.len() / LANES * LANES);
    sums.add_segments(vectors, term, on_segment);
    if !tail.is_empty() {
        let mut last = [neutral; LANES];
        last[..tail.len()].copy_from_slice(tail);
        sums.add(&last, term);
    }
    sums.total()
}

/// Rows of adjacent columns, `step` elements apart.
struct Block<W> {
    start: *const W,
    step: isize,
    height: usize,
}

impl<W> Block<W> {
    /// # Safety
    /// `row` is less than the height.
    #[inline(always)]
    unsafe fn row(&self, row: usize) -> &[W; WIDTH] {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { &*self.start.wrapping_offset(row as isize * self.step).cast() }
    }
}

/// The sums of `term` over each column: trees of eight rows in the compute type, then float64. `on_row` is called with each
/// row of the trees.
///
/// # Safety
///
/// All rows of the block are readable.
#[inline(always)]
unsafe fn column_sums<W: Compute>(
    block: &Block<W>,
    term: impl Fn(W, usize) -> W,
    on_row: impl Fn(usize),
) -> [f64; WIDTH] {
    let mut sums = [0f64; WIDTH];
    let full_rows = block.height / 8 * 8;
    for first in (0..full_rows).step_by(8) {
        (first..first + 8).for_each(&on_row);
        // SAFETY: guaranteed by the caller of this function.
        let rows: [&[W; WIDTH]; 8] = array_of(|k| unsafe { block.row(first + k) });
        for (sum, partial) in sums.iter_mut().zip(tree_of_eight(rows, &term)) {
            *sum += partial.wide();
        }
    }
    for row in full_rows..block.height {
        // SAFETY: guaranteed by the caller of this function.
        let row = unsafe { block.row(row) };
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum += term(row[j], j).wide();
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use umber_types::{Element, Layout, Shape, bf16, f16};

    use super::*;

    /// Sums of squared deviations.
    fn variances(x: View, axes: Range<usize>, dst: ViewMut) {
        dispersion(x, axes, 1.0, Dispersion::Variance, dst);
    }

    /// The same by definition, in float64.
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
        let widened: Vec<f64> = x.iter().map(|&x| x.widen().wide()).collect();
        let mut result_shape = shape.to_vec();
        result_shape[axes.clone()].fill(1);
        let (from, to) =
            (Layout::contiguous(Shape::from(shape)), Layout::contiguous(Shape::from(&result_shape[..])));
        let mut actual = vec![T::Compute::default(); to.size()];
        variances(View::of(&x, &from), axes.clone(), ViewMut::of(&mut actual, &to));
        for (actual, exact) in actual.iter().zip(expected(&widened, shape, &axes)) {
            // Relative to the variance of the elements as rounded to `T`.
            let error = (actual.wide() - exact).abs();
            assert!(
                error <= 4e-7 * exact.max(1e-12),
                "{} {shape:?} {axes:?}: {} {exact}",
                T::DTYPE,
                actual.wide()
            );
        }
    }

    #[test]
    fn variances_match_the_definition() {
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
    fn large_mean_loses_no_accuracy() {
        let count = 20_000;
        for (shape, axes) in [([count, 1], 0..1), ([1, count], 1..2), ([count / 16, 16], 0..1)] {
            // Multiples of a power of two, so that the shifted values are exact.
            let near: Vec<f64> = (0..count).map(|i| ((i * 7919 % 1013) as f64 - 500.0) / 1024.0).collect();
            let far: Vec<f64> = near.iter().map(|x| x + 1e8).collect();
            let (from, results) = (Layout::contiguous(Shape::from(shape)), shape[1 - axes.start]);
            let to =
                Layout::contiguous(Shape::from(if axes.start == 0 { [1, results] } else { [results, 1] }));
            let mut actual = vec![0f64; results];
            variances(View::of(&far, &from), axes.clone(), ViewMut::of(&mut actual, &to));
            for (actual, exact) in actual.iter().zip(expected(&near, &shape, &axes)) {
                assert!((actual - exact).abs() <= 1e-13 * exact, "{shape:?}: {actual} {exact}");
            }
        }
    }

    #[test]
    fn unrepresentable_mean_loses_no_accuracy() {
        let count = 19_200;
        for (shape, axes) in [([1, count], 1..2), ([count / 16, 16], 0..1), ([count / 64, 64], 0..1)] {
            // Multiples of 1/64 near 2^17, where float32 has a spacing of 1/64, so that the mean is not representable.
            let near: Vec<f64> = (0..count).map(|i| ((i * i % 1013 % 17) as f64 - 8.0) / 64.0).collect();
            let far: Vec<f32> = near.iter().map(|x| (x + 131072.0) as f32).collect();
            let (from, results) = (Layout::contiguous(Shape::from(shape)), shape[1 - axes.start]);
            let to =
                Layout::contiguous(Shape::from(if axes.start == 0 { [1, results] } else { [results, 1] }));
            let mut actual = vec![0f32; results];
            variances(View::of(&far, &from), axes.clone(), ViewMut::of(&mut actual, &to));
            for (&actual, exact) in actual.iter().zip(expected(&near, &shape, &axes)) {
                assert!((f64::from(actual) - exact).abs() <= 1e-6 * exact, "{shape:?}: {actual} {exact}");
            }
        }
    }

    #[test]
    fn intermediate_squares_do_not_overflow_or_underflow() {
        for (scale, length) in [(1e-25f32, 6), (1e-25, 40), (1e30, 6), (1e30, 5000)] {
            let x: Vec<f32> = (0..2 * length).map(|i| if i % 2 == 0 { scale } else { -scale }).collect();
            let from = Layout::contiguous(Shape::from([2, length]));
            let (rows, columns) = (Layout::contiguous([2, 1].into()), Layout::contiguous([1, length].into()));
            let mut actual = vec![7f32; 2];
            dispersion(
                View::of(&x, &from),
                1..2,
                length as f64,
                Dispersion::Deviation,
                ViewMut::of(&mut actual, &rows),
            );
            assert!(actual.iter().all(|&actual| (actual / scale - 1.0).abs() < 1e-6), "{scale}: {actual:?}");
            let mut actual = vec![7f32; length];
            dispersion(
                View::of(&x, &from),
                0..1,
                2.0,
                Dispersion::Deviation,
                ViewMut::of(&mut actual, &columns),
            );
            assert!(actual.iter().all(|&actual| actual == 0.0), "columns of equal elements");
        }
    }

    #[test]
    fn mean_is_split_into_high_and_low() {
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
    fn non_finite_elements_propagate() {
        let variance_of = |x: &[f32]| {
            let mut variance = [0f32];
            let (from, to) =
                (Layout::contiguous(Shape::from([x.len()])), Layout::contiguous(Shape::from([1usize])));
            variances(View::of(x, &from), 0..1, ViewMut::of(&mut variance, &to));
            variance[0]
        };
        assert!(variance_of(&[1.0, f32::INFINITY]).is_nan() && variance_of(&[f32::NAN, 1.0]).is_nan());
        assert_eq!(variance_of(&[3e38, -3e38]), f32::INFINITY);
        assert_eq!(variance_of(&[3e38, 3e38]), 0.0);
    }
}
