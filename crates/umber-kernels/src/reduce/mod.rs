//! Reductions: many elements to one.
//!
//! `fold.rs` says what a kind of reduction does to elements of a dtype, `leaves.rs` does it to many. `rows.rs` folds
//! elements that lie side by side into one result; `columns.rs` folds many neighbouring results at once, one row of
//! elements after another. This file chooses between them by the strides, and splits the work. How it is split depends
//! on shapes only, so results do not depend on the number of threads.

mod columns;
pub(crate) mod fold;
mod leaves;
mod rows;

use smallvec::SmallVec;
use umber_types::{Bool, DType, ReduceKind, f16, match_dtype};

use self::fold::{All, Any, Fold, Max, Min, Prod, ProdInt32, Sum, SumInt32};
use self::leaves::Leaves;
pub(crate) use self::leaves::vectorised_for;
use crate::nest::{Loop, Nest};
use crate::{View, ViewMut};

/// Elements that are worth a task of their own.
const GRAIN: usize = 1 << 16;
/// With at least this many results, tasks are split by results only.
const MANY: usize = 64;
/// Most tasks that one result is split into.
const MOST_PARTS: usize = 256;

/// Reduce `axes` (sorted, each once) of `src` into `dst`, whose shape is that of `src` with those axes removed or of
/// length one.
///
/// `dst` has the dtype of `src`, or bool for all and any. Sums and products of bool and of 8- and 16-bit integers may
/// also go to int32 or uint32. Sums and products are blocked: float16 and bfloat16 accumulate in float32, float32 across blocks
/// in float64, and are rounded to the dtype once; integers wrap. Minimum and maximum of anything with NaN is NaN. Of
/// no elements sum is 0, prod 1, all true, any false, min the greatest value and max the least.
///
/// # Panics
/// If dtypes or shapes do not fit together.
pub fn reduce(kind: ReduceKind, src: View, axes: &[usize], dst: ViewMut) {
    match kind {
        // Both kinds of 32-bit integers have the same bits, since sums and products wrap.
        ReduceKind::Sum if matches!(dst.dtype(), DType::Int32 | DType::UInt32) => {
            sum_to_int32(src, axes, dst);
        }
        ReduceKind::Prod if matches!(dst.dtype(), DType::Int32 | DType::UInt32) => {
            prod_to_int32(src, axes, dst);
        }
        ReduceKind::Sum => match src.dtype() {
            DType::Bool => any(src, axes, dst),
            DType::UInt8 | DType::Int8 => run::<Sum<u8>>(src, axes, dst),
            DType::UInt16 | DType::Int16 => run::<Sum<u16>>(src, axes, dst),
            DType::UInt32 | DType::Int32 => run::<Sum<u32>>(src, axes, dst),
            DType::UInt64 | DType::Int64 => run::<Sum<u64>>(src, axes, dst),
            other => match_dtype!(inexact other, T => run::<Sum<T>>(src, axes, dst), else => ()),
        },
        ReduceKind::Prod => match src.dtype() {
            DType::Bool => all(src, axes, dst),
            DType::UInt8 | DType::Int8 => run::<Prod<u8>>(src, axes, dst),
            DType::UInt16 | DType::Int16 => run::<Prod<u16>>(src, axes, dst),
            DType::UInt32 | DType::Int32 => run::<Prod<u32>>(src, axes, dst),
            DType::UInt64 | DType::Int64 => run::<Prod<u64>>(src, axes, dst),
            other => match_dtype!(inexact other, T => run::<Prod<T>>(src, axes, dst), else => ()),
        },
        ReduceKind::Min => match src.dtype() {
            DType::Bool => all(src, axes, dst),
            other => match_dtype!(number other, T => run::<Min<T>>(src, axes, dst), else => ()),
        },
        ReduceKind::Max => match src.dtype() {
            DType::Bool => any(src, axes, dst),
            other => match_dtype!(number other, T => run::<Max<T>>(src, axes, dst), else => ()),
        },
        ReduceKind::All => all(src, axes, dst),
        ReduceKind::Any => any(src, axes, dst),
    }
}

fn sum_to_int32(src: View, axes: &[usize], dst: ViewMut) {
    match src.dtype() {
        DType::Bool => run::<SumInt32<Bool>>(src, axes, dst),
        DType::UInt8 => run::<SumInt32<u8>>(src, axes, dst),
        DType::Int8 => run::<SumInt32<i8>>(src, axes, dst),
        DType::UInt16 => run::<SumInt32<u16>>(src, axes, dst),
        DType::Int16 => run::<SumInt32<i16>>(src, axes, dst),
        _ => run::<Sum<u32>>(src, axes, dst),
    }
}

fn prod_to_int32(src: View, axes: &[usize], dst: ViewMut) {
    match src.dtype() {
        DType::Bool => run::<ProdInt32<Bool>>(src, axes, dst),
        DType::UInt8 => run::<ProdInt32<u8>>(src, axes, dst),
        DType::Int8 => run::<ProdInt32<i8>>(src, axes, dst),
        DType::UInt16 => run::<ProdInt32<u16>>(src, axes, dst),
        DType::Int16 => run::<ProdInt32<i16>>(src, axes, dst),
        _ => run::<Prod<u32>>(src, axes, dst),
    }
}

