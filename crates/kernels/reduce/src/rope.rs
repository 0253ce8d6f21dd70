//! Rotary position embeddings: pairs of features are rotated by angles proportional to the position.

use std::ops::Range;

use umber_kernels_base::row::{Compute, Real, vectorised_rows};
use umber_kernels_base::scratch_vec::{ScratchVec, collect_or_unwind, vector_or_unwind};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::threads::parallel_for;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Pairing, match_dtype};

/// Positions whose sines and cosines are tabulated at a time.
const POSITIONS: usize = 32;
/// Minimum elements per task.
const GRAIN: usize = 1 << 15;

/// Rotate the first `2 * frequencies.len()` features of `x[..., position, feature]`: pair `i` by the angle `(position +
/// offset) * frequencies[i]`. Other features are copied.
///
/// `offset` is int64, of the shape of the axes before the position. `out` has the shape and dtype of `x` and is dense. Angles
/// are computed in float64; float16 and bfloat16 are rotated in float32 and rounded once.
///
/// # Panics
/// If the dtype is not a real float, or shapes and dtypes do not fit together.
pub fn rope(x: View, offset: View, frequencies: &[f64], pairing: Pairing, out: ViewMut) {
    assert_eq!((x.shape(), x.dtype()), (out.shape(), out.dtype()), "rotation keeps shape and dtype");
    let &[ref batch @ .., length, features] = x.shape() else { panic!("positions and features") };
    assert!(
        offset.shape() == batch && 2 * frequencies.len() <= features,
        "offsets match the batch, frequencies the features"
    );
    assert!(out.layout().is_contiguous(), "the result is dense");
    if x.size() == 0 {
        return;
    }
    let loops = StridedLoops::new(batch, [&x.strides()[..batch.len()], offset.strides()]);
    let from = Source::<i64>::of(&offset);
    let mut starts = vector_or_unwind(loops.count());
    loops.walk(0..loops.count(), |[at, offset_at]| {
        // SAFETY: the layout of the offsets holds the element.
        starts.push((at, unsafe { *from.at(offset_at) }));
    });
    match_dtype!(float x.dtype(), T => {
        let strides = &x.strides()[batch.len()..];
        let task = RopeTask::<T> {
            x: Source::of(&x),
            row_stride: strides[0],
            stride: strides[1],
            out: Target::of(&out),
            length,
            features,
            frequencies,
            pairing,
        };
        task.run(&starts);
    }, else => panic!("pairs of {} are not of real floats", x.dtype()));
}

struct RopeTask<'a, T> {
    x: Source<T>,
    row_stride: isize,
    stride: isize,
    out: Target<T>,
    length: usize,
    features: usize,
    frequencies: &'a [f64],
    pairing: Pairing,
}

impl<T: Real> RopeTask<'_, T> {
    /// Compute all sequences; `starts` holds the offset and the first position of each.
    fn run(&self, starts: &[(isize, i64)]) {
        let chunks = self.length.div_ceil(POSITIONS);
        let max_sequences = (GRAIN / (POSITIONS.min(self.length) * self.features)).max(1);
        // Consecutive sequences with the same first position share sines and cosines.
        let mut runs: Vec<Range<usize>> = vector_or_unwind(starts.len());
        for (i, &(_, first)) in starts.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if starts[run.start].1 == first && run.len() < max_sequences => run.end = i + 1,
                _ => runs.push(i..i + 1),
            }
        }
        parallel_for(runs.len() * chunks, |task| {
            let (run, chunk) = (runs[task / chunks].clone(), task % chunks * POSITIONS);
            let rows = chunk..self.length.min(chunk + POSITIONS);
            vectorised_rows::<T, _>(
                #[inline(always)]
                || self.rotate(starts, run, rows),
            );
        });
    }

    #[inline(always)]
    fn rotate(&self, starts: &[(isize, i64)], run: Range<usize>, rows: Range<usize>) {
        let table = Table::<T::Compute>::new(
            starts[run.start].1 as f64 + rows.start as f64,
            rows.len(),
            self.frequencies,
        );
        let mut row = ScratchVec::filled_or_unwind(T::Compute::default(), self.features);
        for sequence in run {
            for (index, at) in rows.clone().enumerate() {
                let from = self.x.shifted(starts[sequence].0 + at as isize * self.row_stride);
                for (i, value) in row.iter_mut().enumerate() {
                    // SAFETY: the layout of the source holds the row.
                    *value = unsafe { *from.at(i as isize * self.stride) }.widen();
                }
                table.rotate(index, self.pairing, &mut row);
                let to = self.out.shifted(((sequence * self.length + at) * self.features) as isize);
                for (i, &value) in row.iter().enumerate() {
                    // SAFETY: inside the dense result, in a row that only this task writes.
                    unsafe { *to.at(i as isize) = T::narrow(value) };
                }
            }
        }
    }
}

/// Cosines and sines of some positions.
struct Table<W> {
    cosines: Vec<W>,
    sines: Vec<W>,
    pairs: usize,
}

impl<W: Compute> Table<W> {
    /// For `count` positions, beginning with `first`.
    ///
    /// The angles after the first are computed by repeated rotation; over so few positions the error stays far below the
    /// rounding of the result.
    #[inline(always)]
    fn new(first: f64, count: usize, frequencies: &[f64]) -> Table<W> {
        let pairs = frequencies.len();
        let mut current =
            collect_or_unwind(frequencies.iter().map(|frequency| (first * frequency).sin_cos()));
        let step = collect_or_unwind(frequencies.iter().map(|frequency| frequency.sin_cos()));
        let mut table =
            Table { cosines: vector_or_unwind(count * pairs), sines: vector_or_unwind(count * pairs), pairs };
        for _ in 0..count {
            table.cosines.extend(current.iter().map(|&(_, cosine)| W::nearest(cosine)));
            table.sines.extend(current.iter().map(|&(sine, _)| W::nearest(sine)));
            for ((sine, cosine), &(s, c)) in current.iter_mut().zip(&step) {
                (*sine, *cosine) = (*sine * c + *cosine * s, *cosine * c - *sine * s);
            }
        }
        table
    }

    /// Rotate the first features of a row by the angles of position number `index`.
    #[inline(always)]
    fn rotate(&self, index: usize, pairing: Pairing, row: &mut [W]) {
        let range = index * self.pairs..(index + 1) * self.pairs;
        let angles = self.cosines[range.clone()].iter().zip(&self.sines[range]);
        match pairing {
            Pairing::Halves => {
                let (left, right) = row.split_at_mut(self.pairs);
                for ((x, y), (&cosine, &sine)) in left.iter_mut().zip(right).zip(angles) {
                    (*x, *y) = (*x * cosine - *y * sine, *x * sine + *y * cosine);
                }
            }
            Pairing::Neighbours => {
                for (pair, (&cosine, &sine)) in row.chunks_exact_mut(2).zip(angles) {
                    (pair[0], pair[1]) =
                        (pair[0] * cosine - pair[1] * sine, pair[0] * sine + pair[1] * cosine);
                }
            }
        }
    }
}
