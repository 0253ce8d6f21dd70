//! `fori_loop` and `map`: loops over integers and over rows.

use umber_types::{DType, Result, ensure, promote::promote};

use super::scan::{Scan, ScanOptions, Scanned};
use super::traced_function::Counter;
use super::while_loop::record;
use super::{Construct, LeafName, trace_function};
use crate::graph::{Array, ArraySpec};
use crate::ops;
use crate::primitives::rules::{add, cast, constant, reshape};
use crate::primitives::slice::slice_along;
use crate::transforms::Mapped;

/// A bound of a loop.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A known integer.
    Known(i64),
    /// An integer scalar array.
    Array(Array),
}

impl From<i64> for Bound {
    fn from(number: i64) -> Bound {
        Bound::Known(number)
    }
}

impl From<Array> for Bound {
    fn from(array: Array) -> Bound {
        Bound::Array(array)
    }
}

impl Bound {
    /// Convert to a known integer, if that requires no computation and no read of a traced array.
    fn resolved(self, name: &str) -> Result<Bound> {
        let Bound::Array(array) = self else { return Ok(self) };
        ensure!(
            array.ndim() == 0,
            Value("fori_loop"),
            "{name} must be a scalar, got shape {}",
            array.shape()
        );
        ensure!(
            array.dtype().is_integer(),
            Type("fori_loop"),
            "{name} must be an integer, not {}",
            array.dtype()
        );
        if let Some(value) = array.constant() {
            return Ok(Bound::Known(value.as_f64() as i64));
        }
        if array.is_evaluated() && !array.is_traced() && array.dtype() != DType::UInt64 {
            let mut value = ops::astype(&array, DType::Int64)?.to_vec::<i64>()?;
            return Ok(Bound::Known(value.pop().unwrap_or_default()));
        }
        Ok(Bound::Array(array))
    }

    fn dtype(&self) -> DType {
        match self {
            Bound::Known(number) if i32::try_from(*number).is_ok() => DType::Int32,
            Bound::Known(_) => DType::Int64,
            Bound::Array(array) => array.dtype(),
        }
    }

    fn array(&self, dtype: DType) -> Result<Array> {
        match self {
            Bound::Known(number) => Ok(Array::scalar(*number, dtype)),
            Bound::Array(array) => cast(array, dtype),
        }
    }
}

/// A trace of a `fori_loop` in progress: run its function on `index()` and `carry()`, then end it.
#[derive(Debug)]
pub struct ForiLoop {
    scan: Scan,
    /// The upper bound, if the number of iterations is not known.
    upper: Option<Array>,
    lower: Array,
    init: Vec<Array>,
}

impl ForiLoop {
    /// Begin a loop over the integers from `lower` to before `upper`.
    pub fn begin(lower: Bound, upper: Bound, init: &[Array]) -> Result<ForiLoop> {
        let (lower, upper) = (lower.resolved("lower")?, upper.resolved("upper")?);
        let dtype = promote(lower.dtype(), upper.dtype());
        let first = lower.array(dtype)?;
        let (length, end) = match (&lower, &upper) {
            (Bound::Known(lower), Bound::Known(upper)) => {
                (usize::try_from(upper.saturating_sub(*lower)).unwrap_or(0), None)
            }
            _ => (0, Some(upper.array(dtype)?)),
        };
        let carry: Vec<Array> = std::iter::once(&first).chain(init).cloned().collect();
        let scan = Scan::trace_function(Construct::ForiLoop, &carry, &[], length, &Counter::First);
        Ok(ForiLoop { scan, upper: end, lower: first, init: init.to_vec() })
    }

    /// Placeholder for the index of the iteration.
    pub fn index(&self) -> &Array {
        &self.scan.carry()[0]
    }

    /// Placeholders for the carry.
    pub fn carry(&self) -> &[Array] {
        &self.scan.carry()[1..]
    }

