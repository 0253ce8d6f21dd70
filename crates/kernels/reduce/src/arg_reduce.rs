//! Index of the minimum or maximum along an axis.

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::isa::{Cache, prefetch_lines, vectorised_by_avx2};
use umber_kernels_base::keys::{Direction, Key, Keyed};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::tree_reduce::tree_reduce;
use umber_kernels_base::{View, ViewMut};
use umber_types::{ArgReduceKind, match_dtype};

/// Minimum elements per task.
const GRAIN: usize = 1 << 14;
/// Rows of at least this length are split among threads if there are fewer rows than threads.
const LONG: usize = 1 << 17;
/// Elements per block: the best key of a block is found first, its index only if the block has the best key of the row. At
/// least `BLOCK_BYTES` bytes. Small, because the search for the index stalls the stream from memory.
const BLOCK: usize = 512;
const BLOCK_BYTES: usize = 2048;
/// Bytes after a row that are prefetched during the search for an index.
const PREFETCH_BYTES: usize = 4096;
/// Keys compared in parallel.
const LANES: usize = 32;
/// Results computed together if they are closer in memory than the elements of one result.
const TILE: usize = 256;

/// The index of the minimum or maximum along `axis`, the first if there are several; NaN counts as both.
///
/// `dst` is uint32 and has the shape of `src` with that axis removed or of length one. Complex numbers compare by real part,
/// then by imaginary part. For an empty axis the index is 0.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn arg_reduce(kind: ArgReduceKind, src: View, axis: usize, dst: ViewMut) {
    let to = Target::of(&dst);
    let mut others = StridedLoops::new(&[], [&[], &[]]);
    let mut index = 0;
    let keeps_axes = dst.shape().len() == src.shape().len();
    for (other, (&length, &stride)) in src.shape().iter().zip(src.strides()).enumerate() {
        if other != axis {
            assert_eq!(dst.shape()[index], length, "shape of the result of an arg-reduction");
            others.push(Loop { length, strides: [stride, dst.strides()[index]] });
        }
        index += usize::from(other != axis || keeps_axes);
    }
    // The maximum key wins; descending keys give the minimum element.
    let direction = match kind {
        ArgReduceKind::ArgMin => Direction::Descending,
        ArgReduceKind::ArgMax => Direction::Ascending,
    };
    let (length, stride) = (src.shape()[axis], src.strides()[axis]);
    match_dtype!(src.dtype(), T => {
        Search::<T> { from: Source::of(&src), to, others, length, stride, direction }.run();
    });
}

struct Search<T> {
    from: Source<T>,
    to: Target<u32>,
    /// Loops over the results: source, destination.
    others: StridedLoops<2>,
    length: usize,
    stride: isize,
    direction: Direction,
}

impl<T: Keyed> Search<T> {
    const BLOCK: usize =
        if BLOCK * size_of::<T>() < BLOCK_BYTES { BLOCK_BYTES / size_of::<T>() } else { BLOCK };

    fn run(mut self) {
        let results = self.others.count();
        let closest = self.others.loops().iter().enumerate().min_by_key(|(_, l)| l.strides[0].abs());
        match closest {
            Some((index, l)) if l.strides[0].abs() < self.stride.abs() => {
                let columns = self.others.remove(index);
                self.columns(columns);
            }
            _ if results < num_threads() && self.length >= LONG => {
                self.others.walk(0..results, |[from, to]| self.parallel_row(from, to));
            }
            _ => parallel_ranges(results, GRAIN / self.length.max(1), |range| {
                self.others.walk(range, |[from, to]| {
                    let best = self.row(from, 0..self.length).map_or(0, |(_, index)| index);
                    // SAFETY: the offset comes from the layout of the destination; tasks write disjoint results.
                    unsafe { *self.to.at(to) = best as u32 };
                });
            }),
        }
    }

    /// The maximum key in a range of a row, and its index.
    fn row(&self, from: isize, range: Range<usize>) -> Option<(T::Key, usize)> {
        let mut best: Option<(T::Key, usize)> = None;
        for start in range.clone().step_by(Self::BLOCK) {
            let count = Self::BLOCK.min(range.end - start);
            let key = self.block_best(from, start, count);
            if best.is_none_or(|(old, _)| key > old) {
                best = Some((key, start));
            }
        }
        best.map(|(key, start)| {
            if self.stride == 1 {
                // Prefetch what is most likely the next row during the search for the index.
                prefetch_lines(self.from.at(from + range.end as isize), PREFETCH_BYTES, Cache::L2);
            }
            let count = Self::BLOCK.min(range.end - start);
            (key, start + self.first_of(key, from, start, count))
        })
    }

    /// Index of the first occurrence of a key in a block.
    #[inline(never)]
    fn first_of(&self, key: T::Key, from: isize, start: usize, count: usize) -> usize {
        if self.stride != 1 {
            return (0..count).find(|&index| self.key(from, start + index) == key).unwrap_or(0);
        }
        let block = self.block(from, start, count);
        let direction = self.direction;
        vectorised_by_avx2(
            #[inline(always)]
            move || first_index(block, key, direction),
        )
    }

    /// A block of a contiguous row.
    fn block(&self, from: isize, start: usize, count: usize) -> &[T] {
        // SAFETY: the layout of the source holds the row.
        unsafe { std::slice::from_raw_parts(self.from.at(from + start as isize), count) }
    }

    #[inline(always)]
    fn key(&self, from: isize, index: usize) -> T::Key {
        // SAFETY: the layout of the source holds the row.
        unsafe { *self.from.at(from + index as isize * self.stride) }.key(self.direction)
    }

