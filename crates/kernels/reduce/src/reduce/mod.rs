//! Reductions of many elements to one.
//!
//! `fold.rs` defines the operations of each reduction for each dtype, and `kernels.rs` the inner loops. `rows.rs` folds
//! contiguous elements into one result. `columns.rs` folds several neighbouring results together, one row of elements at a
//! time. `prologue.rs` folds elements that a program computes, in either way. This file chooses between them by the strides
//! and splits the work. The split depends on the shapes only, so results do not depend on the number of threads.

mod columns;
pub(crate) mod fold;
mod kernels;
mod mean;
mod prologue;
mod rows;
mod vectors;

use std::ops::Range;

use smallvec::SmallVec;
use umber_types::tape::Tape;
use umber_types::{Bool, DType, ReduceKind, f16, match_dtype};

use self::fold::{All, Any, Max, Min, Prod, ProdInt32, Sum, SumInt32, SumSquares, SumSquaresWide, SumWide};
use self::kernels::KernelTable;
pub(crate) use self::vectors::vectorised_for;
use umber_kernels_base::caches::LINE;
use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_kernels_elementwise::tape::Program;

/// Minimum elements per task.
const GRAIN: usize = 1 << 16;
/// With at least this many results, tasks are split by results only.
const MIN_RESULTS: usize = 64;
/// Maximum number of chunks that a result is split into.
const MAX_CHUNKS: usize = 256;

/// Reduce `axes` (sorted, without repetitions) of `src` into `dst`, whose shape is that of `src` with those axes removed or
/// of length one.
///
/// `dst` has the dtype of `src`, or bool for all and any. Sums and products of bool and of 8- and 16-bit integers may also go
/// to int32 or uint32. Sums and products are blocked: float16 and bfloat16 accumulate in float32, float32 across blocks in
/// float64, and are rounded to the dtype once; integers wrap. A mean is a sum that is divided before it is rounded, so it
/// overflows only if elements are not finite. Minimum and maximum propagate NaN. Without elements the sum is 0, the product
/// 1, all true, any false, min the maximum value of the dtype and max the minimum; the mean is NaN.
///
/// # Panics
/// If dtypes or shapes do not fit together, or for the mean of integers or bools.
pub fn reduce(kind: ReduceKind, src: View, axes: &[usize], mut dst: ViewMut) {
    fold(kernels_of(kind, src.dtype(), dst.dtype()), src, axes, dst.reborrow());
    if kind == ReduceKind::Mean {
        let tape = Tape { inputs: vec![src.dtype()], steps: Vec::new(), outputs: vec![0] };
        mean::recompute_overflowed(&tape, &[src], src.shape(), axes, dst);
    }
}

/// [`reduce`] of the only output of `program`, which was built from `tape`, at every index of `shape`, to which the inputs
/// are broadcast. The output is not stored.
///
/// # Panics
/// If dtypes or shapes do not fit together, or for the mean of integers or bools.
pub fn reduce_tape(
    kind: ReduceKind,
    (tape, program): (&Tape, &Program),
    inputs: &[View],
    shape: &[usize],
    axes: &[usize],
    mut dst: ViewMut,
) {
    reduce_program(kind, program, inputs, shape, axes, dst.reborrow());
    if kind == ReduceKind::Mean {
        mean::recompute_overflowed(tape, inputs, shape, axes, dst);
    }
}

/// [`reduce_tape`] without the tape: a mean whose sum overflows float64, or float32 within a few elements, is not finite.
///
/// # Panics
/// If dtypes or shapes do not fit together, or for the mean of integers or bools.
pub fn reduce_program(
    kind: ReduceKind,
    program: &Program,
    inputs: &[View],
    shape: &[usize],
    axes: &[usize],
    dst: ViewMut,
) {
    if let [src] = inputs {
        let kernels = if program.is_square() {
            square_kernels(kind, src.dtype(), dst.dtype())
        } else if program.is_cast() {
            wide_kernels(kind, src.dtype(), dst.dtype())
        } else {
            None
        };
        if let Some(kernels) = kernels {
            return fold(kernels, *src, axes, dst);
        }
    }
    let kernels = kernels_of(kind, program.output_dtype(), dst.dtype());
    prologue::fold(kernels, program, inputs, shape, axes, dst);
}

