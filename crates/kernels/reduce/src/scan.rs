//! Scans: cumulative reductions along an axis.

use std::mem::MaybeUninit;
use std::ops::Range;

use umber_kernels_base::arrays::array_of;
use umber_kernels_base::caches::Aligned;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::{num_threads, parallel_for, parallel_ranges};
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, ScanDirection, ScanExtent, ScanKind, match_dtype};

use crate::reduce::fold::{All, Any, Fold, LogSumExp, Max, Min, Prod, Sum};
use crate::reduce::vectorised_for;

/// Minimum elements per task.
const GRAIN: usize = 1 << 14;
/// Lines of at least this length are split among threads if there are fewer lines than threads.
const LONG: usize = 1 << 17;
/// Lines scanned together if they are closer in memory than the elements of one line.
const TILE: usize = 512;

/// Write the cumulative reduction of `src` along `axis` to `dst` of the same shape and dtype.
///
/// An exclusive scan excludes the current element, so it begins with the identity. As in a reduction, floats accumulate in a
/// wider type and are rounded when they are written, integers wrap, and minimum and maximum propagate NaN. For bool, sum and
/// maximum are *any*, product and minimum *all*.
///
/// # Panics
/// If shapes or dtypes do not fit together, or for `logcumsumexp` of integers.
pub fn scan(
    kind: ScanKind,
    src: View,
    axis: usize,
    direction: ScanDirection,
    extent: ScanExtent,
    dst: ViewMut,
) {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "a scan keeps shape and dtype");
    let task = Scan::new(&src, axis, direction, extent, &dst);
    if src.size() == 0 {
        return;
    }
    let dtype = src.dtype();
    match (kind, dtype) {
        (ScanKind::Sum | ScanKind::Max, DType::Bool) => task.run::<Any<u8>>(),
        (ScanKind::Prod | ScanKind::Min, DType::Bool) => task.run::<All<u8>>(),
        (ScanKind::Sum, DType::UInt8 | DType::Int8) => task.run::<Sum<u8>>(),
        (ScanKind::Sum, DType::UInt16 | DType::Int16) => task.run::<Sum<u16>>(),
        (ScanKind::Sum, DType::UInt32 | DType::Int32) => task.run::<Sum<u32>>(),
        (ScanKind::Sum, DType::UInt64 | DType::Int64) => task.run::<Sum<u64>>(),
        (ScanKind::Sum, _) => match_dtype!(inexact dtype, T => task.run::<Sum<T>>(), else => ()),
        (ScanKind::Prod, DType::UInt8 | DType::Int8) => task.run::<Prod<u8>>(),
        (ScanKind::Prod, DType::UInt16 | DType::Int16) => task.run::<Prod<u16>>(),
        (ScanKind::Prod, DType::UInt32 | DType::Int32) => task.run::<Prod<u32>>(),
        (ScanKind::Prod, DType::UInt64 | DType::Int64) => task.run::<Prod<u64>>(),
        (ScanKind::Prod, _) => match_dtype!(inexact dtype, T => task.run::<Prod<T>>(), else => ()),
        (ScanKind::Max, _) => match_dtype!(number dtype, T => task.run::<Max<T>>(), else => ()),
        (ScanKind::Min, _) => match_dtype!(number dtype, T => task.run::<Min<T>>(), else => ()),
        (ScanKind::LogSumExp, _) => {
            match_dtype!(inexact dtype, T => task.run::<LogSumExp<T>>(),
                else => panic!("logcumsumexp of {dtype}"));
        }
    }
}

/// The loops that depend on the element type, as pointers to type-erased functions. They are compiled for every kind and
/// dtype, unlike the iteration over axes and the splitting of the work.
///
/// The functions are unsafe: pointers must be valid for the elements, totals and results, and threads must use disjoint lines
/// or ranges of lines.
struct KernelTable {
    /// Bytes of an element, in both views.
    size: usize,
    /// Bytes of a total.
    total_size: usize,
    /// Set `count` totals to the identity.
    clear: unsafe fn(totals: *mut u8, count: usize),
    /// Combine the second total into the first.
    combine: unsafe fn(total: *mut u8, more: *const u8),
    /// Accumulate the elements of a line into a total.
    accumulate: unsafe fn(src: *const u8, stride: isize, length: usize, total: *mut u8),
    /// Scan the elements of a line, starting with a total.
    line: unsafe fn(segment: Segment, total: *mut u8),
    /// Scan one element of each of several lines, with one total per line.
    across_lines: unsafe fn(segment: Segment, totals: *mut u8),
}

/// Elements to read and to write, with their strides.
struct Segment {
    src: *const u8,
    dst: *mut u8,
    steps: [isize; 2],
    length: usize,
    extent: ScanExtent,
}

/// Memory with sufficient size and alignment for a total of any scan.
type TotalSlot = u128;

