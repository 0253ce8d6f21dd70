//! `scan`: a carry taken through the rows of sequences.

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

/// Which carries a backward pass keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// That of every iteration.
    EveryStep,
    /// One in so many; those between are computed again.
    Every(usize),
    /// One in as many as the square root of the number of iterations.
    SquareRoot,
}

/// How a loop is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Which row comes first.
    pub order: Order,
    /// How many iterations are made one, so that kernels of neighbours fuse.
    pub unroll: usize,
    /// Which carries a backward pass keeps.
    pub checkpoint: Checkpoint,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { order: Order::Forwards, unroll: 1, checkpoint: Checkpoint::EveryStep }
    }
}

/// What a scan gives.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The carry after the last iteration.
    pub carry: Vec<Array>,
    /// The rows that the iterations answered, stacked.
    pub stacked: Vec<Array>,
}

/// A scan being followed: run its function on `carry()` and `row()`, then end.
#[derive(Debug)]
pub struct Scan {
    traced_fn: TracedFunction,
    init: Vec<Array>,
    sequences: Vec<Array>,
    length: usize,
}

impl Scan {
    /// Begin with a carry, and sequences to read row by row; `name` says what users call the latter.
    pub fn begin(
        construct: Construct,
        init: &[Array],
        sequences: &[Array],
        length: Option<usize>,
        name: LeafName<'_>,
    ) -> Result<Scan> {
        let op = construct.name();
        let mut found = length;
        for (i, sequence) in sequences.iter().enumerate() {
            let Some(&rows) = sequence.shape().first() else {
                bail!(Value(op), "{} is a scalar; a sequence needs an axis to iterate over", name(i));
            };
            let expected = *found.get_or_insert(rows);
            ensure!(
                rows == expected,
                Value(op),
                "{} has {rows} rows, but {} {expected}",
                name(i),
                if length.is_some() { "length is" } else { "other sequences have" }
            );
        }
        let Some(length) = found else {
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

    /// Stands for the carry.
    pub fn carry(&self) -> &[Array] {
        &self.traced_fn.trace.inputs[..self.init.len()]
    }

    /// Stands for one row of every sequence.
    pub fn row(&self) -> &[Array] {
        &self.traced_fn.trace.inputs[self.init.len()..]
    }

    /// How many rows there are.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The function as it is, without a loop around it.
    pub(super) fn into_body(self, carry: Vec<Array>) -> Result<Closed> {
        self.traced_fn.end(carry, None)
    }

    /// Would [`Scan::end`] refuse this carry?
    pub fn check(&self, carry: &[Array], name: LeafName<'_>) -> Result<()> {
        check_carry(self.traced_fn.construct, carry, self.carry(), name)
    }

    /// The function answered `carry` and `rows`; `name` says what users call the former.
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

/// What a loop and its parts have in common.
#[derive(Clone, Copy)]
struct LoopShape {
    construct: Construct,
    length: usize,
    order: Order,
    rows: usize,
}

/// The parts of a body that carries less: what it carries on, and where its constants come from.
struct LightBody {
    body: Body,
    is_carried: Vec<bool>,
}

impl LoopShape {
    /// Record the loop; answers the carry and the stacked rows.
    fn run(
        self,
        closed: Closed,
        init: Vec<Array>,
        sequences: Vec<Array>,
        options: ScanOptions,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let (body, captured) = closed;
        let LightBody { body, is_carried } = hoist_constants(body, init.len(), self.rows);
        let constant =
            |carried: bool| move |(array, is): (&Array, &bool)| (*is == carried).then(|| array.clone());
        let carried: Vec<Array> = init.iter().zip(&is_carried).filter_map(constant(true)).collect();
        let constants: Vec<Array> =
            captured.into_iter().chain(init.iter().zip(&is_carried).filter_map(constant(false))).collect();
        let (carry, stacked) = self.checkpointed(&body, carried, sequences, constants, options)?;
        let mut carry = carry.into_iter();
        let whole = init.into_iter().zip(is_carried);
        let whole = whole.map(|(init, is)| if is { carry.next().unwrap_or(init) } else { init });
        Ok((whole.collect(), stacked))
    }

    fn checkpointed(
        self,
        body: &Body,
        carry: Vec<Array>,
        sequences: Vec<Array>,
        constants: Vec<Array>,
        options: ScanOptions,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let every = match options.checkpoint {
            Checkpoint::EveryStep => 1,
            Checkpoint::Every(every) => every,
            Checkpoint::SquareRoot => ((self.length as f64).sqrt().round() as usize).max(1),
        };
        if every <= 1 || self.length <= 1 {
            return self.unrolled(body, carry, sequences, constants, options.unroll);
        }
        let parts = Parts { body, carry, sequences, constants, size: every.min(self.length) };
        self.in_parts(parts, |part, carry, sequences, constants| {
            part.unrolled(body, carry, sequences, constants, options.unroll)
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
        let parts = Parts { body, carry, sequences, constants, size: unroll.min(self.length) };
        self.in_parts(parts, |part, carry, sequences, constants| {
            part.written_out(body, carry, &sequences, &constants)
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

    /// All iterations one after the other, without a loop.
    fn written_out(
        self,
        body: &Body,
        mut carry: Vec<Array>,
        sequences: &[Array],
        constants: &[Array],
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let count = carry.len();
        let mut rows: Vec<Vec<Array>> = vec![Vec::new(); self.length];
        for iteration in 0..self.length {
            let place = self.order.place(iteration, self.length);
            let row = |sequence: &Array| {
                let shape = Shape::new(sequence.shape()[1..].iter().copied());
                slice_into(sequence, Window::along(sequence.shape(), 0, place, 1), shape)
            };
            let here = sequences.iter().map(row).collect::<Result<Vec<Array>>>()?;
            let arguments: Vec<Array> =
                carry.into_iter().chain(here).chain(constants.iter().cloned()).collect();
            carry = body.program.replay(&arguments)?;
            rows[place] = carry.split_off(count);
        }
        let stack = |i: usize| {
            let column: Vec<&Array> = rows.iter().map(|row| &row[i]).collect();
            ops::stack(&column, 0)
        };
        let stacked = (0..body.outputs.len() - count).map(stack).collect::<Result<_>>()?;
        Ok((carry, stacked))
    }

    /// A loop over parts of equal size, each of which `run` runs, and what is left over at the end of it.
    fn in_parts(
        self,
        parts: Parts<'_>,
        run: impl Fn(LoopShape, Vec<Array>, Vec<Array>, Vec<Array>) -> Result<(Vec<Array>, Vec<Array>)>,
    ) -> Result<(Vec<Array>, Vec<Array>)> {
        let Parts { body, carry, sequences, constants, size } = parts;
        let (count, rows) = (carry.len(), self.rows);
        let (whole, left) = (self.length / size, self.length % size);
        let main = self.length - left;
        // The last iterations are left over: at the end of sequences, or at their beginning.
        let (main_start, left_start) = match self.order {
            Order::Forwards => (0, main),
            Order::Backwards => (left, 0),
        };
        let cut = |start: usize, length: usize| {
            sequences.iter().map(|array| slice_along(array, 0, start, length)).collect::<Result<Vec<Array>>>()
        };
        let part = LoopShape { length: size, ..self };
        let specs = body.arguments()[..count]
            .iter()
            .cloned()
            .chain(body.arguments()[count..count + rows].iter().map(|row| lengthened(row, size)))
            .chain(body.arguments()[count + rows..].iter().cloned());
        let (whole_body, captured) = trace_function(self.construct, specs, |arguments| {
            let (carry, rest) = arguments.split_at(count);
            let (rows, constants) = rest.split_at(rows);
            let (carry, stacked) = run(part, carry.to_vec(), rows.to_vec(), constants.to_vec())?;
            Ok(carry.into_iter().chain(stacked).collect())
        })?;
        let grouped = cut(main_start, main)?
            .iter()
            .map(|array| {
                let lengths = [whole, size].into_iter().chain(array.shape()[1..].iter().copied());
                reshape(array, lengths.collect::<Shape>())
            })
            .collect::<Result<Vec<Array>>>()?;
        let all_constants = constants.iter().cloned().chain(captured).collect();
        let outer = LoopShape { length: whole, ..self };
        let (carry, grouped) = outer.plain(whole_body, carry, grouped, all_constants)?;
        let flat = |array: &Array| {
            let lengths = std::iter::once(main).chain(array.shape()[2..].iter().copied());
            reshape(array, lengths.collect::<Shape>())
        };
        let stacked = grouped.iter().map(flat).collect::<Result<Vec<Array>>>()?;
        if left == 0 {
            return Ok((carry, stacked));
        }
        let last = LoopShape { length: left, ..self };
        let (carry, rest) = run(last, carry, cut(left_start, left)?, constants)?;
        let join = |(main, rest): (&Array, &Array)| match self.order {
            Order::Forwards => ops::concatenate(&[main, rest], Some(0)),
            Order::Backwards => ops::concatenate(&[rest, main], Some(0)),
        };
        let stacked = stacked.iter().zip(&rest).map(join).collect::<Result<_>>()?;
        Ok((carry, stacked))
    }
}

/// What a loop in parts is made of.
struct Parts<'a> {
    body: &'a Body,
    carry: Vec<Array>,
    sequences: Vec<Array>,
    constants: Vec<Array>,
    size: usize,
}

/// The body without what it carries on unchanged, which is a constant to it: then nothing of it need be kept for a
/// backward pass.
fn hoist_constants(body: Body, carry: usize, rows: usize) -> LightBody {
    let Body { mut program, mut outputs } = body;
    let is_carried: Vec<bool> = (0..carry).map(|i| program.outputs[i] != Operand::Slot(i as u32)).collect();
    let count = is_carried.iter().filter(|is| **is).count();
    let (mut changing, mut constant) = (0, count + program.arguments.len() - carry);
    let mut places = Vec::with_capacity(program.arguments.len());
    for &is in &is_carried {
        let next = if is { &mut changing } else { &mut constant };
        places.push(*next);
        *next += 1;
    }
    places.extend((carry..program.arguments.len()).map(|i| i - carry + count));
    debug_assert!(rows + carry <= places.len());
    let mut arguments = program.arguments.clone();
    for (spec, &place) in program.arguments.iter().zip(&places) {
        arguments[place] = spec.clone();
    }
    program = program.among(arguments, &places);
    let mut at = 0..carry;
    program.outputs.retain(|_| at.next().is_none_or(|i| is_carried[i]));
    let mut at = 0..carry;
    outputs.retain(|_| at.next().is_none_or(|i| is_carried[i]));
    LightBody { body: Body { program, outputs }, is_carried }
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
    let following = Scan::begin(Construct::Scan, init, xs, length, &|i| format!("xs[{i}]"))?;
    let (carry, rows) = f(following.carry(), following.row())?;
    following.end(carry, &rows, &|i| format!("carry[{i}]"), options)
}
