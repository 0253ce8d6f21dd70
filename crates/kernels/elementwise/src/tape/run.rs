//! Runs a program block by block.
//!
//! The loops of the plan are divided into rows: a row is the innermost loop, or all elements if that loop is short. A block is
//! a segment of a row. The operands of a row are classified by [`Access`]; only the last two kinds cost more than their loads
//! and stores.
//!
//! Outputs may share the memory of inputs (donation): then every block is computed in registers and stored last.

use std::cell::Cell;
use std::iter::repeat_n;
use std::ops::Range;

use smallvec::SmallVec;
use umber_kernels_base::caches::{self, Aligned, LINE, STREAM_FROM, finish_streaming};
use umber_kernels_base::isa::Cache;
use umber_kernels_base::scratch_vec::collect_or_unwind;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::view::{View, ViewMut};
use umber_types::DType;

use super::plan::Plan;
use super::program::{Instruction, Program, REGISTER};
use super::walk::Walk;
use crate::elementwise::LANES;

/// Minimum length of a row that is divided into its own blocks.
const MIN_ROW: usize = 192;
/// Minimum bytes of operands for which the next block is prefetched while one is computed.
const PREFETCH_FROM: usize = 512 << 10;
/// Minimum number of instructions, so that prefetches complete in time.
const PREFETCH_STEPS: usize = 6;
/// Programs of at most this cost can only overlap prefetches with their stores.
const PREFETCH_COST: usize = 3;
/// L1 size from which prefetching the next block into L1 pays; in a smaller one the prefetch evicts the current block, so L2
/// is the target. Measured: prefetching into L1 pays with 48 KiB and costs up to a third with 32 KiB, where prefetching into
/// L2 saves a tenth to a third of reductions.
const MIN_L1_FOR_PREFETCH: usize = 40 << 10;
/// Maximum bytes of registers for which blocks of a reduction are twice as long. It must not depend on the machine, since it
/// affects rounding.
const MAX_FOLDED_REGISTERS: usize = 24 << 10;
/// Minimum block length: shorter blocks cost more in calls than they save in cache misses.
const MIN_BLOCK: usize = 2 * LANES;
/// Minimum work per thread, in additions.
const GRAIN: usize = 1 << 15;

/// The memory layout of the elements of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Contiguous.
    InPlace,
    /// One element, broadcast to the row.
    Splat,
    /// A constant stride.
    Strided(isize),
    /// Several segments.
    Segments,
    /// Segments with a period of this many elements, which divides a block.
    Periodic(usize),
}

/// The elements that form a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The innermost loop, unless it is short.
    Innermost,
    /// All elements.
    One,
}

/// When the next block is prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefetch {
    /// Never: the hardware prefetcher does so, or the operands fit the caches.
    Never,
    /// Between instructions.
    WithSteps,
    /// During non-temporal stores of a block, when memory reads would otherwise pause.
    WithStores,
}

/// A view as used by a walk.
pub(super) struct Operand {
    pub(super) start: *mut u8,
    pub(super) size: usize,
    pub(super) access: Access,
}

pub(super) struct Run<'p> {
    pub(super) program: &'p Program,
    pub(super) plan: Plan,
    pub(super) inputs: SmallVec<[Operand; 4]>,
    pub(super) outputs: SmallVec<[Operand; 2]>,
    /// Elements per row.
    pub(super) row: usize,
    blocks_per_row: usize,
    /// Elements per block.
    pub(super) block: usize,
    /// Must inputs be copied to registers? Storing one output may overwrite an input that another output still stores.
    pub(super) copy_inputs: bool,
    /// May instructions write directly to outputs?
    pub(super) direct: bool,
    /// Are outputs written with non-temporal stores?
    pub(super) stream: bool,
    pub(super) prefetch: Prefetch,
    /// The cache that the next block is prefetched into.
    pub(super) prefetch_cache: Cache,
}

// SAFETY: threads work on disjoint ranges of blocks, hence on disjoint elements of the outputs; views are valid on all threads.
unsafe impl Sync for Run<'_> {}

impl Program {
    /// Compute the outputs. All views have the same shape; an output may have the memory and layout of an input.
    ///
    /// # Panics
    /// If the number, dtypes or shapes of the views differ from those of the tape.
    pub fn run(&self, inputs: &[View], outputs: &mut [ViewMut]) {
        self.run_prefetching_into(prefetch_target(), inputs, outputs);
    }

