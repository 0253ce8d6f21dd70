//! Copies between any two layouts of one shape.
#![expect(
    clippy::cast_ptr_alignment,
    reason = "views promise alignment, and registers have that of a cache line"
)]

use umber_types::tape::{Step, Tape};

use super::blocks::{finish_streaming, gather, scatter, stream};
use super::plan::Plan;
use super::program::Program;
use crate::moving::by_size;
use crate::threads::parallel_ranges;
use crate::turn;
use crate::view::{View, ViewMut};

/// Bytes for one thread to copy.
const GRAIN: usize = 1 << 17;
/// Copies from this size on bypass the caches.
const STREAM_FROM: usize = 8 << 20;
/// Side of the tiles in which a transposing copy goes, in elements.
const TILE: usize = 32;

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
    let job = Job { from: src.start(), to: dst.start(), size, plan: &plan };
    if plan.lengths().len() == 1 {
        job.line();
    } else if let Some(across) = job.transposed_axis() {
        job.tiles(across);
    } else {
        job.rows();
    }
}

struct Job<'p> {
    from: *const u8,
    to: *mut u8,
    size: usize,
    plan: &'p Plan,
}

// SAFETY: threads copy disjoint parts; views promise the rest.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    fn source(&self, distance: isize) -> *const u8 {
        self.from.wrapping_offset(distance * self.size as isize)
    }

    fn target(&self, distance: isize) -> *mut u8 {
        self.to.wrapping_offset(distance * self.size as isize)
    }

    /// One loop.
    fn line(&self) {
        let (from, to) = (self.plan.strides(0)[0], self.plan.strides(1)[0]);
        let streams = self.plan.size() * self.size >= STREAM_FROM;
        // Whole cache lines for each thread.
        let count = self.plan.size().div_ceil(64);
        parallel_ranges(count, GRAIN / 64 / self.size, |range| {
            let (begin, end) = (range.start * 64, (range.end * 64).min(self.plan.size()));
            let (source, target) = (self.source(begin as isize * from), self.target(begin as isize * to));
            // SAFETY: elements of the views, this range is this thread's.
            unsafe { self.run(source, from, target, to, end - begin, streams) };
            if streams {
                finish_streaming();
            }
        });
    }

    /// Rows along the innermost loop.
    fn rows(&self) {
        let length = self.plan.inner();
        let count = self.plan.size() / length;
        let (from, to) = (self.inner(0), self.inner(1));
        let streams = length * self.size >= 4096 && self.plan.size() * self.size >= STREAM_FROM;
        parallel_ranges(count, (GRAIN / self.size / length).max(1), |range| {
            if length < 16 {
                // Too short to look up where each begins.
                self.stretches(range.start * length, range.len() * length);
                return;
            }
            for row in range {
                let source = self.source(self.plan.outer_offset(0, row));
                let target = self.target(self.plan.outer_offset(1, row));
                // SAFETY: as above.
                unsafe { self.run(source, from, target, to, length, streams) };
            }
            if streams {
                finish_streaming();
            }
        });
    }

    /// Elements `start..start + count`, stretch by stretch.
    fn stretches(&self, start: usize, count: usize) {
        const ROOM: usize = 256;
        // Both operands go through their loops by themselves, so they meet in a small buffer.
        let mut room = [0u64; ROOM * 2];
        let room = room.as_mut_ptr().cast::<u8>();
        let mut done = 0;
        while done < count {
            let part = (count - done).min(ROOM);
            let mut at = room;
            self.plan.stretches(0, start + done, part, |distance, length, stride| {
                // SAFETY: elements of the view; the buffer holds `ROOM` of any size.
                unsafe { gather(self.size, self.source(distance), stride, at, length) };
                at = at.wrapping_add(length * self.size);
            });
            let mut at = room.cast_const();
            self.plan.stretches(1, start + done, part, |distance, length, stride| {
                // SAFETY: as above.
                unsafe { scatter(self.size, at, self.target(distance), stride, length) };
                at = at.wrapping_add(length * self.size);
            });
            done += part;
        }
    }

    fn inner(&self, operand: usize) -> isize {
        let strides = self.plan.strides(operand);
        strides[strides.len() - 1]
    }

    /// One stretch of both.
    unsafe fn run(&self, from: *const u8, a: isize, to: *mut u8, b: isize, count: usize, streams: bool) {
        // SAFETY: the caller names elements of the views.
        unsafe {
            match (a, b) {
                (1, 1) if streams => stream(from, to, count * self.size),
                (_, 1) => gather(self.size, from, a, to, count),
                _ => strided(self.size, from, a, to, b, count),
            }
        }
    }

    /// The loop along which the source is dense, if that is not the innermost and both are long.
    fn transposed_axis(&self) -> Option<usize> {
        let last = self.plan.lengths().len() - 1;
        let inner = self.inner(0).unsigned_abs();
        if inner <= 1 || self.plan.inner() < 4 {
            return None;
        }
        let strides = &self.plan.strides(0)[..last];
        let nearest = (0..last).filter(|&axis| strides[axis] != 0 && self.plan.lengths()[axis] >= 4);
        nearest
            .min_by_key(|&axis| strides[axis].unsigned_abs())
            .filter(|&axis| strides[axis].unsigned_abs() < inner)
    }

    /// Square tiles of the loop `across` and the innermost one, so that both sides use whole cache lines.
    fn tiles(&self, across: usize) {
        let lengths = self.plan.lengths();
        let last = lengths.len() - 1;
        let (rows, columns) = (lengths[across], lengths[last]);
        let (bands, tiles) = (rows.div_ceil(TILE), columns.div_ceil(TILE));
        let others = self.plan.size() / (rows * columns);
        let offset = |operand: usize, mut index: usize| {
            let strides = self.plan.strides(operand);
            let mut offset = 0;
            for axis in (0..last).rev().filter(|&axis| axis != across) {
                offset += (index % lengths[axis]) as isize * strides[axis];
                index /= lengths[axis];
            }
            offset
        };
        let [from, to] = [0, 1].map(|i| (self.plan.strides(i)[across], self.plan.strides(i)[last]));
        let grain = (GRAIN / self.size / (TILE * columns)).max(1);
        parallel_ranges(others * bands, grain, |range| {
            for band in range {
                let origins = [0, 1].map(|i| offset(i, band / bands));
                let row = band % bands * TILE;
                let height = (rows - row).min(TILE);
                for tile in 0..tiles {
                    let column = tile * TILE;
                    let width = (columns - column).min(TILE);
                    let source = self.source(origins[0] + row as isize * from.0 + column as isize * from.1);
                    let target = self.target(origins[1] + row as isize * to.0 + column as isize * to.1);
                    // SAFETY: elements of the views; bands are disjoint.
                    unsafe { transpose(self.size, source, from, target, to, height, width) };
                }
            }
        });
    }
}