macro_rules! kernels {
    ($fold:ty) => {
        const { &KernelTable::of::<$fold>() }
    };
}

macro_rules! mean_kernels {
    ($sum:ty) => {
        const { &KernelTable::of_mean::<$sum>() }
    };
}

/// The kernels of all and any, which are shared by dtypes of the same size whose zeros have the same bits.
macro_rules! truth_kernels {
    ($dtype:expr, $fold:ident) => {
        match $dtype {
            DType::Bool | DType::UInt8 | DType::Int8 => kernels!($fold<u8>),
            DType::UInt16 | DType::Int16 => kernels!($fold<u16>),
            DType::UInt32 | DType::Int32 => kernels!($fold<u32>),
            DType::UInt64 | DType::Int64 => kernels!($fold<u64>),
            // Both types are zero if all bits but the sign are.
            DType::Float16 | DType::BFloat16 => kernels!($fold<f16>),
            other => match_dtype!(inexact other, T => kernels!($fold<T>), else => unreachable!("{other} is exact")),
        }
    };
}

fn kernels_of(kind: ReduceKind, from: DType, to: DType) -> &'static KernelTable {
    match kind {
        // int32 and uint32 share kernels, since sums and products wrap.
        ReduceKind::Sum if matches!(to, DType::Int32 | DType::UInt32) => match from {
            DType::Bool => kernels!(SumInt32<Bool>),
            DType::UInt8 => kernels!(SumInt32<u8>),
            DType::Int8 => kernels!(SumInt32<i8>),
            DType::UInt16 => kernels!(SumInt32<u16>),
            DType::Int16 => kernels!(SumInt32<i16>),
            _ => kernels!(Sum<u32>),
        },
        ReduceKind::Prod if matches!(to, DType::Int32 | DType::UInt32) => match from {
            DType::Bool => kernels!(ProdInt32<Bool>),
            DType::UInt8 => kernels!(ProdInt32<u8>),
            DType::Int8 => kernels!(ProdInt32<i8>),
            DType::UInt16 => kernels!(ProdInt32<u16>),
            DType::Int16 => kernels!(ProdInt32<i16>),
            _ => kernels!(Prod<u32>),
        },
        ReduceKind::Sum => match from {
            DType::Bool => kernels!(Any<u8>),
            DType::UInt8 | DType::Int8 => kernels!(Sum<u8>),
            DType::UInt16 | DType::Int16 => kernels!(Sum<u16>),
            DType::UInt32 | DType::Int32 => kernels!(Sum<u32>),
            DType::UInt64 | DType::Int64 => kernels!(Sum<u64>),
            other => {
                match_dtype!(inexact other, T => kernels!(Sum<T>), else => unreachable!("{other} is exact"))
            }
        },
        ReduceKind::Prod => match from {
            DType::Bool => kernels!(All<u8>),
            DType::UInt8 | DType::Int8 => kernels!(Prod<u8>),
            DType::UInt16 | DType::Int16 => kernels!(Prod<u16>),
            DType::UInt32 | DType::Int32 => kernels!(Prod<u32>),
            DType::UInt64 | DType::Int64 => kernels!(Prod<u64>),
            other => {
                match_dtype!(inexact other, T => kernels!(Prod<T>), else => unreachable!("{other} is exact"))
            }
        },
        ReduceKind::Mean => {
            match_dtype!(inexact from, T => mean_kernels!(Sum<T>), else => panic!("{from} holds no means"))
        }
        ReduceKind::Min => match_dtype!(number from, T => kernels!(Min<T>), else => kernels!(All<u8>)),
        ReduceKind::Max => match_dtype!(number from, T => kernels!(Max<T>), else => kernels!(Any<u8>)),
        ReduceKind::All => truth_kernels!(from, All),
        ReduceKind::Any => truth_kernels!(from, Any),
    }
}

