//! `scan`: a loop over the rows of sequences, with a carry.

use umber_types::{Result, Shape, bail, ensure};

use super::loop_rules::record;
use super::traced_function::{Counter, check_carry};
use super::{Closed, Construct, LeafName, Order, TracedFunction, lengthened, trace_function};
use crate::graph::program::Operand;
use crate::graph::{Array, ArraySpec};
use crate::ops;
use crate::primitives::control_flow::{Body, Iteration, LoweredCache};
use crate::primitives::rules::reshape;
use crate::primitives::slice::{Window, slice_along, slice_into};

/// Which carries are saved for a backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// The carry of every iteration.
    EveryStep,
    /// That of every n-th iteration; those in between are recomputed.
    Every(usize),
    /// As [`Checkpoint::Every`], with the square root of the number of iterations.
    SquareRoot,
}

impl Checkpoint {
    /// The number of iterations, out of `length`, for each saved carry; at least 1.
    pub(super) fn every(self, length: usize) -> usize {
        match self {
            Checkpoint::EveryStep => 1,
            Checkpoint::Every(every) => every.max(1),
            Checkpoint::SquareRoot => ((length as f64).sqrt().round() as usize).max(1),
        }
    }
}

/// Options of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// The order of the rows.
    pub order: Order,
    /// Number of iterations that are unrolled into one, so that their kernels can fuse.
    pub unroll: usize,
    /// Which carries are saved for a backward pass.
    pub checkpoint: Checkpoint,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { order: Order::Forwards, unroll: 1, checkpoint: Checkpoint::EveryStep }
    }
}

/// The results of a scan.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The carry after the last iteration.
    pub carry: Vec<Array>,
    /// The rows that the iterations returned, stacked.
    pub stacked: Vec<Array>,
}

/// A trace of a scan in progress: run its function on `carry()` and `row()`, then end it.
#[derive(Debug)]
pub struct Scan {
    traced_fn: TracedFunction,
    init: Vec<Array>,
    sequences: Vec<Array>,
    length: usize,
}

impl Scan {
    /// Begin with a carry, and sequences to read row by row; `name` gives the users' names of the sequences.
    pub fn begin(
        construct: Construct,
        init: &[Array],
        sequences: &[Array],
        length: Option<usize>,
        name: LeafName<'_>,
    ) -> Result<Scan> {
        let op = construct.name();
        let mut row_count = length;
        for (i, sequence) in sequences.iter().enumerate() {
            let Some(&rows) = sequence.shape().first() else {
                bail!(Value(op), "{} is a scalar; a sequence needs an axis to iterate over", name(i));
            };
            let expected = *row_count.get_or_insert(rows);
            ensure!(
                rows == expected,
                Value(op),
                "{} has {rows} rows, but {} {expected}",
                name(i),
                if length.is_some() { "length is" } else { "other sequences have" }
            );
        }
        let Some(length) = row_count else {
            bail!(Value(op), "needs sequences or a length");
        };
        Ok(Scan::trace_function(construct, init, sequences, length, &Counter::Own))
    }

    pub(super) fn trace_function(
        construct: Construct,
        init: &[Array],
        sequences: &[Array],
        length: usize,
        counter: &Counter,
    ) -> Scan {
        let row = |sequence: &Array| {
            ArraySpec::new(Shape::new(sequence.shape()[1..].iter().copied()), sequence.dtype())
        };
        let specs: Vec<ArraySpec> =
            init.iter().map(|array| array.spec().clone()).chain(sequences.iter().map(row)).collect();
        let traced_fn = TracedFunction::begin(construct, specs, counter);
        Scan { traced_fn, init: init.to_vec(), sequences: sequences.to_vec(), length }
    }

    /// Placeholders for the carry.
    pub fn carry(&self) -> &[Array] {
        &self.traced_fn.trace.inputs[..self.init.len()]
    }

    /// Placeholders for one row of every sequence.
    pub fn row(&self) -> &[Array] {
        &self.traced_fn.trace.inputs[self.init.len()..]
    }

    /// Number of rows.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The body alone, without a loop.
    pub(super) fn into_body(self, carry: Vec<Array>) -> Result<Closed> {
        self.traced_fn.end(carry, None)
    }

