//! Walks the blocks of a program.
//!
//! The loops of the plan are seen as rows: either the innermost loop is a row, or, where that is short, all elements
//! are one row. A block is a stretch of a row. Each operand is then in one of the four states of [`Access`]; only the
//! last one costs more than its loads and stores.
//!
//! Outputs may be the memory of inputs (donation): then every block is computed into registers and stored last.

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

/// Rows shorter than this are not worth blocks of their own.
const MIN_ROW: usize = 192;
/// Programs over this much memory ask for the next block while they compute one.
const PREFETCH_FROM: usize = 512 << 10;
/// Fewer steps are over before requests are answered.
const PREFETCH_STEPS: usize = 6;
/// Programs that cost no more have no time to hide requests in but that of their stores.
const PREFETCH_COST: usize = 3;
/// L1 size from which prefetching the next block into L1 pays; in a smaller one the prefetch evicts the current block, so L2
/// is the target. Measured: prefetching into L1 pays with 48 KiB and costs up to a third with 32 KiB, where prefetching into
/// L2 saves a tenth to a third of reductions.
const MIN_L1_FOR_PREFETCH: usize = 40 << 10;
/// Bytes of registers with which blocks that are folded are twice as long. Depends on nothing else, as rounding depends
/// on it.
const MAX_FOLDED_REGISTERS: usize = 24 << 10;
/// Shorter blocks cost more in calls than they save in the caches.
const MIN_BLOCK: usize = 2 * LANES;
/// Work for one thread, in additions.
const GRAIN: usize = 1 << 15;

/// How the elements of a row lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Side by side.
    InPlace,
    /// The same one for the whole row.
    Splat,
    /// Evenly apart.
    Strided(isize),
    /// In several stretches.
    Stretches,
    /// In stretches that repeat after so many elements, a part of a block.
    Periodic(usize),
}

/// What is a row?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The innermost loop, unless it is short.
    Innermost,
    /// All elements.
    One,
}

/// When is the next block asked for?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefetch {
    /// Never: the processor does so by itself, or the caches have it.
    Never,
    /// Between the steps.
    WithSteps,
    /// While a block is written with non-temporal stores, during which nothing would be read.
    WithStores,
}

/// A view as the walk sees it.
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
    /// Elements in a row, and blocks.
    pub(super) row: usize,
    blocks_per_row: usize,
    /// Elements in a block.
    pub(super) block: usize,
    /// Must inputs be copied to registers, since storing one output may overwrite what another stores?
    pub(super) copy_inputs: bool,
    /// May instructions write into outputs, if these are written with non-temporal stores, those that can do so?
    pub(super) direct: bool,
    pub(super) stream: bool,
    pub(super) prefetch: Prefetch,
    /// Which cache the next block is asked into.
    pub(super) prefetch_cache: Cache,
}

// SAFETY: threads work on disjoint ranges of blocks, so on disjoint elements of the outputs; views promise the rest.
unsafe impl Sync for Run<'_> {}

impl Program {
    /// Compute the outputs. All views have one shape; an output may be the very memory and layout of an input.
    ///
    /// # Panics
    /// If the number, dtypes or shapes of the views are not those of the tape.
    pub fn run(&self, inputs: &[View], outputs: &mut [ViewMut]) {
        self.run_prefetching_into(prefetch_target(), inputs, outputs);
    }

    /// As [`Program::run`]; the next block is asked into this cache.
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

    /// As [`Program::run`], on this thread, of views that are checked.
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
        let block = block_for_l1(program) * blocks_at_once(program, donated || stream && !all_stream);
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

