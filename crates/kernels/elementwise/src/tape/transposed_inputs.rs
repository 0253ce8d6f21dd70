//! Transposed inputs: dense along another axis than the innermost one of the outputs, as in `x + y.T`.
//!
//! Read in output order, each element of a transposed input comes from another cache line, which is evicted before its other
//! elements are used. The outputs are therefore computed in bands, and each band first transposes its inputs tile by tile.

use smallvec::SmallVec;
use umber_kernels_base::caches::LINE;
use umber_kernels_base::isa::Cache;
use umber_kernels_base::scratch;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::view::{View, ViewMut};
use umber_types::{Layout, Shape};

use super::copy::copy;
use super::program::Program;

/// Approximate elements of a band: its operands stay in L2.
const BAND: usize = 1 << 14;
/// Minimum rows of a band, so that the cache lines of a transposed operand are used whole.
const MIN_BAND_ROWS: usize = 32;
/// Maximum columns of a band.
const MAX_BAND_COLUMNS: usize = 4096;
/// Shorter axes are not worth transposing.
const MIN_AXIS: usize = 8;
/// Smaller outputs fit L1 anyway.
const MIN_ELEMENTS: usize = 1 << 12;
/// Maximum scratch for transposed operands, in words; if the axes allow no smaller bands, elements are read in place.
const MAX_SCRATCH_WORDS: usize = MAX_BAND_COLUMNS * MIN_BAND_ROWS * 16;
/// Work for one thread, in additions.
const GRAIN: usize = 1 << 15;

/// The axis along which the view is dense, if elements along the last axis are in different cache lines.
fn dense_axis(view: &View) -> Option<usize> {
    let (strides, shape) = (view.strides(), view.shape());
    let last = strides.len().checked_sub(1)?;
    let is_strided = shape[last] >= MIN_AXIS && strides[last].unsigned_abs() * view.dtype().size() >= LINE;
    (0..last).find(|&axis| is_strided && strides[axis].unsigned_abs() == 1 && shape[axis] >= MIN_AXIS)
}

/// The division of the outputs into bands.
struct Bands {
    shape: Shape,
    /// The axis whose indices are the rows of a band.
    axis: usize,
    height: usize,
    width: usize,
}

impl Bands {
    fn new(shape: &[usize], axis: usize) -> Bands {
        let last = shape.len() - 1;
        let width = shape[last].min(MAX_BAND_COLUMNS);
        let row: usize = shape[axis + 1..last].iter().product::<usize>() * width;
        let height =
            (BAND / row).next_multiple_of(MIN_BAND_ROWS).clamp(MIN_BAND_ROWS, shape[axis].max(MIN_BAND_ROWS));
        Bands { shape: shape.into(), axis, height, width }
    }

    /// The number of bands along the axes before `axis` together, along `axis`, and along the last axis.
    fn counts(&self) -> (usize, usize, usize) {
        let last = self.shape.ndim() - 1;
        let outer = self.shape[..self.axis].iter().product();
        (outer, self.shape[self.axis].div_ceil(self.height), self.shape[last].div_ceil(self.width))
    }

    fn size(&self) -> usize {
        let last = self.shape.ndim() - 1;
        self.height * self.shape[self.axis + 1..last].iter().product::<usize>() * self.width
    }

    /// The start indices and the lengths of a band.
    fn band(&self, index: usize) -> (SmallVec<[usize; 4]>, Shape) {
        let (_, rows, columns) = self.counts();
        let last = self.shape.ndim() - 1;
        let mut starts: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.shape.ndim());
        let mut lengths = self.shape.clone();
        let (column, row, mut outer) = (index % columns, index / columns % rows, index / columns / rows);
        for axis in (0..self.axis).rev() {
            starts[axis] = outer % self.shape[axis];
            outer /= self.shape[axis];
            lengths.as_mut_slice()[axis] = 1;
        }
        for (axis, at, max) in [(self.axis, row, self.height), (last, column, self.width)] {
            starts[axis] = at * max;
            lengths.as_mut_slice()[axis] = max.min(self.shape[axis] - at * max);
        }
        (starts, lengths)
    }
}

impl Program {
    /// Compute the outputs in bands if an input is transposed; returns whether it did.
    ///
    /// The views have been checked by [`Program::run`] and are not empty.
    pub(super) fn run_with_transposed_inputs(
        &self,
        prefetch_cache: Cache,
        inputs: &[View],
        outputs: &[ViewMut],
    ) -> bool {
        let size = outputs[0].size();
        if size < MIN_ELEMENTS || !outputs.iter().all(|view| view.layout().is_contiguous()) {
            return false;
        }
        let dense: SmallVec<[Option<usize>; 4]> = inputs.iter().map(dense_axis).collect();
        let Some(axis) = dense.iter().find_map(|&axis| axis) else { return false };
        let bands = Bands::new(outputs[0].shape(), axis);
        let is_transposed = dense.iter().map(|&dense| dense == Some(axis)).collect();
        let outputs = outputs.iter().map(|view| (view.as_view(), view.start())).collect();
        let task = Task { program: self, prefetch_cache, inputs, is_transposed, outputs, bands };
        let scratch_words = task.scratch_words();
        if scratch_words > MAX_SCRATCH_WORDS {
            return false;
        }
        let grain = (GRAIN / self.cost / task.bands.size()).max(1);
        let (outer, rows, columns) = task.bands.counts();
        parallel_ranges(outer * rows * columns, grain, |range| {
            scratch::with(scratch_words, |memory: &mut [u64]| {
                range.for_each(|index| task.band(index, memory));
            });
        });
        true
    }
}