impl KernelTable {
    const fn of<F: Fold>() -> KernelTable {
        assert!(size_of::<F::In>() == size_of::<F::Out>());
        assert!(
            size_of::<F::Total>() <= size_of::<TotalSlot>()
                && align_of::<F::Total>() <= align_of::<TotalSlot>()
        );
        KernelTable {
            size: size_of::<F::In>(),
            total_size: size_of::<F::Total>(),
            clear: clear::<F>,
            combine: combine::<F>,
            accumulate: accumulate::<F>,
            line: line::<F>,
            across_lines: across_lines::<F>,
        }
    }
}

unsafe fn clear<F: Fold>(totals: *mut u8, count: usize) {
    for i in 0..count {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { totals.cast::<F::Total>().add(i).write(F::IDENTITY) };
    }
}

unsafe fn combine<F: Fold>(total: *mut u8, more: *const u8) {
    let total = total.cast::<F::Total>();
    // SAFETY: guaranteed by the caller of this function.
    unsafe { *total = F::combine(*total, *more.cast::<F::Total>()) };
}

unsafe fn accumulate<F: Fold>(src: *const u8, stride: isize, length: usize, total: *mut u8) {
    let (mut src, total) = (src.cast::<F::In>(), total.cast::<F::Total>());
    // SAFETY: guaranteed by the caller of this function.
    let mut sum = unsafe { *total };
    for _ in 0..length {
        // SAFETY: guaranteed by the caller of this function.
        sum = F::accumulate(sum, F::load(unsafe { *src }));
        src = src.wrapping_offset(stride);
    }
    // SAFETY: guaranteed by the caller of this function.
    unsafe { *total = sum };
}

unsafe fn line<F: Fold>(segment: Segment, total: *mut u8) {
    let (mut src, mut dst) = (segment.src.cast::<F::In>(), segment.dst.cast::<F::Out>());
    // SAFETY: guaranteed by the caller of this function.
    let mut total = unsafe { *total.cast::<F::Total>() };
    for _ in 0..segment.length {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let before = total;
            total = F::accumulate(total, F::load(*src));
            let included = if segment.extent == ScanExtent::Inclusive { total } else { before };
            *dst = F::finish(included);
        }
        src = src.wrapping_offset(segment.steps[0]);
        dst = dst.wrapping_offset(segment.steps[1]);
    }
}

unsafe fn across_lines<F: Fold>(segment: Segment, totals: *mut u8) {
    // SAFETY: guaranteed by the caller of this function.
    let totals = unsafe { std::slice::from_raw_parts_mut(totals.cast::<F::Total>(), segment.length) };
    let (src, dst) = (segment.src.cast::<F::In>(), segment.dst.cast::<F::Out>());
    if segment.steps == [1, 1] && segment.extent == ScanExtent::Inclusive {
        // SAFETY: guaranteed by the caller of this function.
        let (src, dst) = unsafe {
            (std::slice::from_raw_parts(src, totals.len()), std::slice::from_raw_parts_mut(dst, totals.len()))
        };
        vectorised_for::<F, _>(
            #[inline(always)]
            move || {
                for ((total, &value), out) in totals.iter_mut().zip(src).zip(dst) {
                    *total = F::accumulate(*total, F::load(value));
                    *out = F::finish(*total);
                }
            },
        );
        return;
    }
    for (j, total) in totals.iter_mut().enumerate() {
        let j = j as isize;
        let before = *total;
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            *total = F::accumulate(before, F::load(*src.offset(j * segment.steps[0])));
            let included = if segment.extent == ScanExtent::Inclusive { *total } else { before };
            *dst.offset(j * segment.steps[1]) = F::finish(included);
        }
    }
}

/// Lines to scan, in the direction of the scan.
struct Scan {
    src: Source<u8>,
    dst: Target<u8>,
    /// Loops over the lines: source, destination.
    others: StridedLoops<2>,
    length: usize,
    strides: [isize; 2],
    extent: ScanExtent,
}

impl Scan {
    fn new(src: &View, axis: usize, direction: ScanDirection, extent: ScanExtent, dst: &ViewMut) -> Scan {
        let mut others = StridedLoops::new(&[], [&[], &[]]);
        for (other, &length) in src.shape().iter().enumerate() {
            if other != axis {
                others.push(Loop { length, strides: [src.strides()[other], dst.strides()[other]] });
            }
        }
        let length = src.shape()[axis];
        let mut strides = [src.strides()[axis], dst.strides()[axis]];
        let mut first = [0; 2];
        if direction == ScanDirection::Reverse && length > 0 {
            first = array_of(|i| strides[i] * (length as isize - 1));
            strides = array_of(|i| -strides[i]);
        }
        let size = src.dtype().size() as isize;
        let (src, dst) = (Source::of(src).shifted(first[0] * size), Target::of(dst).shifted(first[1] * size));
        Scan { src, dst, others, length, strides, extent }
    }