    /// Check a carry as [`Scan::end`] does.
    pub fn check(&self, carry: &[Array], name: LeafName<'_>) -> Result<()> {
        check_carry(self.traced_fn.construct, carry, self.carry(), name)
    }

    /// End the trace of a function that returned `carry` and `rows`; `name` gives the users' names of the carry.
    pub fn end(
        self,
        carry: Vec<Array>,
        rows: &[Array],
        name: LeafName<'_>,
        options: ScanOptions,
    ) -> Result<Scanned> {
        self.check(&carry, name)?;
        let Scan { traced_fn, mut init, sequences, length } = self;
        let (construct, count) = (traced_fn.construct, init.len());
        let outputs: Vec<Array> = carry.into_iter().chain(rows.iter().cloned()).collect();
        let is_counted = traced_fn.counts(&outputs);
        let closed = traced_fn.end(outputs, is_counted.then_some(count))?;
        if is_counted {
            init.push(Array::full(Shape::scalar(), 0.0, umber_types::DType::UInt32));
        }
        let loop_shape = LoopShape { construct, length, order: options.order, rows: sequences.len() };
        let (mut carry, stacked) = loop_shape.run(closed, init, sequences, options)?;
        carry.truncate(count);
        Ok(Scanned { carry, stacked })
    }
}

/// The properties that a loop shares with its chunks.
#[derive(Clone, Copy)]
struct LoopShape {
    construct: Construct,
    length: usize,
    order: Order,
    rows: usize,
}

/// Record a loop without rows; returns the last carry.
pub(super) fn repeat(
    construct: Construct,
    length: usize,
    body: Closed,
    init: Vec<Array>,
    checkpoint: Checkpoint,
) -> Result<Vec<Array>> {
    let options = ScanOptions { checkpoint, ..ScanOptions::default() };
    let loop_shape = LoopShape { construct, length, order: options.order, rows: 0 };
    loop_shape.run(body, init, Vec::new(), options).map(|(carry, _)| carry)
}

/// A body with a reduced carry, and which of the original carries it still carries.
struct ReducedBody {
    body: Body,
    is_carried: Vec<bool>,
}

impl LoopShape {
    /// Record the loop; returns the carry and the stacked rows.
    fn run(
        self,
        closed: Closed,
        init: Vec<Array>,
        sequences: Vec<Array>,
        options: ScanOptions,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let (body, captured) = closed;
        let ReducedBody { body, is_carried } = hoist_constants(body, init.len(), self.rows);
        let select = |carried: bool| {
            move |(array, is_carried): (&Array, &bool)| (*is_carried == carried).then(|| array.clone())
        };
        let carried: Vec<Array> = init.iter().zip(&is_carried).filter_map(select(true)).collect();
        let constants: Vec<Array> =
            captured.into_iter().chain(init.iter().zip(&is_carried).filter_map(select(false))).collect();
        let (carry, stacked) = self.checkpointed(&body, carried, sequences, constants, options)?;
        let mut carry = carry.into_iter();
        let full_carry = init.into_iter().zip(is_carried);
        let full_carry =
            full_carry.map(|(init, is_carried)| if is_carried { carry.next().unwrap_or(init) } else { init });
        Ok((full_carry.collect(), stacked))
    }

    fn checkpointed(
        self,
        body: &Body,
        carry: Vec<Array>,
        sequences: Vec<Array>,
        constants: Vec<Array>,
        options: ScanOptions,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let every = options.checkpoint.every(self.length);
        if every <= 1 || self.length <= 1 {
            return self.unrolled(body, carry, sequences, constants, options.unroll);
        }
        let chunks = ChunkedLoop { body, carry, sequences, constants, size: every.min(self.length) };
        self.in_chunks(chunks, |chunk, carry, sequences, constants| {
            chunk.unrolled(body, carry, sequences, constants, options.unroll)
        })
    }

    fn unrolled(
        self,
        body: &Body,
        carry: Vec<Array>,
        sequences: Vec<Array>,
        constants: Vec<Array>,
        unroll: usize,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        if unroll <= 1 || self.length <= 1 {
            return self.plain(body.clone(), carry, sequences, constants);
        }
        let chunks = ChunkedLoop { body, carry, sequences, constants, size: unroll.min(self.length) };
        self.in_chunks(chunks, |chunk, carry, sequences, constants| {
            chunk.fully_unrolled(body, carry, &sequences, &constants)
        })
    }