/// A program that runs in bands.
struct Task<'a> {
    program: &'a Program,
    prefetch_cache: Cache,
    inputs: &'a [View<'a>],
    /// Which of the inputs are transposed.
    is_transposed: SmallVec<[bool; 4]>,
    /// The outputs and their addresses.
    outputs: SmallVec<[(View<'a>, *mut u8); 2]>,
    bands: Bands,
}

// SAFETY: threads only read the inputs, and write disjoint bands of the outputs.
unsafe impl Sync for Task<'_> {}

impl Task<'_> {
    /// Words per transposed input, for elements of up to 16 bytes.
    fn words(&self) -> usize {
        self.bands.size() * 2
    }

    /// Words of all transposed inputs.
    fn scratch_words(&self) -> usize {
        self.words() * self.is_transposed.iter().filter(|&&is_transposed| is_transposed).count()
    }

    /// Compute a band, with transposed copies of inputs in `memory`.
    fn band(&self, index: usize, memory: &mut [u64]) {
        let (starts, lengths) = self.bands.band(index);
        let steps: SmallVec<[isize; 4]> = SmallVec::from_elem(1, lengths.ndim());
        // The layout of a slice relative to its first element, and the offset of that element from the view's start.
        let slice_of = |layout: &Layout| {
            let mut slice = layout.slice(&starts, &steps, &lengths);
            // With negative strides a slice may start before the view's first element.
            let from = std::mem::take(&mut slice.offset) as isize - layout.offset as isize;
            (slice, from)
        };
        let dense = Layout::contiguous(lengths.clone());
        let mut scratch_words = memory.chunks_exact_mut(self.words());
        let mut sources: SmallVec<[(Layout, *const u8); 4]> = SmallVec::new();
        for (view, &is_transposed) in self.inputs.iter().zip(&self.is_transposed) {
            let (layout, from) = slice_of(view.layout());
            let start = view.start().wrapping_offset(from * view.dtype().size() as isize);
            if !is_transposed {
                sources.push((layout, start));
                continue;
            }
            let to =
                scratch_words.next().expect("scratch for each transposed input").as_mut_ptr().cast::<u8>();
            // SAFETY: the source is a slice of the view; the scratch holds a band of any dtype and belongs to this thread.
            unsafe {
                let source = View::new(start, view.dtype(), &layout);
                copy(source, ViewMut::new(to, view.dtype(), &dense));
            }
            sources.push((dense.clone(), to));
        }
        let inputs: SmallVec<[View; 4]> = sources
            .iter()
            .zip(self.inputs)
            // SAFETY: slices of the views, or transposed copies in scratch that outlives them.
            .map(|((layout, start), view)| unsafe { View::new(*start, view.dtype(), layout) })
            .collect();
        let targets: SmallVec<[(Layout, *mut u8); 2]> = self
            .outputs
            .iter()
            .map(|(view, start)| {
                let (layout, from) = slice_of(view.layout());
                (layout, start.wrapping_offset(from * view.dtype().size() as isize))
            })
            .collect();
        let mut outputs: SmallVec<[ViewMut; 2]> = targets
            .iter()
            .zip(&self.outputs)
            // SAFETY: the band is a slice of the output that only this thread writes.
            .map(|((layout, start), (view, _))| unsafe { ViewMut::new(*start, view.dtype(), layout) })
            .collect();
        self.program.run_serial(self.prefetch_cache, &inputs, &mut outputs);
    }
}

#[cfg(test)]
mod tests {
    use umber_types::BinaryKind;
    use umber_types::tape::{Step, Tape};

    use super::*;

    /// `x - y` of two views of the same elements, stored in the axis orders `order` and `other_order`.
    fn check(shape: &[usize], order: &[usize], other_order: &[usize]) {
        let tape = Tape {
            inputs: vec![umber_types::DType::Float32; 2],
            steps: vec![Step::Binary { kind: BinaryKind::Subtract, a: 0, b: 1 }],
            outputs: vec![2],
        };
        let program = Program::new(&tape).expect("the tape is valid");
        let size: usize = shape.iter().product();
        let numbers: Vec<f32> = (0..size).map(|i| (i * 7919 % 10_007) as f32).collect();
        let permuted = |order: &[usize]| {
            let mut stored: Vec<usize> = vec![0; shape.len()];
            for (position, &axis) in order.iter().enumerate() {
                stored[position] = shape[axis];
            }
            let mut inverse = vec![0; shape.len()];
            for (position, &axis) in order.iter().enumerate() {
                inverse[axis] = position;
            }
            Layout::contiguous(Shape::from(&stored[..])).permute(&inverse)
        };
        let (x, y) = (permuted(order), permuted(other_order));
        let dense = Layout::contiguous(Shape::from(shape));
        let mut actual = vec![0f32; size];
        program
            .run(&[View::of(&numbers, &x), View::of(&numbers, &y)], &mut [ViewMut::of(&mut actual, &dense)]);
        let mut index = vec![0usize; shape.len()];
        for &value in &actual {
            let at = |layout: &Layout| {
                let offset: isize =
                    index.iter().zip(&layout.strides).map(|(&i, &stride)| i as isize * stride).sum();
                numbers[offset as usize]
            };
            assert_eq!(value, at(&x) - at(&y), "{shape:?} {order:?} {other_order:?} {index:?}");
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }

    #[test]
    fn transposed_inputs_are_read_in_output_order() {
        check(&[100, 130], &[1, 0], &[0, 1]);
        check(&[100, 130], &[0, 1], &[1, 0]);
        check(&[70, 4500], &[1, 0], &[1, 0]);
        check(&[3, 65, 90], &[0, 2, 1], &[0, 1, 2]);
        check(&[40, 9, 33], &[2, 1, 0], &[1, 2, 0]);
        check(&[5, 8, 3, 64], &[0, 3, 2, 1], &[3, 2, 1, 0]);
    }
}