    /// End the trace of a function that returned `carry`; `name` gives the users' names of its arrays. Returns the final carry.
    pub fn end(self, carry: Vec<Array>, name: LeafName<'_>, options: ScanOptions) -> Result<Vec<Array>> {
        let index = self.index();
        let next = add(index, &constant(index, 1.0))?;
        let carry: Vec<Array> = std::iter::once(next).chain(carry).collect();
        let name = |i: usize| name(i - 1);
        let Some(upper) = self.upper.clone() else {
            let mut carry = self.scan.end(carry, &[], &name, options)?.carry;
            carry.remove(0);
            return Ok(carry);
        };
        self.scan.check(&carry, &name)?;
        let ForiLoop { scan, lower, init, .. } = self;
        let body = scan.into_body(carry)?;
        let specs: Vec<ArraySpec> =
            std::iter::once(&lower).chain(&init).chain([&upper]).map(|array| array.spec().clone()).collect();
        let count = 1 + init.len();
        let condition = trace_function(Construct::ForiLoop, specs.clone(), |arguments| {
            Ok(vec![ops::less(&arguments[0], &arguments[count])?])
        })?;
        // The body does not read the upper bound, but has it as an argument like the condition.
        let (mut loop_body, captured) = body;
        let mut arguments = loop_body.program.arguments.clone();
        arguments.insert(count, upper.spec().clone());
        let new_indices: Vec<usize> =
            (0..loop_body.program.arguments.len()).map(|i| if i < count { i } else { i + 1 }).collect();
        loop_body.program = loop_body.program.among(arguments, &new_indices);
        let inputs = std::iter::once(lower).chain(init).chain([upper]).collect();
        let mut results = record(Construct::ForiLoop, inputs, condition, (loop_body, captured), None)?;
        results.remove(0);
        Ok(results)
    }
}

/// Update a value in a loop over integers: `carry = body_fun(i, carry)` for `lower <= i < upper`.
///
/// `i` is an int32 scalar (int64 if a bound needs it). Between numbers or evaluated arrays this is a
/// [`scan`](super::scan) without rows, and has a gradient; between pending arrays it is a
/// [`while_loop`](super::while_loop). Fails for bounds that are not integer scalars, and for a carry that changes its shapes
/// or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::{ScanOptions, fori_loop};
/// use umber::{Array, DType, ops};
/// let body = |i: &Array, carry: &[Array]| Ok(vec![&carry[0] * &ops::astype(i, DType::Float32)?]);
/// let factorial = fori_loop(1.into(), 6.into(), body, &[Array::from(1.0f32)], ScanOptions::default())?;
/// assert_eq!(factorial[0].item()?.as_f64(), 120.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn fori_loop(
    lower: Bound,
    upper: Bound,
    body_fun: impl FnOnce(&Array, &[Array]) -> Result<Vec<Array>>,
    init: &[Array],
    options: ScanOptions,
) -> Result<Vec<Array>> {
    let builder = ForiLoop::begin(lower, upper, init)?;
    let carry = body_fun(builder.index(), builder.carry())?;
    builder.end(carry, &|i| format!("carry[{i}]"), options)
}

/// Apply a function to each row of arrays, one after the other, and stack the results.
///
/// The results are those of [`vmap`](crate::transforms::vmap()) along the first axis, with the intermediate memory of one
/// row; [`map_batches`] takes several rows at a time. Fails for sequences of different lengths.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::map;
/// use umber::{Array, KeepAxes, ops};
/// let rows = Array::from([[3.0f32, 4.0], [6.0, 8.0]]);
/// let norm = |x: &[Array]| Ok(vec![ops::sqrt(&ops::sum(&ops::square(&x[0])?, None, KeepAxes::No)?)?]);
/// assert_eq!(map(norm, &[rows])?[0].to_vec::<f32>()?, [5.0, 10.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn map(f: impl FnOnce(&[Array]) -> Result<Vec<Array>>, xs: &[Array]) -> Result<Vec<Array>> {
    let builder = Scan::begin(Construct::Map, &[], xs, None, &|i| format!("xs[{i}]"))?;
    let rows = f(builder.row())?;
    builder
        .end(Vec::new(), &rows, &|i| format!("carry[{i}]"), ScanOptions::default())
        .map(|scanned| scanned.stacked)
}