    fn plain(
        self,
        body: Body,
        carry: Vec<Array>,
        sequences: Vec<Array>,
        constants: Vec<Array>,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let count = carry.len();
        let iteration = Iteration {
            construct: self.construct,
            body,
            carry: count,
            rows: self.rows,
            sums: 0,
            length: self.length,
            order: self.order,
            keeps: false,
            lowered: LoweredCache::default(),
        };
        let mut outputs = record(iteration, carry.into_iter().chain(sequences).collect(), constants)?;
        let stacked = outputs.split_off(count);
        Ok((outputs, stacked))
    }

    /// All iterations in sequence, without a loop.
    fn fully_unrolled(
        self,
        body: &Body,
        mut carry: Vec<Array>,
        sequences: &[Array],
        constants: &[Array],
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let count = carry.len();
        let mut rows: Vec<Vec<Array>> = vec![Vec::new(); self.length];
        for iteration in 0..self.length {
            let row_index = self.order.place(iteration, self.length);
            let row = |sequence: &Array| {
                let shape = Shape::new(sequence.shape()[1..].iter().copied());
                slice_into(sequence, Window::along(sequence.shape(), 0, row_index, 1), shape)
            };
            let current_rows = sequences.iter().map(row).collect::<Result<Vec<Array>>>()?;
            let arguments: Vec<Array> =
                carry.into_iter().chain(current_rows).chain(constants.iter().cloned()).collect();
            carry = body.program.replay(&arguments)?;
            rows[row_index] = carry.split_off(count);
        }
        let stack = |i: usize| {
            let column: Vec<&Array> = rows.iter().map(|row| &row[i]).collect();
            ops::stack(&column, 0)
        };
        let stacked = (0..body.outputs.len() - count).map(stack).collect::<Result<_>>()?;
        Ok((carry, stacked))
    }

    /// A loop over chunks of equal size, each run by `run`, followed by the remaining iterations.
    fn in_chunks(
        self,
        chunks: ChunkedLoop<'_>,
        run: impl Fn(LoopShape, Vec<Array>, Vec<Array>, Vec<Array>) -> Result<(Vec<Array>, Vec<Array>)>,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let ChunkedLoop { body, carry, sequences, constants, size } = chunks;
        let (count, rows) = (carry.len(), self.rows);
        let (chunk_count, remainder) = (self.length / size, self.length % size);
        let main_length = self.length - remainder;
        // The remaining iterations are the last ones: at the end of the sequences, or at their beginning in reverse order.
        let (main_start, remainder_start) = match self.order {
            Order::Forwards => (0, main_length),
            Order::Backwards => (remainder, 0),
        };
        let slices = |start: usize, length: usize| {
            sequences.iter().map(|array| slice_along(array, 0, start, length)).collect::<Result<Vec<Array>>>()
        };
        let chunk = LoopShape { length: size, ..self };
        let specs = body.arguments()[..count]
            .iter()
            .cloned()
            .chain(body.arguments()[count..count + rows].iter().map(|row| lengthened(row, size)))
            .chain(body.arguments()[count + rows..].iter().cloned());
        let (chunk_body, captured) = trace_function(self.construct, specs, |arguments| {
            let (carry, rest) = arguments.split_at(count);
            let (rows, constants) = rest.split_at(rows);
            let (carry, stacked) = run(chunk, carry.to_vec(), rows.to_vec(), constants.to_vec())?;
            Ok(carry.into_iter().chain(stacked).collect())
        })?;
        let grouped = slices(main_start, main_length)?
            .iter()
            .map(|array| {
                let lengths = [chunk_count, size].into_iter().chain(array.shape()[1..].iter().copied());
                reshape(array, lengths.collect::<Shape>())
            })
            .collect::<Result<Vec<Array>>>()?;
        let all_constants = constants.iter().cloned().chain(captured).collect();
        let outer = LoopShape { length: chunk_count, ..self };
        let (carry, grouped) = outer.plain(chunk_body, carry, grouped, all_constants)?;
        let flat = |array: &Array| {
            let lengths = std::iter::once(main_length).chain(array.shape()[2..].iter().copied());
            reshape(array, lengths.collect::<Shape>())
        };
        let stacked = grouped.iter().map(flat).collect::<Result<Vec<Array>>>()?;
        if remainder == 0 {
            return Ok((carry, stacked));
        }
        let last = LoopShape { length: remainder, ..self };
        let (carry, tail) = run(last, carry, slices(remainder_start, remainder)?, constants)?;
        let concatenate = |(main, tail): (&Array, &Array)| match self.order {
            Order::Forwards => ops::concatenate(&[main, tail], Some(0)),
            Order::Backwards => ops::concatenate(&[tail, main], Some(0)),
        };
        let stacked = stacked.iter().zip(&tail).map(concatenate).collect::<Result<_>>()?;
        Ok((carry, stacked))
    }
}