/// `count` elements from `a` apart to `b` apart.
unsafe fn strided(size: usize, from: *const u8, a: isize, to: *mut u8, b: isize, count: usize) {
    by_size!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..count as isize {
            // SAFETY: the caller names elements of the views.
            unsafe { to.offset(i * b).write(from.offset(i * a).read()) }
        }
    });
}

/// A tile of `height` by `width` elements; strides are pairs: down, along.
unsafe fn transpose(
    size: usize,
    from: *const u8,
    a: (isize, isize),
    to: *mut u8,
    b: (isize, isize),
    height: usize,
    width: usize,
) {
    let (mut down, mut along) = (0, 0);
    if (a.0, b.1) == (1, 1)
        && let Some(tile) = turn::tile(size)
    {
        (down, along) = (height / turn::TILE * turn::TILE, width / turn::TILE * turn::TILE);
        for top in (0..down as isize).step_by(turn::TILE) {
            for left in (0..along as isize).step_by(turn::TILE) {
                let source = from.wrapping_offset((top + left * a.1) * size as isize);
                let target = to.wrapping_offset((top * b.0 + left) * size as isize);
                // SAFETY: the caller names elements of the views.
                unsafe { tile(source, a.1, target, b.0) };
            }
        }
    }
    by_size!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..height {
            // What was turned above is left out.
            let first = if i < down { along } else { 0 };
            for j in first as isize..width as isize {
                let i = i as isize;
                // SAFETY: as above.
                unsafe { to.offset(i * b.0 + j * b.1).write(from.offset(i * a.0 + j * a.1).read()) }
            }
        }
    });
}