/// Like [`map`], for `size` rows at a time, which `vmap` computes together.
///
/// ```
/// # use umber_core as umber;
/// use umber::transforms::control_flow::map_batches;
/// use umber::Array;
/// let numbers: Array = (0..5).collect();
/// let squares = map_batches(|x| Ok(vec![&x[0] * &x[0]]), &[numbers], 2)?;
/// assert_eq!(squares[0].to_vec::<i32>()?, [0, 1, 4, 9, 16]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn map_batches(
    f: impl Fn(&[Array]) -> Result<Vec<Array>>,
    xs: &[Array],
    size: usize,
) -> Result<Vec<Array>> {
    let batches = Batches::begin(xs, size, &|i| format!("xs[{i}]"))?;
    batches.run(&mut |rows| f(rows))
}

/// A function of rows; its error type may be that of a front end.
pub type RowFunction<'a, E> = &'a mut dyn FnMut(&[Array]) -> std::result::Result<Vec<Array>, E>;

/// A map over rows, several at a time.
#[derive(Debug)]
pub struct Batches {
    xs: Vec<Array>,
    size: usize,
    length: usize,
}

impl Batches {
    /// Begin with sequences of equal length; `name` gives the users' names of them.
    pub fn begin(xs: &[Array], size: usize, name: LeafName<'_>) -> Result<Batches> {
        ensure!(size > 0, Value("map"), "batch_size must be positive, got 0");
        let length = Scan::begin(Construct::Map, &[], xs, None, name)?.length();
        Ok(Batches { xs: xs.to_vec(), size: size.min(length.max(1)), length })
    }

    /// The results of all rows. `f` is traced on a row of a batch: once for full batches, and once for the remaining rows.
    pub fn run<E: From<umber_types::Error>>(
        &self,
        f: RowFunction<'_, E>,
    ) -> std::result::Result<Vec<Array>, E> {
        let (batch_count, remainder) = (self.length / self.size, self.length % self.size);
        let main_length = batch_count * self.size;
        let grouped = self
            .xs
            .iter()
            .map(|array| {
                let lengths = [batch_count, self.size].into_iter().chain(array.shape()[1..].iter().copied());
                reshape(&slice_along(array, 0, 0, main_length)?, lengths.collect::<umber_types::Shape>())
            })
            .collect::<Result<Vec<Array>>>()?;
        let scan = Scan::begin(Construct::Map, &[], &grouped, Some(batch_count), &|i| format!("xs[{i}]"))?;
        let outputs = one_batch(scan.row(), f)?;
        let Scanned { stacked, .. } =
            scan.end(Vec::new(), &outputs, &|i| format!("carry[{i}]"), ScanOptions::default())?;
        let flat = |array: &Array| {
            let lengths = std::iter::once(main_length).chain(array.shape()[2..].iter().copied());
            reshape(array, lengths.collect::<umber_types::Shape>())
        };
        let stacked = stacked.iter().map(flat).collect::<Result<Vec<Array>>>()?;
        if remainder == 0 {
            return Ok(stacked);
        }
        let tail = self
            .xs
            .iter()
            .map(|array| slice_along(array, 0, main_length, remainder))
            .collect::<Result<Vec<Array>>>()?;
        let tail = one_batch(&tail, f)?;
        let concatenate = |(main, tail): (&Array, &Array)| ops::concatenate(&[main, tail], Some(0));
        Ok(stacked.iter().zip(&tail).map(concatenate).collect::<Result<_>>()?)
    }
}

fn one_batch<E: From<umber_types::Error>>(
    rows: &[Array],
    f: RowFunction<'_, E>,
) -> std::result::Result<Vec<Array>, E> {
    let mapped = Mapped::begin(rows, &vec![Some(0); rows.len()])?;
    let outputs = f(&mapped.trace.inputs)?;
    let axes = vec![Some(0); outputs.len()];
    Ok(mapped.end(&outputs, &axes)?)
}
