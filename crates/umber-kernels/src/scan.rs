//! Scans: every partial result of a reduction along an axis.

use std::ops::Range;

use umber_types::{DType, ScanDirection, ScanExtent, ScanKind, match_dtype};

use crate::nest::{Loop, Nest};
use crate::reduce::fold::{All, Any, Fold, LogSumExp, Max, Min, Prod, Sum};
use crate::reduce::vectorised_for;
use crate::shared::{Source, Target};
use crate::threads::{num_threads, parallel_for, parallel_ranges};
use crate::{View, ViewMut};

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

/// Lines to scan, in the direction of the scan.
struct Scan {
    src: Source<u8>,
    dst: Target<u8>,
    /// Loops over the lines: source, destination.
    others: Nest<2>,
    length: usize,
    strides: [isize; 2],
    extent: ScanExtent,
}

/// The typed pointers of a scan.
struct Lines<'a, F: Fold> {
    src: Source<F::In>,
    dst: Target<F::Out>,
    scan: &'a Scan,
}

impl Scan {
    fn new(src: &View, axis: usize, direction: ScanDirection, extent: ScanExtent, dst: &ViewMut) -> Scan {
        let mut others = Nest::new(&[], [&[], &[]]);
        for (other, &length) in src.shape().iter().enumerate() {
            if other != axis {
                others.push(Loop { length, strides: [src.strides()[other], dst.strides()[other]] });
            }
        }
        let length = src.shape()[axis];
        let mut strides = [src.strides()[axis], dst.strides()[axis]];
        let mut first = [0; 2];
        if direction == ScanDirection::Reverse && length > 0 {
            first = strides.map(|stride| stride * (length as isize - 1));
            strides = strides.map(|stride| -stride);
        }
        let size = src.dtype().size() as isize;
        Scan {
            src: Source::of(src).shifted(first[0] * size),
            dst: Target::of(dst).shifted(first[1] * size),
            others,
            length,
            strides,
            extent,
        }
    }

    fn run<F: Fold>(mut self) {
        let lines = self.others.count();
        let closest = self.others.loops().iter().enumerate().min_by_key(|(_, l)| l.strides[0].abs());
        let columns = match closest {
            Some((place, l)) if l.strides[0].abs() < self.strides[0].abs() => Some(self.others.remove(place)),
            _ => None,
        };
        let typed = Lines::<F> { src: self.src.cast(), dst: self.dst.cast(), scan: &self };
        match columns {
            Some(columns) => typed.columns(columns),
            None if lines < num_threads() && self.length >= LONG => {
                self.others.walk(0..lines, |starts| typed.share_line(starts));
            }
            None => parallel_ranges(lines, GRAIN / self.length, |range| {
                self.others.walk(range, |starts| typed.line(starts, 0..self.length, F::NOTHING));
            }),
        }
    }
}

impl<F: Fold> Lines<'_, F> {
    /// Scan a range of a line, from the total of all before.
    fn line(&self, starts: [isize; 2], range: Range<usize>, mut total: F::Total) {
        let [from, to] = self.scan.strides;
        let first = range.start as isize;
        let mut src = self.src.at(starts[0] + first * from);
        let mut dst = self.dst.at(starts[1] + first * to);
        for _ in range {
            // SAFETY: the layouts hold the line; tasks have lines or ranges of their own.
            unsafe {
                let before = total;
                total = F::absorb(total, F::load(*src));
                let included = if self.scan.extent == ScanExtent::Inclusive { total } else { before };
                *dst = F::finish(included);
            }
            src = src.wrapping_offset(from);
            dst = dst.wrapping_offset(to);
        }
    }

    /// One long line, shared among threads: first the totals of its parts, then each part from the total before it.
    fn share_line(&self, starts: [isize; 2]) {
        let parts = self.scan.length / (LONG / 2);
        let part = |i: usize| self.scan.length * i / parts..self.scan.length * (i + 1) / parts;
        let mut totals = vec![F::NOTHING; parts];
        let shared = Target::over(&mut totals);
        parallel_for(parts - 1, |i| {
            let mut total = F::NOTHING;
            for place in part(i) {
                let src = self.src.at(starts[0] + place as isize * self.scan.strides[0]);
                // SAFETY: the layout of the source holds the line.
                total = F::absorb(total, F::load(unsafe { *src }));
            }
            // SAFETY: each task writes its own element.
            unsafe { *shared.at(i as isize + 1) = total };
        });
        for i in 1..parts {
            totals[i] = F::join(totals[i - 1], totals[i]);
        }
        parallel_for(parts, |i| self.line(starts, part(i), totals[i]));
    }

    /// Many neighbouring lines at once, one row of elements after another.
    fn columns(&self, columns: Loop<2>) {
        let tiles = columns.length.div_ceil(TILE);
        let items = self.scan.others.count() * tiles;
        parallel_ranges(items, GRAIN / (self.scan.length * TILE.min(columns.length)), |range| {
            for item in range {
                let (outer, first) = (item / tiles, item % tiles * TILE);
                let mut at = [0; 2];
                self.scan.others.walk(outer..outer + 1, |offsets| at = offsets);
                let starts = [0, 1].map(|i| at[i] + first as isize * columns.strides[i]);
                self.tile(starts, columns.strides, TILE.min(columns.length - first));
            }
        });
    }

    fn tile(&self, starts: [isize; 2], steps: [isize; 2], width: usize) {
        let mut totals = [F::NOTHING; TILE];
        let totals = &mut totals[..width];
        for turn in 0..self.scan.length as isize {
            let src = self.src.at(starts[0] + turn * self.scan.strides[0]);
            let dst = self.dst.at(starts[1] + turn * self.scan.strides[1]);
            let extent = self.scan.extent;
            let totals = &mut *totals;
            vectorised_for::<F, _>(
                #[inline(always)]
                move || scan_row::<F>(src, dst, steps, extent, totals),
            );
        }
    }
}

/// Add a row of elements to the totals, and write those before or after it.
#[inline(always)]
fn scan_row<F: Fold>(
    src: *const F::In,
    dst: *mut F::Out,
    steps: [isize; 2],
    extent: ScanExtent,
    totals: &mut [F::Total],
) {
    if steps == [1, 1] && extent == ScanExtent::Inclusive {
        // SAFETY: the layouts hold these stretches; tasks have lines of their own.
        let (src, dst) = unsafe {
            (std::slice::from_raw_parts(src, totals.len()), std::slice::from_raw_parts_mut(dst, totals.len()))
        };
        for ((total, &value), out) in totals.iter_mut().zip(src).zip(dst) {
            *total = F::absorb(*total, F::load(value));
            *out = F::finish(*total);
        }
        return;
    }
    for (j, total) in totals.iter_mut().enumerate() {
        let j = j as isize;
        let before = *total;
        // SAFETY: as above.
        unsafe {
            *total = F::absorb(before, F::load(*src.wrapping_offset(j * steps[0])));
            let included = if extent == ScanExtent::Inclusive { *total } else { before };
            *dst.wrapping_offset(j * steps[1]) = F::finish(included);
        }
    }
}