fn all(src: View, axes: &[usize], dst: ViewMut) {
    match src.dtype() {
        DType::Bool | DType::UInt8 | DType::Int8 => run::<All<u8>>(src, axes, dst),
        DType::UInt16 | DType::Int16 => run::<All<u16>>(src, axes, dst),
        DType::UInt32 | DType::Int32 => run::<All<u32>>(src, axes, dst),
        DType::UInt64 | DType::Int64 => run::<All<u64>>(src, axes, dst),
        // Only the sign tells their zeros apart from each other.
        DType::Float16 | DType::BFloat16 => run::<All<f16>>(src, axes, dst),
        other => match_dtype!(inexact other, T => run::<All<T>>(src, axes, dst), else => ()),
    }
}

fn any(src: View, axes: &[usize], dst: ViewMut) {
    match src.dtype() {
        DType::Bool | DType::UInt8 | DType::Int8 => run::<Any<u8>>(src, axes, dst),
        DType::UInt16 | DType::Int16 => run::<Any<u16>>(src, axes, dst),
        DType::UInt32 | DType::Int32 => run::<Any<u32>>(src, axes, dst),
        DType::UInt64 | DType::Int64 => run::<Any<u64>>(src, axes, dst),
        DType::Float16 | DType::BFloat16 => run::<Any<f16>>(src, axes, dst),
        other => match_dtype!(inexact other, T => run::<Any<T>>(src, axes, dst), else => ()),
    }
}

/// What to fold into what, with the choice of path still open.
struct Task {
    leaves: &'static Leaves,
    src: *const u8,
    dst: *mut u8,
    /// Loops over the results: source, destination.
    kept: Nest<2>,
    /// Loops over what becomes one result, none with a negative stride, the smallest stride innermost.
    reduced: Nest<1>,
}

// SAFETY: the pointers come from views, which hold on every thread; tasks write disjoint results.
unsafe impl Sync for Task {}

impl Task {
    /// The element of the source at an offset.
    fn element(&self, offset: isize) -> *const u8 {
        self.src.wrapping_offset(offset * self.leaves.in_size as isize)
    }

    /// The result at an offset.
    fn result(&self, offset: isize) -> *mut u8 {
        self.dst.wrapping_offset(offset * self.leaves.out_size as isize)
    }
}

fn run<F: Fold>(src: View, axes: &[usize], dst: ViewMut) {
    fold(const { &Leaves::of::<F>() }, src, axes, dst);
}

fn fold(leaves: &'static Leaves, src: View, axes: &[usize], dst: ViewMut) {
    assert_eq!(leaves.in_size, src.dtype().size(), "dtype of the operand of a reduction");
    assert_eq!(leaves.out_size, dst.dtype().size(), "dtype of the result of a reduction");
    let mut task = plan(leaves, &src, axes, &dst);
    if task.kept.count() == 0 {
        return;
    }
    let step = task.reduced.inner();
    match closest_result(&task.kept) {
        Some((place, stride)) if step.length == 1 || stride < step.strides[0] => {
            let results = task.kept.remove(place);
            columns::fold(&task, results);
        }
        _ => rows::fold(&task),
    }
}

/// The loop over results whose elements lie closest together in the source.
fn closest_result(kept: &Nest<2>) -> Option<(usize, isize)> {
    let strides = kept.loops().iter().map(|l| l.strides[0].abs()).enumerate();
    strides.filter(|&(_, stride)| stride != 0).min_by_key(|&(_, stride)| stride)
}

fn plan(leaves: &'static Leaves, src: &View, axes: &[usize], dst: &ViewMut) -> Task {
    let keeps_axes = dst.shape().len() == src.shape().len();
    let mut first = 0;
    let mut kept = Nest::new(&[], [&[], &[]]);
    let mut reduced: SmallVec<[(usize, isize); 4]> = SmallVec::new();
    let mut kept_axes = 0;
    for (axis, (&length, &stride)) in src.shape().iter().zip(src.strides()).enumerate() {
        if axes.contains(&axis) {
            if stride < 0 && length > 0 {
                first += (length as isize - 1) * stride;
            }
            reduced.push((length, stride.abs()));
        } else {
            let to = if keeps_axes { axis } else { kept_axes };
            assert_eq!(dst.shape()[to], length, "shape of the result of a reduction");
            kept.push(Loop { length, strides: [stride, dst.strides()[to]] });
            kept_axes += 1;
        }
    }
    // Repeated elements (stride zero) go outermost: repeating a whole run costs no more than reading it.
    reduced.sort_by_key(|&(_, stride)| std::cmp::Reverse(if stride == 0 { isize::MAX } else { stride }));
    let mut nest = Nest::new(&[], [&[]]);
    for (length, stride) in reduced {
        nest.push(Loop { length, strides: [stride] });
    }
    let start = src.start().wrapping_offset(first * leaves.in_size as isize);
    Task { leaves, src: start, dst: dst.start(), kept, reduced: nest }
}

/// Into how many parts to split each of `results` results of `work` elements.
fn parts(results: usize, work: usize) -> usize {
    if results >= MANY { 1 } else { (work / GRAIN).clamp(1, MOST_PARTS) }
}