    /// A run that stores nothing: what its blocks are folded into takes little room, so they are longer where registers
    /// are few.
    pub(super) fn without_outputs(program: &'p Program, plan: Plan, inputs: &[View], rows: Rows) -> Run<'p> {
        let block = if program.scratch(2 * REGISTER) <= MAX_FOLDED_REGISTERS {
            2 * program.block
        } else {
            program.block
        };
        Run::in_blocks(program, plan, inputs, rows, block)
    }

    fn in_blocks(program: &'p Program, plan: Plan, inputs: &[View], rows: Rows, block: usize) -> Run<'p> {
        let whole = rows == Rows::One || plan.inner() < MIN_ROW;
        let row = if whole { plan.size() } else { plan.inner() };
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

    /// A view as the walk sees it, given its number.
    fn operand(&self, number: usize, start: *mut u8, dtype: DType) -> Operand {
        let inner = *self.plan.strides(number).last().expect("a plan has a loop");
        let whole = self.row == self.plan.size();
        let access = match if whole { self.plan.even_stride(number) } else { Some(inner) } {
            Some(0) => Access::Splat,
            Some(1) => Access::InPlace,
            Some(stride) => Access::Strided(stride),
            None => match self.plan.period(number) {
                Some(period) if self.block.is_multiple_of(period) => Access::Periodic(period),
                _ => Access::Stretches,
            },
        };
        Operand { start, size: dtype.size(), access }
    }

    /// Bytes of a register: a block of the widest value.
    pub(super) fn register(&self) -> usize {
        REGISTER / self.program.block * self.block
    }

    /// Bytes of what a walk works in: registers, a stage, and what is local to tiles.
    pub(super) fn scratch(&self) -> usize {
        self.program.scratch(self.register())
    }

    /// Compute some blocks, numbered row by row.
    fn blocks(&self, range: Range<usize>) {
        with_scratch(self.scratch(), |scratch| {
            let mut walk = Walk::new(self, scratch);
            walk.constants();
            let mut entered = None;
            for block in range {
                let row = block / self.blocks_per_row;
                if entered != Some(row) {
                    walk.enter_row(row, entered.is_none());
                    entered = Some(row);
                }
                let start = block % self.blocks_per_row * self.block;
                let count = (self.row - start).min(self.block);
                // Whole lanes are computed where they lie, the few elements after them in registers.
                let whole = if count > LANES { count / LANES * LANES } else { count };
                // SAFETY: inside the row; callers split the blocks among threads.
                unsafe {
                    walk.block(start, whole);
                    if whole < count {
                        walk.block(start + whole, count - whole);
                    }
                }
            }
            if self.stream {
                finish_streaming();
            }
        });
    }
}

/// The length of blocks whose registers leave room in the first-level cache for what is loaded and stored.
fn block_for_l1(program: &Program) -> usize {
    let (room, registers) = (caches::l1_bytes() / 4 * 3, program.register_count);
    let mut block = program.block;
    while block > MIN_BLOCK && registers * (REGISTER / program.block * block) > room {
        block /= 2;
    }
    block
}

/// How many blocks of the usual length one takes. A single instruction finds its operands in memory, so that registers only
/// have to hold what constants and stores need: the fewer the calls, the better.
fn blocks_at_once(program: &Program, is_held: bool) -> usize {
    let is_half = |dtype: &DType| dtype.is_half();
    let is_converted =
        program.inputs.iter().any(is_half) || program.outputs.iter().any(|output| is_half(&output.dtype));
    match program.instructions[..] {
        // What chains hold between tiles is small.
        [Instruction::Chain { .. }] if is_held || !program.is_in_place() => 4,
        [Instruction::Chain { .. }] => 16,
        [Instruction::Call { .. }] if is_converted => 1,
        [Instruction::Call { .. }] if is_held || !program.constants.is_empty() => 4,
        [Instruction::Call { .. }] => 16,
        _ => 1,
    }
}

/// Where the next block does not push out this one.
fn prefetch_target() -> Cache {
    if caches::l1_bytes() >= MIN_L1_FOR_PREFETCH { Cache::L1 } else { Cache::L2 }
}

/// Do inputs and outputs reach beyond the caches?
fn is_large(inputs: &[View], written: usize) -> bool {
    let read: usize = inputs.iter().map(|view| view.size() * view.dtype().size()).sum();
    read + written >= PREFETCH_FROM
}

/// Could the two views share memory?
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
    /// Scratch of this thread, empty while in use.
    static SCRATCH: Cell<Vec<Aligned<[u8; LINE]>>> = const { Cell::new(Vec::new()) };
}

/// Lend `body` at least `bytes` bytes of this thread's scratch. They are initialised, with anything.
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

    /// The first elements of memory that begins at a cache line, or a little after it.
    fn shifted<T>(memory: &mut [T], by: usize) -> &mut [T] {
        let begin = memory.as_ptr().align_offset(LINE) + by;
        &mut memory[begin..]
    }

    /// Three times the input, and that minus the input, of more than the caches hold.
    fn check<T: Element + PartialEq + std::fmt::Debug>(of: fn(f64) -> T, prefetch_cache: Cache) {
        // Not whole blocks.
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
                    let times = if output == 2 { 3.0 } else { 2.0 };
                    let found = &shifted(memory, by)[..count];
                    let is_right = found.iter().enumerate().all(|(i, &x)| x == of(times * number(i)));
                    assert!(is_right, "{} {prefetch_cache:?} {tape} v{output}", T::DTYPE);
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
