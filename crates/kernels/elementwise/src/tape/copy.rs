//! Copies between any two layouts of the same shape.
#![expect(clippy::cast_ptr_alignment, reason = "views are aligned, and registers are cache-line aligned")]

use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::by_width::dispatch_by_width;
use umber_kernels_base::caches::{LINE, STREAM_FROM, finish_streaming, stream};
use umber_kernels_base::isa::{Cache, level};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::transpose::{self, Stores};
use umber_kernels_base::view::{View, ViewMut};
use umber_types::tape::{Step, Tape};

use super::blocks::{MAX_SHORT_ROW, copy_short, gather, prefetch_strided};
use super::plan::Plan;
use super::program::Program;

/// Minimum bytes per thread.
const GRAIN: usize = 1 << 17;
/// Size of the staging buffer in L1 for non-temporal stores.
const STAGE: usize = 16 * LINE;
/// Maximum rows of the result per task of a transposed copy.
const ROWS_PER_TASK: usize = 1 << 10;

/// Copy `src` to `dst`, element by element of their common shape; converts where the dtypes differ.
///
/// # Panics
/// If the shapes differ.
pub fn copy(src: View, mut dst: ViewMut) {
    assert_eq!(src.shape(), dst.shape(), "views have one shape");
    if src.dtype() != dst.dtype() {
        let step = Step::Cast { x: 0, to: dst.dtype() };
        let tape = Tape { inputs: vec![src.dtype()], steps: vec![step], outputs: vec![1] };
        let program = Program::new(&tape).expect("every dtype converts to every other");
        program.run(&[src], std::slice::from_mut(&mut dst));
        return;
    }
    if src.size() == 0 {
        return;
    }
    let size = src.dtype().size();
    let plan = Plan::new(dst.shape(), &[src.strides(), dst.strides()], 1);
    let copy = CopyTask { from: src.start(), to: dst.start(), size, plan: &plan };
    if plan.lengths().len() == 1 {
        copy.line();
    } else if let Some(row_axis) = copy.transposed_axis() {
        copy.tiles(row_axis);
    } else {
        copy.rows();
    }
}

struct CopyTask<'p> {
    from: *const u8,
    to: *mut u8,
    size: usize,
    plan: &'p Plan,
}

// SAFETY: threads copy disjoint elements, and views are valid on every thread.
unsafe impl Sync for CopyTask<'_> {}