/// The kernels of a sum or mean of squares, which are computed when elements are loaded.
fn square_kernels(kind: ReduceKind, from: DType, to: DType) -> Option<&'static KernelTable> {
    match (kind, from, to) {
        (ReduceKind::Sum, DType::Float32, DType::Float32) => Some(kernels!(SumSquares<f32>)),
        (ReduceKind::Sum, DType::Float32, DType::Float64) => Some(kernels!(SumSquaresWide<f32>)),
        (ReduceKind::Sum, DType::Float64, DType::Float64) => Some(kernels!(SumSquares<f64>)),
        (ReduceKind::Mean, DType::Float32, DType::Float32) => Some(mean_kernels!(SumSquares<f32>)),
        (ReduceKind::Mean, DType::Float32, DType::Float64) => Some(mean_kernels!(SumSquaresWide<f32>)),
        (ReduceKind::Mean, DType::Float64, DType::Float64) => Some(mean_kernels!(SumSquares<f64>)),
        _ => None,
    }
}

/// The kernels of a sum or mean of float32 with a float64 result.
fn wide_kernels(kind: ReduceKind, from: DType, to: DType) -> Option<&'static KernelTable> {
    match (kind, from, to) {
        (ReduceKind::Sum, DType::Float32, DType::Float64) => Some(kernels!(SumWide<f32>)),
        (ReduceKind::Mean, DType::Float32, DType::Float64) => Some(mean_kernels!(SumWide<f32>)),
        _ => None,
    }
}

/// A reduction, before the choice between rows and columns.
struct Task {
    kernels: &'static KernelTable,
    src: *const u8,
    dst: *mut u8,
    /// Loops over the results: source, destination.
    result_loops: StridedLoops<2>,
    /// Loops over the elements of one result. Strides are not negative; the smallest is innermost.
    reduced: StridedLoops<1>,
}

// SAFETY: the pointers come from views, which are valid on every thread; tasks write disjoint results.
unsafe impl Sync for Task {}

impl Task {
    /// The source element at an offset.
    fn element(&self, offset: isize) -> *const u8 {
        self.src.wrapping_offset(offset * self.kernels.in_size as isize)
    }

    /// The result at an offset.
    fn result(&self, offset: isize) -> *mut u8 {
        self.dst.wrapping_offset(offset * self.kernels.out_size as isize)
    }
}

fn fold(kernels: &'static KernelTable, src: View, axes: &[usize], dst: ViewMut) {
    assert_eq!(kernels.in_size, src.dtype().size(), "dtype of the operand of a reduction");
    assert_eq!(kernels.out_size, dst.dtype().size(), "dtype of the result of a reduction");
    let mut task = plan(kernels, &src, axes, &dst);
    if task.result_loops.count() == 0 {
        return;
    }
    let step = task.reduced.inner();
    match closest_result(&task.result_loops) {
        Some((index, stride)) if step.length == 1 || stride < step.strides[0] => {
            let results = task.result_loops.remove(index);
            columns::fold(&task, results);
        }
        _ => rows::fold(&task),
    }
}

/// Index and stride of the loop over results with the smallest stride in the source.
fn closest_result(result_loops: &StridedLoops<2>) -> Option<(usize, isize)> {
    let strides = result_loops.loops().iter().map(|l| l.strides[0].abs()).enumerate();
    strides.filter(|&(_, stride)| stride != 0).min_by_key(|&(_, stride)| stride)
}