    #[inline(never)]
    fn block_best(&self, from: isize, start: usize, count: usize) -> T::Key {
        if self.stride != 1 {
            let keys = (start..start + count).map(|index| self.key(from, index));
            return keys.fold(T::Key::MIN, Ord::max);
        }
        let block = self.block(from, start, count);
        let direction = self.direction;
        vectorised_by_avx2(
            #[inline(always)]
            move || block_max(block, direction),
        )
    }

    /// Compute one long row on several threads.
    fn parallel_row(&self, from: isize, to: isize) {
        let chunks = self.length / (LONG / 2);
        let mut bests = vec![None; chunks];
        let shared = Target::over(&mut bests);
        parallel_for(chunks, |i| {
            let range = self.length * i / chunks..self.length * (i + 1) / chunks;
            let best = self.row(from, range);
            // SAFETY: each task writes its own element.
            unsafe { *shared.at(i as isize) = best };
        });
        let first = bests.into_iter().flatten().reduce(|a, b| if b.0 > a.0 { b } else { a });
        // SAFETY: the offset comes from the layout of the destination.
        unsafe { *self.to.at(to) = first.map_or(0, |(_, index)| index) as u32 };
    }

    /// Compute neighbouring results together, one row of elements at a time.
    fn columns(&self, columns: Loop<2>) {
        let tiles = columns.length.div_ceil(TILE);
        let items = self.others.count() * tiles;
        parallel_ranges(items, GRAIN / (self.length * TILE.min(columns.length)).max(1), |range| {
            for item in range {
                let (outer, first) = (item / tiles, item % tiles * TILE);
                let mut at = [0; 2];
                self.others.walk(outer..outer + 1, |offsets| at = offsets);
                let [from, to] = array_of::<_, 2>(|i| at[i] + first as isize * columns.strides[i]);
                let width = TILE.min(columns.length - first);
                let mut indices = [0u32; TILE];
                self.tile(from, columns.strides[0], &mut indices[..width]);
                for (j, &index) in indices[..width].iter().enumerate() {
                    // SAFETY: the offset comes from the layout of the destination; tasks write disjoint results.
                    unsafe { *self.to.at(to + j as isize * columns.strides[1]) = index };
                }
            }
        });
    }

    fn tile(&self, from: isize, step: isize, indices: &mut [u32]) {
        let width = indices.len();
        let mut row = [T::Key::MIN; TILE];
        let mut best = [T::Key::MIN; TILE];
        for row_index in 0..self.length {
            let first = self.from.at(from + row_index as isize * self.stride);
            let direction = self.direction;
            let (row, best, indices) = (&mut row[..width], &mut best[..width], &mut *indices);
            vectorised_by_avx2(
                #[inline(always)]
                move || {
                    read_keys(first, step, direction, row);
                    update_best(row, row_index as u32, best, indices);
                },
            );
        }
    }
}

#[inline(always)]
fn block_max<T: Keyed>(block: &[T], direction: Direction) -> T::Key {
    // The direction becomes a constant in each arm, outside the loops.
    match direction {
        Direction::Ascending => max_in_direction(block, Direction::Ascending),
        Direction::Descending => max_in_direction(block, Direction::Descending),
    }
}

/// The maximum key, by a reduction over lanes.
#[inline(always)]
fn max_in_direction<T: Keyed>(block: &[T], direction: Direction) -> T::Key {
    let (vectors, tail) = block.as_chunks::<LANES>();
    let max_key = tree_reduce(&T::max_key(vectors, direction), max_of_two);
    tail.iter().fold(max_key, |max_key, element| max_of_two(element.key(direction), max_key))
}

#[inline(always)]
fn max_of_two<K: Key>(a: K, b: K) -> K {
    if a > b { a } else { b }
}

#[inline(always)]
fn first_index<T: Keyed>(block: &[T], key: T::Key, direction: Direction) -> usize {
    // A constant direction, as in `block_max`.
    match direction {
        Direction::Ascending => first_of(block, key, Direction::Ascending),
        Direction::Descending => first_of(block, key, Direction::Descending),
    }
}

/// Index of the first occurrence of a key that the block contains.
#[inline(always)]
fn first_of<T: Keyed>(block: &[T], key: T::Key, direction: Direction) -> usize {
    let (vectors, tail) = block.as_chunks::<LANES>();
    for (row_index, vector) in vectors.iter().enumerate() {
        // No early exit within a vector, so that the loop is vectorised.
        let mut has_key = false;
        for element in vector {
            has_key |= element.key(direction) == key;
        }
        if has_key {
            let mut first = LANES as u32;
            for (lane, element) in (0u32..).zip(vector) {
                first = first.min(if element.key(direction) == key { lane } else { LANES as u32 });
            }
            return row_index * LANES + first as usize;
        }
    }
    let before = block.len() - tail.len();
    before + tail.iter().take_while(|element| element.key(direction) != key).count()
}

#[inline(always)]
fn read_keys<T: Keyed>(first: *const T, step: isize, direction: Direction, keys: &mut [T::Key]) {
    if step == 1 {
        // SAFETY: the layout of the source holds this range.
        let row = unsafe { std::slice::from_raw_parts(first, keys.len()) };
        for (key, element) in keys.iter_mut().zip(row) {
            *key = element.key(direction);
        }
        return;
    }
    for (j, key) in keys.iter_mut().enumerate() {
        // SAFETY: the layout of the source holds this range.
        *key = unsafe { *first.wrapping_offset(j as isize * step) }.key(direction);
    }
}

#[inline(always)]
fn update_best<K: Key>(row: &[K], row_index: u32, best: &mut [K], indices: &mut [u32]) {
    for ((&key, best), index) in row.iter().zip(best).zip(indices) {
        let is_better = key > *best;
        *index = if is_better { row_index } else { *index };
        *best = if is_better { key } else { *best };
    }
}