impl CopyTask<'_> {
    fn source(&self, distance: isize) -> *const u8 {
        self.from.wrapping_offset(distance * self.size as isize)
    }

    fn target(&self, distance: isize) -> *mut u8 {
        self.to.wrapping_offset(distance * self.size as isize)
    }

    /// True if the target is large enough for non-temporal stores.
    fn streams(&self) -> bool {
        self.plan.size() * self.size >= STREAM_FROM
    }

    /// A copy with a single loop.
    fn line(&self) {
        let (from, to) = (self.plan.strides(0)[0], self.plan.strides(1)[0]);
        let streams = self.streams();
        // Each thread copies full cache lines.
        let count = self.plan.size().div_ceil(LINE);
        parallel_ranges(count, GRAIN / LINE / self.size, |range| {
            let (begin, end) = (range.start * LINE, (range.end * LINE).min(self.plan.size()));
            let (source, target) = (self.source(begin as isize * from), self.target(begin as isize * to));
            let row = Row { from: source, to: target, strides: [from, to], count: end - begin, next: None };
            // SAFETY: the elements are those of the views, and each range belongs to one thread.
            unsafe { row.copy(self.size, streams) };
            if streams {
                finish_streaming();
            }
        });
    }

    /// A copy by rows along the innermost loop.
    fn rows(&self) {
        let length = self.plan.inner();
        let count = self.plan.size() / length;
        let strides = array_of::<_, 2>(|operand| self.inner(operand));
        let streams = length * self.size >= 4 * STAGE && self.streams();
        parallel_ranges(count, (GRAIN / self.size / length).max(1), |range| {
            if length < MAX_SHORT_ROW {
                // Computing the start of each row would take longer than copying it.
                self.short_rows(range);
                return;
            }
            let mut from = self.source(self.plan.outer_offset(0, range.start));
            for row in range {
                let next = self.source(self.plan.outer_offset(0, row + 1));
                let to = self.target(self.plan.outer_offset(1, row));
                let row = Row { from, to, strides, count: length, next: Some(next) };
                // SAFETY: the elements are those of the views, and each range belongs to one thread.
                unsafe { row.copy(self.size, streams) };
                from = next;
            }
            if streams {
                finish_streaming();
            }
        });
    }

    /// Copies short rows: the two or three innermost loops are one call each, since computing the start of each row would take
    /// longer than copying it.
    fn short_rows(&self, range: Range<usize>) {
        let last = self.plan.lengths().len() - 1;
        let (rows, length) = (self.plan.lengths()[last - 1], self.plan.inner());
        let strides = array_of::<_, 2>(|i| (self.plan.strides(i)[last - 1], self.inner(i)));
        let outer = last.checked_sub(2);
        let mut row = range.start;
        while row < range.end {
            let (group, first, left) = (row / rows, row % rows, range.end - row);
            let (groups, count) = match outer {
                Some(outer) if first == 0 && left >= rows => {
                    let groups = self.plan.lengths()[outer];
                    ((groups - group % groups).min(left / rows), rows)
                }
                _ => (1, (rows - first).min(left)),
            };
            let mut distances = array_of::<_, 2>(|operand| self.plan.outer_offset(operand, row));
            for _ in 0..groups {
                let [from, to] = distances;
                // SAFETY: the elements are those of the views, and these rows belong to one thread.
                unsafe {
                    copy_short(self.size, self.source(from), self.target(to), strides, [count, length]);
                };
                for (operand, distance) in distances.iter_mut().enumerate() {
                    *distance += outer.map_or(0, |outer| self.plan.strides(operand)[outer]);
                }
            }
            row += groups * count;
        }
    }

    fn inner(&self, operand: usize) -> isize {
        let strides = self.plan.strides(operand);
        strides[strides.len() - 1]
    }

    /// The loop along which the source is dense, if it is not the innermost one and both are long.
    fn transposed_axis(&self) -> Option<usize> {
        let last = self.plan.lengths().len() - 1;
        let inner = self.inner(0).unsigned_abs();
        if inner <= 1 || self.plan.inner() < 4 {
            return None;
        }
        let strides = &self.plan.strides(0)[..last];
        // If both are short, tiles share too few cache lines.
        let min_rows = if self.plan.inner() < MAX_SHORT_ROW { MAX_SHORT_ROW } else { 4 };
        let candidates =
            (0..last).filter(|&axis| strides[axis] != 0 && self.plan.lengths()[axis] >= min_rows);
        candidates
            .min_by_key(|&axis| strides[axis].unsigned_abs())
            .filter(|&axis| strides[axis].unsigned_abs() < inner)
    }

    /// A transposed copy in square tiles of the loop `row_axis` and the innermost one, so that both sides use full cache lines.
    /// Each task walks along rows of the source, one band of tiles at a time.
    fn tiles(&self, row_axis: usize) {
        let lengths = self.plan.lengths();
        let last = lengths.len() - 1;
        let (rows, columns) = (lengths[row_axis], lengths[last]);
        let strides = array_of::<_, 2>(|i| (self.plan.strides(i)[row_axis], self.plan.strides(i)[last]));
        let streams = self.streams();
        let transposer = Transposer::new(self.size, strides, streams);
        let side = transposer.side();
        let (bands, chunks) = (columns.div_ceil(side), rows.div_ceil(ROWS_PER_TASK));
        let others = self.plan.size() / (rows * columns);
        let offset = |operand: usize, mut index: usize| {
            let strides = self.plan.strides(operand);
            let mut offset = 0;
            for axis in (0..last).rev().filter(|&axis| axis != row_axis) {
                offset += (index % lengths[axis]) as isize * strides[axis];
                index /= lengths[axis];
            }
            offset
        };
        let grain = (GRAIN / self.size / (side * rows.min(ROWS_PER_TASK))).max(1);
        parallel_ranges(others * bands * chunks, grain, |range| {
            for index in range {
                let (chunk, band, other) = (index % chunks, index / chunks % bands, index / chunks / bands);
                let origins = array_of::<_, 2>(|i| offset(i, other));
                let left = band * side;
                let width = (columns - left).min(side);
                let end = rows.min((chunk + 1) * ROWS_PER_TASK);
                for top in (chunk * ROWS_PER_TASK..end).step_by(side) {
                    let [source, target] = [0, 1]
                        .map(|i| origins[i] + top as isize * strides[i].0 + left as isize * strides[i].1);
                    let height = (end - top).min(side);
                    // SAFETY: the elements are those of the views; the tiles of different tasks are disjoint.
                    unsafe { transposer.tile(self.source(source), self.target(target), height, width) };
                }
            }
            if streams {
                finish_streaming();
            }
        });
    }
}

/// A row of elements to copy.
struct Row {
    from: *const u8,
    to: *mut u8,
    /// Of the source and of the target.
    strides: [isize; 2],
    count: usize,
    /// The start of the next row of the source, if there is one.
    next: Option<*const u8>,
}

/// True if gathered elements are written faster with non-temporal stores. They are not if a vector is shorter than a cache line.
fn staging_pays() -> bool {
    level() == 2
}

/// Staging buffer for non-temporal stores.
#[repr(align(64))]
struct Stage([u8; STAGE]);