fn plan(kernels: &'static KernelTable, src: &View, axes: &[usize], dst: &ViewMut) -> Task {
    let keeps_axes = dst.shape().len() == src.shape().len();
    let mut first = 0;
    let mut result_loops = StridedLoops::new(&[], [&[], &[]]);
    let mut reduced: SmallVec<[(usize, isize); 4]> = SmallVec::new();
    let mut result_axis = 0;
    for (axis, (&length, &stride)) in src.shape().iter().zip(src.strides()).enumerate() {
        if axes.contains(&axis) {
            if stride < 0 && length > 0 {
                first += (length as isize - 1) * stride;
            }
            reduced.push((length, stride.abs()));
        } else {
            let to = if keeps_axes { axis } else { result_axis };
            assert_eq!(dst.shape()[to], length, "shape of the result of a reduction");
            result_loops.push(Loop { length, strides: [stride, dst.strides()[to]] });
            result_axis += 1;
        }
    }
    // Loops over broadcast elements (stride zero) go outermost: repeating a contiguous run costs no more than reading it.
    reduced.sort_by_key(|&(_, stride)| std::cmp::Reverse(if stride == 0 { isize::MAX } else { stride }));
    let mut loops = StridedLoops::new(&[], [&[]]);
    for (length, stride) in reduced {
        loops.push(Loop { length, strides: [stride] });
    }
    let start = src.start().wrapping_offset(first * kernels.in_size as isize);
    Task { kernels, src: start, dst: dst.start(), result_loops, reduced: loops }
}

/// Number of chunks for each of `results` results of `work` elements.
fn chunk_count(results: usize, work: usize) -> usize {
    if results >= MIN_RESULTS { 1 } else { (work / GRAIN).clamp(1, MAX_CHUNKS) }
}

/// Contiguous totals.
#[derive(Clone, Copy)]
struct Totals {
    start: *mut u8,
    width: usize,
}

/// Destination of the results of a tile.
struct Results {
    dst: *mut u8,
    width: usize,
    stride: isize,
}

/// Tiles of neighbouring results, each computed in steps that are split among tasks.
struct ChunkedFold {
    tiles: usize,
    /// Maximum number of results of a tile.
    width: usize,
    steps: usize,
    /// Tasks per tile.
    tasks: usize,
}

/// Fold the chunks of every tile into separate totals, then combine these in order.
fn fold_in_chunks(
    kernels: &KernelTable,
    split: &ChunkedFold,
    results: impl Fn(usize) -> Results + Sync,
    fold: impl Fn(usize, Range<usize>, Totals) + Sync,
) {
    let (chunks, steps) = (split.tasks, split.steps);
    let size = (split.width * kernels.total_size).next_multiple_of(LINE);
    // Not initialised here: tasks clear their own totals in parallel.
    let mut totals = ScratchVec::<u8>::new_or_unwind(split.tiles * chunks * size);
    let memory = Target::over(totals.spare()).cast::<u8>();
    // Neighbouring chunks go to the same thread if there are more chunks than threads: two threads that alternate within one
    // range of memory are slower than two in distant ranges.
    parallel_ranges(split.tiles * chunks, 1, |range| {
        for i in range {
            let (tile, chunk) = (i / chunks, i % chunks);
            let totals = Totals { start: memory.at((i * size) as isize), width: results(tile).width };
            // SAFETY: every task has its own slice of the memory, which begins at a cache line and outlives the call.
            unsafe { (kernels.clear)(totals.start, totals.width) };
            fold(tile, steps * chunk / chunks..steps * (chunk + 1) / chunks, totals);
        }
    });
    for tile in 0..split.tiles {
        let Results { dst, width, stride } = results(tile);
        let total = |chunk: usize| memory.at(((tile * chunks + chunk) * size) as isize);
        for chunk in 1..chunks {
            // SAFETY: the totals of all chunks were written above.
            unsafe { (kernels.combine)(total(0), total(chunk), width) };
        }
        // SAFETY: the results lie in the layout of the destination.
        unsafe { (kernels.finish)(total(0), width, dst, stride, steps) };
    }
}