/// A loop to be run in chunks of `size` iterations.
struct ChunkedLoop<'a> {
    body: &'a Body,
    carry: Vec<Array>,
    sequences: Vec<Array>,
    constants: Vec<Array>,
    size: usize,
}

/// Turn carries that the body returns unchanged into constants, so that they need not be saved for a backward pass.
fn hoist_constants(body: Body, carry: usize, rows: usize) -> ReducedBody {
    let Body { mut program, mut outputs } = body;
    let is_carried: Vec<bool> = (0..carry).map(|i| program.outputs[i] != Operand::Slot(i as u32)).collect();
    let count = is_carried.iter().filter(|is_kept| **is_kept).count();
    let (mut next_carry, mut next_constant) = (0, count + program.arguments.len() - carry);
    let mut new_indices = Vec::with_capacity(program.arguments.len());
    for &is_kept in &is_carried {
        let next = if is_kept { &mut next_carry } else { &mut next_constant };
        new_indices.push(*next);
        *next += 1;
    }
    new_indices.extend((carry..program.arguments.len()).map(|i| i - carry + count));
    debug_assert!(rows + carry <= new_indices.len());
    let mut arguments = program.arguments.clone();
    for (spec, &index) in program.arguments.iter().zip(&new_indices) {
        arguments[index] = spec.clone();
    }
    program = program.among(arguments, &new_indices);
    let mut indices = 0..carry;
    program.outputs.retain(|_| indices.next().is_none_or(|i| is_carried[i]));
    let mut indices = 0..carry;
    outputs.retain(|_| indices.next().is_none_or(|i| is_carried[i]));
    ReducedBody { body: Body { program, outputs }, is_carried }
}

/// Carry a value through the rows of arrays: `(carry, y) = f(carry, x)` for each row `x`, in order.
///
/// `init` is the first carry; every array of `xs` has `length` rows. Returns the last carry and the `y`s of all rows,
/// stacked along a new first axis. `f` is traced once; the carry keeps its shapes and dtypes. Memory besides the results
/// does not grow with `length`; a gradient keeps the carry of every iteration, or of some ([`Checkpoint`]). Fails for
/// sequences of different lengths, without a length, and for a carry that changes its shapes or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::control_flow::{ScanOptions, scan};
/// // A sum, and how it came about.
/// let step = |carry: &[Array], x: &[Array]| {
///     let sum = &carry[0] + &x[0];
///     Ok((vec![sum.clone()], vec![sum]))
/// };
/// let xs = Array::from([1.0f32, 2.0, 3.0]);
/// let scanned = scan(step, &[Array::from(0.0f32)], &[xs], None, ScanOptions::default())?;
/// assert_eq!(scanned.carry[0].item()?.as_f64(), 6.0);
/// assert_eq!(scanned.stacked[0].to_vec::<f32>()?, [1.0, 3.0, 6.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn scan(
    f: impl FnOnce(&[Array], &[Array]) -> Result<(Vec<Array>, Vec<Array>)>,
    init: &[Array],
    xs: &[Array],
    length: Option<usize>,
    options: ScanOptions,
) -> Result<Scanned> {
    let builder = Scan::begin(Construct::Scan, init, xs, length, &|i| format!("xs[{i}]"))?;
    let (carry, rows) = f(builder.carry(), builder.row())?;
    builder.end(carry, &rows, &|i| format!("carry[{i}]"), options)
}