impl Row {
    /// # Safety
    /// The elements are readable and writable, and no other thread accesses those that are written.
    unsafe fn copy(&self, size: usize, streams: bool) {
        let Row { from, to, strides, count, .. } = *self;
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            match strides {
                [stride, 1] if streams && (stride == 1 || staging_pays()) => self.nontemporal(size),
                [stride, 1] => gather(size, from, stride, to, count),
                [a, b] => strided(size, from, a, to, b, count),
            }
        }
    }

    /// Copy with non-temporal stores while prefetching the next row: rows are too short for the hardware prefetcher to detect the
    /// stride.
    ///
    /// # Safety
    /// As [`Row::copy`].
    unsafe fn nontemporal(&self, size: usize) {
        let stride = self.strides[0];
        let mut stage = Stage([0; STAGE]);
        let stage = stage.0.as_mut_ptr();
        let full = STAGE / size;
        // The first chunk is shorter, so that all others are cache-line aligned.
        let mut length = full - self.to.addr() % LINE / size;
        let mut done = 0;
        while done < self.count {
            length = length.min(self.count - done);
            let distance = done as isize * stride * size as isize;
            if let Some(next) = self.next {
                prefetch_strided(size, next.wrapping_offset(distance), stride, length, Cache::L2);
            }
            // SAFETY: guaranteed by the caller of this function; the stage has space for `length` elements.
            unsafe {
                let mut from = self.from.offset(distance);
                if stride != 1 {
                    gather(size, from, stride, stage, length);
                    from = stage;
                }
                stream(from, self.to.add(done * size), length * size);
            }
            done += length;
            length = full;
        }
    }
}

/// Transposes tiles.
struct Transposer {
    size: usize,
    /// Strides of source and target: between rows of the target, and along its rows.
    strides: [(isize, isize); 2],
    /// Transposes full tiles with vector instructions.
    transpose_tile: Option<transpose::TransposeFn>,
    /// The same with non-temporal stores, for tiles whose rows are full cache lines.
    stream: Option<transpose::TransposeFn>,
}

impl Transposer {
    fn new(size: usize, strides: [(isize, isize); 2], streams: bool) -> Transposer {
        let [from, to] = strides;
        let is_dense = (from.0, to.1) == (1, 1);
        let has_full_lines = streams && (to.0 * size as isize) % LINE as isize == 0;
        Transposer {
            size,
            strides,
            transpose_tile: transpose::tile(size, Stores::Cached).filter(|_| is_dense),
            stream: transpose::tile(size, Stores::NonTemporal).filter(|_| is_dense && has_full_lines),
        }
    }

    /// Side of the tiles in elements: regular stores use larger tiles because the processor fetches cache lines in pairs.
    fn side(&self) -> usize {
        if self.stream.is_some() { transpose::TILE } else { (2 * transpose::TILE).max(LINE / self.size) }
    }

    /// Transpose a tile of `height` by `width` elements of the target, and prefetch the one below.
    ///
    /// # Safety
    /// The elements are readable and writable, and no other thread accesses those that are written.
    unsafe fn tile(&self, from: *const u8, to: *mut u8, height: usize, width: usize) {
        let [a, b] = self.strides;
        let (mut down, mut along) = (0, 0);
        if let Some(transpose_tile) = self.transpose_tile {
            let transpose_tile =
                self.stream.filter(|_| to.addr().is_multiple_of(LINE)).unwrap_or(transpose_tile);
            let round_down = |length: usize| length / transpose::TILE * transpose::TILE;
            (down, along) = (round_down(height), round_down(width));
            if self.stream.is_some() {
                prefetch_strided(self.size, from.wrapping_add(height * self.size), a.1, width, Cache::L1);
            }
            for top in (0..down as isize).step_by(transpose::TILE) {
                for left in (0..along as isize).step_by(transpose::TILE) {
                    let source = from.wrapping_offset((top + left * a.1) * self.size as isize);
                    let target = to.wrapping_offset((top * b.0 + left) * self.size as isize);
                    // SAFETY: guaranteed by the caller of this function.
                    unsafe { transpose_tile(source, a.1, target, b.0) };
                }
            }
        }
        dispatch_by_width!(self.size, T => {
            let (from, to) = (from.cast::<T>(), to.cast::<T>());
            for i in 0..height {
                // Skip the elements of the full tiles above.
                let first = if i < down { along } else { 0 };
                for j in first as isize..width as isize {
                    let i = i as isize;
                    // SAFETY: guaranteed by the caller of this function.
                    unsafe { to.offset(i * b.0 + j * b.1).write(from.offset(i * a.0 + j * a.1).read()) }
                }
            }
        });
    }
}

/// Copy `count` elements that are `a` apart to ones that are `b` apart.
///
/// # Safety
/// The elements are readable and writable, and no other thread accesses those that are written.
unsafe fn strided(size: usize, from: *const u8, a: isize, to: *mut u8, b: isize, count: usize) {
    dispatch_by_width!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..count as isize {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { to.offset(i * b).write(from.offset(i * a).read()) }
        }
    });
}
