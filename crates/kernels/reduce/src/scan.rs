//! Scans: every partial result of a reduction along an axis.

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

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 14;
/// Lines this long are shared when there are fewer of them than threads.
const LONG: usize = 1 << 17;
/// Lines scanned at once when they lie closer together than the elements of one.
const TILE: usize = 512;

/// Write the partial results of a reduction of `src` along `axis` to `dst` of the same shape and dtype.
///
/// An exclusive scan leaves out the element at the place itself, and so begins with the result of nothing. As in a
/// reduction, floats accumulate in a wider type and are rounded where they are written, integers wrap, and minimum and
/// maximum keep NaN. Of truth values the sum and the maximum is any, the product and the minimum all.
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

/// The loops that know the types of a scan, behind pointers to functions that do not: compiled for every kind and
/// dtype, unlike what walks over axes and shares the work.
///
/// The functions are unsafe: layouts hold the elements, and threads have lines or parts of lines of their own.
struct KernelTable {
    /// Bytes of an element, of either view.
    size: usize,
    /// Bytes of a total.
    total_size: usize,
    /// Make so many totals those of nothing.
    clear: unsafe fn(totals: *mut u8, count: usize),
    /// Join the second total to the first.
    combine: unsafe fn(total: *mut u8, more: *const u8),
    /// Absorb elements along a line.
    accumulate: unsafe fn(src: *const u8, stride: isize, length: usize, total: *mut u8),
    /// Scan elements along a line, from a total on.
    line: unsafe fn(segment: Segment, total: *mut u8),
    /// Scan one element of each of many lines, which have a total each.
    across_lines: unsafe fn(segment: Segment, totals: *mut u8),
}

/// Elements to read and to write, and the distances between neighbours.
struct Segment {
    src: *const u8,
    dst: *mut u8,
    steps: [isize; 2],
    length: usize,
    extent: ScanExtent,
}

/// A total of any scan: memory with room and alignment for it.
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
        // SAFETY: as above.
        sum = F::accumulate(sum, F::load(unsafe { *src }));
        src = src.wrapping_offset(stride);
    }
    // SAFETY: as above.
    unsafe { *total = sum };
}

unsafe fn line<F: Fold>(segment: Segment, total: *mut u8) {
    let (mut src, mut dst) = (segment.src.cast::<F::In>(), segment.dst.cast::<F::Out>());
    // SAFETY: guaranteed by the caller of this function.
    let mut total = unsafe { *total.cast::<F::Total>() };
    for _ in 0..segment.length {
        // SAFETY: as above.
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
        // SAFETY: as above.
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
        // SAFETY: as above.
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
            Some((place, l)) if l.strides[0].abs() < self.strides[0].abs() => {
                let columns = self.others.remove(place);
                self.columns(kernels, columns);
            }
            _ if lines < num_threads() && self.length >= LONG => {
                self.others.walk(0..lines, |starts| self.parallel_line(kernels, starts));
            }
            _ => parallel_ranges(lines, GRAIN / self.length, |range| {
                let mut slots: TotalSlot = 0;
                let total = std::ptr::from_mut(&mut slots).cast::<u8>();
                // SAFETY: the room is a total's.
                unsafe { (kernels.clear)(total, 1) };
                self.others.walk(range, |starts| self.part_of_line(kernels, starts, 0..self.length, total));
            }),
        }
    }

    /// What to read and to write from some offsets on.
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

    /// Scan a range of a line, from the total of all before.
    fn part_of_line(&self, kernels: &KernelTable, starts: [isize; 2], range: Range<usize>, total: *mut u8) {
        let at = array_of::<_, 2>(|i| starts[i] + range.start as isize * self.strides[i]);
        // SAFETY: the layouts hold the line; tasks have lines or ranges of their own.
        unsafe { (kernels.line)(self.segment(kernels, at, self.strides, range.len()), total) };
    }

    /// One long line, shared among threads: first the totals of its parts, then each part from the total before it.
    fn parallel_line(&self, kernels: &KernelTable, starts: [isize; 2]) {
        let parts = self.length / (LONG / 2);
        let part = |i: usize| self.length * i / parts..self.length * (i + 1) / parts;
        let mut totals: Vec<TotalSlot> = vec![0; parts];
        let shared = Target::over(&mut totals);
        let total = |i: usize| shared.at(i as isize).cast::<u8>();
        // SAFETY: the room is a total's.
        unsafe { (kernels.clear)(total(0), 1) };
        parallel_for(parts - 1, |i| {
            let range = part(i);
            let first =
                self.segment(kernels, [starts[0] + range.start as isize * self.strides[0], 0], [0; 2], 0);
            // SAFETY: the layout of the source holds the line; each task has a total of its own.
            unsafe {
                (kernels.clear)(total(i + 1), 1);
                (kernels.accumulate)(first.src, self.strides[0], range.len(), total(i + 1));
            }
        });
        let mut before: TotalSlot = 0;
        let before = std::ptr::from_mut(&mut before).cast::<u8>();
        // SAFETY: the totals were made above, one a part.
        unsafe {
            (kernels.clear)(before, 1);
            for i in 1..parts {
                (kernels.combine)(before, total(i));
                std::ptr::copy_nonoverlapping(before, total(i), kernels.total_size);
            }
        }
        parallel_for(parts, |i| self.part_of_line(kernels, starts, part(i), total(i)));
    }

    /// Many neighbouring lines at once, one row of elements after another.
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
                    // SAFETY: the layouts hold the lines; tasks have lines of their own.
                    unsafe {
                        (kernels.across_lines)(self.segment(kernels, at, columns.strides, width), totals);
                    };
                    at = array_of::<_, 2>(|i| at[i] + self.strides[i]);
                }
            }
        });
    }
}