    /// As [`Program::run`], prefetching into `prefetch_cache`.
    fn run_prefetching_into(&self, prefetch_cache: Cache, inputs: &[View], outputs: &mut [ViewMut]) {
        assert!(
            inputs.iter().map(View::dtype).eq(self.inputs.iter().copied())
                && outputs.iter().map(ViewMut::dtype).eq(self.outputs.iter().map(|output| output.dtype)),
            "views have the dtypes of the tape"
        );
        let Some(first) = outputs.first() else { return };
        let shape = first.shape();
        assert!(
            inputs.iter().all(|view| view.shape() == shape)
                && outputs.iter().all(|view| view.shape() == shape),
            "views have one shape"
        );
        if shape.contains(&0) {
            return;
        }
        if self.run_small(inputs, outputs) {
            return;
        }
        if self.run_with_transposed_inputs(prefetch_cache, inputs, outputs) {
            return;
        }
        let run = Run::new(self, prefetch_cache, inputs, outputs);
        let blocks = run.block_count();
        if blocks == 1 {
            run.blocks(0..1);
            return;
        }
        let grain = (GRAIN / self.cost / run.block).max(1);
        parallel_ranges(blocks, grain, |range| run.blocks(range));
    }

    /// As [`Program::run`], on the calling thread, for views that are already checked.
    pub(super) fn run_serial(&self, prefetch_cache: Cache, inputs: &[View], outputs: &mut [ViewMut]) {
        let run = Run::new(self, prefetch_cache, inputs, outputs);
        run.blocks(0..run.block_count());
    }
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, prefetch_cache: Cache, inputs: &[View], outputs: &[ViewMut]) -> Run<'p> {
        let strides: SmallVec<[&[isize]; 6]> =
            inputs.iter().map(View::strides).chain(outputs.iter().map(ViewMut::strides)).collect();
        let plan = Plan::new(outputs[0].shape(), &strides, inputs.len());
        let written = outputs.iter().map(|view| view.size() * view.dtype().size()).max().unwrap_or(0);
        let donated = outputs.iter().any(|out| inputs.iter().any(|input| overlaps(&out.as_view(), input)));
        let stream =
            written >= STREAM_FROM && (prefetch_cache == Cache::L1 || caches::nontemporal_stores_pay());
        let all_stream = program.outputs.iter().all(|output| output.streams);
        let block = block_for_l1(program) * blocks_per_call(program, donated || stream && !all_stream);
        let mut run = Run::in_blocks(program, plan, inputs, Rows::Innermost, block);
        run.outputs = outputs
            .iter()
            .enumerate()
            .map(|(i, view)| run.operand(inputs.len() + i, view.start(), view.dtype()))
            .collect();
        run.copy_inputs =
            donated && program.outputs.iter().any(|output| (output.value as usize) < inputs.len());
        run.prefetch_cache = prefetch_cache;
        run.direct = !donated;
        run.stream = stream;
        run.prefetch = if is_large(inputs, written) && program.instructions.len() >= PREFETCH_STEPS {
            Prefetch::WithSteps
        } else if run.prefetch_cache == Cache::L1
            && stream
            && program.cost <= PREFETCH_COST
            && !inputs.iter().any(|input| input.dtype().is_half())
        {
            Prefetch::WithStores
        } else {
            Prefetch::Never
        };
        run
    }

    /// A run for a reduction, which stores no outputs: blocks are longer if there are few registers.
    pub(super) fn without_outputs(program: &'p Program, plan: Plan, inputs: &[View], rows: Rows) -> Run<'p> {
        let block = if program.scratch(2 * REGISTER) <= MAX_FOLDED_REGISTERS {
            2 * program.block
        } else {
            program.block
        };
        Run::in_blocks(program, plan, inputs, rows, block)
    }

    fn in_blocks(program: &'p Program, plan: Plan, inputs: &[View], rows: Rows, block: usize) -> Run<'p> {
        let is_one_row = rows == Rows::One || plan.inner() < MIN_ROW;
        let row = if is_one_row { plan.size() } else { plan.inner() };
        let mut run = Run {
            program,
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            row,
            blocks_per_row: row.div_ceil(block),
            block,
            plan,
            copy_inputs: false,
            direct: false,
            stream: false,
            prefetch_cache: prefetch_target(),
            prefetch: if is_large(inputs, 0) && !program.is_chain() {
                Prefetch::WithSteps
            } else {
                Prefetch::Never
            },
        };
        run.inputs = inputs
            .iter()
            .enumerate()
            .map(|(i, view)| run.operand(i, view.start().cast_mut(), view.dtype()))
            .collect();
        run
    }

    fn block_count(&self) -> usize {
        self.blocks_per_row * (self.plan.size() / self.row)
    }

    /// The operand with this index, for a view.
    fn operand(&self, index: usize, start: *mut u8, dtype: DType) -> Operand {
        let inner = *self.plan.strides(index).last().expect("a plan has a loop");
        let is_one_row = self.row == self.plan.size();
        let access = match if is_one_row { self.plan.even_stride(index) } else { Some(inner) } {
            Some(0) => Access::Splat,
            Some(1) => Access::InPlace,
            Some(stride) => Access::Strided(stride),
            None => match self.plan.period(index) {
                Some(period) if self.block.is_multiple_of(period) => Access::Periodic(period),
                _ => Access::Segments,
            },
        };
        Operand { start, size: dtype.size(), access }
    }

    /// Bytes per register: a block of the widest value.
    pub(super) fn register(&self) -> usize {
        REGISTER / self.program.block * self.block
    }

    /// Bytes of scratch for a walk: registers, the stage, and the buffers local to tiles.
    pub(super) fn scratch(&self) -> usize {
        self.program.scratch(self.register())
    }

    /// Compute a range of blocks, numbered row by row.
    fn blocks(&self, range: Range<usize>) {
        with_scratch(self.scratch(), |scratch| {
            let mut walk = Walk::new(self, scratch);
            walk.constants();
            let mut current_row = None;
            for block in range {
                let row = block / self.blocks_per_row;
                if current_row != Some(row) {
                    walk.enter_row(row, current_row.is_none());
                    current_row = Some(row);
                }
                let start = block % self.blocks_per_row * self.block;
                let count = (self.row - start).min(self.block);
                // Full lanes are computed in place, the remaining elements in registers.
                let full = if count > LANES { count / LANES * LANES } else { count };
                // SAFETY: the elements are inside the row, and each block belongs to one thread.
                unsafe {
                    walk.block(start, full);
                    if full < count {
                        walk.block(start + full, count - full);
                    }
                }
            }
            if self.stream {
                finish_streaming();
            }
        });
    }
}

/// The block length for which the registers leave enough of the L1 cache for loads and stores.
fn block_for_l1(program: &Program) -> usize {
    let (available, registers) = (caches::l1_bytes() / 4 * 3, program.register_count);
    let mut block = program.block;
    while block > MIN_BLOCK && registers * (REGISTER / program.block * block) > available {
        block /= 2;
    }
    block
}

/// The number of default blocks per call. A single instruction reads its operands from memory, so that registers only hold
/// constants and buffered outputs; fewer calls are faster.
fn blocks_per_call(program: &Program, is_buffered: bool) -> usize {
    let is_half = |dtype: &DType| dtype.is_half();
    let is_converted =
        program.inputs.iter().any(is_half) || program.outputs.iter().any(|output| is_half(&output.dtype));
    match program.instructions[..] {
        // The local buffers of a chain are small.
        [Instruction::Chain { .. }] if is_buffered || !program.is_in_place() => 4,
        [Instruction::Chain { .. }] => 16,
        [Instruction::Call { .. }] if is_converted => 1,
        [Instruction::Call { .. }] if is_buffered || !program.constants.is_empty() => 4,
        [Instruction::Call { .. }] => 16,
        _ => 1,
    }
}

/// The cache level for prefetches, such that the next block does not evict the current one.
fn prefetch_target() -> Cache {
    if caches::l1_bytes() >= MIN_L1_FOR_PREFETCH { Cache::L1 } else { Cache::L2 }
}

/// True if inputs and outputs exceed the caches.
fn is_large(inputs: &[View], written: usize) -> bool {
    let read: usize = inputs.iter().map(|view| view.size() * view.dtype().size()).sum();
    read + written >= PREFETCH_FROM
}

/// True if the two views may share memory.
fn overlaps(a: &View, b: &View) -> bool {
    let bytes = |view: &View| {
        let offset = view.layout().offset as isize;
        let (low, high) = view.layout().extent().unwrap_or((offset, offset));
        let size = view.dtype().size() as isize;
        let start = view.start();
        (start.wrapping_offset((low - offset) * size), start.wrapping_offset((high - offset) * size))
    };
    let (a, b) = (bytes(a), bytes(b));
    a.0 < b.1 && b.0 < a.1
}

thread_local! {
    /// This thread's scratch, empty while it is in use.
    static SCRATCH: Cell<Vec<Aligned<[u8; LINE]>>> = const { Cell::new(Vec::new()) };
}

/// Call `body` with at least `bytes` bytes of this thread's scratch, which are initialised to arbitrary values.
pub(super) fn with_scratch(bytes: usize, body: impl FnOnce(*mut u8)) {
    let mut lines = SCRATCH.take();
    if lines.len() * LINE < bytes {
        drop(lines);
        lines = collect_or_unwind(repeat_n(Aligned([0; LINE]), bytes.div_ceil(LINE)));
    }
    body(lines.as_mut_ptr().cast());
    SCRATCH.set(lines);
}

#[cfg(test)]
mod tests {
    use umber_types::tape::{Step, Tape};
    use umber_types::{BinaryKind, Element, Layout, Scalar, Shape, bf16, f16};

    use super::*;

    /// The elements from `by` after the first cache-line boundary.
    fn shifted<T>(memory: &mut [T], by: usize) -> &mut [T] {
        let begin = memory.as_ptr().align_offset(LINE) + by;
        &mut memory[begin..]
    }

    /// Compute `3 x` and `3 x - x` for arrays that exceed the caches.
    fn check<T: Element + PartialEq + std::fmt::Debug>(of: fn(f64) -> T, prefetch_cache: Cache) {
        // Not a multiple of the block length.
        let count = STREAM_FROM / size_of::<T>() + 1037;
        let constant = Step::Constant { value: Scalar::Float(3.0), dtype: T::DTYPE };
        let multiply = Step::Binary { kind: BinaryKind::Multiply, a: 0, b: 1 };
        let subtract = Step::Binary { kind: BinaryKind::Subtract, a: 2, b: 0 };
        let steps = [constant, multiply, subtract];
        let layout = Layout::contiguous(Shape::from([count]));
        let number = |i: usize| (i % 61) as f64;
        let input: Vec<T> = (0..count).map(|i| of(number(i))).collect();
        for (length, outputs) in [(2, vec![2]), (3, vec![3]), (3, vec![2, 3])] {
            let tape = Tape { inputs: vec![T::DTYPE], steps: steps[..length].to_vec(), outputs };
            let program = Program::new(&tape).expect("the tape is valid");
            for by in [0, 1] {
                let mut memory = vec![vec![of(0.0); count + 128]; tape.outputs.len()];
                let mut views: Vec<ViewMut> = memory
                    .iter_mut()
                    .map(|memory| ViewMut::of(&mut shifted(memory, by)[..count], &layout))
                    .collect();
                program.run_prefetching_into(prefetch_cache, &[View::of(&input, &layout)], &mut views);
                for (memory, &output) in memory.iter_mut().zip(&tape.outputs) {
                    let factor = if output == 2 { 3.0 } else { 2.0 };
                    let actual = &shifted(memory, by)[..count];
                    let is_equal = actual.iter().enumerate().all(|(i, &x)| x == of(factor * number(i)));
                    assert!(is_equal, "{} {prefetch_cache:?} {tape} v{output}", T::DTYPE);
                }
            }
        }
    }

    #[test]
    fn every_prefetch_target_gives_equal_results() {
        for prefetch_cache in [Cache::L1, Cache::L2] {
            check(|x| x as f32, prefetch_cache);
            check(|x| x, prefetch_cache);
            check(|x| x as i32, prefetch_cache);
            check(f16::from_f64, prefetch_cache);
            check(bf16::from_f64, prefetch_cache);
        }
    }
}