    fn run<F: Fold>(self) {
        self.run_with(const { &KernelTable::of::<F>() });
    }

    fn run_with(mut self, kernels: &KernelTable) {
        let lines = self.others.count();
        let closest = self.others.loops().iter().enumerate().min_by_key(|(_, l)| l.strides[0].abs());
        match closest {
            Some((index, l)) if l.strides[0].abs() < self.strides[0].abs() => {
                let columns = self.others.remove(index);
                self.columns(kernels, columns);
            }
            _ if lines < num_threads() && self.length >= LONG => {
                self.others.walk(0..lines, |starts| self.parallel_line(kernels, starts));
            }
            _ => parallel_ranges(lines, GRAIN / self.length, |range| {
                let mut slots: TotalSlot = 0;
                let total = std::ptr::from_mut(&mut slots).cast::<u8>();
                // SAFETY: the slot has space for a total.
                unsafe { (kernels.clear)(total, 1) };
                self.others.walk(range, |starts| self.scan_range(kernels, starts, 0..self.length, total));
            }),
        }
    }

    /// The segment that begins at the given offsets.
    fn segment(&self, kernels: &KernelTable, at: [isize; 2], steps: [isize; 2], length: usize) -> Segment {
        let size = kernels.size as isize;
        Segment {
            src: self.src.at(at[0] * size),
            dst: self.dst.at(at[1] * size),
            steps,
            length,
            extent: self.extent,
        }
    }

    /// Scan a range of a line, starting with the total of all elements before it.
    fn scan_range(&self, kernels: &KernelTable, starts: [isize; 2], range: Range<usize>, total: *mut u8) {
        let at = array_of::<_, 2>(|i| starts[i] + range.start as isize * self.strides[i]);
        // SAFETY: the layouts hold the line; tasks have disjoint lines or ranges.
        unsafe { (kernels.line)(self.segment(kernels, at, self.strides, range.len()), total) };
    }

    /// Scan one long line on several threads: first compute the totals of its chunks, then scan each chunk from the total
    /// before it.
    fn parallel_line(&self, kernels: &KernelTable, starts: [isize; 2]) {
        let chunks = self.length / (LONG / 2);
        let chunk = |i: usize| self.length * i / chunks..self.length * (i + 1) / chunks;
        let mut totals: Vec<TotalSlot> = vec![0; chunks];
        let shared = Target::over(&mut totals);
        let total = |i: usize| shared.at(i as isize).cast::<u8>();
        // SAFETY: the slot has space for a total.
        unsafe { (kernels.clear)(total(0), 1) };
        parallel_for(chunks - 1, |i| {
            let range = chunk(i);
            let first =
                self.segment(kernels, [starts[0] + range.start as isize * self.strides[0], 0], [0; 2], 0);
            // SAFETY: the layout of the source holds the line; each task has its own total.
            unsafe {
                (kernels.clear)(total(i + 1), 1);
                (kernels.accumulate)(first.src, self.strides[0], range.len(), total(i + 1));
            }
        });
        let mut before: TotalSlot = 0;
        let before = std::ptr::from_mut(&mut before).cast::<u8>();
        // SAFETY: the totals of all chunks were written above.
        unsafe {
            (kernels.clear)(before, 1);
            for i in 1..chunks {
                (kernels.combine)(before, total(i));
                std::ptr::copy_nonoverlapping(before, total(i), kernels.total_size);
            }
        }
        parallel_for(chunks, |i| self.scan_range(kernels, starts, chunk(i), total(i)));
    }

    /// Scan neighbouring lines together, one row of elements at a time.
    fn columns(&self, kernels: &KernelTable, columns: Loop<2>) {
        let tiles = columns.length.div_ceil(TILE);
        let items = self.others.count() * tiles;
        parallel_ranges(items, GRAIN / (self.length * TILE.min(columns.length)), |range| {
            let mut slots = Aligned([MaybeUninit::<TotalSlot>::uninit(); TILE]);
            let totals = slots.0.as_mut_ptr().cast::<u8>();
            for item in range {
                let (outer, first) = (item / tiles, item % tiles * TILE);
                let width = TILE.min(columns.length - first);
                let mut at = [0; 2];
                self.others.walk(outer..outer + 1, |offsets| at = offsets);
                let mut at = array_of::<_, 2>(|i| at[i] + first as isize * columns.strides[i]);
                // SAFETY: there is space for a tile of totals.
                unsafe { (kernels.clear)(totals, width) };
                for _ in 0..self.length {
                    // SAFETY: the layouts hold the lines; tasks have disjoint lines.
                    unsafe {
                        (kernels.across_lines)(self.segment(kernels, at, columns.strides, width), totals);
                    };
                    at = array_of::<_, 2>(|i| at[i] + self.strides[i]);
                }
            }
        });
    }
}
